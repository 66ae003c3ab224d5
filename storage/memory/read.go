package memory

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// locked runs f, unless the Store is closed.
func (s *Store) locked(f func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return storage.ErrClosed
	}
	return f()
}

// checkScope returns an error for a scope that events have none of.
func checkScope(s storage.Scope) error {
	switch s.Object {
	case "", abi.ObjectWorkspace, abi.ObjectSession, abi.ObjectTask:
		return nil
	}
	return &storage.ScopeError{Object: abi.ObjectEvent, Scope: s.Object}
}

// events returns all events of a scope after a position.
func (s *Store) events(t storage.Tenant, scope storage.Scope, after storage.Position) (all []storage.Event) {
	for _, f := range s.kept.frames {
		if f.Tenant != t || scope.Object != "" && f.Owner(scope.Object) != scope.ID {
			continue
		}
		for i := range f.Records {
			ev := storage.Event{Frame: f, Index: i}
			if ev.Position() > after && scope.Shows(ev.Record()) {
				all = append(all, ev)
			}
		}
	}
	return all
}

// Event implements [storage.Store].
func (s *Store) Event(_ context.Context, t storage.Tenant, p storage.Position) (ev storage.Event, err error) {
	err = s.locked(func() error {
		all := s.events(t, storage.Scope{}, p-1)
		switch {
		case p == 0 || p > s.kept.last:
			return storage.ErrNotFound
		case p <= s.kept.floor:
			return storage.ErrCursorExpired
		case len(all) == 0 || all[0].Position() != p:
			return storage.ErrNotFound
		}
		ev = all[0]
		return nil
	})
	return ev, err
}

// Events implements [storage.Store].
func (s *Store) Events(_ context.Context, t storage.Tenant, scope storage.Scope, after storage.Position, limit int) (list []storage.Event, more bool, err error) {
	if err := checkScope(scope); err != nil {
		return nil, false, err
	}
	err = s.locked(func() error {
		if after != 0 && after < s.kept.floor {
			return storage.ErrCursorExpired
		}
		list, more = page(s.events(t, scope, after), limit, func(ev storage.Event) int { return len(ev.Record().State) + len(ev.Record().Payload) })
		return nil
	})
	return list, more, err
}

// page returns the beginning of a list: so many, or those that reach storage.PageBytes.
func page[T any](all []T, limit int, size func(T) int) (list []T, more bool) {
	n, bytes := 0, 0
	for n < len(all) && n < limit && bytes < storage.PageBytes {
		bytes += size(all[n])
		n++
	}
	return all[:n:n], n < len(all)
}

// Last implements [storage.Store].
func (s *Store) Last(_ context.Context, t storage.Tenant, scope storage.Scope) (p storage.Position, err error) {
	if err := checkScope(scope); err != nil {
		return 0, err
	}
	err = s.locked(func() error {
		if all := s.events(t, scope, 0); len(all) > 0 {
			p = all[len(all)-1].Position()
		}
		return nil
	})
	return p, err
}

// Get implements [storage.Store].
func (s *Store) Get(_ context.Context, t storage.Tenant, o abi.Object, id string) (res storage.Resource, err error) {
	err = s.locked(func() error {
		r := s.of(t).resources[abi.ResourcePointer{Object: o, ID: id}]
		if r == nil || !r.stated {
			return storage.ErrNotFound
		}
		res = r.Resource
		return nil
	})
	return res, err
}

// GetAll implements [storage.Store].
func (s *Store) GetAll(ctx context.Context, t storage.Tenant, o abi.Object, ids []string) ([]storage.Resource, error) {
	all := make([]storage.Resource, 0, len(ids))
	for _, id := range ids {
		res, err := s.Get(ctx, t, o, id)
		if err != nil {
			return all, err
		}
		all = append(all, res)
	}
	return all, nil
}

// Sequence implements [storage.Store].
func (s *Store) Sequence(_ context.Context, t storage.Tenant, r abi.ResourcePointer) (n uint64, found bool, err error) {
	err = s.locked(func() error {
		if res := s.of(t).resources[r]; res != nil {
			n, found = res.sequence, true
		}
		return nil
	})
	return n, found, err
}

// List implements [storage.Store].
func (s *Store) List(_ context.Context, t storage.Tenant, o abi.Object, scope storage.Scope, p storage.Page) (list []storage.Resource, more bool, err error) {
	if scope.Object != "" && !slices.Contains(storage.ListedBy(o), scope.Object) {
		return nil, false, &storage.ScopeError{Object: o, Scope: scope.Object}
	}
	err = s.locked(func() error {
		all := s.of(t).list(o, scope, p)
		slices.SortFunc(all, func(a, b storage.Resource) int { return strings.Compare(b.ID, a.ID) })
		if p.Oldest {
			slices.Reverse(all)
		}
		list, more = page(all[min(p.Offset, len(all)):], p.Limit, stateSize)
		return nil
	})
	return list, more, err
}

// Count implements [storage.Store].
func (s *Store) Count(_ context.Context, t storage.Tenant, o abi.Object, scope storage.Scope, p storage.Page) (n int, more bool, err error) {
	ofTranscript := o == abi.ObjectMessage && scope.Object == abi.ObjectSession
	if scope.Object != "" && !ofTranscript && !slices.Contains(storage.ListedBy(o), scope.Object) {
		return 0, false, &storage.ScopeError{Object: o, Scope: scope.Object}
	}
	p.After = ""
	err = s.locked(func() error {
		if ofTranscript {
			n = len(s.of(t).transcripts[scope.ID])
		} else {
			n = len(s.of(t).list(o, scope, p))
		}
		return nil
	})
	return min(n, p.Limit), n > p.Limit, err
}

// list returns what a list has within the bounds of a page, in no order.
func (t *tenant) list(o abi.Object, scope storage.Scope, p storage.Page) (all []storage.Resource) {
	for r, res := range t.resources {
		in := scope.Object == "" || slices.Contains(res.owners, scope)
		if r.Object == o && res.created && in && onPage(p, r.ID) {
			all = append(all, res.Resource)
		}
	}
	return all
}

// onPage reports whether the bounds of a page let an id through.
func onPage(p storage.Page, id string) bool {
	switch {
	case p.Least != "" && id < p.Least, p.Below != "" && id >= p.Below:
		return false
	case p.After == "":
		return true
	case p.Oldest:
		return id > p.After
	}
	return id < p.After
}

func stateSize(r storage.Resource) int { return len(r.State) }

// Transcript implements [storage.Store].
func (s *Store) Transcript(_ context.Context, t storage.Tenant, session string, p storage.Page) (list []storage.Resource, more bool, err error) {
	after, ok := storage.ParsePosition(p.After)
	if !ok && p.After != "" {
		return nil, false, storage.ErrNotFound
	}
	err = s.locked(func() error {
		all := slices.Clone(s.of(t).transcripts[session])
		if p.Newest {
			slices.Reverse(all)
		}
		var messages []storage.Resource
		for _, e := range all {
			passed := p.After != "" && (e.position <= after && !p.Newest || e.position >= after && p.Newest)
			if !passed {
				messages = append(messages, s.message(t, e))
			}
		}
		list, more = page(messages[min(p.Offset, len(messages)):], p.Limit, stateSize)
		return nil
	})
	return list, more, err
}

// message returns a Message of a transcript, whose Origin is its place there.
func (s *Store) message(t storage.Tenant, e entry) storage.Resource {
	r := s.of(t).resources[abi.ResourcePointer{Object: abi.ObjectMessage, ID: e.message}]
	if r == nil || !r.stated {
		return storage.Resource{ID: e.message, Origin: e.position, Err: fmt.Errorf("%s is in a transcript and is not there: %w", e.message, storage.ErrDamaged)}
	}
	m := r.Resource
	m.Origin = e.position
	return m
}

// Turn implements [storage.Store].
func (s *Store) Turn(_ context.Context, t storage.Tenant, session string, n int) (p storage.Position, found bool, err error) {
	err = s.locked(func() error {
		if all := s.of(t).transcripts[session]; n < len(all) {
			p, found = all[n].position, true
		}
		return nil
	})
	return p, found, err
}

// Search implements [storage.Store].
func (s *Store) Search(_ context.Context, t storage.Tenant, q storage.Query) (found []storage.Resource, next string, err error) {
	err = s.locked(func() error {
		var all []storage.Resource
		for id, m := range s.of(t).memories {
			if m.owner == q.Owner && m.holds(q.Terms) && (q.After == "" || id < q.After) {
				all = append(all, s.of(t).resources[abi.ResourcePointer{Object: abi.ObjectMemory, ID: id}].Resource)
			}
		}
		slices.SortFunc(all, func(a, b storage.Resource) int { return strings.Compare(b.ID, a.ID) })
		more := false
		if found, more = page(all, q.Limit, stateSize); more {
			next = found[len(found)-1].ID
		}
		return nil
	})
	return found, next, err
}

// holds reports whether every term is among the words.
func (m *indexed) holds(terms []storage.Term) bool {
	for _, t := range terms {
		if !slices.ContainsFunc(m.words, func(w string) bool { return w == t.Word || t.Prefix && strings.HasPrefix(w, t.Word) }) {
			return false
		}
	}
	return true
}

// Idempotency implements [storage.Store].
func (s *Store) Idempotency(_ context.Context, t storage.Tenant, k storage.Key, now time.Time) (i *storage.Idempotency, err error) {
	err = s.locked(func() error {
		found := s.of(t).answers[k]
		if found == nil || !now.Before(found.Expires) {
			return storage.ErrNotFound
		}
		copied := *found
		copied.Answer = bytes.Clone(found.Answer)
		i = &copied
		return nil
	})
	return i, err
}

// Seen implements [storage.Store].
func (s *Store) Seen(_ context.Context, t storage.Tenant, k storage.DeliveryKey, since time.Time) (p storage.Position, found bool, err error) {
	err = s.locked(func() error {
		if d, ok := s.of(t).seen[k]; ok && d.at.Unix() >= since.Unix() {
			p, found = d.position, true
		}
		return nil
	})
	return p, found, err
}

// Pending implements [storage.Store].
func (s *Store) Pending(_ context.Context, t storage.Tenant, connector string, after storage.Position, limit int) (list []storage.Event, more bool, err error) {
	err = s.locked(func() error {
		b := s.of(t).backlogs[connector]
		if b == nil {
			return nil
		}
		all := slices.DeleteFunc(s.events(t, storage.Scope{}, after), func(ev storage.Event) bool { return !slices.Contains(b.pending, ev.Position()) })
		list, more = page(all, limit, func(ev storage.Event) int { return len(ev.Record().Payload) })
		return nil
	})
	return list, more, err
}

// Backlogs implements [storage.Store].
func (s *Store) Backlogs(_ context.Context, f func(t storage.Tenant, connector string, pending int, tally []byte) error) error {
	return s.each(func(t storage.Tenant, of *tenant) (calls []func() error) {
		for _, connector := range sortedKeys(of.backlogs) {
			b := *of.backlogs[connector]
			calls = append(calls, func() error { return f(t, connector, len(b.pending), bytes.Clone(b.tally)) })
		}
		return calls
	})
}

// Active implements [storage.Store].
func (s *Store) Active(_ context.Context, f func(t storage.Tenant, taskID string) error) error {
	return s.each(func(t storage.Tenant, of *tenant) (calls []func() error) {
		for _, task := range sortedKeys(of.active) {
			calls = append(calls, func() error { return f(t, task) })
		}
		return calls
	})
}

// each makes the calls that collect returns for each tenant, when nothing is locked.
func (s *Store) each(collect func(t storage.Tenant, of *tenant) []func() error) error {
	var calls []func() error
	err := s.locked(func() error {
		for _, t := range sortedKeys(s.kept.tenants) {
			calls = append(calls, collect(t, s.kept.tenants[t])...)
		}
		return nil
	})
	for i := 0; i < len(calls) && err == nil; i++ {
		err = calls[i]()
	}
	return err
}
