package abi

import (
	"reflect"

	"github.com/go-json-experiment/json/jsontext"
)

// EventPayload says what the payload of an event of one kind holds: the resource that the
// event states, under the name of its object, and the members of one of the types of Tells.
type EventPayload struct {
	Kind   EventKind
	States Object // the resource, as it is from then on; "" for none
	Tells  []reflect.Type
	Silent bool // an event may tell nothing besides the resource, though others of its kind do
}

// RecordedCall is what a run recorded of one host call. A request and an answer each have
// one of four forms, the most readable that keeps their bytes.
type RecordedCall struct {
	Call          string         `json:"call"`
	Index         int            `json:"index"`                   // of the call in its Task's record
	AtUs          int64          `json:"at_us"`                   // when it was made, in microseconds since 1970
	Effect        Effect         `json:"effect,omitzero"`         // where it is not that of every such call
	Key           string         `json:"key,omitzero"`            // what names the call in a replay with overrides
	Phase         string         `json:"phase,omitzero"`          // intent or result, of a call that is recorded in two events
	Status        int            `json:"status,omitzero"`         // of the answer
	Request       jsontext.Value `json:"request,omitzero"`        // as the JSON that it is
	RequestText   string         `json:"request_text,omitzero"`   // as text that is not JSON
	RequestBase64 []byte         `json:"request_base64,omitzero"` // as bytes that are not text
	RequestBlob   string         `json:"request_blob,omitzero"`   // the hash of a large one
	Answer        jsontext.Value `json:"answer,omitzero"`
	AnswerText    string         `json:"answer_text,omitzero"`
	AnswerBase64  []byte         `json:"answer_base64,omitzero"`
	AnswerBlob    string         `json:"answer_blob,omitzero"`
	Tool          *ToolUse       `json:"tool,omitzero"` // of a tool.call: what people see of it
}

// StartedProgram says what a Task runs from its first start on.
type StartedProgram struct {
	Program jsontext.Value `json:"program"` // internal; docs/log-format.md has its members
}

// TaskTrial says how the node and a Task that it may have died with get along.
type TaskTrial struct {
	Alone   bool `json:"alone,omitzero"`   // this start has the node to itself
	Lived   bool `json:"lived,omitzero"`   // it has no longer: the node has lived with it
	Drained bool `json:"drained,omitzero"` // the node goes down, and not because of the Task
}

// Reason is why somebody wanted what an event tells.
type Reason struct {
	Reason string `json:"reason,omitzero"`
}

// Confirmation is a decision on what a Task asked for.
type Confirmation struct {
	PermissionID string `json:"permission_request_id,omitzero"`
	RequestID    string `json:"request_id"`
	Decision     string `json:"decision"`
	Reason       string `json:"reason,omitzero"`
	Modified     bool   `json:"modified,omitzero"` // the arguments were changed
}

// WithheldCall is a write that policy held back.
type WithheldCall struct {
	Index     int            `json:"index"` // of the call in the record
	Call      string         `json:"call"`
	Action    string         `json:"action"`
	Arguments jsontext.Value `json:"arguments,omitzero"`
}

// MergedFrom says where a Message was said that a merge brought.
type MergedFrom struct {
	SessionID string `json:"merged_from"`
	BranchID  string `json:"branch_id"`
}

// ForkedFrom says what a Session is a fork of.
type ForkedFrom struct {
	SessionID string `json:"forked_from"`
	AtEventID string `json:"at_event_id"`
}

// ThreadForked names a fork to the Session that it was forked off.
type ThreadForked struct {
	SessionID string `json:"forked_session_id"`
	BranchID  string `json:"branch_id"`
}

// ThreadMerged names a fork to the Session that it was merged into.
type ThreadMerged struct {
	SessionID string `json:"merged_session_id"`
	BranchID  string `json:"branch_id"`
	Messages  int    `json:"messages"` // how many came with it
}

// Truncated says what is left of a Session.
type Truncated struct {
	KeepTurns int `json:"keep_turns"`
}

// SessionReplayed names the Tasks that replay a Session.
type SessionReplayed struct {
	TaskIDs []string `json:"replay_task_ids"`
}

// PersonaVersion is a new version of a Persona. Its versions are found by going from one
// event to the one before.
type PersonaVersion struct {
	Version  string `json:"version,omitzero"`
	Previous string `json:"previous_event_id,omitzero"` // of the event that stated the version before
	Bundled  bool   `json:"bundled,omitzero"`           // the node itself brought it up to date
}

// DeliveryReceived is a delivery as it came. What it holds is internal.
type DeliveryReceived struct {
	ConnectorID string         `json:"connector_id"`
	DeliveryID  string         `json:"delivery_id,omitzero"` // the provider's
	Delivery    jsontext.Value `json:"delivery"`
}

// DeliveriesDeduped counts the deliveries of a Connector that came again.
type DeliveriesDeduped struct {
	DeliveryID string `json:"delivery_id,omitzero"` // the provider's, of the last of them
	Deduped    uint64 `json:"deduped,omitzero"`     // since the Connector was made
}

// DeliveryNormalized says what became of a delivery.
type DeliveryNormalized struct {
	ConnectorID string   `json:"connector_id"`
	Module      string   `json:"module"` // which normalized it
	Gas         uint64   `json:"gas"`    // what that took, with the deliveries beside it
	Effects     []string `json:"effects"`
	Ignored     string   `json:"ignored,omitzero"` // why it has none
}

// DeliverySubmitted names the Task that a delivery became.
type DeliverySubmitted struct {
	ConnectorID string `json:"connector_id"`
	TaskID      string `json:"task_id"`
}

// DeliveryFailed says why a delivery could not be handled.
type DeliveryFailed struct {
	ConnectorID string   `json:"connector_id"`
	Failure     *Failure `json:"failure"`
}

// ReplayStarted says what a replay is.
type ReplayStarted struct {
	Mode   ReplayMode `json:"mode"`
	Reason string     `json:"reason"`
}

// EventReplayed is one call that was replayed.
type EventReplayed struct {
	Replay       ReplayMarks `json:"replay"`
	Call         string      `json:"replayed_call"`
	Index        int         `json:"replayed_index"`
	AnswerSHA256 string      `json:"answer_sha256"`
}

// ReplayEnded says how a replay ended.
type ReplayEnded struct {
	Mode         ReplayMode `json:"mode"`
	SourceTaskID string     `json:"source_task_id"`
	ReplayID     string     `json:"replay_id"`
	Calls        *int       `json:"calls,omitzero"` // how many were replayed; none where it could not begin
	Failure      *Failure   `json:"failure,omitzero"`
}

// SecretUse is a use of a secret, or a use that was refused. It holds nothing of the value.
type SecretUse struct {
	VaultID     string `json:"vault_id,omitzero"` // empty: the node's own
	Name        string `json:"name"`
	Version     int    `json:"version,omitzero"`
	Allowed     bool   `json:"allowed"`
	Reason      string `json:"reason,omitzero"` // why not
	TaskID      string `json:"task_id,omitzero"`
	PersonaID   string `json:"persona_id,omitzero"`
	ConnectorID string `json:"connector_id,omitzero"`
	Call        string `json:"call,omitzero"`
	Host        string `json:"host,omitzero"` // where it was sent, or was to be
}

// File describes a file of a Workspace, or a folder.
type File struct {
	Object      string `json:"object"` // file or folder
	WorkspaceID string `json:"workspace_id"`
	Path        string `json:"path"`            // within the Workspace
	Size        int64  `json:"size"`            // in bytes
	SHA256      string `json:"sha256,omitzero"` // of the content, in hex
	// MediaType is what the content seems to be, by the file's name, or else by how it begins.
	MediaType string `json:"media_type,omitzero"`
	UpdatedAt Time   `json:"updated_at,omitzero"`
}

// EventPayloads says of every kind of event that the node writes what its payload holds.
func EventPayloads() []EventPayload {
	call, reason, verification := of[RecordedCall](), of[Reason](), of[ReceiptVerification]()
	return []EventPayload{
		{EventUserMessage, ObjectMessage, call, true},
		{EventUserInputSubmitted, "", call, false},
		{EventUserToolConfirmation, "", of[Confirmation](), false},
		{EventUserCancelRequested, "", reason, false},

		{EventAgentMessage, ObjectMessage, append(of[MergedFrom](), call...), true},
		{EventAgentHandoff, "", call, false},
		{EventAgentMemoryRead, "", call, false},
		{EventAgentMemoryWrite, ObjectMemory, call, true},

		{EventTaskSubmitted, ObjectTask, nil, true},
		{EventTaskStarted, ObjectTask, append(of[StartedProgram](), of[TaskTrial]()...), true},
		{EventTaskInputRequired, ObjectTask, nil, true},
		{EventTaskAuthRequired, ObjectTask, nil, true},
		{EventTaskCompleted, ObjectTask, nil, true},
		{EventTaskFailed, ObjectTask, nil, true},
		{EventTaskCanceled, ObjectTask, nil, true},
		{EventTaskStatusChanged, ObjectTask, of[TaskTrial](), true},

		{EventSessionCreated, ObjectSession, of[ForkedFrom](), true},
		{EventSessionClosed, ObjectSession, nil, true},
		{EventSessionMessageAppended, ObjectMessage, append(of[MergedFrom](), call...), true},
		{EventSessionTruncated, ObjectSession, of[Truncated](), false},
		{EventSessionThreadForked, ObjectSession, of[ThreadForked](), false},
		{EventSessionThreadMerged, ObjectSession, of[ThreadMerged](), false},
		{EventSessionReplayed, ObjectSession, of[SessionReplayed](), false},

		{EventBranchCreated, ObjectBranch, nil, true},
		{EventBranchUpdated, ObjectBranch, nil, true},
		{EventBranchMerged, ObjectBranch, nil, true},
		{EventBranchAbandoned, ObjectBranch, reason, true},

		{EventArtifactCreated, ObjectArtifact, call, true},

		{EventSpanStarted, "", call, false},
		{EventSpanCompleted, "", call, false},
		{EventSpanFailed, "", call, false},
		{EventToolRequested, "", call, false},
		{EventToolApprovalRequired, "", call, false},
		{EventToolApproved, "", call, false},
		{EventToolDenied, "", call, false},
		{EventToolCompleted, "", call, false},
		{EventToolFailed, "", call, false},

		{EventConnectorDeliveryReceived, "", of[DeliveryReceived](), false},
		{EventConnectorDeliveryDeduped, "", of[DeliveriesDeduped](), true},
		{EventConnectorNormalized, "", of[DeliveryNormalized](), false},
		{EventConnectorTaskSubmitted, "", of[DeliverySubmitted](), false},
		{EventConnectorFailed, ObjectDelivery, of[DeliveryFailed](), false},

		{EventReceiptIssued, ObjectReceipt, nil, true},
		{EventReceiptVerified, ObjectReceipt, verification, false},
		{EventReceiptVerificationFailed, ObjectReceipt, verification, false},
		{EventReplayStarted, "", of[ReplayStarted](), false},
		{EventReplayEventReplayed, "", of[EventReplayed](), false},
		{EventReplayCompleted, "", of[ReplayEnded](), false},
		{EventReplayFailed, "", of[ReplayEnded](), false},

		{EventPlan, "", of[CallPlanRequest](), false},
		{EventMessageDelta, "", of[MessageDelta](), false},
		{EventReasoningDelta, "", of[ReasoningDelta](), false},
		{EventLog, "", of[CallLogRequest](), false},
		{EventProgress, "", of[Progress](), false},
		{EventAgentEvent, "", of[AgentEvent](), false},
		{EventComposition, "", of[CompositionEvent](), false},
		{EventTenantCreated, ObjectTenant, nil, true},
		{EventPersonaCreated, ObjectPersona, of[PersonaVersion](), true},
		{EventPersonaUpdated, ObjectPersona, of[PersonaVersion](), false},
		{EventPersonaDeleted, ObjectPersona, of[PersonaVersion](), false},
		{EventWorkspaceCreated, ObjectWorkspace, nil, true},
		{EventWorkspaceUpdated, ObjectWorkspace, nil, true},
		{EventSessionUpdated, ObjectSession, nil, true},
		{EventOutcomeCreated, ObjectOutcome, nil, true},
		{EventKeyCreated, ObjectAPIKey, nil, true},
		{EventKeyRevoked, ObjectAPIKey, nil, true},
		{EventCall, "", call, false},
		{EventCallIntent, "", call, false},
		{EventStateSet, ObjectState, call, true},
		{EventReceiptsSealed, ObjectReceiptBatch, nil, true},
		{EventMemoryCreated, ObjectMemory, nil, true},
		{EventMemoryRedacted, ObjectMemory, nil, true},
		{EventQuotaCreated, ObjectQuota, nil, true},
		{EventQuotaUpdated, ObjectQuota, nil, true},
		{EventQuotaExhausted, ObjectQuota, nil, true},
		{EventProposal, "", of[WithheldCall](), false},
		{EventShadowWrite, "", of[WithheldCall](), false},
		{EventPermissionRequested, ObjectPermissionRequest, nil, true},
		{EventPermissionDecided, ObjectPermissionRequest, nil, true},
		{EventPermissionSettled, ObjectPermissionRequest, nil, true},
		{EventVaultCreated, ObjectVault, nil, true},
		{EventVaultUpdated, ObjectVault, nil, true},
		{EventSecretStored, ObjectVaultSecret, nil, true},
		{EventSecretRemoved, ObjectVaultSecret, nil, true},
		{EventSecretUsed, "", of[SecretUse](), false},
		{EventConnectorCreated, ObjectConnector, nil, true},
		{EventConnectorUpdated, ObjectConnector, nil, true},
		{EventConnectorDeleted, ObjectConnector, nil, true},
		{EventDeliveryDead, ObjectDeadLetter, nil, true},
		{EventDeliveryRedriven, ObjectDeadLetter, of[DeliveryReceived](), true},
		{EventSkillCreated, ObjectSkill, nil, true},
		{EventSkillUpdated, ObjectSkill, nil, true},
		{EventReferenceTaken, ObjectReference, nil, true},
		{EventReferenceFreed, ObjectReference, nil, true},
		{EventSessionPaused, ObjectSession, nil, true},
		{EventSessionResumed, ObjectSession, nil, true},
		{EventTaskErased, "", nil, false},
		{EventSessionErased, "", nil, false},
		{EventArtifactErased, "", nil, false},
		{EventTaskDeleted, ObjectTask, nil, true},
		{EventArtifactDeleted, ObjectArtifact, nil, true},
		{EventHistoryDeleted, "", nil, false},
		{EventHoldPlaced, ObjectHold, nil, true},
		{EventHoldReleased, ObjectHold, nil, true},
		{EventSessionDeleted, ObjectSession, nil, true},
		{EventSessionHidden, ObjectSession, nil, true},
		{EventFileWritten, "", of[File](), false},
		{EventFileRemoved, "", of[File](), false},
		{EventHookTriggered, "", of[HookTriggered](), false},
		{EventLiveClient, "", of[LiveClientChange](), false},
		{EventLivePermissionRoute, "", of[LivePermissionRoute](), false},
		{EventPlanChanged, ObjectPlan, nil, true},
		{EventInjectionQueued, ObjectInjection, nil, true},
		{EventInjectionReplaced, ObjectInjection, nil, true},
		{EventInjectionRevoked, ObjectInjection, nil, true},
		{EventInjectionDelivered, ObjectInjection, nil, true},
		{EventInboxChanged, ObjectInbox, nil, true},
		{EventReminderEmitted, "", of[ReminderEmitted](), false},
		{EventAgentMemoryChanged, ObjectAgentMemory, nil, true},
		{EventFolderMade, "", of[File](), false},
		{EventFolderRemoved, "", of[File](), false},
		{EventToolServerCreated, ObjectToolServer, nil, true},
		{EventToolServerUpdated, ObjectToolServer, nil, true},
		{EventToolServerDeleted, ObjectToolServer, nil, true},
		{EventCustomToolCreated, ObjectCustomTool, nil, true},
		{EventCustomToolDeleted, ObjectCustomTool, nil, true},
		{EventPluginInstalled, ObjectPlugin, nil, true},
		{EventPluginSwitched, ObjectPlugin, nil, true},
		{EventPluginEnabled, ObjectPlugin, nil, true},
		{EventPluginDisabled, ObjectPlugin, nil, true},
		{EventPluginRemoved, ObjectPlugin, nil, true},
		{EventHarnessCreated, ObjectHarness, nil, true},
		{EventHarnessUpdated, ObjectHarness, nil, true},
		{EventHarnessDeleted, ObjectHarness, nil, true},
		{EventSkillInstalled, ObjectSkillBundle, of[SkillChange](), true},
		{EventSkillUninstalled, ObjectSkillBundle, of[SkillChange](), true},
		{EventSkillBundleUpdated, ObjectSkillBundle, nil, true},
		{EventWorker, "", of[Worker](), false},
		{EventWebhookCreated, ObjectWebhook, nil, true},
		{EventWebhookUpdated, ObjectWebhook, nil, true},
		{EventWebhookDeleted, ObjectWebhook, nil, true},
		{EventWebhookProgress, "", of[WebhookProgress](), false},
		{EventWebhookFailed, ObjectWebhookDelivery, nil, true},
		{EventWebhookTaken, ObjectWebhookDelivery, nil, true},
		{EventWebhookDead, ObjectWebhookDelivery, nil, true},
		{EventWebhookRedriven, ObjectWebhookDelivery, nil, true},
	}
}

func of[T any]() []reflect.Type { return []reflect.Type{reflect.TypeFor[T]()} }
