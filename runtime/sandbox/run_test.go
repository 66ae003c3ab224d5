package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/sandbox/guest"
)

const (
	localGet0 = "\x20\x00"
	i64Const  = "\x42"
	i32Wrap   = "\xa7"
	oneI64    = "\x01\x01\x7e" // one local, an i64
	setLocal0 = "\x21\x00"
	opShrU    = "\x88"
)

// relays is a guest that asks for its input and puts the answer out, and returns
// the status of that.
func relays() *handmade {
	g := runner("", abi.CallInput, abi.ReadImport, abi.CallOutput)
	length := localGet0 + i32Wrap
	g.funcs[0].locals = oneI64
	g.funcs[0].body = konst(0) + konst(0) + call(0) + setLocal0 +
		konst(64) + length + call(1) + opDrop +
		konst(64) + length + call(2) + i64Const + "\x20" + opShrU + i32Wrap
	return g
}

func TestHostCallsCarryBytes(t *testing.T) {
	r := newRuntime(t, Config{})
	m := compile(t, r, relays().wasm())
	h := &host{keep: true, answer: always("the answer")}
	usage, err := m.Run(t.Context(), abi.DefaultExport, h, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprint([]asked{{abi.CallInput, ""}, {abi.CallOutput, "the answer"}})
	if got := fmt.Sprint(h.asked); got != want {
		t.Errorf("the host was asked %s, want %s", got, want)
	}
	if usage.HostCalls != 2 || usage.MemoryBytes != pageBytes || usage.Run <= 0 || usage.Instantiate <= 0 {
		t.Errorf("the usage is %+v", usage)
	}
	if got := fmt.Sprint(m.Imports()); got != "[input output]" {
		t.Errorf("the imports are %s", got)
	}
}

func TestHostCallsCarryStatus(t *testing.T) {
	m := compile(t, newRuntime(t, Config{}), relays().wasm())
	h := &host{answer: func(_ context.Context, name string, _ []byte) (abi.CallStatus, []byte, error) {
		if name == abi.CallOutput {
			return abi.CallTooLarge, []byte(`{"code":"payload_too_large","message":"no"}`), nil
		}
		return abi.CallOK, nil, nil
	}}
	_, err := m.Run(t.Context(), abi.DefaultExport, h, Limits{})
	checkFailure(t, err, abi.FailurePluginError, "returned 4")
}

// TestGarbageAboveParameters passes i32 parameters whose registers hold more than
// 32 bits: what comes of wrapping an i64.
func TestGarbageAboveParameters(t *testing.T) {
	g := runner("", abi.CallOutput).at(8, "request")
	wide := func(v string) string {
		return i64Const + v + i64Const + "\x80\x80\x80\x80\x80\x80\x80\x80\xf8\x00" + "\x84" + i32Wrap
	}
	g.funcs[0].body = wide("\x08") + wide("\x07") + call(0) + opDrop + konst(0)
	h := &host{keep: true}
	if _, err := compile(t, newRuntime(t, Config{}), g.wasm()).Run(t.Context(), abi.DefaultExport, h, Limits{}); err != nil {
		t.Fatal(err)
	}
	if len(h.asked) != 1 || h.asked[0].request != "request" {
		t.Errorf("the host was asked %v", h.asked)
	}
}

// TestInstancesAreFresh runs a guest that leaves a mark in memory and fails when it
// finds one, on memories of every pooled size and beyond.
func TestInstancesAreFresh(t *testing.T) {
	r := newRuntime(t, Config{})
	for _, pages := range []int{1, 2, 3, 64, 65} {
		last := int64(pages*pageBytes - 4)
		g := runner(konst(last) + "\x28\x02\x00" + konst(0) + "\x28\x02\x00\x72" + // what is there already
			konst(0) + konst(1) + "\x36\x02\x00" + konst(last) + konst(1) + "\x36\x02\x00")
		g.pages = pages
		m := compile(t, r, g.wasm())
		for range 20 {
			if _, err := m.Run(t.Context(), abi.DefaultExport, &host{}, Limits{}); err != nil {
				t.Fatalf("%d pages: a Run saw what another left behind: %v", pages, err)
			}
		}
	}
}

// TestGrownMemoryIsFresh does the same where memory grows into a used buffer.
func TestGrownMemoryIsFresh(t *testing.T) {
	at := int64(3*pageBytes - 4)
	g := runner(konst(2) + opGrow + opDrop + konst(at) + "\x28\x02\x00" + konst(at) + konst(1) + "\x36\x02\x00")
	m := compile(t, newRuntime(t, Config{}), g.wasm())
	for range 20 {
		usage, err := m.Run(t.Context(), abi.DefaultExport, &host{}, Limits{})
		if err != nil || usage.MemoryBytes != 3*pageBytes {
			t.Fatalf("a Run saw what another left behind: %v (%d bytes)", err, usage.MemoryBytes)
		}
	}
}

func TestMissingExport(t *testing.T) {
	g := runner(konst(0)).add(fn{export: "outline", sig: runSig, body: konst(0)}).add(fn{export: "nothing", body: ""})
	m := compile(t, newRuntime(t, Config{}), g.wasm())
	for _, export := range []string{"missing", "nothing", ""} {
		_, err := m.Run(t.Context(), export, &host{}, Limits{})
		checkFailure(t, err, abi.FailurePluginMissing, "it has outline, run")
	}
	if !m.HasExport("outline") || m.HasExport("nothing") || m.HasExport("missing") {
		t.Error("HasExport tells something else")
	}
	if _, err := m.Run(t.Context(), "outline", &host{}, Limits{}); err != nil {
		t.Error(err)
	}
}

var errStop = errors.New("the client changed its mind")

// TestCancel stops guests that are busy in different ways once they are under way.
func TestCancel(t *testing.T) {
	waits := runner(hostCallOf(0, 0, 0)+konst(0), abi.CallInput)
	for name, g := range map[string]*handmade{
		"a loop":          runner(hostCallOf(0, 0, 0)+opLoopForever+opUnreachable, abi.CallInput),
		"recursion":       callsThenRecurses(),
		"host calls":      runner(hostCallOf(0, 0, 0)+loopsWith(hostCallOf(1, 0, 0)), abi.CallInput, abi.CallClock),
		"in the host":     waits,
		"a sleep":         sleepsAfterCall(),
		"before the loop": runner(opLoopForever + opUnreachable),
	} {
		t.Run(name, func(t *testing.T) {
			m := compile(t, newRuntime(t, Config{}), g.wasm())
			ctx, cancel := context.WithCancelCause(t.Context())
			h := &host{answer: func(ctx context.Context, call string, _ []byte) (abi.CallStatus, []byte, error) {
				if call == abi.CallInput {
					go cancel(errStop)
				}
				if g == waits {
					<-ctx.Done()
				}
				return abi.CallOK, nil, nil
			}}
			if len(g.imports) == 0 {
				cancel(errStop)
			}
			_, err := m.Run(ctx, abi.DefaultExport, h, Limits{HostCalls: 1 << 30})
			if g == waits && err == nil {
				return // it ended before it could be stopped
			}
			if !errors.Is(err, errStop) {
				t.Errorf("got %v, want the cause of the cancellation", err)
			}
		})
	}
}

// callsThenRecurses is endless after a host call.
func callsThenRecurses() *handmade {
	g := runner(hostCallOf(0, 0, 0)+konst(40)+call(2), abi.CallInput)
	step := localGet0 + konst(1) + "\x6b"
	body := localGet0 + "\x45\x04\x7f" + konst(0) + "\x05" + step + call(2) + opDrop + step + call(2) + "\x0b"
	return g.add(fn{sig: signature(i32, i32), body: body})
}

func sleepsAfterCall() *handmade {
	g := runner(hostCallOf(0, 0, 0)+konst(0)+konst(100)+konst(1)+konst(200)+call(1), abi.CallInput)
	return g.importWASI("poll_oneoff", i32+i32+i32+i32, i32).at(24, "\x00\xa0\xb8\x30\x46\x03\x00\x00")
}

// TestDeadlineOfTheCaller holds that a deadline of the context is not taken for the
// wall time.
func TestDeadlineOfTheCaller(t *testing.T) {
	m := compile(t, newRuntime(t, Config{}), runner(opLoopForever+opUnreachable).wasm())
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := m.Run(ctx, abi.DefaultExport, &host{}, Limits{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the deadline", err)
	}
}

// TestPanickingHost holds that a fault of the host is not the plugin's.
func TestPanickingHost(t *testing.T) {
	r := newRuntime(t, Config{})
	m := compile(t, r, relays().wasm())
	h := &host{answer: func(context.Context, string, []byte) (abi.CallStatus, []byte, error) { panic("the disk is gone") }}
	_, err := m.Run(t.Context(), abi.DefaultExport, h, Limits{})
	checkFailure(t, err, abi.FailureHost, "the disk is gone")
	if _, err := m.Run(t.Context(), abi.DefaultExport, &host{}, Limits{}); err != nil {
		t.Error(err)
	}
}

// TestTrapNamesFunctions holds that a trap tells where, with the names that the
// module has.
func TestTrapNamesFunctions(t *testing.T) {
	g := runner(call(1)).add(fn{sig: runSig, body: konst(1) + konst(0) + opDivS})
	names := "\x04name" + "\x01\x13\x02" + "\x00\x05entry" + "\x01\x09divide(x)"
	g.extra = string(appendSection(nil, sectionCustom, []byte(names)))
	_, err := compile(t, newRuntime(t, Config{}), g.wasm()).Run(t.Context(), abi.DefaultExport, &host{}, Limits{})
	checkFailure(t, err, abi.FailurePluginTrap, "integer divide by zero (in divide")
	failure, _ := errors.AsType[*abi.Failure](err)
	if !strings.Contains(failure.Message, "called by entry") || !strings.Contains(string(failure.Details), `"entry"`) {
		t.Errorf("the failure is %v with %s", failure, failure.Details)
	}
}

// TestTrapNumbersFunctions holds that a function without a name has the number that its
// author knows.
func TestTrapNumbersFunctions(t *testing.T) {
	g := runner(call(2), abi.CallClock).add(fn{sig: runSig, body: konst(1) + konst(0) + opDivS})
	_, err := compile(t, newRuntime(t, Config{}), g.wasm()).Run(t.Context(), abi.DefaultExport, &host{}, Limits{})
	checkFailure(t, err, abi.FailurePluginTrap, "integer divide by zero (in $2, called by $1)")
}

// TestWASI asks for the time, for randomness and for output.
func TestWASI(t *testing.T) {
	g := runner("", abi.CallOutput)
	g.importWASI("clock_time_get", i32+i64+i32, i32).
		importWASI("random_get", i32+i32, i32).
		importWASI("fd_write", i32+i32+i32+i32, i32).
		importWASI("environ_sizes_get", i32+i32, i32).
		importWASI("fd_prestat_get", i32+i32, i32)
	write := func(fd int64) string { return konst(fd) + konst(200) + konst(1) + konst(190) + call(3) + opDrop }
	clock := func(id, to int64) string { return konst(id) + i64Const + "\x00" + konst(to) + call(1) + opDrop }
	g.funcs[0].body = clock(0, 0) + clock(1, 8) + clock(1, 16) +
		konst(24) + konst(4) + call(2) + opDrop +
		konst(28) + konst(32) + call(4) + opDrop +
		write(1) + write(2) + hostCallOf(0, 0, 36) +
		konst(3) + konst(300) + call(5) + konst(8) + "\x47" // no folder is open: EBADF
	g.at(200, "\xd0\x00\x00\x00\x0d\x00\x00\x00"+"hello\n\nworld\xff")
	h := &host{keep: true}
	if _, err := compile(t, newRuntime(t, Config{}), g.wasm()).Run(t.Context(), abi.DefaultExport, h, Limits{}); err != nil {
		t.Fatal(err)
	}
	var told []byte
	var lines []string
	for _, a := range h.asked {
		if a.call == abi.CallOutput {
			told = []byte(a.request)
		} else {
			lines = append(lines, a.request)
		}
	}
	now := uint64(h.Now().UnixNano())
	want := fmt.Sprintf("%x%x", le64(now), append(append(le64(1), le64(2)...), 0, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0))
	if got := fmt.Sprintf("%x", told); got != want {
		t.Errorf("the guest was told %s, want %s", got, want)
	}
	wantLines := `{"level":"info","message":"hello"} {"level":"warn","message":"hello"} ` +
		`{"level":"info","message":"world` + "\ufffd" + `"} {"level":"warn","message":"world` + "\ufffd" + `"}`
	if got := strings.Join(lines, " "); got != wantLines {
		t.Errorf("the lines are\n%s, want\n%s", got, wantLines)
	}
}

func le64(v uint64) []byte {
	b := make([]byte, 8)
	for i := range b {
		b[i] = byte(v >> (8 * i))
	}
	return b
}

// TestLongLines holds that a line without an end is passed on in bounded pieces.
func TestLongLines(t *testing.T) {
	g := runner(konst(1) + konst(0) + konst(1) + konst(60) + call(0))
	g.importWASI("fd_write", i32+i32+i32+i32, i32).at(0, "\x40\x00\x00\x00\x10\x27\x00\x00").at(64, strings.Repeat("x", 10000))
	h := &host{keep: true}
	if _, err := compile(t, newRuntime(t, Config{}), g.wasm()).Run(t.Context(), abi.DefaultExport, h, Limits{}); err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, a := range h.asked {
		n := strings.Count(a.request, "x")
		if n > guest.MaxLine {
			t.Errorf("a piece is %d bytes long", n)
		}
		total += n
	}
	if total != 10000 || len(h.asked) != 3 {
		t.Errorf("%d bytes came in %d pieces", total, len(h.asked))
	}
}

// TestExitTellsWhatWasSaid holds that the first line on stderr explains an exit.
func TestExitTellsWhatWasSaid(t *testing.T) {
	g := runner(konst(2) + konst(0) + konst(1) + konst(60) + call(0) + opDrop + konst(2) + call(1) + konst(0))
	g.importWASI("fd_write", i32+i32+i32+i32, i32).importWASI("proc_exit", i32, "")
	g.at(0, "\x40\x00\x00\x00\x14\x00\x00\x00").at(64, "panic: oh no\nmore...")
	_, err := compile(t, newRuntime(t, Config{}), g.wasm()).Run(t.Context(), abi.DefaultExport, &host{}, Limits{})
	checkFailure(t, err, abi.FailurePluginExit, "code 2 instead of returning; it wrote first: panic: oh no")
}

// TestConcurrentRuns runs good and hostile guests side by side.
func TestConcurrentRuns(t *testing.T) {
	r := newRuntime(t, Config{})
	modules := []*Module{compile(t, r, relays().wasm()), compile(t, r, runner(opUnreachable).wasm()), compile(t, r, exits(1).wasm())}
	gate := make(chan struct{})
	var wg sync.WaitGroup
	var good atomic.Int64
	const parallel, rounds = 300, 5
	for i := range parallel {
		wg.Go(func() {
			<-gate
			for range rounds {
				answer := fmt.Sprintf("answer of %d", i)
				h := &host{keep: true, answer: always(answer)}
				_, err := modules[i%3].Run(t.Context(), abi.DefaultExport, h, Limits{})
				if i%3 == 0 && err == nil && h.asked[1].request == answer {
					good.Add(1)
				}
				if (err == nil) != (i%3 == 0) {
					t.Errorf("guest %d ended with %v", i%3, err)
				}
			}
		})
	}
	close(gate)
	wg.Wait()
	if good.Load() != parallel/3*rounds {
		t.Errorf("%d Runs got their own answer, want %d", good.Load(), parallel/3*rounds)
	}
}

// TestCache holds that modules are kept on disk, and that a damaged cache only
// costs time.
func TestCache(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	wasm := relays().wasm()
	use := func() {
		t.Helper()
		r, err := New(t.Context(), Config{CacheDir: dir, CacheKey: cacheKey})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close(context.Background())
		if _, err := compile(t, r, wasm).Run(t.Context(), abi.DefaultExport, &host{}, Limits{}); err != nil {
			t.Fatal(err)
		}
	}
	use()
	files := cached(t, dir)
	if len(files) == 0 {
		t.Fatal("nothing was kept")
	}
	use()
	for _, damage := range []func([]byte) []byte{
		func(b []byte) []byte { return b[:len(b)/2] },
		func([]byte) []byte { return nil },
		func(b []byte) []byte { return bytes.Repeat([]byte{0xff}, len(b)) },
		func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
	} {
		for _, path := range files {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, damage(b), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		use()
	}
}

func cached(t *testing.T, dir string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestCacheThatCannotBeWritten holds that compiling does not need the disk.
func TestCacheThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	r := newRuntime(t, Config{CacheDir: dir})
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := compile(t, r, relays().wasm()).Run(t.Context(), abi.DefaultExport, &host{}, Limits{}); err != nil {
		t.Fatal(err)
	}
}

func TestCacheDirThatIsNone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(t.Context(), Config{CacheDir: path, CacheKey: cacheKey}); err == nil {
		t.Error("a file was taken for a cache folder")
	}
}

// TestHostEndsRun holds that an error of the Host unwinds the guest where it is,
// and that nothing more is asked of the Host: not for what the guest wrote before.
func TestHostEndsRun(t *testing.T) {
	errParked := errors.New("parked")
	for _, engine := range engines() {
		t.Run(engine.name, func(t *testing.T) {
			g := runner(konst(1)+konst(0)+konst(1)+konst(60)+call(2)+opDrop+hostCallOf(0, 0, 0)+hostCallOf(1, 0, 0)+konst(0),
				abi.CallInput, abi.CallOutput)
			g.importWASI("fd_write", i32+i32+i32+i32, i32).at(0, "\x40\x00\x00\x00\x04\x00\x00\x00").at(64, "half a line")
			h := &host{keep: true}
			h.answer = func(context.Context, string, []byte) (abi.CallStatus, []byte, error) {
				return abi.CallOK, nil, fmt.Errorf("waiting: %w", errParked)
			}
			usage, err := compile(t, newRuntime(t, engine.config), g.wasm()).Run(t.Context(), abi.DefaultExport, h, Limits{})
			if !errors.Is(err, errParked) || err.Error() != "waiting: parked" {
				t.Errorf("the Run ended with %v", err)
			}
			if len(h.asked) != 1 || usage.HostCalls != 1 {
				t.Errorf("the host was asked %v, usage %+v", h.asked, usage)
			}
		})
	}
}

// TestRuntimeName holds that the name is that of the version that is built in.
func TestRuntimeName(t *testing.T) {
	goMod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	version := strings.TrimPrefix(newRuntime(t, Config{Interpreter: true}).Name(), "wazero-")
	if !strings.Contains(string(goMod), "github.com/tetratelabs/wazero v"+version) {
		t.Errorf("go.mod has another version of wazero than %s", version)
	}
}
