// What a test answers host calls with.
import { calls, hints } from "./calls.js";

export const statuses = ["ok", "invalid", "denied", "not_found", "too_large", "unavailable", "indeterminate", "timeout"];

// Refused is an answer that refuses the call. A function that answers can return or throw it.
export class Refused extends Error {
	constructor(status, code = status, message = code) {
		if (!statuses.includes(status, 1)) throw new RangeError(`there is no status ${JSON.stringify(status)}: it is one of ${statuses.slice(1).join(", ")}`);
		super(message);
		this.name = "Refused";
		this.status = status;
		this.code = code;
	}
}

export const PROPOSED = new Refused("denied", "proposed", "the call was not done: it was noted as a proposal");
export const SHADOW = new Refused("denied", "shadow", "the call was not done: the tier leaves writes out");

// Unanswered says that the plugin has made a host call that the test gives no answer to.
export class Unanswered extends Error {
	constructor(call, request, usedUp = 0) {
		const given = usedUp ? `all answers that the test gives to ${call} are used up (${usedUp})` : `nothing answers ${call}`;
		super(`${given}; the plugin has called it with ${JSON.stringify(request)}. ` +
			`Answer it: new Host({ "${call}": ${calls[call]} }). In the place of that answer may be a list of answers, a function ` +
			`that is given the request, new Refused("denied", "CODE", "MESSAGE"), PROPOSED or SHADOW.`);
		this.name = "Unanswered";
		this.call = call;
		this.request = request;
	}
}

// check throws if there is an answer that no call can get.
export function check(answers) {
	for (const name of Object.keys(answers)) {
		if (hints.has(name)) throw new RangeError(`${name} is telemetry, which is not answered: what the plugin tells is in host.logs and host.hints`);
		if (name === "input" || name === "output") throw new RangeError(`${name} is not answered: run is given the input, and returns the output`);
		if (Object.hasOwn(calls, name)) continue;
		const family = name.split(/[._]/)[0], near = Object.keys(calls).filter((known) => known.startsWith(family));
		throw new RangeError(`there is no host call ${JSON.stringify(name)}${near.length ? `: did you mean ${near.join(", ")}?` : ""}`);
	}
}

const isBytes = (v) => v instanceof ArrayBuffer || ArrayBuffer.isView(v);

const bytesOf = (v) => (v instanceof ArrayBuffer ? new Uint8Array(v) : new Uint8Array(v.buffer, v.byteOffset, v.byteLength));

const json = (v) => new TextEncoder().encode(JSON.stringify(v, function (name, each) {
	const given = this[name]; // before toJSON, which a Buffer has
	return isBytes(given) ? bytesOf(given).toBase64() : each;
}));

// wire writes an answer as the host does. Bytes within it are base64.
export function wire(call, answer) {
	if (answer instanceof Refused) return { status: statuses.indexOf(answer.status), answer: json({ code: answer.code, message: answer.message }) };
	if (answer === undefined || answer === null) return { status: 0, answer: new Uint8Array() };
	if (isBytes(answer)) return { status: 0, answer: bytesOf(answer).slice() };
	if (typeof answer?.then === "function") throw new TypeError(`${call} is answered by an async function: a host call is answered when it returns, so its answer cannot be awaited`);
	if (typeof answer === "object" && !Array.isArray(answer)) return { status: 0, answer: json(answer) };
	throw new TypeError(`${call} cannot be answered with ${JSON.stringify(answer) ?? String(answer)}: an answer is an object, bytes, nothing or a Refused`);
}
