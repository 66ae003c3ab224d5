package tenancy

import (
	"cmp"
	"context"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

// CreateWorkspace makes a Workspace. A key that is bound to Workspaces makes none.
func (d *Directory) CreateWorkspace(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.CreateWorkspaceRequest) (desk.Doc, error) {
	if len(c.Workspaces) > 0 {
		return desk.Doc{}, abi.Errorf(abi.CodePermissionDenied, "this key is bound to workspaces and cannot make others")
	}
	if err := cmp.Or(desk.CheckPresent("name", req.Name), desk.CheckPresent("root", req.Root), checkNetworkPolicy(&req.NetworkPolicy), desk.CheckMetadata(&req.Metadata)); err != nil {
		return desk.Doc{}, err
	}
	tenant, err := d.tenants.Tenant(c.TenantID)
	if err != nil {
		return desk.Doc{}, err
	}
	return d.parts.Desk.Once(ctx, c, r, "", func(idem *storage.Idempotency) (desk.Doc, error) {
		w := d.newWorkspace(tenant, d.parts.IDs.New(abi.ObjectWorkspace), req)
		return d.parts.Desk.Commit(c, "", w.ID, idem, desk.StatusCreated,
			ledger.Record{Kind: abi.EventWorkspaceCreated, Object: abi.ObjectWorkspace, ID: w.ID, Created: true, State: w})
	})
}

func (d *Directory) newWorkspace(t *abi.Tenant, id string, req abi.CreateWorkspaceRequest) *abi.Workspace {
	return &abi.Workspace{
		Envelope: abi.NewEnvelope(abi.ObjectWorkspace, id, d.parts.Now(), req.Metadata),
		Name:     req.Name, Root: req.Root, TenantID: t.ID,
		Image: req.Image, Packages: req.Packages, NetworkPolicy: req.NetworkPolicy, SandboxBackend: req.SandboxBackend,
	}
}

// GetWorkspace returns a Workspace, and how much room it takes, where the store knows.
func (d *Directory) GetWorkspace(ctx context.Context, c *desk.Caller, id string) (desk.Doc, error) {
	doc, err := d.parts.Desk.Get(ctx, c, abi.ObjectWorkspace, id)
	sizer, ok := d.parts.Store.(storage.Sizer)
	if err != nil || !ok {
		return doc, err
	}
	size, known, err := sizer.SizeOf(ctx, c.Tenant, id)
	if err != nil {
		return desk.Doc{}, d.parts.Ledger.Failed("reading what "+id+" takes", err)
	}
	var w abi.Workspace
	if err := ledger.Decode(doc.JSON, &w); err != nil || !known {
		return doc, err
	}
	w.UsedBytes = &size
	doc.JSON, err = json.Marshal(&w, json.Deterministic(true))
	return doc, err
}

// checkNetworkPolicy accepts none, null, or an object.
func checkNetworkPolicy(p *jsontext.Value) error {
	if err := desk.CheckMetadata(p); err != nil {
		return abi.InvalidParam("network_policy", "network_policy must be a JSON object")
	}
	return nil
}

// UpdateWorkspace changes what is said about a Workspace, and which Quota bounds it.
func (d *Directory) UpdateWorkspace(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.UpdateWorkspaceRequest) (desk.Doc, error) {
	if err := d.parts.Desk.CheckWorkspace(ctx, c, id); err != nil {
		return desk.Doc{}, err
	}
	if err := desk.CheckMetadata(&req.Metadata); err != nil {
		return desk.Doc{}, err
	}
	return d.parts.Desk.Once(ctx, c, r, id, func(idem *storage.Idempotency) (desk.Doc, error) {
		return ledger.Change(d.parts.Ledger, c.Tenant, id, func() (desk.Doc, error) {
			w, res, err := desk.Find[abi.Workspace](ctx, d.parts.Desk, c, abi.ObjectWorkspace, id)
			if err != nil {
				return desk.Doc{}, err
			}
			if err := cmp.Or(setWorkspace(&w, &req), setRetention(c, &w, req.Retention), d.setWorkspaceQuota(ctx, c, &w, req.QuotaID)); err != nil {
				return desk.Doc{}, err
			}
			w.UpdatedAt = abi.At(d.parts.Now())
			// Files are told of beside it, with sequences of the same Workspace.
			return d.parts.Desk.CommitNext(ctx, storage.Frame{Tenant: c.Tenant, WorkspaceID: id, Actor: c.Actor}, idem, desk.StatusOK,
				ledger.Record{Kind: abi.EventWorkspaceUpdated, Object: abi.ObjectWorkspace, ID: id, State: &w, Read: res.Position})
		})
	})
}

// setWorkspace takes over what a request says about a Workspace.
func setWorkspace(w *abi.Workspace, req *abi.UpdateWorkspaceRequest) error {
	if req.Name != nil {
		if err := desk.CheckPresent("name", *req.Name); err != nil {
			return err
		}
	}
	abi.Replace(&w.Name, req.Name)
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

// maxDays is the longest that things can be said to be kept for, in days.
const maxDays = 36500

// maxRoom is the largest room that a Workspace can be given, in bytes.
const maxRoom = 1 << 50

// setRetention changes how long things of a Workspace are kept, and how much room they may take. It deletes what others have made, so it takes
// an administrator.
func setRetention(c *desk.Caller, w *abi.Workspace, change abi.Change[abi.WorkspaceRetention]) error {
	if !change.Given {
		return nil
	}
	if !c.Can(abi.ScopeAdmin) {
		return desk.Denied(abi.ScopeAdmin)
	}
	for name, days := range map[string]*float64{"task_days": change.To.TaskDays, "session_days": change.To.SessionDays, "artifact_days": change.To.ArtifactDays} {
		if days != nil && (*days < 0 || *days > maxDays) {
			return abi.InvalidParam("retention."+name, "retention.%s must be from 0 to %d", name, maxDays)
		}
	}
	if most := change.To.MaxBytes; most != nil && (*most < 1 || *most > maxRoom) {
		return abi.InvalidParam("retention.max_bytes", "retention.max_bytes must be from 1 to %d; leave it out for no limit", maxRoom)
	}
	w.Retention = nil
	if change.To != (abi.WorkspaceRetention{}) {
		w.Retention = &change.To
	}
	return nil
}

// scopeQuotas is what changing the Quota of a Workspace takes besides: nobody frees
// themselves of a bound by naming another.
const scopeQuotas = "quotas:write"

// setWorkspaceQuota changes which Quota bounds a Workspace; id is a string, or null for
// none.
func (d *Directory) setWorkspaceQuota(ctx context.Context, c *desk.Caller, w *abi.Workspace, id jsontext.Value) error {
	if len(id) == 0 {
		return nil
	}
	if !c.Can(scopeQuotas) {
		return desk.Denied(scopeQuotas)
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
	_, err := d.parts.Quota(ctx, c, w.QuotaID)
	if ledger.IsNotFound(err) {
		return abi.InvalidParam("quota_id", "there is no quota %q", w.QuotaID)
	}
	return err
}

// DefaultWorkspace returns the default Workspace of a tenant, "" of one that is not known.
func (d *Directory) DefaultWorkspace(number storage.Tenant) string {
	if t := d.tenants.numbered(number); t != nil {
		return t.DefaultWorkspaceID
	}
	return ""
}

// DraftWorkspace describes a Workspace that is made together with something else, and writes
// nothing.
func (d *Directory) DraftWorkspace(c *desk.Caller, name string) (*abi.Workspace, error) {
	tenant, err := d.tenants.Tenant(c.TenantID)
	if err != nil {
		return nil, err
	}
	id := d.parts.IDs.New(abi.ObjectWorkspace)
	return d.newWorkspace(tenant, id, abi.CreateWorkspaceRequest{Name: name, Root: "wharf:///" + id}), nil
}

// DefaultWorkspaceOf returns the Workspace of a resource that names none.
func (d *Directory) DefaultWorkspaceOf(c *desk.Caller) string {
	if len(c.Workspaces) > 0 {
		return c.Workspaces[0]
	}
	return d.DefaultWorkspace(c.Tenant)
}
