package abi

import "github.com/go-json-experiment/json/jsontext"

// ABIVersion names the host calls and their bytes. It changes when an existing
// plugin would notice.
const ABIVersion = "wharf-abi-1"

// ReplayMode says how a Task is replayed (docs/protocol.md, 6.1).
type ReplayMode string

// The replay modes.
const (
	ReplayExact          ReplayMode = "exact"
	ReplayWithOverrides  ReplayMode = "with_overrides"
	ReplayFromCheckpoint ReplayMode = "from_checkpoint"
)

// ReplayTaskRequest is the body of POST /v1/tasks/{id}/replay.
type ReplayTaskRequest struct {
	Mode              ReplayMode                `json:"mode,omitzero"`                      // default exact
	Override          map[string]ReplayOverride `json:"override,omitzero" maxItems:"10000"` // what to answer in the place of what was recorded, by the override key of the call
	CheckpointID      string                    `json:"checkpoint_id,omitzero"`             // of from_checkpoint: call:N, the boundary after the first N calls
	CheckpointEventID string                    `json:"checkpoint_event_id,omitzero"`       // the same boundary, by the event that completed its last call
	Reason            string                    `json:"reason,omitzero"`                    // for people
	Metadata          jsontext.Value            `json:"metadata,omitzero"`
}

// OverrideKind says what an override replaces.
type OverrideKind string

// The kinds of overrides.
const (
	OverrideModel      OverrideKind = "llm_provider_response"
	OverrideMCP        OverrideKind = "mcp_tool_return"
	OverrideSecret     OverrideKind = "secret_value"
	OverrideTime       OverrideKind = "time"
	OverrideHostFact   OverrideKind = "host_fact"
	OverrideTool       OverrideKind = "tool_result"
	OverridePayload    OverrideKind = "event_payload"
	OverrideCheckpoint OverrideKind = "checkpoint_value"
)

// ReplayOverride replaces what a Task was told by one named dependency. The
// replacement is Value, or the content of an Artifact.
type ReplayOverride struct {
	Kind       OverrideKind   `json:"kind"`              // what it replaces
	EventID    string         `json:"event_id,omitzero"` // the event that recorded the call; another is refused
	Target     string         `json:"target,omitzero"`   // for people
	Value      jsontext.Value `json:"value,omitzero"`
	ArtifactID string         `json:"artifact_id,omitzero"` // an Artifact whose content is the replacement, instead of a value
	// SHA256 is "sha256:" and the hex hash of the canonical (RFC 8785) Value, or of
	// the Artifact's bytes. One that does not match is refused.
	SHA256     string     `json:"sha256,omitzero"`
	Visibility Visibility `json:"visibility,omitzero"` // default receipt_only
	Reason     string     `json:"reason,omitzero"`     // for people
}

// ReplayMarks tells how a replayed event came to be.
type ReplayMarks struct {
	SourceTaskID    string     `json:"source_task_id"`             // the Task that is replayed
	ReplayTaskID    string     `json:"replay_task_id"`             // the Task that replays it
	OriginalEventID string     `json:"original_event_id,omitzero"` // the event that this one does again
	ReplayCursor    string     `json:"replay_cursor,omitzero"`
	Mode            ReplayMode `json:"mode"`
	OverrideKey     string     `json:"override_key,omitzero"` // of the call whose answer was replaced
	ReceiptDeltaID  string     `json:"receipt_delta_id,omitzero"`
}

// TaskReplay says what a replay Task replays. Overrides are kept by their hash.
type TaskReplay struct {
	SourceTaskID string     `json:"source_task_id"` // the Task that is replayed
	Mode         ReplayMode `json:"mode"`
	// ReplayID is derived from the source, the module, the mode and the overrides:
	// it is the same for the same replay, on any node, and the one id of a replay
	// that its receipt holds.
	ReplayID   string `json:"replay_id"`
	Request    string `json:"request_sha256"`       // the hash of the request that asked for the replay
	Checkpoint int    `json:"checkpoint,omitzero"`  // of from_checkpoint: how many calls come before the boundary
	SessionRun string `json:"session_run,omitzero"` // the replay of a Session that it belongs to
}

// TaskFork says where a forked Task came from: it shares the record of its source
// up to a number of host calls, and is live from there.
type TaskFork struct {
	SourceTaskID string `json:"source_task_id"`       // the Task that it was forked from
	AtEventID    string `json:"at_event_id,omitzero"` // the last event whose record is shared; absent: all of them
	Calls        int    `json:"calls"`
}

// ForkTaskRequest is the body of POST /wharf/v1/tasks/{id}/fork. The new Task
// shares the source's record up to and including the event; "0" shares nothing,
// empty shares all. It gets a fork of the Session unless SameSession is set.
type ForkTaskRequest struct {
	AtEventID   string         `json:"at_event_id,omitzero"`
	SameSession bool           `json:"same_session,omitzero"`
	Metadata    jsontext.Value `json:"metadata,omitzero"`
}

// ReplaySessionRequest is the body of POST /wharf/v1/sessions/{id}/replay: every
// Task of the Session is replayed exactly, oldest first.
type ReplaySessionRequest struct {
	Reason string `json:"reason,omitzero"` // for people
}

// The bounds of what a Task can wait for: MaxApprovals is how many approvals can be asked
// for, and MaxWaitSeconds, ten years, how long.
const (
	MaxApprovals   = 100
	MaxWaitSeconds = 10 * 366 * 24 * 3600
)

// Waiting says what a parked Task waits for.
type Waiting struct {
	Call      string         `json:"call"`  // the host call that waits
	Index     int            `json:"index"` // of the call in the record, from 0
	RequestID string         `json:"request_id"`
	Prompt    string         `json:"prompt,omitzero"` // what somebody is asked
	Action    string         `json:"action,omitzero"`
	Schema    jsontext.Value `json:"schema,omitzero"`
	URL       string         `json:"url,omitzero"`
	TaskID    string         `json:"task_id,omitzero"` // the child that is awaited
	Inbox     *InboxWait     `json:"inbox,omitzero"`   // the inbox that is waited for
	Tool      *ToolUse       `json:"tool,omitzero"`    // of a tool that waits, such as a Skill
	Until     Time           `json:"until,omitzero"`   // when it stops waiting
	// Composition is set when the tool is a child of one.
	Composition *CompositionChild `json:"composition,omitzero"`

	// PermissionID names the request that somebody is to answer. Of an approval:
	// Arguments are what is to be done with, Quorum how many must approve, and Gate
	// says that policy asks, not the plugin: when it is approved the call itself is made.
	PermissionID string         `json:"permission_id,omitzero"`
	Arguments    jsontext.Value `json:"arguments,omitzero"`
	Quorum       int            `json:"quorum,omitzero"`
	Gate         bool           `json:"gate,omitzero"`

	// Requests are what is asked at once by one call, in the order of the call: those that are
	// pending, and those that were settled before.
	Requests []WaitingQuestion `json:"requests,omitzero"`
}

// WaitingQuestion is one of several requests that a Task waits on.
type WaitingQuestion struct {
	Key          string           `json:"key"` // the plugin's name for it
	PermissionID string           `json:"permission_request_id"`
	Kind         PermissionKind   `json:"kind"`
	Status       PermissionStatus `json:"status"`
}
