package personas

import (
	"context"
	"slices"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

// CheckOffered refuses a Persona of a plugin's manifest that no tenant can be given.
func (k *Keeper) CheckOffered(ctx context.Context, p *abi.Persona) error {
	if slices.ContainsFunc(k.parts.Bundled, func(own abi.Persona) bool { return own.ID == p.ID }) {
		return abi.Errorf(abi.CodeConflict, "the node has a persona %s of its own: give the plugin another name", p.ID)
	}
	return k.checkPersona(ctx, &desk.Caller{}, p)
}

// RenewOffered gives a tenant the Persona of a plugin, and its Skill, as now returns it: nil when no
// version that is installed has one any more, whose Persona is retired. A Persona that the tenant has
// changed itself stays as it is. now is asked under the Persona's lock, so the last of two has the last.
func (k *Keeper) RenewOffered(ctx context.Context, t *abi.Tenant, id string, now func() *abi.Persona) error {
	number := storage.Tenant(t.Number)
	err := k.renewing(number, abi.ObjectPersona, id, func() error {
		if p := now(); p != nil {
			return k.seedPersona(ctx, number, *p)
		}
		return k.withdraw(ctx, number, id)
	})
	if err != nil {
		return err
	}
	return k.renewing(number, abi.ObjectSkill, skillID(id), func() error {
		if p := now(); p != nil {
			return k.seedSkill(ctx, number, SkillOfPersona(p))
		}
		return nil
	})
}

// renewing does a change under the lock of what it changes. What cannot be read is left out.
func (k *Keeper) renewing(t storage.Tenant, o abi.Object, id string, do func() error) error {
	_, err := ledger.Change(k.parts.Ledger, t, id, func() (desk.Doc, error) { return desk.Doc{}, do() })
	if ledger.IsUnreadable(err) {
		k.parts.LeaveOut(t, o, id, err)
		return nil
	}
	return err
}

// withdraw retires a Persona whose plugin is gone.
func (k *Keeper) withdraw(ctx context.Context, t storage.Tenant, id string) error {
	res, err := k.parts.Ledger.Find(ctx, t, abi.ObjectPersona, id)
	if ledger.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	var p abi.Persona
	if err := readPersona(&res, &p); err != nil {
		return err
	}
	own, err := k.unchanged(ctx, t, &res, &p)
	if err != nil || !own || !p.RetiredAt.IsZero() {
		return err
	}
	p.RetiredAt, p.UpdatedAt = abi.At(k.parts.Now()), abi.At(k.parts.Now())
	return k.restate(t, &res, &p)
}
