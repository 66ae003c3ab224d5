package tool

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/provider/secret"
)

// maxURI is how many bytes a URI may have, or a template of URIs.
const maxURI = 2048

// Source is a [Server] that has resources and prompts, besides tools. It is safe for
// concurrent use; its errors are those of a Server. Of what its server does not offer, lists
// are empty.
type Source interface {
	Resources(ctx context.Context) ([]abi.Resource, error)
	Templates(ctx context.Context) ([]abi.ResourceTemplate, error)
	Prompts(ctx context.Context) ([]abi.Prompt, error)
	// ReadResource reads what a URI names, for a tenant.
	ReadResource(ctx context.Context, tenant, uri string) (*abi.CallResourceReadAnswer, error)
	// GetPrompt fills in a prompt, for a tenant.
	GetPrompt(ctx context.Context, tenant, name string, arguments map[string]string) (*abi.CallPromptGetAnswer, error)
}

var _ Source = (*MCP)(nil)

// Resources implements [Source]. The list is kept as that of the tools is.
func (m *MCP) Resources(ctx context.Context) ([]abi.Resource, error) {
	return listed(ctx, m, func(l *link) *kept[abi.Resource] { return &l.resources }, m.fetchResources)
}

// Templates implements [Source]. The list is kept until the server says that its resources
// have changed.
func (m *MCP) Templates(ctx context.Context) ([]abi.ResourceTemplate, error) {
	return listed(ctx, m, func(l *link) *kept[abi.ResourceTemplate] { return &l.templates }, m.fetchTemplates)
}

// Prompts implements [Source]. The list is kept as that of the tools is.
func (m *MCP) Prompts(ctx context.Context) ([]abi.Prompt, error) {
	return listed(ctx, m, func(l *link) *kept[abi.Prompt] { return &l.prompts }, m.fetchPrompts)
}

func (m *MCP) fetchResources(ctx context.Context, l *link) ([]abi.Resource, error) {
	taken := newTaken[abi.Resource](m.log, "resource")
	if !l.hasResources() {
		return taken.items, nil
	}
	err := m.pages("resources", func(cursor string) (string, bool, error) {
		list, err := handedOver(ctx, l.session.ListResources, &mcp.ListResourcesParams{Cursor: cursor})
		if err != nil {
			return "", false, err
		}
		say := m.saying()
		for _, r := range list.Resources {
			if r == nil {
				continue
			}
			one := abi.Resource{URI: say(r.URI), Name: say(r.Name), Title: say(r.Title), Description: say(r.Description), MimeType: say(r.MIMEType), Size: max(0, r.Size)}
			size := len(one.URI) + len(one.Name) + len(one.Title) + len(one.Description) + len(one.MimeType)
			taken.take(one, one.URI, size, checkLabel("the URI of a resource", r.URI, maxURI))
		}
		return list.NextCursor, taken.full, nil
	})
	return taken.items, err
}

func (m *MCP) fetchTemplates(ctx context.Context, l *link) ([]abi.ResourceTemplate, error) {
	taken := newTaken[abi.ResourceTemplate](m.log, "template")
	if !l.hasResources() {
		return taken.items, nil
	}
	err := m.pages("templates", func(cursor string) (string, bool, error) {
		list, err := handedOver(ctx, l.session.ListResourceTemplates, &mcp.ListResourceTemplatesParams{Cursor: cursor})
		if err != nil {
			return "", false, err
		}
		say := m.saying()
		for _, r := range list.ResourceTemplates {
			if r == nil {
				continue
			}
			one := abi.ResourceTemplate{URITemplate: say(r.URITemplate), Name: say(r.Name), Title: say(r.Title), Description: say(r.Description), MimeType: say(r.MIMEType)}
			size := len(one.URITemplate) + len(one.Name) + len(one.Title) + len(one.Description) + len(one.MimeType)
			taken.take(one, one.URITemplate, size, checkLabel("the template of a URI", r.URITemplate, maxURI))
		}
		return list.NextCursor, taken.full, nil
	})
	return taken.items, err
}

func (m *MCP) fetchPrompts(ctx context.Context, l *link) ([]abi.Prompt, error) {
	taken := newTaken[abi.Prompt](m.log, "prompt")
	if !l.hasPrompts() {
		return taken.items, nil
	}
	err := m.pages("prompts", func(cursor string) (string, bool, error) {
		list, err := handedOver(ctx, l.session.ListPrompts, &mcp.ListPromptsParams{Cursor: cursor})
		if err != nil {
			return "", false, err
		}
		say := m.saying()
		for _, p := range list.Prompts {
			if p == nil {
				continue
			}
			one := abi.Prompt{Name: say(p.Name), Title: say(p.Title), Description: say(p.Description), Arguments: promptArguments(p, say)}
			taken.take(one, one.Name, sizeOf(&one), checkPrompt(p))
		}
		return list.NextCursor, taken.full, nil
	})
	return taken.items, err
}

func promptArguments(p *mcp.Prompt, say func(string) string) (all []abi.PromptArgument) {
	for _, a := range p.Arguments {
		if a != nil {
			all = append(all, abi.PromptArgument{Name: say(a.Name), Title: say(a.Title), Description: say(a.Description), Required: a.Required})
		}
	}
	return all
}

func sizeOf(p *abi.Prompt) int {
	size := len(p.Name) + len(p.Title) + len(p.Description)
	for _, a := range p.Arguments {
		size += len(a.Name) + len(a.Title) + len(a.Description)
	}
	return size
}

func checkPrompt(p *mcp.Prompt) error {
	if err := checkLabel("the name of a prompt", p.Name, maxName); err != nil {
		return err
	}
	for _, a := range p.Arguments {
		if a == nil {
			continue
		}
		if err := checkLabel("the name of a prompt's argument", a.Name, maxName); err != nil {
			return err
		}
	}
	return nil
}

// CheckURI says what is wrong with the URI of a resource that is asked for.
func CheckURI(uri string) error { return checkLabel("uri", uri, maxURI) }

// CheckPrompt says what is wrong with the name of a prompt that is asked for.
func CheckPrompt(name string) error { return checkLabel("name", name, maxName) }

// checkLabel says what is wrong with a text by which something is asked for.
func checkLabel(what, text string, most int) error {
	switch {
	case text == "" || len(text) > most:
		return fmt.Errorf("%s has 1 to %d bytes, not %d", what, most, len(text))
	case !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }):
		return fmt.Errorf("%s has printable characters only, not %q", what, text)
	}
	return nil
}

func (l *link) capabilities() mcp.ServerCapabilities {
	if said := l.session.InitializeResult(); said != nil && said.Capabilities != nil {
		return *said.Capabilities
	}
	return mcp.ServerCapabilities{}
}

func (l *link) hasResources() bool { return l.capabilities().Resources != nil }

func (l *link) hasPrompts() bool { return l.capabilities().Prompts != nil }

// ReadResource implements [Source].
func (m *MCP) ReadResource(ctx context.Context, tenant, uri string) (*abi.CallResourceReadAnswer, error) {
	var result *mcp.ReadResourceResult
	err := m.ask(ctx, tenant, func(ctx context.Context, l *link) (err error) {
		if !l.hasResources() {
			return hasNone(m.config.Name, "resources")
		}
		result, err = handedOver(ctx, l.session.ReadResource, &mcp.ReadResourceParams{URI: uri})
		return err
	})
	if err != nil {
		return nil, err
	}
	if result.NeedsInput() {
		return nil, refuse(abi.CallUnavailable, CodeRejected, "the resource %q of %s asks for input, which it cannot be given", cut(uri), m.config.Name)
	}
	return &abi.CallResourceReadAnswer{Contents: m.resourceContents(result)}, nil
}

func (m *MCP) resourceContents(r *mcp.ReadResourceResult) []abi.ResourceContent {
	all, say, bare := []abi.ResourceContent{}, m.saying(), m.baring()
	for _, c := range r.Contents {
		if c != nil {
			all = append(all, abi.ResourceContent{URI: say(c.URI), MimeType: say(c.MIMEType), Text: say(c.Text), Data: bare(c.Blob)})
		}
	}
	return all
}

// GetPrompt implements [Source].
func (m *MCP) GetPrompt(ctx context.Context, tenant, name string, arguments map[string]string) (*abi.CallPromptGetAnswer, error) {
	var result *mcp.GetPromptResult
	err := m.ask(ctx, tenant, func(ctx context.Context, l *link) (err error) {
		if !l.hasPrompts() {
			return hasNone(m.config.Name, "prompts")
		}
		result, err = l.session.GetPrompt(ctx, &mcp.GetPromptParams{Name: name, Arguments: arguments})
		return err
	})
	if err != nil {
		return nil, err
	}
	if result.NeedsInput() {
		return nil, refuse(abi.CallUnavailable, CodeRejected, "the prompt %q of %s asks for input, which it cannot be given", cut(name), m.config.Name)
	}
	return m.prompt(result)
}

func (m *MCP) prompt(r *mcp.GetPromptResult) (*abi.CallPromptGetAnswer, error) {
	say, bare := m.saying(), m.baring()
	answer := &abi.CallPromptGetAnswer{Description: say(r.Description), Messages: []abi.PromptMessage{}}
	for _, said := range r.Messages {
		if said == nil {
			continue
		}
		if said.Role != "user" && said.Role != "assistant" {
			return nil, refuse(abi.CallUnavailable, CodeRejected, "%s answers with a prompt that nobody says: a message is of user or assistant", m.config.Name)
		}
		for _, c := range contents([]mcp.Content{said.Content}) {
			c.Text, c.URI, c.MimeType, c.Data = say(c.Text), say(c.URI), say(c.MimeType), bare(c.Data)
			answer.Messages = append(answer.Messages, abi.PromptMessage{Role: string(said.Role), Content: c})
		}
	}
	return answer, nil
}

// hasNone refuses to ask a server for what it says that it does not have.
func hasNone(server, what string) error {
	return refuse(abi.CallNotFound, CodeUnknown, "%q has no %s", server, what)
}

// saying returns what makes a text of a server's one that may be told: it is UTF-8, and
// without what is secret.
func (m *MCP) saying() func(string) string {
	scrub := secret.NewScrub(m.secrets())
	return func(text string) string { return scrub.Text(strings.ToValidUTF8(text, "\uFFFD")) }
}

// baring is saying for bytes.
func (m *MCP) baring() func([]byte) []byte {
	values := m.secrets()
	if len(values) == 0 {
		return func(data []byte) []byte { return data }
	}
	scrub := secret.NewScrub(values)
	return func(data []byte) []byte {
		if len(data) == 0 {
			return nil
		}
		return []byte(scrub.Text(string(data)))
	}
}

// handOver is where the results of some requests are taken before the SDK keeps them: it
// keeps those of each URI and cursor that it is asked for, for as long as the connection lasts.
func handOver(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		result, err := next(ctx, method, req)
		into, wanted := ctx.Value(handOverKey{}).(*mcp.Result)
		if err != nil || !wanted {
			return result, err
		}
		*into = result
		return nil, errHandedOver
	}
}

type handOverKey struct{}

var errHandedOver = errors.New("the result was handed over")

// handedOver makes a request of a session whose result the SDK is not to keep.
func handedOver[P any, R mcp.Result](ctx context.Context, send func(context.Context, P) (R, error), params P) (R, error) {
	var result mcp.Result
	answer, err := send(context.WithValue(ctx, handOverKey{}, &result), params)
	if taken, ok := result.(R); ok && errors.Is(err, errHandedOver) {
		return taken, nil
	}
	return answer, err
}
