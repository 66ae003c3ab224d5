package abi

import "github.com/go-json-experiment/json/jsontext"

// CreateWorkspaceRequest is the body of POST /v1/workspaces.
type CreateWorkspaceRequest struct {
	Name           string         `json:"name"`
	Root           string         `json:"root"`
	Image          string         `json:"image,omitzero"`
	Packages       []string       `json:"packages,omitzero"`
	NetworkPolicy  jsontext.Value `json:"network_policy,omitzero"`
	SandboxBackend string         `json:"sandbox_backend,omitzero"`
	Metadata       jsontext.Value `json:"metadata,omitzero"`
}

// UpdateWorkspaceRequest is the body of PATCH /v1/workspaces/{id}. Nil members
// stay as they are.
type UpdateWorkspaceRequest struct {
	Name         *string        `json:"name,omitzero"`
	Host         Change[string] `json:"host,omitzero"`
	Repository   Change[string] `json:"repository,omitzero"`
	Capabilities []string       `json:"capabilities,omitzero"`
	Connectors   []string       `json:"connectors,omitzero"`
	QuotaID      jsontext.Value `json:"quota_id,omitzero"` // a string, or null for none
	// Retention replaces how long things are kept; null has them kept as long as the node keeps others.
	Retention Change[WorkspaceRetention] `json:"retention,omitzero"`
	Metadata  jsontext.Value             `json:"metadata,omitzero"`
}

// MessageInput is a Message as a client writes it.
type MessageInput struct {
	Role     Role           `json:"role"`                   // who speaks
	Parts    []Part         `json:"parts" maxItems:"10000"` // the content, in its order
	Metadata jsontext.Value `json:"metadata,omitzero"`
}

// CreateSessionRequest is the body of POST /v1/sessions.
type CreateSessionRequest struct {
	WorkspaceID     string         `json:"workspace_id"`
	PersonaID       string         `json:"persona_id,omitzero"`
	VaultIDs        []string       `json:"vault_ids,omitzero"`
	MemoryIDs       []string       `json:"memory_ids,omitzero"`
	SkillIDs        []string       `json:"skill_ids,omitzero"`
	Refs            []OutsideRef   `json:"refs,omitzero"`
	Skills          []string       `json:"skills,omitzero"`           // names, or ids, of SkillBundles that its Tasks are to have
	Name            string         `json:"name,omitzero"`             // for people, at most 100 characters
	Context         string         `json:"context,omitzero"`          // told to models by its Tasks after their instructions; at most 16 KiB
	InitialMessages []MessageInput `json:"initial_messages,omitzero"` // the Messages that it begins with
	Metadata        jsontext.Value `json:"metadata,omitzero"`
}

// UpdateSessionRequest is the body of PATCH /v1/sessions/{id}.
type UpdateSessionRequest struct {
	Summary   Change[string] `json:"summary,omitzero"`
	Name      Change[string] `json:"name,omitzero"`
	Context   Change[string] `json:"context,omitzero"`    // of Tasks that are submitted from then on
	Skills    []string       `json:"skills,omitzero"`     // all of them anew; nil: as they are
	PersonaID Change[string] `json:"persona_id,omitzero"` // of Tasks that are submitted from then on, and name no other; null: the node's default
	Model     Change[string] `json:"model,omitzero"`      // that Tasks ask which are submitted from then on, and name no other; null: as the Persona or the node has it
	Metadata  jsontext.Value `json:"metadata,omitzero"`
}

// ForkSessionRequest is the body of POST /v1/sessions/{id}/fork. An empty
// AtEventID forks at the end.
type ForkSessionRequest struct {
	AtEventID string         `json:"at_event_id,omitzero"` // the last event that both share; the end if it is absent
	BranchID  string         `json:"branch_id,omitzero"`   // the Branch that the fork goes along
	Name      string         `json:"name,omitzero"`        // of the fork, for people
	Metadata  jsontext.Value `json:"metadata,omitzero"`
}

// TruncateSessionRequest is the body of POST /v1/sessions/{id}/truncate: keep
// the first N turns. A turn is a Message. Turns and Keep are accepted spellings
// of KeepTurns (docs/protocol.md, 8.2).
type TruncateSessionRequest struct {
	KeepTurns *int `json:"keep_turns,omitzero"`
	Turns     *int `json:"turns,omitzero"`
	Keep      *int `json:"keep,omitzero"`
}

// AppendMessageRequest is the body of POST /v1/sessions/{id}/messages.
type AppendMessageRequest struct {
	Message *MessageInput `json:"message"`
}

// TaskMessageKind says what a Message sent to a Task is for.
type TaskMessageKind string

// The kinds of Messages sent to a Task.
const (
	TaskMessageInput            TaskMessageKind = "input"
	TaskMessageInterrupt        TaskMessageKind = "interrupt"
	TaskMessageToolConfirmation TaskMessageKind = "tool_confirmation"
)

// AppendTaskMessageRequest is the body of POST /v1/tasks/{id}/messages.
type AppendTaskMessageRequest struct {
	Kind    TaskMessageKind `json:"kind"` // what it is for
	Message *MessageInput   `json:"message"`
}

// SubmitTaskRequest is the body of POST /v1/tasks and of
// POST /v1/sessions/{id}/tasks. Input is a [MessageInput] when it has both
// "role" and "parts", else any JSON object.
type SubmitTaskRequest struct {
	Input     jsontext.Value `json:"input"`
	SessionID string         `json:"session_id,omitzero"`
	// Session is Wharf's own: a Session that is made with the Task, in place of SessionID.
	Session      *TaskSession   `json:"session,omitzero"`
	WorkspaceID  string         `json:"workspace_id,omitzero"` // that of the Session; another is refused
	PersonaID    string         `json:"persona_id,omitzero"`
	BranchID     string         `json:"branch_id,omitzero"`
	ParentTaskID string         `json:"parent_task_id,omitzero"`
	Metadata     jsontext.Value `json:"metadata,omitzero"`
	// Run is Wharf's own: what this Task alone wants otherwise than its Persona.
	Run *RunOptions `json:"run,omitzero"`
	// DeadlineSeconds is Wharf's own: the Task fails with deadline_exceeded when
	// it is not finished so many seconds after it was accepted. 0: no deadline.
	DeadlineSeconds float64 `json:"deadline_seconds,omitzero"`
	// InTurn is Wharf's own: the Task begins when those that were submitted so in its Session
	// before it have ended.
	InTurn bool `json:"in_turn,omitzero"`
	// Client is Wharf's own: what the client that submits the Task can answer, told to the plugin by
	// host.fact. It is what the client says of itself: nothing is allowed by it.
	Client *TaskClient `json:"client,omitzero"`
	// Credentials are the Task's own, where its Harness is hosted elsewhere; nil for those of the Harness. They
	// are sealed with the Task and removed with its end.
	Credentials *HarnessCredentials `json:"-"`
}

// TaskSession is a Session that is made with a Task. A hidden one is for that Task alone: it is in
// no list of Sessions, and is closed with the Task's end.
type TaskSession struct {
	CreateSessionRequest `json:",inline"`
	Hidden               bool `json:"hidden,omitzero"` // it is in no list, takes no other Task, and is closed with the Task's end
}

// TaskClient is what a client says of itself when it submits a Task.
type TaskClient struct {
	Protocol string `json:"protocol,omitzero"` // that it speaks, and its revision, such as mcp/2025-11-25
	Name     string `json:"name,omitzero"`
	Version  string `json:"version,omitzero"`
	// Capabilities are the kinds of questions that it can answer: at most 32 words without white space
	// or commas, such as elicitation.form, elicitation.url, sampling, sampling.tools and roots.
	Capabilities []string `json:"capabilities,omitzero"`
}

// The capabilities of clients that plugins ask for.
const (
	ClientElicitsForm  = "elicitation.form" // answers inputs
	ClientElicitsURL   = "elicitation.url"  // answers authorizations that have a URL
	ClientSamples      = "sampling"         // answers samplings
	ClientSamplesTools = "sampling.tools"   // answers samplings whose params have tools
	ClientHasRoots     = "roots"            // answers roots
)

// RunOptions are what one Task wants otherwise than its Persona. The plugin is told them with its
// input, and follows them as it can; Budget, MaxTokens and AutonomyTier the host holds. They bound what the Persona
// may do, and never widen it.
type RunOptions struct {
	Skills       []string `json:"skills,omitzero"`       // names, or ids, of SkillBundles that the Task is to have, beside those of its Persona and Session
	Model        string   `json:"model,omitzero"`        // the model to ask, by the name that the node has for it
	Instructions string   `json:"instructions,omitzero"` // in place of those that the plugin or its operator has; at most 16 KiB
	Context      string   `json:"context,omitzero"`      // told to the model after the instructions; at most 16 KiB
	Temperature  *float64 `json:"temperature,omitzero"`  // of the model, 0 to 1
	MaxTokens    int      `json:"max_tokens,omitzero"`   // of one answer of a model, at most 200,000; 0: no bound
	Budget       *Budget  `json:"budget,omitzero"`       // of the Task, where it is less than the Persona's
	// AutonomyTier is that of the Task and of those below it, where it allows less than the Persona's:
	// with suggest, the Task is a dry run that proposes what it would change.
	AutonomyTier AutonomyTier `json:"autonomy_tier,omitzero"`
}

// maxComesWith is what the context of a Task takes, in bytes, less the words before it.
const maxComesWith = 16<<10 - 100

// ComesWith returns the options of a Task that is delegated with data, which are an object; nil for
// none. The error is an *Error about the member context.
func ComesWith(data jsontext.Value) (*RunOptions, error) {
	switch data.Kind() {
	case 0, 'n':
		return nil, nil
	case '{':
	default:
		return nil, InvalidParam("context", "context is an object")
	}
	if err := data.Compact(); err != nil {
		return nil, InvalidParam("context", "%v", err)
	}
	if len(data) > maxComesWith {
		return nil, InvalidParam("context", "context has %d bytes, and at most %d", len(data), maxComesWith)
	}
	return &RunOptions{Context: "What the task comes with, as JSON:\n" + string(data)}, nil
}

// CancelTaskRequest is the body of POST /v1/tasks/{id}/cancel.
type CancelTaskRequest struct {
	Reason string `json:"reason,omitzero"` // for people; the event says it
}

// CreateBranchRequest is the body of POST /v1/sessions/{id}/branches.
type CreateBranchRequest struct {
	Kind           BranchKind     `json:"kind"`
	BaseRef        string         `json:"base_ref"`
	ParentBranchID string         `json:"parent_branch_id,omitzero"`
	TaskID         string         `json:"task_id,omitzero"`
	Metadata       jsontext.Value `json:"metadata,omitzero"`
}

// MergeStrategy says what a merge does when both sides went on.
type MergeStrategy string

// MergeAppend puts what is new in a fork after what is new in the Session that it was
// forked from. Without a strategy such a merge is a conflict.
const MergeAppend MergeStrategy = "append"

// MergeBranchRequest is the body of POST /wharf/v1/branches/{id}/merge.
type MergeBranchRequest struct {
	Strategy MergeStrategy `json:"strategy,omitzero"` // what to do when both sides went on; without one that is a conflict
}

// AbandonBranchRequest is the body of POST /wharf/v1/branches/{id}/abandon.
type AbandonBranchRequest struct {
	Reason string `json:"reason,omitzero"` // for people; the event says it
}

// RegisterArtifactRequest is the JSON body of POST /v1/artifacts. Content is
// Wharf's own: base64 bytes to store; without it the Artifact describes content
// that lives at URI. ContentBase64 is another name of it, the one that files have.
type RegisterArtifactRequest struct {
	Kind        ArtifactKind   `json:"kind"`
	MimeType    string         `json:"mime_type"`
	Visibility  Visibility     `json:"visibility"`
	Name        string         `json:"name,omitzero"`
	URI         *string        `json:"uri,omitzero"`
	SHA256      *string        `json:"sha256,omitzero"`
	WorkspaceID string         `json:"workspace_id,omitzero"`
	SessionID   string         `json:"session_id,omitzero"`
	TaskID      string         `json:"task_id,omitzero"`
	Metadata    jsontext.Value `json:"metadata,omitzero"`
	Content     []byte         `json:"content,omitzero"`

	ContentBase64 []byte `json:"content_base64,omitzero"`
}

// CreateKeyRequest is the body of POST /wharf/v1/keys (Wharf's own route).
type CreateKeyRequest struct {
	Name         string   `json:"name"`
	Actor        string   `json:"actor,omitzero"`         // default: "key:" and the name
	Tenant       string   `json:"tenant,omitzero"`        // tenant name; default: the caller's
	Scopes       []string `json:"scopes,omitzero"`        // what may be done with it; by default every scope of the protocol
	WorkspaceIDs []string `json:"workspace_ids,omitzero"` // where it may be used; by default in every Workspace
}

// CreatedKey answers POST /wharf/v1/keys: the only time that the key is shown.
type CreatedKey struct {
	APIKey `json:",inline"`
	Key    string `json:"key"`
}
