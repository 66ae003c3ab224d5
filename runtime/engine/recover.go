package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"

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
	if about.Waiting != nil {
		e.queue.Hold(scheduler.Job[task]{Tenant: uint32(tenant), ID: id, Line: lineOf(about)})
		e.pending.Add(tenant, about.Waiting.PermissionID, about)
		return nil, func() { e.arm(ledger.Key{Tenant: tenant, ID: id}, about.Waiting, about.DeadlineAt) }, nil
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
		return live, nil, nil
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

// dropTask takes a Task out of memory that was brought back in part only.
func (e *Engine) dropTask(key ledger.Key) {
	if t := e.tasks.get(key); t != nil {
		e.tasks.remove(key)
		t.leave()
	}
}

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
	return live, nil
}
