import { random, tryLog } from "./calls";
import { hostLog, hostOutput } from "./host";

/** Whether the export that runs is a Connector's, which has no output. */
let connecting = false;
/** Whether the plugin is ending: what goes wrong then ends it at once. */
let ending = false;

/** Says that the export that runs is a Connector's. */
export function beginConnector(): void { connecting = true; }

/** Ends the plugin at once. The Task fails with the code plugin_error and a message; of a Connector the message goes to the log. */
export function end(message: string): void {
  if (!ending) {
    ending = true;
    if (connecting) logError(message);
    else fails("plugin_error", message);
  }
  unreachable();
}

/**
 * What the compiler calls instead of env.abort, for a throw, an assertion, an index out of range: see
 * asconfig.json. The Task fails with the code plugin_panic.
 *
 * It may be called from everywhere, so it makes nothing but texts: the compiler crashes when it comes, by
 * way of this, to the constructor of a class while it is about that constructor.
 */
export function panicked(message: string | null, file: string | null, line: u32, column: u32): void {
  if (!ending) {
    ending = true;
    const text = (message && message.length ? message : "it was aborted") + " at " + (file ? file : "?") + ":" + line.toString();
    logError("panicked: " + text);
    if (!connecting) fails("plugin_panic", "the plugin panicked: " + text);
  }
  unreachable();
}

function logError(message: string): void {
  const request = String.UTF8.encode('{"level":"error","message":' + quoted(message) + "}");
  hostLog(changetype<usize>(request), request.byteLength);
}

function fails(code: string, message: string): void {
  const request = String.UTF8.encode('{"failure":{"code":' + quoted(code) + ',"message":' + quoted(message) + "}}");
  hostOutput(changetype<usize>(request), request.byteLength);
}

/** A text of JSON, in which control characters are spaces. */
function quoted(text: string): string {
  let quoted = '"', from = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i), control = c < 0x20;
    if (!control && c != 0x22 && c != 0x5c) continue;
    quoted += text.substring(from, i) + (control ? (c == 0x0a ? "\\n" : " ") : "\\");
    from = control ? i + 1 : i;
  }
  return quoted + text.substring(from) + '"';
}

/** What the compiler calls instead of env.seed: Math.random begins with randomness of the host, which is recorded. */
export function seed(): f64 { return reinterpret<f64>(load<u64>(random(8).dataStart)); }

/** What the compiler calls instead of env.trace: trace() writes to the log. */
export function trace(message: string, n: i32 = 0, a: f64 = 0, b: f64 = 0, c: f64 = 0, d: f64 = 0, e: f64 = 0): void {
  const all = [a, b, c, d, e];
  for (let i = 0; i < n && i < 5; i++) message += (i ? ", " : " ") + all[i].toString();
  tryLog({ level: "debug", message });
}
