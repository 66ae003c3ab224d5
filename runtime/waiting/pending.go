package waiting

import (
	"slices"
	"strings"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/storage"
)

// Pending holds the requests that wait for somebody's answer, so that they can be listed
// without looking at answered ones. Like the timers it is made anew at each start, from the
// Tasks that have not ended. Its zero value is ready.
type Pending struct {
	mu       lockrank.RWMutex[lockrank.Table]
	byTenant map[storage.Tenant][]place // by id, which is by time
}

// place is a pending request, and where it belongs.
type place struct {
	id, workspace, session, task string
}

func (p *Pending) index(tenant storage.Tenant, id string) (int, bool) {
	return slices.BinarySearchFunc(p.byTenant[tenant], id, func(at place, id string) int { return strings.Compare(at.id, id) })
}

// Await takes in what a Task waits on that was asked before the node came up.
func (p *Pending) Await(tenant storage.Tenant, t *abi.Task) {
	p.Add(tenant, t.Waiting.PermissionID, t)
	for _, named := range t.Waiting.Requests {
		if named.Status == abi.PermissionPending {
			p.Add(tenant, named.PermissionID, t)
		}
	}
}

// Note takes in what a Task asks after a step, and drops what it asked before and does no more.
func (p *Pending) Note(tenant storage.Tenant, t *abi.Task, before, after *Round) {
	open := after.open()
	for _, id := range before.open() {
		if !slices.Contains(open, id) {
			p.Remove(tenant, id)
		}
	}
	for _, id := range open {
		p.Add(tenant, id, t)
	}
}

// Add takes in a request that a Task waits on; nothing for an empty id.
func (p *Pending) Add(tenant storage.Tenant, id string, t *abi.Task) {
	if id == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byTenant == nil {
		p.byTenant = map[storage.Tenant][]place{}
	}
	i, found := p.index(tenant, id)
	if !found {
		p.byTenant[tenant] = slices.Insert(p.byTenant[tenant], i, place{id, t.WorkspaceID, t.SessionID, t.ID})
	}
}

// Remove drops a request that was settled.
func (p *Pending) Remove(tenant storage.Tenant, id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i, found := p.index(tenant, id); found {
		p.byTenant[tenant] = slices.Delete(p.byTenant[tenant], i, i+1)
	}
}

// InSession returns the ids of up to limit requests that the Tasks of a Session wait on, newest first.
func (p *Pending) InSession(tenant storage.Tenant, session string, limit int) []string {
	ids, _ := p.before(tenant, "", limit, func(at place) bool { return at.session == session })
	return ids
}

// before returns the ids of up to limit requests that came before one, newest first,
// and that keep lets through, and whether there are more.
func (p *Pending) before(tenant storage.Tenant, id string, limit int, keep func(place) bool) (ids []string, more bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	all := p.byTenant[tenant]
	if id != "" {
		i, _ := p.index(tenant, id)
		all = all[:i]
	}
	for _, at := range slices.Backward(all) {
		if !keep(at) {
			continue
		}
		if len(ids) == limit {
			return ids, true
		}
		ids = append(ids, at.id)
	}
	return ids, false
}

// Size returns how many requests wait for an answer.
func (p *Pending) Size() (n int) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	for _, all := range p.byTenant {
		n += len(all)
	}
	return n
}
