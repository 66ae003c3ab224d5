package inhand

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

const document = 1 << 20

func TestSmallDocumentsTakeNothing(t *testing.T) {
	b := NewBudget(1)
	var h Hand
	h.Init(b, 1, 4, Waits)
	if err := h.Hold(t.Context(), Small); err != nil || b.Used() != 0 {
		t.Errorf("%v, %d bytes", err, b.Used())
	}
}

// A request that finds no room waits, and is told to come back; another tenant's does not wait for
// it, and the next one gets what is given back.
func TestRequestsWaitForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(8 * document)
		var first, second, third, other Hand
		for _, h := range []*Hand{&first, &second, &third} {
			h.Init(b, 1, 4, Waits)
		}
		other.Init(b, 2, 2, Waits)
		if err := first.Hold(t.Context(), document); err != nil {
			t.Fatal(err)
		}
		var own *abi.Error
		if err := second.Hold(t.Context(), document); !errors.As(err, &own) || own.Code != abi.CodeServiceUnavailable || own.RetryAfter == 0 {
			t.Errorf("one for which there is no room got %v", err)
		}
		got := make(chan error)
		go func() { got <- third.Hold(t.Context(), document) }()
		synctest.Wait()
		if err := other.Hold(t.Context(), document); err != nil {
			t.Errorf("another tenant got %v", err)
		}
		if err := first.Hold(t.Context(), document); err != nil { // for it holds some already
			t.Errorf("one that goes on got %v", err)
		}
		first.End()
		if err := <-got; err != nil {
			t.Error(err)
		}
		for _, h := range []*Hand{&first, &second, &third, &other} {
			h.End()
		}
		if b.Used() != 0 || len(b.tenants) != 0 || len(b.waiting) != 0 {
			t.Errorf("%d bytes of %v are used at the end", b.Used(), b.tenants)
		}
	})
}

// Whatever hands of several tenants do in whichever order: none takes a first share beyond
// the budget or its tenant's part, all that wait get theirs in the end, and nothing is left.
func TestNothingIsLeftInHand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := NewBudget(rapid.Int64Range(document, 20*document).Draw(t, "total"))
		waiting := map[*Hand]bool{}
		var held []*Hand
		hold := func() {
			h := new(Hand)
			h.Init(b, storage.Tenant(rapid.IntRange(1, 3).Draw(t, "tenant")), rapid.Int64Range(1, 6).Draw(t, "copies"),
				rapid.SampledFrom([]Kind{Counts, Defers}).Draw(t, "kind"))
			before := b.Used()
			switch err := h.Hold(context.Background(), rapid.Int64Range(0, 3*document).Draw(t, "bytes")); {
			case errors.Is(err, ErrLater):
				waiting[h] = true
				h.Later(func() { delete(waiting, h); held = append(held, h) })
			case err != nil:
				t.Fatal(err)
			default:
				if h.kind == Defers && b.Used() != before && (b.Used() > b.total || b.tenants[h.tenant] > b.each) {
					t.Fatalf("a share was taken beyond %d: %v", b.total, b.tenants)
				}
				held = append(held, h)
			}
		}
		end := func() {
			i := rapid.IntRange(0, len(held)-1).Draw(t, "which")
			h := held[i]
			held = append(held[:i], held[i+1:]...)
			if rapid.Bool().Draw(t, "keeps some") {
				h.Keep(rapid.Int64Range(0, document).Draw(t, "kept"))
			}
			h.End()
			h.End()
		}
		for range 60 {
			if len(held) > 0 && rapid.Bool().Draw(t, "ends") {
				end()
			} else {
				hold()
			}
		}
		for len(held) > 0 {
			end()
		}
		if len(waiting) != 0 || b.Used() != 0 || len(b.tenants) != 0 {
			t.Fatalf("%d wait, %d bytes of %v are used at the end", len(waiting), b.Used(), b.tenants)
		}
	})
}

func TestNoBudgetBoundsNothing(t *testing.T) {
	var h Hand
	h.Init(NewBudget(0), 1, 4, Defers)
	if err := h.Hold(t.Context(), 1<<40); err != nil {
		t.Error(err)
	}
	h.Keep(1 << 40)
	h.End()
	(*Hand)(nil).End()
}
