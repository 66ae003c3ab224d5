package intake

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/memory"
)

// between is a store that has something else happen after a delivery was looked for.
type between struct {
	storage.Store
	then func()
}

// Seen implements [storage.Store].
func (b *between) Seen(ctx context.Context, t storage.Tenant, k storage.DeliveryKey, since time.Time) (storage.Position, bool, error) {
	at, seen, err := b.Store.Seen(ctx, t, k, since)
	if then := b.then; then != nil {
		b.then = nil
		then()
	}
	return at, seen, err
}

// Two intakes on one store share no claims. A delivery that comes to both at once is taken by
// one, and the other answers that it has come before.
func TestADeliveryIsTakenByOneOfTwoWriters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &between{Store: memory.New(time.Now)}
		one := roomOn(t, store)
		id := one.connector(t)
		other := roomOn(t, store.Store)
		for n := range 3 {
			key := fmt.Sprint("a", n)
			store.then = func() {
				if got := other.deliver(t, id, key, "thread"); got.Status != DeliveryAccepted {
					t.Errorf("the first is %s", got.Status)
				}
			}
			if got := one.deliver(t, id, key, "thread"); got.Status != DeliveryDeduped || got.ID != "" || got.DeliveryID != key {
				t.Errorf("the second is %+v", got)
			}
			synctest.Wait()
			one.deliver(t, id, fmt.Sprint("b", n), "thread")
			synctest.Wait()
		}
		one.wantCounts(t, Deliveries{Received: 3, Deduped: 3, Normalized: 3})
		other.wantCounts(t, Deliveries{Received: 3, Normalized: 3})
		if n := one.inlets.waiting(1).Load(); n != 0 {
			t.Errorf("%d deliveries are counted", n)
		}
	})
}

// Whatever deliveries come to two intakes, in whatever order, each is a Task once.
func TestDeliveriesToTwoWriters(t *testing.T) {
	rapid.Check(t, func(draw *rapid.T) {
		deliveries := rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(0, 9), 0, 20), 4, 4).Draw(draw, "deliveries")
		synctest.Test(t, func(t *testing.T) {
			store := memory.New(time.Now)
			one := roomOn(t, store)
			id := one.connector(t)
			rooms := []*room{one, roomOn(t, store)}
			distinct := map[int]bool{}
			var all sync.WaitGroup
			for i, ids := range deliveries {
				for _, n := range ids {
					distinct[n] = true
				}
				all.Go(func() {
					for _, n := range ids {
						rooms[i%2].deliver(t, id, fmt.Sprint(n), "thread")
					}
				})
			}
			all.Wait()
			synctest.Wait()
			if n := len(rooms[0].orders) + len(rooms[1].orders); n != len(distinct) {
				t.Errorf("%d deliveries are %d tasks", len(distinct), n)
			}
		})
	})
}

// A Connector that two writers change has both changes; one that the other has deleted is gone.
func TestAConnectorIsChangedByTwoWriters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New(time.Now)
		one := roomOn(t, store)
		id := one.connector(t)
		other := roomOn(t, store)
		name, paused := "gauge", abi.ConnectorPaused
		if _, err := one.UpdateConnector(t.Context(), one.root, nil, id, abi.UpdateConnectorRequest{Name: &name}); err != nil {
			t.Fatal(err)
		}
		if _, err := other.UpdateConnector(t.Context(), other.root, nil, id, abi.UpdateConnectorRequest{Status: &paused}); err != nil {
			t.Fatal(err)
		}
		res, err := store.Get(t.Context(), 1, abi.ObjectConnector, id)
		if err != nil {
			t.Fatal(err)
		}
		if about, err := readConnector(&res); err != nil || about.Name != name || about.Status != paused || res.Sequence != 2 {
			t.Errorf("it is %+v at %d, %v", about, res.Sequence, err)
		}
		if err := one.DeleteConnector(t.Context(), one.root, nil, id); err != nil {
			t.Error(err)
		}
		if err := other.DeleteConnector(t.Context(), other.root, nil, id); err == nil {
			t.Error("it was deleted twice")
		}
		if _, err := other.UpdateConnector(t.Context(), other.root, nil, id, abi.UpdateConnectorRequest{Name: &name}); err == nil {
			t.Error("it was changed after it was deleted")
		}
	})
}
