package rewrite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/wharf-dev/wharf/runtime/sandbox/rewrite"
)

// long reports whether tests may take minutes.
func long() bool { return os.Getenv("WHARF_LONG") != "" }

// transformSet is a choice of transformations that is tested.
type transformSet struct {
	name       string
	transforms rewrite.Transforms
}

var transformSets = []transformSet{
	{"all", rewrite.All},
	{"none", 0},
	{"globals", rewrite.Globals},
	{"gas", rewrite.Gas},
	{"depth", rewrite.Depth},
	{"nan", rewrite.NaN},
	{"restore", rewrite.Restore},
	{"remainders", rewrite.Remainders},
}

// Every module of the WebAssembly core test suite behaves after rewriting as the
// suite says and as it did before: result bits, trap texts, memories. With NaN it
// also behaves the same, bit by bit, on both engines.
//
// By default all transformations together are run on the compiler; WHARF_LONG=1
// adds the interpreter, and each transformation alone.
func TestWebAssemblySuite(t *testing.T) {
	root := specFolder(t)
	for _, suite := range specSuites {
		for _, script := range specScripts(t, root, suite) {
			t.Run(suite.name+"/"+script.name, func(t *testing.T) {
				t.Parallel()
				testScript(t, script)
			})
		}
	}
}

func testScript(t *testing.T, script *specScript) {
	engines, sets := []engineKind{compiler}, transformSets[:1]
	if long() {
		engines, sets = []engineKind{compiler, interpreter}, transformSets
	}
	binaries := script.binaries(t)
	originals := map[engineKind]*specWorld{}
	for _, e := range engines {
		originals[e] = runScript(t, script, e, &specModules{binaries: binaries}, false)
		originals[e].report(t, string(e)+", as it is")
	}
	for _, set := range sets {
		modules := &specModules{binaries: binaries, rewritten: rewriteScript(t, script, binaries, set)}
		worlds := map[engineKind]*specWorld{}
		for _, e := range engines {
			worlds[e] = runScript(t, script, e, modules, set.transforms&rewrite.NaN != 0)
			worlds[e].differences(originals[e], set.transforms&rewrite.NaN == 0)
			worlds[e].report(t, string(e)+", "+set.name)
		}
		if len(engines) == 2 && set.transforms&rewrite.NaN != 0 {
			worlds[compiler].problems = nil
			worlds[compiler].differences(worlds[interpreter], true)
			worlds[compiler].report(t, "compiler against interpreter, "+set.name)
		}
	}
	for file, wasm := range binaries {
		survives(t, file, wasm)
	}
}

func runScript(t *testing.T, script *specScript, e engineKind, modules *specModules, strict bool) *specWorld {
	ctx := context.Background()
	w, err := newSpecWorld(ctx, script, e, modules)
	if err != nil {
		t.Fatal(err)
	}
	defer w.close(ctx, t)
	w.strict = strict
	w.perform(ctx)
	return w
}

// rewriteScript rewrites what the script takes for valid.
func rewriteScript(t *testing.T, script *specScript, binaries map[string][]byte, set transformSet) map[string]*rewrite.Module {
	out := map[string]*rewrite.Module{}
	for i, c := range script.Commands {
		if filepath.Ext(c.Filename) != ".wasm" || c.Kind == "assert_invalid" || c.Kind == "assert_malformed" {
			continue
		}
		wasm, o := binaries[c.Filename], rewrite.Options{Transforms: set.transforms &^ rewrite.Restore}
		m, err := rewrite.Rewrite(wasm, o)
		if err == nil && set.transforms&rewrite.Restore != 0 && restorable(m, script.registeredAs(i) != "") {
			o.Transforms = set.transforms
			m, err = rewrite.Rewrite(wasm, o)
		}
		if err != nil {
			t.Fatalf("line %d: %s: %s: %v", c.Line, c.Filename, set.name, err)
		}
		out[c.Filename] = m
	}
	return out
}

// restorable reports whether a module can be told from what Restore makes of it by
// itself alone. Modules that share memories and tables with others, which a sandbox
// has none of, can be told apart by the order in which the shared is written, by
// the maximum that others see, or by where an imported global places data.
func restorable(m *rewrite.Module, registered bool) bool {
	if registered && m.Memory != nil && m.Memory.HasMax {
		return false
	}
	return !slices.ContainsFunc(m.Imports, func(i rewrite.Import) bool { return i.Kind != 0 })
}

// survives has a module rewritten that may be no module at all.
func survives(t *testing.T, name string, wasm []byte) {
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("%s: rewriting panics: %v", name, p)
		}
	}()
	for _, set := range transformSets {
		_, _ = rewrite.Rewrite(wasm, rewrite.Options{Transforms: set.transforms, MaxTableEntries: 1000})
	}
}

// differences notes where two runs of a script differ. What the suite leaves open,
// the bits of some NaNs, counts where exact, and so do memories.
func (w *specWorld) differences(other *specWorld, exact bool) {
	for i := range w.script.Commands {
		c := &w.script.Commands[i]
		if c.Kind == "assert_return" && hasNaN(c.Expected) && !exact {
			continue
		}
		if got, want := w.outcomes[i].comparable(c), other.outcomes[i].comparable(c); got != want {
			w.problems = append(w.problems, fmt.Sprintf("line %d: %s %s: %s, not %s", c.Line, c.Kind, c.Action.Field, got, want))
		}
	}
	if exact && !slices.Equal(w.states, other.states) {
		w.problems = append(w.problems, fmt.Sprintf("memories are %q, not %q", w.states, other.states))
	}
}

// comparable returns what is the same in every run of a command.
func (o specOutcome) comparable(c *specCommand) string {
	if c.ModuleType == "" && c.Filename == "" {
		return fmt.Sprintf("%#x %s", o.words, o.trap)
	}
	return fmt.Sprint("refused: ", o.trap != "") // in words that name sections and types
}

// report fails the test with the first few problems.
func (w *specWorld) report(t *testing.T, how string) {
	const most = 5
	for i, p := range w.problems {
		if i == most {
			t.Errorf("%s: and %d more", how, len(w.problems)-most)
			return
		}
		t.Errorf("%s: %s", how, p)
	}
}

// What the suite holds for proposals that are not supported is refused with the place
// and with advice, where it uses one, and rewritten where it does not.
func TestProposals(t *testing.T) {
	root := specFolder(t)
	ctx := context.Background()
	engine := wazero.NewRuntimeWithConfig(ctx, interpreter.config(genFeatures))
	defer engine.Close(ctx)
	for _, name := range []string{"threads", "exception-handling", "typed-function-references"} {
		refusals := 0
		for _, script := range specScripts(t, root, specSuite{name: name}) {
			for file, wasm := range script.binaries(t) {
				survives(t, file, wasm)
				refusals += testProposal(ctx, t, engine, file, wasm)
			}
		}
		if refusals == 0 {
			t.Errorf("nothing of %s is refused", name)
		}
	}
}

// testProposal returns 1 for a module that is refused with advice.
func testProposal(ctx context.Context, t *testing.T, engine wazero.Runtime, file string, wasm []byte) int {
	m, err := rewrite.Rewrite(wasm, rewrite.Options{Transforms: rewrite.All &^ rewrite.Restore})
	var e *rewrite.Error
	invalid := validate(ctx, engine, wasm)
	switch {
	case errors.As(err, &e) && e.Advice != "":
		if e.Offset <= 0 || e.Offset > len(wasm) {
			t.Errorf("%s: the refusal names no place: %v", file, e)
		}
		return 1
	case invalid == nil && err != nil:
		t.Errorf("%s: a valid module is refused: %v", file, err)
	case invalid == nil:
		if err := validate(ctx, engine, m.Wasm); err != nil {
			t.Errorf("%s: a rewritten module is not valid: %v", file, err)
		}
	}
	return 0
}
