package wharf

import (
	"encoding/json"
	"strings"
)

// Task is what a plugin was started for.
type Task struct {
	ID          string          `json:"id"`
	SessionID   string          `json:"session_id"`
	WorkspaceID string          `json:"workspace_id"`
	CreatedBy   string          `json:"created_by"`
	Metadata    json.RawMessage `json:"metadata"`
	// Input is what was submitted: a Message or any JSON object.
	Input json.RawMessage `json:"input"`
	// Persona is who the plugin acts as.
	Persona Persona `json:"-"`
}

// Persona is the role that a Task runs under.
type Persona struct {
	ID            string `json:"id"`
	Name          string `json:"name"`
	Version       string `json:"version"`
	EntryWorkflow string `json:"entry_workflow"`
}

// Message returns the input as a Message. ok is false when the input is another
// JSON object: use [Task.Decode] then.
func (t *Task) Message() (m Message, ok bool) {
	if json.Unmarshal(t.Input, &m) != nil || m.Role == "" || m.Parts == nil {
		return Message{}, false
	}
	return m, true
}

// Decode stores the input in v, as json.Unmarshal does.
func (t *Task) Decode(v any) error { return json.Unmarshal(t.Input, v) }

// Text returns the text parts of the input Message, joined by empty lines. It is
// empty when there are none.
func (t *Task) Text() string {
	m, _ := t.Message()
	return m.Text()
}

// Message is one turn of a conversation.
type Message struct {
	Role  string `json:"role"` // user, assistant, system, tool or agent
	Parts []Part `json:"parts"`
}

// Text returns the text parts of m, joined by empty lines.
func (m Message) Text() string {
	var texts []string
	for _, p := range m.Parts {
		if p.Type == "text" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}

// Part is one block of a Message. Which members are set follows from Type.
type Part struct {
	Type       string          `json:"type"` // text, json, artifact_ref, …
	Text       string          `json:"text,omitempty"`
	Value      json.RawMessage `json:"value,omitempty"`
	ArtifactID string          `json:"artifact_id,omitempty"`
	URI        string          `json:"uri,omitempty"`
	MimeType   string          `json:"mime_type,omitempty"`
	Visibility string          `json:"visibility"` // public, internal or receipt_only
}

// MarshalJSON implements json.Marshaler: a text part has its text even when that
// is empty.
func (p Part) MarshalJSON() ([]byte, error) {
	type plain Part
	text := &p.Text
	if p.Type != "text" && p.Text == "" {
		text = nil
	}
	return json.Marshal(struct {
		plain
		Text *string `json:"text,omitempty"`
	}{plain(p), text})
}

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

// ArtifactPart returns a public part that refers to an Artifact.
func ArtifactPart(artifactID string) Part {
	return Part{Type: "artifact_ref", ArtifactID: artifactID, Visibility: "public"}
}
