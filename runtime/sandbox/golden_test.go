package sandbox

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/plugins"
	"github.com/wharf-dev/wharf/plugins/plugintest"
)

var update = flag.Bool("update", false, "write the golden files")

// TestQuestionsAreTheSameEverywhere compares what each plugin asks, byte for byte,
// with what it asked on the machine that wrote the golden file: on both engines, and
// on whatever processor and system this runs. What Runs ask that initialize their own
// instance has been the same since before there were snapshots: records depend on it.
func TestQuestionsAreTheSameEverywhere(t *testing.T) {
	wasm := map[string][]byte{"calls": plugintest.Calls(), "steps": plugintest.Steps(), "fixture": plugintest.Fixture()}
	for _, p := range plugins.Bundled() {
		if p.Name != "connectors" { // it has no Tasks
			wasm[p.Name] = p.Wasm()
		}
	}
	message := map[string]any{"role": "user", "parts": []any{map[string]any{"type": "text", "text": "# One\n\nSee [two](http://a.b), and 3.5 more. Words, words."}}}
	inputs := map[string]any{
		"calls":   program(plugintest.Step{Call: "wasi.random", Bytes: number(64)}, plugintest.Step{Call: "wasi.monotonic"}, plugintest.Step{Call: abi.CallStateSet, Request: jsontext.Value(`{"key":"a","value":"$digest"}`), Repeat: 3}),
		"steps":   plugintest.StepsInput{Steps: 3, Kind: "read", Bytes: 100},
		"fixture": map[string]string{"message": "ship it?"},
		"echo":    message, "digest": message, "agent": message,
	}
	for _, engine := range engines() {
		engine.config.CacheDir = cacheDir
		r := newRuntime(t, engine.config)
		modules := map[string]*Module{}
		for name, code := range wasm {
			modules[name] = compile(t, r, code)
		}
		for golden, limits := range map[string]Limits{"questions.txt": {}, "questions-fresh.txt": {Fresh: true}} {
			t.Run(engine.name+"/"+golden, func(t *testing.T) {
				var lines []string
				for name, m := range modules {
					asked := observe(t, m, inputs[name], limits)
					lines = append(lines, fmt.Sprintf("%s %d questions %x\n", name, len(asked), sha256.Sum256([]byte(strings.Join(asked, "\n")))))
				}
				slices.Sort(lines)
				checkGolden(t, golden, strings.Join(lines, ""))
			})
		}
	}
}

func checkGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%swant\n%s(a plugin that was changed asks for something else: run the test with -update)", got, want)
	}
}
