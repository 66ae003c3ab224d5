// What calls the program: the engine (engine/shim.c) knows the names on __wharf.

const statuses = ["ok", "invalid", "denied", "not_found", "too_large", "unavailable", "indeterminate", "timeout"];

// WharfError says that the host has refused a call, or could not do it.
export class WharfError extends Error {
	constructor(call, status, answer) {
		super(`${call}: ${answer?.message ?? statuses[status]}`);
		this.name = "WharfError";
		this.call = call;
		this.status = statuses[status] ?? String(status);
		this.code = answer?.code ?? this.status;
	}
}

// Failure fails the Task with a code of the plugin's own when it is thrown.
export class Failure extends Error {
	constructor(code, message, details) {
		super(message);
		this.name = "Failure";
		this.code = code;
		this.details = details;
	}
}

const withheld = ["proposed", "shadow"];

// unlessWithheld makes a call that the Persona's tier may hold back. That is no error: the plugin goes on
// as if it had been done.
__wharf.unlessWithheld = (made) => {
	try {
		return made();
	} catch (e) {
		if (e instanceof WharfError && e.status === "denied" && withheld.includes(e.code)) return { withheld: e.code };
		throw e;
	}
};

// bytesOf takes bytes of any kind, and a text as UTF-8.
function bytesOf(content) {
	if (content instanceof Uint8Array) return content;
	if (ArrayBuffer.isView(content)) return new Uint8Array(content.buffer, content.byteOffset, content.byteLength);
	return content instanceof ArrayBuffer ? new Uint8Array(content) : __wharf.encode(String(content));
}

const isBytes = (v) => v instanceof ArrayBuffer || ArrayBuffer.isView(v);

// withBytes is a request in which bytes stand where JSON has base64.
__wharf.withBytes = (request) => __wharf.encode(JSON.stringify(request, (key, v) => (isBytes(v) ? bytesOf(v).toBase64() : v)));

// withContent is the request of artifact.put: JSON, a newline, the content.
__wharf.withContent = (request, content) => {
	if (content === undefined || content === null) throw new TypeError("artifactPut takes the content after the request: a Uint8Array, an ArrayBuffer or a text");
	const head = __wharf.encode(JSON.stringify(request) + "\n"), tail = bytesOf(content);
	const all = new Uint8Array(head.length + tail.length);
	all.set(head);
	all.set(tail, head.length);
	return all;
};

// counted is the request of random: how many bytes, in four.
__wharf.counted = (count) => {
	if (!Number.isInteger(count) || count < 0 || count > 0xffffffff) throw new RangeError("random takes how many bytes it is to make, a whole number");
	return Uint8Array.of(count, count >>> 8, count >>> 16, count >>> 24);
};

const parts = (input) => (Array.isArray(input?.parts) ? input.parts : []);

class Task {
	constructor(answer) {
		Object.assign(this, answer.task);
		this.persona = answer.persona;
		this.skills = answer.skills ?? [];
		this.session_id = answer.session_id;
	}

	// text is the input itself if that is a text, its member text, or the text parts of a Message, joined by
	// empty lines; else "".
	get text() {
		const { input } = this;
		if (typeof input === "string") return input;
		if (typeof input?.text === "string") return input.text;
		return parts(input).filter((p) => p?.type === "text").map((p) => p.text).join("\n\n");
	}

	// value is the input as JSON: of a Message, the value of its first JSON part.
	get value() { return (parts(this.input).find((p) => p?.type === "json") ?? { value: this.input }).value; }
}

const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// numbers reads the numbers of a segment of a source map, in base 64 with continuations.
function numbers(segment) {
	const out = [];
	let value = 0, shift = 0;
	for (const c of segment) {
		const digit = digits.indexOf(c);
		value |= (digit & 31) << shift;
		shift += 5;
		if (digit & 32) continue;
		out.push(value & 1 ? -(value >>> 1) : value >>> 1);
		value = shift = 0;
	}
	return out;
}

// known is the source map once something was thrown: reading it takes some milliseconds, and a Connector may put
// many deliveries aside.
let known;

// places reads the source map: for each line of the bundle, where its columns come from, as
// [column, source, line, column].
function places() {
	return (known ??= readPlaces());
}

function readPlaces() {
	const map = JSON.parse(__wharf.sourceMap() || '{"sources":[],"mappings":""}');
	let source = 0, line = 0, column = 0;
	const lines = map.mappings.split(";").map((segments) => {
		let at = 0;
		return segments.split(",").filter(Boolean).map((segment) => {
			const [moved, otherSource = 0, otherLine = 0, otherColumn = 0] = numbers(segment);
			return [at += moved, source += otherSource, line += otherLine, column += otherColumn];
		});
	});
	return { sources: map.sources, lines };
}

// frames returns the stack of what was thrown, in the author's own files: "run (hello.ts:3:9)".
// Frames of the engine and of this file are left out.
function frames(thrown) {
	const { sources, lines } = places();
	const out = [];
	for (const frame of String(thrown.stack ?? "").split("\n")) {
		const [, name, line, column] = /^\s*at (?:(.*) \()?plugin\.js:(\d+):(\d+)\)?$/.exec(frame) ?? [];
		const place = lines[line - 1]?.findLast(([at]) => at < column);
		if (!place || sources[place[1]].startsWith("wharf:")) continue;
		const where = `${sources[place[1]]}:${place[2] + 1}:${place[3] + 1}`;
		out.push(name && name !== "<anonymous>" ? `${name} (${where})` : where);
	}
	return out;
}

function failureOf(thrown) {
	if (thrown instanceof Failure) return { code: thrown.code, message: thrown.message, ...(thrown.details && { details: thrown.details }) };
	if (!(thrown instanceof Error)) return { code: "plugin_error", message: String(thrown) };
	return { code: "plugin_error", message: `${thrown.name}: ${thrown.message}`, details: { stack: frames(thrown) } };
}

const output = (result) => __wharf.call("output", result, false);

// alone marks the exports that read for themselves what they are run for: see connector in wharf.js. Such a function
// returns what the Wasm export returns.
const alone = Symbol("alone");
__wharf.alone = (f) => Object.assign(f, { [alone]: true });
__wharf.failureOf = failureOf;

__wharf.refused = (call, status, answer) => new WharfError(call, status, answer);

__wharf.serve = async (f) => {
	try {
		if (__wharf.isBroken) throw __wharf.broken;
		if (f?.[alone]) return await f();
		const task = new Task(__wharf.call("input", undefined, false));
		if (typeof f !== "function") throw new TypeError("the export is no function");
		const result = await f(task);
		output(typeof result === "string" ? { summary: result } : { summary: "", ...result });
	} catch (thrown) {
		output({ summary: "", failure: failureOf(thrown) });
	}
	return 0;
};

__wharf.stuck = () => output({ summary: "", failure: { code: "plugin_error", message: "the plugin awaits a promise that nothing resolves" } });

// Timers wait as running time, in the order of their ends.
let timers = [], lastTimer = 0, now = 0;

function later(f, ms, args, every) {
	const timer = { id: ++lastTimer, at: now + Math.max(0, +ms || 0), f, args, every };
	timers.push(timer);
	return timer.id;
}

globalThis.setTimeout = (f, ms, ...args) => later(f, ms, args);
globalThis.setInterval = (f, ms, ...args) => later(f, ms, args, Math.max(1, +ms || 0));
globalThis.clearTimeout = globalThis.clearInterval = (id) => { timers = timers.filter((t) => t.id !== id); };

__wharf.tick = () => {
	if (!timers.length) return false;
	const due = timers.reduce((a, b) => (b.at < a.at ? b : a));
	timers = timers.filter((t) => t !== due);
	__wharf.pause(due.at - now);
	now = due.at;
	if (due.every) timers.push({ ...due, at: now + due.every });
	Promise.resolve().then(() => due.f(...due.args));
	return true;
};
