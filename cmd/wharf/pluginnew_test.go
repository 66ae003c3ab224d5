package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/cmd/wharf/internal/building"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/templates"
	"github.com/wharf-dev/wharf/internal/cargotest"
	"github.com/wharf-dev/wharf/internal/share"
	"github.com/wharf-dev/wharf/runtime/alone"
	"github.com/wharf-dev/wharf/runtime/manifest"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

// newPlugins are all that can be made: every language, with every kind that its SDK has.
func newPlugins(t *testing.T) (all []templates.Wanted) {
	t.Helper()
	for _, language := range templates.Languages() {
		for _, kind := range templates.Kinds() {
			w := templates.Wanted{Name: "first-one", Language: language, Kind: kind}
			if _, err := templates.Make(w); err == nil {
				all = append(all, w)
			} else if !errors.Is(err, templates.ErrRefused) {
				t.Fatal(err)
			}
		}
	}
	return all
}

// quick says what is made in every run of the tests. The rest is made with WHARF_LONG: compilers take long,
// and the sandbox does for large modules.
func quick(w templates.Wanted) bool {
	switch w.Language {
	case "typescript", "assemblyscript":
		return w.Kind == manifest.KindPersona
	case "python":
		return w.Kind == manifest.KindHook
	case "c":
		return w.Kind == manifest.KindHook || w.Kind == manifest.KindConnector
	}
	return false
}

// From an empty folder: a new plugin has nothing wrong with it, is built, fits its manifest, is
// loaded by a node's sandbox, and does what it says.
func TestNewPluginsRun(t *testing.T) {
	runtime, err := sandbox.New(t.Context(), sandbox.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer runtime.Close(t.Context())
	t.Setenv("GOWORK", "off")                 // the folders are in nobody's workspace
	t.Setenv("CARGO_TARGET_DIR", t.TempDir()) // so that crates are compiled once
	mine := share.Of(t)
	for i, w := range newPlugins(t) {
		t.Run(w.Language+"/"+string(w.Kind), func(t *testing.T) {
			switch {
			case quick(w):
			case os.Getenv("WHARF_LONG") == "":
				t.Skip("its compiler takes long: set WHARF_LONG=1 to run it")
			default:
				share.Skip(t, mine, i)
			}
			made := [][]byte{builtNew(t, w)}
			if slices.Contains([]string{"assemblyscript", "c", "cpp", "rust"}, w.Language) {
				made = append(made, quicklyBuilt(t, w))
			}
			for _, wasm := range made {
				module, err := runtime.Compile(t.Context(), wasm)
				if err != nil {
					t.Fatal(err)
				}
				defer module.Close(t.Context())
				tryNew(t, module, w)
			}
		})
	}
}

// quicklyBuilt makes a plugin and builds it as "wharf plugin dev" does.
func quicklyBuilt(t *testing.T, w templates.Wanted) []byte {
	t.Helper()
	p, err := openProject(written(t, w))
	if err != nil {
		t.Fatal(err)
	}
	built, err := building.Build(t.Context(), p, building.Options{Quick: true})
	if err != nil {
		t.Fatal(err)
	}
	return built.Wasm
}

// builtNew makes a plugin and builds it.
func builtNew(t *testing.T, w templates.Wanted) []byte {
	t.Helper()
	return builtIn(t, written(t, w), w.Language)
}

// builtIn builds the plugin of a folder. Where its toolchain is missing, the test is skipped with the reason.
func builtIn(t *testing.T, folder, language string) []byte {
	t.Helper()
	wantClean(t, folder)
	useToolchain(t, language)
	p, err := openProject(folder)
	if err != nil {
		t.Fatal(err)
	}
	built, err := building.Build(t.Context(), p, building.Options{})
	if missing, ok := errors.AsType[*building.Missing](err); ok {
		t.Skip(missing)
	}
	if err != nil && strings.Contains(err.Error(), "failed to select a version for the requirement") {
		t.Skip("Debian's crates are older than what the SDK asks for")
	}
	if err != nil {
		t.Fatal(err)
	}
	wantClean(t, folder)
	wantCasesPass(t, folder)
	return built.Wasm
}

// A new plugin in Rust does the same when cargo is told to build for WASI.
func TestNewRustPluginForWASI(t *testing.T) {
	if os.Getenv("WHARF_LONG") == "" {
		t.Skip("its compiler takes long: set WHARF_LONG=1 to run it")
	}
	share.Quarter(t, 0)
	w := templates.Wanted{Name: "first-one", Language: "rust", Kind: manifest.KindPersona}
	folder := written(t, w)
	config := filepath.Join(folder, ".cargo", "config.toml")
	if err := errors.Join(os.Mkdir(filepath.Dir(config), 0o755), os.WriteFile(config, []byte("[build]\ntarget = \"wasm32-wasip1\"\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	wasm := builtIn(t, folder, w.Language)
	if !strings.Contains(string(wasm), "wasi_snapshot_preview1") {
		t.Error("it asks nothing of WASI")
	}
	local, err := newLocalModule(t.Context(), &localPlugin{name: w.Name, wasm: wasm})
	if err != nil {
		t.Fatal(err)
	}
	defer local.close()
	tryNew(t, local.module, w)
}

// wantCasesPass runs a new plugin's test cases, as "wharf plugin test" does.
func wantCasesPass(t *testing.T, folder string) {
	t.Helper()
	ask := &pluginTest{}
	if err := ask.check([]string{folder}); err != nil {
		t.Fatal(err)
	}
	cases, err := newTester(t.Context(), ask)
	if err != nil {
		t.Fatal(err)
	}
	defer cases.close()
	names, err := cases.cases()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if r := cases.test(t.Context(), name); r.Result != casePassed {
			t.Errorf("its test case: %+v", r)
		}
	}
}

// useToolchain has what builds a language be found where tests have it.
func useToolchain(t testing.TB, language string) {
	t.Helper()
	switch language {
	case "rust":
		cargotest.UseDebiansCrates(t)
	case "assemblyscript":
		useTheSDKsCompiler(t)
	}
}

// useTheSDKsCompiler has the compiler of AssemblyScript found that npm has put beside the SDK: npm is not run here.
func useTheSDKsCompiler(t testing.TB) {
	t.Helper()
	programs, err := filepath.Abs("../../sdk/assemblyscript/node_modules/.bin")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", programs+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

func wantClean(t *testing.T, folder string) {
	t.Helper()
	l, err := lintAt(t.Context(), folder)
	if err != nil || len(l.Problems) > 0 {
		t.Fatalf("its manifest: %v, %v", l, err)
	}
}

// tryNew runs a new plugin without a node.
func tryNew(t *testing.T, module *sandbox.Module, w templates.Wanted) {
	t.Helper()
	input, want := `{"text":"so much depends upon"}`, ""
	switch w.Kind {
	case manifest.KindPersona:
		input = `{"role":"user","parts":[{"type":"text","text":"so much depends upon","visibility":"public"}]}`
		want = `"text":"Hello, so much depends upon!"`
	case manifest.KindSkill:
		want = `"value":{"words":4}`
	case manifest.KindHook:
		input, want = `{"event":"pre_tool","tool":"files:delete_all"}`, `{\"decision\":\"deny\",\"reason\":\"nothing is deleted here\"}`
	case manifest.KindConnector:
		want = `"thread":"T-1"`
	}
	given, err := alone.Given(w.Name, "run", []byte(input))
	if err != nil {
		t.Fatal(err)
	}
	answers, err := alone.ReadAnswers("answers.yaml", []byte(deliveries))
	if err != nil {
		t.Fatal(err)
	}
	report, err := alone.Run(t.Context(), module, "run", alone.Options{Given: given, Answers: answers})
	if err != nil {
		t.Fatal(err)
	}
	said := ""
	for _, call := range report.Calls {
		said += string(call.Request)
	}
	if report.Failure != nil || !strings.Contains(said, want) {
		t.Errorf("it says %s, %v", said, report.Failure)
	}
}

// deliveries are what a Connector's plugin is given.
const deliveries = `connector.deliveries:
  answer:
    connector: {id: con_1, object: connector, created_at: "2026-01-01T00:00:00Z", updated_at: "2026-01-01T00:00:00Z", metadata: {}, name: first-one, provider: first-one, workspace_id: ws_1, target_persona_id: persona_echo, event_kinds: [ticket], status: ACTIVE}
    deliveries:
      - {id: del_1, object: delivery, created_at: "2026-01-01T00:00:00Z", updated_at: "2026-01-01T00:00:00Z", metadata: {}, connector_id: con_1, workspace_id: ws_1, delivery_id: "1", header: {}, text: '{"id":"T-1","text":"It does not start."}'}
`

// What is there already stays as it is, whatever it is; and where something is refused, nothing is written.
func TestNewPluginsOverwriteNothing(t *testing.T) {
	made, err := templates.Make(templates.Wanted{Name: "hello", Language: "c", Kind: manifest.KindPersona})
	if err != nil {
		t.Fatal(err)
	}
	for name, prepare := range map[string]func(folder string) error{
		"a file": func(f string) error { return os.WriteFile(f, []byte("mine"), 0o644) },
		"a folder with a file": func(f string) error {
			return errors.Join(os.Mkdir(f, 0o755), os.WriteFile(filepath.Join(f, ".hidden"), []byte("mine"), 0o644))
		},
		"a link to nothing": func(f string) error { return os.Symlink("nowhere", f) },
	} {
		t.Run(name, func(t *testing.T) {
			around := t.TempDir()
			folder := filepath.Join(around, "hello")
			if err := prepare(folder); err != nil {
				t.Skip(err)
			}
			before := treeOf(t, around)
			if err := templates.Write(folder, made); err == nil {
				t.Error("it was written over")
			}
			if after := treeOf(t, around); after != before {
				t.Errorf("there was %s, and is %s", before, after)
			}
		})
	}
	empty := t.TempDir()
	if err := templates.Write(empty, made); err != nil {
		t.Errorf("an empty folder is not taken: %v", err)
	}
}

// treeOf lists the files below a folder, with their contents.
func treeOf(t *testing.T, folder string) string {
	t.Helper()
	all := ""
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		all += d.Name() + " "
		if err == nil && d.Type().IsRegular() {
			text, _ := os.ReadFile(path)
			all += "(" + string(text) + ") "
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// What a new plugin in AssemblyScript says of a panic has the line of the author's, by the build's source map: also where
// a function of the library's, or of the author's own, was put into another.
func TestAssemblyScriptTellsLines(t *testing.T) {
	w := templates.Wanted{Name: "first-one", Language: "assemblyscript", Kind: manifest.KindPersona}
	useTheSDKsCompiler(t)
	made, err := templates.Make(w)
	if err != nil {
		t.Fatal(err)
	}
	made["assembly/index.ts"] = []byte(panicsInAssemblyScript)
	folder := filepath.Join(t.TempDir(), w.Name)
	if err := templates.Write(folder, made); err != nil {
		t.Fatal(err)
	}
	p, err := openProject(folder)
	if err != nil {
		t.Fatal(err)
	}
	built, err := building.Build(t.Context(), p, building.Options{})
	if missing, ok := errors.AsType[*building.Missing](err); ok {
		t.Skip(missing)
	}
	if err != nil {
		t.Fatal(err)
	}
	local, err := newLocalModule(t.Context(), &localPlugin{name: w.Name, wasm: built.Wasm})
	if err != nil {
		t.Fatal(err)
	}
	defer local.close()
	given, err := alone.Given(w.Name, "run", []byte(`"Ada"`))
	if err != nil {
		t.Fatal(err)
	}
	report, err := alone.Run(t.Context(), local.module, "run", alone.Options{Given: given})
	if err != nil {
		t.Fatal(err)
	}
	const greet = `{"function":"assembly/index/greet","file":"assembly/index.ts","line":12,"own":true}`
	f := report.Failure
	if f == nil || f.Code != "plugin_panic" || !strings.Contains(string(f.Details), greet) || !strings.Contains(string(f.Details), `{"function":"wharf/end/panicked","own":false}`) {
		t.Errorf("it ends with %+v", f)
	}
}

const panicsInAssemblyScript = `import { main, Outcome, Task } from "../wharf";

export function run(): i32 { return main(greet); }

class Pot {
  cups: string[] = [];
}

@inline
function deep(pot: Pot, n: i32): string {
  const at = n + 3;
  return pot.cups[at];
}

function greet(task: Task): Outcome {
  const pot = new Pot();
  return { summary: deep(pot, task.text.length) };
}
`

// typescript is where "npm ci" puts the compiler.
const typescript = "../../sdk/client/ts/node_modules/.bin/tsc"

// typeChecked runs the compiler of TypeScript over a plugin's folder, with the declarations themselves.
func typeChecked(t *testing.T, folder, config string, options ...string) (string, error) {
	t.Helper()
	if _, err := os.Stat(typescript); err != nil {
		t.Skip(`needs the compiler of TypeScript: run "npm ci" in sdk/client/ts`)
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed")
	}
	program, err := filepath.Abs(typescript)
	if err != nil {
		t.Fatal(err)
	}
	said, err := exec.CommandContext(t.Context(), program, append([]string{"-p", filepath.Join(folder, config), "--skipLibCheck", "false"}, options...)...).CombinedOutput()
	return string(said), err
}

// written makes the folder of a new plugin.
func written(t *testing.T, w templates.Wanted) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), w.Name)
	made, err := templates.Make(w)
	if err == nil {
		err = templates.Write(folder, made)
	}
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// An editor knows what a new plugin in TypeScript or JavaScript has, and finds nothing wrong with it.
func TestNewScriptsTypeCheck(t *testing.T) {
	for _, w := range newPlugins(t) {
		config := map[string]string{"typescript": "tsconfig.json", "javascript": "jsconfig.json"}[w.Language]
		if config == "" {
			continue
		}
		t.Run(w.Language+"/"+string(w.Kind), func(t *testing.T) {
			if said, err := typeChecked(t, written(t, w), config, "--checkJs"); err != nil {
				t.Errorf("%v\n%s", err, said)
			}
		})
	}
}

// What the documentation shows, and a program that makes every host call, fits the declarations.
func TestDeclarationsFit(t *testing.T) {
	folder := written(t, templates.Wanted{Name: "first-one", Language: "typescript", Kind: manifest.KindPersona})
	page, err := os.ReadFile("../../docs/sdk-typescript.md")
	if err != nil {
		t.Fatal(err)
	}
	everything, err := os.ReadFile("../../runtime/sandbox/testdata/everything.ts")
	if err != nil {
		t.Fatal(err)
	}
	sources := [][]byte{everything, []byte(triage)}
	for _, block := range regexp.MustCompile("(?s)\n```ts\n(.*?\n)```\n").FindAllSubmatch(page, -1) {
		sources = append(sources, block[1])
	}
	for i, source := range sources {
		if err := os.WriteFile(filepath.Join(folder, "src", fmt.Sprintf("more%d.ts", i)), source, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if said, err := typeChecked(t, folder, "tsconfig.json"); err != nil {
		t.Errorf("%v\n%s", err, said)
	}
}

// What is no request, and what is not there, is an error before anything runs.
func TestDeclarationsRefuse(t *testing.T) {
	wrong := []string{
		`import { nothing } from "wharf"; nothing();`,
		`import { stateGet } from "wharf"; stateGet({ kee: "k" });`,
		`import { stateGet } from "wharf"; stateGet();`,
		`import { messageAppend } from "wharf"; messageAppend({ role: "asistant", parts: [] });`,
		`import { random } from "wharf"; random(Uint8Array.of(1, 0, 0, 0));`,
		`import { artifactPut } from "wharf"; artifactPut({ kind: "file", mime_type: "text/plain", visibility: "public" });`,
		`import { fileWrite } from "wharf"; fileWrite({ path: "p", body: 7 });`,
		`import type { Run } from "wharf"; const run: Run = () => 7; run;`,
		`import { connector } from "wharf"; connector(() => ({ ignore: "x" }));`,
		`new URL("http://a.test/");`,
		`document.title;`,
		`process.env;`,
	}
	folder := written(t, templates.Wanted{Name: "first-one", Language: "typescript", Kind: manifest.KindPersona})
	for i, source := range wrong {
		if err := os.WriteFile(filepath.Join(folder, "src", fmt.Sprintf("wrong%d.ts", i)), []byte(source+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	said, err := typeChecked(t, folder, "tsconfig.json")
	if err == nil {
		t.Errorf("it ends well, and says %s", said)
	}
	for i, source := range wrong {
		if !strings.Contains(said, fmt.Sprintf("wrong%d.ts(1,", i)) {
			t.Errorf("nothing is said of %s:\n%s", source, said)
		}
	}
}
