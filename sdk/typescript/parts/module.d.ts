/** Any JSON value. */
export type Json = any;
/** A time in RFC 3339, such as 2026-01-31T10:00:00Z. */
export type Time = string;
/** Bytes in base64: Uint8Array.fromBase64 reads them. */
export type Base64 = string;
/** Bytes, which are sent in base64. */
export type Bytes = ArrayBuffer | ArrayBufferView | Base64;

/** What a function is run for: the Task, as whom it runs, and what it was given. */
export interface Task extends TaskDescription {
	/** The Persona that the Task runs as. */
	readonly persona: Persona;
	/** The Skills that it may read. */
	readonly skills: InputSkill[];
	/** The Session that the Task belongs to. */
	readonly session_id: string;
	/** What the input says: itself a text, its member text, or the text parts of a Message; else "". */
	readonly text: string;
	/** The input as JSON: of a Message, the value of its first JSON part. */
	readonly value: Json;
}

/** What a function returns: the summary, or an object with the members of the host call output. */
export type Outcome = string | Partial<OutputRequest> | void;

/**
 * An export of a plugin. `run` is what a Task calls that names no other.
 *
 * @example
 * export const run: Run = async (task) => {
 * 	await reply(`Hello, ${task.text}!`);
 * 	return { summary: "greeted" };
 * };
 */
export type Run = (task: Task) => Outcome | Promise<Outcome>;

/** What a host call has answered with when it was refused, or could not be done. */
export type Status = "invalid" | "denied" | "not_found" | "too_large" | "unavailable" | "indeterminate" | "timeout" | (string & {});

/** Says that the host has refused a call, or could not do it. */
export class WharfError extends Error {
	private constructor();
	/** The host call, such as state.get. */
	readonly call: string;
	readonly status: Status;
	/** The host's code; `wharf explain` says what it means. */
	readonly code: string;
}

/**
 * Fails the Task with a code of the plugin's own when it is thrown, or puts a delivery aside.
 *
 * @example
 * throw new Failure("no_tea", "the pot is empty", { pots: 1 });
 */
export class Failure extends Error {
	constructor(code: string, message: string, details?: Record<string, Json>);
	readonly code: string;
	readonly details?: Record<string, Json>;
}

/** What the answer of a write has besides, and then alone, when the Persona's tier has held the call back. That is no error. */
export interface Withheld {
	readonly withheld?: "shadow" | "proposed";
}

/** Appends a Message of the assistant: a text that everybody sees, or parts. */
export function reply(content: string | Part[]): Promise<MessageAppendAnswer & Withheld>;

/** What a delivery means. With none of the members it means nothing and is done with. */
export type Meaning = Omit<NormalizedDelivery, "id"> | void;

/**
 * Makes an export that says what deliveries to a Connector mean: normalize is called for each. One for which it throws
 * is put aside, where people can look at it and try again, and the others are not.
 *
 * @example
 * export const run = connector((delivery) => {
 * 	const ticket = JSON.parse(delivery.text ?? "");
 * 	return { tasks: [{ input: { text: ticket.text }, thread: ticket.id }] };
 * });
 */
export function connector(normalize: (delivery: Delivery, connector: Connector) => Meaning | Promise<Meaning>): () => Promise<number>;
