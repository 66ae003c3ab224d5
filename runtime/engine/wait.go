package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/journal"
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
		if err == nil && (req.Milliseconds < 0 || req.Milliseconds > maxWaitSeconds*1000) {
			err = provider.Malformed(abi.InvalidParam("ms", "ms is 0 to %d", maxWaitSeconds*1000))
		}
		w.Until = abi.At(r.engine.now().Add(time.Duration(req.Milliseconds) * time.Millisecond))
		return w, abi.TaskWorking, err
	case abi.CallInputRequest:
		req, err := ask[abi.CallInputRequestRequest](c)
		w.Prompt, w.Schema = req.Prompt, req.Schema.Clone()
		return w, abi.TaskInputRequired, firstError(err, required("prompt", req.Prompt), r.until(w, req.TimeoutSeconds))
	case abi.CallAuthRequest:
		req, err := ask[abi.CallAuthRequestRequest](c)
		w.Prompt, w.Action, w.URL = req.Prompt, req.Provider, req.URL
		return w, abi.TaskAuthRequired, firstError(err, required("provider", req.Provider), r.until(w, req.TimeoutSeconds))
	case abi.CallApprovalRequest:
		req, err := ask[abi.CallApprovalRequestRequest](c)
		w.Prompt, w.Action = req.Prompt, req.Action
		return w, abi.TaskInputRequired, firstError(err, required("action", req.Action), r.until(w, req.TimeoutSeconds))
	}
	req, err := ask[abi.CallTaskAwaitRequest](c)
	w.TaskID = req.TaskID
	return w, abi.TaskWorking, firstError(err, required("task_id", req.TaskID), r.until(w, req.TimeoutSeconds))
}

// requestID names one call of a Task: to whoever answers it, and to a target that is
// to recognize it when it is made again.
func requestID(task string, index int) string { return fmt.Sprintf("%s-%d", task, index) }

func required(param, value string) error {
	if err := checkPresent(param, value); err != nil {
		return provider.Malformed(err)
	}
	return nil
}

// maxWaitSeconds is ten years.
const maxWaitSeconds = 10 * 366 * 24 * 3600

func (r *run) until(w *abi.Waiting, seconds float64) error {
	switch {
	case math.IsNaN(seconds) || seconds < 0 || seconds > maxWaitSeconds:
		return provider.Malformed(abi.InvalidParam("timeout_seconds", "timeout_seconds is 0 to %d", maxWaitSeconds))
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
	child, err := r.engine.child(ctx, r.task.tenant, r.task.id, w.TaskID)
	if err != nil || !child.Status.Terminal() {
		return nil, false, err
	}
	answer, err = r.engine.awaited(ctx, r.task.tenant, w, child)
	return answer, err == nil, err
}

// park records that the Task waits and gives back what it holds.
func (r *run) park(ctx context.Context, c *liveCall, w *abi.Waiting, as abi.TaskStatus) error {
	c.entry.At = journal.Moment(r.engine.now())
	if c.intent == nil {
		if err := r.tell(ctx, c, journal.Intent); err != nil {
			return err
		}
	}
	e, t := r.engine, r.task
	t.mu.Lock()
	commit, err := e.apply(t, change{
		in: Input{Kind: InputPark, Park: as}, actor: t.about.PersonaID, before: r.takePending(),
		amend: func(shown *abi.Task) { shown.Waiting = w },
	})
	t.mu.Unlock()
	if errors.Is(err, ErrTerminal) {
		return errEndedMeanwhile
	}
	if err != nil {
		return err
	}
	r.last = commit
	if err := r.settle(); err != nil {
		return err
	}
	e.rest(t, w)
	return errParked
}

// rest takes a parked Task out of memory: what is left is a timer, and an entry
// for the child that it awaits.
func (e *Engine) rest(t *task, w *abi.Waiting) {
	t.mu.Lock()
	parked := t.state.Parked && !t.gone
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
		return // it was ended, or woken, already
	}
	t.leave()
	e.arm(t.key(), w, t.about.DeadlineAt)
}

// arm sets what wakes a parked Task without anybody's doing: the end of its wait,
// its deadline, the end of a child.
func (e *Engine) arm(key owner, w *abi.Waiting, deadline time.Time) {
	at, fire := w.Until, func() { e.timeout(key, w) }
	if !deadline.IsZero() && (at.IsZero() || deadline.Before(at)) {
		at, fire = deadline, func() { e.expire(key) }
	}
	if !at.IsZero() {
		e.parked.setTimer(key, at.Sub(e.now()), fire)
	}
	if w.TaskID == "" {
		return
	}
	child := owner{key.tenant, w.TaskID}
	e.parked.await(child, key)
	if ended, err := e.child(context.Background(), key.tenant, key.id, w.TaskID); err == nil && ended.Status.Terminal() {
		e.childEnded(child)
	}
}

// timeout ends a wait whose time is over.
func (e *Engine) timeout(key owner, w *abi.Waiting) {
	var failed error
	var answer []byte
	switch recordedAs(w) {
	case abi.CallSleep:
	case abi.CallApprovalRequest, abi.CallGate:
		answer, failed = json.Marshal(abi.CallApprovalAnswer{Decision: "timeout", DecidedAt: abi.At(e.now())})
	default:
		failed = provider.Refuse(abi.CallTimeout, "timeout", "nothing came by "+w.Until.Format(time.RFC3339Nano))
	}
	e.wakeInBackground(key, w.RequestID, answer, failed)
}

// childEnded wakes the Tasks that wait for one that has ended.
func (e *Engine) childEnded(child owner) {
	for _, parent := range e.parked.awaiting(child) {
		go e.wakeParent(parent, child)
	}
}

func (e *Engine) wakeParent(parent, child owner) {
	ctx := context.Background()
	waits, err := e.storedTask(ctx, parent.tenant, parent.id)
	if err != nil || waits.Waiting == nil || waits.Waiting.TaskID != child.id {
		return // it was ended, or woken by its time
	}
	var answer []byte
	ended, err := e.child(ctx, parent.tenant, parent.id, child.id)
	if err == nil {
		answer, err = e.awaited(ctx, parent.tenant, waits.Waiting, ended)
	}
	e.wakeInBackground(parent, waits.Waiting.RequestID, answer, err)
}

// wakeInBackground wakes a Task on behalf of nobody.
func (e *Engine) wakeInBackground(key owner, requestID string, answer []byte, failed error) {
	err := e.wake(context.Background(), key, wakeUp{requestID: requestID, answer: answer, failed: failed, actor: hostActor})
	if err != nil && !errors.Is(err, errNotWaiting) && !e.draining.Load() {
		e.log.Error("a parked task could not be woken", "task", key.id, "error", err)
	}
}

// errNotWaiting says that a Task does not wait for what was brought.
var errNotWaiting = errors.New("the task does not wait for this")

// wakeUp is what ends a wait.
type wakeUp struct {
	requestID string
	answer    []byte
	failed    error // a refusal that the call is answered with
	actor     string
	before    []record // the Message that brought the answer
	idem      *storage.Idempotency
}

// wake records the answer that a parked Task waits for, and lets it run again.
// Of two answers to one wait, one is taken and the other gets errNotWaiting.
func (e *Engine) wake(ctx context.Context, key owner, up wakeUp) error {
	t, commit, err := e.answerParked(ctx, key, up)
	if err != nil {
		return err
	}
	if _, err := commit.Wait(context.Background()); err != nil {
		return e.failed("writing to the log", err)
	}
	e.parked.forget(key)
	e.watchDeadline(t)
	e.queue.pushRecovered(t)
	return nil
}

// answerParked brings a parked Task into memory and hands its answer over.
func (e *Engine) answerParked(ctx context.Context, key owner, up wakeUp) (*task, storage.Commit, error) {
	for {
		t, err := e.live(ctx, key)
		if err != nil {
			return nil, nil, err
		}
		if t == nil {
			return nil, nil, errNotWaiting
		}
		commit, err := e.recordAnswer(t, up)
		switch {
		case err == nil:
			return t, commit, nil
		case !errors.Is(err, errGone):
			e.restAgain(t)
			return nil, nil, err
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

// recordAnswer hands over the batch that ends a wait.
func (e *Engine) recordAnswer(t *task, up wakeUp) (storage.Commit, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.task.Waiting
	if t.gone {
		return nil, errGone
	}
	if !t.state.Parked || w == nil || w.RequestID != up.requestID {
		return nil, errNotWaiting
	}
	status, answer, err := (*run)(nil).answer(up.answer, up.failed)
	if err != nil {
		status, answer = abi.CallUnavailable, provider.Refuse(abi.CallUnavailable, string(abi.CodeInternalError), "the host could not answer").Answer()
	}
	entry := journal.Entry{Index: w.Index, Call: recordedAs(w), At: journal.Moment(e.now()), Status: status, Answer: answer}
	refs, err := e.largeTexts(context.Background(), &entry, journal.Result)
	if err != nil {
		return nil, err
	}
	told := record{kind: journal.Kind(entry.Call, journal.Result, approved(entry.Call, status, answer)), object: abi.ObjectTask, id: t.id, restricted: true,
		text: entry.AppendPayload(nil, journal.Result, refs)}
	return e.apply(t, change{
		in: Input{Kind: InputWake}, actor: up.actor, before: append(up.before, told), idem: up.idem, answer: 0,
		amend: func(shown *abi.Task) { shown.Waiting = nil },
	})
}

// approved makes a denial tell on the kind of its event.
func approved(call string, status abi.CallStatus, answer []byte) abi.CallStatus {
	var a abi.CallApprovalAnswer
	if (call == abi.CallApprovalRequest || call == abi.CallGate) && json.Unmarshal(answer, &a) == nil && a.Decision != "approved" {
		return abi.CallDenied
	}
	return status
}
