package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// recover brings back every Task that has not ended. A Task that waited is queued
// again; one that ran is run again from its beginning, or failed when it has been
// the node's end too often.
func (e *Engine) recover(ctx context.Context) error {
	var queued []*task
	err := e.store.Active(ctx, func(t storage.Tenant, id string) error {
		live, err := e.revive(ctx, t, id)
		if err != nil {
			return fmt.Errorf("recovering task %s: %w", id, err)
		}
		if live != nil {
			queued = append(queued, live)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, live := range queued {
		e.queue.pushRecovered(live)
		e.watchDeadline(live)
	}
	if len(queued) > 0 {
		e.log.Info("recovered unfinished tasks", "count", len(queued))
	}
	return nil
}

// revive takes the recovery step of one Task; nil when there is nothing to run.
func (e *Engine) revive(ctx context.Context, tenant storage.Tenant, id string) (*task, error) {
	live, err := e.loadTask(ctx, tenant, id)
	if err != nil {
		return nil, err
	}
	e.tasks.put(live.key(), live)
	live.mu.Lock()
	commit, err := e.apply(live, change{in: Input{Kind: InputRecover, MaxAttempts: e.config.MaxAttempts}, actor: hostActor})
	ended := live.state.Status.Terminal()
	live.mu.Unlock()
	if errors.Is(err, ErrTransition) {
		e.tasks.remove(live.key())
		live.leave()
		return nil, nil // it waits for somebody; whoever answers brings it back
	}
	if err != nil {
		return nil, err
	}
	if ended {
		return nil, e.finish(live, commit)
	}
	if commit != nil {
		if _, err := commit.Wait(context.Background()); err != nil {
			return nil, err
		}
	}
	return live, nil
}

// loadTask reads a Task that has not ended into memory.
func (e *Engine) loadTask(ctx context.Context, tenant storage.Tenant, id string) (*task, error) {
	res, err := e.find(ctx, tenant, abi.ObjectTask, id)
	if err != nil {
		return nil, err
	}
	live := &task{tenant: tenant, id: id, done: make(chan struct{})}
	if err := decode(res.State, &live.task); err != nil {
		return nil, err
	}
	live.task.Input = nil
	live.about = live.task
	live.state = State{Status: live.task.Status, Attempt: live.task.Attempt}
	seq, _, err := e.store.Sequence(ctx, tenant, abi.ResourcePointer{Object: abi.ObjectTask, ID: id})
	if err != nil {
		return nil, err
	}
	live.seq = seq + 1
	key := owner{tenant, live.about.SessionID}
	live.session = e.sessions.acquire(key)
	live.leave = func() { e.sessions.release(key, live.session) }
	if err := e.loadSession(ctx, tenant, key.id, live.session); err != nil {
		live.leave()
		return nil, err
	}
	return live, nil
}
