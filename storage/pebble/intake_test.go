package pebble

import (
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

const testConnector = "conn_01ARZ3NDEKTSV4RRFFQ69G5FAV"

// taken is a batch in which a Connector takes a delivery.
func taken(at time.Time, n int) *storage.Batch {
	return intakeBatch(at, n, storage.IntakeOp{Kind: storage.IntakeReceive, Connector: testConnector, Delivery: keyOf(n)})
}

func keyOf(n int) storage.DeliveryKey { return storage.DeliveryKey{byte(n >> 8), byte(n), 15: 1} }

func intakeBatch(at time.Time, n int, op storage.IntakeOp) *storage.Batch {
	return &storage.Batch{Frame: storage.Frame{Tenant: 1, Time: at, WorkspaceID: newID(abi.ObjectWorkspace, 1), Records: []storage.Record{{
		Kind: abi.EventConnectorDeliveryReceived, Resource: ptr(abi.ObjectDelivery, newID(abi.ObjectDelivery, n)),
		Payload: []byte(`{"delivery":{}}`), Intake: op,
	}}}}
}

func TestDeliveriesAreSeen(t *testing.T) {
	fs := vfs.NewMem()
	now := time.Now()
	clock := func() time.Time { return now }
	s, err := Open("data", Options{FS: fs, Now: clock, DedupeFilterBytes: 4096})
	if err != nil {
		t.Fatal(err)
	}
	const day = 24 * time.Hour
	first := now
	seen := func(n int, window time.Duration) bool {
		_, ok, err := s.Seen(t.Context(), 1, keyOf(n), now.Add(-window))
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	for n := range 2000 { // more than the filter is made for
		s.Append(taken(now, n))
	}
	mustAppend(t, s, taken(now, 2000))
	for _, c := range []struct {
		after, window time.Duration
		seen          bool
	}{{0, day, true}, {time.Hour, day, true}, {2 * day, day, false}, {2 * day, 7 * day, true}, {7 * day, 7 * day, true}, {7*day + time.Hour, 7 * day, false}} {
		now = first.Add(c.after)
		for _, n := range []int{0, 777, 2000} {
			if got := seen(n, c.window); got != c.seen {
				t.Errorf("delivery %d, %s later, with a window of %s: seen is %v", n, c.after, c.window, got)
			}
		}
		if seen(2001, c.window) {
			t.Error("what never came was seen")
		}
		if _, ok, _ := s.Seen(t.Context(), 2, keyOf(1), now.Add(-c.window)); ok {
			t.Error("another tenant's delivery was seen")
		}
	}
	now = first.Add(20 * day)
	mustAppend(t, s, taken(now, 3000)) // drops the bucket
	if seen(1, 100*day) || !seen(3000, day) {
		t.Error("the keys of windows that are over are not dropped, or others are")
	}
	mustBeSound(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open("data", Options{FS: fs, Now: clock}); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if seen(1, 100*day) || !seen(3000, day) {
		t.Error("a restart changes what was seen")
	}
	mustBeSound(t, s)
}
