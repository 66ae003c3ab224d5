package engine_test

import (
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// TestDeadLettersAreDrivenAgain holds that what was put aside can be looked at, is
// handled again once, and is put aside again when it fails again; also over a restart.
func TestDeadLettersAreDrivenAgain(t *testing.T) {
	var healed atomic.Bool
	sorter := normalizing(func(d *abi.Delivery) abi.NormalizedDelivery {
		if healed.Load() {
			return abi.NormalizedDelivery{Tasks: []abi.ConnectorTask{{Input: enginetest.Text("healed " + d.Text)}}}
		}
		return asTask(d)
	})
	disk := crashtest.NewDisk()
	n := boot(t, disk, enginetest.Guests{"sorter": sorter, "echo": enginetest.Echo})
	id := n.connector(t, nil)
	other := n.connector(t, nil)
	n.deliver(t, id, "1", "sick: of it")
	n.deliver(t, id, "2", "fine: this")
	n.deliver(t, other, "1", "sick: too")
	n.settled(t, id)
	n.settled(t, other)

	letters := must(n.DeadLetters(t.Context(), n.Root, id, desk.Page{Limit: 10})).Docs
	if len(letters) != 1 {
		t.Fatalf("%d dead letters, want 1", len(letters))
	}
	letter := enginetest.As[abi.DeadLetter](t, letters[0])
	doc := must(n.DeadLetter(t.Context(), n.Root, id, letter.ID))
	if letter.Failure.Code != "sick" || letter.Attempts != 1 || !strings.Contains(string(doc.JSON), `"text":"sick: of it"`) || !doc.Restricted {
		t.Errorf("the dead letter is %s", doc.JSON)
	}
	stranger := *n.Root
	stranger.Workspaces = []string{"ws_other"}
	for _, err := range []error{
		second(n.DeadLetters(t.Context(), &stranger, id, desk.Page{Limit: 10})), second(n.DeadLetter(t.Context(), &stranger, id, letter.ID)),
		second(n.DeadLetter(t.Context(), n.Root, other, letter.ID)), second(n.RedriveDeadLetter(t.Context(), &stranger, nil, id, letter.ID)),
		second(n.RedriveDeadLetter(t.Context(), n.Root, nil, other, letter.ID)), second(n.RedriveDeadLetter(t.Context(), n.Root, nil, id, "dead_x")),
	} {
		enginetest.WantCode(t, err, abi.CodeResourceNotFound)
	}

	retry := &desk.Retry{Key: "k", Scope: "POST /redrive"}
	first := must(n.RedriveDeadLetter(t.Context(), n.Root, retry, id, letter.ID))
	n.settled(t, id)
	again := must(n.RedriveDeadLetter(t.Context(), n.Root, retry, id, letter.ID))
	if string(first.JSON) != string(again.JSON) {
		t.Errorf("repeated, the answer is %s, not %s", again.JSON, first.JSON)
	}
	letter = enginetest.As[abi.DeadLetter](t, must(n.DeadLetter(t.Context(), n.Root, id, letter.ID)))
	if letter.Attempts != 2 || !letter.RedrivenAt.IsZero() {
		t.Errorf("after it failed again the dead letter is %+v", letter)
	}

	n.pause(t, id, abi.ConnectorPaused)
	enginetest.WantCode(t, second(n.RedriveDeadLetters(t.Context(), &stranger, nil, id, desk.Page{Limit: 10})), abi.CodeResourceNotFound)
	must(n.RedriveDeadLetter(t.Context(), n.Root, nil, id, letter.ID))
	enginetest.WantCode(t, second(n.RedriveDeadLetter(t.Context(), n.Root, nil, id, letter.ID)), abi.CodeConflict)
	n.Stop(t)
	healed.Store(true)
	n = boot(t, disk, enginetest.Guests{"sorter": sorter, "echo": enginetest.Echo})
	defer n.Stop(t)
	n.pause(t, id, abi.ConnectorActive)
	c := n.settled(t, id)
	tasks := n.tasksOf(t, id)
	n.wantSequences(t, abi.ObjectDelivery, abi.ObjectDeadLetter)
	if len(tasks) != 2 || c.Counters.Received != 2 || c.Counters.Normalized != 2 || c.Counters.Failed != 2 || c.Counters.Pending != 0 {
		t.Errorf("%d tasks, counted %+v", len(tasks), c.Counters)
	}
}

// wantSequences wants the events of each resource of some types, or of all, to be numbered
// without a gap and without a repetition.
func (n *node) wantSequences(t testing.TB, objects ...abi.Object) {
	t.Helper()
	next := map[abi.ResourcePointer]uint64{}
	n.eachStored(t, func(rec storage.Record) {
		if len(objects) > 0 && !slices.Contains(objects, rec.Resource.Object) {
			return
		}
		if rec.Sequence != next[rec.Resource] {
			t.Errorf("%s of %s has sequence %d, want %d", rec.Kind, rec.Resource.ID, rec.Sequence, next[rec.Resource])
		}
		next[rec.Resource] = rec.Sequence + 1
	})
}

// eachStored calls f for each event of the tenant, in the order of the log.
func (n *node) eachStored(t testing.TB, f func(storage.Record)) {
	t.Helper()
	for after, more := desk.Position(0), true; more; {
		var page []storage.Event
		var err error
		if page, more, err = n.Store.Events(t.Context(), n.Root.Tenant, desk.Scope{}, after, 100); err != nil {
			t.Fatal(err)
		}
		for _, ev := range page {
			after = ev.Position()
			f(*ev.Record())
		}
	}
}

// TestRedriveAll holds that all that was put aside is driven again page by page, each
// once, and that a repeated request drives nothing more.
func TestRedriveAll(t *testing.T) {
	n := newNode(t, enginetest.Guests{"sorter": normalizing(asTask)})
	id, other := n.connector(t, nil), n.connector(t, nil)
	for i := range 5 {
		n.deliver(t, id, strconv.Itoa(i), "sick: of it")
		n.deliver(t, other, strconv.Itoa(i), "sick: too")
	}
	n.settled(t, id)
	n.settled(t, other)
	n.pause(t, id, abi.ConnectorPaused) // what is driven again stays pending
	own := must(n.DeadLetters(t.Context(), n.Root, id, desk.Page{Limit: 10})).Docs
	must(n.RedriveDeadLetter(t.Context(), n.Root, nil, id, own[1].ID))
	for pass, key := range []string{"a", "a", "b"} {
		retry := &desk.Retry{Key: key, Scope: "POST /redrive"}
		driven, pages := 0, 0
		for page := (desk.Page{Limit: 2}); ; pages++ {
			list := must(n.RedriveDeadLetters(t.Context(), n.Root, retry, id, page))
			driven += len(list.Docs)
			if page.After = list.Next; !list.More {
				break
			}
		}
		if want := []int{4, 4, 0}[pass]; driven != want || pages < 2 {
			t.Errorf("request %d answers with %d in %d pages, want %d", pass, driven, pages, want)
		}
		if c := enginetest.As[abi.Connector](t, must(n.GetConnector(t.Context(), n.Root, id))).Counters; c.Pending != 5 {
			t.Errorf("after request %d %d are pending", pass, c.Pending)
		}
	}
	if c := enginetest.As[abi.Connector](t, must(n.GetConnector(t.Context(), n.Root, other))).Counters; c.Pending != 0 {
		t.Errorf("%d of another connector are pending", c.Pending)
	}
}

func second[T any](_ T, err error) error { return err }
