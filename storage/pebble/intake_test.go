package pebble

import (
	"context"
	"fmt"
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

// backlogs returns what the store says of each Connector.
func backlogs(t *testing.T, s *Store) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := s.Backlogs(t.Context(), func(_ storage.Tenant, c string, n int, tally []byte) error {
		all[c] = fmt.Sprintf("%d %s", n, tally)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestDeliveriesArePendingUntilTheyAreSettled(t *testing.T) {
	fs := vfs.NewCrashableMem()
	s, err := Open("data", Options{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	var at []storage.Position
	for n := range 5 {
		at = append(at, mustAppend(t, s, taken(now, n)))
	}
	for i, n := range []int{1, 3} {
		mustAppend(t, s, intakeBatch(now, 10+n, storage.IntakeOp{Kind: storage.IntakeSettle, Connector: testConnector, At: at[n], Tally: fmt.Sprint("settled ", i+1)}))
	}
	for life := range 2 {
		events, more, err := s.Pending(t.Context(), 1, testConnector, at[0], 2)
		if err != nil || more || len(events) != 2 || events[0].Position() != at[2] || events[1].Position() != at[4] {
			t.Errorf("life %d: pending after the first: %v, %v, %v", life, events, more, err)
		}
		if got := backlogs(t, s)[testConnector]; got != "3 settled 2" {
			t.Errorf("life %d: the backlog is %q", life, got)
		}
		if _, more, _ = s.Pending(t.Context(), 1, testConnector, 0, 2); !more {
			t.Errorf("life %d: no more than two are pending", life)
		}
		mustBeSound(t, s)
		if life == 0 {
			crashed := fs.CrashClone(vfs.CrashCloneCfg{})
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if s, err = Open("data", Options{FS: crashed}); err != nil {
				t.Fatal(err)
			}
		}
	}
	mustAppend(t, s, intakeBatch(now, 20, storage.IntakeOp{Kind: storage.IntakeDrop, Connector: testConnector}))
	if got := backlogs(t, s); len(got) != 0 {
		t.Errorf("after a drop there is %v", got)
	}
	mustBeSound(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
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

// Retention stops at what is pending, and goes on when it is settled.
func TestRetentionKeepsWhatIsPending(t *testing.T) {
	s, err := Open("data", Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	now := time.Now()
	for n := range 10 {
		mustAppend(t, s, taken(now, n))
	}
	settle := func(n int) {
		mustAppend(t, s, intakeBatch(now, 100+n, storage.IntakeOp{Kind: storage.IntakeSettle, Connector: testConnector, At: storage.Position(n), Tally: "t"}))
	}
	for _, n := range []int{1, 2, 4} {
		settle(n)
	}
	if removed, err := s.Retain(context.Background(), now.Add(time.Hour)); err != nil || removed != 2 {
		t.Errorf("%d were removed before the first that is pending, %v", removed, err)
	}
	mustBeSound(t, s)
	for _, n := range []int{3, 5, 6, 7, 8, 9, 10} {
		settle(n)
	}
	if _, err := s.Retain(context.Background(), now.Add(time.Hour)); err != nil {
		t.Error(err)
	}
	if got := backlogs(t, s)[testConnector]; got != "0 t" {
		t.Errorf("the backlog is %q", got)
	}
	if _, ok, err := s.Seen(t.Context(), 1, keyOf(3), now.Add(-time.Hour)); !ok || err != nil {
		t.Errorf("what was removed is seen no more: %v", err)
	}
	mustBeSound(t, s)
}
