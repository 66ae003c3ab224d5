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
	var all sync.WaitGroup
	var mu sync.Mutex
	for server := range t.servers {
		all.Go(func() {
			of, err := t.OfferedBy(ctx, server)
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
	s := t.servers[server]
	if _, perCall := s.(PerCall); s == nil || perCall || !t.reachedByAny(server) {
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
		if len(t.GrantedTo(server, tool.Name)) == 0 || abi.TooDeep(tool.InputSchema, abi.MaxToldDepth) >= 0 {
			continue
		}
		tool.Server = server
		offered = append(offered, tool)
	}
	return offered, nil
}

// reachedByAny reports whether any plugin may use a tool of the server: others are not
// connected to.
func (t *Tools) reachedByAny(server string) bool {
	for plugin := range t.grants {
		if t.reaches(plugin, server) {
			return true
		}
	}
	return false
}

// GrantedTo returns the plugins that may use a tool, in order.
func (t *Tools) GrantedTo(server, name string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(t.grants)), func(plugin string) bool {
		return !t.granted(plugin, server, name)
	})
}
