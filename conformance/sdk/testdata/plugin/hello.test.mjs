import assert from "node:assert/strict";
import { test } from "node:test";
import { WharfError } from "wharf";
import { Host, Refused } from "wharf/testing";

import { run } from "./src/plugin.js";

test("greets", async () => {
	const host = new Host();
	const outcome = await host.run(run, "Ada");
	assert.deepEqual([outcome.summary, host.replies], ["greeted", ["Hello, Ada!"]]);
});

test("fails where nobody hears", async () => {
	const outcome = await new Host({ "message.append": new Refused("too_large", "payload_too_large", "too much was said") }).run(run, "Ada");
	assert.ok(outcome.error instanceof WharfError);
	assert.deepEqual([outcome.failure.code, outcome.error.code], ["plugin_error", "payload_too_large"]);
});
