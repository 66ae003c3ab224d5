package deletion

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

// Parts are what a keeper works with.
type Parts struct {
	desk.Parts
	// Live returns the Workspace and the status of a Task that the engine still has in hand.
	Live func(ledger.Key) (workspace string, status abi.TaskStatus, ok bool)
	// DropSession has a Session shown to nobody any more, and erased.
	DropSession func(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, admit func(*abi.Session) (release func(), err error)) (desk.Doc, error)
	// Tenants returns the tenants of the node.
	Tenants func() []*abi.Tenant
}

// Keeper deletes for callers, and erases. It is safe for concurrent use.
type Keeper struct {
	parts  Parts
	eraser storage.Eraser // nil for a store that erases nothing
	wake   chan struct{}
	told   func(Removed)
	// holding is held by who places a Hold, and shared by who deletes or erases, from its look at Holds until what it writes is
	// to be seen. It is taken last.
	holding sync.RWMutex
	placed  atomic.Uint64 // how many Holds were placed
}

// NewKeeper returns a keeper.
func NewKeeper(p Parts) *Keeper {
	eraser, _ := p.Store.(storage.Eraser)
	return &Keeper{parts: p, eraser: eraser, wake: make(chan struct{}, 1), told: func(Removed) {}}
}

// OnRemoved has f called with what limits remove, whenever something has been. It is set before there is any
// work.
func (k *Keeper) OnRemoved(f func(Removed)) { k.told = f }

// live reports whether the engine still has a Task in hand.
func (k *Keeper) live(t storage.Tenant, task string) bool {
	_, _, ok := k.parts.Live(ledger.Key{Tenant: t, ID: task})
	return ok
}

// Woken is sent to when something was deleted.
func (k *Keeper) Woken() <-chan struct{} { return k.wake }

func (k *Keeper) rouse() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

var errKeepsAll = abi.Errorf(abi.CodeNotImplemented, "the storage of this node erases nothing")

// DeleteTask has a Task that has ended shown to nobody any more, and erased. A retry with the key of the first
// time succeeds, although the Task is gone.
func (k *Keeper) DeleteTask(ctx context.Context, c *desk.Caller, r *desk.Retry, id string) (desk.Doc, error) {
	return k.delete(ctx, c, r, abi.ResourcePointer{Object: abi.ObjectTask, ID: id}, func() (storage.Frame, ledger.Record, error) {
		t, res, err := desk.Find[abi.Task](ctx, k.parts.Desk, c, abi.ObjectTask, id)
		if err != nil {
			return storage.Frame{}, ledger.Record{}, err
		}
		if !t.Status.Terminal() { // one that is just being finished is erased once it is
			return storage.Frame{}, ledger.Record{}, abi.Errorf(abi.CodeInvalidStateTransition,
				"task %s is %s: cancel it, and delete it once it has ended", id, t.Status)
		}
		t.DeletedAt = abi.At(k.parts.Now())
		t.UpdatedAt = t.DeletedAt
		return storage.Frame{WorkspaceID: t.WorkspaceID, SessionID: t.SessionID, TaskID: id},
			ledger.Record{Kind: abi.EventTaskDeleted, Object: abi.ObjectTask, ID: id, Read: res.Position, State: &t}, nil
	})
}

// DeleteArtifact has an Artifact shown to nobody any more. Its content is erased, unless its Task's record tells of it:
// then with that.
func (k *Keeper) DeleteArtifact(ctx context.Context, c *desk.Caller, r *desk.Retry, id string) (desk.Doc, error) {
	return k.delete(ctx, c, r, abi.ResourcePointer{Object: abi.ObjectArtifact, ID: id}, func() (storage.Frame, ledger.Record, error) {
		a, res, err := desk.Find[abi.Artifact](ctx, k.parts.Desk, c, abi.ObjectArtifact, id)
		if err != nil {
			return storage.Frame{}, ledger.Record{}, err
		}
		a.DeletedAt = abi.At(k.parts.Now())
		a.UpdatedAt = a.DeletedAt
		return storage.Frame{WorkspaceID: a.WorkspaceID, SessionID: a.SessionID, TaskID: a.TaskID},
			ledger.Record{Kind: abi.EventArtifactDeleted, Object: abi.ObjectArtifact, ID: id, Read: res.Position, State: &a}, nil
	})
}

// delete writes the record that says that something is deleted. describe reads it and returns that record.
func (k *Keeper) delete(ctx context.Context, c *desk.Caller, r *desk.Retry, about abi.ResourcePointer,
	describe func() (storage.Frame, ledger.Record, error)) (desk.Doc, error) {
	if k.eraser == nil {
		return desk.Doc{}, errKeepsAll
	}
	// What is gone has no Workspace any more that could scope its Idempotency-Keys.
	doc, err := k.parts.Desk.Once(ctx, c, r, "", func(idem *storage.Idempotency) (desk.Doc, error) {
		return ledger.Change(k.parts.Ledger, c.Tenant, about.ID, func() (desk.Doc, error) {
			f, rec, err := describe()
			if err != nil {
				return desk.Doc{}, err
			}
			k.holding.RLock()
			defer k.holding.RUnlock()
			err = k.CheckHolds(ctx, c.Tenant, about, f.WorkspaceID, f.SessionID, f.TaskID)
			if err == nil && about.Object == abi.ObjectTask {
				err = k.checkHeldWithin(ctx, c.Tenant, about, abi.ObjectArtifact)
			}
			if err != nil {
				return desk.Doc{}, err
			}
			f.Tenant, f.Actor = c.Tenant, c.Actor
			doc, err := k.parts.Desk.CommitNext(ctx, f, idem, desk.StatusNoContent, rec)
			if err == nil {
				err = k.hide(context.WithoutCancel(ctx), c.Tenant, about)
			}
			return doc, err
		})
	})
	if err == nil {
		k.rouse()
	}
	return doc, err
}

// DeleteSession deletes a Session, unless a Hold is on it, and has it erased with its Tasks.
func (k *Keeper) DeleteSession(ctx context.Context, c *desk.Caller, r *desk.Retry, id string) (desk.Doc, error) {
	about := abi.ResourcePointer{Object: abi.ObjectSession, ID: id}
	admit := func(s *abi.Session) (release func(), err error) {
		k.holding.RLock()
		err = k.CheckHolds(ctx, c.Tenant, about, s.WorkspaceID)
		if err == nil {
			err = k.checkHeldWithin(ctx, c.Tenant, about, abi.ObjectTask, abi.ObjectArtifact)
		}
		if err != nil {
			k.holding.RUnlock()
			return nil, err
		}
		return k.holding.RUnlock, nil
	}
	doc, err := k.parts.DropSession(ctx, c, r, id, admit)
	if err == nil && !doc.Replayed {
		err = k.hide(context.WithoutCancel(ctx), c.Tenant, about)
	}
	if err == nil {
		k.rouse()
	}
	return doc, err
}

// host is the caller of what the node does by itself.
func host(t storage.Tenant, id string) *desk.Caller {
	return &desk.Caller{Tenant: t, TenantID: id, Actor: desk.HostActor, Scopes: []string{abi.ScopeAll}}
}

// pause leaves the node to others for as long as the work has taken.
func pause(ctx context.Context, took time.Duration) {
	t := time.NewTimer(took)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
