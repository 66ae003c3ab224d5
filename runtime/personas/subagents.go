package personas

import (
	"context"
	"slices"
	"strings"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/storage"
)

// families are the ids of the subagents of Workspaces by their parents, of those Workspaces that
// somebody has asked for since they last changed. It only saves reading all agents of a Workspace
// for each Task.
type families struct {
	mu      lockrank.Mutex[lockrank.Table]
	changes uint64                             // how often one was forgotten
	all     map[ledger.Key]map[string][]string // by Workspace
}

// Bounds on what is remembered: Workspaces, and subagents of one. Of a larger one nothing is.
const (
	maxFamilies = 1000
	maxFamily   = 10_000
)

// SubagentsServing returns the subagents of an agent that serve, in order of their names. One that cannot be
// read is left out.
func (k *Keeper) SubagentsServing(ctx context.Context, t storage.Tenant, workspace, parent string) ([]*Persona, error) {
	ids, err := k.childrenOf(ctx, t, workspace, parent)
	var list []*Persona
	for _, id := range ids {
		if p, err := k.PersonaIn(ctx, t, workspace, id); err == nil && CheckServes(&p.Persona) == nil {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b *Persona) int { return strings.Compare(a.Name, b.Name) })
	return list, err
}

// SubagentCalled returns the subagent of an agent that has a name, and serves.
func (k *Keeper) SubagentCalled(ctx context.Context, t storage.Tenant, workspace, parent, name string) (*Persona, error) {
	ref, _, err := k.findRef(ctx, t, AgentName(workspace, parent, name).id())
	if err != nil {
		return nil, err
	}
	if ref.PersonaID == "" {
		return nil, abi.NotFound(abi.ObjectPersona, name)
	}
	p, err := k.PersonaIn(ctx, t, workspace, ref.PersonaID)
	if err == nil && CheckServes(&p.Persona) != nil {
		return nil, abi.NotFound(abi.ObjectPersona, name)
	}
	return p, err
}

// childrenOf returns the ids of the subagents of an agent.
func (k *Keeper) childrenOf(ctx context.Context, t storage.Tenant, workspace, parent string) ([]string, error) {
	if workspace == "" { // no Task is of none
		return nil, nil
	}
	key := ledger.Key{Tenant: t, ID: workspace}
	k.families.mu.Lock()
	of, known := k.families.all[key]
	since := k.families.changes
	k.families.mu.Unlock()
	if known {
		return of[parent], nil
	}
	of, many := map[string][]string{}, 0
	err := k.eachAgent(ctx, &desk.Caller{Tenant: t, Actor: desk.HostActor}, workspace, func(parent string, res *storage.Resource) bool {
		if parent != "" {
			of[parent] = append(of[parent], res.ID)
			many++
		}
		return true
	})
	if err == nil && many <= maxFamily {
		k.families.remember(key, of, since)
	}
	return of[parent], err
}

// remember keeps what was read, unless something has changed meanwhile.
func (f *families) remember(key ledger.Key, of map[string][]string, since uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.changes != since {
		return
	}
	if f.all == nil || len(f.all) >= maxFamilies {
		f.all = map[ledger.Key]map[string][]string{}
	}
	f.all[key] = of
}

// forget has a Workspace read again in which there is another agent, or one less.
func (f *families) forget(t storage.Tenant, workspace string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.changes++
	delete(f.all, ledger.Key{Tenant: t, ID: workspace})
}
