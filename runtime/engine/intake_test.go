package engine_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/intake"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// headers are those of a test's delivery.
type headers map[string]string

func (h headers) Get(name string) []byte {
	for key, value := range h {
		if strings.EqualFold(key, name) {
			return []byte(value)
		}
	}
	return nil
}

func (h headers) All() iter.Seq2[[]byte, []byte] {
	return func(yield func([]byte, []byte) bool) {
		for name, value := range h {
			if !yield([]byte(name), []byte(value)) {
				return
			}
		}
	}
}

// normalizing returns a plugin that turns each delivery into what each says.
func normalizing(each func(d *abi.Delivery) abi.NormalizedDelivery) func(context.Context, sandbox.Host) error {
	return func(ctx context.Context, h sandbox.Host) error {
		status, answer, err := h.Call(ctx, abi.CallDeliveries, nil)
		if err != nil || status != abi.CallOK {
			return fmt.Errorf("connector.deliveries: %d, %w", status, err)
		}
		var got abi.CallDeliveriesAnswer
		if err := json.Unmarshal(answer, &got, json.RejectUnknownMembers(true)); err != nil {
			return err
		}
		var told abi.CallNormalizedRequest
		for i := range got.Deliveries {
			n := each(&got.Deliveries[i])
			n.ID = got.Deliveries[i].ID
			told.Results = append(told.Results, n)
		}
		request, err := json.Marshal(&told)
		if err != nil {
			return err
		}
		if status, answer, err = h.Call(ctx, abi.CallNormalized, request); err != nil || status != abi.CallOK {
			return fmt.Errorf("connector.normalized: %d %s, %w", status, answer, err)
		}
		return nil
	}
}

// asTask makes a Task of a delivery. The text before a colon is its thread; what
// begins with "bad" traps, and "sick" is put aside.
func asTask(d *abi.Delivery) abi.NormalizedDelivery {
	switch {
	case strings.HasPrefix(d.Text, "sick"):
		return abi.NormalizedDelivery{Failure: &abi.Failure{Code: "sick", Message: "it is sick"}}
	case strings.HasPrefix(d.Text, "nothing"):
		return abi.NormalizedDelivery{Ignored: "it is nothing"}
	}
	thread, _, _ := strings.Cut(d.Text, ":")
	return abi.NormalizedDelivery{Tasks: []abi.ConnectorTask{{Input: enginetest.Text(strings.ReplaceAll(d.Text, `"`, "'")), Thread: thread}}}
}

// trapping is asTask, and fails like a guest at a delivery that says so.
func trapping(ctx context.Context, h sandbox.Host) error {
	var trap error
	err := normalizing(func(d *abi.Delivery) abi.NormalizedDelivery {
		if strings.HasPrefix(d.Text, "bad") {
			trap = &abi.Failure{Code: abi.FailurePluginTrap, Message: "unreachable"}
		}
		return asTask(d)
	})(ctx, h)
	if trap != nil {
		return trap
	}
	return err
}

func (n *node) connector(t testing.TB, change func(*abi.CreateConnectorRequest)) string {
	t.Helper()
	req := abi.CreateConnectorRequest{Provider: "generic", Plugin: "sorter#" + abi.DefaultExport}
	if change != nil {
		change(&req)
	}
	doc, err := n.CreateConnector(t.Context(), n.Root, nil, req)
	if err != nil {
		t.Fatal(err)
	}
	return doc.ID
}

// deliver hands over a delivery under an id.
func (n *node) deliver(t testing.TB, connector, id, body string) intake.Received {
	t.Helper()
	got, err := n.ReceiveDelivery(t.Context(), n.Root, connector, &intake.Incoming{Method: http.MethodPost, Header: headers{"webhook-id": id}, Body: []byte(body)})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// settled waits until nothing of a Connector's is pending, and returns it.
func (n *node) settled(t testing.TB, connector string) abi.Connector {
	t.Helper()
	for {
		doc, err := n.GetConnector(t.Context(), n.Root, connector)
		if err != nil {
			t.Fatal(err)
		}
		if c := enginetest.As[abi.Connector](t, doc); c.Counters.Pending == 0 {
			return c
		}
		n.yield(t)
	}
}

// yield lets others work, until the test's own time is up.
func (n *node) yield(t testing.TB) {
	t.Helper()
	select {
	case <-t.Context().Done():
		t.Fatal("the time is up")
	case <-time.After(time.Millisecond):
	}
}

// tasksOf returns the Tasks that came from a Connector, oldest first, by delivery.
func (n *node) tasksOf(t testing.TB, connector string) (list []abi.Task) {
	t.Helper()
	for after := ""; ; {
		page, err := n.List(t.Context(), n.Root, abi.ObjectTask, desk.Filter{}, desk.Page{Limit: 200, After: after})
		if err != nil {
			t.Fatal(err)
		}
		for _, doc := range page.Docs {
			if task := enginetest.As[abi.Task](t, doc); task.ConnectorID == connector {
				list = append(list, task)
			}
		}
		if after = page.Next; !page.More {
			return list
		}
	}
}

func TestDeliveriesBecomeTasksOnce(t *testing.T) {
	n := newNode(t, enginetest.Guests{"sorter": trapping})
	id := n.connector(t, nil)
	for i := range 50 {
		if got := n.deliver(t, id, strconv.Itoa(i), fmt.Sprintf("thread %d: hello", i%3)); got.Status != intake.DeliveryAccepted || got.ID == "" {
			t.Fatalf("delivery %d: %+v", i, got)
		}
	}
	for i := range 50 {
		if got := n.deliver(t, id, strconv.Itoa(i), "other words"); got.Status != intake.DeliveryDeduped {
			t.Fatalf("delivery %d again: %+v", i, got)
		}
	}
	c := n.settled(t, id)
	if want := (abi.ConnectorCounters{Received: 50, Deduped: 50, Normalized: 50, Tasks: 50}); *c.Counters != want {
		t.Errorf("counters %+v, want %+v", *c.Counters, want)
	}
	sessions := map[string]int{}
	for _, task := range n.tasksOf(t, id) {
		sessions[task.SessionID]++
		if ended := n.Wait(t, task.ID); ended.Status != abi.TaskCompleted || ended.DeliveryID == "" {
			t.Errorf("task %s is %s, of delivery %q", task.ID, ended.Status, ended.DeliveryID)
		}
	}
	if len(sessions) != 3 {
		t.Errorf("%d sessions for 3 threads", len(sessions))
	}
	n.wantSound(t)
}

// A batch with deliveries that the plugin traps at or puts aside loses nothing of the rest.
func TestBadDeliveriesArePutAside(t *testing.T) {
	n := newNode(t, enginetest.Guests{"sorter": trapping})
	id := n.connector(t, nil)
	n.pause(t, id, abi.ConnectorPaused)
	for i := range 300 {
		body := "thread: fine"
		switch i {
		case 7, 133, 299:
			body = "bad"
		case 40:
			body = "sick"
		case 41:
			body = "nothing"
		}
		n.deliver(t, id, strconv.Itoa(i), body)
	}
	if c := enginetest.As[abi.Connector](t, must(n.GetConnector(t.Context(), n.Root, id))); c.Counters.Pending != 300 {
		t.Fatalf("%d are pending while it is paused", c.Counters.Pending)
	}
	n.pause(t, id, abi.ConnectorActive)
	c := n.settled(t, id)
	if want := (abi.ConnectorCounters{Received: 300, Normalized: 296, Tasks: 295, Failed: 4}); *c.Counters != want {
		t.Errorf("counters %+v, want %+v", *c.Counters, want)
	}
	letters, err := n.List(t.Context(), n.Root, abi.ObjectDeadLetter, desk.Filter{}, desk.Page{Limit: 200})
	if err != nil || len(letters.Docs) != 4 {
		t.Fatalf("%d dead letters, %v", len(letters.Docs), err)
	}
	codes := map[string]int{}
	for _, doc := range letters.Docs {
		letter := enginetest.As[abi.DeadLetter](t, doc)
		codes[letter.Failure.Code]++
		d, err := n.Get(t.Context(), n.Root, abi.ObjectDelivery, letter.DeliveryID)
		if err != nil {
			t.Fatal(err)
		}
		if kept := enginetest.As[abi.Delivery](t, d); kept.Text != "bad" && kept.Text != "sick" {
			t.Errorf("the dead letter's delivery says %q", kept.Text)
		}
	}
	if codes[abi.FailurePluginTrap] != 3 || codes["sick"] != 1 {
		t.Errorf("codes %v", codes)
	}
	n.wantSound(t)
}

func (n *node) pause(t testing.TB, id string, to abi.ConnectorStatus) {
	t.Helper()
	if _, err := n.UpdateConnector(t.Context(), n.Root, nil, id, abi.UpdateConnectorRequest{Status: &to}); err != nil {
		t.Fatal(err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// After a power cut at any moment, with any share of what was not synced lost, each
// delivery that was answered has exactly one Task, and each that comes again has none more.
func TestDeliveriesSurvivePowerCuts(t *testing.T) {
	g := enginetest.Guests{"echo": enginetest.Echo, "sorter": trapping}
	n := boot(t, crashtest.NewDisk(), g)
	defer n.Stop(t)
	id := n.connector(t, nil)
	acked := 0
	for step := range 6 {
		for range 5 {
			n.deliver(t, id, strconv.Itoa(acked), "thread: hello")
			acked++
		}
		if step%3 == 0 {
			n.settled(t, id)
		}
		for seed, kept := range []float64{0, 0.5, 1} {
			disk := n.Disk.Crash(uint64(step*3+seed), kept)
			survivor := boot(t, disk, g)
			for i := range acked {
				if got := survivor.deliver(t, id, strconv.Itoa(i), "thread: hello"); got.Status != intake.DeliveryDeduped {
					t.Errorf("step %d: delivery %d was answered, and is taken again", step, i)
				}
			}
			c := survivor.settled(t, id)
			if c.Counters.Tasks != uint64(acked) || c.Counters.Received != uint64(acked) || len(survivor.tasksOf(t, id)) != acked {
				t.Errorf("step %d, %v kept: %d deliveries have %+v, and %d tasks", step, kept, acked, *c.Counters, len(survivor.tasksOf(t, id)))
			}
			survivor.wantSound(t)
			survivor.Stop(t)
		}
	}
}

// More than fits in memory is read from the log, in its order and once.
func TestDeliveriesBeyondMemory(t *testing.T) {
	n := newNode(t, enginetest.Guests{"sorter": trapping}, func(c *engine.Config, _ *engine.Parts) { c.Connectors.InboxBytes = 4000 })
	id := n.connector(t, nil)
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() {
			for i := range 100 {
				n.deliver(t, id, fmt.Sprintf("%d-%d", worker, i), "thread: hello")
			}
		})
	}
	group.Wait()
	c := n.settled(t, id)
	if c.Counters.Tasks != 800 || len(n.tasksOf(t, id)) != 800 {
		t.Errorf("800 deliveries have %d tasks: %+v", len(n.tasksOf(t, id)), *c.Counters)
	}
	if held := n.DeliveryStats().Held; held != 0 {
		t.Errorf("%d bytes are held for nothing", held)
	}
}

// What a Connector had in memory is free for others once it is deleted.
func TestADeletedConnectorHoldsNoMemory(t *testing.T) {
	n := newNode(t, enginetest.Guests{"sorter": trapping})
	id := n.connector(t, nil)
	n.pause(t, id, abi.ConnectorPaused)
	n.deliver(t, id, "1", "thread: hello")
	if n.DeliveryStats().Held == 0 {
		t.Fatal("nothing is remembered")
	}
	if err := n.DeleteConnector(t.Context(), n.Root, nil, id); err != nil {
		t.Fatal(err)
	}
	if held := n.DeliveryStats().Held; held != 0 {
		t.Errorf("%d bytes are held for nothing", held)
	}
}

// A full queue of Tasks makes deliveries wait, and loses none.
func TestDeliveriesWaitForRoom(t *testing.T) {
	n := newNode(t, enginetest.Guests{"sorter": trapping}, func(c *engine.Config, _ *engine.Parts) { c.MaxRunning, c.MaxQueued = 1, 4 })
	id := n.connector(t, nil)
	for i := range 100 {
		n.deliver(t, id, strconv.Itoa(i), "thread: hello")
	}
	if c := n.settled(t, id); c.Counters.Tasks != 100 {
		t.Errorf("%+v", *c.Counters)
	}
	for _, task := range n.tasksOf(t, id) {
		n.Wait(t, task.ID)
	}
}

// Of the Tasks with one order key, one begins when the one before has ended.
func TestOrderedConnectors(t *testing.T) {
	var mu sync.Mutex
	running, order := map[string]int{}, map[string][]string{}
	work := func(ctx context.Context, h sandbox.Host) error {
		_, answer, _ := h.Call(ctx, abi.CallInput, nil)
		var in struct {
			Task struct {
				OrderKey string         `json:"order_key"`
				Input    jsontext.Value `json:"input"`
			} `json:"task"`
		}
		if err := json.Unmarshal(answer, &in); err != nil {
			return err
		}
		mu.Lock()
		running[in.Task.OrderKey]++
		if running[in.Task.OrderKey] > 1 {
			t.Errorf("%d tasks of %s run at once", running[in.Task.OrderKey], in.Task.OrderKey)
		}
		order[in.Task.OrderKey] = append(order[in.Task.OrderKey], string(in.Task.Input))
		mu.Unlock()
		err := enginetest.Echo(ctx, h)
		mu.Lock()
		running[in.Task.OrderKey]--
		mu.Unlock()
		return err
	}
	n := newNode(t, enginetest.Guests{"sorter": trapping, "work": work})
	id := n.connector(t, func(r *abi.CreateConnectorRequest) { r.Ordered, r.TargetPersonaID = true, "persona_work" })
	for i := range 60 {
		n.deliver(t, id, strconv.Itoa(i), fmt.Sprintf("key%d: number %03d", i%4, i))
	}
	n.settled(t, id)
	for _, task := range n.tasksOf(t, id) {
		if n.Wait(t, task.ID).Status != abi.TaskCompleted {
			t.Errorf("task %s did not complete", task.ID)
		}
	}
	for key, list := range order {
		if len(list) != 15 {
			t.Errorf("%s has %d tasks", key, len(list))
		}
		for i := range list[1:] {
			if number(list[i]) >= number(list[i+1]) {
				t.Errorf("%s: %s ran before %s", key, list[i], list[i+1])
			}
		}
	}
}

func number(input string) string {
	_, rest, _ := strings.Cut(input, "number ")
	return rest[:3]
}

// Ordered Tasks keep their order over a restart while the first of them is parked.
func TestOrderSurvivesARestart(t *testing.T) {
	var first atomic.Pointer[string]
	asks := func(ctx context.Context, h sandbox.Host) error {
		_, answer, _ := h.Call(ctx, abi.CallInput, nil)
		if strings.Contains(string(answer), "number 000") {
			if status, _, err := h.Call(ctx, abi.CallInputRequest, []byte(`{"prompt":"go on?"}`)); err != nil || status != abi.CallOK {
				return err
			}
		} else if first.Load() == nil {
			t.Error("a task ran before the one that it follows has ended")
		}
		return enginetest.Echo(ctx, h)
	}
	g := enginetest.Guests{"echo": enginetest.Echo, "sorter": trapping, "asks": asks}
	n := boot(t, crashtest.NewDisk(), g)
	id := n.connector(t, func(r *abi.CreateConnectorRequest) { r.Ordered, r.TargetPersonaID = true, "persona_asks" })
	for i := range 5 {
		n.deliver(t, id, strconv.Itoa(i), fmt.Sprintf("key: number %03d", i))
	}
	n.settled(t, id)
	var waits abi.Task
	for waits.Status != abi.TaskInputRequired {
		for _, task := range n.tasksOf(t, id) {
			if task.Status == abi.TaskInputRequired {
				waits = task
			}
		}
		n.yield(t)
	}
	disk := n.Disk
	n.Stop(t)
	n = boot(t, disk, g)
	defer n.Stop(t)
	first.Store(&waits.ID)
	if _, err := n.AppendTaskMessage(t.Context(), n.Root, nil, waits.ID, abi.AppendTaskMessageRequest{
		Kind: abi.TaskMessageInput, Message: &abi.MessageInput{Role: abi.RoleUser, Parts: []abi.Part{{Type: abi.PartText, Text: new("yes")}}},
	}); err != nil {
		t.Fatal(err)
	}
	for _, task := range n.tasksOf(t, id) {
		if got := n.Wait(t, task.ID); got.Status != abi.TaskCompleted {
			t.Errorf("task %s is %s", task.ID, got.Status)
		}
	}
}

func TestHooks(t *testing.T) {
	secret := []byte("a secret that nobody guesses")
	n := newNode(t, enginetest.Guests{"sorter": trapping}, func(_ *engine.Config, p *engine.Parts) {
		p.NodeSecret = func(context.Context, *abi.Connector, string) ([]byte, error) { return secret, nil }
	})
	id := n.connector(t, func(r *abi.CreateConnectorRequest) {
		r.Provider, r.Webhook, r.Auth = "github", &abi.Webhook{Enabled: true}, &abi.WebhookAuth{Secrets: []string{"hook"}}
	})
	path := enginetest.As[abi.Connector](t, must(n.GetConnector(t.Context(), n.Root, id))).Webhook.Path
	token, ok := strings.CutPrefix(path, "/hooks/")
	if !ok || len(token) < 43 {
		t.Fatalf("the path is %q", path)
	}
	body := []byte(`{"zen":"keep it logically awesome"}`)
	mac := hmac.New(sha256.New, secret)
	mac.Write(body)
	signed := headers{"X-GitHub-Delivery": "1", "X-Hub-Signature-256": "sha256=" + hex.EncodeToString(mac.Sum(nil)), "Authorization": "Bearer canary"}
	hook := func(token string, h headers) (intake.Received, error) {
		return n.ReceiveHook(t.Context(), token, &intake.Incoming{Method: http.MethodPost, Header: h, Body: body})
	}
	for name, c := range map[string]struct {
		token string
		h     headers
		code  abi.ErrorCode
	}{
		"unsigned":      {token, headers{"X-GitHub-Delivery": "1"}, abi.CodeUnauthenticated},
		"forged":        {token, headers{"X-GitHub-Delivery": "1", "X-Hub-Signature-256": "sha256=" + strings.Repeat("0", 64)}, abi.CodeUnauthenticated},
		"another token": {token[1:] + "A", signed, abi.CodeResourceNotFound},
	} {
		if _, err := hook(c.token, c.h); codeOf(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got, err := hook(token, signed); err != nil || got.Status != intake.DeliveryAccepted || got.DeliveryID != "1" {
		t.Fatalf("%+v, %v", got, err)
	}
	if c := n.settled(t, id); c.Counters.Rejected != 2 || c.Counters.Received != 1 {
		t.Errorf("counters %+v", *c.Counters)
	}
	n.pause(t, id, abi.ConnectorDisabled)
	if _, err := hook(token, signed); codeOf(err) != abi.CodeResourceNotFound {
		t.Errorf("a disabled connector answers %v", err)
	}
	events, _, err := n.Events(t.Context(), n.Root, desk.Filter{}, 0, 200)
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range events {
		if strings.Contains(string(ev.Record().Payload), "canary") {
			t.Error("a credential is in the log")
		}
	}
}

func codeOf(err error) abi.ErrorCode {
	if own, ok := err.(*abi.Error); ok {
		return own.Code
	}
	return ""
}

func TestConnectorLife(t *testing.T) {
	n := newNode(t, enginetest.Guests{"sorter": trapping})
	id := n.connector(t, nil)
	reader := *n.Root
	reader.Scopes = []string{"connectors:read"}
	if c := enginetest.As[abi.Connector](t, must(n.GetConnector(t.Context(), &reader, id))); c.Webhook.Path != "" {
		t.Error("a reader is shown the public path")
	}
	failed := abi.ConnectorFailed
	if _, err := n.UpdateConnector(t.Context(), n.Root, nil, id, abi.UpdateConnectorRequest{Status: &failed}); err == nil {
		t.Error("a client makes a connector FAILED")
	}
	n.pause(t, id, abi.ConnectorPaused)
	n.deliver(t, id, "1", "thread: hello")
	if err := n.DeleteConnector(t.Context(), n.Root, nil, id); err != nil {
		t.Fatal(err)
	}
	if _, err := n.GetConnector(t.Context(), n.Root, id); codeOf(err) != abi.CodeResourceNotFound {
		t.Errorf("a deleted connector: %v", err)
	}
	list, err := n.ListConnectors(t.Context(), n.Root, desk.Filter{}, desk.Page{Limit: 10})
	if err != nil || len(list.Docs) != 0 {
		t.Errorf("%d connectors are listed, %v", len(list.Docs), err)
	}
	n.wantSound(t)
}

// A backlog has a limit, and leaves room for other tenants.
func TestBacklogIsBounded(t *testing.T) {
	n := newNode(t, enginetest.Guests{"sorter": trapping}, func(c *engine.Config, _ *engine.Parts) { c.Connectors.Backlog = 8 })
	id := n.connector(t, nil)
	n.pause(t, id, abi.ConnectorPaused)
	for i := range 6 {
		n.deliver(t, id, strconv.Itoa(i), "thread: hello")
	}
	_, err := n.ReceiveDelivery(t.Context(), n.Root, id, &intake.Incoming{Method: http.MethodPost, Header: headers{"webhook-id": "7"}, Body: []byte("x")})
	if codeOf(err) != abi.CodeRateLimited || err.(*abi.Error).RetryAfter == 0 {
		t.Fatalf("a delivery beyond the backlog: %v", err)
	}
	if got := n.deliver(t, id, "1", "thread: hello"); got.Status != intake.DeliveryDeduped {
		t.Errorf("what was taken is %+v", got)
	}
	n.pause(t, id, abi.ConnectorActive)
	n.settled(t, id)
	n.deliver(t, id, "7", "thread: hello")
	if c := n.settled(t, id); c.Counters.Received != 7 {
		t.Errorf("%+v", *c.Counters)
	}
}

// What a poll hands over is taken once, also when the node dies right after.
func TestPolledDeliveriesAreTakenOnce(t *testing.T) {
	hand := func(ctx context.Context, h sandbox.Host) error {
		status, answer, err := h.Call(ctx, abi.CallDeliver, []byte(`{"deliveries":[{"id":"a","text":"thread: a"},{"id":"b","text":"thread: b"},{"id":"a","text":"thread: a"}]}`))
		if err != nil || status != abi.CallOK {
			return fmt.Errorf("connector.deliver: %d %s, %w", status, answer, err)
		}
		return enginetest.Echo(ctx, h)
	}
	g := enginetest.Guests{"echo": enginetest.Echo, "sorter": trapping, "hand": hand}
	n := boot(t, crashtest.NewDisk(), g, withPoll)
	defer n.Stop(t)
	id, session := n.connector(t, nil), n.Session(t)
	poll := func(n *node, at int) string {
		t.Helper()
		task := abi.DerivedID(abi.ObjectTask, time.Unix(int64(at), 0), "poll")
		err := n.Accept(t.Context(), intake.Order{Caller: n.Root, ID: task, ConnectorID: id,
			Request: abi.SubmitTaskRequest{Input: enginetest.Text("poll"), SessionID: session, PersonaID: "persona_poll"}})
		if err != nil {
			t.Fatal(err)
		}
		if ended := n.Wait(t, task); ended.Status != abi.TaskCompleted {
			t.Fatalf("the poll is %s: %v", ended.Status, ended.Failure)
		}
		return task
	}
	poll(n, 1)
	n.settled(t, id)
	disk := n.Disk.Crash(1, 0)
	survivor := boot(t, disk, g, withPoll)
	defer survivor.Stop(t)
	poll(survivor, 2)
	if c := survivor.settled(t, id); c.Counters.Received != 2 || c.Counters.Tasks != 2 {
		t.Errorf("%+v", *c.Counters)
	}
	survivor.wantSound(t)
}

func withPoll(_ *engine.Config, p *engine.Parts) {
	poll := abi.Persona{Name: "poll", Version: "1", EntryWorkflow: "hand", AutonomyTier: abi.TierActAuto, ReceiptPolicy: abi.ReceiptOptional}
	poll.Envelope = abi.NewEnvelope(abi.ObjectPersona, "persona_poll", time.Now(), nil)
	p.Personas = append(p.Personas, poll)
}

// A Task that is no poll has no Connector to hand anything to, and no deliveries.
func TestTasksHaveNoDeliveries(t *testing.T) {
	statuses := map[string]abi.CallStatus{}
	n := newNode(t, enginetest.Guests{"asks": func(ctx context.Context, h sandbox.Host) error {
		for _, call := range []string{abi.CallDeliveries, abi.CallNormalized, abi.CallDeliver} {
			statuses[call], _, _ = h.Call(ctx, call, []byte(`{}`))
		}
		return enginetest.Echo(ctx, h)
	}})
	if ended := n.Wait(t, n.Submit(t, n.Session(t), "persona_asks")); ended.Status != abi.TaskCompleted {
		t.Fatalf("it is %s: %v", ended.Status, ended.Failure)
	}
	want := map[string]abi.CallStatus{abi.CallDeliveries: abi.CallNotFound, abi.CallNormalized: abi.CallDenied, abi.CallDeliver: abi.CallNotFound}
	if !maps.Equal(statuses, want) {
		t.Errorf("%v, want %v", statuses, want)
	}
}
