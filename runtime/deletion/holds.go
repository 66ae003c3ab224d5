package deletion

import (
	"context"
	"strings"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

// holdID returns the id of the Hold on a resource: one has at most one.
func holdID(resource string) string { return abi.IDPrefix(abi.ObjectHold) + resource }

// maxReason is how long a reason may be, in bytes.
const maxReason = 1000

// heldObjects are what Holds can be placed on.
func heldObjects() []abi.Object {
	return []abi.Object{abi.ObjectWorkspace, abi.ObjectSession, abi.ObjectTask, abi.ObjectArtifact}
}

// PlaceHold keeps something from being deleted until the Hold is released. What has one already keeps it, and gets the
// new reason.
func (k *Keeper) PlaceHold(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.PlaceHoldRequest) (desk.Doc, error) {
	if err := desk.CheckPresent("reason", req.Reason); err != nil {
		return desk.Doc{}, err
	}
	if len(req.Reason) > maxReason {
		return desk.Doc{}, abi.InvalidParam("reason", "reason has %d bytes, more than %d", len(req.Reason), maxReason)
	}
	about, workspace, err := k.held(ctx, c, req.ResourceID)
	if err != nil {
		return desk.Doc{}, err
	}
	id := holdID(about.ID)
	return k.parts.Desk.Once(ctx, c, r, workspace, func(idem *storage.Idempotency) (desk.Doc, error) {
		return ledger.Change(k.parts.Ledger, c.Tenant, id, func() (desk.Doc, error) {
			k.holding.Lock()
			defer k.holding.Unlock()
			if _, _, err := k.held(ctx, c, about.ID); err != nil { // it was deleted meanwhile
				return desk.Doc{}, err
			}
			k.placed.Add(1)
			h := &abi.Hold{Envelope: abi.NewEnvelope(abi.ObjectHold, id, k.parts.Now(), nil), WorkspaceID: workspace, Resource: about}
			rec := ledger.Record{Kind: abi.EventHoldPlaced, Object: abi.ObjectHold, ID: id, Created: true, State: h}
			before, res, err := desk.Find[abi.Hold](ctx, k.parts.Desk, c, abi.ObjectHold, id)
			switch {
			case err == nil:
				h.Envelope = before.Envelope
				rec.Created, rec.Sequence = false, res.Sequence+1
			case !ledger.IsNotFound(err):
				return desk.Doc{}, err
			}
			h.Reason, h.PlacedBy, h.UpdatedAt = req.Reason, c.Actor, abi.At(k.parts.Now())
			return k.parts.Desk.Commit(c, "", workspace, idem, desk.StatusCreated, rec)
		})
	})
}

// ReleaseHold lets something be deleted again. The Hold stays, as released.
func (k *Keeper) ReleaseHold(ctx context.Context, c *desk.Caller, r *desk.Retry, id string) (desk.Doc, error) {
	h, _, err := desk.Find[abi.Hold](ctx, k.parts.Desk, c, abi.ObjectHold, id)
	if err != nil {
		return desk.Doc{}, err
	}
	return k.parts.Desk.Once(ctx, c, r, h.WorkspaceID, func(idem *storage.Idempotency) (desk.Doc, error) {
		return ledger.Change(k.parts.Ledger, c.Tenant, id, func() (desk.Doc, error) {
			h, res, err := desk.Find[abi.Hold](ctx, k.parts.Desk, c, abi.ObjectHold, id)
			if err != nil {
				return desk.Doc{}, err
			}
			if !h.ReleasedAt.IsZero() {
				return desk.Doc{}, abi.Errorf(abi.CodeInvalidStateTransition, "hold %s was released already, by %s", id, h.ReleasedBy)
			}
			h.ReleasedAt, h.ReleasedBy = abi.At(k.parts.Now()), c.Actor
			h.UpdatedAt = h.ReleasedAt
			return k.parts.Desk.Commit(c, "", h.WorkspaceID, idem, desk.StatusOK,
				ledger.Record{Kind: abi.EventHoldReleased, Object: abi.ObjectHold, ID: id, Sequence: res.Sequence + 1, State: &h})
		})
	})
}

// held returns what an id names that a caller may see, and its Workspace.
func (k *Keeper) held(ctx context.Context, c *desk.Caller, id string) (about abi.ResourcePointer, workspace string, err error) {
	for _, o := range heldObjects() {
		if !strings.HasPrefix(id, abi.IDPrefix(o)) {
			continue
		}
		doc, err := k.parts.Desk.Get(ctx, c, o, id)
		if err != nil {
			return about, "", err
		}
		workspace = id
		if o != abi.ObjectWorkspace {
			var of struct {
				WorkspaceID string `json:"workspace_id"`
			}
			if err := ledger.Decode(doc.JSON, &of); err != nil {
				return about, "", ledger.Naming(o, id, err)
			}
			workspace = of.WorkspaceID
		}
		return abi.ResourcePointer{Object: o, ID: id}, workspace, nil
	}
	return about, "", abi.InvalidParam("resource_id", "resource_id must be the id of a workspace, a session, a task or an artifact")
}

// CheckHolds refuses to delete something if a Hold is on it, or on one of those that it is in.
func (k *Keeper) CheckHolds(ctx context.Context, t storage.Tenant, about abi.ResourcePointer, within ...string) error {
	for _, id := range append(within, about.ID) {
		if id == "" {
			continue
		}
		h, err := k.hold(ctx, t, id)
		if err != nil {
			return err
		}
		if h != nil {
			return abi.Errorf(abi.CodeResourceLocked, "%s cannot be deleted: a hold is on %s, placed by %s: %s", about.ID, id, h.PlacedBy, h.Reason)
		}
	}
	return nil
}

// hold returns the Hold that is on a resource, nil for none.
func (k *Keeper) hold(ctx context.Context, t storage.Tenant, resource string) (*abi.Hold, error) {
	res, err := k.parts.Ledger.Find(ctx, t, abi.ObjectHold, holdID(resource))
	if ledger.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	h := &abi.Hold{}
	if err := ledger.Decode(res.State, h); err != nil {
		return nil, ledger.Naming(abi.ObjectHold, res.ID, err)
	}
	if !h.ReleasedAt.IsZero() {
		return nil, nil
	}
	return h, nil
}

// checkHeldWithin refuses to delete a Session or a Task if a Hold is on one of the resources of these objects that it has.
func (k *Keeper) checkHeldWithin(ctx context.Context, t storage.Tenant, owner abi.ResourcePointer, objects ...abi.Object) error {
	for _, o := range objects {
		page := storage.Page{Limit: pageOfResources}
		for more := true; more; {
			list, next, err := k.parts.Store.List(ctx, t, o, storage.Scope{Object: owner.Object, ID: owner.ID}, page)
			if err != nil {
				return k.parts.Ledger.Failed("listing what is in "+owner.ID, err)
			}
			for _, res := range list {
				page.After = res.ID
				if err := k.CheckHolds(ctx, t, abi.ResourcePointer{Object: o, ID: res.ID}); err != nil {
					return err
				}
			}
			more = next
		}
	}
	return nil
}

// pageOfResources is how many resources are read at once.
const pageOfResources = 100
