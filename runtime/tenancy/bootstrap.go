package tenancy

import (
	"context"
	"fmt"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

// DefaultTenant is the name of the tenant that a first start makes, and
// DefaultWorkspace the id of its Workspace.
const (
	DefaultTenant    = "default"
	DefaultWorkspace = "ws_default"
)

// Bootstrap makes what a node needs to be usable: the default tenant with its
// Workspace and Personas, and an API key with every right. key, when it is not
// empty, is that API key, and the one that a start was given before is revoked; otherwise a
// first start makes one up and returns it, and later starts return "". It is called once, before the node starts.
func (d *Directory) Bootstrap(ctx context.Context, key string) (newKey string, err error) {
	if key != "" && len(key) < MinKeyLen {
		return "", fmt.Errorf("the API key must have at least %d characters; it has %d", MinKeyLen, len(key))
	}
	if err := d.LoadTenants(ctx); err != nil {
		return "", err
	}
	first := d.tenants.Named(DefaultTenant) == nil
	if first && d.tenants.incomplete() {
		return "", d.seedAll(ctx) // it is among those that cannot be read, and none is made in its place
	}
	tenant, err := d.ensureTenant(ctx, desk.HostActor, DefaultTenant)
	if err != nil {
		return "", err
	}
	if err := d.seedAll(ctx); err != nil {
		return "", err
	}
	roots, err := d.startKeys(ctx)
	if err != nil {
		return "", err
	}
	if key != "" {
		return "", d.takeRootKey(ctx, tenant, roots, key)
	}
	if !first {
		if first, err = d.keyless(ctx); err != nil || !first {
			return "", err
		}
	}
	if newKey, err = d.newSecret(); err != nil {
		return "", err
	}
	_, err = d.writeRootKey(tenant, newKey, abi.KeyFromStart)
	return newKey, err
}

// seedAll gives every tenant what comes with the node.
func (d *Directory) seedAll(ctx context.Context) error {
	for _, t := range d.tenants.All() {
		if err := d.parts.Seed(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// keyless reports whether the node has no API key at all: an earlier first start
// was cut short before it made one.
func (d *Directory) keyless(ctx context.Context) (bool, error) {
	keys, _, err := d.parts.Store.List(ctx, storage.SystemTenant, abi.ObjectAPIKey, desk.Scope{}, storage.Page{Limit: 1})
	return len(keys) == 0, err
}

// LoadTenants reads every tenant into memory. Those that cannot be read are left out.
func (d *Directory) LoadTenants(ctx context.Context) error {
	after := ""
	for {
		page, more, err := d.parts.Store.List(ctx, storage.SystemTenant, abi.ObjectTenant, desk.Scope{}, storage.Page{After: after, Limit: 200})
		if err != nil {
			return fmt.Errorf("reading the tenants: %w", err)
		}
		for _, res := range page {
			after = res.ID
			d.tenants.stored++
			t, err := d.tenants.readTenant(&res)
			if err != nil {
				d.parts.LeaveOut(storage.SystemTenant, abi.ObjectTenant, res.ID, err)
				continue
			}
			d.tenants.put(t)
		}
		if !more {
			return nil
		}
	}
}

// errTenants refuses to make a tenant: which numbers and names are free is not known.
var errTenants = abi.Errorf(abi.CodeConflict, "a tenant of this node is stored, but cannot be read: no other is made before it can; wharf doctor names it")

// ensureTenant returns the tenant of the given name, making it with a Workspace
// and the bundled Personas if there is none.
func (d *Directory) ensureTenant(ctx context.Context, actor, name string) (*abi.Tenant, error) {
	d.tenants.create.Lock()
	defer d.tenants.create.Unlock()
	if t := d.tenants.Named(name); t != nil {
		return t, d.ensureWorkspace(ctx, actor, t)
	}
	if d.tenants.incomplete() {
		return nil, errTenants
	}
	now := d.parts.Now()
	t := &abi.Tenant{
		Envelope: abi.NewEnvelope(abi.ObjectTenant, d.parts.IDs.New(abi.ObjectTenant), now, nil),
		Name:     name, Number: d.tenants.next(),
		DefaultWorkspaceID: d.parts.IDs.New(abi.ObjectWorkspace),
	}
	if name == DefaultTenant {
		t.DefaultWorkspaceID = DefaultWorkspace
	}
	_, err := d.parts.Desk.Commit(&desk.Caller{Tenant: storage.SystemTenant, Actor: actor}, "", "", nil, 0,
		ledger.Record{Kind: abi.EventTenantCreated, Object: abi.ObjectTenant, ID: t.ID, Created: true, State: t})
	if err != nil {
		return nil, err
	}
	d.tenants.made(t)
	if err := d.ensureWorkspace(ctx, actor, t); err != nil {
		return nil, err
	}
	return t, d.parts.Seed(ctx, t)
}

// ensureWorkspace makes a tenant's default Workspace unless it is there: the node
// may have died between the two.
func (d *Directory) ensureWorkspace(ctx context.Context, actor string, t *abi.Tenant) error {
	number := storage.Tenant(t.Number)
	_, err := d.parts.Ledger.Find(ctx, number, abi.ObjectWorkspace, t.DefaultWorkspaceID)
	if ledger.IsUnreadable(err) {
		d.parts.LeaveOut(number, abi.ObjectWorkspace, t.DefaultWorkspaceID, err)
		return nil
	}
	if !ledger.IsNotFound(err) {
		return err
	}
	w := d.newWorkspace(t, t.DefaultWorkspaceID, abi.CreateWorkspaceRequest{Name: "default", Root: "wharf:///" + t.DefaultWorkspaceID})
	_, err = d.parts.Desk.Commit(&desk.Caller{Tenant: number, Actor: actor}, "", w.ID, nil, 0,
		ledger.Record{Kind: abi.EventWorkspaceCreated, Object: abi.ObjectWorkspace, ID: w.ID, Created: true, State: w})
	return err
}
