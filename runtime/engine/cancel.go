package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/alarm"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lifecycle"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/waiting"
	"github.com/wharf-dev/wharf/storage"
)

var (
	errCanceled = fmt.Errorf("%w: it was canceled", provider.ErrEnded)
	errDeadline = fmt.Errorf("%w: its deadline passed", provider.ErrEnded)
)

func stopCause(k lifecycle.InputKind) error {
	if k == lifecycle.Deadline {
		return errDeadline
	}
	return errCanceled
}

// CancelTask ends a Task. A plugin that runs for it is stopped, and what it still
// answers does not count. Canceling a Task that has ended is a conflict.
func (e *Engine) CancelTask(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.CancelTaskRequest) (desk.Doc, error) {
	current, _, err := desk.Find[abi.Task](ctx, e.Desk, c, abi.ObjectTask, id)
	if ledger.IsUnreadable(err) {
		current, err = e.aside.RemainsFor(ctx, c, id, err)
	}
	if err != nil {
		return desk.Doc{}, err
	}
	return e.Once(ctx, c, r, current.WorkspaceID, func(idem *storage.Idempotency) (desk.Doc, error) {
		if err := e.Controls(c, current.SessionID); err != nil {
			return desk.Doc{}, err
		}
		return e.cancel(ctx, c, idem, id, req.Reason)
	})
}

func canceling(actor string, idem *storage.Idempotency, reason string) change {
	ch := change{in: lifecycle.Input{Kind: lifecycle.Cancel}, actor: actor, idem: idem}
	if reason != "" {
		ch.payload = abi.Reason{Reason: reason}
		ch.outcome = func(o *abi.Outcome) { o.Summary = "canceled: " + reason }
	}
	return ch
}

func (e *Engine) cancel(ctx context.Context, c *desk.Caller, idem *storage.Idempotency, id, reason string) (desk.Doc, error) {
	err := e.endFromOutside(ctx, ledger.Key{Tenant: c.Tenant, ID: id}, canceling(c.Actor, idem, reason))
	if errors.Is(err, lifecycle.ErrTerminal) {
		return desk.Doc{}, errEnded(id)
	}
	if err != nil {
		return desk.Doc{}, err
	}
	return e.Get(ctx, c, abi.ObjectTask, id)
}

// endFromOutside ends a Task in whatever state it is; lifecycle.ErrTerminal when it has
// ended already.
func (e *Engine) endFromOutside(ctx context.Context, key ledger.Key, ch change) error {
	for {
		t, err := e.endable(ctx, key)
		if err != nil {
			return err
		}
		if t == nil {
			return lifecycle.ErrTerminal
		}
		commit, err := e.endTask(ctx, t, ch)
		if errors.Is(err, errGone) {
			continue
		}
		if err != nil {
			return err
		}
		e.aside.Ended(key)
		return e.finish(t, commit)
	}
}

// givenTo returns the child that does what a Task waits for as for a tool; "" for none.
func givenTo(w *abi.Waiting) string {
	if w == nil || w.Call != abi.CallToolCall {
		return ""
	}
	return w.TaskID
}

// abandon cancels a child that does what a tool was called for by a Task that has ended: nobody
// hears its answer.
func (e *Engine) abandon(child ledger.Key) {
	e.background.Go(func() {
		err := e.endFromOutside(context.Background(), child, canceling(desk.HostActor, nil, "the task that it was to answer has ended"))
		e.undone("a child that nobody waits for could not be canceled", child, err)
	})
}

func errEnded(id string) error {
	return abi.Errorf(abi.CodeConflict, "task %s has ended and cannot be canceled", id)
}

// watchDeadline fails a Task that has not ended by its deadline.
func (e *Engine) watchDeadline(t *task) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.task.DeadlineAt.IsZero() || t.state.Status.Terminal() {
		return
	}
	key := t.key()
	t.deadline = alarm.Set(e.now, t.task.DeadlineAt, e.background.Owned(func() { e.expire(key) }))
}

// expire fails a Task whose deadline has passed.
func (e *Engine) expire(key ledger.Key) {
	err := e.endFromOutside(context.Background(), key, change{in: lifecycle.Input{Kind: lifecycle.Deadline}, actor: desk.HostActor})
	e.undone("a task's deadline could not be recorded", key, err)
}

// exhaust fails a Task whose time is up.
func (e *Engine) exhaust(key ledger.Key) {
	err := e.endFromOutside(context.Background(), key, change{in: lifecycle.Input{Kind: lifecycle.Deadline, Failure: abi.FailureBudget}, actor: desk.HostActor})
	e.undone("that a task's time was up could not be recorded", key, err)
}

// outOfTime fails a Task when the time under a Quota is used up.
func (e *Engine) outOfTime(key ledger.Key, why *abi.Failure) {
	err := e.endFromOutside(context.Background(), key, change{
		in: lifecycle.Input{Kind: lifecycle.Deadline, Failure: why.Code}, actor: desk.HostActor,
		outcome: func(o *abi.Outcome) { o.Failure, o.Summary = why, why.Message },
	})
	e.undone("that the time under a quota was up could not be recorded", key, err)
}

// undone logs why something was not done that the engine does by itself. While the node
// drains that is no fault: the next start does it.
func (e *Engine) undone(what string, key ledger.Key, err error) {
	if err == nil || errors.Is(err, lifecycle.ErrTerminal) || errors.Is(err, waiting.ErrNotWaiting) || e.draining.Load() {
		return
	}
	e.log.Error(what, "task", key.ID, "error", err)
}
