// Globals that stand where a program uses them, and only then: what it does not use
// asks for no host call.
import logCall from "wharf:call/log";
import fetchCall from "wharf:call/http.fetch";

const said = (v) => {
	if (typeof v === "string") return v;
	if (v instanceof Error) return `${v.name}: ${v.message}\n${v.stack ?? ""}`;
	try {
		return JSON.stringify(v) ?? String(v);
	} catch {
		return String(v);
	}
};

const at = (level) => (...values) => { logCall({ level, message: values.map(said).join(" ") }); };

export const console = /* @__PURE__ */ (() => ({ log: at("info"), info: at("info"), debug: at("debug"), warn: at("warn"), error: at("error") }))();

export class TextEncoder {
	get encoding() { return "utf-8"; }
	encode(text = "") { return __wharf.encode(String(text)); }
}

export class TextDecoder {
	get encoding() { return "utf-8"; }
	decode(bytes = new Uint8Array()) {
		if (bytes instanceof ArrayBuffer) bytes = new Uint8Array(bytes);
		return __wharf.decode(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength));
	}
}

export const crypto = /* @__PURE__ */ (() => ({
	getRandomValues(array) {
		__wharf.entropy(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
		return array;
	},
	randomUUID() {
		const b = this.getRandomValues(new Uint8Array(16));
		b[6] = (b[6] & 15) | 64, b[8] = (b[8] & 63) | 128;
		const hex = Array.from(b, (v) => v.toString(16).padStart(2, "0")).join("");
		return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
	},
}))();

export class Headers {
	constructor(from = {}) {
		this.values = new Map();
		for (const [k, v] of Symbol.iterator in from ? from : Object.entries(from)) this.set(k, v);
	}
	get(name) { return this.values.get(name.toLowerCase()) ?? null; }
	has(name) { return this.values.has(name.toLowerCase()); }
	set(name, value) { this.values.set(name.toLowerCase(), String(value)); }
	delete(name) { this.values.delete(name.toLowerCase()); }
	forEach(f) { this.values.forEach((v, k) => f(v, k, this)); }
	[Symbol.iterator]() { return this.values[Symbol.iterator](); }
}

class Response {
	constructor(answer) {
		this.status = answer.status ?? 0; // 0: the Persona's tier has held the request back
		this.ok = this.status >= 200 && this.status < 300;
		this.url = answer.url ?? "";
		this.headers = new Headers(answer.header ?? {});
		this.answer = answer;
	}
	async bytes() {
		const { body, text } = this.answer;
		return body === undefined ? __wharf.encode(text ?? "") : Uint8Array.fromBase64(body);
	}
	async arrayBuffer() { return (await this.bytes()).buffer; }
	async text() { return this.answer.text ?? __wharf.decode(await this.bytes()); }
	async json() { return JSON.parse(await this.text()); }
}

// fetch makes an HTTP request. Besides what it knows elsewhere, its options have those of the
// host call http.fetch: call_id, purpose, idempotency_header, timeout_ms.
export async function fetch(url, options = {}) {
	const { method, headers, body, call_id, purpose, idempotency_header, timeout_ms } = options;
	const request = { call_id, method: method?.toUpperCase(), url: String(url) };
	if (headers) request.header = Object.fromEntries(new Headers(headers));
	if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) request.body = body;
	else if (body !== undefined && body !== null) request.text = String(body);
	return new Response(await fetchCall(Object.assign(request, { purpose, idempotency_header, timeout_ms })));
}
