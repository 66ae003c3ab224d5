package tool

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wharf-dev/wharf/abi"
)

// offerTime is how long a look at what is offered waits for a server. One that is
// still being started then is found by a later look.
const offerTime = 3 * time.Second

// Offered returns the tools that any plugin may use, by server and name, and the servers
// that do not say within three seconds what they have. It leaves out what depends on
// the Session of a Task: the tools of clients.
func (t *Tools) Offered(ctx context.Context) (tools []abi.Tool, silent []string) {
	return t.offered(ctx, t.plugins())
}

func (t *Tools) offered(ctx context.Context, plugins []string) (tools []abi.Tool, silent []string) {
	var all sync.WaitGroup
	var mu sync.Mutex
	for server := range t.servers {
		all.Go(func() {
			of, err := t.offeredBy(ctx, server, plugins)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				silent = append(silent, server)
			}
			tools = append(tools, of...)
		})
	}
	all.Wait()
	slices.Sort(silent)
	slices.SortFunc(tools, func(a, b abi.Tool) int {
		return cmp.Or(strings.Compare(a.Server, b.Server), strings.Compare(a.Name, b.Name))
	})
	return tools, silent
}

// OfferedBy is [Tools.Offered] for one server: none for a server that there is not, and
// an error when it does not say in time what it has.
func (t *Tools) OfferedBy(ctx context.Context, server string) ([]abi.Tool, error) {
	return t.offeredBy(ctx, server, t.plugins())
}

// offeredBy returns what some of the plugins may use. A server that none of them reaches is not
// connected to.
func (t *Tools) offeredBy(ctx context.Context, server string, plugins []string) ([]abi.Tool, error) {
	s := t.servers[server]
	_, perCall := s.(PerCall)
	reached := slices.ContainsFunc(plugins, func(plugin string) bool { return t.reaches(plugin, server) })
	if s == nil || perCall || !reached {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, offerTime)
	defer cancel()
	all, err := s.List(ctx)
	if err != nil {
		return nil, err
	}
	var offered []abi.Tool
	for _, tool := range all {
		granted := slices.ContainsFunc(plugins, func(plugin string) bool { return t.granted(plugin, server, tool.Name) })
		if !granted || abi.TooDeep(tool.InputSchema, abi.MaxToldDepth) >= 0 {
			continue
		}
		tool.Server = server
		offered = append(offered, tool)
	}
	return offered, nil
}

// plugins returns the plugins that may use any tool.
func (t *Tools) plugins() []string { return slices.Collect(maps.Keys(t.grants())) }

// Granted are the tools of the node and its configuration that one plugin may use. The zero value
// grants none.
type Granted struct {
	Of     *Tools
	Plugin string
}

// Offered is [Tools.Offered] for the plugin alone.
func (g Granted) Offered(ctx context.Context) (tools []abi.Tool, silent []string) {
	if g.Of == nil {
		return nil, nil
	}
	return g.Of.offered(ctx, []string{g.Plugin})
}

// OfferedBy is [Tools.OfferedBy] for the plugin alone.
func (g Granted) OfferedBy(ctx context.Context, server string) ([]abi.Tool, error) {
	if g.Of == nil {
		return nil, nil
	}
	return g.Of.offeredBy(ctx, server, []string{g.Plugin})
}

// May reports whether the plugin may use a tool, if there is such a tool.
func (g Granted) May(server, name string) bool {
	return g.Of != nil && g.Of.granted(g.Plugin, server, name)
}

// GrantedTo returns the plugins that may use a tool, in order.
func (t *Tools) GrantedTo(server, name string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(t.grants())), func(plugin string) bool {
		return !t.granted(plugin, server, name)
	})
}

// Viewer is who looks at the tools that a tenant has added.
type Viewer struct {
	Tenant string // its id
	Sees   func(workspace string) bool
}

// AddedTo returns the tools of the servers that a viewer's tenant has added and it may see, and
// the servers that do not say within three seconds what they have. By has what plugins may use the
// tools of each server, by its name.
func (t *Tools) AddedTo(ctx context.Context, v Viewer) (tools []abi.Tool, by map[string][]string, silent []string) {
	var all sync.WaitGroup
	var mu sync.Mutex
	by = map[string][]string{}
	for _, s := range t.added.of(v.Tenant) {
		if t.servers[s.Name] != nil || s.Workspace != "" && !v.Sees(s.Workspace) {
			continue
		}
		by[s.Name] = s.Plugins
		all.Go(func() {
			of, err := s.tools(ctx)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				silent = append(silent, s.Name)
			}
			tools = append(tools, of...)
		})
	}
	all.Wait()
	slices.Sort(silent)
	return tools, by, silent
}

// tools returns what a server that a tenant has added offers, as far as it says so in time.
func (s *AddedServer) tools(ctx context.Context) ([]abi.Tool, error) {
	ctx, cancel := context.WithTimeout(ctx, offerTime)
	defer cancel()
	return s.Tools(ctx)
}

// Tools returns the tools of a server that can be called.
func (s *AddedServer) Tools(ctx context.Context) ([]abi.Tool, error) {
	all, err := s.MCP.List(ctx)
	if err != nil {
		return nil, err
	}
	offered := make([]abi.Tool, 0, len(all))
	for _, tool := range all {
		if abi.TooDeep(tool.InputSchema, abi.MaxToldDepth) < 0 {
			tool.Server = s.Name
			offered = append(offered, tool)
		}
	}
	return offered, nil
}
