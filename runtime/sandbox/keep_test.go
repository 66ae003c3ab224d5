package sandbox

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/wharf-dev/wharf/plugins"
	"github.com/wharf-dev/wharf/runtime/sandbox/kept"
)

// TestWarmStart holds that a module which was kept on disk is the same as one that is
// made anew, and that what is damaged is made anew.
func TestWarmStart(t *testing.T) {
	digest, _ := plugins.Lookup("digest")
	asks := runner(konst(0), "clock")
	asks.add(fn{body: hostCallOf(0, 0, 0)})
	asks.start = 3
	for name, wasm := range map[string][]byte{
		"no initialization":          mixed().wasm(),
		"initialized once":           digest.Wasm(),
		"initialized in each Run":    asks.wasm(),
		"without memory and globals": (&handmade{}).add(fn{export: "run", sig: runSig, body: konst(0)}).wasm(),
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			cold, _ := started(t, dir, wasm)
			if warm, restored := started(t, dir, wasm); !restored || warm != cold {
				t.Errorf("restored %t: %+v, before %+v", restored, warm, cold)
			}
			for _, path := range cached(t, dir) {
				b, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				b[len(b)*2/3] ^= 0x40
				if err := os.WriteFile(path, b, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if again, restored := started(t, dir, wasm); restored || again != cold {
				t.Errorf("restored %t after damage: %+v, before %+v", restored, again, cold)
			}
		})
	}
}

// start is what a node finds of a module after its start.
type start struct {
	exports, imports string
	snapshot         bool
	gas              uint64
	run, fresh       traced
}

func started(t *testing.T, dir string, wasm []byte) (start, bool) {
	t.Helper()
	r := newRuntime(t, Config{CacheDir: dir})
	probe := &Module{runtime: r, digest: digestOf(wasm)}
	restored := probe.restore(t.Context())
	m := compile(t, r, wasm)
	report, err := m.Inspect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return start{
		exports: join(m.Exports()), imports: join(m.Imports()), snapshot: report.Snapshot, gas: report.Gas,
		run: trace(t, m, Limits{}), fresh: trace(t, m, Limits{Fresh: true}),
	}, restored
}

func join(names []string) (all string) {
	for _, n := range slices.Sorted(slices.Values(names)) {
		all += n + " "
	}
	return all
}

// FuzzMeta holds that what is kept of a module is either read as it was written or
// refused.
func FuzzMeta(f *testing.F) {
	f.Add(appendMeta(&prepared{}, sparse{}))
	f.Add(appendMeta(&prepared{Monotonic: 7}, sparse{size: 4096, runs: []stretch{{1024, []byte("abc")}}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, blank, ok := readMeta(b)
		if !ok {
			return
		}
		if blank.size < 1<<20 {
			blank.expand()
		}
		if _, again, ok := readMeta(appendMeta(p, blank)); !ok || len(again.runs) != len(blank.runs) {
			t.Errorf("%q is read in another way once written again", b)
		}
	})
}

// TestMachineCodeOfStrangersIsNotExecuted does what somebody could who can write to the
// folder while the node is down: the code of every function is replaced, and the engine's
// own checksum mended. It would end the process.
func TestMachineCodeOfStrangersIsNotExecuted(t *testing.T) {
	for _, key := range [][]byte{cacheKey, kept.NewKey()} { // as the node left it, and of a node that has lost its key
		dir := t.TempDir()
		wasm := mixed().wasm()
		want, _ := started(t, dir, wasm)
		old := filepath.Join(dir, "wazero-v1.12.0-amd64-linux")
		if err := os.Mkdir(old, 0o700); err != nil {
			t.Fatal(err)
		}
		poisoned := 0
		for _, path := range cached(t, filepath.Join(dir, codeFolder)) {
			poison(t, path)
			if err := os.Link(path, filepath.Join(old, filepath.Base(path))); err != nil {
				t.Fatal(err)
			}
			poisoned++
		}
		if poisoned == 0 {
			t.Fatal("no machine code was kept")
		}
		m := compile(t, newRuntime(t, Config{CacheDir: dir, CacheKey: key}), wasm)
		if got := trace(t, m, Limits{}); got != want.run {
			t.Errorf("got %+v, want %+v", got, want.run)
		}
		if _, err := os.Stat(old); err == nil {
			t.Error("code that an earlier version has kept is still there")
		}
		if foreign, err := ForeignCache(dir, key); err != nil || len(foreign) > 0 {
			t.Errorf("still there: %v, %v", foreign, err)
		}
	}
}

// poison replaces the machine code in a file of the engine's, behind 40 bytes of ours.
func poison(t *testing.T, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const ours, version = 40, 40 + len("WAZEVO")
	at := version + 1 + int(b[version])
	at += 4 + 8*int(binary.LittleEndian.Uint32(b[at:]))
	size := int(binary.LittleEndian.Uint64(b[at:]))
	code := b[at+8:][:size]
	for i := range code {
		code[i] = 0xcc
	}
	binary.LittleEndian.PutUint32(b[at+8+size:], crc32.Checksum(code, crc32.MakeTable(crc32.Castagnoli)))
	if string(b[ours:version]) != "WAZEVO" {
		t.Fatalf("%s is no file of the engine's", path)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestACacheHasAKey holds that nothing is kept, or taken, without one.
func TestACacheHasAKey(t *testing.T) {
	if r, err := New(t.Context(), Config{CacheDir: t.TempDir()}); err == nil {
		t.Error("a cache without a key was opened", r.Close(t.Context()))
	}
}

// TestSoManyAreCompiledAtOnce holds that who wants a module waits while others are compiled,
// until his context ends, and that one which is on disk needs no place.
func TestSoManyAreCompiledAtOnce(t *testing.T) {
	dir := t.TempDir()
	compile(t, newRuntime(t, Config{CacheDir: dir}), mixed().wasm())
	r := newRuntime(t, Config{CacheDir: dir})
	if n := cap(r.compilers); n != max(1, runtime.GOMAXPROCS(0)-1) {
		t.Errorf("%d at one time", n)
	}
	for range cap(r.compilers) {
		r.compilers <- struct{}{}
	}
	compile(t, r, mixed().wasm())
	why, engine := errors.New("gone"), &noticed{}
	ctx, leave := context.WithCancelCause(experimental.WithFunctionListenerFactory(t.Context(), engine))
	leave(why)
	if _, err := r.Compile(ctx, relays().wasm()); !errors.Is(err, why) || engine.at {
		t.Errorf("got %v; the engine was at it: %v", err, engine.at)
	}
	done := make(chan error)
	go func() {
		_, err := r.Compile(experimental.WithFunctionListenerFactory(t.Context(), engine), relays().wasm())
		done <- err
	}()
	<-r.compilers
	if err := <-done; err != nil || !engine.at {
		t.Errorf("got %v; the engine was at it: %v", err, engine.at)
	}
}

// noticed notices that the engine begins to compile.
type noticed struct{ at bool }

func (n *noticed) NewFunctionListener(api.FunctionDefinition) experimental.FunctionListener {
	n.at = true
	return nil
}
