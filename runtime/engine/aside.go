package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lifecycle"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/storage"
)

// SetAside is something stored that could not be read, and that the node goes on
// without.
type SetAside struct {
	Tenant storage.Tenant
	Object abi.Object
	ID     string
	Err    error
	// Ended says that it was a Task, and that its end was recorded.
	Ended bool
}

// asideTable holds what was set aside since the node started.
type asideTable struct {
	mu  lockrank.RWMutex[lockrank.Table]
	all map[asideKey]SetAside
}

type asideKey struct {
	ledger.Key
	object abi.Object
}

func (t *asideTable) put(a SetAside) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all == nil {
		t.all = map[asideKey]SetAside{}
	}
	t.all[asideKey{ledger.Key{Tenant: a.Tenant, ID: a.ID}, a.Object}] = a
}

// unended reports whether a Task was set aside and its end could not be recorded.
func (t *asideTable) unended(key ledger.Key) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	a, ok := t.all[asideKey{key, abi.ObjectTask}]
	return ok && !a.Ended
}

// ended is told that a Task has ended.
func (t *asideTable) ended(key ledger.Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	k := asideKey{key, abi.ObjectTask}
	if a, ok := t.all[k]; ok {
		a.Ended = true
		t.all[k] = a
	}
}

// about returns what was set aside of a kind, if it was.
func (t *asideTable) about(o abi.Object, key ledger.Key) (SetAside, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	a, ok := t.all[asideKey{key, o}]
	return a, ok
}

// count counts what was set aside, by its kind.
func (t *asideTable) count() map[abi.Object]int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	counts := map[abi.Object]int{}
	for k := range t.all {
		counts[k.object]++
	}
	return counts
}

// leaveOut sets a resource aside that is not a Task.
func (e *Engine) leaveOut(t storage.Tenant, o abi.Object, id string, cause error) {
	e.aside.put(SetAside{Tenant: t, Object: o, ID: id, Err: cause})
	e.log.Error("something stored cannot be read and was set aside: the node goes on without it",
		"object", o, "id", id, "tenant", t, "error", cause, "effect", withoutIt[o])
}

// withoutIt says what becomes of what needs a resource that was set aside.
var withoutIt = map[abi.Object]string{
	abi.ObjectTenant:    "its keys are refused, and nothing of it is touched",
	abi.ObjectQuota:     "it counts as used up: what it bounds is refused until its limits are stated anew (PATCH /wharf/v1/quotas/ID)",
	abi.ObjectConnector: "it takes no deliveries and does not poll; what is pending stays so",
	abi.ObjectPersona:   "Tasks of it fail",
	abi.ObjectSkill:     "it is not offered",
	abi.ObjectWorkspace: "no Task is accepted in it",
	abi.ObjectAPIKey:    "it is refused",
}

// setAside goes on without a Task that cannot be brought back. Where what is stored of
// it makes no sense, and never will, it fails. What is damaged, or was written by a
// newer build, is left as it is: it can be canceled, and the next start tries again.
func (e *Engine) setAside(ctx context.Context, key ledger.Key, cause error) {
	e.aside.put(SetAside{Tenant: key.Tenant, Object: abi.ObjectTask, ID: key.ID, Err: cause})
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
	failure := &abi.Failure{Code: abi.FailureUnreadable, Message: "the task could not be brought back: " + shownReason(cause)}
	return e.endFromOutside(ctx, key, change{in: lifecycle.Input{Kind: lifecycle.Fail}, actor: desk.HostActor,
		outcome: func(o *abi.Outcome) { o.Failure, o.Summary = failure, failure.Message }})
}

// shownReason says why something cannot be brought back, as clients may see it.
func shownReason(cause error) string {
	if ledger.IsNotFound(cause) {
		return cause.Error()
	}
	if u, ok := errors.AsType[*ledger.UnreadableError](cause); ok {
		return u.Shown().Message
	}
	return ledger.ReasonOf(cause)
}

// endable returns a Task that has not ended, so that it can be ended: of one that cannot
// be read, what is known of it. It returns nil when the Task has ended.
func (e *Engine) endable(ctx context.Context, key ledger.Key) (*task, error) {
	if e.aside.unended(key) {
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
	if ended, err := e.hasEnded(ctx, key); err != nil || ended {
		return nil, err
	}
	about := e.remains(ctx, key)
	seq, _, err := e.store.Sequence(ctx, key.Tenant, abi.ResourcePointer{Object: abi.ObjectTask, ID: key.ID})
	if err != nil {
		return nil, e.ledger.Failed("reading the task's sequence", err)
	}
	// It may have been in any state: WORKING is one that every end can follow on.
	t := &task{tenant: key.Tenant, id: key.ID, about: *about, task: *about, seq: seq + 1, state: lifecycle.State{Status: abi.TaskWorking}}
	t.session, t.leave = e.ledger.Hold(ledger.Key{Tenant: key.Tenant, ID: about.SessionID})
	t.asking = e.stillAsking(ctx, key)
	e.tasks.put(key, t)
	return t, nil
}

// hasEnded reports whether the last event that states a Task ended it.
func (e *Engine) hasEnded(ctx context.Context, key ledger.Key) (bool, error) {
	if e.aside.unended(key) {
		return false, nil
	}
	res, err := e.ledger.Find(ctx, key.Tenant, abi.ObjectTask, key.ID)
	if err != nil {
		return false, err
	}
	ev, err := e.store.Event(ctx, key.Tenant, res.Position)
	if err != nil {
		return false, e.ledger.Failed("reading the task's last event", err)
	}
	switch ev.Record().Kind {
	case abi.EventTaskCompleted, abi.EventTaskFailed, abi.EventTaskCanceled:
		return true, nil
	}
	return false, nil
}

// remains returns what is known of a Task that cannot be read: what it was accepted as,
// and where that cannot be read either, what its first events say of where it belongs.
func (e *Engine) remains(ctx context.Context, key ledger.Key) *abi.Task {
	about := &abi.Task{Envelope: abi.NewEnvelope(abi.ObjectTask, key.ID, e.now(), nil), CreatedBy: desk.HostActor}
	first, _, err := e.store.Events(ctx, key.Tenant, desk.Scope{Object: abi.ObjectTask, ID: key.ID}, 0, 20)
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

// visibleRemains returns what is known of a Task that cannot be read, to a caller who
// may see its Workspace; cause where it is not known which that is.
func (e *Engine) visibleRemains(ctx context.Context, c *desk.Caller, id string, cause error) (abi.Task, error) {
	about := e.remains(ctx, ledger.Key{Tenant: c.Tenant, ID: id})
	switch {
	case about.WorkspaceID == "" && len(c.Workspaces) > 0:
		return *about, cause
	case about.WorkspaceID != "" && !c.Sees(about.WorkspaceID):
		return *about, abi.NotFound(abi.ObjectTask, id)
	}
	return *about, nil
}

// stillAsking returns the request that a Task waits on that cannot be read; nil for
// none that can be.
func (e *Engine) stillAsking(ctx context.Context, key ledger.Key) *asking {
	list, _, err := e.store.List(ctx, key.Tenant, abi.ObjectPermissionRequest, desk.Scope{Object: abi.ObjectTask, ID: key.ID}, storage.Page{Limit: 200})
	if err != nil {
		return nil
	}
	for _, res := range list { // the newest first: no other is pending
		p := &asking{seq: res.Sequence}
		if ledger.Decode(res.State, &p.PermissionRequest) == nil && p.Status == abi.PermissionPending && p.ID == res.ID {
			return p
		}
	}
	return nil
}

// checkActive holds a Task that has not ended against what bringing it back relies on.
func (e *Engine) checkActive(t *abi.Task) error {
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
	case e.calls[w.Call] == nil:
		return ledger.Unreadable(abi.ObjectTask, t.ID, "it waits for %.64q: %w", w.Call, ledger.ErrForeign)
	case w.Index < 0 || w.RequestID == "":
		return wrong("what it waits for is call %d, request %.64q", w.Index, w.RequestID)
	}
	return nil
}

// undone logs why something was not done that the engine does by itself. While the node
// drains that is no fault: the next start does it.
func (e *Engine) undone(what string, key ledger.Key, err error) {
	if err == nil || errors.Is(err, lifecycle.ErrTerminal) || errors.Is(err, errNotWaiting) || e.draining.Load() {
		return
	}
	e.log.Error(what, "task", key.ID, "error", err)
}
