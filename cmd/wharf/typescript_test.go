package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/client"
)

const triage = `import { planSet, reply, type Task } from "wharf";

interface Ticket { id: number; title: string }

async function ticket(url: string): Promise<Ticket> {
	const answer = await fetch(url);
	if (!answer.ok) {
		throw new Error("the tracker says " + answer.status);
	}
	return answer.json();
}

export async function run(task: Task) {
	await planSet({ steps: [{ content: "read the ticket", status: "in_progress" }] });
	console.log("reading", task.text, Math.random());
	const { id, title } = await ticket(task.text);
	await reply(id + ": " + title);
	return { summary: title };
}
`

const failure418 = "Error: the tracker says 418"

// TestTypeScriptOnANode has a node run a program that was built by a command, and replay what
// it did after the node was killed and what it had asked is gone.
func TestTypeScriptOnANode(t *testing.T) {
	if os.Getenv("WHARF_LONG") == "" {
		t.Skip("it compiles the engine on a node of its own: set WHARF_LONG=1 to run it")
	}
	var asked atomic.Int64
	tracker := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.URL.Path != "/7" {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"id":7,"title":"The pot is empty"}`))
	}))
	defer tracker.Close()
	dir, address := t.TempDir(), strings.TrimPrefix(tracker.URL, "http://")
	config := fmt.Sprintf("plugins:\n  dir: %s\ngrants:\n  triage:\n    http:\n      - hosts: [%q]\n        private: true\n", filepath.Join(dir, "plugins"), address)
	for name, text := range map[string]string{"triage.ts": triage, "wharf.yaml": config} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	commander{t: t}.must("plugin", "build", filepath.Join(dir, "triage.ts"), "--out", filepath.Join(dir, "plugins", "triage.wasm"))
	r := newRig(t, "--config", filepath.Join(dir, "wharf.yaml"))
	done, failed := r.submitText("persona_triage", tracker.URL+"/7"), r.submitText("persona_triage", tracker.URL+"/8")
	r.waitFor(done)
	r.waitFor(failed)
	mustTriage(t, r, done, failed)

	r.node.stop(syscall.SIGKILL)
	tracker.Close()
	r.start()
	mustTriage(t, r, done, failed)
	c := commander{t, r.node.url}
	c.must("task", "replay", done, "--wait=1m")
	if code, out, errs := c.run("task", "replay", failed, "--wait=1m"); code != 1 || !strings.Contains(out+errs, failure418) {
		t.Errorf("the replay of what has failed ends with %d: %s%s", code, out, errs)
	}
	if n := asked.Load(); n != 2 {
		t.Errorf("the tracker was asked %d times", n)
	}
}

func (r *rig) submitText(persona, text string) string {
	r.t.Helper()
	input := fmt.Sprintf(`{"role":"user","parts":[{"type":"text","text":%q,"visibility":"public"}]}`, text)
	doc, err := r.client.Submit(r.t.Context(), abi.SubmitTaskRequest{SessionID: r.session, PersonaID: persona, Input: jsontext.Value(input)}, client.SubmitOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	return doc.Value.ID
}

// mustTriage holds what a Task has done, and how another has failed: with the lines of the source.
func mustTriage(t *testing.T, r *rig, done, failed string) {
	t.Helper()
	task, err := r.client.Task(t.Context(), done)
	if err != nil || task.Value.Status != abi.TaskCompleted {
		t.Fatalf("the Task is %s: %v (%v)", task.Value.Status, task.Value.Failure, err)
	}
	if out := (commander{t, r.node.url}).must("task", "get", done); !strings.Contains(out, "The pot is empty") {
		t.Errorf("the Task says %s", out)
	}
	task, err = r.client.Task(t.Context(), failed)
	if err != nil || task.Value.Failure == nil {
		t.Fatalf("the Task is %s (%v)", task.Value.Status, err)
	}
	failure := task.Value.Failure
	if failure.Code != "plugin_error" || failure.Message != failure418 {
		t.Errorf("it fails with %s: %s", failure.Code, failure.Message)
	}
	if want := `{"stack":["ticket (triage.ts:8:41)"]}`; string(failure.Details) != want {
		t.Errorf("its details are %s, want %s", failure.Details, want)
	}
}
