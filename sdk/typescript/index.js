// Generated from plugins/js/sdk by go test ./sdk -update. Do not edit.
import { __wharf, globals as globalThis } from "./native.js";
var __defProp = Object.defineProperty;
var __export = (target, all) => {
  for (var name in all)
    __defProp(target, name, { get: all[name], enumerable: true });
};

// wharf:wharf:runtime
var statuses = ["ok", "invalid", "denied", "not_found", "too_large", "unavailable", "indeterminate", "timeout"];
var WharfError = class extends Error {
  constructor(call, status, answer) {
    super(`${call}: ${answer?.message ?? statuses[status]}`);
    this.name = "WharfError";
    this.call = call;
    this.status = statuses[status] ?? String(status);
    this.code = answer?.code ?? this.status;
  }
};
var Failure = class extends Error {
  constructor(code, message, details) {
    super(message);
    this.name = "Failure";
    this.code = code;
    this.details = details;
  }
};
var withheld = ["proposed", "shadow"];
__wharf.unlessWithheld = (made) => {
  try {
    return made();
  } catch (e) {
    if (e instanceof WharfError && e.status === "denied" && withheld.includes(e.code)) return { withheld: e.code };
    throw e;
  }
};
function bytesOf(content) {
  if (content instanceof Uint8Array) return content;
  if (ArrayBuffer.isView(content)) return new Uint8Array(content.buffer, content.byteOffset, content.byteLength);
  return content instanceof ArrayBuffer ? new Uint8Array(content) : __wharf.encode(String(content));
}
var isBytes = (v) => v instanceof ArrayBuffer || ArrayBuffer.isView(v);
__wharf.withBytes = (request) => __wharf.encode(JSON.stringify(request, (key, v) => isBytes(v) ? bytesOf(v).toBase64() : v));
__wharf.withContent = (request, content) => {
  if (content === void 0 || content === null) throw new TypeError("artifactPut takes the content after the request: a Uint8Array, an ArrayBuffer or a text");
  const head = __wharf.encode(JSON.stringify(request) + "\n"), tail = bytesOf(content);
  const all = new Uint8Array(head.length + tail.length);
  all.set(head);
  all.set(tail, head.length);
  return all;
};
__wharf.counted = (count) => {
  if (!Number.isInteger(count) || count < 0 || count > 4294967295) throw new RangeError("random takes how many bytes it is to make, a whole number");
  return Uint8Array.of(count, count >>> 8, count >>> 16, count >>> 24);
};
var parts = (input2) => Array.isArray(input2?.parts) ? input2.parts : [];
var Task = class {
  constructor(answer) {
    Object.assign(this, answer.task);
    this.persona = answer.persona;
    this.skills = answer.skills ?? [];
    this.session_id = answer.session_id;
  }
  // text is the input itself if that is a text, its member text, or the text parts of a Message, joined by
  // empty lines; else "".
  get text() {
    const { input: input2 } = this;
    if (typeof input2 === "string") return input2;
    if (typeof input2?.text === "string") return input2.text;
    return parts(input2).filter((p) => p?.type === "text").map((p) => p.text).join("\n\n");
  }
  // value is the input as JSON: of a Message, the value of its first JSON part.
  get value() {
    return (parts(this.input).find((p) => p?.type === "json") ?? { value: this.input }).value;
  }
};
var digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
function numbers(segment) {
  const out = [];
  let value = 0, shift = 0;
  for (const c of segment) {
    const digit = digits.indexOf(c);
    value |= (digit & 31) << shift;
    shift += 5;
    if (digit & 32) continue;
    out.push(value & 1 ? -(value >>> 1) : value >>> 1);
    value = shift = 0;
  }
  return out;
}
var known;
function places() {
  return known ??= readPlaces();
}
function readPlaces() {
  const map = JSON.parse(__wharf.sourceMap() || '{"sources":[],"mappings":""}');
  let source = 0, line = 0, column = 0;
  const lines = map.mappings.split(";").map((segments) => {
    let at2 = 0;
    return segments.split(",").filter(Boolean).map((segment) => {
      const [moved, otherSource = 0, otherLine = 0, otherColumn = 0] = numbers(segment);
      return [at2 += moved, source += otherSource, line += otherLine, column += otherColumn];
    });
  });
  return { sources: map.sources, lines };
}
function frames(thrown) {
  const { sources, lines } = places();
  const out = [];
  for (const frame of String(thrown.stack ?? "").split("\n")) {
    const [, name, line, column] = /^\s*at (?:(.*) \()?plugin\.js:(\d+):(\d+)\)?$/.exec(frame) ?? [];
    const place = lines[line - 1]?.findLast(([at2]) => at2 < column);
    if (!place || sources[place[1]].startsWith("wharf:")) continue;
    const where = `${sources[place[1]]}:${place[2] + 1}:${place[3] + 1}`;
    out.push(name && name !== "<anonymous>" ? `${name} (${where})` : where);
  }
  return out;
}
function failureOf(thrown) {
  if (thrown instanceof Failure) return { code: thrown.code, message: thrown.message, ...thrown.details && { details: thrown.details } };
  if (!(thrown instanceof Error)) return { code: "plugin_error", message: String(thrown) };
  return { code: "plugin_error", message: `${thrown.name}: ${thrown.message}`, details: { stack: frames(thrown) } };
}
var output = (result) => __wharf.call("output", result, false);
var alone = /* @__PURE__ */ Symbol("alone");
__wharf.alone = (f) => Object.assign(f, { [alone]: true });
__wharf.failureOf = failureOf;
__wharf.refused = (call, status, answer) => new WharfError(call, status, answer);
__wharf.serve = async (f) => {
  try {
    if (__wharf.isBroken) throw __wharf.broken;
    if (f?.[alone]) return await f();
    const task = new Task(__wharf.call("input", void 0, false));
    if (typeof f !== "function") throw new TypeError("the export is no function");
    const result = await f(task);
    output(typeof result === "string" ? { summary: result } : { summary: "", ...result });
  } catch (thrown) {
    output({ summary: "", failure: failureOf(thrown) });
  }
  return 0;
};
__wharf.stuck = () => output({ summary: "", failure: { code: "plugin_error", message: "the plugin awaits a promise that nothing resolves" } });
var timers = [];
var lastTimer = 0;
var now = 0;
function later(f, ms, args, every) {
  const timer = { id: ++lastTimer, at: now + Math.max(0, +ms || 0), f, args, every };
  timers.push(timer);
  return timer.id;
}
globalThis.setTimeout = (f, ms, ...args) => later(f, ms, args);
globalThis.setInterval = (f, ms, ...args) => later(f, ms, args, Math.max(1, +ms || 0));
globalThis.clearTimeout = globalThis.clearInterval = (id2) => {
  timers = timers.filter((t) => t.id !== id2);
};
__wharf.tick = () => {
  if (!timers.length) return false;
  const due = timers.reduce((a, b) => b.at < a.at ? b : a);
  timers = timers.filter((t) => t !== due);
  __wharf.pause(due.at - now);
  now = due.at;
  if (due.every) timers.push({ ...due, at: now + due.every });
  Promise.resolve().then(() => due.f(...due.args));
  return true;
};

// wharf:wharf:globals
var wharf_globals_exports = {};
__export(wharf_globals_exports, {
  Headers: () => Headers,
  TextDecoder: () => TextDecoder,
  TextEncoder: () => TextEncoder,
  console: () => console,
  crypto: () => crypto,
  fetch: () => fetch
});

// wharf:wharf:call/log
async function log(request) {
  return __wharf.call("log", request, false);
}

// wharf:wharf:call/http.fetch
async function httpFetch(request) {
  return __wharf.unlessWithheld(() => __wharf.call("http.fetch", __wharf.withBytes(request), false));
}

// wharf:wharf:globals
var said = (v) => {
  if (typeof v === "string") return v;
  if (v instanceof Error) return `${v.name}: ${v.message}
${v.stack ?? ""}`;
  try {
    return JSON.stringify(v) ?? String(v);
  } catch {
    return String(v);
  }
};
var at = (level) => (...values) => {
  log({ level, message: values.map(said).join(" ") });
};
var console = /* @__PURE__ */ (() => ({ log: at("info"), info: at("info"), debug: at("debug"), warn: at("warn"), error: at("error") }))();
var TextEncoder = class {
  get encoding() {
    return "utf-8";
  }
  encode(text = "") {
    return __wharf.encode(String(text));
  }
};
var TextDecoder = class {
  get encoding() {
    return "utf-8";
  }
  decode(bytes = new Uint8Array()) {
    if (bytes instanceof ArrayBuffer) bytes = new Uint8Array(bytes);
    return __wharf.decode(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  }
};
var crypto = /* @__PURE__ */ (() => ({
  getRandomValues(array) {
    __wharf.entropy(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
    return array;
  },
  randomUUID() {
    const b = this.getRandomValues(new Uint8Array(16));
    b[6] = b[6] & 15 | 64, b[8] = b[8] & 63 | 128;
    const hex = Array.from(b, (v) => v.toString(16).padStart(2, "0")).join("");
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
  }
}))();
var Headers = class {
  constructor(from = {}) {
    this.values = /* @__PURE__ */ new Map();
    for (const [k, v] of Symbol.iterator in from ? from : Object.entries(from)) this.set(k, v);
  }
  get(name) {
    return this.values.get(name.toLowerCase()) ?? null;
  }
  has(name) {
    return this.values.has(name.toLowerCase());
  }
  set(name, value) {
    this.values.set(name.toLowerCase(), String(value));
  }
  delete(name) {
    this.values.delete(name.toLowerCase());
  }
  forEach(f) {
    this.values.forEach((v, k) => f(v, k, this));
  }
  [Symbol.iterator]() {
    return this.values[Symbol.iterator]();
  }
};
var Response = class {
  constructor(answer) {
    this.status = answer.status ?? 0;
    this.ok = this.status >= 200 && this.status < 300;
    this.url = answer.url ?? "";
    this.headers = new Headers(answer.header ?? {});
    this.answer = answer;
  }
  async bytes() {
    const { body, text } = this.answer;
    return body === void 0 ? __wharf.encode(text ?? "") : Uint8Array.fromBase64(body);
  }
  async arrayBuffer() {
    return (await this.bytes()).buffer;
  }
  async text() {
    return this.answer.text ?? __wharf.decode(await this.bytes());
  }
  async json() {
    return JSON.parse(await this.text());
  }
};
async function fetch(url, options = {}) {
  const { method, headers, body, call_id, purpose, idempotency_header, timeout_ms } = options;
  const request = { call_id, method: method?.toUpperCase(), url: String(url) };
  if (headers) request.header = Object.fromEntries(new Headers(headers));
  if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) request.body = body;
  else if (body !== void 0 && body !== null) request.text = String(body);
  return new Response(await httpFetch(Object.assign(request, { purpose, idempotency_header, timeout_ms })));
}

// wharf:wharf:call/connector.deliveries
async function connectorDeliveries(request) {
  return __wharf.call("connector.deliveries", request, false);
}

// wharf:wharf:call/connector.normalized
async function connectorNormalized(request) {
  return __wharf.unlessWithheld(() => __wharf.call("connector.normalized", request, false));
}

// wharf:wharf:call/message.append
async function messageAppend(request) {
  return __wharf.unlessWithheld(() => __wharf.call("message.append", request, false));
}

// wharf:wharf:call/input
async function input(request) {
  return __wharf.call("input", request, false);
}

// wharf:wharf:call/output
async function output2(request) {
  return __wharf.unlessWithheld(() => __wharf.call("output", request, false));
}

// wharf:wharf:call/clock
async function clock(request) {
  return __wharf.call("clock", request, false);
}

// wharf:wharf:call/random
async function random(count) {
  return __wharf.call("random", __wharf.counted(count), true);
}

// wharf:wharf:call/id
async function id(request) {
  return __wharf.call("id", request, false);
}

// wharf:wharf:call/progress
async function progress(request) {
  return __wharf.call("progress", request, false);
}

// wharf:wharf:call/plan
async function plan(request) {
  return __wharf.call("plan", request, false);
}

// wharf:wharf:call/agent.event
async function agentEvent(request) {
  return __wharf.call("agent.event", request, false);
}

// wharf:wharf:call/plan.set
async function planSet(request) {
  return __wharf.unlessWithheld(() => __wharf.call("plan.set", request, false));
}

// wharf:wharf:call/plan.get
async function planGet(request) {
  return __wharf.call("plan.get", request, false);
}

// wharf:wharf:call/inbox.take
async function inboxTake(request) {
  return __wharf.call("inbox.take", request, false);
}

// wharf:wharf:call/message.delta
async function messageDelta(request) {
  return __wharf.call("message.delta", request, false);
}

// wharf:wharf:call/transcript.read
async function transcriptRead(request) {
  return __wharf.call("transcript.read", request, false);
}

// wharf:wharf:call/llm.complete
async function llmComplete(request) {
  return __wharf.call("llm.complete", request, false);
}

// wharf:wharf:call/tool.list
async function toolList(request) {
  return __wharf.call("tool.list", request, false);
}

// wharf:wharf:call/tool.call
async function toolCall(request) {
  return __wharf.unlessWithheld(() => __wharf.call("tool.call", request, false));
}

// wharf:wharf:call/resource.list
async function resourceList(request) {
  return __wharf.call("resource.list", request, false);
}

// wharf:wharf:call/resource.read
async function resourceRead(request) {
  return __wharf.call("resource.read", request, false);
}

// wharf:wharf:call/prompt.get
async function promptGet(request) {
  return __wharf.call("prompt.get", request, false);
}

// wharf:wharf:call/secret.use
async function secretUse(request) {
  return __wharf.call("secret.use", request, false);
}

// wharf:wharf:call/memory.query
async function memoryQuery(request) {
  return __wharf.call("memory.query", request, false);
}

// wharf:wharf:call/memory.write
async function memoryWrite(request) {
  return __wharf.unlessWithheld(() => __wharf.call("memory.write", request, false));
}

// wharf:wharf:call/block.list
async function blockList(request) {
  return __wharf.call("block.list", request, false);
}

// wharf:wharf:call/block.write
async function blockWrite(request) {
  return __wharf.unlessWithheld(() => __wharf.call("block.write", request, false));
}

// wharf:wharf:call/artifact.put
async function artifactPut(request, content) {
  return __wharf.unlessWithheld(() => __wharf.call("artifact.put", __wharf.withContent(request, content), false));
}

// wharf:wharf:call/artifact.get
async function artifactGet(request) {
  return __wharf.call("artifact.get", request, true);
}

// wharf:wharf:call/file.read
async function fileRead(request) {
  return __wharf.call("file.read", request, false);
}

// wharf:wharf:call/file.write
async function fileWrite(request) {
  return __wharf.unlessWithheld(() => __wharf.call("file.write", __wharf.withBytes(request), false));
}

// wharf:wharf:call/file.edit
async function fileEdit(request) {
  return __wharf.unlessWithheld(() => __wharf.call("file.edit", request, false));
}

// wharf:wharf:call/file.list
async function fileList(request) {
  return __wharf.call("file.list", request, false);
}

// wharf:wharf:call/file.remove
async function fileRemove(request) {
  return __wharf.unlessWithheld(() => __wharf.call("file.remove", request, false));
}

// wharf:wharf:call/file.search
async function fileSearch(request) {
  return __wharf.call("file.search", request, false);
}

// wharf:wharf:call/skill.read
async function skillRead(request) {
  return __wharf.call("skill.read", request, false);
}

// wharf:wharf:call/skill.match
async function skillMatch(request) {
  return __wharf.call("skill.match", request, false);
}

// wharf:wharf:call/composition.begin
async function compositionBegin(request) {
  return __wharf.unlessWithheld(() => __wharf.call("composition.begin", request, false));
}

// wharf:wharf:call/composition.end
async function compositionEnd(request) {
  return __wharf.unlessWithheld(() => __wharf.call("composition.end", request, false));
}

// wharf:wharf:call/state.get
async function stateGet(request) {
  return __wharf.call("state.get", request, false);
}

// wharf:wharf:call/state.set
async function stateSet(request) {
  return __wharf.unlessWithheld(() => __wharf.call("state.set", request, false));
}

// wharf:wharf:call/sleep
async function sleep(request) {
  return __wharf.call("sleep", request, false);
}

// wharf:wharf:call/input.request
async function inputRequest(request) {
  return __wharf.call("input.request", request, false);
}

// wharf:wharf:call/auth.request
async function authRequest(request) {
  return __wharf.call("auth.request", request, false);
}

// wharf:wharf:call/approval.request
async function approvalRequest(request) {
  return __wharf.call("approval.request", request, false);
}

// wharf:wharf:call/task.spawn
async function taskSpawn(request) {
  return __wharf.unlessWithheld(() => __wharf.call("task.spawn", request, false));
}

// wharf:wharf:call/task.await
async function taskAwait(request) {
  return __wharf.call("task.await", request, false);
}

// wharf:wharf:call/handoff
async function handoff(request) {
  return __wharf.unlessWithheld(() => __wharf.call("handoff", request, false));
}

// wharf:wharf:call/agent.delegate
async function agentDelegate(request) {
  return __wharf.unlessWithheld(() => __wharf.call("agent.delegate", request, false));
}

// wharf:wharf:call/event.emit
async function eventEmit(request) {
  return __wharf.unlessWithheld(() => __wharf.call("event.emit", request, false));
}

// wharf:wharf:call/config.get
async function configGet(request) {
  return __wharf.call("config.get", request, false);
}

// wharf:wharf:call/host.fact
async function hostFact(request) {
  return __wharf.call("host.fact", request, false);
}

// wharf:wharf:call/connector.deliver
async function connectorDeliver(request) {
  return __wharf.unlessWithheld(() => __wharf.call("connector.deliver", __wharf.withBytes(request), false));
}

// wharf:wharf
async function reply(content) {
  const parts2 = typeof content === "string" ? [{ type: "text", text: content, visibility: "public" }] : content;
  return messageAppend({ role: "assistant", parts: parts2 });
}
function connector(normalize) {
  const meaning = async (delivery, of) => {
    try {
      return { id: delivery.id, ...await normalize(delivery, of) };
    } catch (thrown) {
      return { id: delivery.id, failure: __wharf.failureOf(thrown) };
    }
  };
  return __wharf.alone(async () => {
    const given = await connectorDeliveries();
    const results = [];
    for (const delivery of given.deliveries) results.push(await meaning(delivery, given.connector));
    await connectorNormalized({ results });
    return 0;
  });
}

// wharf.js
__wharf.globals = wharf_globals_exports;
export {
  Failure,
  WharfError,
  agentDelegate,
  agentEvent,
  approvalRequest,
  artifactGet,
  artifactPut,
  authRequest,
  blockList,
  blockWrite,
  clock,
  compositionBegin,
  compositionEnd,
  configGet,
  connector,
  connectorDeliver,
  connectorDeliveries,
  connectorNormalized,
  eventEmit,
  fileEdit,
  fileList,
  fileRead,
  fileRemove,
  fileSearch,
  fileWrite,
  handoff,
  hostFact,
  httpFetch,
  id,
  inboxTake,
  input,
  inputRequest,
  llmComplete,
  log,
  memoryQuery,
  memoryWrite,
  messageAppend,
  messageDelta,
  output2 as output,
  plan,
  planGet,
  planSet,
  progress,
  promptGet,
  random,
  reply,
  resourceList,
  resourceRead,
  secretUse,
  skillMatch,
  skillRead,
  sleep,
  stateGet,
  stateSet,
  taskAwait,
  taskSpawn,
  toolCall,
  toolList,
  transcriptRead
};
