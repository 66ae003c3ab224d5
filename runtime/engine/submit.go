package engine

import (
	"cmp"
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/disk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lifecycle"
	"github.com/wharf-dev/wharf/runtime/personas"
	"github.com/wharf-dev/wharf/runtime/scheduler"
	"github.com/wharf-dev/wharf/runtime/sessions"
	"github.com/wharf-dev/wharf/runtime/waiting"
	"github.com/wharf-dev/wharf/runtime/workers"
	"github.com/wharf-dev/wharf/storage"
)

// trimInput forgets an input that is too large to wait in memory.
func (t *task) trimInput() {
	if len(t.input) > maxInputInMemory {
		t.input = nil
	}
}

// maxInputInMemory is the largest input that a waiting Task keeps in memory; a
// larger one is read from the log when it runs. So the queue's memory is bounded.
const maxInputInMemory = 16 << 10

// SubmitTask accepts a Task. When it returns without an error, the Task is
// durable and will be run. req names its Session, or has one made in the same batch.
func (e *Engine) SubmitTask(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.SubmitTaskRequest) (desk.Doc, error) {
	r, err := e.CheckCredentials(ctx, c, r, &req)
	if err != nil {
		return desk.Doc{}, err
	}
	if req.Session != nil {
		if err := e.CheckWithTask(ctx, c, &req); err != nil {
			return desk.Doc{}, err
		}
		return e.submitWithSession(ctx, c, r, "", req, e.newClientTask)
	}
	if req.SessionID == "" {
		return desk.Doc{}, abi.InvalidParam("session_id", `missing required member "session_id": name a session, or have one made by "session"`)
	}
	return e.submit(ctx, c, r, req.SessionID, func(s *ledger.Session) (*task, *abi.Message, error) {
		if is := s.State(); req.ParentTaskID != "" { // naming a parent is no way around a pause
			if err := desk.TakesTasks(&is); err != nil {
				return nil, nil, err
			}
		}
		return e.newClientTask(ctx, c, s, "", req)
	})
}

// describe checks a submit and returns the Task that it asks for. An empty id makes one up.
type describe func(ctx context.Context, c *desk.Caller, s *ledger.Session, id string, req abi.SubmitTaskRequest) (*task, *abi.Message, error)

// submitWithSession accepts a Task and makes its Session, in one batch.
func (e *Engine) submitWithSession(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.SubmitTaskRequest, describe describe) (desk.Doc, error) {
	var accepted *task
	doc, err := e.Once(ctx, c, r, req.Session.WorkspaceID, func(idem *storage.Idempotency) (doc desk.Doc, err error) {
		err = e.MakeWithTask(ctx, c, id, req.Session, func(made *sessions.Made) error {
			req.SessionID = made.ID
			t, m, err := describe(ctx, c, made.Session, made.TaskID, req)
			if err != nil {
				return err
			}
			t.leave = made.Release
			doc, err = e.accept(ctx, t, m, c.Actor, idem, e.PutCredentials(ctx, req.Credentials, t.tenant, &t.about, made.Put))
			if err != nil {
				e.DropCredentials(req.Credentials, t.id)
				return err
			}
			accepted = t
			return nil
		})
		return doc, err
	})
	if accepted != nil {
		e.queue.Push(accepted.job(), accepted.place)
	}
	return doc, err
}

// newClientTask is [Engine.newTask] for a client, who sees what its input refers to.
func (e *Engine) newClientTask(ctx context.Context, c *desk.Caller, s *ledger.Session, id string, req abi.SubmitTaskRequest) (*task, *abi.Message, error) {
	if err := e.open(); err != nil {
		return nil, nil, err
	}
	t, m, err := e.newTask(ctx, c, s, id, req)
	if err == nil && m != nil {
		err = desk.Within("input", e.Said(ctx, c, m))
	}
	if err == nil {
		t.may = e.May(c)
	}
	return t, m, err
}

// submitAs accepts a Task under an id that the caller has made up, and that no
// Task has.
func (e *Engine) submitAs(ctx context.Context, c *desk.Caller, id string, req abi.SubmitTaskRequest) error {
	if req.Session != nil {
		_, err := e.submitWithSession(ctx, c, nil, id, req, e.newTask)
		return err
	}
	_, err := e.submit(ctx, c, nil, req.SessionID, func(s *ledger.Session) (*task, *abi.Message, error) {
		return e.newTask(ctx, c, s, id, req)
	})
	return err
}

// submit accepts the Task that describe returns, in a Session that the caller may see.
func (e *Engine) submit(ctx context.Context, c *desk.Caller, r *desk.Retry, sessionID string, describe func(*ledger.Session) (*task, *abi.Message, error)) (desk.Doc, error) {
	s, release, err := e.OpenSession(ctx, c, sessionID)
	if err != nil {
		return desk.Doc{}, err
	}
	var accepted *task
	doc, err := e.Once(ctx, c, r, s.Workspace(), func(idem *storage.Idempotency) (desk.Doc, error) {
		live, m, err := describe(s)
		if err != nil {
			return desk.Doc{}, err
		}
		live.session, live.leave = s, release
		doc, err := e.accept(ctx, live, m, c.Actor, idem, nil)
		if err == nil {
			accepted = live
		}
		return doc, err
	})
	if accepted == nil {
		release()
		return doc, err
	}
	e.queue.Push(accepted.job(), accepted.place)
	return doc, nil
}

// accept makes a Task durable, and what with adds to its batch. Before it returns, others may see
// and cancel it. A Task that need not wait is started in the same batch.
func (e *Engine) accept(ctx context.Context, t *task, input *abi.Message, actor string, idem *storage.Idempotency,
	with func(*storage.Batch) error) (desk.Doc, error) {
	doc, commit, err := e.offer(ctx, t, input, actor, idem, with)
	if err != nil {
		return desk.Doc{}, err
	}
	return doc, e.accepted(t, commit)
}

// offer hands over the batch that accepts a Task; with, which may be nil, adds to it.
// The Task counts once [Engine.accepted] has returned without an error.
func (e *Engine) offer(ctx context.Context, t *task, input *abi.Message, actor string, idem *storage.Idempotency,
	with func(*storage.Batch) error) (desk.Doc, storage.Commit, error) {
	var err error
	if t.account, err = e.book.Check(ctx, t.tenant, &t.about); err != nil {
		return desk.Doc{}, nil, err
	}
	t.about.QuotaID, t.task.QuotaID = t.account.Narrowest(), t.account.Narrowest()
	if t.place, err = e.admit(t); err != nil {
		return desk.Doc{}, nil, err
	}
	if t.place.Runs() {
		t.state.Status = abi.TaskSubmitted // as it will be
		e.fixProgram(ctx, t)
		t.state = lifecycle.State{}
		if disk.IsFull(t.startErr) || t.startErr != nil && ctx.Err() != nil { // nothing is known of what it would run
			e.queue.Unreserve(t.place)
			return desk.Doc{}, nil, e.ledger.Failed("looking for what the task runs", t.startErr)
		}
	}
	doc, b, err := e.acceptance(t, input, actor, idem)
	if source := t.about.Source(); err == nil && source != "" { // it may be deleted at this moment
		b.Expect = append(b.Expect, ledger.Stated(abi.ObjectTask, source))
	}
	var commit storage.Commit
	if err == nil && with != nil {
		err = with(b)
	}
	if err == nil {
		e.tasks.put(t.key(), t)
		err = t.session.While(t.admitted(), func() error {
			return e.book.Enroll(&t.account, b, func() { commit = e.ledger.Append(b) })
		})
		e.workers.Noted(t.tenant, &t.about, b.Frame.Records, commit)
	}
	if err != nil {
		e.withdraw(t)
	}
	return doc, commit, err
}

// accepted waits until a Task that was offered is durable. Not for the client's time:
// what was handed over may become durable, so nobody may act as if it had not been.
func (e *Engine) accepted(t *task, commit storage.Commit) error {
	if _, err := commit.Wait(context.Background()); err != nil {
		e.withdraw(t)
		return e.ledger.Failed("writing to the log", err)
	}
	e.counts.accepted.Add(1)
	e.watchDeadline(t)
	return nil
}

// withdraw gives back what a Task holds that was not accepted.
func (e *Engine) withdraw(t *task) {
	e.tasks.remove(t.key())
	e.book.Leave(t.key())
	e.queue.Unreserve(t.place)
}

// admitted returns what a Session must be to take the Task. A replay adds nothing
// to it, so that also what a closed one did can be proved.
func (t *task) admitted() func(*abi.Session) error {
	if t.about.Replay != nil {
		return nil
	}
	if t.about.ParentTaskID != "" && t.about.Fork == nil { // the work of a Task that was taken before the pause
		return desk.AllOf(desk.SessionOpen, t.may)
	}
	return desk.AllOf(desk.TakesTasks, t.may)
}

// acceptance builds the batch that accepts a Task, and its answer.
func (e *Engine) acceptance(t *task, input *abi.Message, actor string, idem *storage.Idempotency) (desk.Doc, *storage.Batch, error) {
	var records []ledger.Record
	if input != nil {
		records = append(records, sessions.MessageRecord(input))
		t.restricted = records[0].Restricted
	}
	state, effects, err := lifecycle.Step(lifecycle.State{}, lifecycle.Input{Kind: lifecycle.Accept})
	if err != nil {
		return desk.Doc{}, nil, err
	}
	submitted := t.task
	submitted.Status = state.Status
	if input == nil && t.about.InputMessageID == "" {
		submitted.Input = t.input
	}
	answer := len(records)
	records = append(records, ledger.Record{Kind: effects[0].Event, Object: abi.ObjectTask, ID: t.id, Created: true, State: &submitted})
	workers.Accepted(&records[answer], &t.about)
	t.state, t.seq, t.task.Status = state, 1, state.Status
	if t.place.Runs() {
		if records, err = e.startWith(t, records); err != nil {
			return desk.Doc{}, nil, err
		}
	}
	encoded, err := ledger.Encode(records...)
	if err != nil {
		return desk.Doc{}, nil, err
	}
	t.last = encoded[len(encoded)-1].State
	if input != nil {
		t.input = encoded[0].State
	}
	doc := desk.Doc{ID: t.id, JSON: encoded[answer].State, Restricted: t.restricted, Task: submitted.Status}
	if t.about.InputMessageID != "" && len(t.input) > 0 { // as every Task that is read
		doc.JSON = t.withInput(doc.JSON)
	}
	t.trimInput()
	b := ledger.Batch(taskFrame(t.tenant, &t.about, actor, t.about.CreatedAt, encoded), idem, desk.StatusAccepted, answer)
	return doc, b, nil
}

// startWith adds a Task's start to the records that accept it.
func (e *Engine) startWith(t *task, records []ledger.Record) ([]ledger.Record, error) {
	next, effects, err := lifecycle.Step(t.state, lifecycle.Input{Kind: lifecycle.Start})
	if err != nil {
		return nil, err
	}
	t.task.Status, t.task.Attempt = next.Status, next.Attempt
	records = e.tell(t, &t.task, effects, change{before: records}, t.about.CreatedAt, nil)
	records[len(records)-1].Sequence = t.seq
	t.state = next
	t.seq++
	return records, nil
}

// open refuses what clients ask of a node that drains. What the node has begun itself goes
// on, such as a Task that spawns another: its record must not tell of a drain.
func (e *Engine) open() error {
	if !e.draining.Load() {
		return nil
	}
	err := abi.Errorf(abi.CodeServiceUnavailable, "the node is draining and takes no new tasks")
	err.RetryAfter = 5
	return err
}

// admit takes a place for a Task, or says why the node takes none now.
func (e *Engine) admit(t *task) (scheduler.Place, error) {
	p, ok := e.queue.Reserve(uint32(t.tenant), lineOf(&t.about).Ordered())
	if !ok {
		e.counts.rejected.Add(1)
		err := abi.Errorf(abi.CodeRateLimited, "%d tasks are waiting already; try again later", e.config.MaxQueued)
		err.RetryAfter = 1
		return scheduler.Place{}, err
	}
	return p, nil
}

// newTask checks a submit and returns the Task that it asks for, with its input
// if that is a Message.
// An empty id makes one up.
func (e *Engine) newTask(ctx context.Context, c *desk.Caller, s *ledger.Session, id string, req abi.SubmitTaskRequest) (*task, *abi.Message, error) {
	t, err := e.describeTask(ctx, c, s, id, req)
	if err != nil {
		return nil, nil, err
	}
	live := &task{tenant: c.Tenant, id: t.ID, session: s, skills: s.State().Skills}
	m, err := e.taskInput(live, t, req.Input)
	if err != nil {
		return nil, nil, err
	}
	live.about, live.task = *t, *t
	return live, m, nil
}

// taskInput takes over what a Task is submitted with: a Message, or any other object
// in its plain spelling. Nothing else spells it: the plugin, the log, the receipt and
// every later run see the same bytes.
func (e *Engine) taskInput(live *task, t *abi.Task, input jsontext.Value) (m *abi.Message, err error) {
	if abi.TooDeep(input, abi.MaxDepth) >= 0 {
		return nil, abi.InvalidParam("input", "input nests deeper than %d levels", abi.MaxDepth)
	}
	in, err := sessions.MessageIn(input)
	if err != nil {
		return nil, err
	}
	if in == nil {
		if live.input, err = abi.Plain(input); err != nil {
			return nil, abi.InvalidParam("input", "input: %v", err)
		}
		return nil, nil
	}
	if m, err = e.NewMessage(in, t.SessionID, t.ID); err != nil {
		return nil, desk.Within("input", err)
	}
	t.InputMessageID = m.ID
	return m, nil
}

// taskState returns the state of the Task that a batch tells of last.
func taskState(b *storage.Batch) []byte {
	return b.Frame.Records[len(b.Frame.Records)-1].State
}

// describeTask checks what a submit names and returns the Task without its input.
func (e *Engine) describeTask(ctx context.Context, c *desk.Caller, s *ledger.Session, id string, req abi.SubmitTaskRequest) (*abi.Task, error) {
	if len(req.Input) == 0 || req.Input.Kind() != '{' {
		return nil, abi.InvalidParam("input", "input must be a Message or a JSON object")
	}
	if err := desk.CheckPlainMetadata(&req.Metadata); err != nil {
		return nil, err
	}
	session := s.State()
	workspace, persona, skills := session.WorkspaceID, session.PersonaID, session.SkillIDs
	if req.WorkspaceID != "" && req.WorkspaceID != workspace {
		return nil, abi.InvalidParam("workspace_id", "session %s belongs to another workspace", req.SessionID)
	}
	skilled, err := e.CheckSkill(ctx, c.Tenant, workspace, &req, skills)
	if err != nil {
		return nil, err
	}
	persona = cmp.Or(skilled, req.PersonaID, persona, e.config.DefaultPersona)
	as, err := e.PersonaIn(ctx, c.Tenant, workspace, persona)
	if err != nil {
		return nil, err
	}
	if err := cmp.Or(personas.CheckServes(&as.Persona), e.CheckReceipts(&as.Persona)); err != nil {
		return nil, err
	}
	if err := e.CheckLineage(ctx, c, workspace, &req); err != nil {
		return nil, err
	}
	now := e.now()
	if id == "" {
		id = e.ids.New(abi.ObjectTask)
	}
	t := &abi.Task{
		Envelope:  abi.NewEnvelope(abi.ObjectTask, id, now, req.Metadata),
		SessionID: req.SessionID, WorkspaceID: workspace, CreatedBy: c.Actor, PersonaID: persona,
		BranchID: req.BranchID, ParentTaskID: req.ParentTaskID, Run: req.Run, Client: req.Client,
	}
	if err := cmp.Or(personas.CheckRun(req.Run), waiting.CheckClient(req.Client), e.CheckRunSkills(c.Tenant, workspace, req.Run)); err != nil {
		return nil, err
	}
	if req.ParentTaskID == "" {
		t.Run = personas.Within(&session, req.Run)
	}
	if req.InTurn {
		t.OrderKey = req.SessionID
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
