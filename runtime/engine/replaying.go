package engine

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/jsonw"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lifecycle"
	"github.com/wharf-dev/wharf/runtime/personas"
	"github.com/wharf-dev/wharf/runtime/proofs"
	"github.com/wharf-dev/wharf/runtime/replay"
	"github.com/wharf-dev/wharf/runtime/replays"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/runtime/sessions"
	"github.com/wharf-dev/wharf/storage"
)

// newReplays makes the room that replays and forks are served by.
func (e *Engine) newReplays(common desk.Parts) *replays.Keeper {
	return replays.NewKeeper(replays.Parts{Parts: common,
		Runs: recordedRuns{e}, Sessions: e.sessionResources, Artifacts: e.artifactResources, Submit: e.submitDerived})
}

// submitDerived accepts a Task that is made from another one.
func (e *Engine) submitDerived(ctx context.Context, c *desk.Caller, r *desk.Retry, session string, describe func() (*replays.Derived, error)) (desk.Doc, error) {
	return e.submit(ctx, c, r, session, func(*ledger.Session) (*task, *abi.Message, error) {
		if err := e.open(); err != nil {
			return nil, nil, err
		}
		d, err := describe()
		if err != nil {
			return nil, nil, err
		}
		return &task{tenant: c.Tenant, id: d.Task.ID, about: *d.Task, task: *d.Task, input: d.Input, restricted: d.Restricted}, nil, nil
	})
}

// recordedRuns is what the engine knows of how Tasks ran, as replays see it.
type recordedRuns struct{ engine *Engine }

// Stored implements [replays.Runs].
func (r recordedRuns) Stored(ctx context.Context, t storage.Tenant, id string) (*abi.Task, error) {
	return r.engine.storedTask(ctx, t, id)
}

// History implements [replays.Runs].
func (r recordedRuns) History(ctx context.Context, t storage.Tenant, about *abi.Task) (*journal.Program, []journal.Entry, error) {
	h, err := r.engine.history(ctx, t, about)
	if err != nil {
		return nil, nil, err
	}
	return h.program, h.entries, nil
}

// Given implements [replays.Runs].
func (r recordedRuns) Given(ctx context.Context, t storage.Tenant, about *abi.Task) (replays.Given, error) {
	input, from, withheld, err := r.engine.givenTo(ctx, &task{tenant: t, id: about.ID, about: *about})
	return replays.Given{From: from, Input: input, Withheld: withheld}, err
}

// PersonaAt implements [replays.Runs].
func (r recordedRuns) PersonaAt(ctx context.Context, t storage.Tenant, id, hash string) (*personas.Persona, error) {
	return r.engine.personaAt(ctx, t, id, hash)
}

// runReplay runs a replay Task to its end.
func (e *Engine) runReplay(ctx context.Context, t *task) {
	p := &replaying{engine: e, task: t}
	result, err := p.run(ctx)
	if err != nil && stopped(ctx) != nil {
		return
	}
	p.end(result, err)
}

// replaying is a replay under way.
type replaying struct {
	engine  *Engine
	task    *task
	source  *abi.Task
	record  *journal.Record
	request abi.ReplayTaskRequest
	pending []ledger.Record

	started bool // that it has begun was told by an earlier life of it
	told    int  // calls that an earlier life of it told
}

// readTold finds out what an earlier life of the replay told, which is not told again.
func (p *replaying) readTold(ctx context.Context) error {
	e, t := p.engine, p.task
	t.mu.Lock()
	first := t.state.Attempt <= 1
	t.mu.Unlock()
	if first {
		return nil
	}
	for after, more := storage.Position(0), true; more; {
		var page []storage.Event
		var err error
		if page, more, err = e.store.Events(ctx, t.tenant, desk.Scope{Object: abi.ObjectTask, ID: t.id}, after, pageOfEvents); err != nil {
			return e.ledger.Failed("reading what the replay has told", err)
		}
		for _, ev := range page {
			after = ev.Position()
			if err := p.wasTold(ev.Record()); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *replaying) wasTold(rec *storage.Record) error {
	switch rec.Kind {
	case abi.EventReplayStarted:
		p.started = true
	case abi.EventReplayEventReplayed:
		var told struct {
			Index int `json:"replayed_index"`
		}
		if err := json.Unmarshal(rec.Payload, &told); err != nil {
			return fmt.Errorf("reading what the replay has told: %w", err)
		}
		p.told = max(p.told, told.Index+1)
	}
	return nil
}

func (p *replaying) run(ctx context.Context) (*replay.Result, error) {
	e, t := p.engine, p.task
	var err error
	if p.source, err = e.storedTask(ctx, t.tenant, t.about.Replay.SourceTaskID); err != nil {
		return nil, ledger.Missing("task", t.about.Replay.SourceTaskID, err)
	}
	if p.record, err = e.TaskRecord(ctx, t.tenant, p.source); err != nil {
		return nil, err
	}
	replacements, err := p.replacements(ctx)
	if err != nil {
		return nil, err
	}
	module, err := e.modules.ModuleAt(ctx, p.record.Program.Module)
	if err != nil {
		return nil, err
	}
	if err := p.readTold(ctx); err != nil {
		return nil, err
	}
	if !p.started {
		p.tell(abi.EventReplayStarted, map[string]any{"mode": t.about.Replay.Mode, "reason": p.request.Reason})
	}
	result, err := replay.Run(ctx, module, p.record, replay.Options{
		Replacements: replacements, TaskID: t.about.Replay.ReplayID, OnCall: p.replayed,
		WallTime: e.config.limitsFor(p.record.Program.Plugin).WallTime, Rewriter: e.rewriter, Most: e.mostOf(p.record.Program.Plugin),
	})
	if result != nil {
		e.counts.gas.Add(result.Gas)
	}
	return result, err
}

// mostOf returns what a replay of a plugin's Task may have, whatever the record says, which
// may have come here in a backup: what the node allows the plugin, or its defaults.
func (e *Engine) mostOf(plugin string) sandbox.Limits {
	here, d := e.config.limitsFor(plugin), sandbox.DefaultLimits()
	return sandbox.Limits{
		MemoryBytes: max(here.MemoryBytes, d.MemoryBytes), HostCalls: max(here.HostCalls, d.HostCalls), PayloadBytes: max(here.PayloadBytes, d.PayloadBytes),
		OutputBytes: max(here.OutputBytes, d.OutputBytes), Gas: max(here.Gas, d.Gas),
	}
}

// replacements resolves the overrides again, as they were accepted.
func (p *replaying) replacements(ctx context.Context) (list []replay.Replacement, err error) {
	e, t := p.engine, p.task
	hash, err := journal.ParseHash(t.about.Replay.Request)
	if err != nil {
		return nil, err
	}
	text, err := e.blob(ctx, hash)
	if err != nil {
		return nil, ledger.Missing("blob", t.about.Replay.Request, err)
	}
	if err := json.Unmarshal(text, &p.request); err != nil {
		return nil, fmt.Errorf("reading the replay request: %w", err)
	}
	c := &desk.Caller{Tenant: t.tenant}
	for _, key := range slices.Sorted(maps.Keys(p.request.Override)) {
		o := p.request.Override[key]
		content, err := e.OverrideContent(ctx, c, key, &o)
		if err != nil {
			return nil, ledger.Missing("artifact", o.ArtifactID, err)
		}
		stated := o.SHA256
		if o.Value == nil && o.ArtifactID == "" { // a secret's, which was not kept
			content, o.Value, o.SHA256 = []byte("null"), jsontext.Value("null"), ""
		}
		r, err := replay.Resolve(p.record, key, &o, content)
		if err != nil {
			return nil, err
		}
		r.Delta.AfterSHA256 = stated
		list = append(list, r)
	}
	return list, nil
}

// maxReplayBatch is how many replayed events are written at once.
const maxReplayBatch = 1000

// replayed tells that a call was replayed. Calls before the checkpoint were
// restored, and are not told; nor are those that an earlier life of the replay told.
func (p *replaying) replayed(entry *journal.Entry, by *replay.Replacement) error {
	t := p.task
	if entry.Index < max(t.about.Replay.Checkpoint, p.told) {
		return nil
	}
	text := p.marks(make([]byte, 0, 384), entry, by)
	text = fmt.Appendf(text, `,"replayed_call":%q,"replayed_index":%d,"answer_sha256":"`, entry.Call, entry.Index)
	text = append(append(text, journal.HashOf(entry.Answer)...), '"', '}')
	p.pending = append(p.pending, ledger.Record{Kind: abi.EventReplayEventReplayed, Object: abi.ObjectTask, ID: t.id, Text: text})
	if len(p.pending) < maxReplayBatch {
		return nil
	}
	return p.flush()
}

// marks begins a payload with what the contract wants every replayed event to say:
// the members of [abi.ReplayMarks], which are ids and numbers, but for the key.
func (p *replaying) marks(b []byte, entry *journal.Entry, by *replay.Replacement) []byte {
	b = append(append(b, `{"replay":{"source_task_id":"`...), p.source.ID...)
	b = append(append(b, `","replay_task_id":"`...), p.task.id...)
	b = append(append(b, `","original_event_id":"`...), entry.EventID...)
	b = strconv.AppendInt(append(b, `","replay_cursor":"call:`...), int64(entry.Index)+1, 10)
	b = append(append(b, `","mode":"`...), p.task.about.Replay.Mode...)
	b = append(b, '"')
	if by != nil {
		b = jsonw.String(append(b, `,"override_key":`...), by.Key)
		b = jsonw.String(append(b, `,"receipt_delta_id":`...), by.Delta.DeltaID)
	}
	return append(b, '}')
}

func (p *replaying) tell(kind abi.EventKind, payload any) {
	p.pending = append(p.pending, ledger.Record{Kind: kind, Object: abi.ObjectTask, ID: p.task.id, Payload: payload})
}

// flush writes what is pending.
func (p *replaying) flush() error {
	e, t := p.engine, p.task
	t.mu.Lock()
	if t.state.Status.Terminal() {
		t.mu.Unlock()
		return errCanceled
	}
	records := t.number(p.pending)
	p.pending = nil
	encoded, err := ledger.Encode(records...)
	if err != nil {
		t.mu.Unlock()
		return err
	}
	commit := e.ledger.Append(&storage.Batch{Frame: taskFrame(t.tenant, &t.about, desk.HostActor, e.now(), encoded)})
	t.seq += uint64(len(records))
	t.mu.Unlock()
	_, err = commit.Wait(context.Background())
	return e.ledger.Failed("writing to the log", err)
}

// end records how a replay ended.
func (p *replaying) end(result *replay.Result, failed error) {
	e, t := p.engine, p.task
	failure := p.failure(result, failed)
	kind := abi.EventReplayCompleted
	if failure != nil {
		kind = abi.EventReplayFailed
	}
	p.tell(kind, p.conclusion(result, failure))
	ch := change{in: lifecycle.Input{Kind: p.ending(result, failure)}, actor: desk.HostActor, before: p.pending}
	ch.outcome = func(o *abi.Outcome) { p.complete(o, result, failure) }
	defer p.prepareReceipt(&ch, result)()
	if err := p.made(&ch, result); err != nil {
		e.log.Error("what a replay made could not be kept", "task", t.id, "error", err)
	}
	t.mu.Lock()
	commit, err := e.apply(t, ch)
	t.mu.Unlock()
	e.ended(t, commit, err)
}

// conclusion is what the event at the end of a replay tells.
func (p *replaying) conclusion(result *replay.Result, failure *abi.Failure) map[string]any {
	about := p.task.about.Replay
	told := map[string]any{"mode": about.Mode, "source_task_id": about.SourceTaskID, "replay_id": about.ReplayID}
	if result != nil {
		told["calls"] = len(result.Entries)
	}
	if failure != nil {
		told["failure"] = map[string]string{"code": failure.Code, "message": failure.Message}
	}
	return told
}

// prepareReceipt adds what the receipt of a replay is made from, if there is to be one.
// The receipt is locked until the returned function is called.
func (p *replaying) prepareReceipt(ch *change, result *replay.Result) (unlock func()) {
	e, t := p.engine, p.task
	if result == nil || p.record == nil {
		return func() {}
	}
	var err error
	if ch.facts, err = p.receiptFacts(context.Background(), result); err != nil {
		e.log.Error("a replay's receipt could not be made", "task", t.id, "error", err)
	}
	if ch.facts == nil {
		return func() {}
	}
	unlock, err = e.Hold(t.tenant, ch.facts.Replay)
	if err != nil {
		e.log.Error("an earlier receipt of a replay could not be read", "task", t.id, "error", err)
	}
	return unlock
}

func (p *replaying) failure(result *replay.Result, failed error) *abi.Failure {
	switch {
	case failed != nil:
		if capped, ok := errors.AsType[*replay.Capped](failed); ok {
			return &abi.Failure{Code: abi.FailureDivergence, Message: capped.Error()}
		}
		if failure, ok := errors.AsType[*abi.Failure](failed); ok {
			return failure
		}
		p.engine.log.Error("the host failed a replay", "task", p.task.id, "error", failed)
		return &abi.Failure{Code: abi.FailureHost, Message: "the host could not replay the task; see the node's log"}
	case result.Divergence != nil:
		return result.Divergence.Failure()
	}
	return result.End.Failure
}

// ending says how a replay ends: as its source did, unless it could not be done.
func (p *replaying) ending(result *replay.Result, failure *abi.Failure) lifecycle.InputKind {
	switch {
	case failure != nil:
		return lifecycle.Fail
	case result.End.Status == abi.TaskCanceled:
		return lifecycle.Canceled
	}
	return lifecycle.Complete
}

func (p *replaying) complete(o *abi.Outcome, result *replay.Result, failure *abi.Failure) {
	o.Failure = failure
	switch {
	case failure != nil:
		o.Summary = failure.Message
	case o.Status != abi.OutcomeCanceled:
		o.Summary = "replayed"
	}
	if result == nil {
		return
	}
	o.MessageIDs, o.ArtifactIDs = result.Messages, result.ArtifactIDs()
	if o.Status == abi.OutcomeSucceeded && result.Output != nil && result.Output.Summary != "" {
		o.Summary = result.Output.Summary
	}
	o.Metrics = jsontext.Value(fmt.Sprintf(`{"host_calls":%d,"overrides":%d}`, len(result.Entries), len(result.Applied)))
}

// receiptFacts returns what the receipt of a replay is made from.
func (p *replaying) receiptFacts(ctx context.Context, result *replay.Result) (*proofs.Facts, error) {
	e, t := p.engine, p.task
	persona, err := e.personaAt(ctx, t.tenant, p.source.PersonaID, p.record.Program.Persona)
	if err != nil {
		return nil, err
	}
	r, err := e.Replayed(ctx, t.tenant, t.about.Replay, p.source, p.record, result.Applied)
	if err != nil {
		return nil, err
	}
	given, err := recordedRuns{e}.Given(ctx, t.tenant, p.source)
	return &proofs.Facts{Persona: &persona.Persona, Tally: result.Tally, Artifacts: result.Artifacts, Withheld: given.Withheld, Replay: r}, err
}

// made adds the Messages and Artifacts that a replay with overrides made to the
// batch that ends it. They stay out of the Session's transcript.
func (p *replaying) made(ch *change, result *replay.Result) error {
	if result == nil {
		return nil
	}
	for _, m := range result.Made {
		if _, err := p.engine.ledger.Find(context.Background(), p.task.tenant, objectOf(m.Call), m.ID); err == nil {
			continue // the same replay has made it before
		}
		rec, err := p.madeRecord(m)
		if err != nil {
			return err
		}
		if rec != nil {
			ch.before = append(ch.before, *rec)
		}
	}
	return nil
}

func objectOf(call string) abi.Object {
	if call == abi.CallArtifactPut {
		return abi.ObjectArtifact
	}
	return abi.ObjectMessage
}

func (p *replaying) madeRecord(m replay.Made) (*ledger.Record, error) {
	e, t := p.engine, p.task
	switch m.Call {
	case abi.CallMessageAppend:
		var in abi.MessageInput
		if err := json.Unmarshal(m.Request, &in); err != nil {
			return nil, err
		}
		message, err := e.NewMessage(&in, t.about.SessionID, t.id)
		if err != nil {
			return nil, err
		}
		message.ID = m.ID
		rec := sessions.MessageRecord(message)
		rec.Transcript = storage.TranscriptOp{}
		return &rec, nil
	case abi.CallArtifactPut:
		header, content, _ := bytes.Cut(m.Request, []byte("\n"))
		var put abi.CallArtifactPutRequest
		if err := json.Unmarshal(header, &put); err != nil {
			return nil, err
		}
		put.Visibility = cmp.Or(put.Visibility, abi.VisibilityPublic)
		a, err := e.ArtifactOf(context.Background(), &t.about,
			&abi.RegisterArtifactRequest{Kind: put.Kind, MimeType: put.MimeType, Visibility: put.Visibility, Name: put.Name}, content)
		if err != nil {
			return nil, err
		}
		uri := "/v1/artifacts/" + m.ID + "/content"
		a.ID, a.URI = m.ID, &uri
		return &ledger.Record{Kind: abi.EventArtifactCreated, Object: abi.ObjectArtifact, ID: a.ID, Created: true, State: a}, nil
	}
	return nil, nil
}
