package wharf

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/wharf-dev/wharf/sdk/go/internal/scan"
)

// Task is what a plugin was started for.
type Task struct {
	ID          string
	SessionID   string
	WorkspaceID string
	CreatedBy   string
	Metadata    json.RawMessage
	// Input is what was submitted: a Message or any JSON object.
	Input json.RawMessage
	// InputMessageID is the id of the input in the transcript, when it is a Message.
	InputMessageID string
	// Persona is who the plugin acts as.
	Persona Persona
	// Skills are those that the Task has, as they were when it started. [ReadSkill] reads them.
	Skills []Skill
	// Run is what this Task alone wants otherwise than its Persona. The host holds its bounds.
	Run RunOptions
}

// RunOptions are options of one Task. What is zero was not asked for.
type RunOptions struct {
	Model        string   `json:"model,omitempty"`        // the model to ask
	Instructions string   `json:"instructions,omitempty"` // in place of the plugin's own
	Context      string   `json:"context,omitempty"`      // told after the instructions
	Temperature  *float64 `json:"temperature,omitempty"`
	MaxTokens    int      `json:"max_tokens,omitempty"` // of one answer of a model
}

// Persona is the role that a Task runs under.
type Persona struct {
	ID            string `json:"id"`
	Name          string `json:"name"`
	Version       string `json:"version"`
	EntryWorkflow string `json:"entry_workflow"`
	// Agent is what makes it an agent of its own; zero for any other Persona.
	Agent Agent `json:"agent"`
}

// Agent is what an agent asks models with, unless its Task says otherwise. What is zero it does
// not say.
type Agent struct {
	Instructions string   `json:"instructions,omitempty"` // what a model is told first
	Model        string   `json:"model,omitempty"`
	Temperature  *float64 `json:"temperature,omitempty"`
	MaxTokens    int      `json:"max_tokens,omitempty"` // of one answer of a model
	ParentID     string   `json:"parent_id,omitempty"`  // the Persona whose subagent it is
}

// readInput reads the answer of the host call "input". Inputs can be long: they are
// left as they are.
func readInput(answer []byte) (*Task, error) {
	t := &Task{}
	err := scan.Members(answer, func(key string, value []byte) error {
		switch key {
		case "task":
			return scan.Members(value, t.set)
		case "persona":
			return scan.Members(value, t.Persona.set)
		case "skills":
			return scan.Elements(value, t.addSkill)
		}
		return nil
	})
	return t, err
}

func (p *Persona) set(key string, value []byte) (err error) {
	switch key {
	case "id":
		p.ID, err = scan.String(value)
	case "name":
		p.Name, err = scan.String(value)
	case "version":
		p.Version, err = scan.String(value)
	case "entry_workflow":
		p.EntryWorkflow, err = scan.String(value)
	case "agent":
		return scan.Members(value, p.Agent.set)
	}
	return err
}

func (a *Agent) set(key string, value []byte) (err error) {
	switch key {
	case "instructions":
		a.Instructions, err = scan.String(value)
	case "model":
		a.Model, err = scan.String(value)
	case "parent_id":
		a.ParentID, err = scan.String(value)
	case "max_tokens":
		a.MaxTokens, err = strconv.Atoi(string(value))
	case "temperature":
		a.Temperature, err = number(value)
	}
	return err
}

func number(value []byte) (*float64, error) {
	n, err := strconv.ParseFloat(string(value), 64)
	return &n, err
}

func (o *RunOptions) set(key string, value []byte) (err error) {
	switch key {
	case "model":
		o.Model, err = scan.String(value)
	case "instructions":
		o.Instructions, err = scan.String(value)
	case "context":
		o.Context, err = scan.String(value)
	case "max_tokens":
		o.MaxTokens, err = strconv.Atoi(string(value))
	case "temperature":
		o.Temperature, err = number(value)
	}
	return err
}

func (t *Task) set(key string, value []byte) (err error) {
	switch key {
	case "id":
		t.ID, err = scan.String(value)
	case "session_id":
		t.SessionID, err = scan.String(value)
	case "workspace_id":
		t.WorkspaceID, err = scan.String(value)
	case "created_by":
		t.CreatedBy, err = scan.String(value)
	case "input_message_id":
		t.InputMessageID, err = scan.String(value)
	case "metadata":
		t.Metadata = value
	case "run":
		return scan.Members(value, t.Run.set)
	case "input":
		t.Input = value
	}
	return err
}

// Message returns the input as a Message. ok is false when the input is another
// JSON object: use [Task.Decode] then.
func (t *Task) Message() (m Message, ok bool) {
	isMessage := false
	err := scan.Members(t.Input, func(key string, value []byte) (err error) {
		switch key {
		case "role":
			m.Role, err = scan.String(value)
		case "parts":
			isMessage = true
			err = scan.Elements(value, m.addPart)
		}
		return err
	})
	if err != nil || !isMessage || m.Role == "" {
		return Message{}, false
	}
	return m, true
}

func (m *Message) addPart(raw []byte) error {
	var p Part
	if err := scan.Members(raw, p.set); err != nil {
		return err
	}
	m.Parts = append(m.Parts, p)
	return nil
}

func (p *Part) set(key string, value []byte) (err error) {
	switch key {
	case "value":
		p.Value = value
	case "input":
		p.Input = value
	case "output":
		p.Output = value
	}
	if to := p.text(key); to != nil {
		*to, err = scan.String(value)
	}
	return err
}

// text returns the member of the given name that is a text, nil when there is none.
func (p *Part) text(key string) *string {
	switch key {
	case "type":
		return &p.Type
	case "text":
		return &p.Text
	case "artifact_id":
		return &p.ArtifactID
	case "uri":
		return &p.URI
	case "mime_type":
		return &p.MimeType
	case "visibility":
		return &p.Visibility
	case "tool_call_id":
		return &p.ToolCallID
	case "name":
		return &p.Name
	case "status":
		return &p.Status
	}
	return nil
}

// Decode stores the input in v, as json.Unmarshal does.
func (t *Task) Decode(v any) error { return json.Unmarshal(t.Input, v) }

// Text returns the text of the input: the text parts of a Message, joined by empty
// lines, or the member "text" of another JSON object. It is empty when there are
// none.
func (t *Task) Text() string {
	if m, ok := t.Message(); ok {
		return m.Text()
	}
	text := ""
	_ = scan.Members(t.Input, func(key string, value []byte) (err error) {
		if key == "text" {
			text, err = scan.String(value)
		}
		return err
	})
	return text
}

// Message is one turn of a conversation.
type Message struct {
	ID    string `json:"id,omitempty"` // of a Message that was appended
	Role  string `json:"role"`         // user, assistant, system, tool or agent
	Parts []Part `json:"parts"`
	// Metadata is the client's own: an object, or nil.
	Metadata json.RawMessage `json:"metadata,omitempty"`
}

// Text returns the text parts of m, joined by empty lines. What is for receipts only
// no plugin gets to see.
func (m Message) Text() string {
	var texts []string
	for _, p := range m.Parts {
		if p.Type == "text" && p.Visibility != "receipt_only" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}

// Part is one block of a Message. Which members are set follows from Type.
type Part struct {
	Type  string          `json:"type"` // text, json, tool_call, tool_result, artifact_ref, …
	Text  string          `json:"text,omitempty"`
	Value json.RawMessage `json:"value,omitempty"`
	// These belong to the types tool_call and tool_result.
	ToolCallID string          `json:"tool_call_id,omitempty"`
	Name       string          `json:"name,omitempty"`
	Input      json.RawMessage `json:"input,omitempty"`
	Output     json.RawMessage `json:"output,omitempty"`
	Status     string          `json:"status,omitempty"` // ok or error
	ArtifactID string          `json:"artifact_id,omitempty"`
	URI        string          `json:"uri,omitempty"`
	MimeType   string          `json:"mime_type,omitempty"`
	Visibility string          `json:"visibility"` // public, internal or receipt_only
}

// MarshalJSON implements json.Marshaler: a text part has its text even when that
// is empty.
func (p Part) MarshalJSON() ([]byte, error) { return p.append(nil), nil }

// TextPart returns a public text part.
func TextPart(text string) Part { return Part{Type: "text", Text: text, Visibility: "public"} }

// JSONPart returns a public json part that holds v.
func JSONPart(v any) (Part, error) {
	value, err := json.Marshal(v)
	if err != nil {
		return Part{}, err
	}
	return Part{Type: "json", Value: value, Visibility: "public"}, nil
}

// ToolCallPart returns an internal part that says that a tool is called.
func ToolCallPart(id, name string, input json.RawMessage) Part {
	return Part{Type: "tool_call", ToolCallID: id, Name: name, Input: input, Visibility: "internal"}
}

// ToolResultPart returns an internal part with what a tool answered; failed says
// that it failed.
func ToolResultPart(id string, output json.RawMessage, failed bool) Part {
	status := "ok"
	if failed {
		status = "error"
	}
	return Part{Type: "tool_result", ToolCallID: id, Output: output, Status: status, Visibility: "internal"}
}

// ArtifactPart returns a public part that refers to an Artifact.
func ArtifactPart(artifactID string) Part {
	return Part{Type: "artifact_ref", ArtifactID: artifactID, Visibility: "public"}
}
