package sandbox

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/internal/share"
	"github.com/wharf-dev/wharf/plugins"
)

// Opcodes that the guests of these tests need besides.
const (
	opIf        = "\x04\x40"
	opEnd       = "\x0b"
	opOr        = "\x72"
	opXor       = "\x73"
	opNe        = "\x47"
	opSize      = "\x3f\x00"
	opLoad      = "\x28\x02\x00"
	opStore     = "\x36\x02\x00"
	globalGet0  = "\x23\x00"
	globalSet0  = "\x24\x00"
	oneGlobal   = "\x01\x7f\x01\x41\x07\x0b" // mutable, an i32 of 7
	twoOfI32    = "\x01\x02\x7f"
	localGet1   = "\x20\x01"
	localSet1   = "\x21\x01"
	opAdd       = "\x6a"
	opMul       = "\x6c"
	branchIf0   = "\x0d\x00"
	loopForever = opLoopForever + opUnreachable
)

// leavesMarks is a guest that traps with a division by zero when it finds anything that
// an earlier Run could have left: in memory, beyond what memory there is at first, in a
// global, in its size, in a standard stream. Then it leaves all of these, and ends as
// the given code says, which is the last of its body.
func leavesMarks(ending string, calls ...string) *handmade {
	g := runner("", calls...)
	g.globals = oneGlobal
	g.importWASI("fd_close", i32, i32)
	closes := call(len(g.imports) - 1)
	far := int64(3*pageBytes - 4)
	found := globalGet0 + konst(7) + opXor + konst(0) + opLoad + opOr + konst(pageBytes-4) + opLoad + opOr + opSize + konst(1) + opXor + opOr +
		konst(1) + closes + opOr + konst(2) + opGrow + konst(1) + opXor + opOr + konst(far) + opLoad + opOr
	marks := konst(0) + konst(1) + opStore + konst(pageBytes-4) + konst(1) + opStore + konst(far) + konst(1) + opStore + konst(9) + globalSet0
	g.add(fn{sig: runSig, body: call(len(g.imports) + 1)}) // for ever
	g.funcs[0].body = found + opIf + konst(1) + konst(0) + opDivS + opDrop + opEnd + marks + ending
	return g
}

// TestRunsSeeNothingOfOthers holds that a Run finds everything as it was at first,
// however the ones before it have ended.
func TestRunsSeeNothingOfOthers(t *testing.T) {
	errParked := errors.New("parked")
	asks := hostCallOf(0, 0, 0)
	for _, engine := range engines() {
		r := newRuntime(t, engine.config)
		for _, test := range []struct {
			name, ending string
			code         string // of the failure, "" for none
			err          error
		}{
			{"returns", konst(0), "", nil},
			{"returns non-zero", konst(3), abi.FailurePluginError, nil},
			{"traps", opUnreachable, abi.FailurePluginTrap, nil},
			{"overflows its stack", call(3), abi.FailurePluginTrap, nil},
			{"uses up its gas", loopForever, abi.FailurePluginGas, nil},
			{"passes a limit", loopsWith(asks), abi.FailureHostCalls, nil},
			{"is ended by the host", asks + konst(0), "", errParked},
		} {
			t.Run(engine.name+"/"+test.name, func(t *testing.T) {
				m := compile(t, r, leavesMarks(test.ending, abi.CallInput).wasm())
				h := &host{answer: func(context.Context, string, []byte) (abi.CallStatus, []byte, error) {
					return abi.CallOK, nil, test.err
				}}
				for range 8 {
					_, err := m.Run(t.Context(), abi.DefaultExport, h, Limits{Gas: 1_000_000, HostCalls: 100, Depth: 5000})
					failure, _ := errors.AsType[*abi.Failure](err)
					switch {
					case test.err != nil && !errors.Is(err, test.err), test.err == nil && test.code == "" && err != nil:
						t.Fatalf("got %v", err)
					case test.code != "" && (failure == nil || failure.Code != test.code):
						t.Fatalf("got %v, want %s", err, test.code)
					case failure != nil && failure.Code == abi.FailurePluginTrap:
						if strings.Contains(failure.Message, "divide by zero") {
							t.Fatalf("it found what another Run left: %v", err)
						}
					}
				}
			})
		}
	}
}

// TestPluginsWrittenInGoSeeNothingOfOthers runs a large plugin again and again, beside
// itself: each Run asks for the same.
func TestPluginsWrittenInGoSeeNothingOfOthers(t *testing.T) {
	m := bundled(t, newRuntime(t, Config{CacheDir: cacheDir}), "digest")
	input := newTask(t, smallInput).input
	ask := func() []asked {
		h := &host{keep: true}
		h.answer = func(_ context.Context, call string, _ []byte) (abi.CallStatus, []byte, error) {
			if call == abi.CallInput {
				return abi.CallOK, input, nil
			}
			return abi.CallOK, []byte(`{"message_id":"msg_1","artifact_id":"art_1"}`), nil
		}
		usage, err := m.Run(t.Context(), abi.DefaultExport, h, Limits{})
		if err != nil {
			t.Error(err)
		}
		return append(h.asked, asked{"gas", fmt.Sprint(usage.Gas)})
	}
	first := ask()
	done := make(chan []asked)
	const parallel, rounds = 4, 25
	for range parallel {
		go func() {
			for range rounds {
				done <- ask()
			}
		}()
	}
	for range parallel * rounds {
		if got := <-done; !slices.Equal(got, first) {
			t.Fatalf("a Run asked %q, another %q", got, first)
		}
	}
}

// TestClosedStreamsAreOpenAgain holds that a guest can close its streams, for itself.
func TestClosedStreamsAreOpenAgain(t *testing.T) {
	g := runner("").importWASI("fd_close", i32, i32).importWASI("fd_write", i32+i32+i32+i32, i32).
		importWASI("fd_read", i32+i32+i32+i32, i32)
	g.at(0, "\x40\x00\x00\x00\x03\x00\x00\x00").at(64, "hi\n")
	closes := func(fd int64) string { return konst(fd) + call(0) }
	use := func(fd int64, with int) string { return konst(fd) + konst(0) + konst(1) + konst(60) + call(with) }
	sum, shift := "", func(v string, by int64) string { return v + konst(by) + opMul + opAdd }
	sum = use(1, 1)                   // 0
	sum += shift(closes(1), 100)      // 0
	sum += shift(use(1, 1), 1)        // 8
	sum += shift(closes(1), 10)       // 80
	sum += shift(use(2, 1), 100)      // 0
	sum += shift(closes(0), 1000)     // 0
	sum += shift(use(0, 2), 1000)     // 8000
	sum += shift(closes(3), 10_000)   // 80000
	sum += shift(closes(-1), 100_000) // 800000
	sum += konst(888_088) + opXor     // 0
	g.funcs[0].body = sum
	m := compile(t, newRuntime(t, Config{}), g.wasm())
	for range 3 {
		h := &host{keep: true}
		if _, err := m.Run(t.Context(), abi.DefaultExport, h, Limits{}); err != nil || len(h.asked) != 2 {
			t.Fatalf("it ended with %v after %q", err, h.asked)
		}
	}
}

// mixed is a guest that computes in loops, calls and host calls, and writes down what it
// has done, 1,000 times.
func mixed() *handmade {
	g := runner("", abi.CallClock)
	inner := localGet1 + konst(17) + opMul + konst(1) + opAdd + localSet1
	step := localGet0 + konst(1) + opAdd + "\x22\x00" // local.tee 0
	g.funcs[0].locals = twoOfI32
	g.funcs[0].body = "\x03\x40" + inner + konst(0) + konst(5) + call(2) + opStore + konst(8) + localGet1 + opStore +
		hostCallOf(0, 0, 4) + step + konst(1000) + opNe + branchIf0 + opEnd + konst(0)
	down := localGet0 + "\x45\x04\x7f" + konst(1) + "\x05" + localGet0 + localGet0 + konst(1) + "\x6b" + call(2) + opMul + konst(16) + opAdd + konst(0) + opLoad + opAdd + opEnd
	return g.add(fn{sig: signature(i32, i32), body: down})
}

// traced is how a Run has ended, as far as it has to be the same everywhere.
type traced struct {
	failure string
	calls   int
	gas     uint64
	memory  [32]byte
}

func trace(t *testing.T, m *Module, l Limits) traced {
	t.Helper()
	l = l.OrDefault()
	g, err := m.admit(t.Context(), abi.DefaultExport, l)
	if err != nil {
		t.Fatal(err)
	}
	inst, err := g.take(l)
	if err != nil {
		t.Fatal(err)
	}
	usage, err := inst.serve(t.Context(), time.Now(), abi.DefaultExport, newVirtual(), l)
	out := traced{calls: usage.HostCalls, gas: usage.Gas}
	if inst.memory != nil {
		memory, _ := inst.mod.Memory().Read(0, inst.mod.Memory().Size())
		out.memory = sha256.Sum256(memory)
	}
	if err != nil {
		out.failure = err.Error()
	}
	g.put(inst)
	return out
}

// TestGasIsTheSameEverywhere holds that a guest which runs out of gas does so in the
// same place: on both engines, in new and in used instances, whatever the slices.
func TestGasIsTheSameEverywhere(t *testing.T) {
	share.Alone(t)
	guests := map[string][]byte{
		"mixed":         mixed().wasm(),
		"loop":          runner(loopForever).wasm(),
		"recursion":     runner(call(0)).wasm(),
		"straight code": runner("", abi.CallClock).body(repeated(hostCallOf(0, 0, 0), 2000) + konst(0)).wasm(),
		"a late trap":   trapsLate().wasm(),
		"a trap":        runner(repeated(konst(1)+opDrop, 300) + opUnreachable).wasm(),
	}
	for name, wasm := range guests {
		t.Run(name, func(t *testing.T) {
			first := map[uint64]traced{}
			for _, engine := range engines() {
				for _, slice := range []int64{1, 97, 1000, 0} {
					r := newRuntime(t, engine.config)
					r.shared.Slice = slice
					m := compile(t, r, wasm)
					for _, budget := range []uint64{1, 50, 333, 1000, 4000, 4001, 25_000, 1_000_000} {
						for range 2 {
							got := trace(t, m, Limits{Gas: budget, Depth: 1000})
							want, seen := first[budget]
							if !seen {
								first[budget] = got
								continue
							}
							if got != want {
								t.Fatalf("%d units in slices of %d on the %s: %+v, elsewhere %+v", budget, slice, engine.name, got, want)
							}
						}
					}
				}
			}
			t.Logf("%+v", first[4000])
		})
	}
}

// trapsLate traps in a loop without calls, after 900 turns.
func trapsLate() *handmade {
	g := runner("")
	g.funcs[0].locals = twoOfI32
	step := localGet0 + konst(1) + opAdd + "\x22\x00" // local.tee 0
	g.funcs[0].body = call(1) + opDrop + "\x03\x40" + step + konst(900) + opNe + branchIf0 + opUnreachable + opEnd + konst(0)
	return g.add(fn{sig: runSig, body: konst(1) + konst(8) + opStore + konst(0)})
}

func repeated(s string, n int) (all string) {
	for range n {
		all += s
	}
	return all
}

// body sets the body of the first function.
func (g *handmade) body(code string) *handmade {
	g.funcs[0].body = code
	return g
}

// TestGarbageIsCollectedWhileAGuestLoops holds that a guest which only computes holds
// nobody up.
func TestGarbageIsCollectedWhileAGuestLoops(t *testing.T) {
	m := compile(t, newRuntime(t, Config{}), runner(hostCallOf(0, 0, 0)+loopForever, abi.CallInput).wasm())
	ctx, cancel := context.WithCancelCause(t.Context())
	looping, ended := make(chan struct{}), make(chan error)
	h := &host{answer: func(context.Context, string, []byte) (abi.CallStatus, []byte, error) {
		close(looping)
		return abi.CallOK, nil, nil
	}}
	go func() {
		_, err := m.Run(ctx, abi.DefaultExport, h, Limits{})
		ended <- err
	}()
	<-looping
	for range 10 {
		runtime.GC()
	}
	cancel(errStop)
	if err := <-ended; !errors.Is(err, errStop) {
		t.Errorf("got %v", err)
	}
}

// TestDeepCallsLeaveNoStack holds that an idle instance does not keep the stack that its
// deepest Run has needed.
func TestDeepCallsLeaveNoStack(t *testing.T) {
	for _, engine := range engines() {
		t.Run(engine.name, func(t *testing.T) {
			m := compile(t, newRuntime(t, engine.config), runner(call(0)).wasm())
			l := Limits{Depth: 20_000}.OrDefault()
			inst, err := m.base.take(l)
			if err != nil {
				t.Fatal(err)
			}
			_, err = inst.serve(t.Context(), time.Now(), abi.DefaultExport, &host{}, l)
			checkFailure(t, err, abi.FailurePluginTrap, "stack overflow")
			deep := inst.stackBytes(inst.functions[0])
			m.base.put(inst)
			if f := inst.functions[0]; deep == 0 || f != nil && inst.stackBytes(f) > maxIdleStack {
				t.Errorf("a stack of %d bytes after a deep Run is kept", deep)
			}
			if !engine.config.Interpreter && deep <= maxIdleStack {
				t.Errorf("a deep Run has left a stack of %d bytes: the engine keeps it elsewhere", deep)
			}
		})
	}
}

// TestEngineThatCannotGoAsDeep holds that a stack which is too small for a depth is told
// from a plugin that goes too deep, except where there was no other limit: such a failure
// is the node's and is not recorded as the plugin's.
func TestEngineThatCannotGoAsDeep(t *testing.T) {
	if os.Getenv("WHARF_LONG") == "" {
		t.Skip("WHARF_LONG is not set: it needs a gigabyte of memory")
	}
	for _, engine := range engines() {
		t.Run(engine.name, func(t *testing.T) {
			m := compile(t, newRuntime(t, engine.config), runner(call(0)).wasm())
			_, err := m.Run(t.Context(), abi.DefaultExport, &host{}, Limits{Depth: 1 << 40})
			checkFailure(t, err, abi.FailureHost, "cannot go as deep")
			_, err = m.Run(t.Context(), abi.DefaultExport, &host{}, Limits{Depth: 1 << 40, Fresh: true})
			checkFailure(t, err, abi.FailurePluginTrap, "stack overflow")
		})
	}
}

// TestFirstUseWaitsForNobody compiles and runs a small plugin while a large one is being
// compiled.
func TestFirstUseWaitsForNobody(t *testing.T) {
	r := newRuntime(t, Config{})
	large, _ := plugins.Lookup("agent")
	begun, compiled := make(chan struct{}), make(chan error, 1)
	go func() {
		close(begun)
		_, err := r.Compile(context.Background(), large.Wasm())
		compiled <- err
	}()
	<-begun
	m := compile(t, r, relays().wasm())
	if _, err := m.Run(t.Context(), abi.DefaultExport, &host{}, Limits{}); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-compiled:
		t.Errorf("a small plugin has waited for a large one (%v)", err)
	default:
		if err := <-compiled; err != nil {
			t.Error(err)
		}
	}
}

// TestStraightCodeIsStoppedAtAHostCall holds that a guest without loops does not go on
// for long once its gas is used up.
func TestStraightCodeIsStoppedAtAHostCall(t *testing.T) {
	g := runner("", abi.CallClock).body(repeated(hostCallOf(0, 0, 0), 2000) + konst(0))
	usage, err := compile(t, newRuntime(t, Config{}), g.wasm()).Run(t.Context(), abi.DefaultExport, &host{}, Limits{Gas: 4000})
	checkFailure(t, err, abi.FailurePluginGas, "4000 units")
	if usage.HostCalls >= 1000 {
		t.Errorf("it made %d host calls", usage.HostCalls)
	}
}

// TestTimeGoesOnAfterInitialization holds that no Run sees an earlier time than the
// initialization did.
func TestTimeGoesOnAfterInitialization(t *testing.T) {
	read := func(to int64) string { return konst(1) + i64Const + "\x00" + konst(to) + call(0) + opDrop }
	load := func(at int64) string { return konst(at) + "\x29\x03\x00" } // i64.load
	g := runner("").importWASI("clock_time_get", i32+i64+i32, i32)
	g.add(fn{body: repeated(read(8), 20)})
	g.start = 3
	g.body(read(16) + load(16) + load(8) + "\x58") // i64.le_u
	m := compile(t, newRuntime(t, Config{}), g.wasm())
	for _, fresh := range []bool{false, false, true} {
		if _, err := m.Run(t.Context(), abi.DefaultExport, &host{}, Limits{Fresh: fresh}); err != nil {
			t.Errorf("fresh %t: %v", fresh, err)
		}
	}
}

// TestInitialization holds which modules are initialized once, and that all others are
// initialized in each Run.
func TestInitialization(t *testing.T) {
	counts := konst(0) + konst(0) + opLoad + konst(1) + opAdd + opStore // memory[0]++
	for _, test := range []struct {
		name  string
		start string // body of the start function
		calls []string
		why   string
	}{
		{"memory", counts, nil, ""},
		{"a global", counts + konst(9) + globalSet0, nil, ""},
		{"grown memory", counts + konst(3) + opGrow + opDrop, nil, ""},
		{"a host call", counts + hostCallOf(0, 0, 0), []string{abi.CallClock}, `the host call "clock"`},
		{"a table", counts + konst(0) + "\xd0\x70" + "\x26\x00", nil, "changes a table"},
		{"a trap", counts + opUnreachable, nil, "fails: the plugin trapped"},
		{"an endless loop", counts + opLoopForever, nil, "used up its gas"},
		{"all memory", counts + konst(10_000) + opGrow + opDrop, nil, "more than 268435456 bytes of memory"},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := runner("", test.calls...)
			g.table, g.globals = "\x01\x70\x00\x01", oneGlobal
			g.add(fn{body: test.start})
			g.start = len(g.imports) + 2
			g.body(konst(0) + opLoad + konst(1) + opXor) // once, in each Run
			m := compile(t, newRuntime(t, Config{}), g.wasm())
			report, err := m.Inspect(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if report.Snapshot != (test.why == "") || !strings.Contains(report.NoSnapshot, test.why) {
				t.Errorf("the report is %+v", report)
			}
			for i := range 6 {
				h := &host{keep: true, answer: always("{}")}
				usage, err := m.Run(t.Context(), abi.DefaultExport, h, Limits{Gas: 100_000_000, Fresh: i%3 == 2})
				trapped := strings.Contains(test.why, "trapped") || strings.Contains(test.why, "gas")
				if (err != nil) != trapped || len(h.asked) != len(test.calls) {
					t.Errorf("Run %d ended with %v after %v (%+v)", i, err, h.asked, usage)
				}
			}
		})
	}
}
