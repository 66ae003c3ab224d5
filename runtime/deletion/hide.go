package deletion

import (
	"context"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

// HideDeleted has nothing shown of what an earlier life of the node has deleted, and not erased.
func (k *Keeper) HideDeleted(ctx context.Context) error {
	if k.eraser == nil {
		return nil
	}
	err := k.eraser.Deleted(ctx, func(t storage.Tenant, r abi.ResourcePointer, _ storage.Position) error {
		return k.hide(ctx, t, r)
	})
	return k.parts.Ledger.Failed("looking for what was deleted", err)
}

// hide has nothing shown any more that belongs to a Task or a Session. Of a Session these are the Tasks that have ended: those
// that run are seen until they have.
func (k *Keeper) hide(ctx context.Context, t storage.Tenant, r abi.ResourcePointer) error {
	if r.Object == abi.ObjectArtifact { // it says so itself
		return nil
	}
	k.parts.Desk.Hide(t, r.ID)
	if r.Object == abi.ObjectTask {
		return k.hideOwn(ctx, t, r.ID)
	}
	page := storage.Page{Limit: pageOfResources}
	for more := true; more; {
		list, next, err := k.parts.Store.List(ctx, t, abi.ObjectTask, storage.Scope{Object: abi.ObjectSession, ID: r.ID}, page)
		if err != nil {
			return k.parts.Ledger.Failed("listing the tasks of "+r.ID, err)
		}
		for _, res := range list {
			page.After = res.ID
			if ended, err := k.endedIn(res); ended || err != nil {
				k.parts.Desk.Hide(t, res.ID)
			}
		}
		more = next
	}
	return nil
}

// hideOwn hides the Session that was made for a Task alone. What cannot be read is shown to nobody anyway.
func (k *Keeper) hideOwn(ctx context.Context, t storage.Tenant, id string) error {
	task, err := read[abi.Task](ctx, k, t, abi.ObjectTask, id)
	var s abi.Session
	if err == nil {
		s, err = read[abi.Session](ctx, k, t, abi.ObjectSession, task.SessionID)
	}
	if ledger.IsNotFound(err) || ledger.IsUnreadable(err) {
		return nil
	}
	if err == nil && s.OnlyTaskID == id {
		k.parts.Desk.Hide(t, s.ID)
	}
	return err
}
