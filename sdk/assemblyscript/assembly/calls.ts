// Generated from package abi by go generate ./abi. Do not edit.

// Two functions for each host call of wharf-abi-1. The first answers, or ends the Task with what the host says;
// the second begins with "try" and returns how the call has failed.

import { answered, answeredOrWithheld, CallError, content, endWith, Result, told, written } from "./call";
import * as host from "./host";
import {
  InputAnswer, OutputRequest, Label, ClockAnswer, IDAnswer, LogRequest, ProgressRequest,
  PlanRequest, AgentEventRequest, PlanSetRequest, PlanAnswer, PlanGetRequest, InboxTakeRequest,
  InboxTakeAnswer, MessageInput, MessageAppendAnswer, MessageDeltaRequest, TranscriptReadRequest,
  TranscriptReadAnswer, ModelRequest, ModelAnswer, ToolListRequest, ToolListAnswer, ToolCallRequest,
  ToolCallAnswer, ResourceListRequest, ResourceListAnswer, ResourceReadRequest, ResourceReadAnswer,
  PromptGetRequest, PromptGetAnswer, HTTPFetchRequest, HTTPFetchAnswer, SecretUseRequest,
  SecretUseAnswer, MemoryQueryRequest, MemoryQueryAnswer, MemoryWriteRequest, MemoryWriteAnswer,
  BlockListRequest, BlockListAnswer, BlockWriteRequest, BlockWriteAnswer, ArtifactPutRequest,
  ArtifactPutAnswer, ArtifactGetRequest, FileReadRequest, FileReadAnswer, FileWriteRequest,
  FileWriteAnswer, FileEditRequest, FileEditAnswer, FileListRequest, FileListAnswer,
  FileRemoveRequest, FileRemoveAnswer, FileSearchRequest, FileSearchAnswer, SkillReadRequest,
  SkillReadAnswer, SkillMatchRequest, SkillMatchAnswer, CompositionBeginRequest,
  CompositionBeginAnswer, CompositionEndRequest, StateGetRequest, StateGetAnswer, StateSetRequest,
  SleepRequest, InputRequestRequest, InputRequestAnswer, AuthRequestRequest, ApprovalRequestRequest,
  ApprovalAnswer, TaskSpawnRequest, TaskSpawnAnswer, TaskAwaitRequest, TaskAwaitAnswer,
  HandoffRequest, AgentDelegateRequest, AgentDelegateAnswer, EventEmitRequest, ConfigGetRequest,
  ConfigGetAnswer, HostFactRequest, HostFactAnswer, DeliveriesAnswer, NormalizedRequest,
  DeliverRequest, DeliverAnswer,
} from "./types";

/**
 * What the Task was submitted with, the Task as it was accepted, and the Persona it runs as.
 *
 * @example
 * function exampleRun(task: Task): Outcome {
 *   const metrics = new Map<string, f64>();
 *   metrics.set("orders", 1);
 *   return { summary: "done: " + task.text, metrics };
 * }
 */
export function input(): InputAnswer { return tryInput().value; }

/** The same; it returns how it has failed. */
export function tryInput(): Result<InputAnswer> {
  return answered<InputAnswer>("input", host.hostInput(0, 0));
}

/**
 * What the Task results in. Called once; a second call is answered with `invalid`.
 *
 * @example
 * function exampleRun(task: Task): Outcome {
 *   const metrics = new Map<string, f64>();
 *   metrics.set("orders", 1);
 *   return { summary: "done: " + task.text, metrics };
 * }
 */
export function output(request: OutputRequest): void {
  const error = tryOutput(request);
  if (error) endWith(error);
}

/** The same; it returns how it has failed. */
export function tryOutput(request: OutputRequest): CallError | null {
  const w = written(request);
  return told("output", host.hostOutput(w.start, w.length));
}

/**
 * Reads the wall clock. A replay can give another answer under the key `time:<call_id>`.
 *
 * @example
 * log({ level: "info", message: "it is " + wharf.clock({}).unix_nano });
 */
export function clock(request: Label): ClockAnswer { return tryClock(request).value; }

/** The same; it returns how it has failed. */
export function tryClock(request: Label): Result<ClockAnswer> {
  const w = written(request);
  return answered<ClockAnswer>("clock", host.hostClock(w.start, w.length));
}

/**
 * Reads randomness fit for keys. It is recorded, so a key made from it is in the node's data folder.
 * Limit: 65,536 bytes. A replay can give another answer under the key `host:random:<call_id>`.
 *
 * @example
 * const key = wharf.random(16);
 * assert(key.length == 16);
 */
export function random(count: u32): Uint8Array { return tryRandom(count).value; }

/** The same; it returns how it has failed. */
export function tryRandom(count: u32): Result<Uint8Array> {
  const little = new ArrayBuffer(4);
  store<u32>(changetype<usize>(little), count);
  return content("random", host.hostRandom(changetype<usize>(little), 4));
}

/**
 * Makes an id that is unique and sorts by time: a ULID. A replay can give another answer under the key
 * `host:id:<call_id>`.
 *
 * @example
 * log({ level: "info", message: "this is order " + wharf.id({}).id });
 */
export function id(request: Label): IDAnswer { return tryId(request).value; }

/** The same; it returns how it has failed. */
export function tryId(request: Label): Result<IDAnswer> {
  const w = written(request);
  return answered<IDAnswer>("id", host.hostId(w.start, w.length));
}

/**
 * Writes a line to the Task's event stream. Limit: 10,000 hints of a Task; more are dropped.
 *
 * @example
 * log({ level: "warn", message: "the pot is half empty" });
 */
export function log(request: LogRequest): void {
  const error = tryLog(request);
  if (error) endWith(error);
}

/** The same; it returns how it has failed. */
export function tryLog(request: LogRequest): CallError | null {
  const w = written(request);
  return told("log", host.hostLog(w.start, w.length));
}

/**
 * Tells watchers how far the Task is. Limit: 10,000 hints of a Task; more are dropped.
 *
 * @example
 * wharf.progress({ fraction: 0.5, message: "half of the orders are in" });
 */
export function progress(request: ProgressRequest): void {
  const error = tryProgress(request);
  if (error) endWith(error);
}

/** The same; it returns how it has failed. */
export function tryProgress(request: ProgressRequest): CallError | null {
  const w = written(request);
  return told("progress", host.hostProgress(w.start, w.length));
}

/**
 * Tells watchers what the plugin means to do, and how far it got. Nothing keeps it: plan.set does.
 * Limit: 10,000 hints of a Task; more are dropped.
 *
 * @example
 * wharf.plan({ steps: [{ title: "Ask for the order", status: "completed" }, { title: "Place it", status: "pending" }] });
 */
export function plan(request: PlanRequest): void {
  const error = tryPlan(request);
  if (error) endWith(error);
}

/** The same; it returns how it has failed. */
export function tryPlan(request: PlanRequest): CallError | null {
  const w = written(request);
  return told("plan", host.hostPlan(w.start, w.length));
}

/**
 * Tells watchers what an agent does with its skills, its tools and its conversation. The data is an
 * object that has members of its kind alone: skill_activated, skill_deactivated, skill_scope_tools,
 * skill_narrow, tool_search_query, tool_search_result, transcript_compacted, transcript_projected,
 * turn_started or turn_ended. Limit: 32 KiB; 10,000 hints of a Task, more are dropped.
 *
 * @example
 * wharf.agentEvent({ kind: AgentEventKind.TURN_STARTED, data: Json.parse('{"iteration":1}')! });
 */
export function agentEvent(request: AgentEventRequest): void {
  const error = tryAgentEvent(request);
  if (error) endWith(error);
}

/** The same; it returns how it has failed. */
export function tryAgentEvent(request: AgentEventRequest): CallError | null {
  const w = written(request);
  return told("agent.event", host.hostAgentEvent(w.start, w.length));
}

/**
 * Sets the Task's plan, which people see and may change. A step without an id gets one that follows
 * from the call. Limit: 200 steps of 2,000 characters.
 *
 * @example
 * const version = wharf.planGet({}).version;
 * // It ends the Task when somebody has changed the plan since it was read; tryPlanSet says so instead.
 * wharf.planSet({ steps: [{ id: "order", content: "Place the order", status: "in_progress" }], version: new Some<i64>(version) });
 */
export function planSet(request: PlanSetRequest): PlanAnswer { return tryPlanSet(request).value; }

/** The same; it returns how it has failed. */
export function tryPlanSet(request: PlanSetRequest): Result<PlanAnswer> {
  const w = written(request);
  return answeredOrWithheld<PlanAnswer>("plan.set", host.hostPlanSet(w.start, w.length));
}

/**
 * Reads the Task's plan as it is now, with what people have changed. A replay can give another answer
 * under the key `host:plan.get:<call_id>`.
 *
 * @example
 * const version = wharf.planGet({}).version;
 * // It ends the Task when somebody has changed the plan since it was read; tryPlanSet says so instead.
 * wharf.planSet({ steps: [{ id: "order", content: "Place the order", status: "in_progress" }], version: new Some<i64>(version) });
 */
export function planGet(request: PlanGetRequest): PlanAnswer { return tryPlanGet(request).value; }

/** The same; it returns how it has failed. */
export function tryPlanGet(request: PlanGetRequest): Result<PlanAnswer> {
  const w = written(request);
  return answered<PlanAnswer>("plan.get", host.hostPlanGet(w.start, w.length));
}

/**
 * Takes what waits in the Session's inbox and is due at a checkpoint. It is delivered once: its
 * Messages are in the transcript and the answer is on disk before it is given. With wait the Task is
 * parked until something comes. Limit: 100 that wait in a Session, 4 MB of them. A replay can give
 * another answer under the key `host:inbox.take:<call_id>`.
 *
 * @example
 * const messages = wharf.inboxTake({ checkpoint: Checkpoint.TURN, wait: true, timeout_ms: 60000 }).messages;
 * for (let i = 0; i < messages.length; i++) {
 *   const text = messages[i].parts[0].text;
 *   if (text !== null) log({ level: "info", message: "somebody says: " + text });
 * }
 */
export function inboxTake(request: InboxTakeRequest): InboxTakeAnswer { return tryInboxTake(request).value; }

/** The same; it returns how it has failed. */
export function tryInboxTake(request: InboxTakeRequest): Result<InboxTakeAnswer> {
  const w = written(request);
  return answered<InboxTakeAnswer>("inbox.take", host.hostInboxTake(w.start, w.length));
}

/**
 * Appends a Message to the Session's transcript. It becomes visible with the next call that reaches
 * outside the Task, at the latest when the Task ends.
 *
 * @example
 * reply("Your tea is coming.");
 */
export function messageAppend(request: MessageInput): MessageAppendAnswer { return tryMessageAppend(request).value; }

/** The same; it returns how it has failed. */
export function tryMessageAppend(request: MessageInput): Result<MessageAppendAnswer> {
  const w = written(request);
  return answeredOrWithheld<MessageAppendAnswer>("message.append", host.hostMessageAppend(w.start, w.length));
}

/**
 * Streams a piece of a Message that is being written. The Message itself is appended when it is whole.
 * Limit: 20 events a second of a Task: pieces that come faster are put together.
 *
 * @example
 * wharf.messageDelta({ text: "Your tea" });
 */
export function messageDelta(request: MessageDeltaRequest): void {
  const error = tryMessageDelta(request);
  if (error) endWith(error);
}

/** The same; it returns how it has failed. */
export function tryMessageDelta(request: MessageDeltaRequest): CallError | null {
  const w = written(request);
  return told("message.delta", host.hostMessageDelta(w.start, w.length));
}

/**
 * Reads Messages of the Session, oldest first: what was appended before the Task was submitted, and
 * what it appended itself. Limit: 200 Messages. A replay can give another answer under the key
 * `host:transcript.read:<call_id>`.
 *
 * @example
 * const messages = wharf.transcriptRead({ last: 5 }).messages;
 * for (let i = 0; i < messages.length; i++) log({ level: "info", message: messages[i].role + " has spoken" });
 */
export function transcriptRead(request: TranscriptReadRequest): TranscriptReadAnswer { return tryTranscriptRead(request).value; }

/** The same; it returns how it has failed. */
export function tryTranscriptRead(request: TranscriptReadRequest): Result<TranscriptReadAnswer> {
  const w = written(request);
  return answered<TranscriptReadAnswer>("transcript.read", host.hostTranscriptRead(w.start, w.length));
}

/**
 * Asks a model. The answer never holds hidden reasoning. With stream set, text is told to watchers as
 * it comes. A replay can give another answer under the key `llm:<call_id>`.
 *
 * @example
 * const answer = wharf.llmComplete({ system: "You know teas.", messages: [{ role: "user", text: "Name one." }], max_tokens: 20 });
 * log({ level: "info", message: "the model says: " + answer.text });
 */
export function llmComplete(request: ModelRequest): ModelAnswer { return tryLlmComplete(request).value; }

/** The same; it returns how it has failed. */
export function tryLlmComplete(request: ModelRequest): Result<ModelAnswer> {
  const w = written(request);
  return answered<ModelAnswer>("llm.complete", host.hostLlmComplete(w.start, w.length));
}

/**
 * Lists the tools that the plugin may call. A replay can give another answer under the key
 * `host:tool.list:<call_id>`.
 *
 * @example
 * const tools = wharf.toolList({ server: "desk" }).tools;
 * for (let i = 0; i < tools.length; i++) log({ level: "info", message: "there is a tool " + tools[i].name });
 */
export function toolList(request: ToolListRequest): ToolListAnswer { return tryToolList(request).value; }

/** The same; it returns how it has failed. */
export function tryToolList(request: ToolListRequest): Result<ToolListAnswer> {
  const w = written(request);
  return answered<ToolListAnswer>("tool.list", host.hostToolList(w.start, w.length));
}

/**
 * Calls a tool. It is a read when the tool says that it is read-only, else a write: then the intent is
 * on disk before the tool is called, and after a crash a tool that is not idempotent is not called
 * again. A replay can give another answer under the key `mcp:<server>:<call_id>`.
 *
 * @example
 * const answer = wharf.toolCall({ server: "desk", name: "look", arguments: Json.parse('{"where":"harbour"}') });
 * log({ level: "info", message: "the tool says: " + answer.content[0].text });
 */
export function toolCall(request: ToolCallRequest): ToolCallAnswer { return tryToolCall(request).value; }

/** The same; it returns how it has failed. */
export function tryToolCall(request: ToolCallRequest): Result<ToolCallAnswer> {
  const w = written(request);
  return answeredOrWithheld<ToolCallAnswer>("tool.call", host.hostToolCall(w.start, w.length));
}

/**
 * Lists the resources, the templates of resources, or the prompts of a server of tools. A server that
 * has none lists none. Limit: 1,000 entries, 1 MiB. A replay can give another answer under the key
 * `mcp:<server>:resource.list:<call_id>`.
 *
 * @example
 * const resources = wharf.resourceList({ server: "desk", kind: "resource" }).resources;
 * for (let i = 0; i < resources.length; i++) log({ level: "info", message: "there is " + resources[i].uri });
 */
export function resourceList(request: ResourceListRequest): ResourceListAnswer { return tryResourceList(request).value; }

/** The same; it returns how it has failed. */
export function tryResourceList(request: ResourceListRequest): Result<ResourceListAnswer> {
  const w = written(request);
  return answered<ResourceListAnswer>("resource.list", host.hostResourceList(w.start, w.length));
}

/**
 * Reads a resource of a server of tools. It counts as a call of a tool. Limit: what the server's
 * `answer` says, 4 MiB unless it is set. A replay can give another answer under the key
 * `mcp:<server>:resource.read:<call_id>`.
 *
 * @example
 * const note = wharf.resourceRead({ server: "desk", uri: "notes://teas" });
 * log({ level: "info", message: "the note says: " + note.contents[0].text });
 */
export function resourceRead(request: ResourceReadRequest): ResourceReadAnswer { return tryResourceRead(request).value; }

/** The same; it returns how it has failed. */
export function tryResourceRead(request: ResourceReadRequest): Result<ResourceReadAnswer> {
  const w = written(request);
  return answered<ResourceReadAnswer>("resource.read", host.hostResourceRead(w.start, w.length));
}

/**
 * Gets a prompt of a server of tools, filled in with arguments. It counts as a call of a tool. Limit:
 * what the server's `answer` says, 4 MiB unless it is set. A replay can give another answer under the
 * key `mcp:<server>:prompt.get:<call_id>`.
 *
 * @example
 * const named = new Map<string, string>();
 * named.set("name", "Ada");
 * const prompt = wharf.promptGet({ server: "desk", name: "greet", arguments: named });
 * log({ level: "info", message: "the prompt says: " + prompt.messages[0].content.text });
 */
export function promptGet(request: PromptGetRequest): PromptGetAnswer { return tryPromptGet(request).value; }

/** The same; it returns how it has failed. */
export function tryPromptGet(request: PromptGetRequest): Result<PromptGetAnswer> {
  const w = written(request);
  return answered<PromptGetAnswer>("prompt.get", host.hostPromptGet(w.start, w.length));
}

/**
 * Makes an HTTP request to a host that the plugin is allowed. GET and HEAD are reads, the rest are
 * writes. Secrets are put in by the host. A replay can give another answer under the key
 * `host:http.fetch:<call_id>`.
 *
 * @example
 * const shop = wharf.configGet({ name: "shop" }).value.text; // where it is, by the node's configuration
 * // The handle stands for the key. The host puts the key in its place.
 * const key = wharf.secretUse({ name: "shop-key" }).handle;
 * const header = new Map<string, string>();
 * header.set("Authorization", "Bearer " + key);
 * header.set("Content-Type", "application/json");
 * const answer = wharf.httpFetch({
 *   method: "POST", url: shop + "/orders", header, text: '{"tea":"green"}',
 *   purpose: "to order tea", idempotency_header: "Idempotency-Key", timeout_ms: 30000,
 * });
 * log({ level: "info", message: "the shop says: " + answer.text });
 */
export function httpFetch(request: HTTPFetchRequest): HTTPFetchAnswer { return tryHttpFetch(request).value; }

/** The same; it returns how it has failed. */
export function tryHttpFetch(request: HTTPFetchRequest): Result<HTTPFetchAnswer> {
  const w = written(request);
  return answeredOrWithheld<HTTPFetchAnswer>("http.fetch", host.hostHttpFetch(w.start, w.length));
}

/**
 * Asks for a handle of a secret that the plugin is allowed. The value is never told: the host puts it
 * where the handle stands in an outgoing request. A replay can give another answer under the key
 * `secret:<name>`.
 *
 * @example
 * const shop = wharf.configGet({ name: "shop" }).value.text; // where it is, by the node's configuration
 * // The handle stands for the key. The host puts the key in its place.
 * const key = wharf.secretUse({ name: "shop-key" }).handle;
 * const header = new Map<string, string>();
 * header.set("Authorization", "Bearer " + key);
 * header.set("Content-Type", "application/json");
 * const answer = wharf.httpFetch({
 *   method: "POST", url: shop + "/orders", header, text: '{"tea":"green"}',
 *   purpose: "to order tea", idempotency_header: "Idempotency-Key", timeout_ms: 30000,
 * });
 * log({ level: "info", message: "the shop says: " + answer.text });
 */
export function secretUse(request: SecretUseRequest): SecretUseAnswer { return trySecretUse(request).value; }

/** The same; it returns how it has failed. */
export function trySecretUse(request: SecretUseRequest): Result<SecretUseAnswer> {
  const w = written(request);
  return answered<SecretUseAnswer>("secret.use", host.hostSecretUse(w.start, w.length));
}

/**
 * Finds Memories that the Task may read and that have every word of the query, newest first. Words are
 * whole; `word*` stands for all that begin so. A query has at most 32. Expired and redacted Memories
 * are left out. Limit: 100 Memories. A replay can give another answer under the key
 * `host:memory.query:<call_id>`.
 *
 * @example
 * const memories = wharf.memoryQuery({ scope: MemoryScope.SESSION, text: "tea", limit: 3 }).memories;
 * for (let i = 0; i < memories.length; i++) log({ level: "info", message: "I remember: " + memories[i].content.text });
 */
export function memoryQuery(request: MemoryQueryRequest): MemoryQueryAnswer { return tryMemoryQuery(request).value; }

/** The same; it returns how it has failed. */
export function tryMemoryQuery(request: MemoryQueryRequest): Result<MemoryQueryAnswer> {
  const w = written(request);
  return answered<MemoryQueryAnswer>("memory.query", host.hostMemoryQuery(w.start, w.length));
}

/**
 * Keeps a Memory for later Tasks. Its provenance names the Task.
 *
 * @example
 * wharf.memoryWrite({ scope: MemoryScope.SESSION, content: Json.text("Ada likes green tea"), confidence: 0.75 });
 */
export function memoryWrite(request: MemoryWriteRequest): MemoryWriteAnswer { return tryMemoryWrite(request).value; }

/** The same; it returns how it has failed. */
export function tryMemoryWrite(request: MemoryWriteRequest): Result<MemoryWriteAnswer> {
  const w = written(request);
  return answeredOrWithheld<MemoryWriteAnswer>("memory.write", host.hostMemoryWrite(w.start, w.length));
}

/**
 * Reads the blocks of memory of the Task's agent as they are now, whoever has changed them. A Persona
 * that is no agent of a Workspace is answered with `not_found` and the code `no_blocks`. A replay can
 * give another answer under the key `host:block.list:<call_id>`.
 *
 * @example
 * const blocks = wharf.blockList({}).blocks;
 * for (let i = 0; i < blocks.length; i++) log({ level: "info", message: blocks[i].label + ": " + blocks[i].value });
 */
export function blockList(request: BlockListRequest): BlockListAnswer { return tryBlockList(request).value; }

/** The same; it returns how it has failed. */
export function tryBlockList(request: BlockListRequest): Result<BlockListAnswer> {
  const w = written(request);
  return answered<BlockListAnswer>("block.list", host.hostBlockList(w.start, w.length));
}

/**
 * Changes a block of memory of the Task's agent, or makes it; later Tasks of the agent have it, too.
 * It happens once. A block that is read-only is answered with `denied` and the code `block_read_only`,
 * and a Persona that is no agent of a Workspace with `not_found` and `no_blocks`. Limit: 64 blocks of
 * 100,000 characters, 400,000 characters together.
 *
 * @example
 * wharf.blockWrite({ label: "customer", value: "Ada, who likes green tea." });
 */
export function blockWrite(request: BlockWriteRequest): BlockWriteAnswer { return tryBlockWrite(request).value; }

/** The same; it returns how it has failed. */
export function tryBlockWrite(request: BlockWriteRequest): Result<BlockWriteAnswer> {
  const w = written(request);
  return answeredOrWithheld<BlockWriteAnswer>("block.write", host.hostBlockWrite(w.start, w.length));
}

/**
 * Stores an Artifact of this Task. It becomes visible with the next call that reaches outside the
 * Task, at the latest when the Task ends.
 *
 * @example
 * const content = Uint8Array.wrap(String.UTF8.encode("tea,10\n"));
 * const artifact_id = wharf.artifactPut({ kind: ArtifactKind.DATASET, mime_type: "text/csv", name: "orders.csv" }, content).artifact_id;
 * const first = wharf.artifactGet({ artifact_id, length: 3 });
 * log({ level: "info", message: "it begins with " + String.UTF8.decodeUnsafe(first.dataStart, first.length) });
 */
export function artifactPut(request: ArtifactPutRequest, content: Uint8Array): ArtifactPutAnswer { return tryArtifactPut(request, content).value; }

/** The same; it returns how it has failed. */
export function tryArtifactPut(request: ArtifactPutRequest, content: Uint8Array): Result<ArtifactPutAnswer> {
  const w = written(request);
  w.line(content);
  return answeredOrWithheld<ArtifactPutAnswer>("artifact.put", host.hostArtifactPut(w.start, w.length));
}

/**
 * Reads a range of an Artifact's content that the Task's tenant and Workspace may see. A replay can
 * give another answer under the key `host:artifact.get:<call_id>`.
 *
 * @example
 * const content = Uint8Array.wrap(String.UTF8.encode("tea,10\n"));
 * const artifact_id = wharf.artifactPut({ kind: ArtifactKind.DATASET, mime_type: "text/csv", name: "orders.csv" }, content).artifact_id;
 * const first = wharf.artifactGet({ artifact_id, length: 3 });
 * log({ level: "info", message: "it begins with " + String.UTF8.decodeUnsafe(first.dataStart, first.length) });
 */
export function artifactGet(request: ArtifactGetRequest): Uint8Array { return tryArtifactGet(request).value; }

/** The same; it returns how it has failed. */
export function tryArtifactGet(request: ArtifactGetRequest): Result<Uint8Array> {
  const w = written(request);
  return content("artifact.get", host.hostArtifactGet(w.start, w.length));
}

/**
 * Reads a file of the Task's Workspace, or a range of it. Limit: 8 MiB of a file at once, and half of
 * what one call may pass. A replay can give another answer under the key `host:file.read:<call_id>`.
 *
 * @example
 * const file = wharf.fileRead({ path: "orders/today.md" });
 * log({ level: "info", message: "the file says: " + file.text });
 */
export function fileRead(request: FileReadRequest): FileReadAnswer { return tryFileRead(request).value; }

/** The same; it returns how it has failed. */
export function tryFileRead(request: FileReadRequest): Result<FileReadAnswer> {
  const w = written(request);
  return answered<FileReadAnswer>("file.read", host.hostFileRead(w.start, w.length));
}

/**
 * Writes a file of the Task's Workspace, whole or not at all. It happens once, also when the node dies
 * meanwhile. Limit: files of 8 MiB, 1 GiB in a Workspace.
 *
 * @example
 * wharf.fileWrite({ path: "orders/today.md", text: "green tea, ten times" });
 */
export function fileWrite(request: FileWriteRequest): FileWriteAnswer { return tryFileWrite(request).value; }

/** The same; it returns how it has failed. */
export function tryFileWrite(request: FileWriteRequest): Result<FileWriteAnswer> {
  const w = written(request);
  return answeredOrWithheld<FileWriteAnswer>("file.write", host.hostFileWrite(w.start, w.length));
}

/**
 * Replaces a text within a file of the Task's Workspace, by one change that happens once. A text that
 * is not there, or more than once without `all`, is answered with `invalid` and the code conflict.
 * Limit: files of 8 MiB, before and after.
 *
 * @example
 * wharf.fileEdit({ path: "orders/today.md", old: "green tea", "new": "black tea" });
 */
export function fileEdit(request: FileEditRequest): FileEditAnswer { return tryFileEdit(request).value; }

/** The same; it returns how it has failed. */
export function tryFileEdit(request: FileEditRequest): Result<FileEditAnswer> {
  const w = written(request);
  return answeredOrWithheld<FileEditAnswer>("file.edit", host.hostFileEdit(w.start, w.length));
}

/**
 * Lists a folder of the Task's Workspace, or all files below it, in the order of their paths' names.
 * Limit: 1,000 entries. A replay can give another answer under the key `host:file.list:<call_id>`.
 *
 * @example
 * const entries = wharf.fileList({ path: "orders", recursive: true, limit: 10 }).entries;
 * for (let i = 0; i < entries.length; i++) log({ level: "info", message: "there is a file " + entries[i].path });
 */
export function fileList(request: FileListRequest): FileListAnswer { return tryFileList(request).value; }

/** The same; it returns how it has failed. */
export function tryFileList(request: FileListRequest): Result<FileListAnswer> {
  const w = written(request);
  return answered<FileListAnswer>("file.list", host.hostFileList(w.start, w.length));
}

/**
 * Removes a file of the Task's Workspace, or a folder: one that is not empty only with `recursive`. A
 * folder goes with its last file, unless somebody has made it by itself. Limit: 1,000 files and
 * folders in a folder.
 *
 * @example
 * wharf.fileRemove({ path: "orders/today.md" });
 */
export function fileRemove(request: FileRemoveRequest): FileRemoveAnswer { return tryFileRemove(request).value; }

/** The same; it returns how it has failed. */
export function tryFileRemove(request: FileRemoveRequest): Result<FileRemoveAnswer> {
  const w = written(request);
  return answeredOrWithheld<FileRemoveAnswer>("file.remove", host.hostFileRemove(w.start, w.length));
}

/**
 * Finds lines, or only names, in the files of the Task's Workspace. Content that is no text is left
 * out, and so are files of more than 8 MiB. A search that takes more than 10 seconds goes on with
 * `next`, too. Limit: 1,000 matches, 32 MiB of content and 20,000 files at once. A replay can give
 * another answer under the key `host:file.search:<call_id>`.
 *
 * @example
 * const matches = wharf.fileSearch({ glob: "*.md", text: "TEA", ignore_case: true, limit: 10 }).matches;
 * for (let i = 0; i < matches.length; i++) log({ level: "info", message: matches[i].path + ": " + matches[i].text });
 */
export function fileSearch(request: FileSearchRequest): FileSearchAnswer { return tryFileSearch(request).value; }

/** The same; it returns how it has failed. */
export function tryFileSearch(request: FileSearchRequest): Result<FileSearchAnswer> {
  const w = written(request);
  return answered<FileSearchAnswer>("file.search", host.hostFileSearch(w.start, w.length));
}

/**
 * Reads a file of a skill that the Task has, as it was when the Task started, or the instructions of
 * one that a client of its Session has. A file that is no text is not read. Limit: half of what one
 * call may pass. A replay can give another answer under the key `host:skill.read:<call_id>`.
 *
 * @example
 * const file = wharf.skillRead({ skill: "brewing", path: "times.md" });
 * log({ level: "info", message: "the skill says: " + file.text });
 */
export function skillRead(request: SkillReadRequest): SkillReadAnswer { return trySkillRead(request).value; }

/** The same; it returns how it has failed. */
export function trySkillRead(request: SkillReadRequest): Result<SkillReadAnswer> {
  const w = written(request);
  return answered<SkillReadAnswer>("skill.read", host.hostSkillRead(w.start, w.length));
}

/**
 * Ranks skills by how well they fit a prompt and the files that are worked on: the node does, or a
 * client of the Session when it is asked for and there is one. Without candidates it also lists the
 * skills that the Task can read. Limit: 1,000 candidates. A replay can give another answer under the
 * key `host:skill.match:<call_id>`.
 *
 * @example
 * const matches = wharf.skillMatch({ prompt: "How long does tea take?", working_files: ["orders/today.md"] }).matches;
 * for (let i = 0; i < matches.length; i++) log({ level: "info", message: "the skill " + matches[i].name + " fits" });
 */
export function skillMatch(request: SkillMatchRequest): SkillMatchAnswer { return trySkillMatch(request).value; }

/** The same; it returns how it has failed. */
export function trySkillMatch(request: SkillMatchRequest): Result<SkillMatchAnswer> {
  const w = written(request);
  return answered<SkillMatchAnswer>("skill.match", host.hostSkillMatch(w.start, w.length));
}

/**
 * Begins a composition: the run of a snippet whose effects are tool calls. Until it ends, every call
 * is held to its ceiling, and every tool call is told as a child of it. While one is open, another is
 * refused with `invalid` and the code `composition_open`; a call beyond the ceiling is refused with
 * `denied` and `composition_ceiling`. Limit: one at a time.
 *
 * @example
 * const composition_id = wharf.compositionBegin({
 *   name: "what time it is", language: "javascript", side_effect_ceiling: SideEffectLevel.READ_ONLY,
 *   snippet_hash: "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
 *   manifest_hash: "fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9",
 * }).composition_id;
 * wharf.toolCall({ server: "host", name: "time_now", composition_id });
 * wharf.compositionEnd({ composition_id, stdout: "tea time" });
 */
export function compositionBegin(request: CompositionBeginRequest): CompositionBeginAnswer { return tryCompositionBegin(request).value; }

/** The same; it returns how it has failed. */
export function tryCompositionBegin(request: CompositionBeginRequest): Result<CompositionBeginAnswer> {
  const w = written(request);
  return answeredOrWithheld<CompositionBeginAnswer>("composition.begin", host.hostCompositionBegin(w.start, w.length));
}

/**
 * Ends the composition that is open, with what came of it. One that is not open is answered with
 * `not_found` and the code `unknown_composition`. When the Task ends before, the host ends it with an
 * error. Limit: 256 KiB, 100 Artifacts.
 *
 * @example
 * const composition_id = wharf.compositionBegin({
 *   name: "what time it is", language: "javascript", side_effect_ceiling: SideEffectLevel.READ_ONLY,
 *   snippet_hash: "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
 *   manifest_hash: "fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9",
 * }).composition_id;
 * wharf.toolCall({ server: "host", name: "time_now", composition_id });
 * wharf.compositionEnd({ composition_id, stdout: "tea time" });
 */
export function compositionEnd(request: CompositionEndRequest): void {
  const error = tryCompositionEnd(request);
  if (error) endWith(error);
}

/** The same; it returns how it has failed. */
export function tryCompositionEnd(request: CompositionEndRequest): CallError | null {
  const w = written(request);
  return told("composition.end", host.hostCompositionEnd(w.start, w.length));
}

/**
 * Reads a value that this Session's Tasks have kept. A replay can give another answer under the key
 * `host:state.get:<call_id>`.
 *
 * @example
 * const kept = wharf.stateGet({ key: "orders" }).value;
 * const orders = kept.isNull ? 0 : kept.integer; // null when nothing is kept
 * wharf.stateSet({ key: "orders", value: Json.integer(orders + 1) });
 */
export function stateGet(request: StateGetRequest): StateGetAnswer { return tryStateGet(request).value; }

/** The same; it returns how it has failed. */
export function tryStateGet(request: StateGetRequest): Result<StateGetAnswer> {
  const w = written(request);
  return answered<StateGetAnswer>("state.get", host.hostStateGet(w.start, w.length));
}

/**
 * Keeps a value for this Session's Tasks; null removes it. When the call returns, the value is on
 * disk. Limit: keys of 1 to 128 characters A-Z a-z 0-9 _ - ..
 *
 * @example
 * const kept = wharf.stateGet({ key: "orders" }).value;
 * const orders = kept.isNull ? 0 : kept.integer; // null when nothing is kept
 * wharf.stateSet({ key: "orders", value: Json.integer(orders + 1) });
 */
export function stateSet(request: StateSetRequest): void {
  const error = tryStateSet(request);
  if (error) endWith(error);
}

/** The same; it returns how it has failed. */
export function tryStateSet(request: StateSetRequest): CallError | null {
  const w = written(request);
  return told("state.set", host.hostStateSet(w.start, w.length));
}

/**
 * Waits. The Task is parked meanwhile, also over a restart of the node.
 *
 * @example
 * wharf.sleep({ ms: 100 });
 */
export function sleep(request: SleepRequest): void {
  const error = trySleep(request);
  if (error) endWith(error);
}

/** The same; it returns how it has failed. */
export function trySleep(request: SleepRequest): CallError | null {
  const w = written(request);
  return told("sleep", host.hostSleep(w.start, w.length));
}

/**
 * Asks the user for input, or several questions at once: inputs, authorizations, approvals, samplings
 * and roots. The Task is INPUT_REQUIRED until the answer comes. A replay can give another answer under
 * the key `host:input.request:<call_id>`.
 *
 * @example
 * const answer = wharf.inputRequest({ prompt: "Which tea?", schema: Json.parse('{"type":"object","required":["tea"]}'), timeout_seconds: 3600 });
 * log({ level: "info", message: answer.actor + " has answered" });
 */
export function inputRequest(request: InputRequestRequest): InputRequestAnswer { return tryInputRequest(request).value; }

/** The same; it returns how it has failed. */
export function tryInputRequest(request: InputRequestRequest): Result<InputRequestAnswer> {
  const w = written(request);
  return answered<InputRequestAnswer>("input.request", host.hostInputRequest(w.start, w.length));
}

/**
 * Asks the user to authorize something. The Task is AUTH_REQUIRED until it is answered. Credentials do
 * not belong into the answer: the plugin and the record see it. A replay can give another answer under
 * the key `host:auth.request:<call_id>`.
 *
 * @example
 * const answer = wharf.authRequest({
 *   provider: "calendar", prompt: "May I see when you are at home?", url: "https://calendar.example.com/authorize", timeout_seconds: 3600,
 * });
 * log({ level: "info", message: answer.actor + " has authorized it" });
 */
export function authRequest(request: AuthRequestRequest): InputRequestAnswer { return tryAuthRequest(request).value; }

/** The same; it returns how it has failed. */
export function tryAuthRequest(request: AuthRequestRequest): Result<InputRequestAnswer> {
  const w = written(request);
  return answered<InputRequestAnswer>("auth.request", host.hostAuthRequest(w.start, w.length));
}

/**
 * Asks for approval of an action. The Task is INPUT_REQUIRED until it is decided. The receipt names
 * who decided. A replay can give another answer under the key `host:approval.request:<call_id>`.
 *
 * @example
 * const approval = wharf.approvalRequest({
 *   action: "order.place", prompt: "Order ten teas?", arguments: Json.parse('{"count":10}'), timeout_seconds: 3600,
 * });
 * if (approval.decision != "approved") end("nobody wants tea");
 */
export function approvalRequest(request: ApprovalRequestRequest): ApprovalAnswer { return tryApprovalRequest(request).value; }

/** The same; it returns how it has failed. */
export function tryApprovalRequest(request: ApprovalRequestRequest): Result<ApprovalAnswer> {
  const w = written(request);
  return answered<ApprovalAnswer>("approval.request", host.hostApprovalRequest(w.start, w.length));
}

/**
 * Submits a child Task in the same Session. A crash does not submit it twice. Limit: 1,000 children of
 * a Task, 8 generations.
 *
 * @example
 * const task_id = wharf.taskSpawn({ persona_id: "persona_echo", input: Json.parse('{"text":"Boil water."}')! }).task_id;
 * const outcome = wharf.taskAwait({ task_id, timeout_seconds: 60 });
 * log({ level: "info", message: "the child says: " + outcome.summary });
 */
export function taskSpawn(request: TaskSpawnRequest): TaskSpawnAnswer { return tryTaskSpawn(request).value; }

/** The same; it returns how it has failed. */
export function tryTaskSpawn(request: TaskSpawnRequest): Result<TaskSpawnAnswer> {
  const w = written(request);
  return answeredOrWithheld<TaskSpawnAnswer>("task.spawn", host.hostTaskSpawn(w.start, w.length));
}

/**
 * Waits for a child Task to end. A replay can give another answer under the key
 * `host:task.await:<call_id>`.
 *
 * @example
 * const task_id = wharf.taskSpawn({ persona_id: "persona_echo", input: Json.parse('{"text":"Boil water."}')! }).task_id;
 * const outcome = wharf.taskAwait({ task_id, timeout_seconds: 60 });
 * log({ level: "info", message: "the child says: " + outcome.summary });
 */
export function taskAwait(request: TaskAwaitRequest): TaskAwaitAnswer { return tryTaskAwait(request).value; }

/** The same; it returns how it has failed. */
export function tryTaskAwait(request: TaskAwaitRequest): Result<TaskAwaitAnswer> {
  const w = written(request);
  return answered<TaskAwaitAnswer>("task.await", host.hostTaskAwait(w.start, w.length));
}

/**
 * Hands work to another Persona: a child Task that the receipt names as a handoff.
 *
 * @example
 * const successor = wharf.handoff({ persona_id: "persona_echo", input: Json.parse('{"text":"Serve the tea."}')!, reason: "it has the cups" });
 * log({ level: "info", message: successor.task_id + " goes on" });
 */
export function handoff(request: HandoffRequest): TaskSpawnAnswer { return tryHandoff(request).value; }

/** The same; it returns how it has failed. */
export function tryHandoff(request: HandoffRequest): Result<TaskSpawnAnswer> {
  const w = written(request);
  return answeredOrWithheld<TaskSpawnAnswer>("handoff", host.hostHandoff(w.start, w.length));
}

/**
 * Has an agent outside do paid work, in the order that docs/delegation.md tells: its card proves that
 * it keeps to a budget, its plan is approved, and then it is dispatched, once. The Task is
 * INPUT_REQUIRED until that is decided. Work that was done before by the same key is not dispatched
 * again. It counts as a call of a tool. Limit: 1 MiB of a request, and what the agent's `answer` says,
 * 4 MiB unless it is set. A replay can give another answer under the key
 * `host:agent.delegate:<call_id>`.
 *
 * @example
 * const work = wharf.agentDelegate({
 *   agent: "coder", task: "Mend the kettle's firmware", budget: { usd: 2, seconds: 60 }, checkpoint: { approved: true },
 * });
 * log({ level: "info", message: "the work is " + work.status });
 */
export function agentDelegate(request: AgentDelegateRequest): AgentDelegateAnswer { return tryAgentDelegate(request).value; }

/** The same; it returns how it has failed. */
export function tryAgentDelegate(request: AgentDelegateRequest): Result<AgentDelegateAnswer> {
  const w = written(request);
  return answeredOrWithheld<AgentDelegateAnswer>("agent.delegate", host.hostAgentDelegate(w.start, w.length));
}

/**
 * Appends an event of a kind of the plugin's own: "vendor." and a name, or a reverse-DNS name.
 * "vendor.wharf." is the host's.
 *
 * @example
 * wharf.eventEmit({ kind: "vendor.shop.ordered", payload: Json.parse('{"count":10}') });
 */
export function eventEmit(request: EventEmitRequest): void {
  const error = tryEventEmit(request);
  if (error) endWith(error);
}

/** The same; it returns how it has failed. */
export function tryEventEmit(request: EventEmitRequest): CallError | null {
  const w = written(request);
  return told("event.emit", host.hostEventEmit(w.start, w.length));
}

/**
 * Reads what the operator has configured for this plugin. A replay can give another answer under the
 * key `host:config.get:<name>`.
 *
 * @example
 * const currency = wharf.configGet({ name: "currency" }).value;
 * if (currency.isText) log({ level: "info", message: "prices are in " + currency.text });
 */
export function configGet(request: ConfigGetRequest): ConfigGetAnswer { return tryConfigGet(request).value; }

/** The same; it returns how it has failed. */
export function tryConfigGet(request: ConfigGetRequest): Result<ConfigGetAnswer> {
  const w = written(request);
  return answered<ConfigGetAnswer>("config.get", host.hostConfigGet(w.start, w.length));
}

/**
 * Reads a fact about the host: wharf.version, abi.version, os, arch, tenant, workspace, session, task,
 * deadline; and of the client that submitted the Task: client.protocol, client.name, client.version,
 * and client.capabilities, with commas between them. Each is empty where it is not known. A replay can
 * give another answer under the key `host:host.fact:<name>`.
 *
 * @example
 * log({ level: "info", message: "the host speaks " + wharf.hostFact({ name: "abi.version" }).value });
 */
export function hostFact(request: HostFactRequest): HostFactAnswer { return tryHostFact(request).value; }

/** The same; it returns how it has failed. */
export function tryHostFact(request: HostFactRequest): Result<HostFactAnswer> {
  const w = written(request);
  return answered<HostFactAnswer>("host.fact", host.hostHostFact(w.start, w.length));
}

/**
 * The deliveries that a Connector's plugin is to normalize, and the Connector. In a Task there are
 * none: `not_found`.
 *
 * @example
 * function exampleConnector(_: Connector, delivery: Delivery): NormalizedDelivery {
 *   const message: MessageInput = { role: Role.USER, parts: [textPart(delivery.text)] };
 *   return {
 *     tasks: [{ input: Json.of(message), thread: "orders" }],
 *     events: [{ kind: "vendor.shop.order", payload: Json.parse('{"count":2}') }],
 *   };
 * }
 */
export function connectorDeliveries(): DeliveriesAnswer { return tryConnectorDeliveries().value; }

/** The same; it returns how it has failed. */
export function tryConnectorDeliveries(): Result<DeliveriesAnswer> {
  return answered<DeliveriesAnswer>("connector.deliveries", host.hostConnectorDeliveries(0, 0));
}

/**
 * What the deliveries mean: Tasks, Messages, events, nothing, or a failure. Called once, outside of
 * Tasks.
 *
 * @example
 * function exampleConnector(_: Connector, delivery: Delivery): NormalizedDelivery {
 *   const message: MessageInput = { role: Role.USER, parts: [textPart(delivery.text)] };
 *   return {
 *     tasks: [{ input: Json.of(message), thread: "orders" }],
 *     events: [{ kind: "vendor.shop.order", payload: Json.parse('{"count":2}') }],
 *   };
 * }
 */
export function connectorNormalized(request: NormalizedRequest): void {
  const error = tryConnectorNormalized(request);
  if (error) endWith(error);
}

/** The same; it returns how it has failed. */
export function tryConnectorNormalized(request: NormalizedRequest): CallError | null {
  const w = written(request);
  return told("connector.normalized", host.hostConnectorNormalized(w.start, w.length));
}

/**
 * Hands what a poll has found to the Task's Connector, which takes it as if it had been sent. What was
 * found before is left out. Limit: 1,000 deliveries.
 *
 * @example
 * const header = new Map<string, string>();
 * header.set("content-type", "text/plain");
 * wharf.connectorDeliver({ deliveries: [{ id: "order-1", header, text: "two green teas" }] });
 */
export function connectorDeliver(request: DeliverRequest): DeliverAnswer { return tryConnectorDeliver(request).value; }

/** The same; it returns how it has failed. */
export function tryConnectorDeliver(request: DeliverRequest): Result<DeliverAnswer> {
  const w = written(request);
  return answeredOrWithheld<DeliverAnswer>("connector.deliver", host.hostConnectorDeliver(w.start, w.length));
}
