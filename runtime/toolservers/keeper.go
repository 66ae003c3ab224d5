package toolservers

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/secret"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
	"github.com/wharf-dev/wharf/runtime/provider/web"
	"github.com/wharf-dev/wharf/runtime/sealed"
	"github.com/wharf-dev/wharf/storage"
)

// Config holds the settings of ToolServers. The zero value of each means its default.
type Config struct {
	Most    int  // servers of a tenant; default 100
	Private bool // servers at loopback, private and link-local addresses are reached
	// Commands are the programs that the node starts for tenants, with their first arguments, by
	// the names that tenants call them by.
	Commands map[string][]string
}

// Parts are what a keeper works with.
type Parts struct {
	desk.Parts
	Config   Config
	Added    *tool.Added   // what calls use; nil when the node takes no servers
	Values   sealed.Values // nil when the node can keep no secrets: then servers have no headers
	TenantID func(storage.Tenant) string
	Version  string // of the node, for the servers
}

// Keeper serves ToolServers. It is safe for concurrent use.
type Keeper struct {
	parts  Parts
	budget *provider.Budget // for the answers of all servers
	values *sealed.Keeper
	turns  chan struct{} // of connections that are made by themselves

	mu      lockrank.RWMutex[lockrank.Table]
	servers map[ledger.Key]*abi.ToolServer // that are not deleted; not changed
}

// NewKeeper returns a keeper that knows no servers before Load.
func NewKeeper(p Parts) *Keeper {
	p.Config.Most = cmp.Or(p.Config.Most, 100)
	return &Keeper{parts: p, budget: tool.NewBudget(0), values: &sealed.Keeper{Ledger: p.Ledger, Values: p.Values, Now: p.Now}, turns: make(chan struct{}, 8), servers: map[ledger.Key]*abi.ToolServer{}}
}

// LoadToolServers reads the servers of some tenants, once, before the first request. One that
// cannot be read is left out.
func (k *Keeper) LoadToolServers(ctx context.Context, tenants []*abi.Tenant) error {
	if k.parts.Added == nil {
		return nil
	}
	return desk.Load(ctx, k.parts.Parts, tenants, abi.ObjectToolServer, func(t storage.Tenant, about *abi.ToolServer) {
		if about.DeletedAt.IsZero() {
			k.use(t, about, about.Reconnects())
		}
	})
}

// use has calls use a server as it is now, and connects to it if it is to begin.
func (k *Keeper) use(t storage.Tenant, about *abi.ToolServer, begins bool) {
	k.mu.Lock()
	k.servers[ledger.Key{Tenant: t, ID: about.ID}] = about
	k.mu.Unlock()
	server := k.connection(t, about)
	before := k.parts.Added.Put(k.parts.TenantID(t), &tool.AddedServer{
		ID: about.ID, Name: about.Name, Workspace: about.WorkspaceID, Plugins: about.Plugins, MCP: server})
	hangUp(before)
	if begins {
		server.Begin()
	} else {
		server.Rest()
	}
}

// leave has no call use a server any more.
func (k *Keeper) leave(t storage.Tenant, about *abi.ToolServer) {
	k.mu.Lock()
	delete(k.servers, ledger.Key{Tenant: t, ID: about.ID})
	k.mu.Unlock()
	hangUp(k.parts.Added.Remove(k.parts.TenantID(t), about.Name))
}

// hangUp ends the connection of a server that is used no more. Nobody waits for that.
func hangUp(s *tool.AddedServer) {
	if s != nil {
		go func() { _ = s.MCP.Close() }() // it has no error
	}
}

// connection describes a server to what connects to it. It connects to nothing yet.
func (k *Keeper) connection(t storage.Tenant, about *abi.ToolServer) *tool.MCP {
	headers := map[string]string{}
	for _, name := range about.Headers {
		headers[name] = secret.Handle(name)
	}
	how := tool.ByItself
	if !about.Reconnects() {
		how = tool.OnlyOnce
	}
	config := tool.MCPConfig{
		Name: about.Name, URL: about.URL, Legacy: about.Over() == abi.TransportSSE, Headers: headers, Reconnect: how, Turns: k.turns,
		Limits:  tool.Limits{Timeout: time.Duration(about.TimeoutMS) * time.Millisecond},
		Hints:   tool.Hints{ReadOnly: about.ReadOnly, Idempotent: about.Idempotent, Writes: about.Writes},
		Secrets: &headerValues{keeper: k, tenant: t, server: about.ID},
		Budget:  k.budget, Version: k.parts.Version, Log: k.log().With("tool_server", about.ID),
		NewTransport: func() *http.Transport { return web.Transport(web.Reach{Private: k.parts.Config.Private, PerHost: 4}) },
	}
	if about.Over() == abi.TransportStdio {
		config.Start = func() ([]string, error) { return k.program(about) }
	}
	return tool.NewMCP(config)
}

// program returns what is started, as the operator has it now: one whose name is not in the
// configuration any more is not started.
func (k *Keeper) program(about *abi.ToolServer) ([]string, error) {
	words := k.parts.Config.Commands[about.Command]
	if len(words) == 0 {
		return nil, provider.Refuse(abi.CallUnavailable, tool.CodeUnavailable, fmt.Sprintf("the node starts no %q any more", about.Command))
	}
	return slices.Concat(words, about.Args), nil
}

func (k *Keeper) log() *slog.Logger { return cmp.Or(k.parts.Log, slog.Default()) }

// headerValues are the values of a server's headers, by their names.
type headerValues struct {
	keeper *Keeper
	tenant storage.Tenant
	server string // its id

	mu     lockrank.Mutex[lockrank.Secret]
	values map[string]string // nil before they are read
}

// Expand implements tool.Secrets.
func (h *headerValues) Expand(ctx context.Context, text string) (string, []secret.Value, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.values == nil {
		values, err := h.keeper.openHeaders(ctx, h.tenant, h.server)
		if err != nil {
			h.keeper.log().Warn("the headers of a tool server cannot be read", "tool_server", h.server, "error", err)
			return "", nil, provider.Refuse(abi.CallUnavailable, secret.CodeUnavailable, "the headers of the server cannot be read now; the node's log says why")
		}
		h.values = values
	}
	var values []secret.Value
	for _, name := range secret.Names(text) {
		values = append(values, secret.NewValue(name, h.values[name]))
		values = append(values, bare(name, h.values[name])...)
	}
	return secret.Fill(text, values[:min(1, len(values))]), values, nil
}

// bare is the secret within a value such as "Bearer TOKEN": servers give back that alone, too.
func bare(name, value string) []secret.Value {
	if _, token, ok := strings.Cut(value, " "); ok && len(token) >= 8 {
		return []secret.Value{secret.NewValue(name, token)}
	}
	return nil
}

func (k *Keeper) openHeaders(ctx context.Context, t storage.Tenant, server string) (map[string]string, error) {
	if k.parts.Values == nil {
		return nil, errNoValues()
	}
	return k.values.OpenHeaders(ctx, t, server)
}

func errNoValues() error {
	return abi.Errorf(abi.CodeNotImplemented, "this node can keep no secrets, and so no headers of tool servers")
}

// sealHeaders keeps the values of a server's headers, and returns the event that says so.
func (k *Keeper) sealHeaders(ctx context.Context, t storage.Tenant, about *abi.ToolServer, headers map[string]string) (ledger.Record, error) {
	if k.parts.Values == nil {
		return ledger.Record{}, errNoValues()
	}
	return k.values.SealHeaders(ctx, t, about.ID, about.WorkspaceID, headers)
}

// discardHeaders removes the values of a server's headers, and returns the event that says so.
func (k *Keeper) discardHeaders(ctx context.Context, t storage.Tenant, about *abi.ToolServer) []ledger.Record {
	if k.parts.Values == nil {
		return nil
	}
	removed, err := k.values.Remove(ctx, t, sealed.HeadersID(about.ID))
	if ledger.IsNotFound(err) {
		return nil // it had none
	}
	if err != nil {
		k.log().Warn("the headers of a tool server are left on disk", "tool_server", about.ID, "error", err)
		return nil
	}
	return []ledger.Record{removed}
}
