package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

// errEndedMeanwhile ends a run whose Task was ended from outside.
var errEndedMeanwhile = errors.New("the task has ended meanwhile")

// record completes a call, and writes what has to be on disk by now. What the
// guest is told never gets ahead of the log: whatever depends on an answer is
// handed over after it, and so is durable only if the answer is.
func (r *run) record(ctx context.Context, c *liveCall, phase journal.Phase, answer []byte, failed error) (abi.CallStatus, []byte, error) {
	if cause := stopped(ctx); failed != nil && cause != nil {
		return 0, nil, cause // it may have failed of that: the next start makes the call
	}
	status, answer, err := r.answer(answer, failed)
	if err != nil {
		return 0, nil, err
	}
	e := &c.entry
	e.At, e.Status, e.Answer = journal.Moment(r.engine.now()), status, answer
	if status != abi.CallOK {
		c.states, c.extra = nil, nil
	}
	if err := r.tell(ctx, c, phase); err != nil {
		return 0, nil, err
	}
	r.ground.Reach(e.At)
	if err := r.remember(e); err != nil {
		return 0, nil, fmt.Errorf("taking over the answer of %s: %w", e.Call, err)
	}
	switch {
	case (c.def.Durable || c.durable) && status == abi.CallOK:
		err = r.flush(true)
	case r.engine.performers[e.Call] != nil || r.pendingBytes > maxPending:
		err = r.flush(false)
	}
	return status, answer, err
}

// intend puts the intent of a write on disk.
func (r *run) intend(ctx context.Context, c *liveCall) error {
	c.entry.At = journal.Moment(r.engine.now())
	if err := r.tell(ctx, c, journal.Intent); err != nil {
		return err
	}
	return r.flush(true)
}

// tell adds the event of a call to what is pending.
func (r *run) tell(ctx context.Context, c *liveCall, phase journal.Phase) error {
	refs, err := r.engine.largeTexts(ctx, &c.entry, phase)
	if err != nil {
		return err
	}
	rec := ledger.Record{Kind: journal.Kind(c.entry.Call, phase, c.entry.Status), Object: abi.ObjectTask, ID: r.task.id, Restricted: true}
	if c.states != nil {
		rec = *c.states
		rec.Restricted = true
	}
	rec.Text = c.entry.AppendPayload(make([]byte, 0, 96+len(c.entry.Request)+len(c.entry.Answer)), phase, refs)
	// What cannot be written fails here, before the receipt counts it.
	for i := range c.extra {
		if err := c.extra[i].Encode(); err != nil {
			return err
		}
	}
	if err := rec.Encode(); err != nil {
		return err
	}
	r.task.mu.Lock()
	defer r.task.mu.Unlock()
	r.pending = append(append(r.pending, c.extra...), rec)
	r.pendingBytes += len(rec.Text)
	r.task.account.Use(&c.entry, phase)
	if phase == journal.Intent {
		return nil
	}
	return r.take(&c.entry)
}

// largeTexts puts what is too large for an event into blobs.
func (e *Engine) largeTexts(ctx context.Context, entry *journal.Entry, phase journal.Phase) (refs journal.Refs, err error) {
	if phase != journal.Result {
		if refs.Request, err = e.largeText(ctx, entry.Request); err != nil {
			return refs, err
		}
	}
	if phase != journal.Intent {
		refs.Answer, err = e.largeText(ctx, entry.Answer)
	}
	return refs, err
}

func (e *Engine) largeText(ctx context.Context, text []byte) (storage.Hash, error) {
	if len(text) <= journal.MaxInline {
		return storage.Hash{}, nil
	}
	hash, _, err := e.store.Blobs().Put(ctx, bytes.NewReader(text), nil)
	if err != nil {
		return hash, fmt.Errorf("storing a large value: %w", err)
	}
	return hash, nil
}

// flush hands over what is pending, and waits for the disk if it is to.
func (r *run) flush(wait bool) error {
	if err := r.handOver(); err != nil || !wait {
		return err
	}
	return r.settle()
}

// handOver gives what is pending to the store.
func (r *run) handOver() error {
	e, t := r.engine, r.task
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state.Status.Terminal() {
		return errEndedMeanwhile
	}
	if len(r.pending) == 0 {
		return nil
	}
	records := t.number(r.pending)
	encoded, err := ledger.Encode(records...)
	if err != nil {
		return err
	}
	r.takePending()
	b := &storage.Batch{Frame: taskFrame(t.tenant, &t.about, t.about.PersonaID, e.now(), encoded)}
	t.seq += sequenced(records)
	hand := func() error {
		return e.book.Count(&t.account, b, "", false, func() { r.last = e.ledger.Append(b) })
	}
	if slices.ContainsFunc(records, func(rec ledger.Record) bool { return rec.Transcript.Kind != storage.TranscriptNone }) {
		return t.session.While(nil, hand)
	}
	return hand()
}

// takePending returns what is pending and forgets it. The caller holds task.mu.
func (r *run) takePending() []ledger.Record {
	records := r.pending
	r.pending, r.pendingBytes = nil, 0
	return records
}

// settle waits until everything handed over is durable: batches become so in the
// order in which they were handed over, so the last one says it of all.
func (r *run) settle() error {
	if r.last == nil {
		return nil
	}
	last := r.last
	r.last = nil
	// Not the run's context: what was handed over may become durable all the same.
	if _, err := last.Wait(context.Background()); err != nil {
		return fmt.Errorf("writing to the log: %w", err)
	}
	return nil
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

// history is a Task's record as the log has it.
type history struct {
	program *journal.Program
	entries []journal.Entry
	origin  storage.Position // of the event that accepted the Task
	// lastStart is the position of the last event that told a start.
	lastStart storage.Position
	progress  bool // calls were recorded after it, or a drain has stopped what it began
	alone     bool // the Task has the node to itself since then
}

// pageOfEvents is how many events are read at once.
const pageOfEvents = 500

// history reads the record of a Task, with what a fork shares with its source.
func (e *Engine) history(ctx context.Context, tenant storage.Tenant, about *abi.Task) (*history, error) {
	h := &history{}
	if about.Fork != nil {
		if err := e.shared(ctx, tenant, about.Fork, h); err != nil {
			return nil, err
		}
	}
	after := storage.Position(0)
	for {
		page, more, err := e.store.Events(ctx, tenant, desk.Scope{Object: abi.ObjectTask, ID: about.ID}, after, pageOfEvents)
		if err != nil {
			return nil, e.ledger.Failed("reading the record of task "+about.ID, err)
		}
		for _, ev := range page {
			after = ev.Position()
			if err := e.readEvent(ctx, ev, h); err != nil {
				return nil, err
			}
		}
		if !more {
			return h, nil
		}
	}
}

// shared reads the part of a record that a fork has from its source.
func (e *Engine) shared(ctx context.Context, tenant storage.Tenant, f *abi.TaskFork, h *history) error {
	res, err := e.ledger.Find(ctx, tenant, abi.ObjectTask, f.SourceTaskID)
	if err != nil {
		return err
	}
	var source abi.Task
	if err := ledger.Decode(res.State, &source); err != nil {
		return err
	}
	if err := e.checkForks(ctx, tenant, f); err != nil {
		return err
	}
	from, err := e.history(ctx, tenant, &source)
	if err != nil {
		return err
	}
	if f.Calls < 0 || len(from.entries) < f.Calls {
		return &abi.Failure{Code: abi.FailureReplayMissing, Message: fmt.Sprintf(
			"task %s has the record of %d calls; the fork shares %d", f.SourceTaskID, len(from.entries), f.Calls)}
	}
	h.entries, h.program = from.entries[:f.Calls], from.program
	return nil
}

// checkForks reports forks that come from one another in a circle.
func (e *Engine) checkForks(ctx context.Context, tenant storage.Tenant, f *abi.TaskFork) error {
	for seen := map[string]bool{}; f != nil; {
		if seen[f.SourceTaskID] {
			return ledger.Nonsense(abi.ObjectTask, f.SourceTaskID, "it is a fork of itself")
		}
		seen[f.SourceTaskID] = true
		source, err := e.storedTask(ctx, tenant, f.SourceTaskID)
		if err != nil {
			return err
		}
		f = source.Fork
	}
	return nil
}

// readEvent adds what one event tells to a Task's history.
func (e *Engine) readEvent(ctx context.Context, ev storage.Event, h *history) error {
	rec := ev.Record()
	switch rec.Kind {
	case abi.EventTaskSubmitted:
		h.origin = ev.Position()
	case abi.EventTaskStarted, abi.EventTaskStatusChanged:
		return h.readStart(ev.Position(), rec)
	}
	if !journal.Recorded(rec) {
		return nil
	}
	entry, phase, err := journal.Decode(rec, func(hash storage.Hash) ([]byte, error) { return e.blob(ctx, hash) })
	if err != nil {
		return fmt.Errorf("event %s: %w", ev.Position(), err)
	}
	entry.EventID = ev.Position().String()
	h.progress = true
	return h.add(entry, phase)
}

func (h *history) add(entry journal.Entry, phase journal.Phase) error {
	n := len(h.entries)
	switch {
	case phase == journal.Result && n > 0 && h.entries[n-1].Open && h.entries[n-1].Index == entry.Index:
		entry.Request, entry.Effect, entry.Key = h.entries[n-1].Request, h.entries[n-1].Effect, h.entries[n-1].Key
		h.entries[n-1] = entry
		return nil
	case phase == journal.Result, entry.Index != n, n > 0 && h.entries[n-1].Open:
		return fmt.Errorf("event %s tells call %d, out of its order", entry.EventID, entry.Index)
	}
	h.entries = append(h.entries, entry)
	return nil
}

// programPayload is the payload of the event that tells a Task's first start. The
// program is internal: the seed of the guest's randomness is part of it.
type programPayload struct {
	Program *toldProgram `json:"program,omitzero"`
}

type toldProgram struct {
	Type            string         `json:"type"`
	Visibility      abi.Visibility `json:"visibility"`
	journal.Program `json:",inline"`
}

func programOf(p *journal.Program) *programPayload {
	if p == nil {
		return nil
	}
	return &programPayload{&toldProgram{Type: "program", Visibility: abi.VisibilityInternal, Program: *p}}
}

// readStart reads an event that states that the Task runs.
func (h *history) readStart(at storage.Position, rec *storage.Record) error {
	var p struct {
		programPayload `json:",inline"`
		abi.TaskTrial  `json:",inline"`
	}
	if len(rec.Payload) > 0 {
		if err := json.Unmarshal(rec.Payload, &p); err != nil {
			return fmt.Errorf("reading what the task started: %w", err)
		}
	}
	if p.Program != nil {
		h.program = &p.Program.Program
	}
	switch {
	case p.Drained && !h.alone: // of a suspect, nothing is known that was not known before
		h.progress = true
	case !p.Drained && !p.Lived:
		h.lastStart, h.progress = at, false
	}
	h.alone = p.Alone
	return nil
}

// blob returns the content of a blob, which the engine has put there itself.
func (e *Engine) blob(ctx context.Context, hash storage.Hash) ([]byte, error) {
	return journal.Content(ctx, e.store.Blobs(), hash)
}
