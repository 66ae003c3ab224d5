package engine

import (
	"context"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// CreateWorkspace makes a Workspace. A key that is bound to Workspaces makes none.
func (e *Engine) CreateWorkspace(ctx context.Context, c *Caller, r *Retry, req abi.CreateWorkspaceRequest) (Doc, error) {
	if len(c.Workspaces) > 0 {
		return Doc{}, abi.Errorf(abi.CodePermissionDenied, "this key is bound to workspaces and cannot make others")
	}
	if err := firstError(checkPresent("name", req.Name), checkPresent("root", req.Root), checkMetadata(&req.Metadata)); err != nil {
		return Doc{}, err
	}
	tenant, err := e.tenant(ctx, c.TenantID)
	if err != nil {
		return Doc{}, err
	}
	return e.once(ctx, c, r, "", func(idem *storage.Idempotency) (Doc, error) {
		w := e.newWorkspace(tenant, e.ids.New(abi.ObjectWorkspace), req)
		return e.commit(c, "", w.ID, idem, statusCreated,
			record{kind: abi.EventWorkspaceCreated, object: abi.ObjectWorkspace, id: w.ID, created: true, state: w})
	})
}

func (e *Engine) newWorkspace(t *abi.Tenant, id string, req abi.CreateWorkspaceRequest) *abi.Workspace {
	return &abi.Workspace{
		Envelope: abi.NewEnvelope(abi.ObjectWorkspace, id, e.now(), req.Metadata),
		Name:     req.Name, Root: req.Root, TenantID: t.ID,
	}
}

// UpdateWorkspace changes a Workspace's name, capabilities and metadata.
func (e *Engine) UpdateWorkspace(ctx context.Context, c *Caller, r *Retry, id string, req abi.UpdateWorkspaceRequest) (Doc, error) {
	if err := e.checkWorkspace(ctx, c, id); err != nil {
		return Doc{}, err
	}
	if err := checkMetadata(&req.Metadata); err != nil {
		return Doc{}, err
	}
	return e.once(ctx, c, r, id, func(idem *storage.Idempotency) (Doc, error) {
		unlock := e.locks.lock(c.Tenant, id)
		defer unlock()
		w, res, err := findAs[abi.Workspace](ctx, e, c, abi.ObjectWorkspace, id)
		if err != nil {
			return Doc{}, err
		}
		if req.Name != nil {
			if err := checkPresent("name", *req.Name); err != nil {
				return Doc{}, err
			}
			w.Name = *req.Name
		}
		if req.Capabilities != nil {
			w.Capabilities = req.Capabilities
		}
		if req.Metadata != nil {
			w.Metadata = req.Metadata
		}
		w.UpdatedAt = abi.At(e.now())
		return e.commit(c, "", id, idem, statusOK,
			record{kind: abi.EventWorkspaceUpdated, object: abi.ObjectWorkspace, id: id, seq: res.Sequence + 1, state: &w})
	})
}

// checkWorkspace answers not found for a Workspace that is absent or that the
// caller may not see.
func (e *Engine) checkWorkspace(ctx context.Context, c *Caller, id string) error {
	if !c.Sees(id) {
		return abi.NotFound(abi.ObjectWorkspace, id)
	}
	_, err := e.find(ctx, c.Tenant, abi.ObjectWorkspace, id)
	return err
}

// defaultWorkspace returns the Workspace of a resource that names none.
func (e *Engine) defaultWorkspace(c *Caller) string {
	if len(c.Workspaces) > 0 {
		return c.Workspaces[0]
	}
	e.tenants.mu.RLock()
	defer e.tenants.mu.RUnlock()
	if t := e.tenants.byNumber[c.Tenant]; t != nil {
		return t.DefaultWorkspaceID
	}
	return ""
}
