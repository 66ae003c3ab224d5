package sandbox

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/wharf-dev/wharf/abi"
)

// Host answers what a guest asks for. Its methods are called by one goroutine at
// a time, the one that called [Module.Run].
type Host interface {
	// Call answers a host call. The request is guest memory: it is valid only
	// during the call, and must be neither kept nor changed. The answer is copied
	// out before the next call, so its memory may be used again then. ctx ends when
	// the Run is to stop. An error ends the Run at once: the guest is unwound, the
	// Host is asked nothing more, and [Module.Run] returns this very error.
	Call(ctx context.Context, call string, request []byte) (abi.CallStatus, []byte, error)
	// Now returns the time that the guest is told. It need not move on by itself.
	Now() time.Time
	// Random fills p with the randomness that the guest is given.
	Random(p []byte)
	// Sleep lets d, which is positive and can be centuries, pass for the guest: for
	// real or not. It returns early when ctx ends. The guest never sees less than d
	// pass, whatever Now says afterwards.
	Sleep(ctx context.Context, d time.Duration)
}

// Usage says what a Run took.
type Usage struct {
	Instantiate time.Duration // until the export was called
	Run         time.Duration // the export itself
	HostCalls   int
	MemoryBytes uint64 // linear memory at the end
	Gas         uint64 // as of the last call or return before the end
}

var (
	errWallTime = errors.New("sandbox: the wall time is over")
	// errStopped unwinds a guest whose Run is to stop; why is in the context.
	errStopped = errors.New("sandbox: stopped")
)

// run is the state of one Run, and the context that everything in it gets.
type run struct {
	context.Context // ends with the caller's, and when the wall time is over
	host            Host
	limits          Limits
	memory          memory
	answer          []byte // of the last host call
	calls           int
	output          int64
	failure         *abi.Failure // why the host stopped the guest, nil if it did not
	ended           error        // what the Host ended the Run with, nil if it did not
	console         console
	wall            stopwatch // of the guest's own time
}

type runKey struct{}

// Value implements context.Context. It hands the run to host functions.
func (r *run) Value(key any) any {
	if key == (runKey{}) {
		return r
	}
	return r.Context.Value(key)
}

func runOf(ctx context.Context) *run { return ctx.Value(runKey{}).(*run) }

// Run makes a fresh instance, calls the export, and throws the instance away. It
// returns nil when the export returned 0.
//
// What the guest can observe follows from what the Host answers, and from nothing
// else: two Runs with the same answers make the same calls, byte for byte.
//
// What the guest did wrong is an *abi.Failure. When ctx ended first, the error is
// its cause: a busy guest is stopped at its next loop, call or host call. Runs
// share nothing; any number may be under way at once.
func (m *Module) Run(ctx context.Context, export string, h Host, l Limits) (Usage, error) {
	l = l.orDefault()
	if err := m.admit(ctx, export, l); err != nil {
		return Usage{}, err
	}
	bounded, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r := &run{Context: bounded, host: h, limits: l}
	r.wall.start(l.WallTime, func() { cancel(errWallTime) })
	defer r.wall.pause()
	r.memory = memory{buffers: &m.runtime.buffers, limit: l.MemoryBytes}
	defer r.memory.release()
	usage, result, err := m.perform(r, export)
	usage.HostCalls, usage.MemoryBytes = r.calls, uint64(r.memory.size)
	switch {
	case err != nil:
		err = r.explain(ctx, export, err)
		if r.ended == nil {
			_ = r.console.flush() // what was said last; the reason is known already
		}
		return usage, err
	case result != 0:
		return usage, r.nonZero(export, result)
	}
	return usage, nil
}

// admit refuses a Run that cannot begin.
func (m *Module) admit(ctx context.Context, export string, l Limits) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case !m.HasExport(export):
		return failf(abi.FailurePluginMissing, "the plugin has no export %q of the form () -> i32; it has %s",
			export, strings.Join(m.exports, ", "))
	case m.memoryBytes > l.MemoryBytes:
		return failf(abi.FailurePluginMemory, "the plugin needs %d bytes of memory to start; it may have %d",
			m.memoryBytes, l.MemoryBytes)
	}
	return nil
}

// perform takes an instance through its life.
func (m *Module) perform(r *run, export string) (usage Usage, result int32, err error) {
	begun := time.Now()
	mod, err := m.instantiate(r)
	called := time.Now()
	usage.Instantiate = called.Sub(begun)
	if err != nil {
		return usage, 0, err
	}
	defer mod.Close(context.Background())
	var stack [1]uint64
	err = mod.ExportedFunction(export).CallWithStack(r, stack[:])
	if err == nil {
		err = r.console.flush()
	}
	usage.Run = time.Since(called)
	return usage, int32(uint32(stack[0])), err
}

func (m *Module) instantiate(r *run) (api.Module, error) {
	ctx := experimental.WithMemoryAllocator(r, &r.memory)
	mod, err := m.runtime.engine.InstantiateModule(ctx, m.code, m.config(r))
	if err != nil {
		return nil, &instantiateError{err}
	}
	if !m.initialize {
		return mod, nil
	}
	if _, err := mod.ExportedFunction(exportInitialize).Call(r); err != nil {
		_ = mod.Close(context.Background())
		return nil, err
	}
	return mod, nil
}

// plainConfig is for modules without WASI. Instances are anonymous, and their
// exports are called by us alone. Nobody reads this randomness and these clocks:
// they are set because the engine's own cost half of a small Run to make.
var plainConfig = wazero.NewModuleConfig().WithName("").WithStartFunctions().
	WithRandSource(strings.NewReader("")).
	WithWalltime(func() (int64, int32) { return 0, 0 }, 1).
	WithNanotime(func() int64 { return 0 }, 1)

func (m *Module) config(r *run) wazero.ModuleConfig {
	if !m.wasi {
		return plainConfig
	}
	return r.wasiConfig()
}
