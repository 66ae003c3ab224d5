package skillbundles

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/hostcall"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/storage"
)

// Parts are what a keeper works with.
type Parts struct {
	desk.Parts
	MostTold int64 // bytes of a file that one call of a plugin reads at most
	// Elsewhere reads a skill that is not installed; it answers nil for one that is nowhere. nil: none is
	// elsewhere.
	Elsewhere func(ctx context.Context, c *hostcall.Call, name, path string) (*abi.CallSkillReadAnswer, error)
}

// Keeper serves SkillBundles. It is safe for concurrent use.
type Keeper struct {
	parts Parts

	mu        lockrank.RWMutex[lockrank.Table]
	bundles   map[ledger.Key]*abi.SkillBundle            // that are installed, by their ids; not changed
	installed map[ledger.Key]map[string]*abi.SkillBundle // by their Workspaces and names
}

// NewKeeper returns a keeper that knows no bundles before Load.
func NewKeeper(p Parts) *Keeper {
	return &Keeper{parts: p, bundles: map[ledger.Key]*abi.SkillBundle{}, installed: map[ledger.Key]map[string]*abi.SkillBundle{}}
}

// LoadSkillBundles reads the bundles of some tenants, once, before the first request. One that
// cannot be read is left out.
func (k *Keeper) LoadSkillBundles(ctx context.Context, tenants []*abi.Tenant) error {
	return desk.Load(ctx, k.parts.Parts, tenants, abi.ObjectSkillBundle, func(t storage.Tenant, about *abi.SkillBundle) {
		if about.DeletedAt.IsZero() {
			k.use(t, about)
		}
	})
}

// use makes a bundle known as it is now.
func (k *Keeper) use(t storage.Tenant, about *abi.SkillBundle) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.bundles[ledger.Key{Tenant: t, ID: about.ID}] = about
	in := ledger.Key{Tenant: t, ID: about.WorkspaceID}
	if k.installed[in] == nil {
		k.installed[in] = map[string]*abi.SkillBundle{}
	}
	k.installed[in][about.Name] = about
}

// leave makes a bundle known to nobody any more.
func (k *Keeper) leave(t storage.Tenant, about *abi.SkillBundle) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.bundles, ledger.Key{Tenant: t, ID: about.ID})
	in := ledger.Key{Tenant: t, ID: about.WorkspaceID}
	if delete(k.installed[in], about.Name); len(k.installed[in]) == 0 {
		delete(k.installed, in)
	}
}

// find returns a bundle that the caller may see.
func (k *Keeper) find(c *desk.Caller, id string) (*abi.SkillBundle, error) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	b := k.bundles[ledger.Key{Tenant: c.Tenant, ID: id}]
	if b == nil || !c.Sees(b.WorkspaceID) {
		return nil, abi.NotFound(abi.ObjectSkillBundle, id)
	}
	return b, nil
}

// named returns the bundle of a name, or an id, that is installed in a Workspace; nil for none.
func (k *Keeper) named(t storage.Tenant, workspace, name string) *abi.SkillBundle {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if b := k.bundles[ledger.Key{Tenant: t, ID: name}]; b != nil && b.WorkspaceID == workspace { // no name is an id
		return b
	}
	return k.installed[ledger.Key{Tenant: t, ID: workspace}][name]
}

// count returns how many bundles are installed in a Workspace.
func (k *Keeper) count(t storage.Tenant, workspace string) int {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return len(k.installed[ledger.Key{Tenant: t, ID: workspace}])
}

// Filter narrows a list of bundles. Empty members do not narrow.
type Filter struct {
	WorkspaceID string
	Name        string
	Category    abi.SkillCategory
}

// of returns the bundles that a filter lets through and the caller may see, newest first.
func (k *Keeper) of(c *desk.Caller, f Filter) (all []*abi.SkillBundle) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	for in, some := range k.installed {
		if in.Tenant != c.Tenant || !c.Sees(in.ID) || f.WorkspaceID != "" && f.WorkspaceID != in.ID {
			continue
		}
		for _, b := range some {
			if b.Category == cmp.Or(f.Category, b.Category) && b.Name == cmp.Or(f.Name, b.Name) {
				all = append(all, b)
			}
		}
	}
	slices.SortFunc(all, func(a, b *abi.SkillBundle) int { return strings.Compare(b.ID, a.ID) })
	return all
}
