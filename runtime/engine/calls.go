package engine

import (
	"bytes"
	"context"
	"maps"
	"slices"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/composition"
	"github.com/wharf-dev/wharf/runtime/hostcall"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/sessions"
	"github.com/wharf-dev/wharf/runtime/tooluse"
	"github.com/wharf-dev/wharf/storage"
)

// hostCall answers a call at once.
type hostCall func(r *run, ctx context.Context, c *liveCall) (answer []byte, err error)

// immediate are the calls that the engine answers by itself, at once. A
// *provider.Refusal is an answer for the guest; any other error fails the Task.
// What a call states or tells besides goes into c.states and c.extra: it is
// written in one batch with the call's own event, so neither is there without the
// other.
var immediate = map[string]hostCall{
	abi.CallOutput:        (*run).callOutput,
	abi.CallMessageAppend: (*run).callMessageAppend,

	abi.CallCompositionBegin: (*run).callComposition,
	abi.CallCompositionEnd:   (*run).callComposition,
}

// immediately returns what answers a call at once; nil for a call that is not answered so.
func (e *Engine) immediately(call string) hostCall {
	if answer := e.served[call]; answer != nil {
		return byRoom(answer)
	}
	return immediate[call]
}

// byRoom has a room answer a call.
func byRoom(answer hostcall.Func) hostCall {
	return func(r *run, ctx context.Context, c *liveCall) ([]byte, error) {
		a, err := answer(ctx, &hostcall.Call{Run: r, Tenant: r.task.tenant, Task: &r.task.about, Index: c.entry.Index, Request: c.request, Kept: c.entry.Request, Asked: c.asked})
		c.states, c.extra, c.release, c.durable = a.States, a.Extra, a.Release, a.Durable
		return a.JSON, err
	}
}

// Flush implements [hostcall.Run].
func (r *run) Flush() error { return r.flush(true) }

// HasPut implements [hostcall.Run].
func (r *run) HasPut(artifact string) bool { return slices.Contains(r.outputs.ArtifactIDs(), artifact) }

// Session implements [hostcall.Run].
func (r *run) Session() abi.Session { return r.task.session.State() }

// Skills implements [hostcall.Run].
func (r *run) Skills() []abi.TaskSkill { return r.task.program.Skills }

// haveRoomsAnswer has rooms answer the host calls that they serve.
func (e *Engine) haveRoomsAnswer(rooms ...interface {
	HostCalls() map[string]hostcall.Func
}) {
	e.served = map[string]hostcall.Func{}
	for _, room := range rooms {
		maps.Copy(e.served, room.HostCalls())
	}
}

func (r *run) callOutput(_ context.Context, c *liveCall) ([]byte, error) {
	if r.outputs.Output != nil {
		return nil, provider.Refuse(abi.CallInvalid, "output_given", "the task has its output already; output is called once")
	}
	out, err := ask[abi.CallOutputRequest](c)
	if err != nil {
		return nil, err
	}
	if wrong := out.Check(); wrong != nil {
		return nil, provider.Malformed(wrong)
	}
	return nil, nil
}

func (r *run) callComposition(_ context.Context, c *liveCall) (answer []byte, err error) {
	answer, c.extra, err = r.composition().Answer(&composition.HostCall{Name: c.entry.Call, Task: r.task.id, Index: c.entry.Index, At: r.engine.now(),
		Asked: c.asked, Request: c.request, HasPut: r.HasPut, Shown: r.persona.ToolsVisibility})
	return answer, err
}

// composition returns what the record says of compositions so far.
func (r *run) composition() *composition.State {
	r.task.mu.Lock()
	defer r.task.mu.Unlock()
	state := r.facts.Composition
	return &state
}

func (r *run) callMessageAppend(ctx context.Context, c *liveCall) (answer []byte, err error) {
	err = r.engine.turns.Do(ctx, len(c.request), func() error {
		answer, err = r.append(c)
		return err
	})
	return answer, err
}

// append describes the Message that a call appends.
func (r *run) append(c *liveCall) ([]byte, error) {
	m, err := r.appended(c)
	if err != nil {
		c.entry.Request = bytes.Clone(journal.Canonical(c.entry.Call, c.request))
		return nil, err
	}
	c.entry.Request = journal.CanonicalMessage(m)
	rec := sessions.MessageRecord(m)
	c.states = &rec
	return journal.MessageAnswer(m.ID), nil
}

// appended returns the Message that a call appends.
func (r *run) appended(c *liveCall) (*abi.Message, error) {
	in, err := ask[abi.MessageInput](c)
	if err != nil {
		return nil, err
	}
	m, err := r.engine.NewMessage(&in, r.task.about.SessionID, r.task.id)
	if err != nil {
		return nil, provider.Malformed(err)
	}
	m.ID = r.textEnds(&in, m.ID)
	return m, nil
}

// hint takes telemetry. It is checked and counted always, so that a re-run is where
// the first run was, and told only by a run that is live. Beyond maxHints it is dropped,
// and so is one that is too deep or too long: it is not refused, for a record of before may hold a
// run that was answered so.
func (r *run) hint(call string, request []byte) error {
	kind, payload, err := journal.ReadHint(call, request)
	if err != nil {
		return provider.Malformed(err)
	}
	if piece, ok := payload.(*abi.CallMessageDeltaRequest); ok {
		return r.writes(piece.Text)
	}
	if r.hints++; r.hints <= maxHints && payload != nil && abi.TooDeep(request, abi.MaxDepth) < 0 && r.cursor.Done() {
		r.task.mu.Lock()
		defer r.task.mu.Unlock()
		r.tellHint(kind, payload, tooluse.Restrict(payload, r.persona.ToolsVisibility))
	}
	return nil
}

// performing tells what a performer says of a call while it makes it. It is counted apart from what
// the plugin gives: a re-run, which makes no calls, is where the first run was.
func (r *run) performing(kind abi.EventKind, payload any) {
	r.task.mu.Lock()
	defer r.task.mu.Unlock()
	if r.performed++; r.performed <= maxHints {
		r.tellHint(kind, payload, true)
	}
}

// tellHint appends telemetry, of which parts may not be public. It is not waited for. The caller holds task.mu.
func (r *run) tellHint(kind abi.EventKind, payload any, restricted bool) {
	e, t := r.engine, r.task
	if t.state.Status.Terminal() {
		return
	}
	records, err := ledger.Encode(ledger.Record{Kind: kind, Object: abi.ObjectTask, ID: t.id, Sequence: t.seq, Hint: true, Restricted: restricted, Payload: payload})
	if err != nil {
		e.log.Warn("a hint could not be encoded", "task", t.id, "kind", kind, "error", err)
		return
	}
	e.ledger.Append(&storage.Batch{Frame: taskFrame(t.tenant, &t.about, t.about.PersonaID, e.now(), records)})
	t.seq++
	if kind == abi.EventProgress {
		e.workers.Tick(t.tenant, &t.about)
	}
}
