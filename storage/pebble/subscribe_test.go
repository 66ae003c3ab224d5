package pebble

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

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
