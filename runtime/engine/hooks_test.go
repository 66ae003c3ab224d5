package engine_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/vault"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/runtime/tenancy"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// hooked is what hooks ask: a server that answers as the test says.
type hooked struct {
	url    string
	answer func(q *abi.HookQuestion) (status int, body string)

	mu    sync.Mutex
	asked []abi.HookQuestion
	came  chan abi.HookQuestion
}

func newHooked(t testing.TB, answer func(*abi.HookQuestion) (int, string)) *hooked {
	h := &hooked{answer: answer, came: make(chan abi.HookQuestion, 100)}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		var q abi.HookQuestion
		if err := json.Unmarshal(text, &q); err != nil || r.Header.Get("webhook-signature") == "" {
			t.Errorf("a hook is sent %s, %v, %v", text, err, r.Header)
		}
		h.mu.Lock()
		h.asked = append(h.asked, q)
		h.mu.Unlock()
		status, body := h.answer(&q)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
		h.came <- q
	}))
	t.Cleanup(s.Close)
	h.url = s.URL
	return h
}

// questions returns what was asked so far, in short.
func (h *hooked) questions() (all []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, q := range h.asked {
		all = append(all, fmt.Sprintf("%s %s %s", q.Event, q.Tool, q.Input))
	}
	return all
}

// store is a server of tools that keeps what its tools were called with.
type store struct {
	mu    sync.Mutex
	calls []string
}

func (s *store) Prepare(_ context.Context, c *provider.Call) (provider.Plan, error) {
	var req abi.CallToolCallRequest
	if err := json.Unmarshal(c.Request, &req); err != nil {
		return provider.Plan{}, provider.Malformed(err)
	}
	request, key := string(c.Request), c.IdempotencyKey
	return provider.Plan{Effect: abi.EffectWrite, Repeatable: true, Tool: &abi.Tool{Server: req.Server, Name: req.Name,
		InputSchema: []byte(`{"type":"object","properties":{"n":{"type":"integer"}}}`)},
		Do: func(context.Context, func(string)) ([]byte, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.calls = append(s.calls, fmt.Sprint(key[strings.LastIndex(key, "-")+1:], " ", request))
			return json.Marshal(&abi.CallToolCallAnswer{Content: []abi.ToolContent{{Type: "text", Text: "kept"}}})
		}}, nil
}

func (s *store) made() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// withHooks gives a node what hooks need, and a store; vaults are in a folder that outlives it.
func withHooks(dir string, s *store) enginetest.Configure {
	return func(c *engine.Config, p *engine.Parts) {
		c.Webhooks.Private = true
		c.Webhooks.Commands = map[string][]string{"deny": {"sh", "-c", `grep -q '"tool":"fs:write"' && echo '{"decision":"deny","reason":"by a program"}'`}, "fails": {"sh", "-c", "exit 3"}}
		p.Vaults = vault.New(vault.Config{Dir: filepath.Join(dir, "vaults"), KeyFile: filepath.Join(dir, "vault.age"), Log: p.Log})
		p.Performers = map[string]provider.Performer{abi.CallToolCall: s}
	}
}

func (n *node) hook(t testing.TB, req abi.CreateHookRequest) abi.Hook {
	t.Helper()
	req.WorkspaceID = tenancy.DefaultWorkspace
	doc, err := n.CreateHook(t.Context(), n.Root, nil, req)
	if err != nil {
		t.Fatal(err)
	}
	return enginetest.As[abi.Hook](t, doc)
}

func pre(url string) abi.CreateHookRequest {
	return abi.CreateHookRequest{Event: abi.HookPreTool, Handler: abi.HookHandler{URL: url}}
}

// triggers returns what a Task's events tell of hooks.
func (n *node) triggers(t testing.TB, task string) (all []string) {
	t.Helper()
	events, _, err := n.Events(t.Context(), n.Root, desk.Filter{TaskID: task}, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range events {
		var told struct {
			Event abi.HookEvent `json:"event"`
			Data  struct {
				Tool     string `json:"tool"`
				Decision string `json:"decision"`
			} `json:"data"`
		}
		if rec := ev.Record(); rec.Kind == abi.EventHookTriggered && json.Unmarshal(rec.Payload, &told) == nil {
			all = append(all, strings.TrimSpace(fmt.Sprintf("%s %s %s", told.Event, told.Data.Tool, told.Data.Decision)))
		}
	}
	return all
}

const writeOp = `{"server":"fs","name":"write","arguments":{"n":1}}`

// Hooks are asked in the order in which they were made: each sees what those before it have made of
// the arguments, and what they leave is what the tool is called with. A replay asks nobody.
func TestHooksChangeWhatAToolIsCalledWith(t *testing.T) {
	h := newHooked(t, func(q *abi.HookQuestion) (int, string) {
		if string(q.Input) == `{"n":1}` {
			return 200, `{"input":{"n": 2}}`
		}
		return 204, ""
	})
	p := newProgram(op{abi.CallToolCall, writeOp}, op{abi.CallClock, ""})
	s := &store{}
	n := newNode(t, enginetest.Guests{"program": p.run, "echo": enginetest.Echo}, withHooks(t.TempDir(), s))
	first, second := n.hook(t, pre(h.url)), n.hook(t, pre(h.url))
	id := n.Submit(t, n.Session(t), "persona_program")
	if task := n.Wait(t, id); task.Status != abi.TaskCompleted {
		t.Fatalf("%+v", task.Failure)
	}
	if got := fmt.Sprint(s.made()); got != `[1 {"server":"fs","name":"write","arguments":{"n":2}}]` {
		t.Errorf("the tool was called with %s", got)
	}
	if got := fmt.Sprint(h.questions()); got != `[pre_tool fs:write {"n":1} pre_tool fs:write {"n":2}]` || h.asked[0].HookID != first.ID || h.asked[1].HookID != second.ID {
		t.Errorf("the hooks were asked %s", got)
	}
	if q := h.asked[0]; q.TaskID != id || q.ToolID != "call-1" || q.WorkspaceID != tenancy.DefaultWorkspace || q.PersonaID != "persona_program" {
		t.Errorf("a hook is told %+v", q)
	}
	if got := fmt.Sprint(n.triggers(t, id)); got != "[pre_tool fs:write input pre_tool fs:write allow]" {
		t.Errorf("the events tell %s", got)
	}
	n.wantReplay(t, id)
	if len(h.questions()) != 2 || len(s.made()) != 1 {
		t.Errorf("the replay has asked: %v, %v", h.questions(), s.made())
	}
}

// The first that denies ends it, and what gives no answer says what it is set to.
func TestHooksDeny(t *testing.T) {
	for name, test := range map[string]struct {
		answer func() (int, string)
		fail   abi.HookFailure
		want   string // what the plugin is told
		asked  int
	}{
		"denied":                 {func() (int, string) { return 200, `{"decision":"deny","reason":"not today"}` }, "", `2 {"code":"hook_denied","message":"a hook has denied this call: not today"}`, 1},
		"allowed":                {func() (int, string) { return 200, `{"decision":"allow","later":1}` }, abi.HookClosed, "0 ", 2},
		"broken, open":           {func() (int, string) { return 500, "" }, "", "0 ", 2},
		"broken, closed":         {func() (int, string) { return 503, "" }, abi.HookClosed, `2 {"code":"hook_denied"`, 1},
		"nonsense, closed":       {func() (int, string) { return 200, "what?" }, abi.HookClosed, `2 {"code":"hook_denied"`, 1},
		"nonsense, open":         {func() (int, string) { return 200, `{"decision":"perhaps"}` }, "", "0 ", 2},
		"an input that fits not": {func() (int, string) { return 200, `{"input":{"n":"x"}}` }, abi.HookClosed, `2 {"code":"hook_denied"`, 1},
		"no object":              {func() (int, string) { return 200, `{"input":[1]}` }, abi.HookClosed, `2 {"code":"hook_denied"`, 1},
		"two of a name, open":    {func() (int, string) { return 200, `{"input":{"n":1,"n":2}}` }, "", "0 ", 2},
		"redirected, closed":     {func() (int, string) { return 302, "" }, abi.HookClosed, `2 {"code":"hook_denied"`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHooked(t, func(*abi.HookQuestion) (int, string) { return test.answer() })
			p := newProgram(op{abi.CallToolCall, writeOp})
			s := &store{}
			n := newNode(t, enginetest.Guests{"program": p.run, "echo": enginetest.Echo}, withHooks(t.TempDir(), s))
			req := pre(h.url)
			req.Fail = test.fail
			n.hook(t, req)
			n.hook(t, req)
			id := n.Submit(t, n.Session(t), "persona_program")
			n.Wait(t, id)
			if got := p.runs()[0][0]; !strings.HasPrefix(got, test.want) {
				t.Errorf("the plugin is told %s, want %s", got, test.want)
			}
			if made := len(s.made()); made != map[bool]int{true: 1}[strings.HasPrefix(test.want, "0")] || len(h.questions()) != test.asked {
				t.Errorf("%d calls, after %v", made, h.questions())
			}
			n.wantReplay(t, id)
		})
	}
}

// What is not enabled, and what belongs to another Workspace, is not asked.
func TestOtherHooksAreNotAsked(t *testing.T) {
	h := newHooked(t, func(*abi.HookQuestion) (int, string) { return 200, `{"decision":"deny"}` })
	p := newProgram(op{abi.CallToolCall, writeOp})
	s := &store{}
	n := newNode(t, enginetest.Guests{"program": p.run, "echo": enginetest.Echo}, withHooks(t.TempDir(), s))
	off := n.hook(t, pre(h.url))
	disabled := false
	if _, err := n.UpdateHook(t.Context(), n.Root, nil, off.ID, abi.UpdateHookRequest{Enabled: &disabled}); err != nil {
		t.Fatal(err)
	}
	other, err := n.CreateWorkspace(t.Context(), n.Root, nil, abi.CreateWorkspaceRequest{Name: "other", Root: "/other"})
	if err != nil {
		t.Fatal(err)
	}
	req := pre(h.url)
	req.WorkspaceID = other.ID
	if _, err := n.CreateHook(t.Context(), n.Root, nil, req); err != nil {
		t.Fatal(err)
	}
	n.Wait(t, n.Submit(t, n.Session(t), "persona_program"))
	if len(h.questions()) > 0 || len(s.made()) != 1 {
		t.Errorf("asked %v, made %v", h.questions(), s.made())
	}
}

// A hook has its say before people: they are shown what it has made of the call, and it is asked once.
func TestHooksComeBeforeApproval(t *testing.T) {
	h := newHooked(t, func(*abi.HookQuestion) (int, string) { return 200, `{"input":{"n":2}}` })
	p := newProgram(op{abi.CallToolCall, writeOp})
	s, dir := &store{}, t.TempDir()
	tier := asPersona(func(p *abi.Persona) { p.AutonomyTier = abi.TierActWithApproval })
	g := enginetest.Guests{"program": p.run, "echo": enginetest.Echo}
	n := boot(t, crashtest.NewDisk(), g, withHooks(dir, s), tier)
	n.hook(t, pre(h.url))
	id := n.Submit(t, n.Session(t), "persona_program")
	task := n.parked(t, id)
	if got := string(task.Waiting.Arguments); got != `{"n":2}` {
		t.Errorf("people are asked about %s", got)
	}
	n = boot(t, n.Disk.Crash(1, 0), g, withHooks(dir, s), tier)
	defer n.Stop(t)
	if _, err := n.RespondPermission(t.Context(), n.Root, nil, task.Waiting.PermissionID, abi.RespondRequest{Decision: "approved", Arguments: []byte(`{"n":3}`)}); err != nil {
		t.Fatal(err)
	}
	if task := n.Wait(t, id); task.Status != abi.TaskCompleted {
		t.Fatalf("%+v", task.Failure)
	}
	if got := fmt.Sprint(s.made()); len(h.questions()) != 1 || !strings.Contains(got, `"arguments":{"n":3}`) {
		t.Errorf("asked %v, made %s", h.questions(), got)
	}
	n.wantReplay(t, id)
}

// The node dies while a hook is asked: it is asked again. Once its answer is written, it is not.
func TestTheNodeDiesWhileAHookIsAsked(t *testing.T) {
	entered, leave := make(chan struct{}, 10), make(chan struct{})
	h := newHooked(t, func(*abi.HookQuestion) (int, string) {
		entered <- struct{}{}
		<-leave
		return 200, `{"input":{"n":2}}`
	})
	p := newProgram(op{abi.CallToolCall, writeOp}, op{abi.CallInputRequest, `{"prompt":"?"}`}, op{abi.CallToolCall, writeOp})
	s, dir := &store{}, t.TempDir()
	g := enginetest.Guests{"program": p.run, "echo": enginetest.Echo}
	n := boot(t, crashtest.NewDisk(), g, withHooks(dir, s))
	n.hook(t, pre(h.url))
	id := n.Submit(t, n.Session(t), "persona_program")
	<-entered
	disk := n.Disk.Crash(1, 0)
	n.abandon()
	close(leave)
	n = boot(t, disk, g, withHooks(dir, s))
	defer n.Stop(t)
	n.parked(t, id)
	asked := len(h.questions())
	if asked != 2 || len(s.made()) != 1 {
		t.Errorf("asked %v, made %v", h.questions(), s.made())
	}
	n.saidAs(t, id, "go on")
	if task := n.Wait(t, id); task.Status != abi.TaskCompleted {
		t.Fatalf("%+v", task.Failure)
	}
	if len(h.questions()) != asked+1 || len(s.made()) != 2 {
		t.Errorf("after the wait: asked %v, made %v", h.questions(), s.made())
	}
	n.wantReplay(t, id)
}

// A hook that is deleted while a call waits for it holds nothing up.
func TestAHookIsDeletedWhileItIsAsked(t *testing.T) {
	entered, leave := make(chan struct{}, 10), make(chan struct{})
	h := newHooked(t, func(*abi.HookQuestion) (int, string) {
		entered <- struct{}{}
		<-leave
		return 200, `{"decision":"deny"}`
	})
	t.Cleanup(func() { close(leave) })
	p := newProgram(op{abi.CallToolCall, writeOp})
	s := &store{}
	n := newNode(t, enginetest.Guests{"program": p.run, "echo": enginetest.Echo}, withHooks(t.TempDir(), s))
	req := pre(h.url)
	req.Fail, req.TimeoutMS = abi.HookClosed, 60_000
	hook := n.hook(t, req)
	id := n.Submit(t, n.Session(t), "persona_program")
	<-entered
	if err := n.DeleteHook(t.Context(), n.Root, nil, hook.ID); err != nil {
		t.Fatal(err)
	}
	n.Wait(t, id)
	if got := fmt.Sprint(n.triggers(t, id)); len(s.made()) != 1 || got != "[pre_tool fs:write gone]" {
		t.Errorf("made %v, told %s", s.made(), got)
	}
	n.wantReplay(t, id)
}

// A hook that takes too long has given no answer.
func TestAHookTakesTooLong(t *testing.T) {
	leave := make(chan struct{})
	h := newHooked(t, func(*abi.HookQuestion) (int, string) {
		<-leave
		return 204, ""
	})
	t.Cleanup(func() { close(leave) })
	p := newProgram(op{abi.CallToolCall, writeOp})
	n := newNode(t, enginetest.Guests{"program": p.run, "echo": enginetest.Echo}, withHooks(t.TempDir(), &store{}))
	req := pre(h.url)
	req.Fail, req.TimeoutMS = abi.HookClosed, 20
	n.hook(t, req)
	n.Wait(t, n.Submit(t, n.Session(t), "persona_program"))
	if got := p.runs()[0][0]; !strings.Contains(got, "has not answered within 20ms") {
		t.Errorf("the plugin is told %s", got)
	}
}

// Programs of the configuration are asked on their standard input.
func TestAHookIsAProgram(t *testing.T) {
	p := newProgram(op{abi.CallToolCall, writeOp}, op{abi.CallToolCall, `{"server":"fs","name":"other"}`})
	s := &store{}
	n := newNode(t, enginetest.Guests{"program": p.run, "echo": enginetest.Echo}, withHooks(t.TempDir(), s))
	n.hook(t, abi.CreateHookRequest{Event: abi.HookPreTool, Handler: abi.HookHandler{Command: "deny"}})
	id := n.Submit(t, n.Session(t), "persona_program")
	n.Wait(t, id)
	if got := p.runs()[0]; !strings.Contains(got[0], "by a program") || !strings.HasPrefix(got[1], "0 ") { // grep finds nothing, which is a failure: it is open
		t.Errorf("the plugin is told %v", got)
	}
	_, err := n.CreateHook(t.Context(), n.Root, nil, abi.CreateHookRequest{WorkspaceID: tenancy.DefaultWorkspace, Event: abi.HookStop, Handler: abi.HookHandler{Command: "rm"}})
	enginetest.WantCode(t, err, abi.CodePolicyViolation)
	n.wantReplay(t, id)
}

// What has happened is told afterwards, each to whom it concerns, with what is internal; and nothing
// is told of what was refused before it has happened.
func TestHooksAreToldAfterwards(t *testing.T) {
	h := newHooked(t, func(*abi.HookQuestion) (int, string) { return 204, "" })
	p := newProgram(op{abi.CallToolCall, writeOp}, op{abi.CallToolCall, `{"server":"host","name":"nothing"}`}, hostTool("ask", `{"prompt":"?"}`),
		op{abi.CallEventEmit, `{"kind":"com.example.seen","payload":{"a":1}}`}, op{abi.CallOutput, `{"summary":"s","failure":{"code":"it_broke","message":"broken"}}`})
	n := newNode(t, enginetest.Guests{"program": p.run, "echo": enginetest.Echo}, withHooks(t.TempDir(), &store{}))
	for _, event := range []abi.HookEvent{abi.HookPostTool, abi.HookStop, abi.HookError, abi.HookCustom} {
		n.hook(t, abi.CreateHookRequest{Event: event, Handler: abi.HookHandler{URL: h.url}})
	}
	n.hook(t, abi.CreateHookRequest{Event: abi.HookCustom, Name: "com.example.other", Handler: abi.HookHandler{URL: h.url}})
	id := n.Submit(t, n.Session(t), "persona_program")
	n.parked(t, id)
	n.saidAs(t, id, "yes")
	n.Wait(t, id)
	told := map[string]bool{}
	for range 5 {
		q := <-h.came
		q.At, q.HookID, q.SessionID = abi.Time{}, "", ""
		text, err := json.Marshal(&q, json.Deterministic(true))
		if err != nil || q.TaskID != id || q.WorkspaceID != tenancy.DefaultWorkspace {
			t.Errorf("%+v, %v", q, err)
		}
		told[strings.ReplaceAll(string(text), id, "T")] = true
	}
	for _, want := range []string{
		`"tool":"fs:write","tool_id":"call-0","input":{"n":1},"output":{"content":[{"type":"text","text":"kept"}]},"success":true`,
		`"tool":"host:ask","tool_id":"call-2","output":{"content":[{"type":"text","text":"yes"}]},"success":true`,
		`{"event":"stop","hook_id":"","workspace_id":"ws_default","session_id":"","task_id":"T","persona_id":"persona_program","status":"FAILED","failure":{"code":"it_broke","message":"broken"}`,
		`{"event":"error","hook_id":"","workspace_id":"ws_default","session_id":"","task_id":"T","persona_id":"persona_program","status":"FAILED"`,
		`"name":"com.example.seen","data":{"a":1}`,
	} {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(told)), func(text string) bool { return strings.Contains(text, want) }) {
			t.Errorf("nobody is told %s: %v", want, told)
		}
	}
	events := n.Kinds(t, desk.Filter{TaskID: id})
	if last := events[len(events)-1]; last != string(abi.EventTaskFailed) {
		t.Errorf("the last event is %s", last)
	}
	n.wantReplay(t, id)
	others := func(kind string) bool { return kind != string(abi.EventHookTriggered) }
	if got := n.triggers(t, id); len(got) != 5 || len(slices.DeleteFunc(n.Kinds(t, desk.Filter{}), others)) != 5 {
		t.Errorf("the events tell %v, or replays have told hooks something", got)
	}
}

// A fork asks the hooks anew about what it does itself.
func TestAForkIsAskedAnew(t *testing.T) {
	h := newHooked(t, func(*abi.HookQuestion) (int, string) { return 200, `{"input":{"n":2}}` })
	p := newProgram(op{abi.CallToolCall, writeOp}, op{abi.CallToolCall, writeOp})
	s := &store{}
	n := newNode(t, enginetest.Guests{"program": p.run, "echo": enginetest.Echo}, withHooks(t.TempDir(), s))
	n.hook(t, pre(h.url))
	id := n.Submit(t, n.Session(t), "persona_program")
	n.Wait(t, id)
	rec, err := n.TaskRecord(t.Context(), n.Root, id)
	if err != nil || len(rec.Entries) != 5 || rec.Entries[2].Call != abi.CallHooks {
		t.Fatal(err, len(rec.Entries))
	}
	doc, err := n.ForkTask(t.Context(), n.Root, nil, id, abi.ForkTaskRequest{AtEventID: rec.Entries[2].EventID})
	if err != nil {
		t.Fatal(err)
	}
	if fork := enginetest.As[abi.Task](t, doc); fork.Fork.Calls != 2 {
		t.Errorf("the fork shares %d calls", fork.Fork.Calls)
	}
	n.Wait(t, doc.ID)
	if len(h.questions()) != 3 || len(s.made()) != 3 {
		t.Errorf("asked %v, made %v", h.questions(), s.made())
	}
	n.wantReplay(t, doc.ID)
}

// inPlugin is the guest of a plugin that a hook names: it answers as the test says, and puts what it is told.
func inPlugin(told chan<- string, answer func(input string) string) enginetest.Guest {
	return func(ctx context.Context, h sandbox.Host) error {
		_, input, err := h.Call(ctx, abi.CallInput, nil)
		if err != nil {
			return err
		}
		var in abi.CallInputAnswer
		if err := json.Unmarshal(input, &in); err != nil {
			return err
		}
		select {
		case told <- string(in.Task.Input):
		default:
		}
		out, err := json.Marshal(&abi.CallOutputRequest{Summary: answer(string(in.Task.Input))})
		if err != nil {
			return err
		}
		return enginetest.Call(ctx, h, abi.CallOutput, string(out))
	}
}

// A hook is an export of a plugin: it is told the same as a program, answers the same, and a replay does
// not run it again.
func TestAHookIsAPlugin(t *testing.T) {
	p := newProgram(op{abi.CallToolCall, writeOp}, op{abi.CallToolCall, `{"server":"fs","name":"other"}`})
	told := make(chan string, 10)
	guard := inPlugin(told, func(input string) string {
		if strings.Contains(input, `"tool":"fs:other"`) {
			return `{"decision":"deny","reason":"by a plugin"}`
		}
		return `{"input":{"n":7}}`
	})
	s := &store{}
	n := newNode(t, enginetest.Guests{"program": p.run, "guard": guard, "echo": enginetest.Echo}, withHooks(t.TempDir(), s))
	hook := n.hook(t, abi.CreateHookRequest{Event: abi.HookPreTool, Handler: abi.HookHandler{Command: "wasm:guard#run"}})
	id := n.Submit(t, n.Session(t), "persona_program")
	n.Wait(t, id)
	if got := p.runs()[0]; !strings.HasPrefix(got[0], "0 ") || !strings.Contains(got[1], "a hook has denied this call: by a plugin") {
		t.Errorf("the plugin that is asked about is told %v", got)
	}
	if got := fmt.Sprint(s.made()); got != `[1 {"server":"fs","name":"write","arguments":{"n":7}}]` {
		t.Errorf("the tools were called with %s", got)
	}
	var q abi.HookQuestion
	if err := json.Unmarshal([]byte(<-told), &q); err != nil || q.HookID != hook.ID || q.TaskID != id || q.Tool != "fs:write" || string(q.Input) != `{"n":1}` {
		t.Errorf("the hook is told %+v, %v", q, err)
	}
	<-told
	n.wantReplay(t, id)
	if len(told) > 0 {
		t.Errorf("the replay has run the plugin: %s", <-told)
	}
}

// What a plugin does wrong is a hook that gave no answer.
func TestAHooksPluginFails(t *testing.T) {
	call := func(call, request string) enginetest.Guest {
		return func(ctx context.Context, h sandbox.Host) error {
			status, answer, err := h.Call(ctx, call, []byte(request))
			if status != abi.CallOK {
				return &abi.Failure{Code: "refused", Message: string(answer)}
			}
			return err
		}
	}
	for name, test := range map[string]struct {
		guest enginetest.Guest
		want  string // what is said of a hook that is closed
	}{
		"it traps": {func(context.Context, sandbox.Host) error {
			return &abi.Failure{Code: abi.FailurePluginTrap, Message: "unreachable"}
		}, "unreachable"},
		"it takes too long":      {func(ctx context.Context, _ sandbox.Host) error { <-ctx.Done(); return context.Cause(ctx) }, "has not answered within 50ms"},
		"it says that it fails":  {call(abi.CallOutput, `{"summary":"","failure":{"code":"x","message":"out of luck"}}`), "out of luck"},
		"it answers nonsense":    {call(abi.CallOutput, `{"summary":"certainly"}`), "no JSON object"},
		"it answers too much":    {call(abi.CallOutput, `{"summary":"`+strings.Repeat("x", 1<<20)+`"}`), "too long"},
		"it asks the world":      {call(abi.CallHTTPFetch, `{"url":"https://example.com"}`), "may not call http.fetch"},
		"it asks another plugin": {call(abi.CallTaskSpawn, `{"persona_id":"persona_echo","input":{}}`), "may not call task.spawn"},
		"it reads the Session":   {call(abi.CallTranscriptRead, `{}`), "may not call transcript.read"},
		"it says it twice": {func(ctx context.Context, h sandbox.Host) error {
			_ = call(abi.CallOutput, `{"summary":""}`)(ctx, h)
			return call(abi.CallOutput, `{"summary":""}`)(ctx, h)
		}, "has given its result already"},
		"the host itself stumbles": {func(context.Context, sandbox.Host) error { return io.ErrUnexpectedEOF }, "the plugin cannot be run now"},
	} {
		for _, fail := range []abi.HookFailure{abi.HookOpen, abi.HookClosed} {
			t.Run(name+", "+string(fail), func(t *testing.T) {
				p := newProgram(op{abi.CallToolCall, writeOp})
				s := &store{}
				n := newNode(t, enginetest.Guests{"program": p.run, "guard": test.guest, "echo": enginetest.Echo}, withHooks(t.TempDir(), s))
				req := abi.CreateHookRequest{Event: abi.HookPreTool, Handler: abi.HookHandler{Command: "wasm:guard#run"}, Fail: fail}
				if name == "it takes too long" {
					req.TimeoutMS = 50
				}
				n.hook(t, req)
				id := n.Submit(t, n.Session(t), "persona_program")
				n.Wait(t, id)
				got := p.runs()[0][0]
				if fail == abi.HookOpen && (len(s.made()) != 1 || !strings.HasPrefix(got, "0 ")) {
					t.Errorf("open: %v, %s", s.made(), got)
				}
				if fail == abi.HookClosed && (len(s.made()) != 0 || !strings.Contains(got, test.want)) {
					t.Errorf("closed: %v, %s", s.made(), got)
				}
				n.wantReplay(t, id)
			})
		}
	}
}

// A plugin that says nothing lets the call be; the last JSON that it says counts before its summary.
func TestWhatAHooksPluginAnswers(t *testing.T) {
	for name, test := range map[string]struct {
		calls []op
		want  string
	}{
		"nothing at all": {nil, "0 "},
		"no summary":     {[]op{{abi.CallOutput, `{"summary":""}`}}, "0 "},
		"a Message":      {[]op{{abi.CallMessageAppend, `{"role":"assistant","parts":[{"type":"json","value":{"decision":"deny","reason":"said"}}]}`}, {abi.CallOutput, `{"summary":"done"}`}}, "said"},
		"lines and time": {[]op{{abi.CallLog, `{"level":"info","message":"m"}`}, {abi.CallClock, ""}, {abi.CallProgress, `{"fraction":1}`}, {abi.CallOutput, `{"summary":"{\"decision\":\"deny\",\"reason\":\"at last\"}"}`}}, "at last"},
	} {
		t.Run(name, func(t *testing.T) {
			guard := func(ctx context.Context, h sandbox.Host) error {
				for _, o := range test.calls {
					if err := enginetest.Call(ctx, h, o.call, o.request); err != nil {
						return err
					}
				}
				return nil
			}
			p := newProgram(op{abi.CallToolCall, writeOp})
			n := newNode(t, enginetest.Guests{"program": p.run, "guard": guard, "echo": enginetest.Echo}, withHooks(t.TempDir(), &store{}))
			n.hook(t, abi.CreateHookRequest{Event: abi.HookPreTool, Handler: abi.HookHandler{Command: "wasm:guard#run"}, Fail: abi.HookClosed})
			n.Wait(t, n.Submit(t, n.Session(t), "persona_program"))
			if got := p.runs()[0][0]; !strings.Contains(got, test.want) {
				t.Errorf("the plugin is told %s", got)
			}
		})
	}
}

// A hook names a plugin that there is, and an export that it has; by then it may have gone.
func TestHooksNamePluginsThatThereAre(t *testing.T) {
	p := newProgram(op{abi.CallToolCall, writeOp})
	guests := enginetest.Guests{"program": p.run, "guard": inPlugin(nil, func(string) string { return "" }), "echo": enginetest.Echo}
	n := newNode(t, guests, withHooks(t.TempDir(), &store{}))
	for _, command := range []string{"wasm:", "wasm:guard", "wasm:guard#", "wasm:#run", "wasm:guard#run#run", "wasm:none#run", "wasm:guard#none", "WASM:guard#run", "wasm:../guard#run"} {
		_, err := n.CreateHook(t.Context(), n.Root, nil, abi.CreateHookRequest{WorkspaceID: tenancy.DefaultWorkspace, Event: abi.HookPreTool, Handler: abi.HookHandler{Command: command}})
		if own, ok := err.(*abi.Error); !ok || own.Code != abi.CodePolicyViolation || own.Param != "handler.command" {
			t.Errorf("%s: %v", command, err)
		}
	}
	hook := n.hook(t, abi.CreateHookRequest{Event: abi.HookPreTool, Handler: abi.HookHandler{Command: "deny"}})
	_, err := n.UpdateHook(t.Context(), n.Root, nil, hook.ID, abi.UpdateHookRequest{Handler: &abi.HookHandler{Command: "wasm:none#run"}})
	enginetest.WantCode(t, err, abi.CodePolicyViolation)
	closed := abi.HookClosed
	if _, err := n.UpdateHook(t.Context(), n.Root, nil, hook.ID, abi.UpdateHookRequest{Handler: &abi.HookHandler{Command: "wasm:guard#run"}, Fail: &closed}); err != nil {
		t.Fatal(err)
	}
	delete(guests, "guard")
	n.Wait(t, n.Submit(t, n.Session(t), "persona_program"))
	if got := p.runs()[0][0]; !strings.Contains(got, "no plugin guard") {
		t.Errorf("the plugin is told %s", got)
	}
}

// Plugins are told afterwards, too.
func TestAPluginIsToldAfterwards(t *testing.T) {
	told := make(chan string, 10)
	p := newProgram(op{abi.CallToolCall, writeOp})
	n := newNode(t, enginetest.Guests{"program": p.run, "guard": inPlugin(told, func(string) string { return "" }), "echo": enginetest.Echo}, withHooks(t.TempDir(), &store{}))
	n.hook(t, abi.CreateHookRequest{Event: abi.HookStop, Handler: abi.HookHandler{Command: "wasm:guard#run"}})
	id := n.Submit(t, n.Session(t), "persona_program")
	if got := <-told; !strings.Contains(got, `"event":"stop"`) || !strings.Contains(got, id) || !strings.Contains(got, `"status":"COMPLETED"`) {
		t.Errorf("it is told %s", got)
	}
}
