package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/alarm"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/inhand"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lifecycle"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/runtime/proofs"
	"github.com/wharf-dev/wharf/runtime/quotas"
	"github.com/wharf-dev/wharf/runtime/records"
	"github.com/wharf-dev/wharf/runtime/scheduler"
	"github.com/wharf-dev/wharf/runtime/sessions"
	"github.com/wharf-dev/wharf/runtime/waiting"
	"github.com/wharf-dev/wharf/runtime/workers"
	"github.com/wharf-dev/wharf/storage"
)

// task is a Task that has not ended, in memory. Its events are handed to the
// store under mu, so that the log has them in the order of its steps. It has a field for each
// thing that somebody owns: what never changes, what belongs to whoever starts it, and what mu
// guards.
type task struct {
	tenant storage.Tenant
	id     string

	about   abi.Task // as it was accepted, without Input: for what never changes
	session *ledger.Session
	leave   func()                   // gives the Session back
	may     func(*abi.Session) error // refuses it when it is handed over; nil refuses nothing
	skills  []string                 // that its Session has it know; read before it counts, for a Session may have others wait
	place   scheduler.Place          // where it waits or runs
	account quotas.Account           // what it is counted by

	input      jsontext.Value // as it is shown; nil when it is too large to keep here
	restricted bool           // whether input holds parts that are not public

	// program is what the Task runs, once it has started; startErr says why it could
	// not be found out. fresh says that no other life of the Task has a record.
	// They belong to whoever starts the Task.
	program  *journal.Program
	startErr error
	fresh    bool

	// again is the recovery step of a Task that an earlier life of the node left: it is
	// taken when the Task is started, so that one that only waits counts no start. trial is
	// how long a suspect has the node to itself then; 0 for all others.
	again *lifecycle.Input
	trial time.Duration

	hand *inhand.Hand // of the run to come: it has waited for it; nil for most

	mu       lockrank.Mutex[lockrank.Task]
	state    lifecycle.State
	gone     bool                    // it was parked and taken out of memory: load it anew
	run      *run                    // set while a plugin runs, and kept when it was stopped
	plugin   string                  // of its last run; "" before
	task     abi.Task                // without Input
	seq      uint64                  // of the next event whose resource is the Task
	stop     context.CancelCauseFunc // set while a plugin runs
	deadline *alarm.Alarm
	last     []byte         // the last state handed over, without the input
	handed   storage.Commit // of its last step; what that tells can be read once it is durable
	asking   *waiting.Round // what it asks somebody while it is parked; may be nil
	gave     string         // the child that last was to answer a tool call of it
	unsynced int            // batches handed over that keep it in memory until they are durable
}

func (t *task) key() ledger.Key { return ledger.Key{Tenant: t.tenant, ID: t.id} }

// job is what the scheduler is told of the Task.
func (t *task) job() scheduler.Job[task] {
	return scheduler.Job[task]{Do: t, Tenant: uint32(t.tenant), ID: t.id, Line: lineOf(&t.about)}
}

// lineOf returns the line of the Tasks that begin one after another, which most Tasks
// have none of.
func lineOf(t *abi.Task) scheduler.Line {
	return scheduler.Line{Connector: cmp.Or(t.ConnectorID, t.SessionID), Key: t.OrderKey}
}

// taskTable holds the Tasks that have not ended. It is bounded by what the
// scheduler takes in.
type taskTable struct {
	mu   lockrank.RWMutex[lockrank.Table]
	byID map[ledger.Key]*task
}

func (t *taskTable) get(key ledger.Key) *task {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.byID[key]
}

// stateOf returns the Workspace of a Task that is in memory, and its status, which may not be durable yet.
func (t *taskTable) stateOf(key ledger.Key) (workspace string, status abi.TaskStatus, ok bool) {
	live := t.get(key)
	if live == nil {
		return "", "", false
	}
	live.mu.Lock()
	defer live.mu.Unlock()
	return live.about.WorkspaceID, live.state.Status, true
}

func (t *taskTable) put(key ledger.Key, live *task) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byID == nil {
		t.byID = map[ledger.Key]*task{}
	}
	t.byID[key] = live
}

func (t *taskTable) remove(key ledger.Key) {
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
	in      lifecycle.Input
	actor   string
	at      time.Time // when it happens; zero for now
	idem    *storage.Idempotency
	answer  int                // the record of before that answers idem, when it is not the Task
	status  int                // of the answer, when it is not what follows from in
	before  []ledger.Record    // told before the step itself
	payload any                // of the notice that the step may tell
	life    *abi.TaskTrial     // told with the event that states the Task; nil for most
	amend   func(*abi.Task)    // changes the Task as it is stated; may be nil
	outcome func(*abi.Outcome) // completes the Outcome of a terminal step; may be nil
	facts   *proofs.Facts      // what the receipt of a terminal step is made from, when no plugin runs

	asks *waiting.Round           // what a Task that is parked asks somebody; nil when it asks nobody
	may  func(*abi.Session) error // refuses a step that does not end the Task; nil refuses none
}

// errGone says that a Task was taken out of memory: look it up again.
var errGone = errors.New("the task was parked meanwhile")

// apply takes one step of a live Task and hands over the batch that tells it. The
// commit is nil when there is nothing to wait for. The caller holds t.mu.
func (e *Engine) apply(t *task, c change) (storage.Commit, error) {
	if t.gone {
		return nil, errGone
	}
	next, effects, err := lifecycle.Step(t.state, c.in)
	if err != nil {
		return nil, err
	}
	now := c.at
	if now.IsZero() {
		now = e.now()
	}
	shown := t.task
	shown.Status, shown.Attempt, shown.UpdatedAt = next.Status, next.Attempt, abi.At(now)
	if c.amend != nil {
		c.amend(&shown)
	}
	asked := t.asksAfter(&c, next.Status.Terminal(), now)
	if next.Status.Terminal() {
		cut, err := t.cutOff(now)
		if err != nil {
			return nil, err
		}
		c.before = append(c.before, cut...)
	}
	commit, err := e.write(t, &shown, effects, c, now)
	if err != nil {
		return nil, err
	}
	e.pending.Note(t.tenant, &t.about, t.asking, asked)
	t.state, t.task, t.asking = next, shown, asked
	for _, effect := range effects {
		if effect.Kind == lifecycle.Stop && t.stop != nil {
			t.stop(stopCause(c.in.Kind))
		}
	}
	return commit, nil
}

// asksAfter returns what the Task asks once a step is done; nil for nothing. A wake has
// settled it; what else ends the Task does so here. The caller holds t.mu.
func (t *task) asksAfter(c *change, ended bool, now time.Time) *waiting.Round {
	switch {
	case c.in.Kind == lifecycle.Park, c.in.Kind == lifecycle.Part:
		return c.asks
	case c.in.Kind == lifecycle.Wake:
		return nil
	case !ended || t.asking == nil:
		return t.asking
	}
	c.before = append(c.before, waiting.Canceled(t.asking, now)...)
	return nil
}

// write hands over what a step tells.
func (e *Engine) write(t *task, shown *abi.Task, effects []lifecycle.Effect, c change, now time.Time) (storage.Commit, error) {
	records, issue := e.tellAndIssue(t, shown, effects, c, now)
	records = t.number(records)
	if len(records) == 0 {
		return nil, nil
	}
	encoded, err := ledger.Encode(records...)
	if err != nil {
		return nil, err
	}
	answer, status := len(encoded)-1, statusOf(c.in.Kind)
	if c.idem != nil && (c.in.Kind == lifecycle.Wake || c.in.Kind == lifecycle.Part) {
		answer = c.answer
	}
	c.status = cmp.Or(c.status, status)
	b := ledger.Batch(taskFrame(t.tenant, shown, c.actor, now, encoded), c.idem, c.status, answer)
	t.last = taskState(b)
	var commit storage.Commit
	hand := func() error {
		return e.book.Count(&t.account, b, shown.ReceiptID, shown.Status.Terminal(), func() { commit = e.ledger.Append(b) })
	}
	if err := e.handOver(t, issue, b, &c, shown.Status.Terminal(), hand); err != nil {
		return nil, err
	}
	if t.run != nil && shown.Status.Terminal() {
		t.run.takePending()
	}
	t.seq += sequenced(records)
	t.handed = commit
	e.workers.Noted(t.tenant, &t.about, b.Frame.Records, commit)
	if c.in.Kind == lifecycle.Start { // nobody waits for a start: it is durable at the latest with the batch that ends the Task
		return nil, nil
	}
	return commit, nil
}

// tellAndIssue returns the records of a step, and the receipt that is issued with them:
// one at most, at the end of a Task.
func (e *Engine) tellAndIssue(t *task, shown *abi.Task, effects []lifecycle.Effect, c change, now time.Time) ([]ledger.Record, *proofs.Issue) {
	var issue *proofs.Issue
	if shown.Status.Terminal() {
		shown.Waiting = nil
		if t.run != nil {
			c.before = append(slices.Clone(t.run.pending), c.before...)
		}
		c.facts = e.factsAtEnd(t, c.facts)
		c.before = slices.Concat(c.before, c.facts.CompositionAtEnd(shown, now), e.HooksAtEnd(t.tenant, shown), e.RemoteAtEnd(t.tenant, shown))
		issue = e.newIssue(t, c.facts)
	}
	records := e.tell(t, shown, effects, c, now, issue)
	err := issue.Build(now)
	if err == nil {
		return records, issue
	}
	// The Task ends all the same, and says by its missing receipt that there is none.
	e.log.Error("a receipt could not be made", "task", t.id, "error", err)
	shown.ReceiptID = ""
	return e.tell(t, shown, effects, c, now, nil), nil
}

// statusOf is what the request that caused a step is answered with.
func statusOf(in lifecycle.InputKind) int {
	if in == lifecycle.Wake { // a Message was appended
		return desk.StatusCreated
	}
	return desk.StatusOK
}

// handOver calls hand under the locks that order a Task's batch among others: that of its
// Session, which a start has nothing to do with, and that of the Workspace's receipts.
// The Session comes first, for its lock may be held over the disk.
func (e *Engine) handOver(t *task, i *proofs.Issue, b *storage.Batch, c *change, ends bool, hand func() error) error {
	if c.in.Kind == lifecycle.Start {
		return hand()
	}
	sealed := func() error { return i.Seal(b, hand) }
	if ends {
		return sessions.EndTask(t.session, t.id, b, sealed)
	}
	return t.session.While(c.may, sealed)
}

// endDurable waits until the last step of the Task is on disk.
func (t *task) endDurable() {
	t.mu.Lock()
	last := t.handed
	t.mu.Unlock()
	if last != nil {
		_, _ = last.Wait(context.Background()) // who has ended the Task tells of an error
	}
}

func sequenced(records []ledger.Record) (n uint64) {
	for i := range records {
		if records[i].Object == abi.ObjectTask {
			n++
		}
	}
	return n
}

// number gives the Task's own events their sequence. The caller holds t.mu.
func (t *task) number(records []ledger.Record) []ledger.Record {
	seq := t.seq
	for i := range records {
		if records[i].Object == abi.ObjectTask && records[i].ID == t.id {
			records[i].Sequence = seq
			seq++
		}
	}
	return records
}

// takePending returns what is pending and forgets it. The caller holds task.mu.
func (r *run) takePending() []ledger.Record {
	records := r.pending
	r.pending, r.pendingBytes = nil, 0
	return records
}

// tell turns the effects of a step into records, and fills in what they imply of
// the Task.
func (e *Engine) tell(t *task, shown *abi.Task, effects []lifecycle.Effect, c change, now time.Time, issue *proofs.Issue) []ledger.Record {
	records := c.before
	for _, effect := range effects {
		switch effect.Kind {
		case lifecycle.Notice:
			records = append(records, ledger.Record{Kind: effect.Event, Object: abi.ObjectTask, ID: t.id, Payload: c.payload})
		case lifecycle.Outcome:
			o := newOutcome(e.ids.New(abi.ObjectOutcome), shown, effect, now)
			if c.outcome != nil {
				c.outcome(o)
			}
			shown.OutcomeID, shown.Failure = o.ID, o.Failure
			issue.Ends(shown, o)
			records = append(records, ledger.Record{Kind: abi.EventOutcomeCreated, Object: abi.ObjectOutcome, ID: o.ID, Created: true,
				State: o, Restricted: desk.Internal(o.Failure)})
			records = issue.Tell(records)
		case lifecycle.Emit:
			stamp(shown, now)
			rec := t.stated(effect.Event, shown)
			rec.Intake = workers.Due(&t.task, shown)
			if c.life != nil {
				rec.Payload = c.life
			}
			records = append(records, rec)
		}
	}
	return records
}

// stated returns the event that states the Task. That of the first start tells
// what it runs.
func (t *task) stated(kind abi.EventKind, shown *abi.Task) ledger.Record {
	rec := ledger.Record{Kind: kind, Object: abi.ObjectTask, ID: t.id, State: shown, Restricted: desk.Internal(shown.Failure)}
	if kind == abi.EventTaskStarted && t.program != nil {
		shown.Module = t.program.Module
		rec.Payload, rec.Restricted = records.Started(t.program), true
	}
	return rec
}

func newOutcome(id string, t *abi.Task, effect lifecycle.Effect, now time.Time) *abi.Outcome {
	o := &abi.Outcome{
		Envelope: abi.NewEnvelope(abi.ObjectOutcome, id, now, nil),
		TaskID:   t.ID, Status: effect.Outcome,
	}
	switch effect.Failure {
	case abi.FailureDeadline:
		o.Failure = &abi.Failure{Code: effect.Failure, Message: fmt.Sprintf("the task was not finished by %s", t.DeadlineAt.Format(time.RFC3339Nano))}
	case abi.FailureBudget:
		o.Failure = &abi.Failure{Code: effect.Failure, Message: "the task used up the time that its persona may take"}
	case abi.FailureAttempts:
		o.Failure = &abi.Failure{Code: effect.Failure, Message: fmt.Sprintf("the node died while this task ran, which had been started %d times", t.Attempt)}
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

// ended finishes a Task whose end was applied. One that had ended before, by a cancel or
// a deadline, is finished already.
func (e *Engine) ended(t *task, commit storage.Commit, err error) {
	if errors.Is(err, lifecycle.ErrTerminal) {
		return
	}
	if err != nil {
		e.log.Error("a task's end could not be recorded", "task", t.id, "error", err)
		return
	}
	_ = e.finish(t, commit) // logged there
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
		err = e.ledger.Failed("writing the task's end to the log", err)
	}
	status, gave, plugin := t.state.Status, t.gave, t.plugin
	t.mu.Unlock()
	if err == nil {
		e.figures.Ended(e.tenants.IDOf(t.tenant), plugin, &t.task) // which changes no more
	}
	e.tasks.remove(t.key())
	e.parked.Forget(t.key())
	e.book.Leave(t.key())
	e.queue.Ended(t.job())
	e.count(status)
	t.leave()
	e.ends.Tell(t.key(), func() waiting.Ended { return t.ended(err) })
	if t.about.ParentTaskID != "" {
		e.childEnded(t.key())
	}
	if gave != "" && status != abi.TaskCompleted {
		e.abandon(ledger.Key{Tenant: t.tenant, ID: gave})
	}
	for _, ended := range e.observers {
		ended(t.tenant, &t.about)
	}
	return err
}

// ended returns the Task as those who waited for it see it.
func (t *task) ended(err error) waiting.Ended {
	if err != nil || t.input == nil {
		return waiting.Ended{Err: err}
	}
	return waiting.Ended{Doc: desk.Doc{ID: t.id, JSON: t.withInput(t.last), Restricted: t.restricted || desk.Internal(t.task.Failure), Task: t.state.Status}}
}

// withInput returns the Task's state with the input as clients see it. It must not have
// been trimmed.
func (t *task) withInput(state []byte) []byte {
	if t.about.InputMessageID == "" {
		return desk.WithMember(state, "input", t.input)
	}
	return desk.WithInput(state, t.input, t.about.WorkspaceID)
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
