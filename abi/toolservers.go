package abi

import "github.com/go-json-experiment/json/jsontext"

// ToolServer is a server of the Model Context Protocol that a tenant has added, beside those
// of the node's configuration. It is reached over HTTP.
type ToolServer struct {
	Envelope    `json:",inline"`
	WorkspaceID string `json:"workspace_id,omitzero"` // whose Tasks may use it; empty: all of the tenant
	Name        string `json:"name"`                  // as tools are called by: NAME:TOOL
	// URL is where it is. Events tell no more of it than its host, and so do answers to those
	// who may not write tool servers.
	URL         string `json:"url"`
	Description string `json:"description,omitzero"`
	// Headers are the names of the headers that requests carry. Their values are kept like
	// secrets, and no answer has them.
	Headers []string `json:"headers,omitzero"`
	Plugins []string `json:"plugins"` // patterns of the plugins that may use its tools
	// ReadOnly, Idempotent and Writes are patterns of tools. They say what tools are, whatever
	// the server says of them.
	ReadOnly   []string `json:"read_only,omitzero"`
	Idempotent []string `json:"idempotent,omitzero"`
	Writes     []string `json:"writes,omitzero"`
	TimeoutMS  int64    `json:"timeout_ms,omitzero"` // of one call; 0 for a minute
	// DeletedAt is set on one that was deleted: no read shows it any more.
	DeletedAt Time `json:"deleted_at,omitzero"`
}

// CreateToolServerRequest is the body of POST /wharf/v1/tool-servers.
type CreateToolServerRequest struct {
	WorkspaceID string            `json:"workspace_id,omitzero"`
	Name        string            `json:"name"`
	URL         string            `json:"url"`
	Description string            `json:"description,omitzero"`
	Headers     map[string]string `json:"headers,omitzero"`
	Plugins     []string          `json:"plugins,omitzero"` // empty for all
	ReadOnly    []string          `json:"read_only,omitzero"`
	Idempotent  []string          `json:"idempotent,omitzero"`
	Writes      []string          `json:"writes,omitzero"`
	TimeoutMS   int64             `json:"timeout_ms,omitzero"`
	Metadata    jsontext.Value    `json:"metadata,omitzero"`
}

// UpdateToolServerRequest is the body of PATCH /wharf/v1/tool-servers/{id}. Nil members stay as
// they are.
type UpdateToolServerRequest struct {
	URL         *string           `json:"url,omitzero"`
	Description *string           `json:"description,omitzero"`
	Headers     map[string]string `json:"headers,omitzero"` // all of them anew
	Plugins     []string          `json:"plugins,omitzero"`
	ReadOnly    []string          `json:"read_only,omitzero"`
	Idempotent  []string          `json:"idempotent,omitzero"`
	Writes      []string          `json:"writes,omitzero"`
	TimeoutMS   *int64            `json:"timeout_ms,omitzero"`
	Metadata    jsontext.Value    `json:"metadata,omitzero"`
}

// ToolServerPing says whether a ToolServer answers.
type ToolServerPing struct {
	ToolServerID string   `json:"tool_server_id"`
	Answers      bool     `json:"answers"`
	DurationMS   int64    `json:"duration_ms"`
	Tools        int      `json:"tools"`            // that it offers
	Failure      *Failure `json:"failure,omitzero"` // why it does not answer
}

// ToolServerResources are the resources of a ToolServer.
type ToolServerResources struct {
	ToolServerID string     `json:"tool_server_id"`
	Resources    []Resource `json:"resources"`
}

// ToolServerTemplates are the templates of a ToolServer's resources.
type ToolServerTemplates struct {
	ToolServerID string             `json:"tool_server_id"`
	Templates    []ResourceTemplate `json:"templates"`
}

// ToolServerPrompts are the prompts of a ToolServer.
type ToolServerPrompts struct {
	ToolServerID string   `json:"tool_server_id"`
	Prompts      []Prompt `json:"prompts"`
}

// ReadResourceRequest is the body of POST /wharf/v1/tool-servers/{id}/resources/read.
type ReadResourceRequest struct {
	URI string `json:"uri"`
}

// GetPromptRequest is the body of POST /wharf/v1/tool-servers/{id}/prompts/get.
type GetPromptRequest struct {
	Name      string            `json:"name"`
	Arguments map[string]string `json:"arguments,omitzero"`
}
