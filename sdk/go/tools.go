package wharf

import (
	"encoding/json"
	"strings"

	"github.com/wharf-dev/wharf/sdk/go/internal/hostcall"
)

// Tool describes a tool that the plugin may call. The hints are what the tool says
// of itself.
type Tool struct {
	Server      string          `json:"server"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema,omitempty"`
	ReadOnly    bool            `json:"read_only,omitempty"`
	Idempotent  bool            `json:"idempotent,omitempty"`
	Destructive bool            `json:"destructive,omitempty"`
}

// ListTools lists the tools of a server that the plugin may call; "" for those of
// all.
func ListTools(server string) ([]Tool, error) {
	var answer toolList
	err := ask(hostcall.NameToolList, hostcall.ToolList, listTools{server}, &answer)
	return answer.Tools, err
}

type listTools struct {
	Server string `json:"server,omitempty"`
}

type toolList struct {
	Tools []Tool `json:"tools"`
}

// ToolRequest asks for a call of a tool. Arguments is a JSON object; CallID is what
// an override key calls this call (mcp:, the server, : and the name).
type ToolRequest struct {
	CallID    string          `json:"call_id,omitempty"`
	Server    string          `json:"server"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// CompositionID names the composition that the call is a child of: see [Composition.CallTool].
	CompositionID string `json:"composition_id,omitempty"`
}

// ToolAnswer is what a tool answered. A tool that failed by its own word answers with
// IsError, and the call itself has no error.
type ToolAnswer struct {
	Content    []ToolContent   `json:"content"`
	Structured json.RawMessage `json:"structured,omitempty"`
	IsError    bool            `json:"is_error,omitempty"`
}

// Text returns the texts of the answer, a line each.
func (a ToolAnswer) Text() string {
	var texts []string
	for _, c := range a.Content {
		if c.Type == "text" {
			texts = append(texts, c.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// ToolContent is one block of a tool's answer. Type is text, image, audio or
// resource.
type ToolContent struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitempty"`
	Data     []byte `json:"data,omitempty"`
	MimeType string `json:"mime_type,omitempty"`
	URI      string `json:"uri,omitempty"`
}

// CallTool calls a tool. An error with [StatusIndeterminate] says that the tool may
// have been called before the node died: look before calling it again.
func CallTool(r ToolRequest) (ToolAnswer, error) {
	var answer ToolAnswer
	err := ask(hostcall.NameToolCall, hostcall.ToolCall, r, &answer)
	return answer, err
}
