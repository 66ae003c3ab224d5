package waiting

import (
	"slices"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/alarm"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/storage"
)

// Parked holds what is left in memory of Tasks that wait: a timer each, and who awaits
// whom. A few hundred bytes a Task. Its zero value is ready.
type Parked struct {
	mu      lockrank.Mutex[lockrank.Table]
	timers  map[ledger.Key]*alarm.Alarm
	parents map[ledger.Key][]ledger.Key // by the child they await
	inboxes map[ledger.Key][]ledger.Key // who waits for the inbox of a Session, in the order in which they began to
	listens map[ledger.Key]ledger.Key   // of those, the Session by the Task
}

// SetTimer calls fire when now reaches at, unless the Task is forgotten before. It replaces a
// timer that the Task had.
func (p *Parked) SetTimer(key ledger.Key, now func() time.Time, at time.Time, fire func()) {
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

// Forget drops a Task's timer, and that it waits for an inbox.
func (p *Parked) Forget(key ledger.Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if timer := p.timers[key]; timer != nil {
		timer.Stop()
		delete(p.timers, key)
	}
	p.leave(key)
}

// leave drops that a Task waits for an inbox. The caller holds mu.
func (p *Parked) leave(task ledger.Key) {
	session, listens := p.listens[task]
	if !listens {
		return
	}
	delete(p.listens, task)
	others := slices.DeleteFunc(p.inboxes[session], func(other ledger.Key) bool { return other == task })
	if p.inboxes[session] = others; len(others) == 0 {
		delete(p.inboxes, session)
	}
}

// Listen notes that a Task waits for the inbox of a Session, if it does.
func (p *Parked) Listen(t storage.Tenant, w *abi.InboxWait, id string) {
	if w == nil || w.SessionID == "" {
		return
	}
	session, task := ledger.Key{Tenant: t, ID: w.SessionID}, ledger.Key{Tenant: t, ID: id}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listens == nil {
		p.listens, p.inboxes = map[ledger.Key]ledger.Key{}, map[ledger.Key][]ledger.Key{}
	}
	if p.listens[task] != session {
		p.leave(task)
		p.listens[task] = session
		p.inboxes[session] = append(p.inboxes[session], task)
	}
}

// Listening returns the Tasks that wait for the inbox of a Session, in the order in which they began
// to.
func (p *Parked) Listening(session ledger.Key) []ledger.Key {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.inboxes[session])
}

// Await notes that a parent waits for the end of a child. One that does so again, after its time was up, is
// noted once.
func (p *Parked) Await(child, parent ledger.Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.parents == nil {
		p.parents = map[ledger.Key][]ledger.Key{}
	}
	if !slices.Contains(p.parents[child], parent) {
		p.parents[child] = append(p.parents[child], parent)
	}
}

// Awaiting returns who awaits a Task, and forgets them: each is notified once.
func (p *Parked) Awaiting(child ledger.Key) []ledger.Key {
	p.mu.Lock()
	defer p.mu.Unlock()
	parents := p.parents[child]
	delete(p.parents, child)
	return parents
}

// Stop stops every timer: the node is going down.
func (p *Parked) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, timer := range p.timers {
		timer.Stop()
	}
}
