package pebble

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// note returns a small frame of a session and a task.
func note(tenant storage.Tenant, session, task, n int) *storage.Batch {
	id := newID(abi.ObjectTask, task)
	return &storage.Batch{Frame: storage.Frame{
		Tenant: tenant, Time: epoch, SessionID: newID(abi.ObjectSession, session), TaskID: id,
		WorkspaceID: newID(abi.ObjectWorkspace, 1),
		Records: []storage.Record{
			{Kind: abi.EventLog, Resource: ptr(abi.ObjectTask, id), Sequence: uint64(n), Hint: true, Payload: fmt.Appendf(nil, `{"n":%d}`, n)},
			{Kind: abi.EventProgress, Resource: ptr(abi.ObjectTask, id), Sequence: uint64(n), Hint: true},
		},
	}}
}

// scopesOfTest are the scopes that the tests of subscriptions watch.
func scopesOfTest() []storage.Scope {
	return []storage.Scope{
		{},
		{Object: abi.ObjectWorkspace, ID: newID(abi.ObjectWorkspace, 1)},
		{Object: abi.ObjectSession, ID: newID(abi.ObjectSession, 1)},
		{Object: abi.ObjectTask, ID: newID(abi.ObjectTask, 3)},
	}
}

// readAll reads a subscription until it has passed the position up to.
func readAll(ctx context.Context, sub storage.Subscription, upTo storage.Position) (got []storage.Position, err error) {
	for {
		events, err := sub.Next(ctx)
		if err != nil {
			return got, err
		}
		for _, e := range events {
			got = append(got, e.Position())
		}
		if n := len(got); n > 0 && got[n-1] >= upTo {
			return got, nil
		}
	}
}

// poller reads a subscription by Poll, and waits by itself.
type poller struct{ storage.Subscription }

// Next implements [storage.Subscription].
func (p poller) Next(ctx context.Context) ([]storage.Event, error) {
	for {
		woken := make(chan struct{})
		events, err := p.Poll(ctx, func() { close(woken) })
		if err != nil || len(events) > 0 {
			return events, err
		}
		select {
		case <-woken:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// either makes every other subscriber one that polls.
func either(sub storage.Subscription, n storage.Position) storage.Subscription {
	if n%2 == 0 {
		return poller{sub}
	}
	return sub
}

// TestSubscribersSeeHistoryThenLive lets subscribers of every scope, starting at
// every moment and cursor, read while many writers append.
func TestSubscribersSeeHistoryThenLive(t *testing.T) {
	const writers, each = 8, 150
	s := openTest(t, vfs.NewMem())
	ctx := context.Background()
	for n := range 40 {
		mustAppend(t, s, note(1, n%3, n%5, n))
	}
	type reading struct {
		scope storage.Scope
		after storage.Position
		got   []storage.Position
	}
	var appending, reading1 sync.WaitGroup
	var mu sync.Mutex
	var readings []reading
	stop := make(chan storage.Position, 1)
	read := func(scope storage.Scope, after storage.Position) {
		sub, err := s.Subscribe(1, scope, after)
		if err != nil {
			t.Error(err)
			return
		}
		reading1.Go(func() {
			defer sub.Close()
			upTo := <-stop
			stop <- upTo
			got, err := readAll(ctx, either(sub, after), upTo)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			readings = append(readings, reading{scope, after, got})
			mu.Unlock()
		})
	}
	for w := range writers {
		appending.Go(func() {
			for n := range each {
				c := s.Append(note(1, (w+n)%3, n%5, n))
				if n%10 == 0 {
					read(scopesOfTest()[(n/10)%4], storage.Position(w*n/2))
				}
				if _, err := c.Wait(ctx); err != nil {
					t.Error(err)
				}
			}
		})
	}
	live, err := s.Subscribe(1, storage.Scope{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	total := storage.Position(2 * (40 + writers*each))
	got, err := readAll(ctx, live, total)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range got {
		if p != storage.Position(i+1) {
			t.Fatalf("event number %d of the whole stream is %s", i, p)
		}
	}
	appending.Wait()
	// A last frame that belongs to every scope ends all readers.
	end := mustAppend(t, s, note(1, 1, 3, 0)) + 1
	stop <- end
	reading1.Wait()
	for _, r := range readings {
		if want := positionsOf(t, s, r.scope, r.after); !reflect.DeepEqual(r.got, want) {
			t.Fatalf("subscriber of %v after %s saw %d events, want %d", r.scope, r.after, len(r.got), len(want))
		}
	}
	if n := len(readings); n != writers*each/10 {
		t.Fatalf("%d readings", n)
	}
}

// positionsOf returns what the log holds of a scope after a position.
func positionsOf(t *testing.T, s *Store, scope storage.Scope, after storage.Position) (want []storage.Position) {
	t.Helper()
	for {
		events, more, err := s.Events(context.Background(), 1, scope, after, 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			after = e.Position()
			want = append(want, after)
		}
		if !more {
			return want
		}
	}
}

// TestLiveEventsEqualTheLog holds what a subscriber is handed from memory against
// what the log yields.
func TestLiveEventsEqualTheLog(t *testing.T) {
	ctx := context.Background()
	s := openTest(t, vfs.NewMem())
	sub, err := s.Subscribe(1, storage.Scope{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	for _, b := range script() {
		mustAppend(t, s, b)
	}
	last, err := s.Last(ctx, 1, storage.Scope{})
	if err != nil {
		t.Fatal(err)
	}
	seen := storage.Position(0)
	for seen < last {
		events, err := sub.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			seen = e.Position()
			stored, err := s.Event(ctx, 1, seen)
			if err != nil || !reflect.DeepEqual(*stored.Frame, *e.Frame) || stored.Index != e.Index {
				t.Fatalf("event %s: live %.200q, stored %.200q, %v", seen, fmt.Sprint(e.Frame), fmt.Sprint(stored.Frame), err)
			}
		}
	}
}

// TestSubscriberOfAnotherScopeSleeps checks that events of other scopes and tenants
// never reach a subscriber, nor wake it.
func TestSubscriberOfAnotherScopeSleeps(t *testing.T) {
	s := openTest(t, vfs.NewMem())
	sub, err := s.Subscribe(1, storage.Scope{Object: abi.ObjectTask, ID: newID(abi.ObjectTask, 3)}, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	_, wake, behind := sub.(*subscription).topic.after(0)
	if behind {
		t.Fatal("a new subscriber of an empty log is behind")
	}
	mustAppend(t, s, note(1, 1, 4, 0))
	mustAppend(t, s, note(2, 1, 3, 0))
	mustAppend(t, s, note(1, 1, 4, 1)) // by now those before have been published
	select {
	case <-wake:
		t.Fatal("woken by an event of another scope")
	default:
	}
	want := mustAppend(t, s, note(1, 1, 3, 0))
	events, err := sub.Next(context.Background())
	if err != nil || len(events) != 2 || events[0].Position() != want {
		t.Fatalf("Next = %v, %v", events, err)
	}
}

// TestTopicsEndWithTheirSubscribers checks that nothing is kept for a scope that
// nobody watches.
func TestTopicsEndWithTheirSubscribers(t *testing.T) {
	s := openTest(t, vfs.NewMem())
	for range 3 {
		for _, scope := range scopesOfTest() {
			sub, err := s.Subscribe(1, scope, 0)
			if err != nil {
				t.Fatal(err)
			}
			mustAppend(t, s, note(1, 1, 3, 0))
			sub.Close()
			sub.Close()
		}
	}
	n := 0
	for i := range s.topics.shards {
		n += len(s.topics.shards[i].all)
	}
	if n != 0 || s.Metrics().Subscribers != 0 {
		t.Fatalf("%d topics are left", n)
	}
}

// TestSlowReaderHoldsNoMemory lets a subscriber read nothing while far more is
// written than a topic keeps, and then everything, page by page.
func TestSlowReaderHoldsNoMemory(t *testing.T) {
	s := openTest(t, vfs.NewMem())
	sub, err := s.Subscribe(1, storage.Scope{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	for n := range 3*ringFrames + 7 {
		if c := s.Append(note(1, 1, n%5, n)); n%500 == 0 {
			if _, err := c.Wait(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
	}
	last := mustAppend(t, s, note(1, 1, 3, 0)) + 1
	top := sub.(*subscription).topic
	top.mu.Lock()
	if len(top.ring) > ringFrames {
		t.Errorf("the topic holds %d frames", len(top.ring))
	}
	top.mu.Unlock()
	for next := storage.Position(1); next <= last; {
		events, err := sub.Next(context.Background())
		if err != nil || len(events) > pageEvents {
			t.Fatalf("%d events, %v", len(events), err)
		}
		for _, e := range events {
			if e.Position() != next {
				t.Fatalf("event %s, want %s", e.Position(), next)
			}
			next++
		}
	}
}

// TestRingIsBoundedByBytes checks that large events do not pile up in a topic.
// A reader is given so many bytes at a time, of the log and of the ring alike: it is what
// one holds that does not go on.
func TestSubscriptionsAreReadInSmallPieces(t *testing.T) {
	s := openTest(t, vfs.NewMem())
	const count, each = 10, 100 << 10
	old, err := s.Subscribe(1, storage.Scope{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	for i := range count {
		b := note(1, 1, 1, i)
		b.Frame.Records[0].Payload = fmt.Appendf(nil, `{"n":"%0*d"}`, each, i)
		s.Append(b)
	}
	if err := s.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	late, err := s.Subscribe(1, storage.Scope{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer late.Close()
	for name, sub := range map[string]storage.Subscription{"ring": old, "log": late} {
		for seen := 0; seen < 2*count; {
			events, err := sub.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			size := 0
			for _, e := range events {
				size += len(e.Record().Payload)
			}
			if seen += len(events); size > subscriptionBytes+2*each {
				t.Errorf("%s: %d events of %d bytes at once", name, len(events), size)
			}
		}
	}
}

func TestRingIsBoundedByBytes(t *testing.T) {
	var top topic
	for n := range 100 {
		top.push(&storage.Frame{First: storage.Position(n + 1), Records: []storage.Record{{State: make([]byte, 1<<20)}}})
	}
	if top.bytes > ringBytes || len(top.ring) == 0 || top.base != storage.Position(100-len(top.ring)) {
		t.Fatalf("%d frames of %d bytes after %s", len(top.ring), top.bytes, top.base)
	}
}

func TestSubscriptionEnds(t *testing.T) {
	s := openTest(t, vfs.NewMem())
	newSub := func() storage.Subscription {
		sub, err := s.Subscribe(1, storage.Scope{}, 0)
		if err != nil {
			t.Fatal(err)
		}
		return sub
	}
	sub := newSub()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() {
		_, err := sub.Next(ctx)
		ended <- err
	}()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Fatalf("after the caller left: %v", err)
	}
	go func() {
		_, err := sub.Next(context.Background())
		ended <- err
	}()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, storage.ErrClosed) {
		t.Fatalf("after Close: %v", err)
	}
	if _, err := s.Subscribe(1, storage.Scope{}, 0); !errors.Is(err, storage.ErrClosed) {
		t.Fatalf("subscribing after Close: %v", err)
	}
}

// TestCursorExpires checks what readers of removed events are told.
func TestCursorExpires(t *testing.T) {
	ctx := context.Background()
	s := openTest(t, vfs.NewMem())
	for n := range 10 {
		b := note(1, 1, 3, n)
		b.Frame.Time = epoch.Add(time.Duration(n) * time.Minute)
		mustAppend(t, s, b)
	}
	slow, err := s.Subscribe(1, storage.Scope{}, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	removed, err := s.Retain(ctx, epoch.Add(5*time.Minute))
	if err != nil || removed != 10 {
		t.Fatalf("Retain = %d, %v", removed, err)
	}
	if _, err := slow.Next(ctx); !errors.Is(err, storage.ErrCursorExpired) {
		t.Fatalf("a reader that was overtaken: %v", err)
	}
	if _, err := s.Subscribe(1, storage.Scope{}, 9); !errors.Is(err, storage.ErrCursorExpired) {
		t.Fatalf("subscribing below the floor: %v", err)
	}
	if _, _, err := s.Events(ctx, 1, storage.Scope{}, 9, 5); !errors.Is(err, storage.ErrCursorExpired) {
		t.Fatalf("reading below the floor: %v", err)
	}
	if _, err := s.Event(ctx, 1, 10); !errors.Is(err, storage.ErrCursorExpired) {
		t.Fatalf("a removed event: %v", err)
	}
	for _, after := range []storage.Position{0, 10} {
		events, _, err := s.Events(ctx, 1, scopesOfTest()[3], after, 50)
		if err != nil || len(events) != 10 || events[0].Position() != 11 {
			t.Fatalf("after %s: %d events, %v", after, len(events), err)
		}
	}
}

// TestSleepers checks whom Poll wakes, how often, and until when.
func TestSleepers(t *testing.T) {
	ctx := context.Background()
	s := openTest(t, vfs.NewMem())
	var woken [4]atomic.Int64
	subs := make([]storage.Subscription, len(woken))
	poll := func(i int) []storage.Event {
		t.Helper()
		events, err := subs[i].Poll(ctx, func() { woken[i].Add(1) })
		if err != nil {
			t.Fatal(err)
		}
		return events
	}
	counts := func(want ...int64) {
		t.Helper()
		for i := range woken {
			if got := woken[i].Load(); got != want[i] {
				t.Fatalf("subscriber %d was woken %d times, want %d", i, got, want[i])
			}
		}
	}
	for i := range subs {
		var err error
		if subs[i], err = s.Subscribe(1, scopesOfTest()[3], 0); err != nil {
			t.Fatal(err)
		}
		for range 2 { // asking twice is one call
			if events := poll(i); len(events) != 0 {
				t.Fatalf("%d events before the first", len(events))
			}
		}
	}
	subs[1].Close()
	mustAppend(t, s, note(1, 1, 4, 1)) // of another Task
	end := mustAppend(t, s, note(1, 1, 3, 1))
	mustAppend(t, s, note(1, 1, 3, 2))
	// Publishing comes after the acknowledgement: a later frame's tells of the earlier.
	if got, err := readAll(ctx, poller{subs[0]}, end+3); err != nil || len(got) != 4 {
		t.Fatalf("read %v, %v", got, err)
	}
	for _, i := range []int{2, 3} {
		if events := poll(i); len(events) != 4 {
			t.Fatalf("subscriber %d has %d events", i, len(events))
		}
	}
	counts(1, 0, 1, 1)
	poll(0)
	poll(2)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	counts(2, 0, 2, 1)
	if _, err := subs[0].Poll(ctx, func() { t.Error("woken after the end") }); !errors.Is(err, storage.ErrClosed) {
		t.Fatalf("after Close: %v", err)
	}
}

// TestSleepersKeepNothing checks that the past is let go of when nobody reads, and
// that whoever comes later, or was late, misses nothing.
func TestSleepersKeepNothing(t *testing.T) {
	ctx := context.Background()
	s := openTest(t, vfs.NewMem())
	scope := scopesOfTest()[3]
	quick, err := s.Subscribe(1, scope, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer quick.Close()
	late, err := s.Subscribe(1, scope, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer late.Close()
	kept := func() int {
		topic := quick.(*subscription).topic
		topic.mu.Lock()
		defer topic.mu.Unlock()
		return len(topic.ring)
	}
	sleep := func(sub storage.Subscription) {
		t.Helper()
		if events, err := sub.Poll(ctx, func() {}); err != nil || len(events) != 0 {
			t.Fatalf("%d events, %v", len(events), err)
		}
	}
	var end storage.Position
	for n := range 10 {
		end = mustAppend(t, s, note(1, 1, 3, n)) + 1
	}
	if _, err := readAll(ctx, poller{quick}, end); err != nil {
		t.Fatal(err)
	}
	sleep(quick)
	if kept() == 0 {
		t.Fatal("nothing is kept for a reader that is late")
	}
	if got, err := readAll(ctx, late, end); err != nil || len(got) != 20 {
		t.Fatalf("read %v, %v", got, err)
	}
	sleep(late)
	if n := kept(); n != 0 {
		t.Fatalf("%d frames are kept for nobody", n)
	}
	after, err := s.Subscribe(1, scope, 4)
	if err != nil {
		t.Fatal(err)
	}
	defer after.Close()
	last := mustAppend(t, s, note(1, 1, 3, 10)) + 1
	for sub, want := range map[storage.Subscription]int{quick: 2, late: 2, after: 18} {
		if got, err := readAll(ctx, sub, last); err != nil || len(got) != want || got[want-1] != last {
			t.Fatalf("read %v, %v; want %d", got, err, want)
		}
	}
}

// TestWhatIsStatedBesideATaskIsNoEventOfIt holds that a Task's and a Session's events are
// their own, whatever else its frames state, and that a reader who has seen them all
// rests, also when the frame goes on.
func TestWhatIsStatedBesideATaskIsNoEventOfIt(t *testing.T) {
	s := openTest(t, vfs.NewMem())
	b := note(1, 1, 3, 0)
	batch := storage.Record{Kind: abi.EventReceiptsSealed, Resource: ptr(abi.ObjectReceiptBatch, "rbatch_1"), Created: true, State: []byte("{}")}
	quota := storage.Record{Kind: abi.EventQuotaUpdated, Resource: ptr(abi.ObjectQuota, "quota_1"), Created: true, State: []byte("{}")}
	b.Frame.Records = append([]storage.Record{batch}, append(b.Frame.Records, quota)...) // positions 1 to 4
	subs := map[storage.Scope]storage.Subscription{}
	for _, scope := range scopesOfTest() {
		sub, err := s.Subscribe(1, scope, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer sub.Close()
		subs[scope] = sub
	}
	if _, err := s.Append(b).Wait(ctx); err != nil {
		t.Fatal(err)
	}
	for _, scope := range scopesOfTest() {
		want := []storage.Position{1, 2, 3, 4}
		if scope.Object == abi.ObjectTask || scope.Object == abi.ObjectSession {
			want = []storage.Position{2, 3}
		}
		last := want[len(want)-1]
		got, more, err := s.Events(ctx, 1, scope, 0, len(want))
		if err != nil || more || len(got) != len(want) || got[0].Position() != want[0] {
			t.Errorf("%v has %d events, more %v (%v), want %v", scope, len(got), more, err, want)
		}
		if p, err := s.Last(ctx, 1, scope); err != nil || p != last {
			t.Errorf("the last of %v is %s (%v), want %s", scope, p, err, last)
		}
		live, err := readAll(ctx, poller{subs[scope]}, last)
		if err != nil || !reflect.DeepEqual(live, want) {
			t.Errorf("%v was told %v (%v), want %v", scope, live, err, want)
		}
		if events, err := subs[scope].Poll(ctx, func() {}); err != nil || len(events) != 0 {
			t.Errorf("%v was told %d events more (%v)", scope, len(events), err)
		}
		late, err := s.Subscribe(1, scope, last)
		if err != nil {
			t.Fatal(err)
		}
		if events, err := late.Poll(ctx, func() {}); err != nil || len(events) != 0 {
			t.Errorf("%v was told %d events after the last (%v)", scope, len(events), err)
		}
		late.Close()
	}
}
