package engine

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// task is a Task that has not ended, in memory. Its events are handed to the
// store under mu, so that the log has them in the order of its steps.
type task struct {
	tenant storage.Tenant
	id     string
	done   chan struct{} // closed when the Task's end is durable, or can never be

	about   abi.Task // as it was accepted, without Input: for what never changes
	session *session
	leave   func() // gives the Session back
	place   place  // where it waits or runs

	input      jsontext.Value // as it is shown; nil when it is too large to keep here
	restricted bool           // whether input holds parts that are not public

	mu       sync.Mutex
	state    State
	task     abi.Task                // without Input
	seq      uint64                  // of the next event whose resource is the Task
	stop     context.CancelCauseFunc // set while a plugin runs
	deadline *time.Timer
	last     []byte // the last state handed over, without the input
	err      error  // why the end could not be made durable
}

func (t *task) key() owner { return owner{t.tenant, t.id} }

// taskTable holds the Tasks that have not ended. It is bounded by what the
// scheduler takes in.
type taskTable struct {
	mu   sync.RWMutex
	byID map[owner]*task
}

func (t *taskTable) get(key owner) *task {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.byID[key]
}

func (t *taskTable) put(key owner, live *task) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byID == nil {
		t.byID = map[owner]*task{}
	}
	t.byID[key] = live
}

func (t *taskTable) remove(key owner) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.byID, key)
}

// taskFrame returns a frame of events of a Task.
func taskFrame(tenant storage.Tenant, t *abi.Task, actor string, at time.Time, records []storage.Record) storage.Frame {
	return storage.Frame{
		Tenant: tenant, Time: at, WorkspaceID: t.WorkspaceID, SessionID: t.SessionID, TaskID: t.ID,
		Actor: actor, Records: records,
	}
}

// change is one step of a live Task, and what else goes into its batch.
type change struct {
	in      Input
	actor   string
	idem    *storage.Idempotency
	before  []record           // Messages and Artifacts, told before the step itself
	payload any                // of the notice that the step may tell
	outcome func(*abi.Outcome) // completes the Outcome of a terminal step; may be nil
}

// apply takes one step of a live Task and hands over the batch that tells it. The
// commit is nil when there is nothing to wait for. The caller holds t.mu.
func (e *Engine) apply(t *task, c change) (storage.Commit, error) {
	next, effects, err := Step(t.state, c.in)
	if err != nil {
		return nil, err
	}
	now := e.now()
	shown := t.task
	shown.Status, shown.Attempt, shown.UpdatedAt = next.Status, next.Attempt, abi.At(now)
	records := e.tell(t, &shown, effects, c, now)
	var commit storage.Commit
	if len(records) > 0 {
		encoded, err := encode(records...)
		if err != nil {
			return nil, err
		}
		b := batch(taskFrame(t.tenant, &shown, c.actor, now, encoded), c.idem, statusOK, len(encoded)-1)
		t.last = taskState(b)
		if commit, err = e.handOver(t, b, c.in.Kind); err != nil {
			return nil, err
		}
		t.seq += sequenced(records)
	}
	t.state, t.task = next, shown
	for _, effect := range effects {
		if effect.Kind == EffectStop && t.stop != nil {
			t.stop(stopCause(c.in.Kind))
		}
	}
	return commit, nil
}

// handOver gives a Task's batch to the store. Nobody waits for a start: it is
// durable at the latest with the batch that ends the Task.
func (e *Engine) handOver(t *task, b *storage.Batch, in InputKind) (storage.Commit, error) {
	if in == InputStart {
		e.store.Append(b)
		return nil, nil
	}
	return t.session.append(e, b, nil)
}

func sequenced(records []record) (n uint64) {
	for i := range records {
		if records[i].object == abi.ObjectTask {
			n++
		}
	}
	return n
}

// tell turns the effects of a step into records, and fills in what they imply of
// the Task.
func (e *Engine) tell(t *task, shown *abi.Task, effects []Effect, c change, now time.Time) []record {
	records := c.before
	seq := t.seq
	for _, effect := range effects {
		switch effect.Kind {
		case EffectNotice:
			records = append(records, record{kind: effect.Event, object: abi.ObjectTask, id: t.id, seq: seq, payload: c.payload})
			seq++
		case EffectOutcome:
			o := newOutcome(e.ids.New(abi.ObjectOutcome), shown, effect, now)
			if c.outcome != nil {
				c.outcome(o)
			}
			shown.OutcomeID, shown.Failure = o.ID, o.Failure
			records = append(records, record{kind: abi.EventOutcomeCreated, object: abi.ObjectOutcome, id: o.ID, created: true, state: o})
		case EffectEmit:
			stamp(shown, now)
			records = append(records, record{kind: effect.Event, object: abi.ObjectTask, id: t.id, seq: seq, state: shown})
			seq++
		}
	}
	return records
}

func newOutcome(id string, t *abi.Task, effect Effect, now time.Time) *abi.Outcome {
	o := &abi.Outcome{
		Envelope: abi.NewEnvelope(abi.ObjectOutcome, id, now, nil),
		TaskID:   t.ID, Status: effect.Outcome,
	}
	switch effect.Failure {
	case abi.FailureDeadline:
		o.Failure = &abi.Failure{Code: effect.Failure, Message: fmt.Sprintf("the task was not finished by %s", t.DeadlineAt.Format(time.RFC3339Nano))}
	case abi.FailureAttempts:
		o.Failure = &abi.Failure{Code: effect.Failure, Message: fmt.Sprintf("the node died %d times while this task ran", t.Attempt)}
	}
	switch {
	case o.Failure != nil:
		o.Summary = o.Failure.Message
	case effect.Outcome == abi.OutcomeCanceled:
		o.Summary = "canceled"
	}
	return o
}

// stamp sets the times that a status implies.
func stamp(t *abi.Task, now time.Time) {
	switch t.Status {
	case abi.TaskWorking:
		if t.StartedAt.IsZero() {
			t.StartedAt = abi.At(now)
		}
	case abi.TaskCompleted, abi.TaskFailed:
		t.CompletedAt = abi.At(now)
	case abi.TaskCanceled:
		t.CanceledAt = abi.At(now)
	}
}

// finish waits until a Task's end is durable and tells whoever waits for it.
func (e *Engine) finish(t *task, commit storage.Commit) error {
	_, err := commit.Wait(context.Background())
	t.mu.Lock()
	if t.deadline != nil {
		t.deadline.Stop()
	}
	if err != nil {
		e.log.Error("a task's end could not be made durable", "task", t.id, "error", err)
		t.err = e.failed("writing the task's end to the log", err)
	}
	status := t.state.Status
	t.mu.Unlock()
	e.tasks.remove(t.key())
	e.count(status)
	t.leave()
	close(t.done)
	return t.err
}

func (e *Engine) count(s abi.TaskStatus) {
	switch s {
	case abi.TaskCompleted:
		e.counts.completed.Add(1)
	case abi.TaskFailed:
		e.counts.failed.Add(1)
	case abi.TaskCanceled:
		e.counts.canceled.Add(1)
	}
}

// hostActor is the actor of what the node does by itself.
const hostActor = "wharf"

// WaitTask returns the Task when it has ended, or as it is when ctx ends.
func (e *Engine) WaitTask(ctx context.Context, c *Caller, id string) (Doc, error) {
	t := e.tasks.get(owner{c.Tenant, id})
	if t == nil {
		return e.Get(ctx, c, abi.ObjectTask, id)
	}
	if !c.Sees(t.about.WorkspaceID) {
		return Doc{}, abi.NotFound(abi.ObjectTask, id)
	}
	select {
	case <-t.done:
	case <-ctx.Done():
		return e.Get(context.WithoutCancel(ctx), c, abi.ObjectTask, id)
	}
	if t.err != nil {
		return Doc{}, t.err
	}
	if t.input == nil {
		return e.Get(context.WithoutCancel(ctx), c, abi.ObjectTask, id)
	}
	return Doc{ID: id, JSON: withMember(t.last, "input", t.input), Restricted: t.restricted, Task: t.state.Status}, nil
}
