package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"
	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/sandbox/guest"
	"github.com/wharf-dev/wharf/runtime/sandbox/wasi"
)

// forwarder is a guest that exports every function of WASI.
func forwarder() []byte {
	g := &handmade{pages: 1}
	for i, name := range wasi.Names() {
		called, _ := wasi.Lookup(name)
		sig := called.Signature
		g.importWASI(name, sig.Params, sig.Results)
		body := ""
		for p := range len(sig.Params) {
			body += "\x20" + leb(p)
		}
		g.add(fn{export: name, sig: sig, body: body + call(i)})
	}
	g.add(fn{export: "run", sig: runSig, body: konst(0)})
	return g.wasm()
}

// effects are what a call of WASI had.
type effects struct {
	answer  uint64
	failed  string
	memory  [32]byte
	now     time.Time
	slept   time.Duration
	printed string
}

// worldly is a Host whose clock moves and whose randomness goes on.
type worldly struct {
	now    time.Time
	random byte
	slept  time.Duration
	lines  []string
}

func (h *worldly) Now() time.Time { h.now = h.now.Add(time.Microsecond); return h.now }
func (h *worldly) Random(p []byte) {
	for i := range p {
		h.random++
		p[i] = h.random
	}
}
func (h *worldly) Sleep(_ context.Context, d time.Duration) { h.slept += d }
func (h *worldly) Call(_ context.Context, _ string, request []byte) (abi.CallStatus, []byte, error) {
	h.lines = append(h.lines, string(request))
	return abi.CallOK, nil, nil
}

// twin is a guest with the engine's WASI or with ours, and what is behind it.
type twin struct {
	mod  api.Module
	run  *guest.Run
	host *worldly
}

func (w *twin) call(name string, params []uint64) effects {
	var e effects
	out, err := w.mod.ExportedFunction(name).Call(w.run, params...)
	if err != nil {
		e.failed = firstLine(err.Error())
	}
	if len(out) > 0 {
		e.answer = out[0]
	}
	memory, _ := w.mod.Memory().Read(0, w.mod.Memory().Size())
	e.memory = sha256.Sum256(memory)
	e.now, e.slept, e.printed = w.host.now, w.host.slept, strings.Join(w.host.lines, "\n")
	return e
}

func newTwin(t testing.TB, offer func(context.Context, wazero.Runtime) error, config func(*guest.Run) wazero.ModuleConfig) *twin {
	t.Helper()
	ctx := context.Background()
	engine := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	t.Cleanup(func() { _ = engine.Close(ctx) })
	if err := offer(ctx, engine); err != nil {
		t.Fatal(err)
	}
	w := &twin{run: &guest.Run{}}
	mod, err := engine.InstantiateWithConfig(ctx, forwarder(), config(w.run))
	if err != nil {
		t.Fatal(err)
	}
	w.mod = mod
	return w
}

// begin makes the twin what it was at first, with the given memory.
func (w *twin) begin(memory []byte) {
	w.host = &worldly{now: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)}
	w.run.Begin(context.Background(), w.host, DefaultLimits(), guest.Shared{})
	w.mod.Memory().Write(0, make([]byte, w.mod.Memory().Size()))
	w.mod.Memory().Write(0, memory)
}

// The engine's own WASI as it was offered before there was ours.

type engineStdin struct{ run *guest.Run }

func (s engineStdin) Read([]byte) (int, error) {
	if s.run.IsClosed(0) {
		return 0, fs.ErrClosed
	}
	return 0, io.EOF
}

type engineStream struct {
	run *guest.Run
	fd  int
}

func (s engineStream) Write(p []byte) (int, error) {
	if s.run.IsClosed(s.fd) {
		return 0, fs.ErrClosed
	}
	s.run.Write(s.fd, p)
	return len(p), nil
}

type engineRandom struct{ run *guest.Run }

func (s engineRandom) Read(p []byte) (int, error) {
	s.run.Random(p)
	return len(p), nil
}

func offerEngineWASI(ctx context.Context, engine wazero.Runtime) error {
	builder := engine.NewHostModuleBuilder(wasi.Module)
	wasi_snapshot_preview1.NewFunctionExporter().ExportFunctions(builder)
	for _, name := range []string{"proc_exit", "fd_close"} {
		f, _ := wasi.Lookup(name)
		builder.NewFunctionBuilder().WithName(name).WithGoModuleFunction(api.GoModuleFunc(func(ctx context.Context, m api.Module, stack []uint64) {
			f.Call(guest.RunOf(ctx), m.Memory(), stack)
		}), []api.ValueType(f.Params), []api.ValueType(f.Results)).Export(name)
	}
	_, err := builder.Instantiate(ctx)
	return err
}

func engineWASIConfig(r *guest.Run) wazero.ModuleConfig {
	return plainConfig.
		WithArgs("plugin").
		WithStdin(engineStdin{r}).
		WithStdout(engineStream{r, 1}).
		WithStderr(engineStream{r, 2}).
		WithRandSource(engineRandom{r}).
		WithWalltime(func() (int64, int32) {
			ns := r.Walltime()
			return ns / 1e9, int32(ns % 1e9)
		}, sys.ClockResolution(time.Microsecond)).
		WithNanotime(r.Monotonic, 1).
		WithNanosleep(r.Sleep)
}

// TestWASIIsAsTheEnginesOwn calls both with the same: what guests of before were told is
// what they are told now. The exceptions are what the engine's own does at no price.
func TestWASIIsAsTheEnginesOwn(t *testing.T) {
	theirs := newTwin(t, offerEngineWASI, engineWASIConfig)
	ours := newTwin(t, func(ctx context.Context, engine wazero.Runtime) error {
		_, err := wasi.Offer(ctx, engine)
		return err
	}, func(*guest.Run) wazero.ModuleConfig { return plainConfig })
	names := wasi.Names()
	rapid.Check(t, func(t *rapid.T) {
		memory := drawMemory(t)
		ours.begin(memory)
		theirs.begin(memory)
		for range rapid.IntRange(1, 6).Draw(t, "calls") {
			name := rapid.SampledFrom(names).Draw(t, "name")
			called, _ := wasi.Lookup(name)
			params := drawParams(t, called.Params)
			if exempt(name, params) {
				continue
			}
			got, want := ours.call(name, params), theirs.call(name, params)
			if !sameButForPaths(name, got, want) {
				t.Fatalf("%s(%x):\n%+v, want\n%+v", name, params, got, want)
			}
			if want.failed != "" {
				return
			}
		}
	})
}

// drawMemory draws a page that holds lists of buffers, subscriptions and text.
func drawMemory(t *rapid.T) []byte {
	memory := make([]byte, 4096)
	for i := 0; i < 1024; i += 8 { // buffers
		binary.LittleEndian.PutUint32(memory[i:], rapid.SampledFrom([]uint32{0, 1024, 3000, 65530, 70000}).Draw(t, "at"))
		binary.LittleEndian.PutUint32(memory[i+4:], rapid.SampledFrom([]uint32{0, 0, 3, 50, 5000}).Draw(t, "size"))
	}
	for i := 1024; i < 2048; i += 48 { // subscriptions
		memory[i+8] = rapid.SampledFrom([]byte{0, 1, 2, 3}).Draw(t, "kind")
		binary.LittleEndian.PutUint32(memory[i+16:], rapid.SampledFrom([]uint32{0, 1, 2, 3, 1 << 31}).Draw(t, "fd"))
		binary.LittleEndian.PutUint64(memory[i+24:], rapid.SampledFrom([]uint64{0, 1, 5_000_000, 1 << 63}).Draw(t, "timeout"))
		memory[i+40] = rapid.SampledFrom([]byte{0, 0, 0, 1, 2}).Draw(t, "flags")
	}
	copy(memory[3000:], strings.Repeat("a line\nand half", 40))
	return memory
}

// drawParams draws small numbers, and a few at which something begins or ends.
func drawParams(t *rapid.T, types string) []uint64 {
	var params []uint64
	for range types {
		p := rapid.OneOf(rapid.Uint64Range(0, 6), rapid.Uint64Range(0, 6),
			rapid.SampledFrom([]uint64{8, 16, 24, 64, 512, 1024, 1072, 1024 + 5*48, 3000, 4000, 65500, 65536 - 64, 65536 - 24, 65535, 65536, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 63}))
		params = append(params, p.Draw(t, "param"))
	}
	for i := range types {
		if types[i] == i32[0] {
			params[i] = uint64(uint32(params[i]))
		}
	}
	return params
}

// exempt says where ours differs, and is meant to.
func exempt(name string, p []uint64) bool {
	switch name {
	case "fd_read", "fd_pread", "fd_write", "fd_pwrite":
		return p[2] > wasi.MaxBuffers
	case "poll_oneoff":
		return p[2] > wasi.MaxSubscriptions
	case "fd_filestat_set_times":
		return p[0] <= 2 // the engine's own traps: a stream has no file system
	}
	return false
}

// sameButForPaths forgives that ours does not look at what a path says, where the
// engine's own refuses one that leads out of the folder.
func sameButForPaths(name string, got, want effects) bool {
	const badf, notdir, notPermitted = 8, 54, 63
	refused := []uint64{badf, notdir}
	if strings.HasPrefix(name, "path_") && want.answer == notPermitted && slices.Contains(refused, got.answer) {
		got.answer = notPermitted
	}
	return got == want
}
