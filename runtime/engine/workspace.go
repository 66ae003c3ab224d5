package engine

import (
	"context"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// CreateWorkspace makes a Workspace. A key that is bound to Workspaces makes none.
func (e *Engine) CreateWorkspace(ctx context.Context, c *Caller, r *Retry, req abi.CreateWorkspaceRequest) (Doc, error) {
	if len(c.Workspaces) > 0 {
		return Doc{}, abi.Errorf(abi.CodePermissionDenied, "this key is bound to workspaces and cannot make others")
	}
	if err := firstError(checkPresent("name", req.Name), checkPresent("root", req.Root), checkNetworkPolicy(&req.NetworkPolicy), checkMetadata(&req.Metadata)); err != nil {
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
		Image: req.Image, Packages: req.Packages, NetworkPolicy: req.NetworkPolicy, SandboxBackend: req.SandboxBackend,
	}
}

// checkNetworkPolicy accepts none, null, or an object.
func checkNetworkPolicy(p *jsontext.Value) error {
	if err := checkMetadata(p); err != nil {
		return abi.InvalidParam("network_policy", "network_policy must be a JSON object")
	}
	return nil
}

// UpdateWorkspace changes what is said about a Workspace, and which Quota bounds it.
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
		if err := firstError(setWorkspace(&w, &req), e.setWorkspaceQuota(ctx, c, &w, req.QuotaID)); err != nil {
			return Doc{}, err
		}
		w.UpdatedAt = abi.At(e.now())
		return e.commit(c, "", id, idem, statusOK,
			record{kind: abi.EventWorkspaceUpdated, object: abi.ObjectWorkspace, id: id, seq: res.Sequence + 1, state: &w})
	})
}

// setWorkspace takes over what a request says about a Workspace.
func setWorkspace(w *abi.Workspace, req *abi.UpdateWorkspaceRequest) error {
	if req.Name != nil {
		if err := checkPresent("name", *req.Name); err != nil {
			return err
		}
	}
	set(&w.Name, req.Name)
	req.Host.Apply(&w.Host)
	req.Repository.Apply(&w.Repository)
	for to, from := range map[*[]string][]string{&w.Capabilities: req.Capabilities, &w.Connectors: req.Connectors} {
		if from != nil {
			*to = from
		}
	}
	if req.Metadata != nil {
		w.Metadata = req.Metadata
	}
	return nil
}

// scopeQuotas is what changing the Quota of a Workspace takes besides: nobody frees
// themselves of a bound by naming another.
const scopeQuotas = "quotas:write"

// setWorkspaceQuota changes which Quota bounds a Workspace; id is a string, or null for
// none.
func (e *Engine) setWorkspaceQuota(ctx context.Context, c *Caller, w *abi.Workspace, id jsontext.Value) error {
	if len(id) == 0 {
		return nil
	}
	if !c.Can(scopeQuotas) {
		return errDenied(scopeQuotas)
	}
	if len(c.Workspaces) > 0 {
		return abi.Errorf(abi.CodePermissionDenied, "this key is bound to workspaces and cannot change which quota bounds them")
	}
	w.QuotaID = ""
	if id.Kind() == 'n' {
		return nil
	}
	if err := json.Unmarshal(id, &w.QuotaID); err != nil {
		return abi.InvalidParam("quota_id", "quota_id is a string, or null for none")
	}
	_, err := e.Quota(ctx, c, w.QuotaID)
	if isNotFound(err) {
		return abi.InvalidParam("quota_id", "there is no quota %q", w.QuotaID)
	}
	return err
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
