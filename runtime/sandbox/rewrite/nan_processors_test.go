package rewrite

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/internal/arm64test"
)

const (
	// resultsFile names the file that another processor writes its results to.
	resultsFile    = "WHARF_NAN_RESULTS"
	resultPrograms = 150
)

// On arm64 the observers see the same NaNs, and random functions give the same.
func TestNaNOnArm64(t *testing.T) {
	if os.Getenv("WHARF_LONG") == "" {
		t.Skip("takes a minute: set WHARF_LONG=1")
	}
	if runtime.GOARCH != "amd64" || runtime.GOOS != "linux" {
		t.Skip("compares linux/amd64 with linux/arm64")
	}
	emulator := arm64test.Emulator(t)
	binary, results := arm64test.TestBinary(t), filepath.Join(t.TempDir(), "results")
	run := exec.CommandContext(t.Context(), emulator, binary, "-test.run", "^(TestNaNObserved|TestNaNKept|TestNaNResults|TestFloatMoved)$")
	run.Env = append(os.Environ(), resultsFile+"="+results, "WHARF_LONG=")
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("on arm64: %v\n%s", err, out)
	}
	got, err := os.ReadFile(results)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(got), "\n")
	for i, expected := range strings.Split(randomResults(t), "\n") {
		if i >= len(lines) || lines[i] != expected {
			t.Fatalf("function %d differs on arm64: %s, expected %s", i, lines[min(i, len(lines)-1)], expected)
		}
	}
}

// TestNaNResults is the half of TestNaNOnArm64 that runs there.
func TestNaNResults(t *testing.T) {
	file := os.Getenv(resultsFile)
	if file == "" {
		t.Skip("runs on another processor, for TestNaNOnArm64")
	}
	if err := os.WriteFile(file, []byte(randomResults(t)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// randomResults runs random functions, always the same, and tells what they did, a
// line for each. The engines of one processor have to agree.
func randomResults(t *testing.T) string {
	ctx := context.Background()
	engines := map[string]wazero.Runtime{}
	for name, config := range nanEngines {
		engines[name] = wazero.NewRuntimeWithConfig(ctx, config())
		defer func() { _ = engines[name].Close(ctx) }()
	}
	programs := rapid.Custom(func(t *rapid.T) []nanFunc {
		return []nanFunc{
			{"ddff>d", randomLocals, randomFunc(t, true)},
			{"ddff>d", randomLocals, randomFunc(t, false)},
		}
	})
	var lines strings.Builder
	for seed := range resultPrograms {
		wasm := canonicalized(t, nanModule(t, programs.Example(seed)...))
		expected := observed(t, engines["interpreter"], wasm)
		if got := observed(t, engines["compiler"], wasm); string(got) != string(expected) {
			t.Errorf("function %d: the compiler gives %x, the interpreter %x", seed, got, expected)
		}
		fmt.Fprintf(&lines, "%x\n", expected)
	}
	return lines.String()
}
