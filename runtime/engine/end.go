package engine

import (
	"context"
	"errors"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/proofs"
	"github.com/wharf-dev/wharf/runtime/receipt"
	"github.com/wharf-dev/wharf/storage"
)

// endTask takes a step that may be terminal. What the receipt of a Task without a
// running plugin says is read from the log first, and read again when the Task took
// another step meanwhile: the receipt is made from all that lies before its end.
func (e *Engine) endTask(ctx context.Context, t *task, ch change) (storage.Commit, error) {
	for {
		facts, asOf, err := e.factsOf(ctx, t)
		if err != nil {
			e.log.Error("a task's record could not be read: its receipt says so", "task", t.id, "error", err)
		}
		commit, err := e.endAsOf(t, ch, facts, asOf)
		if !errors.Is(err, errMovedOn) {
			return commit, err
		}
	}
}

// errMovedOn says that a Task took a step after its record was read.
var errMovedOn = errors.New("the task took another step meanwhile")

// unreadableRecord says why a receipt cannot be made again.
const unreadableRecord = "the Task's record could not be read"

// factsOf reads what the receipt of a Task without a running plugin is made from, and
// the sequence of the Task's next event at that time. nil means that a Task never
// started, or that its run knows.
func (e *Engine) factsOf(ctx context.Context, t *task) (f *proofs.Facts, asOf uint64, err error) {
	t.mu.Lock()
	told, asOf, handed := t.toldByLog(), t.seq, t.handed
	t.mu.Unlock()
	if !told {
		return nil, asOf, nil
	}
	f = &proofs.Facts{Tally: receipt.NewTally(nil, nil, t.id), Irreproducible: unreadableRecord}
	if handed != nil { // else it is durable already
		if _, err := handed.Wait(context.Background()); err != nil {
			return f, asOf, err
		}
	}
	return f, asOf, e.ReadFacts(ctx, t.tenant, &t.about, t.input, f)
}

// toldByLog reports whether what a Task's receipt is made from stands in the log
// alone: it has started, and no run of it knows. The caller holds t.mu.
func (t *task) toldByLog() bool {
	return !t.gone && t.run == nil && t.about.Replay == nil && t.state.Status != abi.TaskSubmitted && !t.state.Status.Terminal()
}

// endAsOf takes a step of a Task whose record was read when asOf was the sequence of
// its next event.
func (e *Engine) endAsOf(t *task, ch change, facts *proofs.Facts, asOf uint64) (storage.Commit, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.toldByLog() && (facts == nil || t.seq != asOf) {
		return nil, errMovedOn
	}
	ch.facts = facts
	return e.apply(t, ch)
}

// factsAtEnd returns what is known of a Task that ends, by its run or else from outside; nil for nothing. The
// caller holds t.mu.
func (e *Engine) factsAtEnd(t *task, outside *proofs.Facts) *proofs.Facts {
	if t.run == nil || t.about.Replay != nil {
		return outside
	}
	f := &t.run.facts
	if err := t.run.takeRest(); err != nil {
		e.log.Error("a task's record could not be taken over: its receipt says so", "task", t.id, "error", err)
		f.Irreproducible = unreadableRecord
	}
	return f
}

// newIssue prepares the receipt of a Task that ends; nil when it gets none. The
// caller holds t.mu.
func (e *Engine) newIssue(t *task, f *proofs.Facts) *proofs.Issue {
	if f == nil {
		f = &proofs.Facts{Tally: receipt.NewTally(nil, nil, t.id)}
	}
	if f.Persona == nil {
		p, err := e.Persona(context.Background(), t.tenant, t.about.PersonaID)
		if err != nil {
			return nil // the Task failed for want of its Persona: there is no policy to issue under
		}
		f.Persona = &p.Persona
	}
	return e.NewIssue(t.tenant, f)
}

// newProofs makes what issues receipts and shows them.
func (e *Engine) newProofs(common desk.Parts, keys *receipt.Keyring) *proofs.Keeper {
	return proofs.NewKeeper(proofs.Parts{Parts: common, Tenants: e.tenants, Keys: keys, RequiredOnly: e.config.RequiredReceiptsOnly,
		Version: e.version, Task: e.records.Task, TaskRecord: e.records.Of, Records: e.records, PersonaAt: e.pinned.PersonaAt, Modules: e.modules})
}
