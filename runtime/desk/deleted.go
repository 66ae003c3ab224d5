package desk

import (
	"context"
	"slices"
	"sync/atomic"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/storage"
)

// deletions are the Tasks and Sessions that were deleted and are not erased yet, as something else still needs them: whatever
// belongs to them is shown to nobody. There are few, and mostly none. It is safe for concurrent use.
type deletions struct {
	count atomic.Int64
	mu    lockrank.RWMutex[lockrank.Table]
	all   map[ledger.Key]struct{}
}

func (d *deletions) has(key ledger.Key) bool {
	if d.count.Load() == 0 || key.ID == "" {
		return false
	}
	d.mu.RLock()
	defer d.mu.RUnlock()
	_, has := d.all[key]
	return has
}

// Hide has nothing shown any more that belongs to Tasks and Sessions.
func (d *Desk) Hide(t storage.Tenant, ids ...string) {
	d.deletions.mu.Lock()
	defer d.deletions.mu.Unlock()
	if d.deletions.all == nil {
		d.deletions.all = map[ledger.Key]struct{}{}
	}
	for _, id := range ids {
		d.deletions.all[ledger.Key{Tenant: t, ID: id}] = struct{}{}
	}
	d.deletions.count.Store(int64(len(d.deletions.all)))
}

// Erased says that nothing is left of a Task or a Session that could be shown.
func (d *Desk) Erased(t storage.Tenant, id string) {
	if d.deletions.count.Load() == 0 {
		return
	}
	d.deletions.mu.Lock()
	defer d.deletions.mu.Unlock()
	delete(d.deletions.all, ledger.Key{Tenant: t, ID: id})
	d.deletions.count.Store(int64(len(d.deletions.all)))
}

// gone reports whether a resource was deleted, or belongs to what was. What outlives a Task and its Session, such as a
// Receipt, is not gone with them.
func (d *Desk) gone(t storage.Tenant, o abi.Object, id string, state []byte) bool {
	if deleted(o, state) {
		return true
	}
	withTask, withSession := storage.GoesWith(abi.ObjectTask, o), storage.GoesWith(abi.ObjectSession, o)
	if d.deletions.count.Load() == 0 || !withTask && !withSession {
		return false
	}
	var p owners
	if json.Unmarshal(state, &p) != nil {
		return false // it is told of as unreadable
	}
	has := func(id string) bool { return d.deletions.has(ledger.Key{Tenant: t, ID: id}) }
	return has(id) || withTask && has(p.TaskID) || p.TaskID == "" && o != abi.ObjectTask && has(p.SessionID) || !withTask && has(p.SessionID)
}

// goneEvent reports whether an event belongs to what was deleted.
func (d *Desk) goneEvent(ev *Event) bool {
	owner := ev.Frame.TaskID
	if owner == "" {
		owner = ev.Frame.SessionID
	}
	return d.deletions.has(ledger.Key{Tenant: ev.Frame.Tenant, ID: owner})
}

// shown returns events without those of what was deleted, but for those after a position.
func (d *Desk) shown(events []Event, until Position) []Event {
	gone := func(ev Event) bool { return ev.Position() <= until && d.goneEvent(&ev) }
	if d.deletions.count.Load() == 0 || !slices.ContainsFunc(events, gone) {
		return events
	}
	return slices.DeleteFunc(slices.Clone(events), gone) // others have them, too
}

// withoutDeleted is a stream whose history lacks what was deleted. What happens from its beginning on is told as it happens: that
// something is deleted as well.
type withoutDeleted struct {
	Subscription
	desk *Desk
}

// Next implements [Subscription].
func (s *withoutDeleted) Next(ctx context.Context) ([]Event, error) {
	for {
		events, err := s.Subscription.Next(ctx)
		if events = s.desk.shown(events, s.Start()); len(events) > 0 || err != nil {
			return events, err
		}
	}
}

// Poll implements [Subscription].
func (s *withoutDeleted) Poll(ctx context.Context, wake func()) ([]Event, error) {
	for {
		all, err := s.Subscription.Poll(ctx, wake)
		if events := s.desk.shown(all, s.Start()); len(events) > 0 || len(all) == 0 || err != nil {
			return events, err
		}
	}
}
