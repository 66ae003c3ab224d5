package engine

import (
	"context"
	"errors"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/alarm"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lifecycle"
	"github.com/wharf-dev/wharf/runtime/proofs"
	"github.com/wharf-dev/wharf/storage"
)

var (
	errCanceled = errors.New("the task was canceled")
	errDeadline = errors.New("the task's deadline passed")
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
		return e.cancel(ctx, c, idem, id, req.Reason)
	})
}

func (e *Engine) cancel(ctx context.Context, c *desk.Caller, idem *storage.Idempotency, id, reason string) (desk.Doc, error) {
	ch := change{in: lifecycle.Input{Kind: lifecycle.Cancel}, actor: c.Actor, idem: idem}
	if reason != "" {
		ch.payload = abi.Reason{Reason: reason}
		ch.outcome = func(o *abi.Outcome) { o.Summary = "canceled: " + reason }
	}
	err := e.endFromOutside(ctx, ledger.Key{Tenant: c.Tenant, ID: id}, ch)
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

// toldByLog reports whether what a Task's receipt is made from stands in the log
// alone: it has started, and no run of it knows. The caller holds t.mu.
func (t *task) toldByLog() bool {
	return !t.gone && t.run == nil && t.about.Replay == nil && t.state.Status != abi.TaskSubmitted && !t.state.Status.Terminal()
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
