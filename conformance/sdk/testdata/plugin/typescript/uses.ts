// What an author writes in a test, for the compiler alone.
import { connector, type HTTPFetchAnswer, type Run } from "wharf";
import { Host, PROPOSED, Refused, SHADOW, Unanswered, type Answers, type Outcome } from "wharf/testing";

import { run } from "./src/plugin.js";

const answers: Answers = {
	"http.fetch": { status: 200, text: "tea" },
	"llm.complete": [{ text: "one" }, (request) => ({ text: request.messages[0]?.text ?? "" }), new Refused("unavailable", "model_down")],
	"state.set": PROPOSED,
	"artifact.get": new Uint8Array(1),
	"artifact.put": (request, content) => ({ artifact_id: request.name, sha256: String(content.length) }),
	random: (count) => new Uint8Array(count),
	"connector.normalized": SHADOW,
};

// @ts-expect-error there is no such host call
export const misspelled: Answers = { "http.fetsh": { status: 200 } };
// @ts-expect-error there is no such member
export const unknown: Answers = { "http.fetch": { statuss: 200 } };
// @ts-expect-error a log is not answered
export const telemetry: Answers = { log: null };
// @ts-expect-error bytes are no object
export const bytes: Answers = { "artifact.get": { text: "x" } };

const arrow: Run = async (task) => ({ summary: task.text });

export async function uses(): Promise<string> {
	const host = new Host(answers, { config: { a: 1 }, secrets: ["key"], state: {}, artifacts: { art_1: "x" }, facts: { tenant: "t" } });
	const outcome: Outcome = await host.run(run, "Ada", { task: { created_by: "me" }, persona: { name: "p" } });
	await host.run(arrow, { text: "x" });
	await host.run(() => "done");
	const [first] = await host.normalize(connector((delivery) => ({ ignored: delivery.text ?? "" })), [{ text: "a" }], { settings: {} });
	const fetched: Partial<HTTPFetchAnswer> | undefined = host.calls[0]?.request;
	if (outcome.error instanceof Unanswered) return outcome.error.call;
	return [outcome.summary, outcome.failure?.code, outcome.output.summary, first?.ignored, fetched?.status, host.replies.join(), host.logs[0]?.level, host.slept].join();
}
