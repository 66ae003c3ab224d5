// A plugin that does what a Task says: the tests of the SDK run it in the engine, and natively.
import {
	artifactGet, artifactPut, clock, configGet, eventEmit, Failure, fileRead, hostFact, id, llmComplete, memoryQuery, messageAppend, random, reply, sleep,
	stateGet, stateSet, WharfError, type Json, type Outcome, type Task,
} from "wharf";

const known: Record<string, (task: Task) => Promise<Outcome>> = {
	async greet() {
		const { value: greeting } = await configGet({ name: "greeting" });
		const { value: name } = await stateGet({ key: "name" });
		await reply(`${greeting}, ${name ?? "stranger"}!`);
		return "greeted";
	},
	async brew() {
		try {
			const answer = await fetch("https://tea.example/pots", {
				method: "post", headers: new Headers(new Map([["X-Kind", "tea"]])), body: '{"pots":1}', call_id: "brew", timeout_ms: 500,
			});
			return `${answer.status} ${answer.ok ? "True" : "False"} ${await answer.text()}`;
		} catch (e) {
			if (e instanceof WharfError) return `${e.status} ${e.code}`;
			throw e;
		}
	},
	async recall() {
		try {
			return String((await memoryQuery({ scope: "session", text: "tea" })).memories.length);
		} catch (e) {
			if (e instanceof WharfError && e.status === "denied") return `${e.call} ${e.code}`;
			throw e;
		}
	},
	async keep() {
		const kept = await stateSet({ key: "name", value: "Ada" });
		return kept?.withheld ?? (await stateGet({ key: "name" })).value;
	},
	async ask() {
		const texts: string[] = [];
		for (const text of ["a", "b"]) texts.push((await llmComplete({ messages: [{ role: "user", text }] })).text ?? "");
		return texts.join(" ");
	},
	async store() {
		const made = await artifactPut({ kind: "file", mime_type: "text/plain", visibility: "internal", name: "pot" }, "héllo\nworld");
		const content = await artifactGet({ artifact_id: made.artifact_id, offset: 1, length: 4 });
		return `${new TextDecoder().decode(content)} ${made.sha256.length}`;
	},
	async wait() {
		const before = BigInt((await clock()).unix_nano);
		await sleep({ ms: 90000 });
		const waited = (BigInt((await clock()).unix_nano) - before) / 1000000000n;
		return `${waited} ${(await random(5)).length} ${(await id()).id !== (await id()).id ? "True" : "False"}`;
	},
	async read() {
		return new TextDecoder().decode(Uint8Array.fromBase64((await fileRead({ path: "pot.bin" })).body!));
	},
	async tell() {
		console.log("one");
		console.log("two", 2);
		await eventEmit({ kind: "vendor.pot.filled", payload: { pots: 1 } });
	},
	async tea() {
		throw new Failure("no_tea", "the pot is empty", { pots: 1 });
	},
	async boom() {
		throw new Error("boom");
	},
	async caught() {
		try {
			await llmComplete({ messages: [] });
		} catch {
			return "caught";
		}
	},
	async ""(task) {
		return { summary: String(task.value.cups), metrics: { cups: task.value.cups } };
	},
};

// each makes the calls of its input, and tells how each of them went.
async function each(all: [string, Json][]): Promise<string> {
	const calls: Record<string, (request: Json) => Promise<unknown>> = {
		"state.set": stateSet, "llm.complete": llmComplete, "memory.query": memoryQuery, sleep, "message.append": messageAppend,
		"state.get": stateGet, "config.get": configGet, "host.fact": hostFact, clock,
	};
	const went: string[] = [];
	for (const [call, request] of all) {
		went.push(await calls[call]!(request).then(() => "ok", (e: WharfError) => `${e.status} ${e.code}`));
	}
	return went.join(", ");
}

export async function run(task: Task): Promise<Outcome> {
	if (task.value?.each) return each(task.value.each);
	return known[task.text]!(task);
}
