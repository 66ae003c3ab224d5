package storagetest

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"slices"
	"sync"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

func logTests() []test {
	return []test{
		{"batches are in the order in which they are handed over", inOrder},
		{"positions have no gap, whoever writes", noGap},
		{"a batch that cannot be read back is refused and leaves nothing", refused},
		{"an event is read back as it was written", readBack},
		{"events are read in pages, by every scope", paged},
		{"what is stated beside a Task is no event of it", beside},
		{"nothing is shown above the watermark", durableOnly},
		{"everybody who waits for a batch is told the same", waited},
		{"Sync waits for all that was handed over", synced},
		{"Close makes durable what was handed over, and ends all else", closed},
		{"a restart changes nothing", restarted},
		{"a crash keeps what was acknowledged, and a beginning of the rest", crashed},
	}
}

func inOrder(h *harness) {
	var commits []storage.Commit
	for n := range 200 {
		commits = append(commits, h.store.Append(submit(n)))
	}
	for n, c := range commits {
		if p, err := c.Wait(ctx); err != nil || p != storage.Position(2*n+1) {
			h.Fatalf("batch %d is at %s, %v", n, p, err)
		}
	}
	h.sound()
}

func noGap(h *harness) {
	const writers, each = 8, 40
	var all sync.WaitGroup
	firsts := make([][]storage.Position, writers)
	for w := range writers {
		all.Go(func() {
			for n := range each {
				p, err := h.store.Append(note(1, w, n)).Wait(ctx)
				if err != nil {
					h.Error(err)
				}
				firsts[w] = append(firsts[w], p)
			}
		})
	}
	all.Wait()
	for _, own := range firsts {
		if !slices.IsSorted(own) {
			h.Errorf("batches that one writer waited for changed places: %v", own)
		}
	}
	flat := slices.Sorted(slices.Values(slices.Concat(firsts...)))
	for i, p := range flat {
		if p != storage.Position(2*i+1) {
			h.Fatalf("batch %d of the log is at %s", i, p)
		}
	}
}

func refused(h *harness) {
	for name, spoil := range map[string]func(*storage.Batch){
		"no records":            func(b *storage.Batch) { b.Frame.Records = nil },
		"no kind":               func(b *storage.Batch) { b.Frame.Records[0].Kind = "" },
		"state of nothing":      func(b *storage.Batch) { b.Frame.Records[0].Resource.ID = "" },
		"created, not stated":   func(b *storage.Batch) { b.Frame.Records[0].State = nil },
		"transcript of nothing": func(b *storage.Batch) { b.Frame.SessionID = "" },
		"task in a transcript": func(b *storage.Batch) {
			b.Frame.Records[1].Transcript.Kind = storage.TranscriptAppend
		},
		"copy onto itself": func(b *storage.Batch) {
			b.Frame.Records[0].Transcript = storage.TranscriptOp{Kind: storage.TranscriptCopy, From: b.Frame.SessionID}
		},
		"unknown transcript operation": func(b *storage.Batch) { b.Frame.Records[0].Transcript.Kind = 9 },
		"unknown intake operation":     func(b *storage.Batch) { b.Frame.Records[1].Intake.Kind = storage.IntakeTally },
		"answer of no record":          func(b *storage.Batch) { b.Idempotency.Record = 2 },
		"no answer": func(b *storage.Batch) {
			b.Frame.Records[1] = storage.Record{Kind: abi.EventLog, Resource: pointer(abi.ObjectTask, b.Frame.TaskID)}
		},
	} {
		b := submit(1)
		spoil(b)
		if p, err := h.store.Append(b).Wait(ctx); err == nil || p != 0 {
			h.Errorf("%s: appended at %s", name, p)
		}
	}
	if p := h.append(submit(1)); p != 1 {
		h.Errorf("the first valid batch is at %s", p)
	}
	h.sound()
}

func readBack(h *harness) {
	large := bytes.Repeat([]byte("x"), 100<<10)
	task := id(abi.ObjectTask, 1)
	b := submit(1)
	b.Frame.Records[1].State, b.Frame.Records[1].Payload = large, []byte(`{"a":1}`)
	b.Frame.Records = append(b.Frame.Records, storage.Record{Kind: "wharf.unheard_of", Hint: true, Restricted: true,
		Resource: pointer("kite", "kite_1"), Sequence: 7, Payload: large})
	want := cloned(b)
	h.append(b)
	for life := range 2 {
		for i, r := range want.Frame.Records {
			ev, err := h.store.Event(ctx, 1, storage.Position(i+1))
			if err != nil || !reflect.DeepEqual(*ev.Record(), r) || !ev.Frame.Time.Equal(want.Frame.Time) || ev.Frame.Actor != "user_1" || ev.Frame.TaskID != task {
				h.Fatalf("life %d: event %d is %.200v, %v", life, i, ev.Frame, err)
			}
		}
		for _, p := range []storage.Position{0, 4} {
			_, err := h.store.Event(ctx, 1, p)
			h.want("an event that is not there", err, storage.ErrNotFound)
		}
		_, err := h.store.Event(ctx, 2, 1)
		h.want("another tenant's event", err, storage.ErrNotFound)
		h.crash()
	}
}

// scopes are those that the tests read by.
func scopes() []storage.Scope {
	return []storage.Scope{
		{},
		{Object: abi.ObjectWorkspace, ID: id(abi.ObjectWorkspace, 1)},
		{Object: abi.ObjectSession, ID: id(abi.ObjectSession, 1)},
		{Object: abi.ObjectTask, ID: id(abi.ObjectTask, 3)},
	}
}

// all returns the events of a scope after a position, read in pages.
func (h *harness) all(scope storage.Scope, after storage.Position, limit int) (list []storage.Position) {
	h.Helper()
	for more := true; more; {
		var events []storage.Event
		var err error
		if events, more, err = h.store.Events(ctx, 1, scope, after, limit); err != nil || len(events) > limit || more && len(events) == 0 {
			h.Fatalf("Events of %v after %s: %d, %v, %v", scope, after, len(events), more, err)
		}
		for _, ev := range events {
			after = ev.Position()
			list = append(list, after)
		}
	}
	return list
}

func paged(h *harness) {
	want := map[storage.Scope][]storage.Position{}
	for n := range 30 {
		b := note(n%2+1, n%4, n)
		if n%3 == 0 {
			b.Frame.WorkspaceID = ""
		}
		p := h.append(b)
		for _, s := range scopes() {
			if s.Object == "" || b.Frame.Owner(s.Object) == s.ID {
				want[s] = append(want[s], p, p+1)
			}
		}
	}
	for _, s := range scopes() {
		for _, limit := range []int{1, 3, 100} {
			for _, after := range []storage.Position{0, 1, 17, 60} {
				rest := slices.DeleteFunc(slices.Clone(want[s]), func(p storage.Position) bool { return p <= after })
				if got := h.all(s, after, limit); !slices.Equal(got, rest) {
					h.Errorf("%v after %s, %d at a time: %v, want %v", s, after, limit, got, rest)
				}
			}
		}
		if p, err := h.store.Last(ctx, 1, s); err != nil || p != want[s][len(want[s])-1] {
			h.Errorf("the last of %v is %s, %v", s, p, err)
		}
		if p, err := h.store.Last(ctx, 2, s); err != nil || p != 0 {
			h.Errorf("the last of %v of a tenant without events is %s, %v", s, p, err)
		}
	}
	_, _, err := h.store.Events(ctx, 1, storage.Scope{Object: abi.ObjectReceipt, ID: "r"}, 0, 1)
	if scope, ok := errors.AsType[*storage.ScopeError](err); !ok || scope.Scope != abi.ObjectReceipt {
		h.Errorf("events by Receipt: %v", err)
	}
}

func beside(h *harness) {
	b := note(1, 3, 0)
	batch := storage.Record{Kind: abi.EventReceiptsSealed, Resource: pointer(abi.ObjectReceiptBatch, "rbatch_1"), Created: true, State: []byte("{}")}
	quota := storage.Record{Kind: abi.EventQuotaUpdated, Resource: pointer(abi.ObjectQuota, "quota_1"), Created: true, State: []byte("{}")}
	b.Frame.Records = append([]storage.Record{batch}, append(b.Frame.Records, quota)...) // positions 1 to 4
	h.append(b)
	for _, s := range scopes() {
		want := []storage.Position{1, 2, 3, 4}
		if s.Object == abi.ObjectTask || s.Object == abi.ObjectSession {
			want = []storage.Position{2, 3}
		}
		if got := h.all(s, 0, 9); !slices.Equal(got, want) {
			h.Errorf("%v has %v, want %v", s, got, want)
		}
		if p, err := h.store.Last(ctx, 1, s); err != nil || p != want[len(want)-1] {
			h.Errorf("the last of %v is %s, %v", s, p, err)
		}
		_, more, err := h.store.Events(ctx, 1, s, 0, len(want))
		if more || err != nil {
			h.Errorf("%v has more than all, %v", s, err)
		}
	}
}

func durableOnly(h *harness) {
	var writing sync.WaitGroup
	writing.Go(func() {
		for n := range 300 {
			h.store.Append(submit(n))
		}
	})
	for done := false; !done; {
		done = h.store.Watermark() == 600
		list, _, err := h.store.List(ctx, 1, abi.ObjectTask, storage.Scope{}, storage.Page{Limit: 1})
		h.must(err)
		for _, r := range list {
			if mark := h.store.Watermark(); r.Position > mark {
				h.Errorf("a resource of %s is shown below the watermark %s", r.Position, mark)
			}
		}
		events, _, err := h.store.Events(ctx, 1, storage.Scope{}, 0, 1000)
		h.must(err)
		if n := len(events); n > 0 && events[n-1].Position() > h.store.Watermark() {
			h.Errorf("the event at %s is shown below the watermark", events[n-1].Position())
		}
	}
	writing.Wait()
}

// waited holds a commit's promise: any context, any number of times, any number of
// goroutines. A caller that leaves may learn nothing, and nobody learns anything else.
func waited(h *harness) {
	invalid := submit(9)
	invalid.Frame.Records = nil
	for _, b := range []*storage.Batch{submit(1), invalid, submit(2)} {
		c := h.store.Append(b)
		var all sync.WaitGroup
		type outcome struct {
			p   storage.Position
			err error
		}
		outcomes := make([]outcome, 32)
		for i := range outcomes {
			all.Go(func() {
				wait, leave := context.WithCancel(ctx)
				defer leave()
				if i%2 == 0 {
					leave()
				}
				p, err := c.Wait(wait)
				if i%2 == 0 && errors.Is(err, context.Canceled) && p == 0 {
					p, err = c.Wait(ctx)
				}
				outcomes[i] = outcome{p, err}
			})
		}
		all.Wait()
		p, err := c.Wait(gone()) // what is known is told whatever the context is
		if b == invalid && err == nil || b != invalid && (err != nil || p == 0) {
			h.Errorf("the batch is at %s, %v", p, err)
		}
		for i, o := range outcomes {
			if o.p != p || (o.err == nil) != (err == nil) || err != nil && o.err.Error() != err.Error() {
				h.Errorf("caller %d was told %s, %v; the last one %s, %v", i, o.p, o.err, p, err)
			}
		}
	}
}

func synced(h *harness) {
	h.must(h.store.Sync(ctx)) // of nothing
	var writers sync.WaitGroup
	for w := range 8 {
		writers.Go(func() {
			for n := range 20 {
				c := h.store.Append(note(1, w, n))
				if err := h.store.Sync(ctx); err != nil {
					h.Error(err)
				}
				if p, err := c.Wait(gone()); err != nil || p == 0 || p > h.store.Watermark() {
					h.Errorf("after Sync a batch is at %s, %v; the watermark is %s", p, err, h.store.Watermark())
				}
			}
		})
	}
	writers.Wait()
}

func closed(h *harness) {
	var commits []storage.Commit
	for n := range 100 {
		commits = append(commits, h.store.Append(submit(n)))
	}
	h.must(h.store.Close())
	for n, c := range commits {
		if p, err := c.Wait(ctx); err != nil || p != storage.Position(2*n+1) {
			h.Fatalf("batch %d is at %s, %v", n, p, err)
		}
	}
	_, err := h.store.Append(submit(1)).Wait(ctx)
	h.want("Append after Close", err, storage.ErrClosed)
	_, err = h.store.Get(ctx, 1, abi.ObjectTask, id(abi.ObjectTask, 1))
	h.want("Get after Close", err, storage.ErrClosed)
	_, err = h.store.Subscribe(1, storage.Scope{}, 0)
	h.want("Subscribe after Close", err, storage.ErrClosed)
	h.want("Close after Close", h.store.Close(), storage.ErrClosed)
	h.open()
	if p := h.store.Watermark(); p != 200 {
		h.Errorf("the log ends at %s", p)
	}
}

func restarted(h *harness) {
	for n := range 20 {
		h.append(submit(n))
	}
	look := func() (all []any) {
		for _, s := range scopes() {
			events, more, err := h.store.Events(ctx, 1, s, 0, 100)
			h.must(err)
			last, err := h.store.Last(ctx, 1, s)
			h.must(err)
			all = append(all, allSeen(events), more, last)
		}
		list, _, err := h.store.List(ctx, 1, abi.ObjectTask, storage.Scope{}, storage.Page{Limit: 100})
		h.must(err)
		messages, _, err := h.store.Transcript(ctx, 1, id(abi.ObjectSession, 1), storage.Page{Limit: 100})
		h.must(err)
		return append(all, list, messages, h.store.Watermark())
	}
	before := look()
	for _, again := range []func(){h.restart, h.crash} {
		again()
		if after := look(); !reflect.DeepEqual(after, before) {
			h.Fatalf("%.500v, before: %.500v", after, before)
		}
	}
}

func crashed(h *harness) {
	acknowledged, n := storage.Position(0), 0
	for range 5 {
		var commits []storage.Commit
		for range 30 {
			commits = append(commits, h.store.Append(submit(n)))
			n++
		}
		p, err := commits[10].Wait(ctx)
		h.must(err)
		acknowledged = p + 1
		h.crash()
		last := h.store.Watermark()
		if last < acknowledged || last%2 != 0 {
			h.Fatalf("the log ends at %s, and %s was acknowledged", last, acknowledged)
		}
		for i, p := range h.all(storage.Scope{}, 0, 1000) {
			if p != storage.Position(i+1) {
				h.Fatalf("event %d is at %s after a crash", i, p)
			}
		}
		h.sound()
		n = int(last / 2)
		if _, err := h.store.Get(ctx, 1, abi.ObjectTask, id(abi.ObjectTask, n)); !errors.Is(err, storage.ErrNotFound) {
			h.Fatalf("a Task whose events are lost: %v", err)
		}
		if _, err := h.store.Get(ctx, 1, abi.ObjectTask, id(abi.ObjectTask, n-1)); err != nil {
			h.Fatalf("a Task whose events are there: %v", err)
		}
	}
}
