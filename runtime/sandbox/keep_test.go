package sandbox

import (
	"os"
	"slices"
	"testing"

	"github.com/wharf-dev/wharf/plugins"
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
		"without memory and globals": (&guest{}).add(fn{export: "run", sig: runSig, body: konst(0)}).wasm(),
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
