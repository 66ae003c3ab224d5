package waiting

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/ledger"
)

// Pending requests are listed page by page, and each is there once.
func TestPendingPages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p Pending
		ids := rapid.SliceOfDistinct(rapid.StringMatching(`perm_[a-z]{1,3}`), rapid.ID[string]).Draw(t, "ids")
		for _, id := range ids {
			p.Add(1, id, &abi.Task{WorkspaceID: id[5:6]})
		}
		gone := rapid.SliceOf(rapid.StringMatching(`perm_[a-z]{1,3}`)).Draw(t, "gone")
		for _, id := range gone {
			p.Remove(1, id)
		}
		left := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return slices.Contains(gone, id) })
		if p.Size() != len(left) {
			t.Errorf("%d are pending, want %d", p.Size(), len(left))
		}
		want := slices.DeleteFunc(left, func(id string) bool { return id[5] == 'a' })
		slices.SortFunc(want, func(a, b string) int { return strings.Compare(b, a) })
		var got []string
		limit := rapid.IntRange(1, 5).Draw(t, "limit")
		for after, more := "", true; more; {
			var page []string
			page, more = p.before(1, after, limit, func(at place) bool { return at.workspace != "a" })
			if len(page) > 0 {
				after = page[len(page)-1]
			}
			got = append(got, page...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

// A request belongs to one tenant, and a wait that asks nobody to none.
func TestPendingOfTenants(t *testing.T) {
	var p Pending
	p.Add(1, "perm_a", &abi.Task{})
	p.Add(1, "perm_a", &abi.Task{})
	p.Add(2, "", &abi.Task{})
	p.Remove(2, "perm_a")
	if p.Size() != 1 {
		t.Errorf("%d are pending, want 1", p.Size())
	}
}

// The last timer that was set wakes the Task, unless it is forgotten, or the node goes down.
func TestTimers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p Parked
		fired := ""
		set := func(id string, seconds int, as string) {
			p.SetTimer(ledger.Key{ID: id}, time.Now, time.Now().Add(time.Duration(seconds)*time.Second), func() { fired += as })
		}
		set("a", 1, "old ")
		set("a", 2, "new ")
		set("b", 1, "forgotten ")
		p.Forget(ledger.Key{ID: "b"})
		p.Forget(ledger.Key{ID: "c"})
		time.Sleep(3 * time.Second)
		synctest.Wait()
		set("a", 1, "stopped ")
		p.Stop()
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if fired != "new " {
			t.Errorf("%q", fired)
		}
	})
}

func TestParentsAreToldOnce(t *testing.T) {
	var p Parked
	child, first, second := ledger.Key{Tenant: 1, ID: "child"}, ledger.Key{Tenant: 1, ID: "a"}, ledger.Key{Tenant: 1, ID: "b"}
	p.Await(child, first)
	p.Await(child, second)
	p.Await(child, first) // again, as its time was up
	if got := p.Awaiting(ledger.Key{Tenant: 2, ID: "child"}); got != nil {
		t.Errorf("%v await a Task of another tenant", got)
	}
	if got := p.Awaiting(child); !slices.Equal(got, []ledger.Key{first, second}) {
		t.Errorf("%v", got)
	}
	if got := p.Awaiting(child); got != nil {
		t.Errorf("%v are told twice", got)
	}
}

// All who wait for a Task learn the same end; who has left holds nothing; and the result is
// made only where somebody waits.
func TestEnds(t *testing.T) {
	var e Ends
	key := ledger.Key{Tenant: 1, ID: "task"}
	made := 0
	tell := func() { e.Tell(key, func() Ended { made++; return Ended{Err: ErrSettled} }) }
	tell()
	first, second := e.join(key), e.join(key)
	tell()
	later := e.join(key) // while they still look at it
	for _, w := range []*waiter{first, second} {
		<-w.done
		if w.end.Err != ErrSettled {
			t.Error(w.end.Err)
		}
		e.leave(key, w)
	}
	select {
	case <-later.done:
		t.Error("an end is told to one who came later")
	default:
	}
	e.leave(key, later)
	tell()
	if made != 1 || len(e.byID) != 0 {
		t.Errorf("the result was made %d times, and %d are waited for", made, len(e.byID))
	}
}
