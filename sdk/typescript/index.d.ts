// Generated from package abi by go generate ./abi. Do not edit.
// What the module wharf has, for tests that run in Node. Plugins have wharf.d.ts.

/** Any JSON value. */
export type Json = any;
/** A time in RFC 3339, such as 2026-01-31T10:00:00Z. */
export type Time = string;
/** Bytes in base64: Uint8Array.fromBase64 reads them. */
export type Base64 = string;
/** Bytes, which are sent in base64. */
export type Bytes = ArrayBuffer | ArrayBufferView | Base64;

/** What a function is run for: the Task, as whom it runs, and what it was given. */
export interface Task extends TaskDescription {
	/** The Persona that the Task runs as. */
	readonly persona: Persona;
	/** The Skills that it may read. */
	readonly skills: InputSkill[];
	/** The Session that the Task belongs to. */
	readonly session_id: string;
	/** What the input says: itself a text, its member text, or the text parts of a Message; else "". */
	readonly text: string;
	/** The input as JSON: of a Message, the value of its first JSON part. */
	readonly value: Json;
}

/** What a function returns: the summary, or an object with the members of the host call output. */
export type Outcome = string | Partial<OutputRequest> | void;

/**
 * An export of a plugin. `run` is what a Task calls that names no other.
 *
 * @example
 * export const run: Run = async (task) => {
 * 	await reply(`Hello, ${task.text}!`);
 * 	return { summary: "greeted" };
 * };
 */
export type Run = (task: Task) => Outcome | Promise<Outcome>;

/** What a host call has answered with when it was refused, or could not be done. */
export type Status = "invalid" | "denied" | "not_found" | "too_large" | "unavailable" | "indeterminate" | "timeout" | (string & {});

/** Says that the host has refused a call, or could not do it. */
export class WharfError extends Error {
	private constructor();
	/** The host call, such as state.get. */
	readonly call: string;
	readonly status: Status;
	/** The host's code; `wharf explain` says what it means. */
	readonly code: string;
}

/**
 * Fails the Task with a code of the plugin's own when it is thrown, or puts a delivery aside.
 *
 * @example
 * throw new Failure("no_tea", "the pot is empty", { pots: 1 });
 */
export class Failure extends Error {
	constructor(code: string, message: string, details?: Record<string, Json>);
	readonly code: string;
	readonly details?: Record<string, Json>;
}

/** What the answer of a write has besides, and then alone, when the Persona's tier has held the call back. That is no error. */
export interface Withheld {
	readonly withheld?: "shadow" | "proposed";
}

/** Appends a Message of the assistant: a text that everybody sees, or parts. */
export function reply(content: string | Part[]): Promise<MessageAppendAnswer & Withheld>;

/** What a delivery means. With none of the members it means nothing and is done with. */
export type Meaning = Omit<NormalizedDelivery, "id"> | void;

/**
 * Makes an export that says what deliveries to a Connector mean: normalize is called for each. One for which it throws
 * is put aside, where people can look at it and try again, and the others are not.
 *
 * @example
 * export const run = connector((delivery) => {
 * 	const ticket = JSON.parse(delivery.text ?? "");
 * 	return { tasks: [{ input: { text: ticket.text }, thread: ticket.id }] };
 * });
 */
export function connector(normalize: (delivery: Delivery, connector: Connector) => Meaning | Promise<Meaning>): () => Promise<number>;

/**
 * The host call `input`. What the Task was submitted with, the Task as it was accepted, and the Persona it runs as.
 *
 * @example
 * async function exampleRun(task: wharf.Task) {
 * 	return { summary: `done: ${task.text}`, metrics: { orders: 1 } };
 * }
 */
export function input(): Promise<InputAnswer>;

/**
 * The host call `output`. What the Task results in. Called once; a second call is answered with `invalid`.
 *
 * @example
 * async function exampleRun(task: wharf.Task) {
 * 	return { summary: `done: ${task.text}`, metrics: { orders: 1 } };
 * }
 */
export function output(request: OutputRequest): Promise<Withheld | undefined>;

/**
 * The host call `clock`. Reads the wall clock.
 *
 * A replay can give another answer under the key `time:<call_id>`.
 *
 * @example
 * const { unix_nano } = await wharf.clock({});
 * console.log(`it is ${unix_nano}`);
 */
export function clock(request?: Label): Promise<ClockAnswer>;

/**
 * The host call `random`. Reads randomness fit for keys. It is recorded, so a key made from it is in the node's data
 * folder.
 *
 * Limit: 65,536 bytes.
 *
 * A replay can give another answer under the key `host:random:<call_id>`.
 *
 * @example
 * const key = await wharf.random(16);
 * if (key.length !== 16) throw new Error("the key is too short");
 */
export function random(count: number): Promise<Uint8Array>;

/**
 * The host call `id`. Makes an id that is unique and sorts by time: a ULID.
 *
 * A replay can give another answer under the key `host:id:<call_id>`.
 *
 * @example
 * const { id } = await wharf.id({});
 * console.log(`this is order ${id}`);
 */
export function id(request?: Label): Promise<IDAnswer>;

/**
 * The host call `log`. Writes a line to the Task's event stream.
 *
 * Limit: 10,000 hints of a Task; more are dropped.
 *
 * @example
 * await wharf.log({ level: "warn", message: "the pot is half empty" });
 */
export function log(request: LogRequest): Promise<undefined>;

/**
 * The host call `progress`. Tells watchers how far the Task is.
 *
 * Limit: 10,000 hints of a Task; more are dropped.
 *
 * @example
 * await wharf.progress({ fraction: 0.5, message: "half of the orders are in" });
 */
export function progress(request: ProgressRequest): Promise<undefined>;

/**
 * The host call `plan`. Tells watchers what the plugin means to do, and how far it got. Nothing keeps it: plan.set
 * does.
 *
 * Limit: 10,000 hints of a Task; more are dropped.
 *
 * @example
 * await wharf.plan({ steps: [{ title: "Ask for the order", status: "completed" }, { title: "Place it", status: "pending" }] });
 */
export function plan(request: PlanRequest): Promise<undefined>;

/**
 * The host call `agent.event`. Tells watchers what an agent does with its skills, its tools and its conversation. The
 * data is an object that has members of its kind alone: skill_activated, skill_deactivated, skill_scope_tools,
 * skill_narrow, tool_search_query, tool_search_result, transcript_compacted, transcript_projected, turn_started or
 * turn_ended.
 *
 * Limit: 32 KiB; 10,000 hints of a Task, more are dropped.
 *
 * @example
 * await wharf.agentEvent({ kind: "turn_started", data: { iteration: 1 } });
 */
export function agentEvent(request: AgentEventRequest): Promise<undefined>;

/**
 * The host call `plan.set`. Sets the Task's plan, which people see and may change. A step without an id gets one that
 * follows from the call.
 *
 * Limit: 200 steps of 2,000 characters.
 *
 * @example
 * const { version } = await wharf.planGet({});
 * // It throws when somebody has changed the plan since it was read.
 * await wharf.planSet({ steps: [{ id: "order", content: "Place the order", status: "in_progress" }], version });
 */
export function planSet(request: PlanSetRequest): Promise<PlanAnswer & Withheld>;

/**
 * The host call `plan.get`. Reads the Task's plan as it is now, with what people have changed.
 *
 * A replay can give another answer under the key `host:plan.get:<call_id>`.
 *
 * @example
 * const { version } = await wharf.planGet({});
 * // It throws when somebody has changed the plan since it was read.
 * await wharf.planSet({ steps: [{ id: "order", content: "Place the order", status: "in_progress" }], version });
 */
export function planGet(request?: PlanGetRequest): Promise<PlanAnswer>;

/**
 * The host call `inbox.take`. Takes what waits in the Session's inbox and is due at a checkpoint. It is delivered
 * once: its Messages are in the transcript and the answer is on disk before it is given. With wait the Task is parked
 * until something comes.
 *
 * Limit: 100 that wait in a Session, 4 MB of them.
 *
 * A replay can give another answer under the key `host:inbox.take:<call_id>`.
 *
 * @example
 * const { messages } = await wharf.inboxTake({ checkpoint: "turn", wait: true, timeout_ms: 60000 });
 * for (const message of messages) console.log(`somebody says: ${message.parts[0].text}`);
 */
export function inboxTake(request: InboxTakeRequest): Promise<InboxTakeAnswer>;

/**
 * The host call `message.append`. Appends a Message to the Session's transcript. It becomes visible with the next call
 * that reaches outside the Task, at the latest when the Task ends.
 *
 * @example
 * await wharf.reply("Your tea is coming.");
 */
export function messageAppend(request: MessageInput): Promise<MessageAppendAnswer & Withheld>;

/**
 * The host call `message.delta`. Streams a piece of a Message that is being written. The Message itself is appended
 * when it is whole.
 *
 * Limit: 20 events a second of a Task: pieces that come faster are put together.
 *
 * @example
 * await wharf.messageDelta({ text: "Your tea" });
 */
export function messageDelta(request: MessageDeltaRequest): Promise<undefined>;

/**
 * The host call `transcript.read`. Reads Messages of the Session, oldest first: what was appended before the Task was
 * submitted, and what it appended itself.
 *
 * Limit: 200 Messages.
 *
 * A replay can give another answer under the key `host:transcript.read:<call_id>`.
 *
 * @example
 * const { messages } = await wharf.transcriptRead({ last: 5 });
 * for (const message of messages) console.log(`${message.role} has spoken`);
 */
export function transcriptRead(request: TranscriptReadRequest): Promise<TranscriptReadAnswer>;

/**
 * The host call `llm.complete`. Asks a model. The answer never holds hidden reasoning. With stream set, text is told
 * to watchers as it comes.
 *
 * A replay can give another answer under the key `llm:<call_id>`.
 *
 * @example
 * const answer = await wharf.llmComplete({ system: "You know teas.", messages: [{ role: "user", text: "Name one." }], max_tokens: 20 });
 * console.log(`the model says: ${answer.text}`);
 */
export function llmComplete(request: ModelRequest): Promise<ModelAnswer>;

/**
 * The host call `tool.list`. Lists the tools that the plugin may call.
 *
 * A replay can give another answer under the key `host:tool.list:<call_id>`.
 *
 * @example
 * const { tools } = await wharf.toolList({ server: "desk" });
 * for (const tool of tools) console.log(`there is a tool ${tool.name}`);
 */
export function toolList(request?: ToolListRequest): Promise<ToolListAnswer>;

/**
 * The host call `tool.call`. Calls a tool. It is a read when the tool says that it is read-only, else a write: then
 * the intent is on disk before the tool is called, and after a crash a tool that is not idempotent is not called
 * again.
 *
 * A replay can give another answer under the key `mcp:<server>:<call_id>`.
 *
 * @example
 * const answer = await wharf.toolCall({ server: "desk", name: "look", arguments: { where: "harbour" } });
 * console.log(`the tool says: ${answer.content[0].text}`);
 */
export function toolCall(request: ToolCallRequest): Promise<ToolCallAnswer & Withheld>;

/**
 * The host call `resource.list`. Lists the resources, the templates of resources, or the prompts of a server of tools.
 * A server that has none lists none.
 *
 * Limit: 1,000 entries, 1 MiB.
 *
 * A replay can give another answer under the key `mcp:<server>:resource.list:<call_id>`.
 *
 * @example
 * const { resources } = await wharf.resourceList({ server: "desk", kind: "resource" });
 * for (const resource of resources ?? []) console.log(`there is ${resource.uri}`);
 */
export function resourceList(request: ResourceListRequest): Promise<ResourceListAnswer>;

/**
 * The host call `resource.read`. Reads a resource of a server of tools. It counts as a call of a tool.
 *
 * Limit: what the server's `answer` says, 4 MiB unless it is set.
 *
 * A replay can give another answer under the key `mcp:<server>:resource.read:<call_id>`.
 *
 * @example
 * const { contents } = await wharf.resourceRead({ server: "desk", uri: "notes://teas" });
 * console.log(`the note says: ${contents[0].text}`);
 */
export function resourceRead(request: ResourceReadRequest): Promise<ResourceReadAnswer>;

/**
 * The host call `prompt.get`. Gets a prompt of a server of tools, filled in with arguments. It counts as a call of a
 * tool.
 *
 * Limit: what the server's `answer` says, 4 MiB unless it is set.
 *
 * A replay can give another answer under the key `mcp:<server>:prompt.get:<call_id>`.
 *
 * @example
 * const { messages } = await wharf.promptGet({ server: "desk", name: "greet", arguments: { name: "Ada" } });
 * console.log(`the prompt says: ${messages[0].content.text}`);
 */
export function promptGet(request: PromptGetRequest): Promise<PromptGetAnswer>;

/**
 * The host call `http.fetch`. Makes an HTTP request to a host that the plugin is allowed. GET and HEAD are reads, the
 * rest are writes. Secrets are put in by the host.
 *
 * A replay can give another answer under the key `host:http.fetch:<call_id>`.
 *
 * @example
 * const shop = (await wharf.configGet({ name: "shop" })).value; // where it is, by the node's configuration
 * // The handle stands for the key. The host puts the key in its place.
 * const { handle } = await wharf.secretUse({ name: "shop-key" });
 * const answer = await wharf.httpFetch({
 * 	method: "POST", url: `${shop}/orders`, header: { "Authorization": `Bearer ${handle}`, "Content-Type": "application/json" },
 * 	text: JSON.stringify({ tea: "green" }), purpose: "to order tea", idempotency_header: "Idempotency-Key", timeout_ms: 30000,
 * });
 * console.log(`the shop says: ${answer.text}`);
 */
export function httpFetch(request: HTTPFetchRequest): Promise<HTTPFetchAnswer & Withheld>;

/**
 * The host call `secret.use`. Asks for a handle of a secret that the plugin is allowed. The value is never told: the
 * host puts it where the handle stands in an outgoing request.
 *
 * A replay can give another answer under the key `secret:<name>`.
 *
 * @example
 * const shop = (await wharf.configGet({ name: "shop" })).value; // where it is, by the node's configuration
 * // The handle stands for the key. The host puts the key in its place.
 * const { handle } = await wharf.secretUse({ name: "shop-key" });
 * const answer = await wharf.httpFetch({
 * 	method: "POST", url: `${shop}/orders`, header: { "Authorization": `Bearer ${handle}`, "Content-Type": "application/json" },
 * 	text: JSON.stringify({ tea: "green" }), purpose: "to order tea", idempotency_header: "Idempotency-Key", timeout_ms: 30000,
 * });
 * console.log(`the shop says: ${answer.text}`);
 */
export function secretUse(request: SecretUseRequest): Promise<SecretUseAnswer>;

/**
 * The host call `memory.query`. Finds Memories that the Task may read and that have every word of the query, newest
 * first. Words are whole; `word*` stands for all that begin so. A query has at most 32. Expired and redacted Memories
 * are left out.
 *
 * Limit: 100 Memories.
 *
 * A replay can give another answer under the key `host:memory.query:<call_id>`.
 *
 * @example
 * const { memories } = await wharf.memoryQuery({ scope: "session", text: "tea", limit: 3 });
 * for (const memory of memories) console.log(`I remember: ${memory.content}`);
 */
export function memoryQuery(request: MemoryQueryRequest): Promise<MemoryQueryAnswer>;

/**
 * The host call `memory.write`. Keeps a Memory for later Tasks. Its provenance names the Task.
 *
 * @example
 * await wharf.memoryWrite({ scope: "session", content: "Ada likes green tea", confidence: 0.75 });
 */
export function memoryWrite(request: MemoryWriteRequest): Promise<MemoryWriteAnswer & Withheld>;

/**
 * The host call `block.list`. Reads the blocks of memory of the Task's agent as they are now, whoever has changed
 * them. A Persona that is no agent of a Workspace is answered with `not_found` and the code `no_blocks`.
 *
 * A replay can give another answer under the key `host:block.list:<call_id>`.
 *
 * @example
 * const { blocks } = await wharf.blockList({});
 * for (const block of blocks) console.log(`${block.label}: ${block.value}`);
 */
export function blockList(request?: BlockListRequest): Promise<BlockListAnswer>;

/**
 * The host call `block.write`. Changes a block of memory of the Task's agent, or makes it; later Tasks of the agent
 * have it, too. It happens once. A block that is read-only is answered with `denied` and the code `block_read_only`,
 * and a Persona that is no agent of a Workspace with `not_found` and `no_blocks`.
 *
 * Limit: 64 blocks of 100,000 characters, 400,000 characters together.
 *
 * @example
 * await wharf.blockWrite({ label: "customer", value: "Ada, who likes green tea." });
 */
export function blockWrite(request: BlockWriteRequest): Promise<BlockWriteAnswer & Withheld>;

/**
 * The host call `artifact.put`. Stores an Artifact of this Task. It becomes visible with the next call that reaches
 * outside the Task, at the latest when the Task ends.
 *
 * @example
 * const { artifact_id } = await wharf.artifactPut({ kind: "dataset", mime_type: "text/csv", name: "orders.csv" }, "tea,10\n");
 * const first = await wharf.artifactGet({ artifact_id, length: 3 });
 * console.log(`it begins with ${new TextDecoder().decode(first)}`);
 */
export function artifactPut(request: ArtifactPutRequest, content: string | ArrayBuffer | ArrayBufferView): Promise<ArtifactPutAnswer & Withheld>;

/**
 * The host call `artifact.get`. Reads a range of an Artifact's content that the Task's tenant and Workspace may see.
 *
 * A replay can give another answer under the key `host:artifact.get:<call_id>`.
 *
 * @example
 * const { artifact_id } = await wharf.artifactPut({ kind: "dataset", mime_type: "text/csv", name: "orders.csv" }, "tea,10\n");
 * const first = await wharf.artifactGet({ artifact_id, length: 3 });
 * console.log(`it begins with ${new TextDecoder().decode(first)}`);
 */
export function artifactGet(request: ArtifactGetRequest): Promise<Uint8Array>;

/**
 * The host call `file.read`. Reads a file of the Task's Workspace, or a range of it.
 *
 * Limit: 8 MiB of a file at once, and half of what one call may pass.
 *
 * A replay can give another answer under the key `host:file.read:<call_id>`.
 *
 * @example
 * const file = await wharf.fileRead({ path: "orders/today.md" });
 * console.log(`the file says: ${file.text}`);
 */
export function fileRead(request: FileReadRequest): Promise<FileReadAnswer>;

/**
 * The host call `file.write`. Writes a file of the Task's Workspace, whole or not at all. It happens once, also when
 * the node dies meanwhile.
 *
 * Limit: files of 8 MiB, 1 GiB in a Workspace.
 *
 * @example
 * await wharf.fileWrite({ path: "orders/today.md", text: "green tea, ten times" });
 */
export function fileWrite(request: FileWriteRequest): Promise<FileWriteAnswer & Withheld>;

/**
 * The host call `file.edit`. Replaces a text within a file of the Task's Workspace, by one change that happens once. A
 * text that is not there, or more than once without `all`, is answered with `invalid` and the code conflict.
 *
 * Limit: files of 8 MiB, before and after.
 *
 * @example
 * await wharf.fileEdit({ path: "orders/today.md", old: "green tea", new: "black tea" });
 */
export function fileEdit(request: FileEditRequest): Promise<FileEditAnswer & Withheld>;

/**
 * The host call `file.list`. Lists a folder of the Task's Workspace, or all files below it, in the order of their
 * paths' names.
 *
 * Limit: 1,000 entries.
 *
 * A replay can give another answer under the key `host:file.list:<call_id>`.
 *
 * @example
 * const { entries } = await wharf.fileList({ path: "orders", recursive: true, limit: 10 });
 * for (const file of entries) console.log(`there is a file ${file.path}`);
 */
export function fileList(request?: FileListRequest): Promise<FileListAnswer>;

/**
 * The host call `file.remove`. Removes a file of the Task's Workspace, or a folder: one that is not empty only with
 * `recursive`. A folder goes with its last file, unless somebody has made it by itself.
 *
 * Limit: 1,000 files and folders in a folder.
 *
 * @example
 * await wharf.fileRemove({ path: "orders/today.md" });
 */
export function fileRemove(request: FileRemoveRequest): Promise<FileRemoveAnswer & Withheld>;

/**
 * The host call `file.search`. Finds lines, or only names, in the files of the Task's Workspace. Content that is no
 * text is left out, and so are files of more than 8 MiB. A search that takes more than 10 seconds goes on with `next`,
 * too.
 *
 * Limit: 1,000 matches, 32 MiB of content and 20,000 files at once.
 *
 * A replay can give another answer under the key `host:file.search:<call_id>`.
 *
 * @example
 * const { matches } = await wharf.fileSearch({ glob: "*.md", text: "TEA", ignore_case: true, limit: 10 });
 * for (const match of matches) console.log(`${match.path}: ${match.text}`);
 */
export function fileSearch(request: FileSearchRequest): Promise<FileSearchAnswer>;

/**
 * The host call `skill.read`. Reads a file of a skill that the Task has, as it was when the Task started, or the
 * instructions of one that a client of its Session has. A file that is no text is not read.
 *
 * Limit: half of what one call may pass.
 *
 * A replay can give another answer under the key `host:skill.read:<call_id>`.
 *
 * @example
 * const file = await wharf.skillRead({ skill: "brewing", path: "times.md" });
 * console.log(`the skill says: ${file.text}`);
 */
export function skillRead(request: SkillReadRequest): Promise<SkillReadAnswer>;

/**
 * The host call `skill.match`. Ranks skills by how well they fit a prompt and the files that are worked on: the node
 * does, or a client of the Session when it is asked for and there is one. Without candidates it also lists the skills
 * that the Task can read.
 *
 * Limit: 1,000 candidates.
 *
 * A replay can give another answer under the key `host:skill.match:<call_id>`.
 *
 * @example
 * const { matches } = await wharf.skillMatch({ prompt: "How long does tea take?", working_files: ["orders/today.md"] });
 * for (const match of matches) console.log(`the skill ${match.name} fits`);
 */
export function skillMatch(request: SkillMatchRequest): Promise<SkillMatchAnswer>;

/**
 * The host call `composition.begin`. Begins a composition: the run of a snippet whose effects are tool calls. Until it
 * ends, every call is held to its ceiling, and every tool call is told as a child of it. While one is open, another is
 * refused with `invalid` and the code `composition_open`; a call beyond the ceiling is refused with `denied` and
 * `composition_ceiling`.
 *
 * Limit: one at a time.
 *
 * @example
 * const { composition_id } = await wharf.compositionBegin({
 * 	name: "what time it is", language: "javascript",
 * 	snippet_hash: "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
 * 	manifest_hash: "fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9", side_effect_ceiling: "read_only",
 * });
 * await wharf.toolCall({ server: "host", name: "time_now", composition_id });
 * await wharf.compositionEnd({ composition_id, stdout: "tea time" });
 */
export function compositionBegin(request: CompositionBeginRequest): Promise<CompositionBeginAnswer & Withheld>;

/**
 * The host call `composition.end`. Ends the composition that is open, with what came of it. One that is not open is
 * answered with `not_found` and the code `unknown_composition`. When the Task ends before, the host ends it with an
 * error.
 *
 * Limit: 256 KiB, 100 Artifacts.
 *
 * @example
 * const { composition_id } = await wharf.compositionBegin({
 * 	name: "what time it is", language: "javascript",
 * 	snippet_hash: "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
 * 	manifest_hash: "fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9", side_effect_ceiling: "read_only",
 * });
 * await wharf.toolCall({ server: "host", name: "time_now", composition_id });
 * await wharf.compositionEnd({ composition_id, stdout: "tea time" });
 */
export function compositionEnd(request: CompositionEndRequest): Promise<Withheld | undefined>;

/**
 * The host call `state.get`. Reads a value that this Session's Tasks have kept.
 *
 * A replay can give another answer under the key `host:state.get:<call_id>`.
 *
 * @example
 * const { value } = await wharf.stateGet({ key: "orders" }); // null when nothing is kept
 * await wharf.stateSet({ key: "orders", value: (value ?? 0) + 1 });
 */
export function stateGet(request: StateGetRequest): Promise<StateGetAnswer>;

/**
 * The host call `state.set`. Keeps a value for this Session's Tasks; null removes it. When the call returns, the value
 * is on disk.
 *
 * Limit: keys of 1 to 128 characters A-Z a-z 0-9 _ - ..
 *
 * @example
 * const { value } = await wharf.stateGet({ key: "orders" }); // null when nothing is kept
 * await wharf.stateSet({ key: "orders", value: (value ?? 0) + 1 });
 */
export function stateSet(request: StateSetRequest): Promise<Withheld | undefined>;

/**
 * The host call `sleep`. Waits. The Task is parked meanwhile, also over a restart of the node.
 *
 * @example
 * await wharf.sleep({ ms: 100 });
 */
export function sleep(request: SleepRequest): Promise<undefined>;

/**
 * The host call `input.request`. Asks the user for input, or several questions at once: inputs, authorizations,
 * approvals, samplings and roots. The Task is INPUT_REQUIRED until the answer comes.
 *
 * A replay can give another answer under the key `host:input.request:<call_id>`.
 *
 * @example
 * const { actor } = await wharf.inputRequest({ prompt: "Which tea?", schema: { type: "object", required: ["tea"] }, timeout_seconds: 3600 });
 * console.log(`${actor} has answered`);
 */
export function inputRequest(request: InputRequestRequest): Promise<InputRequestAnswer>;

/**
 * The host call `auth.request`. Asks the user to authorize something. The Task is AUTH_REQUIRED until it is answered.
 * Credentials do not belong into the answer: the plugin and the record see it.
 *
 * A replay can give another answer under the key `host:auth.request:<call_id>`.
 *
 * @example
 * const { actor } = await wharf.authRequest({
 * 	provider: "calendar", prompt: "May I see when you are at home?", url: "https://calendar.example.com/authorize", timeout_seconds: 3600,
 * });
 * console.log(`${actor} has authorized it`);
 */
export function authRequest(request: AuthRequestRequest): Promise<InputRequestAnswer>;

/**
 * The host call `approval.request`. Asks for approval of an action. The Task is INPUT_REQUIRED until it is decided.
 * The receipt names who decided.
 *
 * A replay can give another answer under the key `host:approval.request:<call_id>`.
 *
 * @example
 * const { decision } = await wharf.approvalRequest({ action: "order.place", prompt: "Order ten teas?", arguments: { count: 10 }, timeout_seconds: 3600 });
 * if (decision !== "approved") throw new wharf.Failure("no_order", "nobody wants tea");
 */
export function approvalRequest(request: ApprovalRequestRequest): Promise<ApprovalAnswer>;

/**
 * The host call `task.spawn`. Submits a child Task in the same Session. A crash does not submit it twice.
 *
 * Limit: 1,000 children of a Task, 8 generations.
 *
 * @example
 * const { task_id } = await wharf.taskSpawn({ persona_id: "persona_echo", input: { text: "Boil water." } });
 * const outcome = await wharf.taskAwait({ task_id, timeout_seconds: 60 });
 * console.log(`the child says: ${outcome.summary}`);
 */
export function taskSpawn(request: TaskSpawnRequest): Promise<TaskSpawnAnswer & Withheld>;

/**
 * The host call `task.await`. Waits for a child Task to end.
 *
 * A replay can give another answer under the key `host:task.await:<call_id>`.
 *
 * @example
 * const { task_id } = await wharf.taskSpawn({ persona_id: "persona_echo", input: { text: "Boil water." } });
 * const outcome = await wharf.taskAwait({ task_id, timeout_seconds: 60 });
 * console.log(`the child says: ${outcome.summary}`);
 */
export function taskAwait(request: TaskAwaitRequest): Promise<TaskAwaitAnswer>;

/**
 * The host call `handoff`. Hands work to another Persona: a child Task that the receipt names as a handoff.
 *
 * @example
 * const { task_id } = await wharf.handoff({ persona_id: "persona_echo", input: { text: "Serve the tea." }, reason: "it has the cups" });
 * console.log(`${task_id} goes on`);
 */
export function handoff(request: HandoffRequest): Promise<TaskSpawnAnswer & Withheld>;

/**
 * The host call `agent.delegate`. Has an agent outside do paid work, in the order that docs/delegation.md tells: its
 * card proves that it keeps to a budget, its plan is approved, and then it is dispatched, once. The Task is
 * INPUT_REQUIRED until that is decided. Work that was done before by the same key is not dispatched again. It counts
 * as a call of a tool.
 *
 * Limit: 1 MiB of a request, and what the agent's `answer` says, 4 MiB unless it is set.
 *
 * A replay can give another answer under the key `host:agent.delegate:<call_id>`.
 *
 * @example
 * const work = await wharf.agentDelegate({
 * 	agent: "coder", task: "Mend the kettle's firmware", budget: { usd: 2, seconds: 60 }, checkpoint: { approved: true },
 * });
 * console.log(`the work is ${work.status}`);
 */
export function agentDelegate(request: AgentDelegateRequest): Promise<AgentDelegateAnswer & Withheld>;

/**
 * The host call `event.emit`. Appends an event of a kind of the plugin's own: "vendor." and a name, or a reverse-DNS
 * name. "vendor.wharf." is the host's.
 *
 * @example
 * await wharf.eventEmit({ kind: "vendor.shop.ordered", payload: { count: 10 } });
 */
export function eventEmit(request: EventEmitRequest): Promise<Withheld | undefined>;

/**
 * The host call `config.get`. Reads what the operator has configured for this plugin.
 *
 * A replay can give another answer under the key `host:config.get:<name>`.
 *
 * @example
 * const { value } = await wharf.configGet({ name: "currency" });
 * if (value) console.log(`prices are in ${value}`);
 */
export function configGet(request: ConfigGetRequest): Promise<ConfigGetAnswer>;

/**
 * The host call `host.fact`. Reads a fact about the host: wharf.version, abi.version, os, arch, tenant, workspace,
 * session, task, deadline; and of the client that submitted the Task: client.protocol, client.name, client.version,
 * and client.capabilities, with commas between them. Each is empty where it is not known.
 *
 * A replay can give another answer under the key `host:host.fact:<name>`.
 *
 * @example
 * const { value } = await wharf.hostFact({ name: "abi.version" });
 * console.log(`the host speaks ${value}`);
 */
export function hostFact(request: HostFactRequest): Promise<HostFactAnswer>;

/**
 * The host call `connector.deliveries`. The deliveries that a Connector's plugin is to normalize, and the Connector.
 * In a Task there are none: `not_found`.
 *
 * @example
 * export const normalize = wharf.connector((delivery) => {
 * 	const input: wharf.MessageInput = { role: "user", parts: [{ type: "text", text: delivery.text, visibility: "public" }] };
 * 	return { tasks: [{ input, thread: "orders" }], events: [{ kind: "vendor.shop.order", payload: { count: 2 } }] };
 * });
 */
export function connectorDeliveries(): Promise<DeliveriesAnswer>;

/**
 * The host call `connector.normalized`. What the deliveries mean: Tasks, Messages, events, nothing, or a failure.
 * Called once, outside of Tasks.
 *
 * @example
 * export const normalize = wharf.connector((delivery) => {
 * 	const input: wharf.MessageInput = { role: "user", parts: [{ type: "text", text: delivery.text, visibility: "public" }] };
 * 	return { tasks: [{ input, thread: "orders" }], events: [{ kind: "vendor.shop.order", payload: { count: 2 } }] };
 * });
 */
export function connectorNormalized(request: NormalizedRequest): Promise<Withheld | undefined>;

/**
 * The host call `connector.deliver`. Hands what a poll has found to the Task's Connector, which takes it as if it had
 * been sent. What was found before is left out.
 *
 * Limit: 1,000 deliveries.
 *
 * @example
 * await wharf.connectorDeliver({ deliveries: [{ id: "order-1", header: { "content-type": "text/plain" }, text: "two green teas" }] });
 */
export function connectorDeliver(request: DeliverRequest): Promise<DeliverAnswer & Withheld>;

/** Failure says why a Task failed. `code` is one of the Failure* constants or what the plugin reported. */
export interface FailureDescription {
	/** For programs: one of the host, or of the plugin. */
	code: string;
	/** For people. */
	message: string;
	/** More about it, where there is more to say. */
	details?: Json;
}

/** Budget bounds what a Task may spend. A member that is 0 bounds nothing. */
export interface Budget {
	/** In US dollars. */
	usd?: number;
	input_tokens?: number;
	output_tokens?: number;
	tool_calls?: number;
	host_calls?: number;
	/** How long it may run, in milliseconds. */
	wall_time_ms?: number;
}

/**
 * RunOptions are what one Task wants otherwise than its Persona. The plugin is told them with its input, and follows
 * them as it can; `budget`, `max_tokens` and `autonomy_tier` the host holds. They bound what the Persona may do, and
 * never widen it.
 */
export interface RunOptions {
	/** Names, or ids, of SkillBundles that the Task is to have, beside those of its Persona and Session. */
	skills?: string[];
	/** The model to ask, by the name that the node has for it. */
	model?: string;
	/** In place of those that the plugin or its operator has; at most 16 KiB. */
	instructions?: string;
	/** Told to the model after the instructions; at most 16 KiB. */
	context?: string;
	/** Of the model, 0 to 1. */
	temperature?: number;
	/** Of one answer of a model, at most 200,000; 0: no bound. */
	max_tokens?: number;
	/** Of the Task, where it is less than the Persona's. */
	budget?: Budget;
	/**
	 * `autonomy_tier` is that of the Task and of those below it, where it allows less than the Persona's: with suggest,
	 * the Task is a dry run that proposes what it would change.
	 */
	autonomy_tier?: AutonomyTier;
}

/** TaskClient is what a client says of itself when it submits a Task. */
export interface TaskClient {
	/** That it speaks, and its revision, such as mcp/2025-11-25. */
	protocol?: string;
	name?: string;
	version?: string;
	/**
	 * `capabilities` are the kinds of questions that it can answer: at most 32 words without white space or commas, such
	 * as elicitation.form, elicitation.url, sampling, sampling.tools and roots.
	 */
	capabilities?: string[];
}

/** InboxWait is what a Task that waits for its Session's inbox waits for. */
export interface InboxWait {
	session_id: string;
	checkpoint: Checkpoint;
}

/**
 * ToolUse is what people see of a tool.call: in the events of its beginning (tool.requested) and its end
 * (tool.completed, tool.failed), and of a Skill in what its Task waits for. How much of it a key without
 * events:internal sees is up to the Persona's ToolsVisibility.
 */
export interface ToolUse {
	/** The call_id that it was made with, or else call- and its index in the record. */
	call_id: string;
	server: string;
	name: string;
	/** Absent: not known. */
	kind?: ToolKind;
	read_only?: boolean;
	/** Its definition says that it can destroy something. */
	destructive?: boolean;
	executor: ToolExecutor;
	started_at: Time;
	/**
	 * `duration_us` is how long the whole call took, of its end: with waiting for approval, and over a crash.
	 * `execution_us` is how long its server took of that, where it was asked.
	 */
	duration_us?: number;
	execution_us?: number;
	/** Of its end: why it failed. */
	error_category?: ToolErrorCategory;
	/** `started_event_id` is the event that told its beginning, of its end. */
	started_event_id?: string;
	/** `visibility` is the Persona's when the call was made; absent for named. */
	visibility?: ToolsVisibility;
}

/** CompositionChild is a child of a composition that waits. */
export interface CompositionChild {
	composition_id: string;
	call_id: string;
	executor?: ToolExecutor;
	started_at: Time;
	/** As in ToolUse. */
	visibility?: ToolsVisibility;
}

/** WaitingQuestion is one of several requests that a Task waits on. */
export interface WaitingQuestion {
	/** The plugin's name for it. */
	key: string;
	permission_request_id: string;
	kind: PermissionKind;
	status: PermissionStatus;
}

/** Waiting says what a parked Task waits for. */
export interface Waiting {
	/** The host call that waits. */
	call: string;
	/** Of the call in the record, from 0. */
	index: number;
	request_id: string;
	/** What somebody is asked. */
	prompt?: string;
	action?: string;
	schema?: Json;
	url?: string;
	/** The child that is awaited. */
	task_id?: string;
	/** The inbox that is waited for. */
	inbox?: InboxWait;
	/** Of a tool that waits, such as a Skill. */
	tool?: ToolUse;
	/** When it stops waiting. */
	until?: Time;
	/** `composition` is set when the tool is a child of one. */
	composition?: CompositionChild;
	/**
	 * `permission_id` names the request that somebody is to answer. Of an approval: `arguments` are what is to be done
	 * with, `quorum` how many must approve, and `gate` says that policy asks, not the plugin: when it is approved the call
	 * itself is made.
	 */
	permission_id?: string;
	arguments?: Json;
	quorum?: number;
	gate?: boolean;
	/**
	 * `requests` are what is asked at once by one call, in the order of the call: those that are pending, and those that
	 * were settled before.
	 */
	requests?: WaitingQuestion[];
}

/** TaskReplay says what a replay Task replays. Overrides are kept by their hash. */
export interface TaskReplay {
	/** The Task that is replayed. */
	source_task_id: string;
	mode: ReplayMode;
	/**
	 * `replay_id` is derived from the source, the module, the mode and the overrides: it is the same for the same replay,
	 * on any node, and the one id of a replay that its receipt holds.
	 */
	replay_id: string;
	/** The hash of the request that asked for the replay. */
	request_sha256: string;
	/** Of from_checkpoint: how many calls come before the boundary. */
	checkpoint?: number;
	/** The replay of a Session that it belongs to. */
	session_run?: string;
}

/**
 * TaskFork says where a forked Task came from: it shares the record of its source up to a number of host calls, and is
 * live from there.
 */
export interface TaskFork {
	/** The Task that it was forked from. */
	source_task_id: string;
	/** The last event whose record is shared; absent: all of them. */
	at_event_id?: string;
	calls: number;
}

/** Task is one unit of agent work. `input` is a Message or any JSON object, as it was submitted. */
export interface TaskDescription {
	/** Names the resource; it never changes. */
	id: string;
	/** The kind of resource. */
	object: string;
	/** When it was made. */
	created_at: Time;
	/** When it last changed. */
	updated_at: Time;
	/** The client's own: any object; {} if there is none. */
	metadata: Json;
	session_id: string;
	workspace_id: string;
	/** Where it is in its life. */
	status: TaskStatus;
	input?: Json;
	/** The actor that submitted it. */
	created_by: string;
	persona_id?: string;
	/** The Branch that it goes along. */
	branch_id?: string;
	/** The Task that it belongs to. */
	parent_task_id?: string;
	/** Proves what it did, once it has ended; absent where its Persona asks for none. */
	receipt_id?: string;
	/** What it resulted in, once it has ended. */
	outcome_id?: string;
	/** When it started first. */
	started_at?: Time;
	/** When it ended, in success or failure. */
	completed_at?: Time;
	/** When it ended, if it was canceled. */
	canceled_at?: Time;
	/** Why it failed, if it did. */
	failure?: FailureDescription;
	/** `input_message_id` is set when the input is a Message, which the log holds once. */
	input_message_id?: string;
	/** `deadline_at` is when the Task fails unless it has ended. */
	deadline_at?: Time;
	/** `run` is what the Task was submitted to do otherwise than its Persona. */
	run?: RunOptions;
	/** `client` is what the client that submitted it has said of itself. */
	client?: TaskClient;
	/** `attempt` counts the starts of the Task: more than 1 after the node died in one. */
	attempt?: number;
	/** `module` is the digest of the plugin's module, "sha256:" and hex. The Task is pinned to it from its start on. */
	module?: string;
	/** `waiting` is set while the Task is parked. */
	waiting?: Waiting;
	/** `replay` is set on a Task that replays another. */
	replay?: TaskReplay;
	/** `fork` is set on a Task that was forked from another. */
	fork?: TaskFork;
	/**
	 * `persona_version` is the version of the Persona that the Task is pinned to, and `quota_id` the Quota that bounds it
	 * most narrowly.
	 */
	persona_version?: string;
	quota_id?: string;
	/**
	 * `connector_id` and `delivery_id` are set on a Task that came from a Connector. Of the Tasks with one `order_key`, of
	 * a Connector or of a Session, one runs at a time, in the order in which they were accepted.
	 */
	connector_id?: string;
	delivery_id?: string;
	order_key?: string;
	/** `deleted_at` is set on a Task that is not shown any more. */
	deleted_at?: Time;
}

/** ModelPolicy says which models Tasks of a Persona may ask. Empty members allow all. */
export interface ModelPolicy {
	/** Patterns of the names of models, in which * stands for any characters; none: all. */
	models?: string[];
	/** The same of providers. */
	providers?: string[];
	/** Of one answer; 0: no bound. */
	max_tokens?: number;
}

/** ApprovalPolicy says how writes are approved. */
export interface ApprovalPolicy {
	/** `quorum` is how many must approve; 0 is 1. */
	quorum?: number;
	/** `approvers` are patterns of the actors that may decide; empty for all. */
	approvers?: string[];
	/** `self_approval` says that whoever submitted the Task may decide, too. */
	self_approval?: boolean;
	/** `timeout_seconds` is how long to wait for a decision; 0 for ever. */
	timeout_seconds?: number;
	/** `without` are patterns of tools (SERVER:TOOL) and host calls that need no approval. */
	without?: string[];
}

/** AgentSkill names a version of a bundle of a skill. */
export interface AgentSkill {
	name: string;
	version?: string;
	/** Of its files; absent while it is not installed. */
	digest?: string;
	required?: boolean;
}

/** AgentServer names a server of tools. */
export interface AgentServer {
	name: string;
	/** Patterns of names; none: all of the server. */
	tools?: string[];
	required?: boolean;
}

/** AgentModel is a model as a bundle names it. */
export interface AgentModel {
	provider?: string;
	name: string;
	embedding?: string;
}

/** AgentTools are tools as a bundle names them. */
export interface AgentTools {
	allow?: string[];
	deny?: string[];
}

/** AgentBundle says where the files of an agent are kept. Digests are "sha256:" and hex. */
export interface AgentBundle {
	/** Of its AGENTS.md. */
	manifest: string;
	/** Of a zip with the files beside it; absent when there are none. */
	files?: string;
	/** Of these files. */
	count?: number;
	/** Of these files, unpacked. */
	bytes?: number;
}

/**
 * Agent is what makes a Persona an agent of its own: what a model is told and asked with, and the bundle that it came
 * in. It is policy: a change of it is a new version of the Persona.
 */
export interface Agent {
	/** What a model is told first, as it is. */
	instructions?: string;
	/** The model to ask; the node's default if it is absent. */
	model?: string;
	/** 0 to 1. */
	temperature?: number;
	/** Of one answer of a model; 0: no bound. */
	max_tokens?: number;
	/** `skills` are the bundles of skills that it knows, each as it was when it was named. */
	skills?: AgentSkill[];
	/** `mcp_servers` are the servers of tools that it counts on. Of one that names tools it may use these alone. */
	mcp_servers?: AgentServer[];
	/** The Persona whose subagent it is. */
	parent_id?: string;
	/** Of a subagent, for its parent. */
	role?: string;
	/** `vendor_key` and `agent_key` name it among all agents, wherever they are. Both are of a-z, 0-9 and -. */
	vendor_key?: string;
	agent_key?: string;
	slug?: string;
	/** As its author counts, 1.2.3 (semver.org); that of the Persona counts changes here. */
	version?: string;
	author?: string;
	/** As SPDX writes it. */
	license?: string;
	tags?: string[];
	/**
	 * `model_named` and `tools_named` are what its bundle says, in the bundle's own words. `model`, and the tools and
	 * tools_denied of the Persona, follow from them.
	 */
	model_named?: AgentModel;
	tools_named?: AgentTools;
	bundle?: AgentBundle;
}

/** Rights are what an agent may do, as far as that bounds its subagents. Each member is that of the Persona. */
export interface Rights {
	persona_id: string;
	tools?: string[];
	tools_denied?: string[];
	capabilities?: string[];
	handoffs?: string[];
	model_policy?: ModelPolicy;
	mcp_servers?: AgentServer[];
}

/** Persona is a durable operational role: policy, not merely a prompt. */
export interface Persona {
	/** Names the resource; it never changes. */
	id: string;
	/** The kind of resource. */
	object: string;
	/** When it was made. */
	created_at: Time;
	/** When it last changed. */
	updated_at: Time;
	/** The client's own: any object; {} if there is none. */
	metadata: Json;
	name: string;
	/** Of its policy: a change is a new version. */
	version: string;
	/** What runs its Tasks: PLUGIN, or PLUGIN#EXPORT. */
	entry_workflow: string;
	description: string;
	/** How far its Tasks may act by themselves. */
	autonomy_tier: AutonomyTier;
	/** Whether its Tasks get receipts. */
	receipt_policy: ReceiptPolicy;
	/**
	 * `tools` and `capabilities` are patterns of what Tasks of the Persona may use: tools as SERVER:TOOL, and host calls.
	 * * stands for any characters.
	 */
	tools: string[];
	capabilities: string[];
	/** `tools_denied` are patterns as those of `tools`: of what its Tasks may not use, whatever `tools` says. */
	tools_denied?: string[];
	/** `handoffs` are patterns of the Personas that its Tasks may hand work to; nil for all. */
	handoffs?: string[];
	/** Kept, and without effect. */
	triggers?: Json[];
	/** Kept, and without effect. */
	schedules?: Json[];
	/** Kept, and without effect. */
	context_packs?: string[];
	/** Kept, and without effect. */
	evals?: string[];
	owner?: string;
	model_policy?: ModelPolicy;
	/** Kept, and without effect. */
	rollout_policy?: Json;
	/** A Quota that bounds its Tasks. */
	quota_id?: string;
	/**
	 * `budget` bounds each Task of the Persona, and `approvals` says how its Tasks' writes are approved. Both are Wharf's
	 * own.
	 */
	budget?: Budget;
	approvals?: ApprovalPolicy;
	/** `tools_visibility` is Wharf's own: what keys without events:internal see of its tool calls. */
	tools_visibility?: ToolsVisibility;
	/** Since then no new Task or Session may name it. */
	retired_at?: Time;
	/** The Workspace that alone sees and uses it, for ever; none: the whole tenant. */
	workspace_id?: string;
	/** What makes it an agent of its own. */
	agent?: Agent;
	/** Set on one that was deleted: no read shows it any more. */
	deleted_at?: Time;
	/**
	 * `within` are the rights of the agents whose subagent it is, of its parent first, as they were when a Task of it
	 * began: what one of them may not do, that Task may not. It is in what Tasks are pinned to alone.
	 */
	within?: Rights[];
}

/** InputSkill is a skill as a plugin is told of it. */
export interface InputSkill {
	name: string;
	description: string;
	version: string;
	/** What its SKILL.md says of when to use it, and which tools it asks for. */
	when_to_use?: string;
	paths?: string[];
	allowed_tools?: string[];
}

export interface InputAnswer {
	/** As it was accepted; Task.Input holds what was submitted. */
	task: TaskDescription;
	persona: Persona;
	session_id: string;
	/** `skills` are those that the `task` has, as they were when it started. Their files are read by CallSkillRead. */
	skills?: InputSkill[];
}

/** With `failure` set the Task fails, whatever the export returns. */
export interface OutputRequest {
	summary: string;
	metrics?: Record<string, number>;
	failure?: FailureDescription;
	/**
	 * `stopped` says that the Task ends before its work is done, and not because it has failed. Then `handoff`, an object,
	 * says how things stand for whoever goes on.
	 */
	stopped?: boolean;
	handoff?: Json;
	/**
	 * `stop_reason` says why the model has stopped whose answer the summary is of: StopLength if it was cut off. Absent:
	 * nothing is said.
	 */
	stop_reason?: StopReason;
}

/**
 * In every request, call_id is what an override key calls this call; it is to be unique among the Task's calls of that
 * kind.
 */
export interface Label {
	call_id?: string;
}

export interface ClockAnswer {
	/** A decimal string. */
	unix_nano: string;
}

export interface IDAnswer {
	id: string;
}

export interface LogRequest {
	/** Debug, info, warn or error. */
	level: string;
	message: string;
}

export interface ProgressRequest {
	/** 0 to 1. */
	fraction: number;
	message?: string;
}

/** PlanStep is one step of a plan. */
export interface PlanStep {
	title: string;
	/** Pending, in_progress, completed or skipped. */
	status: string;
}

export interface PlanRequest {
	steps: PlanStep[];
}

/** `data` is an object with the members that the kind has, and no others (docs/events.md). */
export interface AgentEventRequest {
	kind: AgentEventKind;
	data: Json;
}

/** PlannedStep is one step of a Plan. */
export interface PlannedStep {
	/** Unique in its plan; the host makes one where there is none. */
	id?: string;
	/** What is to be done. */
	content: string;
	status: StepStatus;
}

export interface PlanSetRequest {
	steps: PlannedStep[];
	/**
	 * `version` is that of the plan which is to be replaced, 0 for none; left out for whatever is there. When somebody has
	 * changed it meanwhile, nothing happens, and the call is refused with the code plan_changed.
	 */
	version?: number;
}

export interface PlanAnswer {
	/** 0 for no plan. */
	version: number;
	/** The actor of the last change. */
	changed_by?: string;
	/** Each with its id. */
	steps: PlannedStep[];
}

export interface PlanGetRequest {
	call_id?: string;
}

export interface InboxTakeRequest {
	call_id?: string;
	checkpoint: Checkpoint;
	/**
	 * `wait` parks the Task until something is there, at the longest so many milliseconds; 0 for as long as the Task may
	 * live.
	 */
	wait?: boolean;
	timeout_ms?: number;
}

/** Part is one block of a Message. Which members are set follows from `type`. */
export interface Part {
	type: PartType;
	text?: string;
	value?: Json;
	/** Joins a call and its result. */
	tool_call_id?: string;
	name?: string;
	input?: Json;
	output?: Json;
	/** Of a tool_result: ok or error. */
	status?: string;
	artifact_id?: string;
	/** Where the file is. */
	uri?: string;
	/** Of the file or image. */
	mime_type?: string;
	visibility: Visibility;
	/** `redacted` marks a part whose content was withheld from this reader. */
	redacted?: boolean;
}

/** Message is one turn of a Session's transcript. Where it is shown to clients it has the member workspace_id too. */
export interface Message {
	/** Names the resource; it never changes. */
	id: string;
	/** The kind of resource. */
	object: string;
	/** When it was made. */
	created_at: Time;
	/** When it last changed. */
	updated_at: Time;
	/** The client's own: any object; {} if there is none. */
	metadata: Json;
	/** Who speaks. */
	role: Role;
	/** The content, in its order. */
	parts: Part[];
	session_id?: string;
	task_id?: string;
}

/** TakenReminder is a reminder that is to be shown to a model. */
export interface TakenReminder {
	reminder_id: string;
	tags?: string[];
	body: string;
	role_hint: ReminderRole;
	/** System, or user. */
	rendered_role: ReminderRole;
	source: string;
	ttl_turns: number;
	_meta?: Record<string, Json>;
}

export interface InboxTakeAnswer {
	/** As the transcript has them. */
	messages: Message[];
	reminders: TakenReminder[];
	/** `woken` says why a call that waited brings nothing. */
	woken?: InboxWoken;
}

/** MessageInput is a Message as a client writes it. */
export interface MessageInput {
	/** Who speaks. */
	role: Role;
	/** The content, in its order. */
	parts: Part[];
	metadata?: Json;
}

export interface MessageAppendAnswer {
	message_id: string;
}

export interface MessageDeltaRequest {
	text: string;
}

/** `last` asks for the newest so many Messages; 0 for 50. */
export interface TranscriptReadRequest {
	call_id?: string;
	last?: number;
}

/**
 * `earlier` says that there are `messages` before these. `unreadable` has the ids of those that are left out, for what
 * is stored of them cannot be read.
 */
export interface TranscriptReadAnswer {
	messages: Message[];
	earlier?: boolean;
	unreadable?: string[];
}

/** ModelToolCall is a model's wish to have a tool called. */
export interface ModelToolCall {
	id: string;
	name: string;
	/** A JSON object. */
	arguments: Json;
}

/** ModelMessage is one message of a conversation with a model. `role` is user, assistant or tool. */
export interface ModelMessage {
	role: string;
	text?: string;
	/** Of an assistant. */
	tool_calls?: ModelToolCall[];
	/** `tool_call_id` and `is_error` belong to the role tool: `text` is what the tool answered. */
	tool_call_id?: string;
	is_error?: boolean;
}

/** ModelTool is a tool that a model may ask for. */
export interface ModelTool {
	name: string;
	description?: string;
	input_schema?: Json;
}

export interface ModelRequest {
	call_id?: string;
	/** `model` names a configured model, or is empty for the node's default. */
	model?: string;
	system?: string;
	messages: ModelMessage[];
	tools?: ModelTool[];
	/** Auto (default), none, any, or a tool's name. */
	tool_choice?: string;
	max_tokens?: number;
	temperature?: number;
	stop?: string[];
	/** `stream` tells watchers the text as it comes, as message deltas. The answer is the same. */
	stream?: boolean;
}

/** ModelUsage counts tokens. */
export interface ModelUsage {
	input_tokens: number;
	output_tokens: number;
}

/** ModelConsidered is a model that was not used. */
export interface ModelConsidered {
	provider: string;
	model: string;
	reason: string;
}

export interface ModelAnswer {
	/** Openai, anthropic, script or client. */
	provider: string;
	/** As the provider names it. */
	model: string;
	text: string;
	tool_calls?: ModelToolCall[];
	stop_reason: StopReason;
	usage: ModelUsage;
	/** `cost` is in `currency`, from the node's price table; 0 when it has no price. */
	cost: number;
	currency: string;
	/**
	 * `route` says why this model was taken, and `considered` which others were configured for the same name and were
	 * tried or passed over before.
	 */
	route: string;
	considered?: ModelConsidered[];
}

/** An empty `server` lists those of all. */
export interface ToolListRequest {
	call_id?: string;
	server?: string;
}

/**
 * Tool describes a tool that a plugin may call. The hints are what the tool says of itself (Model Context Protocol,
 * tool annotations).
 */
export interface Tool {
	server: string;
	name: string;
	description?: string;
	input_schema?: Json;
	read_only?: boolean;
	idempotent?: boolean;
	destructive?: boolean;
	/** It reaches what is not its server's own. */
	open_world?: boolean;
	/** Whoever offers it would rather have another called. */
	deprecated?: boolean;
}

export interface ToolListAnswer {
	tools: Tool[];
}

export interface ToolCallRequest {
	call_id?: string;
	server: string;
	name: string;
	/** A JSON object. */
	arguments?: Json;
	/**
	 * `composition_id` is that of the composition which the call is a child of. The one that is open has all calls as its
	 * children, named or not: a call that names another is refused.
	 */
	composition_id?: string;
}

/** ToolContent is one block of a tool's answer. `type` is text, image, audio or resource. */
export interface ToolContent {
	type: string;
	text?: string;
	/** Base64. */
	data?: Base64;
	mime_type?: string;
	uri?: string;
}

/** A tool that failed by its own word answers with `is_error`; the call itself is then still `ok`. */
export interface ToolCallAnswer {
	content: ToolContent[];
	structured?: Json;
	is_error?: boolean;
}

/** No `kind` is KindResource. */
export interface ResourceListRequest {
	call_id?: string;
	server: string;
	kind?: ResourceKind;
}

/** Resource describes a resource of a server of tools: what its `uri` names can be read. */
export interface Resource {
	uri: string;
	name: string;
	title?: string;
	description?: string;
	mime_type?: string;
	/** In bytes, when the server says it. */
	size?: number;
}

/** ResourceTemplate describes resources whose URIs have a form (RFC 6570). */
export interface ResourceTemplate {
	uri_template: string;
	name: string;
	title?: string;
	description?: string;
	mime_type?: string;
}

/** PromptArgument describes an argument of a Prompt. */
export interface PromptArgument {
	name: string;
	title?: string;
	description?: string;
	required?: boolean;
}

/** Prompt describes a prompt of a server of tools. */
export interface Prompt {
	name: string;
	title?: string;
	description?: string;
	arguments?: PromptArgument[];
}

export interface ResourceListAnswer {
	resources?: Resource[];
	templates?: ResourceTemplate[];
	prompts?: Prompt[];
}

export interface ResourceReadRequest {
	call_id?: string;
	server: string;
	uri: string;
}

/** ResourceContent is the content of a resource: text, or bytes. */
export interface ResourceContent {
	uri: string;
	mime_type?: string;
	text?: string;
	/** Base64. */
	data?: Base64;
}

/** One URI may name several contents. */
export interface ResourceReadAnswer {
	contents: ResourceContent[];
}

export interface PromptGetRequest {
	call_id?: string;
	server: string;
	name: string;
	arguments?: Record<string, string>;
}

/** PromptMessage is a message of a prompt. `role` is user or assistant. */
export interface PromptMessage {
	role: string;
	content: ToolContent;
}

export interface PromptGetAnswer {
	description?: string;
	messages: PromptMessage[];
}

/** `header` values and the `url`'s query may hold secret handles ({{secret:NAME}}), which the host replaces. */
export interface HTTPFetchRequest {
	call_id?: string;
	/** Default GET. */
	method?: string;
	url: string;
	/** `header` holds one value by name. */
	header?: Record<string, string>;
	/** The body as text. */
	text?: string;
	/** The body as bytes, base64; not with `text`. */
	body?: Bytes;
	/** `purpose` is what the receipt says that the request was for. */
	purpose?: string;
	/**
	 * `idempotency_header` names the header by which the target recognizes a repeated write, such as Idempotency-Key. The
	 * host fills it in, and repeats the request after a crash. Without it, such a write is answered with `indeterminate`.
	 */
	idempotency_header?: string;
	timeout_ms?: number;
}

/** A status of 400 and more is an answer, not a failed call. */
export interface HTTPFetchAnswer {
	status: number;
	/** After redirects, without secrets. */
	url: string;
	header: Record<string, string>;
	/** The body, when it is UTF-8. */
	text?: string;
	/** The body otherwise, base64. */
	body?: Base64;
	/** Body bytes of the request. */
	bytes_sent: number;
}

export interface SecretUseRequest {
	name: string;
}

/** `handle` is what to write where the secret belongs. */
export interface SecretUseAnswer {
	handle: string;
}

/** A Memory is found when it holds every word of `text`, in any letter case; an empty `text` finds all. */
export interface MemoryQueryRequest {
	call_id?: string;
	scope: MemoryScope;
	text?: string;
	/** 1 to 100; default 10. */
	limit?: number;
}

/** Memory is durable knowledge, apart from transcripts. */
export interface Memory {
	/** Names the resource; it never changes. */
	id: string;
	/** The kind of resource. */
	object: string;
	/** When it was made. */
	created_at: Time;
	/** When it last changed. */
	updated_at: Time;
	/** The client's own: any object; {} if there is none. */
	metadata: Json;
	scope: MemoryScope;
	owner_id: string;
	/** A string or an object; null when it is redacted. */
	content: Json;
	provenance: Json;
	expires_at?: Time;
	visibility?: Visibility;
	confidence?: number;
	/** The client's own: Wharf keeps it. */
	redaction_policy?: Json;
	/** The client's own: Wharf keeps it. */
	embedding_ref?: string;
	/** `redacted_at` is set when the content was redacted. */
	redacted_at?: Time;
	workspace_id?: string;
	session_id?: string;
}

/** `unreadable` has the ids of `memories` that are left out, for what is stored of them cannot be read. */
export interface MemoryQueryAnswer {
	memories: Memory[];
	unreadable?: string[];
}

export interface MemoryWriteRequest {
	scope: MemoryScope;
	/** A string or an object. */
	content: Json;
	/** `expires_in_seconds` is how long the Memory lives; 0 for ever. */
	expires_in_seconds?: number;
	/** Default internal. */
	visibility?: Visibility;
	/** 0 to 1. */
	confidence?: number;
	metadata?: Json;
}

export interface MemoryWriteAnswer {
	memory_id: string;
}

export interface BlockListRequest {
	call_id?: string;
}

/** CallBlock is a block of memory, as a plugin is told of it. */
export interface Block {
	label: string;
	value: string;
	read_only: boolean;
	version: number;
}

export interface BlockListAnswer {
	/** Counts the changes of all blocks; 0 before the first. */
	version: number;
	/** In order of label. */
	blocks: Block[];
}

export interface BlockWriteRequest {
	/** Of the block, which is made if there is none. */
	label: string;
	value: string;
	/** `append` puts value below what the block has, on a line of its own, instead of in its place. */
	append?: boolean;
	/**
	 * `version` is that of the block which is to be changed, 0 for none; left out for whatever is there. When somebody has
	 * changed it meanwhile, nothing happens, and the call is refused with the code block_changed.
	 */
	version?: number;
}

export interface BlockWriteAnswer {
	label: string;
	version: number;
	/** Of its value. */
	characters: number;
}

export interface ArtifactPutRequest {
	kind: ArtifactKind;
	mime_type: string;
	/** Default public. */
	visibility?: Visibility;
	name?: string;
}

export interface ArtifactPutAnswer {
	artifact_id: string;
	/** Bare hex. */
	sha256: string;
}

/** A `length` of 0 reads to the end, as far as the payload limit goes. */
export interface ArtifactGetRequest {
	call_id?: string;
	artifact_id: string;
	offset?: number;
	length?: number;
}

/** A `length` of 0 reads to the end, as far as one call goes. */
export interface FileReadRequest {
	call_id?: string;
	/** Names separated by /, relative to the Workspace. */
	path: string;
	offset?: number;
	length?: number;
}

export interface FileReadAnswer {
	path: string;
	/** Of what was read. */
	offset?: number;
	/** Of the whole file. */
	size: number;
	/** Of the whole file, bare hex; left out of one of more than 8 MiB. */
	sha256?: string;
	updated_at: Time;
	/** What was read, when it is UTF-8. */
	text?: string;
	/** What was read otherwise, base64. */
	body?: Base64;
}

export interface FileWriteRequest {
	path: string;
	/** The content as text. */
	text?: string;
	/** The content as bytes, base64; not with `text`. */
	body?: Bytes;
	mode?: FileMode;
	/**
	 * `sha256` is what the file must have before, bare hex; another file, or none, is left as it is, and the call is
	 * answered with `invalid` and the code conflict.
	 */
	sha256?: string;
}

export interface FileWriteAnswer {
	path: string;
	size: number;
	/** Bare hex. */
	sha256: string;
	/** What was there before; "" when the file is new. */
	before_sha256?: string;
}

/** `old` is what the file has, and exactly so: once, unless `all` is set. */
export interface FileEditRequest {
	path: string;
	old: string;
	/** What comes in its place; "" takes it away. */
	new: string;
	all?: boolean;
	/** `sha256` is what the file must have before, as in CallFileWriteRequest. */
	sha256?: string;
}

export interface FileEditAnswer {
	path: string;
	size: number;
	/** Bare hex. */
	sha256: string;
	before_sha256: string;
	/** How often Old was there. */
	replaced: number;
}

export interface FileListRequest {
	call_id?: string;
	/** Of the folder; "" for the Workspace. */
	path?: string;
	/** All files below it, and no folders. */
	recursive?: boolean;
	/** The next of the answer before. */
	after?: string;
	/** 1 to 1,000; default 100. */
	limit?: number;
}

/** FileEntry is a file or folder in a list. */
export interface FileEntry {
	/** Within the Workspace. */
	path: string;
	folder?: boolean;
	size?: number;
	/** Of a file. */
	updated_at?: Time;
}

/** `next` is set when there is more. */
export interface FileListAnswer {
	entries: FileEntry[];
	next?: string;
}

/**
 * `sha256` is what the file must have, as in CallFileWriteRequest. `recursive` lets `path` be a folder, which is
 * removed with all that is in it.
 */
export interface FileRemoveRequest {
	path: string;
	sha256?: string;
	recursive?: boolean;
}

/** RemovedFile is a file that was removed with its folder. */
export interface RemovedFile {
	path: string;
	/** Bare hex. */
	before_sha256: string;
}

export interface FileRemoveAnswer {
	path: string;
	/** What was removed, bare hex; "" of a folder. */
	before_sha256: string;
	/** Of a folder: the files that were in it. */
	removed?: RemovedFile[];
}

/** Of `text` and `pattern` at most one is set; without either, what is found are the files that `glob` names. */
export interface FileSearchRequest {
	call_id?: string;
	/** Of the folder to search; "" for the Workspace. */
	path?: string;
	/**
	 * `glob` is what the path below that folder must match: * and ? within a name, [a-z], and ** for any number of
	 * folders. Without a / it is matched with the file's name.
	 */
	glob?: string;
	text?: string;
	/** A regular expression (RE2), matched with each line. */
	pattern?: string;
	ignore_case?: boolean;
	/** The next of the answer before. */
	after?: string;
	/** 1 to 1,000; default 100. */
	limit?: number;
}

/** FileMatch is a line of a file, or a file. */
export interface FileMatch {
	path: string;
	/** From 1; 0 for a file that only its name was asked of. */
	line?: number;
	/** The line, at most 1,000 bytes of it. */
	text?: string;
}

/** `next` is set when the search is not over; it may be so when nothing was found yet. */
export interface FileSearchAnswer {
	matches: FileMatch[];
	next?: string;
}

export interface SkillReadRequest {
	call_id?: string;
	/** Its name, as the Task was told. */
	skill: string;
	/** Within the skill; SKILL.md if it is absent. */
	path?: string;
}

/** SkillManifest is what a client says of a skill that it has. */
export interface SkillManifest {
	when_to_use?: string;
	allowed_tools?: string[];
	/** Patterns of the files that it is for. */
	paths?: string[];
	model?: string;
}

export interface SkillReadAnswer {
	skill: string;
	version: string;
	path: string;
	text: string;
	/** With SKILL.md: the paths of the other files. */
	files?: string[];
	/** `manifest` is set for a skill of a client's, which has no version. */
	manifest?: SkillManifest;
}

/** SkillCandidate is a skill that is ranked. */
export interface SkillCandidate {
	name: string;
	description?: string;
	when_to_use?: string;
	/** Patterns of the files that it is for; * stands for any characters. */
	paths?: string[];
}

export interface SkillMatchRequest {
	call_id?: string;
	prompt: string;
	working_files?: string[];
	/**
	 * `candidates` are the skills that are ranked; those that the Task has, and those of its Session's clients, if they
	 * are absent.
	 */
	candidates?: SkillCandidate[];
	/** Metadata: the node ranks, the default; host, or embedding: a client does, if there is one. */
	strategy?: string;
}

/** SkillMatch is a skill that fits. */
export interface SkillMatch {
	name: string;
	/** 0 or more. */
	score: number;
	reason: string;
}

/** KnownSkill is a skill that a Task can read. */
export interface KnownSkill {
	name: string;
	description?: string;
	when_to_use?: string;
	/** Patterns of the files that it is for; * stands for any characters. */
	paths?: string[];
	source: SkillSource;
}

export interface SkillMatchAnswer {
	/** The best first. */
	matches: SkillMatch[];
	by: MatchedBy;
	/** `skills` are what was ranked, where the request has no candidates. */
	skills?: KnownSkill[];
}

export interface CompositionBeginRequest {
	/** For people. */
	name?: string;
	/** That the snippet is written in. */
	language: string;
	/**
	 * `snippet_hash` and `manifest_hash` are SHA-256, in hex, of the snippet and of the manifest of bindings that whoever
	 * wrote it was shown.
	 */
	snippet_hash: string;
	manifest_hash: string;
	side_effect_ceiling: SideEffectLevel;
}

export interface CompositionBeginAnswer {
	composition_id: string;
}

/** With a `failure_category` the composition has failed. */
export interface CompositionEndRequest {
	composition_id: string;
	stdout?: string;
	stderr?: string;
	/** Ids of those that the Task has put. */
	artifacts?: string[];
	result?: Json;
	failure_category?: CompositionFailure;
	/** Of a failure. */
	message?: string;
}

export interface StateGetRequest {
	call_id?: string;
	key: string;
}

/** `value` is null when nothing is kept. */
export interface StateGetAnswer {
	value: Json;
}

export interface StateSetRequest {
	key: string;
	value: Json;
}

export interface SleepRequest {
	ms: number;
}

/** Question is one of several that are asked at once. */
export interface Question {
	/** Names it in the answer: the plugin's own, and no other question's. */
	key: string;
	/** Default: input. */
	kind?: PermissionKind;
	prompt?: string;
	/** `schema`, of an input, is a JSON Schema of what is wanted: an answer that does not fit it is not taken. */
	schema?: Json;
	/**
	 * `params`, of a sampling, are what the model of whoever answers is asked: those of MCP's sampling/createMessage. The
	 * answer is its result, in a json part.
	 */
	params?: Json;
	/** Of an authorization: what is to be authorized. */
	provider?: string;
	/** Of an authorization: where the user does so. */
	url?: string;
	/** Of an approval: what is to be approved. */
	action?: string;
	/** `arguments`, `quorum` and `approvers`, of an approval, are as those of approval.request. */
	arguments?: Json;
	quorum?: number;
	approvers?: string[];
}

export interface InputRequestRequest {
	call_id?: string;
	/** Of a single question. */
	prompt?: string;
	/** `schema` is a JSON Schema of what is wanted: an answer that does not fit it is not taken. */
	schema?: Json;
	/**
	 * `requests` are several questions, 1 to 16, in the place of `prompt` and `schema`. Each is answered by itself, and
	 * the call when all are settled.
	 */
	requests?: Question[];
	/** `timeout_seconds` is how long to wait; then the status is `timeout`. 0: for ever. */
	timeout_seconds?: number;
}

/** `decision` is what one actor has decided. */
export interface Decision {
	actor: string;
	/** Approved or denied. */
	decision: string;
	/** For people. */
	reason?: string;
	/** Other arguments, when the actor changed them. */
	arguments?: Json;
	decided_at: Time;
}

export interface ApprovalAnswer {
	/** Approved, denied or timeout. */
	decision: string;
	actor?: string;
	decided_at: Time;
	reason?: string;
	/** When an approver changed them. */
	arguments?: Json;
	/** `decisions` lists all that were taken, in their order, when there was not just the one above. */
	decisions?: Decision[];
	/** `quorum` and `approved_by` are set when more than one had to approve, and did. */
	quorum?: number;
	approved_by?: string[];
}

/** QuestionAnswer is what became of one of several questions. */
export interface QuestionAnswer {
	key: string;
	/** Answered, approved, denied or timeout. */
	status: PermissionStatus;
	permission_request_id: string;
	/** Who answered, or declined. */
	actor?: string;
	/** Of one that is no approval and was denied: in which way. */
	code?: DeclineCode;
	/** Why it was declined. */
	reason?: string;
	/** What was answered. */
	message?: Message;
	/** Of an approval: how it was decided. */
	approval?: ApprovalAnswer;
}

export interface InputRequestAnswer {
	message?: Message;
	/** Who answered. */
	actor?: string;
	/** `answers` are those to several questions, in the order in which they were asked; then there is nothing else. */
	answers?: QuestionAnswer[];
}

export interface AuthRequestRequest {
	call_id?: string;
	/** What is to be authorized. */
	provider: string;
	prompt: string;
	/** Where the user does so. */
	url?: string;
	timeout_seconds?: number;
}

export interface ApprovalRequestRequest {
	call_id?: string;
	/** What is to be approved, such as workspace.patch.apply. */
	action: string;
	prompt: string;
	arguments?: Json;
	timeout_seconds?: number;
	/**
	 * `quorum` is how many must approve; 0 is 1. `approvers` are patterns of the actors that may decide; empty for all.
	 * The Persona's policy may ask for more.
	 */
	quorum?: number;
	approvers?: string[];
}

export interface TaskSpawnRequest {
	/** Default: the same. */
	persona_id?: string;
	input: Json;
	metadata?: Json;
	deadline_seconds?: number;
}

export interface TaskSpawnAnswer {
	task_id: string;
}

export interface TaskAwaitRequest {
	call_id?: string;
	task_id: string;
	timeout_seconds?: number;
}

export interface TaskAwaitAnswer {
	task_id: string;
	status: OutcomeStatus;
	summary: string;
	messages?: Message[];
	failure?: FailureDescription;
	receipt_id?: string;
}

export interface HandoffRequest {
	persona_id: string;
	input: Json;
	reason?: string;
}

/** DelegationBudget bounds what an agent outside may use for a piece of work; 0 is no bound. */
export interface DelegationBudget {
	usd?: number;
	tokens?: number;
	seconds?: number;
	tool_calls?: number;
}

/** DelegationPeer says who the agent is, as the node has found it. */
export interface DelegationPeer {
	agent: string;
	/** By its card. */
	name?: string;
	/** Where work is dispatched to. */
	url: string;
	/** Of the card's canonical JSON, with "sha256:" before it. */
	card_sha256: string;
}

/** DelegationCheckpoint is what an agent means to do before it is paid for it. */
export interface DelegationCheckpoint {
	/**
	 * `approved` has the work dispatched, once whoever policy asks has approved it. Without it, the call ends with the
	 * checkpoint.
	 */
	approved?: boolean;
	/**
	 * `checkpoint_id` is that of the checkpoint that was looked at. When the agent has another one by then, nothing is
	 * dispatched.
	 */
	checkpoint_id?: string;
	/** `allow_local_fallback` lets `plan` stand in for that of an agent which makes none. */
	allow_local_fallback?: boolean;
	plan?: Json;
	/** The rest is the agent's, and the node's. In a request it means nothing. */
	expected_scope?: Json;
	evidence_refs?: Json;
	metadata?: Json;
	/** The plan is the plugin's own. */
	local?: boolean;
	peer?: DelegationPeer;
}

/** Its budget has at least one bound. */
export interface AgentDelegateRequest {
	call_id?: string;
	/** By its name in the configuration. */
	agent: string;
	task: string;
	/** What may come of it: a text, or any other JSON. */
	expected_scope?: Json;
	/** A JSON object. */
	context?: Json;
	budget: DelegationBudget;
	/**
	 * `idempotency_key` names this piece of work among those of the plugin in its Workspace, for good. One follows from
	 * the call where it is not given.
	 */
	idempotency_key?: string;
	checkpoint?: DelegationCheckpoint;
}

/** CallError is the answer that comes with any status but `ok`. */
export interface CallError {
	code: string;
	message: string;
}

/** DelegationArtifact names an Artifact that a delegation has left. */
export interface DelegationArtifact {
	artifact_id: string;
	kind: ArtifactKind;
	sha256: string;
}

/** DelegationHandoff is what came of work that was dispatched: the envelope of ExternalHandoffSchema. */
export interface DelegationHandoff {
	/** ExternalHandoffSchema. */
	schema: string;
	/** DelegationCompleted or DelegationExceeded. */
	status: DelegationStatus;
	peer: DelegationPeer;
	/** As the agent was told it. */
	idempotency_key: string;
	/** Of the task, its scope and its context. */
	asked_sha256: string;
	task_id?: string;
	checkpoint?: DelegationCheckpoint;
	budget: DelegationBudget;
	budget_used: DelegationBudget;
	/** `reported` is what of `budget_used` the agent has said itself. The rest is taken to be what it was allowed. */
	reported: string[];
	/** Members of the budget. */
	exceeded?: string[];
	/** The agent says that it had done it before. */
	repeated?: boolean;
	/** What the agent hands over, for review. */
	handoff: Json;
	/** The patch, where there is one. */
	diff?: string;
	/** The agent's artifacts. */
	outputs?: Json;
	receipts?: Json;
	/** `artifacts` are those of this node: the envelope itself, as the log has it, and the patch. */
	artifacts?: DelegationArtifact[];
}

export interface AgentDelegateAnswer {
	status: DelegationStatus;
	/** Of a refusal. */
	reason?: CallError;
	/** `idempotency_key` is the one to come back with when the checkpoint is approved. */
	idempotency_key?: string;
	peer?: DelegationPeer;
	checkpoint?: DelegationCheckpoint;
	handoff?: DelegationHandoff;
}

export interface EventEmitRequest {
	kind: string;
	/** A JSON object. */
	payload?: Json;
}

export interface ConfigGetRequest {
	name: string;
}

/** `value` is null when nothing is configured. */
export interface ConfigGetAnswer {
	value: Json;
}

export interface HostFactRequest {
	name: string;
}

export interface HostFactAnswer {
	value: string;
}

/** DedupePolicy says how deliveries that come again are recognized. */
export interface DedupePolicy {
	/** `header` is the header with the provider's delivery id; empty: the provider's own. */
	header?: string;
	/** `window_seconds` is how long ids are remembered; 0 for the default of a week. */
	window_seconds?: number;
}

/**
 * WebhookAuth says how deliveries on the public path are checked. `secrets` are named, never stated: they are those of
 * the node's configuration or of a Vault.
 */
export interface WebhookAuth {
	/** Empty: the provider's own. */
	scheme?: SignatureScheme;
	/** `secrets` are names; a delivery signed with any of them is taken, so that a secret can be changed without a gap. */
	secrets?: string[];
	/** Where they are; empty: the node's own. */
	vault_id?: string;
	/** `tolerance_seconds` is how far a timestamp may be from now; 0 for 5 minutes. */
	tolerance_seconds?: number;
	/** Of hmac: the header with the signature. */
	header?: string;
	/** Of hmac: sha256 or sha512. */
	hash?: string;
	/** Of hmac: the signature's, hex or base64. */
	encoding?: string;
	/** Of hmac: what stands before the signature. */
	prefix?: string;
	/**
	 * `timestamp_header` is the header with the time in seconds, of hmac; then "TIME.BODY" is signed, and else the body
	 * alone.
	 */
	timestamp_header?: string;
}

/** Webhook is the public path of a Connector. */
export interface Webhook {
	/** `path` is where providers send to. It is shown to those who may write Connectors, for it holds an unguessable token. */
	path?: string;
	/** `enabled` says that the path is open. */
	enabled: boolean;
}

/** Polling makes a Connector act by itself. */
export interface Polling {
	/** Five fields of cron, or @every 5m, @hourly, …. */
	schedule: string;
	/** Of the IANA database; UTC if it is empty. */
	timezone?: string;
	/** The plugin's export that polls; empty: each tick is a delivery itself. */
	export?: string;
	/** When it acts next. */
	next_at?: Time;
	/** The last tick that was acted on. */
	last_at?: Time;
	/** The Task of that tick. */
	last_task_id?: string;
}

/** ConnectorCounters count what became of deliveries, since the Connector was made. */
export interface ConnectorCounters {
	/** Taken in; what had come before is not among them. */
	received: number;
	/** Had come before. */
	deduped: number;
	/** For their signature; since the node started. */
	rejected: number;
	/** The plugin has said what they mean. */
	normalized: number;
	/** Submitted. */
	tasks: number;
	/** Put aside as dead letters. */
	failed: number;
	/** Neither handled nor put aside yet. */
	pending: number;
}

/** Connector turns what a provider sends, or what is polled from it, into Tasks, Events or Messages. */
export interface Connector {
	/** Names the resource; it never changes. */
	id: string;
	/** The kind of resource. */
	object: string;
	/** When it was made. */
	created_at: Time;
	/** When it last changed. */
	updated_at: Time;
	/** The client's own: any object; {} if there is none. */
	metadata: Json;
	name?: string;
	/** Such as github; it decides the defaults of the rest. */
	provider: string;
	workspace_id: string;
	/** Whether it takes and handles deliveries. */
	status: ConnectorStatus;
	/** `status_reason` says why it is FAILED. */
	status_reason?: string;
	event_kinds: string[];
	dedupe_policy?: DedupePolicy;
	auth?: WebhookAuth;
	webhook?: Webhook;
	polling?: Polling;
	/** Whose Tasks deliveries become. */
	target_persona_id?: string;
	/** The Session of those Tasks. */
	target_session_id?: string;
	/** `plugin` is what normalizes deliveries: PLUGIN#EXPORT. */
	plugin: string;
	/** `settings` are the plugin's own, such as the mapping of generic. */
	settings?: Json;
	/**
	 * `ordered` says that the deliveries of one order key are handled strictly one after another: a Task begins when the
	 * one before has ended. ConnectorTask has the key.
	 */
	ordered?: boolean;
	/** `deleted_at` is set on one that was deleted: no read shows it any more. */
	deleted_at?: Time;
	/**
	 * `problems` are what keeps it from working now, a sentence each. They are filled in when one is read by its id, made
	 * or changed.
	 */
	problems?: string[];
	/** `counters` are filled in when a Connector is read. */
	counters?: ConnectorCounters;
}

/** Delivery is what a provider has sent, as it is kept: the body as text when it is UTF-8, else as bytes. */
export interface Delivery {
	/** Names the resource; it never changes. */
	id: string;
	/** The kind of resource. */
	object: string;
	/** When it was made. */
	created_at: Time;
	/** When it last changed. */
	updated_at: Time;
	/** The client's own: any object; {} if there is none. */
	metadata: Json;
	connector_id: string;
	workspace_id: string;
	/** The provider's. */
	delivery_id: string;
	/** Names in lower case; no credentials. */
	header: Record<string, string>;
	text?: string;
	/** Base64. */
	body?: Base64;
}

export interface DeliveriesAnswer {
	connector: Connector;
	deliveries: Delivery[];
}

/** ConnectorTask is a Task to submit. */
export interface ConnectorTask {
	input: Json;
	/** `persona_id` is the Connector's target if it is empty. */
	persona_id?: string;
	/**
	 * `thread` is what belongs to one Session, such as a pull request; empty: the Connector's target Session, or one for
	 * all.
	 */
	thread?: string;
	/** `order_key` orders Tasks when the Connector is ordered; empty: `thread`. */
	order_key?: string;
	metadata?: Json;
}

/** ConnectorMessage is a `message` to append. */
export interface ConnectorMessage {
	message: MessageInput;
	thread?: string;
}

/** ConnectorEvent is an event to tell. */
export interface ConnectorEvent {
	kind: string;
	payload?: Json;
}

/** NormalizedDelivery says what a delivery means. With none of the members it means nothing and is done with. */
export interface NormalizedDelivery {
	/** The Delivery's id. */
	id: string;
	tasks?: ConnectorTask[];
	messages?: ConnectorMessage[];
	events?: ConnectorEvent[];
	/** `ignored` says in a word why it means nothing. */
	ignored?: string;
	/** `failure` puts the delivery aside, whatever else it says. */
	failure?: FailureDescription;
}

export interface NormalizedRequest {
	results: NormalizedDelivery[];
}

/** PolledDelivery is one thing that was found. `id` is how it is recognized when it is found again. */
export interface PolledDelivery {
	id: string;
	header?: Record<string, string>;
	text?: string;
	/** Base64; not with `text`. */
	body?: Bytes;
}

/** Each is taken as if the provider had sent it. */
export interface DeliverRequest {
	deliveries: PolledDelivery[];
}

export interface DeliverAnswer {
	received: number;
	deduped: number;
}

/** AgentEventKind is a kind of what an agent tells of its own work. */
export type AgentEventKind = "skill_activated" | "skill_deactivated" | "skill_scope_tools" | "skill_narrow" | "tool_search_query" | "tool_search_result" | "transcript_compacted" | "transcript_projected" | "turn_started" | "turn_ended";

/** ArtifactKind says what an Artifact is. */
export type ArtifactKind = "file" | "patch" | "image" | "log" | "diff" | "receipt" | "snapshot" | "dataset" | "other";

/** AutonomyTier says how far a Persona may act by itself. */
export type AutonomyTier = "shadow" | "suggest" | "act_with_approval" | "act_auto" | (string & {});

/**
 * Checkpoint is where a plugin looks into the inbox.
 *
 * `step`: before it asks a model; `turn`: when a model has answered and wants no tool; `loop_exit`: before it ends.
 */
export type Checkpoint = "step" | "turn" | "loop_exit";

/**
 * CompositionFailure says in which way a composition failed.
 *
 * `snippet_error`: the snippet is at fault; `tool_error`: a child failed; `ceiling_exceeded`: a child was beyond the
 * ceiling; `limit`: it used up what it may use; `not_ended`: its Task completed without ending it.
 */
export type CompositionFailure = "snippet_error" | "tool_error" | "ceiling_exceeded" | "timeout" | "limit" | "not_ended" | "task_failed" | "task_canceled";

/**
 * ConnectorStatus says whether a Connector takes and handles deliveries.
 *
 * `ACTIVE`: ConnectorActive takes and handles deliveries.; `PAUSED`: ConnectorPaused takes deliveries and handles none
 * until it is active again. It does not poll.; `FAILED`: ConnectorFailed is what the circuit breaker makes of one that
 * fails again and again. It takes deliveries, and tries itself again after a while.; `DISABLED`: ConnectorDisabled
 * takes no deliveries.
 */
export type ConnectorStatus = "ACTIVE" | "PAUSED" | "FAILED" | "DISABLED" | (string & {});

/**
 * DeclineCode says in which way a question was not answered.
 *
 * `declined`: whoever was asked does not want to; `cancelled`: the question was put away without a choice;
 * `unsupported`: whoever was asked cannot answer questions of this kind.
 */
export type DeclineCode = "declined" | "cancelled" | "unsupported" | (string & {});

/**
 * DelegationStatus says what became of a CallAgentDelegate.
 *
 * `checkpoint_required`: nothing was dispatched: the checkpoint says what would be; `completed`: the agent has done
 * it, within its budget; `replayed`: it was done before by the same key: nothing was dispatched; `budget_exceeded`:
 * the agent has used more than it was allowed; `refused`: nothing was dispatched, for the reason that is given.
 */
export type DelegationStatus = "checkpoint_required" | "completed" | "replayed" | "budget_exceeded" | "refused" | (string & {});

/**
 * FileMode says what CallFileWrite does with a file that is there.
 *
 * `replace`: the content becomes the file's; the default; `create`: the file must not be there; `append`: the content
 * goes to the end; without a file it is replace.
 */
export type FileMode = "replace" | "create" | "append";

/**
 * InboxWoken says why a wait for an inbox has ended with nothing.
 *
 * `resumed`: somebody has woken the Session; `never`: forks and replays are delivered nothing, and do not wait.
 */
export type InboxWoken = "resumed" | "timeout" | "never" | (string & {});

/**
 * MatchedBy says who has ranked skills.
 *
 * `host`: a client.
 */
export type MatchedBy = "node" | "host" | (string & {});

/** MemoryScope says whom a Memory belongs to. */
export type MemoryScope = "persona" | "session" | "workspace" | "tenant";

/** OutcomeStatus is how a Task ended, as its Outcome says it. */
export type OutcomeStatus = "SUCCEEDED" | "FAILED" | "CANCELED" | (string & {});

/** PartType discriminates the content of a Part. */
export type PartType = "text" | "json" | "tool_call" | "tool_result" | "artifact_ref" | "file_ref" | "image_ref";

/**
 * PermissionKind says what a Task asks for.
 *
 * `approval`: may it do something; `input`: an answer; `authorization`: something is to be connected; `sampling`: what
 * a model of the answerer's says; `roots`: the folders that may be worked in.
 */
export type PermissionKind = "approval" | "input" | "authorization" | "sampling" | "roots";

/**
 * PermissionStatus says what has become of a request.
 *
 * `canceled`: the Task ended meanwhile.
 */
export type PermissionStatus = "pending" | "approved" | "denied" | "answered" | "timeout" | "canceled" | (string & {});

/** ReceiptPolicy says whether Tasks of a Persona get receipts. */
export type ReceiptPolicy = "required" | "optional" | "disabled" | (string & {});

/** ReminderRole says as whose words a model should be shown a reminder. */
export type ReminderRole = "system" | "developer" | "user" | (string & {});

/** ReplayMode says how a Task is replayed (docs/protocol.md, 6.1). */
export type ReplayMode = "exact" | "with_overrides" | "from_checkpoint" | (string & {});

/** ResourceKind is what CallResourceList lists. */
export type ResourceKind = "resource" | "template" | "prompt";

/** Role is the author's role of a Message. */
export type Role = "user" | "assistant" | "system" | "tool" | "agent";

/**
 * SideEffectLevel says how far what a call does may reach.
 *
 * `read_only`: nothing beyond the Task and its Session changes; `workspace_write`: what is the Workspace's, or a tool
 * server's own, does; `process_exec`: programs run; `network`: anything else, and all that is not known.
 */
export type SideEffectLevel = "read_only" | "workspace_write" | "process_exec" | "network";

/**
 * SignatureScheme says how a provider signs its deliveries.
 *
 * `none`: deliveries need no signature; `standard-webhooks`: webhook-id, webhook-timestamp, webhook-signature;
 * `github`: X-Hub-Signature-256; `stripe`: Stripe-Signature; `slack`: X-Slack-Signature; `hmac`: a header of its own;
 * see WebhookAuth.
 */
export type SignatureScheme = "none" | "standard-webhooks" | "github" | "stripe" | "slack" | "hmac" | (string & {});

/**
 * SkillSource says where a skill is from.
 *
 * `host`: a client has it.
 */
export type SkillSource = "installed" | "host" | (string & {});

/** StepStatus says how far a step of a plan is. */
export type StepStatus = "pending" | "in_progress" | "completed" | "skipped";

/**
 * StopReason says why a model stopped.
 *
 * `end`: it was done, or met a stop sequence; `tools`: it wants tools called; `length`: the limit on tokens;
 * `refusal`: it declined, or was filtered.
 */
export type StopReason = "end" | "tools" | "length" | "refusal";

/** TaskStatus is the lifecycle state of a Task, spelled as on the wire (docs/protocol.md, 5.1). */
export type TaskStatus = "SUBMITTED" | "WORKING" | "INPUT_REQUIRED" | "AUTH_REQUIRED" | "COMPLETED" | "FAILED" | "CANCELED" | (string & {});

/**
 * ToolErrorCategory says in which way a tool call failed.
 *
 * `schema_validation`: its arguments do not fit, or there is no such tool; `permission_denied`: policy or an approver
 * said no; `tool_error`: the tool itself says that it failed; `mcp_server_error`: its server gave no answer that can
 * be used; `host_bridge_error`: the client gave none; `unknown`: nobody knows whether it was done; `cancelled`: its
 * Task has ended meanwhile.
 */
export type ToolErrorCategory = "schema_validation" | "permission_denied" | "timeout" | "tool_error" | "mcp_server_error" | "host_bridge_error" | "unknown" | "cancelled" | (string & {});

/**
 * ToolExecutor says what runs a tool.
 *
 * `harn_builtin`: the node itself; `host_bridge`: a client, on its socket; `mcp_server`: a server of the Model Context
 * Protocol: the member server names it.
 */
export type ToolExecutor = "harn_builtin" | "host_bridge" | "mcp_server" | (string & {});

/** ToolKind is a kind of tools, by what they do. */
export type ToolKind = "read" | "edit" | "delete" | "move" | "search" | "execute" | "think" | "fetch" | "switch_mode" | "other" | (string & {});

/**
 * ToolsVisibility says how much of the tool calls of a Persona's Tasks is told to keys without events:internal.
 *
 * `internal`: that there was a call, and nothing else; `named`: which tool, how long, how it ended: the default;
 * `public`: its arguments and its answer, too.
 */
export type ToolsVisibility = "internal" | "named" | "public" | (string & {});

/** Visibility says who may see content (docs/protocol.md, 3.5). */
export type Visibility = "public" | "internal" | "receipt_only";
