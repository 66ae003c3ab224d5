package prove_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
	"github.com/wharf-dev/wharf/internal/share"
)

// fault is a mistake that somebody could make, and the tests that have to notice it.
type fault struct {
	name     string
	file     string
	old, new string
	tests    [][2]string // package, test
}

func faults() []fault { return append(recordFaults(), extendedFaults()...) }

// recordFaults are mistakes in what runs a Task, and what is kept of it.
func recordFaults() []fault {
	const engine, prove, sandbox = "./runtime/engine", "./conformance/prove", "./runtime/sandbox"
	return []fault{
		{name: "the sync before an intent is removed", file: "runtime/engine/record.go",
			old:   "c.use.Told(r.last)\n\treturn r.waitDurable()\n",
			new:   "return nil\n",
			tests: [][2]string{{engine, "TestIntentComesFirst"}}},
		{name: "a record is read in another order", file: "runtime/records/reader.go",
			old: "\treturn h, nil\n}\n\n// share reads",
			new: "\tif n := len(h.Entries); n > 1 && !h.Entries[n-1].Open {\n" +
				"\t\th.Entries[n-1], h.Entries[n-2] = h.Entries[n-2], h.Entries[n-1]\n" +
				"\t\th.Entries[n-1].Index, h.Entries[n-2].Index = n-1, n-2\n\t}\n\treturn h, nil\n}\n\n// share reads",
			tests: [][2]string{{"./runtime/records", "TestForks"}, {engine, "TestExactReplay"}, {engine, "TestResumeAtEveryBoundary"}, {prove, "TestReplaysAreByteIdentical"}}},
		{name: "the stated hash of an override is ignored", file: "runtime/replay/override.go",
			old: `if o.SHA256 != "" && o.SHA256 != hash && o.SHA256 != roundedHash(o) {`, new: "if false {",
			tests: [][2]string{{engine, "TestReplayRefusals"}, {prove, "TestReplayRequestsAreHeldToTheirWord"}}},
		{name: "the receipt of a replay tells the clock of the node", file: "runtime/proofs/replayed.go",
			old:   "f.CreatedAt, f.StartedAt, f.CompletedAt = r.record.CreatedAt, r.record.StartedAt, r.record.EndedAt",
			new:   "f.CreatedAt, f.StartedAt = r.record.CreatedAt, r.record.StartedAt",
			tests: [][2]string{{"./runtime/proofs", "TestTheReceiptOfAReplay"}, {prove, "TestReplaysAreByteIdentical"}}},
		{name: "a change does not look whether it is overtaken", file: "runtime/ledger/ledger.go",
			old: "b.Expect = append(b.Expect, Expected(records...)...)", new: "",
			tests: [][2]string{{"./runtime/ledger", "TestNoChangeIsLost"}, {"./runtime/intake", "TestAConnectorIsChangedByTwoWriters"}}},
		{name: "a signature is not looked at", file: "runtime/receipt/verify.go",
			old: "if !ed25519.Verify(public, []byte(c.Chain.ReceiptHash), signature) {", new: "if ed25519.Verify(public, nil, signature) {",
			tests: [][2]string{{prove, "TestEveryMemberOfAReceiptCounts"}}},
		{name: "what a plugin was told goes to every reader", file: "runtime/redact/call.go",
			old: "internal = (internal || tools == abi.ToolsPublic) && !members.secret()", new: "internal = true",
			tests: [][2]string{{prove, "TestNobodyIsToldASecret"}}},
		{name: "tool calls are shown whatever the Persona says", file: "runtime/redact/call.go",
			old: "hidden := !internal && tools == abi.ToolsInternal", new: "hidden := false",
			tests: [][2]string{{"./runtime/redact", "TestToolCalls"}}},
		{name: "the end of a Task leaves its tool call open", file: "runtime/engine/task.go",
			old: "c.before = append(c.before, cut...)", new: "_ = cut",
			tests: [][2]string{{engine, "TestToolCallsEndWithTheirTask"}}},
		{name: "memory is not reset", file: "runtime/sandbox/instance.go",
			old:   "if inst.memory != nil && inst.memory.Reset(inst.mod.Memory()) != nil {",
			new:   "if inst.memory != nil && inst.memory.Size() == 0 {",
			tests: [][2]string{{sandbox, "TestNothingIsLeftBehind"}, {sandbox, "TestManyTasks"}}},
		{name: "memory that grew holds what it held before", file: "runtime/sandbox/image/restore_linux.go",
			old: "err = s.resetAbove(used, r)", new: "_ = r.kept",
			tests: [][2]string{{sandbox, "TestBornIsLikePooled"}}},
		{name: "a global is not restored", file: "runtime/sandbox/instance.go",
			old: "inst.globals[i].Set(v)", new: "_, _ = i, v",
			tests: [][2]string{{sandbox, "TestManyTasks"}}},
		{name: "a table that was changed goes back to the pool", file: "runtime/sandbox/rewrite/globals.go",
			old: "case opTableSet, opTableGrow, opTableFill,", new: "case opTableGrow, opTableFill,",
			tests: [][2]string{{sandbox, "TestNothingIsLeftBehind"}}},
		{name: "a stream that a Task has closed stays closed", file: "runtime/sandbox/guest/run.go",
			old: "*r = Run{Context: ctx,", new: "*r = Run{closed: r.closed, Context: ctx,",
			tests: [][2]string{{sandbox, "TestNothingIsLeftBehind"}}},
		{name: "NaNs are what the processor makes them", file: "runtime/sandbox/rewrite/nan.go",
			old: "if g.values[i].check {", new: "if g.values[i].check && held.f == nil {",
			tests: [][2]string{{sandbox, "TestWorkersAgree"}}},
		{name: "gas depends on the slice", file: "runtime/sandbox/guest/meter.go",
			old: "slice = min(m.slice, m.budget-used)", new: "slice = m.slice",
			tests: [][2]string{{sandbox, "TestSlicesMakeNoDifference"}}},
		{name: "remainders are left to the compiler for arm64", file: "runtime/sandbox/rewrite/write.go",
			old: "\t\tdivideInstead(f)\n", new: "",
			tests: [][2]string{{sandbox + "/rewrite", "TestRemaindersOnArm64"}}},
	}
}

// TestPlantedFaults makes the mistakes, one at a time, and runs the tests that have to
// fail. The sources stay as they are: the compiler is given the changed file in place of
// the real one, so that only what depends on it is built anew.
//
// WHARF_SHARE=2/4 runs the second of four shares. Without it all are made.
func TestPlantedFaults(t *testing.T) {
	if !long() {
		t.Skip("builds much anew for each fault: set WHARF_LONG=1 to run it")
	}
	root, err := nodetest.Root()
	if err != nil {
		t.Fatal(err)
	}
	mine := share.Of(t)
	sound := map[[2]string]bool{}
	for i, f := range faults() {
		t.Run(f.name, func(t *testing.T) {
			share.Skip(t, mine, i)
			for _, test := range f.tests {
				if !sound[test] {
					runSound(t, root, test)
					sound[test] = true
				}
			}
			overlay := f.plant(t, root)
			for _, test := range f.tests {
				failed, out := runTest(t, root, test, "-overlay="+overlay)
				switch {
				case strings.Contains(out, "[build failed]"):
					t.Fatalf("the fault does not compile:\n%s", out)
				case !failed || !strings.Contains(out, "--- FAIL: "+test[1]):
					t.Errorf("%s does not notice", test[1])
				default:
					t.Logf("%s notices", test[1])
				}
			}
		})
	}
}

// runSound makes sure that a test passes without any fault.
func runSound(t *testing.T, root string, test [2]string) {
	t.Helper()
	failed, out := runTest(t, root, test)
	if strings.Contains(out, "--- SKIP: "+test[1]) {
		t.Skipf("%s needs what is not here:\n%s", test[1], out)
	}
	if failed || !strings.Contains(out, "--- PASS: "+test[1]) {
		t.Fatalf("%s fails without any fault:\n%s", test[1], out)
	}
}

// TestPlantedFaultsHaveTheirPlace notices at once that code which a fault changes has moved.
func TestPlantedFaultsHaveTheirPlace(t *testing.T) {
	root, err := nodetest.Root()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range faults() {
		f.source(t, root)
	}
}

// source reads the file of a fault, and makes sure that it has one place for it.
func (f *fault) source(t *testing.T, tree string) string {
	t.Helper()
	source, err := os.ReadFile(filepath.Join(tree, filepath.FromSlash(f.file)))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(source), f.old); n != 1 {
		t.Fatalf("%s has %d places for the fault %q; it has to be written anew:\n%s", f.file, n, f.name, f.old)
	}
	return string(source)
}

// plant makes the mistake, in a file that an overlay of the go command names: that
// file's path is returned.
func (f *fault) plant(t *testing.T, root string) (overlay string) {
	t.Helper()
	dir := t.TempDir()
	changed := filepath.Join(dir, "changed.go")
	put(t, changed, strings.Replace(f.source(t, root), f.old, f.new, 1))
	text, err := json.Marshal(map[string]any{
		"Replace": map[string]string{filepath.Join(root, filepath.FromSlash(f.file)): changed},
	})
	if err != nil {
		t.Fatal(err)
	}
	overlay = filepath.Join(dir, "overlay.json")
	put(t, overlay, string(text))
	return overlay
}

// runTest runs one test, and reports whether it failed. What the test builds itself is
// built with the same flags. Nothing is kept of a failure: it says nothing of the sources
// as they are.
func runTest(t *testing.T, root string, test [2]string, flags ...string) (failed bool, out string) {
	t.Helper()
	args := []string{"test", "-count=1", "-timeout=5m", "-v", "-run=^" + test[1] + "$", test[0]}
	if drawsAtRandom(t, filepath.Join(root, filepath.FromSlash(test[0]))) {
		args = append(args, "-rapid.nofailfile")
	}
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "WHARF_LONG=", "GOFLAGS="+strings.Join(append(flags, os.Getenv("GOFLAGS")), " "))
	code, out := execute(t, cmd)
	return code != 0, out
}

// drawsAtRandom reports whether the tests of a folder use rapid, and so know its flags.
func drawsAtRandom(t *testing.T, folder string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(source), `"pgregory.net/rapid"`) {
			return true
		}
	}
	return false
}
