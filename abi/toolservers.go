package abi

import (
	"cmp"

	"github.com/go-json-experiment/json/jsontext"
)

// ToolTransport says how a ToolServer is reached.
type ToolTransport string

// The transports.
const (
	TransportHTTP  ToolTransport = "http"  // streamable HTTP
	TransportSSE   ToolTransport = "sse"   // the transport of 2024-11-05: a stream of events, and another URL for messages
	TransportStdio ToolTransport = "stdio" // the node starts a program, which speaks over its standard input and output
)

// ToolServerStatus says whether the node is connected to a ToolServer.
type ToolServerStatus string

// The statuses of a ToolServer.
const (
	ToolServerConnected    ToolServerStatus = "connected"
	ToolServerDisconnected ToolServerStatus = "disconnected" // not yet, or not any more
	ToolServerError        ToolServerStatus = "error"        // the last attempt has failed
)

// ToolServer is a server of the Model Context Protocol that a tenant has added, beside those
// of the node's configuration.
type ToolServer struct {
	Envelope    `json:",inline"`
	WorkspaceID string `json:"workspace_id,omitzero"` // whose Tasks may use it; empty: all of the tenant
	Name        string `json:"name"`                  // as tools are called by: NAME:TOOL
	// Transport is http when it is missing: servers of older nodes have none.
	Transport ToolTransport `json:"transport,omitzero"`
	// URL is where it is. Events tell no more of it than its host, and so do answers to those
	// who may not write tool servers. One that the node starts has none.
	URL string `json:"url,omitzero"`
	// Command is the name that the node's configuration has for the program which is started,
	// with Args after the arguments that it has there. Events have no arguments, and neither have
	// answers to those who may not write tool servers.
	Command string   `json:"command,omitzero"`
	Args    []string `json:"args,omitzero"`
	// AutoReconnect says that the node connects again by itself when the connection is gone; missing
	// means true. Otherwise a ping connects it again.
	AutoReconnect *bool  `json:"auto_reconnect,omitzero"`
	Description   string `json:"description,omitzero"`
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
	// Status and LastError say how the connection is at the moment of a read. No event has them.
	Status    ToolServerStatus `json:"status,omitzero"`
	LastError string           `json:"last_error,omitzero"` // what went wrong last; missing while it is connected
}

// Reconnects reports whether the node connects to the server again by itself.
func (s *ToolServer) Reconnects() bool { return s.AutoReconnect == nil || *s.AutoReconnect }

// Over returns how the server is reached.
func (s *ToolServer) Over() ToolTransport { return cmp.Or(s.Transport, TransportHTTP) }

// CreateToolServerRequest is the body of POST /wharf/v1/tool-servers.
type CreateToolServerRequest struct {
	WorkspaceID   string            `json:"workspace_id,omitzero"`
	Name          string            `json:"name"`
	Transport     ToolTransport     `json:"transport,omitzero"` // default stdio with a command, else http
	URL           string            `json:"url,omitzero"`
	Command       string            `json:"command,omitzero"` // a name of openharness.commands
	Args          []string          `json:"args,omitzero"`
	AutoReconnect *bool             `json:"auto_reconnect,omitzero"` // default true
	Description   string            `json:"description,omitzero"`
	Headers       map[string]string `json:"headers,omitzero"`
	Plugins       []string          `json:"plugins,omitzero"` // empty for all
	ReadOnly      []string          `json:"read_only,omitzero"`
	Idempotent    []string          `json:"idempotent,omitzero"`
	Writes        []string          `json:"writes,omitzero"`
	TimeoutMS     int64             `json:"timeout_ms,omitzero"`
	Metadata      jsontext.Value    `json:"metadata,omitzero"`
}

// UpdateToolServerRequest is the body of PATCH /wharf/v1/tool-servers/{id}. Nil members stay as
// they are.
type UpdateToolServerRequest struct {
	Name          *string           `json:"name,omitzero"`
	Transport     ToolTransport     `json:"transport,omitzero"` // with another one come its url, or command and args
	URL           *string           `json:"url,omitzero"`
	Command       *string           `json:"command,omitzero"`
	Args          []string          `json:"args,omitzero"`
	AutoReconnect *bool             `json:"auto_reconnect,omitzero"`
	Description   *string           `json:"description,omitzero"`
	Headers       map[string]string `json:"headers,omitzero"` // all of them anew
	Plugins       []string          `json:"plugins,omitzero"`
	ReadOnly      []string          `json:"read_only,omitzero"`
	Idempotent    []string          `json:"idempotent,omitzero"`
	Writes        []string          `json:"writes,omitzero"`
	TimeoutMS     *int64            `json:"timeout_ms,omitzero"`
	Metadata      jsontext.Value    `json:"metadata,omitzero"`
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
