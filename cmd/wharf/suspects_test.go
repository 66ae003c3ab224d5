package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
	"github.com/wharf-dev/wharf/plugins/plugintest/workers"
)

// submitWork submits a Task of the worker in C.
func (r *rig) submitWork(work string, times int) string {
	r.t.Helper()
	doc, err := r.client.Submit(r.t.Context(), abi.SubmitTaskRequest{
		SessionID: r.session, PersonaID: "persona_work-c",
		Input: jsontext.Value(fmt.Sprintf(`{"work":%q,"times":%d}`, work, times))}, client.SubmitOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	return doc.Value.ID
}

// started returns when a Task has been started a number of times.
func (r *rig) started(id string, times int) {
	r.t.Helper()
	for e, err := range r.client.Follow(r.t.Context(), client.TaskStream(id)) {
		if err != nil {
			r.t.Fatalf("watching %s: %v", id, err)
		}
		var told struct {
			Task abi.Task `json:"task"`
		}
		if err := json.Unmarshal(e.Value.Payload, &told); err != nil {
			r.t.Fatal(err)
		}
		if told.Task.Attempt == times {
			return
		}
		if endOf(&e.Value, id) != "" {
			r.t.Fatalf("it has ended before its start %d: %s", times, e.Value.Payload)
		}
	}
}

// TestATaskThatEndsTheProcessFailsAlone kills the real program whenever one of its Tasks
// runs. That one fails, and says why; those that ran beside it each time complete.
func TestATaskThatEndsTheProcessFailsAlone(t *testing.T) {
	beside := 6
	if os.Getenv("WHARF_LONG") != "" {
		beside = 50
	}
	plugins := t.TempDir()
	for _, worker := range workers.All() {
		if worker.Name != "work-c" {
			continue
		}
		if err := os.WriteFile(filepath.Join(plugins, "work-c.wasm"), worker.Wasm, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := newRig(t, "--set", "plugins.dir="+plugins)
	var innocent []string
	for range beside / 2 {
		innocent = append(innocent, r.submitWork("floats", 6_000_000))
	}
	guilty := r.submitWork("busy", 1)
	for range beside - beside/2 {
		innocent = append(innocent, r.submitWork("floats", 6_000_000))
	}
	for life := 1; life <= 3; life++ {
		r.started(guilty, life)
		r.node.stop(syscall.SIGKILL)
		r.start()
	}
	r.waitFor(guilty)
	if task, err := r.client.Task(t.Context(), guilty); err != nil || task.Value.Failure == nil || task.Value.Failure.Code != abi.FailureAttempts {
		t.Errorf("the Task that ends the process is %s: %v (%v)", task.Value.Status, task.Value.Failure, err)
	} else if !strings.Contains(task.Value.Failure.Message, "alone") {
		t.Errorf("its failure does not say that it ran alone: %s", task.Value.Failure.Message)
	}
	for _, id := range innocent {
		r.waitFor(id)
		task, err := r.client.Task(t.Context(), id)
		if err != nil || task.Value.Status != abi.TaskCompleted {
			t.Errorf("a Task beside it is %s: %v (%v)", task.Value.Status, task.Value.Failure, err)
		}
	}
}
