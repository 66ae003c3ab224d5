package turns

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"
)

// TestTenantsAreServedInTurns holds that who has one piece of long work does not wait for
// all the pieces of another, and that those of one tenant are done in order.
func TestTenantsAreServedInTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := New(1)
		if err := turns.Enter(t.Context()); err != nil {
			t.Fatal(err)
		}
		var served []uint64
		var all sync.WaitGroup
		ask := func(tenant, piece uint64) {
			all.Go(func() {
				if err := turns.Enter(For(t.Context(), tenant)); err != nil {
					t.Error(err)
				}
				served = append(served, tenant*1000+piece)
				turns.Leave()
			})
			synctest.Wait()
		}
		for piece := range uint64(100) {
			ask(1, piece)
		}
		ask(2, 0)
		ask(3, 0)
		ask(3, 1)
		turns.Leave()
		all.Wait()
		if want := []uint64{1000, 2000, 3000, 1001, 3001, 1002}; !slices.Equal(served[:len(want)], want) {
			t.Errorf("they were served as %v", served[:len(want)])
		}
		if one := slices.DeleteFunc(served, func(n uint64) bool { return n/1000 != 1 }); !slices.IsSorted(one) || len(one) != 100 {
			t.Errorf("one tenant's were served as %v", one)
		}
	})
}

// TestACancelEndsTheWait holds that who waits ends at once, and takes no place with it.
func TestACancelEndsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns, stop := New(1), errors.New("stop")
		_ = turns.Enter(t.Context())
		ctx, cancel := context.WithCancelCause(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- turns.Enter(ctx) }()
		synctest.Wait()
		cancel(stop)
		if err := <-ended; !errors.Is(err, stop) {
			t.Errorf("it ended with %v", err)
		}
		if err := turns.Enter(ctx); !errors.Is(err, stop) {
			t.Errorf("who has ended before asks and is told %v", err)
		}
		turns.Leave()
		if turns.free != 1 || len(turns.waiting) != 0 {
			t.Errorf("%d places are free, %d lines wait", turns.free, len(turns.waiting))
		}
	})
}

// TestNeverMoreThanThereArePlaces has work of several tenants come, take turns and be
// canceled in any order.
func TestNeverMoreThanThereArePlaces(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		places := rapid.IntRange(1, 3).Draw(rt, "places")
		turns, inside := New(places), 0
		type piece struct {
			tenant uint64
			waits  *ticket
			placed bool
		}
		var pieces []*piece
		settle := func() {
			inside = 0
			for _, p := range pieces {
				if p.waits != nil {
					select {
					case <-p.waits.given:
						p.placed, p.waits = true, nil
					default:
					}
				}
				if p.placed {
					inside++
				}
			}
		}
		remove := func(p *piece) { pieces = slices.DeleteFunc(pieces, func(o *piece) bool { return o == p }) }
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			switch {
			case len(pieces) == 0 || rapid.Bool().Draw(rt, "comes"):
				p := &piece{tenant: rapid.Uint64Range(0, 3).Draw(rt, "tenant")}
				p.waits = turns.ask(p.tenant)
				p.placed = p.waits == nil
				pieces = append(pieces, p)
			default:
				p := rapid.SampledFrom(pieces).Draw(rt, "piece")
				if p.placed {
					turns.Leave()
				} else {
					turns.withdraw(p.waits) // which may have been given meanwhile
				}
				remove(p)
			}
			if rapid.Bool().Draw(rt, "look") {
				settle()
			}
			if turns.free > 0 && len(turns.waiting) > 0 {
				rt.Fatalf("%d places are free while %d lines wait", turns.free, len(turns.waiting))
			}
		}
		settle()
		if inside+turns.free != places {
			rt.Fatalf("%d work and %d places are free, of %d", inside, turns.free, places)
		}
		if inside < min(places, len(pieces)) {
			rt.Fatalf("%d of %d pieces work, though there are %d places", inside, len(pieces), places)
		}
	})
}

// TestSmallDocumentsDoNotWait holds that what is short is done whoever has the places.
func TestSmallDocumentsDoNotWait(t *testing.T) {
	turns := New(1)
	_ = turns.Enter(t.Context())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	done := func() error { return nil }
	if err := turns.Do(ctx, Large-1, done); err != nil {
		t.Errorf("a small one: %v", err)
	}
	if err := turns.Do(ctx, Large, done); !errors.Is(err, context.Canceled) {
		t.Errorf("a large one: %v", err)
	}
	turns.Leave()
	if err := turns.Do(t.Context(), Large, done); err != nil || turns.free != 1 {
		t.Errorf("%v, and %d places are free", err, turns.free)
	}
	var none *Turns
	if err := errors.Join(none.Enter(t.Context()), none.Do(t.Context(), Large, done)); err != nil {
		t.Errorf("without turns: %v", err)
	}
	none.Leave()
}
