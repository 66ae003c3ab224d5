package engine

import (
	"context"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lifecycle"
	"github.com/wharf-dev/wharf/runtime/waiting"
	"github.com/wharf-dev/wharf/storage"
)

// live returns a Task that has not ended, loading one that is parked; nil when it
// has ended, or there is none.
func (e *Engine) live(ctx context.Context, key ledger.Key) (*task, error) {
	if t := e.tasks.get(key); t != nil {
		return t, nil
	}
	unlock := e.ledger.Lock(key.Tenant, key.ID)
	defer unlock()
	if t := e.tasks.get(key); t != nil {
		return t, nil
	}
	about, err := e.records.Task(ctx, key.Tenant, key.ID)
	if ledger.IsNotFound(err) || err == nil && about.Waiting == nil {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	t, err := e.loadTask(ctx, key.Tenant, about)
	if err != nil {
		return nil, err
	}
	e.tasks.put(key, t)
	return t, nil
}

// loadTask brings a Task that has not ended into memory.
func (e *Engine) loadTask(ctx context.Context, tenant storage.Tenant, about *abi.Task) (*task, error) {
	live := &task{tenant: tenant, id: about.ID, about: *about, task: *about}
	live.state = lifecycle.State{Status: about.Status, Attempt: about.Attempt, Parked: about.Waiting != nil}
	seq, _, err := e.store.Sequence(ctx, tenant, abi.ResourcePointer{Object: abi.ObjectTask, ID: about.ID})
	if err != nil {
		return nil, err
	}
	live.seq, live.account = seq+1, e.book.Account(ledger.Key{Tenant: tenant, ID: about.ID})
	if live.asking, err = waiting.Stored(ctx, e.ledger, tenant, about.Waiting); err != nil {
		return nil, err
	}
	live.session, live.leave, err = e.ledger.Open(ctx, ledger.Key{Tenant: tenant, ID: about.SessionID})
	if err != nil {
		return nil, err
	}
	live.skills, live.gave = live.session.State().Skills, givenTo(about.Waiting)
	return live, nil
}

// endable returns a Task that has not ended, so that it can be ended: of one that cannot
// be read, what is known of it. It returns nil when the Task has ended.
func (e *Engine) endable(ctx context.Context, key ledger.Key) (*task, error) {
	if e.aside.Unended(key) {
		return e.salvage(ctx, key)
	}
	t, err := e.live(ctx, key)
	if ledger.IsUnreadable(err) {
		return e.salvage(ctx, key)
	}
	return t, err
}

// salvage brings into memory what is known of a Task that cannot be read; nil when it
// has ended.
func (e *Engine) salvage(ctx context.Context, key ledger.Key) (*task, error) {
	unlock := e.ledger.Lock(key.Tenant, key.ID)
	defer unlock()
	if t := e.tasks.get(key); t != nil {
		return t, nil
	}
	if ended, err := e.aside.HasEnded(ctx, key); err != nil || ended {
		return nil, err
	}
	about := e.aside.Remains(ctx, key)
	seq, _, err := e.store.Sequence(ctx, key.Tenant, abi.ResourcePointer{Object: abi.ObjectTask, ID: key.ID})
	if err != nil {
		return nil, e.ledger.Failed("reading the task's sequence", err)
	}
	// It may have been in any state: WORKING is one that every end can follow on.
	t := &task{tenant: key.Tenant, id: key.ID, about: *about, task: *about, seq: seq + 1, state: lifecycle.State{Status: abi.TaskWorking}}
	session := ledger.Key{Tenant: key.Tenant, ID: about.SessionID}
	if t.session, t.leave, err = e.ledger.Open(ctx, session); err != nil { // it can be ended all the same
		t.session, t.leave = e.ledger.Hold(session)
	}
	t.asking = waiting.Still(ctx, e.store, key)
	e.tasks.put(key, t)
	return t, nil
}

// dropTask takes a Task out of memory that was brought back in part only.
func (e *Engine) dropTask(key ledger.Key) {
	if t := e.tasks.get(key); t != nil {
		e.tasks.remove(key)
		t.leave()
	}
}
