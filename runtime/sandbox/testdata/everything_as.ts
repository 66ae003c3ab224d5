// Makes each host call once, as the plugins in the other languages do.
import * as wharf from "../wharf";
import {
  AgentEventKind, ArtifactKind, Checkpoint, Connector, Delivery, FileMode, Json, main, MemoryScope, MessageInput, NormalizedDelivery,
  Outcome, reply, Role, setState, SideEffectLevel, Some, state, Task, textPart, Visibility,
} from "../wharf";

export function run(): i32 { return main(everything); }

function everything(_: Task): Outcome {
  first();
  compose();
  session();
  model();
  resources();
  stored();
  files();
  people();
  others();
  if (deliveries()) return wharf.fail("plugin_error", "normalizing");
  const metrics = new Map<string, f64>();
  metrics.set("n", 1);
  return { summary: "done", metrics };
}

function json(text: string): Json { return Json.parse(text)!; }

function object(): Json { return json('{"a":1}'); }

function map(): Map<string, string> {
  const m = new Map<string, string>();
  m.set("a", "b");
  return m;
}

function one(): Uint8Array {
  const bytes = new Uint8Array(1);
  bytes[0] = 1;
  return bytes;
}

function first(): void {
  wharf.clock({ call_id: "begin" });
  wharf.random(3);
  wharf.id({});
  wharf.sleep({ ms: 1000 });
  wharf.log({ level: "info", message: "hi" });
  wharf.progress({ fraction: 0.5, message: "half" });
  wharf.plan({ steps: [{ title: "a", status: "pending" }] });
  wharf.agentEvent({ kind: AgentEventKind.TURN_STARTED, data: json('{"iteration":1}') });
}

function compose(): void {
  const begun = wharf.compositionBegin({ name: "n", language: "l", snippet_hash: "s", manifest_hash: "m", side_effect_ceiling: SideEffectLevel.READ_ONLY });
  wharf.toolCall({ server: "s", name: "n", composition_id: begun.composition_id });
  wharf.compositionEnd({
    composition_id: begun.composition_id, stdout: "o", stderr: "e", artifacts: ["art_1"], result: object(), failure_category: "tool_error", message: "m",
  });
}

function session(): void {
  wharf.planSet({ steps: [{ id: "a", content: "b", status: "pending" }], version: new Some<i64>(2) });
  wharf.planGet({});
  wharf.inboxTake({ checkpoint: Checkpoint.STEP });
  wharf.inboxTake({ checkpoint: Checkpoint.TURN, wait: true, timeout_ms: 1000 });
  reply("hi");
  wharf.messageDelta({ text: "h" });
  wharf.transcriptRead({ last: 3 });
}

function model(): void {
  wharf.llmComplete({
    call_id: "main:1", model: "m", system: "s", tool_choice: "auto", max_tokens: 1, stop: ["."], stream: true,
    messages: [
      { role: "assistant", text: "t", tool_calls: [{ id: "c", name: "n", arguments: object() }] },
      { role: "tool", tool_call_id: "c", is_error: true },
    ],
    tools: [{ name: "n", description: "d", input_schema: object() }],
  });
  wharf.toolList({ server: "s" });
  wharf.toolCall({ call_id: "c", server: "s", name: "n", arguments: object() });
}

function resources(): void {
  wharf.resourceList({ server: "s", kind: "resource" });
  wharf.resourceList({ server: "s", kind: "template" });
  wharf.resourceList({ server: "s", kind: "prompt" });
  wharf.resourceRead({ call_id: "c", server: "s", uri: "file:///a" });
  wharf.promptGet({ call_id: "c", server: "s", name: "n", arguments: map() });
}

function stored(): void {
  wharf.httpFetch({
    call_id: "c", method: "POST", url: "https://x", header: map(), body: one(), purpose: "p", idempotency_header: "Idempotency-Key", timeout_ms: 5,
  });
  wharf.secretUse({ name: "s" });
  wharf.memoryQuery({ call_id: "c", scope: MemoryScope.SESSION, text: "t", limit: 3 });
  wharf.memoryWrite({
    scope: MemoryScope.TENANT, content: Json.text("c"), expires_in_seconds: 1, visibility: Visibility.INTERNAL, confidence: 0.5, metadata: object(),
  });
  wharf.blockList({});
  wharf.blockWrite({ label: "l", value: "v", append: true, version: new Some<i64>(0) });
  const content = new Uint8Array(1);
  content[0] = 0x78;
  wharf.artifactPut({ kind: ArtifactKind.FILE, mime_type: "text/plain", visibility: Visibility.PUBLIC, name: "n" }, content);
  wharf.artifactGet({ artifact_id: "art_1", offset: 1, length: 2 });
}

function files(): void {
  wharf.fileRead({ call_id: "c", path: "p", offset: 1, length: 2 });
  wharf.fileRemove({ path: "p", sha256: "s" });
  wharf.fileEdit({ path: "p", old: "o", "new": "n", all: true });
  wharf.skillRead({ skill: "s", path: "p" });
  wharf.skillMatch({
    call_id: "c", prompt: "p", working_files: ["f"], candidates: [{ name: "n", description: "d", when_to_use: "w", paths: ["p"] }], strategy: "host",
  });
  wharf.fileWrite({ path: "p", body: one(), mode: FileMode.APPEND, sha256: "s" });
  wharf.fileList({ call_id: "c", path: "p", recursive: true, after: "a", limit: 3 });
  wharf.fileSearch({ call_id: "c", path: "p", glob: "*", text: "t", pattern: "p", ignore_case: true, after: "a", limit: 3 });
}

function people(): void {
  state("k");
  setState("k", object());
  wharf.inputRequest({ call_id: "c", prompt: "p", schema: object(), timeout_seconds: 60 });
  wharf.authRequest({ call_id: "c", provider: "p", prompt: "p", url: "https://x", timeout_seconds: 60 });
  wharf.approvalRequest({ call_id: "c", action: "a", prompt: "p", arguments: object(), timeout_seconds: 60 });
}

function others(): void {
  wharf.taskSpawn({ persona_id: "p", input: object(), metadata: object(), deadline_seconds: 1 });
  wharf.taskAwait({ task_id: "task_1", timeout_seconds: 1 });
  wharf.handoff({ persona_id: "p", input: object(), reason: "r" });
  wharf.agentDelegate({
    call_id: "c", agent: "a", task: "t", expected_scope: object(), context: object(), idempotency_key: "k",
    budget: { usd: 1, tokens: 1, seconds: 1, tool_calls: 1 },
    checkpoint: { approved: true, checkpoint_id: "c", allow_local_fallback: true, plan: json("{}") },
  });
}

function deliveries(): i32 {
  wharf.eventEmit({ kind: "vendor.x.y", payload: object() });
  wharf.config("n");
  wharf.hostFact({ name: "os" });
  wharf.connectorDeliver({ deliveries: [{ id: "i", header: map(), text: "t" }, { id: "j", body: one() }] });
  return wharf.connector(prepare);
}

function prepare(_: Connector, delivery: Delivery): NormalizedDelivery {
  const message: MessageInput = { role: Role.USER, parts: [textPart(delivery.text)] };
  return {
    ignored: "i",
    tasks: [{ input: Json.of(message), persona_id: "p", thread: "t", order_key: "o", metadata: json("{}") }],
    messages: [{ message, thread: "t" }],
    events: [{ kind: "vendor.x", payload: json("{}") }],
  };
}
