package harnesses

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/background"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/runtime/sealed"
	"github.com/wharf-dev/wharf/storage"
)

// Config holds the room's settings.
type Config struct {
	Most    int  // Harnesses of a tenant; default 100
	Private bool // other servers at loopback, private and link-local addresses may be named
}

// Parts are what a keeper works with.
type Parts struct {
	desk.Parts
	Config  Config
	Started time.Time // since when the node offers its own Harness
	// Persona and Workflow are those of the node's own Harness; RemoteWorkflow runs what is hosted
	// elsewhere.
	Persona, Workflow, RemoteWorkflow string
	// Remote asks the servers of hosted Harnesses; nil: none can be asked.
	Remote *Remote
	// Values keeps the keys of hosted Harnesses; nil when the node can keep none.
	Values sealed.Values
	// TenantID returns the id of a tenant, Authenticate who a key speaks for.
	TenantID     func(storage.Tenant) string
	Authenticate func(ctx context.Context, key string) (*desk.Caller, error)
	// DefaultWorkspace returns the default Workspace of a tenant.
	DefaultWorkspace func(storage.Tenant) string
	// NewWorkspace and NewPersona describe what is made with a Harness; they write nothing.
	NewWorkspace func(c *desk.Caller, name string) (*abi.Workspace, error)
	NewPersona   func(ctx context.Context, c *desk.Caller, req *abi.CreatePersonaRequest) (*abi.Persona, error)
	// Calls returns the host calls that a plugin makes. An *abi.Failure says that there is none.
	Calls func(ctx context.Context, workflow string) ([]string, error)
	// Background has what the node does by itself; Life ends when that is to be broken off.
	Background *background.Group
	Life       context.Context
	// Running returns how many Tasks of a Workspace have not ended.
	Running func(t storage.Tenant, workspace string) int
}

// Keeper serves Harnesses. It is safe for concurrent use.
type Keeper struct {
	parts  Parts
	values *sealed.Keeper

	ending byTask[ending] // Tasks that have ended, or are about to

	mu    lockrank.RWMutex[lockrank.Table]
	known map[place]*abi.Harness      // that are not deleted; not changed
	hosts map[ledger.Key]*abi.Harness // of those, the hosted ones, by their Workspaces
}

// place is where a Harness is found.
type place struct {
	tenant storage.Tenant
	name   string
}

// NewKeeper returns a keeper that knows no stored Harnesses before it has loaded them.
func NewKeeper(p Parts) *Keeper {
	p.Config.Most = cmp.Or(p.Config.Most, 100)
	k := &Keeper{parts: p, values: &sealed.Keeper{Ledger: p.Ledger, Values: p.Values, Now: p.Now}, known: map[place]*abi.Harness{}, hosts: map[ledger.Key]*abi.Harness{}}
	if p.Remote == nil {
		k.parts.Remote = NewRemote(p.Config.Private)
	}
	k.parts.Remote.keeper.Store(k)
	return k
}

// LoadHarnesses reads the Harnesses of some tenants, once, before the first request. One that
// cannot be read is left out.
func (k *Keeper) LoadHarnesses(ctx context.Context, tenants []*abi.Tenant) error {
	return desk.Load(ctx, k.parts.Parts, tenants, abi.ObjectHarness, k.use)
}

func (k *Keeper) log() *slog.Logger { return cmp.Or(k.parts.Log, slog.Default()) }

// use has a Harness known as it is now.
func (k *Keeper) use(t storage.Tenant, h *abi.Harness) {
	k.mu.Lock()
	defer k.mu.Unlock()
	at, in := place{t, h.Name}, ledger.Key{Tenant: t, ID: h.WorkspaceID}
	switch before := k.known[at]; {
	case h.DeletedAt.IsZero():
		k.known[at] = h
		if h.Kind == abi.HarnessHosted {
			k.hosts[in] = h
		}
	case before != nil && before.ID == h.ID:
		delete(k.known, at)
		delete(k.hosts, in)
	}
}

// Harness returns a Harness that the caller may see, by its name. It is not changed.
func (k *Keeper) Harness(_ context.Context, c *desk.Caller, name string) (*abi.Harness, error) {
	if name == abi.OwnHarness {
		return k.own(c)
	}
	k.mu.RLock()
	defer k.mu.RUnlock()
	h := k.known[place{c.Tenant, name}]
	if h == nil || !c.Sees(h.WorkspaceID) {
		return nil, abi.NotFound(abi.ObjectHarness, name)
	}
	return h, nil
}

// own returns the Harness that every tenant has.
func (k *Keeper) own(c *desk.Caller) (*abi.Harness, error) {
	workspace := k.parts.DefaultWorkspace(c.Tenant)
	if !c.Sees(workspace) {
		return nil, abi.NotFound(abi.ObjectHarness, abi.OwnHarness)
	}
	return &abi.Harness{
		Envelope: abi.NewEnvelope(abi.ObjectHarness, abi.IDPrefix(abi.ObjectHarness)+abi.OwnHarness, k.parts.Started, nil),
		Name:     abi.OwnHarness, Title: "Wharf", Vendor: "wharf", Description: "The agents of this node.",
		Kind: abi.HarnessSDK, Status: abi.HarnessActive,
		WorkspaceID: workspace, PersonaID: k.parts.Persona, EntryWorkflow: k.parts.Workflow, SkillsPath: defaultSkills,
	}, nil
}

// Harnesses returns those that the caller may see: the node's own first, then the others, oldest
// first.
func (k *Keeper) Harnesses(_ context.Context, c *desk.Caller) []*abi.Harness {
	var all []*abi.Harness
	k.mu.RLock()
	for at, h := range k.known {
		if at.tenant == c.Tenant && c.Sees(h.WorkspaceID) {
			all = append(all, h)
		}
	}
	k.mu.RUnlock()
	slices.SortFunc(all, func(a, b *abi.Harness) int { return strings.Compare(a.ID, b.ID) })
	if own, err := k.own(c); err == nil {
		all = slices.Insert(all, 0, own)
	}
	return all
}

// HarnessRunning returns how many Tasks of a Harness have not ended.
func (k *Keeper) HarnessRunning(c *desk.Caller, h *abi.Harness) int {
	return k.parts.Running(c.Tenant, h.WorkspaceID)
}

// HarnessCalls returns the host calls that the plugin of a Harness makes: none for one that runs
// nothing. What it can do follows from them.
func (k *Keeper) HarnessCalls(ctx context.Context, h *abi.Harness) ([]string, error) {
	if h.EntryWorkflow == "" {
		return nil, nil
	}
	return k.parts.Calls(ctx, h.EntryWorkflow)
}
