package storagetest

import (
	"bytes"
	"slices"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

func retentionTests() []test {
	return []test{
		{"old events go, and readers of them are told", expired},
		{"resources, transcripts, lists and words stay", stays},
		{"what has not ended stays", unfinished},
	}
}

func expired(h *harness) {
	for n := range 10 {
		b := note(1, 3, n)
		b.Frame.Time = at(n)
		h.append(b)
	}
	slow := h.subscribe(storage.Scope{}, 2)
	defer slow.Close()
	if removed := h.retain(at(5)); removed != 10 {
		h.Fatalf("%d events were removed", removed)
	}
	_, err := slow.Next(ctx)
	h.want("a reader that was overtaken", err, storage.ErrCursorExpired)
	for range 2 {
		_, err = h.store.Subscribe(1, storage.Scope{}, 9)
		h.want("subscribing below the floor", err, storage.ErrCursorExpired)
		_, _, err = h.store.Events(ctx, 1, storage.Scope{}, 9, 5)
		h.want("reading below the floor", err, storage.ErrCursorExpired)
		_, err = h.store.Event(ctx, 1, 10)
		h.want("a removed event", err, storage.ErrCursorExpired)
		for _, s := range scopes() {
			for _, after := range []storage.Position{0, 10} {
				if got := h.all(s, after, 4); len(got) != 10 || got[0] != 11 {
					h.Errorf("%v after %s: %v", s, after, got)
				}
			}
		}
		if removed := h.retain(at(5)); removed != 0 {
			h.Errorf("%d events were removed again", removed)
		}
		h.sound()
		h.crash()
	}
	if removed := h.retain(at(100)); removed != 10 {
		h.Errorf("%d events were removed", removed)
	}
	if p := h.append(note(1, 3, 1)); p != 21 {
		h.Errorf("the next event is at %s", p)
	}
}

func stays(h *harness) {
	large := bytes.Repeat([]byte("x"), 100<<10)
	b := submit(1)
	b.Frame.Records[1].State = large
	h.append(b)
	h.append(submit(2))
	h.append(memory(1, "the sky"))
	for _, n := range []int{1, 2} {
		done := finish(n)
		done.Frame.Records[0].State = nil
		h.append(done)
	}
	h.retain(at(100))
	for range 2 {
		if got := h.all(storage.Scope{}, 0, 9); got != nil {
			h.Errorf("events are left: %v", got)
		}
		res, err := h.store.Get(ctx, 1, abi.ObjectTask, id(abi.ObjectTask, 1))
		if err != nil || !bytes.Equal(res.State, large) || res.Position != 2 || res.Origin != 2 {
			h.Errorf("a Task whose events are gone: %d bytes at %s, %v", len(res.State), res.Position, err)
		}
		if n, ok, err := h.store.Sequence(ctx, 1, pointer(abi.ObjectTask, id(abi.ObjectTask, 1))); n != 1 || !ok || err != nil {
			h.Errorf("its sequence is %d, %v, %v", n, ok, err)
		}
		if got, want := h.listAll(abi.ObjectTask, storage.Scope{}, 9), []string{id(abi.ObjectTask, 2), id(abi.ObjectTask, 1)}; !slices.Equal(got, want) {
			h.Errorf("the Tasks are %v, want %v", got, want)
		}
		h.wantTranscript(id(abi.ObjectSession, 1), 1, 3)
		h.wantFound("sky", 1)
		if _, err := h.store.Idempotency(ctx, 1, key(2), Epoch); err != nil {
			h.Errorf("the answer to a write: %v", err)
		}
		h.sound()
		h.crash()
	}
}

func unfinished(h *harness) {
	h.append(submit(1))
	h.append(finish(1))
	h.append(submit(2)) // 4 and 5
	h.append(submit(3))
	h.append(finish(3))
	if removed := h.retain(at(100)); removed != 3 {
		h.Errorf("%d were removed before the first Task that has not ended", removed)
	}
	h.append(finish(2))
	p := h.append(receive(1))
	if removed := h.retain(at(100)); removed != int(p)-4 {
		h.Errorf("%d were removed before the first delivery that is pending", removed)
	}
	h.sound()
	h.append(settle(2, p, "t"))
	if removed := h.retain(at(100)); removed != 2 {
		h.Errorf("%d were removed when all was settled", removed)
	}
	if _, ok, err := h.store.Seen(ctx, 1, delivery(1), Epoch.Add(-time.Hour)); !ok || err != nil {
		h.Errorf("what was removed is seen no more: %v", err)
	}
	h.sound()
}
