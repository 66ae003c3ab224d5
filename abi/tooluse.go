package abi

// ToolUse is what people see of a tool.call: in the events of its beginning (tool.requested) and
// its end (tool.completed, tool.failed), and of a Skill in what its Task waits for. How much of it
// a key without events:internal sees is up to the Persona's ToolsVisibility.
type ToolUse struct {
	CallID      string       `json:"call_id"` // the call_id that it was made with, or else call- and its index in the record
	Server      string       `json:"server"`
	Name        string       `json:"name"`
	Kind        ToolKind     `json:"kind,omitzero"` // absent: not known
	ReadOnly    bool         `json:"read_only,omitzero"`
	Destructive bool         `json:"destructive,omitzero"` // its definition says that it can destroy something
	Executor    ToolExecutor `json:"executor"`
	StartedAt   Time         `json:"started_at"`
	// DurationUs is how long the whole call took, of its end: with waiting for approval, and
	// over a crash. ExecutionUs is how long its server took of that, where it was asked.
	DurationUs    int64             `json:"duration_us,omitzero"`
	ExecutionUs   int64             `json:"execution_us,omitzero"`
	ErrorCategory ToolErrorCategory `json:"error_category,omitzero"` // of its end: why it failed
	// StartedEventID is the event that told its beginning, of its end.
	StartedEventID string `json:"started_event_id,omitzero"`
	// Visibility is the Persona's when the call was made; absent for named.
	Visibility ToolsVisibility `json:"visibility,omitzero"`
}

// The servers of tools that are no configuration's and no tenant's.
const (
	ToolServerHost   = "host"   // the node's own tools
	ToolServerSkills = "skills" // each Skill, as a tool
	ToolServerAgents = "agents" // the subagents of an agent, by their names
	ToolServerClient = "client" // those that clients offer on their sockets
)

// ToolServerProcess has what is known of shells, and runs commands.
const ToolServerProcess = "process"

// The tools of the server client that a client has by its files and terminals, and the tool of the
// server process that runs commands.
const (
	ToolReadFile    = "fs_read"
	ToolWriteFile   = "fs_write"
	ToolRunTerminal = "terminal_run"
	ToolExec        = "exec"
)

// ToolKind is a kind of tools, by what they do.
type ToolKind string

// The kinds of tools.
const (
	ToolKindRead    ToolKind = "read"
	ToolKindEdit    ToolKind = "edit"
	ToolKindDelete  ToolKind = "delete"
	ToolKindMove    ToolKind = "move"
	ToolKindSearch  ToolKind = "search"
	ToolKindExecute ToolKind = "execute"
	ToolKindThink   ToolKind = "think"
	ToolKindFetch   ToolKind = "fetch"
	ToolKindMode    ToolKind = "switch_mode"
	ToolKindOther   ToolKind = "other"
)

// ToolExecutor says what runs a tool.
type ToolExecutor string

// The executors of tools.
const (
	ExecutorHarn   ToolExecutor = "harn_builtin" // the node itself
	ExecutorClient ToolExecutor = "host_bridge"  // a client, on its socket
	ExecutorServer ToolExecutor = "mcp_server"   // a server of the Model Context Protocol: the member server names it
)

// ToolErrorCategory says in which way a tool call failed.
type ToolErrorCategory string

// The categories of failed tool calls.
const (
	ToolErrorSchema     ToolErrorCategory = "schema_validation" // its arguments do not fit, or there is no such tool
	ToolErrorDenied     ToolErrorCategory = "permission_denied" // policy or an approver said no
	ToolErrorTimeout    ToolErrorCategory = "timeout"
	ToolErrorOwn        ToolErrorCategory = "tool_error"        // the tool itself says that it failed
	ToolErrorServer     ToolErrorCategory = "mcp_server_error"  // its server gave no answer that can be used
	ToolErrorHostBridge ToolErrorCategory = "host_bridge_error" // the client gave none
	ToolErrorUnknown    ToolErrorCategory = "unknown"           // nobody knows whether it was done
	ToolErrorCancelled  ToolErrorCategory = "cancelled"         // its Task has ended meanwhile
)

// Progress is what [EventProgress] tells: how far a plugin says it is, or, of the type [ProgressOfTool],
// how far the tool is that it calls.
type Progress struct {
	// Fraction is 0 to 1; a tool need not know it.
	Fraction *float64 `json:"fraction,omitzero"`
	Message  string   `json:"message,omitzero"`
	// Type is "" of a plugin's own.
	Type string `json:"type,omitzero"`
	// Visibility of what a tool says follows from the Persona's ToolsVisibility: internal unless that is public.
	Visibility Visibility `json:"visibility,omitzero"`
	Redacted   bool       `json:"redacted,omitzero"` // what it says is withheld
}

// ProgressOfTool is the type of what the server of a tool says while the tool is called.
const ProgressOfTool = "tool"

// ToolsVisibility says how much of the tool calls of a Persona's Tasks is told to keys without
// events:internal.
type ToolsVisibility string

// How much is told of tool calls.
const (
	ToolsInternal ToolsVisibility = "internal" // that there was a call, and nothing else
	ToolsNamed    ToolsVisibility = "named"    // which tool, how long, how it ended: the default
	ToolsPublic   ToolsVisibility = "public"   // its arguments and its answer, too
)
