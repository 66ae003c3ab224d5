import type { Base64, Bytes, Connector, Delivery, FailureDescription, InputSkill, Json, MessageInput, NormalizedDelivery, Outcome as Result, OutputRequest, Persona, Status, Task, TaskDescription } from "./index.js";
import type { HostCalls } from "./calls.js";

/** An answer that refuses the call: the plugin gets a WharfError with this status and code. A function that answers can return or throw it. */
export class Refused extends Error {
	constructor(status: Status, code?: string, message?: string);
	readonly status: Status;
	readonly code: string;
}

/** What a write is answered with when the Persona's tier is `suggest`. For the plugin it is no error. */
export const PROPOSED: Refused;
/** What a write is answered with when the Persona's tier is `shadow`. For the plugin it is no error. */
export const SHADOW: Refused;

/** Says that the plugin has made a host call that the test gives no answer to, and how to give one. */
export class Unanswered extends Error {
	constructor(call: string, request: Json, usedUp?: number);
	readonly call: string;
	readonly request: Json;
}

/** An answer: an object, of which a test needs to give what the plugin looks at; bytes, for `artifact.get` and `random`; nothing; or a Refused. Bytes within an object are sent in base64. */
export type One<Given> = (Given extends Uint8Array ? Uint8Array : Partial<Given>) | Refused | null | undefined;

/** What a call is answered with: always the same, a list that is used up in its order, or what a function of the request says (of `artifact.put`: and of the content). */
export type Answer<Asked, Given> = One<Given> | ((request: Asked, content: Uint8Array) => One<Given> | void) | (One<Given> | ((request: Asked, content: Uint8Array) => One<Given> | void))[];

/** Answers by the names of host calls. */
export type Answers = { [Name in keyof HostCalls]?: Answer<HostCalls[Name]["request"], HostCalls[Name]["answer"]> };

/** What is there when a run begins. */
export interface Setting {
	/** What `config.get` answers. */
	config?: Record<string, Json>;
	/** The names that `secret.use` hands out a handle of. */
	secrets?: string[];
	/** What the Session keeps. */
	state?: Record<string, Json>;
	/** Content by Artifact id. */
	artifacts?: Record<string, Uint8Array | string>;
	/** What `host.fact` answers besides what it is made up of. */
	facts?: Record<string, string>;
}

/** A host call that the plugin has made. */
export interface Call {
	readonly name: string;
	/** As it was sent: JSON, of `random` the number of bytes, undefined where there is none. */
	readonly request?: Json;
	/** Of `artifact.put`. */
	readonly content?: Uint8Array;
	/** What it was answered with. */
	readonly status: "ok" | Status;
}

/** What a run has ended in. */
export interface Outcome {
	readonly summary: string;
	/** undefined for success. */
	readonly failure?: FailureDescription;
	/** The whole request of the host call `output`. */
	readonly output: OutputRequest;
	/** What the function has thrown. */
	readonly error?: unknown;
}

/** What a run is told of its Task, in the place of what is made up. */
export interface Given {
	task?: Partial<TaskDescription>;
	persona?: Partial<Persona>;
	skills?: InputSkill[];
}

/**
 * Stands in for Wharf while a plugin's function runs. It is given answers by the names of host calls, and answers by itself
 * what `wharf plugin run` does: what the plugin hands out is taken; clock, random, id, sleep, state, config, facts and secrets
 * are answered from what is set here, and from a fixed time and seed. Any other call that has no answer ends the run with
 * Unanswered. Telemetry is kept in `logs` and `hints`.
 *
 * One host can be used for several runs: state, artifacts and answers that are used up stay.
 *
 * @example
 * const host = new Host({ "http.fetch": { status: 200, text: "1.25" } });
 * const outcome = await host.run(run, "Convert 20 °C");
 * assert.deepEqual([outcome.summary, host.replies], ["converted", ["68 °F"]]);
 */
export class Host {
	constructor(answers?: Answers, setting?: Setting);
	answers: Answers;
	config: Record<string, Json>;
	secrets: string[];
	/** What the Session keeps; what the plugin sets is added. */
	state: Record<string, Json>;
	/** Content by Artifact id; what the plugin stores is added. */
	artifacts: Record<string, Uint8Array | string>;
	facts: Record<string, string>;
	/** What the plugin has called and was answered, in its order, but for `input`, `output` and telemetry. */
	readonly calls: Call[];
	readonly logs: { readonly level: string; readonly message: string }[];
	/** The rest of telemetry: `progress`, `plan`, `agent.event`, `message.delta`. */
	readonly hints: Call[];
	readonly messages: MessageInput[];
	/** The texts of the Messages that the plugin has appended. */
	readonly replies: string[];
	readonly events: Json[];
	/** Seconds. */
	slept: number;
	/**
	 * Runs a function of the plugin on a Task, and promises what it has ended in. An input that is a text is a user's
	 * Message; anything else is the input as it is. What the function throws is the Outcome's failure; a fault of the test
	 * itself, such as a call without an answer, rejects.
	 */
	run(f: (task: Task) => Result | Promise<Result> | Promise<number>, input?: Json, given?: Given): Promise<Outcome>;
	/** Hands deliveries to what `connector` has made, and promises what they mean. What is not given of a delivery is made up. */
	normalize(f: () => Promise<number>, deliveries: Partial<Delivery>[], connector?: Partial<Connector>): Promise<NormalizedDelivery[]>;
}
