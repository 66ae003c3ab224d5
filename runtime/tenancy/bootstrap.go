package tenancy

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

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

// LoadTenants reads every tenant into memory that is not there. Those that cannot be read are
// left out.
func (d *Directory) LoadTenants(ctx context.Context) error {
	stored := 0
	for after := ""; ; {
		page, more, err := d.parts.Store.List(ctx, storage.SystemTenant, abi.ObjectTenant, desk.Scope{}, storage.Page{After: after, Limit: 200})
		if err != nil {
			return fmt.Errorf("reading the tenants: %w", err)
		}
		stored += len(page)
		for _, res := range page {
			after = res.ID
			if _, err := d.tenants.Tenant(res.ID); err == nil {
				continue
			}
			t, err := d.tenants.readTenant(&res)
			if err != nil {
				d.parts.LeaveOut(storage.SystemTenant, abi.ObjectTenant, res.ID, err)
				continue
			}
			d.tenants.put(t)
		}
		if !more {
			d.tenants.found(stored)
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
	t, err := d.makeTenant(ctx, actor, name)
	if err != nil {
		return nil, err
	}
	if err := d.ensureWorkspace(ctx, actor, t); err != nil {
		return nil, err
	}
	return t, d.parts.Seed(ctx, t)
}

// maxNumbers is how many numbers are tried for a tenant while other writers take them.
const maxNumbers = 16

// makeTenant makes a tenant under a number of its own, or returns the one of that name that
// another writer on the same store was faster to make.
func (d *Directory) makeTenant(ctx context.Context, actor, name string) (*abi.Tenant, error) {
	for try := 1; ; try++ {
		if d.tenants.incomplete() {
			return nil, errTenants
		}
		t, err := d.writeTenant(actor, name)
		if err == nil {
			d.tenants.made(t)
			return t, nil
		}
		if !taken(err) || try == maxNumbers {
			return nil, err
		}
		if err := d.LoadTenants(ctx); err != nil {
			return nil, err
		}
		if t := d.tenants.Named(name); t != nil {
			return t, nil
		}
	}
}

// writeTenant writes a tenant with the next number. Whoever makes tenants writes this number's key
// with its tenant, so that nobody else gives the same number at that time.
func (d *Directory) writeTenant(actor, name string) (*abi.Tenant, error) {
	now := d.parts.Now()
	t := &abi.Tenant{
		Envelope: abi.NewEnvelope(abi.ObjectTenant, d.parts.IDs.New(abi.ObjectTenant), now, nil),
		Name:     name, Number: d.tenants.next(),
		DefaultWorkspaceID: d.parts.IDs.New(abi.ObjectWorkspace),
	}
	if name == DefaultTenant {
		t.DefaultWorkspaceID = DefaultWorkspace
	}
	number := &storage.Idempotency{Key: sha256.Sum256(fmt.Append(nil, "the tenant with the number ", t.Number)), Expires: now.Add(numberKept)}
	_, err := d.parts.Desk.Commit(&desk.Caller{Tenant: storage.SystemTenant, Actor: actor}, "", "", number, desk.StatusCreated,
		ledger.Record{Kind: abi.EventTenantCreated, Object: abi.ObjectTenant, ID: t.ID, Created: true, State: t})
	return t, err
}

// numberKept is for how long the key of a tenant's number is kept: far longer than it takes to
// learn of a tenant and to write the next.
const numberKept = time.Hour

// taken reports whether another writer has taken the number of a tenant.
func taken(err error) bool {
	c, ok := errors.AsType[*storage.ConflictError](err)
	return ok && c.Expected.Kind == storage.ExpectNoAnswer
}

// ensureWorkspace makes a tenant's default Workspace unless it is there: the node
// may have died between the two.
func (d *Directory) ensureWorkspace(ctx context.Context, actor string, t *abi.Tenant) error {
	number := storage.Tenant(t.Number)
	_, err := ledger.Change(d.parts.Ledger, number, t.DefaultWorkspaceID, func() (desk.Doc, error) {
		_, err := d.parts.Ledger.Find(ctx, number, abi.ObjectWorkspace, t.DefaultWorkspaceID)
		if !ledger.IsNotFound(err) {
			return desk.Doc{}, err
		}
		w := d.newWorkspace(t, t.DefaultWorkspaceID, abi.CreateWorkspaceRequest{Name: "default", Root: "wharf:///" + t.DefaultWorkspaceID})
		return d.parts.Desk.Commit(&desk.Caller{Tenant: number, Actor: actor}, "", w.ID, nil, 0,
			ledger.Record{Kind: abi.EventWorkspaceCreated, Object: abi.ObjectWorkspace, ID: w.ID, Created: true, State: w})
	})
	if ledger.IsUnreadable(err) {
		d.parts.LeaveOut(number, abi.ObjectWorkspace, t.DefaultWorkspaceID, err)
		return nil
	}
	return err
}
