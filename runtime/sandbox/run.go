package sandbox

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/turns"
)

// Host answers what a guest asks for. Its methods are called by one goroutine at
// a time, the one that called [Module.Run].
type Host interface {
	// Call answers a host call. The request is guest memory: it is valid only
	// during the call, and must be neither kept nor changed. The answer is copied
	// out before the next call, so its memory may be used again then. ctx is that of
	// the Run: the guest's time stands still. An error ends the Run at once: the guest is unwound, the
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
	// Gas is what the guest used as of its last call or return, or all of it when it ran
	// out: the same in each Run that is told the same, on every engine and processor.
	Gas uint64
}

// errStopped unwinds a guest whose Run is to stop: the context ended, the wall time is
// over, or the Host said so.
var errStopped = errors.New("sandbox: stopped")

// run is the state of one Run, and the context that everything in it gets.
type run struct {
	context.Context // the caller's
	host            Host
	limits          Limits
	meter           meter
	wall            stopwatch // of the guest's own time
	answer          []byte    // of the last host call
	calls           int
	output          int64
	failure         *abi.Failure // why the host stopped the guest, nil if it did not
	ended           error        // what the Host ended the Run with, nil if it did not
	moved           int          // bytes, since it was last looked whether the Run is to stop
	refused         uint64       // the size of memory that the guest asked for in vain
	closed          [3]bool      // the standard streams that the guest closed
	initialCalls    int          // see countInitial; 0 in a Run
	clock           clock
	console         console
	memories        *guestMemory // nil for no bound
	held            uint64       // of memories
	holds           bool         // it is in the order of memories
	turns           *turns.Turns // nil for none
	sinceTurn       int64        // gas since the turn began
	sinceBreath     int64        // gas since others went first
	long            bool         // it has had its first turn
	inTurn          bool         // it has a place
	yieldAt         int          // functions of the module up to and with yield; 0 when there is none
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

// begin makes r the state of a new Run.
func (r *run) begin(ctx context.Context, h Host, l Limits) {
	lines := r.console.lines
	for fd := range lines {
		lines[fd] = lines[fd][:0]
	}
	*r = run{Context: ctx, host: h, limits: l, console: console{lines: lines}}
	r.wall.start(l.WallTime)
}

// end forgets what the caller gave, so that an idle instance does not hold it.
func (r *run) end() {
	r.release()
	r.Context, r.host, r.answer = nil, nil, nil
}

// caught turns what unwinds a guest into an error, where there is no guest.
func caught(do func()) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case error:
			err = p
		default:
			panic(p)
		}
	}()
	do()
	return nil
}

// Run takes an instance as it was after its initialization, calls the export, and lets
// nobody see what became of the instance. It returns nil when the export returned 0.
//
// What the guest can observe follows from what the Host answers, and from nothing
// else: two Runs with the same answers make the same calls, byte for byte, and use the
// same gas.
//
// What the guest did wrong is an *abi.Failure. When ctx ended first, the error is
// its cause: a busy guest is stopped within a slice of its gas. Runs share nothing;
// any number may be under way at once.
func (m *Module) Run(ctx context.Context, export string, h Host, l Limits) (Usage, error) {
	begun := time.Now()
	l = l.orDefault()
	if m.extism != nil {
		return m.runExtism(ctx, begun, export, h, l)
	}
	g, err := m.admit(ctx, export, l)
	if err != nil {
		return Usage{}, err
	}
	inst, err := g.take(l)
	if err != nil {
		return Usage{}, err
	}
	usage, err := inst.serve(ctx, begun, export, h, l)
	g.put(inst)
	return usage, err
}

// admit refuses a Run that cannot begin, and says what its instance begins as.
func (m *Module) admit(ctx context.Context, export string, l Limits) (*ground, error) {
	if err := m.callable(ctx, export); err != nil {
		return nil, err
	}
	g, err := m.groundFor(l)
	if err == nil {
		err = l.suffice(g.memoryBytes())
	}
	return g, err
}

// callable refuses a Run that is over already, or of what is no export.
func (m *Module) callable(ctx context.Context, export string) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case !m.HasExport(export):
		return failf(abi.FailurePluginMissing, "the plugin has no export %q of the form () -> i32; it has %s",
			export, strings.Join(m.exports, ", "))
	}
	return nil
}
