package prove_test

import (
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
)

// office is the work of an agent that reads a skill, works in files, calls tools that hooks have a say
// in, and follows a plan that somebody changes before its last turn but one.
func office() []turn {
	return []turn{
		{says: []string{"I read ", "how."}, tool: "host__skill_read", arguments: `{"skill":"tides"}`},
		{tool: "host__skill_read", arguments: `{"skill":"tides","path":"moon.md"}`},
		{tool: "host__plan_set", arguments: `{"tasks":[{"id":"a","content":"look","status":"in_progress"},{"id":"b","content":"write","status":"pending"}]}`},
		{tool: "host__file_read", arguments: `{"path":"notes/tides.txt"}`},
		{tool: "desk__look", arguments: `{"text":"the harbour"}`},
		{says: []string{"Now to ", "the desk."}, tool: "desk__note", arguments: `{"text":"low tide"}`},
		{tool: "host__file_write", arguments: `{"path":"notes/tides.txt","content":"Low at noon."}`},
		{tool: "host__plan_set", arguments: `{"tasks":[{"id":"a","content":"look","status":"completed"},{"id":"b","content":"write twice","status":"completed"}]}`},
		{says: []string{"It is ", "written."}},
	}
}

// overseer is a receiver of hooks, with TLS, that changes what is looked at, and denies that anything
// is noted.
type overseer struct {
	*httptest.Server
	mu   sync.Mutex
	told []string // the event and the tool of each request
}

func newOverseer(t *testing.T) *overseer {
	t.Helper()
	o := &overseer{}
	o.Server = httptest.NewTLSServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var of object
		_ = json.Unmarshal(body, &of)
		o.mu.Lock()
		o.told = append(o.told, text(of, "event")+" "+text(of, "tool"))
		o.mu.Unlock()
		switch text(of, "event") + " " + text(of, "tool") {
		case "pre_tool desk:look":
			_, _ = io.WriteString(rw, `{"input":{"text":"the lighthouse"}}`)
		case "pre_tool desk:note":
			_, _ = io.WriteString(rw, `{"decision":"deny","reason":"not on Fridays"}`)
		}
	}))
	t.Cleanup(o.Close)
	return o
}

// count returns how many requests there were, of an event or, with "", of all.
func (o *overseer) count(event string) (n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, one := range o.told {
		if strings.HasPrefix(one, event) {
			n++
		}
	}
	return n
}

// trust has a process trust the certificate of a server.
func trust(t *testing.T, s *httptest.Server) (env string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "roots.pem")
	put(t, file, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})))
	return "SSL_CERT_FILE=" + file
}

// TestReplayOfAnAgentCallsNobody has the bundled agent read skills, read and write files, be corrected
// and denied by hooks, and have its plan changed by a person. Replays of that are the same byte for byte: on the
// node that ran it, when all that it has read was changed or removed, and on another one that has
// nothing. No model, no tool and no hook is asked again.
func TestReplayOfAnAgentCallsNobody(t *testing.T) {
	w, hooks := newWorld(t, office()), newOverseer(t)
	counted := filepath.Join(t.TempDir(), "counted")
	commands := fmt.Sprintf("openharness:\n  private: true\n  commands: {count: [sh, -c, \"echo asked >> %s\"]}\n", counted)
	node := builder.StartWith(t, nodetest.Options{Args: w.args(t, commands), Env: []string{trust(t, hooks.Server)}})
	c := newClient(node)
	const harness = "/v1/harnesses/wharf"
	skill := c.post(t, harness+"/skills", object{"display_title": "Tides", "category": "organization", "files": object{
		"tides/SKILL.md": "---\nname: tides\ndescription: Tells the tides.\n---\nAsk the moon.\n", "tides/moon.md": "It pulls.\n"}})
	c.ask(t, "PUT", harness+"/files/notes/tides.txt", object{"content": "High at six."})
	var ids []string
	for _, hook := range []object{
		{"event": "pre_tool", "handler": object{"type": "webhook", "url": hooks.URL}, "fail": "closed"},
		{"event": "pre_tool", "handler": object{"type": "command", "command": "count"}},
		{"event": "post_tool", "handler": object{"type": "webhook", "url": hooks.URL}},
		{"event": "stop", "handler": object{"type": "webhook", "url": hooks.URL}},
	} {
		ids = append(ids, text(c.post(t, harness+"/hooks", hook), "hook", "id"))
	}

	arrived := w.stop("asked in turn 7")
	source := text(c.post(t, harness+"/execute", object{"message": "What of the tide?", "skills": []string{"tides"}}), "execution_id")
	<-arrived
	c.ask(t, "PATCH", harness+"/executions/"+source+"/plan/tasks/b", object{"content": "write once"})
	w.letGo()
	if task := c.settled(t, source); text(task, "status") != "COMPLETED" {
		t.Fatalf("%v %v", task["status"], task["failure"])
	}
	w.wantCourse(t, c, source)
	c.until(t, "the hooks are told of the end", func() bool { return hooks.count("stop") == 1 && hooks.count("post_tool") == 6 }) // not of what was denied, and not of a plan that was overtaken

	asked, requests, told := commandsRun(t, counted), w.requests.Load(), hooks.count("")
	receipts := replays{}
	replay := func(place string, at *client, how object) {
		replayed := at.replayed(t, source, how)
		if text(replayed, "status") != "COMPLETED" {
			t.Fatalf("%s: %v", place, replayed["failure"])
		}
		receipts[place], _ = at.unsigned(t, text(replayed, "id"))
	}
	replay("the node", c, nil)
	copies := copyOf(t, c)
	c.ask(t, "DELETE", harness+"/skills/"+text(skill, "skill", "id"), nil)
	c.ask(t, "PUT", harness+"/files/notes/tides.txt", object{"content": "Another."})
	replay("the node without the skill and with another file", c, object{"mode": "exact"})
	for _, id := range ids {
		c.ask(t, "DELETE", harness+"/hooks/"+id, nil)
	}
	node.Kill(t)
	node.Run(t)
	replay("the node without hooks, started again", c, nil)
	other := newClient(builder.StartWith(t, nodetest.Options{Args: compiled(), Data: restored(t, copies)}))
	replay("another node", other, nil)
	c.wantProved(t, source)
	receipts.wantEqual(t, "the agent")
	if file := c.ask(t, "GET", harness+"/files/notes/tides.txt", nil); string(file.body) != "Another." {
		t.Errorf("a replay has written %q", file.body)
	}
	if list := other.get(t, harness+"/executions/"+source+"/plan"); !strings.Contains(fmt.Sprint(list), "write once") {
		t.Errorf("the plan is %v", list)
	}

	node.Stop(t) // whatever was on its way has come or will not
	if n := w.requests.Load() - requests; n != 0 {
		t.Errorf("the model and the tools were sent %d requests", n)
	}
	if n := hooks.count("") - told; n != 0 {
		t.Errorf("hooks were sent %d requests: %v", n, hooks.told[told:])
	}
	if now := commandsRun(t, counted); now != asked {
		t.Errorf("the program of a hook was run %d times more", now-asked)
	}
}

// wantCourse holds that everything has come to pass that a replay is to repeat.
func (w *world) wantCourse(t *testing.T, c *client, task string) {
	t.Helper()
	if calls := w.called(); !slices.Equal(calls, []string{"look the lighthouse"}) {
		t.Errorf("the tools were called as %q", calls)
	}
	prompts := w.asked()
	for i, want := range map[int]string{1: "Ask the moon.", 2: "It pulls.", 3: `\"b\"`, 4: "High at six.", 5: "noon", 6: "not on Fridays", 7: "was replaced", 8: ""} {
		if i >= len(prompts) || !strings.Contains(prompts[i], want) {
			t.Errorf("in turn %d of %d the model is not told %q: %s", i, len(prompts), want, prompts[min(i, len(prompts)-1)])
		}
	}
	if !strings.Contains(prompts[len(prompts)-1], "write once") {
		t.Error("the model is not told what a person has made of the plan")
	}
	if file := c.ask(t, "GET", "/v1/harnesses/wharf/files/notes/tides.txt", nil); string(file.body) != "Low at noon." {
		t.Errorf("it has written %q", file.body)
	}
}

// commandsRun returns how often the program of a hook was run.
func commandsRun(t *testing.T, file string) int {
	t.Helper()
	lines, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(lines), "\n")
}
