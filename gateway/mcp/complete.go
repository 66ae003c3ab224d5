package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/api"
	"github.com/wharf-dev/wharf/gateway/jsonrpc"
)

const (
	// maxValues is how many values the protocol has in one completion.
	maxValues = 100
	// maxLooked is how many resources are looked at for one: of more than these, nobody says how many fit.
	maxLooked = 1000
)

// completions serves what people can choose from while they write an argument.
func (a *Adapter) completions() feature {
	return feature{
		methods: map[string]method{"completion/complete": a.complete},
		declare: func(c *sdk.ServerCapabilities, _ bool) { c.Completions = &sdk.CompletionCapabilities{} },
	}
}

type completionResult struct {
	Completion completion `json:"completion"`
}

// completion is what fits what was written so far. Total is absent where not all was looked at.
type completion struct {
	Values  []string `json:"values"`
	Total   *int     `json:"total,omitzero"`
	HasMore bool     `json:"hasMore"`
}

// found says which values there are; all is false when there are others that nobody has looked at.
func found(values []string, all bool) completion {
	c := completion{Values: values[:min(len(values), maxValues)], HasMore: !all || len(values) > maxValues}
	if c.Values == nil {
		c.Values = []string{}
	}
	if all {
		total := len(values)
		c.Total = &total
	}
	return c
}

func (a *Adapter) complete(ctx context.Context, q *request) (sdk.Result, error) {
	p, ok := q.params.(*sdk.CompleteParams)
	if !ok || p == nil || p.Ref == nil || p.Argument.Name == "" {
		return nil, refuse(jsonrpc.CodeInvalidParams, "a completion is of an argument, and refers to a prompt or to a template of resources", nil)
	}
	of := a.completeTemplate
	if p.Ref.Type == "ref/prompt" {
		of = a.completePrompt
	}
	c, err := of(ctx, q, p)
	if err != nil {
		return nil, err
	}
	return q.reply(completionResult{c})
}

func (a *Adapter) completePrompt(ctx context.Context, q *request, p *sdk.CompleteParams) (completion, error) {
	s, err := a.promptNamed(ctx, q, p.Ref.Name)
	if err != nil {
		return completion{}, err
	}
	return completeFrom(argumentsOf(s.InputSchema), p)
}

// completeFrom completes an argument from what its schema says that it may be.
func completeFrom(arguments []*argument, p *sdk.CompleteParams) (completion, error) {
	for _, one := range arguments {
		if one.Name == p.Argument.Name {
			return found(beginning(one.values, p.Argument.Value), true), nil
		}
	}
	return completion{}, refuse(jsonrpc.CodeInvalidParams, fmt.Sprintf("there is no argument %q", p.Argument.Name), nil)
}

// beginning returns the values that begin with what was written, in whatever case, in their order.
func beginning(values []string, written string) (fit []string) {
	for _, v := range values {
		if len(v) >= len(written) && strings.EqualFold(v[:len(written)], written) {
			fit = append(fit, v)
		}
	}
	return fit
}

// completeTemplate completes a part of the URI of a resource: an id, or the path of a file as far as its
// next slash.
func (a *Adapter) completeTemplate(ctx context.Context, q *request, p *sdk.CompleteParams) (completion, error) {
	at := slices.IndexFunc(a.library.templates(q.caller), func(t *templateEntry) bool { return t.Template == p.Ref.URI })
	if at < 0 {
		return a.completeOffered(ctx, q, p)
	}
	l, written, known := a.library, p.Argument.Value, map[string]string{}
	if p.Context != nil {
		known = p.Context.Arguments
	}
	switch argument := p.Argument.Name; {
	case p.Ref.URI == templateArtifact && argument == "artifact_id":
		return l.ids(ctx, q, abi.ObjectArtifact, written)
	case p.Ref.URI == templateReceipt && argument == "receipt_id":
		return l.ids(ctx, q, abi.ObjectReceipt, written)
	case p.Ref.URI == templateFile && argument == "workspace_id", p.Ref.URI == templateSkill && argument == "workspace_id":
		return l.ids(ctx, q, abi.ObjectWorkspace, written)
	case p.Ref.URI == templateFile && argument == "path":
		return l.paths(ctx, q.caller, known["workspace_id"], written)
	case p.Ref.URI == templateSkill && argument == "skill":
		return l.skillNames(ctx, q, known["workspace_id"], written)
	case p.Ref.URI == templateSkill && argument == "path":
		return l.skillPaths(ctx, q.caller, place{kind: placeSkill, workspace: known["workspace_id"], id: known["skill"]}, written)
	}
	return completion{}, refuse(jsonrpc.CodeInvalidParams, fmt.Sprintf("there is no argument %q", p.Argument.Name), nil)
}

// ids completes the id of a resource, newest first.
func (l *library) ids(ctx context.Context, q *request, o abi.Object, written string) (completion, error) {
	if o == abi.ObjectWorkspace && q.workspace != "" {
		return found(beginning([]string{q.workspace}, written), true), nil
	}
	page, err := l.core.List(ctx, q.caller, o, q.within(), api.Page{Limit: maxLooked})
	if err != nil {
		return completion{}, err
	}
	all := make([]string, len(page.Views))
	for i, view := range page.Views {
		all[i] = view.ID
	}
	return found(beginning(all, written), !page.More), nil
}

// paths completes the path of a file by what is in the folder that was written.
func (l *library) paths(ctx context.Context, c *api.Caller, workspace, written string) (completion, error) {
	folder := written[:strings.LastIndexByte(written, '/')+1]
	files, more, err := l.core.WalkFiles(ctx, c, workspace, api.FileWalk{Path: folder, Limit: maxLooked})
	if err = nothing(err); err != nil {
		return completion{}, err
	}
	all := make([]string, len(files))
	for i, f := range files {
		if all[i] = f.Path; f.Object != objectFile {
			all[i] += "/"
		}
	}
	return found(beginning(all, written), !more), nil
}

// nothing leaves out an error that says that there is nothing to choose from, or nothing that the
// caller may know of.
func nothing(err error) error {
	if shown, ok := errors.AsType[*unknownResource](hidden("", err)); ok && shown != nil {
		return nil
	}
	return err
}

func (l *library) skillNames(ctx context.Context, q *request, workspace, written string) (completion, error) {
	within := api.SkillFilter{WorkspaceID: cmp.Or(workspace, q.workspace)}
	page, err := l.core.SkillBundles(ctx, q.caller, within, api.Page{Limit: maxLooked})
	if err = nothing(err); err != nil {
		return completion{}, err
	}
	var all []string
	for _, view := range page.Views {
		var b abi.SkillBundle
		if err := json.Unmarshal(view.JSON, &b); err != nil {
			return completion{}, err
		}
		all = append(all, b.Name)
	}
	slices.Sort(all)
	return found(beginning(slices.Compact(all), written), !page.More), nil
}

func (l *library) skillPaths(ctx context.Context, c *api.Caller, at place, written string) (completion, error) {
	b, err := l.bundle(ctx, c, at)
	if err != nil {
		return found(nil, true), nothing(err)
	}
	m, err := l.manifest(ctx, c, b)
	if err != nil {
		return completion{}, err
	}
	all := make([]string, len(m.Files))
	for i, f := range m.Files {
		all[i] = f.Path
	}
	return found(beginning(all, written), true), nil
}
