package engine

import (
	"slices"
	"strings"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/alarm"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/storage"
)

// parkedTable holds what is left in memory of Tasks that wait: a timer each, and
// who awaits whom. A few hundred bytes a Task.
type parkedTable struct {
	mu      lockrank.Mutex[lockrank.Table]
	timers  map[ledger.Key]*alarm.Alarm
	parents map[ledger.Key][]ledger.Key // by the child they await
}

func (p *parkedTable) setTimer(key ledger.Key, now func() time.Time, at time.Time, fire func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timers == nil {
		p.timers = map[ledger.Key]*alarm.Alarm{}
	}
	if old := p.timers[key]; old != nil {
		old.Stop()
	}
	p.timers[key] = alarm.Set(now, at, fire)
}

// forget drops a Task's timer.
func (p *parkedTable) forget(key ledger.Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if timer := p.timers[key]; timer != nil {
		timer.Stop()
		delete(p.timers, key)
	}
}

func (p *parkedTable) await(child, parent ledger.Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.parents == nil {
		p.parents = map[ledger.Key][]ledger.Key{}
	}
	p.parents[child] = append(p.parents[child], parent)
}

// awaiting returns who awaits a Task, and forgets them.
func (p *parkedTable) awaiting(child ledger.Key) []ledger.Key {
	p.mu.Lock()
	defer p.mu.Unlock()
	parents := p.parents[child]
	delete(p.parents, child)
	return parents
}

// stop stops every timer: the node is going down.
func (p *parkedTable) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, timer := range p.timers {
		timer.Stop()
	}
}

// waiterTable holds who waits for the end of Tasks, in memory or not.
type waiterTable struct {
	mu   lockrank.Mutex[lockrank.Table]
	byID map[ledger.Key]*waiter
}

// waiter is closed when its Task's end is durable, or can never be.
type waiter struct {
	done chan struct{}
	refs int
	end  ended // set before done is closed
}

// ended is a Task that has ended, as those who waited for it see it.
type ended struct {
	doc desk.Doc // with its input; empty when it must be read from the log
	err error
}

func (w *waiterTable) join(key ledger.Key) *waiter {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.byID == nil {
		w.byID = map[ledger.Key]*waiter{}
	}
	entry := w.byID[key]
	if entry == nil {
		entry = &waiter{done: make(chan struct{})}
		w.byID[key] = entry
	}
	entry.refs++
	return entry
}

func (w *waiterTable) leave(key ledger.Key, entry *waiter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	entry.refs--
	if entry.refs == 0 && w.byID[key] == entry {
		delete(w.byID, key)
	}
}

// end tells those who wait for a Task. end is asked for the result only if there
// are any.
func (w *waiterTable) end(key ledger.Key, result func() ended) {
	w.mu.Lock()
	entry := w.byID[key]
	delete(w.byID, key)
	w.mu.Unlock()
	if entry != nil {
		entry.end = result()
		close(entry.done)
	}
}

// askedTable holds what waits for somebody's answer, so that it can be listed
// without looking at what was answered. Like the timers it is made anew at each start,
// from the Tasks that have not ended.
type askedTable struct {
	mu       lockrank.RWMutex[lockrank.Table]
	byTenant map[storage.Tenant][]askedEntry // by id, which is by time
}

// askedEntry is a pending request for permission.
type askedEntry struct {
	id, workspace, session, task string
}

func (a *askedTable) index(tenant storage.Tenant, id string) (int, bool) {
	return slices.BinarySearchFunc(a.byTenant[tenant], id, func(e askedEntry, id string) int { return strings.Compare(e.id, id) })
}

// add takes in the request that a Task waits on; nothing for an empty id.
func (a *askedTable) add(tenant storage.Tenant, id string, t *abi.Task) {
	if id == "" {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.byTenant == nil {
		a.byTenant = map[storage.Tenant][]askedEntry{}
	}
	i, found := a.index(tenant, id)
	if !found {
		a.byTenant[tenant] = slices.Insert(a.byTenant[tenant], i, askedEntry{id, t.WorkspaceID, t.SessionID, t.ID})
	}
}

func (a *askedTable) remove(tenant storage.Tenant, id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if i, found := a.index(tenant, id); found {
		a.byTenant[tenant] = slices.Delete(a.byTenant[tenant], i, i+1)
	}
}

// before returns the ids of up to limit requests that came before one, newest first,
// and that keep lets through, and whether there are more.
func (a *askedTable) before(tenant storage.Tenant, id string, limit int, keep func(askedEntry) bool) (ids []string, more bool) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	all := a.byTenant[tenant]
	if id != "" {
		i, _ := a.index(tenant, id)
		all = all[:i]
	}
	for _, e := range slices.Backward(all) {
		if !keep(e) {
			continue
		}
		if len(ids) == limit {
			return ids, true
		}
		ids = append(ids, e.id)
	}
	return ids, false
}
