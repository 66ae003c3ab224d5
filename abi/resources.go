package abi

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Time is a moment on the wire: RFC 3339 with nanoseconds where there are any. Use
// [At] to make one.
type Time = time.Time

// At returns t as it travels, in UTC and without a monotonic reading.
func At(t time.Time) Time { return t.Round(0).UTC() }

// Envelope holds the members that every top-level resource has.
type Envelope struct {
	ID        string         `json:"id"`         // names the resource; it never changes
	Object    Object         `json:"object"`     // the kind of resource
	CreatedAt Time           `json:"created_at"` // when it was made
	UpdatedAt Time           `json:"updated_at"` // when it last changed
	Metadata  jsontext.Value `json:"metadata"`   // the client's own: any object; {} if there is none
}

// EmptyObject returns the JSON text {}. The caller owns it.
func EmptyObject() jsontext.Value { return jsontext.Value("{}") }

// NewEnvelope returns the envelope of a resource made at the given time.
// Metadata may be nil, which becomes {}.
func NewEnvelope(o Object, id string, at time.Time, metadata jsontext.Value) Envelope {
	if len(metadata) == 0 {
		metadata = EmptyObject()
	}
	return Envelope{ID: id, Object: o, CreatedAt: At(at), UpdatedAt: At(at), Metadata: metadata}
}

// ResourcePointer names a resource.
type ResourcePointer struct {
	Object Object `json:"object"` // the kind of resource
	ID     string `json:"id"`
}

// AutonomyTier says how far a Persona may act by itself.
type AutonomyTier string

// The autonomy tiers.
const (
	TierShadow          AutonomyTier = "shadow"
	TierSuggest         AutonomyTier = "suggest"
	TierActWithApproval AutonomyTier = "act_with_approval"
	TierActAuto         AutonomyTier = "act_auto"
)

// ReceiptPolicy says whether Tasks of a Persona get receipts.
type ReceiptPolicy string

// The receipt policies.
const (
	ReceiptRequired ReceiptPolicy = "required"
	ReceiptOptional ReceiptPolicy = "optional"
	ReceiptDisabled ReceiptPolicy = "disabled"
)

// Persona is a durable operational role: policy, not merely a prompt.
type Persona struct {
	Envelope      `json:",inline"`
	Name          string        `json:"name"`
	Version       string        `json:"version"`        // of its policy: a change is a new version
	EntryWorkflow string        `json:"entry_workflow"` // what runs its Tasks: PLUGIN, or PLUGIN#EXPORT
	Description   string        `json:"description"`
	AutonomyTier  AutonomyTier  `json:"autonomy_tier"`  // how far its Tasks may act by themselves
	ReceiptPolicy ReceiptPolicy `json:"receipt_policy"` // whether its Tasks get receipts
	// Tools and Capabilities are patterns of what Tasks of the Persona may use: tools
	// as SERVER:TOOL, and host calls. * stands for any characters.
	Tools        []string `json:"tools"`
	Capabilities []string `json:"capabilities"`
	// ToolsDenied are patterns as those of Tools: of what its Tasks may not use, whatever Tools says.
	ToolsDenied []string `json:"tools_denied,omitzero"`
	// Handoffs are patterns of the Personas that its Tasks may hand work to; nil for
	// all.
	Handoffs      []string         `json:"handoffs,omitzero"`
	Triggers      []jsontext.Value `json:"triggers,omitzero"`      // kept, and without effect
	Schedules     []jsontext.Value `json:"schedules,omitzero"`     // kept, and without effect
	ContextPacks  []string         `json:"context_packs,omitzero"` // kept, and without effect
	Evals         []string         `json:"evals,omitzero"`         // kept, and without effect
	Owner         string           `json:"owner,omitzero"`
	ModelPolicy   *ModelPolicy     `json:"model_policy,omitzero"`
	RolloutPolicy jsontext.Value   `json:"rollout_policy,omitzero"` // kept, and without effect
	QuotaID       string           `json:"quota_id,omitzero"`       // a Quota that bounds its Tasks
	// Budget bounds each Task of the Persona, and Approvals says how its Tasks' writes
	// are approved. Both are Wharf's own.
	Budget    *Budget         `json:"budget,omitzero"`
	Approvals *ApprovalPolicy `json:"approvals,omitzero"`
	// ToolsVisibility is Wharf's own: what keys without events:internal see of its tool calls.
	ToolsVisibility ToolsVisibility `json:"tools_visibility,omitzero"`
	RetiredAt       Time            `json:"retired_at,omitzero"`   // since then no new Task or Session may name it
	WorkspaceID     string          `json:"workspace_id,omitzero"` // the Workspace that alone sees and uses it, for ever; none: the whole tenant
	Agent           *Agent          `json:"agent,omitzero"`        // what makes it an agent of its own
	DeletedAt       Time            `json:"deleted_at,omitzero"`   // set on one that was deleted: no read shows it any more
	// Within are the rights of the agents whose subagent it is, of its parent first, as they were when
	// a Task of it began: what one of them may not do, that Task may not. It is in what Tasks are pinned
	// to alone.
	Within []Rights `json:"within,omitzero"`
}

// Rights are what an agent may do, as far as that bounds its subagents. Each member is that of the
// Persona.
type Rights struct {
	PersonaID    string        `json:"persona_id"`
	Tools        []string      `json:"tools,omitzero"`
	ToolsDenied  []string      `json:"tools_denied,omitzero"`
	Capabilities []string      `json:"capabilities,omitzero"`
	Handoffs     []string      `json:"handoffs,omitzero"`
	ModelPolicy  *ModelPolicy  `json:"model_policy,omitzero"`
	MCPServers   []AgentServer `json:"mcp_servers,omitzero"`
}

// ModelPolicy says which models Tasks of a Persona may ask. Empty members allow
// all.
type ModelPolicy struct {
	Models    []string `json:"models,omitzero"`     // patterns of the names of models, in which * stands for any characters; none: all
	Providers []string `json:"providers,omitzero"`  // the same of providers
	MaxTokens int      `json:"max_tokens,omitzero"` // of one answer; 0: no bound
}

// Budget bounds what a Task may spend. A member that is 0 bounds nothing.
type Budget struct {
	USD          float64 `json:"usd,omitzero"` // in US dollars
	InputTokens  int64   `json:"input_tokens,omitzero"`
	OutputTokens int64   `json:"output_tokens,omitzero"`
	ToolCalls    int64   `json:"tool_calls,omitzero"`
	HostCalls    int64   `json:"host_calls,omitzero"`
	WallTimeMS   int64   `json:"wall_time_ms,omitzero"` // how long it may run, in milliseconds
}

// Used is what a Task has used up of what a [Budget] bounds.
type Used struct {
	// Spent is in US dollars. Amounts in other currencies are counted as if they were:
	// a bound must not be passed for want of a rate.
	Spent                     float64
	InputTokens, OutputTokens int64
	ToolCalls, HostCalls      int64
}

// ApprovalPolicy says how writes are approved.
type ApprovalPolicy struct {
	// Quorum is how many must approve; 0 is 1.
	Quorum int `json:"quorum,omitzero"`
	// Approvers are patterns of the actors that may decide; empty for all.
	Approvers []string `json:"approvers,omitzero"`
	// SelfApproval says that whoever submitted the Task may decide, too.
	SelfApproval bool `json:"self_approval,omitzero"`
	// TimeoutSeconds is how long to wait for a decision; 0 for ever.
	TimeoutSeconds float64 `json:"timeout_seconds,omitzero"`
	// Without are patterns of tools (SERVER:TOOL) and host calls that need no approval.
	Without []string `json:"without,omitzero"`
}

// Workspace is the isolation boundary of files, sessions and logs.
type Workspace struct {
	Envelope        `json:",inline"`
	Name            string   `json:"name"`
	Root            string   `json:"root"`
	DefaultBranchID *string  `json:"default_branch_id"`
	TenantID        string   `json:"tenant_id,omitzero"`
	Host            string   `json:"host,omitzero"`
	Repository      string   `json:"repository,omitzero"`
	Capabilities    []string `json:"capabilities,omitzero"`
	Connectors      []string `json:"connectors,omitzero"`
	QuotaID         string   `json:"quota_id,omitzero"` // a Quota that bounds its Tasks

	// What whoever made the Workspace says it is to be run with. The node's sandbox
	// has its own: plugins bring what they need, and reach what they are granted.

	Image          string         `json:"image,omitzero"`           // kept, and without effect
	Packages       []string       `json:"packages,omitzero"`        // kept, and without effect
	NetworkPolicy  jsontext.Value `json:"network_policy,omitzero"`  // kept, and without effect
	SandboxBackend string         `json:"sandbox_backend,omitzero"` // kept, and without effect

	// Retention is how long things of the Workspace are kept, where that is not as the node has it.
	Retention *WorkspaceRetention `json:"retention,omitzero"`
	// UsedBytes is how much room its events take in the log, with the content that is theirs. It is there when one
	// Workspace is read, once it is known.
	UsedBytes *int64 `json:"used_bytes,omitzero"`
}

// WorkspaceRetention says how long things of a Workspace are kept, in days, and how much room they may take. 0 days is for
// ever; what is not stated is as the node has it.
type WorkspaceRetention struct {
	TaskDays     *float64 `json:"task_days,omitzero"`     // from the end of a Task on, with all that belongs to it
	SessionDays  *float64 `json:"session_days,omitzero"`  // from the closing of a Session on, with its Messages and Tasks
	ArtifactDays *float64 `json:"artifact_days,omitzero"` // of an Artifact that belongs to no Task
	// MaxBytes is how much room the Workspace may take: beyond it its oldest Tasks that have ended go, whatever their age.
	MaxBytes *int64 `json:"max_bytes,omitzero"`
}

// Session is a conversational boundary: it owns a transcript.
type Session struct {
	Envelope        `json:",inline"`
	WorkspaceID     string       `json:"workspace_id"`
	State           SessionState `json:"state"`      // whether it takes Tasks and Messages
	Transcript      string       `json:"transcript"` // a link to the Messages
	PersonaID       string       `json:"persona_id,omitzero"`
	RootSessionID   string       `json:"root_session_id,omitzero"`   // the first of those that it was forked from, one from the other
	ParentSessionID string       `json:"parent_session_id,omitzero"` // the Session that it was forked from
	BranchID        string       `json:"branch_id,omitzero"`         // the Branch that it goes along
	LastEventID     string       `json:"last_event_id,omitzero"`     // of the newest event in it
	Summary         string       `json:"summary,omitzero"`
	// VaultIDs are the Vaults whose secrets the Session's Tasks can name without
	// naming the Vault.
	VaultIDs []string `json:"vault_ids,omitzero"`
	// MemoryIDs are Memories of others that the Session's Tasks find as if they were the
	// Session's own.
	MemoryIDs []string `json:"memory_ids,omitzero"`
	SkillIDs  []string `json:"skill_ids,omitzero"` // the only Skills that its Tasks may name; none: all
	Name      string   `json:"name,omitzero"`      // for people
	Context   string   `json:"context,omitzero"`   // told to models by its Tasks after their instructions
	// Skills are names, or ids, of SkillBundles that its Tasks have, as far as they are installed.
	Skills []string `json:"skills,omitzero"`
	// Model is the model that its Tasks ask that name no other, by the name that the node has for it.
	Model string `json:"model,omitzero"`
	// Refs are what things outside call the Session.
	Refs []OutsideRef `json:"refs,omitzero"`
	// OnlyTaskID is set on a hidden Session: the Task that it was made with.
	OnlyTaskID string `json:"only_task_id,omitzero"`
	// DeletedAt is set on a Session that is not shown any more.
	DeletedAt Time `json:"deleted_at,omitzero"`
}

// OutsideRef is what something outside calls a Session: an editor's folder, the context of
// another protocol. In a Workspace no two Sessions have the same.
type OutsideRef struct {
	Kind string `json:"kind"` // of references, such as "acp_folder"
	Ref  string `json:"ref"`  // compared byte by byte
}

// Reference is an [OutsideRef] as the log has it, so that its Session is found.
type Reference struct {
	Envelope    `json:",inline"`
	OutsideRef  `json:",inline"`
	WorkspaceID string `json:"workspace_id"`
	SessionID   string `json:"session_id,omitzero"` // "" once the Session is gone
	PersonaID   string `json:"persona_id,omitzero"` // the agent whose name or key it is; "" once it has another
}

// Task is one unit of agent work. Input is a [Message] or any JSON object, as it
// was submitted.
type Task struct {
	Envelope     `json:",inline"`
	SessionID    string         `json:"session_id"`
	WorkspaceID  string         `json:"workspace_id"`
	Status       TaskStatus     `json:"status"` // where it is in its life
	Input        jsontext.Value `json:"input,omitzero"`
	CreatedBy    string         `json:"created_by"` // the actor that submitted it
	PersonaID    string         `json:"persona_id,omitzero"`
	BranchID     string         `json:"branch_id,omitzero"`      // the Branch that it goes along
	ParentTaskID string         `json:"parent_task_id,omitzero"` // the Task that it belongs to
	ReceiptID    string         `json:"receipt_id,omitzero"`     // proves what it did, once it has ended; absent where its Persona asks for none
	OutcomeID    string         `json:"outcome_id,omitzero"`     // what it resulted in, once it has ended
	StartedAt    Time           `json:"started_at,omitzero"`     // when it started first
	CompletedAt  Time           `json:"completed_at,omitzero"`   // when it ended, in success or failure
	CanceledAt   Time           `json:"canceled_at,omitzero"`    // when it ended, if it was canceled
	Failure      *Failure       `json:"failure,omitzero"`        // why it failed, if it did

	// InputMessageID is set when the input is a Message, which the log holds once.
	InputMessageID string `json:"input_message_id,omitzero"`
	// DeadlineAt is when the Task fails unless it has ended.
	DeadlineAt Time `json:"deadline_at,omitzero"`
	// Run is what the Task was submitted to do otherwise than its Persona.
	Run *RunOptions `json:"run,omitzero"`
	// Client is what the client that submitted it has said of itself.
	Client *TaskClient `json:"client,omitzero"`
	// Attempt counts the starts of the Task: more than 1 after the node died in one.
	Attempt int `json:"attempt,omitzero"`
	// Module is the digest of the plugin's module, "sha256:" and hex. The Task is
	// pinned to it from its start on.
	Module string `json:"module,omitzero"`
	// Waiting is set while the Task is parked.
	Waiting *Waiting `json:"waiting,omitzero"`
	// Replay is set on a Task that replays another.
	Replay *TaskReplay `json:"replay,omitzero"`
	// Fork is set on a Task that was forked from another.
	Fork *TaskFork `json:"fork,omitzero"`

	// PersonaVersion is the version of the Persona that the Task is pinned to, and
	// QuotaID the Quota that bounds it most narrowly.
	PersonaVersion string `json:"persona_version,omitzero"`
	QuotaID        string `json:"quota_id,omitzero"`
	// ConnectorID and DeliveryID are set on a Task that came from a Connector.
	// Of the Tasks with one OrderKey, of a Connector or of a Session, one runs at a time, in the order
	// in which they were accepted.
	ConnectorID string `json:"connector_id,omitzero"`
	DeliveryID  string `json:"delivery_id,omitzero"`
	OrderKey    string `json:"order_key,omitzero"`
	// DeletedAt is set on a Task that is not shown any more.
	DeletedAt Time `json:"deleted_at,omitzero"`
}

// Source returns the id of the Task that a replay or a fork was made from, "" for others.
func (t *Task) Source() string {
	switch {
	case t.Fork != nil:
		return t.Fork.SourceTaskID
	case t.Replay != nil:
		return t.Replay.SourceTaskID
	}
	return ""
}

// BranchKind says what a Branch is a branch of.
type BranchKind string

// The branch kinds.
const (
	BranchWorkspace BranchKind = "workspace"
	BranchSession   BranchKind = "session"
	BranchTask      BranchKind = "task"
	BranchSandbox   BranchKind = "sandbox"
)

// Branch marks the lineage of an alternate path.
type Branch struct {
	Envelope       `json:",inline"`
	WorkspaceID    string     `json:"workspace_id"`
	Kind           BranchKind `json:"kind"`                      // what it is a branch of
	BaseRef        string     `json:"base_ref"`                  // what it goes off from, in the words of whoever made it
	ParentBranchID string     `json:"parent_branch_id,omitzero"` // the Branch that it goes off from
	SessionID      string     `json:"session_id,omitzero"`
	TaskID         string     `json:"task_id,omitzero"`
	CreatedBy      string     `json:"created_by,omitzero"` // the actor that made it
	// MergedInto is the Branch that this one was merged into, or what stands for the
	// main path: a ref like BaseRef.
	MergedInto  string `json:"merged_into,omitzero"`
	MergedAt    Time   `json:"merged_at,omitzero"`    // when it was merged, if it was
	AbandonedAt Time   `json:"abandoned_at,omitzero"` // when it was abandoned, if it was
}

// Role is the author's role of a Message.
type Role string

// The message roles.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleSystem    Role = "system"
	RoleTool      Role = "tool"
	RoleAgent     Role = "agent"
)

// Message is one turn of a Session's transcript. Where it is shown to clients it has
// the member workspace_id too.
type Message struct {
	Envelope  `json:",inline"`
	Role      Role   `json:"role"`  // who speaks
	Parts     []Part `json:"parts"` // the content, in its order
	SessionID string `json:"session_id,omitzero"`
	TaskID    string `json:"task_id,omitzero"`
}

// PartType discriminates the content of a Part.
type PartType string

// The core part types.
const (
	PartText        PartType = "text"
	PartJSON        PartType = "json"
	PartToolCall    PartType = "tool_call"
	PartToolResult  PartType = "tool_result"
	PartArtifactRef PartType = "artifact_ref"
	PartFileRef     PartType = "file_ref"
	PartImageRef    PartType = "image_ref"
)

// Visibility says who may see content (docs/protocol.md, 3.5).
type Visibility string

// The visibilities.
const (
	VisibilityPublic      Visibility = "public"
	VisibilityInternal    Visibility = "internal"
	VisibilityReceiptOnly Visibility = "receipt_only"
)

// Part is one block of a Message. Which members are set follows from Type.
type Part struct {
	Type       PartType       `json:"type"`
	Text       *string        `json:"text,omitzero"`
	Value      jsontext.Value `json:"value,omitzero"`
	ToolCallID string         `json:"tool_call_id,omitzero"` // joins a call and its result
	Name       string         `json:"name,omitzero"`
	Input      jsontext.Value `json:"input,omitzero"`
	Output     jsontext.Value `json:"output,omitzero"`
	Status     string         `json:"status,omitzero"` // of a tool_result: ok or error
	ArtifactID string         `json:"artifact_id,omitzero"`
	URI        string         `json:"uri,omitzero"`       // where the file is
	MimeType   string         `json:"mime_type,omitzero"` // of the file or image
	Visibility Visibility     `json:"visibility"`
	// Redacted marks a part whose content was withheld from this reader.
	Redacted bool `json:"redacted,omitzero"`
}

// Normalize puts a part that was written by a client or a plugin into the form in
// which it is kept: public unless it says otherwise, and without content where that
// was withheld from whoever passes it on.
func (p *Part) Normalize() {
	if p.Visibility == "" {
		p.Visibility = VisibilityPublic
	}
	if p.Redacted && p.Visibility == VisibilityReceiptOnly {
		*p = Part{Type: p.Type, Visibility: p.Visibility, Redacted: true}
		return
	}
	p.Redacted = false
}

// ArtifactKind says what an Artifact is.
type ArtifactKind string

// The artifact kinds.
const (
	ArtifactFile     ArtifactKind = "file"
	ArtifactPatch    ArtifactKind = "patch"
	ArtifactImage    ArtifactKind = "image"
	ArtifactLog      ArtifactKind = "log"
	ArtifactDiff     ArtifactKind = "diff"
	ArtifactReceipt  ArtifactKind = "receipt"
	ArtifactSnapshot ArtifactKind = "snapshot"
	ArtifactDataset  ArtifactKind = "dataset"
	ArtifactOther    ArtifactKind = "other"
)

// Artifact is durable content that Messages, Outcomes and Receipts refer to.
// SHA256 is bare lower-case hex (docs/protocol.md, 8.7); null when the bytes
// live elsewhere and their hash is not known.
type Artifact struct {
	Envelope    `json:",inline"`
	Kind        ArtifactKind `json:"kind"`       // what the content is
	MimeType    string       `json:"mime_type"`  // of the content
	URI         *string      `json:"uri"`        // where the content is
	Visibility  Visibility   `json:"visibility"` // who may see the content
	SHA256      *string      `json:"sha256"`     // of the content, in hex; null if it is elsewhere and nobody has said its hash
	Name        string       `json:"name,omitzero"`
	SizeBytes   *int64       `json:"size_bytes,omitzero"` // of the content; absent where Wharf does not hold it
	WorkspaceID string       `json:"workspace_id,omitzero"`
	SessionID   string       `json:"session_id,omitzero"`
	TaskID      string       `json:"task_id,omitzero"`
	// DeletedAt is set on an Artifact that is not shown any more.
	DeletedAt Time `json:"deleted_at,omitzero"`
}

// Outcome is the terminal, user-visible result of a Task. Where it is shown to clients
// it has the members workspace_id and session_id too.
type Outcome struct {
	Envelope    `json:",inline"`
	TaskID      string        `json:"task_id"`
	Status      OutcomeStatus `json:"status"`                // how the Task ended
	Summary     string        `json:"summary"`               // the result in a few words
	MessageIDs  []string      `json:"message_ids,omitzero"`  // what the Task said
	ArtifactIDs []string      `json:"artifact_ids,omitzero"` // what it made
	// The resources themselves, which the log holds by their ids alone.

	Messages  []jsontext.Value `json:"messages,omitzero"`   // what MessageIDs name, put in when an Outcome is read
	Artifacts []jsontext.Value `json:"artifacts,omitzero"`  // what ArtifactIDs name, put in when an Outcome is read
	ReceiptID string           `json:"receipt_id,omitzero"` // proves what the Task did
	Failure   *Failure         `json:"failure,omitzero"`    // why it failed, if it did
	Metrics   jsontext.Value   `json:"metrics,omitzero"`
	// Stopped says that the Task has ended before its work was done, and Handoff how things stand.
	Stopped bool           `json:"stopped,omitzero"`
	Handoff jsontext.Value `json:"handoff,omitzero"`
	// StopReason says why the model has stopped whose answer the summary is of, where the plugin has said it.
	StopReason StopReason `json:"stop_reason,omitzero"`
}

// Event is the wire form of one fact in the log.
type Event struct {
	Envelope       `json:",inline"`
	Event          EventKind       `json:"event"`    // what has happened: docs/events.md has every kind
	Resource       ResourcePointer `json:"resource"` // what it is about
	Sequence       uint64          `json:"sequence"` // counts the events of that resource, in their order
	Payload        jsontext.Value  `json:"payload"`
	SessionID      string          `json:"session_id,omitzero"`
	TaskID         string          `json:"task_id,omitzero"`
	WorkspaceID    string          `json:"workspace_id,omitzero"`
	Actor          string          `json:"actor,omitzero"`           // who caused it
	IdempotencyKey string          `json:"idempotency_key,omitzero"` // of the request that caused it
	ReceiptID      string          `json:"receipt_id,omitzero"`
	// TraceID and SpanID are set on the events of a call that reaches something: a tool, a model, a
	// server. They are those of W3C Trace Context. All events of a Task have one trace, all of a call
	// one span.
	TraceID string `json:"trace_id,omitzero"`
	SpanID  string `json:"span_id,omitzero"`
	// PreviousEventID, of the end of a tool call, is the event of its beginning.
	PreviousEventID string `json:"previous_event_id,omitzero"`
	Replayed        bool   `json:"replayed"`
	// Replay is set on what a replay Task did again.
	Replay *ReplayMarks `json:"replay,omitzero"`
}

// PageInfo tells whether a list goes on.
type PageInfo struct {
	HasMore    bool    `json:"has_more"`
	NextCursor *string `json:"next_cursor"`
	// Unreadable are the ids of what belongs in the page, and cannot be read.
	Unreadable []string `json:"unreadable,omitzero"`
	// PreviousCursor is there when the request has an order, an offset or a before.
	PreviousCursor *string `json:"previous_cursor,omitzero"`
	// Total is there when the request asks for it. TotalAtLeast says that nobody has counted further.
	Total        *int `json:"total,omitzero"`
	TotalAtLeast bool `json:"total_at_least,omitzero"`
}

// Tenant is Wharf's own resource: who shares a node. It lives in the system tenant.
type Tenant struct {
	Envelope `json:",inline"`
	Name     string `json:"name"`
	Number   uint32 `json:"number"` // what log keys start with

	DefaultWorkspaceID string `json:"default_workspace_id"`
}

// APIKey is Wharf's own resource: a caller's credential, stored as a hash. It
// lives in the system tenant. The key itself is shown once and kept nowhere.
type APIKey struct {
	Envelope     `json:",inline"`
	Name         string   `json:"name"`
	Hash         string   `json:"hash,omitzero"` // hex SHA-256 of the key; never sent to a client
	Hint         string   `json:"hint"`          // the last four characters; "" for a key that a person chose
	TenantID     string   `json:"tenant_id"`
	TenantNumber uint32   `json:"tenant_number"`
	Actor        string   `json:"actor"`               // whom what is done with the key is said to be by
	Scopes       []string `json:"scopes"`              // what may be done with it; "*": everything
	WorkspaceIDs []string `json:"workspace_ids"`       // where it may be used; empty: in every Workspace of the tenant
	RevokedAt    Time     `json:"revoked_at,omitzero"` // when it was revoked, if it was
	// Source says what made the key; "" for one that was made before it was said.
	Source KeySource `json:"source,omitzero"`
}

// KeySource says what made an API key.
type KeySource string

// What makes API keys.
const (
	KeyFromClient      KeySource = "client"      // POST /wharf/v1/keys
	KeyFromStart       KeySource = "start"       // a first start, which made it up
	KeyFromEnvironment KeySource = "environment" // a start, from WHARF_API_KEY
	// KeyFromFormerEnvironment is a key that a start has ended because it was given
	// another.
	KeyFromFormerEnvironment KeySource = "former_environment"
)

// Chosen reports whether a person may have chosen the key, so that it can be guessed at.
func (k *APIKey) Chosen() bool {
	switch k.Source {
	case KeyFromEnvironment, KeyFromFormerEnvironment:
		return true
	case "":
		return k.Root()
	}
	return false
}

// Root reports whether a start of the node has made the key.
func (k *APIKey) Root() bool {
	return k.Source != KeyFromClient && k.Name == RootKeyName && k.Actor == RootKeyActor
}

// The name and the actor of keys that a start of the node makes, and no client.
const (
	RootKeyName  = "root"
	RootKeyActor = "key:root"
)
