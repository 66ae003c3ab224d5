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
	"github.com/wharf-dev/wharf/cmd/wharf/internal/templates"
	"github.com/wharf-dev/wharf/runtime/manifest"
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

// TestTypeScriptOnANode has a node run a program that was built by a command, and replay what
// it did after the node was killed and what it had asked is gone.
func TestTypeScriptOnANode(t *testing.T) {
	if os.Getenv("WHARF_LONG") == "" {
		t.Skip("it compiles the engine on a node of its own: set WHARF_LONG=1 to run it")
	}
	triageOnANode(t, triaging{sources: map[string]string{"triage.ts": triage}, file: "triage.ts", failure: "Error: the tracker says 418", stack: `["ticket (triage.ts:8:41)"]`})
}

// triaging is a program that asks a tracker for a ticket.
type triaging struct {
	sources map[string]string
	file    string // that it begins with
	failure string // what it fails with when the tracker refuses
	stack   string // where: the lines of the sources, as JSON
}

// triageOnANode builds the program by a command, has a node run it, and replays what it did after the node was
// killed and the tracker is gone.
func triageOnANode(t *testing.T, p triaging) {
	t.Helper()
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
	p.sources["wharf.yaml"] = config
	for name, text := range p.sources {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	commander{t: t}.must("plugin", "build", filepath.Join(dir, p.file), "--out", filepath.Join(dir, "plugins", "triage.wasm"))
	r := newRig(t, "--config", filepath.Join(dir, "wharf.yaml"))
	done, failed := r.submitText("persona_triage", tracker.URL+"/7"), r.submitText("persona_triage", tracker.URL+"/8")
	r.waitFor(done)
	r.waitFor(failed)
	p.must(t, r, done, failed)

	r.node.stop(syscall.SIGKILL)
	tracker.Close()
	r.start()
	p.must(t, r, done, failed)
	c := commander{t, r.node.url}
	c.must("task", "replay", done, "--wait=1m")
	if code, out, errs := c.run("task", "replay", failed, "--wait=1m"); code != 1 || !strings.Contains(out+errs, p.failure) {
		t.Errorf("the replay of what has failed ends with %d: %s%s", code, out, errs)
	}
	if n := asked.Load(); n != 2 {
		t.Errorf("the tracker was asked %d times", n)
	}
}

func (r *rig) submitText(persona, text string) string {
	r.t.Helper()
	return r.submitInput(persona, fmt.Sprintf(`{"role":"user","parts":[{"type":"text","text":%q,"visibility":"public"}]}`, text))
}

func (r *rig) submitInput(persona, input string) string {
	r.t.Helper()
	doc, err := r.client.Submit(r.t.Context(), abi.SubmitTaskRequest{SessionID: r.session, PersonaID: persona, Input: jsontext.Value(input)}, client.SubmitOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	return doc.Value.ID
}

// must holds what a Task has done, and how another has failed: with the lines of the sources.
func (p *triaging) must(t *testing.T, r *rig, done, failed string) {
	t.Helper()
	task, err := r.client.Task(t.Context(), done)
	if err != nil || task.Value.Status != abi.TaskCompleted {
		t.Fatalf("the Task is %s: %v (%v)", task.Value.Status, task.Value.Failure, err)
	}
	if out := (commander{t, r.node.url}).must("task", "get", done); !strings.Contains(out, "The pot is empty") || !strings.Contains(out, task.Value.Module) || task.Value.Module == "" {
		t.Errorf("the Task says %s", out)
	}
	task, err = r.client.Task(t.Context(), failed)
	if err != nil || task.Value.Failure == nil {
		t.Fatalf("the Task is %s (%v)", task.Value.Status, err)
	}
	failure := task.Value.Failure
	if failure.Code != "plugin_error" || failure.Message != p.failure {
		t.Errorf("it fails with %s: %s", failure.Code, failure.Message)
	}
	if want := `{"stack":` + p.stack + `}`; string(failure.Details) != want {
		t.Errorf("its details are %s, want %s", failure.Details, want)
	}
}

// TestNewScriptsOnANode has a node run a Connector in TypeScript and a hook in JavaScript, as their
// templates make them, both installed while it runs.
func TestNewScriptsOnANode(t *testing.T) {
	if os.Getenv("WHARF_LONG") == "" {
		t.Skip("it compiles the engine on a node of its own: set WHARF_LONG=1 to run it")
	}
	calls, err := pluginFolder()
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "wharf.yaml")
	if err := os.WriteFile(config, []byte("plugins:\n  dir: "+calls+"\ngrants:\n  calls:\n    tools: [\"host:*\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, "--config", config)
	c := commander{t, r.node.url}
	for _, w := range []templates.Wanted{
		{Name: "tickets", Language: "typescript", Kind: manifest.KindConnector}, {Name: "guard", Language: "javascript", Kind: manifest.KindHook},
	} {
		folder := written(t, w)
		if w.Kind == manifest.KindHook {
			edit(t, filepath.Join(folder, "src", "plugin.js"), `"delete"`, `"remove"`) // of the node's tools none is called delete
		}
		c.must("plugin", "build", folder)
		c.must("plugin", "install", folder)
	}
	t.Run("connector", func(t *testing.T) { mustMakeTasks(t, r, c) })
	t.Run("hook", func(t *testing.T) { mustDeny(t, r, c) })
}

// edit replaces a text in a file.
func edit(t *testing.T, file, old, with string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err == nil && !strings.Contains(string(text), old) {
		err = fmt.Errorf("%s has no %s", file, old)
	}
	if err == nil {
		err = os.WriteFile(file, []byte(strings.ReplaceAll(string(text), old, with)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// mustMakeTasks holds what comes of deliveries: one that is none is put aside, one that is empty is
// nothing, and one is a Task.
func mustMakeTasks(t *testing.T, r *rig, c commander) {
	made, err := client.Do[abi.Connector](t.Context(), r.client, client.Post(abi.CreateConnectorRequest{
		Provider: "tickets", Plugin: "tickets#run", TargetPersonaID: "persona_echo", TargetSessionID: r.session,
	}, "/v1/connectors"))
	if err != nil {
		t.Fatal(err)
	}
	for id, body := range []string{`no ticket`, `{"id":"T-1"}`, `{"id":"T-2","text":"It does not start."}`} {
		if _, err := r.client.Deliver(t.Context(), client.DeliveriesPath(made.Value.ID), map[string]string{"webhook-id": fmt.Sprint(id)}, []byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	task := ""
	for e, err := range r.client.Follow(t.Context(), client.Stream{Path: "/v1/sessions/" + r.session + "/events/stream"}) {
		if err != nil {
			t.Fatal(err)
		}
		if task = e.Value.TaskID; task != "" && endOf(&e.Value, task) != "" {
			break
		}
	}
	if out := c.must("task", "get", task); !strings.Contains(out, "It does not start.") {
		t.Errorf("the Task is %s", out)
	}
	if out := c.must("connector", "deadletters", made.Value.ID, "--json"); !strings.Contains(out, `"code":"no_ticket","message":"SyntaxError: `) || strings.Count(out, "no_ticket") != 1 {
		t.Errorf("what is no ticket is put aside as %s", out)
	}
}

// mustDeny holds that the hook denies a call of a tool and lets another be made, and that a replay asks
// it again for nothing.
func mustDeny(t *testing.T, r *rig, c commander) {
	hook := map[string]any{"event": "pre_tool", "fail": "closed", "timeout_ms": 60_000, "handler": map[string]string{"type": "command", "command": "wasm:guard#run"}}
	if _, err := client.Do[jsontext.Value](t.Context(), r.client, client.Post(hook, "/v1/harnesses/wharf/hooks")); err != nil {
		t.Fatal(err)
	}
	task := r.submitInput("persona_calls", `{"program":[{"call":"tool.call","request":{"server":"host","name":"file_list","arguments":{}}},
		{"call":"tool.call","request":{"server":"host","name":"file_remove","arguments":{"path":"a"}}}]}`)
	r.waitFor(task)
	record, err := r.client.Record(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	if text := string(record.JSON); strings.Count(text, "hooks.gate") != 2 || strings.Count(text, "hook_denied") != 1 || !strings.Contains(text, "nothing is deleted here") {
		t.Errorf("its record is %s", text)
	}
	c.must("task", "replay", task, "--wait=5m")
}
