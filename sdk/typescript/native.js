// What is beneath the module wharf outside of the engine: the host of the test that runs.
import { AsyncLocalStorage } from "node:async_hooks";

// running has the host of the run that is going on: what a plugin awaits and starts belongs to its run.
export const running = new AsyncLocalStorage();

// globals are where the SDK puts the timers of the engine: here, those of Node do.
export const globals = {};

// The engine's functions, as its shim has them. The SDK adds its own.
export const __wharf = {
	// call makes a host call and returns its answer: JSON, or bytes when they are asked for.
	call(name, request, bytes) {
		const host = running.getStore();
		if (!host) throw new Error(`the host call ${name} is made without a host: run the plugin's function with new Host().run, of "wharf/testing"`);
		const { status, answer } = host.answer(name, written(request));
		if (status === 0 && bytes) return answer;
		const read = answer.length ? JSON.parse(__wharf.decode(answer)) : undefined;
		if (status !== 0) throw __wharf.refused(name, status, read);
		return read;
	},
	entropy: (bytes) => globalThis.crypto.getRandomValues(bytes),
	encode: (text) => new TextEncoder().encode(text),
	decode: (bytes) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes),
	sourceMap: () => "",
};

// written is a request as bytes: bytes as they are and anything else as JSON; undefined is empty.
function written(request) {
	if (request instanceof Uint8Array) return request;
	const text = JSON.stringify(request);
	return text === undefined ? new Uint8Array() : __wharf.encode(text);
}

// What the engine has of JavaScript, and older versions of Node have not.
const newer = {
	toBase64() { return Buffer.from(this.buffer, this.byteOffset, this.byteLength).toString("base64"); },
	toHex() { return Buffer.from(this.buffer, this.byteOffset, this.byteLength).toString("hex"); },
};
const newerStatic = {
	fromBase64: (text) => new Uint8Array(Buffer.from(text, "base64")),
	fromHex: (text) => new Uint8Array(Buffer.from(text, "hex")),
};
for (const [object, functions] of [[Uint8Array.prototype, newer], [Uint8Array, newerStatic]]) {
	for (const [name, value] of Object.entries(functions)) {
		if (!(name in object)) Object.defineProperty(object, name, { value, writable: true, configurable: true });
	}
}
