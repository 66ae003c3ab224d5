// These are the examples of docs/host-calls-examples.md, as a plugin: it runs on a node, beside those in the
// other languages. Each says which host calls it shows.
import * as wharf from "wharf";

export async function run(task: wharf.Task) {
	for (const example of [
		exampleClock, exampleRandom, exampleId, exampleLog, exampleProgress, examplePlan, exampleAgentEvent, examplePlanSet,
		exampleInboxTake, exampleMessageAppend, exampleMessageDelta, exampleTranscriptRead, exampleLlmComplete, exampleToolList,
		exampleToolCall, exampleComposition, exampleResourceList, exampleResourceRead, examplePromptGet, exampleConfigGet,
		exampleHttpFetch, exampleMemoryWrite, exampleMemoryQuery, exampleBlockWrite, exampleBlockList, exampleArtifact, exampleFileWrite,
		exampleFileEdit, exampleSleep, exampleFileRead, exampleFileList, exampleFileSearch, exampleFileRemove, exampleSkillRead, exampleSkillMatch,
		exampleState, exampleInputRequest, exampleAuthRequest, exampleApprovalRequest, exampleTask, exampleHandoff,
		exampleAgentDelegate, exampleEventEmit, exampleHostFact,
	]) await example();
	return exampleRun(task);
}

export async function poll() {
	await exampleConnectorDeliver();
	return "polled";
}

// Calls: input, output.
async function exampleRun(task: wharf.Task) {
	return { summary: `done: ${task.text}`, metrics: { orders: 1 } };
}

// Calls: clock.
async function exampleClock() {
	const { unix_nano } = await wharf.clock({});
	console.log(`it is ${unix_nano}`);
}

// Calls: random.
async function exampleRandom() {
	const key = await wharf.random(16);
	if (key.length !== 16) throw new Error("the key is too short");
}

// Calls: id.
async function exampleId() {
	const { id } = await wharf.id({});
	console.log(`this is order ${id}`);
}

// Calls: sleep.
async function exampleSleep() {
	await wharf.sleep({ ms: 100 });
}

// Calls: log.
async function exampleLog() {
	await wharf.log({ level: "warn", message: "the pot is half empty" });
}

// Calls: progress.
async function exampleProgress() {
	await wharf.progress({ fraction: 0.5, message: "half of the orders are in" });
}

// Calls: plan.
async function examplePlan() {
	await wharf.plan({ steps: [{ title: "Ask for the order", status: "completed" }, { title: "Place it", status: "pending" }] });
}

// Calls: agent.event.
async function exampleAgentEvent() {
	await wharf.agentEvent({ kind: "turn_started", data: { iteration: 1 } });
}

// Calls: plan.get, plan.set.
async function examplePlanSet() {
	const { version } = await wharf.planGet({});
	// It throws when somebody has changed the plan since it was read.
	await wharf.planSet({ steps: [{ id: "order", content: "Place the order", status: "in_progress" }], version });
}

// Calls: inbox.take.
async function exampleInboxTake() {
	const { messages } = await wharf.inboxTake({ checkpoint: "turn", wait: true, timeout_ms: 60000 });
	for (const message of messages) console.log(`somebody says: ${message.parts[0].text}`);
}

// Calls: message.append.
async function exampleMessageAppend() {
	await wharf.reply("Your tea is coming.");
}

// Calls: message.delta.
async function exampleMessageDelta() {
	await wharf.messageDelta({ text: "Your tea" });
}

// Calls: transcript.read.
async function exampleTranscriptRead() {
	const { messages } = await wharf.transcriptRead({ last: 5 });
	for (const message of messages) console.log(`${message.role} has spoken`);
}

// Calls: llm.complete.
async function exampleLlmComplete() {
	const answer = await wharf.llmComplete({ system: "You know teas.", messages: [{ role: "user", text: "Name one." }], max_tokens: 20 });
	console.log(`the model says: ${answer.text}`);
}

// Calls: tool.list.
async function exampleToolList() {
	const { tools } = await wharf.toolList({ server: "desk" });
	for (const tool of tools) console.log(`there is a tool ${tool.name}`);
}

// Calls: tool.call.
async function exampleToolCall() {
	const answer = await wharf.toolCall({ server: "desk", name: "look", arguments: { where: "harbour" } });
	console.log(`the tool says: ${answer.content[0].text}`);
}

// Calls: composition.begin, composition.end.
async function exampleComposition() {
	const { composition_id } = await wharf.compositionBegin({
		name: "what time it is", language: "javascript",
		snippet_hash: "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
		manifest_hash: "fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9", side_effect_ceiling: "read_only",
	});
	await wharf.toolCall({ server: "host", name: "time_now", composition_id });
	await wharf.compositionEnd({ composition_id, stdout: "tea time" });
}

// Calls: resource.list.
async function exampleResourceList() {
	const { resources } = await wharf.resourceList({ server: "desk", kind: "resource" });
	for (const resource of resources ?? []) console.log(`there is ${resource.uri}`);
}

// Calls: resource.read.
async function exampleResourceRead() {
	const { contents } = await wharf.resourceRead({ server: "desk", uri: "notes://teas" });
	console.log(`the note says: ${contents[0].text}`);
}

// Calls: prompt.get.
async function examplePromptGet() {
	const { messages } = await wharf.promptGet({ server: "desk", name: "greet", arguments: { name: "Ada" } });
	console.log(`the prompt says: ${messages[0].content.text}`);
}

// Calls: config.get.
async function exampleConfigGet() {
	const { value } = await wharf.configGet({ name: "currency" });
	if (value) console.log(`prices are in ${value}`);
}

// Calls: secret.use, http.fetch.
async function exampleHttpFetch() {
	const shop = (await wharf.configGet({ name: "shop" })).value; // where it is, by the node's configuration
	// The handle stands for the key. The host puts the key in its place.
	const { handle } = await wharf.secretUse({ name: "shop-key" });
	const answer = await wharf.httpFetch({
		method: "POST", url: `${shop}/orders`, header: { "Authorization": `Bearer ${handle}`, "Content-Type": "application/json" },
		text: JSON.stringify({ tea: "green" }), purpose: "to order tea", idempotency_header: "Idempotency-Key", timeout_ms: 30000,
	});
	console.log(`the shop says: ${answer.text}`);
}

// Calls: memory.write.
async function exampleMemoryWrite() {
	await wharf.memoryWrite({ scope: "session", content: "Ada likes green tea", confidence: 0.75 });
}

// Calls: memory.query.
async function exampleMemoryQuery() {
	const { memories } = await wharf.memoryQuery({ scope: "session", text: "tea", limit: 3 });
	for (const memory of memories) console.log(`I remember: ${memory.content}`);
}

// Calls: block.write.
async function exampleBlockWrite() {
	await wharf.blockWrite({ label: "customer", value: "Ada, who likes green tea." });
}

// Calls: block.list.
async function exampleBlockList() {
	const { blocks } = await wharf.blockList({});
	for (const block of blocks) console.log(`${block.label}: ${block.value}`);
}

// Calls: artifact.put, artifact.get.
async function exampleArtifact() {
	const { artifact_id } = await wharf.artifactPut({ kind: "dataset", mime_type: "text/csv", name: "orders.csv" }, "tea,10\n");
	const first = await wharf.artifactGet({ artifact_id, length: 3 });
	console.log(`it begins with ${new TextDecoder().decode(first)}`);
}

// Calls: file.write.
async function exampleFileWrite() {
	await wharf.fileWrite({ path: "orders/today.md", text: "green tea, ten times" });
}

// Calls: file.read.
async function exampleFileRead() {
	const file = await wharf.fileRead({ path: "orders/today.md" });
	console.log(`the file says: ${file.text}`);
}

// Calls: file.edit.
async function exampleFileEdit() {
	await wharf.fileEdit({ path: "orders/today.md", old: "green tea", new: "black tea" });
}

// Calls: file.list.
async function exampleFileList() {
	const { entries } = await wharf.fileList({ path: "orders", recursive: true, limit: 10 });
	for (const file of entries) console.log(`there is a file ${file.path}`);
}

// Calls: file.search.
async function exampleFileSearch() {
	const { matches } = await wharf.fileSearch({ glob: "*.md", text: "TEA", ignore_case: true, limit: 10 });
	for (const match of matches) console.log(`${match.path}: ${match.text}`);
}

// Calls: file.remove.
async function exampleFileRemove() {
	await wharf.fileRemove({ path: "orders/today.md" });
}

// Calls: skill.read.
async function exampleSkillRead() {
	const file = await wharf.skillRead({ skill: "brewing", path: "times.md" });
	console.log(`the skill says: ${file.text}`);
}

// Calls: skill.match.
async function exampleSkillMatch() {
	const { matches } = await wharf.skillMatch({ prompt: "How long does tea take?", working_files: ["orders/today.md"] });
	for (const match of matches) console.log(`the skill ${match.name} fits`);
}

// Calls: state.get, state.set.
async function exampleState() {
	const { value } = await wharf.stateGet({ key: "orders" }); // null when nothing is kept
	await wharf.stateSet({ key: "orders", value: (value ?? 0) + 1 });
}

// Calls: input.request.
async function exampleInputRequest() {
	const { actor } = await wharf.inputRequest({ prompt: "Which tea?", schema: { type: "object", required: ["tea"] }, timeout_seconds: 3600 });
	console.log(`${actor} has answered`);
}

// Calls: auth.request.
async function exampleAuthRequest() {
	const { actor } = await wharf.authRequest({
		provider: "calendar", prompt: "May I see when you are at home?", url: "https://calendar.example.com/authorize", timeout_seconds: 3600,
	});
	console.log(`${actor} has authorized it`);
}

// Calls: approval.request.
async function exampleApprovalRequest() {
	const { decision } = await wharf.approvalRequest({ action: "order.place", prompt: "Order ten teas?", arguments: { count: 10 }, timeout_seconds: 3600 });
	if (decision !== "approved") throw new wharf.Failure("no_order", "nobody wants tea");
}

// Calls: task.spawn, task.await.
async function exampleTask() {
	const { task_id } = await wharf.taskSpawn({ persona_id: "persona_echo", input: { text: "Boil water." } });
	const outcome = await wharf.taskAwait({ task_id, timeout_seconds: 60 });
	console.log(`the child says: ${outcome.summary}`);
}

// Calls: handoff.
async function exampleHandoff() {
	const { task_id } = await wharf.handoff({ persona_id: "persona_echo", input: { text: "Serve the tea." }, reason: "it has the cups" });
	console.log(`${task_id} goes on`);
}

// Calls: agent.delegate.
async function exampleAgentDelegate() {
	const work = await wharf.agentDelegate({
		agent: "coder", task: "Mend the kettle's firmware", budget: { usd: 2, seconds: 60 }, checkpoint: { approved: true },
	});
	console.log(`the work is ${work.status}`);
}

// Calls: event.emit.
async function exampleEventEmit() {
	await wharf.eventEmit({ kind: "vendor.shop.ordered", payload: { count: 10 } });
}

// Calls: host.fact.
async function exampleHostFact() {
	const { value } = await wharf.hostFact({ name: "abi.version" });
	console.log(`the host speaks ${value}`);
}

// Calls: connector.deliver.
async function exampleConnectorDeliver() {
	await wharf.connectorDeliver({ deliveries: [{ id: "order-1", header: { "content-type": "text/plain" }, text: "two green teas" }] });
}

// Calls: connector.deliveries, connector.normalized.
export const normalize = wharf.connector((delivery) => {
	const input: wharf.MessageInput = { role: "user", parts: [{ type: "text", text: delivery.text, visibility: "public" }] };
	return { tasks: [{ input, thread: "orders" }], events: [{ kind: "vendor.shop.order", payload: { count: 2 } }] };
});
