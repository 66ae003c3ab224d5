package storagetest

import (
	"crypto/sha256"
	"errors"
	"reflect"
	"slices"
	"sync"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

func expectTests() []test {
	return []test{
		{"a batch that meets what it did not expect leaves nothing", conflicts},
		{"of batches that exclude each other one wins", oneWins},
		{"a batch sees what was handed over just before", justBefore},
		{"the first expectation that does not hold is told", firstOfSeveral},
		{"the first batch of a log may meet what it did not expect", refusedFirst},
		{"what nobody can tell of is refused", untellable},
	}
}

// lease returns a batch that takes the lease n.
func lease(n int) *storage.Batch {
	r := id(abi.ObjectWorkspace, n)
	return frame(0, "", storage.Record{Kind: abi.EventWorkspaceUpdated, Resource: pointer(abi.ObjectWorkspace, r), State: state(r, n)})
}

// guarded is a write that expects something, and ends that it holds.
type guarded struct {
	name   string
	expect storage.Expectation
	write  func() *storage.Batch
	found  storage.Standing // after the write, which is at position p
}

// guards returns a write of each kind, as the tests begin: with the lease 1 taken at
// position 1, and Task 1 submitted at 2 and 3.
func guards(p storage.Position) []guarded {
	task, place := pointer(abi.ObjectTask, id(abi.ObjectTask, 1)), pointer(abi.ObjectWorkspace, id(abi.ObjectWorkspace, 1))
	return []guarded{
		{"no answer", storage.Expectation{Kind: storage.ExpectNoAnswer, Key: key(9), Time: Epoch}, func() *storage.Batch { return submit(9) },
			storage.Standing{Position: p + 1}},
		{"unseen", storage.Expectation{Kind: storage.ExpectUnseen, Delivery: delivery(1), Time: Epoch}, func() *storage.Batch { return receive(1) },
			storage.Standing{Position: p}},
		{"new", storage.Expectation{Kind: storage.ExpectNew, Resource: pointer(abi.ObjectTask, id(abi.ObjectTask, 8))}, func() *storage.Batch { return submit(8) },
			storage.Standing{Position: p + 1}},
		{"sequence", storage.Expectation{Kind: storage.ExpectSequence, Resource: task}, func() *storage.Batch { return note(1, 1, 0) },
			storage.Standing{Position: 3, Sequence: 2}},
		{"head", storage.Expectation{Kind: storage.ExpectHead, Resource: task, Head: sha256.Sum256(state(task.ID, 0))}, func() *storage.Batch { return finish(1) },
			storage.Standing{Position: p, Head: sha256.Sum256(state(task.ID, 1))}},
		{"first head", storage.Expectation{Kind: storage.ExpectHead, Resource: pointer(abi.ObjectTask, id(abi.ObjectTask, 7))}, func() *storage.Batch { return finish(7) },
			storage.Standing{Position: p, Head: sha256.Sum256(state(id(abi.ObjectTask, 7), 1))}},
		{"lease", storage.Expectation{Kind: storage.ExpectLease, Resource: place, Position: 1}, func() *storage.Batch { return lease(1) },
			storage.Standing{Position: p}},
	}
}

func (g *guarded) batch() *storage.Batch {
	b := g.write()
	b.Expect = []storage.Expectation{g.expect}
	return b
}

// prepare writes what the guards are about.
func (h *harness) prepare() {
	h.Helper()
	h.append(lease(1))
	h.append(submit(1))
}

// conflict returns the conflict that an append has met.
func (h *harness) conflict(b *storage.Batch) *storage.ConflictError {
	h.Helper()
	p, err := h.store.Append(b).Wait(ctx)
	c, ok := errors.AsType[*storage.ConflictError](err)
	if !ok || p != 0 {
		h.Fatalf("appended at %s, %v, want a conflict", p, err)
	}
	if c.Found.Position > h.store.Watermark() || c.Error() == "" {
		h.Errorf("%v is told above the watermark %s", c, h.store.Watermark())
	}
	return c
}

func conflicts(h *harness) {
	h.prepare()
	for i := range guards(0) {
		p := h.append(guards(0)[i].batch())
		g := guards(p)[i]
		last := h.store.Watermark()
		sub := h.subscribe(storage.Scope{}, last)
		for range 2 {
			b := g.batch()
			extra := id(abi.ObjectMessage, 100+i)
			b.Frame.Records = append(b.Frame.Records, storage.Record{Kind: abi.EventAgentMessage, Resource: pointer(abi.ObjectMessage, extra), Created: true,
				State: state(extra, 0), Transcript: storage.TranscriptOp{Kind: storage.TranscriptAppend}})
			b.Frame.SessionID, b.Idempotency = id(abi.ObjectSession, 3), &storage.Idempotency{Key: key(200 + i), Answer: []byte("{}"), Expires: at(3600)}
			want := &storage.ConflictError{Expected: g.expect, Found: g.found}
			if got := h.conflict(b); !reflect.DeepEqual(got, want) {
				h.Errorf("%s: %+v, want %+v", g.name, got, want)
			}
			if h.store.Watermark() != last {
				h.Errorf("%s: a conflict has moved the watermark from %s to %s", g.name, last, h.store.Watermark())
			}
			_, err := h.store.Get(ctx, 1, abi.ObjectMessage, extra)
			h.want(g.name+": a resource of what was refused", err, storage.ErrNotFound)
			_, err = h.store.Idempotency(ctx, 1, key(200+i), Epoch)
			h.want(g.name+": an answer of what was refused", err, storage.ErrNotFound)
			h.wantTranscript(id(abi.ObjectSession, 3))
			if events, err := sub.Poll(ctx, func() {}); err == nil && len(events) != 0 {
				h.Errorf("%s: a subscriber is told %v", g.name, positions(events))
			}
			sub.Close()
			h.crash() // and the answer is the same
		}
	}
	if got := h.all(storage.Scope{}, 0, 100); len(got) != int(h.store.Watermark()) {
		h.Errorf("positions have gaps: %v", got)
	}
	h.sound()
}

func oneWins(h *harness) {
	const writers = 8
	h.prepare()
	for i, g := range guards(0) {
		before := h.store.Watermark()
		commits := make([]storage.Commit, writers)
		if i%2 == 0 { // by one goroutine, or by many
			for w := range commits {
				commits[w] = h.store.Append(g.batch())
			}
		} else {
			var all sync.WaitGroup
			for w := range commits {
				all.Go(func() { commits[w] = h.store.Append(g.batch()) })
			}
			all.Wait()
		}
		var won []storage.Position
		for _, c := range commits {
			p, err := c.Wait(ctx)
			if _, lost := errors.AsType[*storage.ConflictError](err); err == nil {
				won = append(won, p)
			} else if !lost {
				h.Errorf("%s: %v", g.name, err)
			}
		}
		size := storage.Position(len(g.batch().Frame.Records))
		if len(won) != 1 || won[0] != before+1 || h.store.Watermark() != before+size {
			h.Errorf("%s: %v have won, the log goes from %s to %s", g.name, won, before, h.store.Watermark())
		}
	}
	h.sound()
}

// justBefore hands over, without waiting, what makes an expectation hold, and what makes
// it hold no longer.
func justBefore(h *harness) {
	r := pointer(abi.ObjectTask, id(abi.ObjectTask, 1))
	at := func(n uint64, b *storage.Batch) *storage.Batch {
		b.Expect = []storage.Expectation{{Kind: storage.ExpectSequence, Resource: r, Sequence: n}}
		return b
	}
	var commits []storage.Commit
	for _, b := range []*storage.Batch{
		submit(1),
		at(0, note(1, 1, 0)), // to 2
		at(0, note(1, 1, 1)), // lost
		at(2, note(1, 1, 1)), // to 4
		at(4, truncate(id(abi.ObjectSession, 1), 0)),
		at(2, truncate(id(abi.ObjectSession, 1), 0)), // lost
		at(4, note(1, 1, 2)),
	} {
		commits = append(commits, h.store.Append(b))
	}
	var got []storage.Position
	for _, c := range commits {
		p, err := c.Wait(ctx)
		if _, lost := errors.AsType[*storage.ConflictError](err); err != nil && !lost {
			h.Error(err)
		}
		got = append(got, p)
	}
	if want := []storage.Position{1, 3, 0, 5, 7, 0, 8}; !slices.Equal(got, want) {
		h.Errorf("batches are at %v, want %v", got, want)
	}
}

func firstOfSeveral(h *harness) {
	h.prepare()
	all := guards(0)
	b := note(1, 1, 0)
	for _, g := range all {
		b.Expect = append(b.Expect, g.expect)
	}
	b.Expect[4].Head, b.Expect[6].Position = storage.Hash{1}, 7
	got := h.conflict(b)
	if got.Index != 4 || !reflect.DeepEqual(got.Expected, b.Expect[4]) || got.Found.Position != 3 {
		h.Errorf("%+v", got)
	}
	other := submit(9) // another tenant's are other keys and resources
	other.Frame.Tenant = 2
	for _, g := range all[:3] {
		other.Expect = append(other.Expect, g.expect)
	}
	h.append(submit(9))
	h.append(other)
}

func refusedFirst(h *harness) {
	sub := h.subscribe(storage.Scope{}, 0)
	defer sub.Close()
	b := note(1, 1, 7)
	b.Expect = []storage.Expectation{{Kind: storage.ExpectSequence, Resource: pointer(abi.ObjectTask, id(abi.ObjectTask, 1))}}
	if c := h.conflict(b); c.Found != (storage.Standing{}) {
		h.Errorf("an empty log has %+v", c.Found)
	}
	if p := h.append(submit(1)); p != 1 {
		h.Errorf("the first batch is at %s", p)
	}
	events, err := sub.Next(ctx)
	h.must(err)
	if ev, err := h.store.Event(ctx, 1, 1); err != nil || !same(seen(events[0]), seen(ev)) {
		h.Errorf("a subscriber is told %+v, %v", seen(events[0]), err)
	}
}

func untellable(h *harness) {
	for name, e := range map[string]storage.Expectation{
		"no kind":      {},
		"unknown kind": {Kind: storage.ExpectStated + 1},
		"no resource":  {Kind: storage.ExpectNew},
		"a delivery":   {Kind: storage.ExpectSequence, Resource: pointer(abi.ObjectDelivery, "x")},
	} {
		b := submit(1)
		b.Expect = []storage.Expectation{e}
		p, err := h.store.Append(b).Wait(ctx)
		if _, conflict := errors.AsType[*storage.ConflictError](err); err == nil || conflict || p != 0 {
			h.Errorf("%s: appended at %s, %v", name, p, err)
		}
	}
	if p := h.append(submit(1)); p != 1 {
		h.Errorf("the first valid batch is at %s", p)
	}
}
