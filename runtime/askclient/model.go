package askclient

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/plainly"
	"github.com/wharf-dev/wharf/runtime/provider"
)

// ProviderClient is what answers and receipts name as the provider of what a model of the client's
// says.
const ProviderClient = "client"

// The codes of calls that no model has answered.
const (
	CodeNoSampling = "model_no_client"  // the Task has no client with a model
	codeDeclined   = "model_declined"   // whoever was asked did not let the model answer
	codeTimeout    = "model_timeout"    // nobody answered in time
	codeUnreadable = "model_unreadable" // the answer has no content that a plugin is told
)

// named is the member of a tool's _meta that has its name as the plugin knows it.
const named = "wharf/name"

// params are those of MCP's sampling/createMessage.
type params struct {
	Messages     []message  `json:"messages"`
	SystemPrompt string     `json:"systemPrompt,omitzero"`
	MaxTokens    int        `json:"maxTokens"`
	Temperature  *float64   `json:"temperature,omitzero"`
	Stop         []string   `json:"stopSequences,omitzero"`
	Tools        []tool     `json:"tools,omitzero"`
	ToolChoice   *choice    `json:"toolChoice,omitzero"`
	Preferences  *preferred `json:"modelPreferences,omitzero"`
}

type message struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

type block struct {
	Type      string         `json:"type"`
	Text      *string        `json:"text,omitzero"`
	ID        string         `json:"id,omitzero"`
	Name      string         `json:"name,omitzero"`
	Input     jsontext.Value `json:"input,omitzero"`
	ToolUseID string         `json:"toolUseId,omitzero"`
	Content   []block        `json:"content,omitzero"`
	IsError   bool           `json:"isError,omitzero"`
}

type tool struct {
	Name        string            `json:"name"`
	Description string            `json:"description,omitzero"`
	InputSchema jsontext.Value    `json:"inputSchema"`
	Meta        map[string]string `json:"_meta,omitzero"`
}

type choice struct {
	Mode string `json:"mode"`
}

type preferred struct {
	Hints []hint `json:"hints"`
}

type hint struct {
	Name string `json:"name"`
}

// Model is how a client's model is asked.
type Model struct {
	MaxTokens int               // of its answer, at least 1
	Hint      string            // of the model that is wanted; "" for any
	Names     map[string]string // what the names of the request's tools stand for, where they were changed
	Seconds   float64           // to wait for the answer; 0: for ever
}

// Sampling returns what a Task asks its client in the place of a model. The error is a
// *provider.Refusal: the client has none, or none that takes such a request.
func Sampling(c *abi.TaskClient, r *abi.ModelRequest, m Model) (*abi.CallInputRequestRequest, error) {
	switch {
	case !can(c, abi.ClientSamples):
		return nil, provider.Refuse(abi.CallUnavailable, CodeNoSampling, "the client that gave this task has not said that it has a model to ask (the capability "+abi.ClientSamples+")")
	case len(r.Tools) > 0 && !can(c, abi.ClientSamplesTools):
		return nil, provider.Refuse(abi.CallUnavailable, CodeNoSampling, "the model of the client that gave this task takes no tools (the capability "+abi.ClientSamplesTools+")")
	}
	p := params{SystemPrompt: r.System, MaxTokens: m.MaxTokens, Temperature: r.Temperature, Stop: r.Stop, Messages: messages(r.Messages)}
	if m.Hint != "" {
		p.Preferences = &preferred{Hints: []hint{{Name: m.Hint}}}
	}
	for i := range r.Tools {
		p.Tools = append(p.Tools, toolOf(&r.Tools[i], m.Names))
	}
	p.choose(r.ToolChoice)
	text, err := json.Marshal(&p, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("writing the sampling: %w", err)
	}
	return &abi.CallInputRequestRequest{CallID: r.CallID, TimeoutSeconds: m.Seconds,
		Requests: []abi.Question{{Key: "model", Kind: abi.PermissionSampling, Params: text}}}, nil
}

func can(c *abi.TaskClient, capability string) bool {
	return c != nil && slices.Contains(c.Capabilities, capability)
}

func toolOf(t *abi.ModelTool, names map[string]string) tool {
	made := tool{Name: t.Name, Description: t.Description, InputSchema: t.InputSchema}
	if len(made.InputSchema) == 0 {
		made.InputSchema = jsontext.Value(`{"type":"object","properties":{}}`)
	}
	if of, changed := names[t.Name]; changed {
		made.Meta = map[string]string{named: of}
	}
	return made
}

// choose says whether tools are to be called. MCP has no word for one of them: then it is the only one.
func (p *params) choose(name string) {
	switch name {
	case "", "auto":
	case "none":
		p.ToolChoice = &choice{"none"}
	case "any":
		p.ToolChoice = &choice{"required"}
	default:
		p.Tools = slices.DeleteFunc(p.Tools, func(t tool) bool { return t.Name != name })
		p.ToolChoice = &choice{"required"}
	}
}

// messages returns a conversation as MCP has it: what tools have answered is said by the user, all that
// follows one message of the assistant at once.
func messages(said []abi.ModelMessage) (all []message) {
	for i := range said {
		m := &said[i]
		switch {
		case m.Role != "tool":
			all = append(all, message{m.Role, blocks(m)})
		case i > 0 && said[i-1].Role == "tool":
			last := &all[len(all)-1]
			last.Content = append(last.Content, resultOf(m))
		default:
			all = append(all, message{"user", []block{resultOf(m)}})
		}
	}
	return all
}

func blocks(m *abi.ModelMessage) (all []block) {
	if m.Text != "" || len(m.ToolCalls) == 0 {
		all = append(all, block{Type: "text", Text: &m.Text})
	}
	for _, c := range m.ToolCalls {
		all = append(all, block{Type: "tool_use", ID: c.ID, Name: c.Name, Input: c.Arguments})
	}
	return all
}

func resultOf(m *abi.ModelMessage) block {
	return block{Type: "tool_result", ToolUseID: m.ToolCallID, IsError: m.IsError, Content: []block{{Type: "text", Text: &m.Text}}}
}

// result is that of MCP's sampling/createMessage.
type result struct {
	Content    jsontext.Value `json:"content"`
	Model      string         `json:"model"`
	StopReason string         `json:"stopReason"`
}

// ModelAnswer returns the answer of the model call that asked by asked. The error is a
// *provider.Refusal: no model has answered.
func ModelAnswer(asked jsontext.Value, a *abi.QuestionAnswer) ([]byte, error) {
	value, err := valueOf(a, codeDeclined, codeTimeout)
	if err != nil {
		return nil, err
	}
	var said result
	if err := json.Unmarshal(value, &said); err != nil {
		return nil, unreadable(err)
	}
	var content []block
	if said.Content.Kind() != '[' {
		said.Content = slices.Concat(jsontext.Value("["), said.Content, jsontext.Value("]"))
	}
	if err := json.Unmarshal(said.Content, &content); err != nil {
		return nil, unreadable(err)
	}
	answer := &abi.ModelAnswer{Provider: ProviderClient, Model: said.Model, StopReason: stopOf(said.StopReason), Currency: "USD", Route: "the client that gave the task"}
	if answer.Model == "" {
		answer.Model = "unknown"
	}
	if err := take(answer, content, namesIn(asked)); err != nil {
		return nil, err
	}
	return json.Marshal(answer, json.Deterministic(true))
}

func unreadable(err error) error {
	return provider.Refuse(abi.CallUnavailable, codeUnreadable, "what the client's model said cannot be read: "+plainly.Say(err))
}

// take puts what a model said into its answer. Images and sounds no plugin is told.
func take(answer *abi.ModelAnswer, content []block, names map[string]string) error {
	var texts []string
	for i := range content {
		switch b := &content[i]; b.Type {
		case "text":
			if b.Text != nil {
				texts = append(texts, *b.Text)
			}
		case "tool_use":
			input, err := abi.Plain(b.Input)
			if err != nil {
				return unreadable(err)
			}
			call := abi.ModelToolCall{ID: b.ID, Name: b.Name, Arguments: input}
			if of, changed := names[b.Name]; changed {
				call.Name = of
			}
			if call.ID == "" {
				call.ID = "call_" + strconv.Itoa(i+1)
			}
			answer.ToolCalls = append(answer.ToolCalls, call)
		default:
			return provider.Refuse(abi.CallUnavailable, codeUnreadable, "the client's model answered with "+strconv.Quote(b.Type)+", and plugins are told text and tool calls")
		}
	}
	answer.Text = strings.Join(texts, "")
	if len(answer.ToolCalls) > 0 && answer.StopReason == abi.StopEnd {
		answer.StopReason = abi.StopTools
	}
	return nil
}

func stopOf(reason string) abi.StopReason {
	switch reason {
	case "maxTokens":
		return abi.StopLength
	case "toolUse":
		return abi.StopTools
	case "refusal":
		return abi.StopRefusal
	}
	return abi.StopEnd
}

// namesIn returns what the names of tools stand for that were changed for the client.
func namesIn(asked jsontext.Value) map[string]string {
	var p struct {
		Tools []tool `json:"tools"`
	}
	if json.Unmarshal(asked, &p) != nil {
		return nil
	}
	names := map[string]string{}
	for _, t := range p.Tools {
		if of := t.Meta[named]; of != "" {
			names[t.Name] = of
		}
	}
	return names
}

// valueOf returns the value that was answered. Its error is a *provider.Refusal with one of these codes.
func valueOf(a *abi.QuestionAnswer, declined, timeout string) (jsontext.Value, error) {
	switch {
	case a.Status == abi.PermissionTimeout:
		return nil, provider.Refuse(abi.CallTimeout, timeout, "the client did not answer in time")
	case a.Message == nil && a.Code == abi.Unsupported:
		return nil, provider.Refuse(abi.CallUnavailable, string(abi.Unsupported), "the client cannot answer this"+because(a.Reason))
	case a.Message == nil:
		return nil, provider.Refuse(abi.CallDenied, declined, a.Actor+" did not let the client answer"+because(a.Reason))
	}
	return said(a.Message), nil
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

// said returns the value of a Message that answers: that of its first json part, or else its text.
func said(m *abi.Message) jsontext.Value {
	var text strings.Builder
	for i := range m.Parts {
		switch p := &m.Parts[i]; {
		case p.Type == abi.PartJSON:
			return p.Value
		case p.Type == abi.PartText && p.Text != nil:
			text.WriteString(*p.Text)
		}
	}
	return jsontext.Value(text.String())
}
