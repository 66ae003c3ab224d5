package aside_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/aside"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/internal/roomtest"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/memory"
)

func newShelf(t *testing.T) (*roomtest.House, *aside.Shelf) {
	h := roomtest.New(t, memory.New(time.Now))
	return h, aside.NewShelf(h.Parts)
}

// What is set aside is counted by its kind, listed in order, and known until its end is told.
func TestShelf(t *testing.T) {
	_, s := newShelf(t)
	torn := errors.New("torn")
	task := ledger.Key{Tenant: 2, ID: "task_a"}
	s.Put(aside.Resource{Tenant: 2, Object: abi.ObjectTask, ID: "task_a", Err: torn})
	s.LeaveOut(10, abi.ObjectQuota, "quota_a", torn)
	s.LeaveOut(2, abi.ObjectConnector, "connector_a", torn)
	s.LeaveOut(2, abi.ObjectConnector, "connector_a", torn) // once more: it lies there once
	var names []string
	for _, r := range s.List() {
		names = append(names, fmt.Sprintf("%d %s", r.Tenant, r.ID))
	}
	if got := strings.Join(names, ", "); got != "2 connector_a, 2 task_a, 10 quota_a" {
		t.Errorf("the list is %s", got)
	}
	if n := s.Count(); n[abi.ObjectTask] != 1 || n[abi.ObjectConnector] != 1 || n[abi.ObjectQuota] != 1 || len(n) != 3 {
		t.Errorf("counted: %v", n)
	}
	if err := s.Cause(abi.ObjectConnector, ledger.Key{Tenant: 2, ID: "connector_a"}); !errors.Is(err, torn) {
		t.Errorf("the cause is %v", err)
	}
	for what, key := range map[string]ledger.Key{"another id": {Tenant: 2, ID: "connector_b"}, "another tenant": {Tenant: 3, ID: "connector_a"}} {
		if err := s.Cause(abi.ObjectConnector, key); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	if !s.Unended(task) || s.Unended(ledger.Key{Tenant: 2, ID: "connector_a"}) {
		t.Error("a task that was set aside has not ended, and nothing else can")
	}
	s.Ended(task)
	s.Ended(ledger.Key{Tenant: 2, ID: "task_fine"}) // most that end were never set aside
	if s.Unended(task) || s.Count()[abi.ObjectTask] != 1 {
		t.Error("it has ended, and stays counted")
	}
}

// What a start reads of a tenant is left out where it makes no sense, and nothing else is.
func TestExamineTenants(t *testing.T) {
	h, s := newShelf(t)
	wrong := jsontext.Value(`{"id":7}`)
	h.State(t, "", "", abi.EventPersonaCreated, abi.ObjectPersona, "persona_fine", &abi.Persona{Envelope: abi.NewEnvelope(abi.ObjectPersona, "persona_fine", h.Now(), nil)})
	h.State(t, "", "", abi.EventPersonaCreated, abi.ObjectPersona, "persona_wrong", wrong)
	h.State(t, "", "", abi.EventPersonaCreated, abi.ObjectPersona, "persona_named", &abi.Persona{Envelope: abi.NewEnvelope(abi.ObjectPersona, "persona_other", h.Now(), nil)})
	h.State(t, "", "", abi.EventSkillCreated, abi.ObjectSkill, "skill_wrong", wrong)
	before := h.Store.Watermark()
	for range 2 { // it is the same the second time
		if err := s.ExamineTenants(t.Context(), []*abi.Tenant{{Number: uint32(roomtest.Tenant), DefaultWorkspaceID: roomtest.Workspace}}); err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, r := range s.List() {
			ids = append(ids, r.ID)
		}
		if got := strings.Join(ids, " "); got != "persona_named persona_wrong skill_wrong" {
			t.Errorf("set aside: %s", got)
		}
	}
	if h.Store.Watermark() != before {
		t.Error("it wrote")
	}
}

// A store that fails is an error, and costs nobody their resources.
func TestExamineOverAFailingStore(t *testing.T) {
	h, s := newShelf(t)
	if err := h.Store.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.ExamineTenants(t.Context(), []*abi.Tenant{{Number: uint32(roomtest.Tenant)}}); err == nil || len(s.List()) != 0 {
		t.Errorf("%v, %v", err, s.List())
	}
}

func TestCheckActive(t *testing.T) {
	waiting := &abi.Waiting{Call: abi.CallSleep, Index: 3, RequestID: "r"}
	wait := func(change func(*abi.Waiting)) abi.Task {
		w := *waiting
		change(&w)
		return abi.Task{Status: abi.TaskWorking, Waiting: &w}
	}
	for name, test := range map[string]struct {
		task    abi.Task
		want    string
		lasting bool // no later start can read it
	}{
		"accepted":               {abi.Task{Status: abi.TaskSubmitted}, "", false},
		"running":                {abi.Task{Status: abi.TaskWorking, Attempt: 2}, "", false},
		"waiting":                {wait(func(*abi.Waiting) {}), "", false},
		"a fork":                 {abi.Task{Status: abi.TaskWorking, Fork: &abi.TaskFork{SourceTaskID: "other", Calls: 2}}, "", false},
		"a status of tomorrow":   {abi.Task{Status: "DREAMING"}, `its status is "DREAMING"`, false},
		"ended":                  {abi.Task{Status: abi.TaskFailed}, "no event has told its end", true},
		"asks for nothing":       {abi.Task{Status: abi.TaskInputRequired}, "does not fit what it waits for", true},
		"waits before it starts": {abi.Task{Status: abi.TaskSubmitted, Waiting: waiting}, "does not fit what it waits for", true},
		"attempts":               {abi.Task{Status: abi.TaskWorking, Attempt: -1}, "its attempt is -1", true},
		"a fork of itself":       {abi.Task{Status: abi.TaskWorking, Fork: &abi.TaskFork{}}, "it cannot be a fork", true},
		"a negative fork":        {abi.Task{Status: abi.TaskWorking, Fork: &abi.TaskFork{SourceTaskID: "other", Calls: -1}}, "it cannot be a fork of -1", true},
		"a call of tomorrow":     {wait(func(w *abi.Waiting) { w.Call = "dream" }), `it waits for "dream"`, false},
		"a negative call":        {wait(func(w *abi.Waiting) { w.Index = -1 }), "call -1", true},
		"no request":             {wait(func(w *abi.Waiting) { w.RequestID = "" }), `request ""`, true},
	} {
		t.Run(name, func(t *testing.T) {
			err := aside.CheckActive(&test.task, abi.HostCallsByName())
			switch {
			case test.want == "" && err != nil, test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("%v, want %q", err, test.want)
			case err != nil && ledger.Lasting(err) != test.lasting:
				t.Errorf("%v: lasting %v", err, !test.lasting)
			}
		})
	}
}

// accepted has the log tell of a Task, and then of what cannot be read of it.
func accepted(t *testing.T, h *roomtest.House, id, workspace string, states ...any) {
	t.Helper()
	for i, state := range states {
		kind := []abi.EventKind{abi.EventTaskSubmitted, abi.EventTaskStarted, abi.EventTaskFailed}[i]
		f := storage.Frame{Tenant: roomtest.Tenant, WorkspaceID: workspace, SessionID: roomtest.Session, TaskID: id, Actor: "asker"}
		if _, _, err := h.Ledger.Commit(f, nil, 0, ledger.Record{Kind: kind, Object: abi.ObjectTask, ID: id, Created: i == 0, Sequence: uint64(i), State: state}); err != nil {
			t.Fatal(err)
		}
	}
}

// What is left of a Task is what it was accepted as, or at least where it belongs; and only
// those learn of it who see its Workspace.
func TestRemains(t *testing.T) {
	h, s := newShelf(t)
	ctx, wrong := t.Context(), jsontext.Value(`{"id":7}`)
	whole := &abi.Task{Envelope: abi.NewEnvelope(abi.ObjectTask, "task_a", h.Now(), nil), PersonaID: "persona_a", Status: abi.TaskSubmitted, Input: jsontext.Value(`{}`)}
	accepted(t, h, "task_a", roomtest.Workspace, whole, wrong)
	accepted(t, h, "task_b", roomtest.Workspace, wrong, wrong)
	for id, persona := range map[string]string{"task_a": "persona_a", "task_b": ""} {
		got, err := s.RemainsFor(ctx, h.Root(), id, errors.New("torn"))
		if err != nil || got.ID != id || got.PersonaID != persona || got.WorkspaceID != roomtest.Workspace || got.SessionID != roomtest.Session || got.Input != nil {
			t.Errorf("%s: %+v, %v", id, got, err)
		}
		if _, err := s.RemainsFor(ctx, h.Bound(roomtest.Workspace), id, nil); err != nil {
			t.Errorf("%s, of the workspace: %v", id, err)
		}
		_, err = s.RemainsFor(ctx, h.Bound("ws_other"), id, errors.New("torn"))
		roomtest.WantCode(t, err, abi.CodeResourceNotFound)
	}
	torn := errors.New("torn")
	if got, err := s.RemainsFor(ctx, h.Bound(roomtest.Workspace), "task_unknown", torn); !errors.Is(err, torn) || got.CreatedBy != desk.HostActor {
		t.Errorf("nobody knows whose it is: %+v, %v", got, err)
	}
}

// Whether a Task has ended is what its last event says, also where its state cannot be read.
func TestHasEnded(t *testing.T) {
	h, s := newShelf(t)
	wrong := jsontext.Value(`{"id":7}`)
	accepted(t, h, "task_ended", roomtest.Workspace, wrong, wrong, wrong)
	accepted(t, h, "task_runs", roomtest.Workspace, wrong, wrong)
	for id, want := range map[string]bool{"task_ended": true, "task_runs": false} {
		if got, err := s.HasEnded(t.Context(), ledger.Key{Tenant: roomtest.Tenant, ID: id}); err != nil || got != want {
			t.Errorf("%s: %v, %v", id, got, err)
		}
	}
	if _, err := s.HasEnded(t.Context(), ledger.Key{Tenant: roomtest.Tenant, ID: "task_unknown"}); !ledger.IsNotFound(err) {
		t.Errorf("%v", err)
	}
	s.Put(aside.Resource{Tenant: roomtest.Tenant, Object: abi.ObjectTask, ID: "task_unknown"})
	if ended, err := s.HasEnded(t.Context(), ledger.Key{Tenant: roomtest.Tenant, ID: "task_unknown"}); err != nil || ended {
		t.Errorf("what was set aside can be ended: %v, %v", ended, err)
	}
}
