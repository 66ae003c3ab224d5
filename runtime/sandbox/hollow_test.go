package sandbox

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/wharf-dev/wharf/runtime/sandbox/rewrite"
)

// TestHollowIsNotExecuted holds that a module which is kept without the bodies of its
// functions is never taken for the whole one: where its machine code is gone it is made anew,
// on a single processor too, and an interpreter has a whole one of its own.
func TestHollowIsNotExecuted(t *testing.T) {
	dir, wasm := t.TempDir(), mixed().wasm()
	want, _ := started(t, dir, wasm)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if err := os.RemoveAll(filepath.Join(dir, codeFolder)); err != nil {
		t.Fatal(err)
	}
	if got, restored := started(t, dir, wasm); restored || got != want {
		t.Errorf("without machine code: restored %t, %+v, before %+v", restored, got, want)
	}
	if got, restored := started(t, dir, wasm); !restored || got != want {
		t.Errorf("once it is made anew: restored %t, %+v, before %+v", restored, got, want)
	}
	for range 2 { // made, and kept
		m := compile(t, newRuntime(t, Config{CacheDir: dir, Interpreter: true}), wasm)
		if got := trace(t, m, Limits{}); got != want.run {
			t.Errorf("interpreted: %+v, compiled %+v", got, want.run)
		}
	}
	if got, restored := started(t, dir, wasm); !restored || got != want {
		t.Errorf("beside an interpreter: restored %t, %+v, before %+v", restored, got, want)
	}
}

// TestMachineCodeThatCannotBeKept has no room on disk for it: the module runs all the same, and
// the next start makes it anew.
func TestMachineCodeThatCannotBeKept(t *testing.T) {
	dir, wasm := t.TempDir(), mixed().wasm()
	want, _ := started(t, t.TempDir(), wasm)
	for range 2 {
		r := newRuntime(t, Config{CacheDir: dir})
		folder := filepath.Join(dir, codeFolder)
		if err := os.RemoveAll(folder); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(folder, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := trace(t, compile(t, r, wasm), Limits{}); got != want.run {
			t.Errorf("got %+v, want %+v", got, want.run)
		}
		if err := os.Remove(folder); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCompiledAtOnce has one module compiled by several at one time, and another that differs
// in the body of a function alone.
func TestCompiledAtOnce(t *testing.T) {
	r := newRuntime(t, Config{CacheDir: t.TempDir()})
	both := [][]byte{runner(konst(0)).wasm(), runner(konst(1)).wasm()}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			m, err := r.Compile(context.Background(), both[i%2])
			if err != nil {
				t.Error(err)
				return
			}
			_, err = m.Run(context.Background(), "run", &host{}, Limits{})
			if failed := err != nil; failed != (i%2 == 1) {
				t.Errorf("module %d: %v", i%2, err)
			}
		})
	}
	all.Wait()
}

// TestHollowsDiffer holds that the machine code of a module is that of no other.
func TestHollowsDiffer(t *testing.T) {
	seen := map[string]bool{}
	for _, wasm := range [][]byte{runner(konst(0)).wasm(), runner(konst(1)).wasm(), mixed().wasm()} {
		m, err := rewrite.Rewrite(wasm, nativeOptions)
		if err != nil {
			t.Fatal(err)
		}
		hollow := string(rewrite.Hollow(m.Wasm))
		if seen[hollow] {
			t.Error("two modules have one hollow")
		}
		if seen[hollow] = true; hollow != string(rewrite.Hollow(m.Wasm)) {
			t.Error("a module has two hollows")
		}
		if err := newRuntime(t, Config{}).validate([]byte(hollow)); err != nil {
			t.Error(err)
		}
	}
}
