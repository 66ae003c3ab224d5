package personas

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

// DeletePersona deletes a Persona: no read shows it any more, and nothing new may name it. Tasks that
// were taken go on, and what was recorded stays. It is refused for one that comes with the node or a
// plugin, which would give it again; for an agent, which has more than its Persona; and while something
// that works by itself names it, which would fail from then on.
func (k *Keeper) DeletePersona(ctx context.Context, c *desk.Caller, r *desk.Retry, id string) error {
	_, err := k.parts.Desk.Once(ctx, c, r, "", func(idem *storage.Idempotency) (desk.Doc, error) {
		return ledger.Change(k.parts.Ledger, c.Tenant, id, func() (desk.Doc, error) {
			p, res, err := desk.Find[abi.Persona](ctx, k.parts.Desk, c, abi.ObjectPersona, id)
			if err == nil {
				err = cmp.Or(mayGovern(c, p.WorkspaceID), k.checkRemovable(ctx, c, &p))
			}
			if err != nil {
				return desk.Doc{}, err
			}
			doc, err := k.parts.Desk.Commit(c, "", p.WorkspaceID, idem, desk.StatusNoContent, removed(k.gone(p), &res))
			if err == nil {
				k.cache.drop(ledger.Key{Tenant: c.Tenant, ID: id})
			}
			return doc, err
		})
	})
	return err
}

// gone returns a Persona as one that is deleted.
func (k *Keeper) gone(p abi.Persona) *abi.Persona {
	p.DeletedAt = abi.At(k.parts.Now())
	p.RetiredAt, p.UpdatedAt = p.DeletedAt, p.DeletedAt
	return &p
}

// removed states that a Persona is gone; res is how it was stated before.
func removed(gone *abi.Persona, res *storage.Resource) ledger.Record {
	rec := updated(gone, res)
	rec.Kind = abi.EventPersonaDeleted
	return rec
}

// checkRemovable refuses a Persona that is to stay, and says what to do instead.
func (k *Keeper) checkRemovable(ctx context.Context, c *desk.Caller, p *abi.Persona) error {
	switch {
	case slices.ContainsFunc(k.seeds(), func(own abi.Persona) bool { return own.ID == p.ID }):
		plugin, _, _ := strings.Cut(p.EntryWorkflow, "#")
		return abi.Errorf(abi.CodeConflict, "persona %s comes with the plugin %s, and would come again when the node starts: retire it instead, or remove the plugin first", p.ID, plugin)
	case p.Agent != nil:
		return abi.Errorf(abi.CodeConflict, "persona %s is an agent: delete it as one, with what it remembers and its subagents", p.ID)
	}
	users, err := k.usersOf(ctx, c.Tenant, p.ID)
	if err != nil || len(users) == 0 {
		return err
	}
	return abi.Errorf(abi.CodeConflict, "persona %s is in use by %s: have them name another, or delete them", p.ID, said(users))
}

// shownUsers is how many of those that use a Persona an error names.
const shownUsers = 5

// said names the first of many, and counts the others.
func said(ids []string) string {
	slices.Sort(ids)
	text := strings.Join(ids[:min(len(ids), shownUsers)], ", ")
	if more := len(ids) - shownUsers; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// usersOf returns what works by itself and names a Persona: Connectors, harnesses, and Skills that
// clients have made and that are not deprecated. One that is made at this moment is as one whose
// Persona was retired: what it asks for is refused, and it says why. A Session is no such thing: each
// of its Tasks may name another Persona.
func (k *Keeper) usersOf(ctx context.Context, t storage.Tenant, id string) (users []string, err error) {
	tenant := []*abi.Tenant{{Number: uint32(t)}}
	add := func(user, of string, there bool) {
		if of == id && there {
			users = append(users, user)
		}
	}
	err = desk.Load(ctx, k.parts.Parts, tenant, abi.ObjectConnector, func(_ storage.Tenant, n *abi.Connector) {
		add(n.ID, n.TargetPersonaID, n.DeletedAt.IsZero())
	})
	if err == nil {
		err = desk.Load(ctx, k.parts.Parts, tenant, abi.ObjectHarness, func(_ storage.Tenant, h *abi.Harness) {
			add(h.ID, h.PersonaID, h.DeletedAt.IsZero())
		})
	}
	if err == nil {
		err = desk.Load(ctx, k.parts.Parts, tenant, abi.ObjectSkill, func(_ storage.Tenant, s *abi.Skill) {
			add(s.ID, s.PersonaID, s.Source != abi.SourceNode && !s.Deprecated)
		})
	}
	return users, err
}
