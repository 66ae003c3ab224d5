package outbox_test

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/internal/roomtest"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/outbox"
	"github.com/wharf-dev/wharf/storage"
)

// inOrder is a format that is told in order, whose last event is that a Task has completed.
var inOrder = outbox.Format{Name: "in_order", Ordered: true, Ends: true, Write: func(_ context.Context, n *outbox.Notice) (outbox.Message, error) {
	return outbox.Message{Header: map[string]string{"X-Kind": string(n.Kind)}, Body: []byte(n.EventID), Last: n.Kind == abi.EventTaskCompleted}, nil
}}

// ordered makes a Webhook of a Task that is told in order.
func (r *room) ordered(after string) abi.WebhookEndpoint {
	r.t.Helper()
	req := wants("task.*")
	req.Format, req.TaskID, req.AfterEventID = inOrder.Name, "task_a", after
	w, _ := r.webhook(req)
	return w
}

// task writes how far the Task is.
func (r *room) task(s abi.TaskStatus) {
	r.t.Helper()
	r.tasks++
	_, _, err := r.Ledger.Commit(storage.Frame{Tenant: roomtest.Tenant, WorkspaceID: roomtest.Workspace, TaskID: "task_a"}, nil, 0,
		ledger.Record{Kind: "vendor.test.task", Object: abi.ObjectTask, ID: "task_a", Created: r.tasks == 1, Sequence: uint64(r.tasks - 1),
			State: map[string]any{"status": s, "updated_at": time.Now().UTC()}})
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *room) exists(id string) bool {
	_, err := r.Webhook(r.t.Context(), r.Root(), id)
	return err == nil
}

// door is a receiver that takes things, or not.
type door struct {
	shut  atomic.Bool // events of a kind are refused
	mu    sync.Mutex
	taken []string
}

// refusing has the receiver refuse events of a kind, "" for all, as long as the door is shut.
func (r *room) refusing(kind abi.EventKind) *door {
	d := &door{}
	r.receiver.answers(func(got *delivered) *http.Response {
		if d.shut.Load() && (kind == "" || got.header.Get("X-Kind") == string(kind)) {
			return status(500)
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		d.taken = append(d.taken, got.body)
		return status(200)
	})
	return d
}

// all returns what was taken so far.
func (d *door) all() []string {
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.taken)
}

// What is told in order comes so: an event that is not taken holds up those behind it until it is taken,
// over a crash too, and so does nothing else.
func TestNothingOvertakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, outbox.Config{})
		w := r.ordered("")
		d := r.refusing(abi.EventTaskInputRequired)
		var all []string
		happen := func(n int, kind abi.EventKind) {
			for range n {
				all = append(all, r.happen(kind, roomtest.Workspace))
			}
		}
		happen(3, abi.EventTaskStarted)
		want(t, "taken at first", d.all(), all)
		d.shut.Store(true)
		happen(1, abi.EventTaskInputRequired)
		happen(300, abi.EventTaskStarted) // more than a queue reads ahead
		want(t, "taken while one is refused", d.all(), all[:3])
		time.Sleep(time.Minute)
		want(t, "taken while one is refused again", d.all(), all[:3])
		if p := r.deliveries(w.ID, abi.WebhookDeliveryPending); len(p) != 1 || p[0].EventID != all[3] || p[0].Attempts < 2 {
			t.Errorf("pending: %+v", p)
		}
		r.crash()
		happen(3, abi.EventTaskStarted)
		time.Sleep(time.Minute)
		want(t, "taken after a crash", d.all(), all[:3])
		d.shut.Store(false)
		time.Sleep(time.Hour)
		want(t, "taken when the receiver is back", d.all(), all)
	})
}

// What is given up lets go what it has held up.
func TestWhatIsGivenUpHoldsNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, outbox.Config{Attempts: 3})
		w := r.ordered("")
		d := r.refusing(abi.EventTaskInputRequired)
		d.shut.Store(true)
		a, b, c := r.happen(abi.EventTaskStarted, roomtest.Workspace), r.happen(abi.EventTaskInputRequired, roomtest.Workspace), r.happen(abi.EventTaskStarted, roomtest.Workspace)
		want(t, "taken at first", d.all(), []string{a})
		time.Sleep(time.Hour)
		want(t, "taken", d.all(), []string{a, c})
		if dead := r.deliveries(w.ID, abi.WebhookDeliveryDead); len(dead) != 1 || dead[0].EventID != b {
			t.Errorf("dead: %+v", dead)
		}
	})
}

// A Webhook is told what has happened behind an event that it names, once, and then what happens, also
// when the node dies before any of it was taken.
func TestFromAnEventOn(t *testing.T) {
	for name, crashes := range map[string]bool{"at once": false, "over a crash": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRoom(t, outbox.Config{})
				var all []string
				for range 5 {
					all = append(all, r.happen(abi.EventTaskStarted, roomtest.Workspace))
				}
				d := r.refusing("")
				d.shut.Store(crashes)
				r.ordered(all[1])
				all = append(all, r.happen(abi.EventTaskStarted, roomtest.Workspace))
				if crashes {
					want(t, "taken before the crash", d.all(), nil)
					r.crash()
					d.shut.Store(false)
					time.Sleep(time.Minute)
				}
				all = append(all, r.happen(abi.EventTaskStarted, roomtest.Workspace))
				want(t, "taken", d.all(), all[2:])
				time.Sleep(time.Second) // until that is kept
				r.crash()
				time.Sleep(time.Hour)
				want(t, "taken in the end", d.all(), all[2:])
			})
		})
	}
}

// A Webhook goes when the last is taken that it is told. One that was refused until the node has died is
// taken after that, and then it goes.
func TestTheLastIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t, outbox.Config{})
		r.task(abi.TaskWorking)
		w := r.ordered("")
		d := r.refusing("")
		a := r.happen(abi.EventTaskStarted, roomtest.Workspace)
		want(t, "taken", d.all(), []string{a})
		d.shut.Store(true)
		r.task(abi.TaskCompleted)
		b := r.happen(abi.EventTaskCompleted, roomtest.Workspace)
		time.Sleep(time.Minute)
		if !r.exists(w.ID) {
			t.Error("it is gone before the last was taken")
		}
		r.crash()
		d.shut.Store(false)
		time.Sleep(time.Hour)
		want(t, "taken in the end", d.all(), []string{a, b})
		if r.exists(w.ID) || r.WebhookStats().Webhooks != 0 {
			t.Error("it is there when the last was taken")
		}
		r.crash()
		if r.exists(w.ID) {
			t.Error("it has come back")
		}
	})
}

// A Webhook of a Task that has ended goes, with what was given up or nothing ever told, when that was there
// to be looked at for as long as an event may wait. As long as the Task works it stays.
func TestWebhooksOfTasksThatHaveEnded(t *testing.T) {
	const age = 24 * time.Hour
	for name, crashes := range map[string]bool{"in one life": false, "over a crash": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRoom(t, outbox.Config{Age: age, Attempts: 2})
				r.task(abi.TaskWorking)
				refused := r.ordered("")
				plain, _ := r.webhook(abi.CreateWebhookRequest{WorkspaceID: roomtest.Workspace, URL: "https://a.test/in", Events: []string{"task.*"}})
				d := r.refusing("")
				d.shut.Store(true)
				time.Sleep(10 * age)
				if !r.exists(refused.ID) {
					t.Fatal("it is gone while the task works")
				}
				r.task(abi.TaskCompleted)
				r.happen(abi.EventTaskCompleted, roomtest.Workspace)
				late := r.ordered("") // made when nothing comes any more
				time.Sleep(age)
				if dead := r.deliveries(refused.ID, abi.WebhookDeliveryDead); len(dead) != 1 || !r.exists(late.ID) {
					t.Errorf("dead: %+v", dead)
				}
				if crashes {
					r.crash()
				}
				time.Sleep(age + 2*time.Minute)
				if r.exists(refused.ID) || r.exists(late.ID) || !r.exists(plain.ID) {
					t.Errorf("there are the refused %v, the late %v, that of no task %v", r.exists(refused.ID), r.exists(late.ID), r.exists(plain.ID))
				}
				want(t, "taken", d.all(), nil)
			})
		})
	}
}
