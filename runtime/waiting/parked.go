package waiting

import (
	"time"

	"github.com/wharf-dev/wharf/runtime/alarm"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lockrank"
)

// Parked holds what is left in memory of Tasks that wait: a timer each, and who awaits
// whom. A few hundred bytes a Task. Its zero value is ready.
type Parked struct {
	mu      lockrank.Mutex[lockrank.Table]
	timers  map[ledger.Key]*alarm.Alarm
	parents map[ledger.Key][]ledger.Key // by the child they await
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

// Forget drops a Task's timer.
func (p *Parked) Forget(key ledger.Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if timer := p.timers[key]; timer != nil {
		timer.Stop()
		delete(p.timers, key)
	}
}

// Await notes that a parent waits for the end of a child.
func (p *Parked) Await(child, parent ledger.Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.parents == nil {
		p.parents = map[ledger.Key][]ledger.Key{}
	}
	p.parents[child] = append(p.parents[child], parent)
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
