package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/wharf-dev/wharf/storage"
)

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// subscription implements [storage.Subscription].
type subscription struct {
	store  *Store
	tenant storage.Tenant
	scope  storage.Scope
	start  storage.Position
	after  storage.Position
	wake   func() // to be called once there is something; nil for nobody
}

// pageEvents is how many events a subscription returns at most.
const pageEvents = 256

// Subscribe implements [storage.Store].
func (s *Store) Subscribe(t storage.Tenant, scope storage.Scope, after storage.Position) (sub storage.Subscription, err error) {
	if err := checkScope(scope); err != nil {
		return nil, err
	}
	err = s.locked(func() error {
		if after == 0 {
			after = s.kept.floor
		}
		if after < s.kept.floor {
			return storage.ErrCursorExpired
		}
		u := &subscription{store: s, tenant: t, scope: scope, start: s.kept.last, after: after}
		s.readers[u] = true
		sub = u
		return nil
	})
	return sub, err
}

// Start implements [storage.Subscription].
func (u *subscription) Start() storage.Position { return u.start }

// Close implements [storage.Subscription].
func (u *subscription) Close() {
	u.store.mu.Lock()
	defer u.store.mu.Unlock()
	delete(u.store.readers, u)
}

// notify tells subscribers that there is news, with the lock held.
func (s *Store) notify() {
	close(s.changed)
	s.changed = make(chan struct{})
	for u := range s.readers {
		if u.wake != nil && (s.closed || len(s.events(u.tenant, u.scope, u.after)) > 0) {
			wake := u.wake
			u.wake = nil
			wake()
		}
	}
}

// next returns what there is, with the lock held.
func (u *subscription) next(ctx context.Context) ([]storage.Event, error) {
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case u.store.closed:
		return nil, storage.ErrClosed
	case u.after != 0 && u.after < u.store.kept.floor:
		return nil, storage.ErrCursorExpired
	}
	events, _ := page(u.store.events(u.tenant, u.scope, u.after), pageEvents, func(ev storage.Event) int { return len(ev.Record().State) + len(ev.Record().Payload) })
	if n := len(events); n > 0 {
		u.after = events[n-1].Position()
	}
	return events, nil
}

// Next implements [storage.Subscription].
func (u *subscription) Next(ctx context.Context) ([]storage.Event, error) {
	for {
		u.store.mu.Lock()
		events, err := u.next(ctx)
		changed := u.store.changed
		u.store.mu.Unlock()
		if err != nil || len(events) > 0 {
			return events, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Poll implements [storage.Subscription].
func (u *subscription) Poll(ctx context.Context, wake func()) ([]storage.Event, error) {
	u.store.mu.Lock()
	defer u.store.mu.Unlock()
	events, err := u.next(ctx)
	u.wake = nil
	if err == nil && len(events) == 0 {
		u.wake = wake
	}
	return events, err
}
