package tool

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/wharf-dev/wharf/runtime/policy"
	"github.com/wharf-dev/wharf/runtime/provider"
)

// Added are the servers that tenants have added while the node runs, beside those of its
// configuration. A name of the configuration is the configuration's. It is safe for concurrent
// use.
type Added struct {
	mu       sync.RWMutex
	reserved map[string]bool
	servers  map[addedKey]*AddedServer
	own      map[string]Own // by name
}

// Own is a server of the node's of which Workspaces, or Personas, have other tools: who may use
// which follows from for whom they are listed.
type Own interface {
	Server
	PerCall
	Limited
}

// addedKey names a server: names are unique within a tenant.
type addedKey struct{ tenant, name string }

// AddedServer is a server that a tenant has added. It is not changed.
type AddedServer struct {
	ID        string
	Name      string   // as plugins call it
	Workspace string   // whose Tasks may use it; "" for all of the tenant
	Plugins   []string // patterns of the plugins that may use it
	MCP       *MCP
}

// NewAdded returns no servers.
func NewAdded() *Added { return &Added{servers: map[addedKey]*AddedServer{}, own: map[string]Own{}} }

// Reserved reports whether a name is the configuration's.
func (a *Added) Reserved(name string) bool {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.reserved[name] || a.own[name] != nil
}

// Serve has calls find a server of the node's by a name. One that the configuration or a tenant has
// named so comes first.
func (a *Added) Serve(name string, own Own) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.own[name] = own
}

// ownServer returns the node's server of a name; nil for none.
func (a *Added) ownServer(name string) Own {
	if a == nil {
		return nil
	}
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.own[name]
}

// ownServers returns the names of the node's servers, in order.
func (a *Added) ownServers() []string {
	if a == nil {
		return nil
	}
	a.mu.RLock()
	defer a.mu.RUnlock()
	return slices.Sorted(maps.Keys(a.own))
}

func (a *Added) reserve(names map[string]Server) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.reserved = map[string]bool{}
	for name := range names {
		a.reserved[name] = true
	}
}

// Get returns a tenant's server of a name; nil when there is none.
func (a *Added) Get(tenant, name string) *AddedServer {
	if a == nil {
		return nil
	}
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.servers[addedKey{tenant, name}]
}

// Put adds a server, or takes the place of the one that has its name, and returns that. The
// caller closes it.
func (a *Added) Put(tenant string, s *AddedServer) (before *AddedServer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := addedKey{tenant, s.Name}
	before = a.servers[key]
	a.servers[key] = s
	return before
}

// Remove takes a server away, and returns it; nil when there is none. The caller closes it.
func (a *Added) Remove(tenant, name string) *AddedServer {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := addedKey{tenant, name}
	s := a.servers[key]
	delete(a.servers, key)
	return s
}

// of returns the servers of a tenant, by name.
func (a *Added) of(tenant string) (servers []*AddedServer) {
	if a == nil {
		return nil
	}
	a.mu.RLock()
	defer a.mu.RUnlock()
	for key, s := range a.servers {
		if key.tenant == tenant {
			servers = append(servers, s)
		}
	}
	slices.SortFunc(servers, func(x, y *AddedServer) int { return cmp.Compare(x.Name, y.Name) })
	return servers
}

// Close ends all connections, and lets no call begin another.
func (a *Added) Close() error {
	if a == nil {
		return nil
	}
	a.mu.RLock()
	servers := slices.Collect(maps.Values(a.servers))
	a.mu.RUnlock()
	var all sync.WaitGroup
	for _, s := range servers {
		all.Go(func() { _ = s.MCP.Close() }) // it has no error
	}
	all.Wait()
	return nil
}

// serves reports whether a call may use the server's tools.
func (s *AddedServer) serves(c *provider.Call) bool {
	return (s.Workspace == "" || s.Workspace == c.WorkspaceID) && policy.MatchAny(s.Plugins, c.Plugin)
}

// By is the actor that answers for the server's tools: an approval of one holds for no other
// server that has its name later.
func (s *AddedServer) By() string { return "tool_server:" + s.ID }

// server returns the server that a call means by a name, and who answers for it when it is not
// the configuration; nil when there is none that it may use.
func (t *Tools) server(c *provider.Call, name string) (s Server, by string) {
	if s := t.servers[name]; s != nil {
		return s, ""
	}
	if own := t.added.Get(c.Tenant, name); own != nil && own.serves(c) {
		return own.MCP, own.By()
	}
	if own := t.added.ownServer(name); own != nil {
		return own, "" // each tool says who answers for it
	}
	return nil, ""
}

// names returns the servers of which a call may use any tool, in order.
func (t *Tools) names(c *provider.Call) (names []string) {
	for name := range t.servers {
		if t.reaches(c.Plugin, name) {
			names = append(names, name)
		}
	}
	for _, own := range t.added.of(c.Tenant) {
		if t.servers[own.Name] == nil && own.serves(c) {
			names = append(names, own.Name)
		}
	}
	for _, own := range t.added.ownServers() {
		if t.servers[own] == nil && !slices.Contains(names, own) {
			names = append(names, own)
		}
	}
	slices.Sort(names)
	return names
}

// may reports whether a call may use a tool: of a server that a tenant has added all, for its
// tenant says which plugins may use it.
func (t *Tools) may(c *provider.Call, server, name string) bool {
	if t.servers[server] == nil {
		own := t.added.Get(c.Tenant, server)
		return own != nil && own.serves(c) || t.added.ownServer(server) != nil
	}
	return t.granted(c.Plugin, server, name)
}
