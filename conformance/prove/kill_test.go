package prove_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
	"github.com/wharf-dev/wharf/internal/share"
	"github.com/wharf-dev/wharf/plugins/plugintest"
	"github.com/wharf-dev/wharf/runtime/journal"
)

// outside is what Tasks change outside the node, and how often.
type outside struct {
	*httptest.Server
	notes string // the file of the tool that takes notes

	mu     sync.Mutex
	posted map[string][]string // body → the Idempotency-Key of each request with it
}

// latency is how long the outside takes to say that something has happened.
const latency = 15 * time.Millisecond

func newOutside(t *testing.T) *outside {
	t.Helper()
	o := &outside{posted: map[string][]string{}, notes: filepath.Join(t.TempDir(), "notes")}
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method == http.MethodPost {
			o.mu.Lock()
			o.posted[string(body)] = append(o.posted[string(body)], r.Header.Get("Idempotency-Key"))
			o.mu.Unlock()
			<-time.After(latency) // it has happened, and nobody knows it yet
		}
		_, _ = io.WriteString(w, "done")
	}))
	t.Cleanup(o.Close)
	return o
}

// args are the flags of a node whose plugin calls may reach the outside.
func (o *outside) args(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "answers.json"), answers)
	put(t, filepath.Join(dir, "wharf.yaml"), fmt.Sprintf(`
models: {script: %s, canned: {provider: script}}
tools:
  desk: {command: %s, env: {%s: "1", %s: %s}}
grants:
  calls:
    tools: ["desk:*"]
    http: [{hosts: ["%s"], methods: [GET, POST], private: true}]
`, filepath.Join(dir, "answers.json"), self(t), asTools, toolNotes, o.notes, strings.TrimPrefix(o.URL, "http://")))
	return append(withPlugins(t), "--config", filepath.Join(dir, "wharf.yaml"), "--set", "tasks.attempts=1000")
}

// menu are the steps that programs are made of. %L is a text of the program's own,
// and %U the URL of the outside.
var menu = []plugintest.Step{
	step("clock", ""), steps("random", 8), step("id", ""), steps("wasi.random", 8), steps("wasi.clock", 0),
	step("state.set", `{"key":"a","value":"$digest"}`), step("state.set", `{"key":"b","value":{"n":"$n"}}`),
	step("state.get", `{"key":"a"}`), step("transcript.read", `{"last":5}`),
	step("message.append", `{"role":"assistant","parts":[{"type":"text","text":"%L $n $digest","visibility":"public"}]}`),
	put2("artifact.put", "{\"kind\":\"log\",\"mime_type\":\"text/plain\"}\n%L $n $digest"),
	step("memory.write", `{"scope":"session","content":"%L $n"}`), step("memory.query", `{"scope":"session"}`),
	step("event.emit", `{"kind":"vendor.prove.seen","payload":{"at":"%L $n"}}`),
	step("llm.complete", `{"messages":[{"role":"user","text":"well?"}]}`),
	step("tool.call", `{"server":"desk","name":"look","arguments":{"text":"%L $n"}}`),
	step("tool.call", `{"server":"desk","name":"note","arguments":{"text":"%L $n"}}`),
	step("http.fetch", `{"url":"%U/read"}`),
	step("http.fetch", `{"method":"POST","url":"%U/once","text":"once %L $n"}`),
	step("http.fetch", `{"method":"POST","url":"%U/keyed","text":"keyed %L $n","idempotency_header":"Idempotency-Key"}`),
	step("sleep", `{"ms":1}`), step("sleep", `{"ms":60}`),
	step("task.spawn", `{"persona_id":"persona_echo","input":{"from":"%L $n"}}`), step("task.await", `{"task_id":"$task_id"}`),
	step("handoff", `{"persona_id":"persona_echo","input":{"to":"%L $n"},"reason":"it can"}`),
	step("input.request", `{"prompt":"%L"}`), step("approval.request", `{"action":"%L","prompt":"?"}`),
	step("auth.request", `{"provider":"%L","prompt":"?"}`),
}

// randomProgram returns a program of the seed.
func randomProgram(seed int, label, url string) plugintest.Program {
	chosen := rapid.SliceOfN(rapid.SampledFrom(menu), 3, 14).Example(seed)
	text, err := json.Marshal(program(chosen...))
	if err != nil {
		panic(err)
	}
	var p plugintest.Program
	filled := strings.NewReplacer("%L", label, "%U", url).Replace(string(text))
	if err := json.Unmarshal([]byte(filled), &p); err != nil {
		panic(err)
	}
	return p
}

// life plays the people that Tasks wait for, until all the open Tasks have ended,
// which it strikes off, or the node has died.
func (c *client) life(ctx context.Context, open map[string]bool) {
	events, err := c.events(ctx, "/v1/events/stream")
	if err != nil {
		return
	}
	defer events.Close()
	lines := bufio.NewScanner(events)
	lines.Buffer(nil, 16<<20)
	for len(open) > 0 && lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data:")
		var e object
		if !ok || json.Unmarshal([]byte(data), &e) != nil {
			continue
		}
		switch text(e, "event") {
		case "task.input_required", "task.auth_required":
			c.answer(ctx, text(e, "resource", "id"), text(e, "payload", "task", "waiting", "request_id"), text(e, "payload", "task", "waiting", "call"))
		case "task.completed", "task.failed", "task.canceled":
			delete(open, text(e, "resource", "id"))
		}
	}
}

// answer answers what a Task asks. The answer has a key of its own, so that it counts
// once, however often it is given.
func (c *client) answer(ctx context.Context, task, request, call string) {
	body := object{"kind": "input", "message": message("an answer to " + request)}
	if call == "approval.request" {
		body = object{"kind": "tool_confirmation", "message": approval("approved")}
	}
	_, _ = c.try(ctx, "POST", "/v1/tasks/"+task+"/messages", body, "Idempotency-Key", request) // a dead node is asked again in its next life
}

// TestKilledTasksEndOnce runs random programs on a node that is killed at random
// moments, and on one that is left alone. Nothing that the first has accepted is
// lost or doubled, inside or outside, and what the Tasks did is what they do
// undisturbed.
func TestKilledTasksEndOnce(t *testing.T) {
	lives, each, mine := 8, 6, share.All
	if long() {
		lives, each, mine = 40, 8, share.Of(t)
	}
	const seed = 20260425
	chance := rand.New(rand.NewPCG(seed, 1))
	world := newOutside(t)
	node := builder.StartWith(t, nodetest.Options{Args: world.args(t)})
	c := newClient(node)
	c.run(t, "persona_calls", everyCall()) // so that everything is compiled and connected to
	tasks := map[string]int{}              // by id, the program's number
	open := map[string]bool{}
	replays := map[string]bool{} // by id
	var unanswered []submission
	struck := 0
	for life := range lives {
		if !mine(life) {
			continue
		}
		batch := unanswered
		for i := range each {
			n := life*each + i
			batch = append(batch, submission{n, c.session(t), randomProgram(n, fmt.Sprint("p", n), world.URL)})
		}
		copies := c.replayEnded(t, tasks, open)
		died := make(chan struct{})
		time.AfterFunc(time.Duration(chance.Int64N(int64(250*time.Millisecond))), func() { node.Kill(t); close(died) })
		unanswered = c.submitAll(t, batch, tasks, open)
		for _, id := range copies {
			replays[id], open[id] = true, true
		}
		c.life(t.Context(), open)
		<-died
		struck += len(open)
		node.Run(t)
	}
	for _, s := range c.submitAll(t, unanswered, tasks, open) {
		t.Errorf("program %d is not accepted by a node that lives", s.number)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	c.life(ctx, open)
	for id := range open {
		t.Errorf("task %s has not ended: %v", id, c.get(t, "/v1/tasks/"+id))
	}
	for id := range replays {
		if a := c.get(t, "/v1/tasks/"+id); text(a, "status") != "COMPLETED" || len(c.all(t, "/v1/tasks/"+id+"/receipts")) != 1 {
			t.Errorf("replay %s is %v: %v", id, a["status"], a["failure"])
		}
	}
	calm := newOutside(t)
	quiet := newClient(builder.StartWith(t, nodetest.Options{Args: calm.args(t)}))
	indeterminate := 0
	for id, n := range tasks {
		t.Run(fmt.Sprint("program ", n), func(t *testing.T) {
			what := c.inspect(t, id)
			what.wantOnceInside(t, c)
			what.wantOnceOutside(t, world)
			c.wantProved(t, id)
			twin := quiet.undisturbed(t, randomProgram(n, fmt.Sprint("p", n), calm.URL))
			what.wantSameCourse(t, quiet.inspect(t, twin))
			indeterminate += what.indeterminate()
		})
	}
	t.Logf("%d tasks and %d replays in %d lives, %d times one was open when the node died, %d calls are indeterminate, %d requests came again",
		len(tasks), len(replays), lives+1, struck, indeterminate, world.again())
	if struck == 0 {
		t.Error("no kill has met a task: this test has shown nothing")
	}
	node.Stop(t)
	if code, out := wharf(t, "doctor", "--rebuild", "--data", node.Data); code != 0 {
		t.Errorf("the doctor: %d %s", code, out)
	}
}

// submission is a program on its way to a node.
type submission struct {
	number  int
	session string
	program plugintest.Program
}

// submitAll submits programs at the same time, each with a key of its own, and
// returns those that got no answer.
func (c *client) submitAll(t *testing.T, batch []submission, tasks map[string]int, open map[string]bool) (unanswered []submission) {
	var all sync.WaitGroup
	var mu sync.Mutex
	for _, s := range batch {
		all.Go(func() {
			a, err := c.try(t.Context(), "POST", "/v1/sessions/"+s.session+"/tasks", object{"input": s.program, "persona_id": "persona_calls"},
				"Idempotency-Key", fmt.Sprint("program ", s.number))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil || a.status == 503:
				unanswered = append(unanswered, s)
			case a.status >= 300:
				t.Errorf("program %d: %d %s", s.number, a.status, a.body)
			default:
				tasks[text(a.doc(), "id")], open[text(a.doc(), "id")] = s.number, true
			}
		})
	}
	all.Wait()
	return unanswered
}

// replayEnded asks for replays of some Tasks that have ended.
func (c *client) replayEnded(t *testing.T, tasks map[string]int, open map[string]bool) (replays []string) {
	t.Helper()
	for id := range tasks {
		if !open[id] && len(replays) < 4 {
			replays = append(replays, text(c.post(t, "/v1/tasks/"+id+"/replay", object{"mode": "exact"}), "id"))
		}
	}
	return replays
}

// again counts the requests that came a second time.
func (o *outside) again() (n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, keys := range o.posted {
		n += len(keys) - 1
	}
	return n
}

func (a *account) indeterminate() (n int) {
	for _, e := range a.record.Entries {
		if e.Status == abi.CallIndeterminate {
			n++
		}
	}
	return n
}

// undisturbed runs a program to its end on a node that nobody kills.
func (c *client) undisturbed(t *testing.T, p plugintest.Program) string {
	t.Helper()
	id := c.submit(t, c.session(t), "persona_calls", p)
	c.life(t.Context(), map[string]bool{id: true})
	return id
}

// account is all that a node has about a Task.
type account struct {
	task   object
	record journal.Record
	events []object
	counts map[abi.EventKind]int
}

func (c *client) inspect(t *testing.T, id string) *account {
	t.Helper()
	a := &account{task: c.get(t, "/v1/tasks/"+id), counts: map[abi.EventKind]int{}}
	if err := json.Unmarshal(c.ask(t, "GET", "/wharf/v1/tasks/"+id+"/record", nil).body, &a.record); err != nil {
		t.Fatal(err)
	}
	a.events = c.all(t, "/v1/tasks/"+id+"/events")
	for _, e := range a.events {
		if text(e, "task_id") == id {
			a.counts[abi.EventKind(text(e, "event"))]++
		}
	}
	return a
}

// made counts the calls of some names that went well.
func (a *account) made(names ...string) (n int) {
	for _, e := range a.record.Entries {
		for _, name := range names {
			if e.Call == name && e.Status == abi.CallOK {
				n++
			}
		}
	}
	return n
}

// course shows the calls of a record.
func (a *account) course() string {
	var lines strings.Builder
	for _, e := range a.record.Entries {
		fmt.Fprintf(&lines, "%d %s %d\n\t%.200s\n\t%.200s\n", e.Index, e.Call, e.Status, e.Request, e.Answer)
	}
	return lines.String()
}

// wantOnceInside holds what the node keeps against the record.
func (a *account) wantOnceInside(t *testing.T, c *client) {
	t.Helper()
	id, session := text(a.task, "id"), text(a.task, "session_id")
	if text(a.task, "status") != "COMPLETED" {
		t.Errorf("the task is %v: %v\n%s", a.task["status"], a.task["failure"], a.course())
	}
	for i, e := range a.record.Entries {
		if e.Index != i || e.Open {
			t.Errorf("call %d of the record has the number %d, open: %t", i, e.Index, e.Open)
		}
	}
	said, children := 0, 0
	for _, m := range c.all(t, "/v1/sessions/"+session+"/messages") {
		if text(m, "task_id") == id && text(m, "role") == "assistant" {
			said++
		}
	}
	for _, child := range c.all(t, "/v1/sessions/"+session+"/tasks") {
		if text(child, "parent_task_id") == id && child["replay"] == nil {
			children++
			if text(child, "status") != "COMPLETED" {
				t.Errorf("child %s is %v", text(child, "id"), child["status"])
			}
		}
	}
	for _, want := range []struct {
		what      string
		got, want int
	}{
		{"messages", said, a.made("message.append")},
		{"artifacts", len(c.all(t, "/v1/artifacts?task_id="+id)), a.made("artifact.put")},
		{"children", children, a.made("task.spawn", "handoff")},
		{"events of its own kind", a.counts["vendor.prove.seen"], a.made("event.emit")},
		{"memories", a.counts[abi.EventAgentMemoryWrite], a.made("memory.write")},
		{"values", a.counts[abi.EventStateSet], a.made("state.set")},
		{"ends", a.counts[abi.EventTaskCompleted], 1},
		{"receipts", a.counts[abi.EventReceiptIssued], 1},
		{"outcomes", len(c.all(t, "/v1/outcomes?task_id="+id)), 1},
	} {
		if want.got != want.want {
			t.Errorf("there are %d %s, and the record has made %d", want.got, want.what, want.want)
		}
	}
	a.wantState(t, c)
}

// wantState lets another Task of the Session read what the last call has kept.
func (a *account) wantState(t *testing.T, c *client) {
	t.Helper()
	last := map[string]string{}
	for _, e := range a.record.Entries {
		var set abi.CallStateSetRequest
		if e.Call == "state.set" && json.Unmarshal(e.Request, &set) == nil {
			last[set.Key] = string(set.Value)
		}
	}
	probe := c.submit(t, text(a.task, "session_id"), "persona_calls", program(step("state.get", `{"key":"a"}`), step("state.get", `{"key":"b"}`)))
	c.settled(t, probe)
	found := c.inspect(t, probe).record.Entries
	for i, key := range []string{"a", "b"} {
		var got abi.CallStateGetAnswer
		if err := json.Unmarshal(found[i].Answer, &got); err != nil {
			t.Fatal(err)
		}
		want := jsontext.Value(last[key])
		if len(want) == 0 {
			want = jsontext.Value("null")
		}
		if string(got.Value) != string(want) {
			t.Errorf("the value of %s is %s; the record has set %s", key, got.Value, want)
		}
	}
}

// wantOnceOutside holds what the world has seen against the record. A call that is
// answered indeterminate may have happened, once; one that takes a key may have come
// more than once, always with the same key.
func (a *account) wantOnceOutside(t *testing.T, world *outside) {
	t.Helper()
	notes, err := os.ReadFile(world.notes)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	world.mu.Lock()
	defer world.mu.Unlock()
	for _, e := range a.record.Entries {
		var fetch abi.CallHTTPFetchRequest
		var tool abi.CallToolCallRequest
		var n, most int
		switch {
		case e.Call == "http.fetch" && json.Unmarshal(e.Request, &fetch) == nil && fetch.Method == "POST":
			keys := world.posted[fetch.Text]
			n, most = len(keys), 1
			if fetch.IdempotencyHeader != "" {
				for _, key := range keys {
					if key == "" || key != keys[0] {
						t.Errorf("%q came with the keys %q", fetch.Text, keys)
					}
				}
				n, most = min(n, 1), 1
			}
		case e.Call == "tool.call" && json.Unmarshal(e.Request, &tool) == nil && tool.Name == "note":
			var q struct{ Text string }
			if err := json.Unmarshal(tool.Arguments, &q, json.MatchCaseInsensitiveNames(true)); err != nil {
				t.Fatal(err)
			}
			n, most = strings.Count("\n"+string(notes), "\n"+q.Text+"\n"), 1
		default:
			continue
		}
		if n > most || e.Status == abi.CallOK && n == 0 {
			t.Errorf("call %d, %s %.80s: the world has seen it %d times; its status is %d", e.Index, e.Call, e.Request, n, e.Status)
		}
		if e.Status != abi.CallOK && e.Status != abi.CallIndeterminate {
			t.Errorf("call %d, %s: status %d %s", e.Index, e.Call, e.Status, e.Answer)
		}
	}
}

// wantSameCourse compares a Task with its twin that was not disturbed: the same calls
// with the same keys, and the same answers, but where ids and times are in them or
// the node died while it was not known whether something happened.
func (a *account) wantSameCourse(t *testing.T, twin *account) {
	t.Helper()
	if len(a.record.Entries) != len(twin.record.Entries) {
		t.Fatalf("%d calls, and %d of the twin", len(a.record.Entries), len(twin.record.Entries))
	}
	for i, e := range a.record.Entries {
		other := twin.record.Entries[i]
		if e.Call != other.Call || e.Key != other.Key || e.Effect != other.Effect || e.Status != other.Status && e.Status != abi.CallIndeterminate {
			t.Errorf("call %d is %s %q, status %d; of the twin %s %q, %d", i, e.Call, e.Key, e.Status, other.Call, other.Key, other.Status)
		}
		if e.Call == "llm.complete" && string(e.Answer) != string(other.Answer) {
			t.Errorf("call %d was answered %s; of the twin %s", i, e.Answer, other.Answer)
		}
	}
}

// wantProved has a Task's one receipt verified, its replay done, and its bundle
// executed again.
func (c *client) wantProved(t *testing.T, id string) {
	t.Helper()
	all := c.all(t, "/v1/tasks/"+id+"/receipts")
	if len(all) != 1 {
		t.Fatalf("%d receipts", len(all))
	}
	if v := c.post(t, "/v1/receipts/"+text(all[0], "id")+"/verify", nil); v["valid"] != true {
		t.Errorf("the receipt is not valid: %v", v)
	}
	replay := c.replayed(t, id, object{"mode": "exact"})
	if text(replay, "status") != "COMPLETED" {
		t.Errorf("the replay is %v: %v", replay["status"], replay["failure"])
	}
	file := filepath.Join(t.TempDir(), "run.zip")
	put(t, file, string(c.bundle(t, id)))
	if code, out := wharf(t, "verify", file); code != 0 {
		t.Errorf("wharf verify: %d\n%s", code, out)
	}
}

// TestParkedTasksComeBack kills the node while Tasks wait for everything that there
// is to wait for.
func TestParkedTasksComeBack(t *testing.T) {
	node := builder.StartWith(t, nodetest.Options{Args: withPlugins(t)})
	c := newClient(node)
	session := c.session(t)
	waiting := map[string]string{}
	for call, p := range map[string]plugintest.Program{
		"input.request":    program(step("input.request", `{"prompt":"who?"}`)),
		"auth.request":     program(step("auth.request", `{"provider":"bank","prompt":"go there","url":"https://example.com/"}`)),
		"approval.request": program(step("approval.request", `{"action":"pay","prompt":"pay?"}`)),
		"sleep":            program(step("sleep", `{"ms":2500}`)),
		"task.await": program(step("task.spawn", `{"input":{"program":[{"call":"input.request","request":{"prompt":"child?"}}]}}`),
			step("task.await", `{"task_id":"$task_id"}`)),
	} {
		waiting[call] = c.submit(t, session, "persona_calls", p)
	}
	before := map[string]object{}
	for call, id := range waiting {
		before[call] = c.waitsFor(t, id, call)
	}
	child := text(before["task.await"], "task_id")
	c.waitsFor(t, child, "input.request")
	node.Kill(t)
	node.Run(t)
	open := map[string]bool{child: true}
	for call, id := range waiting {
		after, _ := c.get(t, "/v1/tasks/"+id)["waiting"].(object)
		if call != "sleep" && fmt.Sprint(after) != fmt.Sprint(before[call]) {
			t.Errorf("%s: it waited for %v, and now for %v", call, before[call], after)
		}
		open[id] = true
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c.life(ctx, open)
	for call, id := range waiting {
		a := c.inspect(t, id)
		if text(a.task, "status") != "COMPLETED" || a.made(call) != 1 {
			t.Errorf("%s: %v %v, and %d answered calls", call, a.task["status"], a.task["failure"], a.made(call))
		}
		c.wantProved(t, id)
	}
	asked := c.inspect(t, waiting["input.request"]).record.Entries[0]
	if !strings.Contains(string(asked.Answer), "an answer to ") || !strings.Contains(string(asked.Answer), `"actor"`) {
		t.Errorf("input.request was answered with %s", asked.Answer)
	}
	slept := c.inspect(t, waiting["sleep"]).record
	if d := slept.Entries[0].At.Sub(slept.StartedAt); d < 2500*time.Millisecond {
		t.Errorf("it was to sleep for 2.5 s, and did so for %s", d)
	}
}
