package sandbox

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/internal/share"
	"github.com/wharf-dev/wharf/plugins/plugintest"
)

// virtual is a Host whose answers follow from what it was asked before, and that
// writes down every question.
type virtual struct {
	log   []string
	now   time.Time
	state uint64
}

func newVirtual() *virtual {
	return &virtual{now: time.Date(2026, 4, 25, 19, 16, 14, 0, time.UTC), state: 1}
}

func (v *virtual) Call(_ context.Context, call string, request []byte) (abi.CallStatus, []byte, error) {
	v.log = append(v.log, fmt.Sprintf("call %s %q", call, request))
	return abi.CallOK, fmt.Appendf(nil, `{"n":%d}`, len(v.log)), nil
}

func (v *virtual) Now() time.Time {
	v.now = v.now.Add(time.Microsecond)
	v.log = append(v.log, "now")
	return v.now
}

func (v *virtual) Random(p []byte) {
	for i := range p {
		v.state = v.state*6364136223846793005 + 1442695040888963407
		p[i] = byte(v.state >> 56)
	}
	v.log = append(v.log, fmt.Sprintf("random %d", len(p)))
}

func (v *virtual) Sleep(_ context.Context, d time.Duration) {
	v.now = v.now.Add(d)
	v.log = append(v.log, fmt.Sprintf("sleep %v", d))
}

// chance is a Go plugin that tells everything that a Go program could tell runs
// apart by.
const chance = `package main

import (
	crypto "crypto/rand"
	"fmt"
	"hash/maphash"
	"math/rand"
	randv2 "math/rand/v2"
	"os"
	"runtime"
	"sync"
	"time"
)

//go:wasmexport run
func run() int32 {
	begun := time.Now()
	fmt.Println(begun.UnixNano(), time.Since(begun), time.Since(begun))
	m := map[string]int{}
	for i := range 100 {
		m[fmt.Sprint(i)] = i
	}
	for k, v := range m {
		fmt.Print(k, v, " ")
	}
	fmt.Println(rand.Int63(), randv2.Uint64(), maphash.String(maphash.MakeSeed(), "x"))
	secret := make([]byte, 40)
	crypto.Read(secret)
	fmt.Printf("%x\n", secret)
	time.Sleep(90 * time.Minute)
	fmt.Println(time.Since(begun))
	race()
	for range 40 {
		select {
		case <-time.After(time.Millisecond):
			fmt.Print("timer ")
		case <-ticks():
			fmt.Print("tick ")
		}
	}
	host, _ := os.Hostname()
	wd, err := os.Getwd()
	fmt.Println(os.Args, os.Environ(), host, wd, err, os.Getpid(), runtime.NumCPU(), runtime.NumGoroutine())
	var stats runtime.MemStats
	garbage := [][]byte{}
	for i := range 2000 {
		garbage = append(garbage, make([]byte, 10_000))
		if i%100 == 0 {
			garbage = nil
		}
	}
	runtime.ReadMemStats(&stats)
	fmt.Println(stats.NumGC, stats.PauseTotalNs, stats.HeapSys, len(garbage))
	return 0
}

// race lets goroutines say who comes first.
func race() {
	var group sync.WaitGroup
	var lock sync.Mutex
	for i := range 50 {
		group.Go(func() {
			time.Sleep(time.Duration(i%7) * time.Millisecond)
			lock.Lock()
			defer lock.Unlock()
			fmt.Print(i, " ")
			runtime.Gosched()
		})
	}
	group.Wait()
}

func ticks() chan bool {
	c := make(chan bool)
	go func() {
		time.Sleep(time.Millisecond)
		select {
		case c <- true:
		default:
		}
	}()
	return c
}

func main() {}
`

// TestRunsAreTheSame holds that two Runs with the same answers ask for the same, in
// the same order and with the same bytes: clock readings, randomness and sleeps
// included. It holds on both engines, and when the machine is busy.
func TestRunsAreTheSame(t *testing.T) {
	share.Alone(t)
	words := program(
		plugintest.Step{Call: "wasi.clock", Repeat: 3}, plugintest.Step{Call: "wasi.monotonic", Repeat: 3},
		plugintest.Step{Call: "wasi.random", Bytes: number(64)}, plugintest.Step{Call: "wasi.sleep", Bytes: number(86_400_000)},
		plugintest.Step{Call: "wasi.monotonic"}, plugintest.Step{Call: "wasi.print", Text: text("digest $digest\n")},
		plugintest.Step{Call: "grow", Bytes: number(3)}, plugintest.Step{Call: "grow", Bytes: number(1 << 20)},
	)
	guests := map[string]struct {
		wasm  []byte
		input any
	}{
		"go":   {buildModule(t, map[string]string{"main.go": chance, "go.mod": "module guest\n\ngo 1.26.0\n"}), nil},
		"wasi": {plugintest.Calls(), words},
	}
	for name, guest := range guests {
		t.Run(name, func(t *testing.T) {
			var first []string
			for _, engine := range engines() {
				engine.config.CacheDir = cacheDir
				m := compile(t, newRuntime(t, engine.config), guest.wasm)
				for i := range 3 {
					got := observe(t, m, guest.input, Limits{})
					if first == nil {
						first = got
					}
					if !slices.Equal(got, first) {
						t.Fatalf("run %d on the %s is another:\n%s", i, engine.name, firstDifference(first, got))
					}
					runtime.GC()
				}
			}
			t.Logf("%d questions", len(first))
		})
	}
}

// observe runs a guest and returns what it asked.
func observe(t *testing.T, m *Module, input any, l Limits) []string {
	t.Helper()
	v := newVirtual()
	var h Host = v
	if input != nil {
		given := programHost(t, input, func(call string, request []byte) (abi.CallStatus, []byte, error) {
			return v.Call(t.Context(), call, request)
		})
		h = struct {
			clockAndChance
			caller
		}{v, given}
	}
	if _, err := m.Run(t.Context(), abi.DefaultExport, h, l); err != nil {
		t.Fatal(err)
	}
	return v.log
}

type clockAndChance interface {
	Now() time.Time
	Random([]byte)
	Sleep(context.Context, time.Duration)
}

type caller interface {
	Call(context.Context, string, []byte) (abi.CallStatus, []byte, error)
}

func firstDifference(a, b []string) string {
	for i := range max(len(a), len(b)) {
		switch {
		case i >= len(a) || i >= len(b):
			return fmt.Sprintf("%d and %d questions", len(a), len(b))
		case a[i] != b[i]:
			return fmt.Sprintf("question %d:\n%.600s\n%.600s", i, a[i], b[i])
		}
	}
	return "none"
}

// TestFailuresAreTheSame holds that a guest that fails does so with the same words,
// after the same calls, on both engines: a failure goes into the record.
func TestFailuresAreTheSame(t *testing.T) {
	compiler, interpreter := newRuntime(t, Config{}), newRuntime(t, Config{Interpreter: true})
	for _, test := range hostile {
		t.Run(test.name, func(t *testing.T) {
			run := func(r *Runtime) (failure *abi.Failure, calls int) {
				usage, err := compile(t, r, test.guest.wasm()).Run(t.Context(), abi.DefaultExport, newVirtual(), test.limits)
				failure, _ = errors.AsType[*abi.Failure](err)
				return failure, usage.HostCalls
			}
			a, calls := run(compiler)
			if a == nil || a.Code == abi.FailurePluginTimeout {
				t.Skip("what a stop by time finds under way is recorded, and not found again")
			}
			b, again := run(interpreter)
			if b == nil || a.Code != b.Code || a.Message != b.Message || string(a.Details) != string(b.Details) || calls != again {
				t.Errorf("%d calls, then %v %s; and %d calls, then %v %s", calls, a, a.Details, again, b, b.Details)
			}
		})
	}
}
