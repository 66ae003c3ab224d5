package wharf

import (
	"encoding/json"

	"github.com/wharf-dev/wharf/sdk/go/internal/hostcall"
)

// ModelRequest is what a model is asked.
type ModelRequest struct {
	// CallID is what an override key calls this call (llm: and the name); "" for its
	// number among the Task's.
	CallID string `json:"call_id,omitempty"`
	// Model names a configured model; "" is the node's default.
	Model       string         `json:"model,omitempty"`
	System      string         `json:"system,omitempty"`
	Messages    []ModelMessage `json:"messages"`
	Tools       []ModelTool    `json:"tools,omitempty"`
	ToolChoice  string         `json:"tool_choice,omitempty"` // auto (default), none, any, or a tool's name
	MaxTokens   int            `json:"max_tokens,omitempty"`
	Temperature *float64       `json:"temperature,omitempty"`
	Stop        []string       `json:"stop,omitempty"`
	// Stream tells watchers the text as it comes. The answer is the same.
	Stream bool `json:"stream,omitempty"`
}

// ModelMessage is one message of a conversation with a model. Role is user,
// assistant or tool.
type ModelMessage struct {
	Role      string          `json:"role"`
	Text      string          `json:"text,omitempty"`
	ToolCalls []ModelToolCall `json:"tool_calls,omitempty"` // of an assistant
	// ToolCallID and IsError belong to the role tool: Text is what the tool answered.
	ToolCallID string `json:"tool_call_id,omitempty"`
	IsError    bool   `json:"is_error,omitempty"`
}

// ModelTool is a tool that a model may ask for.
type ModelTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema,omitempty"`
}

// ModelToolCall is a model's wish to have a tool called. Arguments is a JSON object.
type ModelToolCall struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// StopReason says why a model stopped.
type StopReason string

// The stop reasons.
const (
	StopEnd     StopReason = "end"     // it was done, or met a stop sequence
	StopTools   StopReason = "tools"   // it wants tools called
	StopLength  StopReason = "length"  // the limit on tokens
	StopRefusal StopReason = "refusal" // it declined, or was filtered
)

// ModelAnswer is what a model answered.
type ModelAnswer struct {
	Provider   string          `json:"provider"`
	Model      string          `json:"model"`
	Text       string          `json:"text"`
	ToolCalls  []ModelToolCall `json:"tool_calls,omitempty"`
	StopReason StopReason      `json:"stop_reason"`
	Usage      ModelUsage      `json:"usage"`
	Cost       float64         `json:"cost"` // in Currency; 0 when it has no price
	Currency   string          `json:"currency"`
	Route      string          `json:"route"` // why this model was taken
}

// ModelUsage counts tokens.
type ModelUsage struct {
	InputTokens  int64 `json:"input_tokens"`
	OutputTokens int64 `json:"output_tokens"`
}

// Complete asks a model.
func Complete(r ModelRequest) (ModelAnswer, error) {
	var answer ModelAnswer
	err := ask(hostcall.NameLLMComplete, hostcall.LLMComplete, r, &answer)
	return answer, err
}
