package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/aside"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lifecycle"
	"github.com/wharf-dev/wharf/runtime/waiting"
	"github.com/wharf-dev/wharf/storage"
)

// Unreadable reads what a start of a node reads, and returns what it would set aside. It
// writes nothing. The error is one of the store itself.
func Unreadable(ctx context.Context, store storage.Store) ([]aside.Resource, error) {
	e := &Engine{store: store, now: time.Now, log: slog.New(slog.DiscardHandler), answering: answering{calls: abi.HostCallsByName()}}
	e.config = e.config.withDefaults()
	e.furnish(&Parts{})
	examineTenants := func(ctx context.Context) error { return e.aside.ExamineTenants(ctx, e.tenants.All()) }
	for _, read := range []func(context.Context) error{e.LoadTenants, e.book.Load, e.LoadConnectors, examineTenants, e.examineTasks} {
		if err := read(ctx); err != nil {
			return nil, err
		}
	}
	return e.aside.List(), nil
}

// examineTasks reads every Task that has not ended, and what it needs to go on.
func (e *Engine) examineTasks(ctx context.Context) error {
	return e.store.Active(ctx, func(tenant storage.Tenant, id string) error {
		about, err := e.activeTask(ctx, tenant, id)
		if err == nil {
			err = e.book.Reenroll(ctx, tenant, about)
		}
		if err == nil && about.Waiting == nil {
			err = e.ledger.CheckSession(ctx, ledger.Key{Tenant: tenant, ID: about.SessionID})
		}
		switch {
		case err == nil:
		case e.ledger.Halted(ctx, err):
			return fmt.Errorf("reading task %s: %w", id, err)
		default:
			e.aside.Put(aside.Resource{Tenant: tenant, Object: abi.ObjectTask, ID: id, Err: ledger.Naming(abi.ObjectTask, id, err)})
		}
		return nil
	})
}

// setAside goes on without a Task that cannot be brought back. Where what is stored of
// it makes no sense, and never will, it fails. What is damaged, or was written by a
// newer build, is left as it is: it can be canceled, and the next start tries again.
func (e *Engine) setAside(ctx context.Context, key ledger.Key, cause error) {
	e.aside.Put(aside.Resource{Tenant: key.Tenant, Object: abi.ObjectTask, ID: key.ID, Err: cause})
	e.book.Leave(key)
	err := cause
	if ledger.Lasting(cause) {
		err = e.failUnreadable(ctx, key, cause)
	}
	if err == nil {
		e.log.Error("a task cannot be brought back: it has failed", "task", key.ID, "tenant", key.Tenant, "error", cause)
		return
	}
	e.log.Error("a task cannot be brought back: it was set aside, until it is canceled or a later start can read it",
		"task", key.ID, "tenant", key.Tenant, "error", err)
	e.childEnded(key) // it answers nobody any more
}

// failUnreadable ends a Task that cannot be brought back, and says why.
func (e *Engine) failUnreadable(ctx context.Context, key ledger.Key, cause error) error {
	failure := &abi.Failure{Code: abi.FailureUnreadable, Message: "the task could not be brought back: " + aside.Reason(cause)}
	return e.endFromOutside(ctx, key, change{in: lifecycle.Input{Kind: lifecycle.Fail}, actor: desk.HostActor,
		outcome: func(o *abi.Outcome) { o.Failure, o.Summary = failure, failure.Message }})
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
	t.session, t.leave = e.ledger.Hold(ledger.Key{Tenant: key.Tenant, ID: about.SessionID})
	t.asking = waiting.Still(ctx, e.store, key)
	e.tasks.put(key, t)
	return t, nil
}

// undone logs why something was not done that the engine does by itself. While the node
// drains that is no fault: the next start does it.
func (e *Engine) undone(what string, key ledger.Key, err error) {
	if err == nil || errors.Is(err, lifecycle.ErrTerminal) || errors.Is(err, waiting.ErrNotWaiting) || e.draining.Load() {
		return
	}
	e.log.Error(what, "task", key.ID, "error", err)
}
