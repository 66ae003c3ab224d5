package engine

import (
	"cmp"
	"context"
	"slices"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// chainKey names the Tasks of which one begins when the one before has ended.
type chainKey struct {
	tenant         storage.Tenant
	connector, key string
}

// chain is the Tasks of one order key that have not ended. The first of them holds
// it, be it queued, running or parked; the others wait outside of the queue, in
// places that they have there.
type chain struct {
	holder  string // a Task's id
	waiting []*task
}

// chainOf returns the chain that a Task belongs to; ok is false for most Tasks.
func chainOf(tenant storage.Tenant, t *abi.Task) (k chainKey, ok bool) {
	return chainKey{tenant, t.ConnectorID, t.OrderKey}, t.OrderKey != ""
}

// follow reports whether a Task may be queued now. One that may not is queued when
// its turn comes. The caller holds s.mu.
func (s *scheduler) follow(t *task) bool {
	key, ordered := chainOf(t.tenant, &t.about)
	if !ordered {
		return true
	}
	c := s.chains[key]
	if c == nil {
		s.hold(key, t.id)
		return true
	}
	if c.holder != t.id {
		c.waiting = append(c.waiting, t)
	}
	return c.holder == t.id
}

// hold makes a Task the first of its chain. The caller holds s.mu.
func (s *scheduler) hold(key chainKey, id string) {
	if s.chains == nil {
		s.chains = map[chainKey]*chain{}
	}
	s.chains[key] = &chain{holder: id}
}

// holdParked makes a Task that waits elsewhere the first of its chain, unless there
// is one: it has begun, and so the others have not.
func (s *scheduler) holdParked(tenant storage.Tenant, t *abi.Task) {
	key, ordered := chainOf(tenant, t)
	if !ordered {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.chains[key] == nil {
		s.hold(key, t.ID)
	}
}

// leaveChain is told of every Task that has ended: the next of its chain gets its
// turn. One that ended while it waited gives its place back.
func (s *scheduler) leaveChain(t *task) {
	key, ordered := chainOf(t.tenant, &t.about)
	if !ordered {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.chains[key]
	if c == nil {
		return
	}
	if c.holder != t.id {
		if i := slices.IndexFunc(c.waiting, func(w *task) bool { return w.id == t.id }); i >= 0 {
			c.waiting = slices.Delete(c.waiting, i, i+1)
			s.leave(s.lane(t.tenant))
		}
		return
	}
	if len(c.waiting) == 0 {
		delete(s.chains, key)
		return
	}
	next := c.waiting[0]
	c.holder, c.waiting = next.id, slices.Delete(c.waiting, 0, 1)
	s.enqueue(next)
	s.startWaiting()
}

// inOrder puts the Tasks that belong to chains into the order in which they were
// accepted, behind all others.
func (e *Engine) inOrder(ctx context.Context, tasks []*task) error {
	accepted := map[*task]Position{}
	for _, t := range tasks {
		if _, ordered := chainOf(t.tenant, &t.about); !ordered {
			continue
		}
		res, err := e.find(ctx, t.tenant, abi.ObjectTask, t.id)
		if err != nil {
			return err
		}
		accepted[t] = res.Origin
	}
	slices.SortStableFunc(tasks, func(a, b *task) int { return cmp.Compare(accepted[a], accepted[b]) })
	return nil
}
