package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/eventstest"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/receipt"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/runtime/tenancy"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/pebble"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

const rootKey = "a-root-key-for-tests"

// guests are plugins written in Go: they speak to the host as a module would.
type guests map[string]func(ctx context.Context, h sandbox.Host) error

// digestOf stands for the digest of a guest that is no module.
func digestOf(name string) string { return journal.HashOf([]byte(name)) }

func (g guests) Resolve(_ context.Context, name string) (string, error) {
	if g[name] == nil {
		return "", &abi.Failure{Code: abi.FailurePluginMissing, Message: "no plugin " + name}
	}
	return digestOf(name), nil
}

func (g guests) ModuleAt(_ context.Context, digest string) (Module, error) {
	for name, f := range g {
		if digestOf(name) == digest {
			return guest(f), nil
		}
	}
	return nil, &abi.Failure{Code: abi.FailurePluginMissing, Message: "no module " + digest}
}

// Wasm returns what has the guest's digest.
func (g guests) Wasm(_ context.Context, digest string) ([]byte, error) {
	for name := range g {
		if digestOf(name) == digest {
			return []byte(name), nil
		}
	}
	return nil, &abi.Failure{Code: abi.FailurePluginMissing, Message: "no module " + digest}
}

type guest func(ctx context.Context, h sandbox.Host) error

func (guest) HasExport(name string) bool { return name == abi.DefaultExport }

func (g guest) Run(ctx context.Context, _ string, h sandbox.Host, _ sandbox.Limits) (sandbox.Usage, error) {
	return sandbox.Usage{HostCalls: 1}, g(ctx, h)
}

// echo answers with a Message.
func echo(ctx context.Context, h sandbox.Host) error {
	status, _, _ := h.Call(ctx, abi.CallMessageAppend, []byte(`{"role":"assistant","parts":[{"type":"text","text":"hello"}]}`))
	if status != abi.CallOK {
		return fmt.Errorf("message.append: status %d", status)
	}
	status, _, _ = h.Call(ctx, abi.CallOutput, []byte(`{"summary":"said hello"}`))
	if status != abi.CallOK {
		return fmt.Errorf("output: status %d", status)
	}
	return nil
}

// holding returns a guest that runs until it is let go or stopped.
func holding() (g func(context.Context, sandbox.Host) error, entered chan struct{}, leave chan struct{}) {
	entered, leave = make(chan struct{}, 100), make(chan struct{})
	return func(ctx context.Context, h sandbox.Host) error {
		entered <- struct{}{}
		select {
		case <-leave:
			return echo(ctx, h)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}, entered, leave
}

// node is an engine on a disk in memory.
type node struct {
	*Engine
	disk  *crashtest.Disk
	store *pebble.Store
	root  *desk.Caller

	forged bool // the log holds events that no node wrote
}

func personasOf(names guests) (list []abi.Persona) {
	for name := range names {
		list = append(list, abi.Persona{
			Envelope: abi.Envelope{ID: "persona_" + name}, Name: name, Version: "1", EntryWorkflow: name,
			Description: name, AutonomyTier: abi.TierActAuto, ReceiptPolicy: abi.ReceiptOptional,
		})
	}
	return list
}

// boot opens a node on a disk; a second one on the same disk stands for a restart.
func boot(t testing.TB, disk *crashtest.Disk, g guests, configure ...func(*Config, *Parts)) *node {
	t.Helper()
	store, err := disk.Open()
	if err != nil {
		t.Fatal(err)
	}
	config := Config{DefaultPersona: "persona_echo"}
	keys, err := receipt.OpenKeyring(t.TempDir(), "test", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	parts := Parts{Keys: keys, Store: store, Modules: g, Personas: personasOf(g), Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))}
	for _, f := range configure {
		f(&config, &parts)
	}
	e, err := New(config, parts)
	if err != nil {
		t.Fatal(err)
	}
	n := &node{Engine: e, disk: disk, store: store}
	ctx := context.Background()
	if _, err := e.Bootstrap(ctx, rootKey); err != nil {
		t.Fatal(err)
	}
	if err := e.Start(ctx); err != nil {
		t.Fatal(err)
	}
	if n.root, err = e.Authenticate(ctx, rootKey); err != nil {
		t.Fatal(err)
	}
	return n
}

// stop ends a node cleanly.
func (n *node) stop(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := n.Drain(ctx); err != nil {
		t.Fatal(err)
	}
	if !n.forged {
		n.checkEvents(t)
	}
	if err := n.store.Close(); err != nil {
		t.Fatal(err)
	}
}

func newNode(t testing.TB, g guests, configure ...func(*Config, *Parts)) *node {
	t.Helper()
	if g["echo"] == nil {
		g["echo"] = echo
	}
	n := boot(t, crashtest.NewDisk(), g, configure...)
	t.Cleanup(func() { n.stop(t) })
	return n
}

func (n *node) session(t testing.TB) string {
	t.Helper()
	doc, err := n.CreateSession(t.Context(), n.root, nil, abi.CreateSessionRequest{WorkspaceID: tenancy.DefaultWorkspace})
	if err != nil {
		t.Fatal(err)
	}
	return doc.ID
}

func text(s string) jsontext.Value {
	return jsontext.Value(`{"role":"user","parts":[{"type":"text","text":"` + s + `"}]}`)
}

func (n *node) submit(t testing.TB, session, persona string) string {
	t.Helper()
	doc, err := n.SubmitTask(t.Context(), n.root, nil, abi.SubmitTaskRequest{SessionID: session, PersonaID: persona, Input: text("hi")})
	if err != nil {
		t.Fatal(err)
	}
	return doc.ID
}

func (n *node) wait(t testing.TB, id string) abi.Task {
	t.Helper()
	doc, err := n.WaitTask(t.Context(), n.root, id)
	if err != nil {
		t.Fatal(err)
	}
	return as[abi.Task](t, doc)
}

func as[T any](t testing.TB, doc desk.Doc) (v T) {
	t.Helper()
	if err := json.Unmarshal(doc.JSON, &v); err != nil {
		t.Fatalf("%v: %s", err, doc.JSON)
	}
	return v
}

// kinds lists the events of a stream.
func (n *node) kinds(t testing.TB, f desk.Filter) (kinds []string) {
	t.Helper()
	events, more, err := n.Events(t.Context(), n.root, f, 0, 1000)
	if err != nil || more {
		t.Fatal(err, more)
	}
	for _, ev := range events {
		kinds = append(kinds, string(ev.Record().Kind))
	}
	return kinds
}

func wantCode(t testing.TB, err error, code abi.ErrorCode) *abi.Error {
	t.Helper()
	var own *abi.Error
	if !errors.As(err, &own) || own.Code != code {
		t.Fatalf("error %v, want %s", err, code)
	}
	return own
}

func TestTaskRuns(t *testing.T) {
	n := newNode(t, guests{})
	session := n.session(t)
	id := n.submit(t, session, "")
	task := n.wait(t, id)
	if task.Status != abi.TaskCompleted || task.OutcomeID == "" || task.StartedAt.IsZero() || task.CompletedAt.IsZero() {
		t.Fatalf("%+v", task)
	}
	want := "user.message task.submitted task.started agent.message vendor.wharf.call vendor.wharf.outcome_created receipt.issued task.completed"
	if got := strings.Join(n.kinds(t, desk.Filter{TaskID: id}), " "); got != want {
		t.Errorf("events\n%s, want\n%s", got, want)
	}
	outcome, err := n.Get(t.Context(), n.root, abi.ObjectOutcome, task.OutcomeID)
	if err != nil {
		t.Fatal(err)
	}
	o := as[abi.Outcome](t, outcome)
	if o.Status != abi.OutcomeSucceeded || o.Summary != "said hello" || len(o.Messages) != 1 || o.TaskID != id {
		t.Errorf("%+v", o)
	}
	messages, err := n.Messages(t.Context(), n.root, session, desk.Page{Limit: 10})
	if err != nil || len(messages.Docs) != 2 {
		t.Fatalf("%d messages, %v", len(messages.Docs), err)
	}
}

// Every way to show a Task shows its input, which the log holds once.
func TestTaskInputIsShownEverywhere(t *testing.T) {
	hold, entered, leave := holding()
	n := newNode(t, guests{"hold": hold})
	session := n.session(t)
	large := strings.Repeat("x", MaxInputInMemory)
	for name, input := range map[string]jsontext.Value{
		"message":       text("question"),
		"json":          jsontext.Value(`{"question":"why"}`),
		"large message": text(large),
		"large json":    jsontext.Value(`{"text":"` + large + `"}`),
	} {
		t.Run(name, func(t *testing.T) {
			check := func(where string, doc desk.Doc, err error) {
				t.Helper()
				if err != nil {
					t.Fatal(where, err)
				}
				got := as[abi.Task](t, doc).Input
				if got == nil || !strings.Contains(string(got), "question") && !strings.Contains(string(got), large) {
					t.Fatalf("%s: input %.80s", where, got)
				}
			}
			doc, err := n.SubmitTask(t.Context(), n.root, nil, abi.SubmitTaskRequest{SessionID: session, PersonaID: "persona_hold", Input: input})
			check("submit", doc, err)
			<-entered
			running, err := n.Get(t.Context(), n.root, abi.ObjectTask, doc.ID)
			check("get while running", running, err)
			leave <- struct{}{}
			ended, err := n.WaitTask(t.Context(), n.root, doc.ID)
			check("wait", ended, err)
			again, err := n.Get(t.Context(), n.root, abi.ObjectTask, doc.ID)
			check("get", again, err)
			list, err := n.List(t.Context(), n.root, abi.ObjectTask, desk.Filter{SessionID: session}, desk.Page{Limit: 1})
			check("list", list.Docs[0], err)
		})
	}
}

func TestGuestSeesItsInput(t *testing.T) {
	var mu sync.Mutex
	var seen abi.CallInputAnswer
	n := newNode(t, guests{"look": func(ctx context.Context, h sandbox.Host) error {
		_, answer, _ := h.Call(ctx, abi.CallInput, nil)
		mu.Lock()
		defer mu.Unlock()
		return json.Unmarshal(answer, &seen)
	}})
	session := n.session(t)
	id := n.submit(t, session, "persona_look")
	if task := n.wait(t, id); task.Status != abi.TaskCompleted {
		t.Fatalf("%+v", task.Failure)
	}
	mu.Lock()
	defer mu.Unlock()
	if seen.Task.ID != id || seen.Persona.ID != "persona_look" || seen.Task.Status != abi.TaskSubmitted || !strings.Contains(string(seen.Task.Input), "hi") {
		t.Errorf("%+v", seen)
	}
}

func TestFailures(t *testing.T) {
	n := newNode(t, guests{
		"trap": func(context.Context, sandbox.Host) error {
			return &abi.Failure{Code: abi.FailurePluginTrap, Message: "unreachable"}
		},
		"broken": func(context.Context, sandbox.Host) error { return errors.New("disk on fire") },
		"says": func(ctx context.Context, h sandbox.Host) error {
			h.Call(ctx, abi.CallOutput, []byte(`{"summary":"no","failure":{"code":"bad_document","message":"no text"}}`))
			return nil
		},
		"saysandexits": func(ctx context.Context, h sandbox.Host) error {
			h.Call(ctx, abi.CallOutput, []byte(`{"failure":{"code":"bad_document","message":"no text"}}`))
			return &abi.Failure{Code: abi.FailurePluginError, Message: "returned 1"}
		},
		"partial": func(ctx context.Context, h sandbox.Host) error {
			h.Call(ctx, abi.CallMessageAppend, []byte(`{"role":"assistant","parts":[]}`))
			return &abi.Failure{Code: abi.FailurePluginTimeout, Message: "too slow"}
		},
	}, func(_ *Config, p *Parts) {
		p.Personas = append(p.Personas, abi.Persona{Envelope: abi.Envelope{ID: "persona_ghost"}, AutonomyTier: abi.TierActAuto, EntryWorkflow: "ghost"},
			abi.Persona{Envelope: abi.Envelope{ID: "persona_export"}, AutonomyTier: abi.TierActAuto, EntryWorkflow: "echo#other"})
	})
	session := n.session(t)
	for persona, code := range map[string]string{
		"trap": abi.FailurePluginTrap, "broken": abi.FailureHost, "says": "bad_document", "saysandexits": "bad_document",
		"partial": abi.FailurePluginTimeout, "ghost": abi.FailurePluginMissing, "export": abi.FailurePluginMissing,
	} {
		task := n.wait(t, n.submit(t, session, "persona_"+persona))
		if task.Status != abi.TaskFailed || task.Failure == nil || task.Failure.Code != code {
			t.Errorf("%s: %s %+v, want %s", persona, task.Status, task.Failure, code)
		}
		if strings.Contains(fmt.Sprint(task.Failure), "disk on fire") {
			t.Errorf("%s: the host's own error reached a client", persona)
		}
		outcome, err := n.Get(t.Context(), n.root, abi.ObjectOutcome, task.OutcomeID)
		if err != nil || as[abi.Outcome](t, outcome).Status != abi.OutcomeFailed {
			t.Errorf("%s: outcome %s, %v", persona, outcome.JSON, err)
		}
	}
	if n.wait(t, n.submit(t, session, "")).Status != abi.TaskCompleted {
		t.Error("a good task after the bad ones did not complete")
	}
}

func TestCancel(t *testing.T) {
	hold, entered, leave := holding()
	stubborn := make(chan struct{})
	n := newNode(t, guests{
		"hold": hold,
		"stubborn": func(ctx context.Context, h sandbox.Host) error { // answers although it was stopped
			entered <- struct{}{}
			<-stubborn
			return echo(ctx, h)
		},
	}, func(c *Config, _ *Parts) { c.MaxRunning = 1 })
	session := n.session(t)
	running := n.submit(t, session, "persona_hold")
	<-entered
	waiting := n.submit(t, session, "persona_hold")

	for name, id := range map[string]string{"waiting": waiting, "running": running} {
		doc, err := n.CancelTask(t.Context(), n.root, nil, id, abi.CancelTaskRequest{Reason: "enough"})
		if err != nil {
			t.Fatal(name, err)
		}
		if task := as[abi.Task](t, doc); task.Status != abi.TaskCanceled || task.CanceledAt.IsZero() || task.Input == nil {
			t.Errorf("%s: %+v", name, task)
		}
		_, err = n.CancelTask(t.Context(), n.root, nil, id, abi.CancelTaskRequest{})
		wantCode(t, err, abi.CodeConflict)
	}
	close(leave)

	id := n.submit(t, session, "persona_stubborn")
	<-entered
	if _, err := n.CancelTask(t.Context(), n.root, nil, id, abi.CancelTaskRequest{}); err != nil {
		t.Fatal(err)
	}
	close(stubborn)
	n.wait(t, n.submit(t, session, "")) // the stubborn guest has ended by now: one runs at a time
	if task := n.wait(t, id); task.Status != abi.TaskCanceled {
		t.Errorf("CANCELED was replaced by %s", task.Status)
	}
	if kinds := n.kinds(t, desk.Filter{TaskID: id}); kinds[len(kinds)-1] != string(abi.EventTaskCanceled) {
		t.Errorf("something followed the cancel: %v", kinds)
	}
}

func TestQueueIsBounded(t *testing.T) {
	hold, entered, leave := holding()
	n := newNode(t, guests{"hold": hold}, func(c *Config, _ *Parts) { c.MaxRunning, c.MaxQueued = 1, 4 })
	session := n.session(t)
	n.submit(t, session, "persona_hold")
	<-entered
	for range 3 {
		n.submit(t, session, "persona_hold")
	}
	before := n.store.Watermark()
	_, err := n.SubmitTask(t.Context(), n.root, nil, abi.SubmitTaskRequest{SessionID: session, PersonaID: "persona_hold", Input: text("hi")})
	if refused := wantCode(t, err, abi.CodeRateLimited); refused.RetryAfter == 0 {
		t.Error("the refusal does not say when to try again")
	}
	if n.store.Watermark() != before {
		t.Error("a refused task left something in the log")
	}
	close(leave)
}

// A deadline ends a Task to the nanosecond, whether it runs or waits; one that
// has ended before it is left alone.
func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold, entered, leave := holding()
		n := newNode(t, guests{"hold": hold}, func(c *Config, _ *Parts) { c.MaxRunning = 1 })
		session := n.session(t)
		submit := func(seconds float64) string {
			t.Helper()
			doc, err := n.SubmitTask(t.Context(), n.root, nil, abi.SubmitTaskRequest{
				SessionID: session, PersonaID: "persona_hold", Input: text("hi"), DeadlineSeconds: seconds})
			if err != nil {
				t.Fatal(err)
			}
			return doc.ID
		}
		began := time.Now()
		running, waiting, early := submit(60), submit(90), submit(3600)
		<-entered
		for id, after := range map[string]time.Duration{running: time.Minute, waiting: 90 * time.Second} {
			task := n.wait(t, id)
			if task.Status != abi.TaskFailed || task.Failure.Code != abi.FailureDeadline {
				t.Errorf("%s %+v", task.Status, task.Failure)
			}
			if took := task.CompletedAt.Sub(began); took != after {
				t.Errorf("it failed after %s, want %s", took, after)
			}
		}
		close(leave)
		n.wait(t, early)
		time.Sleep(2 * time.Hour) // on the bubble's clock
		if task := n.wait(t, early); task.Status != abi.TaskCompleted {
			t.Errorf("a task that had ended was %s by its deadline", task.Status)
		}
	})
}

func TestDrainLeavesTasksResumable(t *testing.T) {
	hold, entered, leave := holding()
	g := guests{"echo": echo, "hold": hold}
	n := boot(t, crashtest.NewDisk(), g, func(c *Config, _ *Parts) { c.MaxRunning = 1 })
	session := n.session(t)
	running := n.submit(t, session, "persona_hold")
	<-entered
	waiting := n.submit(t, session, "")
	n.stop(t) // the drain's time is up at once

	_, err := n.SubmitTask(t.Context(), n.root, nil, abi.SubmitTaskRequest{SessionID: session, Input: text("hi")})
	wantCode(t, err, abi.CodeServiceUnavailable)

	close(leave)
	again := boot(t, n.disk, g)
	defer again.stop(t)
	for _, id := range []string{running, waiting} {
		if task := again.wait(t, id); task.Status != abi.TaskCompleted {
			t.Errorf("after the restart: %s %+v", task.Status, task.Failure)
		}
	}
	if task := again.wait(t, running); task.Attempt != 2 {
		t.Errorf("attempt %d, want 2", task.Attempt)
	}
	messages, err := again.Messages(t.Context(), again.root, session, desk.Page{Limit: 10})
	if err != nil || len(messages.Docs) != 4 {
		t.Errorf("%d messages, want 2 questions and 2 answers (%v)", len(messages.Docs), err)
	}
}

func TestAttemptsAreBounded(t *testing.T) {
	for _, most := range []int{1, 2, 3, 5} {
		hold, entered, _ := holding()
		g := guests{"echo": echo, "hold": hold}
		attempts := func(c *Config, _ *Parts) { c.MaxAttempts = most }
		n := boot(t, crashtest.NewDisk(), g, attempts)
		id := n.submit(t, n.session(t), "persona_hold")
		<-entered
		for range most - 1 {
			n = n.die(t, g, attempts)
			<-entered
		}
		n = n.die(t, g, attempts)
		task := n.wait(t, id)
		if task.Status != abi.TaskFailed || task.Failure.Code != abi.FailureAttempts || task.Attempt != most || strings.Contains(task.Failure.Message, "alone") != (most > 1) {
			t.Errorf("of %d: %s %+v after %d", most, task.Status, task.Failure, task.Attempt)
		}
		n.stop(t)
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	hold, entered, leave := holding()
	n := newNode(t, guests{"hold": hold})
	id := n.submit(t, n.session(t), "persona_hold")
	<-entered
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	doc, err := n.WaitTask(ctx, n.root, id)
	if err != nil || as[abi.Task](t, doc).Status != abi.TaskWorking {
		t.Errorf("%s %v", doc.JSON, err)
	}
	close(leave)
}

// theChecker is one for all nodes: to read the schemas takes longer than most tests.
var theChecker = sync.OnceValues(eventstest.NewChecker)

// checkEvents holds every event of a node that ends against its documentation.
func (n *node) checkEvents(t testing.TB) {
	t.Helper()
	checker, err := theChecker()
	if err != nil {
		t.Fatal(err)
	}
	for _, tenant := range n.Tenants().All() {
		for after, more := storage.Position(0), true; more; {
			var page []storage.Event
			if page, more, err = n.store.Events(context.Background(), storage.Tenant(tenant.Number), storage.Scope{}, after, 200); err != nil {
				return // a test has damaged it
			}
			for _, ev := range page {
				after = ev.Position()
				rec, states := ev.Record(), abi.Object("")
				if rec.State != nil {
					states = rec.Resource.Object
				}
				if err := checker.Check(rec.Kind, states, rec.Payload); err != nil {
					t.Errorf("event %s: %v", after, err)
					return
				}
			}
		}
	}
}
