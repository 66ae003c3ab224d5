package sandbox

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
)

// assemblyScript is the folder of the SDK, where npm ci puts the compiler.
const assemblyScript = "../../sdk/assemblyscript"

// asc finds the compiler that npm has put beside the SDK, or another one of the path's.
func asc(t *testing.T) string {
	t.Helper()
	needs(t, "node")
	for _, name := range []string{assemblyScript + "/node_modules/.bin/asc", "asc"} {
		found, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		program, err := filepath.Abs(found)
		if err != nil {
			t.Fatal(err)
		}
		return program
	}
	t.Skip("skipped: asc is not installed: npm ci in sdk/assemblyscript gets it")
	return ""
}

// buildAssemblyScript builds a plugin with the SDK of this tree, with the options that the SDK is documented with. A
// warning is an error.
func buildAssemblyScript(t *testing.T, source string) []byte {
	t.Helper()
	dir := t.TempDir()
	copyTo(t, filepath.Join(dir, "wharf"), assemblyScript+"/assembly")
	return compileAssemblyScript(t, dir, source, blocks(t, "../../docs/sdk-assemblyscript.md", "json")[0])
}

func copyTo(t *testing.T, folder, from string) {
	t.Helper()
	if err := os.CopyFS(folder, os.DirFS(filepath.FromSlash(from))); err != nil {
		t.Fatal(err)
	}
}

func compileAssemblyScript(t *testing.T, dir, source, config string) []byte {
	t.Helper()
	program := asc(t)
	writeText(t, filepath.Join(dir, "assembly", "index.ts"), source)
	writeText(t, filepath.Join(dir, "asconfig.json"), config)
	if out := said(t, dir, nil, program, "assembly/index.ts", "--outFile", "out.wasm"); out != "" {
		t.Errorf("the compiler says\n%s", out)
	}
	return []byte(fileText(t, filepath.Join(dir, "out.wasm")))
}

// TestAssemblyScriptGreets runs a plugin of a few lines, and that of docs/sdk-assemblyscript.md.
func TestAssemblyScriptGreets(t *testing.T) {
	checkGreets(t, buildAssemblyScript(t, assemblyScriptGreets), abi.CallInput, abi.CallLog, abi.CallMessageAppend, abi.CallOutput)
	checkCounts(t, buildAssemblyScript(t, blocks(t, "../../docs/sdk-assemblyscript.md", "ts")[0]))
}

// TestAssemblyScriptAsAPackage builds a plugin with the SDK where npm installs packages.
func TestAssemblyScriptAsAPackage(t *testing.T) {
	dir := t.TempDir()
	packed := filepath.Join(dir, "node_modules", "wharf-plugin")
	copyTo(t, filepath.Join(packed, "assembly"), assemblyScript+"/assembly")
	writeText(t, filepath.Join(packed, "index.ts"), fileText(t, assemblyScript+"/index.ts"))
	source := strings.Replace(assemblyScriptGreets, `"../wharf"`, `"wharf-plugin"`, 1)
	wasm := compileAssemblyScript(t, dir, source, blocks(t, "../../docs/sdk-assemblyscript.md", "json")[1])
	checkGreets(t, wasm, abi.CallInput, abi.CallLog, abi.CallMessageAppend, abi.CallOutput)
}

const assemblyScriptGreets = `import { main, Outcome, reply, Task } from "../wharf";

export function run(): i32 { return main(greet); }

function greet(task: Task): Outcome {
  reply("Hello, " + task.text + "!");
  return { summary: "greeted" };
}
`

// TestAssemblyScriptEnds holds what becomes of a plugin in AssemblyScript that fails, and of calls that do.
func TestAssemblyScriptEnds(t *testing.T) {
	m := compile(t, newRuntime(t, Config{}), buildAssemblyScript(t, assemblyScriptEnds))
	const denied, proposed = `{"code":"http_denied","message":"no host"}`, `{"code":"proposed","message":"noted"}`
	for _, c := range []struct {
		name, input, code, message, summary string
		traps                               bool
	}{
		{name: "an index", input: "index", traps: true, code: "plugin_panic", message: "the plugin panicked: Index out of range at "},
		{name: "a throw", input: "throw", traps: true, code: "plugin_panic", message: "the plugin panicked: no \"tea\"\n at assembly/index.ts:16"},
		{name: "a code", input: "fail", code: "no_tea", message: "the pot is empty"},
		{name: "a call", input: "fetch", traps: true, code: "plugin_error", message: "http.fetch: no host (http_denied)"},
		{name: "a call that is tried", input: "try", summary: "http.fetch 2 http_denied no host"},
		{name: "a call that is held back", input: "held", summary: "1"},
		{name: "a call with an answer that is no JSON", input: "garbled", traps: true, code: "plugin_error", message: "memory.query: reading the answer: it is no object (plugin_error)"},
		{name: "randomness", input: "random", summary: "0.5 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newTask(t, `"`+c.input+`"`)
			given := h.input
			var logged []string
			ask := &host{answer: func(ctx context.Context, call string, request []byte) (abi.CallStatus, []byte, error) {
				switch call {
				case abi.CallInput:
					return abi.CallOK, given, nil
				case abi.CallLog:
					logged = append(logged, string(request))
					return abi.CallOK, nil, nil
				case abi.CallHTTPFetch:
					return abi.CallDenied, []byte(denied), nil
				case abi.CallMemoryWrite:
					return abi.CallDenied, []byte(proposed), nil
				case abi.CallMemoryQuery:
					return abi.CallOK, []byte("memories"), nil
				case abi.CallRandom:
					return abi.CallOK, []byte{3, 3, 3, 3, 3, 3, 3, 3}[:request[0]], nil
				}
				return h.Call(ctx, call, request)
			}}
			_, err := m.Run(t.Context(), abi.DefaultExport, ask, Limits{})
			if c.traps {
				checkFailure(t, err, abi.FailurePluginTrap, "unreachable")
			} else if err != nil {
				t.Fatal(err)
			}
			f := h.output.Failure
			switch {
			case c.code == "" && (f != nil || h.output.Summary != c.summary):
				t.Errorf("it ends with %+v, %+v, want %q", h.output, f, c.summary)
			case c.code != "" && (f == nil || f.Code != c.code || !strings.HasPrefix(f.Message, c.message)):
				t.Errorf("it ends with %+v, want %s: %s", f, c.code, c.message)
			}
			if panics := c.code == "plugin_panic"; panics != (len(logged) == 1) {
				t.Errorf("it logs %q", logged)
			}
		})
	}
}

// assemblyScriptEnds is a plugin that ends as it is asked to.
const assemblyScriptEnds = `import { end, fail, fillRandom, httpFetch, main, memoryQuery, memoryWrite, Outcome, Status, Task, tryHttpFetch } from "../wharf";

export function run(): i32 { return main(ends); }

class Pot {
  cups: i32[] = [];
}

function ends(task: Task): Outcome {
  const how = task.text;
  if (how == "index") {
    const pot = new Pot();
    return { summary: pot.cups[how.length].toString() };
  }
  if (how == "throw") {
    if (task.id != "") throw new Error("no \"tea\"\n");
  }
  if (how == "fail") return fail("no_tea", "the pot is empty");
  if (how == "fetch") return { summary: httpFetch({ url: "https://x" }).text };
  if (how == "try") {
    const error = tryHttpFetch({ url: "https://x" }).error!;
    if (error.status != Status.DENIED) end("it is not denied");
    return { summary: error.call + " " + error.status.toString() + " " + error.code + " " + error.message };
  }
  if (how == "held") return { summary: memoryWrite({}).withheld.toString() };
  if (how == "garbled") return { summary: memoryQuery({}).memories.length.toString() };
  const bytes = new Uint8Array(1);
  fillRandom(bytes);
  return { summary: (Math.random() < 1 ? "0.5 " : "1 ") + bytes[0].toString() };
}
`
