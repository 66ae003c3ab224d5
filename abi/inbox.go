package abi

import "github.com/go-json-experiment/json/jsontext"

// Injection is something that waits in a Session's inbox to be taken by a Task: what a user says
// meanwhile, or a reminder that nobody says.
type Injection struct {
	Envelope    `json:",inline"`
	WorkspaceID string          `json:"workspace_id"`
	SessionID   string          `json:"session_id"`
	Kind        InjectionKind   `json:"kind"`
	Mode        InjectionMode   `json:"mode"`
	Status      InjectionStatus `json:"status"`
	QueuedBy    string          `json:"queued_by"` // the actor who has queued it
	// TaskID is the Task that it was delivered to, and Checkpoint where that was.
	TaskID      string     `json:"task_id,omitzero"`
	Checkpoint  Checkpoint `json:"checkpoint,omitzero"`
	DeliveredAt Time       `json:"delivered_at,omitzero"`
	// ReplacedBy is the reminder with the same dedupe_key that took the place of this one.
	ReplacedBy string `json:"replaced_by,omitzero"`

	// Of what a user says: the id that its Message has once it is delivered, and the Message's parts.
	MessageID string `json:"message_id,omitzero"`
	Parts     []Part `json:"parts,omitzero"`

	Reminder `json:",inline"` // of a reminder
}

// Reminder is context that a model is told of without anybody saying it.
type Reminder struct {
	Body      string   `json:"body,omitzero"`
	Tags      []string `json:"tags,omitzero"`
	DedupeKey string   `json:"dedupe_key,omitzero"` // a pending one with the same key gives way to it
	// TTLTurns is how many requests to a model it is shown in: 1 when it is left out.
	TTLTurns int                       `json:"ttl_turns,omitzero"`
	RoleHint ReminderRole              `json:"role_hint,omitzero"`
	Source   string                    `json:"source,omitzero"` // what has made it
	Meta     map[string]jsontext.Value `json:"_meta,omitzero"`  // the client's own
}

// InjectionKind says what an [Injection] is.
type InjectionKind string

// What an Injection is.
const (
	InjectionUser     InjectionKind = "user"
	InjectionReminder InjectionKind = "reminder"
)

// InjectionMode says at which [Checkpoint] an [Injection] is delivered.
type InjectionMode string

// When an Injection is delivered. Users' have the first two, reminders the others.
const (
	InjectSteer      InjectionMode = "steer"               // at the next checkpoint
	InjectQueue      InjectionMode = "queue"               // when the agent is done with what it does
	RemindInterrupt  InjectionMode = "interrupt_immediate" // at the next checkpoint, before all others
	RemindFinishStep InjectionMode = "finish_step"         // at the next checkpoint
	RemindAuditOnly  InjectionMode = "audit_only"          // when the loop ends, to the transcript alone
)

// InjectionStatus says what has become of an [Injection]. It waits while it is accepted or replaced.
type InjectionStatus string

// What can become of an Injection.
const (
	InjectionAccepted  InjectionStatus = "accepted"
	InjectionReplaced  InjectionStatus = "replaced" // it has other content by now
	InjectionRevoked   InjectionStatus = "revoked"
	InjectionDelivered InjectionStatus = "delivered"
	// InjectionAlreadyRevoked answers who revokes one again. No Injection has it.
	InjectionAlreadyRevoked InjectionStatus = "already_revoked"
)

// Pending reports whether an Injection with this status waits.
func (s InjectionStatus) Pending() bool { return s == InjectionAccepted || s == InjectionReplaced }

// ReminderRole says as whose words a model should be shown a reminder.
type ReminderRole string

// The roles of reminders.
const (
	ReminderSystem    ReminderRole = "system"
	ReminderDeveloper ReminderRole = "developer"
	ReminderUser      ReminderRole = "user"
)

// Checkpoint is where a plugin looks into the inbox.
type Checkpoint string

// Where a plugin looks into the inbox.
const (
	CheckpointStep     Checkpoint = "step"      // before it asks a model
	CheckpointTurn     Checkpoint = "turn"      // when a model has answered and wants no tool
	CheckpointLoopExit Checkpoint = "loop_exit" // before it ends
)

// Inbox lists what waits for a Session's Tasks, in the order in which it came: one Session has one
// at most.
type Inbox struct {
	Envelope    `json:",inline"`
	WorkspaceID string             `json:"workspace_id"`
	SessionID   string             `json:"session_id"`
	Pending     []PendingInjection `json:"pending"`
}

// PendingInjection is what an [Inbox] knows of an [Injection].
type PendingInjection struct {
	ID        string        `json:"id"`
	Kind      InjectionKind `json:"kind"`
	Mode      InjectionMode `json:"mode"`
	Bytes     int           `json:"bytes"`
	DedupeKey string        `json:"dedupe_key,omitzero"`
}

// The bounds of an inbox.
const (
	MaxPendingInjections = 100
	MaxInjectionBytes    = 1 << 20 // of one
	MaxInboxBytes        = 4 << 20 // of all that wait
	MaxReminderTags      = 32
	MaxReminderText      = 256 // bytes of a tag, a dedupe_key or a source
	MaxReminderTurns     = 100
)

// InjectRequest has a user say something to a Session while its Tasks work.
type InjectRequest struct {
	Mode     InjectionMode  `json:"mode"` // steer or queue
	Parts    []Part         `json:"parts" maxItems:"1000"`
	Metadata jsontext.Value `json:"metadata,omitzero"` // of the Message that it will be
}

// ReplaceInjectionRequest gives an [Injection] that waits other parts, and its Message other
// metadata where that is said.
type ReplaceInjectionRequest struct {
	Parts    []Part         `json:"parts" maxItems:"1000"`
	Metadata jsontext.Value `json:"metadata,omitzero"`
}

// RemindRequest tells a Session's Tasks something that nobody says.
type RemindRequest struct {
	Body      string                    `json:"body"`
	Tags      []string                  `json:"tags,omitzero"`
	DedupeKey string                    `json:"dedupe_key,omitzero"`
	TTLTurns  *int                      `json:"ttl_turns,omitzero"`
	RoleHint  ReminderRole              `json:"role_hint,omitzero"` // system when it is left out
	Mode      InjectionMode             `json:"mode,omitzero"`      // finish_step when it is left out
	Source    string                    `json:"source,omitzero"`    // "client" when it is left out
	Meta      map[string]jsontext.Value `json:"_meta,omitzero"`
}

// PendingInjections is what waits in a Session's inbox, in the order in which it came.
type PendingInjections struct {
	PendingCount int         `json:"pending_count"`
	Injections   []Injection `json:"injections"`
}

// Woken says how many Tasks of a Session that waited for its inbox were woken.
type Woken struct {
	SessionID string `json:"session_id"`
	Woken     int    `json:"woken"`
}

// The codes of reminders that are refused, in the member code of an error's details.
const (
	CodeReminderOption    = "HARN-RMD-001" // it has a member that is not known
	CodeReminderMalformed = "HARN-RMD-002"
)

// InboxReason says, in the member reason of an error's details, why an [Injection] was not changed.
type InboxReason string

// Why an Injection was not changed.
const (
	ReasonAlreadyDelivered InboxReason = "already_delivered"
	ReasonAlreadyRevoked   InboxReason = "already_revoked"
	ReasonUnknownMessage   InboxReason = "unknown_message_id"
	ReasonNotOwner         InboxReason = "not_owner_or_not_authorized"
)

// CallInboxTakeRequest is the request of [CallInboxTake].
type CallInboxTakeRequest struct {
	CallID     string     `json:"call_id,omitzero"`
	Checkpoint Checkpoint `json:"checkpoint"`
	// Wait parks the Task until something is there, at the longest so many milliseconds; 0 for
	// as long as the Task may live.
	Wait          bool  `json:"wait,omitzero"`
	TimeoutMillis int64 `json:"timeout_ms,omitzero"`
}

// CallInboxTakeAnswer answers [CallInboxTake]: what is delivered at this checkpoint, in the order in
// which it came, but for reminders that interrupt, which come first.
type CallInboxTakeAnswer struct {
	Messages  []Message       `json:"messages"` // as the transcript has them
	Reminders []TakenReminder `json:"reminders"`
	// Woken says why a call that waited brings nothing.
	Woken InboxWoken `json:"woken,omitzero"`
}

// InboxWoken says why a wait for an inbox has ended with nothing.
type InboxWoken string

// Why a wait for an inbox ends with nothing.
const (
	WokenResumed InboxWoken = "resumed" // somebody has woken the Session
	WokenTimeout InboxWoken = "timeout"
	WokenNever   InboxWoken = "never" // forks and replays are delivered nothing, and do not wait
)

// TakenReminder is a reminder that is to be shown to a model.
type TakenReminder struct {
	ReminderID   string                    `json:"reminder_id"`
	Tags         []string                  `json:"tags,omitzero"`
	Body         string                    `json:"body"`
	RoleHint     ReminderRole              `json:"role_hint"`
	RenderedRole ReminderRole              `json:"rendered_role"` // system, or user
	Source       string                    `json:"source"`
	TTLTurns     int                       `json:"ttl_turns"`
	Meta         map[string]jsontext.Value `json:"_meta,omitzero"`
}

// ReminderEmitted is the payload of [EventReminderEmitted].
type ReminderEmitted struct {
	Reminder TakenReminder `json:"reminder"`
}

// MetadataAuditOnly is the member of a Message's metadata, true, that says that no model is shown it.
const MetadataAuditOnly = "wharf_audit_only"

// InboxWait is what a Task that waits for its Session's inbox waits for.
type InboxWait struct {
	SessionID  string     `json:"session_id"`
	Checkpoint Checkpoint `json:"checkpoint"`
}
