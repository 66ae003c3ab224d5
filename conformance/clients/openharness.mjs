// Uses a node as a client of the Open Harness API would that was written from its published
// types alone: paths without a version, JSON where a form is asked for, a Content-Type on
// requests without a body, lists by "items" and "cursor", options as the body of streams, fields
// of a form after its files.
//
//   node openharness.mjs URL KEY
//
// For each step it prints {"step"} when it begins; for each answer {"method", "path", "status",
// "body"}, and for each event of a stream {"event"}. {"failed"} says what was not as it has to
// be; after {"done": true} there is nothing more to come.
const [base, key] = process.argv.slice(2);
const print = (line) => process.stdout.write(JSON.stringify(line) + "\n");
const want = (holds, what) => {
  if (!holds) throw new Error(what);
};

async function send(method, path, { body, form, headers } = {}) {
  const answer = await fetch(new URL("/harnesses" + path, base), {
    method,
    headers: { Authorization: `Bearer ${key}`, ...(form ? {} : { "Content-Type": "application/json" }), ...headers },
    body: form ?? (body === undefined ? undefined : JSON.stringify(body)),
  });
  if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return answer;
}

async function call(method, path, options) {
  const answer = await send(method, path, options);
  const text = await answer.text();
  if (!answer.headers.get("content-type")?.startsWith("application/json")) return text;
  const body = JSON.parse(text);
  print({ method, path, status: answer.status, body });
  return body;
}

const get = (path) => call("GET", path);
const post = (path, body) => call("POST", path, { body });
const remove = (path) => call("DELETE", path);
const bytes = async (path) => new Uint8Array(await (await send("GET", path)).arrayBuffer());

// all reads a list page by page.
async function all(path) {
  const items = [];
  for (let cursor; ; ) {
    const page = await get(`${path}?limit=1${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ""}`);
    items.push(...page.items);
    cursor = page.cursor;
    if (!cursor) return items;
  }
}

// events yields the events of a stream that is asked for by a POST, until "last" says so.
async function* events(path, body, last = (e) => e.type === "done") {
  const answer = await send("POST", path, { body, headers: { Accept: "text/event-stream" } });
  want(answer.headers.get("content-type")?.startsWith("text/event-stream"), `${path} is no stream`);
  let rest = "";
  for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) {
    const frames = (rest + chunk).split("\n\n");
    rest = frames.pop();
    for (const frame of frames) {
      const data = frame.split("\n").find((line) => line.startsWith("data:"));
      if (!data) continue;
      const event = JSON.parse(data.slice(5));
      yield event;
      if (last(event)) return;
    }
  }
  throw new Error(`${path} ended too early`);
}

// said returns what the events of an execution say.
async function said(path, body) {
  let text = "";
  for await (const event of events(path, body)) {
    print({ event });
    if (event.type === "text") text += event.content;
  }
  return text;
}

// crc is the checksum that zips have.
function crc(data) {
  let sum = ~0;
  for (const byte of data) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum >>> 0;
}

// zip makes an archive of one file that is stored as it is.
function zip(path, text) {
  const [name, data] = [Buffer.from(path), Buffer.from(text)];
  const about = Buffer.alloc(26);
  about.writeUInt16LE(20, 0);
  about.writeUInt16LE(0x21, 8);
  about.writeUInt32LE(crc(data), 10);
  about.writeUInt32LE(data.length, 14);
  about.writeUInt32LE(data.length, 18);
  about.writeUInt16LE(name.length, 22);
  const local = Buffer.concat([Buffer.from("PK\x03\x04"), about, name, data]);
  const central = Buffer.concat([Buffer.from("PK\x01\x02\x14\x00"), about, Buffer.alloc(14), name]);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(1, 4);
  end.writeUInt16LE(1, 6);
  end.writeUInt32LE(central.length, 8);
  end.writeUInt32LE(local.length, 12);
  return Buffer.concat([local, central, Buffer.from("PK\x05\x06"), end]);
}

// form makes a form with its file before its fields.
function form(file, name, content, fields = {}) {
  const made = new FormData();
  made.append(file, new Blob([content]), name);
  for (const [field, value] of Object.entries(fields)) made.append(field, value);
  return made;
}

const agentMD = `---
name: Tide Teller
vendorKey: acme
agentKey: tide-teller
version: 1.0.0
slug: acme/tide-teller
description: Tells when the water is high, and when it is low again.
author: "@acme"
license: MIT
tags: [water]
---

You tell the tides.
`;
const skillMD = (name) => `---\nname: ${name}\ndescription: Reads a table of tides.\n---\nRead the table.\n`;

let here, there, agent, flat, session;
const steps = {
  "list harnesses": async () => {
    const found = await all("");
    want(found.some((h) => h.id === "wharf"), "the harness of every tenant is not listed");
  },
  "register harnesses without an id": async () => {
    const made = (name) => post("", { name, vendor: "acme", description: "For a tour.", execution_type: "sdk", version: "1", capabilities: ["execution"], config: { binary_path: "agent" } });
    here = "/" + (await made("Tour Here")).harness.id;
    there = "/" + (await made("Tour There")).harness.id;
    want(here === "/tour-here" && there === "/tour-there", `their ids are ${here} and ${there}`);
  },
  "read what it can do": async () => {
    want((await get(here + "/capabilities")).harness_id === here.slice(1), "these are another's");
    want((await get(here + "/health")).healthy, "it is not well");
  },
  "import an agent": async () => {
    agent = (await call("POST", here + "/agents/import", { form: form("file", "a.zip", zip("AGENTS.md", agentMD)) })).agent;
    want(agent.slug === "acme/tide-teller", `the agent is ${agent.slug}`);
  },
  "make an agent by JSON": async () => {
    flat = (await post(here + "/agents", { name: "Flat", description: "An agent of one call.", system_prompt: "Be brief.", skills: [] })).agent;
    want((await all(here + "/agents")).length === 2, "there are not two agents");
  },
  "give it skills": async () => {
    await call("POST", here + "/skills", { form: form("files", "tables/SKILL.md", skillMD("tables"), { metadata: JSON.stringify({ display_title: "Tables" }) }) });
    await call("PUT", here + "/files/skills/charts/SKILL.md", { body: { content: skillMD("charts") } });
    await post(here + "/skills", { source: "skills/charts", display_title: "Charts", metadata: { display_title: "Charts" } });
    want((await all(here + "/skills")).length === 2, "there are not two skills");
    await get(here + "/skills/discover");
  },
  "write and read files": async () => {
    await call("PUT", here + "/files/notes/tide.txt", { body: { content: "high water" } });
    want((await call("GET", here + "/files/notes/tide.txt")) === "high water", "the file is another");
    await call("POST", here + "/files/upload", { form: form("file", "b.txt", "low water", { path: "notes/b.txt", overwrite: "true" }) });
    want((await call("GET", here + "/files/notes/b.txt/download")) === "low water", "the upload is another");
    await post(here + "/files/search", { grep: "water" });
    await get(here + "/files");
  },
  "execute, and read the stream": async () => {
    const text = await said(here + "/execute/stream", { message: "hello", agent_id: agent.id, skills: ["tables"] });
    want(text === "Hello there.", `it says ${text}`);
    const begun = await post(here + "/execute", { message: "hello", agent_id: agent.id });
    const one = `${here}/executions/${begun.execution_id}`;
    want((await said(one + "/stream", {})) === "Hello there.", "its stream says something else");
    want((await get(one + "/result")).result.output === "Hello there.", "its result is something else");
    want((await get(one)).execution.status === "completed", "it has not completed");
    for (const what of ["/artifacts", "/tool-calls"]) await get(one + what);
  },
  "interrupt": async () => {
    const begun = await post(here + "/execute", { message: "wait", agent_id: flat.id, model: "slow" });
    const one = `${here}/executions/${begun.execution_id}`;
    await call("POST", one + "/cancel");
    for await (const event of events(one + "/stream", {})) print({ event });
    want((await get(one)).execution.status === "cancelled", "it is not cancelled");
  },
  "talk in a session": async () => {
    session = (await post(here + "/sessions", { name: "Tides", agent_id: agent.id })).session;
    const one = `${here}/sessions/${session.id}`;
    want((await post(one + "/message", { content: "hello" })).response.content === "Hello there.", "the answer is another");
    want((await all(one + "/history")).length === 2, "there are not two messages");
    const fork = await post(one + "/fork", { new_name: "Ebb" });
    want(fork.message_count === 2, "the fork has other messages");
    await said(`${here}/sessions/${fork.session.id}/message/stream`, { content: "hello" });
    want((await all(here + "/sessions")).length === 2, "there are not two sessions");
    for (const id of [fork.session.id, session.id]) await remove(`${here}/sessions/${id}`);
  },
  "register a webhook": async () => {
    const made = (await post(here + "/webhooks", { url: "https://hooks.example.com/a", events: ["execution.*"] })).webhook;
    want((await get(here + "/webhooks")).webhooks[0].id === made.id, "it is not listed");
    await remove(`${here}/webhooks/${made.id}`);
  },
  "read events and logs": async () => {
    want((await get(here + "/events")).items.length > 0, "nothing has happened");
    await get(here + "/logs");
    await get(here + "/diagnostics");
  },
  "carry the agent to the other harness": async () => {
    const bundle = await bytes(`${here}/agents/${agent.id}/export`);
    const copy = (await call("POST", there + "/agents/import", { form: form("bundle", "a.zip", bundle, { merge_strategy: "fail" }) })).agent;
    want(copy.slug === agent.slug && copy.id !== agent.id, `the copy is ${copy.slug}, ${copy.id}`);
    want(Buffer.from(await bytes(`${there}/agents/${copy.id}/export`)).equals(Buffer.from(bundle)), "it is given out otherwise than it was taken in");
    want((await said(there + "/execute/stream", { message: "hello", agent_id: copy.id })) === "Hello there.", "the copy says something else");
    await remove(`${there}/agents/${copy.id}`);
  },
  "delete all": async () => {
    for (const one of [agent, flat]) await remove(`${here}/agents/${one.id}`);
    for (const skill of await all(here + "/skills")) await remove(`${here}/skills/${skill.id}`);
    await remove(here + "/files/notes?recursive=true");
    for (const harness of [here, there]) await remove(harness);
    want((await all("")).length === 1, "a harness is left");
  },
};

try {
  for (const [step, run] of Object.entries(steps)) {
    print({ step });
    await run();
  }
  print({ done: true });
} catch (error) {
  print({ failed: String(error.message || error) });
}
