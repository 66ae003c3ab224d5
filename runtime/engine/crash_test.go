package engine_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// acknowledged is what clients were told.
type acknowledged struct {
	session  string
	tasks    []string
	ended    map[string]abi.TaskStatus
	messages int
	retries  map[string]string // key → task
}

// After a power cut at any moment of a scripted run, with any share of the
// unsynced writes lost: what was acknowledged is there, every accepted Task comes
// to an end, what had ended has not changed, and a retried key finds its Task.
func TestPowerCuts(t *testing.T) {
	g := enginetest.Guests{"echo": enginetest.Echo}
	n := boot(t, crashtest.NewDisk(), g)
	defer n.Stop(t)
	told := &acknowledged{session: n.Session(t), ended: map[string]abi.TaskStatus{}, retries: map[string]string{}}
	for step := range 24 {
		n.script(t, told, step)
		for seed, kept := range []float64{0, 0.5, 1} {
			disk := n.Disk.Crash(uint64(step*3+seed), kept)
			t.Run(fmt.Sprintf("step %d, %.0f%% of unsynced kept", step, kept*100), func(t *testing.T) {
				survivor := boot(t, disk, g)
				defer survivor.Stop(t)
				survivor.wantAcknowledged(t, told)
			})
		}
	}
}

// script takes one step of the run.
func (n *node) script(t *testing.T, told *acknowledged, step int) {
	t.Helper()
	switch step % 4 {
	case 0:
		told.tasks = append(told.tasks, n.Submit(t, told.session, ""))
		told.messages++
	case 1:
		last := told.tasks[len(told.tasks)-1]
		told.ended[last] = n.Wait(t, last).Status
		told.messages++ // its answer
	case 2:
		n.say(t, told.session, "words")
		told.messages++
	case 3:
		key := fmt.Sprintf("key %d", step)
		doc, err := n.SubmitTask(t.Context(), n.Root, retry(key, "{}"), abi.SubmitTaskRequest{SessionID: told.session, Input: enginetest.Text("hi")})
		if err != nil {
			t.Fatal(err)
		}
		told.tasks = append(told.tasks, doc.ID)
		told.ended[doc.ID] = n.Wait(t, doc.ID).Status
		told.retries[key] = doc.ID
		told.messages += 2
	}
}

func (n *node) wantAcknowledged(t *testing.T, told *acknowledged) {
	t.Helper()
	for _, id := range told.tasks {
		task := n.Wait(t, id)
		if !task.Status.Terminal() {
			t.Errorf("task %s is %s", id, task.Status)
		}
		if was, ended := told.ended[id]; ended && task.Status != was {
			t.Errorf("task %s was %s and is %s", id, was, task.Status)
		}
	}
	for key, id := range told.retries {
		doc, err := n.SubmitTask(t.Context(), n.Root, retry(key, "{}"), abi.SubmitTaskRequest{SessionID: told.session, Input: enginetest.Text("hi")})
		if err != nil || doc.ID != id {
			t.Errorf("key %q made task %s before the crash and %s after it (%v)", key, id, doc.ID, err)
		}
	}
	unanswered := len(told.tasks) - len(told.ended) // their answers came after the crash
	list, err := n.Messages(t.Context(), n.Root, told.session, desk.Page{Limit: 200})
	if err != nil || len(list.Docs) != told.messages+unanswered {
		t.Errorf("%d messages, want %d (%v)", len(list.Docs), told.messages+unanswered, err)
	}
	n.wantSound(t)
}

// wantSound checks every invariant of the store, and that its projections are
// what a rebuild from the log makes of them.
func (n *node) wantSound(t *testing.T) {
	t.Helper()
	for name, look := range map[string]func(context.Context, func(storage.Progress)) (storage.Report, error){
		"check": n.Store.Check, "rebuild": n.Store.Rebuild,
	} {
		report, err := look(t.Context(), nil)
		if err != nil || !report.OK() {
			t.Errorf("%s: %v %q", name, err, report.Problems)
		}
	}
}
