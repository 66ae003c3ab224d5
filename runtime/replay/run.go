package replay

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/receipt"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

// Module is a compiled plugin.
type Module interface {
	HasExport(name string) bool
	Run(ctx context.Context, export string, h sandbox.Host, l sandbox.Limits) (sandbox.Usage, error)
}

// Options say how a record is replayed. The zero value is an exact replay.
type Options struct {
	Replacements []Replacement
	// TaskID is what the tally calls the replay; default the record's Task.
	TaskID string
	// WallTime bounds the run; default sandbox.DefaultLimits.
	WallTime time.Duration
	// Most is what the run may have at most, whatever its record says; a member that is 0
	// caps nothing. A replay that differs for it is a [*Capped].
	Most sandbox.Limits
	// OnCall is told each call as it was answered, in order; an error ends the
	// replay. It may be nil.
	OnCall func(e *journal.Entry, by *Replacement) error
	// Module is the digest of the module that runs, when it is not the record's.
	Module string
	// Rewriter is what rewrote the module that runs (sandbox.Runtime.Rewriter), "" for
	// nothing. Where it is that of the record, an exact replay uses the same gas.
	Rewriter string
}

// Result is what a replay did.
type Result struct {
	// Entries are the calls as they were answered in the replay. Their ids and times
	// are those of the record.
	Entries []journal.Entry
	Tally   *receipt.Tally
	Applied []Replacement
	Outputs
	// Made holds what was made anew, since a replacement had changed it.
	Made []Made
	End  journal.End
	// Divergence is set when the run left its record.
	Divergence *journal.Divergence
	// Gas is what the run used, also where End does not tell it.
	Gas uint64
}

// Made is a Message or an Artifact that a replay with replacements made. Its id is
// derived from the replay's.
type Made struct {
	Call    string
	ID      string
	Request []byte // as the plugin passed it
}

// errStop ends a run where its record was stopped.
var errStop = errors.New("the record stops here")

// Run replays a record. An error says that the replay could not be done; that it
// diverged is a result.
func Run(ctx context.Context, m Module, rec *journal.Record, o Options) (*Result, error) {
	if !m.HasExport(rec.Program.Export) {
		return nil, fmt.Errorf("the module has no export %q, which the record runs", rec.Program.Export)
	}
	h := newHost(rec, o)
	limits, cut := capped(Limits(&rec.Program, o.WallTime), o.Most)
	usage, err := m.Run(ctx, rec.Program.Export, h, limits)
	h.result.Gas = usage.Gas
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if h.failed != nil {
		return nil, h.failed
	}
	result, err := h.conclude(ctx, err)
	return h.unlessCapped(result, err, cut)
}

// unlimited is more gas and depth than a run can use.
const unlimited = math.MaxInt / 2

// Limits returns the limits that a program runs under, wherever it runs: its own,
// and one on time. A record of before modules were rewritten limits neither gas nor
// depth, and its runs initialized their instances under their own clock.
func Limits(p *journal.Program, wall time.Duration) sandbox.Limits {
	l := sandbox.Limits{MemoryBytes: p.Limits.MemoryBytes, HostCalls: p.Limits.HostCalls, PayloadBytes: p.Limits.PayloadBytes,
		OutputBytes: p.Limits.OutputBytes, Gas: p.Limits.Gas, Depth: p.Limits.Depth, WallTime: wall, Fresh: p.Rewriter == ""}
	if l.Gas == 0 {
		l.Gas = unlimited
	}
	if l.Depth == 0 {
		l.Depth = unlimited
	}
	return l
}

// Conclude says how a run ended: with a failure, or nil when it did well. known is
// false when err is neither the guest's doing nor a limit's.
//
// A plugin that panics without being able to go on says so and traps: what it said is why the Task
// failed, and the trap has the stack. So does one whose language cannot unwind, for any error.
func Conclude(err error, output *abi.CallOutputRequest) (failure *abi.Failure, known bool) {
	said := output != nil && output.Failure != nil
	switch {
	case err == nil && said:
		return output.Failure, true
	case err == nil:
		return nil, true
	case errors.As(err, &failure):
		switch {
		case said && failure.Code == abi.FailurePluginError:
			return output.Failure, true // the plugin said why, then returned non-zero
		case said && failure.Code == abi.FailurePluginTrap && saysWhyItTraps(output.Failure.Code):
			return &abi.Failure{Code: output.Failure.Code, Message: output.Failure.Message, Details: failure.Details}, true
		}
		return failure, true
	}
	return nil, false
}

// saysWhyItTraps reports whether a failure with a code is one that a plugin's SDK traps after. A code of the
// author's own does not tell why a trap came later.
func saysWhyItTraps(code string) bool {
	return code == abi.FailurePluginPanic || code == abi.FailurePluginError
}

// conclude compares the end of a run with the end of its record.
func (h *host) conclude(ctx context.Context, err error) (*Result, error) {
	r := h.result
	r.End.Calls = len(r.Entries)
	recorded := h.record.End
	switch {
	case r.Divergence != nil:
		return r, nil
	case errors.Is(err, errStop):
		return h.stopped(), nil
	}
	failure, known := Conclude(err, r.Output)
	if known && recorded != nil && recorded.Stopped && h.cursor.Done() {
		return h.stopped(), nil // how a run goes on from where it was stopped is not in its record
	}
	if !known {
		return nil, fmt.Errorf("running the module: %w", err)
	}
	if s := h.record.Program.Skill; s != nil {
		if failure, err = h.gave.Conclude(ctx, nil, s.OutputSchema, failure); err != nil {
			return nil, fmt.Errorf("holding the output against the skill's schema: %w", err)
		}
	}
	r.End.Status, r.End.Failure = abi.TaskCompleted, failure
	if failure != nil {
		r.End.Status = abi.TaskFailed
	}
	if h.sameRewriter() {
		r.End.Gas = r.Gas
	}
	h.compareEnds()
	return r, nil
}

// stopped ends a replay as its record does, which was stopped.
func (h *host) stopped() *Result {
	if h.record.End != nil {
		h.result.End = *h.record.End
	}
	h.result.End.Stopped = true
	return h.result
}

// sameRewriter reports whether what runs is what the record was made with, so that
// gas means the same.
func (h *host) sameRewriter() bool {
	p := &h.record.Program
	return p.Rewriter != "" && p.Rewriter == h.options.Rewriter && (h.options.Module == "" || h.options.Module == p.Module)
}

// compareEnds compares how the run ended with how its record did. What a failure
// says beyond its code may differ between engines; where the code is the same, the
// run has failed as recorded.
func (h *host) compareEnds() {
	r, recorded := h.result, h.record.End
	switch left := h.cursor.Peek(); {
	case left != nil:
		r.Divergence = h.diverge(left, "", nil)
	case recorded == nil || h.changed:
	case ending(recorded) != ending(&r.End) && !trapped(recorded, &r.End), recorded.Gas != 0 && r.End.Gas != 0 && recorded.Gas != r.End.Gas:
		r.Divergence = h.endDiffers(recorded)
	default:
		r.End.Failure = recorded.Failure
	}
}

// ending is what must be the same at the end of a run and its replay.
func ending(e *journal.End) string {
	if e.Failure == nil {
		return string(e.Status)
	}
	return string(e.Status) + " " + e.Failure.Code
}

// trapped reports whether a run has ended in a panic, or an error, whose trap was taken for the reason when it was
// recorded, as nodes of before did.
func trapped(recorded, now *journal.End) bool {
	return recorded.Failure != nil && recorded.Failure.Code == abi.FailurePluginTrap && now.Failure != nil && saysWhyItTraps(now.Failure.Code)
}

func (h *host) endDiffers(recorded *journal.End) *journal.Divergence {
	before, _ := json.Marshal(recorded)
	after, _ := json.Marshal(&h.result.End)
	d := journal.Diverge(&journal.Entry{Call: journal.CallEnd, Request: before}, len(h.result.Entries), journal.CallEnd, after)
	return h.name(d)
}
