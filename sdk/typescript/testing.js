// Runs the functions of a plugin outside of a node, against a host that a test can look into.
import { createHash } from "node:crypto";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";

import { Failure } from "./index.js";
import { check, PROPOSED, Refused, SHADOW, statuses, Unanswered, wire } from "./answers.js";
import { calls, hints } from "./calls.js";
import { checkForm } from "./form.js";
import { __wharf, running } from "./native.js";

export { PROPOSED, Refused, SHADOW, Unanswered };

const started = 1767225600_000_000_000n; // 2026-01-01T00:00:00Z, when a run begins, as in "wharf plugin run"
const maxRandom = 65536;

const facts = {
	"wharf.version": "alone", os: "none", arch: "none", tenant: "alone", workspace: "ws_test", session: "sess_test", task: "task_test",
	deadline: "", "client.protocol": "", "client.name": "", "client.version": "", "client.capabilities": "",
};

// What the host answers by itself.
const made = {
	input: (host) => host.given,
	output: (host, request) => {
		if (host.told) throw new Refused("invalid", "output_given", "the task has its output already; output is called once");
		host.told = request;
	},
	clock: (host) => ({ unix_nano: String(started + BigInt(Math.round(host.slept * 1e9))) }),
	random: (host, count) => {
		if (count > maxRandom) throw new Refused("too_large", "payload_too_large", "at most 65,536 random bytes at once");
		return Uint8Array.from({ length: count }, () => host.draw());
	},
	id: (host) => ({ id: host.newID("id") }),
	sleep: (host, { ms }) => { host.slept += Math.max(ms ?? 0, 0) / 1000; },
	"message.append": (host, request) => {
		if (!request.parts) throw new Refused("invalid", "invalid_request", 'missing required member "parts"');
		host.messages.push(request);
		return { message_id: host.newID("msg") };
	},
	"memory.write": (host) => ({ memory_id: host.newID("mem") }),
	"artifact.put": (host, request, content) => {
		const artifact_id = host.newID("art");
		host.artifacts[artifact_id] = content;
		return { artifact_id, sha256: createHash("sha256").update(content).digest("hex") };
	},
	"artifact.get": (host, request) => {
		const id = request.artifact_id ?? "", offset = request.offset ?? 0, length = request.length ?? 0;
		const given = own(host.artifacts, id);
		if (given === undefined) throw new Refused("not_found", "resource_not_found", `no artifact "${id}" is visible to this task`);
		if (offset < 0 || length < 0) throw new Refused("invalid", "invalid_request", "offset and length cannot be negative");
		const content = typeof given === "string" ? new TextEncoder().encode(given) : given;
		return content.slice(offset, length ? offset + length : undefined);
	},
	"state.get": (host, { key }) => ({ value: own(host.state, key ?? "") ?? null }),
	"state.set": (host, { key, value = null }) => { host.state[key ?? ""] = value; },
	"event.emit": (host, request) => { host.events.push(request); },
	"config.get": (host, { name }) => ({ value: own(host.config, name ?? "") ?? null }),
	"host.fact": (host, { name }) => {
		const value = own(host.facts, name ?? "");
		if (value === undefined) throw new Refused("not_found", "unknown_fact", `there is no host fact "${name ?? ""}"`);
		return { value };
	},
	"secret.use": (host, { name }) => ({ handle: `{{secret:${name}}}` }),
	"connector.normalized": () => undefined,
};

const own = (object, name) => (Object.hasOwn(object, name) ? object[name] : undefined);

// read is a call as it was sent: JSON, of random the number of bytes, of artifact.put the content too.
function read(name, bytes) {
	if (!Object.hasOwn(calls, name)) throw new Error(`there is no host call ${JSON.stringify(name)}`);
	if (!bytes.length) return { name };
	if (name === "random") return { name, request: new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true) };
	if (name !== "artifact.put") return { name, request: JSON.parse(__wharf.decode(bytes)) };
	const end = bytes.indexOf(10);
	return { name, request: JSON.parse(__wharf.decode(bytes.subarray(0, end))), content: bytes.slice(end + 1) };
}

// Run is one run of a function: the host calls of what it awaits come here.
class Run {
	constructor(host, given) {
		Object.assign(this, { host, given, told: undefined, fault: undefined });
	}

	answer(name, bytes) {
		const call = read(name, bytes), { host } = this;
		const answered = this.answered(call);
		const kept = name === "log" || name === "input" || name === "output" ? [] : hints.has(name) ? host.hints : host.calls;
		kept.push({ ...call, status: statuses[answered.status] });
		return answered;
	}

	answered(call) {
		try {
			return wire(call.name, this.answerOf(call));
		} catch (thrown) {
			if (thrown instanceof Refused) return wire(call.name, thrown);
			this.fault ??= { thrown }; // of the test's own: the run ends with it, whatever the plugin makes of it
			throw thrown;
		}
	}

	answerOf({ name, request, content }) {
		const { host } = this;
		checkForm(name, request);
		if (name === "log") host.logs.push(request);
		if (hints.has(name)) return undefined;
		if (Object.hasOwn(host.answers, name)) {
			const answer = host.next(name, request);
			return typeof answer === "function" ? running.exit(() => answer(request, content)) : answer;
		}
		if (!made[name] || (name === "secret.use" && !host.secrets.includes(request.name))) throw new Unanswered(name, request);
		return made[name](name === "input" || name === "output" ? this : host, request, content);
	}
}

export class Host {
	#used = {};
	#ids = 0;
	#random = 1;

	constructor(answers = {}, { config, secrets, state, artifacts, facts: more } = {}) {
		check(answers);
		this.answers = { ...answers };
		this.config = { ...config };
		this.secrets = [...(secrets ?? [])];
		this.state = { ...state };
		this.artifacts = { ...artifacts };
		this.facts = { ...facts, ...more };
		this.calls = [];
		this.logs = [];
		this.hints = [];
		this.messages = [];
		this.events = [];
		this.slept = 0;
	}

	get replies() {
		return this.messages.map(({ parts = [] }) => parts.filter((p) => p.type === "text").map((p) => p.text).join("\n\n"));
	}

	async run(f, input = null, { task, persona, skills } = {}) {
		check(this.answers);
		const run = new Run(this, given(input, { task, persona, skills }));
		let error;
		const watched = async (of) => {
			try {
				return await f(of);
			} catch (thrown) {
				error = thrown;
				throw thrown;
			}
		};
		// What connector has made reads for itself what it is run for, and is known by a mark.
		const marked = typeof f !== "function" || Object.getOwnPropertySymbols(f).length > 0;
		await running.run(run, () => __wharf.serve(marked ? f : watched));
		if (run.fault) throw run.fault.thrown;
		const output = run.told ?? { summary: "" };
		if (error instanceof Error && !(error instanceof Failure) && output.failure?.details) output.failure.details.stack = frames(error);
		return { summary: output.summary ?? "", failure: output.failure, output, error };
	}

	async normalize(f, deliveries, connector = {}) {
		this.answers["connector.deliveries"] = {
			connector: { id: "con_test", object: "connector", name: "test", provider: "test", event_kinds: [], ...connector },
			deliveries: deliveries.map((each, i) => ({ id: `del_${i + 1}`, object: "delivery", header: {}, ...each })),
		};
		const outcome = await this.run(f);
		if (outcome.error) throw outcome.error;
		const told = this.calls.findLast(({ name }) => name === "connector.normalized");
		if (!told) throw new Error("the plugin has not said what the deliveries mean: export const run = connector((delivery) => ...)");
		return told.request.results;
	}

	// next is what a call is answered with; of a list, each once.
	next(name, request) {
		const answer = this.answers[name];
		if (!Array.isArray(answer)) return answer;
		const used = this.#used[name] ?? 0;
		if (used === answer.length) throw new Unanswered(name, request, used);
		this.#used[name] = used + 1;
		return answer[used];
	}

	newID(kind) { return `${kind}_${++this.#ids}`; }

	// draw is a byte of the randomness that is the same in each run.
	draw() {
		let x = this.#random;
		x ^= x << 13, x ^= x >>> 17, x ^= x << 5; // xorshift32
		return (this.#random = x) & 255;
	}
}

const at = { created_at: "2026-01-01T00:00:00Z", updated_at: "2026-01-01T00:00:00Z", metadata: {} };

// given is what a run is told of its Task. An input that is a text is a user's Message.
function given(input, { task, persona, skills }) {
	if (typeof input === "string") input = { role: "user", parts: [{ type: "text", text: input, visibility: "public" }] };
	return {
		task: { id: "task_test", object: "task", ...at, session_id: "sess_test", workspace_id: "ws_test", status: "SUBMITTED",
			persona_id: "persona_test", created_by: "wharf/testing", input, ...task },
		persona: { id: "persona_test", object: "persona", ...at, name: "test", version: "0.0.0", entry_workflow: "test#run",
			autonomy_tier: "act_auto", tools: ["*"], capabilities: ["*"], ...persona },
		session_id: task?.session_id ?? "sess_test",
		...(skills && { skills }),
	};
}

const here = new URL(".", import.meta.url).href;

// frames returns the stack of what was thrown, in the author's own files, as seen from the working folder.
function frames(thrown) {
	const out = [];
	for (const frame of String(thrown.stack ?? "").split("\n")) {
		const [, name, file, line, column] = /^\s*at (?:(?:async )?(.*) \()?(?:async )?(file:.*):(\d+):(\d+)\)?$/.exec(frame) ?? [];
		if (!file || file.startsWith(here) || file.includes("/node_modules/")) continue;
		const where = `${relative(process.cwd(), fileURLToPath(file)).replaceAll("\\", "/")}:${line}:${column}`;
		out.push(name ? `${name} (${where})` : where);
	}
	return out;
}

// What a plugin finds without an import is that of the host while it runs, and Node's otherwise. Timers, Date, Math.random
// and crypto are Node's.
const { fetch: nodeFetch } = globalThis;
globalThis.fetch = (...given) => (running.getStore() ? __wharf.globals.fetch(...given) : nodeFetch(...given));
for (const level of ["log", "info", "debug", "warn", "error"]) {
	const ofNode = console[level].bind(console);
	console[level] = (...values) => (running.getStore() ? __wharf.globals.console[level](...values) : ofNode(...values));
}
