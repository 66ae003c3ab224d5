package guest

import (
	"context"
	"errors"
	"time"

	"github.com/tetratelabs/wazero/api"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/sandbox/stack"
	"github.com/wharf-dev/wharf/runtime/turns"
)

// Host answers what a guest asks for. Its methods are called by one goroutine at
// a time, the one that called the Run.
type Host interface {
	// Call answers a host call. The request is guest memory: it is valid only
	// during the call, and must be neither kept nor changed. The answer is copied
	// out before the next call, so its memory may be used again then. ctx is that of
	// the Run: the guest's time stands still. An error ends the Run at once: the guest is unwound, the
	// Host is asked nothing more, and the Run returns this very error.
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

// Shared is what Runs have in common. The zero value bounds nothing.
type Shared struct {
	Slice  int64        // of gas, 0 for GasSlice
	Turns  *turns.Turns // nil for none
	Memory *Memory      // nil for no bound
}

// Run is the state of one Run, and the context that everything in it gets. One goroutine
// uses it. Its methods are called within the guest, unless they say otherwise, and end the
// Run by a panic, which the engine recovers. It has a field for each bound, and for how much
// of it is used.
type Run struct {
	context.Context // the caller's
	Limits          Limits
	Calls           int          // of the Host
	Answer          []byte       // of the last host call, for who hands it out in a second step
	Failure         *abi.Failure // why the host stopped the guest, nil if it did not
	Refused         uint64       // the size of memory that the guest asked for in vain
	YieldAt         int          // functions of the module up to and with yield; 0 when there is none
	// Locate says where code of the rewritten module is from; nil where nobody can. It is
	// asked once at most, and after the guest has ended.
	Locate func(offsets []uint32) map[uint32][]stack.Place

	host         Host
	shared       Shared
	meter        meter
	wall         stopwatch // of the guest's own time
	output       int64     // bytes
	ended        error     // what the Host ended the Run with, nil if it did not
	moved        int       // bytes, since it was last looked whether the Run is to stop
	closed       [3]bool   // the standard streams that the guest closed
	initialCalls int       // see CountCall; 0 in a Run
	clock        clock
	console      console
	held         uint64 // of the shared memory
	holds        bool   // it is in the order of the shared memory
	sinceTurn    int64  // gas since the turn began
	sinceBreath  int64  // gas since others went first
	long         bool   // it has had its first turn
	inTurn       bool   // it has a place
}

type runKey struct{}

// Value implements context.Context. It hands the Run to host functions.
func (r *Run) Value(key any) any {
	if key == (runKey{}) {
		return r
	}
	return r.Context.Value(key)
}

// RunOf returns the Run that a host function is called in.
func RunOf(ctx context.Context) *Run { return ctx.Value(runKey{}).(*Run) }

// Begin makes r the state of a new Run. It is called outside of the guest, as are Arm and
// End, which follow.
func (r *Run) Begin(ctx context.Context, h Host, l Limits, s Shared) {
	lines := r.console.lines
	for fd := range lines {
		lines[fd] = lines[fd][:0]
	}
	*r = Run{Context: ctx, host: h, Limits: l, shared: s, console: console{lines: lines}}
	r.wall.start(l.WallTime)
}

// Arm gives the guest its gas, in the global that it counts it in; nil where that cannot be
// reached yet: see [Run.Reach].
func (r *Run) Arm(gas api.MutableGlobal) { r.meter.start(r.Limits.Gas, r.shared.Slice, gas) }

// Reach says where a guest counts its gas that was armed without.
func (r *Run) Reach(gas api.MutableGlobal) { r.meter.left = gas }

// End gives back what the Run holds and forgets what the caller gave, so that an idle
// instance does not hold it.
func (r *Run) End() {
	r.Release()
	r.Context, r.host, r.Answer = nil, nil, nil
}

// Caught turns what unwinds a guest into an error, where there is no guest.
func Caught(do func()) (err error) {
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
