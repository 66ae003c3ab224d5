package customtools

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
	"github.com/wharf-dev/wharf/runtime/provider/web"
	"github.com/wharf-dev/wharf/runtime/sealed"
	"github.com/wharf-dev/wharf/storage"
)

// Config holds the settings of CustomTools. The zero value of each means its default.
type Config struct {
	Most    int  // tools of a Workspace; default 100
	Private bool // receivers at loopback, private and link-local addresses are reached
	// Commands are the programs that the node starts for tenants, with their first arguments, by
	// the names that tenants call them by.
	Commands map[string][]string
}

// Parts are what a keeper works with.
type Parts struct {
	desk.Parts
	Config   Config
	Added    *tool.Added   // where calls look for tools; nil when the node takes none
	Values   sealed.Values // nil when the node can keep no secrets: then only programs answer
	TenantID func(storage.Tenant) string
	Entropy  io.Reader
	Agent    string // who sends requests
}

// Keeper serves CustomTools. It is safe for concurrent use.
type Keeper struct {
	parts  Parts
	values *sealed.Keeper
	send   http.RoundTripper

	mu    lockrank.RWMutex[lockrank.Table]
	known map[place][]*abi.CustomTool // that are not deleted, by name; neither is changed
	// numbers are those of the tenants that have tools, by their ids.
	numbers map[string]storage.Tenant
}

// place is whose a tool is.
type place struct{ tenant, workspace string }

// NewKeeper returns a keeper that knows no tools before it has loaded them.
func NewKeeper(p Parts) *Keeper {
	p.Config.Most = cmp.Or(p.Config.Most, 100)
	k := &Keeper{parts: p, values: &sealed.Keeper{Ledger: p.Ledger, Values: p.Values, Now: p.Now},
		send: web.Transport(web.Reach{Private: p.Config.Private, PerHost: 4}), known: map[place][]*abi.CustomTool{}, numbers: map[string]storage.Tenant{}}
	if p.Added != nil {
		p.Added.Serve(abi.ToolServerCustom, server{k})
	}
	return k
}

// LoadCustomTools reads the tools of some tenants, once, before the first request. One that cannot
// be read is left out.
func (k *Keeper) LoadCustomTools(ctx context.Context, tenants []*abi.Tenant) error {
	return desk.Load(ctx, k.parts.Parts, tenants, abi.ObjectCustomTool, func(t storage.Tenant, about *abi.CustomTool) {
		if about.DeletedAt.IsZero() {
			k.use(t, about)
		}
	})
}

func (k *Keeper) log() *slog.Logger { return cmp.Or(k.parts.Log, slog.Default()) }

func (k *Keeper) placeOf(t storage.Tenant, workspace string) place {
	return place{k.parts.TenantID(t), workspace}
}

// use has calls find a tool.
func (k *Keeper) use(t storage.Tenant, about *abi.CustomTool) {
	at := k.placeOf(t, about.WorkspaceID) // it takes a lock of k.mu's own kind
	k.mu.Lock()
	defer k.mu.Unlock()
	next := append(slices.Clone(k.known[at]), about)
	slices.SortFunc(next, func(a, b *abi.CustomTool) int { return strings.Compare(a.Name, b.Name) })
	k.known[at], k.numbers[at.tenant] = next, t
}

func (k *Keeper) numberOf(tenant string) storage.Tenant {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.numbers[tenant]
}

// leave has no call find a tool any more.
func (k *Keeper) leave(t storage.Tenant, about *abi.CustomTool) {
	at := k.placeOf(t, about.WorkspaceID) // it takes a lock of k.mu's own kind
	k.mu.Lock()
	defer k.mu.Unlock()
	k.known[at] = slices.DeleteFunc(slices.Clone(k.known[at]), func(one *abi.CustomTool) bool { return one.ID == about.ID })
}

// of returns the tools of a Workspace, by name.
func (k *Keeper) of(at place) []*abi.CustomTool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.known[at]
}

// named returns a tool of a Workspace; nil for none.
func (k *Keeper) named(at place, name string) *abi.CustomTool {
	all := k.of(at)
	i := slices.IndexFunc(all, func(one *abi.CustomTool) bool { return one.Name == name })
	if i < 0 {
		return nil
	}
	return all[i]
}
