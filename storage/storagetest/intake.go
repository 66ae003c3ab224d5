package storagetest

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/wharf-dev/wharf/storage"
)

func answerTests() []test {
	return []test{
		{"the answer to a write is found until it expires", answers},
		{"an answer may be large", largeAnswer},
	}
}

func answers(h *harness) {
	want := *submit(1).Idempotency
	want.Position = 2
	h.append(submit(1))
	for range 2 {
		got, err := h.store.Idempotency(ctx, 1, key(1), Epoch)
		if err != nil || !got.Expires.Equal(want.Expires) {
			h.Fatalf("%+v, %v, want %+v", got, err, want)
		}
		got.Expires = want.Expires
		if !reflect.DeepEqual(*got, want) {
			h.Fatalf("%+v, want %+v", got, want)
		}
		if _, err := h.store.Idempotency(ctx, 1, key(1), want.Expires.Add(-1)); err != nil {
			h.Errorf("just before it expires: %v", err)
		}
		_, err = h.store.Idempotency(ctx, 1, key(1), want.Expires)
		h.want("when it expires", err, storage.ErrNotFound)
		_, err = h.store.Idempotency(ctx, 2, key(1), Epoch)
		h.want("another tenant's", err, storage.ErrNotFound)
		_, err = h.store.Idempotency(ctx, 1, key(2), Epoch)
		h.want("a key that nobody used", err, storage.ErrNotFound)
		h.crash()
	}
}

func largeAnswer(h *harness) {
	b := submit(1)
	b.Idempotency.Answer = bytes.Repeat([]byte("a"), 200<<10)
	want := bytes.Clone(b.Idempotency.Answer)
	h.append(b)
	h.crash()
	got, err := h.store.Idempotency(ctx, 1, key(1), Epoch)
	if err != nil || !bytes.Equal(got.Answer, want) {
		h.Errorf("%d bytes, %v", len(got.Answer), err)
	}
}

func deliveryTests() []test {
	return []test{
		{"deliveries are pending until they are settled", pending},
		{"deliveries are seen within a window", seenWithin},
	}
}

// backlogs returns what the store says of each Connector that owes or has counted.
func (h *harness) backlogs() map[string]string {
	h.Helper()
	all := map[string]string{}
	h.must(h.store.Backlogs(ctx, func(t storage.Tenant, connector string, pending int, tally []byte) error {
		if pending > 0 || len(tally) > 0 {
			all[fmt.Sprint(t, " ", connector)] = fmt.Sprintf("%d %s", pending, tally)
		}
		return nil
	}))
	return all
}

func pending(h *harness) {
	var all []storage.Position
	for n := range 6 {
		all = append(all, h.append(receive(n)))
	}
	h.append(settle(10, all[1], "settled 1"))
	h.append(settle(11, all[3], "settled 2"))
	again := h.append(take(12, storage.IntakeOp{Kind: storage.IntakePend, Connector: connector}))
	want := []storage.Position{all[0], all[2], all[4], all[5], again}
	for range 2 {
		for _, limit := range []int{1, 2, 9} {
			var got []storage.Position
			after, more := storage.Position(0), true
			for more {
				events, rest, err := h.store.Pending(ctx, 1, connector, after, limit)
				if err != nil || len(events) > limit || rest && len(events) == 0 {
					h.Fatalf("Pending: %d, %v, %v", len(events), rest, err)
				}
				for _, ev := range events {
					after = ev.Position()
					got = append(got, after)
				}
				more = rest
			}
			if !slices.Equal(got, want) {
				h.Errorf("pending are %v, want %v", got, want)
			}
		}
		if got, want := h.backlogs(), map[string]string{"1 " + connector: "5 settled 2"}; !reflect.DeepEqual(got, want) {
			h.Errorf("the backlogs are %v, want %v", got, want)
		}
		h.sound()
		h.crash()
	}
	h.append(take(13, storage.IntakeOp{Kind: storage.IntakeTally, Connector: connector, Tally: "counted"}))
	if got := h.backlogs()["1 "+connector]; got != "5 counted" {
		h.Errorf("the backlog is %q", got)
	}
	h.append(take(14, storage.IntakeOp{Kind: storage.IntakeDrop, Connector: connector}))
	if got := h.backlogs(); len(got) != 0 {
		h.Errorf("after a drop there is %v", got)
	}
	if events, more, err := h.store.Pending(ctx, 1, connector, 0, 9); len(events) != 0 || more || err != nil {
		h.Errorf("after a drop %d are pending, %v, %v", len(events), more, err)
	}
}

func seenWithin(h *harness) {
	for n := range 100 {
		h.store.Append(receive(n))
	}
	p := h.append(receive(100))
	for range 2 {
		for _, c := range []struct {
			since time.Time
			seen  bool
		}{{Epoch.Add(-24 * time.Hour), true}, {Epoch, true}, {Epoch.Add(time.Second), false}} {
			got, ok, err := h.store.Seen(ctx, 1, delivery(100), c.since)
			if err != nil || ok != c.seen || ok && got != p {
				h.Errorf("since %s: %s, %v, %v", c.since, got, ok, err)
			}
		}
		for name, of := range map[string]struct {
			t storage.Tenant
			n int
		}{"another tenant's": {2, 100}, "one that never came": {1, 101}} {
			if _, ok, err := h.store.Seen(ctx, of.t, delivery(of.n), Epoch); ok || err != nil {
				h.Errorf("%s delivery was seen: %v, %v", name, ok, err)
			}
		}
		h.crash()
	}
	p = h.append(receive(100))
	if got, ok, err := h.store.Seen(ctx, 1, delivery(100), Epoch); got != p || !ok || err != nil {
		h.Errorf("what came again was seen at %s, %v, %v, want %s", got, ok, err, p)
	}
}
