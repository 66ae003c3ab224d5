package aside

import (
	"context"
	"errors"
	"slices"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
)

// CheckActive checks a Task that has not ended for what bringing it back relies on. A Task
// waits for one of the calls.
func CheckActive(t *abi.Task, calls map[string]*abi.HostCall) error {
	wrong := func(format string, args ...any) error { return ledger.Nonsense(abi.ObjectTask, t.ID, format, args...) }
	if !slices.Contains(abi.TaskStatuses(), t.Status) {
		return ledger.Unreadable(abi.ObjectTask, t.ID, "its status is %.32q: %w", t.Status, ledger.ErrForeign)
	}
	w := t.Waiting
	switch {
	case t.Status.Terminal():
		return wrong("it is %s, and no event has told its end", t.Status)
	case w == nil && t.Status != abi.TaskSubmitted && t.Status != abi.TaskWorking, w != nil && t.Status == abi.TaskSubmitted:
		return wrong("it is %s, which does not fit what it waits for", t.Status)
	case t.Attempt < 0:
		return wrong("its attempt is %d", t.Attempt)
	case t.Fork != nil && (t.Fork.Calls < 0 || t.Fork.SourceTaskID == t.ID):
		return wrong("it cannot be a fork of %d calls of %.64s", t.Fork.Calls, t.Fork.SourceTaskID)
	case w == nil:
		return nil
	case calls[w.Call] == nil:
		return ledger.Unreadable(abi.ObjectTask, t.ID, "it waits for %.64q: %w", w.Call, ledger.ErrForeign)
	case w.Index < 0 || w.RequestID == "":
		return wrong("what it waits for is call %d, request %.64q", w.Index, w.RequestID)
	}
	return nil
}

// Reason says why something cannot be brought back, as clients may see it.
func Reason(cause error) string {
	if ledger.IsNotFound(cause) {
		return cause.Error()
	}
	if u, ok := errors.AsType[*ledger.UnreadableError](cause); ok {
		return u.Shown().Message
	}
	return ledger.ReasonOf(cause)
}

// HasEnded reports whether the last event that states a Task ended it.
func (s *Shelf) HasEnded(ctx context.Context, key ledger.Key) (bool, error) {
	if s.Unended(key) {
		return false, nil
	}
	res, err := s.parts.Ledger.Find(ctx, key.Tenant, abi.ObjectTask, key.ID)
	if err != nil {
		return false, err
	}
	ev, err := s.parts.Store.Event(ctx, key.Tenant, res.Position)
	if err != nil {
		return false, s.parts.Ledger.Failed("reading the task's last event", err)
	}
	switch ev.Record().Kind {
	case abi.EventTaskCompleted, abi.EventTaskFailed, abi.EventTaskCanceled:
		return true, nil
	}
	return false, nil
}

// Remains returns what is known of a Task that cannot be read: what it was accepted as,
// and where that cannot be read either, what its first events say of where it belongs.
func (s *Shelf) Remains(ctx context.Context, key ledger.Key) *abi.Task {
	about := &abi.Task{Envelope: abi.NewEnvelope(abi.ObjectTask, key.ID, s.parts.Now(), nil), CreatedBy: desk.HostActor}
	first, _, err := s.parts.Store.Events(ctx, key.Tenant, desk.Scope{Object: abi.ObjectTask, ID: key.ID}, 0, 20)
	if err != nil || len(first) == 0 {
		return about
	}
	f := first[0].Frame
	about.CreatedAt, about.CreatedBy = abi.At(f.Time), f.Actor
	for _, ev := range first {
		rec, was := ev.Record(), abi.Task{}
		if rec.Kind == abi.EventTaskSubmitted && ledger.Decode(rec.State, &was) == nil && ledger.CheckEnvelope(&was.Envelope, abi.ObjectTask, key.ID) == nil {
			about = &was
			break
		}
	}
	about.WorkspaceID, about.SessionID = f.WorkspaceID, f.SessionID
	about.Input, about.Waiting, about.Failure = nil, nil, nil
	return about
}

// RemainsFor is [Shelf.Remains] for a caller who may see the Task's Workspace; the error is
// cause when that Workspace is not known.
func (s *Shelf) RemainsFor(ctx context.Context, c *desk.Caller, id string, cause error) (abi.Task, error) {
	about := s.Remains(ctx, ledger.Key{Tenant: c.Tenant, ID: id})
	switch {
	case about.WorkspaceID == "" && len(c.Workspaces) > 0:
		return *about, cause
	case about.WorkspaceID != "" && !c.Sees(about.WorkspaceID):
		return *about, abi.NotFound(abi.ObjectTask, id)
	}
	return *about, nil
}
