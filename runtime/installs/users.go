package installs

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/storage"
)

// shownUsers is how many of those that use a plugin an error names.
const shownUsers = 5

// unused refuses when something of any tenant names a plugin. Only the caller's own tenant is told
// what.
func (k *Keeper) unused(ctx context.Context, c *desk.Caller, p *abi.Plugin) error {
	u := users{name: p.Name, own: c.TenantID, made: p.PersonaID}
	for _, t := range k.parts.Tenants() {
		u.tenant = t.ID
		if err := k.ask(ctx, t, &u); err != nil {
			return err
		}
	}
	if len(u.named) == 0 && u.others == 0 {
		return nil
	}
	slices.Sort(u.named)
	return abi.Errorf(abi.CodeConflict, "the plugin %s is in use%s: have them name another, or force it", p.Name, u.said())
}

// ask looks at what a tenant has that may name a plugin.
func (k *Keeper) ask(ctx context.Context, t *abi.Tenant, u *users) error {
	one := []*abi.Tenant{t}
	for _, load := range []func() error{
		func() error {
			return desk.Load(ctx, k.parts.Parts, one, abi.ObjectPersona, func(_ storage.Tenant, p *abi.Persona) {
				u.add(p.ID, p.EntryWorkflow, p.ID != u.made && p.DeletedAt.IsZero() && p.RetiredAt.IsZero())
			})
		},
		func() error {
			return desk.Load(ctx, k.parts.Parts, one, abi.ObjectConnector, func(_ storage.Tenant, n *abi.Connector) {
				u.add(n.ID, n.Plugin, n.DeletedAt.IsZero())
			})
		},
		func() error {
			return desk.Load(ctx, k.parts.Parts, one, abi.ObjectHarness, func(_ storage.Tenant, h *abi.Harness) {
				u.add(h.ID, h.EntryWorkflow, h.DeletedAt.IsZero())
			})
		},
		func() error {
			return desk.Load(ctx, k.parts.Parts, one, abi.ObjectWebhook, func(_ storage.Tenant, w *abi.WebhookEndpoint) {
				if w.Hook == nil {
					return
				}
				if entry, ok := strings.CutPrefix(w.Hook.Command, abi.HookPlugin); ok {
					u.add(w.ID, entry, w.DeletedAt.IsZero())
				}
			})
		},
	} {
		if err := load(); err != nil {
			return err
		}
	}
	return nil
}

// users are those that name a plugin.
type users struct {
	name, own string // the plugin, and the caller's tenant
	made      string // the Persona that comes with the plugin and goes with it, "" for none
	tenant    string // that is being looked at
	named     []string
	others    int // of other tenants
}

func (u *users) add(id, entry string, there bool) {
	if plugin, _, _ := strings.Cut(entry, "#"); !there || plugin != u.name {
		return
	}
	if u.tenant != u.own {
		u.others++
		return
	}
	u.named = append(u.named, id)
}

// said names the first of those of the caller's tenant, and counts the others.
func (u *users) said() string {
	var said string
	if len(u.named) > 0 {
		said = " by " + strings.Join(u.named[:min(len(u.named), shownUsers)], ", ")
	}
	if more := len(u.named) - shownUsers; more > 0 {
		said += fmt.Sprintf(" and %d more", more)
	}
	if u.others > 0 {
		said += fmt.Sprintf(", and by %d of other tenants", u.others)
	}
	return said
}
