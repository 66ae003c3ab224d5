package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lifecycle"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/storage"
)

// errParked ends the run of a Task that waits: its instance is given back, and
// its record is re-run when what it waits for has come.
var errParked = errors.New("the task is parked")

// wait parks the Task until what a call waits for has come.
func (r *run) wait(ctx context.Context, c *liveCall) (abi.CallStatus, []byte, error) {
	w, as, err := r.waiting(c)
	if err != nil {
		return r.record(ctx, c, journal.Whole, nil, err)
	}
	if answer, ended, err := r.endedChild(ctx, w); err != nil || ended {
		return r.record(ctx, c, journal.Whole, answer, err)
	}
	return 0, nil, r.park(ctx, c, w, as)
}

// waiting says what a call waits for, and the status of the Task meanwhile.
func (r *run) waiting(c *liveCall) (*abi.Waiting, abi.TaskStatus, error) {
	w := &abi.Waiting{Call: c.entry.Call, Index: c.entry.Index, RequestID: requestID(r.task.id, c.entry.Index)}
	switch c.entry.Call {
	case abi.CallSleep:
		req, err := ask[abi.CallSleepRequest](c)
		if err == nil && (req.Milliseconds < 0 || req.Milliseconds > abi.MaxWaitSeconds*1000) {
			err = provider.Malformed(abi.InvalidParam("ms", "ms is 0 to %d", abi.MaxWaitSeconds*1000))
		}
		w.Until = abi.At(r.engine.now().Add(time.Duration(req.Milliseconds) * time.Millisecond))
		return w, abi.TaskWorking, err
	case abi.CallInputRequest:
		req, err := ask[abi.CallInputRequestRequest](c)
		w.Prompt, w.Schema = req.Prompt, req.Schema.Clone()
		return w, abi.TaskInputRequired, cmp.Or(err, required("prompt", req.Prompt), r.until(w, req.TimeoutSeconds))
	case abi.CallAuthRequest:
		req, err := ask[abi.CallAuthRequestRequest](c)
		w.Prompt, w.Action, w.URL = req.Prompt, req.Provider, req.URL
		return w, abi.TaskAuthRequired, cmp.Or(err, required("provider", req.Provider), r.until(w, req.TimeoutSeconds))
	case abi.CallApprovalRequest:
		req, err := ask[abi.CallApprovalRequestRequest](c)
		w.Prompt, w.Action, w.Arguments, w.Quorum = req.Prompt, req.Action, req.Arguments.Clone(), req.Quorum
		return w, abi.TaskInputRequired, cmp.Or(err, required("action", req.Action), checkQuorum(req.Quorum), r.until(w, req.TimeoutSeconds))
	}
	req, err := ask[abi.CallTaskAwaitRequest](c)
	w.TaskID = req.TaskID
	return w, abi.TaskWorking, cmp.Or(err, required("task_id", req.TaskID), r.until(w, req.TimeoutSeconds))
}

// requestID names one call of a Task: to whoever answers it, and to a target that is
// to recognize it when it is made again.
func requestID(task string, index int) string { return fmt.Sprintf("%s-%d", task, index) }

func required(param, value string) error {
	if err := desk.CheckPresent(param, value); err != nil {
		return provider.Malformed(err)
	}
	return nil
}

func checkQuorum(n int) error {
	if n < 0 || n > abi.MaxApprovals {
		return provider.Malformed(abi.InvalidParam("quorum", "quorum is 0 to %d", abi.MaxApprovals))
	}
	return nil
}

func (r *run) until(w *abi.Waiting, seconds float64) error {
	switch {
	case math.IsNaN(seconds) || seconds < 0 || seconds > abi.MaxWaitSeconds:
		return provider.Malformed(abi.InvalidParam("timeout_seconds", "timeout_seconds is 0 to %d", abi.MaxWaitSeconds))
	case seconds > 0:
		w.Until = abi.At(r.engine.now().Add(time.Duration(seconds * float64(time.Second))))
	}
	return nil
}

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
	c.entry.At = journal.Moment(r.engine.now())
	if c.intent == nil {
		if err := r.tell(ctx, c, journal.Intent); err != nil {
			return err
		}
	}
	e, t := r.engine, r.task
	asks, err := r.request(ctx, c, w)
	if err != nil {
		return err
	}
	t.mu.Lock()
	commit, err := e.apply(t, change{
		in: lifecycle.Input{Kind: lifecycle.Park, Park: as}, actor: t.about.PersonaID, before: slices.Clone(r.pending), asks: asks,
		amend: func(shown *abi.Task) { shown.Waiting = w },
	})
	if err == nil {
		r.takePending()
		t.unsynced++
		t.run = nil // it is over: what wakes the Task adds to the record, and not to this run
	}
	t.mu.Unlock()
	if errors.Is(err, lifecycle.ErrTerminal) {
		return errEndedMeanwhile
	}
	if err != nil {
		return err
	}
	r.last = commit
	err = r.settle()
	t.synced()
	if err != nil {
		return err
	}
	e.rest(t, w)
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
// for the child that it awaits.
func (e *Engine) rest(t *task, w *abi.Waiting) {
	t.mu.Lock()
	parked := t.state.Parked && !t.gone && t.unsynced == 0
	if parked {
		t.gone = true
		t.stop = nil
		if t.deadline != nil {
			t.deadline.Stop()
		}
		e.tasks.remove(t.key())
	}
	t.mu.Unlock()
	if !parked {
		return // it was ended, or woken, already; or whoever has a batch of it on the way does this
	}
	t.leave()
	e.arm(t.key(), w, t.about.DeadlineAt)
}

// arm sets what wakes a parked Task without anybody's doing: the end of its wait,
// its deadline, the end of a child.
func (e *Engine) arm(key ledger.Key, w *abi.Waiting, deadline time.Time) {
	at, fire := w.Until, func() { e.timeout(key, w) }
	if !deadline.IsZero() && (at.IsZero() || deadline.Before(at)) {
		at, fire = deadline, func() { e.expire(key) }
	}
	if !at.IsZero() {
		e.parked.setTimer(key, e.now, at, e.background.Owned(fire))
	}
	if w.TaskID == "" {
		return
	}
	child := ledger.Key{Tenant: key.Tenant, ID: w.TaskID}
	e.parked.await(child, key)
	// One that cannot be read answers nobody: who awaits it is told so.
	awaited, err := e.storedTask(context.Background(), key.Tenant, w.TaskID)
	if err == nil && awaited.Status.Terminal() || ledger.IsUnreadable(err) || e.aside.Unended(child) {
		e.childEnded(child)
	}
}

// timeout ends a wait whose time is over.
func (e *Engine) timeout(key ledger.Key, w *abi.Waiting) {
	up := &wakeUp{requestID: w.RequestID, settles: abi.PermissionTimeout}
	if w.Call != abi.CallSleep && !forApproval(w) { // how an approval ends depends on its decisions
		up.failed = provider.Refuse(abi.CallTimeout, "timeout", "nothing came by "+w.Until.Format(time.RFC3339Nano))
	}
	e.wakeInBackground(key, up)
}

// childEnded wakes the Tasks that wait for one that has ended.
func (e *Engine) childEnded(child ledger.Key) {
	for _, parent := range e.parked.awaiting(child) {
		e.background.Go(func() { e.wakeParent(parent, child) })
	}
}

func (e *Engine) wakeParent(parent, child ledger.Key) {
	ctx := context.Background()
	waits, err := e.storedTask(ctx, parent.Tenant, parent.ID)
	if err != nil || waits.Waiting == nil || waits.Waiting.TaskID != child.ID {
		return // it was ended, or woken by its time
	}
	var answer []byte
	ended, err := e.storedTask(ctx, parent.Tenant, child.ID)
	if err == nil {
		answer, err = e.awaited(ctx, parent.Tenant, waits.Waiting, ended)
	}
	e.wakeInBackground(parent, &wakeUp{requestID: waits.Waiting.RequestID, answer: answer, failed: err})
}

// wakeInBackground wakes a Task on behalf of nobody.
func (e *Engine) wakeInBackground(key ledger.Key, up *wakeUp) {
	up.actor = desk.HostActor
	e.undone("a parked task could not be woken", key, e.wake(context.Background(), key, up))
}

// errNotWaiting says that a Task does not wait for what was brought.
var errNotWaiting = errors.New("the task does not wait for this")

// wakeUp is what ends a wait, or a decision towards it.
type wakeUp struct {
	requestID string
	answer    []byte
	failed    error        // a refusal that the call is answered with
	caller    *desk.Caller // who answers a request for permission; nil when the wait ends by itself
	actor     string
	before    []ledger.Record // the Message that brought the answer
	idem      *storage.Idempotency
	status    int // of the answer to idem: 200 for the request for permission, 0 for the Message

	decision *abi.Decision        // on an approval: answer follows from it and those before
	settles  abi.PermissionStatus // what becomes of the request for permission
	shown    *asking              // set when it is taken: the request as it is then; nil for none
}

// wake records the answer that a parked Task waits for, and lets it run again. Of
// two answers to one wait, one is taken and the other gets errNotWaiting. A decision
// that does not make the quorum is recorded, and the Task goes on waiting.
func (e *Engine) wake(ctx context.Context, key ledger.Key, up *wakeUp) error {
	t, commit, woken, err := e.answerParked(ctx, key, up)
	if err != nil {
		return err
	}
	_, err = commit.Wait(context.Background())
	if !woken {
		t.synced()
		e.restAgain(t)
	}
	if err != nil {
		return e.ledger.Failed("writing to the log", err)
	}
	if !woken {
		return nil
	}
	e.parked.forget(key)
	e.watchDeadline(t)
	e.queue.PushAccepted(t.job())
	return nil
}

// answerParked brings a parked Task into memory and hands over what is brought.
func (e *Engine) answerParked(ctx context.Context, key ledger.Key, up *wakeUp) (t *task, commit storage.Commit, woken bool, err error) {
	for {
		t, err := e.live(ctx, key)
		if err != nil {
			return nil, nil, false, err
		}
		if t == nil {
			return nil, nil, false, errNotWaiting
		}
		commit, woken, err := e.recordAnswer(t, up)
		switch {
		case err == nil:
			return t, commit, woken, nil
		case !errors.Is(err, errGone):
			e.restAgain(t)
			return nil, nil, false, err
		}
	}
}

// restAgain takes a Task out of memory that was loaded and not woken.
func (e *Engine) restAgain(t *task) {
	t.mu.Lock()
	w := t.task.Waiting
	t.mu.Unlock()
	if w != nil {
		e.rest(t, w)
	}
}

// recordAnswer hands over the batch that ends a wait, or that tells a decision
// towards its end: then woken is false.
func (e *Engine) recordAnswer(t *task, up *wakeUp) (commit storage.Commit, woken bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.task.Waiting
	if t.gone {
		return nil, false, errGone
	}
	if !t.state.Parked || w == nil || w.RequestID != up.requestID {
		return nil, false, errNotWaiting
	}
	ch := change{in: lifecycle.Input{Kind: lifecycle.Wake}, actor: up.actor, before: slices.Clip(up.before), idem: up.idem, status: up.status,
		amend: func(shown *abi.Task) { shown.Waiting = nil }}
	answer, whole, err := e.decided(t, w, up, &ch)
	if err != nil {
		return nil, false, err
	}
	if !whole {
		commit, err := e.recordDecision(t, up, &ch)
		return commit, false, err
	}
	told, err := e.answered(t, w, answer, up.failed)
	if err != nil {
		return nil, false, err
	}
	ch.before = append(ch.before, told)
	if ch.settles = up.settles; up.status == desk.StatusOK {
		ch.answer = len(ch.before) // the request for permission follows, as it was decided and as it ended
		if ch.decides != nil {
			ch.answer++
		}
	}
	ch.told = func(p *asking) { up.shown = p }
	commit, err = e.apply(t, ch)
	return commit, true, err
}

// answered returns the event that tells what a call that waited is answered with.
func (e *Engine) answered(t *task, w *abi.Waiting, answer []byte, failed error) (ledger.Record, error) {
	status, answer, err := (*run)(nil).answer(answer, failed)
	if err != nil {
		status, answer = abi.CallUnavailable, provider.Refuse(abi.CallUnavailable, string(abi.CodeInternalError), "the host could not answer").Answer()
	}
	entry := journal.Entry{Index: w.Index, Call: recordedAs(w), At: journal.Moment(e.now()), Status: status, Answer: answer}
	refs, err := e.largeTexts(context.Background(), &entry, journal.Result)
	if err != nil {
		return ledger.Record{}, err
	}
	return ledger.Record{Kind: journal.Kind(entry.Call, journal.Result, approved(w, status, answer)), Object: abi.ObjectTask, ID: t.id, Restricted: true,
		Text: entry.AppendPayload(nil, journal.Result, refs)}, nil
}

// approved makes a denial tell on the kind of its event.
func approved(w *abi.Waiting, status abi.CallStatus, answer []byte) abi.CallStatus {
	var a abi.CallApprovalAnswer
	if forApproval(w) && json.Unmarshal(answer, &a) == nil && a.Decision != decisionApproved {
		return abi.CallDenied
	}
	return status
}
