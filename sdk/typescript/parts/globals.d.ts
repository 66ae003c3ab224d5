/** Writes lines to the Task's event stream: the host call `log`. */
interface Console {
	/** A line of the level info. What is no text is written as JSON, an Error with its stack. */
	log(...values: unknown[]): void;
	/** A line of the level info. */
	info(...values: unknown[]): void;
	/** A line of the level debug. */
	debug(...values: unknown[]): void;
	/** A line of the level warn. */
	warn(...values: unknown[]): void;
	/** A line of the level error. */
	error(...values: unknown[]): void;
}
declare var console: Console;

/** Headers of a request or an answer, by names in lower case, with one value each. */
declare class Headers {
	constructor(from?: HeadersInit);
	get(name: string): string | null;
	has(name: string): boolean;
	set(name: string, value: string): void;
	delete(name: string): void;
	forEach(f: (value: string, name: string, headers: Headers) => void): void;
	[Symbol.iterator](): IterableIterator<[string, string]>;
}
type HeadersInit = Headers | Record<string, string> | Iterable<readonly [string, string]>;

/** What `fetch` is told besides the URL. The last four are those of the host call `http.fetch`. */
interface RequestInit {
	/** GET unless it is set. GET and HEAD are reads, the rest are writes. */
	method?: string;
	headers?: HeadersInit;
	body?: string | ArrayBuffer | ArrayBufferView | null;
	/** Names the call for overrides in a replay. */
	call_id?: string;
	/** What the receipt says that the request was for. */
	purpose?: string;
	/** The header by which the target recognizes a write that is repeated after a crash, such as Idempotency-Key. The host fills it in. */
	idempotency_header?: string;
	/** How long to wait at most. */
	timeout_ms?: number;
}

/** What `fetch` has got. It is there as a whole: nothing is streamed. */
interface Response {
	/** 0 when the Persona's tier has held the request back. */
	readonly status: number;
	/** Whether the status is one of 200 to 299. */
	readonly ok: boolean;
	/** Where the answer is from, after redirects. */
	readonly url: string;
	readonly headers: Headers;
	/** The answer of the host call. */
	readonly answer: import("wharf").HTTPFetchAnswer;
	text(): Promise<string>;
	json(): Promise<any>;
	bytes(): Promise<Uint8Array>;
	arrayBuffer(): Promise<ArrayBuffer>;
}

/**
 * Makes an HTTP request, by the host call `http.fetch`, to a host that the plugin is allowed. A status of 400 and more
 * is an answer; what is refused or cannot be reached rejects with a WharfError.
 *
 * @example
 * const answer = await fetch("https://api.example.com/tickets/7");
 * if (!answer.ok) throw new Error("the tracker says " + answer.status);
 * const ticket = await answer.json();
 */
declare function fetch(url: string | { toString(): string }, options?: RequestInit): Promise<Response>;

/** Calls f after some time, which counts as running time: use the host call `sleep` for long waits. */
declare function setTimeout<A extends unknown[]>(f: (...values: A) => void, ms?: number, ...values: A): number;
/** Calls f again and again. */
declare function setInterval<A extends unknown[]>(f: (...values: A) => void, ms?: number, ...values: A): number;
declare function clearTimeout(timer?: number): void;
declare function clearInterval(timer?: number): void;
declare function queueMicrotask(f: () => void): void;

declare class TextEncoder {
	readonly encoding: "utf-8";
	encode(text?: string): Uint8Array;
}
declare class TextDecoder {
	readonly encoding: "utf-8";
	/** Reads UTF-8; what is none is replaced. */
	decode(bytes?: ArrayBuffer | ArrayBufferView): string;
}

/** Randomness of the Task: a replay draws the same. */
declare var crypto: {
	getRandomValues<T extends ArrayBufferView>(array: T): T;
	randomUUID(): string;
};
/** The Task's clock: a replay reads the same. */
declare var performance: { now(): number };
declare function atob(base64: string): string;
declare function btoa(bytes: string): string;
