package personas

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/storage"
)

// seeds returns the Personas that every tenant is given.
func (k *Keeper) seeds() []abi.Persona {
	if k.parts.Offered == nil {
		return k.parts.Bundled
	}
	return append(slices.Clone(k.parts.Bundled), k.parts.Offered()...)
}

// seedPersonas gives a tenant the bundled Personas that it does not have yet, and
// brings those up to date that an older program has given it.
func (k *Keeper) seedPersonas(ctx context.Context, t *abi.Tenant) error {
	number := storage.Tenant(t.Number)
	for _, p := range k.seeds() {
		_, err := ledger.Change(k.parts.Ledger, number, p.ID, func() (desk.Doc, error) { return desk.Doc{}, k.seedPersona(ctx, number, p) })
		if ledger.IsUnreadable(err) {
			k.parts.LeaveOut(number, abi.ObjectPersona, p.ID, err)
			continue
		}
		if err != nil {
			return fmt.Errorf("seeding persona %s: %w", p.ID, err)
		}
	}
	return nil
}

func (k *Keeper) seedPersona(ctx context.Context, t storage.Tenant, p abi.Persona) error {
	res, err := k.parts.Ledger.Find(ctx, t, abi.ObjectPersona, p.ID)
	if err == nil {
		return k.renewPersona(ctx, t, &res, &p)
	}
	if !ledger.IsNotFound(err) {
		return err
	}
	p.Envelope = abi.NewEnvelope(abi.ObjectPersona, p.ID, k.parts.Now(), p.Metadata)
	_, err = k.parts.Desk.Commit(&desk.Caller{Tenant: t, Actor: desk.HostActor}, "", "", nil, 0,
		ledger.Record{Kind: abi.EventPersonaCreated, Object: abi.ObjectPersona, ID: p.ID, Created: true, State: &p})
	return err
}

// cache holds the Personas that were looked up.
type cache struct {
	all  sync.Map                         // by ledger.Key: *Persona
	load lockrank.Mutex[lockrank.Persona] // held while one is put there, so that none is older than the last
}

// SeedTenant gives a tenant what comes with the node.
func (k *Keeper) SeedTenant(ctx context.Context, t *abi.Tenant) error {
	if err := k.seedPersonas(ctx, t); err != nil {
		return err
	}
	return k.seedSkills(ctx, t)
}

// Persona is a Persona and its JSON. It is shared: do not change it.
type Persona struct {
	abi.Persona
	Text []byte
}

// Persona returns a Persona of a tenant.
func (k *Keeper) Persona(ctx context.Context, t storage.Tenant, id string) (*Persona, error) {
	key := ledger.Key{Tenant: t, ID: id}
	if p, ok := k.cache.all.Load(key); ok {
		return p.(*Persona), nil
	}
	k.cache.load.Lock()
	defer k.cache.load.Unlock()
	if p, ok := k.cache.all.Load(key); ok {
		return p.(*Persona), nil
	}
	res, err := k.parts.Ledger.Find(ctx, t, abi.ObjectPersona, id)
	if err != nil {
		return nil, err
	}
	p := &Persona{Text: res.State}
	if err := readPersona(&res, &p.Persona); err != nil {
		return nil, err
	}
	k.cache.all.Store(key, p)
	return p, nil
}

// PersonaIn returns a Persona that may be used in a Workspace: one of its own, or one of the whole
// tenant. One of another Workspace is as if it were not there. Whatever newly names a Persona looks
// it up here.
func (k *Keeper) PersonaIn(ctx context.Context, t storage.Tenant, workspace, id string) (*Persona, error) {
	p, err := k.Persona(ctx, t, id)
	if err == nil && (!isFor(p.WorkspaceID, workspace) || !p.DeletedAt.IsZero()) {
		return nil, abi.NotFound(abi.ObjectPersona, id)
	}
	return p, err
}

// WorkflowIn returns what a Persona runs that Tasks of a Workspace may have, as [Keeper.PersonaIn] finds it.
func (k *Keeper) WorkflowIn(ctx context.Context, t storage.Tenant, workspace, id string) (string, error) {
	p, err := k.PersonaIn(ctx, t, workspace, id)
	if err != nil {
		return "", err
	}
	return p.EntryWorkflow, nil
}

// PersonaOf is [Keeper.PersonaIn] for a Task that was taken already: it runs also as one that was
// deleted since. An agent is deleted with all that it had, and no Task begins as one.
func (k *Keeper) PersonaOf(ctx context.Context, t storage.Tenant, workspace, id string) (*Persona, error) {
	p, err := k.Persona(ctx, t, id)
	if err == nil && !p.DeletedAt.IsZero() && p.Agent == nil && isFor(p.WorkspaceID, workspace) {
		return p, nil
	}
	return k.PersonaIn(ctx, t, workspace, id)
}

// isFor reports whether what belongs to a Workspace, "" for the whole tenant, may be used in one.
func isFor(own, workspace string) bool { return own == "" || own == workspace }

// readPersona reads a stored Persona.
func readPersona(res *storage.Resource, into *abi.Persona) error {
	if err := ledger.Decode(res.State, into); err != nil {
		return ledger.Naming(abi.ObjectPersona, res.ID, err)
	}
	return ledger.CheckEnvelope(&into.Envelope, abi.ObjectPersona, res.ID)
}

// setPersona replaces a Persona that was changed.
func (c *cache) set(key ledger.Key, p *Persona) {
	c.load.Lock()
	defer c.load.Unlock()
	c.all.Store(key, p)
}

// drop forgets a Persona that was changed: it is read again. Of two that have changed it, under
// locks of their own, neither can leave what is older.
func (c *cache) drop(key ledger.Key) {
	c.load.Lock()
	defer c.load.Unlock()
	c.all.Delete(key)
}
