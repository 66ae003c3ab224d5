package sandbox

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/internal/share"
	"github.com/wharf-dev/wharf/runtime/sandbox/rewrite"
)

// tight are limits that a hostile guest reaches at once.
func tight() Limits {
	return Limits{MemoryBytes: 4 << 20, WallTime: 10 * time.Second, HostCalls: 1000, PayloadBytes: 1 << 20, OutputBytes: 8 << 20}
}

// soon are limits for guests that have to be stopped by the clock.
func soon() Limits {
	l := tight()
	l.WallTime = 20 * time.Millisecond
	return l
}

// poor are limits for guests that have to be stopped by their gas.
func poor() Limits {
	l := tight()
	l.Gas = 200_000
	return l
}

// twice is a function body that calls the function of the given index two times.
func twice(index int) string { return call(index) + opDrop + call(index) }

// doubling is a chain of functions without any loop or recursion that makes 2^64
// calls.
func doubling() *handmade {
	g := runner(call(1))
	for i := range 64 {
		g.add(fn{sig: runSig, body: twice(i + 2)})
	}
	return g.add(fn{sig: runSig, body: konst(0)})
}

// endless is a guest that recurses without an end in sight: 2^40 calls, none of
// them deep, and no loop.
func endless() *handmade {
	g := runner(konst(40) + call(1))
	step := "\x20\x00" + konst(1) + "\x6b" // local.get 0; i32.const 1; i32.sub
	body := "\x20\x00\x45\x04\x7f" + konst(0) + "\x05" + step + call(1) + opDrop + step + call(1) + "\x0b"
	return g.add(fn{sig: signature(i32, i32), body: body})
}

func loopsWith(body string) string { return "\x03\x40" + body + "\x0c\x00\x0b" + opUnreachable }

// hostile are guests that do what no plugin should, and how each Run has to end.
var hostile = []struct {
	name    string
	guest   *handmade
	limits  Limits
	code    string
	message string // part of it
}{
	{"unreachable", runner(opUnreachable), tight(), abi.FailurePluginTrap, "unreachable"},
	{"division by zero", runner(konst(1) + konst(0) + opDivS), tight(), abi.FailurePluginTrap, "divide by zero"},
	{"load out of bounds", runner(konst(-4) + "\x28\x02\x00"), tight(), abi.FailurePluginTrap, "out of bounds memory access"},
	{"loops for ever", runner(opLoopForever + opUnreachable), soon(), abi.FailurePluginTimeout, "20ms"},
	{"recurses for ever", runner(call(0)), tight(), abi.FailurePluginTrap, "stack overflow"},
	{"recurses without depth", endless(), soon(), abi.FailurePluginTimeout, "20ms"},
	{"calls without a loop", doubling(), soon(), abi.FailurePluginTimeout, "20ms"},
	{"loops until its gas is used up", runner(opLoopForever + opUnreachable), poor(), abi.FailurePluginGas, "200000 units"},
	{"recurses until its gas is used up", endless(), poor(), abi.FailurePluginGas, "200000 units"},
	{"calls until its gas is used up", doubling(), poor(), abi.FailurePluginGas, "200000 units"},
	{"fills memory until its gas is used up", runner(loopsWith(konst(0) + konst(0) + konst(pageBytes) + "\xfc\x0b\x00")), poor(), abi.FailurePluginGas, "200000 units"},
	{"reads until its gas is used up", runner(hostCallOf(0, 0, 0)+loopsWith(konst(0)+konst(100)+call(1)+opDrop), abi.CallInput, abi.ReadImport), poor(), abi.FailurePluginGas, "200000 units"},
	{"allocates for ever", runner(loopsWith(konst(16) + opGrow + konst(-1) + "\x46\x04\x40" + opUnreachable + "\x0b")),
		tight(), abi.FailurePluginMemory, "refused more than 4194304"},
	{"wants it all at once", runner(konst(65535) + opGrow + konst(-1) + "\x46\x04\x40" + opUnreachable + "\x0b" + konst(0)),
		tight(), abi.FailurePluginMemory, "refused more than 4194304"},
	{"memory larger than allowed", &handmade{pages: 65, funcs: []fn{{export: "run", sig: runSig, body: konst(0)}}},
		tight(), abi.FailurePluginMemory, "needs 4259840 bytes"},
	{"grows a table for ever", growsTable(), tight(), abi.FailurePluginTrap, "unreachable"},
	{"returns non-zero", runner(konst(7)), tight(), abi.FailurePluginError, "returned 7"},
	{"writes for ever", runner(loopsWith(hostCallOf(0, 0, 65536)), abi.CallOutput), tight(), abi.FailureOutputTooLarge, "more than 8388608"},
	{"one large request", runner(konst(31)+opGrow+opDrop+hostCallOf(0, 0, 1<<20+1)+konst(0), abi.CallOutput),
		tight(), abi.FailurePayloadTooLarge, "1048577 bytes"},
	{"too many host calls", runner(loopsWith(hostCallOf(0, 0, 0)), abi.CallClock), tight(), abi.FailureHostCalls, "more than 1000"},
	{"request out of bounds", runner(hostCallOf(0, 65536, 1)+konst(0), abi.CallOutput), tight(), abi.FailurePluginTrap, "outside of memory"},
	{"request wraps around", runner(hostCallOf(0, -1, 2)+konst(0), abi.CallOutput), tight(), abi.FailurePluginTrap, "outside of memory"},
	{"read out of bounds", runner(hostCallOf(0, 0, 0)+konst(65530)+konst(100)+call(1), abi.CallInput, abi.ReadImport),
		tight(), abi.FailurePluginTrap, "outside of memory"},
	{"start function traps", starts(opUnreachable), tight(), abi.FailurePluginTrap, "unreachable"},
	{"start function loops", starts(opLoopForever), soon(), abi.FailurePluginTimeout, "20ms"},
	{"data out of range", runner(konst(0)).at(65530, "too long"), tight(), abi.FailurePluginInvalid, "no instance"},
	{"exits", exits(3), tight(), abi.FailurePluginExit, "code 3"},
	{"exits with 0", exits(0), tight(), abi.FailurePluginExit, "code 0"},
	{"exits like a stopped one", exits(-1), tight(), abi.FailurePluginExit, "code -1"},
	{"sleeps for ever", sleeps(), soon(), abi.FailurePluginTimeout, "20ms"},
	{"prints for ever", prints(), Limits{OutputBytes: 8 << 20}, abi.FailureOutputTooLarge, "more than"},
	{"garbage for WASI", garbage(), tight(), abi.FailurePluginTrap, ""},
}

func starts(body string) *handmade {
	g := runner(konst(0)).add(fn{sig: rewrite.Signature{}, body: body})
	g.start = 2
	return g
}

func exits(code int64) *handmade {
	g := runner(konst(code) + call(0) + konst(0))
	return g.importWASI("proc_exit", i32, "")
}

// sleeps waits an hour through poll_oneoff.
func sleeps() *handmade {
	g := runner(konst(0) + konst(100) + konst(1) + konst(200) + call(0))
	hour := "\x00\xa0\xb8\x30\x46\x03\x00\x00"
	return g.importWASI("poll_oneoff", i32+i32+i32+i32, i32).at(24, hour)
}

// prints writes its whole memory to stdout, again and again.
func prints() *handmade {
	g := runner(loopsWith(konst(1) + konst(0) + konst(1) + konst(60) + call(0) + opDrop))
	return g.importWASI("fd_write", i32+i32+i32+i32, i32).at(0, "\x40\x00\x00\x00\x00\xf0\x00\x00").at(64, strings.Repeat("x", 61440))
}

// garbage passes numbers to poll_oneoff that overflow when they are multiplied.
func garbage() *handmade {
	g := runner(konst(0) + konst(0) + konst(0x0aaaaaab) + konst(0) + call(0) + opDrop + opUnreachable)
	return g.importWASI("poll_oneoff", i32+i32+i32+i32, i32)
}

// growsTable grows a table without a maximum by a million entries at a time, and
// traps when it is refused.
func growsTable() *handmade {
	refused := konst(-1) + "\x46\x04\x40" + opUnreachable + "\x0b"
	g := runner(loopsWith("\xd0\x70" + konst(100_000) + "\xfc\x0f\x00" + refused))
	g.table = "\x01\x70\x00\x01"
	return g
}

// TestHostile runs every hostile guest, and after each a good one.
func TestHostile(t *testing.T) {
	share.Alone(t)
	for _, engine := range engines() {
		t.Run(engine.name, func(t *testing.T) {
			r := newRuntime(t, engine.config)
			good := compile(t, r, runner(konst(0)).wasm())
			for _, test := range hostile {
				t.Run(test.name, func(t *testing.T) {
					m := compile(t, r, test.guest.wasm())
					_, err := m.Run(t.Context(), abi.DefaultExport, &host{answer: always(strings.Repeat("a", 100))}, test.limits)
					checkFailure(t, err, test.code, test.message)
					if _, err := good.Run(t.Context(), abi.DefaultExport, &host{}, Limits{}); err != nil {
						t.Errorf("a good Run afterwards: %v", err)
					}
				})
			}
		})
	}
}

func checkFailure(t *testing.T, err error, code, message string) {
	t.Helper()
	failure, ok := errors.AsType[*abi.Failure](err)
	if !ok {
		t.Fatalf("got the error %v, want a failure", err)
	}
	if failure.Code != code || !strings.Contains(failure.Message, message) {
		t.Errorf("got %v, want %s with %q", failure, code, message)
	}
	if strings.Contains(failure.Message, "goroutine") || strings.Contains(failure.Message, "wazero") {
		t.Errorf("the message talks of the host's insides: %v", failure)
	}
}

type engine struct {
	name   string
	config Config
}

func engines() []engine {
	return []engine{{"compiler", Config{}}, {"interpreter", Config{Interpreter: true}}}
}

// invalidModules are modules that Compile has to refuse, and what it has to say.
var invalidModules = []struct {
	name, message string
	wasm          []byte
}{
	{"empty", "no WebAssembly", nil},
	{"text", "no WebAssembly", []byte("(module)")},
	{"a preamble cut short", "middle of a value", []byte("\x00asm\x01")},
	{"a component", "component", []byte("\x00asm\x0d\x00\x01\x00")},
	{"truncated", "middle of a value", runner(konst(0)).wasm()[:40]},
	{"unknown host call", `"wharf"."telepathy", which does not exist; "wharf" offers agent.delegate, agent.event, approval.request, artifact.get`,
		runner(konst(0), "telepathy").wasm()},
	{"unknown WASI call", "path_teleport", runner(konst(0)).importWASI("path_teleport", "", i32).wasm()},
	{"another module", `from the module "env"`, foreign().wasm()},
	{"wrong rewrite.Signature", `"wharf"."log" as (i64) -> (); it is (i32, i32) -> (i64)`, wrongSignature().wasm()},
	{"imported memory", "imported as a memory", []byte("\x00asm\x01\x00\x00\x00\x02\x0b\x01\x03env\x01m\x02\x01\x01\x02")},
	{"shared memory", "threads are not supported", []byte("\x00asm\x01\x00\x00\x00\x05\x04\x01\x03\x01\x02")},
	{"a program", "-buildmode=c-shared", runner(konst(0)).add(fn{export: "_start"}).wasm()},
	{"nothing to run", "exports no function () -> i32", (&handmade{pages: 1, funcs: []fn{{export: "run"}}}).wasm()},
	{"host calls without memory", "has no memory", noMemory().wasm()},
	{"an unknown opcode", "offset 0x26: it holds the unknown opcode 0xff", runner("\xff" + konst(0)).wasm()},
	{"wrong types", "does not compile", runner("\x42\x00").wasm()},
	{"a huge table", "table of", hugeTable().wasm()},
	{"4 thousand million locals", "locals", manyLocals().wasm()},
	{"a vector longer than the module", "middle of a value", []byte("\x00asm\x01\x00\x00\x00\x09\x06\x01\x04\x41\x00\x0b\xff\xff\xff\xff\x0f")},
}

func foreign() *handmade {
	g := runner(konst(0))
	g.imports = append(g.imports, importedFunc{"env", "abort", rewrite.Signature{}})
	return g
}

func wrongSignature() *handmade {
	g := runner(konst(0))
	g.imports = append(g.imports, importedFunc{abi.HostModule, abi.CallLog, signature(i64, "")})
	return g
}

func noMemory() *handmade {
	g := runner(konst(0), abi.CallLog)
	g.pages = 0
	return g
}

func hugeTable() *handmade {
	g := runner(konst(0))
	g.table = "\x01\x70\x00" + leb(1<<27)
	return g
}

func manyLocals() *handmade {
	return (&handmade{pages: 1}).add(fn{export: "run", sig: runSig, locals: "\x01" + leb(1<<32-1) + "\x7f", body: konst(0)})
}

func TestCompileRefuses(t *testing.T) {
	r := newRuntime(t, Config{})
	for _, test := range invalidModules {
		t.Run(test.name, func(t *testing.T) {
			_, err := r.Compile(t.Context(), test.wasm)
			checkFailure(t, err, abi.FailurePluginInvalid, test.message)
		})
	}
	compile(t, r, runner(konst(0)).wasm())
}
