// The form of requests, as a node holds them to it: what has another type is refused, and nothing more.
import { Refused } from "./answers.js";
import { forms, requests } from "./calls.js";

const strict = "llm.complete"; // of which no member may be unknown

const types = {
	text: (v) => typeof v === "string",
	bool: (v) => typeof v === "boolean",
	integer: (v) => Number.isInteger(v),
	natural: (v) => Number.isInteger(v) && v >= 0,
	number: (v) => typeof v === "number",
};

const isObject = (v) => typeof v === "object" && !Array.isArray(v);

// checkForm throws a Refused if a request does not have its call's form.
export function checkForm(call, request) {
	if (!Object.hasOwn(requests, call)) return;
	const form = requests[call];
	if (request === undefined && form.endsWith("?")) return;
	if (request === undefined) throw new Refused("invalid", "invalid_request", `${call} is called with a request, an object`);
	for (const trouble of troubles("", form.replace("?", ""), request, call === strict)) {
		throw new Refused("invalid", "invalid_request", `the request of ${call} is not what it should be: ${trouble}`);
	}
}

function* troubles(at, form, value, strictly) {
	if (value === null || form === "json") return;
	const where = at || "it", is = `${where} is ${JSON.stringify(value)}, and has to be`;
	if (form.startsWith("[")) {
		if (!Array.isArray(value)) yield `${is} a list`;
		else for (const [i, each] of value.entries()) yield* troubles(`${where}[${i}]`, form.slice(1, -1), each, strictly);
	} else if (Object.hasOwn(types, form)) {
		if (!types[form](value)) yield `${is} of the kind ${form}`;
	} else if (!isObject(value)) {
		yield `${is} an object`;
	} else if (form.startsWith("{")) {
		for (const [key, each] of Object.entries(value)) yield* troubles(`${where}[${JSON.stringify(key)}]`, form.slice(1, -1), each, strictly);
	} else {
		yield* members(at, forms[form], value, strictly);
	}
}

function* members(at, form, value, strictly) {
	for (const [name, each] of Object.entries(value)) {
		if (Object.hasOwn(form, name)) yield* troubles(at ? `${at}.${name}` : name, form[name], each, strictly);
		else if (strictly) yield `${at || "it"} has the member ${JSON.stringify(name)}, and may have ${Object.keys(form).join(", ")}`;
	}
}
