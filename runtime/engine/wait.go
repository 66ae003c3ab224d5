package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/composition"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/inbox"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lifecycle"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/tooluse"
	"github.com/wharf-dev/wharf/runtime/waiting"
	"github.com/wharf-dev/wharf/storage"
)

// errParked ends the run of a Task that waits: its instance is given back, and
// its record is re-run when what it waits for has come.
var errParked = errors.New("the task is parked")

// wait parks the Task until what a call waits for has come.
func (r *run) wait(ctx context.Context, c *liveCall, on waiting.Call) (abi.CallStatus, []byte, error) {
	on.Index, on.RequestID, on.Now = c.entry.Index, requestID(r.task.id, c.entry.Index), r.engine.now()
	w, as, err := waiting.For(&on)
	if err != nil {
		return r.close(ctx, c, journal.Whole, nil, err)
	}
	if w.Inbox != nil && inbox.Listens(&r.task.about) {
		w.Inbox.SessionID = r.task.about.SessionID
	}
	c.asked, w.Call, w.Tool = on.Asked, c.entry.Call, c.use.Waits()
	if answer, ended, err := r.endedChild(ctx, w); err != nil || ended {
		return r.close(ctx, c, journal.Whole, answer, err)
	}
	r.tellText(r.text.Flush)
	return 0, nil, r.park(ctx, c, w, as)
}

// requestID names one call of a Task: to whoever answers it, and to a target that is
// to recognize it when it is made again.
func requestID(task string, index int) string { return fmt.Sprintf("%s-%d", task, index) }

// endedChild answers for a child that has ended already.
func (r *run) endedChild(ctx context.Context, w *abi.Waiting) (answer []byte, ended bool, err error) {
	if w.TaskID == "" {
		return nil, false, nil
	}
	child, err := r.child(ctx, w.TaskID)
	if err != nil || !child.Status.Terminal() {
		return nil, false, err
	}
	answer, err = r.engine.awaited(ctx, r.task.tenant, w, child)
	return answer, err == nil, err
}

// park records that the Task waits and gives back what it holds.
func (r *run) park(ctx context.Context, c *liveCall, w *abi.Waiting, as abi.TaskStatus) error {
	r.inTime(w)
	w.Composition = r.composition().Waits(c.use)
	c.entry.At = journal.Moment(r.engine.now())
	if c.intent == nil {
		if err := r.tell(ctx, c, journal.Intent); err != nil {
			return err
		}
	}
	e, t := r.engine, r.task
	asks, told, err := e.NewPermissionRequests(ctx, t.tenant, &t.about, w, c.entry.At, waiting.Terms{Approvals: r.persona.Approvals,
		Grounds: journal.Grounds(cmp.Or(c.intent, &c.entry)), Now: e.now(), Asked: c.asked, Request: c.request})
	if err != nil {
		return err
	}
	e.parked.Listen(t.tenant, w.Inbox, t.id) // who sees that it waits can wake it
	t.mu.Lock()
	commit, err := e.apply(t, change{
		in: lifecycle.Input{Kind: lifecycle.Park, Park: as}, actor: t.about.PersonaID, before: append(slices.Clone(r.pending), told...), asks: asks,
		amend: func(shown *abi.Task) { shown.Waiting = w },
	})
	if err == nil {
		r.takePending()
		t.unsynced++
		t.gave = givenTo(w)
		t.run = nil // it is over: what wakes the Task adds to the record, and not to this run
	}
	t.mu.Unlock()
	if err != nil {
		e.parked.Forget(t.key())
	}
	if errors.Is(err, lifecycle.ErrTerminal) {
		return errEndedMeanwhile
	}
	if err != nil {
		return err
	}
	r.last = &handed{Commit: commit}
	err = r.waitDurable()
	t.synced()
	if err != nil {
		return err
	}
	e.rest(t)
	e.ends.Parked(t.key())
	return errParked
}

// synced says that a batch of the Task is durable: loaded anew, the Task would be as
// it is.
func (t *task) synced() {
	t.mu.Lock()
	t.unsynced--
	t.mu.Unlock()
}

// rest takes a parked Task out of memory: what is left is a timer, and an entry
// for the child that it awaits. What it waits for is read here: since the caller parked it, it may have
// been woken, run on, and be parked for something else.
func (e *Engine) rest(t *task) {
	t.mu.Lock()
	w := t.task.Waiting
	parked := w != nil && t.state.Parked && !t.gone && t.unsynced == 0
	if parked {
		t.gone = true
		t.stop = nil
		if t.deadline != nil {
			t.deadline.Stop()
		}
		e.arm(t.key(), w, t.about.DeadlineAt) // before anybody loads it anew, who may park it with a timer of its own
		e.tasks.remove(t.key())
	}
	t.mu.Unlock()
	if !parked {
		return // it was ended, or woken, already; or whoever has a batch of it on the way does this
	}
	t.leave()
	e.look(t.key(), w)
}

// arm sets what wakes a parked Task without anybody's doing: the end of its wait, its deadline, what comes to
// its inbox.
func (e *Engine) arm(key ledger.Key, w *abi.Waiting, deadline time.Time) {
	at, fire := w.Until, func() { e.wakeInBackground(key, waiting.TimedOut(w)) }
	if !deadline.IsZero() && (at.IsZero() || deadline.Before(at)) {
		at, fire = deadline, func() { e.expire(key) }
	}
	if !at.IsZero() {
		e.parked.SetTimer(key, e.now, at, e.background.Owned(fire))
	}
	e.parked.Listen(key.Tenant, w.Inbox, key.ID)
}

// look wakes a parked Task for what came before it was armed, and notes the child that it awaits.
func (e *Engine) look(key ledger.Key, w *abi.Waiting) {
	if w.Inbox != nil && w.Inbox.SessionID != "" {
		session := ledger.Key{Tenant: key.Tenant, ID: w.Inbox.SessionID}
		e.background.Go(func() { e.inboxResources.Serve(session) })
	}
	if w.TaskID == "" {
		return
	}
	child := ledger.Key{Tenant: key.Tenant, ID: w.TaskID}
	e.parked.Await(child, key)
	// One that cannot be read answers nobody: who awaits it is told so.
	awaited, err := e.records.Task(context.Background(), key.Tenant, w.TaskID)
	if err == nil && awaited.Status.Terminal() || ledger.IsUnreadable(err) || e.aside.Unended(child) {
		e.childEnded(child)
	}
}

// childEnded wakes the Tasks that wait for one that has ended.
func (e *Engine) childEnded(child ledger.Key) {
	for _, parent := range e.parked.Awaiting(child) {
		e.background.Go(func() { e.wakeParent(parent, child) })
	}
}

func (e *Engine) wakeParent(parent, child ledger.Key) {
	ctx := context.Background()
	waits, err := e.records.Task(ctx, parent.Tenant, parent.ID)
	if err != nil || waits.Waiting == nil || waits.Waiting.TaskID != child.ID {
		return // it was ended, or woken by its time
	}
	var answer []byte
	ended, err := e.records.Task(ctx, parent.Tenant, child.ID)
	if err == nil {
		answer, err = e.awaited(ctx, parent.Tenant, waits.Waiting, ended)
	}
	e.wakeInBackground(parent, waiting.Came(waits.Waiting, answer, err))
}

// wakeInBackground wakes a Task on behalf of nobody.
func (e *Engine) wakeInBackground(key ledger.Key, a *waiting.Answer) {
	a.Actor = desk.HostActor
	e.undone("a parked task could not be woken", key, e.wake(context.Background(), key, a))
}

// wake records the answer that a parked Task waits for, and lets it run again. Of
// two answers to one wait, one is taken and the other gets waiting.ErrNotWaiting. A decision
// that does not make the quorum is recorded, and the Task goes on waiting.
func (e *Engine) wake(ctx context.Context, key ledger.Key, a *waiting.Answer) error {
	t, commit, woken, err := e.answerParked(ctx, key, a)
	if err != nil {
		return err
	}
	_, err = commit.Wait(context.Background())
	if !woken {
		t.synced()
		e.rest(t)
	}
	if err != nil {
		return e.ledger.Failed("writing to the log", err)
	}
	if !woken {
		return nil
	}
	e.parked.Forget(key)
	e.watchDeadline(t)
	e.queue.PushAccepted(t.job())
	return nil
}

// answerParked brings a parked Task into memory and hands over what is brought.
func (e *Engine) answerParked(ctx context.Context, key ledger.Key, a *waiting.Answer) (t *task, commit storage.Commit, woken bool, err error) {
	for {
		t, err := e.live(ctx, key)
		if err != nil {
			return nil, nil, false, err
		}
		if t == nil {
			return nil, nil, false, waiting.ErrNotWaiting
		}
		commit, woken, err := e.recordAnswer(t, a)
		switch {
		case err == nil:
			return t, commit, woken, nil
		case !errors.Is(err, errGone):
			e.rest(t)
			return nil, nil, false, err
		}
	}
}

// recordAnswer hands over the batch that ends a wait, or that tells a decision
// or one of several answers towards its end: then woken is false.
func (e *Engine) recordAnswer(t *task, a *waiting.Answer) (commit storage.Commit, woken bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.task.Waiting
	if t.gone {
		return nil, false, errGone
	}
	if !t.state.Parked || w == nil || w.RequestID != a.RequestID {
		return nil, false, waiting.ErrNotWaiting
	}
	at := e.now()
	var child []ledger.Record
	taken, err := a.Take(&t.task, t.asking, at, func(answer []byte, refused error) (rec ledger.Record, err error) {
		rec, child, err = e.answered(t, w, answer, refused)
		return rec, err
	})
	if err != nil {
		return nil, false, err
	}
	step := change{in: lifecycle.Input{Kind: lifecycle.Wake}, actor: a.Actor, at: at, before: e.WithHooks(t.tenant, &t.about, slices.Concat(taken.Records, child)...),
		idem: a.Idem, status: taken.Status, answer: taken.Place, asks: taken.Round, may: a.May, amend: func(shown *abi.Task) { shown.Waiting = taken.Waiting }}
	switch {
	case taken.Over:
		commit, err = e.apply(t, step)
	case taken.Waiting != nil:
		step.in.Kind = lifecycle.Part
		if commit, err = e.apply(t, step); err == nil {
			t.unsynced++
		}
	default:
		commit, err = e.recordDecision(t, a, &taken, at)
	}
	if err == nil {
		a.Shown = taken.Request
	}
	return commit, taken.Over, err
}

// recordDecision hands over a decision that does not end the wait. The caller holds
// t.mu.
func (e *Engine) recordDecision(t *task, a *waiting.Answer, taken *waiting.Taken, at time.Time) (storage.Commit, error) {
	records := t.number(taken.Records)
	encoded, err := ledger.Encode(records...)
	if err != nil {
		return nil, err
	}
	b := ledger.Batch(taskFrame(t.tenant, &t.task, a.Actor, at, encoded), a.Idem, taken.Status, taken.Place)
	commit, err := t.session.Append(e.ledger, b, a.May)
	if err != nil {
		return nil, err
	}
	t.seq += sequenced(records)
	t.unsynced++
	t.asking = taken.Round
	return commit, nil
}

// answered returns the event that tells what a call that waited is answered with, and what is told of it as a child
// of a composition.
func (e *Engine) answered(t *task, w *abi.Waiting, answer []byte, failed error) (rec ledger.Record, child []ledger.Record, err error) {
	status, answer, err := (*run)(nil).answer(answer, failed)
	if err != nil {
		status, answer = abi.CallUnavailable, provider.Refuse(abi.CallUnavailable, string(abi.CodeInternalError), "the host could not answer").Answer()
	}
	entry := journal.Entry{Index: w.Index, Call: waiting.RecordedAs(w), At: journal.Moment(e.now()), Status: status, Answer: answer}
	refs, err := entry.Keep(context.Background(), e.store.Blobs(), journal.Result)
	if err != nil {
		return rec, nil, err
	}
	end := &tooluse.End{At: entry.At, Status: status, Answer: answer}
	text, err := tooluse.Ended(entry.AppendPayload(nil, journal.Result, refs), w.Tool, end)
	return ledger.Record{Kind: waiting.EventOf(w, status, answer), Object: abi.ObjectTask, ID: t.id, Restricted: true,
		Text: text}, composition.Answered(t.id, w.Composition, end), err
}
