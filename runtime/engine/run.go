package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/disk"
	"github.com/wharf-dev/wharf/runtime/inhand"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lifecycle"
	"github.com/wharf-dev/wharf/runtime/personas"
	"github.com/wharf-dev/wharf/runtime/proofs"
	"github.com/wharf-dev/wharf/runtime/receipt"
	"github.com/wharf-dev/wharf/runtime/records"
	"github.com/wharf-dev/wharf/runtime/replay"
	"github.com/wharf-dev/wharf/runtime/turns"
)

// runTask runs one Task to its end, or until it waits. The scheduler calls it on a
// goroutine of the Task's own.
func (e *Engine) runTask(t *task) {
	ctx, stop := context.WithCancelCause(turns.For(e.base, uint64(t.tenant)))
	defer stop(nil)
	hand := e.handFor(t)
	if !e.start(ctx, t, stop) {
		hand.End()
		return
	}
	if t.trial > 0 {
		defer e.try(t)()
	}
	e.runBegun(ctx, t, hand)
	if errors.Is(stopped(ctx), errDrained) {
		e.leaveRunning(t)
	}
}

// runBegun runs a Task that has been started.
func (e *Engine) runBegun(ctx context.Context, t *task, hand *inhand.Hand) {
	if t.about.Replay != nil {
		e.RunReplay(ctx, replayTask{t, e})
		return
	}
	if err := e.runOnce(intoHand(ctx, hand), t, hand); errors.Is(err, inhand.ErrLater) {
		e.later(t, hand)
		return
	}
	hand.End()
}

// runCopies is how often a Task's large input is held while it runs: as it was read, as it
// is told to the plugin, and what becomes of it when the plugin gives it back: a request,
// its decoded form, an event.
const runCopies = 5

// handFor returns what a run holds its large documents in: the share that the Task has
// waited for, or nothing yet. It is nil for a Task whose input is in memory: that is small.
func (e *Engine) handFor(t *task) *inhand.Hand {
	h := t.hand
	t.hand = nil
	if h != nil || t.input != nil || e.config.InHand == nil {
		return h
	}
	h = new(inhand.Hand)
	kind := inhand.Defers
	if t.trial > 0 {
		kind = inhand.Counts // it has the node to itself now, and not later
	}
	h.Init(e.config.InHand, t.tenant, runCopies, kind)
	return h
}

// intoHand returns a context whose reads are in the hand.
func intoHand(ctx context.Context, h *inhand.Hand) context.Context {
	if h == nil {
		return ctx
	}
	return inhand.Into(ctx, h)
}

// later runs a Task again when there is room for its large documents. Meanwhile it has no
// place among those that run, so that small ones need not wait for it.
func (e *Engine) later(t *task, h *inhand.Hand) {
	t.hand = h
	h.Later(func() {
		if e.draining.Load() {
			e.leaveRunning(t) // the next start runs it
			h.End()
			return
		}
		e.queue.PushAccepted(t.job())
	})
}

// runOnce runs a Task that has begun. ErrLater says that it has to wait for room first.
func (e *Engine) runOnce(ctx context.Context, t *task, hand *inhand.Hand) error {
	r := &run{engine: e, task: t, began: e.now(), hand: hand}
	t.mu.Lock()
	e.book.Begin(&t.account)
	t.mu.Unlock()
	defer e.book.End(&t.account)
	err := e.perform(ctx, t, r)
	for try := 1; ledger.Overtaken(err) && try < maxOvertaken; try++ {
		r = e.anew(t, r)
		err = e.perform(ctx, t, r)
	}
	if cause := stopped(ctx); cause != nil && err != nil && !errors.Is(err, errParked) && !isFailure(err) {
		err = cause // what the host failed at is no fault: it was told to stop
	}
	switch {
	case errors.Is(err, errParked), errors.Is(err, inhand.ErrLater):
		return err
	case errors.Is(err, errOvertime):
		e.exhaust(t.key())
	case errors.Is(err, errDrained), errors.Is(err, errCanceled), errors.Is(err, errDeadline), errors.Is(err, errEndedMeanwhile):
		// Left on disk as it is, for the next start; or it has ended already.
	default:
		e.end(t, r, err)
	}
	if err := r.waitDurable(); err != nil {
		e.log.Error("a task's record could not be made durable", "task", t.id, "error", err)
	}
	return nil
}

// maxOvertaken is how often a run is made because other writers were faster.
const maxOvertaken = 16

// anew returns a run that goes on from the record, as the next start would: what the run before
// it has not got into the log has not happened, for a writer that shares no locks with this node
// has changed meanwhile what that relied on.
func (e *Engine) anew(t *task, r *run) *run {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.run = nil
	return &run{engine: e, task: t, began: r.began, hand: r.hand}
}

// stopped returns why the run was stopped from outside that ctx is of; nil when it was
// not.
func stopped(ctx context.Context) error {
	cause := context.Cause(ctx)
	for _, stop := range [...]error{errDrained, errCanceled, errDeadline} {
		if errors.Is(cause, stop) {
			return stop
		}
	}
	return nil
}

// start begins a run; false when there is none, because the Task ended while it waited. In a
// life after another one it begins when that is on disk.
func (e *Engine) start(ctx context.Context, t *task, stop context.CancelCauseFunc) bool {
	if t.again == nil {
		return e.begin(ctx, t, stop)
	}
	return e.restart(t) && e.begin(ctx, t, stop) && e.startIsDurable(t)
}

// begin records that the Task runs; false when it ended while it waited.
func (e *Engine) begin(ctx context.Context, t *task, stop context.CancelCauseFunc) bool {
	for e.fixProgram(ctx, t); disk.IsFull(t.startErr) && disk.Later(ctx); {
		e.fixProgram(ctx, t)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state.Status.Terminal() || t.startErr != nil && stopped(ctx) != nil {
		return false // or it is left to the next start, which finds out what it runs
	}
	t.stop = stop
	if t.state.Status == abi.TaskWorking { // it was started as it was accepted, or is brought back
		return true
	}
	_, err := e.apply(t, change{in: lifecycle.Input{Kind: lifecycle.Start}, actor: desk.HostActor})
	if err != nil {
		e.log.Error("a task could not be started", "task", t.id, "error", err)
	}
	return err == nil
}

// restart counts another start of a Task that an earlier life of the node left; nothing
// for one that had not begun. False when the Task has ended while it waited.
func (e *Engine) restart(t *task) bool {
	in := *t.again
	t.again = nil
	var life *abi.TaskTrial
	if t.trial > 0 {
		life = &abi.TaskTrial{Alone: true}
	}
	err := e.tellLife(t, in, life)
	if err != nil && !errors.Is(err, lifecycle.ErrTerminal) {
		e.log.Error("a task could not be started again", "task", t.id, "error", err)
	}
	return err == nil
}

// startIsDurable waits until a Task's start is on disk. Nobody waits for one as a rule. In
// a life after another one does: a Task that ends the node at once would never be counted.
func (e *Engine) startIsDurable(t *task) bool {
	t.mu.Lock()
	started := t.handed
	t.mu.Unlock()
	_, err := started.Wait(context.Background())
	if err != nil {
		e.log.Error("a task could not be started", "task", t.id, "error", err)
	}
	return err == nil
}

// perform calls the plugin that the Task is pinned to, and answers it from the
// record as far as that goes.
func (e *Engine) perform(ctx context.Context, t *task, r *run) error {
	if t.startErr != nil {
		return t.startErr
	}
	h := &records.History{Program: t.program}
	if !t.fresh {
		var err error
		if h, err = e.records.History(ctx, t.tenant, &t.about); err != nil {
			return err
		}
	}
	t.fresh = false
	if h.Program == nil {
		return &abi.Failure{Code: abi.FailureReplayMissing, Message: "the event that tells what this task runs is no longer there"}
	}
	t.program = h.Program
	persona, err := e.pinned.PersonaAt(ctx, t.tenant, t.about.PersonaID, h.Program.Persona)
	if err != nil {
		return err
	}
	stop, err := e.watchTime(t, &persona.Under(t.about.Run).Persona)
	if err != nil {
		return err
	}
	defer stop()
	if err := e.prepare(ctx, t, r, h, persona); err != nil {
		return err
	}
	r.hand.Begin()
	module, err := e.modules.ModuleAt(ctx, h.Program.Module)
	if err != nil {
		return err
	}
	if !module.HasExport(h.Program.Export) {
		return &abi.Failure{Code: abi.FailurePluginMissing, Message: fmt.Sprintf(
			"plugin %q has no export %q, which persona %s names", h.Program.Plugin, h.Program.Export, t.about.PersonaID)}
	}
	defer r.tellText(r.text.End)
	r.usage, err = module.Run(ctx, h.Program.Export, r, replay.Limits(h.Program, e.config.limitsFor(h.Program.Plugin).WallTime))
	e.counts.gas.Add(r.usage.Gas)
	e.figures.Ran(h.Program.Plugin, r.usage.Run, r.usage.Gas, r.usage.HostCalls)
	return e.onRecord(t, r, err)
}

// onRecord returns how a run ended, or that it left its record by ending there: it
// has not come to the record's end, or ran out of gas that another rewriter counts.
func (e *Engine) onRecord(t *task, r *run, err error) error {
	if left := r.cursor.Peek(); left != nil && guestEnded(err) {
		return e.divergence(t, journal.Diverge(left, left.Index, "", nil))
	}
	failure, ok := errors.AsType[*abi.Failure](err)
	if ok && failure.Code == abi.FailurePluginGas && t.program.Rewriter != e.rewriter {
		return e.divergence(t, journal.Diverge(nil, r.calls(), journal.CallEnd, []byte(failure.Message)))
	}
	return err
}

// calls returns how many calls were recorded.
func (r *run) calls() int {
	r.task.mu.Lock()
	defer r.task.mu.Unlock()
	return r.index
}

// guestEnded reports whether a run came to an end of the guest's own making.
func guestEnded(err error) bool {
	failure, ok := errors.AsType[*abi.Failure](err)
	return err == nil || ok && failure.Code != abi.FailureDivergence && failure.Code != abi.FailurePluginTimeout
}

func isFailure(err error) bool {
	var failure *abi.Failure
	return errors.As(err, &failure)
}

// prepare gives a run what it is told and what it is answered from.
func (e *Engine) prepare(ctx context.Context, t *task, r *run, h *records.History, persona *personas.Persona) error {
	given, err := e.records.Given(ctx, t.tenant, &t.about, t.input)
	if err != nil {
		return err
	}
	r.persona = persona.Under(t.about.Run)
	r.input = given.Answer(persona.Text, h.Program)
	r.cursor, r.made, r.recorded = journal.NewCursor(h.Entries), map[string]int{}, h.Entries[:journal.Closed(h.Entries)]
	t.mu.Lock()
	defer t.mu.Unlock()
	started := t.task.StartedAt
	if t.about.Fork != nil { // a fork began when its source did: the time is part of what they share
		started = given.From.StartedAt
	}
	r.ground = journal.NewGround(started, h.Program.Seed)
	r.facts = proofs.Facts{Persona: &persona.Persona, Tally: receipt.NewTally(h.Program, r.input, t.id), Withheld: given.Withheld}
	r.facts.Composition.Begun(h.Entries[len(r.recorded):]...)
	t.run, t.plugin = r, h.Program.Plugin
	return nil
}

// end records how a run ended, unless the Task was ended meanwhile by a cancel or
// its deadline: then nothing of the run counts.
func (e *Engine) end(t *task, r *run, err error) {
	ch := change{actor: desk.HostActor}
	failure := e.failureOf(t, r, cmp.Or(err, r.recallRest()))
	if failure == nil {
		ch.in.Kind = lifecycle.Complete
		ch.actor = t.about.PersonaID
	} else {
		ch.in.Kind = lifecycle.Fail
	}
	ch.outcome = func(o *abi.Outcome) { r.complete(o, t, failure) }

	if t.program != nil && t.program.Rewriter == e.rewriter && (failure == nil || !records.FromOutside(failure)) {
		t.mu.Lock()
		r.facts.Gas = r.usage.Gas
		t.mu.Unlock()
	}
	commit, err := e.endTask(context.Background(), t, ch) // a run that was not prepared does not know the record
	e.ended(t, commit, err)
}

// failureOf says why a run failed; nil when it did not.
func (e *Engine) failureOf(t *task, r *run, err error) *abi.Failure {
	failure, known := replay.Conclude(err, r.outputs.Output)
	if known && t.program != nil && t.program.Skill != nil {
		// Nothing ends this check but its own limits: what it says is part of the record.
		failure, err = r.gave.Conclude(turns.For(context.WithoutCancel(e.base), uint64(t.tenant)), e.turns, t.program.Skill.OutputSchema, failure)
		known = err == nil
	}
	if known {
		return failure
	}
	e.log.Error("the host failed a task", "task", t.id, "error", err)
	if l := ledger.Lost(err); l != nil {
		return &abi.Failure{Code: abi.FailureHost, Message: l.Told()}
	}
	return &abi.Failure{Code: abi.FailureHost, Message: "the host could not do its part; see the node's log"}
}

// complete fills in the Outcome of a run that ended.
func (r *run) complete(o *abi.Outcome, t *task, failure *abi.Failure) {
	o.Metrics = r.metrics(t)
	o.MessageIDs, o.ArtifactIDs = r.outputs.Messages, r.outputs.ArtifactIDs()
	switch {
	case failure != nil:
		o.Failure, o.Summary = failure, failure.Message
	case r.outputs.Output != nil:
		said := r.outputs.Output
		o.Summary, o.Stopped, o.Handoff, o.StopReason = said.Summary, said.Stopped, said.Handoff, said.StopReason
	}
	if o.Summary == "" {
		o.Summary = "completed"
	}
}

// metrics says where the time went, in milliseconds, and what was used. Waiting in the
// queue ends when the Task is started, which may be in the batch that accepts it.
func (r *run) metrics(t *task) jsontext.Value {
	m := append(make(jsontext.Value, 0, 192), `{"queue_ms":`...)
	m = appendMS(m, t.task.StartedAt.Sub(t.about.CreatedAt))
	m = appendMS(append(m, `,"instantiate_ms":`...), r.usage.Instantiate)
	m = appendMS(append(m, `,"run_ms":`...), r.usage.Run)
	m = strconv.AppendInt(append(m, `,"host_calls":`...), int64(r.usage.HostCalls), 10)
	m = strconv.AppendUint(append(m, `,"memory_bytes":`...), r.usage.MemoryBytes, 10)
	if r.facts.Gas != 0 {
		m = strconv.AppendUint(append(m, `,"gas":`...), r.facts.Gas, 10)
	}
	if used := r.facts.Tally.Used(); used.InputTokens+used.OutputTokens > 0 {
		m = strconv.AppendInt(append(m, `,"input_tokens":`...), used.InputTokens, 10)
		m = strconv.AppendInt(append(m, `,"output_tokens":`...), used.OutputTokens, 10)
	}
	if r.outputs.Output != nil && len(r.outputs.Output.Metrics) > 0 {
		if own, err := json.Marshal(r.outputs.Output.Metrics, json.Deterministic(true)); err == nil { // not NaN
			m = append(append(m, `,"plugin":`...), own...)
		}
	}
	return append(r.held.AppendMembers(m), '}')
}

// appendMS writes a duration in milliseconds, to the microsecond.
func appendMS(b []byte, d time.Duration) []byte {
	return strconv.AppendFloat(b, float64(d.Microseconds())/1000, 'f', -1, 64)
}

// divergence is the failure of a run that left its record. What it asked is
// internal: a reader without the right to see that gets a descriptor.
func (e *Engine) divergence(t *task, d *journal.Divergence) *abi.Failure {
	if p := t.program; p != nil {
		d.RecordedModule, d.ActualModule, d.RecordedABI, d.ActualABI = p.Module, p.Module, p.ABI, abi.ABIVersion
		d.RecordedRewriter, d.ActualRewriter = p.Rewriter, e.rewriter
	}
	return d.Failure()
}
