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

	"github.com/wharf-dev/wharf/abi"
)

const triagePy = `import random

from tracker import ticket
from wharf import plan_set, reply


def run(task):
    plan_set(steps=[{"content": "read the ticket", "status": "in_progress"}])
    print("reading", task.text, random.random())
    read = ticket(task.text)
    reply(f"{read['id']}: {read['title']}")
    return read["title"]
`

const trackerPy = `import wharf


def ticket(url):
    answer = wharf.fetch(url)
    if not answer.ok:
        raise ValueError(f"the tracker says {answer.status}")
    return answer.json()
`

// TestPythonOnANode has a node run a program that was built by a command, and replay what
// it did after the node was killed and what it had asked is gone.
func TestPythonOnANode(t *testing.T) {
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
	for name, text := range map[string]string{"triage.py": triagePy, "tracker.py": trackerPy, "wharf.yaml": config} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	commander{t: t}.must("plugin", "build", filepath.Join(dir, "triage.py"), "--out", filepath.Join(dir, "plugins", "triage.wasm"))
	r := newRig(t, "--config", filepath.Join(dir, "wharf.yaml"))
	done, failed := r.submitText("persona_triage", tracker.URL+"/7"), r.submitText("persona_triage", tracker.URL+"/8")
	r.waitFor(done)
	r.waitFor(failed)
	mustTriagePython(t, r, done, failed)

	r.node.stop(syscall.SIGKILL)
	tracker.Close()
	r.start()
	mustTriagePython(t, r, done, failed)
	c := commander{t, r.node.url}
	c.must("task", "replay", done, "--wait=1m")
	if code, out, errs := c.run("task", "replay", failed, "--wait=1m"); code != 1 || !strings.Contains(out+errs, "ValueError: the tracker says 418") {
		t.Errorf("the replay of what has failed ends with %d: %s%s", code, out, errs)
	}
	if n := asked.Load(); n != 2 {
		t.Errorf("the tracker was asked %d times", n)
	}
}

// mustTriagePython holds what a Task has done, and how another has failed: with the lines of the sources.
func mustTriagePython(t *testing.T, r *rig, done, failed string) {
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
	if failure.Code != "plugin_error" || failure.Message != "ValueError: the tracker says 418" {
		t.Errorf("it fails with %s: %s", failure.Code, failure.Message)
	}
	if want := `{"stack":["ticket (tracker.py:7)","run (triage.py:10)"]}`; string(failure.Details) != want {
		t.Errorf("its details are %s, want %s", failure.Details, want)
	}
}

// TestPythonThatDoesNotCompile holds that a build says where, in every file at once.
func TestPythonThatDoesNotCompile(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.py": "import b\n\ndef run(task)\n    pass\n", "b.py": "x = 1\nif x:\npass\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	code, out, errs := commander{t: t}.run("plugin", "build", filepath.Join(dir, "a.py"))
	if code != 1 || !strings.Contains(errs+out, "a.py:3: SyntaxError: invalid syntax\nb.py:3: ") {
		t.Errorf("it ends with %d: %s%s", code, out, errs)
	}
	if _, err := os.Stat(filepath.Join(dir, "build")); err == nil {
		t.Error("something was written")
	}
}
