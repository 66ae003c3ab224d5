package abi

import "github.com/go-json-experiment/json/jsontext"

// ToolServerCustom is the server of the tools that a Workspace has of its own.
const ToolServerCustom = "custom"

// CustomTool is a tool that a Workspace has of its own: its Tasks call it as custom:NAME, and a
// receiver of requests or a program of the node answers.
type CustomTool struct {
	Envelope    `json:",inline"`
	WorkspaceID string         `json:"workspace_id"` // whose Tasks may use it
	Name        string         `json:"name"`         // one tool's within the Workspace
	Description string         `json:"description"`  // what it does, for models
	InputSchema jsontext.Value `json:"input_schema"` // a JSON Schema of what it is called with
	// Handler answers calls.
	Handler ToolHandler `json:"handler"`
	// SecretID is where the value is that requests are signed with. It is empty for a program.
	SecretID string `json:"secret_id,omitzero"`
	// DeletedAt is set on one that was deleted: no read shows it any more.
	DeletedAt Time `json:"deleted_at,omitzero"`
}

// ToolHandler answers the calls of a CustomTool: a URL or a command.
type ToolHandler struct {
	// URL gets a signed POST for each call. Events tell no more of it than its host, and so do
	// answers to those who may not write tools.
	URL string `json:"url,omitzero"`
	// Signature is a header with the HMAC of the body, beside those of Standard Webhooks.
	Signature *WebhookSignature `json:"signature,omitzero"`
	// Command is the name that the node's configuration has for a program, which is started for
	// each call with Args after the arguments that it has there. Events have no arguments.
	Command string   `json:"command,omitzero"`
	Args    []string `json:"args,omitzero"`
}

// CreateCustomToolRequest says what tool a Workspace is to have.
type CreateCustomToolRequest struct {
	WorkspaceID string         `json:"workspace_id"`
	Name        string         `json:"name"`
	Description string         `json:"description"`
	InputSchema jsontext.Value `json:"input_schema"`
	Handler     ToolHandler    `json:"handler"`
	Metadata    jsontext.Value `json:"metadata,omitzero"`
}

// CustomToolCall is what a CustomTool is called with: the body of a request, or the standard input
// of a program.
type CustomToolCall struct {
	Tool  string         `json:"tool"`
	Input jsontext.Value `json:"input"`
	// ExecutionID is the Task that calls.
	ExecutionID string `json:"execution_id,omitzero"`
}
