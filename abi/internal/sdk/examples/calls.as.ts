// These are the examples of docs/host-calls-examples.md, as a plugin: it runs on a node, beside those in the
// other languages. Each says which host calls it shows.
import * as wharf from "../wharf";
import {
  AgentEventKind, ArtifactKind, Checkpoint, Connector, connector, Delivery, end, Json, log, main, MemoryScope, MessageInput,
  NormalizedDelivery, Outcome, reply, Role, SideEffectLevel, Some, Task, textPart,
} from "../wharf";

export function run(): i32 { return main(all); }

export function poll(): i32 { return main(polled); }

export function normalize(): i32 { return connector(exampleConnector); }

function all(task: Task): Outcome {
  const examples: (() => void)[] = [
    exampleClock, exampleRandom, exampleId, exampleLog, exampleProgress, examplePlan, exampleAgentEvent, examplePlanSet,
    exampleInboxTake, exampleMessageAppend, exampleMessageDelta, exampleTranscriptRead, exampleLlmComplete, exampleToolList,
    exampleToolCall, exampleComposition, exampleResourceList, exampleResourceRead, examplePromptGet, exampleConfigGet,
    exampleHttpFetch, exampleMemoryWrite, exampleMemoryQuery, exampleBlockWrite, exampleBlockList, exampleArtifact, exampleFileWrite,
    exampleFileEdit, exampleSleep, exampleFileRead, exampleFileList, exampleFileSearch, exampleFileRemove, exampleSkillRead, exampleSkillMatch,
    exampleState, exampleInputRequest, exampleAuthRequest, exampleApprovalRequest, exampleTask, exampleHandoff,
    exampleAgentDelegate, exampleEventEmit, exampleHostFact,
  ];
  for (let i = 0; i < examples.length; i++) examples[i]();
  return exampleRun(task);
}

function polled(_: Task): Outcome {
  exampleConnectorDeliver();
  return { summary: "polled" };
}

// Calls: input, output.
function exampleRun(task: Task): Outcome {
  const metrics = new Map<string, f64>();
  metrics.set("orders", 1);
  return { summary: "done: " + task.text, metrics };
}

// Calls: clock.
function exampleClock(): void {
  log({ level: "info", message: "it is " + wharf.clock({}).unix_nano });
}

// Calls: random.
function exampleRandom(): void {
  const key = wharf.random(16);
  assert(key.length == 16);
}

// Calls: id.
function exampleId(): void {
  log({ level: "info", message: "this is order " + wharf.id({}).id });
}

// Calls: sleep.
function exampleSleep(): void {
  wharf.sleep({ ms: 100 });
}

// Calls: log.
function exampleLog(): void {
  log({ level: "warn", message: "the pot is half empty" });
}

// Calls: progress.
function exampleProgress(): void {
  wharf.progress({ fraction: 0.5, message: "half of the orders are in" });
}

// Calls: plan.
function examplePlan(): void {
  wharf.plan({ steps: [{ title: "Ask for the order", status: "completed" }, { title: "Place it", status: "pending" }] });
}

// Calls: agent.event.
function exampleAgentEvent(): void {
  wharf.agentEvent({ kind: AgentEventKind.TURN_STARTED, data: Json.parse('{"iteration":1}')! });
}

// Calls: plan.get, plan.set.
function examplePlanSet(): void {
  const version = wharf.planGet({}).version;
  // It ends the Task when somebody has changed the plan since it was read; tryPlanSet says so instead.
  wharf.planSet({ steps: [{ id: "order", content: "Place the order", status: "in_progress" }], version: new Some<i64>(version) });
}

// Calls: inbox.take.
function exampleInboxTake(): void {
  const messages = wharf.inboxTake({ checkpoint: Checkpoint.TURN, wait: true, timeout_ms: 60000 }).messages;
  for (let i = 0; i < messages.length; i++) {
    const text = messages[i].parts[0].text;
    if (text !== null) log({ level: "info", message: "somebody says: " + text });
  }
}

// Calls: message.append.
function exampleMessageAppend(): void {
  reply("Your tea is coming.");
}

// Calls: message.delta.
function exampleMessageDelta(): void {
  wharf.messageDelta({ text: "Your tea" });
}

// Calls: transcript.read.
function exampleTranscriptRead(): void {
  const messages = wharf.transcriptRead({ last: 5 }).messages;
  for (let i = 0; i < messages.length; i++) log({ level: "info", message: messages[i].role + " has spoken" });
}

// Calls: llm.complete.
function exampleLlmComplete(): void {
  const answer = wharf.llmComplete({ system: "You know teas.", messages: [{ role: "user", text: "Name one." }], max_tokens: 20 });
  log({ level: "info", message: "the model says: " + answer.text });
}

// Calls: tool.list.
function exampleToolList(): void {
  const tools = wharf.toolList({ server: "desk" }).tools;
  for (let i = 0; i < tools.length; i++) log({ level: "info", message: "there is a tool " + tools[i].name });
}

// Calls: tool.call.
function exampleToolCall(): void {
  const answer = wharf.toolCall({ server: "desk", name: "look", arguments: Json.parse('{"where":"harbour"}') });
  log({ level: "info", message: "the tool says: " + answer.content[0].text });
}

// Calls: composition.begin, composition.end.
function exampleComposition(): void {
  const composition_id = wharf.compositionBegin({
    name: "what time it is", language: "javascript", side_effect_ceiling: SideEffectLevel.READ_ONLY,
    snippet_hash: "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
    manifest_hash: "fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9",
  }).composition_id;
  wharf.toolCall({ server: "host", name: "time_now", composition_id });
  wharf.compositionEnd({ composition_id, stdout: "tea time" });
}

// Calls: resource.list.
function exampleResourceList(): void {
  const resources = wharf.resourceList({ server: "desk", kind: "resource" }).resources;
  for (let i = 0; i < resources.length; i++) log({ level: "info", message: "there is " + resources[i].uri });
}

// Calls: resource.read.
function exampleResourceRead(): void {
  const note = wharf.resourceRead({ server: "desk", uri: "notes://teas" });
  log({ level: "info", message: "the note says: " + note.contents[0].text });
}

// Calls: prompt.get.
function examplePromptGet(): void {
  const named = new Map<string, string>();
  named.set("name", "Ada");
  const prompt = wharf.promptGet({ server: "desk", name: "greet", arguments: named });
  log({ level: "info", message: "the prompt says: " + prompt.messages[0].content.text });
}

// Calls: config.get.
function exampleConfigGet(): void {
  const currency = wharf.configGet({ name: "currency" }).value;
  if (currency.isText) log({ level: "info", message: "prices are in " + currency.text });
}

// Calls: secret.use, http.fetch.
function exampleHttpFetch(): void {
  const shop = wharf.configGet({ name: "shop" }).value.text; // where it is, by the node's configuration
  // The handle stands for the key. The host puts the key in its place.
  const key = wharf.secretUse({ name: "shop-key" }).handle;
  const header = new Map<string, string>();
  header.set("Authorization", "Bearer " + key);
  header.set("Content-Type", "application/json");
  const answer = wharf.httpFetch({
    method: "POST", url: shop + "/orders", header, text: '{"tea":"green"}',
    purpose: "to order tea", idempotency_header: "Idempotency-Key", timeout_ms: 30000,
  });
  log({ level: "info", message: "the shop says: " + answer.text });
}

// Calls: memory.write.
function exampleMemoryWrite(): void {
  wharf.memoryWrite({ scope: MemoryScope.SESSION, content: Json.text("Ada likes green tea"), confidence: 0.75 });
}

// Calls: memory.query.
function exampleMemoryQuery(): void {
  const memories = wharf.memoryQuery({ scope: MemoryScope.SESSION, text: "tea", limit: 3 }).memories;
  for (let i = 0; i < memories.length; i++) log({ level: "info", message: "I remember: " + memories[i].content.text });
}

// Calls: block.write.
function exampleBlockWrite(): void {
  wharf.blockWrite({ label: "customer", value: "Ada, who likes green tea." });
}

// Calls: block.list.
function exampleBlockList(): void {
  const blocks = wharf.blockList({}).blocks;
  for (let i = 0; i < blocks.length; i++) log({ level: "info", message: blocks[i].label + ": " + blocks[i].value });
}

// Calls: artifact.put, artifact.get.
function exampleArtifact(): void {
  const content = Uint8Array.wrap(String.UTF8.encode("tea,10\n"));
  const artifact_id = wharf.artifactPut({ kind: ArtifactKind.DATASET, mime_type: "text/csv", name: "orders.csv" }, content).artifact_id;
  const first = wharf.artifactGet({ artifact_id, length: 3 });
  log({ level: "info", message: "it begins with " + String.UTF8.decodeUnsafe(first.dataStart, first.length) });
}

// Calls: file.write.
function exampleFileWrite(): void {
  wharf.fileWrite({ path: "orders/today.md", text: "green tea, ten times" });
}

// Calls: file.read.
function exampleFileRead(): void {
  const file = wharf.fileRead({ path: "orders/today.md" });
  log({ level: "info", message: "the file says: " + file.text });
}

// Calls: file.edit.
function exampleFileEdit(): void {
  wharf.fileEdit({ path: "orders/today.md", old: "green tea", "new": "black tea" });
}

// Calls: file.list.
function exampleFileList(): void {
  const entries = wharf.fileList({ path: "orders", recursive: true, limit: 10 }).entries;
  for (let i = 0; i < entries.length; i++) log({ level: "info", message: "there is a file " + entries[i].path });
}

// Calls: file.search.
function exampleFileSearch(): void {
  const matches = wharf.fileSearch({ glob: "*.md", text: "TEA", ignore_case: true, limit: 10 }).matches;
  for (let i = 0; i < matches.length; i++) log({ level: "info", message: matches[i].path + ": " + matches[i].text });
}

// Calls: file.remove.
function exampleFileRemove(): void {
  wharf.fileRemove({ path: "orders/today.md" });
}

// Calls: skill.read.
function exampleSkillRead(): void {
  const file = wharf.skillRead({ skill: "brewing", path: "times.md" });
  log({ level: "info", message: "the skill says: " + file.text });
}

// Calls: skill.match.
function exampleSkillMatch(): void {
  const matches = wharf.skillMatch({ prompt: "How long does tea take?", working_files: ["orders/today.md"] }).matches;
  for (let i = 0; i < matches.length; i++) log({ level: "info", message: "the skill " + matches[i].name + " fits" });
}

// Calls: state.get, state.set.
function exampleState(): void {
  const kept = wharf.stateGet({ key: "orders" }).value;
  const orders = kept.isNull ? 0 : kept.integer; // null when nothing is kept
  wharf.stateSet({ key: "orders", value: Json.integer(orders + 1) });
}

// Calls: input.request.
function exampleInputRequest(): void {
  const answer = wharf.inputRequest({ prompt: "Which tea?", schema: Json.parse('{"type":"object","required":["tea"]}'), timeout_seconds: 3600 });
  log({ level: "info", message: answer.actor + " has answered" });
}

// Calls: auth.request.
function exampleAuthRequest(): void {
  const answer = wharf.authRequest({
    provider: "calendar", prompt: "May I see when you are at home?", url: "https://calendar.example.com/authorize", timeout_seconds: 3600,
  });
  log({ level: "info", message: answer.actor + " has authorized it" });
}

// Calls: approval.request.
function exampleApprovalRequest(): void {
  const approval = wharf.approvalRequest({
    action: "order.place", prompt: "Order ten teas?", arguments: Json.parse('{"count":10}'), timeout_seconds: 3600,
  });
  if (approval.decision != "approved") end("nobody wants tea");
}

// Calls: task.spawn, task.await.
function exampleTask(): void {
  const task_id = wharf.taskSpawn({ persona_id: "persona_echo", input: Json.parse('{"text":"Boil water."}')! }).task_id;
  const outcome = wharf.taskAwait({ task_id, timeout_seconds: 60 });
  log({ level: "info", message: "the child says: " + outcome.summary });
}

// Calls: handoff.
function exampleHandoff(): void {
  const successor = wharf.handoff({ persona_id: "persona_echo", input: Json.parse('{"text":"Serve the tea."}')!, reason: "it has the cups" });
  log({ level: "info", message: successor.task_id + " goes on" });
}

// Calls: agent.delegate.
function exampleAgentDelegate(): void {
  const work = wharf.agentDelegate({
    agent: "coder", task: "Mend the kettle's firmware", budget: { usd: 2, seconds: 60 }, checkpoint: { approved: true },
  });
  log({ level: "info", message: "the work is " + work.status });
}

// Calls: event.emit.
function exampleEventEmit(): void {
  wharf.eventEmit({ kind: "vendor.shop.ordered", payload: Json.parse('{"count":10}') });
}

// Calls: host.fact.
function exampleHostFact(): void {
  log({ level: "info", message: "the host speaks " + wharf.hostFact({ name: "abi.version" }).value });
}

// Calls: connector.deliver.
function exampleConnectorDeliver(): void {
  const header = new Map<string, string>();
  header.set("content-type", "text/plain");
  wharf.connectorDeliver({ deliveries: [{ id: "order-1", header, text: "two green teas" }] });
}

// Calls: connector.deliveries, connector.normalized.
function exampleConnector(_: Connector, delivery: Delivery): NormalizedDelivery {
  const message: MessageInput = { role: Role.USER, parts: [textPart(delivery.text)] };
  return {
    tasks: [{ input: Json.of(message), thread: "orders" }],
    events: [{ kind: "vendor.shop.order", payload: Json.parse('{"count":2}') }],
  };
}
