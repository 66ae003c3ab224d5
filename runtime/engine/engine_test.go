package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// node is an engine on a disk in memory, and what these tests ask of it.
type node struct{ *enginetest.Node }

func newNode(t testing.TB, g enginetest.Guests, configure ...enginetest.Configure) *node {
	t.Helper()
	return &node{enginetest.New(t, g, configure...)}
}

// boot opens a node on a disk; a second one on the same disk stands for a restart.
func boot(t testing.TB, disk *crashtest.Disk, g enginetest.Guests, configure ...enginetest.Configure) *node {
	t.Helper()
	return &node{enginetest.Boot(t, disk, g, configure...)}
}

func TestTaskRuns(t *testing.T) {
	n := newNode(t, enginetest.Guests{})
	session := n.Session(t)
	id := n.Submit(t, session, "")
	task := n.Wait(t, id)
	if task.Status != abi.TaskCompleted || task.OutcomeID == "" || task.StartedAt.IsZero() || task.CompletedAt.IsZero() {
		t.Fatalf("%+v", task)
	}
	want := "user.message task.submitted task.started agent.message vendor.wharf.call vendor.wharf.outcome_created receipt.issued task.completed"
	if got := strings.Join(n.Kinds(t, desk.Filter{TaskID: id}), " "); got != want {
		t.Errorf("events\n%s, want\n%s", got, want)
	}
	outcome, err := n.Get(t.Context(), n.Root, abi.ObjectOutcome, task.OutcomeID)
	if err != nil {
		t.Fatal(err)
	}
	o := enginetest.As[abi.Outcome](t, outcome)
	if o.Status != abi.OutcomeSucceeded || o.Summary != "said hello" || len(o.Messages) != 1 || o.TaskID != id {
		t.Errorf("%+v", o)
	}
	messages, err := n.Messages(t.Context(), n.Root, session, desk.Page{Limit: 10})
	if err != nil || len(messages.Docs) != 2 {
		t.Fatalf("%d messages, %v", len(messages.Docs), err)
	}
}

// Every way to show a Task shows its input, which the log holds once.
func TestTaskInputIsShownEverywhere(t *testing.T) {
	hold, entered, leave := enginetest.Holding()
	n := newNode(t, enginetest.Guests{"hold": hold})
	session := n.Session(t)
	large := strings.Repeat("x", engine.MaxInputInMemory)
	for name, input := range map[string]jsontext.Value{
		"message":       enginetest.Text("question"),
		"json":          jsontext.Value(`{"question":"why"}`),
		"large message": enginetest.Text(large),
		"large json":    jsontext.Value(`{"text":"` + large + `"}`),
	} {
		t.Run(name, func(t *testing.T) {
			check := func(where string, doc desk.Doc, err error) {
				t.Helper()
				if err != nil {
					t.Fatal(where, err)
				}
				got := enginetest.As[abi.Task](t, doc).Input
				if got == nil || !strings.Contains(string(got), "question") && !strings.Contains(string(got), large) {
					t.Fatalf("%s: input %.80s", where, got)
				}
			}
			doc, err := n.SubmitTask(t.Context(), n.Root, nil, abi.SubmitTaskRequest{SessionID: session, PersonaID: "persona_hold", Input: input})
			check("submit", doc, err)
			<-entered
			running, err := n.Get(t.Context(), n.Root, abi.ObjectTask, doc.ID)
			check("get while running", running, err)
			leave <- struct{}{}
			ended, err := n.WaitTask(t.Context(), n.Root, doc.ID)
			check("wait", ended, err)
			again, err := n.Get(t.Context(), n.Root, abi.ObjectTask, doc.ID)
			check("get", again, err)
			list, err := n.List(t.Context(), n.Root, abi.ObjectTask, desk.Filter{SessionID: session}, desk.Page{Limit: 1})
			check("list", list.Docs[0], err)
		})
	}
}

func TestGuestSeesItsInput(t *testing.T) {
	var mu sync.Mutex
	var seen abi.CallInputAnswer
	n := newNode(t, enginetest.Guests{"look": func(ctx context.Context, h sandbox.Host) error {
		_, answer, _ := h.Call(ctx, abi.CallInput, nil)
		mu.Lock()
		defer mu.Unlock()
		return json.Unmarshal(answer, &seen)
	}})
	session := n.Session(t)
	id := n.Submit(t, session, "persona_look")
	if task := n.Wait(t, id); task.Status != abi.TaskCompleted {
		t.Fatalf("%+v", task.Failure)
	}
	mu.Lock()
	defer mu.Unlock()
	if seen.Task.ID != id || seen.Persona.ID != "persona_look" || seen.Task.Status != abi.TaskSubmitted || !strings.Contains(string(seen.Task.Input), "hi") {
		t.Errorf("%+v", seen)
	}
}

func TestFailures(t *testing.T) {
	n := newNode(t, enginetest.Guests{
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
	}, func(_ *engine.Config, p *engine.Parts) {
		p.Personas = append(p.Personas, abi.Persona{Envelope: abi.Envelope{ID: "persona_ghost"}, AutonomyTier: abi.TierActAuto, EntryWorkflow: "ghost"},
			abi.Persona{Envelope: abi.Envelope{ID: "persona_export"}, AutonomyTier: abi.TierActAuto, EntryWorkflow: "echo#other"})
	})
	session := n.Session(t)
	for persona, code := range map[string]string{
		"trap": abi.FailurePluginTrap, "broken": abi.FailureHost, "says": "bad_document", "saysandexits": "bad_document",
		"partial": abi.FailurePluginTimeout, "ghost": abi.FailurePluginMissing, "export": abi.FailurePluginMissing,
	} {
		task := n.Wait(t, n.Submit(t, session, "persona_"+persona))
		if task.Status != abi.TaskFailed || task.Failure == nil || task.Failure.Code != code {
			t.Errorf("%s: %s %+v, want %s", persona, task.Status, task.Failure, code)
		}
		if strings.Contains(fmt.Sprint(task.Failure), "disk on fire") {
			t.Errorf("%s: the host's own error reached a client", persona)
		}
		outcome, err := n.Get(t.Context(), n.Root, abi.ObjectOutcome, task.OutcomeID)
		if err != nil || enginetest.As[abi.Outcome](t, outcome).Status != abi.OutcomeFailed {
			t.Errorf("%s: outcome %s, %v", persona, outcome.JSON, err)
		}
	}
	if n.Wait(t, n.Submit(t, session, "")).Status != abi.TaskCompleted {
		t.Error("a good task after the bad ones did not complete")
	}
}

func TestCancel(t *testing.T) {
	hold, entered, leave := enginetest.Holding()
	stubborn := make(chan struct{})
	n := newNode(t, enginetest.Guests{
		"hold": hold,
		"stubborn": func(ctx context.Context, h sandbox.Host) error { // answers although it was stopped
			entered <- struct{}{}
			<-stubborn
			return enginetest.Echo(ctx, h)
		},
	}, func(c *engine.Config, _ *engine.Parts) { c.MaxRunning = 1 })
	session := n.Session(t)
	running := n.Submit(t, session, "persona_hold")
	<-entered
	waiting := n.Submit(t, session, "persona_hold")

	for name, id := range map[string]string{"waiting": waiting, "running": running} {
		doc, err := n.CancelTask(t.Context(), n.Root, nil, id, abi.CancelTaskRequest{Reason: "enough"})
		if err != nil {
			t.Fatal(name, err)
		}
		if task := enginetest.As[abi.Task](t, doc); task.Status != abi.TaskCanceled || task.CanceledAt.IsZero() || task.Input == nil {
			t.Errorf("%s: %+v", name, task)
		}
		_, err = n.CancelTask(t.Context(), n.Root, nil, id, abi.CancelTaskRequest{})
		enginetest.WantCode(t, err, abi.CodeConflict)
	}
	close(leave)

	id := n.Submit(t, session, "persona_stubborn")
	<-entered
	if _, err := n.CancelTask(t.Context(), n.Root, nil, id, abi.CancelTaskRequest{}); err != nil {
		t.Fatal(err)
	}
	close(stubborn)
	n.Wait(t, n.Submit(t, session, "")) // the stubborn guest has ended by now: one runs at a time
	if task := n.Wait(t, id); task.Status != abi.TaskCanceled {
		t.Errorf("CANCELED was replaced by %s", task.Status)
	}
	if kinds := n.Kinds(t, desk.Filter{TaskID: id}); kinds[len(kinds)-1] != string(abi.EventTaskCanceled) {
		t.Errorf("something followed the cancel: %v", kinds)
	}
}

func TestQueueIsBounded(t *testing.T) {
	hold, entered, leave := enginetest.Holding()
	n := newNode(t, enginetest.Guests{"hold": hold}, func(c *engine.Config, _ *engine.Parts) { c.MaxRunning, c.MaxQueued = 1, 4 })
	session := n.Session(t)
	n.Submit(t, session, "persona_hold")
	<-entered
	for range 3 {
		n.Submit(t, session, "persona_hold")
	}
	before := n.Store.Watermark()
	_, err := n.SubmitTask(t.Context(), n.Root, nil, abi.SubmitTaskRequest{SessionID: session, PersonaID: "persona_hold", Input: enginetest.Text("hi")})
	if refused := enginetest.WantCode(t, err, abi.CodeRateLimited); refused.RetryAfter == 0 {
		t.Error("the refusal does not say when to try again")
	}
	if n.Store.Watermark() != before {
		t.Error("a refused task left something in the log")
	}
	close(leave)
}

// A deadline ends a Task to the nanosecond, whether it runs or waits; one that
// has ended before it is left alone.
func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold, entered, leave := enginetest.Holding()
		n := newNode(t, enginetest.Guests{"hold": hold}, func(c *engine.Config, _ *engine.Parts) { c.MaxRunning = 1 })
		session := n.Session(t)
		submit := func(seconds float64) string {
			t.Helper()
			doc, err := n.SubmitTask(t.Context(), n.Root, nil, abi.SubmitTaskRequest{
				SessionID: session, PersonaID: "persona_hold", Input: enginetest.Text("hi"), DeadlineSeconds: seconds})
			if err != nil {
				t.Fatal(err)
			}
			return doc.ID
		}
		began := time.Now()
		running, waiting, early := submit(60), submit(90), submit(3600)
		<-entered
		for id, after := range map[string]time.Duration{running: time.Minute, waiting: 90 * time.Second} {
			task := n.Wait(t, id)
			if task.Status != abi.TaskFailed || task.Failure.Code != abi.FailureDeadline {
				t.Errorf("%s %+v", task.Status, task.Failure)
			}
			if took := task.CompletedAt.Sub(began); took != after {
				t.Errorf("it failed after %s, want %s", took, after)
			}
		}
		close(leave)
		n.Wait(t, early)
		time.Sleep(2 * time.Hour) // on the bubble's clock
		if task := n.Wait(t, early); task.Status != abi.TaskCompleted {
			t.Errorf("a task that had ended was %s by its deadline", task.Status)
		}
	})
}

func TestDrainLeavesTasksResumable(t *testing.T) {
	hold, entered, leave := enginetest.Holding()
	g := enginetest.Guests{"echo": enginetest.Echo, "hold": hold}
	n := boot(t, crashtest.NewDisk(), g, func(c *engine.Config, _ *engine.Parts) { c.MaxRunning = 1 })
	session := n.Session(t)
	running := n.Submit(t, session, "persona_hold")
	<-entered
	waiting := n.Submit(t, session, "")
	n.Stop(t) // the drain's time is up at once

	_, err := n.SubmitTask(t.Context(), n.Root, nil, abi.SubmitTaskRequest{SessionID: session, Input: enginetest.Text("hi")})
	enginetest.WantCode(t, err, abi.CodeServiceUnavailable)

	close(leave)
	again := boot(t, n.Disk, g)
	defer again.Stop(t)
	for _, id := range []string{running, waiting} {
		if task := again.Wait(t, id); task.Status != abi.TaskCompleted {
			t.Errorf("after the restart: %s %+v", task.Status, task.Failure)
		}
	}
	if task := again.Wait(t, running); task.Attempt != 2 {
		t.Errorf("attempt %d, want 2", task.Attempt)
	}
	messages, err := again.Messages(t.Context(), again.Root, session, desk.Page{Limit: 10})
	if err != nil || len(messages.Docs) != 4 {
		t.Errorf("%d messages, want 2 questions and 2 answers (%v)", len(messages.Docs), err)
	}
}

func TestAttemptsAreBounded(t *testing.T) {
	for _, most := range []int{1, 2, 3, 5} {
		hold, entered, _ := enginetest.Holding()
		g := enginetest.Guests{"echo": enginetest.Echo, "hold": hold}
		attempts := func(c *engine.Config, _ *engine.Parts) { c.MaxAttempts = most }
		n := boot(t, crashtest.NewDisk(), g, attempts)
		id := n.Submit(t, n.Session(t), "persona_hold")
		<-entered
		for range most - 1 {
			n = n.die(t, g, attempts)
			<-entered
		}
		n = n.die(t, g, attempts)
		task := n.Wait(t, id)
		if task.Status != abi.TaskFailed || task.Failure.Code != abi.FailureAttempts || task.Attempt != most || strings.Contains(task.Failure.Message, "alone") != (most > 1) {
			t.Errorf("of %d: %s %+v after %d", most, task.Status, task.Failure, task.Attempt)
		}
		n.Stop(t)
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	hold, entered, leave := enginetest.Holding()
	n := newNode(t, enginetest.Guests{"hold": hold})
	id := n.Submit(t, n.Session(t), "persona_hold")
	<-entered
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	doc, err := n.WaitTask(ctx, n.Root, id)
	if err != nil || enginetest.As[abi.Task](t, doc).Status != abi.TaskWorking {
		t.Errorf("%s %v", doc.JSON, err)
	}
	close(leave)
}
