package pebble

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// changes are what commits change that the database does not show yet, as far as others
// may expect something of it. They are collected when a commit that expects something asks.
type changes struct {
	answers    changed[storage.Key]
	deliveries changed[storage.DeliveryKey]
	resources  changed[abi.ResourcePointer]
}

// changed are the keys, deliveries or resources that the first commits of a batch change.
type changed[K comparable] struct {
	all     map[owned[K]]struct{}
	commits int
}

// owned is what a tenant has.
type owned[K comparable] struct {
	tenant storage.Tenant
	what   K
}

// forget empties the changes, for other commits.
func (cs *changes) forget() {
	cs.answers.forget()
	cs.deliveries.forget()
	cs.resources.forget()
}

func (cs *changed[K]) forget() {
	clear(cs.all)
	cs.commits = 0
}

// concern reports whether c expects anything of what the commits before it change.
func (cs *changes) concern(c *commit, before []*commit) bool {
	for i := range c.expect {
		e := &c.expect[i]
		var concerned bool
		switch e.Kind {
		case storage.ExpectNoAnswer:
			concerned = cs.answers.has(c, e.Key, before, (*commit).eachAnswer)
		case storage.ExpectUnseen:
			concerned = cs.deliveries.has(c, e.Delivery, before, (*commit).eachDelivery)
		default:
			concerned = cs.resources.has(c, e.Resource, before, (*commit).eachResource)
		}
		if concerned {
			return true
		}
	}
	return false
}

// has reports whether one of the commits before c changes what c expects something of.
// each calls a function with all that a commit changes.
func (cs *changed[K]) has(c *commit, what K, before []*commit, each func(*commit, func(K))) bool {
	if cs.all == nil {
		cs.all = map[owned[K]]struct{}{}
	}
	for ; cs.commits < len(before); cs.commits++ {
		t := before[cs.commits].frame.Tenant
		each(before[cs.commits], func(k K) { cs.all[owned[K]{t, k}] = struct{}{} })
	}
	_, ok := cs.all[owned[K]{c.frame.Tenant, what}]
	return ok
}

func (c *commit) eachAnswer(f func(storage.Key)) {
	if c.answers != nil {
		f(c.answers.Key)
	}
}

func (c *commit) eachDelivery(f func(storage.DeliveryKey)) {
	for i := range c.frame.Records {
		if op := &c.frame.Records[i].Intake; op.Kind == storage.IntakeReceive {
			f(op.Delivery)
		}
	}
}

func (c *commit) eachResource(f func(abi.ResourcePointer)) {
	for i := range c.frame.Records {
		f(c.frame.Records[i].Resource)
	}
}

// admit reports whether all holds that c expects. Otherwise c is refused: it is told so when
// what stands in its way is durable, and leaves nothing. It runs in the committer, when the
// database shows everything before c that c expects anything of.
func (s *Store) admit(c *commit) bool {
	for i := range c.expect {
		e := &c.expect[i]
		found, ok, err := s.holds(c.frame.Tenant, e)
		switch {
		case err != nil:
			c.err = fmt.Errorf("looking at what a batch expects: %w", err)
		case !ok:
			c.err = &storage.ConflictError{Index: i, Expected: *e, Found: found}
		default:
			continue
		}
		c.frame = nil
		return false
	}
	return true
}

// holds reports whether an expectation holds, and what there is if not.
func (s *Store) holds(t storage.Tenant, e *storage.Expectation) (found storage.Standing, ok bool, err error) {
	switch e.Kind {
	case storage.ExpectNoAnswer:
		i, _, err := s.answer(t, e.Key, e.Time)
		if err != nil || i == nil {
			return found, true, err
		}
		return storage.Standing{Position: i.Position}, false, nil
	case storage.ExpectUnseen:
		d, seen, err := s.lastSeen(t, e.Delivery, e.Time)
		return storage.Standing{Position: d.position}, !seen, err
	}
	p, origin, stated, err := s.pointers(t, e.Resource)
	if err != nil {
		return found, false, err
	}
	found.Position = p.position()
	switch e.Kind {
	case storage.ExpectNew, storage.ExpectSequence:
		unstated, told, err := s.noted(t, e.Resource)
		found.Sequence = max(p.sequence, origin.sequence, unstated.sequence)
		if stated = stated || told; e.Kind == storage.ExpectNew {
			return found, !stated, err
		}
		return found, stated && found.Sequence == e.Sequence, err
	case storage.ExpectHead:
		if !stated {
			return found, e.Head == storage.Hash{}, nil
		}
		res, err := s.follow(context.Background(), t, e.Resource.ID, p, origin)
		found.Head = sha256.Sum256(res.State)
		return found, found.Head == e.Head, err
	case storage.ExpectStated:
		return found, stated, nil
	}
	return found, found.Position == e.Position, nil
}
