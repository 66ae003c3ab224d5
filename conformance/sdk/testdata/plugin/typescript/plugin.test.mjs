// Runs the cases that the engine runs, and what is the host's own, natively. The plugin is given as JavaScript.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import * as wharf from "wharf";
import * as testing from "wharf/testing";
import { Host, PROPOSED, Refused, SHADOW, Unanswered } from "wharf/testing";

const { run } = await import(process.env.PLUGIN ?? "./src/plugin.js");

// answer is one answer of a case, as the host of tests has it.
const answer = (rule) => (rule.error ? new Refused(rule.status ?? "unavailable", rule.error.code, rule.error.message) : rule.answer);

for (const name of readdirSync("testdata")) {
	test(name, async () => {
		const { input, answers: { config, ...rules } = {}, expected } = JSON.parse(readFileSync(`testdata/${name}`, "utf8"));
		const answers = Object.fromEntries(Object.entries(rules).map(([call, all]) => [call, Array.isArray(all) ? all.map(answer) : answer(all)]));
		const host = new Host(answers, { config });
		const outcome = await host.run(run, input);
		assert.equal(outcome.failure === undefined, expected.failure === undefined, outcome.failure?.message);
		for (const member of Object.keys(expected.failure ?? {})) assert.equal(outcome.failure[member], expected.failure[member]);
		if (expected.output) assert.deepEqual(outcome.output, expected.output);
		const made = host.calls.map(({ name: call, request, status }) => ({ call, request, ...(status !== "ok" && { status }) }));
		if (expected.calls) assert.deepEqual(made, expected.calls);
		if (expected.logs) assert.deepEqual(host.logs, expected.logs);
	});
}

for (const [name, module] of [["index", wharf], ["testing", testing]]) {
	test(`what is declared in ${name}.d.ts is there`, () => {
		const declared = readFileSync(`node_modules/wharf/${name}.d.ts`, "utf8").matchAll(/^export (?:function|class|const) (\w+)/gm);
		assert.deepEqual([...declared].map(([, each]) => each).sort(), Object.keys(module).sort());
	});
}

test("what was thrown can be looked at", async () => {
	const outcome = await new Host().run(run, "boom");
	assert.deepEqual([outcome.failure.code, outcome.failure.message], ["plugin_error", "Error: boom"]);
	assert.match(outcome.failure.details.stack[0], /boom \(src\/plugin\.[jt]s:\d+:\d+\)$/);
	assert.equal(outcome.error.message, "boom");
	const { failure } = await new Host().run(run, "tea");
	assert.deepEqual(failure, { code: "no_tea", message: "the pot is empty", details: { pots: 1 } });
	assert.equal((await new Host().run("no function")).failure.message, "TypeError: the export is no function");
});

test("a call without an answer", async () => {
	for (const asked of ["ask", "caught"]) { // whatever the plugin makes of it
		await assert.rejects(new Host().run(run, asked), (e) => {
			assert.ok(e instanceof Unanswered);
			assert.equal(e.call, "llm.complete");
			assert.match(e.message, /^nothing answers llm\.complete; .* Answer it: new Host\({ "llm\.complete": {"text":"\.\.\.","stop_reason":"end"} }\)/);
			return true;
		});
	}
	const host = new Host({ "llm.complete": [{ text: "one" }] });
	await assert.rejects(host.run(run, "ask"), /all answers that the test gives to llm\.complete are used up \(1\)/);
	assert.deepEqual(host.calls.map((c) => c.name), ["llm.complete"]);
	await assert.rejects(new Host().run(() => fetch("https://a.example/")), Unanswered);
});

test("every call says how to answer it", async () => {
	let lacking = 0;
	for (const [name, f] of Object.entries(wharf)) {
		if (/^([A-Z]|input$|output$|connector$|reply$)/.test(name)) continue; // no host calls, or not answered
		const asking = async () => { await (name === "artifactPut" ? f({}, "") : name === "random" ? f(1) : f({ parts: [] })); };
		let told;
		try {
			await new Host().run(asking);
			continue;
		} catch (e) {
			assert.ok(e instanceof Unanswered, `${name}: ${e.stack}`);
			told = e.message;
		}
		lacking++;
		const added = new Function(`return (${/Answer it: new Host\((.*?)\)\. /.exec(told)[1]})`)();
		assert.equal((await new Host(added).run(asking)).failure, undefined, name);
	}
	assert.ok(lacking > 30);
});

test("functions answer", async () => {
	const asked = [];
	const host = new Host({
		"llm.complete"(request) {
			console.log("of the test's own");
			asked.push(request.messages[0].text);
			if (asked.length === 2) throw new Refused("unavailable", "model_down", "try later");
			return { text: "one" };
		},
	});
	const outcome = await host.run(run, "ask");
	assert.deepEqual(host.logs, []);
	assert.deepEqual([asked, outcome.failure.message], [["a", "b"], "WharfError: llm.complete: try later"]);
	assert.ok(outcome.error instanceof wharf.WharfError);
	assert.deepEqual([outcome.error.code, outcome.error.status, outcome.error.call], ["model_down", "unavailable", "llm.complete"]);
	const stored = [];
	const artifacts = new Host({
		"artifact.put": (request, content) => {
			stored.push(request.name, new TextDecoder().decode(content));
			return { artifact_id: "art_9", sha256: "x" };
		},
	}, { artifacts: { art_9: "0123456" } });
	assert.equal((await artifacts.run(run, "store")).summary, "1234 1");
	assert.deepEqual(stored, ["pot", "héllo\nworld"]);
	const bytes = new Host({ "file.read": { body: Buffer.from("tea") }, random: new Uint8Array([1, 2]) });
	assert.equal((await bytes.run(run, "read")).summary, "tea");
	assert.equal((await bytes.run(async () => String(await wharf.random(2)))).summary, "1,2");
});

test("a fault of the test is no failure of the plugin", async () => {
	const wrong = () => { throw new assert.AssertionError({ message: "not what was expected" }); };
	await assert.rejects(new Host({ "llm.complete": wrong }).run(run, "caught"), assert.AssertionError);
	for (const given of ["a text", 3, [[3]], async () => ({ text: "late" }), () => "a text"]) {
		await assert.rejects(new Host({ "llm.complete": given }).run(run, "caught"), TypeError);
	}
	await assert.rejects(new Host({ "llm.complete": () => { throw 0; } }).run(run, "caught"), (thrown) => thrown === 0);
});

test("answers that no call gets", async () => {
	for (const [name, text] of [["http.fetsh", /did you mean http\.fetch/], ["log", /telemetry/], ["input", /run is given the input/], ["constructor", /no host call/]]) {
		assert.throws(() => new Host({ [name]: {} }), text);
		const host = new Host();
		host.answers[name] = {};
		await assert.rejects(host.run(run, "keep"), text);
	}
	assert.throws(() => new Refused("nope"), /no status "nope"/);
	assert.throws(() => new Refused("ok"), RangeError);
});

test("held back", async () => {
	assert.equal((await new Host({ "state.set": PROPOSED }).run(run, "keep")).summary, "proposed");
	assert.equal((await new Host({ "http.fetch": SHADOW }).run(run, "brew")).summary, "0 False ");
});

test("what is set and left", async () => {
	const host = new Host({}, { config: { greeting: "Moin" }, state: { name: "Ada" }, secrets: ["key"], facts: { tenant: "acme" } });
	await host.run(run, "greet");
	await host.run(run, "greet");
	assert.deepEqual(host.replies, ["Moin, Ada!", "Moin, Ada!"]);
	const outcome = await host.run(async (task) => {
		await wharf.progress({ fraction: 0.5 });
		const kept = [(await wharf.secretUse({ name: "key" })).handle, (await wharf.hostFact({ name: "tenant" })).value, task.persona.name, task.created_by, task.skills[0].name];
		const code = await wharf.hostFact({ name: "weather" }).catch((e) => e.code);
		return { summary: kept.join(), metrics: { [code]: 1 } };
	}, null, { persona: { name: "barista" }, task: { created_by: "me" }, skills: [{ name: "pour" }] });
	assert.deepEqual(outcome.output, { summary: "{{secret:key}},acme,barista,me,pour", metrics: { unknown_fact: 1 } });
	assert.deepEqual(host.hints, [{ name: "progress", request: { fraction: 0.5 }, status: "ok" }]);
	await assert.rejects(host.run(() => wharf.secretUse({ name: "other" })), Unanswered);
	assert.equal((await host.run(async () => String((await wharf.stateGet({ key: "constructor" })).value))).summary, "null");
});

test("two at once, and one within another", async () => {
	const outcomes = await Promise.all(["a", "b", "c"].map(async (name) => {
		const host = new Host({ "llm.complete": { text: name } });
		const outcome = await host.run(async (task) => {
			await new Promise((resolve) => setTimeout(resolve));
			console.log(name);
			return run(task);
		}, "ask");
		return [outcome.summary, host.calls.length, host.logs];
	}));
	assert.deepEqual(outcomes, ["a", "b", "c"].map((name) => [`${name} ${name}`, 2, [{ level: "info", message: name }]]));
	const child = new Host({ "llm.complete": { text: "child" } });
	const host = new Host({ "task.spawn": { task_id: "task_1" } });
	const outcome = await host.run(async () => {
		await wharf.taskSpawn({ input: {} });
		const { summary } = await child.run(run, "ask");
		return `${summary} ${(await wharf.stateGet({ key: "k" })).value}`;
	});
	assert.equal(outcome.summary, "child child null");
});

test("without a host", async () => {
	await assert.rejects(wharf.stateGet({ key: "k" }), /the host call state\.get is made without a host/);
	await assert.rejects(fetch("nothing:"), TypeError); // Node's own
});

test("deliveries", async () => {
	const normalize = wharf.connector((delivery, { settings }) => {
		if (!delivery.text) throw new wharf.Failure("no_ticket", "the ticket has no text");
		return { ignored: `${delivery.text} ${settings.queue}` };
	});
	assert.deepEqual(await new Host().normalize(normalize, [{ text: "a" }, { id: "del_x" }], { settings: { queue: "q" } }), [
		{ id: "del_1", ignored: "a q" }, { id: "del_x", failure: { code: "no_ticket", message: "the ticket has no text" } },
	]);
	await assert.rejects(new Host().normalize(() => run({ text: "boom" }), [{}]), /boom/);
	await assert.rejects(new Host().normalize(() => "", [{}]), /has not said what the deliveries mean/);
	await assert.rejects(new Host().normalize(wharf.connector(() => wharf.llmComplete({ messages: [] })), [{}]), Unanswered);
});
