package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/internal/share"
	"github.com/wharf-dev/wharf/runtime/connector"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// fakeClock is a clock that a test puts forward.
type fakeClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *fakeClock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// forward puts the clock forward and makes the node act on what is due then.
func (c *fakeClock) forward(t testing.TB, n *node, by time.Duration) {
	t.Helper()
	c.mu.Lock()
	c.now = c.now.Add(by)
	c.mu.Unlock()
	n.LookForDuePolls()
	for s := n.PollStats(); s.Busy+s.Due > 0; s = n.PollStats() {
		n.yield(t)
	}
}

func polling(t testing.TB, disk *crashtest.Disk, g enginetest.Guests, clock *fakeClock) *node {
	t.Helper()
	return boot(t, disk, g, func(_ *engine.Config, p *engine.Parts) {
		p.Now = clock.read
		poll := abi.Persona{Name: "poll", Version: "1.0.0", EntryWorkflow: "connectors#poll", AutonomyTier: abi.TierActAuto, ReceiptPolicy: abi.ReceiptOptional, Tools: []string{}, Capabilities: []string{"*"}}
		poll.Envelope = abi.NewEnvelope(abi.ObjectPersona, "persona_poll", clock.read(), nil)
		p.Personas = append(p.Personas, poll)
	})
}

// ticks is a plugin that remembers the ticks that it was told of.
type ticks struct {
	mu  sync.Mutex
	all []string
}

func (k *ticks) run(ctx context.Context, h sandbox.Host) error {
	return normalizing(func(d *abi.Delivery) abi.NormalizedDelivery {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.all = append(k.all, d.DeliveryID)
		return abi.NormalizedDelivery{Ignored: "it is a tick"}
	})(ctx, h)
}

func (k *ticks) String() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return strings.Join(k.all, " ")
}

func scheduled(schedule, export string) func(*abi.CreateConnectorRequest) {
	return func(r *abi.CreateConnectorRequest) {
		r.Provider, r.Polling = "cron", &abi.Polling{Schedule: schedule, Export: export, LastTask: "task_x"}
		r.Plugin = "connectors#" + abi.DefaultExport
	}
}

var newYear = time.Date(2026, 1, 1, 0, 0, 30, 0, time.UTC)

// TestTicksAreDeliveries holds that each tick of a schedule is one delivery, that what
// was missed is made up for once, also over a restart, and that what is paused does
// not tick.
func TestTicksAreDeliveries(t *testing.T) {
	clock, told := &fakeClock{now: newYear}, &ticks{}
	disk := crashtest.NewDisk()
	n := polling(t, disk, enginetest.Guests{"connectors": told.run}, clock)
	id := n.connector(t, scheduled("* * * * *", ""))
	first := enginetest.As[abi.Connector](t, must(n.GetConnector(t.Context(), n.Root, id)))
	if first.Polling.LastTask != "" || !first.Polling.NextAt.Equal(newYear.Add(30*time.Second)) {
		t.Errorf("a new connector polls %+v", first.Polling)
	}
	clock.forward(t, n, 29*time.Second) // not yet
	clock.forward(t, n, time.Second)
	clock.forward(t, n, time.Second) // not again
	clock.forward(t, n, time.Hour)   // made up for once
	n.settled(t, id)
	n.pause(t, id, abi.ConnectorPaused)
	clock.forward(t, n, time.Hour)
	n.pause(t, id, abi.ConnectorActive)
	clock.forward(t, n, 0)
	n.settled(t, id)
	n.Stop(t)
	clock.now = clock.now.Add(24 * time.Hour)
	n = polling(t, disk, enginetest.Guests{"connectors": told.run}, clock)
	clock.forward(t, n, 0)
	c := n.settled(t, id)
	const want = "tick:2026-01-01T00:01:00Z tick:2026-01-01T00:02:00Z tick:2026-01-01T01:02:00Z tick:2026-01-01T02:02:00Z"
	if told.String() != want {
		t.Errorf("ticks %s, want %s", told, want)
	}
	if !c.Polling.LastAt.Equal(clock.read()) || c.Counters.Received != 4 {
		t.Errorf("it polls %+v and counts %+v", c.Polling, c.Counters)
	}
}

// TestPollsAreTasks holds that a poll is a Task of the Connector, one at a time, and
// that failures are tried again, open the breaker, and close it when they end.
func TestPollsAreTasks(t *testing.T) {
	clock := &fakeClock{now: newYear}
	var broken atomic.Bool
	var runs atomic.Int32
	inputs := make(chan string, 100)
	poll := func(ctx context.Context, h sandbox.Host) error {
		_, input, err := h.Call(ctx, abi.CallInput, nil)
		if err != nil {
			return err
		}
		runs.Add(1)
		inputs <- string(input)
		if broken.Load() {
			return &abi.Failure{Code: "down", Message: "it is down"}
		}
		return nil
	}
	n := polling(t, crashtest.NewDisk(), enginetest.Guests{"connectors": poll}, clock)
	id := n.connector(t, scheduled("0 * * * *", abi.DefaultExport))
	// ended waits for the poll that runs, and makes the node look at it.
	ended := func() abi.Task {
		c := enginetest.As[abi.Connector](t, must(n.GetConnector(t.Context(), n.Root, id)))
		task := n.Wait(t, c.Polling.LastTask)
		clock.forward(t, n, 2*time.Second)
		return task
	}
	clock.forward(t, n, time.Hour)
	task := ended()
	if task.Status != abi.TaskCompleted || task.ConnectorID != id || task.PersonaID != "persona_poll" {
		t.Fatalf("the poll is %+v", task)
	}
	var got struct {
		Task struct {
			Input struct{ Connector abi.Connector }
		}
	}
	if err := json.Unmarshal([]byte(<-inputs), &got, json.MatchCaseInsensitiveNames(true)); err != nil || got.Task.Input.Connector.ID != id || got.Task.Input.Connector.Webhook != nil {
		t.Fatalf("the poll is told %+v, %v", got, err)
	}
	broken.Store(true)
	clock.forward(t, n, time.Hour)
	for range connector.TripAfter {
		ended()
		clock.forward(t, n, connector.OpenFor)
	}
	c := enginetest.As[abi.Connector](t, must(n.GetConnector(t.Context(), n.Root, id)))
	if c.Status != abi.ConnectorFailed || !strings.Contains(c.StatusReason, "failed") {
		t.Fatalf("after %d failures the connector is %s: %s", runs.Load(), c.Status, c.StatusReason)
	}
	broken.Store(false)
	ended() // the trial that ran while it was broken
	clock.forward(t, n, connector.OpenFor)
	ended()
	c = enginetest.As[abi.Connector](t, must(n.GetConnector(t.Context(), n.Root, id)))
	if c.Status != abi.ConnectorActive || c.StatusReason != "" {
		t.Errorf("after it was mended the connector is %s: %s", c.Status, c.StatusReason)
	}
	if err := n.DeleteConnector(t.Context(), n.Root, nil, id); err != nil {
		t.Fatal(err)
	}
	before := runs.Load()
	clock.forward(t, n, 24*time.Hour)
	if n.PollStats().Connectors != 0 || runs.Load() != before {
		t.Error("a connector that was deleted polls")
	}
}

func TestPollingIsChecked(t *testing.T) {
	n := newNode(t, enginetest.Guests{"sorter": normalizing(asTask)})
	for _, p := range []abi.Polling{{Schedule: "* * *"}, {Schedule: "0 0 30 2 *"}, {TimeZone: "Europe/Berlin"}, {Schedule: "@hourly", TimeZone: "Mars"}, {Schedule: "@hourly", Export: "a b"}} {
		_, err := n.CreateConnector(t.Context(), n.Root, nil, abi.CreateConnectorRequest{Provider: "generic", Plugin: "sorter#run", Polling: &p})
		if refused, ok := errors.AsType[*abi.Error](err); !ok || !strings.HasPrefix(refused.Param, "polling") {
			t.Errorf("%+v: %v", p, err)
		}
	}
	id := n.connector(t, func(r *abi.CreateConnectorRequest) { r.Polling = &abi.Polling{Schedule: "@hourly"} })
	doc, err := n.UpdateConnector(t.Context(), n.Root, nil, id, abi.UpdateConnectorRequest{Polling: &abi.Polling{}})
	if err != nil || enginetest.As[abi.Connector](t, doc).Polling != nil {
		t.Errorf("polling is not ended: %s, %v", doc.JSON, err)
	}
}

// TestEndOfAPollIsNoticed holds that the end of a poll is seen when it comes, with no
// time going by.
func TestEndOfAPollIsNoticed(t *testing.T) {
	clock := &fakeClock{now: newYear}
	leave := make(chan struct{})
	poll := func(context.Context, sandbox.Host) error {
		<-leave
		return nil
	}
	n := polling(t, crashtest.NewDisk(), enginetest.Guests{"connectors": poll}, clock)
	n.connector(t, scheduled("0 * * * *", abi.DefaultExport))
	clock.forward(t, n, time.Hour)
	runs := func() bool {
		s := n.PollStats()
		return s.Busy+s.Running > 0
	}
	if !runs() {
		t.Fatal("no poll runs")
	}
	close(leave)
	for runs() {
		n.yield(t)
	}
}

// TestASourceThatFloods holds that polls hand over so much in a minute and no more, that
// what was taken stays taken, and that the rest is taken later.
func TestASourceThatFloods(t *testing.T) {
	share.Alone(t)
	const maxDelivered = 1000 // by one call
	const pages = 10          // in a minute
	clock := &fakeClock{now: newYear}
	var page atomic.Int32
	refused := make(chan string, 100)
	poll := func(ctx context.Context, h sandbox.Host) error {
		for {
			var req abi.CallDeliverRequest
			for i := range maxDelivered {
				req.Deliveries = append(req.Deliveries, abi.PolledDelivery{ID: fmt.Sprintf("%d-%d", page.Load(), i), Text: "x"})
			}
			request, err := json.Marshal(req)
			if err != nil {
				return err
			}
			status, answer, err := h.Call(ctx, abi.CallDeliver, request)
			switch {
			case err != nil:
				return err
			case status == abi.CallDenied: // it is asked to normalize what it found
				return nil
			case status != abi.CallOK:
				refused <- string(answer)
				return &abi.Failure{Code: "refused", Message: "it is too much"}
			}
			page.Add(1)
		}
	}
	n := polling(t, crashtest.NewDisk(), enginetest.Guests{"connectors": poll}, clock)
	id := n.connector(t, scheduled("0 * * * *", abi.DefaultExport))
	polled := func() abi.Task {
		return n.Wait(t, enginetest.As[abi.Connector](t, must(n.GetConnector(t.Context(), n.Root, id))).Polling.LastTask)
	}
	clock.forward(t, n, time.Hour)
	for round := 1; round <= 3; round++ {
		task := polled()
		if said := <-refused; task.Status != abi.TaskFailed || !strings.Contains(said, "too_fast") || page.Load() != int32(round*pages) {
			t.Fatalf("poll %d was told %s after %d pages in all, and is %s", round, said, page.Load(), task.Status)
		}
		for last := task.ID; last == task.ID; { // its end is seen, and it is tried again
			clock.forward(t, n, time.Minute)
			last = enginetest.As[abi.Connector](t, must(n.GetConnector(t.Context(), n.Root, id))).Polling.LastTask
		}
	}
	polled()
}
