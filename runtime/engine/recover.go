package engine

import (
	"context"
	"fmt"

	"github.com/wharf-dev/wharf/abi"
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
		case err != nil && e.halted(ctx, err):
			return fmt.Errorf("recovering task %s: %w", id, err)
		case err != nil:
			e.dropTask(owner{t, id})
			e.setAside(ctx, owner{t, id}, naming(abi.ObjectTask, id, err))
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
	suspects := e.suspects(queued)
	e.queue.pushSuspects(suspects)
	for _, live := range queued {
		if live.trial == 0 {
			e.queue.pushRecovered(live)
		}
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

// revive brings one Task back. It returns the Task when it is to be run, and what arms it
// when it is parked. The recovery step is taken here when it ends the Task.
func (e *Engine) revive(ctx context.Context, tenant storage.Tenant, id string) (*task, func(), error) {
	about, err := e.activeTask(ctx, tenant, id)
	if err != nil {
		return nil, nil, err
	}
	if err := e.reenroll(ctx, tenant, about); err != nil {
		return nil, nil, err
	}
	if about.Waiting != nil {
		e.queue.holdParked(tenant, about)
		e.asked.add(tenant, about.Waiting.PermissionID, about)
		return nil, func() { e.arm(owner{tenant, id}, about.Waiting, about.DeadlineAt) }, nil
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
	next, _, err := Step(live.state, in)
	if err != nil {
		return nil, nil, err
	}
	if !next.Status.Terminal() {
		live.again = &in
		return live, nil, nil
	}
	commit, err := e.endTask(ctx, live, change{in: in, actor: hostActor, outcome: in.blames})
	if err != nil {
		return nil, nil, err
	}
	return nil, nil, e.finish(live, commit)
}

// recovery returns the recovery step of a Task. What its last start came to is looked up
// only where it matters.
func (e *Engine) recovery(ctx context.Context, t *task) (Input, error) {
	in := Input{Kind: InputRecover, MaxAttempts: e.config.MaxAttempts}
	if !isSuspect(t.state, in) && t.state.Attempt < in.MaxAttempts {
		return in, nil
	}
	h, err := e.history(ctx, t.tenant, &t.about)
	switch {
	case err != nil && e.halted(ctx, err):
		return in, err
	case err != nil:
		e.log.Error("a task's record could not be read: it counts as one that did not get on", "task", t.id, "error", err)
	default:
		in.Progress, in.Alone = h.progress, h.alone
	}
	return in, nil
}

// storedTask reads a Task as the log has it, without its input.
func (e *Engine) storedTask(ctx context.Context, tenant storage.Tenant, id string) (*abi.Task, error) {
	res, err := e.find(ctx, tenant, abi.ObjectTask, id)
	if err != nil {
		return nil, err
	}
	about := &abi.Task{}
	if err := decode(res.State, about); err != nil {
		return nil, naming(abi.ObjectTask, id, err)
	}
	about.Input = nil
	return about, checkEnvelope(&about.Envelope, abi.ObjectTask, id)
}

// activeTask reads a Task that has not ended, with all that bringing it back relies on.
func (e *Engine) activeTask(ctx context.Context, tenant storage.Tenant, id string) (*abi.Task, error) {
	if e.tenantID(tenant) == "" {
		return nil, unreadable(abi.ObjectTask, id, "%w", errLostTenant)
	}
	about, err := e.storedTask(ctx, tenant, id)
	if err == nil {
		err = e.checkActive(about)
	}
	if err == nil {
		_, err = e.storedAsking(ctx, tenant, about.Waiting)
	}
	return about, err
}

// dropTask takes a Task out of memory that was brought back in part only.
func (e *Engine) dropTask(key owner) {
	if t := e.tasks.get(key); t != nil {
		e.tasks.remove(key)
		t.leave()
	}
}

// live returns a Task that has not ended, loading one that is parked; nil when it
// has ended, or there is none.
func (e *Engine) live(ctx context.Context, key owner) (*task, error) {
	if t := e.tasks.get(key); t != nil {
		return t, nil
	}
	unlock := e.locks.lock(key.tenant, key.id)
	defer unlock()
	if t := e.tasks.get(key); t != nil {
		return t, nil
	}
	about, err := e.storedTask(ctx, key.tenant, key.id)
	if isNotFound(err) || err == nil && about.Waiting == nil {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	t, err := e.loadTask(ctx, key.tenant, about)
	if err != nil {
		return nil, err
	}
	e.tasks.put(key, t)
	return t, nil
}

// loadTask brings a Task that has not ended into memory.
func (e *Engine) loadTask(ctx context.Context, tenant storage.Tenant, about *abi.Task) (*task, error) {
	live := &task{tenant: tenant, id: about.ID, about: *about, task: *about}
	live.state = State{Status: about.Status, Attempt: about.Attempt, Parked: about.Waiting != nil}
	seq, _, err := e.store.Sequence(ctx, tenant, abi.ResourcePointer{Object: abi.ObjectTask, ID: about.ID})
	if err != nil {
		return nil, err
	}
	live.seq, live.meters = seq+1, e.quotas.heldBy(owner{tenant, about.ID})
	if live.asking, err = e.storedAsking(ctx, tenant, about.Waiting); err != nil {
		return nil, err
	}
	key := owner{tenant, about.SessionID}
	live.session = e.sessions.acquire(key)
	live.leave = func() { e.sessions.release(key, live.session) }
	if err := e.loadSession(ctx, tenant, key.id, live.session); err != nil {
		live.leave()
		return nil, err
	}
	return live, nil
}
