package agent

import (
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
)

// The states of an agent's task, in the words of A2A 0.3.
const (
	stateCompleted = "completed"
	stateFailed    = "failed"
	stateCanceled  = "canceled"
	stateRejected  = "rejected"
	stateInput     = "input-required"
	stateAuth      = "auth-required"
)

// state returns the word of 0.3 for a state as either version has it.
func state(word string) string {
	word = strings.TrimPrefix(word, "TASK_STATE_")
	return strings.ReplaceAll(strings.ToLower(word), "_", "-")
}

// part is one of a message or an artifact, as either version has it.
type part struct {
	Text     *string        `json:"text,omitzero"`
	Data     jsontext.Value `json:"data,omitzero"`
	Raw      []byte         `json:"raw,omitzero"`       // 1.0
	URL      string         `json:"url,omitzero"`       // 1.0
	MimeType string         `json:"mediaType,omitzero"` // 1.0
	Kind     string         `json:"kind,omitzero"`      // 0.3
	File     *file          `json:"file,omitzero"`      // 0.3
}

type file struct {
	MimeType string `json:"mimeType"`
	Bytes    []byte `json:"bytes"`
	URI      string `json:"uri"`
}

// told is a task or a message, as either version has it.
type told struct {
	Kind      string `json:"kind"` // 0.3
	ID        string `json:"id"`
	ContextID string `json:"contextId"`
	Status    struct {
		State   string `json:"state"`
		Message *told  `json:"message"`
	} `json:"status"`
	Artifacts []struct {
		ID    string `json:"artifactId"`
		Name  string `json:"name"`
		Parts []part `json:"parts"`
	} `json:"artifacts"`
	Parts []part `json:"parts"` // of a message
}

// sent is what comes of a message: in 1.0 a task or a message by a member of that name, in 0.3 one
// of them itself.
type sent struct {
	Task    *told `json:"task"`
	Message *told `json:"message"`
	told    `json:",inline"`
}

// is returns what was told, and whether that is a message and no task.
func (s *sent) is() (t *told, message bool) {
	switch {
	case s.Task != nil:
		return s.Task, false
	case s.Message != nil:
		return s.Message, true
	}
	return &s.told, s.Kind == "message"
}

// methods are those of a version.
var methods = map[version]struct{ send, stream, get, cancel string }{
	v1:  {"SendMessage", "SendStreamingMessage", "GetTask", "CancelTask"},
	v03: {"message/send", "message/stream", "tasks/get", "tasks/cancel"},
}

// sending returns the parameters that send a message.
func (c *Card) sending(m *message) map[string]any {
	parts := []part{{Text: &m.text}}
	if len(m.data) > 0 {
		parts = append(parts, part{Data: m.data})
	}
	written := map[string]any{"messageId": m.id, "role": "ROLE_USER", "parts": parts}
	configuration := map[string]any{"returnImmediately": true}
	if c.speaks == v03 {
		parts[0].Kind = "text"
		if len(parts) > 1 {
			parts[1].Kind = "data"
		}
		written["kind"], written["role"] = "message", "user"
		configuration = map[string]any{"blocking": false}
	}
	for name, value := range map[string]string{"contextId": m.context, "taskId": m.task} {
		if value != "" {
			written[name] = value
		}
	}
	if m.skill != "" {
		written["metadata"] = map[string]any{"skillId": m.skill}
	}
	return c.within(map[string]any{"message": written, "configuration": configuration})
}

// within names the tenant that the card wants named.
func (c *Card) within(params map[string]any) map[string]any {
	if c.tenant != "" {
		params["tenant"] = c.tenant
	}
	return params
}

// message is what is sent to an agent.
type message struct {
	id, text, skill, context, task string
	data                           jsontext.Value
}

// content returns the parts as a tool's answer has them; the first that is JSON is structured, too.
func content(parts []part) (blocks []abi.ToolContent, structured jsontext.Value) {
	for i := range parts {
		block, data := parts[i].block()
		if block != nil {
			blocks = append(blocks, *block)
		}
		if structured == nil {
			structured = data
		}
	}
	return blocks, structured
}

func (p *part) block() (*abi.ToolContent, jsontext.Value) {
	f := p.File
	if f == nil {
		f = &file{MimeType: p.MimeType, Bytes: p.Raw, URI: p.URL}
	}
	switch {
	case p.Text != nil:
		return &abi.ToolContent{Type: "text", Text: *p.Text}, nil
	case len(p.Data) > 0:
		return &abi.ToolContent{Type: "text", Text: string(p.Data)}, p.Data
	case len(f.Bytes) > 0:
		return &abi.ToolContent{Type: kindOf(f.MimeType), Data: f.Bytes, MimeType: f.MimeType}, nil
	case f.URI != "":
		return &abi.ToolContent{Type: "resource", URI: f.URI, MimeType: f.MimeType}, nil
	}
	return nil, nil
}

// kindOf returns the kind of content for a media type.
func kindOf(mimeType string) string {
	for _, kind := range []string{"image", "audio"} {
		if strings.HasPrefix(mimeType, kind+"/") {
			return kind
		}
	}
	return "resource"
}

// answer tells a task or a message as a tool's answer.
func (t *told) answer(isMessage bool) (*abi.CallToolCallAnswer, error) {
	a := &abi.CallToolCallAnswer{}
	if isMessage {
		a.Content, a.Structured = content(t.Parts)
		return a, nil
	}
	is := state(t.Status.State)
	if t.Status.Message != nil {
		a.Content, a.Structured = content(t.Status.Message.Parts)
	}
	for _, artifact := range t.Artifacts {
		blocks, structured := content(artifact.Parts)
		a.Content = append(a.Content, blocks...)
		if a.Structured == nil {
			a.Structured = structured
		}
	}
	switch is {
	case stateCompleted:
		return a, nil
	case stateInput, stateAuth: // whoever calls again with task_id answers it
		waits, err := json.Marshal(map[string]string{"state": is, "task_id": t.ID, "context_id": t.ContextID}, json.Deterministic(true))
		a.Structured = waits
		return a, err
	}
	a.IsError = true
	if len(a.Content) == 0 {
		a.Content = []abi.ToolContent{{Type: "text", Text: "the agent was not done: its task has ended as " + is}}
	}
	return a, nil
}

// over reports whether nothing more comes of a task before somebody says something.
func (t *told) over() bool { return over(state(t.Status.State)) }

func over(is string) bool {
	switch is {
	case stateCompleted, stateFailed, stateCanceled, stateRejected, stateInput, stateAuth:
		return true
	}
	return false
}
