package sandbox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/internal/share"
	"github.com/wharf-dev/wharf/runtime/sandbox/extism"
	"github.com/wharf-dev/wharf/runtime/sandbox/guest"
	"github.com/wharf-dev/wharf/runtime/sandbox/rewrite"
	"github.com/wharf-dev/wharf/runtime/sandbox/wasi"
)

// everyImport returns all that a guest can import, by what it runs in.
func everyImport(r *Runtime) (native, pdk []importedFunc) {
	for _, module := range slices.Sorted(maps.Keys(r.offers)) {
		for _, name := range r.offered(module) {
			native = append(native, importedFunc{module, name, r.offers[module][name]})
		}
	}
	for _, f := range extism.Imports() {
		pdk = append(pdk, importedFunc{f.Module, f.Name, f.Signature()})
	}
	return native, pdk
}

// bySDK are functions that the Extism SDK answers by itself. They do next to nothing, and do
// not let a guest be stopped: it comes by soon enough.
var bySDK = []string{"length_unsafe", "load_u8", "load_u64", "input_length", "input_offset", "input_load_u8", "input_load_u64",
	"output_offset", "memory_bytes"}

const hostilePages = 64 // 4 MiB of memory

// hostileArguments are what a guest passes that wants to keep its host busy. In memory
// are zeros: buffers without a length, and times that are over.
var hostileArguments = [][]int64{
	{0}, {1}, {-1}, {-1 << 31}, {3, 0, hostilePages << 16},
	{1, 0, wasi.MaxBuffers, 0, 0}, {0, 0, wasi.MaxBuffers, 0, 0}, {1, 0, wasi.MaxBuffers + 1, 0, 0}, {1, 0, 1 << 29, 0, 0},
	{0, 8192, wasi.MaxSubscriptions, 4096}, {0, 0, 0x05555556, 0},
	{0, hostilePages << 16}, {8, hostilePages<<16 - 8, 0, 8, hostilePages<<16 - 8, 0}, {-1, 2}, {0, 0, hostilePages << 16, 0, 0, hostilePages << 16},
	{0, hostilePages << 16, 3, 0, hostilePages << 16}, {3, 0, 0, hostilePages << 16, 0, 0, 0, 0, 0},
}

// hostileCalls is a guest with two exports for each list of arguments: once calls f a
// single time, and loop for ever. That asks for the time in between.
func hostileCalls(f, clock importedFunc) []byte {
	g := &handmade{pages: hostilePages, imports: []importedFunc{clock, f}}
	ask := strings.Repeat(konst(0), len(clock.sig.Params)) + call(0) + strings.Repeat(opDrop, len(clock.sig.Results))
	for n, list := range hostileArguments {
		body := ""
		for i := range len(f.sig.Params) {
			v := int64(0)
			if len(list) == 1 {
				v = list[0]
			} else if i < len(list) {
				v = list[i]
			}
			body += konst(v)
			if f.sig.Params[i] == i64[0] {
				body += "\xac" // i64.extend_i32_s
			}
		}
		body += call(1)
		if f.sig.Results != "" {
			body += opDrop
		}
		g.add(fn{export: fmt.Sprintf("once%d", n), sig: runSig, body: body + konst(0)})
		g.add(fn{export: fmt.Sprintf("loop%d", n), sig: runSig, locals: "\x01\x01" + i32, body: loopsWith(third(ask) + body)})
	}
	return g.wasm()
}

// third does something in the third turn of a loop: the guest has a slice of gas then.
func third(do string) string {
	return "\x20\x00" + konst(1) + "\x6a\x22\x00" + konst(3) + "\x46\x04\x40" + do + "\x0b"
}

// canceling is a Host that cancels the Run when the guest asks for the time, if it is to.
type canceling struct {
	cancel context.CancelFunc
	host
}

func newCanceling(cancel context.CancelFunc) *canceling {
	return &canceling{cancel: cancel, host: host{answer: func(_ context.Context, call string, _ []byte) (abi.CallStatus, []byte, error) {
		if cancel != nil && call == abi.CallClock {
			cancel()
		}
		return abi.CallOK, []byte("{}"), nil
	}}}
}

func (h *canceling) Sleep(context.Context, time.Duration) {}

// hostileLimits let a guest that is not stopped go on for long.
func hostileLimits() Limits {
	return Limits{MemoryBytes: 8 << 20, WallTime: time.Minute, PayloadBytes: 1 << 20}
}

// TestEveryCallIsStoppedAndBounded calls everything there is to call with whatever may
// keep the host busy. A Run that is canceled ends with the next call, and what a call
// does for the guest takes no memory of the host's that grows with the guest's.
func TestEveryCallIsStoppedAndBounded(t *testing.T) {
	share.Alone(t)
	r := newRuntime(t, Config{})
	native, pdk := everyImport(r)
	clock := importedFunc{abi.HostModule, abi.CallClock, signature(i32+i32, i64)}
	pdkClock := importedFunc{extism.UserModule, abi.CallClock, rewrite.Signature{}}
	for _, f := range native {
		if !hosted(f) {
			continue
		}
		t.Run("native/"+f.module+"/"+f.name, func(t *testing.T) {
			m := compile(t, r, hostileCalls(f, clock))
			defer m.Close(context.Background())
			testCalls(t, m, 0, f.name == "proc_exit")
		})
	}
	for _, f := range pdk {
		if f.name == abi.CallClock || !hosted(f) {
			continue
		}
		t.Run("extism/"+f.module+"/"+f.name, func(t *testing.T) {
			m := compile(t, r, hostileCalls(f, pdkClock))
			defer m.Close(context.Background())
			slack := uint64(0)
			if f.module == extism.EnvModule && slices.Contains(bySDK, f.name) {
				slack = guest.GasSlice
			}
			testCalls(t, m, slack, f.name == "proc_exit")
		})
	}
}

// hosted reports whether a test that is to be quick takes an import: host calls are
// all offered by the same function, and so a few do.
func hosted(f importedFunc) bool {
	isCall := f.module == extism.UserModule && f.name != extism.StatusImport || f.module == abi.HostModule && f.name != abi.ReadImport
	few := f.name == abi.CallInput || f.name == abi.CallLog || f.name == abi.CallArtifactPut || f.name == "state_set"
	return long() || !isCall || few
}

// testCalls runs every export of a guest of hostileCalls. slack is how much gas more than
// that of a call the guest may use after the cancel; exits says that a call ends the Run.
func testCalls(t *testing.T, m *Module, slack uint64, exits bool) {
	for n, arguments := range hostileArguments {
		before := allocated()
		one, err := m.Run(t.Context(), fmt.Sprintf("once%d", n), newCanceling(nil), hostileLimits())
		if took := allocated() - before; took > mostAllocated(m) {
			t.Errorf("%v: a call took %d bytes", arguments, took)
		}
		if err != nil || exits {
			continue // it ends the Run, and so does a loop
		}
		ctx, cancel := context.WithCancel(t.Context())
		begun := time.Now()
		usage, err := m.Run(ctx, fmt.Sprintf("loop%d", n), newCanceling(cancel), hostileLimits())
		cancel()
		if most := 4*(one.Gas+100) + slack; !errors.Is(err, context.Canceled) || usage.Gas > most {
			t.Errorf("%v: the loop ended with %v after %d units of gas, want at most %d", arguments, err, usage.Gas, most)
		}
		if took := time.Since(begun); took > 10*time.Second {
			t.Errorf("%v: it took %v to end", arguments, took)
		}
	}
}

// BenchmarkCancel measures how long after a cancel a Run ends in which the guest goes on
// calling everything there is to call with whatever may keep the host busy: the longest
// time, and which call that was. [TestEveryCallIsStoppedAndBounded] holds the same by count.
func BenchmarkCancel(b *testing.B) {
	r := newRuntime(b, Config{})
	native, pdk := everyImport(r)
	clocks := map[bool]importedFunc{
		false: {abi.HostModule, abi.CallClock, signature(i32+i32, i64)},
		true:  {extism.UserModule, abi.CallClock, rewrite.Signature{}},
	}
	longest, of := time.Duration(0), ""
	measure := func(f importedFunc, inExtism bool) {
		m := compile(b, r, hostileCalls(f, clocks[inExtism]))
		defer m.Close(context.Background())
		for n, arguments := range hostileArguments {
			ctx, cancel := context.WithCancel(b.Context())
			var at time.Time
			_, err := m.Run(ctx, fmt.Sprintf("loop%d", n), newCanceling(func() { at = time.Now(); cancel() }), hostileLimits())
			if took := time.Since(at); errors.Is(err, context.Canceled) && took > longest {
				longest, of = took, fmt.Sprintf("%s %v", f.name, arguments)
			}
			cancel()
		}
	}
	for b.Loop() {
		for _, f := range native {
			measure(f, false)
		}
		for _, f := range pdk {
			if f.name != abi.CallClock {
				measure(f, true)
			}
		}
	}
	b.ReportMetric(float64(longest.Microseconds())/1000, "ms/longest")
	b.Logf("the longest: %s", of)
}

// mostAllocated is what a Run may allocate: an Extism plugin's memory is part of it.
func mostAllocated(m *Module) uint64 {
	if m.extism != nil {
		return 32 << 20
	}
	return 8 << 20
}

func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// TestInitializationsEnd holds that a module is compiled whatever its initialization does:
// what WASI does for it is bounded as well as what it does itself.
func TestInitializationsEnd(t *testing.T) {
	share.Alone(t)
	r := newRuntime(t, Config{})
	const unlistened = 0
	for name, arguments := range map[string][]int64{
		"fd_write": {1, 0, wasi.MaxBuffers, 0}, "fd_read": {0, 0, wasi.MaxBuffers, 0}, "poll_oneoff": {0, 8192, wasi.MaxSubscriptions, 4096},
		"path_rename": {3, 0, hostilePages << 16, 3, 0, hostilePages << 16}, "clock_time_get": {1, 0, 0}, "random_get": {0, hostilePages << 16},
		"sched_yield": nil,
	} {
		for _, export := range []string{"_initialize", ""} {
			t.Run(name+"/"+export, func(t *testing.T) {
				called, _ := wasi.Lookup(name)
				sig := called.Signature
				g := runner(konst(0)).importWASI(name, sig.Params, sig.Results)
				g.pages = hostilePages
				body := ""
				for i, v := range arguments {
					body += konst(v)
					if sig.Params[i] == i64[0] {
						body += "\xac"
					}
				}
				g.add(fn{export: export, body: loopsWith(body + call(unlistened) + opDrop)})
				if export == "" {
					g.start = 3
				}
				before := allocated()
				m := compile(t, r, g.wasm())
				if took := allocated() - before; took > 64<<20 {
					t.Errorf("compiling it took %d bytes", took)
				}
				if why := m.shape.Why; !strings.Contains(why, "gas") && !strings.Contains(why, "functions of WASI more than") {
					t.Errorf("it is initialized in each Run because %q", why)
				}
			})
		}
	}
}

// TestExtismTextsAreNotCopiedWhole holds that an error and an output that are too long are
// not copied out of the guest's memory, and that the rest of what they mean is as ever.
func TestExtismTextsAreNotCopiedWhole(t *testing.T) {
	r := newRuntime(t, Config{})
	const size = 64 << 20
	allocates := konst(size) + "\xad" + call(0)
	grows := &handmade{pages: 1}
	grows.imports = append(grows.imports, []importedFunc{
		{extism.EnvModule, "alloc", signature(i64, i64)}, {extism.EnvModule, "error_set", signature(i64, "")},
		{extism.EnvModule, "output_set", signature(i64+i64, "")}, {extism.EnvModule, "log_info", signature(i64, "")},
		{extism.EnvModule, "output_length", signature("", i64)}, {extism.EnvModule, "error_get", signature("", i64)},
	}...)
	length := konst(size) + "\xad"
	grows.add(fn{export: "nothing", sig: runSig, body: allocates + opDrop + konst(0)})
	grows.add(fn{export: "error", sig: runSig, body: allocates + call(1) + call(5) + "\x50"}) // i64.eqz
	grows.add(fn{export: "output", sig: runSig, body: allocates + length + call(2) + call(4) + length + "\x52"})
	grows.add(fn{export: "log", sig: runSig, body: allocates + call(3) + konst(0)})
	m := compile(t, r, grows.wasm())
	run := func(export string) (uint64, error) {
		before := allocated()
		_, err := m.Run(t.Context(), export, extismHost(""), Limits{})
		return allocated() - before, err
	}
	base, err := run("nothing")
	if err != nil {
		t.Fatal(err)
	}
	for export, code := range map[string]string{
		"error": abi.FailurePluginError, "output": abi.FailurePayloadTooLarge, "log": abi.FailurePayloadTooLarge,
	} {
		took, err := run(export)
		wantFailure(t, err, code)
		if took > base+size/8 {
			t.Errorf("%s: it took %d bytes, and %d without", export, took, base)
		}
	}
}

// TestExtismQuotesWithinBounds holds that a line of a log that is only too long once it is
// quoted is refused before it is.
func TestExtismQuotesWithinBounds(t *testing.T) {
	r := newRuntime(t, Config{})
	const size = 31 << 20 // of zeros, which become six times as much
	g := &handmade{pages: 1, imports: []importedFunc{
		{extism.EnvModule, "alloc", signature(i64, i64)}, {extism.EnvModule, "log_info", signature(i64, "")},
	}}
	g.add(fn{export: "run", sig: runSig, body: konst(size) + "\xad" + call(0) + call(1) + konst(0)})
	m := compile(t, r, g.wasm())
	before := allocated()
	_, err := m.Run(t.Context(), "run", extismHost(""), Limits{})
	wantFailure(t, err, abi.FailurePayloadTooLarge)
	if took := allocated() - before; took > 3*size {
		t.Errorf("it took %d bytes", took)
	}
}
