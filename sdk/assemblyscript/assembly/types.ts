// Generated from package abi by go generate ./abi. Do not edit.

// The requests and answers of wharf-abi-1. Members have the names that they have in JSON. Make a request of
// what it needs: { url: "https://..." }. What is left out is nothing.

import { Withheld } from "./call";
import { Json, Reader, Some, Writer } from "./json";

/** AgentEventKind is a kind of what an agent tells of its own work. */
export namespace AgentEventKind {
  export const SKILL_ACTIVATED: string = "skill_activated";
  export const SKILL_DEACTIVATED: string = "skill_deactivated";
  export const SKILL_SCOPE_TOOLS: string = "skill_scope_tools";
  export const SKILL_NARROW: string = "skill_narrow";
  export const TOOL_SEARCH_QUERY: string = "tool_search_query";
  export const TOOL_SEARCH_RESULT: string = "tool_search_result";
  export const TRANSCRIPT_COMPACTED: string = "transcript_compacted";
  export const TRANSCRIPT_PROJECTED: string = "transcript_projected";
  export const TURN_STARTED: string = "turn_started";
  export const TURN_ENDED: string = "turn_ended";
}

/** ArtifactKind says what an Artifact is. */
export namespace ArtifactKind {
  export const FILE: string = "file";
  export const PATCH: string = "patch";
  export const IMAGE: string = "image";
  export const LOG: string = "log";
  export const DIFF: string = "diff";
  export const RECEIPT: string = "receipt";
  export const SNAPSHOT: string = "snapshot";
  export const DATASET: string = "dataset";
  export const OTHER: string = "other";
}

/** AutonomyTier says how far a Persona may act by itself. */
export namespace AutonomyTier {
  export const SHADOW: string = "shadow";
  export const SUGGEST: string = "suggest";
  export const ACT_WITH_APPROVAL: string = "act_with_approval";
  export const ACT_AUTO: string = "act_auto";
}

/** Checkpoint is where a plugin looks into the inbox. */
export namespace Checkpoint {
  /** Before it asks a model. */
  export const STEP: string = "step";
  /** When a model has answered and wants no tool. */
  export const TURN: string = "turn";
  /** Before it ends. */
  export const LOOP_EXIT: string = "loop_exit";
}

/** CompositionFailure says in which way a composition failed. */
export namespace CompositionFailure {
  /** The snippet is at fault. */
  export const SNIPPET_ERROR: string = "snippet_error";
  /** A child failed. */
  export const TOOL_ERROR: string = "tool_error";
  /** A child was beyond the ceiling. */
  export const CEILING_EXCEEDED: string = "ceiling_exceeded";
  export const TIMEOUT: string = "timeout";
  /** It used up what it may use. */
  export const LIMIT: string = "limit";
  /** Its Task completed without ending it. */
  export const NOT_ENDED: string = "not_ended";
  export const TASK_FAILED: string = "task_failed";
  export const TASK_CANCELED: string = "task_canceled";
}

/** ConnectorStatus says whether a Connector takes and handles deliveries. */
export namespace ConnectorStatus {
  /** ConnectorActive takes and handles deliveries. */
  export const ACTIVE: string = "ACTIVE";
  /** ConnectorPaused takes deliveries and handles none until it is active again. It does not poll. */
  export const PAUSED: string = "PAUSED";
  /**
   * ConnectorFailed is what the circuit breaker makes of one that fails again and again. It takes
   * deliveries, and tries itself again after a while.
   */
  export const FAILED: string = "FAILED";
  /** ConnectorDisabled takes no deliveries. */
  export const DISABLED: string = "DISABLED";
}

/** DeclineCode says in which way a question was not answered. */
export namespace DeclineCode {
  /** Whoever was asked does not want to. */
  export const DECLINED: string = "declined";
  /** The question was put away without a choice. */
  export const CANCELLED: string = "cancelled";
  /** Whoever was asked cannot answer questions of this kind. */
  export const UNSUPPORTED: string = "unsupported";
}

/** DelegationStatus says what became of a CallAgentDelegate. */
export namespace DelegationStatus {
  /** Nothing was dispatched: the checkpoint says what would be. */
  export const CHECKPOINT_REQUIRED: string = "checkpoint_required";
  /** The agent has done it, within its budget. */
  export const COMPLETED: string = "completed";
  /** It was done before by the same key: nothing was dispatched. */
  export const REPLAYED: string = "replayed";
  /** The agent has used more than it was allowed. */
  export const BUDGET_EXCEEDED: string = "budget_exceeded";
  /** Nothing was dispatched, for the reason that is given. */
  export const REFUSED: string = "refused";
}

/** FileMode says what CallFileWrite does with a file that is there. */
export namespace FileMode {
  /** The content becomes the file's; the default. */
  export const REPLACE: string = "replace";
  /** The file must not be there. */
  export const CREATE: string = "create";
  /** The content goes to the end; without a file it is replace. */
  export const APPEND: string = "append";
}

/** InboxWoken says why a wait for an inbox has ended with nothing. */
export namespace InboxWoken {
  /** Somebody has woken the Session. */
  export const RESUMED: string = "resumed";
  export const TIMEOUT: string = "timeout";
  /** Forks and replays are delivered nothing, and do not wait. */
  export const NEVER: string = "never";
}

/** MatchedBy says who has ranked skills. */
export namespace MatchedBy {
  export const NODE: string = "node";
  /** A client. */
  export const HOST: string = "host";
}

/** MemoryScope says whom a Memory belongs to. */
export namespace MemoryScope {
  export const PERSONA: string = "persona";
  export const SESSION: string = "session";
  export const WORKSPACE: string = "workspace";
  export const TENANT: string = "tenant";
}

/** OutcomeStatus is how a Task ended, as its Outcome says it. */
export namespace OutcomeStatus {
  export const SUCCEEDED: string = "SUCCEEDED";
  export const FAILED: string = "FAILED";
  export const CANCELED: string = "CANCELED";
}

/** PartType discriminates the content of a Part. */
export namespace PartType {
  export const TEXT: string = "text";
  export const JSON: string = "json";
  export const TOOL_CALL: string = "tool_call";
  export const TOOL_RESULT: string = "tool_result";
  export const ARTIFACT_REF: string = "artifact_ref";
  export const FILE_REF: string = "file_ref";
  export const IMAGE_REF: string = "image_ref";
}

/** PermissionKind says what a Task asks for. */
export namespace PermissionKind {
  /** May it do something. */
  export const APPROVAL: string = "approval";
  /** An answer. */
  export const INPUT: string = "input";
  /** Something is to be connected. */
  export const AUTHORIZATION: string = "authorization";
  /** What a model of the answerer's says. */
  export const SAMPLING: string = "sampling";
  /** The folders that may be worked in. */
  export const ROOTS: string = "roots";
}

/** PermissionStatus says what has become of a request. */
export namespace PermissionStatus {
  export const PENDING: string = "pending";
  export const APPROVED: string = "approved";
  export const DENIED: string = "denied";
  export const ANSWERED: string = "answered";
  export const TIMEOUT: string = "timeout";
  /** The Task ended meanwhile. */
  export const CANCELED: string = "canceled";
}

/** ReceiptPolicy says whether Tasks of a Persona get receipts. */
export namespace ReceiptPolicy {
  export const REQUIRED: string = "required";
  export const OPTIONAL: string = "optional";
  export const DISABLED: string = "disabled";
}

/** ReminderRole says as whose words a model should be shown a reminder. */
export namespace ReminderRole {
  export const SYSTEM: string = "system";
  export const DEVELOPER: string = "developer";
  export const USER: string = "user";
}

/** ReplayMode says how a Task is replayed (docs/protocol.md, 6.1). */
export namespace ReplayMode {
  export const EXACT: string = "exact";
  export const WITH_OVERRIDES: string = "with_overrides";
  export const FROM_CHECKPOINT: string = "from_checkpoint";
}

/** ResourceKind is what CallResourceList lists. */
export namespace ResourceKind {
  export const RESOURCE: string = "resource";
  export const TEMPLATE: string = "template";
  export const PROMPT: string = "prompt";
}

/** Role is the author's role of a Message. */
export namespace Role {
  export const USER: string = "user";
  export const ASSISTANT: string = "assistant";
  export const SYSTEM: string = "system";
  export const TOOL: string = "tool";
  export const AGENT: string = "agent";
}

/** SideEffectLevel says how far what a call does may reach. */
export namespace SideEffectLevel {
  /** Nothing beyond the Task and its Session changes. */
  export const READ_ONLY: string = "read_only";
  /** What is the Workspace's, or a tool server's own, does. */
  export const WORKSPACE_WRITE: string = "workspace_write";
  /** Programs run. */
  export const PROCESS_EXEC: string = "process_exec";
  /** Anything else, and all that is not known. */
  export const NETWORK: string = "network";
}

/** SignatureScheme says how a provider signs its deliveries. */
export namespace SignatureScheme {
  /** Deliveries need no signature. */
  export const NONE: string = "none";
  /** Webhook-id, webhook-timestamp, webhook-signature. */
  export const STANDARD_WEBHOOKS: string = "standard-webhooks";
  /** X-Hub-Signature-256. */
  export const GITHUB: string = "github";
  /** Stripe-Signature. */
  export const STRIPE: string = "stripe";
  /** X-Slack-Signature. */
  export const SLACK: string = "slack";
  /** A header of its own; see WebhookAuth. */
  export const HMAC: string = "hmac";
}

/** SkillSource says where a skill is from. */
export namespace SkillSource {
  export const INSTALLED: string = "installed";
  /** A client has it. */
  export const HOST: string = "host";
}

/** StepStatus says how far a step of a plan is. */
export namespace StepStatus {
  export const PENDING: string = "pending";
  export const IN_PROGRESS: string = "in_progress";
  export const COMPLETED: string = "completed";
  export const SKIPPED: string = "skipped";
}

/** StopReason says why a model stopped. */
export namespace StopReason {
  /** It was done, or met a stop sequence. */
  export const END: string = "end";
  /** It wants tools called. */
  export const TOOLS: string = "tools";
  /** The limit on tokens. */
  export const LENGTH: string = "length";
  /** It declined, or was filtered. */
  export const REFUSAL: string = "refusal";
}

/** TaskStatus is the lifecycle state of a Task, spelled as on the wire (docs/protocol.md, 5.1). */
export namespace TaskStatus {
  export const SUBMITTED: string = "SUBMITTED";
  export const WORKING: string = "WORKING";
  export const INPUT_REQUIRED: string = "INPUT_REQUIRED";
  export const AUTH_REQUIRED: string = "AUTH_REQUIRED";
  export const COMPLETED: string = "COMPLETED";
  export const FAILED: string = "FAILED";
  export const CANCELED: string = "CANCELED";
}

/** ToolErrorCategory says in which way a tool call failed. */
export namespace ToolErrorCategory {
  /** Its arguments do not fit, or there is no such tool. */
  export const SCHEMA_VALIDATION: string = "schema_validation";
  /** Policy or an approver said no. */
  export const PERMISSION_DENIED: string = "permission_denied";
  export const TIMEOUT: string = "timeout";
  /** The tool itself says that it failed. */
  export const TOOL_ERROR: string = "tool_error";
  /** Its server gave no answer that can be used. */
  export const MCP_SERVER_ERROR: string = "mcp_server_error";
  /** The client gave none. */
  export const HOST_BRIDGE_ERROR: string = "host_bridge_error";
  /** Nobody knows whether it was done. */
  export const UNKNOWN: string = "unknown";
  /** Its Task has ended meanwhile. */
  export const CANCELLED: string = "cancelled";
}

/** ToolExecutor says what runs a tool. */
export namespace ToolExecutor {
  /** The node itself. */
  export const HARN_BUILTIN: string = "harn_builtin";
  /** A client, on its socket. */
  export const HOST_BRIDGE: string = "host_bridge";
  /** A server of the Model Context Protocol: the member server names it. */
  export const MCP_SERVER: string = "mcp_server";
}

/** ToolKind is a kind of tools, by what they do. */
export namespace ToolKind {
  export const READ: string = "read";
  export const EDIT: string = "edit";
  export const DELETE: string = "delete";
  export const MOVE: string = "move";
  export const SEARCH: string = "search";
  export const EXECUTE: string = "execute";
  export const THINK: string = "think";
  export const FETCH: string = "fetch";
  export const SWITCH_MODE: string = "switch_mode";
  export const OTHER: string = "other";
}

/**
 * ToolsVisibility says how much of the tool calls of a Persona's Tasks is told to keys without
 * events:internal.
 */
export namespace ToolsVisibility {
  /** That there was a call, and nothing else. */
  export const INTERNAL: string = "internal";
  /** Which tool, how long, how it ended: the default. */
  export const NAMED: string = "named";
  /** Its arguments and its answer, too. */
  export const PUBLIC: string = "public";
}

/** Visibility says who may see content (docs/protocol.md, 3.5). */
export namespace Visibility {
  export const PUBLIC: string = "public";
  export const INTERNAL: string = "internal";
  export const RECEIPT_ONLY: string = "receipt_only";
}

/** Failure says why a Task failed. `code` is one of the Failure* constants or what the plugin reported. */
export class Failure {
  /** For programs: one of the host, or of the plugin. */
  code: string = "";
  /** For people. */
  message: string = "";
  /** More about it, where there is more to say. */
  details: Json | null = null;

  write(w: Writer): void {
    w.object();
    w.name("code"); w.text(this.code);
    w.name("message"); w.text(this.message);
    const details_ = this.details;
    if (details_ !== null) { w.name("details"); w.json(details_); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "code") this.code = r.text();
      else if (r.name == "message") this.message = r.text();
      else if (r.name == "details") this.details = r.json();
      else r.skip();
    }
  }
}

/** Budget bounds what a Task may spend. A member that is 0 bounds nothing. */
export class Budget {
  /** In US dollars. */
  usd: f64 = 0;
  input_tokens: i64 = 0;
  output_tokens: i64 = 0;
  tool_calls: i64 = 0;
  host_calls: i64 = 0;
  /** How long it may run, in milliseconds. */
  wall_time_ms: i64 = 0;

  write(w: Writer): void {
    w.object();
    if (this.usd != 0) { w.name("usd"); w.number(this.usd); }
    if (this.input_tokens != 0) { w.name("input_tokens"); w.integer(this.input_tokens); }
    if (this.output_tokens != 0) { w.name("output_tokens"); w.integer(this.output_tokens); }
    if (this.tool_calls != 0) { w.name("tool_calls"); w.integer(this.tool_calls); }
    if (this.host_calls != 0) { w.name("host_calls"); w.integer(this.host_calls); }
    if (this.wall_time_ms != 0) { w.name("wall_time_ms"); w.integer(this.wall_time_ms); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "usd") this.usd = r.number();
      else if (r.name == "input_tokens") this.input_tokens = r.integer();
      else if (r.name == "output_tokens") this.output_tokens = r.integer();
      else if (r.name == "tool_calls") this.tool_calls = r.integer();
      else if (r.name == "host_calls") this.host_calls = r.integer();
      else if (r.name == "wall_time_ms") this.wall_time_ms = r.integer();
      else r.skip();
    }
  }
}

/**
 * RunOptions are what one Task wants otherwise than its Persona. The plugin is told them with its
 * input, and follows them as it can; `budget`, `max_tokens` and `autonomy_tier` the host holds. They
 * bound what the Persona may do, and never widen it.
 */
export class RunOptions {
  /** Names, or ids, of SkillBundles that the Task is to have, beside those of its Persona and Session. */
  skills: string[] = [];
  /** The model to ask, by the name that the node has for it. */
  model: string = "";
  /** In place of those that the plugin or its operator has; at most 16 KiB. */
  instructions: string = "";
  /** Told to the model after the instructions; at most 16 KiB. */
  context: string = "";
  /** Of the model, 0 to 1. */
  temperature: Some<f64> | null = null;
  /** Of one answer of a model, at most 200,000; 0: no bound. */
  max_tokens: i64 = 0;
  /** Of the Task, where it is less than the Persona's. */
  budget: Budget | null = null;
  /**
   * `autonomy_tier` is that of the Task and of those below it, where it allows less than the
   * Persona's: with suggest, the Task is a dry run that proposes what it would change. See
   * AutonomyTier.
   */
  autonomy_tier: string = "";

  write(w: Writer): void {
    w.object();
    if (this.skills.length) { w.name("skills"); w.texts(this.skills); }
    if (this.model.length) { w.name("model"); w.text(this.model); }
    if (this.instructions.length) { w.name("instructions"); w.text(this.instructions); }
    if (this.context.length) { w.name("context"); w.text(this.context); }
    const temperature_ = this.temperature;
    if (temperature_ !== null) { w.name("temperature"); w.number(temperature_.value); }
    if (this.max_tokens != 0) { w.name("max_tokens"); w.integer(this.max_tokens); }
    const budget_ = this.budget;
    if (budget_ !== null) { w.name("budget"); budget_.write(w); }
    if (this.autonomy_tier.length) { w.name("autonomy_tier"); w.text(this.autonomy_tier); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "skills") this.skills = r.texts();
      else if (r.name == "model") this.model = r.text();
      else if (r.name == "instructions") this.instructions = r.text();
      else if (r.name == "context") this.context = r.text();
      else if (r.name == "temperature") this.temperature = r.takeNull() ? null : new Some<f64>(r.number());
      else if (r.name == "max_tokens") this.max_tokens = r.integer();
      else if (r.name == "budget") this.budget = r.intoOrNull<Budget>();
      else if (r.name == "autonomy_tier") this.autonomy_tier = r.text();
      else r.skip();
    }
  }
}

/** TaskClient is what a client says of itself when it submits a Task. */
export class TaskClient {
  /** That it speaks, and its revision, such as mcp/2025-11-25. */
  protocol: string = "";
  name: string = "";
  version: string = "";
  /**
   * `capabilities` are the kinds of questions that it can answer: at most 32 words without white space
   * or commas, such as elicitation.form, elicitation.url, sampling, sampling.tools and roots.
   */
  capabilities: string[] = [];

  write(w: Writer): void {
    w.object();
    if (this.protocol.length) { w.name("protocol"); w.text(this.protocol); }
    if (this.name.length) { w.name("name"); w.text(this.name); }
    if (this.version.length) { w.name("version"); w.text(this.version); }
    if (this.capabilities.length) { w.name("capabilities"); w.texts(this.capabilities); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "protocol") this.protocol = r.text();
      else if (r.name == "name") this.name = r.text();
      else if (r.name == "version") this.version = r.text();
      else if (r.name == "capabilities") this.capabilities = r.texts();
      else r.skip();
    }
  }
}

/** InboxWait is what a Task that waits for its Session's inbox waits for. */
export class InboxWait {
  session_id: string = "";
  /** See Checkpoint. */
  checkpoint: string = "";

  write(w: Writer): void {
    w.object();
    w.name("session_id"); w.text(this.session_id);
    w.name("checkpoint"); w.text(this.checkpoint);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "session_id") this.session_id = r.text();
      else if (r.name == "checkpoint") this.checkpoint = r.text();
      else r.skip();
    }
  }
}

/**
 * ToolUse is what people see of a tool.call: in the events of its beginning (tool.requested) and its
 * end (tool.completed, tool.failed), and of a Skill in what its Task waits for. How much of it a key
 * without events:internal sees is up to the Persona's ToolsVisibility.
 */
export class ToolUse {
  /** The call_id that it was made with, or else call- and its index in the record. */
  call_id: string = "";
  server: string = "";
  name: string = "";
  /** Absent: not known. See ToolKind. */
  kind: string = "";
  read_only: bool = false;
  /** Its definition says that it can destroy something. */
  destructive: bool = false;
  /** See ToolExecutor. */
  executor: string = "";
  started_at: string = "";
  /**
   * `duration_us` is how long the whole call took, of its end: with waiting for approval, and over a
   * crash. `execution_us` is how long its server took of that, where it was asked.
   */
  duration_us: i64 = 0;
  execution_us: i64 = 0;
  /** Of its end: why it failed. See ToolErrorCategory. */
  error_category: string = "";
  /** `started_event_id` is the event that told its beginning, of its end. */
  started_event_id: string = "";
  /** `visibility` is the Persona's when the call was made; absent for named. See ToolsVisibility. */
  visibility: string = "";

  write(w: Writer): void {
    w.object();
    w.name("call_id"); w.text(this.call_id);
    w.name("server"); w.text(this.server);
    w.name("name"); w.text(this.name);
    if (this.kind.length) { w.name("kind"); w.text(this.kind); }
    if (this.read_only) { w.name("read_only"); w.bool(this.read_only); }
    if (this.destructive) { w.name("destructive"); w.bool(this.destructive); }
    w.name("executor"); w.text(this.executor);
    w.name("started_at"); w.text(this.started_at);
    if (this.duration_us != 0) { w.name("duration_us"); w.integer(this.duration_us); }
    if (this.execution_us != 0) { w.name("execution_us"); w.integer(this.execution_us); }
    if (this.error_category.length) { w.name("error_category"); w.text(this.error_category); }
    if (this.started_event_id.length) { w.name("started_event_id"); w.text(this.started_event_id); }
    if (this.visibility.length) { w.name("visibility"); w.text(this.visibility); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "call_id") this.call_id = r.text();
      else if (r.name == "server") this.server = r.text();
      else if (r.name == "name") this.name = r.text();
      else if (r.name == "kind") this.kind = r.text();
      else if (r.name == "read_only") this.read_only = r.bool();
      else if (r.name == "destructive") this.destructive = r.bool();
      else if (r.name == "executor") this.executor = r.text();
      else if (r.name == "started_at") this.started_at = r.text();
      else if (r.name == "duration_us") this.duration_us = r.integer();
      else if (r.name == "execution_us") this.execution_us = r.integer();
      else if (r.name == "error_category") this.error_category = r.text();
      else if (r.name == "started_event_id") this.started_event_id = r.text();
      else if (r.name == "visibility") this.visibility = r.text();
      else r.skip();
    }
  }
}

/** CompositionChild is a child of a composition that waits. */
export class CompositionChild {
  composition_id: string = "";
  call_id: string = "";
  /** See ToolExecutor. */
  executor: string = "";
  started_at: string = "";
  /** As in ToolUse. See ToolsVisibility. */
  visibility: string = "";

  write(w: Writer): void {
    w.object();
    w.name("composition_id"); w.text(this.composition_id);
    w.name("call_id"); w.text(this.call_id);
    if (this.executor.length) { w.name("executor"); w.text(this.executor); }
    w.name("started_at"); w.text(this.started_at);
    if (this.visibility.length) { w.name("visibility"); w.text(this.visibility); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "composition_id") this.composition_id = r.text();
      else if (r.name == "call_id") this.call_id = r.text();
      else if (r.name == "executor") this.executor = r.text();
      else if (r.name == "started_at") this.started_at = r.text();
      else if (r.name == "visibility") this.visibility = r.text();
      else r.skip();
    }
  }
}

/** WaitingQuestion is one of several requests that a Task waits on. */
export class WaitingQuestion {
  /** The plugin's name for it. */
  key: string = "";
  permission_request_id: string = "";
  /** See PermissionKind. */
  kind: string = "";
  /** See PermissionStatus. */
  status: string = "";

  write(w: Writer): void {
    w.object();
    w.name("key"); w.text(this.key);
    w.name("permission_request_id"); w.text(this.permission_request_id);
    w.name("kind"); w.text(this.kind);
    w.name("status"); w.text(this.status);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "key") this.key = r.text();
      else if (r.name == "permission_request_id") this.permission_request_id = r.text();
      else if (r.name == "kind") this.kind = r.text();
      else if (r.name == "status") this.status = r.text();
      else r.skip();
    }
  }
}

/** Waiting says what a parked Task waits for. */
export class Waiting {
  /** The host call that waits. */
  call: string = "";
  /** Of the call in the record, from 0. */
  index: i64 = 0;
  request_id: string = "";
  /** What somebody is asked. */
  prompt: string = "";
  action: string = "";
  schema: Json | null = null;
  url: string = "";
  /** The child that is awaited. */
  task_id: string = "";
  /** The inbox that is waited for. */
  inbox: InboxWait | null = null;
  /** Of a tool that waits, such as a Skill. */
  tool: ToolUse | null = null;
  /** When it stops waiting. */
  until: string = "";
  /** `composition` is set when the tool is a child of one. */
  composition: CompositionChild | null = null;
  /**
   * `permission_id` names the request that somebody is to answer. Of an approval: `arguments` are what
   * is to be done with, `quorum` how many must approve, and `gate` says that policy asks, not the
   * plugin: when it is approved the call itself is made.
   */
  permission_id: string = "";
  arguments: Json | null = null;
  quorum: i64 = 0;
  gate: bool = false;
  /**
   * `requests` are what is asked at once by one call, in the order of the call: those that are
   * pending, and those that were settled before.
   */
  requests: WaitingQuestion[] = [];

  write(w: Writer): void {
    w.object();
    w.name("call"); w.text(this.call);
    w.name("index"); w.integer(this.index);
    w.name("request_id"); w.text(this.request_id);
    if (this.prompt.length) { w.name("prompt"); w.text(this.prompt); }
    if (this.action.length) { w.name("action"); w.text(this.action); }
    const schema_ = this.schema;
    if (schema_ !== null) { w.name("schema"); w.json(schema_); }
    if (this.url.length) { w.name("url"); w.text(this.url); }
    if (this.task_id.length) { w.name("task_id"); w.text(this.task_id); }
    const inbox_ = this.inbox;
    if (inbox_ !== null) { w.name("inbox"); inbox_.write(w); }
    const tool_ = this.tool;
    if (tool_ !== null) { w.name("tool"); tool_.write(w); }
    if (this.until.length) { w.name("until"); w.text(this.until); }
    const composition_ = this.composition;
    if (composition_ !== null) { w.name("composition"); composition_.write(w); }
    if (this.permission_id.length) { w.name("permission_id"); w.text(this.permission_id); }
    const arguments_ = this.arguments;
    if (arguments_ !== null) { w.name("arguments"); w.json(arguments_); }
    if (this.quorum != 0) { w.name("quorum"); w.integer(this.quorum); }
    if (this.gate) { w.name("gate"); w.bool(this.gate); }
    if (this.requests.length) { w.name("requests"); w.list<WaitingQuestion>(this.requests); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "call") this.call = r.text();
      else if (r.name == "index") this.index = r.integer();
      else if (r.name == "request_id") this.request_id = r.text();
      else if (r.name == "prompt") this.prompt = r.text();
      else if (r.name == "action") this.action = r.text();
      else if (r.name == "schema") this.schema = r.json();
      else if (r.name == "url") this.url = r.text();
      else if (r.name == "task_id") this.task_id = r.text();
      else if (r.name == "inbox") this.inbox = r.intoOrNull<InboxWait>();
      else if (r.name == "tool") this.tool = r.intoOrNull<ToolUse>();
      else if (r.name == "until") this.until = r.text();
      else if (r.name == "composition") this.composition = r.intoOrNull<CompositionChild>();
      else if (r.name == "permission_id") this.permission_id = r.text();
      else if (r.name == "arguments") this.arguments = r.json();
      else if (r.name == "quorum") this.quorum = r.integer();
      else if (r.name == "gate") this.gate = r.bool();
      else if (r.name == "requests") this.requests = r.list<WaitingQuestion>();
      else r.skip();
    }
  }
}

/** TaskReplay says what a replay Task replays. Overrides are kept by their hash. */
export class TaskReplay {
  /** The Task that is replayed. */
  source_task_id: string = "";
  /** See ReplayMode. */
  mode: string = "";
  /**
   * `replay_id` is derived from the source, the module, the mode and the overrides: it is the same for
   * the same replay, on any node, and the one id of a replay that its receipt holds.
   */
  replay_id: string = "";
  /** The hash of the request that asked for the replay. */
  request_sha256: string = "";
  /** Of from_checkpoint: how many calls come before the boundary. */
  checkpoint: i64 = 0;
  /** The replay of a Session that it belongs to. */
  session_run: string = "";

  write(w: Writer): void {
    w.object();
    w.name("source_task_id"); w.text(this.source_task_id);
    w.name("mode"); w.text(this.mode);
    w.name("replay_id"); w.text(this.replay_id);
    w.name("request_sha256"); w.text(this.request_sha256);
    if (this.checkpoint != 0) { w.name("checkpoint"); w.integer(this.checkpoint); }
    if (this.session_run.length) { w.name("session_run"); w.text(this.session_run); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "source_task_id") this.source_task_id = r.text();
      else if (r.name == "mode") this.mode = r.text();
      else if (r.name == "replay_id") this.replay_id = r.text();
      else if (r.name == "request_sha256") this.request_sha256 = r.text();
      else if (r.name == "checkpoint") this.checkpoint = r.integer();
      else if (r.name == "session_run") this.session_run = r.text();
      else r.skip();
    }
  }
}

/**
 * TaskFork says where a forked Task came from: it shares the record of its source up to a number of
 * host calls, and is live from there.
 */
export class TaskFork {
  /** The Task that it was forked from. */
  source_task_id: string = "";
  /** The last event whose record is shared; absent: all of them. */
  at_event_id: string = "";
  calls: i64 = 0;

  write(w: Writer): void {
    w.object();
    w.name("source_task_id"); w.text(this.source_task_id);
    if (this.at_event_id.length) { w.name("at_event_id"); w.text(this.at_event_id); }
    w.name("calls"); w.integer(this.calls);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "source_task_id") this.source_task_id = r.text();
      else if (r.name == "at_event_id") this.at_event_id = r.text();
      else if (r.name == "calls") this.calls = r.integer();
      else r.skip();
    }
  }
}

/** Task is one unit of agent work. `input` is a Message or any JSON object, as it was submitted. */
export class Task {
  /** Names the resource; it never changes. */
  id: string = "";
  /** The kind of resource. */
  object: string = "";
  /** When it was made. */
  created_at: string = "";
  /** When it last changed. */
  updated_at: string = "";
  /** The client's own: any object; {} if there is none. */
  metadata: Json = Json.NULL;
  session_id: string = "";
  workspace_id: string = "";
  /** Where it is in its life. See TaskStatus. */
  status: string = "";
  input: Json | null = null;
  /** The actor that submitted it. */
  created_by: string = "";
  persona_id: string = "";
  /** The Branch that it goes along. */
  branch_id: string = "";
  /** The Task that it belongs to. */
  parent_task_id: string = "";
  /** Proves what it did, once it has ended; absent where its Persona asks for none. */
  receipt_id: string = "";
  /** What it resulted in, once it has ended. */
  outcome_id: string = "";
  /** When it started first. */
  started_at: string = "";
  /** When it ended, in success or failure. */
  completed_at: string = "";
  /** When it ended, if it was canceled. */
  canceled_at: string = "";
  /** Why it failed, if it did. */
  failure: Failure | null = null;
  /** `input_message_id` is set when the input is a Message, which the log holds once. */
  input_message_id: string = "";
  /** `deadline_at` is when the Task fails unless it has ended. */
  deadline_at: string = "";
  /** `run` is what the Task was submitted to do otherwise than its Persona. */
  run: RunOptions | null = null;
  /** `client` is what the client that submitted it has said of itself. */
  client: TaskClient | null = null;
  /** `attempt` counts the starts of the Task: more than 1 after the node died in one. */
  attempt: i64 = 0;
  /**
   * `module` is the digest of the plugin's module, "sha256:" and hex. The Task is pinned to it from
   * its start on.
   */
  module: string = "";
  /** `waiting` is set while the Task is parked. */
  waiting: Waiting | null = null;
  /** `replay` is set on a Task that replays another. */
  replay: TaskReplay | null = null;
  /** `fork` is set on a Task that was forked from another. */
  fork: TaskFork | null = null;
  /**
   * `persona_version` is the version of the Persona that the Task is pinned to, and `quota_id` the
   * Quota that bounds it most narrowly.
   */
  persona_version: string = "";
  quota_id: string = "";
  /**
   * `connector_id` and `delivery_id` are set on a Task that came from a Connector. Of the Tasks with
   * one `order_key`, of a Connector or of a Session, one runs at a time, in the order in which they
   * were accepted.
   */
  connector_id: string = "";
  delivery_id: string = "";
  order_key: string = "";
  /** `deleted_at` is set on a Task that is not shown any more. */
  deleted_at: string = "";

  write(w: Writer): void {
    w.object();
    w.name("id"); w.text(this.id);
    w.name("object"); w.text(this.object);
    w.name("created_at"); w.text(this.created_at);
    w.name("updated_at"); w.text(this.updated_at);
    w.name("metadata"); w.json(this.metadata);
    w.name("session_id"); w.text(this.session_id);
    w.name("workspace_id"); w.text(this.workspace_id);
    w.name("status"); w.text(this.status);
    const input_ = this.input;
    if (input_ !== null) { w.name("input"); w.json(input_); }
    w.name("created_by"); w.text(this.created_by);
    if (this.persona_id.length) { w.name("persona_id"); w.text(this.persona_id); }
    if (this.branch_id.length) { w.name("branch_id"); w.text(this.branch_id); }
    if (this.parent_task_id.length) { w.name("parent_task_id"); w.text(this.parent_task_id); }
    if (this.receipt_id.length) { w.name("receipt_id"); w.text(this.receipt_id); }
    if (this.outcome_id.length) { w.name("outcome_id"); w.text(this.outcome_id); }
    if (this.started_at.length) { w.name("started_at"); w.text(this.started_at); }
    if (this.completed_at.length) { w.name("completed_at"); w.text(this.completed_at); }
    if (this.canceled_at.length) { w.name("canceled_at"); w.text(this.canceled_at); }
    const failure_ = this.failure;
    if (failure_ !== null) { w.name("failure"); failure_.write(w); }
    if (this.input_message_id.length) { w.name("input_message_id"); w.text(this.input_message_id); }
    if (this.deadline_at.length) { w.name("deadline_at"); w.text(this.deadline_at); }
    const run_ = this.run;
    if (run_ !== null) { w.name("run"); run_.write(w); }
    const client_ = this.client;
    if (client_ !== null) { w.name("client"); client_.write(w); }
    if (this.attempt != 0) { w.name("attempt"); w.integer(this.attempt); }
    if (this.module.length) { w.name("module"); w.text(this.module); }
    const waiting_ = this.waiting;
    if (waiting_ !== null) { w.name("waiting"); waiting_.write(w); }
    const replay_ = this.replay;
    if (replay_ !== null) { w.name("replay"); replay_.write(w); }
    const fork_ = this.fork;
    if (fork_ !== null) { w.name("fork"); fork_.write(w); }
    if (this.persona_version.length) { w.name("persona_version"); w.text(this.persona_version); }
    if (this.quota_id.length) { w.name("quota_id"); w.text(this.quota_id); }
    if (this.connector_id.length) { w.name("connector_id"); w.text(this.connector_id); }
    if (this.delivery_id.length) { w.name("delivery_id"); w.text(this.delivery_id); }
    if (this.order_key.length) { w.name("order_key"); w.text(this.order_key); }
    if (this.deleted_at.length) { w.name("deleted_at"); w.text(this.deleted_at); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "id") this.id = r.text();
      else if (r.name == "object") this.object = r.text();
      else if (r.name == "created_at") this.created_at = r.text();
      else if (r.name == "updated_at") this.updated_at = r.text();
      else if (r.name == "metadata") this.metadata = r.json();
      else if (r.name == "session_id") this.session_id = r.text();
      else if (r.name == "workspace_id") this.workspace_id = r.text();
      else if (r.name == "status") this.status = r.text();
      else if (r.name == "input") this.input = r.json();
      else if (r.name == "created_by") this.created_by = r.text();
      else if (r.name == "persona_id") this.persona_id = r.text();
      else if (r.name == "branch_id") this.branch_id = r.text();
      else if (r.name == "parent_task_id") this.parent_task_id = r.text();
      else if (r.name == "receipt_id") this.receipt_id = r.text();
      else if (r.name == "outcome_id") this.outcome_id = r.text();
      else if (r.name == "started_at") this.started_at = r.text();
      else if (r.name == "completed_at") this.completed_at = r.text();
      else if (r.name == "canceled_at") this.canceled_at = r.text();
      else if (r.name == "failure") this.failure = r.intoOrNull<Failure>();
      else if (r.name == "input_message_id") this.input_message_id = r.text();
      else if (r.name == "deadline_at") this.deadline_at = r.text();
      else if (r.name == "run") this.run = r.intoOrNull<RunOptions>();
      else if (r.name == "client") this.client = r.intoOrNull<TaskClient>();
      else if (r.name == "attempt") this.attempt = r.integer();
      else if (r.name == "module") this.module = r.text();
      else if (r.name == "waiting") this.waiting = r.intoOrNull<Waiting>();
      else if (r.name == "replay") this.replay = r.intoOrNull<TaskReplay>();
      else if (r.name == "fork") this.fork = r.intoOrNull<TaskFork>();
      else if (r.name == "persona_version") this.persona_version = r.text();
      else if (r.name == "quota_id") this.quota_id = r.text();
      else if (r.name == "connector_id") this.connector_id = r.text();
      else if (r.name == "delivery_id") this.delivery_id = r.text();
      else if (r.name == "order_key") this.order_key = r.text();
      else if (r.name == "deleted_at") this.deleted_at = r.text();
      else r.skip();
    }
  }
}

/** ModelPolicy says which models Tasks of a Persona may ask. Empty members allow all. */
export class ModelPolicy {
  /** Patterns of the names of models, in which * stands for any characters; none: all. */
  models: string[] = [];
  /** The same of providers. */
  providers: string[] = [];
  /** Of one answer; 0: no bound. */
  max_tokens: i64 = 0;

  write(w: Writer): void {
    w.object();
    if (this.models.length) { w.name("models"); w.texts(this.models); }
    if (this.providers.length) { w.name("providers"); w.texts(this.providers); }
    if (this.max_tokens != 0) { w.name("max_tokens"); w.integer(this.max_tokens); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "models") this.models = r.texts();
      else if (r.name == "providers") this.providers = r.texts();
      else if (r.name == "max_tokens") this.max_tokens = r.integer();
      else r.skip();
    }
  }
}

/** ApprovalPolicy says how writes are approved. */
export class ApprovalPolicy {
  /** `quorum` is how many must approve; 0 is 1. */
  quorum: i64 = 0;
  /** `approvers` are patterns of the actors that may decide; empty for all. */
  approvers: string[] = [];
  /** `self_approval` says that whoever submitted the Task may decide, too. */
  self_approval: bool = false;
  /** `timeout_seconds` is how long to wait for a decision; 0 for ever. */
  timeout_seconds: f64 = 0;
  /** `without` are patterns of tools (SERVER:TOOL) and host calls that need no approval. */
  without: string[] = [];

  write(w: Writer): void {
    w.object();
    if (this.quorum != 0) { w.name("quorum"); w.integer(this.quorum); }
    if (this.approvers.length) { w.name("approvers"); w.texts(this.approvers); }
    if (this.self_approval) { w.name("self_approval"); w.bool(this.self_approval); }
    if (this.timeout_seconds != 0) { w.name("timeout_seconds"); w.number(this.timeout_seconds); }
    if (this.without.length) { w.name("without"); w.texts(this.without); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "quorum") this.quorum = r.integer();
      else if (r.name == "approvers") this.approvers = r.texts();
      else if (r.name == "self_approval") this.self_approval = r.bool();
      else if (r.name == "timeout_seconds") this.timeout_seconds = r.number();
      else if (r.name == "without") this.without = r.texts();
      else r.skip();
    }
  }
}

/** AgentSkill names a version of a bundle of a skill. */
export class AgentSkill {
  name: string = "";
  version: string = "";
  /** Of its files; absent while it is not installed. */
  digest: string = "";
  required: bool = false;

  write(w: Writer): void {
    w.object();
    w.name("name"); w.text(this.name);
    if (this.version.length) { w.name("version"); w.text(this.version); }
    if (this.digest.length) { w.name("digest"); w.text(this.digest); }
    if (this.required) { w.name("required"); w.bool(this.required); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "name") this.name = r.text();
      else if (r.name == "version") this.version = r.text();
      else if (r.name == "digest") this.digest = r.text();
      else if (r.name == "required") this.required = r.bool();
      else r.skip();
    }
  }
}

/** AgentServer names a server of tools. */
export class AgentServer {
  name: string = "";
  /** Patterns of names; none: all of the server. */
  tools: string[] = [];
  required: bool = false;

  write(w: Writer): void {
    w.object();
    w.name("name"); w.text(this.name);
    if (this.tools.length) { w.name("tools"); w.texts(this.tools); }
    if (this.required) { w.name("required"); w.bool(this.required); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "name") this.name = r.text();
      else if (r.name == "tools") this.tools = r.texts();
      else if (r.name == "required") this.required = r.bool();
      else r.skip();
    }
  }
}

/** AgentModel is a model as a bundle names it. */
export class AgentModel {
  provider: string = "";
  name: string = "";
  embedding: string = "";

  write(w: Writer): void {
    w.object();
    if (this.provider.length) { w.name("provider"); w.text(this.provider); }
    w.name("name"); w.text(this.name);
    if (this.embedding.length) { w.name("embedding"); w.text(this.embedding); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "provider") this.provider = r.text();
      else if (r.name == "name") this.name = r.text();
      else if (r.name == "embedding") this.embedding = r.text();
      else r.skip();
    }
  }
}

/** AgentTools are tools as a bundle names them. */
export class AgentTools {
  allow: string[] = [];
  deny: string[] = [];

  write(w: Writer): void {
    w.object();
    if (this.allow.length) { w.name("allow"); w.texts(this.allow); }
    if (this.deny.length) { w.name("deny"); w.texts(this.deny); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "allow") this.allow = r.texts();
      else if (r.name == "deny") this.deny = r.texts();
      else r.skip();
    }
  }
}

/** AgentBundle says where the files of an agent are kept. Digests are "sha256:" and hex. */
export class AgentBundle {
  /** Of its AGENTS.md. */
  manifest: string = "";
  /** Of a zip with the files beside it; absent when there are none. */
  files: string = "";
  /** Of these files. */
  count: i64 = 0;
  /** Of these files, unpacked. */
  bytes: i64 = 0;

  write(w: Writer): void {
    w.object();
    w.name("manifest"); w.text(this.manifest);
    if (this.files.length) { w.name("files"); w.text(this.files); }
    if (this.count != 0) { w.name("count"); w.integer(this.count); }
    if (this.bytes != 0) { w.name("bytes"); w.integer(this.bytes); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "manifest") this.manifest = r.text();
      else if (r.name == "files") this.files = r.text();
      else if (r.name == "count") this.count = r.integer();
      else if (r.name == "bytes") this.bytes = r.integer();
      else r.skip();
    }
  }
}

/**
 * Agent is what makes a Persona an agent of its own: what a model is told and asked with, and the
 * bundle that it came in. It is policy: a change of it is a new version of the Persona.
 */
export class Agent {
  /** What a model is told first, as it is. */
  instructions: string = "";
  /** The model to ask; the node's default if it is absent. */
  model: string = "";
  /** 0 to 1. */
  temperature: Some<f64> | null = null;
  /** Of one answer of a model; 0: no bound. */
  max_tokens: i64 = 0;
  /** `skills` are the bundles of skills that it knows, each as it was when it was named. */
  skills: AgentSkill[] = [];
  /**
   * `mcp_servers` are the servers of tools that it counts on. Of one that names tools it may use these
   * alone.
   */
  mcp_servers: AgentServer[] = [];
  /** The Persona whose subagent it is. */
  parent_id: string = "";
  /** Of a subagent, for its parent. */
  role: string = "";
  /**
   * `vendor_key` and `agent_key` name it among all agents, wherever they are. Both are of a-z, 0-9 and
   * -.
   */
  vendor_key: string = "";
  agent_key: string = "";
  slug: string = "";
  /** As its author counts, 1.2.3 (semver.org); that of the Persona counts changes here. */
  version: string = "";
  author: string = "";
  /** As SPDX writes it. */
  license: string = "";
  tags: string[] = [];
  /**
   * `model_named` and `tools_named` are what its bundle says, in the bundle's own words. `model`, and
   * the tools and tools_denied of the Persona, follow from them.
   */
  model_named: AgentModel | null = null;
  tools_named: AgentTools | null = null;
  bundle: AgentBundle | null = null;

  write(w: Writer): void {
    w.object();
    if (this.instructions.length) { w.name("instructions"); w.text(this.instructions); }
    if (this.model.length) { w.name("model"); w.text(this.model); }
    const temperature_ = this.temperature;
    if (temperature_ !== null) { w.name("temperature"); w.number(temperature_.value); }
    if (this.max_tokens != 0) { w.name("max_tokens"); w.integer(this.max_tokens); }
    if (this.skills.length) { w.name("skills"); w.list<AgentSkill>(this.skills); }
    if (this.mcp_servers.length) { w.name("mcp_servers"); w.list<AgentServer>(this.mcp_servers); }
    if (this.parent_id.length) { w.name("parent_id"); w.text(this.parent_id); }
    if (this.role.length) { w.name("role"); w.text(this.role); }
    if (this.vendor_key.length) { w.name("vendor_key"); w.text(this.vendor_key); }
    if (this.agent_key.length) { w.name("agent_key"); w.text(this.agent_key); }
    if (this.slug.length) { w.name("slug"); w.text(this.slug); }
    if (this.version.length) { w.name("version"); w.text(this.version); }
    if (this.author.length) { w.name("author"); w.text(this.author); }
    if (this.license.length) { w.name("license"); w.text(this.license); }
    if (this.tags.length) { w.name("tags"); w.texts(this.tags); }
    const model_named_ = this.model_named;
    if (model_named_ !== null) { w.name("model_named"); model_named_.write(w); }
    const tools_named_ = this.tools_named;
    if (tools_named_ !== null) { w.name("tools_named"); tools_named_.write(w); }
    const bundle_ = this.bundle;
    if (bundle_ !== null) { w.name("bundle"); bundle_.write(w); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "instructions") this.instructions = r.text();
      else if (r.name == "model") this.model = r.text();
      else if (r.name == "temperature") this.temperature = r.takeNull() ? null : new Some<f64>(r.number());
      else if (r.name == "max_tokens") this.max_tokens = r.integer();
      else if (r.name == "skills") this.skills = r.list<AgentSkill>();
      else if (r.name == "mcp_servers") this.mcp_servers = r.list<AgentServer>();
      else if (r.name == "parent_id") this.parent_id = r.text();
      else if (r.name == "role") this.role = r.text();
      else if (r.name == "vendor_key") this.vendor_key = r.text();
      else if (r.name == "agent_key") this.agent_key = r.text();
      else if (r.name == "slug") this.slug = r.text();
      else if (r.name == "version") this.version = r.text();
      else if (r.name == "author") this.author = r.text();
      else if (r.name == "license") this.license = r.text();
      else if (r.name == "tags") this.tags = r.texts();
      else if (r.name == "model_named") this.model_named = r.intoOrNull<AgentModel>();
      else if (r.name == "tools_named") this.tools_named = r.intoOrNull<AgentTools>();
      else if (r.name == "bundle") this.bundle = r.intoOrNull<AgentBundle>();
      else r.skip();
    }
  }
}

/**
 * Rights are what an agent may do, as far as that bounds its subagents. Each member is that of the
 * Persona.
 */
export class Rights {
  persona_id: string = "";
  tools: string[] = [];
  tools_denied: string[] = [];
  capabilities: string[] = [];
  handoffs: string[] = [];
  model_policy: ModelPolicy | null = null;
  mcp_servers: AgentServer[] = [];

  write(w: Writer): void {
    w.object();
    w.name("persona_id"); w.text(this.persona_id);
    if (this.tools.length) { w.name("tools"); w.texts(this.tools); }
    if (this.tools_denied.length) { w.name("tools_denied"); w.texts(this.tools_denied); }
    if (this.capabilities.length) { w.name("capabilities"); w.texts(this.capabilities); }
    if (this.handoffs.length) { w.name("handoffs"); w.texts(this.handoffs); }
    const model_policy_ = this.model_policy;
    if (model_policy_ !== null) { w.name("model_policy"); model_policy_.write(w); }
    if (this.mcp_servers.length) { w.name("mcp_servers"); w.list<AgentServer>(this.mcp_servers); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "persona_id") this.persona_id = r.text();
      else if (r.name == "tools") this.tools = r.texts();
      else if (r.name == "tools_denied") this.tools_denied = r.texts();
      else if (r.name == "capabilities") this.capabilities = r.texts();
      else if (r.name == "handoffs") this.handoffs = r.texts();
      else if (r.name == "model_policy") this.model_policy = r.intoOrNull<ModelPolicy>();
      else if (r.name == "mcp_servers") this.mcp_servers = r.list<AgentServer>();
      else r.skip();
    }
  }
}

/** Persona is a durable operational role: policy, not merely a prompt. */
export class Persona {
  /** Names the resource; it never changes. */
  id: string = "";
  /** The kind of resource. */
  object: string = "";
  /** When it was made. */
  created_at: string = "";
  /** When it last changed. */
  updated_at: string = "";
  /** The client's own: any object; {} if there is none. */
  metadata: Json = Json.NULL;
  name: string = "";
  /** Of its policy: a change is a new version. */
  version: string = "";
  /** What runs its Tasks: PLUGIN, or PLUGIN#EXPORT. */
  entry_workflow: string = "";
  description: string = "";
  /** How far its Tasks may act by themselves. See AutonomyTier. */
  autonomy_tier: string = "";
  /** Whether its Tasks get receipts. See ReceiptPolicy. */
  receipt_policy: string = "";
  /**
   * `tools` and `capabilities` are patterns of what Tasks of the Persona may use: tools as
   * SERVER:TOOL, and host calls. * stands for any characters.
   */
  tools: string[] = [];
  capabilities: string[] = [];
  /**
   * `tools_denied` are patterns as those of `tools`: of what its Tasks may not use, whatever `tools`
   * says.
   */
  tools_denied: string[] = [];
  /** `handoffs` are patterns of the Personas that its Tasks may hand work to; nil for all. */
  handoffs: string[] = [];
  /** Kept, and without effect. */
  triggers: Json[] = [];
  /** Kept, and without effect. */
  schedules: Json[] = [];
  /** Kept, and without effect. */
  context_packs: string[] = [];
  /** Kept, and without effect. */
  evals: string[] = [];
  owner: string = "";
  model_policy: ModelPolicy | null = null;
  /** Kept, and without effect. */
  rollout_policy: Json | null = null;
  /** A Quota that bounds its Tasks. */
  quota_id: string = "";
  /**
   * `budget` bounds each Task of the Persona, and `approvals` says how its Tasks' writes are approved.
   * Both are Wharf's own.
   */
  budget: Budget | null = null;
  approvals: ApprovalPolicy | null = null;
  /**
   * `tools_visibility` is Wharf's own: what keys without events:internal see of its tool calls. See
   * ToolsVisibility.
   */
  tools_visibility: string = "";
  /** Since then no new Task or Session may name it. */
  retired_at: string = "";
  /** The Workspace that alone sees and uses it, for ever; none: the whole tenant. */
  workspace_id: string = "";
  /** What makes it an agent of its own. */
  agent: Agent | null = null;
  /** Set on one that was deleted: no read shows it any more. */
  deleted_at: string = "";
  /**
   * `within` are the rights of the agents whose subagent it is, of its parent first, as they were when
   * a Task of it began: what one of them may not do, that Task may not. It is in what Tasks are pinned
   * to alone.
   */
  within: Rights[] = [];

  write(w: Writer): void {
    w.object();
    w.name("id"); w.text(this.id);
    w.name("object"); w.text(this.object);
    w.name("created_at"); w.text(this.created_at);
    w.name("updated_at"); w.text(this.updated_at);
    w.name("metadata"); w.json(this.metadata);
    w.name("name"); w.text(this.name);
    w.name("version"); w.text(this.version);
    w.name("entry_workflow"); w.text(this.entry_workflow);
    w.name("description"); w.text(this.description);
    w.name("autonomy_tier"); w.text(this.autonomy_tier);
    w.name("receipt_policy"); w.text(this.receipt_policy);
    w.name("tools"); w.texts(this.tools);
    w.name("capabilities"); w.texts(this.capabilities);
    if (this.tools_denied.length) { w.name("tools_denied"); w.texts(this.tools_denied); }
    if (this.handoffs.length) { w.name("handoffs"); w.texts(this.handoffs); }
    if (this.triggers.length) { w.name("triggers"); w.jsons(this.triggers); }
    if (this.schedules.length) { w.name("schedules"); w.jsons(this.schedules); }
    if (this.context_packs.length) { w.name("context_packs"); w.texts(this.context_packs); }
    if (this.evals.length) { w.name("evals"); w.texts(this.evals); }
    if (this.owner.length) { w.name("owner"); w.text(this.owner); }
    const model_policy_ = this.model_policy;
    if (model_policy_ !== null) { w.name("model_policy"); model_policy_.write(w); }
    const rollout_policy_ = this.rollout_policy;
    if (rollout_policy_ !== null) { w.name("rollout_policy"); w.json(rollout_policy_); }
    if (this.quota_id.length) { w.name("quota_id"); w.text(this.quota_id); }
    const budget_ = this.budget;
    if (budget_ !== null) { w.name("budget"); budget_.write(w); }
    const approvals_ = this.approvals;
    if (approvals_ !== null) { w.name("approvals"); approvals_.write(w); }
    if (this.tools_visibility.length) { w.name("tools_visibility"); w.text(this.tools_visibility); }
    if (this.retired_at.length) { w.name("retired_at"); w.text(this.retired_at); }
    if (this.workspace_id.length) { w.name("workspace_id"); w.text(this.workspace_id); }
    const agent_ = this.agent;
    if (agent_ !== null) { w.name("agent"); agent_.write(w); }
    if (this.deleted_at.length) { w.name("deleted_at"); w.text(this.deleted_at); }
    if (this.within.length) { w.name("within"); w.list<Rights>(this.within); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "id") this.id = r.text();
      else if (r.name == "object") this.object = r.text();
      else if (r.name == "created_at") this.created_at = r.text();
      else if (r.name == "updated_at") this.updated_at = r.text();
      else if (r.name == "metadata") this.metadata = r.json();
      else if (r.name == "name") this.name = r.text();
      else if (r.name == "version") this.version = r.text();
      else if (r.name == "entry_workflow") this.entry_workflow = r.text();
      else if (r.name == "description") this.description = r.text();
      else if (r.name == "autonomy_tier") this.autonomy_tier = r.text();
      else if (r.name == "receipt_policy") this.receipt_policy = r.text();
      else if (r.name == "tools") this.tools = r.texts();
      else if (r.name == "capabilities") this.capabilities = r.texts();
      else if (r.name == "tools_denied") this.tools_denied = r.texts();
      else if (r.name == "handoffs") this.handoffs = r.texts();
      else if (r.name == "triggers") this.triggers = r.jsons();
      else if (r.name == "schedules") this.schedules = r.jsons();
      else if (r.name == "context_packs") this.context_packs = r.texts();
      else if (r.name == "evals") this.evals = r.texts();
      else if (r.name == "owner") this.owner = r.text();
      else if (r.name == "model_policy") this.model_policy = r.intoOrNull<ModelPolicy>();
      else if (r.name == "rollout_policy") this.rollout_policy = r.json();
      else if (r.name == "quota_id") this.quota_id = r.text();
      else if (r.name == "budget") this.budget = r.intoOrNull<Budget>();
      else if (r.name == "approvals") this.approvals = r.intoOrNull<ApprovalPolicy>();
      else if (r.name == "tools_visibility") this.tools_visibility = r.text();
      else if (r.name == "retired_at") this.retired_at = r.text();
      else if (r.name == "workspace_id") this.workspace_id = r.text();
      else if (r.name == "agent") this.agent = r.intoOrNull<Agent>();
      else if (r.name == "deleted_at") this.deleted_at = r.text();
      else if (r.name == "within") this.within = r.list<Rights>();
      else r.skip();
    }
  }
}

/** InputSkill is a skill as a plugin is told of it. */
export class InputSkill {
  name: string = "";
  description: string = "";
  version: string = "";
  /** What its SKILL.md says of when to use it, and which tools it asks for. */
  when_to_use: string = "";
  paths: string[] = [];
  allowed_tools: string[] = [];

  write(w: Writer): void {
    w.object();
    w.name("name"); w.text(this.name);
    w.name("description"); w.text(this.description);
    w.name("version"); w.text(this.version);
    if (this.when_to_use.length) { w.name("when_to_use"); w.text(this.when_to_use); }
    if (this.paths.length) { w.name("paths"); w.texts(this.paths); }
    if (this.allowed_tools.length) { w.name("allowed_tools"); w.texts(this.allowed_tools); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "name") this.name = r.text();
      else if (r.name == "description") this.description = r.text();
      else if (r.name == "version") this.version = r.text();
      else if (r.name == "when_to_use") this.when_to_use = r.text();
      else if (r.name == "paths") this.paths = r.texts();
      else if (r.name == "allowed_tools") this.allowed_tools = r.texts();
      else r.skip();
    }
  }
}

/** See its members. */
export class InputAnswer {
  /** As it was accepted; Task.Input holds what was submitted. */
  task: Task = new Task();
  persona: Persona = new Persona();
  session_id: string = "";
  /**
   * `skills` are those that the `task` has, as they were when it started. Their files are read by
   * CallSkillRead.
   */
  skills: InputSkill[] = [];

  write(w: Writer): void {
    w.object();
    w.name("task"); this.task.write(w);
    w.name("persona"); this.persona.write(w);
    w.name("session_id"); w.text(this.session_id);
    if (this.skills.length) { w.name("skills"); w.list<InputSkill>(this.skills); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "task") this.task = r.into<Task>();
      else if (r.name == "persona") this.persona = r.into<Persona>();
      else if (r.name == "session_id") this.session_id = r.text();
      else if (r.name == "skills") this.skills = r.list<InputSkill>();
      else r.skip();
    }
  }
}

/** With `failure` set the Task fails, whatever the export returns. */
export class OutputRequest {
  summary: string = "";
  metrics: Map<string, f64> = new Map<string, f64>();
  failure: Failure | null = null;
  /**
   * `stopped` says that the Task ends before its work is done, and not because it has failed. Then
   * `handoff`, an object, says how things stand for whoever goes on.
   */
  stopped: bool = false;
  handoff: Json | null = null;
  /**
   * `stop_reason` says why the model has stopped whose answer the summary is of: StopLength if it was
   * cut off. Absent: nothing is said. See StopReason.
   */
  stop_reason: string = "";

  write(w: Writer): void {
    w.object();
    w.name("summary"); w.text(this.summary);
    if (this.metrics.size) { w.name("metrics"); w.numberMap(this.metrics); }
    const failure_ = this.failure;
    if (failure_ !== null) { w.name("failure"); failure_.write(w); }
    if (this.stopped) { w.name("stopped"); w.bool(this.stopped); }
    const handoff_ = this.handoff;
    if (handoff_ !== null) { w.name("handoff"); w.json(handoff_); }
    if (this.stop_reason.length) { w.name("stop_reason"); w.text(this.stop_reason); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "summary") this.summary = r.text();
      else if (r.name == "metrics") this.metrics = r.numberMap();
      else if (r.name == "failure") this.failure = r.intoOrNull<Failure>();
      else if (r.name == "stopped") this.stopped = r.bool();
      else if (r.name == "handoff") this.handoff = r.json();
      else if (r.name == "stop_reason") this.stop_reason = r.text();
      else r.skip();
    }
  }
}

/**
 * In every request, call_id is what an override key calls this call; it is to be unique among the
 * Task's calls of that kind.
 */
export class Label {
  call_id: string = "";

  write(w: Writer): void {
    w.object();
    if (this.call_id.length) { w.name("call_id"); w.text(this.call_id); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "call_id") this.call_id = r.text();
      else r.skip();
    }
  }
}

/** See its members. */
export class ClockAnswer {
  /** A decimal string. */
  unix_nano: string = "";

  write(w: Writer): void {
    w.object();
    w.name("unix_nano"); w.text(this.unix_nano);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "unix_nano") this.unix_nano = r.text();
      else r.skip();
    }
  }
}

/** See its members. */
export class IDAnswer {
  id: string = "";

  write(w: Writer): void {
    w.object();
    w.name("id"); w.text(this.id);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "id") this.id = r.text();
      else r.skip();
    }
  }
}

/** See its members. */
export class LogRequest {
  /** Debug, info, warn or error. */
  level: string = "";
  message: string = "";

  write(w: Writer): void {
    w.object();
    w.name("level"); w.text(this.level);
    w.name("message"); w.text(this.message);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "level") this.level = r.text();
      else if (r.name == "message") this.message = r.text();
      else r.skip();
    }
  }
}

/** See its members. */
export class ProgressRequest {
  /** 0 to 1. */
  fraction: f64 = 0;
  message: string = "";

  write(w: Writer): void {
    w.object();
    w.name("fraction"); w.number(this.fraction);
    if (this.message.length) { w.name("message"); w.text(this.message); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "fraction") this.fraction = r.number();
      else if (r.name == "message") this.message = r.text();
      else r.skip();
    }
  }
}

/** PlanStep is one step of a plan. */
export class PlanStep {
  title: string = "";
  /** Pending, in_progress, completed or skipped. */
  status: string = "";

  write(w: Writer): void {
    w.object();
    w.name("title"); w.text(this.title);
    w.name("status"); w.text(this.status);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "title") this.title = r.text();
      else if (r.name == "status") this.status = r.text();
      else r.skip();
    }
  }
}

/** See its members. */
export class PlanRequest {
  steps: PlanStep[] = [];

  write(w: Writer): void {
    w.object();
    w.name("steps"); w.list<PlanStep>(this.steps);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "steps") this.steps = r.list<PlanStep>();
      else r.skip();
    }
  }
}

/** `data` is an object with the members that the kind has, and no others (docs/events.md). */
export class AgentEventRequest {
  /** See AgentEventKind. */
  kind: string = "";
  data: Json = Json.NULL;

  write(w: Writer): void {
    w.object();
    w.name("kind"); w.text(this.kind);
    w.name("data"); w.json(this.data);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "kind") this.kind = r.text();
      else if (r.name == "data") this.data = r.json();
      else r.skip();
    }
  }
}

/** PlannedStep is one step of a Plan. */
export class PlannedStep {
  /** Unique in its plan; the host makes one where there is none. */
  id: string = "";
  /** What is to be done. */
  content: string = "";
  /** See StepStatus. */
  status: string = "";

  write(w: Writer): void {
    w.object();
    if (this.id.length) { w.name("id"); w.text(this.id); }
    w.name("content"); w.text(this.content);
    w.name("status"); w.text(this.status);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "id") this.id = r.text();
      else if (r.name == "content") this.content = r.text();
      else if (r.name == "status") this.status = r.text();
      else r.skip();
    }
  }
}

/** See its members. */
export class PlanSetRequest {
  steps: PlannedStep[] = [];
  /**
   * `version` is that of the plan which is to be replaced, 0 for none; left out for whatever is there.
   * When somebody has changed it meanwhile, nothing happens, and the call is refused with the code
   * plan_changed.
   */
  version: Some<i64> | null = null;

  write(w: Writer): void {
    w.object();
    w.name("steps"); w.list<PlannedStep>(this.steps);
    const version_ = this.version;
    if (version_ !== null) { w.name("version"); w.integer(version_.value); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "steps") this.steps = r.list<PlannedStep>();
      else if (r.name == "version") this.version = r.takeNull() ? null : new Some<i64>(r.integer());
      else r.skip();
    }
  }
}

/** See its members. */
export class PlanAnswer {
  /** 0 for no plan. */
  version: i64 = 0;
  /** The actor of the last change. */
  changed_by: string = "";
  /** Each with its id. */
  steps: PlannedStep[] = [];
  /** Whether the Persona's tier has held the call back: then the rest is empty. */
  withheld: Withheld = Withheld.NO;

  write(w: Writer): void {
    w.object();
    w.name("version"); w.integer(this.version);
    if (this.changed_by.length) { w.name("changed_by"); w.text(this.changed_by); }
    w.name("steps"); w.list<PlannedStep>(this.steps);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "version") this.version = r.integer();
      else if (r.name == "changed_by") this.changed_by = r.text();
      else if (r.name == "steps") this.steps = r.list<PlannedStep>();
      else r.skip();
    }
  }
}

/** See its members. */
export class PlanGetRequest {
  call_id: string = "";

  write(w: Writer): void {
    w.object();
    if (this.call_id.length) { w.name("call_id"); w.text(this.call_id); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "call_id") this.call_id = r.text();
      else r.skip();
    }
  }
}

/** See its members. */
export class InboxTakeRequest {
  call_id: string = "";
  /** See Checkpoint. */
  checkpoint: string = "";
  /**
   * `wait` parks the Task until something is there, at the longest so many milliseconds; 0 for as long
   * as the Task may live.
   */
  wait: bool = false;
  timeout_ms: i64 = 0;

  write(w: Writer): void {
    w.object();
    if (this.call_id.length) { w.name("call_id"); w.text(this.call_id); }
    w.name("checkpoint"); w.text(this.checkpoint);
    if (this.wait) { w.name("wait"); w.bool(this.wait); }
    if (this.timeout_ms != 0) { w.name("timeout_ms"); w.integer(this.timeout_ms); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "call_id") this.call_id = r.text();
      else if (r.name == "checkpoint") this.checkpoint = r.text();
      else if (r.name == "wait") this.wait = r.bool();
      else if (r.name == "timeout_ms") this.timeout_ms = r.integer();
      else r.skip();
    }
  }
}

/** Part is one block of a Message. Which members are set follows from `type`. */
export class Part {
  /** See PartType. */
  type: string = "";
  text: string | null = null;
  value: Json | null = null;
  /** Joins a call and its result. */
  tool_call_id: string = "";
  name: string = "";
  input: Json | null = null;
  output: Json | null = null;
  /** Of a tool_result: ok or error. */
  status: string = "";
  artifact_id: string = "";
  /** Where the file is. */
  uri: string = "";
  /** Of the file or image. */
  mime_type: string = "";
  /** See Visibility. */
  visibility: string = "";
  /** `redacted` marks a part whose content was withheld from this reader. */
  redacted: bool = false;

  write(w: Writer): void {
    w.object();
    w.name("type"); w.text(this.type);
    const text_ = this.text;
    if (text_ !== null) { w.name("text"); w.text(text_); }
    const value_ = this.value;
    if (value_ !== null) { w.name("value"); w.json(value_); }
    if (this.tool_call_id.length) { w.name("tool_call_id"); w.text(this.tool_call_id); }
    if (this.name.length) { w.name("name"); w.text(this.name); }
    const input_ = this.input;
    if (input_ !== null) { w.name("input"); w.json(input_); }
    const output_ = this.output;
    if (output_ !== null) { w.name("output"); w.json(output_); }
    if (this.status.length) { w.name("status"); w.text(this.status); }
    if (this.artifact_id.length) { w.name("artifact_id"); w.text(this.artifact_id); }
    if (this.uri.length) { w.name("uri"); w.text(this.uri); }
    if (this.mime_type.length) { w.name("mime_type"); w.text(this.mime_type); }
    w.name("visibility"); w.text(this.visibility);
    if (this.redacted) { w.name("redacted"); w.bool(this.redacted); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "type") this.type = r.text();
      else if (r.name == "text") this.text = r.textOrNull();
      else if (r.name == "value") this.value = r.json();
      else if (r.name == "tool_call_id") this.tool_call_id = r.text();
      else if (r.name == "name") this.name = r.text();
      else if (r.name == "input") this.input = r.json();
      else if (r.name == "output") this.output = r.json();
      else if (r.name == "status") this.status = r.text();
      else if (r.name == "artifact_id") this.artifact_id = r.text();
      else if (r.name == "uri") this.uri = r.text();
      else if (r.name == "mime_type") this.mime_type = r.text();
      else if (r.name == "visibility") this.visibility = r.text();
      else if (r.name == "redacted") this.redacted = r.bool();
      else r.skip();
    }
  }
}

/**
 * Message is one turn of a Session's transcript. Where it is shown to clients it has the member
 * workspace_id too.
 */
export class Message {
  /** Names the resource; it never changes. */
  id: string = "";
  /** The kind of resource. */
  object: string = "";
  /** When it was made. */
  created_at: string = "";
  /** When it last changed. */
  updated_at: string = "";
  /** The client's own: any object; {} if there is none. */
  metadata: Json = Json.NULL;
  /** Who speaks. See Role. */
  role: string = "";
  /** The content, in its order. */
  parts: Part[] = [];
  session_id: string = "";
  task_id: string = "";

  write(w: Writer): void {
    w.object();
    w.name("id"); w.text(this.id);
    w.name("object"); w.text(this.object);
    w.name("created_at"); w.text(this.created_at);
    w.name("updated_at"); w.text(this.updated_at);
    w.name("metadata"); w.json(this.metadata);
    w.name("role"); w.text(this.role);
    w.name("parts"); w.list<Part>(this.parts);
    if (this.session_id.length) { w.name("session_id"); w.text(this.session_id); }
    if (this.task_id.length) { w.name("task_id"); w.text(this.task_id); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "id") this.id = r.text();
      else if (r.name == "object") this.object = r.text();
      else if (r.name == "created_at") this.created_at = r.text();
      else if (r.name == "updated_at") this.updated_at = r.text();
      else if (r.name == "metadata") this.metadata = r.json();
      else if (r.name == "role") this.role = r.text();
      else if (r.name == "parts") this.parts = r.list<Part>();
      else if (r.name == "session_id") this.session_id = r.text();
      else if (r.name == "task_id") this.task_id = r.text();
      else r.skip();
    }
  }
}

/** TakenReminder is a reminder that is to be shown to a model. */
export class TakenReminder {
  reminder_id: string = "";
  tags: string[] = [];
  body: string = "";
  /** See ReminderRole. */
  role_hint: string = "";
  /** System, or user. See ReminderRole. */
  rendered_role: string = "";
  source: string = "";
  ttl_turns: i64 = 0;
  _meta: Map<string, Json> = new Map<string, Json>();

  write(w: Writer): void {
    w.object();
    w.name("reminder_id"); w.text(this.reminder_id);
    if (this.tags.length) { w.name("tags"); w.texts(this.tags); }
    w.name("body"); w.text(this.body);
    w.name("role_hint"); w.text(this.role_hint);
    w.name("rendered_role"); w.text(this.rendered_role);
    w.name("source"); w.text(this.source);
    w.name("ttl_turns"); w.integer(this.ttl_turns);
    if (this._meta.size) { w.name("_meta"); w.jsonMap(this._meta); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "reminder_id") this.reminder_id = r.text();
      else if (r.name == "tags") this.tags = r.texts();
      else if (r.name == "body") this.body = r.text();
      else if (r.name == "role_hint") this.role_hint = r.text();
      else if (r.name == "rendered_role") this.rendered_role = r.text();
      else if (r.name == "source") this.source = r.text();
      else if (r.name == "ttl_turns") this.ttl_turns = r.integer();
      else if (r.name == "_meta") this._meta = r.jsonMap();
      else r.skip();
    }
  }
}

/** See its members. */
export class InboxTakeAnswer {
  /** As the transcript has them. */
  messages: Message[] = [];
  reminders: TakenReminder[] = [];
  /** `woken` says why a call that waited brings nothing. See InboxWoken. */
  woken: string = "";

  write(w: Writer): void {
    w.object();
    w.name("messages"); w.list<Message>(this.messages);
    w.name("reminders"); w.list<TakenReminder>(this.reminders);
    if (this.woken.length) { w.name("woken"); w.text(this.woken); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "messages") this.messages = r.list<Message>();
      else if (r.name == "reminders") this.reminders = r.list<TakenReminder>();
      else if (r.name == "woken") this.woken = r.text();
      else r.skip();
    }
  }
}

/** MessageInput is a Message as a client writes it. */
export class MessageInput {
  /** Who speaks. See Role. */
  role: string = "";
  /** The content, in its order. */
  parts: Part[] = [];
  metadata: Json | null = null;

  write(w: Writer): void {
    w.object();
    w.name("role"); w.text(this.role);
    w.name("parts"); w.list<Part>(this.parts);
    const metadata_ = this.metadata;
    if (metadata_ !== null) { w.name("metadata"); w.json(metadata_); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "role") this.role = r.text();
      else if (r.name == "parts") this.parts = r.list<Part>();
      else if (r.name == "metadata") this.metadata = r.json();
      else r.skip();
    }
  }
}

/** See its members. */
export class MessageAppendAnswer {
  message_id: string = "";
  /** Whether the Persona's tier has held the call back: then the rest is empty. */
  withheld: Withheld = Withheld.NO;

  write(w: Writer): void {
    w.object();
    w.name("message_id"); w.text(this.message_id);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "message_id") this.message_id = r.text();
      else r.skip();
    }
  }
}

/** See its members. */
export class MessageDeltaRequest {
  text: string = "";

  write(w: Writer): void {
    w.object();
    w.name("text"); w.text(this.text);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "text") this.text = r.text();
      else r.skip();
    }
  }
}

/** `last` asks for the newest so many Messages; 0 for 50. */
export class TranscriptReadRequest {
  call_id: string = "";
  last: i64 = 0;

  write(w: Writer): void {
    w.object();
    if (this.call_id.length) { w.name("call_id"); w.text(this.call_id); }
    if (this.last != 0) { w.name("last"); w.integer(this.last); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "call_id") this.call_id = r.text();
      else if (r.name == "last") this.last = r.integer();
      else r.skip();
    }
  }
}

/**
 * `earlier` says that there are `messages` before these. `unreadable` has the ids of those that are
 * left out, for what is stored of them cannot be read.
 */
export class TranscriptReadAnswer {
  messages: Message[] = [];
  earlier: bool = false;
  unreadable: string[] = [];

  write(w: Writer): void {
    w.object();
    w.name("messages"); w.list<Message>(this.messages);
    if (this.earlier) { w.name("earlier"); w.bool(this.earlier); }
    if (this.unreadable.length) { w.name("unreadable"); w.texts(this.unreadable); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "messages") this.messages = r.list<Message>();
      else if (r.name == "earlier") this.earlier = r.bool();
      else if (r.name == "unreadable") this.unreadable = r.texts();
      else r.skip();
    }
  }
}

/** ModelToolCall is a model's wish to have a tool called. */
export class ModelToolCall {
  id: string = "";
  name: string = "";
  /** A JSON object. */
  arguments: Json = Json.NULL;

  write(w: Writer): void {
    w.object();
    w.name("id"); w.text(this.id);
    w.name("name"); w.text(this.name);
    w.name("arguments"); w.json(this.arguments);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "id") this.id = r.text();
      else if (r.name == "name") this.name = r.text();
      else if (r.name == "arguments") this.arguments = r.json();
      else r.skip();
    }
  }
}

/** ModelMessage is one message of a conversation with a model. `role` is user, assistant or tool. */
export class ModelMessage {
  role: string = "";
  text: string = "";
  /** Of an assistant. */
  tool_calls: ModelToolCall[] = [];
  /** `tool_call_id` and `is_error` belong to the role tool: `text` is what the tool answered. */
  tool_call_id: string = "";
  is_error: bool = false;

  write(w: Writer): void {
    w.object();
    w.name("role"); w.text(this.role);
    if (this.text.length) { w.name("text"); w.text(this.text); }
    if (this.tool_calls.length) { w.name("tool_calls"); w.list<ModelToolCall>(this.tool_calls); }
    if (this.tool_call_id.length) { w.name("tool_call_id"); w.text(this.tool_call_id); }
    if (this.is_error) { w.name("is_error"); w.bool(this.is_error); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "role") this.role = r.text();
      else if (r.name == "text") this.text = r.text();
      else if (r.name == "tool_calls") this.tool_calls = r.list<ModelToolCall>();
      else if (r.name == "tool_call_id") this.tool_call_id = r.text();
      else if (r.name == "is_error") this.is_error = r.bool();
      else r.skip();
    }
  }
}

/** ModelTool is a tool that a model may ask for. */
export class ModelTool {
  name: string = "";
  description: string = "";
  input_schema: Json | null = null;

  write(w: Writer): void {
    w.object();
    w.name("name"); w.text(this.name);
    if (this.description.length) { w.name("description"); w.text(this.description); }
    const input_schema_ = this.input_schema;
    if (input_schema_ !== null) { w.name("input_schema"); w.json(input_schema_); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "name") this.name = r.text();
      else if (r.name == "description") this.description = r.text();
      else if (r.name == "input_schema") this.input_schema = r.json();
      else r.skip();
    }
  }
}

/** See its members. */
export class ModelRequest {
  call_id: string = "";
  /** `model` names a configured model, or is empty for the node's default. */
  model: string = "";
  system: string = "";
  messages: ModelMessage[] = [];
  tools: ModelTool[] = [];
  /** Auto (default), none, any, or a tool's name. */
  tool_choice: string = "";
  max_tokens: i64 = 0;
  temperature: Some<f64> | null = null;
  stop: string[] = [];
  /** `stream` tells watchers the text as it comes, as message deltas. The answer is the same. */
  stream: bool = false;

  write(w: Writer): void {
    w.object();
    if (this.call_id.length) { w.name("call_id"); w.text(this.call_id); }
    if (this.model.length) { w.name("model"); w.text(this.model); }
    if (this.system.length) { w.name("system"); w.text(this.system); }
    w.name("messages"); w.list<ModelMessage>(this.messages);
    if (this.tools.length) { w.name("tools"); w.list<ModelTool>(this.tools); }
    if (this.tool_choice.length) { w.name("tool_choice"); w.text(this.tool_choice); }
    if (this.max_tokens != 0) { w.name("max_tokens"); w.integer(this.max_tokens); }
    const temperature_ = this.temperature;
    if (temperature_ !== null) { w.name("temperature"); w.number(temperature_.value); }
    if (this.stop.length) { w.name("stop"); w.texts(this.stop); }
    if (this.stream) { w.name("stream"); w.bool(this.stream); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "call_id") this.call_id = r.text();
      else if (r.name == "model") this.model = r.text();
      else if (r.name == "system") this.system = r.text();
      else if (r.name == "messages") this.messages = r.list<ModelMessage>();
      else if (r.name == "tools") this.tools = r.list<ModelTool>();
      else if (r.name == "tool_choice") this.tool_choice = r.text();
      else if (r.name == "max_tokens") this.max_tokens = r.integer();
      else if (r.name == "temperature") this.temperature = r.takeNull() ? null : new Some<f64>(r.number());
      else if (r.name == "stop") this.stop = r.texts();
      else if (r.name == "stream") this.stream = r.bool();
      else r.skip();
    }
  }
}

/** ModelUsage counts tokens. */
export class ModelUsage {
  input_tokens: i64 = 0;
  output_tokens: i64 = 0;

  write(w: Writer): void {
    w.object();
    w.name("input_tokens"); w.integer(this.input_tokens);
    w.name("output_tokens"); w.integer(this.output_tokens);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "input_tokens") this.input_tokens = r.integer();
      else if (r.name == "output_tokens") this.output_tokens = r.integer();
      else r.skip();
    }
  }
}

/** ModelConsidered is a model that was not used. */
export class ModelConsidered {
  provider: string = "";
  model: string = "";
  reason: string = "";

  write(w: Writer): void {
    w.object();
    w.name("provider"); w.text(this.provider);
    w.name("model"); w.text(this.model);
    w.name("reason"); w.text(this.reason);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "provider") this.provider = r.text();
      else if (r.name == "model") this.model = r.text();
      else if (r.name == "reason") this.reason = r.text();
      else r.skip();
    }
  }
}

/** See its members. */
export class ModelAnswer {
  /** Openai, anthropic, script or client. */
  provider: string = "";
  /** As the provider names it. */
  model: string = "";
  text: string = "";
  tool_calls: ModelToolCall[] = [];
  /** See StopReason. */
  stop_reason: string = "";
  usage: ModelUsage = new ModelUsage();
  /** `cost` is in `currency`, from the node's price table; 0 when it has no price. */
  cost: f64 = 0;
  currency: string = "";
  /**
   * `route` says why this model was taken, and `considered` which others were configured for the same
   * name and were tried or passed over before.
   */
  route: string = "";
  considered: ModelConsidered[] = [];

  write(w: Writer): void {
    w.object();
    w.name("provider"); w.text(this.provider);
    w.name("model"); w.text(this.model);
    w.name("text"); w.text(this.text);
    if (this.tool_calls.length) { w.name("tool_calls"); w.list<ModelToolCall>(this.tool_calls); }
    w.name("stop_reason"); w.text(this.stop_reason);
    w.name("usage"); this.usage.write(w);
    w.name("cost"); w.number(this.cost);
    w.name("currency"); w.text(this.currency);
    w.name("route"); w.text(this.route);
    if (this.considered.length) { w.name("considered"); w.list<ModelConsidered>(this.considered); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "provider") this.provider = r.text();
      else if (r.name == "model") this.model = r.text();
      else if (r.name == "text") this.text = r.text();
      else if (r.name == "tool_calls") this.tool_calls = r.list<ModelToolCall>();
      else if (r.name == "stop_reason") this.stop_reason = r.text();
      else if (r.name == "usage") this.usage = r.into<ModelUsage>();
      else if (r.name == "cost") this.cost = r.number();
      else if (r.name == "currency") this.currency = r.text();
      else if (r.name == "route") this.route = r.text();
      else if (r.name == "considered") this.considered = r.list<ModelConsidered>();
      else r.skip();
    }
  }
}

/** An empty `server` lists those of all. */
export class ToolListRequest {
  call_id: string = "";
  server: string = "";

  write(w: Writer): void {
    w.object();
    if (this.call_id.length) { w.name("call_id"); w.text(this.call_id); }
    if (this.server.length) { w.name("server"); w.text(this.server); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "call_id") this.call_id = r.text();
      else if (r.name == "server") this.server = r.text();
      else r.skip();
    }
  }
}

/**
 * Tool describes a tool that a plugin may call. The hints are what the tool says of itself (Model
 * Context Protocol, tool annotations).
 */
export class Tool {
  server: string = "";
  name: string = "";
  description: string = "";
  input_schema: Json | null = null;
  read_only: bool = false;
  idempotent: bool = false;
  destructive: bool = false;
  /** It reaches what is not its server's own. */
  open_world: bool = false;
  /** Whoever offers it would rather have another called. */
  deprecated: bool = false;

  write(w: Writer): void {
    w.object();
    w.name("server"); w.text(this.server);
    w.name("name"); w.text(this.name);
    if (this.description.length) { w.name("description"); w.text(this.description); }
    const input_schema_ = this.input_schema;
    if (input_schema_ !== null) { w.name("input_schema"); w.json(input_schema_); }
    if (this.read_only) { w.name("read_only"); w.bool(this.read_only); }
    if (this.idempotent) { w.name("idempotent"); w.bool(this.idempotent); }
    if (this.destructive) { w.name("destructive"); w.bool(this.destructive); }
    if (this.open_world) { w.name("open_world"); w.bool(this.open_world); }
    if (this.deprecated) { w.name("deprecated"); w.bool(this.deprecated); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "server") this.server = r.text();
      else if (r.name == "name") this.name = r.text();
      else if (r.name == "description") this.description = r.text();
      else if (r.name == "input_schema") this.input_schema = r.json();
      else if (r.name == "read_only") this.read_only = r.bool();
      else if (r.name == "idempotent") this.idempotent = r.bool();
      else if (r.name == "destructive") this.destructive = r.bool();
      else if (r.name == "open_world") this.open_world = r.bool();
      else if (r.name == "deprecated") this.deprecated = r.bool();
      else r.skip();
    }
  }
}

/** See its members. */
export class ToolListAnswer {
  tools: Tool[] = [];

  write(w: Writer): void {
    w.object();
    w.name("tools"); w.list<Tool>(this.tools);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "tools") this.tools = r.list<Tool>();
      else r.skip();
    }
  }
}

/** See its members. */
export class ToolCallRequest {
  call_id: string = "";
  server: string = "";
  name: string = "";
  /** A JSON object. */
  arguments: Json | null = null;
  /**
   * `composition_id` is that of the composition which the call is a child of. The one that is open has
   * all calls as its children, named or not: a call that names another is refused.
   */
  composition_id: string = "";

  write(w: Writer): void {
    w.object();
    if (this.call_id.length) { w.name("call_id"); w.text(this.call_id); }
    w.name("server"); w.text(this.server);
    w.name("name"); w.text(this.name);
    const arguments_ = this.arguments;
    if (arguments_ !== null) { w.name("arguments"); w.json(arguments_); }
    if (this.composition_id.length) { w.name("composition_id"); w.text(this.composition_id); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "call_id") this.call_id = r.text();
      else if (r.name == "server") this.server = r.text();
      else if (r.name == "name") this.name = r.text();
      else if (r.name == "arguments") this.arguments = r.json();
      else if (r.name == "composition_id") this.composition_id = r.text();
      else r.skip();
    }
  }
}

/** ToolContent is one block of a tool's answer. `type` is text, image, audio or resource. */
export class ToolContent {
  type: string = "";
  text: string = "";
  /** Base64. */
  data: Uint8Array = new Uint8Array(0);
  mime_type: string = "";
  uri: string = "";

  write(w: Writer): void {
    w.object();
    w.name("type"); w.text(this.type);
    if (this.text.length) { w.name("text"); w.text(this.text); }
    if (this.data.length) { w.name("data"); w.base64(this.data); }
    if (this.mime_type.length) { w.name("mime_type"); w.text(this.mime_type); }
    if (this.uri.length) { w.name("uri"); w.text(this.uri); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "type") this.type = r.text();
      else if (r.name == "text") this.text = r.text();
      else if (r.name == "data") this.data = r.base64();
      else if (r.name == "mime_type") this.mime_type = r.text();
      else if (r.name == "uri") this.uri = r.text();
      else r.skip();
    }
  }
}

/** A tool that failed by its own word answers with `is_error`; the call itself is then still `ok`. */
export class ToolCallAnswer {
  content: ToolContent[] = [];
  structured: Json | null = null;
  is_error: bool = false;
  /** Whether the Persona's tier has held the call back: then the rest is empty. */
  withheld: Withheld = Withheld.NO;

  write(w: Writer): void {
    w.object();
    w.name("content"); w.list<ToolContent>(this.content);
    const structured_ = this.structured;
    if (structured_ !== null) { w.name("structured"); w.json(structured_); }
    if (this.is_error) { w.name("is_error"); w.bool(this.is_error); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "content") this.content = r.list<ToolContent>();
      else if (r.name == "structured") this.structured = r.json();
      else if (r.name == "is_error") this.is_error = r.bool();
      else r.skip();
    }
  }
}

/** No `kind` is KindResource. */
export class ResourceListRequest {
  call_id: string = "";
  server: string = "";
  /** See ResourceKind. */
  kind: string = "";

  write(w: Writer): void {
    w.object();
    if (this.call_id.length) { w.name("call_id"); w.text(this.call_id); }
    w.name("server"); w.text(this.server);
    if (this.kind.length) { w.name("kind"); w.text(this.kind); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "call_id") this.call_id = r.text();
      else if (r.name == "server") this.server = r.text();
      else if (r.name == "kind") this.kind = r.text();
      else r.skip();
    }
  }
}

/** Resource describes a resource of a server of tools: what its `uri` names can be read. */
export class Resource {
  uri: string = "";
  name: string = "";
  title: string = "";
  description: string = "";
  mime_type: string = "";
  /** In bytes, when the server says it. */
  size: i64 = 0;

  write(w: Writer): void {
    w.object();
    w.name("uri"); w.text(this.uri);
    w.name("name"); w.text(this.name);
    if (this.title.length) { w.name("title"); w.text(this.title); }
    if (this.description.length) { w.name("description"); w.text(this.description); }
    if (this.mime_type.length) { w.name("mime_type"); w.text(this.mime_type); }
    if (this.size != 0) { w.name("size"); w.integer(this.size); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "uri") this.uri = r.text();
      else if (r.name == "name") this.name = r.text();
      else if (r.name == "title") this.title = r.text();
      else if (r.name == "description") this.description = r.text();
      else if (r.name == "mime_type") this.mime_type = r.text();
      else if (r.name == "size") this.size = r.integer();
      else r.skip();
    }
  }
}

/** ResourceTemplate describes resources whose URIs have a form (RFC 6570). */
export class ResourceTemplate {
  uri_template: string = "";
  name: string = "";
  title: string = "";
  description: string = "";
  mime_type: string = "";

  write(w: Writer): void {
    w.object();
    w.name("uri_template"); w.text(this.uri_template);
    w.name("name"); w.text(this.name);
    if (this.title.length) { w.name("title"); w.text(this.title); }
    if (this.description.length) { w.name("description"); w.text(this.description); }
    if (this.mime_type.length) { w.name("mime_type"); w.text(this.mime_type); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "uri_template") this.uri_template = r.text();
      else if (r.name == "name") this.name = r.text();
      else if (r.name == "title") this.title = r.text();
      else if (r.name == "description") this.description = r.text();
      else if (r.name == "mime_type") this.mime_type = r.text();
      else r.skip();
    }
  }
}

/** PromptArgument describes an argument of a Prompt. */
export class PromptArgument {
  name: string = "";
  title: string = "";
  description: string = "";
  required: bool = false;

  write(w: Writer): void {
    w.object();
    w.name("name"); w.text(this.name);
    if (this.title.length) { w.name("title"); w.text(this.title); }
    if (this.description.length) { w.name("description"); w.text(this.description); }
    if (this.required) { w.name("required"); w.bool(this.required); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "name") this.name = r.text();
      else if (r.name == "title") this.title = r.text();
      else if (r.name == "description") this.description = r.text();
      else if (r.name == "required") this.required = r.bool();
      else r.skip();
    }
  }
}

/** Prompt describes a prompt of a server of tools. */
export class Prompt {
  name: string = "";
  title: string = "";
  description: string = "";
  arguments: PromptArgument[] = [];

  write(w: Writer): void {
    w.object();
    w.name("name"); w.text(this.name);
    if (this.title.length) { w.name("title"); w.text(this.title); }
    if (this.description.length) { w.name("description"); w.text(this.description); }
    if (this.arguments.length) { w.name("arguments"); w.list<PromptArgument>(this.arguments); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "name") this.name = r.text();
      else if (r.name == "title") this.title = r.text();
      else if (r.name == "description") this.description = r.text();
      else if (r.name == "arguments") this.arguments = r.list<PromptArgument>();
      else r.skip();
    }
  }
}

/** See its members. */
export class ResourceListAnswer {
  resources: Resource[] = [];
  templates: ResourceTemplate[] = [];
  prompts: Prompt[] = [];

  write(w: Writer): void {
    w.object();
    if (this.resources.length) { w.name("resources"); w.list<Resource>(this.resources); }
    if (this.templates.length) { w.name("templates"); w.list<ResourceTemplate>(this.templates); }
    if (this.prompts.length) { w.name("prompts"); w.list<Prompt>(this.prompts); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "resources") this.resources = r.list<Resource>();
      else if (r.name == "templates") this.templates = r.list<ResourceTemplate>();
      else if (r.name == "prompts") this.prompts = r.list<Prompt>();
      else r.skip();
    }
  }
}

/** See its members. */
export class ResourceReadRequest {
  call_id: string = "";
  server: string = "";
  uri: string = "";

  write(w: Writer): void {
    w.object();
    if (this.call_id.length) { w.name("call_id"); w.text(this.call_id); }
    w.name("server"); w.text(this.server);
    w.name("uri"); w.text(this.uri);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "call_id") this.call_id = r.text();
      else if (r.name == "server") this.server = r.text();
      else if (r.name == "uri") this.uri = r.text();
      else r.skip();
    }
  }
}

/** ResourceContent is the content of a resource: text, or bytes. */
export class ResourceContent {
  uri: string = "";
  mime_type: string = "";
  text: string = "";
  /** Base64. */
  data: Uint8Array = new Uint8Array(0);

  write(w: Writer): void {
    w.object();
    w.name("uri"); w.text(this.uri);
    if (this.mime_type.length) { w.name("mime_type"); w.text(this.mime_type); }
    if (this.text.length) { w.name("text"); w.text(this.text); }
    if (this.data.length) { w.name("data"); w.base64(this.data); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "uri") this.uri = r.text();
      else if (r.name == "mime_type") this.mime_type = r.text();
      else if (r.name == "text") this.text = r.text();
      else if (r.name == "data") this.data = r.base64();
      else r.skip();
    }
  }
}

/** One URI may name several contents. */
export class ResourceReadAnswer {
  contents: ResourceContent[] = [];

  write(w: Writer): void {
    w.object();
    w.name("contents"); w.list<ResourceContent>(this.contents);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "contents") this.contents = r.list<ResourceContent>();
      else r.skip();
    }
  }
}

/** See its members. */
export class PromptGetRequest {
  call_id: string = "";
  server: string = "";
  name: string = "";
  arguments: Map<string, string> = new Map<string, string>();

  write(w: Writer): void {
    w.object();
    if (this.call_id.length) { w.name("call_id"); w.text(this.call_id); }
    w.name("server"); w.text(this.server);
    w.name("name"); w.text(this.name);
    if (this.arguments.size) { w.name("arguments"); w.textMap(this.arguments); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "call_id") this.call_id = r.text();
      else if (r.name == "server") this.server = r.text();
      else if (r.name == "name") this.name = r.text();
      else if (r.name == "arguments") this.arguments = r.textMap();
      else r.skip();
    }
  }
}

/** PromptMessage is a message of a prompt. `role` is user or assistant. */
export class PromptMessage {
  role: string = "";
  content: ToolContent = new ToolContent();

  write(w: Writer): void {
    w.object();
    w.name("role"); w.text(this.role);
    w.name("content"); this.content.write(w);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "role") this.role = r.text();
      else if (r.name == "content") this.content = r.into<ToolContent>();
      else r.skip();
    }
  }
}

/** See its members. */
export class PromptGetAnswer {
  description: string = "";
  messages: PromptMessage[] = [];

  write(w: Writer): void {
    w.object();
    if (this.description.length) { w.name("description"); w.text(this.description); }
    w.name("messages"); w.list<PromptMessage>(this.messages);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "description") this.description = r.text();
      else if (r.name == "messages") this.messages = r.list<PromptMessage>();
      else r.skip();
    }
  }
}

/**
 * `header` values and the `url`'s query may hold secret handles ({{secret:NAME}}), which the host
 * replaces.
 */
export class HTTPFetchRequest {
  call_id: string = "";
  /** Default GET. */
  method: string = "";
  url: string = "";
  /** `header` holds one value by name. */
  header: Map<string, string> = new Map<string, string>();
  /** The body as text. */
  text: string = "";
  /** The body as bytes, base64; not with `text`. */
  body: Uint8Array = new Uint8Array(0);
  /** `purpose` is what the receipt says that the request was for. */
  purpose: string = "";
  /**
   * `idempotency_header` names the header by which the target recognizes a repeated write, such as
   * Idempotency-Key. The host fills it in, and repeats the request after a crash. Without it, such a
   * write is answered with `indeterminate`.
   */
  idempotency_header: string = "";
  timeout_ms: i64 = 0;

  write(w: Writer): void {
    w.object();
    if (this.call_id.length) { w.name("call_id"); w.text(this.call_id); }
    if (this.method.length) { w.name("method"); w.text(this.method); }
    w.name("url"); w.text(this.url);
    if (this.header.size) { w.name("header"); w.textMap(this.header); }
    if (this.text.length) { w.name("text"); w.text(this.text); }
    if (this.body.length) { w.name("body"); w.base64(this.body); }
    if (this.purpose.length) { w.name("purpose"); w.text(this.purpose); }
    if (this.idempotency_header.length) { w.name("idempotency_header"); w.text(this.idempotency_header); }
    if (this.timeout_ms != 0) { w.name("timeout_ms"); w.integer(this.timeout_ms); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "call_id") this.call_id = r.text();
      else if (r.name == "method") this.method = r.text();
      else if (r.name == "url") this.url = r.text();
      else if (r.name == "header") this.header = r.textMap();
      else if (r.name == "text") this.text = r.text();
      else if (r.name == "body") this.body = r.base64();
      else if (r.name == "purpose") this.purpose = r.text();
      else if (r.name == "idempotency_header") this.idempotency_header = r.text();
      else if (r.name == "timeout_ms") this.timeout_ms = r.integer();
      else r.skip();
    }
  }
}

/** A status of 400 and more is an answer, not a failed call. */
export class HTTPFetchAnswer {
  status: i64 = 0;
  /** After redirects, without secrets. */
  url: string = "";
  header: Map<string, string> = new Map<string, string>();
  /** The body, when it is UTF-8. */
  text: string = "";
  /** The body otherwise, base64. */
  body: Uint8Array = new Uint8Array(0);
  /** Body bytes of the request. */
  bytes_sent: i64 = 0;
  /** Whether the Persona's tier has held the call back: then the rest is empty. */
  withheld: Withheld = Withheld.NO;

  write(w: Writer): void {
    w.object();
    w.name("status"); w.integer(this.status);
    w.name("url"); w.text(this.url);
    w.name("header"); w.textMap(this.header);
    if (this.text.length) { w.name("text"); w.text(this.text); }
    if (this.body.length) { w.name("body"); w.base64(this.body); }
    w.name("bytes_sent"); w.integer(this.bytes_sent);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "status") this.status = r.integer();
      else if (r.name == "url") this.url = r.text();
      else if (r.name == "header") this.header = r.textMap();
      else if (r.name == "text") this.text = r.text();
      else if (r.name == "body") this.body = r.base64();
      else if (r.name == "bytes_sent") this.bytes_sent = r.integer();
      else r.skip();
    }
  }
}

/** See its members. */
export class SecretUseRequest {
  name: string = "";

  write(w: Writer): void {
    w.object();
    w.name("name"); w.text(this.name);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "name") this.name = r.text();
      else r.skip();
    }
  }
}

/** `handle` is what to write where the secret belongs. */
export class SecretUseAnswer {
  handle: string = "";

  write(w: Writer): void {
    w.object();
    w.name("handle"); w.text(this.handle);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "handle") this.handle = r.text();
      else r.skip();
    }
  }
}

/** A Memory is found when it holds every word of `text`, in any letter case; an empty `text` finds all. */
export class MemoryQueryRequest {
  call_id: string = "";
  /** See MemoryScope. */
  scope: string = "";
  text: string = "";
  /** 1 to 100; default 10. */
  limit: i64 = 0;

  write(w: Writer): void {
    w.object();
    if (this.call_id.length) { w.name("call_id"); w.text(this.call_id); }
    w.name("scope"); w.text(this.scope);
    if (this.text.length) { w.name("text"); w.text(this.text); }
    if (this.limit != 0) { w.name("limit"); w.integer(this.limit); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "call_id") this.call_id = r.text();
      else if (r.name == "scope") this.scope = r.text();
      else if (r.name == "text") this.text = r.text();
      else if (r.name == "limit") this.limit = r.integer();
      else r.skip();
    }
  }
}

/** Memory is durable knowledge, apart from transcripts. */
export class Memory {
  /** Names the resource; it never changes. */
  id: string = "";
  /** The kind of resource. */
  object: string = "";
  /** When it was made. */
  created_at: string = "";
  /** When it last changed. */
  updated_at: string = "";
  /** The client's own: any object; {} if there is none. */
  metadata: Json = Json.NULL;
  /** See MemoryScope. */
  scope: string = "";
  owner_id: string = "";
  /** A string or an object; null when it is redacted. */
  content: Json = Json.NULL;
  provenance: Json = Json.NULL;
  expires_at: string = "";
  /** See Visibility. */
  visibility: string = "";
  confidence: f64 = 0;
  /** The client's own: Wharf keeps it. */
  redaction_policy: Json | null = null;
  /** The client's own: Wharf keeps it. */
  embedding_ref: string = "";
  /** `redacted_at` is set when the content was redacted. */
  redacted_at: string = "";
  workspace_id: string = "";
  session_id: string = "";

  write(w: Writer): void {
    w.object();
    w.name("id"); w.text(this.id);
    w.name("object"); w.text(this.object);
    w.name("created_at"); w.text(this.created_at);
    w.name("updated_at"); w.text(this.updated_at);
    w.name("metadata"); w.json(this.metadata);
    w.name("scope"); w.text(this.scope);
    w.name("owner_id"); w.text(this.owner_id);
    w.name("content"); w.json(this.content);
    w.name("provenance"); w.json(this.provenance);
    if (this.expires_at.length) { w.name("expires_at"); w.text(this.expires_at); }
    if (this.visibility.length) { w.name("visibility"); w.text(this.visibility); }
    if (this.confidence != 0) { w.name("confidence"); w.number(this.confidence); }
    const redaction_policy_ = this.redaction_policy;
    if (redaction_policy_ !== null) { w.name("redaction_policy"); w.json(redaction_policy_); }
    if (this.embedding_ref.length) { w.name("embedding_ref"); w.text(this.embedding_ref); }
    if (this.redacted_at.length) { w.name("redacted_at"); w.text(this.redacted_at); }
    if (this.workspace_id.length) { w.name("workspace_id"); w.text(this.workspace_id); }
    if (this.session_id.length) { w.name("session_id"); w.text(this.session_id); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "id") this.id = r.text();
      else if (r.name == "object") this.object = r.text();
      else if (r.name == "created_at") this.created_at = r.text();
      else if (r.name == "updated_at") this.updated_at = r.text();
      else if (r.name == "metadata") this.metadata = r.json();
      else if (r.name == "scope") this.scope = r.text();
      else if (r.name == "owner_id") this.owner_id = r.text();
      else if (r.name == "content") this.content = r.json();
      else if (r.name == "provenance") this.provenance = r.json();
      else if (r.name == "expires_at") this.expires_at = r.text();
      else if (r.name == "visibility") this.visibility = r.text();
      else if (r.name == "confidence") this.confidence = r.number();
      else if (r.name == "redaction_policy") this.redaction_policy = r.json();
      else if (r.name == "embedding_ref") this.embedding_ref = r.text();
      else if (r.name == "redacted_at") this.redacted_at = r.text();
      else if (r.name == "workspace_id") this.workspace_id = r.text();
      else if (r.name == "session_id") this.session_id = r.text();
      else r.skip();
    }
  }
}

/** `unreadable` has the ids of `memories` that are left out, for what is stored of them cannot be read. */
export class MemoryQueryAnswer {
  memories: Memory[] = [];
  unreadable: string[] = [];

  write(w: Writer): void {
    w.object();
    w.name("memories"); w.list<Memory>(this.memories);
    if (this.unreadable.length) { w.name("unreadable"); w.texts(this.unreadable); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "memories") this.memories = r.list<Memory>();
      else if (r.name == "unreadable") this.unreadable = r.texts();
      else r.skip();
    }
  }
}

/** See its members. */
export class MemoryWriteRequest {
  /** See MemoryScope. */
  scope: string = "";
  /** A string or an object. */
  content: Json = Json.NULL;
  /** `expires_in_seconds` is how long the Memory lives; 0 for ever. */
  expires_in_seconds: f64 = 0;
  /** Default internal. See Visibility. */
  visibility: string = "";
  /** 0 to 1. */
  confidence: f64 = 0;
  metadata: Json | null = null;

  write(w: Writer): void {
    w.object();
    w.name("scope"); w.text(this.scope);
    w.name("content"); w.json(this.content);
    if (this.expires_in_seconds != 0) { w.name("expires_in_seconds"); w.number(this.expires_in_seconds); }
    if (this.visibility.length) { w.name("visibility"); w.text(this.visibility); }
    if (this.confidence != 0) { w.name("confidence"); w.number(this.confidence); }
    const metadata_ = this.metadata;
    if (metadata_ !== null) { w.name("metadata"); w.json(metadata_); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "scope") this.scope = r.text();
      else if (r.name == "content") this.content = r.json();
      else if (r.name == "expires_in_seconds") this.expires_in_seconds = r.number();
      else if (r.name == "visibility") this.visibility = r.text();
      else if (r.name == "confidence") this.confidence = r.number();
      else if (r.name == "metadata") this.metadata = r.json();
      else r.skip();
    }
  }
}

/** See its members. */
export class MemoryWriteAnswer {
  memory_id: string = "";
  /** Whether the Persona's tier has held the call back: then the rest is empty. */
  withheld: Withheld = Withheld.NO;

  write(w: Writer): void {
    w.object();
    w.name("memory_id"); w.text(this.memory_id);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "memory_id") this.memory_id = r.text();
      else r.skip();
    }
  }
}

/** See its members. */
export class BlockListRequest {
  call_id: string = "";

  write(w: Writer): void {
    w.object();
    if (this.call_id.length) { w.name("call_id"); w.text(this.call_id); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "call_id") this.call_id = r.text();
      else r.skip();
    }
  }
}

/** CallBlock is a block of memory, as a plugin is told of it. */
export class Block {
  label: string = "";
  value: string = "";
  read_only: bool = false;
  version: i64 = 0;

  write(w: Writer): void {
    w.object();
    w.name("label"); w.text(this.label);
    w.name("value"); w.text(this.value);
    w.name("read_only"); w.bool(this.read_only);
    w.name("version"); w.integer(this.version);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "label") this.label = r.text();
      else if (r.name == "value") this.value = r.text();
      else if (r.name == "read_only") this.read_only = r.bool();
      else if (r.name == "version") this.version = r.integer();
      else r.skip();
    }
  }
}

/** See its members. */
export class BlockListAnswer {
  /** Counts the changes of all blocks; 0 before the first. */
  version: i64 = 0;
  /** In order of label. */
  blocks: Block[] = [];

  write(w: Writer): void {
    w.object();
    w.name("version"); w.integer(this.version);
    w.name("blocks"); w.list<Block>(this.blocks);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "version") this.version = r.integer();
      else if (r.name == "blocks") this.blocks = r.list<Block>();
      else r.skip();
    }
  }
}

/** See its members. */
export class BlockWriteRequest {
  /** Of the block, which is made if there is none. */
  label: string = "";
  value: string = "";
  /** `append` puts value below what the block has, on a line of its own, instead of in its place. */
  append: bool = false;
  /**
   * `version` is that of the block which is to be changed, 0 for none; left out for whatever is there.
   * When somebody has changed it meanwhile, nothing happens, and the call is refused with the code
   * block_changed.
   */
  version: Some<i64> | null = null;

  write(w: Writer): void {
    w.object();
    w.name("label"); w.text(this.label);
    w.name("value"); w.text(this.value);
    if (this.append) { w.name("append"); w.bool(this.append); }
    const version_ = this.version;
    if (version_ !== null) { w.name("version"); w.integer(version_.value); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "label") this.label = r.text();
      else if (r.name == "value") this.value = r.text();
      else if (r.name == "append") this.append = r.bool();
      else if (r.name == "version") this.version = r.takeNull() ? null : new Some<i64>(r.integer());
      else r.skip();
    }
  }
}

/** See its members. */
export class BlockWriteAnswer {
  label: string = "";
  version: i64 = 0;
  /** Of its value. */
  characters: i64 = 0;
  /** Whether the Persona's tier has held the call back: then the rest is empty. */
  withheld: Withheld = Withheld.NO;

  write(w: Writer): void {
    w.object();
    w.name("label"); w.text(this.label);
    w.name("version"); w.integer(this.version);
    w.name("characters"); w.integer(this.characters);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "label") this.label = r.text();
      else if (r.name == "version") this.version = r.integer();
      else if (r.name == "characters") this.characters = r.integer();
      else r.skip();
    }
  }
}

/** See its members. */
export class ArtifactPutRequest {
  /** See ArtifactKind. */
  kind: string = "";
  mime_type: string = "";
  /** Default public. See Visibility. */
  visibility: string = "";
  name: string = "";

  write(w: Writer): void {
    w.object();
    w.name("kind"); w.text(this.kind);
    w.name("mime_type"); w.text(this.mime_type);
    if (this.visibility.length) { w.name("visibility"); w.text(this.visibility); }
    if (this.name.length) { w.name("name"); w.text(this.name); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "kind") this.kind = r.text();
      else if (r.name == "mime_type") this.mime_type = r.text();
      else if (r.name == "visibility") this.visibility = r.text();
      else if (r.name == "name") this.name = r.text();
      else r.skip();
    }
  }
}

/** See its members. */
export class ArtifactPutAnswer {
  artifact_id: string = "";
  /** Bare hex. */
  sha256: string = "";
  /** Whether the Persona's tier has held the call back: then the rest is empty. */
  withheld: Withheld = Withheld.NO;

  write(w: Writer): void {
    w.object();
    w.name("artifact_id"); w.text(this.artifact_id);
    w.name("sha256"); w.text(this.sha256);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "artifact_id") this.artifact_id = r.text();
      else if (r.name == "sha256") this.sha256 = r.text();
      else r.skip();
    }
  }
}

/** A `length` of 0 reads to the end, as far as the payload limit goes. */
export class ArtifactGetRequest {
  call_id: string = "";
  artifact_id: string = "";
  offset: i64 = 0;
  length: i64 = 0;

  write(w: Writer): void {
    w.object();
    if (this.call_id.length) { w.name("call_id"); w.text(this.call_id); }
    w.name("artifact_id"); w.text(this.artifact_id);
    if (this.offset != 0) { w.name("offset"); w.integer(this.offset); }
    if (this.length != 0) { w.name("length"); w.integer(this.length); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "call_id") this.call_id = r.text();
      else if (r.name == "artifact_id") this.artifact_id = r.text();
      else if (r.name == "offset") this.offset = r.integer();
      else if (r.name == "length") this.length = r.integer();
      else r.skip();
    }
  }
}

/** A `length` of 0 reads to the end, as far as one call goes. */
export class FileReadRequest {
  call_id: string = "";
  /** Names separated by /, relative to the Workspace. */
  path: string = "";
  offset: i64 = 0;
  length: i64 = 0;

  write(w: Writer): void {
    w.object();
    if (this.call_id.length) { w.name("call_id"); w.text(this.call_id); }
    w.name("path"); w.text(this.path);
    if (this.offset != 0) { w.name("offset"); w.integer(this.offset); }
    if (this.length != 0) { w.name("length"); w.integer(this.length); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "call_id") this.call_id = r.text();
      else if (r.name == "path") this.path = r.text();
      else if (r.name == "offset") this.offset = r.integer();
      else if (r.name == "length") this.length = r.integer();
      else r.skip();
    }
  }
}

/** See its members. */
export class FileReadAnswer {
  path: string = "";
  /** Of what was read. */
  offset: i64 = 0;
  /** Of the whole file. */
  size: i64 = 0;
  /** Of the whole file, bare hex; left out of one of more than 8 MiB. */
  sha256: string = "";
  updated_at: string = "";
  /** What was read, when it is UTF-8. */
  text: string = "";
  /** What was read otherwise, base64. */
  body: Uint8Array = new Uint8Array(0);

  write(w: Writer): void {
    w.object();
    w.name("path"); w.text(this.path);
    if (this.offset != 0) { w.name("offset"); w.integer(this.offset); }
    w.name("size"); w.integer(this.size);
    if (this.sha256.length) { w.name("sha256"); w.text(this.sha256); }
    w.name("updated_at"); w.text(this.updated_at);
    if (this.text.length) { w.name("text"); w.text(this.text); }
    if (this.body.length) { w.name("body"); w.base64(this.body); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "path") this.path = r.text();
      else if (r.name == "offset") this.offset = r.integer();
      else if (r.name == "size") this.size = r.integer();
      else if (r.name == "sha256") this.sha256 = r.text();
      else if (r.name == "updated_at") this.updated_at = r.text();
      else if (r.name == "text") this.text = r.text();
      else if (r.name == "body") this.body = r.base64();
      else r.skip();
    }
  }
}

/** See its members. */
export class FileWriteRequest {
  path: string = "";
  /** The content as text. */
  text: string = "";
  /** The content as bytes, base64; not with `text`. */
  body: Uint8Array = new Uint8Array(0);
  /** See FileMode. */
  mode: string = "";
  /**
   * `sha256` is what the file must have before, bare hex; another file, or none, is left as it is, and
   * the call is answered with `invalid` and the code conflict.
   */
  sha256: string = "";

  write(w: Writer): void {
    w.object();
    w.name("path"); w.text(this.path);
    if (this.text.length) { w.name("text"); w.text(this.text); }
    if (this.body.length) { w.name("body"); w.base64(this.body); }
    if (this.mode.length) { w.name("mode"); w.text(this.mode); }
    if (this.sha256.length) { w.name("sha256"); w.text(this.sha256); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "path") this.path = r.text();
      else if (r.name == "text") this.text = r.text();
      else if (r.name == "body") this.body = r.base64();
      else if (r.name == "mode") this.mode = r.text();
      else if (r.name == "sha256") this.sha256 = r.text();
      else r.skip();
    }
  }
}

/** See its members. */
export class FileWriteAnswer {
  path: string = "";
  size: i64 = 0;
  /** Bare hex. */
  sha256: string = "";
  /** What was there before; "" when the file is new. */
  before_sha256: string = "";
  /** Whether the Persona's tier has held the call back: then the rest is empty. */
  withheld: Withheld = Withheld.NO;

  write(w: Writer): void {
    w.object();
    w.name("path"); w.text(this.path);
    w.name("size"); w.integer(this.size);
    w.name("sha256"); w.text(this.sha256);
    if (this.before_sha256.length) { w.name("before_sha256"); w.text(this.before_sha256); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "path") this.path = r.text();
      else if (r.name == "size") this.size = r.integer();
      else if (r.name == "sha256") this.sha256 = r.text();
      else if (r.name == "before_sha256") this.before_sha256 = r.text();
      else r.skip();
    }
  }
}

/** `old` is what the file has, and exactly so: once, unless `all` is set. */
export class FileEditRequest {
  path: string = "";
  old: string = "";
  /** What comes in its place; "" takes it away. */
  new: string = "";
  all: bool = false;
  /** `sha256` is what the file must have before, as in CallFileWriteRequest. */
  sha256: string = "";

  write(w: Writer): void {
    w.object();
    w.name("path"); w.text(this.path);
    w.name("old"); w.text(this.old);
    w.name("new"); w.text(this.new);
    if (this.all) { w.name("all"); w.bool(this.all); }
    if (this.sha256.length) { w.name("sha256"); w.text(this.sha256); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "path") this.path = r.text();
      else if (r.name == "old") this.old = r.text();
      else if (r.name == "new") this.new = r.text();
      else if (r.name == "all") this.all = r.bool();
      else if (r.name == "sha256") this.sha256 = r.text();
      else r.skip();
    }
  }
}

/** See its members. */
export class FileEditAnswer {
  path: string = "";
  size: i64 = 0;
  /** Bare hex. */
  sha256: string = "";
  before_sha256: string = "";
  /** How often Old was there. */
  replaced: i64 = 0;
  /** Whether the Persona's tier has held the call back: then the rest is empty. */
  withheld: Withheld = Withheld.NO;

  write(w: Writer): void {
    w.object();
    w.name("path"); w.text(this.path);
    w.name("size"); w.integer(this.size);
    w.name("sha256"); w.text(this.sha256);
    w.name("before_sha256"); w.text(this.before_sha256);
    w.name("replaced"); w.integer(this.replaced);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "path") this.path = r.text();
      else if (r.name == "size") this.size = r.integer();
      else if (r.name == "sha256") this.sha256 = r.text();
      else if (r.name == "before_sha256") this.before_sha256 = r.text();
      else if (r.name == "replaced") this.replaced = r.integer();
      else r.skip();
    }
  }
}

/** See its members. */
export class FileListRequest {
  call_id: string = "";
  /** Of the folder; "" for the Workspace. */
  path: string = "";
  /** All files below it, and no folders. */
  recursive: bool = false;
  /** The next of the answer before. */
  after: string = "";
  /** 1 to 1,000; default 100. */
  limit: i64 = 0;

  write(w: Writer): void {
    w.object();
    if (this.call_id.length) { w.name("call_id"); w.text(this.call_id); }
    if (this.path.length) { w.name("path"); w.text(this.path); }
    if (this.recursive) { w.name("recursive"); w.bool(this.recursive); }
    if (this.after.length) { w.name("after"); w.text(this.after); }
    if (this.limit != 0) { w.name("limit"); w.integer(this.limit); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "call_id") this.call_id = r.text();
      else if (r.name == "path") this.path = r.text();
      else if (r.name == "recursive") this.recursive = r.bool();
      else if (r.name == "after") this.after = r.text();
      else if (r.name == "limit") this.limit = r.integer();
      else r.skip();
    }
  }
}

/** FileEntry is a file or folder in a list. */
export class FileEntry {
  /** Within the Workspace. */
  path: string = "";
  folder: bool = false;
  size: i64 = 0;
  /** Of a file. */
  updated_at: string = "";

  write(w: Writer): void {
    w.object();
    w.name("path"); w.text(this.path);
    if (this.folder) { w.name("folder"); w.bool(this.folder); }
    if (this.size != 0) { w.name("size"); w.integer(this.size); }
    if (this.updated_at.length) { w.name("updated_at"); w.text(this.updated_at); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "path") this.path = r.text();
      else if (r.name == "folder") this.folder = r.bool();
      else if (r.name == "size") this.size = r.integer();
      else if (r.name == "updated_at") this.updated_at = r.text();
      else r.skip();
    }
  }
}

/** `next` is set when there is more. */
export class FileListAnswer {
  entries: FileEntry[] = [];
  next: string = "";

  write(w: Writer): void {
    w.object();
    w.name("entries"); w.list<FileEntry>(this.entries);
    if (this.next.length) { w.name("next"); w.text(this.next); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "entries") this.entries = r.list<FileEntry>();
      else if (r.name == "next") this.next = r.text();
      else r.skip();
    }
  }
}

/**
 * `sha256` is what the file must have, as in CallFileWriteRequest. `recursive` lets `path` be a
 * folder, which is removed with all that is in it.
 */
export class FileRemoveRequest {
  path: string = "";
  sha256: string = "";
  recursive: bool = false;

  write(w: Writer): void {
    w.object();
    w.name("path"); w.text(this.path);
    if (this.sha256.length) { w.name("sha256"); w.text(this.sha256); }
    if (this.recursive) { w.name("recursive"); w.bool(this.recursive); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "path") this.path = r.text();
      else if (r.name == "sha256") this.sha256 = r.text();
      else if (r.name == "recursive") this.recursive = r.bool();
      else r.skip();
    }
  }
}

/** RemovedFile is a file that was removed with its folder. */
export class RemovedFile {
  path: string = "";
  /** Bare hex. */
  before_sha256: string = "";

  write(w: Writer): void {
    w.object();
    w.name("path"); w.text(this.path);
    w.name("before_sha256"); w.text(this.before_sha256);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "path") this.path = r.text();
      else if (r.name == "before_sha256") this.before_sha256 = r.text();
      else r.skip();
    }
  }
}

/** See its members. */
export class FileRemoveAnswer {
  path: string = "";
  /** What was removed, bare hex; "" of a folder. */
  before_sha256: string = "";
  /** Of a folder: the files that were in it. */
  removed: RemovedFile[] = [];
  /** Whether the Persona's tier has held the call back: then the rest is empty. */
  withheld: Withheld = Withheld.NO;

  write(w: Writer): void {
    w.object();
    w.name("path"); w.text(this.path);
    w.name("before_sha256"); w.text(this.before_sha256);
    if (this.removed.length) { w.name("removed"); w.list<RemovedFile>(this.removed); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "path") this.path = r.text();
      else if (r.name == "before_sha256") this.before_sha256 = r.text();
      else if (r.name == "removed") this.removed = r.list<RemovedFile>();
      else r.skip();
    }
  }
}

/**
 * Of `text` and `pattern` at most one is set; without either, what is found are the files that `glob`
 * names.
 */
export class FileSearchRequest {
  call_id: string = "";
  /** Of the folder to search; "" for the Workspace. */
  path: string = "";
  /**
   * `glob` is what the path below that folder must match: * and ? within a name, [a-z], and ** for any
   * number of folders. Without a / it is matched with the file's name.
   */
  glob: string = "";
  text: string = "";
  /** A regular expression (RE2), matched with each line. */
  pattern: string = "";
  ignore_case: bool = false;
  /** The next of the answer before. */
  after: string = "";
  /** 1 to 1,000; default 100. */
  limit: i64 = 0;

  write(w: Writer): void {
    w.object();
    if (this.call_id.length) { w.name("call_id"); w.text(this.call_id); }
    if (this.path.length) { w.name("path"); w.text(this.path); }
    if (this.glob.length) { w.name("glob"); w.text(this.glob); }
    if (this.text.length) { w.name("text"); w.text(this.text); }
    if (this.pattern.length) { w.name("pattern"); w.text(this.pattern); }
    if (this.ignore_case) { w.name("ignore_case"); w.bool(this.ignore_case); }
    if (this.after.length) { w.name("after"); w.text(this.after); }
    if (this.limit != 0) { w.name("limit"); w.integer(this.limit); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "call_id") this.call_id = r.text();
      else if (r.name == "path") this.path = r.text();
      else if (r.name == "glob") this.glob = r.text();
      else if (r.name == "text") this.text = r.text();
      else if (r.name == "pattern") this.pattern = r.text();
      else if (r.name == "ignore_case") this.ignore_case = r.bool();
      else if (r.name == "after") this.after = r.text();
      else if (r.name == "limit") this.limit = r.integer();
      else r.skip();
    }
  }
}

/** FileMatch is a line of a file, or a file. */
export class FileMatch {
  path: string = "";
  /** From 1; 0 for a file that only its name was asked of. */
  line: i64 = 0;
  /** The line, at most 1,000 bytes of it. */
  text: string = "";

  write(w: Writer): void {
    w.object();
    w.name("path"); w.text(this.path);
    if (this.line != 0) { w.name("line"); w.integer(this.line); }
    if (this.text.length) { w.name("text"); w.text(this.text); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "path") this.path = r.text();
      else if (r.name == "line") this.line = r.integer();
      else if (r.name == "text") this.text = r.text();
      else r.skip();
    }
  }
}

/** `next` is set when the search is not over; it may be so when nothing was found yet. */
export class FileSearchAnswer {
  matches: FileMatch[] = [];
  next: string = "";

  write(w: Writer): void {
    w.object();
    w.name("matches"); w.list<FileMatch>(this.matches);
    if (this.next.length) { w.name("next"); w.text(this.next); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "matches") this.matches = r.list<FileMatch>();
      else if (r.name == "next") this.next = r.text();
      else r.skip();
    }
  }
}

/** See its members. */
export class SkillReadRequest {
  call_id: string = "";
  /** Its name, as the Task was told. */
  skill: string = "";
  /** Within the skill; SKILL.md if it is absent. */
  path: string = "";

  write(w: Writer): void {
    w.object();
    if (this.call_id.length) { w.name("call_id"); w.text(this.call_id); }
    w.name("skill"); w.text(this.skill);
    if (this.path.length) { w.name("path"); w.text(this.path); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "call_id") this.call_id = r.text();
      else if (r.name == "skill") this.skill = r.text();
      else if (r.name == "path") this.path = r.text();
      else r.skip();
    }
  }
}

/** SkillManifest is what a client says of a skill that it has. */
export class SkillManifest {
  when_to_use: string = "";
  allowed_tools: string[] = [];
  /** Patterns of the files that it is for. */
  paths: string[] = [];
  model: string = "";

  write(w: Writer): void {
    w.object();
    if (this.when_to_use.length) { w.name("when_to_use"); w.text(this.when_to_use); }
    if (this.allowed_tools.length) { w.name("allowed_tools"); w.texts(this.allowed_tools); }
    if (this.paths.length) { w.name("paths"); w.texts(this.paths); }
    if (this.model.length) { w.name("model"); w.text(this.model); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "when_to_use") this.when_to_use = r.text();
      else if (r.name == "allowed_tools") this.allowed_tools = r.texts();
      else if (r.name == "paths") this.paths = r.texts();
      else if (r.name == "model") this.model = r.text();
      else r.skip();
    }
  }
}

/** See its members. */
export class SkillReadAnswer {
  skill: string = "";
  version: string = "";
  path: string = "";
  text: string = "";
  /** With SKILL.md: the paths of the other files. */
  files: string[] = [];
  /** `manifest` is set for a skill of a client's, which has no version. */
  manifest: SkillManifest | null = null;

  write(w: Writer): void {
    w.object();
    w.name("skill"); w.text(this.skill);
    w.name("version"); w.text(this.version);
    w.name("path"); w.text(this.path);
    w.name("text"); w.text(this.text);
    if (this.files.length) { w.name("files"); w.texts(this.files); }
    const manifest_ = this.manifest;
    if (manifest_ !== null) { w.name("manifest"); manifest_.write(w); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "skill") this.skill = r.text();
      else if (r.name == "version") this.version = r.text();
      else if (r.name == "path") this.path = r.text();
      else if (r.name == "text") this.text = r.text();
      else if (r.name == "files") this.files = r.texts();
      else if (r.name == "manifest") this.manifest = r.intoOrNull<SkillManifest>();
      else r.skip();
    }
  }
}

/** SkillCandidate is a skill that is ranked. */
export class SkillCandidate {
  name: string = "";
  description: string = "";
  when_to_use: string = "";
  /** Patterns of the files that it is for; * stands for any characters. */
  paths: string[] = [];

  write(w: Writer): void {
    w.object();
    w.name("name"); w.text(this.name);
    if (this.description.length) { w.name("description"); w.text(this.description); }
    if (this.when_to_use.length) { w.name("when_to_use"); w.text(this.when_to_use); }
    if (this.paths.length) { w.name("paths"); w.texts(this.paths); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "name") this.name = r.text();
      else if (r.name == "description") this.description = r.text();
      else if (r.name == "when_to_use") this.when_to_use = r.text();
      else if (r.name == "paths") this.paths = r.texts();
      else r.skip();
    }
  }
}

/** See its members. */
export class SkillMatchRequest {
  call_id: string = "";
  prompt: string = "";
  working_files: string[] = [];
  /**
   * `candidates` are the skills that are ranked; those that the Task has, and those of its Session's
   * clients, if they are absent.
   */
  candidates: SkillCandidate[] = [];
  /** Metadata: the node ranks, the default; host, or embedding: a client does, if there is one. */
  strategy: string = "";

  write(w: Writer): void {
    w.object();
    if (this.call_id.length) { w.name("call_id"); w.text(this.call_id); }
    w.name("prompt"); w.text(this.prompt);
    if (this.working_files.length) { w.name("working_files"); w.texts(this.working_files); }
    if (this.candidates.length) { w.name("candidates"); w.list<SkillCandidate>(this.candidates); }
    if (this.strategy.length) { w.name("strategy"); w.text(this.strategy); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "call_id") this.call_id = r.text();
      else if (r.name == "prompt") this.prompt = r.text();
      else if (r.name == "working_files") this.working_files = r.texts();
      else if (r.name == "candidates") this.candidates = r.list<SkillCandidate>();
      else if (r.name == "strategy") this.strategy = r.text();
      else r.skip();
    }
  }
}

/** SkillMatch is a skill that fits. */
export class SkillMatch {
  name: string = "";
  /** 0 or more. */
  score: f64 = 0;
  reason: string = "";

  write(w: Writer): void {
    w.object();
    w.name("name"); w.text(this.name);
    w.name("score"); w.number(this.score);
    w.name("reason"); w.text(this.reason);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "name") this.name = r.text();
      else if (r.name == "score") this.score = r.number();
      else if (r.name == "reason") this.reason = r.text();
      else r.skip();
    }
  }
}

/** KnownSkill is a skill that a Task can read. */
export class KnownSkill {
  name: string = "";
  description: string = "";
  when_to_use: string = "";
  /** Patterns of the files that it is for; * stands for any characters. */
  paths: string[] = [];
  /** See SkillSource. */
  source: string = "";

  write(w: Writer): void {
    w.object();
    w.name("name"); w.text(this.name);
    if (this.description.length) { w.name("description"); w.text(this.description); }
    if (this.when_to_use.length) { w.name("when_to_use"); w.text(this.when_to_use); }
    if (this.paths.length) { w.name("paths"); w.texts(this.paths); }
    w.name("source"); w.text(this.source);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "name") this.name = r.text();
      else if (r.name == "description") this.description = r.text();
      else if (r.name == "when_to_use") this.when_to_use = r.text();
      else if (r.name == "paths") this.paths = r.texts();
      else if (r.name == "source") this.source = r.text();
      else r.skip();
    }
  }
}

/** See its members. */
export class SkillMatchAnswer {
  /** The best first. */
  matches: SkillMatch[] = [];
  /** See MatchedBy. */
  by: string = "";
  /** `skills` are what was ranked, where the request has no candidates. */
  skills: KnownSkill[] = [];

  write(w: Writer): void {
    w.object();
    w.name("matches"); w.list<SkillMatch>(this.matches);
    w.name("by"); w.text(this.by);
    if (this.skills.length) { w.name("skills"); w.list<KnownSkill>(this.skills); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "matches") this.matches = r.list<SkillMatch>();
      else if (r.name == "by") this.by = r.text();
      else if (r.name == "skills") this.skills = r.list<KnownSkill>();
      else r.skip();
    }
  }
}

/** See its members. */
export class CompositionBeginRequest {
  /** For people. */
  name: string = "";
  /** That the snippet is written in. */
  language: string = "";
  /**
   * `snippet_hash` and `manifest_hash` are SHA-256, in hex, of the snippet and of the manifest of
   * bindings that whoever wrote it was shown.
   */
  snippet_hash: string = "";
  manifest_hash: string = "";
  /** See SideEffectLevel. */
  side_effect_ceiling: string = "";

  write(w: Writer): void {
    w.object();
    if (this.name.length) { w.name("name"); w.text(this.name); }
    w.name("language"); w.text(this.language);
    w.name("snippet_hash"); w.text(this.snippet_hash);
    w.name("manifest_hash"); w.text(this.manifest_hash);
    w.name("side_effect_ceiling"); w.text(this.side_effect_ceiling);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "name") this.name = r.text();
      else if (r.name == "language") this.language = r.text();
      else if (r.name == "snippet_hash") this.snippet_hash = r.text();
      else if (r.name == "manifest_hash") this.manifest_hash = r.text();
      else if (r.name == "side_effect_ceiling") this.side_effect_ceiling = r.text();
      else r.skip();
    }
  }
}

/** See its members. */
export class CompositionBeginAnswer {
  composition_id: string = "";
  /** Whether the Persona's tier has held the call back: then the rest is empty. */
  withheld: Withheld = Withheld.NO;

  write(w: Writer): void {
    w.object();
    w.name("composition_id"); w.text(this.composition_id);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "composition_id") this.composition_id = r.text();
      else r.skip();
    }
  }
}

/** With a `failure_category` the composition has failed. */
export class CompositionEndRequest {
  composition_id: string = "";
  stdout: string = "";
  stderr: string = "";
  /** Ids of those that the Task has put. */
  artifacts: string[] = [];
  result: Json | null = null;
  /** See CompositionFailure. */
  failure_category: string = "";
  /** Of a failure. */
  message: string = "";

  write(w: Writer): void {
    w.object();
    w.name("composition_id"); w.text(this.composition_id);
    if (this.stdout.length) { w.name("stdout"); w.text(this.stdout); }
    if (this.stderr.length) { w.name("stderr"); w.text(this.stderr); }
    if (this.artifacts.length) { w.name("artifacts"); w.texts(this.artifacts); }
    const result_ = this.result;
    if (result_ !== null) { w.name("result"); w.json(result_); }
    if (this.failure_category.length) { w.name("failure_category"); w.text(this.failure_category); }
    if (this.message.length) { w.name("message"); w.text(this.message); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "composition_id") this.composition_id = r.text();
      else if (r.name == "stdout") this.stdout = r.text();
      else if (r.name == "stderr") this.stderr = r.text();
      else if (r.name == "artifacts") this.artifacts = r.texts();
      else if (r.name == "result") this.result = r.json();
      else if (r.name == "failure_category") this.failure_category = r.text();
      else if (r.name == "message") this.message = r.text();
      else r.skip();
    }
  }
}

/** See its members. */
export class StateGetRequest {
  call_id: string = "";
  key: string = "";

  write(w: Writer): void {
    w.object();
    if (this.call_id.length) { w.name("call_id"); w.text(this.call_id); }
    w.name("key"); w.text(this.key);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "call_id") this.call_id = r.text();
      else if (r.name == "key") this.key = r.text();
      else r.skip();
    }
  }
}

/** `value` is null when nothing is kept. */
export class StateGetAnswer {
  value: Json = Json.NULL;

  write(w: Writer): void {
    w.object();
    w.name("value"); w.json(this.value);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "value") this.value = r.json();
      else r.skip();
    }
  }
}

/** See its members. */
export class StateSetRequest {
  key: string = "";
  value: Json = Json.NULL;

  write(w: Writer): void {
    w.object();
    w.name("key"); w.text(this.key);
    w.name("value"); w.json(this.value);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "key") this.key = r.text();
      else if (r.name == "value") this.value = r.json();
      else r.skip();
    }
  }
}

/** See its members. */
export class SleepRequest {
  ms: i64 = 0;

  write(w: Writer): void {
    w.object();
    w.name("ms"); w.integer(this.ms);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "ms") this.ms = r.integer();
      else r.skip();
    }
  }
}

/** Question is one of several that are asked at once. */
export class Question {
  /** Names it in the answer: the plugin's own, and no other question's. */
  key: string = "";
  /** Default: input. See PermissionKind. */
  kind: string = "";
  prompt: string = "";
  /**
   * `schema`, of an input, is a JSON Schema of what is wanted: an answer that does not fit it is not
   * taken.
   */
  schema: Json | null = null;
  /**
   * `params`, of a sampling, are what the model of whoever answers is asked: those of MCP's
   * sampling/createMessage. The answer is its result, in a json part.
   */
  params: Json | null = null;
  /** Of an authorization: what is to be authorized. */
  provider: string = "";
  /** Of an authorization: where the user does so. */
  url: string = "";
  /** Of an approval: what is to be approved. */
  action: string = "";
  /** `arguments`, `quorum` and `approvers`, of an approval, are as those of approval.request. */
  arguments: Json | null = null;
  quorum: i64 = 0;
  approvers: string[] = [];

  write(w: Writer): void {
    w.object();
    w.name("key"); w.text(this.key);
    if (this.kind.length) { w.name("kind"); w.text(this.kind); }
    if (this.prompt.length) { w.name("prompt"); w.text(this.prompt); }
    const schema_ = this.schema;
    if (schema_ !== null) { w.name("schema"); w.json(schema_); }
    const params_ = this.params;
    if (params_ !== null) { w.name("params"); w.json(params_); }
    if (this.provider.length) { w.name("provider"); w.text(this.provider); }
    if (this.url.length) { w.name("url"); w.text(this.url); }
    if (this.action.length) { w.name("action"); w.text(this.action); }
    const arguments_ = this.arguments;
    if (arguments_ !== null) { w.name("arguments"); w.json(arguments_); }
    if (this.quorum != 0) { w.name("quorum"); w.integer(this.quorum); }
    if (this.approvers.length) { w.name("approvers"); w.texts(this.approvers); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "key") this.key = r.text();
      else if (r.name == "kind") this.kind = r.text();
      else if (r.name == "prompt") this.prompt = r.text();
      else if (r.name == "schema") this.schema = r.json();
      else if (r.name == "params") this.params = r.json();
      else if (r.name == "provider") this.provider = r.text();
      else if (r.name == "url") this.url = r.text();
      else if (r.name == "action") this.action = r.text();
      else if (r.name == "arguments") this.arguments = r.json();
      else if (r.name == "quorum") this.quorum = r.integer();
      else if (r.name == "approvers") this.approvers = r.texts();
      else r.skip();
    }
  }
}

/** See its members. */
export class InputRequestRequest {
  call_id: string = "";
  /** Of a single question. */
  prompt: string = "";
  /** `schema` is a JSON Schema of what is wanted: an answer that does not fit it is not taken. */
  schema: Json | null = null;
  /**
   * `requests` are several questions, 1 to 16, in the place of `prompt` and `schema`. Each is answered
   * by itself, and the call when all are settled.
   */
  requests: Question[] = [];
  /** `timeout_seconds` is how long to wait; then the status is `timeout`. 0: for ever. */
  timeout_seconds: f64 = 0;

  write(w: Writer): void {
    w.object();
    if (this.call_id.length) { w.name("call_id"); w.text(this.call_id); }
    if (this.prompt.length) { w.name("prompt"); w.text(this.prompt); }
    const schema_ = this.schema;
    if (schema_ !== null) { w.name("schema"); w.json(schema_); }
    if (this.requests.length) { w.name("requests"); w.list<Question>(this.requests); }
    if (this.timeout_seconds != 0) { w.name("timeout_seconds"); w.number(this.timeout_seconds); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "call_id") this.call_id = r.text();
      else if (r.name == "prompt") this.prompt = r.text();
      else if (r.name == "schema") this.schema = r.json();
      else if (r.name == "requests") this.requests = r.list<Question>();
      else if (r.name == "timeout_seconds") this.timeout_seconds = r.number();
      else r.skip();
    }
  }
}

/** `decision` is what one actor has decided. */
export class Decision {
  actor: string = "";
  /** Approved or denied. */
  decision: string = "";
  /** For people. */
  reason: string = "";
  /** Other arguments, when the actor changed them. */
  arguments: Json | null = null;
  decided_at: string = "";

  write(w: Writer): void {
    w.object();
    w.name("actor"); w.text(this.actor);
    w.name("decision"); w.text(this.decision);
    if (this.reason.length) { w.name("reason"); w.text(this.reason); }
    const arguments_ = this.arguments;
    if (arguments_ !== null) { w.name("arguments"); w.json(arguments_); }
    w.name("decided_at"); w.text(this.decided_at);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "actor") this.actor = r.text();
      else if (r.name == "decision") this.decision = r.text();
      else if (r.name == "reason") this.reason = r.text();
      else if (r.name == "arguments") this.arguments = r.json();
      else if (r.name == "decided_at") this.decided_at = r.text();
      else r.skip();
    }
  }
}

/** See its members. */
export class ApprovalAnswer {
  /** Approved, denied or timeout. */
  decision: string = "";
  actor: string = "";
  decided_at: string = "";
  reason: string = "";
  /** When an approver changed them. */
  arguments: Json | null = null;
  /** `decisions` lists all that were taken, in their order, when there was not just the one above. */
  decisions: Decision[] = [];
  /** `quorum` and `approved_by` are set when more than one had to approve, and did. */
  quorum: i64 = 0;
  approved_by: string[] = [];

  write(w: Writer): void {
    w.object();
    w.name("decision"); w.text(this.decision);
    if (this.actor.length) { w.name("actor"); w.text(this.actor); }
    w.name("decided_at"); w.text(this.decided_at);
    if (this.reason.length) { w.name("reason"); w.text(this.reason); }
    const arguments_ = this.arguments;
    if (arguments_ !== null) { w.name("arguments"); w.json(arguments_); }
    if (this.decisions.length) { w.name("decisions"); w.list<Decision>(this.decisions); }
    if (this.quorum != 0) { w.name("quorum"); w.integer(this.quorum); }
    if (this.approved_by.length) { w.name("approved_by"); w.texts(this.approved_by); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "decision") this.decision = r.text();
      else if (r.name == "actor") this.actor = r.text();
      else if (r.name == "decided_at") this.decided_at = r.text();
      else if (r.name == "reason") this.reason = r.text();
      else if (r.name == "arguments") this.arguments = r.json();
      else if (r.name == "decisions") this.decisions = r.list<Decision>();
      else if (r.name == "quorum") this.quorum = r.integer();
      else if (r.name == "approved_by") this.approved_by = r.texts();
      else r.skip();
    }
  }
}

/** QuestionAnswer is what became of one of several questions. */
export class QuestionAnswer {
  key: string = "";
  /** Answered, approved, denied or timeout. See PermissionStatus. */
  status: string = "";
  permission_request_id: string = "";
  /** Who answered, or declined. */
  actor: string = "";
  /** Of one that is no approval and was denied: in which way. See DeclineCode. */
  code: string = "";
  /** Why it was declined. */
  reason: string = "";
  /** What was answered. */
  message: Message | null = null;
  /** Of an approval: how it was decided. */
  approval: ApprovalAnswer | null = null;

  write(w: Writer): void {
    w.object();
    w.name("key"); w.text(this.key);
    w.name("status"); w.text(this.status);
    w.name("permission_request_id"); w.text(this.permission_request_id);
    if (this.actor.length) { w.name("actor"); w.text(this.actor); }
    if (this.code.length) { w.name("code"); w.text(this.code); }
    if (this.reason.length) { w.name("reason"); w.text(this.reason); }
    const message_ = this.message;
    if (message_ !== null) { w.name("message"); message_.write(w); }
    const approval_ = this.approval;
    if (approval_ !== null) { w.name("approval"); approval_.write(w); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "key") this.key = r.text();
      else if (r.name == "status") this.status = r.text();
      else if (r.name == "permission_request_id") this.permission_request_id = r.text();
      else if (r.name == "actor") this.actor = r.text();
      else if (r.name == "code") this.code = r.text();
      else if (r.name == "reason") this.reason = r.text();
      else if (r.name == "message") this.message = r.intoOrNull<Message>();
      else if (r.name == "approval") this.approval = r.intoOrNull<ApprovalAnswer>();
      else r.skip();
    }
  }
}

/** See its members. */
export class InputRequestAnswer {
  message: Message | null = null;
  /** Who answered. */
  actor: string = "";
  /**
   * `answers` are those to several questions, in the order in which they were asked; then there is
   * nothing else.
   */
  answers: QuestionAnswer[] = [];

  write(w: Writer): void {
    w.object();
    const message_ = this.message;
    if (message_ !== null) { w.name("message"); message_.write(w); }
    if (this.actor.length) { w.name("actor"); w.text(this.actor); }
    if (this.answers.length) { w.name("answers"); w.list<QuestionAnswer>(this.answers); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "message") this.message = r.intoOrNull<Message>();
      else if (r.name == "actor") this.actor = r.text();
      else if (r.name == "answers") this.answers = r.list<QuestionAnswer>();
      else r.skip();
    }
  }
}

/** See its members. */
export class AuthRequestRequest {
  call_id: string = "";
  /** What is to be authorized. */
  provider: string = "";
  prompt: string = "";
  /** Where the user does so. */
  url: string = "";
  timeout_seconds: f64 = 0;

  write(w: Writer): void {
    w.object();
    if (this.call_id.length) { w.name("call_id"); w.text(this.call_id); }
    w.name("provider"); w.text(this.provider);
    w.name("prompt"); w.text(this.prompt);
    if (this.url.length) { w.name("url"); w.text(this.url); }
    if (this.timeout_seconds != 0) { w.name("timeout_seconds"); w.number(this.timeout_seconds); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "call_id") this.call_id = r.text();
      else if (r.name == "provider") this.provider = r.text();
      else if (r.name == "prompt") this.prompt = r.text();
      else if (r.name == "url") this.url = r.text();
      else if (r.name == "timeout_seconds") this.timeout_seconds = r.number();
      else r.skip();
    }
  }
}

/** See its members. */
export class ApprovalRequestRequest {
  call_id: string = "";
  /** What is to be approved, such as workspace.patch.apply. */
  action: string = "";
  prompt: string = "";
  arguments: Json | null = null;
  timeout_seconds: f64 = 0;
  /**
   * `quorum` is how many must approve; 0 is 1. `approvers` are patterns of the actors that may decide;
   * empty for all. The Persona's policy may ask for more.
   */
  quorum: i64 = 0;
  approvers: string[] = [];

  write(w: Writer): void {
    w.object();
    if (this.call_id.length) { w.name("call_id"); w.text(this.call_id); }
    w.name("action"); w.text(this.action);
    w.name("prompt"); w.text(this.prompt);
    const arguments_ = this.arguments;
    if (arguments_ !== null) { w.name("arguments"); w.json(arguments_); }
    if (this.timeout_seconds != 0) { w.name("timeout_seconds"); w.number(this.timeout_seconds); }
    if (this.quorum != 0) { w.name("quorum"); w.integer(this.quorum); }
    if (this.approvers.length) { w.name("approvers"); w.texts(this.approvers); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "call_id") this.call_id = r.text();
      else if (r.name == "action") this.action = r.text();
      else if (r.name == "prompt") this.prompt = r.text();
      else if (r.name == "arguments") this.arguments = r.json();
      else if (r.name == "timeout_seconds") this.timeout_seconds = r.number();
      else if (r.name == "quorum") this.quorum = r.integer();
      else if (r.name == "approvers") this.approvers = r.texts();
      else r.skip();
    }
  }
}

/** See its members. */
export class TaskSpawnRequest {
  /** Default: the same. */
  persona_id: string = "";
  input: Json = Json.NULL;
  metadata: Json | null = null;
  deadline_seconds: f64 = 0;

  write(w: Writer): void {
    w.object();
    if (this.persona_id.length) { w.name("persona_id"); w.text(this.persona_id); }
    w.name("input"); w.json(this.input);
    const metadata_ = this.metadata;
    if (metadata_ !== null) { w.name("metadata"); w.json(metadata_); }
    if (this.deadline_seconds != 0) { w.name("deadline_seconds"); w.number(this.deadline_seconds); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "persona_id") this.persona_id = r.text();
      else if (r.name == "input") this.input = r.json();
      else if (r.name == "metadata") this.metadata = r.json();
      else if (r.name == "deadline_seconds") this.deadline_seconds = r.number();
      else r.skip();
    }
  }
}

/** See its members. */
export class TaskSpawnAnswer {
  task_id: string = "";
  /** Whether the Persona's tier has held the call back: then the rest is empty. */
  withheld: Withheld = Withheld.NO;

  write(w: Writer): void {
    w.object();
    w.name("task_id"); w.text(this.task_id);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "task_id") this.task_id = r.text();
      else r.skip();
    }
  }
}

/** See its members. */
export class TaskAwaitRequest {
  call_id: string = "";
  task_id: string = "";
  timeout_seconds: f64 = 0;

  write(w: Writer): void {
    w.object();
    if (this.call_id.length) { w.name("call_id"); w.text(this.call_id); }
    w.name("task_id"); w.text(this.task_id);
    if (this.timeout_seconds != 0) { w.name("timeout_seconds"); w.number(this.timeout_seconds); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "call_id") this.call_id = r.text();
      else if (r.name == "task_id") this.task_id = r.text();
      else if (r.name == "timeout_seconds") this.timeout_seconds = r.number();
      else r.skip();
    }
  }
}

/** See its members. */
export class TaskAwaitAnswer {
  task_id: string = "";
  /** See OutcomeStatus. */
  status: string = "";
  summary: string = "";
  messages: Message[] = [];
  failure: Failure | null = null;
  receipt_id: string = "";

  write(w: Writer): void {
    w.object();
    w.name("task_id"); w.text(this.task_id);
    w.name("status"); w.text(this.status);
    w.name("summary"); w.text(this.summary);
    if (this.messages.length) { w.name("messages"); w.list<Message>(this.messages); }
    const failure_ = this.failure;
    if (failure_ !== null) { w.name("failure"); failure_.write(w); }
    if (this.receipt_id.length) { w.name("receipt_id"); w.text(this.receipt_id); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "task_id") this.task_id = r.text();
      else if (r.name == "status") this.status = r.text();
      else if (r.name == "summary") this.summary = r.text();
      else if (r.name == "messages") this.messages = r.list<Message>();
      else if (r.name == "failure") this.failure = r.intoOrNull<Failure>();
      else if (r.name == "receipt_id") this.receipt_id = r.text();
      else r.skip();
    }
  }
}

/** See its members. */
export class HandoffRequest {
  persona_id: string = "";
  input: Json = Json.NULL;
  reason: string = "";

  write(w: Writer): void {
    w.object();
    w.name("persona_id"); w.text(this.persona_id);
    w.name("input"); w.json(this.input);
    if (this.reason.length) { w.name("reason"); w.text(this.reason); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "persona_id") this.persona_id = r.text();
      else if (r.name == "input") this.input = r.json();
      else if (r.name == "reason") this.reason = r.text();
      else r.skip();
    }
  }
}

/** DelegationBudget bounds what an agent outside may use for a piece of work; 0 is no bound. */
export class DelegationBudget {
  usd: f64 = 0;
  tokens: i64 = 0;
  seconds: f64 = 0;
  tool_calls: i64 = 0;

  write(w: Writer): void {
    w.object();
    if (this.usd != 0) { w.name("usd"); w.number(this.usd); }
    if (this.tokens != 0) { w.name("tokens"); w.integer(this.tokens); }
    if (this.seconds != 0) { w.name("seconds"); w.number(this.seconds); }
    if (this.tool_calls != 0) { w.name("tool_calls"); w.integer(this.tool_calls); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "usd") this.usd = r.number();
      else if (r.name == "tokens") this.tokens = r.integer();
      else if (r.name == "seconds") this.seconds = r.number();
      else if (r.name == "tool_calls") this.tool_calls = r.integer();
      else r.skip();
    }
  }
}

/** DelegationPeer says who the agent is, as the node has found it. */
export class DelegationPeer {
  agent: string = "";
  /** By its card. */
  name: string = "";
  /** Where work is dispatched to. */
  url: string = "";
  /** Of the card's canonical JSON, with "sha256:" before it. */
  card_sha256: string = "";

  write(w: Writer): void {
    w.object();
    w.name("agent"); w.text(this.agent);
    if (this.name.length) { w.name("name"); w.text(this.name); }
    w.name("url"); w.text(this.url);
    w.name("card_sha256"); w.text(this.card_sha256);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "agent") this.agent = r.text();
      else if (r.name == "name") this.name = r.text();
      else if (r.name == "url") this.url = r.text();
      else if (r.name == "card_sha256") this.card_sha256 = r.text();
      else r.skip();
    }
  }
}

/** DelegationCheckpoint is what an agent means to do before it is paid for it. */
export class DelegationCheckpoint {
  /**
   * `approved` has the work dispatched, once whoever policy asks has approved it. Without it, the call
   * ends with the checkpoint.
   */
  approved: bool = false;
  /**
   * `checkpoint_id` is that of the checkpoint that was looked at. When the agent has another one by
   * then, nothing is dispatched.
   */
  checkpoint_id: string = "";
  /** `allow_local_fallback` lets `plan` stand in for that of an agent which makes none. */
  allow_local_fallback: bool = false;
  plan: Json | null = null;
  /** The rest is the agent's, and the node's. In a request it means nothing. */
  expected_scope: Json | null = null;
  evidence_refs: Json | null = null;
  metadata: Json | null = null;
  /** The plan is the plugin's own. */
  local: bool = false;
  peer: DelegationPeer | null = null;

  write(w: Writer): void {
    w.object();
    if (this.approved) { w.name("approved"); w.bool(this.approved); }
    if (this.checkpoint_id.length) { w.name("checkpoint_id"); w.text(this.checkpoint_id); }
    if (this.allow_local_fallback) { w.name("allow_local_fallback"); w.bool(this.allow_local_fallback); }
    const plan_ = this.plan;
    if (plan_ !== null) { w.name("plan"); w.json(plan_); }
    const expected_scope_ = this.expected_scope;
    if (expected_scope_ !== null) { w.name("expected_scope"); w.json(expected_scope_); }
    const evidence_refs_ = this.evidence_refs;
    if (evidence_refs_ !== null) { w.name("evidence_refs"); w.json(evidence_refs_); }
    const metadata_ = this.metadata;
    if (metadata_ !== null) { w.name("metadata"); w.json(metadata_); }
    if (this.local) { w.name("local"); w.bool(this.local); }
    const peer_ = this.peer;
    if (peer_ !== null) { w.name("peer"); peer_.write(w); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "approved") this.approved = r.bool();
      else if (r.name == "checkpoint_id") this.checkpoint_id = r.text();
      else if (r.name == "allow_local_fallback") this.allow_local_fallback = r.bool();
      else if (r.name == "plan") this.plan = r.json();
      else if (r.name == "expected_scope") this.expected_scope = r.json();
      else if (r.name == "evidence_refs") this.evidence_refs = r.json();
      else if (r.name == "metadata") this.metadata = r.json();
      else if (r.name == "local") this.local = r.bool();
      else if (r.name == "peer") this.peer = r.intoOrNull<DelegationPeer>();
      else r.skip();
    }
  }
}

/** Its budget has at least one bound. */
export class AgentDelegateRequest {
  call_id: string = "";
  /** By its name in the configuration. */
  agent: string = "";
  task: string = "";
  /** What may come of it: a text, or any other JSON. */
  expected_scope: Json | null = null;
  /** A JSON object. */
  context: Json | null = null;
  budget: DelegationBudget = new DelegationBudget();
  /**
   * `idempotency_key` names this piece of work among those of the plugin in its Workspace, for good.
   * One follows from the call where it is not given.
   */
  idempotency_key: string = "";
  checkpoint: DelegationCheckpoint | null = null;

  write(w: Writer): void {
    w.object();
    if (this.call_id.length) { w.name("call_id"); w.text(this.call_id); }
    w.name("agent"); w.text(this.agent);
    w.name("task"); w.text(this.task);
    const expected_scope_ = this.expected_scope;
    if (expected_scope_ !== null) { w.name("expected_scope"); w.json(expected_scope_); }
    const context_ = this.context;
    if (context_ !== null) { w.name("context"); w.json(context_); }
    w.name("budget"); this.budget.write(w);
    if (this.idempotency_key.length) { w.name("idempotency_key"); w.text(this.idempotency_key); }
    const checkpoint_ = this.checkpoint;
    if (checkpoint_ !== null) { w.name("checkpoint"); checkpoint_.write(w); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "call_id") this.call_id = r.text();
      else if (r.name == "agent") this.agent = r.text();
      else if (r.name == "task") this.task = r.text();
      else if (r.name == "expected_scope") this.expected_scope = r.json();
      else if (r.name == "context") this.context = r.json();
      else if (r.name == "budget") this.budget = r.into<DelegationBudget>();
      else if (r.name == "idempotency_key") this.idempotency_key = r.text();
      else if (r.name == "checkpoint") this.checkpoint = r.intoOrNull<DelegationCheckpoint>();
      else r.skip();
    }
  }
}

/** CallError is the answer that comes with any status but `ok`. */
export class CallError {
  code: string = "";
  message: string = "";

  write(w: Writer): void {
    w.object();
    w.name("code"); w.text(this.code);
    w.name("message"); w.text(this.message);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "code") this.code = r.text();
      else if (r.name == "message") this.message = r.text();
      else r.skip();
    }
  }
}

/** DelegationArtifact names an Artifact that a delegation has left. */
export class DelegationArtifact {
  artifact_id: string = "";
  /** See ArtifactKind. */
  kind: string = "";
  sha256: string = "";

  write(w: Writer): void {
    w.object();
    w.name("artifact_id"); w.text(this.artifact_id);
    w.name("kind"); w.text(this.kind);
    w.name("sha256"); w.text(this.sha256);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "artifact_id") this.artifact_id = r.text();
      else if (r.name == "kind") this.kind = r.text();
      else if (r.name == "sha256") this.sha256 = r.text();
      else r.skip();
    }
  }
}

/** DelegationHandoff is what came of work that was dispatched: the envelope of ExternalHandoffSchema. */
export class DelegationHandoff {
  /** ExternalHandoffSchema. */
  schema: string = "";
  /** DelegationCompleted or DelegationExceeded. See DelegationStatus. */
  status: string = "";
  peer: DelegationPeer = new DelegationPeer();
  /** As the agent was told it. */
  idempotency_key: string = "";
  /** Of the task, its scope and its context. */
  asked_sha256: string = "";
  task_id: string = "";
  checkpoint: DelegationCheckpoint | null = null;
  budget: DelegationBudget = new DelegationBudget();
  budget_used: DelegationBudget = new DelegationBudget();
  /**
   * `reported` is what of `budget_used` the agent has said itself. The rest is taken to be what it was
   * allowed.
   */
  reported: string[] = [];
  /** Members of the budget. */
  exceeded: string[] = [];
  /** The agent says that it had done it before. */
  repeated: bool = false;
  /** What the agent hands over, for review. */
  handoff: Json = Json.NULL;
  /** The patch, where there is one. */
  diff: string = "";
  /** The agent's artifacts. */
  outputs: Json | null = null;
  receipts: Json | null = null;
  /** `artifacts` are those of this node: the envelope itself, as the log has it, and the patch. */
  artifacts: DelegationArtifact[] = [];

  write(w: Writer): void {
    w.object();
    w.name("schema"); w.text(this.schema);
    w.name("status"); w.text(this.status);
    w.name("peer"); this.peer.write(w);
    w.name("idempotency_key"); w.text(this.idempotency_key);
    w.name("asked_sha256"); w.text(this.asked_sha256);
    if (this.task_id.length) { w.name("task_id"); w.text(this.task_id); }
    const checkpoint_ = this.checkpoint;
    if (checkpoint_ !== null) { w.name("checkpoint"); checkpoint_.write(w); }
    w.name("budget"); this.budget.write(w);
    w.name("budget_used"); this.budget_used.write(w);
    w.name("reported"); w.texts(this.reported);
    if (this.exceeded.length) { w.name("exceeded"); w.texts(this.exceeded); }
    if (this.repeated) { w.name("repeated"); w.bool(this.repeated); }
    w.name("handoff"); w.json(this.handoff);
    if (this.diff.length) { w.name("diff"); w.text(this.diff); }
    const outputs_ = this.outputs;
    if (outputs_ !== null) { w.name("outputs"); w.json(outputs_); }
    const receipts_ = this.receipts;
    if (receipts_ !== null) { w.name("receipts"); w.json(receipts_); }
    if (this.artifacts.length) { w.name("artifacts"); w.list<DelegationArtifact>(this.artifacts); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "schema") this.schema = r.text();
      else if (r.name == "status") this.status = r.text();
      else if (r.name == "peer") this.peer = r.into<DelegationPeer>();
      else if (r.name == "idempotency_key") this.idempotency_key = r.text();
      else if (r.name == "asked_sha256") this.asked_sha256 = r.text();
      else if (r.name == "task_id") this.task_id = r.text();
      else if (r.name == "checkpoint") this.checkpoint = r.intoOrNull<DelegationCheckpoint>();
      else if (r.name == "budget") this.budget = r.into<DelegationBudget>();
      else if (r.name == "budget_used") this.budget_used = r.into<DelegationBudget>();
      else if (r.name == "reported") this.reported = r.texts();
      else if (r.name == "exceeded") this.exceeded = r.texts();
      else if (r.name == "repeated") this.repeated = r.bool();
      else if (r.name == "handoff") this.handoff = r.json();
      else if (r.name == "diff") this.diff = r.text();
      else if (r.name == "outputs") this.outputs = r.json();
      else if (r.name == "receipts") this.receipts = r.json();
      else if (r.name == "artifacts") this.artifacts = r.list<DelegationArtifact>();
      else r.skip();
    }
  }
}

/** See its members. */
export class AgentDelegateAnswer {
  /** See DelegationStatus. */
  status: string = "";
  /** Of a refusal. */
  reason: CallError | null = null;
  /** `idempotency_key` is the one to come back with when the checkpoint is approved. */
  idempotency_key: string = "";
  peer: DelegationPeer | null = null;
  checkpoint: DelegationCheckpoint | null = null;
  handoff: DelegationHandoff | null = null;
  /** Whether the Persona's tier has held the call back: then the rest is empty. */
  withheld: Withheld = Withheld.NO;

  write(w: Writer): void {
    w.object();
    w.name("status"); w.text(this.status);
    const reason_ = this.reason;
    if (reason_ !== null) { w.name("reason"); reason_.write(w); }
    if (this.idempotency_key.length) { w.name("idempotency_key"); w.text(this.idempotency_key); }
    const peer_ = this.peer;
    if (peer_ !== null) { w.name("peer"); peer_.write(w); }
    const checkpoint_ = this.checkpoint;
    if (checkpoint_ !== null) { w.name("checkpoint"); checkpoint_.write(w); }
    const handoff_ = this.handoff;
    if (handoff_ !== null) { w.name("handoff"); handoff_.write(w); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "status") this.status = r.text();
      else if (r.name == "reason") this.reason = r.intoOrNull<CallError>();
      else if (r.name == "idempotency_key") this.idempotency_key = r.text();
      else if (r.name == "peer") this.peer = r.intoOrNull<DelegationPeer>();
      else if (r.name == "checkpoint") this.checkpoint = r.intoOrNull<DelegationCheckpoint>();
      else if (r.name == "handoff") this.handoff = r.intoOrNull<DelegationHandoff>();
      else r.skip();
    }
  }
}

/** See its members. */
export class EventEmitRequest {
  kind: string = "";
  /** A JSON object. */
  payload: Json | null = null;

  write(w: Writer): void {
    w.object();
    w.name("kind"); w.text(this.kind);
    const payload_ = this.payload;
    if (payload_ !== null) { w.name("payload"); w.json(payload_); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "kind") this.kind = r.text();
      else if (r.name == "payload") this.payload = r.json();
      else r.skip();
    }
  }
}

/** See its members. */
export class ConfigGetRequest {
  name: string = "";

  write(w: Writer): void {
    w.object();
    w.name("name"); w.text(this.name);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "name") this.name = r.text();
      else r.skip();
    }
  }
}

/** `value` is null when nothing is configured. */
export class ConfigGetAnswer {
  value: Json = Json.NULL;

  write(w: Writer): void {
    w.object();
    w.name("value"); w.json(this.value);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "value") this.value = r.json();
      else r.skip();
    }
  }
}

/** See its members. */
export class HostFactRequest {
  name: string = "";

  write(w: Writer): void {
    w.object();
    w.name("name"); w.text(this.name);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "name") this.name = r.text();
      else r.skip();
    }
  }
}

/** See its members. */
export class HostFactAnswer {
  value: string = "";

  write(w: Writer): void {
    w.object();
    w.name("value"); w.text(this.value);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "value") this.value = r.text();
      else r.skip();
    }
  }
}

/** DedupePolicy says how deliveries that come again are recognized. */
export class DedupePolicy {
  /** `header` is the header with the provider's delivery id; empty: the provider's own. */
  header: string = "";
  /** `window_seconds` is how long ids are remembered; 0 for the default of a week. */
  window_seconds: i64 = 0;

  write(w: Writer): void {
    w.object();
    if (this.header.length) { w.name("header"); w.text(this.header); }
    if (this.window_seconds != 0) { w.name("window_seconds"); w.integer(this.window_seconds); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "header") this.header = r.text();
      else if (r.name == "window_seconds") this.window_seconds = r.integer();
      else r.skip();
    }
  }
}

/**
 * WebhookAuth says how deliveries on the public path are checked. `secrets` are named, never stated:
 * they are those of the node's configuration or of a Vault.
 */
export class WebhookAuth {
  /** Empty: the provider's own. See SignatureScheme. */
  scheme: string = "";
  /**
   * `secrets` are names; a delivery signed with any of them is taken, so that a secret can be changed
   * without a gap.
   */
  secrets: string[] = [];
  /** Where they are; empty: the node's own. */
  vault_id: string = "";
  /** `tolerance_seconds` is how far a timestamp may be from now; 0 for 5 minutes. */
  tolerance_seconds: i64 = 0;
  /** Of hmac: the header with the signature. */
  header: string = "";
  /** Of hmac: sha256 or sha512. */
  hash: string = "";
  /** Of hmac: the signature's, hex or base64. */
  encoding: string = "";
  /** Of hmac: what stands before the signature. */
  prefix: string = "";
  /**
   * `timestamp_header` is the header with the time in seconds, of hmac; then "TIME.BODY" is signed,
   * and else the body alone.
   */
  timestamp_header: string = "";

  write(w: Writer): void {
    w.object();
    if (this.scheme.length) { w.name("scheme"); w.text(this.scheme); }
    if (this.secrets.length) { w.name("secrets"); w.texts(this.secrets); }
    if (this.vault_id.length) { w.name("vault_id"); w.text(this.vault_id); }
    if (this.tolerance_seconds != 0) { w.name("tolerance_seconds"); w.integer(this.tolerance_seconds); }
    if (this.header.length) { w.name("header"); w.text(this.header); }
    if (this.hash.length) { w.name("hash"); w.text(this.hash); }
    if (this.encoding.length) { w.name("encoding"); w.text(this.encoding); }
    if (this.prefix.length) { w.name("prefix"); w.text(this.prefix); }
    if (this.timestamp_header.length) { w.name("timestamp_header"); w.text(this.timestamp_header); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "scheme") this.scheme = r.text();
      else if (r.name == "secrets") this.secrets = r.texts();
      else if (r.name == "vault_id") this.vault_id = r.text();
      else if (r.name == "tolerance_seconds") this.tolerance_seconds = r.integer();
      else if (r.name == "header") this.header = r.text();
      else if (r.name == "hash") this.hash = r.text();
      else if (r.name == "encoding") this.encoding = r.text();
      else if (r.name == "prefix") this.prefix = r.text();
      else if (r.name == "timestamp_header") this.timestamp_header = r.text();
      else r.skip();
    }
  }
}

/** Webhook is the public path of a Connector. */
export class Webhook {
  /**
   * `path` is where providers send to. It is shown to those who may write Connectors, for it holds an
   * unguessable token.
   */
  path: string = "";
  /** `enabled` says that the path is open. */
  enabled: bool = false;

  write(w: Writer): void {
    w.object();
    if (this.path.length) { w.name("path"); w.text(this.path); }
    w.name("enabled"); w.bool(this.enabled);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "path") this.path = r.text();
      else if (r.name == "enabled") this.enabled = r.bool();
      else r.skip();
    }
  }
}

/** Polling makes a Connector act by itself. */
export class Polling {
  /** Five fields of cron, or @every 5m, @hourly, …. */
  schedule: string = "";
  /** Of the IANA database; UTC if it is empty. */
  timezone: string = "";
  /** The plugin's export that polls; empty: each tick is a delivery itself. */
  export: string = "";
  /** When it acts next. */
  next_at: string = "";
  /** The last tick that was acted on. */
  last_at: string = "";
  /** The Task of that tick. */
  last_task_id: string = "";

  write(w: Writer): void {
    w.object();
    w.name("schedule"); w.text(this.schedule);
    if (this.timezone.length) { w.name("timezone"); w.text(this.timezone); }
    if (this.export.length) { w.name("export"); w.text(this.export); }
    if (this.next_at.length) { w.name("next_at"); w.text(this.next_at); }
    if (this.last_at.length) { w.name("last_at"); w.text(this.last_at); }
    if (this.last_task_id.length) { w.name("last_task_id"); w.text(this.last_task_id); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "schedule") this.schedule = r.text();
      else if (r.name == "timezone") this.timezone = r.text();
      else if (r.name == "export") this.export = r.text();
      else if (r.name == "next_at") this.next_at = r.text();
      else if (r.name == "last_at") this.last_at = r.text();
      else if (r.name == "last_task_id") this.last_task_id = r.text();
      else r.skip();
    }
  }
}

/** ConnectorCounters count what became of deliveries, since the Connector was made. */
export class ConnectorCounters {
  /** Taken in; what had come before is not among them. */
  received: u64 = 0;
  /** Had come before. */
  deduped: u64 = 0;
  /** For their signature; since the node started. */
  rejected: u64 = 0;
  /** The plugin has said what they mean. */
  normalized: u64 = 0;
  /** Submitted. */
  tasks: u64 = 0;
  /** Put aside as dead letters. */
  failed: u64 = 0;
  /** Neither handled nor put aside yet. */
  pending: u64 = 0;

  write(w: Writer): void {
    w.object();
    w.name("received"); w.natural(this.received);
    w.name("deduped"); w.natural(this.deduped);
    w.name("rejected"); w.natural(this.rejected);
    w.name("normalized"); w.natural(this.normalized);
    w.name("tasks"); w.natural(this.tasks);
    w.name("failed"); w.natural(this.failed);
    w.name("pending"); w.natural(this.pending);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "received") this.received = r.natural();
      else if (r.name == "deduped") this.deduped = r.natural();
      else if (r.name == "rejected") this.rejected = r.natural();
      else if (r.name == "normalized") this.normalized = r.natural();
      else if (r.name == "tasks") this.tasks = r.natural();
      else if (r.name == "failed") this.failed = r.natural();
      else if (r.name == "pending") this.pending = r.natural();
      else r.skip();
    }
  }
}

/** Connector turns what a provider sends, or what is polled from it, into Tasks, Events or Messages. */
export class Connector {
  /** Names the resource; it never changes. */
  id: string = "";
  /** The kind of resource. */
  object: string = "";
  /** When it was made. */
  created_at: string = "";
  /** When it last changed. */
  updated_at: string = "";
  /** The client's own: any object; {} if there is none. */
  metadata: Json = Json.NULL;
  name: string = "";
  /** Such as github; it decides the defaults of the rest. */
  provider: string = "";
  workspace_id: string = "";
  /** Whether it takes and handles deliveries. See ConnectorStatus. */
  status: string = "";
  /** `status_reason` says why it is FAILED. */
  status_reason: string = "";
  event_kinds: string[] = [];
  dedupe_policy: DedupePolicy | null = null;
  auth: WebhookAuth | null = null;
  webhook: Webhook | null = null;
  polling: Polling | null = null;
  /** Whose Tasks deliveries become. */
  target_persona_id: string = "";
  /** The Session of those Tasks. */
  target_session_id: string = "";
  /** `plugin` is what normalizes deliveries: PLUGIN#EXPORT. */
  plugin: string = "";
  /** `settings` are the plugin's own, such as the mapping of generic. */
  settings: Json | null = null;
  /**
   * `ordered` says that the deliveries of one order key are handled strictly one after another: a Task
   * begins when the one before has ended. ConnectorTask has the key.
   */
  ordered: bool = false;
  /** `deleted_at` is set on one that was deleted: no read shows it any more. */
  deleted_at: string = "";
  /**
   * `problems` are what keeps it from working now, a sentence each. They are filled in when one is
   * read by its id, made or changed.
   */
  problems: string[] = [];
  /** `counters` are filled in when a Connector is read. */
  counters: ConnectorCounters | null = null;

  write(w: Writer): void {
    w.object();
    w.name("id"); w.text(this.id);
    w.name("object"); w.text(this.object);
    w.name("created_at"); w.text(this.created_at);
    w.name("updated_at"); w.text(this.updated_at);
    w.name("metadata"); w.json(this.metadata);
    if (this.name.length) { w.name("name"); w.text(this.name); }
    w.name("provider"); w.text(this.provider);
    w.name("workspace_id"); w.text(this.workspace_id);
    w.name("status"); w.text(this.status);
    if (this.status_reason.length) { w.name("status_reason"); w.text(this.status_reason); }
    w.name("event_kinds"); w.texts(this.event_kinds);
    const dedupe_policy_ = this.dedupe_policy;
    if (dedupe_policy_ !== null) { w.name("dedupe_policy"); dedupe_policy_.write(w); }
    const auth_ = this.auth;
    if (auth_ !== null) { w.name("auth"); auth_.write(w); }
    const webhook_ = this.webhook;
    if (webhook_ !== null) { w.name("webhook"); webhook_.write(w); }
    const polling_ = this.polling;
    if (polling_ !== null) { w.name("polling"); polling_.write(w); }
    if (this.target_persona_id.length) { w.name("target_persona_id"); w.text(this.target_persona_id); }
    if (this.target_session_id.length) { w.name("target_session_id"); w.text(this.target_session_id); }
    w.name("plugin"); w.text(this.plugin);
    const settings_ = this.settings;
    if (settings_ !== null) { w.name("settings"); w.json(settings_); }
    if (this.ordered) { w.name("ordered"); w.bool(this.ordered); }
    if (this.deleted_at.length) { w.name("deleted_at"); w.text(this.deleted_at); }
    if (this.problems.length) { w.name("problems"); w.texts(this.problems); }
    const counters_ = this.counters;
    if (counters_ !== null) { w.name("counters"); counters_.write(w); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "id") this.id = r.text();
      else if (r.name == "object") this.object = r.text();
      else if (r.name == "created_at") this.created_at = r.text();
      else if (r.name == "updated_at") this.updated_at = r.text();
      else if (r.name == "metadata") this.metadata = r.json();
      else if (r.name == "name") this.name = r.text();
      else if (r.name == "provider") this.provider = r.text();
      else if (r.name == "workspace_id") this.workspace_id = r.text();
      else if (r.name == "status") this.status = r.text();
      else if (r.name == "status_reason") this.status_reason = r.text();
      else if (r.name == "event_kinds") this.event_kinds = r.texts();
      else if (r.name == "dedupe_policy") this.dedupe_policy = r.intoOrNull<DedupePolicy>();
      else if (r.name == "auth") this.auth = r.intoOrNull<WebhookAuth>();
      else if (r.name == "webhook") this.webhook = r.intoOrNull<Webhook>();
      else if (r.name == "polling") this.polling = r.intoOrNull<Polling>();
      else if (r.name == "target_persona_id") this.target_persona_id = r.text();
      else if (r.name == "target_session_id") this.target_session_id = r.text();
      else if (r.name == "plugin") this.plugin = r.text();
      else if (r.name == "settings") this.settings = r.json();
      else if (r.name == "ordered") this.ordered = r.bool();
      else if (r.name == "deleted_at") this.deleted_at = r.text();
      else if (r.name == "problems") this.problems = r.texts();
      else if (r.name == "counters") this.counters = r.intoOrNull<ConnectorCounters>();
      else r.skip();
    }
  }
}

/**
 * Delivery is what a provider has sent, as it is kept: the body as text when it is UTF-8, else as
 * bytes.
 */
export class Delivery {
  /** Names the resource; it never changes. */
  id: string = "";
  /** The kind of resource. */
  object: string = "";
  /** When it was made. */
  created_at: string = "";
  /** When it last changed. */
  updated_at: string = "";
  /** The client's own: any object; {} if there is none. */
  metadata: Json = Json.NULL;
  connector_id: string = "";
  workspace_id: string = "";
  /** The provider's. */
  delivery_id: string = "";
  /** Names in lower case; no credentials. */
  header: Map<string, string> = new Map<string, string>();
  text: string = "";
  /** Base64. */
  body: Uint8Array = new Uint8Array(0);

  write(w: Writer): void {
    w.object();
    w.name("id"); w.text(this.id);
    w.name("object"); w.text(this.object);
    w.name("created_at"); w.text(this.created_at);
    w.name("updated_at"); w.text(this.updated_at);
    w.name("metadata"); w.json(this.metadata);
    w.name("connector_id"); w.text(this.connector_id);
    w.name("workspace_id"); w.text(this.workspace_id);
    w.name("delivery_id"); w.text(this.delivery_id);
    w.name("header"); w.textMap(this.header);
    if (this.text.length) { w.name("text"); w.text(this.text); }
    if (this.body.length) { w.name("body"); w.base64(this.body); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "id") this.id = r.text();
      else if (r.name == "object") this.object = r.text();
      else if (r.name == "created_at") this.created_at = r.text();
      else if (r.name == "updated_at") this.updated_at = r.text();
      else if (r.name == "metadata") this.metadata = r.json();
      else if (r.name == "connector_id") this.connector_id = r.text();
      else if (r.name == "workspace_id") this.workspace_id = r.text();
      else if (r.name == "delivery_id") this.delivery_id = r.text();
      else if (r.name == "header") this.header = r.textMap();
      else if (r.name == "text") this.text = r.text();
      else if (r.name == "body") this.body = r.base64();
      else r.skip();
    }
  }
}

/** See its members. */
export class DeliveriesAnswer {
  connector: Connector = new Connector();
  deliveries: Delivery[] = [];

  write(w: Writer): void {
    w.object();
    w.name("connector"); this.connector.write(w);
    w.name("deliveries"); w.list<Delivery>(this.deliveries);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "connector") this.connector = r.into<Connector>();
      else if (r.name == "deliveries") this.deliveries = r.list<Delivery>();
      else r.skip();
    }
  }
}

/** ConnectorTask is a Task to submit. */
export class ConnectorTask {
  input: Json = Json.NULL;
  /** `persona_id` is the Connector's target if it is empty. */
  persona_id: string = "";
  /**
   * `thread` is what belongs to one Session, such as a pull request; empty: the Connector's target
   * Session, or one for all.
   */
  thread: string = "";
  /** `order_key` orders Tasks when the Connector is ordered; empty: `thread`. */
  order_key: string = "";
  metadata: Json | null = null;

  write(w: Writer): void {
    w.object();
    w.name("input"); w.json(this.input);
    if (this.persona_id.length) { w.name("persona_id"); w.text(this.persona_id); }
    if (this.thread.length) { w.name("thread"); w.text(this.thread); }
    if (this.order_key.length) { w.name("order_key"); w.text(this.order_key); }
    const metadata_ = this.metadata;
    if (metadata_ !== null) { w.name("metadata"); w.json(metadata_); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "input") this.input = r.json();
      else if (r.name == "persona_id") this.persona_id = r.text();
      else if (r.name == "thread") this.thread = r.text();
      else if (r.name == "order_key") this.order_key = r.text();
      else if (r.name == "metadata") this.metadata = r.json();
      else r.skip();
    }
  }
}

/** ConnectorMessage is a `message` to append. */
export class ConnectorMessage {
  message: MessageInput = new MessageInput();
  thread: string = "";

  write(w: Writer): void {
    w.object();
    w.name("message"); this.message.write(w);
    if (this.thread.length) { w.name("thread"); w.text(this.thread); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "message") this.message = r.into<MessageInput>();
      else if (r.name == "thread") this.thread = r.text();
      else r.skip();
    }
  }
}

/** ConnectorEvent is an event to tell. */
export class ConnectorEvent {
  kind: string = "";
  payload: Json | null = null;

  write(w: Writer): void {
    w.object();
    w.name("kind"); w.text(this.kind);
    const payload_ = this.payload;
    if (payload_ !== null) { w.name("payload"); w.json(payload_); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "kind") this.kind = r.text();
      else if (r.name == "payload") this.payload = r.json();
      else r.skip();
    }
  }
}

/**
 * NormalizedDelivery says what a delivery means. With none of the members it means nothing and is done
 * with.
 */
export class NormalizedDelivery {
  /** The Delivery's id. */
  id: string = "";
  tasks: ConnectorTask[] = [];
  messages: ConnectorMessage[] = [];
  events: ConnectorEvent[] = [];
  /** `ignored` says in a word why it means nothing. */
  ignored: string = "";
  /** `failure` puts the delivery aside, whatever else it says. */
  failure: Failure | null = null;

  write(w: Writer): void {
    w.object();
    w.name("id"); w.text(this.id);
    if (this.tasks.length) { w.name("tasks"); w.list<ConnectorTask>(this.tasks); }
    if (this.messages.length) { w.name("messages"); w.list<ConnectorMessage>(this.messages); }
    if (this.events.length) { w.name("events"); w.list<ConnectorEvent>(this.events); }
    if (this.ignored.length) { w.name("ignored"); w.text(this.ignored); }
    const failure_ = this.failure;
    if (failure_ !== null) { w.name("failure"); failure_.write(w); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "id") this.id = r.text();
      else if (r.name == "tasks") this.tasks = r.list<ConnectorTask>();
      else if (r.name == "messages") this.messages = r.list<ConnectorMessage>();
      else if (r.name == "events") this.events = r.list<ConnectorEvent>();
      else if (r.name == "ignored") this.ignored = r.text();
      else if (r.name == "failure") this.failure = r.intoOrNull<Failure>();
      else r.skip();
    }
  }
}

/** See its members. */
export class NormalizedRequest {
  results: NormalizedDelivery[] = [];

  write(w: Writer): void {
    w.object();
    w.name("results"); w.list<NormalizedDelivery>(this.results);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "results") this.results = r.list<NormalizedDelivery>();
      else r.skip();
    }
  }
}

/** PolledDelivery is one thing that was found. `id` is how it is recognized when it is found again. */
export class PolledDelivery {
  id: string = "";
  header: Map<string, string> = new Map<string, string>();
  text: string = "";
  /** Base64; not with `text`. */
  body: Uint8Array = new Uint8Array(0);

  write(w: Writer): void {
    w.object();
    w.name("id"); w.text(this.id);
    if (this.header.size) { w.name("header"); w.textMap(this.header); }
    if (this.text.length) { w.name("text"); w.text(this.text); }
    if (this.body.length) { w.name("body"); w.base64(this.body); }
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "id") this.id = r.text();
      else if (r.name == "header") this.header = r.textMap();
      else if (r.name == "text") this.text = r.text();
      else if (r.name == "body") this.body = r.base64();
      else r.skip();
    }
  }
}

/** Each is taken as if the provider had sent it. */
export class DeliverRequest {
  deliveries: PolledDelivery[] = [];

  write(w: Writer): void {
    w.object();
    w.name("deliveries"); w.list<PolledDelivery>(this.deliveries);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "deliveries") this.deliveries = r.list<PolledDelivery>();
      else r.skip();
    }
  }
}

/** See its members. */
export class DeliverAnswer {
  received: i64 = 0;
  deduped: i64 = 0;
  /** Whether the Persona's tier has held the call back: then the rest is empty. */
  withheld: Withheld = Withheld.NO;

  write(w: Writer): void {
    w.object();
    w.name("received"); w.integer(this.received);
    w.name("deduped"); w.integer(this.deduped);
    w.endObject();
  }

  read(r: Reader): void {
    if (r.takeNull()) return;
    for (r.object(); r.member(); ) {
      if (r.name == "received") this.received = r.integer();
      else if (r.name == "deduped") this.deduped = r.integer();
      else r.skip();
    }
  }
}
