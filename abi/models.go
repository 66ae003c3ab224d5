package abi

import "github.com/go-json-experiment/json/jsontext"

// ModelRequest is the request of [CallLLMComplete]: one shape for every provider.
type ModelRequest struct {
	CallID string `json:"call_id,omitzero"`
	// Model names a configured model, or is empty for the node's default.
	Model       string         `json:"model,omitzero"`
	System      string         `json:"system,omitzero"`
	Messages    []ModelMessage `json:"messages" maxItems:"10000"`
	Tools       []ModelTool    `json:"tools,omitzero"`
	ToolChoice  string         `json:"tool_choice,omitzero"` // auto (default), none, any, or a tool's name
	MaxTokens   int            `json:"max_tokens,omitzero"`
	Temperature *float64       `json:"temperature,omitzero"`
	Stop        []string       `json:"stop,omitzero"`
	// Stream tells watchers the text as it comes, as message deltas. The answer is
	// the same.
	Stream bool `json:"stream,omitzero"`
}

// ModelMessage is one message of a conversation with a model. Role is user,
// assistant or tool.
type ModelMessage struct {
	Role      string          `json:"role"`
	Text      string          `json:"text,omitzero"`
	ToolCalls []ModelToolCall `json:"tool_calls,omitzero"` // of an assistant
	// ToolCallID and IsError belong to the role tool: Text is what the tool answered.
	ToolCallID string `json:"tool_call_id,omitzero"`
	IsError    bool   `json:"is_error,omitzero"`
}

// ModelTool is a tool that a model may ask for.
type ModelTool struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitzero"`
	InputSchema jsontext.Value `json:"input_schema,omitzero"`
}

// ModelToolCall is a model's wish to have a tool called.
type ModelToolCall struct {
	ID        string         `json:"id"`
	Name      string         `json:"name"`
	Arguments jsontext.Value `json:"arguments"` // a JSON object
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

// Known reports whether r is one of the stop reasons.
func (r StopReason) Known() bool {
	return r == StopEnd || r == StopTools || r == StopLength || r == StopRefusal
}

// ModelAnswer answers [CallLLMComplete].
type ModelAnswer struct {
	Provider   string          `json:"provider"` // openai, anthropic, script or client
	Model      string          `json:"model"`    // as the provider names it
	Text       string          `json:"text"`
	ToolCalls  []ModelToolCall `json:"tool_calls,omitzero"`
	StopReason StopReason      `json:"stop_reason"`
	Usage      ModelUsage      `json:"usage"`
	// Cost is in Currency, from the node's price table; 0 when it has no price.
	Cost     float64 `json:"cost"`
	Currency string  `json:"currency"`
	// Route says why this model was taken, and Considered which others were
	// configured for the same name and were tried or passed over before.
	Route      string            `json:"route"`
	Considered []ModelConsidered `json:"considered,omitzero"`
}

// ModelConsidered is a model that was not used.
type ModelConsidered struct {
	Provider string `json:"provider"`
	Model    string `json:"model"`
	Reason   string `json:"reason"`
}

// ModelUsage counts tokens.
type ModelUsage struct {
	InputTokens  int64 `json:"input_tokens"`
	OutputTokens int64 `json:"output_tokens"`
}

// MemoryScope says whom a Memory belongs to.
type MemoryScope string

// The scopes of Memory.
const (
	MemoryPersona   MemoryScope = "persona"
	MemorySession   MemoryScope = "session"
	MemoryWorkspace MemoryScope = "workspace"
	MemoryTenant    MemoryScope = "tenant"
)

// Memory is durable knowledge, apart from transcripts.
type Memory struct {
	Envelope        `json:",inline"`
	Scope           MemoryScope    `json:"scope"`
	OwnerID         string         `json:"owner_id"`
	Content         jsontext.Value `json:"content"` // a string or an object; null when it is redacted
	Provenance      jsontext.Value `json:"provenance"`
	ExpiresAt       Time           `json:"expires_at,omitzero"`
	Visibility      Visibility     `json:"visibility,omitzero"`
	Confidence      float64        `json:"confidence,omitzero"`
	RedactionPolicy jsontext.Value `json:"redaction_policy,omitzero"` // the client's own: Wharf keeps it
	EmbeddingRef    string         `json:"embedding_ref,omitzero"`    // the client's own: Wharf keeps it
	// RedactedAt is set when the content was redacted.
	RedactedAt Time `json:"redacted_at,omitzero"`

	WorkspaceID string `json:"workspace_id,omitzero"`
	SessionID   string `json:"session_id,omitzero"`
}
