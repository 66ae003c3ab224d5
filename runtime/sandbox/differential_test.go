package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/internal/arm64test"
	"github.com/wharf-dev/wharf/internal/share"
	"github.com/wharf-dev/wharf/plugins/plugintest/workers"
	"github.com/wharf-dev/wharf/runtime/sandbox/guest"
)

// job is work under limits.
type job struct {
	workers.Work
	Limits Limits
}

func (j job) String() string {
	return fmt.Sprintf("%s %d, gas %d, memory %d", j.Work.Work, j.Times, j.Limits.Gas, j.Limits.MemoryBytes)
}

// jobs are what every worker does that can: to good ends, and to bad ones.
func jobs(w workers.Worker) (all []job) {
	for _, j := range []job{
		{workers.Work{Work: "floats", Times: 200}, Limits{}},
		{workers.Work{Work: "vectors", Times: 200}, Limits{}},
		{workers.Work{Work: "sort", Times: 500}, Limits{}},
		{workers.Work{Work: "maps", Times: 100}, Limits{}},
		{workers.Work{Work: "heap", Times: 50}, Limits{}},
		{workers.Work{Work: "calls", Times: 4}, Limits{}},
		{workers.Work{Work: "look"}, Limits{}},
		{workers.Work{Work: "grow", Times: 9}, Limits{}},
		{workers.Work{Work: "write", Times: 3}, Limits{}},
		{workers.Work{Work: "recurse", Times: 1000}, Limits{}},
		{workers.Work{Work: "recurse", Times: 1_000_000}, Limits{Depth: 6_000}},
		{workers.Work{Work: "recurse", Times: 1000}, Limits{Depth: 700}},
		{workers.Work{Work: "busy"}, Limits{Gas: 3_000_000}},
		{workers.Work{Work: "floats", Times: 1_000_000}, Limits{Gas: 7_654_321}},
		{workers.Work{Work: "calls", Times: 1_000}, Limits{Gas: 2_345_678}},
		{workers.Work{Work: "calls", Times: 1_000}, Limits{HostCalls: 100}},
		{workers.Work{Work: "write", Times: 100}, Limits{MemoryBytes: 6 << 20}},
		{workers.Work{Work: "grow", Times: 1_000}, Limits{MemoryBytes: 12 << 20}},
		{workers.Work{Work: "trap"}, Limits{}},
		{workers.Work{Work: "exit", Times: 7}, Limits{}},
		{workers.Work{Work: "undo", Times: 511}, Limits{}},
	} {
		if w.Can(j.Work.Work) {
			all = append(all, j)
		}
	}
	return all
}

// seen is all that can be told of a Run from outside.
type seen struct {
	Output      string
	End         string
	Asked       []string
	HostCalls   int
	Gas         uint64
	MemoryBytes uint64
	Memory      string // hash of memory and globals at the end
}

// do does a job, as try does, and fails the test when nothing can be taken from the pool.
func (j job) do(t testing.TB, m *Module) seen {
	t.Helper()
	s, err := j.try(t, m)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// try does a job on the instance that the pool gives, and looks at what is left of it
// before anybody makes it good again.
func (j job) try(t testing.TB, m *Module) (seen, error) {
	h, l := newWorkHost(t, j.Work), j.Limits.OrDefault()
	g, err := m.admit(t.Context(), abi.DefaultExport, l)
	if err != nil {
		return seen{}, err
	}
	inst, err := g.take(l)
	if err != nil {
		return seen{}, err
	}
	usage, err := inst.serve(t.Context(), time.Now(), abi.DefaultExport, h, l)
	s := seen{Output: h.output, End: ending(err), Asked: h.log, HostCalls: usage.HostCalls,
		Gas: usage.Gas, MemoryBytes: usage.MemoryBytes, Memory: fingerprint(inst)}
	g.put(inst)
	return s, nil
}

// fingerprint hashes an instance's memory, its size and the globals that can be read.
func fingerprint(inst *instance) string {
	sum := sha256.New()
	if memory := inst.mod.Memory(); memory != nil {
		all, _ := memory.Read(0, memory.Size())
		fmt.Fprintf(sum, "%d\n", memory.Size())
		sum.Write(all)
	}
	fmt.Fprintf(sum, "%x", inst.globalValues())
	return hex.EncodeToString(sum.Sum(nil))
}

// wantSeen compares what two ways of doing the same came to.
func wantSeen(t testing.TB, what string, want, got seen) {
	t.Helper()
	a, b := want, got
	if strings.Join(a.Asked, "\n") != strings.Join(b.Asked, "\n") {
		t.Errorf("%s: it asked for something else: %s", what, firstDifference(a.Asked, b.Asked))
	}
	a.Asked, b.Asked = nil, nil
	if fmt.Sprint(a) != fmt.Sprint(b) {
		t.Errorf("%s:\n%+v, and not\n%+v", what, b, a)
	}
}

// TestEveryWayIsTheSame holds that what a plugin does, how much gas it takes, where it
// is stopped and what its memory holds then do not depend on the engine that runs it,
// nor on what its instance was used for before.
func TestEveryWayIsTheSame(t *testing.T) {
	share.Alone(t)
	for _, w := range workers.All() {
		t.Run(w.Name, func(t *testing.T) {
			var first []seen
			for _, engine := range engines() {
				engine.config.CacheDir = cacheDir
				m := compile(t, newRuntime(t, engine.config), w.Wasm)
				for i, j := range jobs(w) {
					got := j.do(t, m)
					if len(first) <= i {
						first = append(first, got)
					}
					wantSeen(t, fmt.Sprintf("%v on the %s", j, engine.name), first[i], got)
				}
			}
		})
	}
}

// TestBornIsLikePooled holds that an instance that is the first of its module does the
// same as one that has done something else before.
func TestBornIsLikePooled(t *testing.T) {
	share.Alone(t)
	for _, w := range workers.All() {
		t.Run(w.Name, func(t *testing.T) {
			r := newRuntime(t, Config{CacheDir: cacheDir})
			used := compile(t, r, w.Wasm)
			for _, j := range jobs(w) {
				wantSeen(t, j.String(), j.do(t, compile(t, r, w.Wasm)), j.do(t, used))
			}
		})
	}
}

// TestFreshIsLikePooled holds that instances which are initialized within their Run do
// the same as those born from a snapshot, as far as the initialization is told nothing:
// that of Go is told the time and given randomness. Gas counts the initialization then.
func TestFreshIsLikePooled(t *testing.T) {
	for _, w := range workers.All() {
		if w.Name == "work-go" {
			continue
		}
		t.Run(w.Name, func(t *testing.T) {
			m := compile(t, newRuntime(t, Config{CacheDir: cacheDir}), w.Wasm)
			for _, j := range jobs(w) {
				if j.Limits.Gas > 0 {
					continue
				}
				pooled := j.do(t, m)
				j.Limits.Fresh = true
				fresh := j.do(t, m)
				fresh.Gas = pooled.Gas
				wantSeen(t, j.String(), pooled, fresh)
			}
		})
	}
}

// TestSlicesMakeNoDifference holds that how often a guest comes by to be given gas shows
// nowhere: not in the gas that it has used, nor in where it is stopped.
func TestSlicesMakeNoDifference(t *testing.T) {
	for _, w := range workers.All() {
		t.Run(w.Name, func(t *testing.T) {
			var first []seen
			for _, slice := range []int64{guest.GasSlice, 61, 4_999, 10_000_000} {
				r := newRuntime(t, Config{CacheDir: cacheDir})
				r.shared.Slice = slice
				m := compile(t, r, w.Wasm)
				for i, j := range jobs(w) {
					got := j.do(t, m)
					if len(first) <= i {
						first = append(first, got)
					}
					wantSeen(t, fmt.Sprintf("%v in slices of %d", j, slice), first[i], got)
				}
			}
		})
	}
}

// TestGasStopsAnywhere holds that the place where a plugin runs out of gas follows from
// its gas alone: stopped anywhere, it has asked for the same, and its memory holds the
// same.
func TestGasStopsAnywhere(t *testing.T) {
	share.Alone(t)
	for _, w := range workers.All() {
		t.Run(w.Name, func(t *testing.T) {
			compiler := compile(t, newRuntime(t, Config{CacheDir: cacheDir}), w.Wasm)
			interpreter := compile(t, newRuntime(t, Config{CacheDir: cacheDir, Interpreter: true}), w.Wasm)
			for _, work := range []workers.Work{{Work: "calls", Times: 3}, {Work: "floats", Times: 10}, {Work: "write", Times: 1}} {
				whole := job{Work: work}.do(t, compiler)
				const places = 12
				for i := range uint64(places) {
					j := job{work, Limits{Gas: 1 + whole.Gas*i/places}}
					got := j.do(t, compiler)
					if !strings.HasPrefix(got.End, abi.FailurePluginGas) {
						t.Errorf("%v of %d: %s", j, whole.Gas, got.End)
					}
					wantSeen(t, j.String(), got, j.do(t, interpreter))
				}
			}
		})
	}
}

// observations is the variable with the file to which TestObserve writes.
const observations = "WHARF_SANDBOX_OBSERVE"

// TestObserve writes down what this processor sees.
func TestObserve(t *testing.T) {
	file := os.Getenv(observations)
	if file == "" {
		t.Skip("it is run by TestAnotherProcessorSeesTheSame, on another processor")
	}
	text, err := json.Marshal(observeWorkers(t, newRuntime(t, Config{})))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// observeWorkers does every job. Compiling the worker in Go takes an emulated processor
// half a minute.
func observeWorkers(t *testing.T, r *Runtime) map[string][]seen {
	all := map[string][]seen{}
	for _, w := range workers.All() {
		if w.Name == "work-go" && !long() {
			continue
		}
		m := compile(t, r, w.Wasm)
		for _, j := range jobs(w) {
			all[w.Name] = append(all[w.Name], j.do(t, m))
		}
	}
	return all
}

// long says that tests may take minutes.
func long() bool { return os.Getenv("WHARF_LONG") != "" }

// TestAnotherProcessorSeesTheSame does every job on arm64 too, under an emulator.
func TestAnotherProcessorSeesTheSame(t *testing.T) {
	emulator := arm64test.Emulator(t)
	binary, file := arm64test.TestBinary(t), filepath.Join(t.TempDir(), "seen.json")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	run := exec.CommandContext(ctx, emulator, binary, "-test.run=^TestObserve$", "-test.timeout=10m")
	run.Env = append(os.Environ(), observations+"="+file)
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("on arm64: %v\n%s", err, out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var there map[string][]seen
	if err := json.Unmarshal(text, &there); err != nil {
		t.Fatal(err)
	}
	here := observeWorkers(t, newRuntime(t, Config{CacheDir: cacheDir}))
	for _, w := range workers.All() {
		if len(there[w.Name]) != len(here[w.Name]) {
			t.Fatalf("%s: %d jobs here, %d on arm64", w.Name, len(here[w.Name]), len(there[w.Name]))
		}
		for i, want := range here[w.Name] {
			wantSeen(t, w.Name+" on arm64, "+jobs(w)[i].String(), want, there[w.Name][i])
		}
	}
}
