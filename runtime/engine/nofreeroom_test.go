package engine_test

import (
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/disk"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
)

// TestCallsWaitForRoom has Tasks run on a disk with hardly any room: their calls wait instead of failing them. One is
// canceled meanwhile, one comes to its deadline, and one ends when there is room.
func TestCallsWaitForRoom(t *testing.T) {
	room := uint64(0)
	watch := disk.New(disk.Config{Read: func() (disk.Space, bool) { return disk.Space{Free: room, Total: 1 << 40}, true },
		Reserve: func(uint64) uint64 { return 1 << 20 }})
	n := newNode(t, enginetest.Guests{}, func(_ *engine.Config, p *engine.Parts) { p.Disk = watch })
	session := n.Session(t)
	canceled, ends := n.Submit(t, session, ""), n.Submit(t, session, "")
	late, err := n.SubmitTask(t.Context(), n.Root, nil, abi.SubmitTaskRequest{SessionID: session, Input: enginetest.Text("hi"), DeadlineSeconds: 0.3})
	if err != nil {
		t.Fatal(err)
	}
	if task := n.Wait(t, enginetest.As[abi.Task](t, late).ID); task.Status != abi.TaskFailed || task.Failure.Code != abi.FailureDeadline {
		t.Errorf("a task that cannot write ends as %s, %v", task.Status, task.Failure)
	}
	if _, err := n.CancelTask(t.Context(), n.Root, nil, canceled, abi.CancelTaskRequest{}); err != nil {
		t.Fatal(err)
	}
	if task := n.Wait(t, canceled); task.Status != abi.TaskCanceled {
		t.Errorf("the task that was canceled ends as %s", task.Status)
	}
	for _, kind := range n.Kinds(t, desk.Filter{TaskID: ends}) {
		if kind == string(abi.EventCall) {
			t.Error("a call was made")
		}
	}
	room = 1 << 30
	watch.Look()
	if task := n.Wait(t, ends); task.Status != abi.TaskCompleted {
		t.Errorf("the task that waited ends as %s", task.Status)
	}
}
