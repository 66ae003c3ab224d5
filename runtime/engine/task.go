package engine

import (
	"context"
	"errors"
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

// trimInput forgets an input that is too large to wait in memory.
func (t *task) trimInput() {
	if len(t.input) > maxInputInMemory {
		t.input = nil
	}
}

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

// maxInputInMemory is the largest input that a waiting Task keeps in memory; a
// larger one is read from the log when it runs. So the queue's memory is bounded.
const maxInputInMemory = 16 << 10

var (
	errCanceled = errors.New("the task was canceled")
	errDeadline = errors.New("the task's deadline passed")
)

// SubmitTask accepts a Task. When it returns without an error, the Task is
// durable and will be run. req.SessionID is required.
func (e *Engine) SubmitTask(ctx context.Context, c *Caller, r *Retry, req abi.SubmitTaskRequest) (Doc, error) {
	if err := checkPresent("session_id", req.SessionID); err != nil {
		return Doc{}, err
	}
	s, release, err := e.openSession(ctx, c, req.SessionID)
	if err != nil {
		return Doc{}, err
	}
	var accepted *task
	doc, err := e.once(ctx, c, r, s.workspace(), func(idem *storage.Idempotency) (Doc, error) {
		live, m, err := e.newTask(ctx, c, s, req)
		if err != nil {
			return Doc{}, err
		}
		live.leave = release
		doc, err := e.accept(live, m, c.Actor, idem)
		if err == nil {
			accepted = live
		}
		return doc, err
	})
	if accepted == nil {
		release()
		return doc, err
	}
	e.queue.push(accepted, accepted.place)
	return doc, nil
}

// accept makes a Task durable. Before it returns, others may see and cancel it.
// A Task that need not wait is started in the same batch.
func (e *Engine) accept(t *task, input *abi.Message, actor string, idem *storage.Idempotency) (Doc, error) {
	var err error
	if t.place, err = e.admit(t.tenant); err != nil {
		return Doc{}, err
	}
	doc, b, err := e.acceptance(t, input, actor, idem)
	if err == nil {
		e.tasks.put(t.key(), t)
		err = e.appendToSession(t.session, b, sessionOpen)
	}
	if err != nil {
		e.tasks.remove(t.key())
		e.queue.unreserve(t.place)
		return Doc{}, err
	}
	e.counts.accepted.Add(1)
	e.watchDeadline(t)
	return doc, nil
}

// acceptance builds the batch that accepts a Task, and its answer.
func (e *Engine) acceptance(t *task, input *abi.Message, actor string, idem *storage.Idempotency) (Doc, *storage.Batch, error) {
	var records []record
	if input != nil {
		records = append(records, messageRecord(input))
		t.restricted = records[0].restricted
	}
	state, effects, err := Step(State{}, Input{Kind: InputAccept})
	if err != nil {
		return Doc{}, nil, err
	}
	submitted := t.task
	submitted.Status = state.Status
	if input == nil {
		submitted.Input = t.input
	}
	answer := len(records)
	records = append(records, record{kind: effects[0].Event, object: abi.ObjectTask, id: t.id, created: true, state: &submitted})
	t.state, t.seq, t.task.Status = state, 1, state.Status
	if t.place.runs {
		if records, err = e.startWith(t, records); err != nil {
			return Doc{}, nil, err
		}
	}
	encoded, err := encode(records...)
	if err != nil {
		return Doc{}, nil, err
	}
	t.last = encoded[len(encoded)-1].State
	doc := Doc{ID: t.id, JSON: encoded[answer].State, Restricted: t.restricted, Task: submitted.Status}
	if input != nil {
		t.input = encoded[0].State
		doc.JSON = withMember(doc.JSON, "input", t.input)
	}
	t.trimInput()
	b := batch(taskFrame(t.tenant, &t.about, actor, t.about.CreatedAt, encoded), idem, statusAccepted, answer)
	return doc, b, nil
}

// startWith adds a Task's start to the records that accept it.
func (e *Engine) startWith(t *task, records []record) ([]record, error) {
	next, effects, err := Step(t.state, Input{Kind: InputStart})
	if err != nil {
		return nil, err
	}
	t.task.Status, t.task.Attempt = next.Status, next.Attempt
	records = e.tell(t, &t.task, effects, change{before: records}, t.about.CreatedAt)
	t.state = next
	t.seq++
	return records, nil
}

// admit takes a place for a Task, or says why the node takes none now.
func (e *Engine) admit(t storage.Tenant) (place, error) {
	if e.draining.Load() {
		err := abi.Errorf(abi.CodeServiceUnavailable, "the node is draining and takes no new tasks")
		err.RetryAfter = 5
		return place{}, err
	}
	p, ok := e.queue.reserve(t)
	if !ok {
		e.counts.rejected.Add(1)
		err := abi.Errorf(abi.CodeRateLimited, "%d tasks are waiting already; try again later", e.config.MaxQueued)
		err.RetryAfter = 1
		return place{}, err
	}
	return p, nil
}

// newTask checks a submit and returns the Task that it asks for, with its input
// if that is a Message.
func (e *Engine) newTask(ctx context.Context, c *Caller, s *session, req abi.SubmitTaskRequest) (*task, *abi.Message, error) {
	t, err := e.describeTask(ctx, c, s, req)
	if err != nil {
		return nil, nil, err
	}
	live := &task{tenant: c.Tenant, id: t.ID, done: make(chan struct{}), session: s, input: req.Input}
	in, err := messageIn(req.Input)
	if err != nil {
		return nil, nil, err
	}
	var m *abi.Message
	if in != nil {
		if m, err = e.message(in, t.SessionID, t.ID); err != nil {
			return nil, nil, within("input", err)
		}
		t.InputMessageID = m.ID
	}
	live.about, live.task = *t, *t
	return live, m, nil
}

// taskState returns the state of the Task that a batch tells of last.
func taskState(b *storage.Batch) []byte {
	return b.Frame.Records[len(b.Frame.Records)-1].State
}

// describeTask checks what a submit names and returns the Task without its input.
func (e *Engine) describeTask(ctx context.Context, c *Caller, s *session, req abi.SubmitTaskRequest) (*abi.Task, error) {
	if len(req.Input) == 0 || req.Input.Kind() != '{' {
		return nil, abi.InvalidParam("input", "input must be a Message or a JSON object")
	}
	if err := checkMetadata(&req.Metadata); err != nil {
		return nil, err
	}
	s.mu.RLock()
	workspace, persona := s.state.WorkspaceID, s.state.PersonaID
	s.mu.RUnlock()
	if req.WorkspaceID != "" && req.WorkspaceID != workspace {
		return nil, abi.InvalidParam("workspace_id", "session %s belongs to another workspace", req.SessionID)
	}
	persona = firstOf(req.PersonaID, persona, e.config.DefaultPersona)
	if _, err := e.persona(ctx, c.Tenant, persona); err != nil {
		return nil, err
	}
	if err := e.checkLineage(ctx, c, workspace, req); err != nil {
		return nil, err
	}
	now := e.now()
	t := &abi.Task{
		Envelope:  abi.NewEnvelope(abi.ObjectTask, e.ids.New(abi.ObjectTask), now, req.Metadata),
		SessionID: req.SessionID, WorkspaceID: workspace, CreatedBy: c.Actor, PersonaID: persona,
		BranchID: req.BranchID, ParentTaskID: req.ParentTaskID,
	}
	if req.DeadlineSeconds < 0 || req.DeadlineSeconds > maxDeadlineSeconds {
		return nil, abi.InvalidParam("deadline_seconds", "deadline_seconds must be between 0 and %d", maxDeadlineSeconds)
	}
	if req.DeadlineSeconds > 0 {
		t.DeadlineAt = abi.At(now.Add(time.Duration(req.DeadlineSeconds * float64(time.Second))))
	}
	return t, nil
}

// maxDeadlineSeconds is a year: more is surely a mistake.
const maxDeadlineSeconds = 366 * 24 * 3600

// checkLineage checks the Branch and the parent Task that a submit names.
func (e *Engine) checkLineage(ctx context.Context, c *Caller, workspace string, req abi.SubmitTaskRequest) error {
	if req.BranchID != "" {
		b, _, err := findAs[abi.Branch](ctx, e, c, abi.ObjectBranch, req.BranchID)
		if err != nil {
			return err
		}
		if b.WorkspaceID != workspace {
			return abi.InvalidParam("branch_id", "branch %s belongs to another workspace", req.BranchID)
		}
	}
	if req.ParentTaskID == "" {
		return nil
	}
	_, _, err := findAs[abi.Task](ctx, e, c, abi.ObjectTask, req.ParentTaskID)
	return err
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// taskFrame returns a frame of events of a Task.
func taskFrame(tenant storage.Tenant, t *abi.Task, actor string, at time.Time, records []storage.Record) storage.Frame {
	return storage.Frame{
		Tenant: tenant, Time: at, WorkspaceID: t.WorkspaceID, SessionID: t.SessionID, TaskID: t.ID,
		Actor: actor, Records: records,
	}
}

// appendToSession commits a batch that adds to a Session.
func (e *Engine) appendToSession(s *session, b *storage.Batch, check func(*abi.Session) error) error {
	commit, err := s.append(e, b, check)
	if err != nil {
		return err
	}
	// Not the client's context: what was handed over may become durable, so nobody
	// may act as if it had not been.
	_, err = commit.Wait(context.Background())
	return e.failed("writing to the log", err)
}

// sessionOpen refuses what a closed Session does not take any more.
func sessionOpen(s *abi.Session) error {
	if s.State == abi.SessionClosed || s.State == abi.SessionFailed {
		return abi.Errorf(abi.CodeConflict, "session %s is %s", s.ID, s.State)
	}
	return nil
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

func stopCause(k InputKind) error {
	if k == InputDeadline {
		return errDeadline
	}
	return errCanceled
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

// CancelTask ends a Task. A plugin that runs for it is stopped, and what it still
// answers does not count. Canceling a Task that has ended is a conflict.
func (e *Engine) CancelTask(ctx context.Context, c *Caller, r *Retry, id string, req abi.CancelTaskRequest) (Doc, error) {
	current, _, err := findAs[abi.Task](ctx, e, c, abi.ObjectTask, id)
	if err != nil {
		return Doc{}, err
	}
	return e.once(ctx, c, r, current.WorkspaceID, func(idem *storage.Idempotency) (Doc, error) {
		return e.cancel(ctx, c, idem, id, req.Reason)
	})
}

func (e *Engine) cancel(ctx context.Context, c *Caller, idem *storage.Idempotency, id, reason string) (Doc, error) {
	t := e.tasks.get(owner{c.Tenant, id})
	if t == nil {
		return Doc{}, errEnded(id)
	}
	ch := change{in: Input{Kind: InputCancel}, actor: c.Actor, idem: idem}
	if reason != "" {
		ch.payload = map[string]string{"reason": reason}
		ch.outcome = func(o *abi.Outcome) { o.Summary = "canceled: " + reason }
	}
	t.mu.Lock()
	commit, err := e.apply(t, ch)
	t.mu.Unlock()
	if errors.Is(err, ErrTerminal) {
		return Doc{}, errEnded(id)
	}
	if err != nil {
		return Doc{}, err
	}
	if err := e.finish(t, commit); err != nil {
		return Doc{}, err
	}
	return e.Get(ctx, c, abi.ObjectTask, id)
}

func errEnded(id string) error {
	return abi.Errorf(abi.CodeConflict, "task %s has ended and cannot be canceled", id)
}

// watchDeadline fails a Task that has not ended by its deadline.
func (e *Engine) watchDeadline(t *task) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.task.DeadlineAt.IsZero() || t.state.Status.Terminal() {
		return
	}
	t.deadline = time.AfterFunc(t.task.DeadlineAt.Sub(e.now()), func() { e.expire(t) })
}

func (e *Engine) expire(t *task) {
	t.mu.Lock()
	commit, err := e.apply(t, change{in: Input{Kind: InputDeadline}, actor: hostActor})
	t.mu.Unlock()
	if errors.Is(err, ErrTerminal) {
		return
	}
	if err != nil {
		e.log.Error("a task's deadline could not be recorded", "task", t.id, "error", err)
		return
	}
	_ = e.finish(t, commit) // logged there
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
