package storagetest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

func subscriptionTests() []test {
	return []test{
		{"subscribers see history, then what comes, with no gap and no double", historyThenLive},
		{"a slow reader misses nothing", slowReader},
		{"what is live is what the log holds", liveIsLog},
		{"those who poll are woken, once each time", wakened},
		{"a subscription ends with its caller and its store", ended},
	}
}

func (h *harness) subscribe(scope storage.Scope, after storage.Position) storage.Subscription {
	h.Helper()
	sub, err := h.store.Subscribe(1, scope, after)
	h.must(err)
	return sub
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

// either makes every other subscription one that is polled.
func either(sub storage.Subscription, n int) storage.Subscription {
	if n%2 == 0 {
		return poller{sub}
	}
	return sub
}

// readUpTo reads a subscription until it has reached a position.
func readUpTo(sub storage.Subscription, last storage.Position) (got []storage.Position, err error) {
	for len(got) == 0 || got[len(got)-1] < last {
		events, err := sub.Next(ctx)
		if err != nil {
			return got, err
		}
		got = append(got, positions(events)...)
	}
	return got, nil
}

// historyThenLive lets subscribers of every scope, from every moment and cursor, read
// while many writers append.
func historyThenLive(h *harness) {
	const writers, each = 6, 60
	for n := range 20 {
		h.append(note(n%3, n%5, n))
	}
	type reading struct {
		scope storage.Scope
		after storage.Position
		got   []storage.Position
	}
	var appending, reading1 sync.WaitGroup
	var mu sync.Mutex
	var readings []reading
	end := make(chan struct{})
	last := storage.Position(2*(20+writers*each) + 1)
	read := func(n int, scope storage.Scope, after storage.Position) {
		sub, err := h.store.Subscribe(1, scope, after)
		if err != nil {
			h.Error(err)
			return
		}
		reading1.Go(func() {
			defer sub.Close()
			if n%3 == 0 {
				<-end // it is far behind by then
			}
			got, err := readUpTo(either(sub, n), last)
			if err != nil {
				h.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			readings = append(readings, reading{scope, after, got})
		})
	}
	for w := range writers {
		appending.Go(func() {
			for n := range each {
				c := h.store.Append(note((w+n)%3, n%5, n))
				if n%10 == 0 {
					read(w+n/10, scopes()[(n/10)%4], storage.Position(w*n/4))
				}
				if _, err := c.Wait(ctx); err != nil {
					h.Error(err)
				}
			}
		})
	}
	appending.Wait()
	close(end)
	h.append(note(1, 3, 0)) // it belongs to every scope, and ends all readers
	reading1.Wait()
	for _, r := range readings {
		if want := h.all(r.scope, r.after, 100); !slices.Equal(r.got, want) {
			h.Fatalf("a subscriber of %v after %s saw %d events, want %d", r.scope, r.after, len(r.got), len(want))
		}
	}
	if n := len(readings); n != writers*each/10 {
		h.Fatalf("%d readings", n)
	}
}

func slowReader(h *harness) {
	sub := h.subscribe(storage.Scope{}, 0)
	defer sub.Close()
	for n := range 3000 {
		h.store.Append(note(1, n%5, n))
	}
	last := h.append(note(1, 3, 0)) + 1
	got, err := readUpTo(sub, last)
	h.must(err)
	for i, p := range got {
		if p != storage.Position(i+1) {
			h.Fatalf("event %d is at %s", i, p)
		}
	}
}

func liveIsLog(h *harness) {
	sub := h.subscribe(storage.Scope{}, 0)
	defer sub.Close()
	if sub.Start() != 0 {
		h.Errorf("history ends at %s before the first event", sub.Start())
	}
	for _, b := range []*storage.Batch{submit(1), note(1, 1, 1), fork(id(abi.ObjectSession, 2), 1), memory(1, "x"), receive(1), finish(1)} {
		p := h.append(b)
		events, err := sub.Next(ctx)
		h.must(err)
		for i, ev := range events {
			stored, err := h.store.Event(ctx, 1, p+storage.Position(i))
			h.must(err)
			if !same(seen(ev), seen(stored)) {
				h.Fatalf("live: %+v, stored: %+v", seen(ev), seen(stored))
			}
		}
	}
	late := h.subscribe(storage.Scope{}, h.store.Watermark())
	defer late.Close()
	if late.Start() != h.store.Watermark() {
		h.Errorf("history ends at %s, the watermark is %s", late.Start(), h.store.Watermark())
	}
}

func wakened(h *harness) {
	task := scopes()[3]
	var woken [3]atomic.Int64
	subs := make([]storage.Subscription, len(woken))
	poll := func(i int) []storage.Event {
		h.Helper()
		events, err := subs[i].Poll(ctx, func() { woken[i].Add(1) })
		h.must(err)
		return events
	}
	for i := range subs {
		subs[i] = h.subscribe(task, 0)
		for range 2 { // asking twice is one call
			if events := poll(i); len(events) != 0 {
				h.Fatalf("%d events before the first", len(events))
			}
		}
	}
	subs[1].Close()
	end := h.append(note(1, 3, 1)) + 1
	h.append(note(1, 3, 2))
	if got, err := readUpTo(poller{subs[0]}, end+2); err != nil || len(got) != 4 {
		h.Fatalf("read %v, %v", got, err)
	}
	if events := poll(2); len(events) != 4 {
		h.Fatalf("%d events", len(events))
	}
	poll(0)
	h.must(h.store.Close())
	for i, want := range []int64{2, 0, 1} {
		if got := woken[i].Load(); got != want {
			h.Errorf("subscriber %d was woken %d times, want %d", i, got, want)
		}
	}
	_, err := subs[0].Poll(ctx, func() { h.Error("woken after the end") })
	h.want("Poll after Close", err, storage.ErrClosed)
}

func ended(h *harness) {
	sub := h.subscribe(storage.Scope{}, 0)
	defer sub.Close()
	wait, leave := context.WithCancel(ctx)
	result := make(chan error)
	go func() {
		_, err := sub.Next(wait)
		result <- err
	}()
	leave()
	if err := <-result; !errors.Is(err, context.Canceled) {
		h.Fatalf("after the caller left: %v", err)
	}
	go func() {
		_, err := sub.Next(ctx)
		result <- err
	}()
	h.must(h.store.Close())
	h.want("after Close", <-result, storage.ErrClosed)
}
