package wharf

import (
	"encoding/json"
	"time"

	"github.com/wharf-dev/wharf/sdk/go/internal/hostcall"
)

// Scope says whom a Memory belongs to.
type Scope string

// The scopes of Memory.
const (
	ScopePersona   Scope = "persona"
	ScopeSession   Scope = "session"
	ScopeWorkspace Scope = "workspace"
	ScopeTenant    Scope = "tenant"
)

// MemoryQuery asks for Memories that hold every word of Text, in any letter case; an
// empty Text finds all.
type MemoryQuery struct {
	CallID string `json:"call_id,omitempty"`
	Scope  Scope  `json:"scope"`
	Text   string `json:"text,omitempty"`
	Limit  int    `json:"limit,omitempty"` // 1 to 100; default 10
}

// Memory is durable knowledge, apart from transcripts. Content is a string or an
// object.
type Memory struct {
	ID         string          `json:"id"`
	Scope      Scope           `json:"scope"`
	OwnerID    string          `json:"owner_id"`
	CreatedAt  time.Time       `json:"created_at"`
	Content    json.RawMessage `json:"content"`
	Provenance json.RawMessage `json:"provenance"`
	Confidence float64         `json:"confidence,omitempty"`
	Metadata   json.RawMessage `json:"metadata,omitempty"`
}

// Text returns the content when it is a string, else "".
func (m Memory) Text() string {
	text := ""
	_ = json.Unmarshal(m.Content, &text)
	return text
}

// QueryMemory finds Memories that the Task may read, newest first.
func QueryMemory(q MemoryQuery) ([]Memory, error) {
	var answer struct {
		Memories []Memory `json:"memories"`
	}
	err := ask(hostcall.NameMemoryQuery, hostcall.MemoryQuery, q, &answer)
	return answer.Memories, err
}

// NewMemory is a Memory to keep. Content is anything that encodes to a JSON string
// or object.
type NewMemory struct {
	Scope            Scope           `json:"scope"`
	Content          any             `json:"content"`
	ExpiresInSeconds float64         `json:"expires_in_seconds,omitempty"` // 0: never
	Visibility       string          `json:"visibility,omitempty"`         // default internal
	Confidence       float64         `json:"confidence,omitempty"`         // 0 to 1
	Metadata         json.RawMessage `json:"metadata,omitempty"`
}

// Remember keeps a Memory for later Tasks and returns its id. It is on disk then.
func Remember(m NewMemory) (id string, err error) {
	var answer struct {
		MemoryID string `json:"memory_id"`
	}
	err = ask(hostcall.NameMemoryWrite, hostcall.MemoryWrite, m, &answer)
	return answer.MemoryID, err
}

// State names a value that the Tasks of a Session share: 1 to 128 characters
// A-Z a-z 0-9 _ - and the dot.
type State string

// Get stores the value in v, as json.Unmarshal does, and reports whether there is
// one.
func (s State) Get(v any) (found bool, err error) {
	return value(hostcall.NameStateGet, hostcall.StateGet, struct {
		Key State `json:"key"`
	}{s}, v)
}

// Set keeps a value. It is on disk when Set returns.
func (s State) Set(v any) error {
	return ask(hostcall.NameStateSet, hostcall.StateSet, struct {
		Key   State `json:"key"`
		Value any   `json:"value"`
	}{s, v}, nil)
}

// Delete removes the value.
func (s State) Delete() error { return s.Set(nil) }

type valueAnswer struct {
	Value json.RawMessage `json:"value"`
}

// value makes a host call whose answer holds a value, or null for none.
func value(name string, call hostCall, request, v any) (found bool, err error) {
	var answer valueAnswer
	if err := ask(name, call, request, &answer); err != nil {
		return false, err
	}
	if len(answer.Value) == 0 || string(answer.Value) == "null" {
		return false, nil
	}
	return true, json.Unmarshal(answer.Value, v)
}
