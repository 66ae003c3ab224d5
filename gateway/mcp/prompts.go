package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/jsonrpc"
)

// promptsPage is how many prompts are listed at once.
const promptsPage = 200

// prompts serves the Skills that are marked as prompts. To get one is to run it as a Task.
func (a *Adapter) prompts() feature {
	return feature{
		methods: map[string]method{"prompts/list": a.listPrompts, "prompts/get": a.getPrompt},
		declare: func(c *sdk.ServerCapabilities, _ bool) { c.Prompts = &sdk.PromptCapabilities{ListChanged: true} },
	}
}

// promptDoc is a prompt as clients read it.
type promptDoc struct {
	Name        string         `json:"name"`
	Title       string         `json:"title,omitempty"`
	Description string         `json:"description,omitempty"`
	Arguments   []*argument    `json:"arguments,omitempty"`
	Icons       jsontext.Value `json:"icons,omitempty"`
}

// argument is what a prompt takes: a member of the Skill's input that is no list and no object.
type argument struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitzero"`

	kind   string
	values []string // that it may have; nil for any
}

type promptList struct {
	Prompts []*promptDoc `json:"prompts"`
	listed  `json:",inline"`
}

func (a *Adapter) listPrompts(ctx context.Context, q *request) (sdk.Result, error) {
	all, err := a.skills(ctx, q, asPrompt)
	if err != nil {
		return nil, err
	}
	cursor := ""
	if p, ok := q.params.(*sdk.ListPromptsParams); ok && p != nil {
		cursor = p.Cursor
	}
	page, next, err := pageOf(all, cursor, promptsPage, func(s *offered) string { return s.tool })
	if err != nil {
		return nil, err
	}
	docs := make([]*promptDoc, 0, len(page))
	for _, s := range page {
		if !s.Deprecated {
			docs = append(docs, s.prompt())
		}
	}
	return q.reply(promptList{docs, q.listed(next)})
}

// prompt returns a Skill as a prompt.
func (s *offered) prompt() *promptDoc {
	d := &promptDoc{Name: s.tool, Title: s.told.Title, Description: s.Description, Arguments: argumentsOf(s.InputSchema), Icons: s.told.Icons}
	if d.Title == "" && s.Name != s.tool {
		d.Title = s.Name
	}
	return d
}

// inputSchema is what is read of the schema of a Skill's input. Whoever makes a Skill may write there
// whatever is a schema.
type inputSchema struct {
	Properties map[string]jsontext.Value `json:"properties"`
	Required   []string                  `json:"required"`
}

type memberSchema struct {
	Type        string           `json:"type"`
	Title       string           `json:"title"`
	Description string           `json:"description"`
	Enum        []jsontext.Value `json:"enum"`
}

// argumentsOf returns what of a Skill's input can be said by a text: first what it needs, in the order
// in which it says so, then the rest by name.
func argumentsOf(schema jsontext.Value) (all []*argument) {
	var of inputSchema
	if schema.Kind() != '{' || json.Unmarshal(schema, &of) != nil {
		return nil
	}
	for name, text := range of.Properties {
		var m memberSchema
		if text.Kind() != '{' || json.Unmarshal(text, &m) != nil {
			continue
		}
		if !slices.Contains([]string{"", "string", "number", "integer", "boolean"}, m.Type) {
			continue
		}
		all = append(all, &argument{Name: name, Title: m.Title, Description: m.Description, Required: slices.Contains(of.Required, name), kind: m.Type, values: m.values()})
	}
	place := func(one *argument) int {
		if !one.Required {
			return len(of.Required)
		}
		return slices.Index(of.Required, one.Name)
	}
	slices.SortFunc(all, func(x, y *argument) int {
		if by := place(x) - place(y); by != 0 {
			return by
		}
		return strings.Compare(x.Name, y.Name)
	})
	return all
}

// values returns what a member may be, as texts; nil for anything.
func (m *memberSchema) values() (all []string) {
	if m.Type == "boolean" && m.Enum == nil {
		return []string{"true", "false"}
	}
	for _, one := range m.Enum {
		var text string
		switch {
		case json.Unmarshal(one, &text) == nil:
			all = append(all, text)
		case one.Kind() != '{' && one.Kind() != '[':
			all = append(all, string(one))
		}
	}
	return all
}

// inputOf makes the input of a Skill out of texts. One that is to be a number, or true or false, is taken
// for it; what does not fit is left to the schema to refuse.
func inputOf(schema jsontext.Value, texts map[string]string) (jsontext.Value, error) {
	input := map[string]jsontext.Value{}
	kinds := map[string]string{}
	for _, one := range argumentsOf(schema) {
		kinds[one.Name] = one.kind
	}
	for name, text := range texts {
		value := jsontext.Value(text)
		number := kinds[name] == "number" || kinds[name] == "integer"
		if value.IsValid() && (number && value.Kind() == '0' || kinds[name] == "boolean" && (value.Kind() == 't' || value.Kind() == 'f')) {
			input[name] = value
			continue
		}
		quoted, err := json.Marshal(text)
		if err != nil {
			return nil, refuse(jsonrpc.CodeInvalidParams, fmt.Sprintf("the argument %q is no text", name), nil)
		}
		input[name] = quoted
	}
	return json.Marshal(input, json.Deterministic(true))
}

// getPrompt runs the Skill of a prompt, or goes on with one that has asked the client something.
func (a *Adapter) getPrompt(ctx context.Context, q *request) (sdk.Result, error) {
	p, ok := q.params.(*sdk.GetPromptParams)
	if !ok || p == nil || p.Name == "" {
		return nil, refuse(jsonrpc.CodeInvalidParams, "a prompt is got by its name", nil)
	}
	s, err := a.promptNamed(ctx, q, p.Name)
	if err != nil {
		return nil, err
	}
	for _, one := range argumentsOf(s.InputSchema) {
		if _, given := p.Arguments[one.Name]; one.Required && !given {
			return nil, refuse(jsonrpc.CodeInvalidParams, fmt.Sprintf("the prompt %q needs the argument %q", p.Name, one.Name), nil)
		}
	}
	input, err := inputOf(s.InputSchema, p.Arguments)
	if err != nil {
		return nil, err
	}
	return a.runs(ctx, q, &run{skill: s, input: input, responses: p.InputResponses, state: p.RequestState, show: a.showPrompt(s)})
}

// promptNamed returns the prompt of a name.
func (a *Adapter) promptNamed(ctx context.Context, q *request, name string) (*offered, error) {
	all, err := a.skills(ctx, q, asPrompt)
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		if s.tool == name {
			return s, nil
		}
	}
	return nil, refuse(jsonrpc.CodeInvalidParams, fmt.Sprintf("unknown prompt %q", name), nil)
}

// promptMessage is a Message of a prompt: of one piece.
type promptMessage struct {
	Role    string  `json:"role"`
	Content content `json:"content"`
}

type promptResult struct {
	Description string          `json:"description,omitempty"`
	Messages    []promptMessage `json:"messages"`
	Meta        *callMeta       `json:"_meta,omitzero"`
}

// showPrompt shows what the Task of a prompt has said: each piece of it a message, of the user unless
// the Task says that it is the assistant's. A Task that has said nothing has its summary for a prompt.
func (a *Adapter) showPrompt(s *offered) shows {
	return func(ctx context.Context, q *request, t *abi.Task, out *abi.Outcome) (any, error) {
		res := promptResult{Description: s.Description, Messages: []promptMessage{}, Meta: &callMeta{TaskID: t.ID, ReceiptID: t.ReceiptID}}
		for _, text := range out.Messages {
			var m struct {
				Role abi.Role `json:"role"`
			}
			if err := json.Unmarshal(text, &m); err != nil {
				return nil, fmt.Errorf("reading a message of outcome %s: %w", out.ID, err)
			}
			var said callResult
			if err := a.fill(ctx, q, &said, &abi.Outcome{Envelope: out.Envelope, Messages: []jsontext.Value{text}}); err != nil {
				return nil, err
			}
			for _, piece := range said.Content {
				res.Messages = append(res.Messages, promptMessage{roleOf(m.Role), piece})
			}
		}
		if len(res.Messages) == 0 {
			res.Messages = append(res.Messages, promptMessage{"user", textContent(out.Summary)})
		}
		return res, nil
	}
}

func roleOf(r abi.Role) string {
	if r == abi.RoleAssistant {
		return "assistant"
	}
	return "user"
}
