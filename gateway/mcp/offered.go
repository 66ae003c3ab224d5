package mcp

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/yosida95/uritemplate/v3"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/jsonrpc"
)

// asResource is what a Skill's metadata says of one that is a resource, or a template of resources: to
// read it is to run it as a Task.
const asResource = "resource"

// placeOffered is the kind of a place that is a Skill, by its id. It is at whatever URI the Skill says.
const placeOffered placeKind = "offered"

// uriOffered returns the URI of a resource that a Skill is, or its template, and whether it is one. The
// schemes of the node's own resources are none that a Skill may have.
func (s *offered) uriOffered() (uri string, template *uritemplate.Template, ok bool) {
	said := s.told.URI
	if said == "" {
		said = s.told.URITemplate
	}
	scheme, _, ok := strings.Cut(said, "://")
	if !ok || len(said) > maxURI || strings.EqualFold(scheme, schemeWharf) || strings.EqualFold(scheme, schemeSkill) {
		return "", nil, false
	}
	if s.told.URI != "" {
		return said, nil, true
	}
	template, err := uritemplate.New(said)
	return said, template, err == nil && len(template.Varnames()) > 0
}

// offeredResources returns the Skills that are resources; none for who may not look at Skills.
func (a *Adapter) offeredResources(ctx context.Context, q *request) ([]*offered, error) {
	if !q.caller.Can(scopeSkills) {
		return nil, nil
	}
	return a.skills(ctx, q, asResource)
}

// listOffered lists the Skills that are resources, after a name.
func (l *library) listOffered(ctx context.Context, q *request, after string, most int) (some []*resourceEntry, next string, err error) {
	all, err := l.offered(ctx, q)
	if err != nil {
		return nil, "", err
	}
	for _, s := range all {
		uri, template, ok := s.uriOffered()
		if !ok || template != nil || s.Deprecated || s.tool <= after {
			continue
		}
		if len(some) == most {
			return some, next, nil
		}
		some = append(some, &resourceEntry{URI: uri, Name: s.tool, Title: s.told.Title, Description: s.Description, MimeType: s.told.MimeType, Annotations: modified(s.UpdatedAt)})
		next = s.tool
	}
	return some, "", nil
}

// offeredTemplates lists the Skills that are templates of resources.
func (l *library) offeredTemplates(ctx context.Context, q *request) (all []*templateEntry, err error) {
	skills, err := l.offered(ctx, q)
	for _, s := range skills {
		if uri, template, ok := s.uriOffered(); ok && template != nil && !s.Deprecated {
			all = append(all, &templateEntry{Template: uri, Name: s.tool, Title: s.told.Title, Description: s.Description, MimeType: s.told.MimeType})
		}
	}
	return all, err
}

// offeredAt returns the Skill that is the resource of a URI, and what of its template stands there. One
// whose URI it is comes before those whose template fits.
func (l *library) offeredAt(ctx context.Context, q *request, uri string) (*offered, map[string]string, error) {
	if len(uri) > maxURI {
		return nil, nil, &unknownResource{uri}
	}
	all, err := l.offered(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	var fits *offered
	var values map[string]string
	for _, s := range all {
		said, template, ok := s.uriOffered()
		switch {
		case !ok:
		case template == nil && said == uri:
			return s, map[string]string{}, nil
		case template != nil && fits == nil:
			if values = matched(template, uri); values != nil {
				fits = s
			}
		}
	}
	if fits == nil {
		return nil, nil, &unknownResource{uri}
	}
	return fits, values, nil
}

// matched returns what stands in a URI for the names of a template, nil when it does not fit.
func matched(template *uritemplate.Template, uri string) map[string]string {
	found := template.Match(uri)
	if found == nil {
		return nil
	}
	values := map[string]string{}
	for _, name := range template.Varnames() {
		values[name] = found.Get(name).String()
	}
	return values
}

// readOffered runs the Skill that is the resource of a URI.
func (a *Adapter) readOffered(ctx context.Context, q *request, p *sdk.ReadResourceParams) (sdk.Result, error) {
	s, values, err := a.library.offeredAt(ctx, q, p.URI)
	if err != nil {
		return nil, q.resourceError(err)
	}
	input, err := inputOf(s.InputSchema, values)
	if err != nil {
		return nil, err
	}
	return a.runs(ctx, q, &run{skill: s, input: input, responses: p.InputResponses, state: p.RequestState, show: a.showContents(s, p.URI)})
}

// showContents shows what the Task of a resource has said and made: each part of it in order, then the
// Artifacts that no part refers to. A Task that has said nothing has its summary in it.
func (a *Adapter) showContents(s *offered, uri string) shows {
	return func(ctx context.Context, q *request, _ *abi.Task, out *abi.Outcome) (any, error) {
		res := contentsRead{Contents: []*contents{}, listed: q.listed("")}
		referred := map[string]bool{}
		for _, text := range out.Messages {
			var m abi.Message
			if err := json.Unmarshal(text, &m); err != nil {
				return nil, fmt.Errorf("reading a message of outcome %s: %w", out.ID, err)
			}
			for i := range m.Parts {
				p := &m.Parts[i]
				referred[p.ArtifactID] = true
				c, err := a.library.partContents(ctx, q, s, p)
				if err != nil {
					return nil, err
				}
				if c != nil {
					res.Contents = append(res.Contents, c)
				}
			}
		}
		for _, id := range out.ArtifactIDs {
			if referred[id] {
				continue
			}
			c, err := a.library.readArtifact(ctx, q.caller, id)
			if err != nil {
				return nil, err
			}
			res.Contents = append(res.Contents, c)
		}
		if len(res.Contents) == 0 {
			res.Contents = append(res.Contents, textContents(s.told.MimeType, out.Summary))
		}
		for _, c := range res.Contents {
			if c.URI == "" {
				c.URI = uri
			}
		}
		return res, nil
	}
}

func textContents(media, text string) *contents { return &contents{MimeType: media, Text: &text} }

// partContents returns what is in a part, nil for nothing that is content.
func (l *library) partContents(ctx context.Context, q *request, s *offered, p *abi.Part) (*contents, error) {
	switch {
	case p.Redacted:
		return nil, nil
	case p.ArtifactID != "":
		return l.readArtifact(ctx, q.caller, p.ArtifactID)
	case p.URI != "" && p.Text != nil:
		return &contents{URI: p.URI, MimeType: p.MimeType, Text: p.Text}, nil
	case p.Text != nil:
		return textContents(s.told.MimeType, *p.Text), nil
	case len(p.Value) > 0:
		return textContents("application/json", string(jsontext.Value(p.Value))), nil
	}
	return nil, nil
}

// completeOffered completes a part of a URI whose template is a Skill's, from the Skill's input.
func (a *Adapter) completeOffered(ctx context.Context, q *request, p *sdk.CompleteParams) (completion, error) {
	all, err := a.offeredResources(ctx, q)
	if err != nil {
		return completion{}, err
	}
	for _, s := range all {
		if uri, template, ok := s.uriOffered(); ok && template != nil && uri == p.Ref.URI {
			return completeFrom(argumentsOf(s.InputSchema), p)
		}
	}
	return completion{}, refuse(jsonrpc.CodeInvalidParams, "there is no such template", map[string]string{"uri": p.Ref.URI})
}
