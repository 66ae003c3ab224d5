// Generated from package abi by go generate ./abi. Do not edit.

//! The types of requests and answers of wharf-abi-1. Members that may be left out are nothing by
//! default: make a request of what it needs and `..Default::default()`.

use crate::wire::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

words! {
    /// AgentEventKind is a kind of what an agent tells of its own work.
    AgentEventKind {
        SKILL_ACTIVATED = "skill_activated",
        SKILL_DEACTIVATED = "skill_deactivated",
        SKILL_SCOPE_TOOLS = "skill_scope_tools",
        SKILL_NARROW = "skill_narrow",
        TOOL_SEARCH_QUERY = "tool_search_query",
        TOOL_SEARCH_RESULT = "tool_search_result",
        TRANSCRIPT_COMPACTED = "transcript_compacted",
        TRANSCRIPT_PROJECTED = "transcript_projected",
        TURN_STARTED = "turn_started",
        TURN_ENDED = "turn_ended",
    }
}

words! {
    /// ArtifactKind says what an Artifact is.
    ArtifactKind {
        FILE = "file",
        PATCH = "patch",
        IMAGE = "image",
        LOG = "log",
        DIFF = "diff",
        RECEIPT = "receipt",
        SNAPSHOT = "snapshot",
        DATASET = "dataset",
        OTHER = "other",
    }
}

words! {
    /// AutonomyTier says how far a Persona may act by itself.
    AutonomyTier {
        SHADOW = "shadow",
        SUGGEST = "suggest",
        ACT_WITH_APPROVAL = "act_with_approval",
        ACT_AUTO = "act_auto",
    }
}

words! {
    /// Checkpoint is where a plugin looks into the inbox.
    Checkpoint {
        /// Before it asks a model.
        STEP = "step",
        /// When a model has answered and wants no tool.
        TURN = "turn",
        /// Before it ends.
        LOOP_EXIT = "loop_exit",
    }
}

words! {
    /// CompositionFailure says in which way a composition failed.
    CompositionFailure {
        /// The snippet is at fault.
        SNIPPET_ERROR = "snippet_error",
        /// A child failed.
        TOOL_ERROR = "tool_error",
        /// A child was beyond the ceiling.
        CEILING_EXCEEDED = "ceiling_exceeded",
        TIMEOUT = "timeout",
        /// It used up what it may use.
        LIMIT = "limit",
        /// Its Task completed without ending it.
        NOT_ENDED = "not_ended",
        TASK_FAILED = "task_failed",
        TASK_CANCELED = "task_canceled",
    }
}

words! {
    /// ConnectorStatus says whether a Connector takes and handles deliveries.
    ConnectorStatus {
        /// ConnectorActive takes and handles deliveries.
        ACTIVE = "ACTIVE",
        /// ConnectorPaused takes deliveries and handles none until it is active again. It does not
        /// poll.
        PAUSED = "PAUSED",
        /// ConnectorFailed is what the circuit breaker makes of one that fails again and again. It
        /// takes deliveries, and tries itself again after a while.
        FAILED = "FAILED",
        /// ConnectorDisabled takes no deliveries.
        DISABLED = "DISABLED",
    }
}

words! {
    /// DeclineCode says in which way a question was not answered.
    DeclineCode {
        /// Whoever was asked does not want to.
        DECLINED = "declined",
        /// The question was put away without a choice.
        CANCELLED = "cancelled",
        /// Whoever was asked cannot answer questions of this kind.
        UNSUPPORTED = "unsupported",
    }
}

words! {
    /// DelegationStatus says what became of a CallAgentDelegate.
    DelegationStatus {
        /// Nothing was dispatched: the checkpoint says what would be.
        CHECKPOINT_REQUIRED = "checkpoint_required",
        /// The agent has done it, within its budget.
        COMPLETED = "completed",
        /// It was done before by the same key: nothing was dispatched.
        REPLAYED = "replayed",
        /// The agent has used more than it was allowed.
        BUDGET_EXCEEDED = "budget_exceeded",
        /// Nothing was dispatched, for the reason that is given.
        REFUSED = "refused",
    }
}

words! {
    /// FileMode says what CallFileWrite does with a file that is there.
    FileMode {
        /// The content becomes the file's; the default.
        REPLACE = "replace",
        /// The file must not be there.
        CREATE = "create",
        /// The content goes to the end; without a file it is replace.
        APPEND = "append",
    }
}

words! {
    /// InboxWoken says why a wait for an inbox has ended with nothing.
    InboxWoken {
        /// Somebody has woken the Session.
        RESUMED = "resumed",
        TIMEOUT = "timeout",
        /// Forks and replays are delivered nothing, and do not wait.
        NEVER = "never",
    }
}

words! {
    /// MatchedBy says who has ranked skills.
    MatchedBy {
        NODE = "node",
        /// A client.
        HOST = "host",
    }
}

words! {
    /// MemoryScope says whom a Memory belongs to.
    MemoryScope {
        PERSONA = "persona",
        SESSION = "session",
        WORKSPACE = "workspace",
        TENANT = "tenant",
    }
}

words! {
    /// OutcomeStatus is how a Task ended, as its Outcome says it.
    OutcomeStatus {
        SUCCEEDED = "SUCCEEDED",
        FAILED = "FAILED",
        CANCELED = "CANCELED",
    }
}

words! {
    /// PartType discriminates the content of a Part.
    PartType {
        TEXT = "text",
        JSON = "json",
        TOOL_CALL = "tool_call",
        TOOL_RESULT = "tool_result",
        ARTIFACT_REF = "artifact_ref",
        FILE_REF = "file_ref",
        IMAGE_REF = "image_ref",
    }
}

words! {
    /// PermissionKind says what a Task asks for.
    PermissionKind {
        /// May it do something.
        APPROVAL = "approval",
        /// An answer.
        INPUT = "input",
        /// Something is to be connected.
        AUTHORIZATION = "authorization",
        /// What a model of the answerer's says.
        SAMPLING = "sampling",
        /// The folders that may be worked in.
        ROOTS = "roots",
    }
}

words! {
    /// PermissionStatus says what has become of a request.
    PermissionStatus {
        PENDING = "pending",
        APPROVED = "approved",
        DENIED = "denied",
        ANSWERED = "answered",
        TIMEOUT = "timeout",
        /// The Task ended meanwhile.
        CANCELED = "canceled",
    }
}

words! {
    /// ReceiptPolicy says whether Tasks of a Persona get receipts.
    ReceiptPolicy {
        REQUIRED = "required",
        OPTIONAL = "optional",
        DISABLED = "disabled",
    }
}

words! {
    /// ReminderRole says as whose words a model should be shown a reminder.
    ReminderRole {
        SYSTEM = "system",
        DEVELOPER = "developer",
        USER = "user",
    }
}

words! {
    /// ReplayMode says how a Task is replayed (docs/protocol.md, 6.1).
    ReplayMode {
        EXACT = "exact",
        WITH_OVERRIDES = "with_overrides",
        FROM_CHECKPOINT = "from_checkpoint",
    }
}

words! {
    /// ResourceKind is what CallResourceList lists.
    ResourceKind {
        RESOURCE = "resource",
        TEMPLATE = "template",
        PROMPT = "prompt",
    }
}

words! {
    /// Role is the author's role of a Message.
    Role {
        USER = "user",
        ASSISTANT = "assistant",
        SYSTEM = "system",
        TOOL = "tool",
        AGENT = "agent",
    }
}

words! {
    /// SideEffectLevel says how far what a call does may reach.
    SideEffectLevel {
        /// Nothing beyond the Task and its Session changes.
        READ_ONLY = "read_only",
        /// What is the Workspace's, or a tool server's own, does.
        WORKSPACE_WRITE = "workspace_write",
        /// Programs run.
        PROCESS_EXEC = "process_exec",
        /// Anything else, and all that is not known.
        NETWORK = "network",
    }
}

words! {
    /// SignatureScheme says how a provider signs its deliveries.
    SignatureScheme {
        /// Deliveries need no signature.
        NONE = "none",
        /// Webhook-id, webhook-timestamp, webhook-signature.
        STANDARD_WEBHOOKS = "standard-webhooks",
        /// X-Hub-Signature-256.
        GITHUB = "github",
        /// Stripe-Signature.
        STRIPE = "stripe",
        /// X-Slack-Signature.
        SLACK = "slack",
        /// A header of its own; see WebhookAuth.
        HMAC = "hmac",
    }
}

words! {
    /// SkillSource says where a skill is from.
    SkillSource {
        INSTALLED = "installed",
        /// A client has it.
        HOST = "host",
    }
}

words! {
    /// StepStatus says how far a step of a plan is.
    StepStatus {
        PENDING = "pending",
        IN_PROGRESS = "in_progress",
        COMPLETED = "completed",
        SKIPPED = "skipped",
    }
}

words! {
    /// StopReason says why a model stopped.
    StopReason {
        /// It was done, or met a stop sequence.
        END = "end",
        /// It wants tools called.
        TOOLS = "tools",
        /// The limit on tokens.
        LENGTH = "length",
        /// It declined, or was filtered.
        REFUSAL = "refusal",
    }
}

words! {
    /// TaskStatus is the lifecycle state of a Task, spelled as on the wire (docs/protocol.md, 5.1).
    TaskStatus {
        SUBMITTED = "SUBMITTED",
        WORKING = "WORKING",
        INPUT_REQUIRED = "INPUT_REQUIRED",
        AUTH_REQUIRED = "AUTH_REQUIRED",
        COMPLETED = "COMPLETED",
        FAILED = "FAILED",
        CANCELED = "CANCELED",
    }
}

words! {
    /// ToolErrorCategory says in which way a tool call failed.
    ToolErrorCategory {
        /// Its arguments do not fit, or there is no such tool.
        SCHEMA_VALIDATION = "schema_validation",
        /// Policy or an approver said no.
        PERMISSION_DENIED = "permission_denied",
        TIMEOUT = "timeout",
        /// The tool itself says that it failed.
        TOOL_ERROR = "tool_error",
        /// Its server gave no answer that can be used.
        MCP_SERVER_ERROR = "mcp_server_error",
        /// The client gave none.
        HOST_BRIDGE_ERROR = "host_bridge_error",
        /// Nobody knows whether it was done.
        UNKNOWN = "unknown",
        /// Its Task has ended meanwhile.
        CANCELLED = "cancelled",
    }
}

words! {
    /// ToolExecutor says what runs a tool.
    ToolExecutor {
        /// The node itself.
        HARN_BUILTIN = "harn_builtin",
        /// A client, on its socket.
        HOST_BRIDGE = "host_bridge",
        /// A server of the Model Context Protocol: the member server names it.
        MCP_SERVER = "mcp_server",
    }
}

words! {
    /// ToolKind is a kind of tools, by what they do.
    ToolKind {
        READ = "read",
        EDIT = "edit",
        DELETE = "delete",
        MOVE = "move",
        SEARCH = "search",
        EXECUTE = "execute",
        THINK = "think",
        FETCH = "fetch",
        SWITCH_MODE = "switch_mode",
        OTHER = "other",
    }
}

words! {
    /// ToolsVisibility says how much of the tool calls of a Persona's Tasks is told to keys without
    /// events:internal.
    ToolsVisibility {
        /// That there was a call, and nothing else.
        INTERNAL = "internal",
        /// Which tool, how long, how it ended: the default.
        NAMED = "named",
        /// Its arguments and its answer, too.
        PUBLIC = "public",
    }
}

words! {
    /// Visibility says who may see content (docs/protocol.md, 3.5).
    Visibility {
        PUBLIC = "public",
        INTERNAL = "internal",
        RECEIPT_ONLY = "receipt_only",
    }
}

/// Failure says why a Task failed. `code` is one of the Failure* constants or what the plugin
/// reported.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Failure {
    /// For programs: one of the host, or of the plugin.
    pub code: String,
    /// For people.
    pub message: String,
    /// More about it, where there is more to say.
    #[serde(skip_serializing_if = "nothing")]
    pub details: Option<Json>,
}

/// Budget bounds what a Task may spend. A member that is 0 bounds nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Budget {
    /// In US dollars.
    #[serde(serialize_with = "number", skip_serializing_if = "nothing")]
    pub usd: f64,
    /// The member `input_tokens`.
    #[serde(skip_serializing_if = "nothing")]
    pub input_tokens: i64,
    /// The member `output_tokens`.
    #[serde(skip_serializing_if = "nothing")]
    pub output_tokens: i64,
    /// The member `tool_calls`.
    #[serde(skip_serializing_if = "nothing")]
    pub tool_calls: i64,
    /// The member `host_calls`.
    #[serde(skip_serializing_if = "nothing")]
    pub host_calls: i64,
    /// How long it may run, in milliseconds.
    #[serde(skip_serializing_if = "nothing")]
    pub wall_time_ms: i64,
}

/// RunOptions are what one Task wants otherwise than its Persona. The plugin is told them with its
/// input, and follows them as it can; `budget`, `max_tokens` and `autonomy_tier` the host holds.
/// They bound what the Persona may do, and never widen it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunOptions {
    /// Names, or ids, of SkillBundles that the Task is to have, beside those of its Persona and
    /// Session.
    #[serde(skip_serializing_if = "nothing")]
    pub skills: Vec<String>,
    /// The model to ask, by the name that the node has for it.
    #[serde(skip_serializing_if = "nothing")]
    pub model: String,
    /// In place of those that the plugin or its operator has; at most 16 KiB.
    #[serde(skip_serializing_if = "nothing")]
    pub instructions: String,
    /// Told to the model after the instructions; at most 16 KiB.
    #[serde(skip_serializing_if = "nothing")]
    pub context: String,
    /// Of the model, 0 to 1.
    #[serde(serialize_with = "some_number", skip_serializing_if = "nothing")]
    pub temperature: Option<f64>,
    /// Of one answer of a model, at most 200,000; 0: no bound.
    #[serde(skip_serializing_if = "nothing")]
    pub max_tokens: i64,
    /// Of the Task, where it is less than the Persona's.
    #[serde(skip_serializing_if = "nothing")]
    pub budget: Option<Budget>,
    /// `autonomy_tier` is that of the Task and of those below it, where it allows less than the
    /// Persona's: with suggest, the Task is a dry run that proposes what it would change.
    #[serde(skip_serializing_if = "nothing")]
    pub autonomy_tier: AutonomyTier,
}

/// TaskClient is what a client says of itself when it submits a Task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TaskClient {
    /// That it speaks, and its revision, such as mcp/2025-11-25.
    #[serde(skip_serializing_if = "nothing")]
    pub protocol: String,
    /// The member `name`.
    #[serde(skip_serializing_if = "nothing")]
    pub name: String,
    /// The member `version`.
    #[serde(skip_serializing_if = "nothing")]
    pub version: String,
    /// `capabilities` are the kinds of questions that it can answer: at most 32 words without white
    /// space or commas, such as elicitation.form, elicitation.url, sampling, sampling.tools and
    /// roots.
    #[serde(skip_serializing_if = "nothing")]
    pub capabilities: Vec<String>,
}

/// InboxWait is what a Task that waits for its Session's inbox waits for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct InboxWait {
    /// The member `session_id`.
    pub session_id: String,
    /// The member `checkpoint`.
    pub checkpoint: Checkpoint,
}

/// ToolUse is what people see of a tool.call: in the events of its beginning (tool.requested) and
/// its end (tool.completed, tool.failed), and of a Skill in what its Task waits for. How much of it
/// a key without events:internal sees is up to the Persona's ToolsVisibility.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolUse {
    /// The call_id that it was made with, or else call- and its index in the record.
    pub call_id: String,
    /// The member `server`.
    pub server: String,
    /// The member `name`.
    pub name: String,
    /// Absent: not known.
    #[serde(skip_serializing_if = "nothing")]
    pub kind: ToolKind,
    /// The member `read_only`.
    #[serde(skip_serializing_if = "nothing")]
    pub read_only: bool,
    /// Its definition says that it can destroy something.
    #[serde(skip_serializing_if = "nothing")]
    pub destructive: bool,
    /// The member `executor`.
    pub executor: ToolExecutor,
    /// The member `started_at`.
    pub started_at: Time,
    /// `duration_us` is how long the whole call took, of its end: with waiting for approval, and
    /// over a crash. `execution_us` is how long its server took of that, where it was asked.
    #[serde(skip_serializing_if = "nothing")]
    pub duration_us: i64,
    /// The member `execution_us`.
    #[serde(skip_serializing_if = "nothing")]
    pub execution_us: i64,
    /// Of its end: why it failed.
    #[serde(skip_serializing_if = "nothing")]
    pub error_category: ToolErrorCategory,
    /// `started_event_id` is the event that told its beginning, of its end.
    #[serde(skip_serializing_if = "nothing")]
    pub started_event_id: String,
    /// `visibility` is the Persona's when the call was made; absent for named.
    #[serde(skip_serializing_if = "nothing")]
    pub visibility: ToolsVisibility,
}

/// CompositionChild is a child of a composition that waits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CompositionChild {
    /// The member `composition_id`.
    pub composition_id: String,
    /// The member `call_id`.
    pub call_id: String,
    /// The member `executor`.
    #[serde(skip_serializing_if = "nothing")]
    pub executor: ToolExecutor,
    /// The member `started_at`.
    pub started_at: Time,
    /// As in ToolUse.
    #[serde(skip_serializing_if = "nothing")]
    pub visibility: ToolsVisibility,
}

/// WaitingQuestion is one of several requests that a Task waits on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WaitingQuestion {
    /// The plugin's name for it.
    pub key: String,
    /// The member `permission_request_id`.
    pub permission_request_id: String,
    /// The member `kind`.
    pub kind: PermissionKind,
    /// The member `status`.
    pub status: PermissionStatus,
}

/// Waiting says what a parked Task waits for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Waiting {
    /// The host call that waits.
    pub call: String,
    /// Of the call in the record, from 0.
    pub index: i64,
    /// The member `request_id`.
    pub request_id: String,
    /// What somebody is asked.
    #[serde(skip_serializing_if = "nothing")]
    pub prompt: String,
    /// The member `action`.
    #[serde(skip_serializing_if = "nothing")]
    pub action: String,
    /// The member `schema`.
    #[serde(skip_serializing_if = "nothing")]
    pub schema: Option<Json>,
    /// The member `url`.
    #[serde(skip_serializing_if = "nothing")]
    pub url: String,
    /// The child that is awaited.
    #[serde(skip_serializing_if = "nothing")]
    pub task_id: String,
    /// The inbox that is waited for.
    #[serde(skip_serializing_if = "nothing")]
    pub inbox: Option<InboxWait>,
    /// Of a tool that waits, such as a Skill.
    #[serde(skip_serializing_if = "nothing")]
    pub tool: Option<ToolUse>,
    /// When it stops waiting.
    #[serde(skip_serializing_if = "nothing")]
    pub until: Time,
    /// `composition` is set when the tool is a child of one.
    #[serde(skip_serializing_if = "nothing")]
    pub composition: Option<CompositionChild>,
    /// `permission_id` names the request that somebody is to answer. Of an approval: `arguments`
    /// are what is to be done with, `quorum` how many must approve, and `gate` says that policy
    /// asks, not the plugin: when it is approved the call itself is made.
    #[serde(skip_serializing_if = "nothing")]
    pub permission_id: String,
    /// The member `arguments`.
    #[serde(skip_serializing_if = "nothing")]
    pub arguments: Option<Json>,
    /// The member `quorum`.
    #[serde(skip_serializing_if = "nothing")]
    pub quorum: i64,
    /// The member `gate`.
    #[serde(skip_serializing_if = "nothing")]
    pub gate: bool,
    /// `requests` are what is asked at once by one call, in the order of the call: those that are
    /// pending, and those that were settled before.
    #[serde(skip_serializing_if = "nothing")]
    pub requests: Vec<WaitingQuestion>,
}

/// TaskReplay says what a replay Task replays. Overrides are kept by their hash.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TaskReplay {
    /// The Task that is replayed.
    pub source_task_id: String,
    /// The member `mode`.
    pub mode: ReplayMode,
    /// `replay_id` is derived from the source, the module, the mode and the overrides: it is the
    /// same for the same replay, on any node, and the one id of a replay that its receipt holds.
    pub replay_id: String,
    /// The hash of the request that asked for the replay.
    pub request_sha256: String,
    /// Of from_checkpoint: how many calls come before the boundary.
    #[serde(skip_serializing_if = "nothing")]
    pub checkpoint: i64,
    /// The replay of a Session that it belongs to.
    #[serde(skip_serializing_if = "nothing")]
    pub session_run: String,
}

/// TaskFork says where a forked Task came from: it shares the record of its source up to a number
/// of host calls, and is live from there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TaskFork {
    /// The Task that it was forked from.
    pub source_task_id: String,
    /// The last event whose record is shared; absent: all of them.
    #[serde(skip_serializing_if = "nothing")]
    pub at_event_id: String,
    /// The member `calls`.
    pub calls: i64,
}

/// Task is one unit of agent work. `input` is a Message or any JSON object, as it was submitted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Task {
    /// Names the resource; it never changes.
    pub id: String,
    /// The kind of resource.
    pub object: String,
    /// When it was made.
    pub created_at: Time,
    /// When it last changed.
    pub updated_at: Time,
    /// The client's own: any object; {} if there is none.
    pub metadata: Json,
    /// The member `session_id`.
    pub session_id: String,
    /// The member `workspace_id`.
    pub workspace_id: String,
    /// Where it is in its life.
    pub status: TaskStatus,
    /// The member `input`.
    #[serde(skip_serializing_if = "nothing")]
    pub input: Option<Json>,
    /// The actor that submitted it.
    pub created_by: String,
    /// The member `persona_id`.
    #[serde(skip_serializing_if = "nothing")]
    pub persona_id: String,
    /// The Branch that it goes along.
    #[serde(skip_serializing_if = "nothing")]
    pub branch_id: String,
    /// The Task that it belongs to.
    #[serde(skip_serializing_if = "nothing")]
    pub parent_task_id: String,
    /// Proves what it did, once it has ended; absent where its Persona asks for none.
    #[serde(skip_serializing_if = "nothing")]
    pub receipt_id: String,
    /// What it resulted in, once it has ended.
    #[serde(skip_serializing_if = "nothing")]
    pub outcome_id: String,
    /// When it started first.
    #[serde(skip_serializing_if = "nothing")]
    pub started_at: Time,
    /// When it ended, in success or failure.
    #[serde(skip_serializing_if = "nothing")]
    pub completed_at: Time,
    /// When it ended, if it was canceled.
    #[serde(skip_serializing_if = "nothing")]
    pub canceled_at: Time,
    /// Why it failed, if it did.
    #[serde(skip_serializing_if = "nothing")]
    pub failure: Option<Failure>,
    /// `input_message_id` is set when the input is a Message, which the log holds once.
    #[serde(skip_serializing_if = "nothing")]
    pub input_message_id: String,
    /// `deadline_at` is when the Task fails unless it has ended.
    #[serde(skip_serializing_if = "nothing")]
    pub deadline_at: Time,
    /// `run` is what the Task was submitted to do otherwise than its Persona.
    #[serde(skip_serializing_if = "nothing")]
    pub run: Option<RunOptions>,
    /// `client` is what the client that submitted it has said of itself.
    #[serde(skip_serializing_if = "nothing")]
    pub client: Option<TaskClient>,
    /// `attempt` counts the starts of the Task: more than 1 after the node died in one.
    #[serde(skip_serializing_if = "nothing")]
    pub attempt: i64,
    /// `module` is the digest of the plugin's module, "sha256:" and hex. The Task is pinned to it
    /// from its start on.
    #[serde(skip_serializing_if = "nothing")]
    pub module: String,
    /// `waiting` is set while the Task is parked.
    #[serde(skip_serializing_if = "nothing")]
    pub waiting: Option<Waiting>,
    /// `replay` is set on a Task that replays another.
    #[serde(skip_serializing_if = "nothing")]
    pub replay: Option<TaskReplay>,
    /// `fork` is set on a Task that was forked from another.
    #[serde(skip_serializing_if = "nothing")]
    pub fork: Option<TaskFork>,
    /// `persona_version` is the version of the Persona that the Task is pinned to, and `quota_id`
    /// the Quota that bounds it most narrowly.
    #[serde(skip_serializing_if = "nothing")]
    pub persona_version: String,
    /// The member `quota_id`.
    #[serde(skip_serializing_if = "nothing")]
    pub quota_id: String,
    /// `connector_id` and `delivery_id` are set on a Task that came from a Connector. Of the Tasks
    /// with one `order_key`, of a Connector or of a Session, one runs at a time, in the order in
    /// which they were accepted.
    #[serde(skip_serializing_if = "nothing")]
    pub connector_id: String,
    /// The member `delivery_id`.
    #[serde(skip_serializing_if = "nothing")]
    pub delivery_id: String,
    /// The member `order_key`.
    #[serde(skip_serializing_if = "nothing")]
    pub order_key: String,
    /// `deleted_at` is set on a Task that is not shown any more.
    #[serde(skip_serializing_if = "nothing")]
    pub deleted_at: Time,
}

/// ModelPolicy says which models Tasks of a Persona may ask. Empty members allow all.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelPolicy {
    /// Patterns of the names of models, in which * stands for any characters; none: all.
    #[serde(skip_serializing_if = "nothing")]
    pub models: Vec<String>,
    /// The same of providers.
    #[serde(skip_serializing_if = "nothing")]
    pub providers: Vec<String>,
    /// Of one answer; 0: no bound.
    #[serde(skip_serializing_if = "nothing")]
    pub max_tokens: i64,
}

/// ApprovalPolicy says how writes are approved.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ApprovalPolicy {
    /// `quorum` is how many must approve; 0 is 1.
    #[serde(skip_serializing_if = "nothing")]
    pub quorum: i64,
    /// `approvers` are patterns of the actors that may decide; empty for all.
    #[serde(skip_serializing_if = "nothing")]
    pub approvers: Vec<String>,
    /// `self_approval` says that whoever submitted the Task may decide, too.
    #[serde(skip_serializing_if = "nothing")]
    pub self_approval: bool,
    /// `timeout_seconds` is how long to wait for a decision; 0 for ever.
    #[serde(serialize_with = "number", skip_serializing_if = "nothing")]
    pub timeout_seconds: f64,
    /// `without` are patterns of tools (SERVER:TOOL) and host calls that need no approval.
    #[serde(skip_serializing_if = "nothing")]
    pub without: Vec<String>,
}

/// AgentSkill names a version of a bundle of a skill.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentSkill {
    /// The member `name`.
    pub name: String,
    /// The member `version`.
    #[serde(skip_serializing_if = "nothing")]
    pub version: String,
    /// Of its files; absent while it is not installed.
    #[serde(skip_serializing_if = "nothing")]
    pub digest: String,
    /// The member `required`.
    #[serde(skip_serializing_if = "nothing")]
    pub required: bool,
}

/// AgentServer names a server of tools.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentServer {
    /// The member `name`.
    pub name: String,
    /// Patterns of names; none: all of the server.
    #[serde(skip_serializing_if = "nothing")]
    pub tools: Vec<String>,
    /// The member `required`.
    #[serde(skip_serializing_if = "nothing")]
    pub required: bool,
}

/// AgentModel is a model as a bundle names it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentModel {
    /// The member `provider`.
    #[serde(skip_serializing_if = "nothing")]
    pub provider: String,
    /// The member `name`.
    pub name: String,
    /// The member `embedding`.
    #[serde(skip_serializing_if = "nothing")]
    pub embedding: String,
}

/// AgentTools are tools as a bundle names them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentTools {
    /// The member `allow`.
    #[serde(skip_serializing_if = "nothing")]
    pub allow: Vec<String>,
    /// The member `deny`.
    #[serde(skip_serializing_if = "nothing")]
    pub deny: Vec<String>,
}

/// AgentBundle says where the files of an agent are kept. Digests are "sha256:" and hex.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentBundle {
    /// Of its AGENTS.md.
    pub manifest: String,
    /// Of a zip with the files beside it; absent when there are none.
    #[serde(skip_serializing_if = "nothing")]
    pub files: String,
    /// Of these files.
    #[serde(skip_serializing_if = "nothing")]
    pub count: i64,
    /// Of these files, unpacked.
    #[serde(skip_serializing_if = "nothing")]
    pub bytes: i64,
}

/// Agent is what makes a Persona an agent of its own: what a model is told and asked with, and the
/// bundle that it came in. It is policy: a change of it is a new version of the Persona.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Agent {
    /// What a model is told first, as it is.
    #[serde(skip_serializing_if = "nothing")]
    pub instructions: String,
    /// The model to ask; the node's default if it is absent.
    #[serde(skip_serializing_if = "nothing")]
    pub model: String,
    /// 0 to 1.
    #[serde(serialize_with = "some_number", skip_serializing_if = "nothing")]
    pub temperature: Option<f64>,
    /// Of one answer of a model; 0: no bound.
    #[serde(skip_serializing_if = "nothing")]
    pub max_tokens: i64,
    /// `skills` are the bundles of skills that it knows, each as it was when it was named.
    #[serde(skip_serializing_if = "nothing")]
    pub skills: Vec<AgentSkill>,
    /// `mcp_servers` are the servers of tools that it counts on. Of one that names tools it may use
    /// these alone.
    #[serde(skip_serializing_if = "nothing")]
    pub mcp_servers: Vec<AgentServer>,
    /// The Persona whose subagent it is.
    #[serde(skip_serializing_if = "nothing")]
    pub parent_id: String,
    /// Of a subagent, for its parent.
    #[serde(skip_serializing_if = "nothing")]
    pub role: String,
    /// `vendor_key` and `agent_key` name it among all agents, wherever they are. Both are of a-z,
    /// 0-9 and -.
    #[serde(skip_serializing_if = "nothing")]
    pub vendor_key: String,
    /// The member `agent_key`.
    #[serde(skip_serializing_if = "nothing")]
    pub agent_key: String,
    /// The member `slug`.
    #[serde(skip_serializing_if = "nothing")]
    pub slug: String,
    /// As its author counts, 1.2.3 (semver.org); that of the Persona counts changes here.
    #[serde(skip_serializing_if = "nothing")]
    pub version: String,
    /// The member `author`.
    #[serde(skip_serializing_if = "nothing")]
    pub author: String,
    /// As SPDX writes it.
    #[serde(skip_serializing_if = "nothing")]
    pub license: String,
    /// The member `tags`.
    #[serde(skip_serializing_if = "nothing")]
    pub tags: Vec<String>,
    /// `model_named` and `tools_named` are what its bundle says, in the bundle's own words.
    /// `model`, and the tools and tools_denied of the Persona, follow from them.
    #[serde(skip_serializing_if = "nothing")]
    pub model_named: Option<AgentModel>,
    /// The member `tools_named`.
    #[serde(skip_serializing_if = "nothing")]
    pub tools_named: Option<AgentTools>,
    /// The member `bundle`.
    #[serde(skip_serializing_if = "nothing")]
    pub bundle: Option<AgentBundle>,
}

/// Rights are what an agent may do, as far as that bounds its subagents. Each member is that of the
/// Persona.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rights {
    /// The member `persona_id`.
    pub persona_id: String,
    /// The member `tools`.
    #[serde(skip_serializing_if = "nothing")]
    pub tools: Vec<String>,
    /// The member `tools_denied`.
    #[serde(skip_serializing_if = "nothing")]
    pub tools_denied: Vec<String>,
    /// The member `capabilities`.
    #[serde(skip_serializing_if = "nothing")]
    pub capabilities: Vec<String>,
    /// The member `handoffs`.
    #[serde(skip_serializing_if = "nothing")]
    pub handoffs: Vec<String>,
    /// The member `model_policy`.
    #[serde(skip_serializing_if = "nothing")]
    pub model_policy: Option<ModelPolicy>,
    /// The member `mcp_servers`.
    #[serde(skip_serializing_if = "nothing")]
    pub mcp_servers: Vec<AgentServer>,
}

/// Persona is a durable operational role: policy, not merely a prompt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Persona {
    /// Names the resource; it never changes.
    pub id: String,
    /// The kind of resource.
    pub object: String,
    /// When it was made.
    pub created_at: Time,
    /// When it last changed.
    pub updated_at: Time,
    /// The client's own: any object; {} if there is none.
    pub metadata: Json,
    /// The member `name`.
    pub name: String,
    /// Of its policy: a change is a new version.
    pub version: String,
    /// What runs its Tasks: PLUGIN, or PLUGIN#EXPORT.
    pub entry_workflow: String,
    /// The member `description`.
    pub description: String,
    /// How far its Tasks may act by themselves.
    pub autonomy_tier: AutonomyTier,
    /// Whether its Tasks get receipts.
    pub receipt_policy: ReceiptPolicy,
    /// `tools` and `capabilities` are patterns of what Tasks of the Persona may use: tools as
    /// SERVER:TOOL, and host calls. * stands for any characters.
    pub tools: Vec<String>,
    /// The member `capabilities`.
    pub capabilities: Vec<String>,
    /// `tools_denied` are patterns as those of `tools`: of what its Tasks may not use, whatever
    /// `tools` says.
    #[serde(skip_serializing_if = "nothing")]
    pub tools_denied: Vec<String>,
    /// `handoffs` are patterns of the Personas that its Tasks may hand work to; nil for all.
    #[serde(skip_serializing_if = "nothing")]
    pub handoffs: Vec<String>,
    /// Kept, and without effect.
    #[serde(skip_serializing_if = "nothing")]
    pub triggers: Vec<Json>,
    /// Kept, and without effect.
    #[serde(skip_serializing_if = "nothing")]
    pub schedules: Vec<Json>,
    /// Kept, and without effect.
    #[serde(skip_serializing_if = "nothing")]
    pub context_packs: Vec<String>,
    /// Kept, and without effect.
    #[serde(skip_serializing_if = "nothing")]
    pub evals: Vec<String>,
    /// The member `owner`.
    #[serde(skip_serializing_if = "nothing")]
    pub owner: String,
    /// The member `model_policy`.
    #[serde(skip_serializing_if = "nothing")]
    pub model_policy: Option<ModelPolicy>,
    /// Kept, and without effect.
    #[serde(skip_serializing_if = "nothing")]
    pub rollout_policy: Option<Json>,
    /// A Quota that bounds its Tasks.
    #[serde(skip_serializing_if = "nothing")]
    pub quota_id: String,
    /// `budget` bounds each Task of the Persona, and `approvals` says how its Tasks' writes are
    /// approved. Both are Wharf's own.
    #[serde(skip_serializing_if = "nothing")]
    pub budget: Option<Budget>,
    /// The member `approvals`.
    #[serde(skip_serializing_if = "nothing")]
    pub approvals: Option<ApprovalPolicy>,
    /// `tools_visibility` is Wharf's own: what keys without events:internal see of its tool calls.
    #[serde(skip_serializing_if = "nothing")]
    pub tools_visibility: ToolsVisibility,
    /// Since then no new Task or Session may name it.
    #[serde(skip_serializing_if = "nothing")]
    pub retired_at: Time,
    /// The Workspace that alone sees and uses it, for ever; none: the whole tenant.
    #[serde(skip_serializing_if = "nothing")]
    pub workspace_id: String,
    /// What makes it an agent of its own.
    #[serde(skip_serializing_if = "nothing")]
    pub agent: Option<Agent>,
    /// Set on one that was deleted: no read shows it any more.
    #[serde(skip_serializing_if = "nothing")]
    pub deleted_at: Time,
    /// `within` are the rights of the agents whose subagent it is, of its parent first, as they
    /// were when a Task of it began: what one of them may not do, that Task may not. It is in what
    /// Tasks are pinned to alone.
    #[serde(skip_serializing_if = "nothing")]
    pub within: Vec<Rights>,
}

/// InputSkill is a skill as a plugin is told of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct InputSkill {
    /// The member `name`.
    pub name: String,
    /// The member `description`.
    pub description: String,
    /// The member `version`.
    pub version: String,
    /// What its SKILL.md says of when to use it, and which tools it asks for.
    #[serde(skip_serializing_if = "nothing")]
    pub when_to_use: String,
    /// The member `paths`.
    #[serde(skip_serializing_if = "nothing")]
    pub paths: Vec<String>,
    /// The member `allowed_tools`.
    #[serde(skip_serializing_if = "nothing")]
    pub allowed_tools: Vec<String>,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct InputAnswer {
    /// As it was accepted; Task.Input holds what was submitted.
    pub task: Task,
    /// The member `persona`.
    pub persona: Persona,
    /// The member `session_id`.
    pub session_id: String,
    /// `skills` are those that the `task` has, as they were when it started. Their files are read
    /// by CallSkillRead.
    #[serde(skip_serializing_if = "nothing")]
    pub skills: Vec<InputSkill>,
}

/// With `failure` set the Task fails, whatever the export returns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OutputRequest {
    /// The member `summary`.
    pub summary: String,
    /// The member `metrics`.
    #[serde(serialize_with = "numbers", skip_serializing_if = "nothing")]
    pub metrics: BTreeMap<String, f64>,
    /// The member `failure`.
    #[serde(skip_serializing_if = "nothing")]
    pub failure: Option<Failure>,
    /// `stopped` says that the Task ends before its work is done, and not because it has failed.
    /// Then `handoff`, an object, says how things stand for whoever goes on.
    #[serde(skip_serializing_if = "nothing")]
    pub stopped: bool,
    /// The member `handoff`.
    #[serde(skip_serializing_if = "nothing")]
    pub handoff: Option<Json>,
    /// `stop_reason` says why the model has stopped whose answer the summary is of: StopLength if
    /// it was cut off. Absent: nothing is said.
    #[serde(skip_serializing_if = "nothing")]
    pub stop_reason: StopReason,
}

/// In every request, call_id is what an override key calls this call; it is to be unique among the
/// Task's calls of that kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Label {
    /// The member `call_id`.
    #[serde(skip_serializing_if = "nothing")]
    pub call_id: String,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClockAnswer {
    /// A decimal string.
    pub unix_nano: String,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct IDAnswer {
    /// The member `id`.
    pub id: String,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LogRequest {
    /// Debug, info, warn or error.
    pub level: String,
    /// The member `message`.
    pub message: String,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProgressRequest {
    /// 0 to 1.
    #[serde(serialize_with = "number")]
    pub fraction: f64,
    /// The member `message`.
    #[serde(skip_serializing_if = "nothing")]
    pub message: String,
}

/// PlanStep is one step of a plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlanStep {
    /// The member `title`.
    pub title: String,
    /// Pending, in_progress, completed or skipped.
    pub status: String,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlanRequest {
    /// The member `steps`.
    pub steps: Vec<PlanStep>,
}

/// `data` is an object with the members that the kind has, and no others (docs/events.md).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentEventRequest {
    /// The member `kind`.
    pub kind: AgentEventKind,
    /// The member `data`.
    pub data: Json,
}

/// PlannedStep is one step of a Plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlannedStep {
    /// Unique in its plan; the host makes one where there is none.
    #[serde(skip_serializing_if = "nothing")]
    pub id: String,
    /// What is to be done.
    pub content: String,
    /// The member `status`.
    pub status: StepStatus,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlanSetRequest {
    /// The member `steps`.
    pub steps: Vec<PlannedStep>,
    /// `version` is that of the plan which is to be replaced, 0 for none; left out for whatever is
    /// there. When somebody has changed it meanwhile, nothing happens, and the call is refused with
    /// the code plan_changed.
    #[serde(skip_serializing_if = "nothing")]
    pub version: Option<i64>,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlanAnswer {
    /// 0 for no plan.
    pub version: i64,
    /// The actor of the last change.
    #[serde(skip_serializing_if = "nothing")]
    pub changed_by: String,
    /// Each with its id.
    pub steps: Vec<PlannedStep>,
    /// Whether the Persona's tier has held the call back: then the rest is empty.
    #[serde(skip)]
    pub withheld: Option<crate::Withheld>,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlanGetRequest {
    /// The member `call_id`.
    #[serde(skip_serializing_if = "nothing")]
    pub call_id: String,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct InboxTakeRequest {
    /// The member `call_id`.
    #[serde(skip_serializing_if = "nothing")]
    pub call_id: String,
    /// The member `checkpoint`.
    pub checkpoint: Checkpoint,
    /// `wait` parks the Task until something is there, at the longest so many milliseconds; 0 for
    /// as long as the Task may live.
    #[serde(skip_serializing_if = "nothing")]
    pub wait: bool,
    /// The member `timeout_ms`.
    #[serde(skip_serializing_if = "nothing")]
    pub timeout_ms: i64,
}

/// Part is one block of a Message. Which members are set follows from `type`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Part {
    /// The member `type`.
    pub r#type: PartType,
    /// The member `text`.
    #[serde(skip_serializing_if = "nothing")]
    pub text: Option<String>,
    /// The member `value`.
    #[serde(skip_serializing_if = "nothing")]
    pub value: Option<Json>,
    /// Joins a call and its result.
    #[serde(skip_serializing_if = "nothing")]
    pub tool_call_id: String,
    /// The member `name`.
    #[serde(skip_serializing_if = "nothing")]
    pub name: String,
    /// The member `input`.
    #[serde(skip_serializing_if = "nothing")]
    pub input: Option<Json>,
    /// The member `output`.
    #[serde(skip_serializing_if = "nothing")]
    pub output: Option<Json>,
    /// Of a tool_result: ok or error.
    #[serde(skip_serializing_if = "nothing")]
    pub status: String,
    /// The member `artifact_id`.
    #[serde(skip_serializing_if = "nothing")]
    pub artifact_id: String,
    /// Where the file is.
    #[serde(skip_serializing_if = "nothing")]
    pub uri: String,
    /// Of the file or image.
    #[serde(skip_serializing_if = "nothing")]
    pub mime_type: String,
    /// The member `visibility`.
    pub visibility: Visibility,
    /// `redacted` marks a part whose content was withheld from this reader.
    #[serde(skip_serializing_if = "nothing")]
    pub redacted: bool,
}

/// Message is one turn of a Session's transcript. Where it is shown to clients it has the member
/// workspace_id too.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Message {
    /// Names the resource; it never changes.
    pub id: String,
    /// The kind of resource.
    pub object: String,
    /// When it was made.
    pub created_at: Time,
    /// When it last changed.
    pub updated_at: Time,
    /// The client's own: any object; {} if there is none.
    pub metadata: Json,
    /// Who speaks.
    pub role: Role,
    /// The content, in its order.
    pub parts: Vec<Part>,
    /// The member `session_id`.
    #[serde(skip_serializing_if = "nothing")]
    pub session_id: String,
    /// The member `task_id`.
    #[serde(skip_serializing_if = "nothing")]
    pub task_id: String,
}

/// TakenReminder is a reminder that is to be shown to a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TakenReminder {
    /// The member `reminder_id`.
    pub reminder_id: String,
    /// The member `tags`.
    #[serde(skip_serializing_if = "nothing")]
    pub tags: Vec<String>,
    /// The member `body`.
    pub body: String,
    /// The member `role_hint`.
    pub role_hint: ReminderRole,
    /// System, or user.
    pub rendered_role: ReminderRole,
    /// The member `source`.
    pub source: String,
    /// The member `ttl_turns`.
    pub ttl_turns: i64,
    /// The member `_meta`.
    #[serde(rename = "_meta", skip_serializing_if = "nothing")]
    pub meta: BTreeMap<String, Json>,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct InboxTakeAnswer {
    /// As the transcript has them.
    pub messages: Vec<Message>,
    /// The member `reminders`.
    pub reminders: Vec<TakenReminder>,
    /// `woken` says why a call that waited brings nothing.
    #[serde(skip_serializing_if = "nothing")]
    pub woken: InboxWoken,
}

/// MessageInput is a Message as a client writes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MessageInput {
    /// Who speaks.
    pub role: Role,
    /// The content, in its order.
    pub parts: Vec<Part>,
    /// The member `metadata`.
    #[serde(skip_serializing_if = "nothing")]
    pub metadata: Option<Json>,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MessageAppendAnswer {
    /// The member `message_id`.
    pub message_id: String,
    /// Whether the Persona's tier has held the call back: then the rest is empty.
    #[serde(skip)]
    pub withheld: Option<crate::Withheld>,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MessageDeltaRequest {
    /// The member `text`.
    pub text: String,
}

/// `last` asks for the newest so many Messages; 0 for 50.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TranscriptReadRequest {
    /// The member `call_id`.
    #[serde(skip_serializing_if = "nothing")]
    pub call_id: String,
    /// The member `last`.
    #[serde(skip_serializing_if = "nothing")]
    pub last: i64,
}

/// `earlier` says that there are `messages` before these. `unreadable` has the ids of those that
/// are left out, for what is stored of them cannot be read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TranscriptReadAnswer {
    /// The member `messages`.
    pub messages: Vec<Message>,
    /// The member `earlier`.
    #[serde(skip_serializing_if = "nothing")]
    pub earlier: bool,
    /// The member `unreadable`.
    #[serde(skip_serializing_if = "nothing")]
    pub unreadable: Vec<String>,
}

/// ModelToolCall is a model's wish to have a tool called.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelToolCall {
    /// The member `id`.
    pub id: String,
    /// The member `name`.
    pub name: String,
    /// A JSON object.
    pub arguments: Json,
}

/// ModelMessage is one message of a conversation with a model. `role` is user, assistant or tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelMessage {
    /// The member `role`.
    pub role: String,
    /// The member `text`.
    #[serde(skip_serializing_if = "nothing")]
    pub text: String,
    /// Of an assistant.
    #[serde(skip_serializing_if = "nothing")]
    pub tool_calls: Vec<ModelToolCall>,
    /// `tool_call_id` and `is_error` belong to the role tool: `text` is what the tool answered.
    #[serde(skip_serializing_if = "nothing")]
    pub tool_call_id: String,
    /// The member `is_error`.
    #[serde(skip_serializing_if = "nothing")]
    pub is_error: bool,
}

/// ModelTool is a tool that a model may ask for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelTool {
    /// The member `name`.
    pub name: String,
    /// The member `description`.
    #[serde(skip_serializing_if = "nothing")]
    pub description: String,
    /// The member `input_schema`.
    #[serde(skip_serializing_if = "nothing")]
    pub input_schema: Option<Json>,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelRequest {
    /// The member `call_id`.
    #[serde(skip_serializing_if = "nothing")]
    pub call_id: String,
    /// `model` names a configured model, or is empty for the node's default.
    #[serde(skip_serializing_if = "nothing")]
    pub model: String,
    /// The member `system`.
    #[serde(skip_serializing_if = "nothing")]
    pub system: String,
    /// The member `messages`.
    pub messages: Vec<ModelMessage>,
    /// The member `tools`.
    #[serde(skip_serializing_if = "nothing")]
    pub tools: Vec<ModelTool>,
    /// Auto (default), none, any, or a tool's name.
    #[serde(skip_serializing_if = "nothing")]
    pub tool_choice: String,
    /// The member `max_tokens`.
    #[serde(skip_serializing_if = "nothing")]
    pub max_tokens: i64,
    /// The member `temperature`.
    #[serde(serialize_with = "some_number", skip_serializing_if = "nothing")]
    pub temperature: Option<f64>,
    /// The member `stop`.
    #[serde(skip_serializing_if = "nothing")]
    pub stop: Vec<String>,
    /// `stream` tells watchers the text as it comes, as message deltas. The answer is the same.
    #[serde(skip_serializing_if = "nothing")]
    pub stream: bool,
}

/// ModelUsage counts tokens.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelUsage {
    /// The member `input_tokens`.
    pub input_tokens: i64,
    /// The member `output_tokens`.
    pub output_tokens: i64,
}

/// ModelConsidered is a model that was not used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelConsidered {
    /// The member `provider`.
    pub provider: String,
    /// The member `model`.
    pub model: String,
    /// The member `reason`.
    pub reason: String,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelAnswer {
    /// Openai, anthropic, script or client.
    pub provider: String,
    /// As the provider names it.
    pub model: String,
    /// The member `text`.
    pub text: String,
    /// The member `tool_calls`.
    #[serde(skip_serializing_if = "nothing")]
    pub tool_calls: Vec<ModelToolCall>,
    /// The member `stop_reason`.
    pub stop_reason: StopReason,
    /// The member `usage`.
    pub usage: ModelUsage,
    /// `cost` is in `currency`, from the node's price table; 0 when it has no price.
    #[serde(serialize_with = "number")]
    pub cost: f64,
    /// The member `currency`.
    pub currency: String,
    /// `route` says why this model was taken, and `considered` which others were configured for the
    /// same name and were tried or passed over before.
    pub route: String,
    /// The member `considered`.
    #[serde(skip_serializing_if = "nothing")]
    pub considered: Vec<ModelConsidered>,
}

/// An empty `server` lists those of all.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolListRequest {
    /// The member `call_id`.
    #[serde(skip_serializing_if = "nothing")]
    pub call_id: String,
    /// The member `server`.
    #[serde(skip_serializing_if = "nothing")]
    pub server: String,
}

/// Tool describes a tool that a plugin may call. The hints are what the tool says of itself (Model
/// Context Protocol, tool annotations).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tool {
    /// The member `server`.
    pub server: String,
    /// The member `name`.
    pub name: String,
    /// The member `description`.
    #[serde(skip_serializing_if = "nothing")]
    pub description: String,
    /// The member `input_schema`.
    #[serde(skip_serializing_if = "nothing")]
    pub input_schema: Option<Json>,
    /// The member `read_only`.
    #[serde(skip_serializing_if = "nothing")]
    pub read_only: bool,
    /// The member `idempotent`.
    #[serde(skip_serializing_if = "nothing")]
    pub idempotent: bool,
    /// The member `destructive`.
    #[serde(skip_serializing_if = "nothing")]
    pub destructive: bool,
    /// It reaches what is not its server's own.
    #[serde(skip_serializing_if = "nothing")]
    pub open_world: bool,
    /// Whoever offers it would rather have another called.
    #[serde(skip_serializing_if = "nothing")]
    pub deprecated: bool,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolListAnswer {
    /// The member `tools`.
    pub tools: Vec<Tool>,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolCallRequest {
    /// The member `call_id`.
    #[serde(skip_serializing_if = "nothing")]
    pub call_id: String,
    /// The member `server`.
    pub server: String,
    /// The member `name`.
    pub name: String,
    /// A JSON object.
    #[serde(skip_serializing_if = "nothing")]
    pub arguments: Option<Json>,
    /// `composition_id` is that of the composition which the call is a child of. The one that is
    /// open has all calls as its children, named or not: a call that names another is refused.
    #[serde(skip_serializing_if = "nothing")]
    pub composition_id: String,
}

/// ToolContent is one block of a tool's answer. `type` is text, image, audio or resource.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolContent {
    /// The member `type`.
    pub r#type: String,
    /// The member `text`.
    #[serde(skip_serializing_if = "nothing")]
    pub text: String,
    /// Base64.
    #[serde(skip_serializing_if = "nothing")]
    pub data: Bytes,
    /// The member `mime_type`.
    #[serde(skip_serializing_if = "nothing")]
    pub mime_type: String,
    /// The member `uri`.
    #[serde(skip_serializing_if = "nothing")]
    pub uri: String,
}

/// A tool that failed by its own word answers with `is_error`; the call itself is then still `ok`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolCallAnswer {
    /// The member `content`.
    pub content: Vec<ToolContent>,
    /// The member `structured`.
    #[serde(skip_serializing_if = "nothing")]
    pub structured: Option<Json>,
    /// The member `is_error`.
    #[serde(skip_serializing_if = "nothing")]
    pub is_error: bool,
    /// Whether the Persona's tier has held the call back: then the rest is empty.
    #[serde(skip)]
    pub withheld: Option<crate::Withheld>,
}

/// No `kind` is KindResource.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ResourceListRequest {
    /// The member `call_id`.
    #[serde(skip_serializing_if = "nothing")]
    pub call_id: String,
    /// The member `server`.
    pub server: String,
    /// The member `kind`.
    #[serde(skip_serializing_if = "nothing")]
    pub kind: ResourceKind,
}

/// Resource describes a resource of a server of tools: what its `uri` names can be read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Resource {
    /// The member `uri`.
    pub uri: String,
    /// The member `name`.
    pub name: String,
    /// The member `title`.
    #[serde(skip_serializing_if = "nothing")]
    pub title: String,
    /// The member `description`.
    #[serde(skip_serializing_if = "nothing")]
    pub description: String,
    /// The member `mime_type`.
    #[serde(skip_serializing_if = "nothing")]
    pub mime_type: String,
    /// In bytes, when the server says it.
    #[serde(skip_serializing_if = "nothing")]
    pub size: i64,
}

/// ResourceTemplate describes resources whose URIs have a form (RFC 6570).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ResourceTemplate {
    /// The member `uri_template`.
    pub uri_template: String,
    /// The member `name`.
    pub name: String,
    /// The member `title`.
    #[serde(skip_serializing_if = "nothing")]
    pub title: String,
    /// The member `description`.
    #[serde(skip_serializing_if = "nothing")]
    pub description: String,
    /// The member `mime_type`.
    #[serde(skip_serializing_if = "nothing")]
    pub mime_type: String,
}

/// PromptArgument describes an argument of a Prompt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PromptArgument {
    /// The member `name`.
    pub name: String,
    /// The member `title`.
    #[serde(skip_serializing_if = "nothing")]
    pub title: String,
    /// The member `description`.
    #[serde(skip_serializing_if = "nothing")]
    pub description: String,
    /// The member `required`.
    #[serde(skip_serializing_if = "nothing")]
    pub required: bool,
}

/// Prompt describes a prompt of a server of tools.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Prompt {
    /// The member `name`.
    pub name: String,
    /// The member `title`.
    #[serde(skip_serializing_if = "nothing")]
    pub title: String,
    /// The member `description`.
    #[serde(skip_serializing_if = "nothing")]
    pub description: String,
    /// The member `arguments`.
    #[serde(skip_serializing_if = "nothing")]
    pub arguments: Vec<PromptArgument>,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ResourceListAnswer {
    /// The member `resources`.
    #[serde(skip_serializing_if = "nothing")]
    pub resources: Vec<Resource>,
    /// The member `templates`.
    #[serde(skip_serializing_if = "nothing")]
    pub templates: Vec<ResourceTemplate>,
    /// The member `prompts`.
    #[serde(skip_serializing_if = "nothing")]
    pub prompts: Vec<Prompt>,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ResourceReadRequest {
    /// The member `call_id`.
    #[serde(skip_serializing_if = "nothing")]
    pub call_id: String,
    /// The member `server`.
    pub server: String,
    /// The member `uri`.
    pub uri: String,
}

/// ResourceContent is the content of a resource: text, or bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ResourceContent {
    /// The member `uri`.
    pub uri: String,
    /// The member `mime_type`.
    #[serde(skip_serializing_if = "nothing")]
    pub mime_type: String,
    /// The member `text`.
    #[serde(skip_serializing_if = "nothing")]
    pub text: String,
    /// Base64.
    #[serde(skip_serializing_if = "nothing")]
    pub data: Bytes,
}

/// One URI may name several contents.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ResourceReadAnswer {
    /// The member `contents`.
    pub contents: Vec<ResourceContent>,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PromptGetRequest {
    /// The member `call_id`.
    #[serde(skip_serializing_if = "nothing")]
    pub call_id: String,
    /// The member `server`.
    pub server: String,
    /// The member `name`.
    pub name: String,
    /// The member `arguments`.
    #[serde(skip_serializing_if = "nothing")]
    pub arguments: BTreeMap<String, String>,
}

/// PromptMessage is a message of a prompt. `role` is user or assistant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PromptMessage {
    /// The member `role`.
    pub role: String,
    /// The member `content`.
    pub content: ToolContent,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PromptGetAnswer {
    /// The member `description`.
    #[serde(skip_serializing_if = "nothing")]
    pub description: String,
    /// The member `messages`.
    pub messages: Vec<PromptMessage>,
}

/// `header` values and the `url`'s query may hold secret handles ({{secret:NAME}}), which the host
/// replaces.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HTTPFetchRequest {
    /// The member `call_id`.
    #[serde(skip_serializing_if = "nothing")]
    pub call_id: String,
    /// Default GET.
    #[serde(skip_serializing_if = "nothing")]
    pub method: String,
    /// The member `url`.
    pub url: String,
    /// `header` holds one value by name.
    #[serde(skip_serializing_if = "nothing")]
    pub header: BTreeMap<String, String>,
    /// The body as text.
    #[serde(skip_serializing_if = "nothing")]
    pub text: String,
    /// The body as bytes, base64; not with `text`.
    #[serde(skip_serializing_if = "nothing")]
    pub body: Bytes,
    /// `purpose` is what the receipt says that the request was for.
    #[serde(skip_serializing_if = "nothing")]
    pub purpose: String,
    /// `idempotency_header` names the header by which the target recognizes a repeated write, such
    /// as Idempotency-Key. The host fills it in, and repeats the request after a crash. Without it,
    /// such a write is answered with `indeterminate`.
    #[serde(skip_serializing_if = "nothing")]
    pub idempotency_header: String,
    /// The member `timeout_ms`.
    #[serde(skip_serializing_if = "nothing")]
    pub timeout_ms: i64,
}

/// A status of 400 and more is an answer, not a failed call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HTTPFetchAnswer {
    /// The member `status`.
    pub status: i64,
    /// After redirects, without secrets.
    pub url: String,
    /// The member `header`.
    pub header: BTreeMap<String, String>,
    /// The body, when it is UTF-8.
    #[serde(skip_serializing_if = "nothing")]
    pub text: String,
    /// The body otherwise, base64.
    #[serde(skip_serializing_if = "nothing")]
    pub body: Bytes,
    /// Body bytes of the request.
    pub bytes_sent: i64,
    /// Whether the Persona's tier has held the call back: then the rest is empty.
    #[serde(skip)]
    pub withheld: Option<crate::Withheld>,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SecretUseRequest {
    /// The member `name`.
    pub name: String,
}

/// `handle` is what to write where the secret belongs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SecretUseAnswer {
    /// The member `handle`.
    pub handle: String,
}

/// A Memory is found when it holds every word of `text`, in any letter case; an empty `text` finds
/// all.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryQueryRequest {
    /// The member `call_id`.
    #[serde(skip_serializing_if = "nothing")]
    pub call_id: String,
    /// The member `scope`.
    pub scope: MemoryScope,
    /// The member `text`.
    #[serde(skip_serializing_if = "nothing")]
    pub text: String,
    /// 1 to 100; default 10.
    #[serde(skip_serializing_if = "nothing")]
    pub limit: i64,
}

/// Memory is durable knowledge, apart from transcripts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// Names the resource; it never changes.
    pub id: String,
    /// The kind of resource.
    pub object: String,
    /// When it was made.
    pub created_at: Time,
    /// When it last changed.
    pub updated_at: Time,
    /// The client's own: any object; {} if there is none.
    pub metadata: Json,
    /// The member `scope`.
    pub scope: MemoryScope,
    /// The member `owner_id`.
    pub owner_id: String,
    /// A string or an object; null when it is redacted.
    pub content: Json,
    /// The member `provenance`.
    pub provenance: Json,
    /// The member `expires_at`.
    #[serde(skip_serializing_if = "nothing")]
    pub expires_at: Time,
    /// The member `visibility`.
    #[serde(skip_serializing_if = "nothing")]
    pub visibility: Visibility,
    /// The member `confidence`.
    #[serde(serialize_with = "number", skip_serializing_if = "nothing")]
    pub confidence: f64,
    /// The client's own: Wharf keeps it.
    #[serde(skip_serializing_if = "nothing")]
    pub redaction_policy: Option<Json>,
    /// The client's own: Wharf keeps it.
    #[serde(skip_serializing_if = "nothing")]
    pub embedding_ref: String,
    /// `redacted_at` is set when the content was redacted.
    #[serde(skip_serializing_if = "nothing")]
    pub redacted_at: Time,
    /// The member `workspace_id`.
    #[serde(skip_serializing_if = "nothing")]
    pub workspace_id: String,
    /// The member `session_id`.
    #[serde(skip_serializing_if = "nothing")]
    pub session_id: String,
}

/// `unreadable` has the ids of `memories` that are left out, for what is stored of them cannot be
/// read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryQueryAnswer {
    /// The member `memories`.
    pub memories: Vec<Memory>,
    /// The member `unreadable`.
    #[serde(skip_serializing_if = "nothing")]
    pub unreadable: Vec<String>,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryWriteRequest {
    /// The member `scope`.
    pub scope: MemoryScope,
    /// A string or an object.
    pub content: Json,
    /// `expires_in_seconds` is how long the Memory lives; 0 for ever.
    #[serde(serialize_with = "number", skip_serializing_if = "nothing")]
    pub expires_in_seconds: f64,
    /// Default internal.
    #[serde(skip_serializing_if = "nothing")]
    pub visibility: Visibility,
    /// 0 to 1.
    #[serde(serialize_with = "number", skip_serializing_if = "nothing")]
    pub confidence: f64,
    /// The member `metadata`.
    #[serde(skip_serializing_if = "nothing")]
    pub metadata: Option<Json>,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryWriteAnswer {
    /// The member `memory_id`.
    pub memory_id: String,
    /// Whether the Persona's tier has held the call back: then the rest is empty.
    #[serde(skip)]
    pub withheld: Option<crate::Withheld>,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BlockListRequest {
    /// The member `call_id`.
    #[serde(skip_serializing_if = "nothing")]
    pub call_id: String,
}

/// CallBlock is a block of memory, as a plugin is told of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Block {
    /// The member `label`.
    pub label: String,
    /// The member `value`.
    pub value: String,
    /// The member `read_only`.
    pub read_only: bool,
    /// The member `version`.
    pub version: i64,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BlockListAnswer {
    /// Counts the changes of all blocks; 0 before the first.
    pub version: i64,
    /// In order of label.
    pub blocks: Vec<Block>,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BlockWriteRequest {
    /// Of the block, which is made if there is none.
    pub label: String,
    /// The member `value`.
    pub value: String,
    /// `append` puts value below what the block has, on a line of its own, instead of in its place.
    #[serde(skip_serializing_if = "nothing")]
    pub append: bool,
    /// `version` is that of the block which is to be changed, 0 for none; left out for whatever is
    /// there. When somebody has changed it meanwhile, nothing happens, and the call is refused with
    /// the code block_changed.
    #[serde(skip_serializing_if = "nothing")]
    pub version: Option<i64>,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BlockWriteAnswer {
    /// The member `label`.
    pub label: String,
    /// The member `version`.
    pub version: i64,
    /// Of its value.
    pub characters: i64,
    /// Whether the Persona's tier has held the call back: then the rest is empty.
    #[serde(skip)]
    pub withheld: Option<crate::Withheld>,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArtifactPutRequest {
    /// The member `kind`.
    pub kind: ArtifactKind,
    /// The member `mime_type`.
    pub mime_type: String,
    /// Default public.
    #[serde(skip_serializing_if = "nothing")]
    pub visibility: Visibility,
    /// The member `name`.
    #[serde(skip_serializing_if = "nothing")]
    pub name: String,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArtifactPutAnswer {
    /// The member `artifact_id`.
    pub artifact_id: String,
    /// Bare hex.
    pub sha256: String,
    /// Whether the Persona's tier has held the call back: then the rest is empty.
    #[serde(skip)]
    pub withheld: Option<crate::Withheld>,
}

/// A `length` of 0 reads to the end, as far as the payload limit goes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArtifactGetRequest {
    /// The member `call_id`.
    #[serde(skip_serializing_if = "nothing")]
    pub call_id: String,
    /// The member `artifact_id`.
    pub artifact_id: String,
    /// The member `offset`.
    #[serde(skip_serializing_if = "nothing")]
    pub offset: i64,
    /// The member `length`.
    #[serde(skip_serializing_if = "nothing")]
    pub length: i64,
}

/// A `length` of 0 reads to the end, as far as one call goes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileReadRequest {
    /// The member `call_id`.
    #[serde(skip_serializing_if = "nothing")]
    pub call_id: String,
    /// Names separated by /, relative to the Workspace.
    pub path: String,
    /// The member `offset`.
    #[serde(skip_serializing_if = "nothing")]
    pub offset: i64,
    /// The member `length`.
    #[serde(skip_serializing_if = "nothing")]
    pub length: i64,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileReadAnswer {
    /// The member `path`.
    pub path: String,
    /// Of what was read.
    #[serde(skip_serializing_if = "nothing")]
    pub offset: i64,
    /// Of the whole file.
    pub size: i64,
    /// Of the whole file, bare hex; left out of one of more than 8 MiB.
    #[serde(skip_serializing_if = "nothing")]
    pub sha256: String,
    /// The member `updated_at`.
    pub updated_at: Time,
    /// What was read, when it is UTF-8.
    #[serde(skip_serializing_if = "nothing")]
    pub text: String,
    /// What was read otherwise, base64.
    #[serde(skip_serializing_if = "nothing")]
    pub body: Bytes,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileWriteRequest {
    /// The member `path`.
    pub path: String,
    /// The content as text.
    #[serde(skip_serializing_if = "nothing")]
    pub text: String,
    /// The content as bytes, base64; not with `text`.
    #[serde(skip_serializing_if = "nothing")]
    pub body: Bytes,
    /// The member `mode`.
    #[serde(skip_serializing_if = "nothing")]
    pub mode: FileMode,
    /// `sha256` is what the file must have before, bare hex; another file, or none, is left as it
    /// is, and the call is answered with `invalid` and the code conflict.
    #[serde(skip_serializing_if = "nothing")]
    pub sha256: String,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileWriteAnswer {
    /// The member `path`.
    pub path: String,
    /// The member `size`.
    pub size: i64,
    /// Bare hex.
    pub sha256: String,
    /// What was there before; "" when the file is new.
    #[serde(skip_serializing_if = "nothing")]
    pub before_sha256: String,
    /// Whether the Persona's tier has held the call back: then the rest is empty.
    #[serde(skip)]
    pub withheld: Option<crate::Withheld>,
}

/// `old` is what the file has, and exactly so: once, unless `all` is set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileEditRequest {
    /// The member `path`.
    pub path: String,
    /// The member `old`.
    pub old: String,
    /// What comes in its place; "" takes it away.
    pub new: String,
    /// The member `all`.
    #[serde(skip_serializing_if = "nothing")]
    pub all: bool,
    /// `sha256` is what the file must have before, as in CallFileWriteRequest.
    #[serde(skip_serializing_if = "nothing")]
    pub sha256: String,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileEditAnswer {
    /// The member `path`.
    pub path: String,
    /// The member `size`.
    pub size: i64,
    /// Bare hex.
    pub sha256: String,
    /// The member `before_sha256`.
    pub before_sha256: String,
    /// How often Old was there.
    pub replaced: i64,
    /// Whether the Persona's tier has held the call back: then the rest is empty.
    #[serde(skip)]
    pub withheld: Option<crate::Withheld>,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileListRequest {
    /// The member `call_id`.
    #[serde(skip_serializing_if = "nothing")]
    pub call_id: String,
    /// Of the folder; "" for the Workspace.
    #[serde(skip_serializing_if = "nothing")]
    pub path: String,
    /// All files below it, and no folders.
    #[serde(skip_serializing_if = "nothing")]
    pub recursive: bool,
    /// The next of the answer before.
    #[serde(skip_serializing_if = "nothing")]
    pub after: String,
    /// 1 to 1,000; default 100.
    #[serde(skip_serializing_if = "nothing")]
    pub limit: i64,
}

/// FileEntry is a file or folder in a list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileEntry {
    /// Within the Workspace.
    pub path: String,
    /// The member `folder`.
    #[serde(skip_serializing_if = "nothing")]
    pub folder: bool,
    /// The member `size`.
    #[serde(skip_serializing_if = "nothing")]
    pub size: i64,
    /// Of a file.
    #[serde(skip_serializing_if = "nothing")]
    pub updated_at: Time,
}

/// `next` is set when there is more.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileListAnswer {
    /// The member `entries`.
    pub entries: Vec<FileEntry>,
    /// The member `next`.
    #[serde(skip_serializing_if = "nothing")]
    pub next: String,
}

/// `sha256` is what the file must have, as in CallFileWriteRequest. `recursive` lets `path` be a
/// folder, which is removed with all that is in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileRemoveRequest {
    /// The member `path`.
    pub path: String,
    /// The member `sha256`.
    #[serde(skip_serializing_if = "nothing")]
    pub sha256: String,
    /// The member `recursive`.
    #[serde(skip_serializing_if = "nothing")]
    pub recursive: bool,
}

/// RemovedFile is a file that was removed with its folder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RemovedFile {
    /// The member `path`.
    pub path: String,
    /// Bare hex.
    pub before_sha256: String,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileRemoveAnswer {
    /// The member `path`.
    pub path: String,
    /// What was removed, bare hex; "" of a folder.
    pub before_sha256: String,
    /// Of a folder: the files that were in it.
    #[serde(skip_serializing_if = "nothing")]
    pub removed: Vec<RemovedFile>,
    /// Whether the Persona's tier has held the call back: then the rest is empty.
    #[serde(skip)]
    pub withheld: Option<crate::Withheld>,
}

/// Of `text` and `pattern` at most one is set; without either, what is found are the files that
/// `glob` names.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileSearchRequest {
    /// The member `call_id`.
    #[serde(skip_serializing_if = "nothing")]
    pub call_id: String,
    /// Of the folder to search; "" for the Workspace.
    #[serde(skip_serializing_if = "nothing")]
    pub path: String,
    /// `glob` is what the path below that folder must match: * and ? within a name, \[a-z\], and **
    /// for any number of folders. Without a / it is matched with the file's name.
    #[serde(skip_serializing_if = "nothing")]
    pub glob: String,
    /// The member `text`.
    #[serde(skip_serializing_if = "nothing")]
    pub text: String,
    /// A regular expression (RE2), matched with each line.
    #[serde(skip_serializing_if = "nothing")]
    pub pattern: String,
    /// The member `ignore_case`.
    #[serde(skip_serializing_if = "nothing")]
    pub ignore_case: bool,
    /// The next of the answer before.
    #[serde(skip_serializing_if = "nothing")]
    pub after: String,
    /// 1 to 1,000; default 100.
    #[serde(skip_serializing_if = "nothing")]
    pub limit: i64,
}

/// FileMatch is a line of a file, or a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileMatch {
    /// The member `path`.
    pub path: String,
    /// From 1; 0 for a file that only its name was asked of.
    #[serde(skip_serializing_if = "nothing")]
    pub line: i64,
    /// The line, at most 1,000 bytes of it.
    #[serde(skip_serializing_if = "nothing")]
    pub text: String,
}

/// `next` is set when the search is not over; it may be so when nothing was found yet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileSearchAnswer {
    /// The member `matches`.
    pub matches: Vec<FileMatch>,
    /// The member `next`.
    #[serde(skip_serializing_if = "nothing")]
    pub next: String,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SkillReadRequest {
    /// The member `call_id`.
    #[serde(skip_serializing_if = "nothing")]
    pub call_id: String,
    /// Its name, as the Task was told.
    pub skill: String,
    /// Within the skill; SKILL.md if it is absent.
    #[serde(skip_serializing_if = "nothing")]
    pub path: String,
}

/// SkillManifest is what a client says of a skill that it has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SkillManifest {
    /// The member `when_to_use`.
    #[serde(skip_serializing_if = "nothing")]
    pub when_to_use: String,
    /// The member `allowed_tools`.
    #[serde(skip_serializing_if = "nothing")]
    pub allowed_tools: Vec<String>,
    /// Patterns of the files that it is for.
    #[serde(skip_serializing_if = "nothing")]
    pub paths: Vec<String>,
    /// The member `model`.
    #[serde(skip_serializing_if = "nothing")]
    pub model: String,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SkillReadAnswer {
    /// The member `skill`.
    pub skill: String,
    /// The member `version`.
    pub version: String,
    /// The member `path`.
    pub path: String,
    /// The member `text`.
    pub text: String,
    /// With SKILL.md: the paths of the other files.
    #[serde(skip_serializing_if = "nothing")]
    pub files: Vec<String>,
    /// `manifest` is set for a skill of a client's, which has no version.
    #[serde(skip_serializing_if = "nothing")]
    pub manifest: Option<SkillManifest>,
}

/// SkillCandidate is a skill that is ranked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SkillCandidate {
    /// The member `name`.
    pub name: String,
    /// The member `description`.
    #[serde(skip_serializing_if = "nothing")]
    pub description: String,
    /// The member `when_to_use`.
    #[serde(skip_serializing_if = "nothing")]
    pub when_to_use: String,
    /// Patterns of the files that it is for; * stands for any characters.
    #[serde(skip_serializing_if = "nothing")]
    pub paths: Vec<String>,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SkillMatchRequest {
    /// The member `call_id`.
    #[serde(skip_serializing_if = "nothing")]
    pub call_id: String,
    /// The member `prompt`.
    pub prompt: String,
    /// The member `working_files`.
    #[serde(skip_serializing_if = "nothing")]
    pub working_files: Vec<String>,
    /// `candidates` are the skills that are ranked; those that the Task has, and those of its
    /// Session's clients, if they are absent.
    #[serde(skip_serializing_if = "nothing")]
    pub candidates: Vec<SkillCandidate>,
    /// Metadata: the node ranks, the default; host, or embedding: a client does, if there is one.
    #[serde(skip_serializing_if = "nothing")]
    pub strategy: String,
}

/// SkillMatch is a skill that fits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SkillMatch {
    /// The member `name`.
    pub name: String,
    /// 0 or more.
    #[serde(serialize_with = "number")]
    pub score: f64,
    /// The member `reason`.
    pub reason: String,
}

/// KnownSkill is a skill that a Task can read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct KnownSkill {
    /// The member `name`.
    pub name: String,
    /// The member `description`.
    #[serde(skip_serializing_if = "nothing")]
    pub description: String,
    /// The member `when_to_use`.
    #[serde(skip_serializing_if = "nothing")]
    pub when_to_use: String,
    /// Patterns of the files that it is for; * stands for any characters.
    #[serde(skip_serializing_if = "nothing")]
    pub paths: Vec<String>,
    /// The member `source`.
    pub source: SkillSource,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SkillMatchAnswer {
    /// The best first.
    pub matches: Vec<SkillMatch>,
    /// The member `by`.
    pub by: MatchedBy,
    /// `skills` are what was ranked, where the request has no candidates.
    #[serde(skip_serializing_if = "nothing")]
    pub skills: Vec<KnownSkill>,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CompositionBeginRequest {
    /// For people.
    #[serde(skip_serializing_if = "nothing")]
    pub name: String,
    /// That the snippet is written in.
    pub language: String,
    /// `snippet_hash` and `manifest_hash` are SHA-256, in hex, of the snippet and of the manifest
    /// of bindings that whoever wrote it was shown.
    pub snippet_hash: String,
    /// The member `manifest_hash`.
    pub manifest_hash: String,
    /// The member `side_effect_ceiling`.
    pub side_effect_ceiling: SideEffectLevel,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CompositionBeginAnswer {
    /// The member `composition_id`.
    pub composition_id: String,
    /// Whether the Persona's tier has held the call back: then the rest is empty.
    #[serde(skip)]
    pub withheld: Option<crate::Withheld>,
}

/// With a `failure_category` the composition has failed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CompositionEndRequest {
    /// The member `composition_id`.
    pub composition_id: String,
    /// The member `stdout`.
    #[serde(skip_serializing_if = "nothing")]
    pub stdout: String,
    /// The member `stderr`.
    #[serde(skip_serializing_if = "nothing")]
    pub stderr: String,
    /// Ids of those that the Task has put.
    #[serde(skip_serializing_if = "nothing")]
    pub artifacts: Vec<String>,
    /// The member `result`.
    #[serde(skip_serializing_if = "nothing")]
    pub result: Option<Json>,
    /// The member `failure_category`.
    #[serde(skip_serializing_if = "nothing")]
    pub failure_category: CompositionFailure,
    /// Of a failure.
    #[serde(skip_serializing_if = "nothing")]
    pub message: String,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StateGetRequest {
    /// The member `call_id`.
    #[serde(skip_serializing_if = "nothing")]
    pub call_id: String,
    /// The member `key`.
    pub key: String,
}

/// `value` is null when nothing is kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StateGetAnswer {
    /// The member `value`.
    pub value: Json,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StateSetRequest {
    /// The member `key`.
    pub key: String,
    /// The member `value`.
    pub value: Json,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SleepRequest {
    /// The member `ms`.
    pub ms: i64,
}

/// Question is one of several that are asked at once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Question {
    /// Names it in the answer: the plugin's own, and no other question's.
    pub key: String,
    /// Default: input.
    #[serde(skip_serializing_if = "nothing")]
    pub kind: PermissionKind,
    /// The member `prompt`.
    #[serde(skip_serializing_if = "nothing")]
    pub prompt: String,
    /// `schema`, of an input, is a JSON Schema of what is wanted: an answer that does not fit it is
    /// not taken.
    #[serde(skip_serializing_if = "nothing")]
    pub schema: Option<Json>,
    /// `params`, of a sampling, are what the model of whoever answers is asked: those of MCP's
    /// sampling/createMessage. The answer is its result, in a json part.
    #[serde(skip_serializing_if = "nothing")]
    pub params: Option<Json>,
    /// Of an authorization: what is to be authorized.
    #[serde(skip_serializing_if = "nothing")]
    pub provider: String,
    /// Of an authorization: where the user does so.
    #[serde(skip_serializing_if = "nothing")]
    pub url: String,
    /// Of an approval: what is to be approved.
    #[serde(skip_serializing_if = "nothing")]
    pub action: String,
    /// `arguments`, `quorum` and `approvers`, of an approval, are as those of approval.request.
    #[serde(skip_serializing_if = "nothing")]
    pub arguments: Option<Json>,
    /// The member `quorum`.
    #[serde(skip_serializing_if = "nothing")]
    pub quorum: i64,
    /// The member `approvers`.
    #[serde(skip_serializing_if = "nothing")]
    pub approvers: Vec<String>,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct InputRequestRequest {
    /// The member `call_id`.
    #[serde(skip_serializing_if = "nothing")]
    pub call_id: String,
    /// Of a single question.
    #[serde(skip_serializing_if = "nothing")]
    pub prompt: String,
    /// `schema` is a JSON Schema of what is wanted: an answer that does not fit it is not taken.
    #[serde(skip_serializing_if = "nothing")]
    pub schema: Option<Json>,
    /// `requests` are several questions, 1 to 16, in the place of `prompt` and `schema`. Each is
    /// answered by itself, and the call when all are settled.
    #[serde(skip_serializing_if = "nothing")]
    pub requests: Vec<Question>,
    /// `timeout_seconds` is how long to wait; then the status is `timeout`. 0: for ever.
    #[serde(serialize_with = "number", skip_serializing_if = "nothing")]
    pub timeout_seconds: f64,
}

/// `decision` is what one actor has decided.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Decision {
    /// The member `actor`.
    pub actor: String,
    /// Approved or denied.
    pub decision: String,
    /// For people.
    #[serde(skip_serializing_if = "nothing")]
    pub reason: String,
    /// Other arguments, when the actor changed them.
    #[serde(skip_serializing_if = "nothing")]
    pub arguments: Option<Json>,
    /// The member `decided_at`.
    pub decided_at: Time,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ApprovalAnswer {
    /// Approved, denied or timeout.
    pub decision: String,
    /// The member `actor`.
    #[serde(skip_serializing_if = "nothing")]
    pub actor: String,
    /// The member `decided_at`.
    pub decided_at: Time,
    /// The member `reason`.
    #[serde(skip_serializing_if = "nothing")]
    pub reason: String,
    /// When an approver changed them.
    #[serde(skip_serializing_if = "nothing")]
    pub arguments: Option<Json>,
    /// `decisions` lists all that were taken, in their order, when there was not just the one
    /// above.
    #[serde(skip_serializing_if = "nothing")]
    pub decisions: Vec<Decision>,
    /// `quorum` and `approved_by` are set when more than one had to approve, and did.
    #[serde(skip_serializing_if = "nothing")]
    pub quorum: i64,
    /// The member `approved_by`.
    #[serde(skip_serializing_if = "nothing")]
    pub approved_by: Vec<String>,
}

/// QuestionAnswer is what became of one of several questions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct QuestionAnswer {
    /// The member `key`.
    pub key: String,
    /// Answered, approved, denied or timeout.
    pub status: PermissionStatus,
    /// The member `permission_request_id`.
    pub permission_request_id: String,
    /// Who answered, or declined.
    #[serde(skip_serializing_if = "nothing")]
    pub actor: String,
    /// Of one that is no approval and was denied: in which way.
    #[serde(skip_serializing_if = "nothing")]
    pub code: DeclineCode,
    /// Why it was declined.
    #[serde(skip_serializing_if = "nothing")]
    pub reason: String,
    /// What was answered.
    #[serde(skip_serializing_if = "nothing")]
    pub message: Option<Message>,
    /// Of an approval: how it was decided.
    #[serde(skip_serializing_if = "nothing")]
    pub approval: Option<ApprovalAnswer>,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct InputRequestAnswer {
    /// The member `message`.
    #[serde(skip_serializing_if = "nothing")]
    pub message: Option<Message>,
    /// Who answered.
    #[serde(skip_serializing_if = "nothing")]
    pub actor: String,
    /// `answers` are those to several questions, in the order in which they were asked; then there
    /// is nothing else.
    #[serde(skip_serializing_if = "nothing")]
    pub answers: Vec<QuestionAnswer>,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AuthRequestRequest {
    /// The member `call_id`.
    #[serde(skip_serializing_if = "nothing")]
    pub call_id: String,
    /// What is to be authorized.
    pub provider: String,
    /// The member `prompt`.
    pub prompt: String,
    /// Where the user does so.
    #[serde(skip_serializing_if = "nothing")]
    pub url: String,
    /// The member `timeout_seconds`.
    #[serde(serialize_with = "number", skip_serializing_if = "nothing")]
    pub timeout_seconds: f64,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ApprovalRequestRequest {
    /// The member `call_id`.
    #[serde(skip_serializing_if = "nothing")]
    pub call_id: String,
    /// What is to be approved, such as workspace.patch.apply.
    pub action: String,
    /// The member `prompt`.
    pub prompt: String,
    /// The member `arguments`.
    #[serde(skip_serializing_if = "nothing")]
    pub arguments: Option<Json>,
    /// The member `timeout_seconds`.
    #[serde(serialize_with = "number", skip_serializing_if = "nothing")]
    pub timeout_seconds: f64,
    /// `quorum` is how many must approve; 0 is 1. `approvers` are patterns of the actors that may
    /// decide; empty for all. The Persona's policy may ask for more.
    #[serde(skip_serializing_if = "nothing")]
    pub quorum: i64,
    /// The member `approvers`.
    #[serde(skip_serializing_if = "nothing")]
    pub approvers: Vec<String>,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TaskSpawnRequest {
    /// Default: the same.
    #[serde(skip_serializing_if = "nothing")]
    pub persona_id: String,
    /// The member `input`.
    pub input: Json,
    /// The member `metadata`.
    #[serde(skip_serializing_if = "nothing")]
    pub metadata: Option<Json>,
    /// The member `deadline_seconds`.
    #[serde(serialize_with = "number", skip_serializing_if = "nothing")]
    pub deadline_seconds: f64,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TaskSpawnAnswer {
    /// The member `task_id`.
    pub task_id: String,
    /// Whether the Persona's tier has held the call back: then the rest is empty.
    #[serde(skip)]
    pub withheld: Option<crate::Withheld>,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TaskAwaitRequest {
    /// The member `call_id`.
    #[serde(skip_serializing_if = "nothing")]
    pub call_id: String,
    /// The member `task_id`.
    pub task_id: String,
    /// The member `timeout_seconds`.
    #[serde(serialize_with = "number", skip_serializing_if = "nothing")]
    pub timeout_seconds: f64,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TaskAwaitAnswer {
    /// The member `task_id`.
    pub task_id: String,
    /// The member `status`.
    pub status: OutcomeStatus,
    /// The member `summary`.
    pub summary: String,
    /// The member `messages`.
    #[serde(skip_serializing_if = "nothing")]
    pub messages: Vec<Message>,
    /// The member `failure`.
    #[serde(skip_serializing_if = "nothing")]
    pub failure: Option<Failure>,
    /// The member `receipt_id`.
    #[serde(skip_serializing_if = "nothing")]
    pub receipt_id: String,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HandoffRequest {
    /// The member `persona_id`.
    pub persona_id: String,
    /// The member `input`.
    pub input: Json,
    /// The member `reason`.
    #[serde(skip_serializing_if = "nothing")]
    pub reason: String,
}

/// DelegationBudget bounds what an agent outside may use for a piece of work; 0 is no bound.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DelegationBudget {
    /// The member `usd`.
    #[serde(serialize_with = "number", skip_serializing_if = "nothing")]
    pub usd: f64,
    /// The member `tokens`.
    #[serde(skip_serializing_if = "nothing")]
    pub tokens: i64,
    /// The member `seconds`.
    #[serde(serialize_with = "number", skip_serializing_if = "nothing")]
    pub seconds: f64,
    /// The member `tool_calls`.
    #[serde(skip_serializing_if = "nothing")]
    pub tool_calls: i64,
}

/// DelegationPeer says who the agent is, as the node has found it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DelegationPeer {
    /// The member `agent`.
    pub agent: String,
    /// By its card.
    #[serde(skip_serializing_if = "nothing")]
    pub name: String,
    /// Where work is dispatched to.
    pub url: String,
    /// Of the card's canonical JSON, with "sha256:" before it.
    pub card_sha256: String,
}

/// DelegationCheckpoint is what an agent means to do before it is paid for it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DelegationCheckpoint {
    /// `approved` has the work dispatched, once whoever policy asks has approved it. Without it,
    /// the call ends with the checkpoint.
    #[serde(skip_serializing_if = "nothing")]
    pub approved: bool,
    /// `checkpoint_id` is that of the checkpoint that was looked at. When the agent has another one
    /// by then, nothing is dispatched.
    #[serde(skip_serializing_if = "nothing")]
    pub checkpoint_id: String,
    /// `allow_local_fallback` lets `plan` stand in for that of an agent which makes none.
    #[serde(skip_serializing_if = "nothing")]
    pub allow_local_fallback: bool,
    /// The member `plan`.
    #[serde(skip_serializing_if = "nothing")]
    pub plan: Option<Json>,
    /// The rest is the agent's, and the node's. In a request it means nothing.
    #[serde(skip_serializing_if = "nothing")]
    pub expected_scope: Option<Json>,
    /// The member `evidence_refs`.
    #[serde(skip_serializing_if = "nothing")]
    pub evidence_refs: Option<Json>,
    /// The member `metadata`.
    #[serde(skip_serializing_if = "nothing")]
    pub metadata: Option<Json>,
    /// The plan is the plugin's own.
    #[serde(skip_serializing_if = "nothing")]
    pub local: bool,
    /// The member `peer`.
    #[serde(skip_serializing_if = "nothing")]
    pub peer: Option<DelegationPeer>,
}

/// Its budget has at least one bound.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentDelegateRequest {
    /// The member `call_id`.
    #[serde(skip_serializing_if = "nothing")]
    pub call_id: String,
    /// By its name in the configuration.
    pub agent: String,
    /// The member `task`.
    pub task: String,
    /// What may come of it: a text, or any other JSON.
    #[serde(skip_serializing_if = "nothing")]
    pub expected_scope: Option<Json>,
    /// A JSON object.
    #[serde(skip_serializing_if = "nothing")]
    pub context: Option<Json>,
    /// The member `budget`.
    pub budget: DelegationBudget,
    /// `idempotency_key` names this piece of work among those of the plugin in its Workspace, for
    /// good. One follows from the call where it is not given.
    #[serde(skip_serializing_if = "nothing")]
    pub idempotency_key: String,
    /// The member `checkpoint`.
    #[serde(skip_serializing_if = "nothing")]
    pub checkpoint: Option<DelegationCheckpoint>,
}

/// CallError is the answer that comes with any status but `ok`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CallError {
    /// The member `code`.
    pub code: String,
    /// The member `message`.
    pub message: String,
}

/// DelegationArtifact names an Artifact that a delegation has left.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DelegationArtifact {
    /// The member `artifact_id`.
    pub artifact_id: String,
    /// The member `kind`.
    pub kind: ArtifactKind,
    /// The member `sha256`.
    pub sha256: String,
}

/// DelegationHandoff is what came of work that was dispatched: the envelope of
/// ExternalHandoffSchema.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DelegationHandoff {
    /// ExternalHandoffSchema.
    pub schema: String,
    /// DelegationCompleted or DelegationExceeded.
    pub status: DelegationStatus,
    /// The member `peer`.
    pub peer: DelegationPeer,
    /// As the agent was told it.
    pub idempotency_key: String,
    /// Of the task, its scope and its context.
    pub asked_sha256: String,
    /// The member `task_id`.
    #[serde(skip_serializing_if = "nothing")]
    pub task_id: String,
    /// The member `checkpoint`.
    #[serde(skip_serializing_if = "nothing")]
    pub checkpoint: Option<DelegationCheckpoint>,
    /// The member `budget`.
    pub budget: DelegationBudget,
    /// The member `budget_used`.
    pub budget_used: DelegationBudget,
    /// `reported` is what of `budget_used` the agent has said itself. The rest is taken to be what
    /// it was allowed.
    pub reported: Vec<String>,
    /// Members of the budget.
    #[serde(skip_serializing_if = "nothing")]
    pub exceeded: Vec<String>,
    /// The agent says that it had done it before.
    #[serde(skip_serializing_if = "nothing")]
    pub repeated: bool,
    /// What the agent hands over, for review.
    pub handoff: Json,
    /// The patch, where there is one.
    #[serde(skip_serializing_if = "nothing")]
    pub diff: String,
    /// The agent's artifacts.
    #[serde(skip_serializing_if = "nothing")]
    pub outputs: Option<Json>,
    /// The member `receipts`.
    #[serde(skip_serializing_if = "nothing")]
    pub receipts: Option<Json>,
    /// `artifacts` are those of this node: the envelope itself, as the log has it, and the patch.
    #[serde(skip_serializing_if = "nothing")]
    pub artifacts: Vec<DelegationArtifact>,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentDelegateAnswer {
    /// The member `status`.
    pub status: DelegationStatus,
    /// Of a refusal.
    #[serde(skip_serializing_if = "nothing")]
    pub reason: Option<CallError>,
    /// `idempotency_key` is the one to come back with when the checkpoint is approved.
    #[serde(skip_serializing_if = "nothing")]
    pub idempotency_key: String,
    /// The member `peer`.
    #[serde(skip_serializing_if = "nothing")]
    pub peer: Option<DelegationPeer>,
    /// The member `checkpoint`.
    #[serde(skip_serializing_if = "nothing")]
    pub checkpoint: Option<DelegationCheckpoint>,
    /// The member `handoff`.
    #[serde(skip_serializing_if = "nothing")]
    pub handoff: Option<DelegationHandoff>,
    /// Whether the Persona's tier has held the call back: then the rest is empty.
    #[serde(skip)]
    pub withheld: Option<crate::Withheld>,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EventEmitRequest {
    /// The member `kind`.
    pub kind: String,
    /// A JSON object.
    #[serde(skip_serializing_if = "nothing")]
    pub payload: Option<Json>,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConfigGetRequest {
    /// The member `name`.
    pub name: String,
}

/// `value` is null when nothing is configured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConfigGetAnswer {
    /// The member `value`.
    pub value: Json,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HostFactRequest {
    /// The member `name`.
    pub name: String,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HostFactAnswer {
    /// The member `value`.
    pub value: String,
}

/// DedupePolicy says how deliveries that come again are recognized.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DedupePolicy {
    /// `header` is the header with the provider's delivery id; empty: the provider's own.
    #[serde(skip_serializing_if = "nothing")]
    pub header: String,
    /// `window_seconds` is how long ids are remembered; 0 for the default of a week.
    #[serde(skip_serializing_if = "nothing")]
    pub window_seconds: i64,
}

/// WebhookAuth says how deliveries on the public path are checked. `secrets` are named, never
/// stated: they are those of the node's configuration or of a Vault.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WebhookAuth {
    /// Empty: the provider's own.
    #[serde(skip_serializing_if = "nothing")]
    pub scheme: SignatureScheme,
    /// `secrets` are names; a delivery signed with any of them is taken, so that a secret can be
    /// changed without a gap.
    #[serde(skip_serializing_if = "nothing")]
    pub secrets: Vec<String>,
    /// Where they are; empty: the node's own.
    #[serde(skip_serializing_if = "nothing")]
    pub vault_id: String,
    /// `tolerance_seconds` is how far a timestamp may be from now; 0 for 5 minutes.
    #[serde(skip_serializing_if = "nothing")]
    pub tolerance_seconds: i64,
    /// Of hmac: the header with the signature.
    #[serde(skip_serializing_if = "nothing")]
    pub header: String,
    /// Of hmac: sha256 or sha512.
    #[serde(skip_serializing_if = "nothing")]
    pub hash: String,
    /// Of hmac: the signature's, hex or base64.
    #[serde(skip_serializing_if = "nothing")]
    pub encoding: String,
    /// Of hmac: what stands before the signature.
    #[serde(skip_serializing_if = "nothing")]
    pub prefix: String,
    /// `timestamp_header` is the header with the time in seconds, of hmac; then "TIME.BODY" is
    /// signed, and else the body alone.
    #[serde(skip_serializing_if = "nothing")]
    pub timestamp_header: String,
}

/// Webhook is the public path of a Connector.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Webhook {
    /// `path` is where providers send to. It is shown to those who may write Connectors, for it
    /// holds an unguessable token.
    #[serde(skip_serializing_if = "nothing")]
    pub path: String,
    /// `enabled` says that the path is open.
    pub enabled: bool,
}

/// Polling makes a Connector act by itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Polling {
    /// Five fields of cron, or @every 5m, @hourly, ….
    pub schedule: String,
    /// Of the IANA database; UTC if it is empty.
    #[serde(skip_serializing_if = "nothing")]
    pub timezone: String,
    /// The plugin's export that polls; empty: each tick is a delivery itself.
    #[serde(skip_serializing_if = "nothing")]
    pub export: String,
    /// When it acts next.
    #[serde(skip_serializing_if = "nothing")]
    pub next_at: Time,
    /// The last tick that was acted on.
    #[serde(skip_serializing_if = "nothing")]
    pub last_at: Time,
    /// The Task of that tick.
    #[serde(skip_serializing_if = "nothing")]
    pub last_task_id: String,
}

/// ConnectorCounters count what became of deliveries, since the Connector was made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConnectorCounters {
    /// Taken in; what had come before is not among them.
    pub received: u64,
    /// Had come before.
    pub deduped: u64,
    /// For their signature; since the node started.
    pub rejected: u64,
    /// The plugin has said what they mean.
    pub normalized: u64,
    /// Submitted.
    pub tasks: u64,
    /// Put aside as dead letters.
    pub failed: u64,
    /// Neither handled nor put aside yet.
    pub pending: u64,
}

/// Connector turns what a provider sends, or what is polled from it, into Tasks, Events or
/// Messages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Connector {
    /// Names the resource; it never changes.
    pub id: String,
    /// The kind of resource.
    pub object: String,
    /// When it was made.
    pub created_at: Time,
    /// When it last changed.
    pub updated_at: Time,
    /// The client's own: any object; {} if there is none.
    pub metadata: Json,
    /// The member `name`.
    #[serde(skip_serializing_if = "nothing")]
    pub name: String,
    /// Such as github; it decides the defaults of the rest.
    pub provider: String,
    /// The member `workspace_id`.
    pub workspace_id: String,
    /// Whether it takes and handles deliveries.
    pub status: ConnectorStatus,
    /// `status_reason` says why it is FAILED.
    #[serde(skip_serializing_if = "nothing")]
    pub status_reason: String,
    /// The member `event_kinds`.
    pub event_kinds: Vec<String>,
    /// The member `dedupe_policy`.
    #[serde(skip_serializing_if = "nothing")]
    pub dedupe_policy: Option<DedupePolicy>,
    /// The member `auth`.
    #[serde(skip_serializing_if = "nothing")]
    pub auth: Option<WebhookAuth>,
    /// The member `webhook`.
    #[serde(skip_serializing_if = "nothing")]
    pub webhook: Option<Webhook>,
    /// The member `polling`.
    #[serde(skip_serializing_if = "nothing")]
    pub polling: Option<Polling>,
    /// Whose Tasks deliveries become.
    #[serde(skip_serializing_if = "nothing")]
    pub target_persona_id: String,
    /// The Session of those Tasks.
    #[serde(skip_serializing_if = "nothing")]
    pub target_session_id: String,
    /// `plugin` is what normalizes deliveries: PLUGIN#EXPORT.
    pub plugin: String,
    /// `settings` are the plugin's own, such as the mapping of generic.
    #[serde(skip_serializing_if = "nothing")]
    pub settings: Option<Json>,
    /// `ordered` says that the deliveries of one order key are handled strictly one after another:
    /// a Task begins when the one before has ended. ConnectorTask has the key.
    #[serde(skip_serializing_if = "nothing")]
    pub ordered: bool,
    /// `deleted_at` is set on one that was deleted: no read shows it any more.
    #[serde(skip_serializing_if = "nothing")]
    pub deleted_at: Time,
    /// `problems` are what keeps it from working now, a sentence each. They are filled in when one
    /// is read by its id, made or changed.
    #[serde(skip_serializing_if = "nothing")]
    pub problems: Vec<String>,
    /// `counters` are filled in when a Connector is read.
    #[serde(skip_serializing_if = "nothing")]
    pub counters: Option<ConnectorCounters>,
}

/// Delivery is what a provider has sent, as it is kept: the body as text when it is UTF-8, else as
/// bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Delivery {
    /// Names the resource; it never changes.
    pub id: String,
    /// The kind of resource.
    pub object: String,
    /// When it was made.
    pub created_at: Time,
    /// When it last changed.
    pub updated_at: Time,
    /// The client's own: any object; {} if there is none.
    pub metadata: Json,
    /// The member `connector_id`.
    pub connector_id: String,
    /// The member `workspace_id`.
    pub workspace_id: String,
    /// The provider's.
    pub delivery_id: String,
    /// Names in lower case; no credentials.
    pub header: BTreeMap<String, String>,
    /// The member `text`.
    #[serde(skip_serializing_if = "nothing")]
    pub text: String,
    /// Base64.
    #[serde(skip_serializing_if = "nothing")]
    pub body: Bytes,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeliveriesAnswer {
    /// The member `connector`.
    pub connector: Connector,
    /// The member `deliveries`.
    pub deliveries: Vec<Delivery>,
}

/// ConnectorTask is a Task to submit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConnectorTask {
    /// The member `input`.
    pub input: Json,
    /// `persona_id` is the Connector's target if it is empty.
    #[serde(skip_serializing_if = "nothing")]
    pub persona_id: String,
    /// `thread` is what belongs to one Session, such as a pull request; empty: the Connector's
    /// target Session, or one for all.
    #[serde(skip_serializing_if = "nothing")]
    pub thread: String,
    /// `order_key` orders Tasks when the Connector is ordered; empty: `thread`.
    #[serde(skip_serializing_if = "nothing")]
    pub order_key: String,
    /// The member `metadata`.
    #[serde(skip_serializing_if = "nothing")]
    pub metadata: Option<Json>,
}

/// ConnectorMessage is a `message` to append.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConnectorMessage {
    /// The member `message`.
    pub message: MessageInput,
    /// The member `thread`.
    #[serde(skip_serializing_if = "nothing")]
    pub thread: String,
}

/// ConnectorEvent is an event to tell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConnectorEvent {
    /// The member `kind`.
    pub kind: String,
    /// The member `payload`.
    #[serde(skip_serializing_if = "nothing")]
    pub payload: Option<Json>,
}

/// NormalizedDelivery says what a delivery means. With none of the members it means nothing and is
/// done with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NormalizedDelivery {
    /// The Delivery's id.
    pub id: String,
    /// The member `tasks`.
    #[serde(skip_serializing_if = "nothing")]
    pub tasks: Vec<ConnectorTask>,
    /// The member `messages`.
    #[serde(skip_serializing_if = "nothing")]
    pub messages: Vec<ConnectorMessage>,
    /// The member `events`.
    #[serde(skip_serializing_if = "nothing")]
    pub events: Vec<ConnectorEvent>,
    /// `ignored` says in a word why it means nothing.
    #[serde(skip_serializing_if = "nothing")]
    pub ignored: String,
    /// `failure` puts the delivery aside, whatever else it says.
    #[serde(skip_serializing_if = "nothing")]
    pub failure: Option<Failure>,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NormalizedRequest {
    /// The member `results`.
    pub results: Vec<NormalizedDelivery>,
}

/// PolledDelivery is one thing that was found. `id` is how it is recognized when it is found again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PolledDelivery {
    /// The member `id`.
    pub id: String,
    /// The member `header`.
    #[serde(skip_serializing_if = "nothing")]
    pub header: BTreeMap<String, String>,
    /// The member `text`.
    #[serde(skip_serializing_if = "nothing")]
    pub text: String,
    /// Base64; not with `text`.
    #[serde(skip_serializing_if = "nothing")]
    pub body: Bytes,
}

/// Each is taken as if the provider had sent it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeliverRequest {
    /// The member `deliveries`.
    pub deliveries: Vec<PolledDelivery>,
}

/// See its members.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeliverAnswer {
    /// The member `received`.
    pub received: i64,
    /// The member `deduped`.
    pub deduped: i64,
    /// Whether the Persona's tier has held the call back: then the rest is empty.
    #[serde(skip)]
    pub withheld: Option<crate::Withheld>,
}
