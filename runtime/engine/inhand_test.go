package engine_test

import (
	"context"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/inhand"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// largeText is a Message whose Task takes all that a tenant gets of roomForOne.
func largeText() []byte { return enginetest.Text(strings.Repeat("x", 1<<20)) }

// roomForOne gives a node a budget with room for one large Task at a time.
func roomForOne(c *engine.Config, _ *engine.Parts) { c.InHand = inhand.NewBudget(4 << 20) }

func (n *node) submitLarge(t testing.TB, session, persona string) string {
	t.Helper()
	doc, err := n.SubmitTask(t.Context(), n.Root, nil, abi.SubmitTaskRequest{SessionID: session, PersonaID: persona, Input: largeText()})
	if err != nil {
		t.Fatal(err)
	}
	return doc.ID
}

// nothingInHand waits until everything that was held is given back.
func (n *node) nothingInHand(t testing.TB) {
	t.Helper()
	for n.BytesInHand() != 0 {
		n.yield(t)
	}
}

// Large Tasks run one after another when there is room for one; a small one passes them.
func TestLargeTasksWaitAndSmallOnesDoNot(t *testing.T) {
	watch(t, "large Tasks")
	var inside atomic.Int64
	entered, leave := make(chan struct{}, 10), make(chan struct{})
	n := newNode(t, enginetest.Guests{"large": func(ctx context.Context, h sandbox.Host) error {
		if inside.Add(1) > 1 {
			t.Error("two large Tasks run at one time")
		}
		defer inside.Add(-1)
		entered <- struct{}{}
		<-leave
		return enginetest.Echo(ctx, h)
	}}, roomForOne, func(c *engine.Config, _ *engine.Parts) { c.MaxRunning = 2 })
	session := n.Session(t)
	var large []string
	for range 6 {
		large = append(large, n.submitLarge(t, session, "persona_large"))
	}
	<-entered
	if task := n.Wait(t, n.Submit(t, session, "")); task.Status != abi.TaskCompleted {
		t.Errorf("the small one: %+v", task)
	}
	close(leave)
	for _, id := range large {
		if task := n.Wait(t, id); task.Status != abi.TaskCompleted || task.Attempt != 1 {
			t.Errorf("%s after %d starts: %+v", task.Status, task.Attempt, task.Failure)
		}
	}
	n.nothingInHand(t)
}

// However a large Task ends, and whether it waited or ran: what it held is given back, and
// the next one runs.
func TestLargeTasksGiveBackWhatTheyHold(t *testing.T) {
	watch(t, "large Tasks that end")
	hold, entered, leave := enginetest.Holding()
	g := enginetest.Guests{"hold": hold, "trap": func(context.Context, sandbox.Host) error {
		return &abi.Failure{Code: abi.FailurePluginTrap, Message: "unreachable"}
	}, "echo": enginetest.Echo}
	n := boot(t, crashtest.NewDisk(), g, roomForOne)
	session := n.Session(t)
	first, waits, traps, last := n.submitLarge(t, session, "persona_hold"), "", "", ""
	<-entered
	waits, traps, last = n.submitLarge(t, session, "persona_hold"), n.submitLarge(t, session, "persona_trap"), n.submitLarge(t, session, "persona_echo")
	for _, id := range []string{waits, first} {
		if _, err := n.CancelTask(t.Context(), n.Root, nil, id, abi.CancelTaskRequest{}); err != nil {
			t.Fatal(err)
		}
	}
	if task := n.Wait(t, traps); task.Status != abi.TaskFailed || task.Failure.Code != abi.FailurePluginTrap {
		t.Errorf("%s: %+v", task.Status, task.Failure)
	}
	if task := n.Wait(t, last); task.Status != abi.TaskCompleted {
		t.Errorf("%s: %+v", task.Status, task.Failure)
	}
	n.nothingInHand(t)

	runs := n.submitLarge(t, session, "persona_hold")
	<-entered
	later := n.submitLarge(t, session, "persona_echo")
	n.Stop(t)
	if used := n.BytesInHand(); used != 0 {
		t.Errorf("%d bytes are held after a drain", used)
	}
	n = boot(t, n.Disk, g, roomForOne)
	defer n.Stop(t)
	close(leave)
	for _, id := range []string{runs, later} {
		if task := n.Wait(t, id); task.Status != abi.TaskCompleted {
			t.Errorf("after a restart: %s: %+v", task.Status, task.Failure)
		}
	}
	n.nothingInHand(t)
}

// A Task that is shown with a large Message takes that once more, and not twice.
func TestALargeInputIsCopiedOnceToBeShown(t *testing.T) {
	n := newNode(t, enginetest.Guests{})
	session := n.Session(t)
	id := n.submitLarge(t, session, "")
	n.Wait(t, id)
	const size = 1 << 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const reads = 20
	for range reads {
		if _, err := n.Get(t.Context(), n.Root, abi.ObjectTask, id); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / reads; each > 5*size/2 {
		t.Errorf("a read of %d bytes allocates %d", size, each)
	}
}
