package abi

import "strings"

// EventKind names what an Event reports (docs/protocol.md, 5.2).
type EventKind string

// User events.
const (
	EventUserMessage          EventKind = "user.message"           // a user Message was appended to a Session
	EventUserInputSubmitted   EventKind = "user.input_submitted"   // requested input was supplied
	EventUserToolConfirmation EventKind = "user.tool_confirmation" // a tool action was approved, denied or modified
	EventUserCancelRequested  EventKind = "user.cancel_requested"  // cancellation of a Task was requested
)

// Agent events.
const (
	EventAgentMessage          EventKind = "agent.message"           // an assistant or agent Message was appended
	EventAgentReasoningSummary EventKind = "agent.reasoning_summary" // a redacted summary of reasoning
	EventAgentToolUse          EventKind = "agent.tool_use"          // the model requested a tool call
	EventAgentToolResult       EventKind = "agent.tool_result"       // the agent observed a tool's result
	EventAgentMCPToolUse       EventKind = "agent.mcp_tool_use"      // the agent issued an MCP tool call
	EventAgentHandoff          EventKind = "agent.handoff"           // work was handed to another Persona, Task or agent
	EventAgentMemoryRead       EventKind = "agent.memory_read"       // the run read Memory
	EventAgentMemoryWrite      EventKind = "agent.memory_write"      // the run wrote Memory
)

// Task events.
const (
	EventTaskSubmitted     EventKind = "task.submitted"      // the Task was accepted durably
	EventTaskStarted       EventKind = "task.started"        // processing began
	EventTaskInputRequired EventKind = "task.input_required" // the Task waits for input
	EventTaskAuthRequired  EventKind = "task.auth_required"  // the Task waits for authorization
	EventTaskCompleted     EventKind = "task.completed"      // the Task succeeded
	EventTaskFailed        EventKind = "task.failed"         // the Task failed
	EventTaskCanceled      EventKind = "task.canceled"       // the Task was canceled
	EventTaskStatusChanged EventKind = "task.status_changed" // a transition with no event of its own name
)

// Session events.
const (
	EventSessionCreated         EventKind = "session.created"          // a Session came to be
	EventSessionClosed          EventKind = "session.closed"           // a Session was closed
	EventSessionMessageAppended EventKind = "session.message_appended" // a system or tool Message was appended
	EventSessionCompacted       EventKind = "session.compacted"        // older transcript content was compacted
	EventSessionTruncated       EventKind = "session.truncated"        // later turns were dropped
	EventSessionThreadForked    EventKind = "session.thread_forked"    // another Session was forked off this one
	EventSessionThreadMerged    EventKind = "session.thread_merged"    // a fork was merged back
	EventSessionReplayed        EventKind = "session.replayed"         // the Session's history was replayed
)

// Branch events.
const (
	EventBranchCreated   EventKind = "branch.created"   // a Branch came to be
	EventBranchUpdated   EventKind = "branch.updated"   // a Branch changed
	EventBranchMerged    EventKind = "branch.merged"    // a Branch was merged
	EventBranchAbandoned EventKind = "branch.abandoned" // a Branch was given up
)

// Artifact events.
const (
	EventArtifactCreated  EventKind = "artifact.created"  // an Artifact came to be
	EventArtifactUpdated  EventKind = "artifact.updated"  // an Artifact changed
	EventArtifactLinked   EventKind = "artifact.linked"   // an Artifact was tied to another resource
	EventArtifactRedacted EventKind = "artifact.redacted" // an Artifact's content was redacted
)

// Tool and span events.
const (
	EventSpanStarted          EventKind = "span.started"           // a timed piece of work began
	EventSpanUpdated          EventKind = "span.updated"           // it reported progress
	EventSpanCompleted        EventKind = "span.completed"         // it ended well
	EventSpanFailed           EventKind = "span.failed"            // it failed
	EventToolRequested        EventKind = "tool.requested"         // a tool call was asked for
	EventToolApprovalRequired EventKind = "tool.approval_required" // it needs approval
	EventToolApproved         EventKind = "tool.approved"          // it was approved
	EventToolDenied           EventKind = "tool.denied"            // it was denied
	EventToolCompleted        EventKind = "tool.completed"         // it returned
	EventToolFailed           EventKind = "tool.failed"            // it failed
)

// Connector events.
const (
	EventConnectorDeliveryReceived EventKind = "connector.delivery_received" // a delivery arrived
	EventConnectorDeliveryDeduped  EventKind = "connector.delivery_deduped"  // it had arrived before
	EventConnectorNormalized       EventKind = "connector.normalized"        // it was turned into protocol terms
	EventConnectorTaskSubmitted    EventKind = "connector.task_submitted"    // it became a Task
	EventConnectorFailed           EventKind = "connector.failed"            // it could not be handled
)

// Receipt and replay events.
const (
	EventReceiptIssued             EventKind = "receipt.issued"              // a Receipt was issued
	EventReceiptVerified           EventKind = "receipt.verified"            // a Receipt was found valid
	EventReceiptVerificationFailed EventKind = "receipt.verification_failed" // a Receipt was found invalid
	EventReplayStarted             EventKind = "replay.started"              // a replay began
	EventReplayEventReplayed       EventKind = "replay.event_replayed"       // one event was replayed
	EventReplayCompleted           EventKind = "replay.completed"            // a replay ended well
	EventReplayFailed              EventKind = "replay.failed"               // a replay failed
)

// Vendor events: what the taxonomy has no name for. The first five, and EventAgentEvent, are hints.
const (
	EventPlan                EventKind = "vendor.wharf.plan"                 // what a plugin means to do
	EventMessageDelta        EventKind = "vendor.wharf.message_delta"        // a piece of a Message that is being written
	EventReasoningDelta      EventKind = "vendor.wharf.reasoning_delta"      // a piece of what a model thinks before it answers
	EventLog                 EventKind = "vendor.wharf.log"                  // a line a plugin logged
	EventProgress            EventKind = "vendor.wharf.progress"             // how far a plugin, or the tool that it calls, says it is
	EventTenantCreated       EventKind = "vendor.wharf.tenant_created"       // a tenant came to be
	EventPersonaCreated      EventKind = "vendor.wharf.persona_created"      // a Persona came to be
	EventWorkspaceCreated    EventKind = "vendor.wharf.workspace_created"    // a Workspace came to be
	EventWorkspaceUpdated    EventKind = "vendor.wharf.workspace_updated"    // a Workspace changed
	EventSessionUpdated      EventKind = "vendor.wharf.session_updated"      // a Session's summary or metadata changed
	EventOutcomeCreated      EventKind = "vendor.wharf.outcome_created"      // a Task's Outcome came to be
	EventKeyCreated          EventKind = "vendor.wharf.key_created"          // an API key was made
	EventKeyRevoked          EventKind = "vendor.wharf.key_revoked"          // an API key was revoked
	EventCall                EventKind = "vendor.wharf.call"                 // a host call was answered
	EventCallIntent          EventKind = "vendor.wharf.call_intent"          // a host call is about to change something
	EventStateSet            EventKind = "vendor.wharf.state_set"            // a Session's state was changed
	EventReceiptsSealed      EventKind = "vendor.wharf.receipts_sealed"      // a batch of receipts got its Merkle root
	EventMemoryRedacted      EventKind = "vendor.wharf.memory_redacted"      // a Memory's content was taken away
	EventPersonaUpdated      EventKind = "vendor.wharf.persona_updated"      // a Persona got a new version
	EventPersonaDeleted      EventKind = "vendor.wharf.persona_deleted"      // a Persona or an agent was deleted
	EventMemoryCreated       EventKind = "vendor.wharf.memory_created"       // a client made a Memory
	EventQuotaCreated        EventKind = "vendor.wharf.quota_created"        // a Quota came to be
	EventQuotaUpdated        EventKind = "vendor.wharf.quota_updated"        // a Quota changed
	EventQuotaExhausted      EventKind = "vendor.wharf.quota_exhausted"      // work was refused for a Quota
	EventProposal            EventKind = "vendor.wharf.proposal"             // a write was proposed, and not done
	EventShadowWrite         EventKind = "vendor.wharf.shadow_write"         // a write was left out that would have been done
	EventPermissionRequested EventKind = "vendor.wharf.permission_requested" // a Task asks for a decision or an answer
	EventPermissionDecided   EventKind = "vendor.wharf.permission_decided"   // somebody decided, and the quorum may not be there yet
	EventPermissionSettled   EventKind = "vendor.wharf.permission_settled"   // a request was decided, answered, or its time was over
	EventVaultCreated        EventKind = "vendor.wharf.vault_created"        // a Vault came to be
	EventVaultUpdated        EventKind = "vendor.wharf.vault_updated"        // a Vault changed
	EventSecretStored        EventKind = "vendor.wharf.secret_stored"        // a Vault holds a new value of a secret
	EventSecretRemoved       EventKind = "vendor.wharf.secret_removed"       // a secret was taken out of a Vault
	EventSecretUsed          EventKind = "vendor.wharf.secret_used"          // a secret was used, or its use was refused
	EventConnectorCreated    EventKind = "vendor.wharf.connector_created"    // a Connector came to be
	EventConnectorUpdated    EventKind = "vendor.wharf.connector_updated"    // a Connector changed
	EventConnectorDeleted    EventKind = "vendor.wharf.connector_deleted"    // a Connector was deleted
	EventDeliveryDead        EventKind = "vendor.wharf.delivery_dead"        // a delivery could not be handled and was put aside
	EventDeliveryRedriven    EventKind = "vendor.wharf.delivery_redriven"    // a delivery that was put aside is handled again
	EventSkillCreated        EventKind = "vendor.wharf.skill_created"        // a Skill came to be
	EventSkillUpdated        EventKind = "vendor.wharf.skill_updated"        // a Skill changed
	EventReferenceTaken      EventKind = "vendor.wharf.reference_taken"      // a Session has what something outside calls it
	EventReferenceFreed      EventKind = "vendor.wharf.reference_freed"      // the Session that had it is gone
	EventSessionPaused       EventKind = "vendor.wharf.session_paused"       // a Session takes no new Tasks for now
	EventSessionResumed      EventKind = "vendor.wharf.session_resumed"      // it takes them again
	EventTaskErased          EventKind = "vendor.wharf.task_erased"          // a Task is gone, and all that belonged to it
	EventSessionErased       EventKind = "vendor.wharf.session_erased"       // a Session is gone, and all that belonged to it
	EventArtifactErased      EventKind = "vendor.wharf.artifact_erased"      // an Artifact is gone
	EventTaskDeleted         EventKind = "vendor.wharf.task_deleted"         // a Task is not shown any more, and is to be erased
	EventArtifactDeleted     EventKind = "vendor.wharf.artifact_deleted"     // an Artifact is not shown any more, and is to be erased
	EventHistoryDeleted      EventKind = "vendor.wharf.history_deleted"      // a Session that was deleted is to be erased
	EventHoldPlaced          EventKind = "vendor.wharf.hold_placed"          // something must not be deleted
	EventHoldReleased        EventKind = "vendor.wharf.hold_released"        // it may be again
	EventSessionDeleted      EventKind = "vendor.wharf.session_deleted"      // a Session is not shown any more
	EventSessionHidden       EventKind = "vendor.wharf.session_hidden"       // a Session is for one Task alone, and in no list
	EventFileWritten         EventKind = "vendor.wharf.file_written"         // a file of a Workspace was written
	EventFileRemoved         EventKind = "vendor.wharf.file_removed"         // a file of a Workspace was removed
	EventFolderMade          EventKind = "vendor.wharf.folder_made"          // a folder of a Workspace was made, which stays when it is empty
	EventFolderRemoved       EventKind = "vendor.wharf.folder_removed"       // such a folder was removed
	EventToolServerCreated   EventKind = "vendor.wharf.tool_server_created"  // a ToolServer came to be
	EventToolServerUpdated   EventKind = "vendor.wharf.tool_server_updated"  // a ToolServer changed
	EventSkillInstalled      EventKind = "vendor.wharf.skill_installed"      // a version of a SkillBundle is used from then on
	EventSkillUninstalled    EventKind = "vendor.wharf.skill_uninstalled"    // a SkillBundle is gone
	EventSkillBundleUpdated  EventKind = "vendor.wharf.skill_bundle_updated" // what people call a SkillBundle changed
	EventToolServerDeleted   EventKind = "vendor.wharf.tool_server_deleted"  // a ToolServer was deleted
	EventHookTriggered       EventKind = "vendor.wharf.hook_triggered"       // a hook was asked, or is told
	EventAgentMemoryChanged  EventKind = "vendor.wharf.agent_memory_changed" // blocks of a Persona's memory were made, changed or deleted
	EventInjectionQueued     EventKind = "vendor.wharf.injection_queued"     // something waits in a Session's inbox
	EventInjectionReplaced   EventKind = "vendor.wharf.injection_replaced"   // it has other content
	EventInjectionRevoked    EventKind = "vendor.wharf.injection_revoked"    // it was taken back before anybody took it
	EventInjectionDelivered  EventKind = "vendor.wharf.injection_delivered"  // a Task has taken it
	EventInboxChanged        EventKind = "vendor.wharf.inbox_changed"        // what waits in a Session's inbox is another
	EventReminderEmitted     EventKind = "vendor.wharf.reminder_emitted"     // a plugin was given a reminder for its next request to a model
	EventPlanChanged         EventKind = "vendor.wharf.plan_changed"         // a Task's plan was set or changed
	EventCustomToolCreated   EventKind = "vendor.wharf.custom_tool_created"  // a CustomTool came to be
	EventCustomToolDeleted   EventKind = "vendor.wharf.custom_tool_deleted"  // a CustomTool was deleted
	EventPluginInstalled     EventKind = "vendor.wharf.plugin_installed"     // a Plugin has a version that it had not, and new Tasks run it
	EventPluginSwitched      EventKind = "vendor.wharf.plugin_switched"      // new Tasks run another version of a Plugin that it had
	EventPluginEnabled       EventKind = "vendor.wharf.plugin_enabled"       // new Tasks run a Plugin again
	EventPluginDisabled      EventKind = "vendor.wharf.plugin_disabled"      // no new Task runs a Plugin
	EventPluginRemoved       EventKind = "vendor.wharf.plugin_removed"       // a Plugin is gone for new Tasks
	EventHarnessCreated      EventKind = "vendor.wharf.harness_created"      // a Harness came to be
	EventHarnessUpdated      EventKind = "vendor.wharf.harness_updated"      // a Harness changed
	EventHarnessDeleted      EventKind = "vendor.wharf.harness_deleted"      // a Harness was deleted
	EventAgentEvent          EventKind = "vendor.wharf.agent_event"          // what an agent does with its skills, its tools and its conversation
	EventComposition         EventKind = "vendor.wharf.composition"          // a step of the run of a snippet whose effects are tool calls
	EventWorker              EventKind = "vendor.wharf.worker"               // a child of the Task has begun, waits, goes on or has ended
	EventWebhookCreated      EventKind = webhookEvents + "created"           // a Webhook came to be
	EventWebhookUpdated      EventKind = webhookEvents + "updated"           // a Webhook changed
	EventWebhookDeleted      EventKind = webhookEvents + "deleted"           // a Webhook was deleted
	EventWebhookProgress     EventKind = webhookEvents + "progress"          // what a Webhook wanted is taken or recorded, up to an event
	EventWebhookFailed       EventKind = webhookEvents + "delivery_failed"   // a receiver has not taken a delivery, which is tried again
	EventWebhookTaken        EventKind = webhookEvents + "delivery_taken"    // a receiver has taken a delivery that it had not taken before
	EventWebhookDead         EventKind = webhookEvents + "delivery_dead"     // a delivery was given up
	EventWebhookRedriven     EventKind = webhookEvents + "delivery_redriven" // a delivery that was given up is tried again
)

// Events of the clients that are attached to Sessions.
const (
	EventLiveClient          EventKind = "vendor.wharf.live_client"           // a client was attached to a Session, took it over, or left
	EventLivePermissionRoute EventKind = "vendor.wharf.live_permission_route" // the client that controls a Session is to answer a request
)

// webhookEvents begins the kinds of events about Webhooks.
const webhookEvents = hostNamespace + "webhook_"

// OfWebhooks reports whether k is about Webhooks. No Webhook is sent such events: each of them
// would bring about another.
func (k EventKind) OfWebhooks() bool { return strings.HasPrefix(string(k), webhookEvents) }

// EventKinds lists the whole taxonomy of the protocol, vendor events left out.
func EventKinds() []EventKind {
	return []EventKind{
		EventUserMessage, EventUserInputSubmitted, EventUserToolConfirmation, EventUserCancelRequested,
		EventAgentMessage, EventAgentReasoningSummary, EventAgentToolUse, EventAgentToolResult,
		EventAgentMCPToolUse, EventAgentHandoff, EventAgentMemoryRead, EventAgentMemoryWrite,
		EventTaskSubmitted, EventTaskStarted, EventTaskInputRequired, EventTaskAuthRequired,
		EventTaskCompleted, EventTaskFailed, EventTaskCanceled, EventTaskStatusChanged,
		EventSessionCreated, EventSessionClosed, EventSessionMessageAppended, EventSessionCompacted,
		EventSessionTruncated, EventSessionThreadForked, EventSessionThreadMerged, EventSessionReplayed,
		EventBranchCreated, EventBranchUpdated, EventBranchMerged, EventBranchAbandoned,
		EventArtifactCreated, EventArtifactUpdated, EventArtifactLinked, EventArtifactRedacted,
		EventSpanStarted, EventSpanUpdated, EventSpanCompleted, EventSpanFailed,
		EventToolRequested, EventToolApprovalRequired, EventToolApproved, EventToolDenied,
		EventToolCompleted, EventToolFailed,
		EventConnectorDeliveryReceived, EventConnectorDeliveryDeduped, EventConnectorNormalized,
		EventConnectorTaskSubmitted, EventConnectorFailed,
		EventReceiptIssued, EventReceiptVerified, EventReceiptVerificationFailed,
		EventReplayStarted, EventReplayEventReplayed, EventReplayCompleted, EventReplayFailed,
	}
}

// Vendor reports whether k lies outside the taxonomy: it has the prefix
// "vendor." or is a reverse-DNS name.
func (k EventKind) Vendor() bool {
	return strings.HasPrefix(string(k), "vendor.") || strings.Count(string(k), ".") > 1
}

// hostNamespace is the prefix of the event kinds that plugins may not use.
const hostNamespace = "vendor.wharf."

// CheckPluginKind refuses a kind that is not one for events of plugins.
func CheckPluginKind(k EventKind) *Error {
	if k.Vendor() && !strings.HasPrefix(string(k), hostNamespace) && ValidName(string(k)) {
		return nil
	}
	return InvalidParam("kind", `%q is not a kind for plugins: "vendor." and a name of your own, or a reverse-DNS name`, k)
}
