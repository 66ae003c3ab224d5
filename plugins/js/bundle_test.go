package js_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/plugins/js"
)

// bundle writes files into a folder and bundles the first one.
func bundle(t *testing.T, files ...string) (*js.Bundled, error) {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		path := filepath.Join(dir, files[i])
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(files[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return js.Bundle(filepath.Join(dir, files[0]))
}

// TestBundleImportsWhatIsUsed holds that the host calls are those that the program still has
// when dead code is left out, through what it imports too.
func TestBundleImportsWhatIsUsed(t *testing.T) {
	for _, test := range []struct {
		name  string
		files []string
		calls []string
	}{
		{"nothing", []string{"a.ts", `export const run = async (): Promise<string> => "done";`}, []string{"input", "output"}},
		{"a call", []string{"a.ts", `import { stateGet } from "wharf"; export const run = () => stateGet({ key: "k" });`}, []string{"input", "output", "state.get"}},
		{"a namespace", []string{"a.js", `import * as wharf from "wharf"; export const run = () => wharf.memoryQuery({});`}, []string{"input", "memory.query", "output"}},
		{"globals", []string{"a.ts", `export async function run() { console.log(await fetch("http://a.test/")); }`}, []string{"http.fetch", "input", "log", "output"}},
		{"dead code", []string{"a.ts", `import { used } from "./lib/b"; export const run = used;`,
			"lib/b.ts", `import { reply, taskSpawn } from "wharf"; export const used = () => reply("x"); export const unused = () => taskSpawn({});`},
			[]string{"input", "message.append", "output"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := bundle(t, test.files...)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Calls, test.calls) {
				t.Errorf("the plugin imports %q, want %q", got.Calls, test.calls)
			}
		})
	}
}

func TestBundleSaysWhereTheTroubleIs(t *testing.T) {
	_, err := bundle(t, "a.ts", "export const run = 1;\nlet x: = 2;\n")
	var problems js.Problems
	if !errors.As(err, &problems) || problems[0].File != "a.ts" || problems[0].Line != 2 || problems[0].Column != 8 {
		t.Errorf("a syntax error is told as %+v (%v)", problems, err)
	}
	if _, err = bundle(t, "a.ts", `import { nothing } from "wharf"; export const run = nothing;`); !errors.As(err, &problems) {
		t.Errorf("an import of nothing is told as %v", err)
	}
	if _, err = bundle(t, "a.ts", `const run = 1;`); !errors.As(err, &problems) {
		t.Errorf("a program without exports is told as %v", err)
	}
}

// TestBundleIsTheSameAnywhere holds that a folder's place does not change the module.
func TestBundleIsTheSameAnywhere(t *testing.T) {
	var modules [2][]byte
	for i := range modules {
		got, err := bundle(t, "a.ts", `import { x } from "./b"; export const run = () => x;`, "b.ts", `export const x = "x";`)
		if err != nil {
			t.Fatal(err)
		}
		modules[i] = got.Module
	}
	if !bytes.Equal(modules[0], modules[1]) {
		t.Error("the same sources give other bytes in another folder")
	}
}

// TestHostCallsFit holds that a program can use every host call that there is, and that the
// engine's sources have the slots that are counted on.
func TestHostCallsFit(t *testing.T) {
	var source strings.Builder
	source.WriteString("import * as wharf from \"wharf\";\nexport const run = () => [")
	for _, call := range abi.HostCalls() {
		words := strings.FieldsFunc(call.Name, func(r rune) bool { return r == '.' || r == '_' })
		name := words[0]
		for _, word := range words[1:] {
			name += strings.ToUpper(word[:1]) + word[1:]
		}
		source.WriteString("wharf." + name + ", ")
	}
	source.WriteString("];\n")
	got, err := bundle(t, "a.ts", source.String())
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Calls) != len(abi.HostCalls()) {
		t.Errorf("a program that uses all %d host calls imports %d", len(abi.HostCalls()), len(got.Calls))
	}
	exports := "export default 0;"
	for i := range 32 {
		exports += fmt.Sprintf("export const e%d = 1;", i)
	}
	if _, err := bundle(t, "a.ts", exports); err == nil || !strings.Contains(err.Error(), "room for") {
		t.Errorf("a program with 33 exports is told %v", err)
	}
}

// TestProgramsDifferInDataAlone holds that a node compiles the same for programs with the same
// imports and exports: it takes the data out before.
func TestProgramsDifferInDataAlone(t *testing.T) {
	var parts [2][]byte
	for i, text := range []string{"one", "another"} {
		got, err := bundle(t, "a.ts", `export const run = () => "`+text+strings.Repeat("!", i*5000)+`";`)
		if err != nil {
			t.Fatal(err)
		}
		parts[i] = withoutData(t, got.Module)
	}
	if !bytes.Equal(parts[0], parts[1]) {
		t.Error("what a node compiles differs between two programs with the same imports and exports")
	}
}

// withoutData returns a module up to its section of data, which is the last.
func withoutData(t *testing.T, module []byte) []byte {
	t.Helper()
	const data = 11
	for at := 8; at < len(module); {
		size, n := binary.Uvarint(module[at+1:])
		if module[at] == data {
			return module[:at]
		}
		at += 1 + n + int(size)
	}
	t.Fatal("the module has no data")
	return nil
}
