package engine

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/aside"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lifecycle"
	"github.com/wharf-dev/wharf/runtime/scheduler"
	"github.com/wharf-dev/wharf/runtime/waiting"
	"github.com/wharf-dev/wharf/storage"
)

// recover brings back every Task that has not ended. One that waited to start is
// queued again; one that ran is run again, from its record, before all others and alone
// if it is a suspect; for one that is parked only what wakes it is set up. One that
// cannot be brought back is set aside, and the others are brought back all the same.
func (e *Engine) recover(ctx context.Context) error {
	var queued []*task
	var resting []func()
	err := e.store.Active(ctx, func(t storage.Tenant, id string) error {
		live, rest, err := e.revive(ctx, t, id)
		switch {
		case err != nil && e.ledger.Halted(ctx, err):
			return fmt.Errorf("recovering task %s: %w", id, err)
		case err != nil:
			e.dropTask(ledger.Key{Tenant: t, ID: id})
			e.setAside(ctx, ledger.Key{Tenant: t, ID: id}, ledger.Naming(abi.ObjectTask, id, err))
		}
		if live != nil {
			queued = append(queued, live)
		}
		if rest != nil {
			resting = append(resting, rest)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := e.inOrder(ctx, queued); err != nil {
		return err
	}
	suspects, others := e.suspects(queued)
	e.queue.PushSuspects(jobs(suspects), func(t *task) { t.trial = 0 })
	for _, live := range others {
		e.queue.PushAccepted(live.job())
	}
	for _, live := range queued {
		e.watchDeadline(live)
	}
	for _, arm := range resting {
		arm()
	}
	if len(queued)+len(resting) > 0 {
		e.log.Info("recovered unfinished tasks", "running", len(queued), "alone", len(suspects), "waiting", len(resting))
	}
	return nil
}

func jobs(tasks []*task) []scheduler.Job[task] {
	list := make([]scheduler.Job[task], len(tasks))
	for i, t := range tasks {
		list[i] = t.job()
	}
	return list
}

// inOrder puts the Tasks that stand in lines into the order in which they were accepted,
// behind all others.
func (e *Engine) inOrder(ctx context.Context, tasks []*task) error {
	accepted := map[*task]desk.Position{}
	for _, t := range tasks {
		if !lineOf(&t.about).Ordered() {
			continue
		}
		res, err := e.ledger.Find(ctx, t.tenant, abi.ObjectTask, t.id)
		if err != nil {
			return err
		}
		accepted[t] = res.Origin
	}
	slices.SortStableFunc(tasks, func(a, b *task) int { return cmp.Compare(accepted[a], accepted[b]) })
	return nil
}

// revive brings one Task back. It returns the Task when it is to be run, and what arms it
// when it is parked. The recovery step is taken here when it ends the Task.
func (e *Engine) revive(ctx context.Context, tenant storage.Tenant, id string) (*task, func(), error) {
	about, err := e.activeTask(ctx, tenant, id)
	if err != nil {
		return nil, nil, err
	}
	if err := e.book.Reenroll(ctx, tenant, about); err != nil {
		return nil, nil, err
	}
	var abandon func()
	if e.records.Abandoned(ctx, tenant, about) {
		abandon = func() { e.abandon(ledger.Key{Tenant: tenant, ID: id}) }
	}
	if about.Waiting != nil {
		e.queue.Hold(scheduler.Job[task]{Tenant: uint32(tenant), ID: id, Line: lineOf(about)})
		e.pending.Await(tenant, about)
		return nil, func() {
			key := ledger.Key{Tenant: tenant, ID: id}
			e.arm(key, about.Waiting, about.DeadlineAt)
			e.look(key, about.Waiting)
			if abandon != nil {
				abandon()
			}
		}, nil
	}
	live, err := e.loadTask(ctx, tenant, about)
	if err != nil {
		return nil, nil, err
	}
	e.tasks.put(live.key(), live)
	in, err := e.recovery(ctx, live)
	if err != nil {
		return nil, nil, err
	}
	next, _, err := lifecycle.Step(live.state, in)
	if err != nil {
		return nil, nil, err
	}
	if !next.Status.Terminal() {
		live.again = &in
		return live, abandon, nil
	}
	commit, err := e.endTask(ctx, live, change{in: in, actor: desk.HostActor, outcome: blame(in)})
	if err != nil {
		return nil, nil, err
	}
	return nil, nil, e.finish(live, commit)
}

// recovery returns the recovery step of a Task. What its last start came to is looked up
// only where it matters.
func (e *Engine) recovery(ctx context.Context, t *task) (lifecycle.Input, error) {
	in := lifecycle.Input{Kind: lifecycle.Recover, MaxAttempts: e.config.MaxAttempts}
	if !lifecycle.Suspect(t.state, in) && t.state.Attempt < in.MaxAttempts {
		return in, nil
	}
	h, err := e.records.History(ctx, t.tenant, &t.about)
	switch {
	case err != nil && e.ledger.Halted(ctx, err):
		return in, err
	case err != nil:
		e.log.Error("a task's record could not be read: it counts as one that did not get on", "task", t.id, "error", err)
	default:
		in.Progress, in.Alone = h.Progress, h.Alone
	}
	return in, nil
}

// activeTask reads a Task that has not ended, with all that bringing it back relies on.
func (e *Engine) activeTask(ctx context.Context, tenant storage.Tenant, id string) (*abi.Task, error) {
	if e.tenants.IDOf(tenant) == "" {
		return nil, ledger.Unreadable(abi.ObjectTask, id, "%w", ledger.ErrLostTenant)
	}
	about, err := e.records.Task(ctx, tenant, id)
	if err == nil {
		err = aside.CheckActive(about, e.calls)
	}
	if err == nil {
		_, err = waiting.Stored(ctx, e.ledger, tenant, about.Waiting)
	}
	return about, err
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
