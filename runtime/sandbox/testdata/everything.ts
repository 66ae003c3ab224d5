// Makes each host call once, as the plugins in the other languages do.
import * as wharf from "wharf";

const object = { a: 1 };

const text = (value: string) => ({ type: "text", text: value, visibility: "public" }) as const;

async function first() {
	await wharf.clock({ call_id: "begin" });
	const random = await wharf.random(3);
	if (random.length !== 3) throw new Error(`random has made ${random.length} bytes`);
	await wharf.id({});
	await wharf.sleep({ ms: 1000 });
	console.log("hi");
	await wharf.progress({ fraction: 0.5, message: "half" });
	await wharf.plan({ steps: [{ title: "a", status: "pending" }] });
	await wharf.agentEvent({ kind: "turn_started", data: { iteration: 1 } });
}

async function compose() {
	const { composition_id } = await wharf.compositionBegin({ name: "n", language: "l", snippet_hash: "s", manifest_hash: "m", side_effect_ceiling: "read_only" });
	await wharf.toolCall({ server: "s", name: "n", composition_id: composition_id || undefined });
	await wharf.compositionEnd({ composition_id, stdout: "o", stderr: "e", artifacts: ["art_1"], result: object, failure_category: "tool_error", message: "m" });
}

async function session() {
	await wharf.planSet({ steps: [{ id: "a", content: "b", status: "pending" }], version: 2 });
	await wharf.planGet({});
	await wharf.inboxTake({ checkpoint: "step" });
	await wharf.inboxTake({ checkpoint: "turn", wait: true, timeout_ms: 1000 });
	await wharf.reply("hi");
	await wharf.messageDelta({ text: "h" });
	await wharf.transcriptRead({ last: 3 });
}

async function model() {
	await wharf.llmComplete({
		call_id: "main:1", model: "m", system: "s",
		messages: [{ role: "assistant", text: "t", tool_calls: [{ id: "c", name: "n", arguments: object }] }, { role: "tool", tool_call_id: "c", is_error: true }],
		tools: [{ name: "n", description: "d", input_schema: object }],
		tool_choice: "auto", max_tokens: 1, stop: ["."], stream: true,
	});
	await wharf.toolList({ server: "s" });
	await wharf.toolCall({ call_id: "c", server: "s", name: "n", arguments: object });
}

async function resources() {
	for (const kind of ["resource", "template", "prompt"] as const) await wharf.resourceList({ server: "s", kind });
	await wharf.resourceRead({ call_id: "c", server: "s", uri: "file:///a" });
	await wharf.promptGet({ call_id: "c", server: "s", name: "n", arguments: { a: "b" } });
}

const one = Uint8Array.of(1);

async function stored() {
	await fetch("https://x", { call_id: "c", method: "post", headers: { a: "b" }, body: one, purpose: "p", idempotency_header: "Idempotency-Key", timeout_ms: 5 });
	await wharf.secretUse({ name: "s" });
	await wharf.memoryQuery({ call_id: "c", scope: "session", text: "t", limit: 3 });
	await wharf.memoryWrite({ scope: "tenant", content: "c", expires_in_seconds: 1, visibility: "internal", confidence: 0.5, metadata: object });
	await wharf.blockList({});
	await wharf.blockWrite({ label: "l", value: "v", append: true, version: 0 });
	await wharf.artifactPut({ kind: "file", mime_type: "text/plain", visibility: "public", name: "n" }, "x");
	const content = await wharf.artifactGet({ artifact_id: "art_1", offset: 1, length: 2 });
	if (!(content instanceof Uint8Array)) throw new Error("artifact.get has answered no bytes");
}

async function files() {
	await wharf.fileRead({ call_id: "c", path: "p", offset: 1, length: 2 });
	await wharf.fileRemove({ path: "p", sha256: "s" });
	await wharf.fileEdit({ path: "p", old: "o", new: "n", all: true });
	await wharf.skillRead({ skill: "s", path: "p" });
	await wharf.skillMatch({ call_id: "c", prompt: "p", working_files: ["f"], candidates: [{ name: "n", description: "d", when_to_use: "w", paths: ["p"] }], strategy: "host" });
	await wharf.fileWrite({ path: "p", body: one, mode: "append", sha256: "s" });
	await wharf.fileList({ call_id: "c", path: "p", recursive: true, after: "a", limit: 3 });
	await wharf.fileSearch({ call_id: "c", path: "p", glob: "*", text: "t", pattern: "p", ignore_case: true, after: "a", limit: 3 });
}

async function people() {
	await wharf.stateGet({ key: "k" });
	await wharf.stateSet({ key: "k", value: object });
	await wharf.inputRequest({ call_id: "c", prompt: "p", schema: object, timeout_seconds: 60 });
	await wharf.authRequest({ call_id: "c", provider: "p", prompt: "p", url: "https://x", timeout_seconds: 60 });
	await wharf.approvalRequest({ call_id: "c", action: "a", prompt: "p", arguments: object, timeout_seconds: 60 });
}

async function others() {
	await wharf.taskSpawn({ persona_id: "p", input: object, metadata: object, deadline_seconds: 1 });
	await wharf.taskAwait({ task_id: "task_1", timeout_seconds: 1 });
	await wharf.handoff({ persona_id: "p", input: object, reason: "r" });
	await wharf.agentDelegate({
		call_id: "c", agent: "a", task: "t", expected_scope: object, context: object, budget: { usd: 1, tokens: 1, seconds: 1, tool_calls: 1 },
		idempotency_key: "k", checkpoint: { approved: true, checkpoint_id: "c", allow_local_fallback: true, plan: {} },
	});
}

const normalize = wharf.connector((delivery) => {
	const message: wharf.MessageInput = { role: "user", parts: [text(delivery.text ?? "")] };
	return {
		tasks: [{ input: message, persona_id: "p", thread: "t", order_key: "o", metadata: {} }],
		messages: [{ message, thread: "t" }],
		events: [{ kind: "vendor.x", payload: {} }],
		ignored: "i",
	};
});

async function deliveries() {
	await wharf.eventEmit({ kind: "vendor.x.y", payload: object });
	await wharf.configGet({ name: "n" });
	await wharf.hostFact({ name: "os" });
	await wharf.connectorDeliver({ deliveries: [{ id: "i", header: { a: "b" }, text: "t" }, { id: "j", body: one }] });
	if ((await normalize()) !== 0) throw new Error("normalizing");
}

export async function run() {
	for (const part of [first, compose, session, model, resources, stored, files, people, others, deliveries]) await part();
	return { summary: "done", metrics: { n: 1 } };
}
