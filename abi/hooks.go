package abi

import "github.com/go-json-experiment/json/jsontext"

// Hook is somebody outside who has a say in what the Tasks of a Workspace do, or is told of it. One
// for pre_tool is asked before each call of a tool; all others are told afterwards, in the order in which
// things happen. It is kept as a Webhook that no list of Webhooks shows.
type Hook struct {
	Envelope    `json:",inline"`
	WorkspaceID string      `json:"workspace_id"`
	Event       HookEvent   `json:"event"`
	Name        string      `json:"name,omitzero"` // of custom: the kind of the events of plugins; empty for all
	Handler     HookHandler `json:"handler"`
	Enabled     bool        `json:"enabled"`
	Fail        HookFailure `json:"fail"`
	TimeoutMS   int64       `json:"timeout_ms"`           // how long one answer may take
	SecretHint  string      `json:"secret_hint,omitzero"` // the last characters of what signs requests
}

// HookEvent says when a hook is asked or told.
type HookEvent string

// The events of hooks.
const (
	HookPreTool  HookEvent = "pre_tool"  // a tool is about to be called: the hook may deny it, or change its arguments
	HookPostTool HookEvent = "post_tool" // a tool has been called
	HookStop     HookEvent = "stop"      // a Task has ended
	HookError    HookEvent = "error"     // a Task has failed
	HookCustom   HookEvent = "custom"    // a plugin has emitted an event of its own
)

// HookFailure says what becomes of a call whose hook gives no answer.
type HookFailure string

// What can become of it.
const (
	HookOpen   HookFailure = "open"   // it is made all the same
	HookClosed HookFailure = "closed" // it is denied
)

// HookHandler is who is asked and told.
type HookHandler struct {
	URL     string `json:"url,omitzero"`     // requests go there, signed as deliveries to Webhooks are
	Command string `json:"command,omitzero"` // or the program of this name in the node's configuration is run, or a plugin ([HookPlugin])
}

// HookPlugin is how a command begins that names a plugin of the node, as wasm:PLUGIN#EXPORT.
const HookPlugin = "wasm:"

// HookTerms is what a Webhook has that is a hook.
type HookTerms struct {
	Event     HookEvent   `json:"event"`
	Name      string      `json:"name,omitzero"`
	Command   string      `json:"command,omitzero"`
	Fail      HookFailure `json:"fail"`
	TimeoutMS int64       `json:"timeout_ms"`
}

// CreateHookRequest makes a hook.
type CreateHookRequest struct {
	WorkspaceID string            `json:"workspace_id"`
	Event       HookEvent         `json:"event"`
	Name        string            `json:"name,omitzero"`
	Handler     HookHandler       `json:"handler"`
	Enabled     *bool             `json:"enabled,omitzero"` // default true
	Fail        HookFailure       `json:"fail,omitzero"`    // default open
	TimeoutMS   int64             `json:"timeout_ms,omitzero"`
	Secret      string            `json:"secret,omitzero"` // empty: the node makes one
	Signature   *WebhookSignature `json:"signature,omitzero"`
	Metadata    jsontext.Value    `json:"metadata,omitzero"`
}

// UpdateHookRequest changes a hook. Nil members stay as they are.
type UpdateHookRequest struct {
	Handler   *HookHandler   `json:"handler,omitzero"`
	Enabled   *bool          `json:"enabled,omitzero"`
	Fail      *HookFailure   `json:"fail,omitzero"`
	TimeoutMS *int64         `json:"timeout_ms,omitzero"`
	Metadata  jsontext.Value `json:"metadata,omitzero"`
}

// HookQuestion is what a hook is asked before a tool is called, and told of what has happened. Members
// that do not belong to the event are left out.
type HookQuestion struct {
	Event       HookEvent      `json:"event"`
	HookID      string         `json:"hook_id"`
	WorkspaceID string         `json:"workspace_id"`
	SessionID   string         `json:"session_id"`
	TaskID      string         `json:"task_id"`
	PersonaID   string         `json:"persona_id,omitzero"`
	Tool        string         `json:"tool,omitzero"`    // SERVER:NAME
	ToolID      string         `json:"tool_id,omitzero"` // of the call
	Input       jsontext.Value `json:"input,omitzero"`   // the tool's arguments
	Output      jsontext.Value `json:"output,omitzero"`  // what the tool has answered
	Success     *bool          `json:"success,omitzero"`
	Status      TaskStatus     `json:"status,omitzero"` // of the Task that has ended
	Failure     *Failure       `json:"failure,omitzero"`
	Name        string         `json:"name,omitzero"` // of custom: the kind of the plugin's event
	Data        jsontext.Value `json:"data,omitzero"` // and what it holds
	At          Time           `json:"at"`
}

// HookAnswer is what a hook may answer before a tool is called. An empty answer lets the call be.
type HookAnswer struct {
	Decision string         `json:"decision,omitzero"` // allow or deny
	Reason   string         `json:"reason,omitzero"`
	Input    jsontext.Value `json:"input,omitzero"` // other arguments, an object
}

// HookTriggered says that a hook was asked, or is told.
type HookTriggered struct {
	HookID string         `json:"hook_id"`
	Event  HookEvent      `json:"event"`
	Data   jsontext.Value `json:"data"`
}
