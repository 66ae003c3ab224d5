package engine_test

import (
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// Tasks that are forks of one another, or of a part that cannot be, end for themselves.
func TestForksThatCannotBe(t *testing.T) {
	const in = `"object":"task",`
	fork := func(of, calls string) func(string) string {
		return replace1(in, in+`"fork":{"source_task_id":"`+of+`","calls":`+calls+`},`)
	}
	for name, test := range map[string]struct {
		a, b   func(a, b string) func(string) string
		code   string // of the first one's failure
		reason string
	}{
		"a circle of two": {func(_, b string) func(string) string { return fork(b, "0") },
			func(a, _ string) func(string) string { return fork(a, "0") }, abi.FailureHost, ""},
		"of itself":      {func(a, _ string) func(string) string { return fork(a, "0") }, nil, abi.FailureUnreadable, "it cannot be a fork of"},
		"negative calls": {func(_, b string) func(string) string { return fork(b, "-1") }, nil, abi.FailureUnreadable, "it cannot be a fork of -1 calls"},
		"too many calls": {func(_, b string) func(string) string { return fork(b, "1000000") }, nil, abi.FailureReplayMissing, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := enginetest.Guests{"program": newProgram(op{abi.CallInputRequest, `{"prompt":"who?"}`}).run, "echo": enginetest.Echo}
			n := boot(t, crashtest.NewDisk(), g)
			session := n.Session(t)
			a, b, other := n.Submit(t, session, "persona_program"), n.Submit(t, session, "persona_program"), n.Submit(t, session, "persona_program")
			for _, id := range []string{a, b, other} {
				n.parked(t, id)
			}
			n.restate(t, n.Root.Tenant, abi.ObjectTask, a, test.a(a, b))
			if test.b != nil {
				n.restate(t, n.Root.Tenant, abi.ObjectTask, b, test.b(a, b))
			}
			n.Stop(t)
			n = boot(t, n.Disk, g)
			defer n.Stop(t)
			n.answer(t, a)
			task := n.Wait(t, a)
			if task.Status != abi.TaskFailed || task.Failure.Code != test.code || !strings.Contains(task.Failure.Message, test.reason) {
				t.Errorf("the task is %s, %+v", task.Status, task.Failure)
			}
			n.answer(t, other)
			if task := n.Wait(t, other); task.Status != abi.TaskCompleted {
				t.Errorf("the other task: %s %+v", task.Status, task.Failure)
			}
		})
	}
}

// A delivery that cannot be read becomes a dead letter, and those after it are handled.
func TestUnreadableDelivery(t *testing.T) {
	for name, payload := range map[string]string{"of a wrong type": `{"delivery":7}`, "no JSON": `{"delivery":`, "empty": ``} {
		t.Run(name, func(t *testing.T) {
			g := enginetest.Guests{"sorter": normalizing(asTask), "echo": enginetest.Echo}
			n := boot(t, crashtest.NewDisk(), g)
			id := n.connector(t, nil)
			n.deliver(t, id, "1", "fine: before")
			n.settled(t, id)
			n.receiveRaw(t, id, payload)
			n.Stop(t)
			n = boot(t, n.Disk, g)
			n.Forged = true
			defer n.Stop(t)
			n.deliver(t, id, "2", "fine: after")
			n.settled(t, id)
			letters, err := n.DeadLetters(t.Context(), n.Root, id, desk.Page{Limit: 10})
			if err != nil || len(letters.Docs) != 1 {
				t.Fatalf("%d dead letters, %v", len(letters.Docs), err)
			}
			if letter := enginetest.As[abi.DeadLetter](t, letters.Docs[0]); letter.Failure.Code != abi.FailureDelivery {
				t.Errorf("it failed with %+v", letter.Failure)
			}
			if tasks := n.tasksOf(t, id); len(tasks) != 2 {
				t.Errorf("%d tasks", len(tasks))
			}
		})
	}
}

// receiveRaw writes a delivery that no door lets in.
func (n *node) receiveRaw(t testing.TB, connector, payload string) {
	t.Helper()
	n.Forged = true
	res, err := n.Store.Get(t.Context(), n.Root.Tenant, abi.ObjectConnector, connector)
	if err != nil {
		t.Fatal(err)
	}
	ev, err := n.Store.Event(t.Context(), n.Root.Tenant, res.Position)
	if err != nil {
		t.Fatal(err)
	}
	f := *ev.Frame
	f.First, f.Records = 0, []storage.Record{{
		Kind: abi.EventConnectorDeliveryReceived, Resource: abi.ResourcePointer{Object: abi.ObjectDelivery, ID: abi.NewIDs(time.Now, rand.Reader).New(abi.ObjectDelivery)},
		Restricted: true, Payload: []byte(payload),
		Intake: storage.IntakeOp{Kind: storage.IntakeReceive, Connector: connector, Delivery: storage.DeliveryKey{1}},
	}}
	if _, err := n.Store.Append(&storage.Batch{Frame: f}).Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
}
