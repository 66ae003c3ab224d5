package harn

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/api"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/storage"
)

// feed is a subscription that a test fills by hand.
type feed struct {
	events chan []desk.Event
	err    error
}

func (f *feed) Next(ctx context.Context) ([]desk.Event, error) {
	select {
	case events, ok := <-f.events:
		if !ok {
			return nil, f.err
		}
		return events, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (f *feed) Poll(context.Context, func()) ([]desk.Event, error) { return nil, nil }

func (f *feed) Start() desk.Position { return 0 }
func (f *feed) Close()               {}

// fed is an engine that has nothing but a feed.
type fed struct {
	api.Core
	in *feed
}

func (f fed) Subscribe(context.Context, *desk.Caller, desk.Filter, desk.Position) (desk.Subscription, error) {
	return f.in, nil
}

// follow returns the feed as adapters get it.
func (f *feed) follow(t *testing.T) *api.Stream {
	t.Helper()
	s, err := api.New(fed{in: f}, nil).Follow(t.Context(), &api.Caller{}, api.Filter{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// page collects what is written, one entry for each write.
type page struct {
	mu     sync.Mutex
	writes []string
	gone   bool
	err    error
}

func (p *page) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.writes = append(p.writes, string(b))
	return len(b), p.err
}

func (p *page) Gone() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.gone
}

func (p *page) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gone = true
}

// seen returns what has been written when nothing more is going on.
func (p *page) seen() []string {
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.writes)
}

func someEvent(at desk.Position) desk.Event {
	return desk.Event{Frame: &storage.Frame{First: at, Time: time.Unix(0, 0), Records: []storage.Record{{
		Kind: abi.EventLog, Resource: abi.ResourcePointer{Object: abi.ObjectTask, ID: "task_1"}, Payload: []byte(`{"message":"m"}`),
	}}}}
}

// following runs a follower in a bubble of its own time.
func following(t *testing.T, test func(in *feed, out *page, done chan struct{}, stop func())) {
	synctest.Test(t, func(t *testing.T) {
		in, out := &feed{events: make(chan []desk.Event), err: errors.New("broken")}, &page{}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		f := &follower{out: &eventStream{out: out}, sub: in.follow(t), heartbeat: 15 * time.Second}
		go func() {
			f.run(ctx)
			close(done)
		}()
		test(in, out, done, stop)
		stop()
		<-done
	})
}

// heartbeats counts them and checks that each is a write of its own.
func (p *page) heartbeats(t *testing.T) (n int) {
	t.Helper()
	for _, w := range p.seen() {
		if strings.HasPrefix(w, ":") {
			n++
			if w != ": heartbeat\n\n" {
				t.Errorf("heartbeat %q", w)
			}
		}
	}
	return n
}

func TestHeartbeats(t *testing.T) {
	following(t, func(in *feed, out *page, _ chan struct{}, _ func()) {
		time.Sleep(time.Hour)
		if w := out.seen(); len(w) != 0 {
			t.Errorf("written before the first event: %q", w)
		}
		in.events <- []desk.Event{someEvent(1)}
		if w := out.seen(); len(w) != 1 || !strings.HasPrefix(w[0], "id: 1\n") {
			t.Errorf("written %q", w)
		}
		time.Sleep(time.Minute)
		if n := out.heartbeats(t); n != 3 && n != 4 {
			t.Errorf("%d heartbeats in a quiet minute, want one every 15 s", n)
		}
		// A busy stream needs none.
		before := out.heartbeats(t)
		for i := range 100 {
			in.events <- []desk.Event{someEvent(desk.Position(i + 2))}
			time.Sleep(time.Second)
		}
		if n := out.heartbeats(t); n != before {
			t.Errorf("%d heartbeats on a busy stream", n-before)
		}
	})
}

func TestGoneClientEndsTheStream(t *testing.T) {
	following(t, func(in *feed, out *page, done chan struct{}, _ func()) {
		in.events <- []desk.Event{someEvent(1)}
		out.leave()
		start := time.Now()
		<-done
		if took := time.Since(start); took > 15*time.Second {
			t.Errorf("noticed after %v, want a heartbeat at most", took)
		}
	})
}

func TestFailedWriteEndsTheStream(t *testing.T) {
	following(t, func(in *feed, out *page, done chan struct{}, _ func()) {
		out.err = errors.New("the client takes nothing")
		in.events <- []desk.Event{someEvent(1)}
		<-done
		if len(out.writes) != 1 {
			t.Errorf("written after the failure: %q", out.writes)
		}
	})
}

func TestFailedSubscriptionIsTold(t *testing.T) {
	for want, c := range map[string]struct {
		err error
		id  string // where the client goes on
	}{
		`"code":"internal_error"`: {errors.New("a secret of the disk"), "7"},
		`"code":"cursor_expired"`: {desk.ErrCursorExpired, "0"},
	} {
		following(t, func(in *feed, out *page, done chan struct{}, _ func()) {
			in.err = c.err
			in.events <- []desk.Event{someEvent(7)}
			close(in.events)
			<-done
			if len(out.writes) != 2 || !strings.HasPrefix(out.writes[1], "id: "+c.id+"\nevent: error\ndata: {") ||
				!strings.Contains(out.writes[1], want) || strings.Contains(out.writes[1], "secret") {
				t.Errorf("written %q", out.writes)
			}
		})
	}
}

// What a Task resulted in may follow the event that ended it, in the same frame.
func TestTaskStreamEndsWithTheFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ev := someEvent(7)
		ev.Frame.Records = append(ev.Frame.Records, storage.Record{Kind: abi.EventReceiptIssued})
		ev.Record().Kind = abi.EventTaskCompleted
		in, out := &feed{events: make(chan []desk.Event)}, &page{}
		f := &follower{out: &eventStream{out: out}, sub: in.follow(t), heartbeat: time.Hour, until: "task_1"}
		done := make(chan struct{})
		go func() {
			f.run(t.Context())
			close(done)
		}()
		in.events <- []desk.Event{ev}
		in.events <- []desk.Event{{Frame: ev.Frame, Index: 1}}
		<-done
		if all := strings.Join(out.seen(), ""); strings.Count(all, "id: ") != 2 || !strings.Contains(all, "event: receipt.issued") {
			t.Errorf("written %q", all)
		}
	})
}

// What is pending goes out together, in writes of a bounded size.
func TestPendingEventsAreCoalesced(t *testing.T) {
	following(t, func(in *feed, out *page, _ chan struct{}, _ func()) {
		var many []desk.Event
		for i := range 500 {
			many = append(many, someEvent(desk.Position(i+1)))
		}
		in.events <- many
		writes := out.seen()
		if n := strings.Count(strings.Join(writes, ""), "\n\n"); n != 500 {
			t.Errorf("%d frames", n)
		}
		if len(writes) > 10 {
			t.Errorf("%d writes", len(writes))
		}
		for _, w := range writes {
			if len(w) > 2*writeSize || !strings.HasSuffix(w, "\n\n") {
				t.Errorf("a write of %d bytes, ending in %q", len(w), w[len(w)-10:])
			}
		}
	})
}
