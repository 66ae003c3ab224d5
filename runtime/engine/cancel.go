package engine

import (
	"context"
	"errors"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

var (
	errCanceled = errors.New("the task was canceled")
	errDeadline = errors.New("the task's deadline passed")
)

func stopCause(k InputKind) error {
	if k == InputDeadline {
		return errDeadline
	}
	return errCanceled
}

// CancelTask ends a Task. A plugin that runs for it is stopped, and what it still
// answers does not count. Canceling a Task that has ended is a conflict.
func (e *Engine) CancelTask(ctx context.Context, c *Caller, r *Retry, id string, req abi.CancelTaskRequest) (Doc, error) {
	current, _, err := findAs[abi.Task](ctx, e, c, abi.ObjectTask, id)
	if err != nil {
		return Doc{}, err
	}
	return e.once(ctx, c, r, current.WorkspaceID, func(idem *storage.Idempotency) (Doc, error) {
		return e.cancel(ctx, c, idem, id, req.Reason)
	})
}

func (e *Engine) cancel(ctx context.Context, c *Caller, idem *storage.Idempotency, id, reason string) (Doc, error) {
	t := e.tasks.get(owner{c.Tenant, id})
	if t == nil {
		return Doc{}, errEnded(id)
	}
	ch := change{in: Input{Kind: InputCancel}, actor: c.Actor, idem: idem}
	if reason != "" {
		ch.payload = map[string]string{"reason": reason}
		ch.outcome = func(o *abi.Outcome) { o.Summary = "canceled: " + reason }
	}
	t.mu.Lock()
	commit, err := e.apply(t, ch)
	t.mu.Unlock()
	if errors.Is(err, ErrTerminal) {
		return Doc{}, errEnded(id)
	}
	if err != nil {
		return Doc{}, err
	}
	if err := e.finish(t, commit); err != nil {
		return Doc{}, err
	}
	return e.Get(ctx, c, abi.ObjectTask, id)
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
	t.deadline = time.AfterFunc(t.task.DeadlineAt.Sub(e.now()), func() { e.expire(t) })
}

func (e *Engine) expire(t *task) {
	t.mu.Lock()
	commit, err := e.apply(t, change{in: Input{Kind: InputDeadline}, actor: hostActor})
	t.mu.Unlock()
	if errors.Is(err, ErrTerminal) {
		return
	}
	if err != nil {
		e.log.Error("a task's deadline could not be recorded", "task", t.id, "error", err)
		return
	}
	_ = e.finish(t, commit) // logged there
}
