package sandbox

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/internal/share"
	"github.com/wharf-dev/wharf/plugins/js"
)

const helloTS = `import { reply, type Task } from "wharf";
interface Who { name: string }
export async function run(task: Task) {
	const who: Who = { name: task.text };
	await reply("Hello, " + who.name + "!");
	return { summary: "greeted" };
}
`

const anna = `{"role":"user","parts":[{"type":"text","text":"Anna 漢字 😀","visibility":"public"}]}`

// scripted builds a plugin of one source in TypeScript.
func scripted(t testing.TB, source string) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "plugin.ts")
	if err := os.WriteFile(file, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	made, err := js.Bundle(file)
	if err != nil {
		t.Fatal(err)
	}
	return made.Module
}

// script compiles a plugin of one source in TypeScript.
func script(t testing.TB, r *Runtime, source string) *Module {
	t.Helper()
	return compile(t, r, scripted(t, source))
}

// told is a Task that keeps every request, refuses state.get, and holds back what a tier would.
type told struct {
	*task
	requests []string
}

func (h *told) Call(ctx context.Context, call string, request []byte) (abi.CallStatus, []byte, error) {
	h.requests = append(h.requests, call+" "+string(request))
	if call == abi.CallStateGet {
		return abi.CallDenied, []byte(`{"code":"policy_denied","message":"not for you"}`), nil
	}
	switch call {
	case abi.CallStateSet:
		return abi.CallDenied, []byte(`{"code":"shadow","message":"not in the shadow"}`), nil
	case abi.CallRandom:
		return abi.CallOK, make([]byte, 3), nil
	case abi.CallHTTPFetch:
		return abi.CallOK, []byte(`{"status":200,"url":"http://a.test/","header":{"content-type":"application/json"},"text":"{\"a\":[1,2]}"}`), nil
	}
	return h.task.Call(ctx, call, request)
}

func TestTypeScript(t *testing.T) {
	r := newRuntime(t, Config{})
	m := script(t, r, helloTS)
	if got := fmt.Sprint(m.Imports(), m.Exports()); got != "[input message.append output] [run]" {
		t.Errorf("a greeting has the imports and exports %s", got)
	}
	checkGreetsAnna(t, m)
}

// checkGreetsAnna runs a plugin twice that greets, and begins each time with its program loaded.
func checkGreetsAnna(t *testing.T, m *Module) {
	t.Helper()
	for range 2 {
		h := newTask(t, anna)
		if _, err := m.Run(t.Context(), abi.DefaultExport, h, Limits{}); err != nil {
			t.Fatal(err)
		}
		if got := marshal(t, h.message.Parts); got != `[{"type":"text","text":"Hello, Anna 漢字 😀!","visibility":"public"}]` || h.output.Summary != "greeted" {
			t.Errorf("it says %s, and %q %v", got, h.output.Summary, h.output.Failure)
		}
	}
	if m.shape.Why != "" || !m.once {
		t.Errorf("the program is loaded anew for each Task: %s", m.shape.Why)
	}
	t.Logf("initialization takes %d units of gas", m.shape.Gas)
}

// TestTypeScriptResults holds what comes of what a program does: summaries, and failures
// that say what was thrown, where.
func TestTypeScriptResults(t *testing.T) {
	share.Alone(t)
	r := newRuntime(t, Config{CacheDir: t.TempDir()})
	// All have the same imports, so that the engine is compiled once.
	const imports = `import * as calls_ from "wharf"; globalThis.kept_ = [calls_.stateGet, calls_.stateSet, calls_.httpFetch, calls_.artifactPut, calls_.random, calls_.log];
const sent_ = (f: () => Promise<unknown>) => f().then(String, (e) => e.name + ": " + e.message);
`
	for _, test := range []struct{ name, source, want string }{
		{"a text", `export const run = () => "done";`, "done"},
		{"the default export", `export default async () => "done";`, "done"},
		{"typed errors", `import { stateGet, WharfError } from "wharf";
			export async function run() { try { await stateGet({ key: "k" }); } catch (e) { return e instanceof WharfError && e.status + " " + e.code + " " + e.message; } }`,
			"denied policy_denied state.get: not for you"},
		{"an error that nobody caught", `import { stateGet } from "wharf"; export const run = () => stateGet({ key: "k" });`, "plugin_error WharfError: state.get: not for you"},
		{"a failure of its own", `import { Failure } from "wharf"; export const run = () => { throw new Failure("no_tea", "the pot is empty"); };`, "no_tea the pot is empty"},
		{"fetch", `export const run = async () => { const r = await fetch(new Request_().url); return r.status + " " + r.headers.get("Content-Type") + " " + (await r.json()).a.length; };
			class Request_ { url = "http://a.test/" }`, "200 application/json 2"},
		{"timers", `export const run = async () => { const said = []; setTimeout(() => said.push("b"), 20); setTimeout(() => said.push("a"), 5);
			await new Promise((done) => setTimeout(done, 30)); return said.join(""); };`, "ab"},
		{"what never ends", `export const run = () => new Promise(() => {});`, "plugin_error the plugin awaits a promise that nothing resolves"},
		{"broken when loaded", `export const run = () => "x"; throw new TypeError("at the top");`, "plugin_error TypeError: at the top"},
		{"top-level await", `const x = await Promise.resolve("late"); export const run = () => x;`, "late"},
		{"text and bytes", `export const run = () => new TextDecoder().decode(new TextEncoder().encode("漢😀")) + crypto.randomUUID().length;`, "漢😀36"},
		{"what a tier holds back", `import { stateSet } from "wharf"; export const run = async () => (await stateSet({ key: "k", value: 1 })).withheld;`, "shadow"},
		{"no count", `import { random } from "wharf"; export const run = () => sent_(() => random(-1));`, "RangeError: random takes how many bytes it is to make, a whole number"},
		{"a count in bytes", `import { random } from "wharf"; export const run = () => sent_(() => random(Uint8Array.of(1, 0, 0, 0)));`,
			"RangeError: random takes how many bytes it is to make, a whole number"},
		{"no content", `import { artifactPut } from "wharf"; export const run = () => sent_(() => artifactPut({ kind: "file" }));`,
			"TypeError: artifactPut takes the content after the request: a Uint8Array, an ArrayBuffer or a text"},
		{"what is declared is there", `export const run = () => [console.log, console.info, console.debug, console.warn, console.error, fetch, Headers, setTimeout, setInterval, clearTimeout,
			clearInterval, queueMicrotask, TextEncoder, TextDecoder, crypto.getRandomValues, crypto.randomUUID, performance.now, atob, btoa, Uint8Array.fromBase64].map((f) => typeof f).join("").replaceAll("function", ".");`, strings.Repeat(".", 20)},
		{"no function", `export const run = 1;`, "plugin_error TypeError: the export is no function"},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := &told{task: newTask(t, anna)}
			if _, err := script(t, r, imports+test.source).Run(t.Context(), abi.DefaultExport, h, Limits{}); err != nil {
				t.Log(err)
			}
			got := h.output.Summary
			if f := h.output.Failure; f != nil {
				got = f.Code + " " + f.Message
			}
			if got != test.want {
				t.Errorf("it says %q, want %q", got, test.want)
			}
		})
	}
}

// TestTypeScriptBytes holds how bytes of every kind are sent: as they are, and in base64 where a
// request has them among other members.
func TestTypeScriptBytes(t *testing.T) {
	m := script(t, newRuntime(t, Config{}), `import { artifactPut, fileWrite, random } from "wharf";
export async function run() {
	const all = Uint8Array.from({ length: 260 }, (_, i) => i);
	await random(0x01020304);
	for (const content of ["", "ä\n", all.subarray(254), new Uint16Array([1, 513]), all.slice(0, 2).buffer, new DataView(all.buffer, 9, 2)]) {
		await artifactPut({ name: "n" }, content);
		if (typeof content !== "string") await fileWrite({ path: "p", body: content });
	}
	return "sent";
}
`)
	h := &told{task: newTask(t, anna)}
	if _, err := m.Run(t.Context(), abi.DefaultExport, h, Limits{}); err != nil || h.output.Summary != "sent" {
		t.Fatalf("it ends with %+v, %v", h.output, err)
	}
	put := func(content string) string { return "artifact.put {\"name\":\"n\"}\n" + content }
	write := func(body string) string { return `file.write {"path":"p","body":"` + body + `"}` }
	want := []string{"input ", "random \x04\x03\x02\x01", put(""), put("ä\n"), put("\xfe\xff\x00\x01\x02\x03"), write("/v8AAQID"),
		put("\x01\x00\x01\x02"), write("AQABAg=="), put("\x00\x01"), write("AAE="), put("\t\n"), write("CQo="), `output {"summary":"sent"}`}
	if !slices.Equal(h.requests, want) {
		t.Errorf("it sends\n%q, want\n%q", h.requests, want)
	}
}

// TestTypeScriptGreets holds that a Task's text is the same as in other languages.
func TestTypeScriptGreets(t *testing.T) {
	checkGreets(t, scripted(t, helloTS), abi.CallInput, abi.CallMessageAppend, abi.CallOutput)
}

// TestTypeScriptConnector holds that a delivery for which a Connector's function throws is put aside,
// and the others are not.
func TestTypeScriptConnector(t *testing.T) {
	m := script(t, newRuntime(t, Config{}), `import { connector, Failure } from "wharf";
export const run = connector(async (delivery, { provider }) => {
	if (delivery.text === "own") throw new Failure("no_ticket", "this is none");
	if (delivery.text === "bad") return JSON.parse("{");
	return delivery.text ? { ignored: provider } : undefined;
});
`)
	var requests []string
	h := &host{answer: func(_ context.Context, call string, request []byte) (abi.CallStatus, []byte, error) {
		requests = append(requests, call+" "+string(request))
		return abi.CallOK, []byte(`{"connector":{"provider":"p"},"deliveries":[{"id":"1","text":"own"},{"id":"2","text":"bad"},{"id":"3","text":"x"},{"id":"4"}]}`), nil
	}}
	if _, err := m.Run(t.Context(), abi.DefaultExport, h, Limits{}); err != nil {
		t.Fatal(err)
	}
	want := []string{"connector.deliveries ", `connector.normalized {"results":[{"id":"1","failure":{"code":"no_ticket","message":"this is none"}},` +
		`{"id":"2","failure":{"code":"plugin_error","message":"SyntaxError: Expected property name or '}' in JSON at position 1 (line 1 column 2)","details":{"stack":["plugin.ts:4:43"]}}},` +
		`{"id":"3","ignored":"p"},{"id":"4"}]}`}
	if !slices.Equal(requests, want) {
		t.Errorf("it says\n%s, want\n%s", requests, want)
	}
}

// TestTypeScriptFailsCheaply holds that a batch in which much is put aside takes not much more than one in
// which a single delivery is: what says where something was thrown is read once.
func TestTypeScriptFailsCheaply(t *testing.T) {
	m := script(t, newRuntime(t, Config{}), `import { connector } from "wharf";
export const run = connector((delivery) => JSON.parse(delivery.text!));
`)
	gas := func(deliveries int) uint64 {
		answer := `{"connector":{},"deliveries":[` + strings.TrimSuffix(strings.Repeat(`{"id":"1","text":"{"},`, deliveries), ",") + `]}`
		h := &host{answer: func(context.Context, string, []byte) (abi.CallStatus, []byte, error) {
			return abi.CallOK, []byte(answer), nil
		}}
		usage, err := m.Run(t.Context(), abi.DefaultExport, h, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		return usage.Gas
	}
	if one, many := gas(1), gas(50); many > 2*one {
		t.Errorf("50 deliveries that are put aside take %d units of gas, one takes %d", many, one)
	}
}

// TestTypeScriptStacks holds that the stack of what was thrown is of the author's files and lines,
// and of them alone.
func TestTypeScriptStacks(t *testing.T) {
	m := script(t, newRuntime(t, Config{}), `import { Failure } from "wharf";
interface Unused { a: string }
class Oven {
	bake(what: string): never {
		/* 漢😀 */ throw new RangeError("no " + what);
	}
}
export async function run() {
	await null;
	return [1].map(() => new Oven().bake("cake"));
}
`)
	h := newTask(t, anna)
	if _, err := m.Run(t.Context(), abi.DefaultExport, h, Limits{}); err != nil {
		t.Fatal(err)
	}
	want := `{"stack":["bake (plugin.ts:5:42)","plugin.ts:10:34","run (plugin.ts:10:13)"]}`
	if got := marshal(t, h.output.Failure.Details); got != want {
		t.Errorf("the failure has %s, want %s", got, want)
	}
}

// TestTypeScriptRecursion holds that what goes too deep is an error that the program can catch,
// and that it goes on afterwards: at the depth that a node gives, no recursion is a trap.
func TestTypeScriptRecursion(t *testing.T) {
	const cases = `
const nested = (n: number, open: string, close: string, middle = "") => open.repeat(n) + middle + close.repeat(n);
const deep = (n: number, wrap: (inner: any) => any, from: any = 1) => { for (let i = 0; i < n; i++) from = wrap(from); return from; };
const cases: Record<string, () => unknown> = {
	plain() { const f = (): number => 1 + f(); return f(); },
	arguments() { const f = (...all: number[]): number => f(...all, 1) + 1; return f(); },
	mutual() { const odd = (n: number): boolean => !even(n + 1), even = (n: number): boolean => !odd(n + 1); return odd(0); },
	tail() { const f = (n: number): number => f(n + 1); return f(0); },
	method() { const o = { f(): number { return this.f() + 1; } }; return o.f(); },
	constructor() { class A { a = new A(); } return new A(); },
	bound() { let f: any = () => 1; for (let i = 0; i < 1e5; i++) f = f.bind(null); return f(); },
	apply() { const f = (): number => f.apply(null, []) + 1; return f(); },
	getter() { const o = { get x(): number { return this.x + 1; } }; return o.x; },
	proxy() { const o: any = new Proxy({}, { get: (t, k, self) => self[k] }); return o.x; },
	proxies() { return deep(1e5, (p) => new Proxy(p, {}), {}).x; },
	toString() { const o = { toString(): string { return "" + this; } }; return "" + o; },
	valueOf() { const o: any = { valueOf() { return +this; } }; return +o; },
	iterator() { const o: any = { *[Symbol.iterator]() { yield* this; } }; return [...o]; },
	generator() { function* g(): any { yield* g(); } return g().next(); },
	sort() { const f = (): any => [2, 1].sort(() => f()); return f(); },
	map() { const f = (): any => [1].map(f); return f(); },
	replace() { const f = (): string => "a".replace(/a/, f); return f(); },
	reviver() { const f = (): any => JSON.parse("[1]", f); return f(); },
	toJSON() { const o = { toJSON(): string { return JSON.stringify(o); } }; return JSON.stringify(o); },
	parse() { return JSON.parse("[".repeat(1e5)); },
	parseObjects() { return JSON.parse('{"a":'.repeat(1e5)); },
	stringify() { return JSON.stringify(deep(1e5, (a) => [a])); },
	flat() { return deep(1e5, (a) => [a]).flat(Infinity); },
	join() { return String(deep(1e5, (a) => [a])); },
	regexpGroups() { return new RegExp(nested(1e5, "(", ")")); },
	regexpClasses() { return new RegExp(nested(1e5, "[", "]"), "v"); },
	regexpLookaround() { return new RegExp(nested(1e5, "(?=", ")")); },
	evalBrackets() { return eval(nested(1e5, "[", "]")); },
	evalParentheses() { return eval(nested(1e5, "(", ")", "1")); },
	evalUnary() { return eval("!".repeat(1e5) + "1"); },
	evalBlocks() { return eval(nested(1e5, "{", "}")); },
	evalFunctions() { return eval(nested(2e4, "(function(){", "})")); },
	evalArrows() { return eval("()=>".repeat(1e5) + "1"); },
	evalClasses() { return eval(nested(2e4, "(class{x=", "})", "1")); },
	evalTemplates() { return eval(nested(2e4, "\u0060\u0024{", "}\u0060", "1")); },
	evalDestructuring() { return eval("let " + nested(1e5, "[", "]", "a") + "=1"); },
	evalConditions() { return eval("1?".repeat(1e5) + "1"); },
	evalPowers() { return eval("1**".repeat(1e5) + "1"); },
	evalCalls() { return eval("f(".repeat(1e5)); },
	evalIfs() { return eval("if(1)".repeat(1e5) + ";"); },
	evalItself() { const f = () => eval("f()"); return f(); },
	FunctionItself() { (globalThis as any).again = () => new Function("return again()")(); return (globalThis as any).again(); },
};
// What is deep, and has to work.
const fine: Record<string, () => unknown> = {
	prototypes() { return deep(1e5, (p) => Object.create(p), null).x; },
	backtracking() { return /^(a|aa)+$/.test("a".repeat(26) + "b"); },
	levels() { const f = (n: number): number => n ? f(n - 1) + 1 : 0; return f(2000); },
	json() { return JSON.parse(nested(1000, "[", "]")); },
	walk() { const f = (v: any): number => Array.isArray(v) ? v.reduce((n, x) => n + f(x), 0) : 1; return f(deep(60, (a) => [a])); },
	text() { let s = ""; for (let i = 0; i < 5e3; i++) s = "a" + s + "b"; return s.length; },
	freed() { let l: any = null; for (let i = 0; i < 1e5; i++) l = { l }; l = null; return 1; },
	async chain() { let p: Promise<number> = Promise.resolve(0); for (let i = 0; i < 2e4; i++) p = p.then((n) => n + 1); return p; },
};
export async function run(task: any) {
	const wrong: string[] = [];
	const what = task.text;
	if (fine[what]) { await fine[what](); return "RangeError"; }
	if (what === "async") { const f = async (): Promise<number> => 1 + await f(); try { await f(); } catch (e) { return (e as Error).name; } return "none"; }
	try { cases[what](); } catch (e) { return (e as Error).name; }
	return "none";
}
export const names = () => [...Object.keys(cases), ...Object.keys(fine), "async"].join(" ");
`
	// What the engine tells in another way: a pattern or a source that is nested too deeply, and
	// a chain of bound functions.
	others := map[string]string{"regexpGroups": "SyntaxError", "regexpClasses": "SyntaxError", "regexpLookaround": "SyntaxError",
		"evalDestructuring": "SyntaxError", "bound": "InternalError"}
	m := script(t, newRuntime(t, Config{}), cases)
	ask := func(export, what string) (string, error) {
		h := newTask(t, fmt.Sprintf(`{"role":"user","parts":[{"type":"text","text":%q,"visibility":"public"}]}`, what))
		_, err := m.Run(t.Context(), export, h, Limits{})
		return h.output.Summary, err
	}
	names, err := ask("names", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Fields(names) {
		want := cmp.Or(others[name], "RangeError")
		if got, err := ask(abi.DefaultExport, name); err != nil || got != want {
			t.Errorf("%s ends with %q, %v; want %q", name, got, err, want)
		}
	}
}

// TestTypeScriptRepeats holds that two Tasks with the same answers ask the same, also where
// they look at clocks and draw chance.
func TestTypeScriptRepeats(t *testing.T) {
	m := script(t, newRuntime(t, Config{}), `const loaded = Math.random();
		export async function run() {
			console.log(Date.now(), new Date().toISOString(), performance.now(), Math.random(), crypto.randomUUID(), loaded);
			for (const k of new Set([3, 1, 2])) console.warn(k, Math.random());
		}`)
	var runs [2][]string
	for i := range runs {
		h := &told{task: newTask(t, anna)}
		if _, err := m.Run(t.Context(), abi.DefaultExport, h, Limits{}); err != nil {
			t.Fatal(err)
		}
		runs[i] = h.requests
	}
	if !slices.Equal(runs[0], runs[1]) || !strings.HasPrefix(runs[0][1], "log ") {
		t.Errorf("two runs ask:\n%s\n%s", strings.Join(runs[0], "\n"), strings.Join(runs[1], "\n"))
	}
}

func BenchmarkRunTypeScript(b *testing.B) {
	m := script(b, newRuntime(b, Config{}), helloTS)
	for b.Loop() {
		if _, err := m.Run(b.Context(), abi.DefaultExport, newTask(b, anna), Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPristineTypeScript(b *testing.B) {
	m := script(b, newRuntime(b, Config{}), helloTS)
	benchmarkPristine(b, m, newTask(b, anna))
}

// TestTypeScriptDocumentedExamples runs the programs of docs/sdk-typescript.md.
func TestTypeScriptDocumentedExamples(t *testing.T) {
	share.Alone(t)
	r := newRuntime(t, Config{})
	answers := map[string]string{abi.CallRandom: "abc", abi.CallArtifactGet: "kept", abi.CallStateGet: `{"value":"art_1"}`, abi.CallDeliveries: `{"connector":{},"deliveries":[{"id":"del_1","text":"{\"id\":\"T-1\",\"text\":\"t\"}"}]}`}
	for i, source := range blocks(t, "../../docs/sdk-typescript.md", "ts") {
		given := newTask(t, anna)
		h := &host{keep: true, answer: func(ctx context.Context, call string, request []byte) (abi.CallStatus, []byte, error) {
			if answer, ok := answers[call]; ok {
				return abi.CallOK, []byte(answer), nil
			}
			return given.Call(ctx, call, request)
		}}
		if _, err := script(t, r, source).Run(t.Context(), abi.DefaultExport, h, Limits{}); err != nil || given.output.Failure != nil {
			t.Errorf("example %d ends with %v, %v", i+1, err, given.output.Failure)
		}
	}
}
