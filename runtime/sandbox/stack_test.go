package sandbox

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/sandbox/stack"
)

const deepC = `static int __attribute__((noinline)) deep(int n) {
	if (n == 0)
		__builtin_trap();
	return deep(n - 1) + 1;
}

int run(void) {
	return deep(1);
}
`

// builtWith runs a compiler on a source, which is skipped where it is not installed.
func builtWith(t *testing.T, file, source string, command ...string) []byte {
	t.Helper()
	if _, err := exec.LookPath(command[0]); err != nil {
		t.Skipf("skipped: %s is not installed", command[0])
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, file), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), command[0], append(command[1:], "-o", "out.wasm", file)...)
	cmd.Dir = dir
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	wasm, err := os.ReadFile(filepath.Join(dir, "out.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	return wasm
}

// trapped runs a plugin that traps, and returns its failure and its stack.
func trapped(t *testing.T, wasm []byte, c Config) (*abi.Failure, []stack.Frame) {
	t.Helper()
	c.Source = func(context.Context, string) ([]byte, error) { return wasm, nil }
	_, err := compile(t, newRuntime(t, c), wasm).Run(t.Context(), abi.DefaultExport, &host{}, Limits{})
	failure, ok := err.(*abi.Failure)
	if !ok || failure.Code != abi.FailurePluginTrap {
		t.Fatalf("it ended with %v", err)
	}
	var told struct {
		Stack []stack.Frame `json:"stack"`
	}
	if err := json.Unmarshal(failure.Details, &told); err != nil {
		t.Fatal(err)
	}
	return failure, told.Stack
}

// A trap tells the lines of the author's source, the same in the compiler and in the
// interpreter.
func TestStackTellsLines(t *testing.T) {
	for _, version := range []string{"-gdwarf-4", "-gdwarf-5"} {
		wasm := builtWith(t, "deep.c", deepC, strings.Fields("clang --target=wasm32 -Xclang -O1 -nostdlib -Wl,--no-entry -Wl,--export=run "+version)...)
		for _, interpreter := range []bool{false, true} {
			failure, frames := trapped(t, wasm, Config{Interpreter: interpreter})
			want := []stack.Frame{{Function: "deep", File: "deep.c", Line: 3, Own: true}, {Function: "deep", File: "deep.c", Line: 4, Own: true}, {Function: "run", File: "deep.c", Line: 8, Own: true}}
			got, _ := json.Marshal(frames)
			if wanted, _ := json.Marshal(want); string(got) != string(wanted) {
				t.Errorf("with %s the stack is %s, not %s", version, got, wanted)
			}
			if !strings.Contains(failure.Message, "(in deep, called by deep, called by run)") {
				t.Errorf("the message is %q", failure.Message)
			}
		}
	}
}

// asLine is a stack as a line of text: the author's functions and their places, and … for runs of
// others.
func asLine(frames []stack.Frame) string {
	var parts []string
	for _, f := range frames {
		switch {
		case f.Own && f.Line > 0:
			parts = append(parts, fmt.Sprintf("%s %s:%d", f.Function, filepath.Base(f.File), f.Line))
		case f.Own:
			parts = append(parts, f.Function)
		case len(parts) == 0 || parts[len(parts)-1] != "…":
			parts = append(parts, "…")
		}
	}
	return strings.Join(parts, ", ")
}

const deepRust = `pub struct Triage(u32);

impl Triage {
	#[inline(never)]
	fn classify<T: AsRef<str>>(&self, label: T) -> u32 {
		let known = ["bug", "feature"];
		known.iter().position(|k| *k == label.as_ref()).expect("no such label") as u32 + self.0
	}
}

#[no_mangle]
pub extern "C" fn run() -> i32 {
	Triage(1).classify("wish") as i32
}
`

// A panic of Rust tells the author's functions under the names that they have in the source,
// and not the half of the standard library that it ends in.
func TestStackOfRust(t *testing.T) {
	if _, err := os.Stat("/usr/lib/rustlib/wasm32-unknown-unknown"); err != nil {
		t.Skip("skipped: rustc cannot build for wasm32-unknown-unknown")
	}
	for mangling, classify := range map[string]string{"": "triage::Triage::classify", "-Csymbol-mangling-version=v0": "<triage::Triage>::classify::<&str>"} {
		wasm := builtWith(t, "triage.rs", deepRust, "/usr/bin/rustc", "--edition=2021", "--crate-type=cdylib", "--target=wasm32-unknown-unknown", "-Copt-level=3", "-Cdebuginfo=1", cmp.Or(mangling, "-Cpanic=abort"))
		_, frames := trapped(t, wasm, Config{})
		if got, want := asLine(frames), "…, "+classify+" triage.rs:7, run triage.rs:13"; got != want {
			t.Errorf("with %q the stack is %s, not %s\n%+v", mangling, got, want, frames)
		}
	}
}

const deepCPP = `namespace billing {
template <typename T> struct Ledger {
	T total;
	__attribute__((always_inline)) void add(T amount) {
		if (amount < 0)
			__builtin_trap();
		total += amount;
	}
};
__attribute__((noinline)) long post(Ledger<long> &ledger, long amount) {
	ledger.add(amount);
	return ledger.total;
}
}

extern "C" int run() {
	billing::Ledger<long> ledger{0};
	return (int)billing::post(ledger, -1);
}
`

// A function that the compiler has put into another is told as the author has written it.
func TestStackOfCPP(t *testing.T) {
	wasm := builtWith(t, "post.cpp", deepCPP, strings.Fields("clang++ --target=wasm32 -Xclang -O2 -g -nostdlib -fno-exceptions -Wl,--no-entry -Wl,--export=run")...)
	_, frames := trapped(t, wasm, Config{})
	if got, want := asLine(frames), "billing::Ledger<long>::add post.cpp:6, billing::post post.cpp:11, run post.cpp:18"; got != want {
		t.Errorf("the stack is %s, not %s", got, want)
	}
}

const deepGo = `package main

import "strings"

type ledger struct{ rows []string }

//go:noinline
func (l *ledger) row(n int) string { return l.rows[n] }

//go:noinline
func (l ledger) last() string { return l.row(len(l.rows)) }

//go:wasmexport run
func run() int32 {
	return int32(strings.Count(ledger{}.last(), "a"))
}

func main() {}
`

// Go's own names are told, with receivers as the author has written them.
func TestStackOfGo(t *testing.T) {
	t.Setenv("GOOS", "wasip1")
	t.Setenv("GOARCH", "wasm")
	wasm := builtWith(t, "ledger.go", deepGo, "go", "build", "-buildmode=c-shared")
	failure, frames := trapped(t, wasm, Config{})
	if got, want := asLine(frames), "…, main.(*ledger).row, main.ledger.last, main.run, run"; got != want {
		t.Errorf("the stack is %s, not %s\n%+v", got, want, frames)
	}
	if text := stack.Read(failure.Details).Text; !strings.HasPrefix(text, "panic: runtime error: index out of range [0] with length 0\n") {
		t.Errorf("what it said is %q", text)
	}
}

const deepExtism = `#define FROM(name) __attribute__((import_module("extism:host/env"), import_name(name)))
FROM("input_length") unsigned long long input_length(void);

static int __attribute__((noinline)) parse(unsigned long long n) {
	if (n == 0 || n > 0)
		__builtin_trap();
	return 0;
}

__attribute__((export_name("run"))) int run(void) {
	return parse(input_length());
}
`

// Plugins that were made with an Extism PDK tell the same.
func TestStackOfExtism(t *testing.T) {
	wasm := builtWith(t, "parse.c", deepExtism, strings.Fields("clang --target=wasm32 -Xclang -O1 -g -nostdlib -Wl,--no-entry")...)
	_, frames := trapped(t, wasm, Config{})
	if got, want := asLine(frames), "parse parse.c:6, run parse.c:11"; got != want {
		t.Errorf("the stack is %s, not %s", got, want)
	}
}
