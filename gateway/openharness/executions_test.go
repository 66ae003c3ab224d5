package openharness_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/openharness/mapper"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/runtime/owntools"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
	"github.com/wharf-dev/wharf/runtime/sandbox"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// works streams, calls tools, makes an artifact and a file, and streams again.
func works(ctx context.Context, h sandbox.Host) error {
	for _, c := range [][2]string{
		{abi.CallMessageDelta, `{"text":"I look "}`}, {abi.CallMessageDelta, `{"text":"first."}`},
		{abi.CallMessageAppend, `{"role":"assistant","parts":[{"type":"text","text":"I look first."},{"type":"tool_call","tool_call_id":"c1","name":"time_now","input":{},"visibility":"internal"}]}`},
		{abi.CallToolCall, `{"call_id":"c1","server":"host","name":"time_now","arguments":{}}`},
		{abi.CallMessageAppend, `{"role":"tool","parts":[{"type":"tool_result","tool_call_id":"c1","output":"noon","status":"ok","visibility":"internal"}]}`},
		{abi.CallToolCall, `{"call_id":"c2","server":"host","name":"memory_save","arguments":{"text":"x"}}`},
		{abi.CallArtifactPut, "{\"kind\":\"file\",\"mime_type\":\"text/plain\",\"name\":\"a.txt\"}\nhello"},
		{abi.CallProgress, `{"fraction":0.5,"message":"half"}`},
		{abi.CallFileWrite, `{"path":"a/b.txt","text":"hi"}`},
		{abi.CallMessageDelta, `{"text":"It is "}`}, {abi.CallMessageDelta, `{"text":"done."}`},
		{abi.CallMessageAppend, `{"role":"assistant","parts":[{"type":"text","text":"It is done."}]}`},
		{abi.CallOutput, `{"summary":"done"}`},
	} {
		if err := call(ctx, h, c[0], c[1]); err != nil {
			return err
		}
	}
	return nil
}

const workedText = "I look first.\n\nIt is done."

// asks asks the user something, and says what was answered.
func asks(ctx context.Context, h sandbox.Host) error {
	_, answer, err := h.Call(ctx, abi.CallInputRequest, []byte(`{"prompt":"which?"}`))
	if err != nil {
		return err
	}
	var a abi.CallInputRequestAnswer
	if err := json.Unmarshal(answer, &a); err != nil {
		return err
	}
	if err := say(ctx, h, "you say "+*a.Message.Parts[0].Text); err != nil {
		return err
	}
	return call(ctx, h, abi.CallOutput, `{"summary":"asked"}`)
}

func say(ctx context.Context, h sandbox.Host, text string) error {
	m, err := json.Marshal(abi.MessageInput{Role: abi.RoleAssistant, Parts: []abi.Part{{Type: "text", Text: &text}}})
	if err != nil {
		return err
	}
	return call(ctx, h, abi.CallMessageAppend, string(m))
}

// hostTools gives a node the host's own tools.
func hostTools(_ *engine.Config, p *engine.Parts) {
	tools := tool.New(tool.Config{Servers: map[string]tool.Server{"host": owntools.All(nil)["host"]}, Grants: map[string][]string{"agent": {"host:*"}}})
	p.Performers = map[string]provider.Performer{abi.CallToolCall: tools, abi.CallToolList: tools}
}

// readAll reads a stream to its end: its text, the kinds of its events, and its tool calls. Each
// event fits the published schema.
func readAll(t testing.TB, s *events) (text, kinds, calls string) {
	t.Helper()
	for {
		ev, ok := s.next()
		if !ok {
			return text, kinds, calls
		}
		var told mapper.Told
		if err := json.Unmarshal([]byte(ev.data), &told); err != nil || told.Type != ev.event || ev.id == "" {
			t.Fatalf("%v: %v", ev, err)
		}
		schema.fits(t, "ExecutionEvent", []byte(ev.data))
		text, kinds = text+told.Content, kinds+ev.event+" "
		switch told.Type {
		case mapper.ToolStart, mapper.ToolEnd, mapper.Result:
			calls += told.ID + " " + told.Type + ";"
		}
	}
}

// A model is asked by the node's name for it, by one that the operator has given it, or by one that all
// clients use; any other is refused.
func TestModelsOfExecutions(t *testing.T) {
	n := newNode(t, nil)
	for name, want := range map[string]string{"": "", "good": "good", "opus": "good", "vendor/large": "good", "sonnet": "", "haiku": ""} {
		id := n.do(t, "POST", "/wharf/execute", map[string]string{"message": "go", "model": name}).want(202).text("execution_id")
		task, got := n.Wait(t, id), ""
		if task.Run != nil {
			got = task.Run.Model
		}
		if got != want {
			t.Errorf("%q asks %q, not %q", name, got, want)
		}
	}
	for _, name := range []string{"Opus", "opus ", "best"} {
		got := n.do(t, "POST", "/wharf/execute", map[string]string{"message": "go", "model": name}).want(400)
		if got.text("error.code") != "model_not_available" && got.text("error.code") != "MODEL_NOT_AVAILABLE" || !strings.Contains(got.text("error.message"), "there are fast, good") {
			t.Errorf("%q: %s", name, got.body)
		}
	}
}

// An execution is accepted at once, and its result is the same as what its stream tells.
func TestExecute(t *testing.T) {
	n := newNode(t, enginetest.Guests{"agent": works}, hostTools)
	begun := n.do(t, "POST", "/wharf/execute", `{"message":"go","unknown":1}`).want(202)
	id := begun.text("execution_id")
	if begun.header.Get("X-Execution-ID") != id || begun.header.Get("Location") != "/v1/harnesses/wharf/executions/"+id || begun.text("status") != "pending" {
		t.Errorf("%s %v", begun.body, begun.header)
	}
	text, kinds, calls := readAll(t, n.streams(t, "GET", strings.TrimPrefix(begun.text("stream_url"), "/v1/harnesses"), nil))
	const toldCalls = "c1 tool_call_start;c1 tool_call_end;c1 tool_result;c2 tool_call_start;c2 tool_call_end;c2 tool_result;"
	if text != workedText || calls != toldCalls || !strings.HasSuffix(kinds, "done ") || strings.Count(kinds, "done") != 1 || strings.Count(kinds, "artifact") != 2 {
		t.Errorf("%q, %s, %s", text, kinds, calls)
	}
	result := n.do(t, "GET", "/wharf/executions/"+id+"/result", nil).want(200)
	if result.text("result.output") != text || result.text("result.status") != "completed" || result.text("result.artifacts.0.name") != "a.txt" || result.text("result.tool_calls.1.name") != "memory_save" {
		t.Errorf("%s", result.body)
	}
	got := n.do(t, "GET", "/wharf/executions/"+id, nil).want(200)
	if got.text("execution.status") != "completed" || got.text("execution_id") != id || got.get("execution.artifacts_count") != 1.0 {
		t.Errorf("%s", got.body)
	}
	if list := n.do(t, "GET", "/wharf/executions", nil).want(200); list.text("data.0.id") != id || list.get("total") != 1.0 {
		t.Errorf("%s", list.body)
	}
	listed := n.do(t, "GET", "/wharf/executions/"+id+"/tool-calls", nil).want(200)
	if listed.text("tool_calls.0.status") != "completed" || listed.text("tool_calls.1.input.text") != "x" {
		t.Errorf("%s", listed.body)
	}
	artifacts := n.do(t, "GET", "/wharf/executions/"+id+"/artifacts", nil).want(200)
	down := n.at(t, "GET", "/v1/harnesses/wharf/executions/"+id+"/artifacts/"+artifacts.text("artifacts.0.id"), nil).want(200)
	if string(down.body) != "hello" || down.header.Get("Content-Type") != "text/plain" || !strings.Contains(down.header.Get("Content-Disposition"), "a.txt") {
		t.Errorf("%s %v", down.body, down.header)
	}
	if sessions := n.do(t, "GET", "/wharf/sessions", nil).want(200); sessions.get("total") != 0.0 {
		t.Errorf("a hidden session is listed: %s", sessions.body)
	}
	n.do(t, "POST", "/wharf/executions/"+id+"/cancel", nil).fails(409, "CONFLICT")
	n.do(t, "POST", "/wharf/executions/"+id+"/input", `{"data":"x"}`).fails(410, "GONE")
}

// A stream that is cut after any event, and resumed, tells the rest, as if it had not been cut; and
// so does a client that asks for the execution anew.
func TestCutAnywhere(t *testing.T) {
	n := newNode(t, enginetest.Guests{"agent": works}, hostTools)
	id := n.do(t, "POST", "/wharf/execute", `{"message":"go"}`).want(202).text("execution_id")
	n.Wait(t, id)
	path := "/wharf/executions/" + id + "/stream"
	var all []sse
	for s := n.streams(t, "GET", path, nil); ; {
		ev, ok := s.next()
		if !ok {
			break
		}
		all = append(all, ev)
	}
	last := len(all) - 1
	for cut := range all[:last] {
		rest := n.streams(t, "GET", path, nil, header("Last-Event-ID", all[cut].id))
		for _, want := range all[cut+1:] {
			if got, ok := rest.next(); !ok || got != want {
				t.Fatalf("after %v comes %v, want %v", all[cut], got, want)
			}
		}
		if ev, more := rest.next(); more {
			t.Fatalf("after the end comes %v", ev)
		}
	}
	if got := n.at(t, "GET", "/v1/harnesses"+path, nil, header("Last-Event-ID", all[last].id)); got.status != 204 {
		t.Errorf("a client that has seen the end is answered %d", got.status)
	}
	resumed := n.streams(t, "POST", "/wharf/execute/stream", `{"message":"go"}`, header("Last-Event-ID", all[0].id))
	if got, _ := resumed.next(); got != all[1] {
		t.Errorf("it is resumed with %v, want %v", got, all[1])
	}
	attached := n.streams(t, "POST", "/wharf/execute/stream", nil, header("X-Execution-ID", id))
	if got, _ := attached.next(); got != all[0] {
		t.Errorf("it is attached to with %v, want %v", got, all[0])
	}
	if list := n.do(t, "GET", "/wharf/executions", nil).want(200); list.get("total") != 1.0 {
		t.Errorf("a second one was begun: %s", list.body)
	}
}

// Executions stream at once, and so do messages.
func TestExecuteStream(t *testing.T) {
	n := newNode(t, enginetest.Guests{"agent": works}, hostTools)
	begun := n.streams(t, "POST", "/wharf/execute/stream", `{"message":"go"}`)
	if id := begun.res.Header.Get("X-Execution-ID"); id == "" {
		t.Error("a client that loses its connection before the first event does not know what it has begun")
	} else if text, _, _ := readAll(t, n.streams(t, "POST", "/wharf/execute/stream", nil, header("X-Execution-ID", id))); text != workedText {
		t.Errorf("%q", text)
	}
	if text, _, _ := readAll(t, begun); text != workedText {
		t.Errorf("%q", text)
	}
	session := n.do(t, "POST", "/wharf/sessions", nil).want(201).text("session.id")
	if text, _, _ := readAll(t, n.streams(t, "POST", "/wharf/sessions/"+session+"/message/stream", `{"content":"go"}`)); text != workedText {
		t.Errorf("%q", text)
	}
}

// What an execution waits for is said, and answered.
func TestInput(t *testing.T) {
	n := newNode(t, enginetest.Guests{"agent": asks})
	id := n.do(t, "POST", "/wharf/execute", `{"message":"go"}`).want(202).text("execution_id")
	s := n.streams(t, "GET", "/wharf/executions/"+id+"/stream", nil)
	if ev := s.wants("progress"); !strings.Contains(ev.data, `"prompt":"which?"`) || !strings.Contains(ev.data, `"kind":"input"`) {
		t.Errorf("%v", ev)
	}
	if got := n.do(t, "GET", "/wharf/executions/"+id, nil).want(200); got.text("execution.waiting.prompt") != "which?" || got.text("execution.status") != "running" {
		t.Errorf("%s", got.body)
	}
	n.do(t, "GET", "/wharf/executions/"+id+"/result", nil).fails(409, "CONFLICT")
	n.do(t, "POST", "/wharf/executions/"+id+"/input", `{"data":""}`).fails(400, "VALIDATION_ERROR")
	n.do(t, "POST", "/wharf/executions/"+id+"/input", `{"data":"this one\n"}`).want(200)
	s.wants("done")
	if got := n.do(t, "GET", "/wharf/executions/"+id+"/result", nil).want(200); got.text("result.output") != "you say this one" {
		t.Errorf("%s", got.body)
	}
}

// Canceling says so in the stream, once, and the result is that of a canceled execution.
func TestCancel(t *testing.T) {
	g, entered, _ := hold()
	n := newNode(t, enginetest.Guests{"agent": g})
	id := n.do(t, "POST", "/wharf/execute", `{"message":"go"}`).want(202).text("execution_id")
	<-entered
	n.do(t, "POST", "/wharf/executions/"+id+"/input", `{"data":"x"}`).fails(409, "CONFLICT")
	s := n.streams(t, "GET", "/wharf/executions/"+id+"/stream", nil)
	if got := n.do(t, "POST", "/wharf/executions/"+id+"/cancel", nil).want(200); got.get("cancelled") != true || got.text("execution.status") != "cancelled" {
		t.Errorf("%s", got.body)
	}
	if _, kinds, _ := readAll(t, s); kinds != "error done " {
		t.Errorf("%s", kinds)
	}
	if got := n.do(t, "GET", "/wharf/executions/"+id+"/result", nil).want(200); got.text("result.status") != "cancelled" {
		t.Errorf("%s", got.body)
	}
}

// The limits of the document, and one beyond each.
func TestLimitsOfExecutions(t *testing.T) {
	n := newNode(t, nil)
	for name, c := range map[string]struct {
		body   map[string]any
		status int
	}{
		"longest":     {map[string]any{"message": strings.Repeat("é", 100_000)}, 202},
		"too long":    {map[string]any{"message": strings.Repeat("é", 100_001)}, 400},
		"empty":       {map[string]any{"message": ""}, 400},
		"none":        {map[string]any{}, 400},
		"tokens":      {map[string]any{"message": "x", "max_tokens": 200_000}, 202},
		"tokens +1":   {map[string]any{"message": "x", "max_tokens": 200_001}, 400},
		"tokens 0":    {map[string]any{"message": "x", "max_tokens": 0}, 400},
		"heat":        {map[string]any{"message": "x", "temperature": 1}, 202},
		"too hot":     {map[string]any{"message": "x", "temperature": 1.01}, 400},
		"cold":        {map[string]any{"message": "x", "temperature": 0}, 202},
		"colder":      {map[string]any{"message": "x", "temperature": -0.01}, 400},
		"no agent":    {map[string]any{"message": "x", "agent_id": "persona_none"}, 404},
		"no session":  {map[string]any{"message": "x", "session_id": "sess_none"}, 404},
		"wrong type":  {map[string]any{"message": 7}, 400},
		"prompt":      {map[string]any{"message": "x", "system_prompt": strings.Repeat("p", 16<<10)}, 202},
		"long prompt": {map[string]any{"message": "x", "system_prompt": strings.Repeat("p", 16<<10+1)}, 400},
	} {
		if got := n.do(t, "POST", "/wharf/execute", c.body); got.status != c.status {
			t.Errorf("%s: %d %.200s", name, got.status, got.body)
		}
	}
}

// A write that is sent again begins nothing more.
func TestExecuteAgain(t *testing.T) {
	n := newNode(t, nil)
	first := n.do(t, "POST", "/wharf/execute", `{"message":"x"}`, header("Idempotency-Key", "k")).want(202)
	again := n.do(t, "POST", "/wharf/execute", `{"message":"x"}`, header("Idempotency-Key", "k")).want(202)
	if first.text("execution_id") != again.text("execution_id") || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("%s, %s", first.body, again.body)
	}
	n.do(t, "POST", "/wharf/execute", `{"message":"y"}`, header("Idempotency-Key", "k")).fails(409, "CONFLICT")
}

// Each route is for the keys with its scope, and shows nothing to others.
func TestWhoSeesExecutions(t *testing.T) {
	n := newNode(t, enginetest.Guests{"agent": works}, hostTools)
	n.do(t, "POST", "", register).want(201)
	mine, err := n.Harness(t.Context(), n.Root, "mine")
	if err != nil {
		t.Fatal(err)
	}
	id := n.do(t, "POST", "/wharf/execute", `{"message":"go"}`).want(202).text("execution_id")
	n.Wait(t, id)
	art := n.do(t, "GET", "/wharf/executions/"+id+"/artifacts", nil).want(200).text("artifacts.0.id")
	session := n.do(t, "POST", "/wharf/sessions", `{}`).want(201).text("session.id")
	bound, stranger, wrong := n.key(t, []string{"*"}, mine.WorkspaceID), n.stranger(t), n.key(t, []string{"vaults:read"})
	for _, rt := range []struct{ method, path, body, scope string }{
		{"GET", "/executions", "", "tasks:read"}, {"POST", "/execute", `{"message":"x"}`, "tasks:write"},
		{"POST", "/execute/stream", `{"message":"x"}`, "tasks:write"},
		{"GET", "/executions/" + id, "", "tasks:read"}, {"GET", "/executions/" + id + "/stream", "", "events:read"},
		{"GET", "/executions/" + id + "/result", "", "tasks:read"}, {"GET", "/executions/" + id + "/artifacts", "", "tasks:read"},
		{"GET", "/executions/" + id + "/artifacts/" + art, "", "artifacts:read"}, {"GET", "/executions/" + id + "/tool-calls", "", "tasks:read"},
		{"POST", "/executions/" + id + "/input", `{"data":"x"}`, "tasks:write"}, {"POST", "/executions/" + id + "/cancel", "", "tasks:write"},
		{"GET", "/sessions", "", "sessions:read"}, {"POST", "/sessions", `{}`, "sessions:write"}, {"GET", "/sessions/" + session, "", "sessions:read"},
		{"PATCH", "/sessions/" + session, `{"name":"n"}`, "sessions:write"}, {"POST", "/sessions/" + session + "/resume", "", "sessions:write"},
		{"GET", "/sessions/" + session + "/history", "", "messages:read"}, {"POST", "/sessions/" + session + "/fork", `{}`, "sessions:write"},
		{"POST", "/sessions/" + session + "/message", `{"content":"x"}`, "tasks:write"}, {"POST", "/sessions/" + session + "/message/stream", `{"content":"x"}`, "tasks:write"},
		{"DELETE", "/sessions/" + session, "", "sessions:write"},
	} {
		var body any
		if rt.body != "" {
			body = rt.body
		}
		n.do(t, rt.method, "/wharf"+rt.path, body, by("")).fails(401, "UNAUTHORIZED")
		n.do(t, rt.method, "/wharf"+rt.path, body, by(wrong)).fails(403, "FORBIDDEN")
		n.do(t, rt.method, "/wharf"+rt.path, body, by(bound)).fails(404, "NOT_FOUND")
		if strings.Contains(rt.path, "_") { // it names something that is another's
			n.do(t, rt.method, "/mine"+rt.path, body).fails(404, "NOT_FOUND")
			n.do(t, rt.method, "/wharf"+rt.path, body, by(stranger)).fails(404, "NOT_FOUND")
		}
		if got := n.at(t, rt.method, "/v1/harnesses/wharf"+rt.path, body, by(n.key(t, []string{rt.scope, "sessions:write"}))); got.status == 401 || got.status == 403 {
			t.Errorf("%s %s with %s: %s", rt.method, rt.path, rt.scope, got.body)
		}
	}
	for _, path := range []string{"/executions/task_none", "/executions/task_none/stream", "/sessions/sess_none", "/executions/" + id + "/artifacts/art_none"} {
		n.do(t, "GET", "/wharf"+path, nil).fails(404, "NOT_FOUND")
	}
}

// A session is a conversation: named, paused, resumed, forked and ended.
func TestSessions(t *testing.T) {
	n := newNode(t, enginetest.Guests{"agent": works}, hostTools)
	made := n.do(t, "POST", "/wharf/sessions", `{"name":"talk","system_prompt":"be kind"}`).want(201)
	id := made.text("session.id")
	if !strings.HasPrefix(made.text("connect_url"), "ws://") || !strings.HasSuffix(made.text("connect_url"), "/sessions/"+id+"/connect") || made.text("session.name") != "talk" {
		t.Errorf("%s", made.body)
	}
	said := n.do(t, "POST", "/wharf/sessions/"+id+"/message", `{"content":"hello"}`).want(200)
	if said.text("message.content") != "hello" || said.text("response.content") != workedText || said.text("response.tool_calls.0.name") != "time_now" {
		t.Errorf("%s", said.body)
	}
	history := n.do(t, "GET", "/wharf/sessions/"+id+"/history", nil).want(200)
	if history.get("total") != 3.0 || history.text("data.1.tool_calls.0.output.value") != "noon" || history.text("data.2.content") != "It is done." {
		t.Errorf("%s", history.body)
	}
	if got := n.do(t, "GET", "/wharf/sessions/"+id, nil).want(200); got.get("session.message_count") != 3.0 {
		t.Errorf("%s", got.body)
	}
	if got := n.do(t, "GET", "/wharf/sessions/"+id+"/history?limit=1&offset=1", nil).want(200); got.text("data.0.role") != "assistant" || got.get("has_more") != true {
		t.Errorf("%s", got.body)
	}
	fork := n.do(t, "POST", "/wharf/sessions/"+id+"/fork", map[string]string{"new_name": "other", "from_message_id": history.text("data.1.id")}).want(201)
	if fork.text("forked_from") != id || fork.get("message_count") != 2.0 || fork.text("session.name") != "other" {
		t.Errorf("%s", fork.body)
	}
	n.do(t, "POST", "/wharf/sessions/"+id+"/fork", `{"from_message_id":"msg_none"}`).fails(400, "VALIDATION_ERROR")
	if got := n.do(t, "PATCH", "/wharf/sessions/"+id, `{"status":"paused","name":"still"}`).want(200); got.text("session.status") != "paused" || got.text("session.name") != "still" {
		t.Errorf("%s", got.body)
	}
	n.do(t, "POST", "/wharf/sessions/"+id+"/message", `{"content":"x"}`).fails(409, "CONFLICT")
	if got := n.do(t, "GET", "/wharf/sessions?status=paused", nil).want(200); got.get("total") != 1.0 || got.text("data.0.id") != id {
		t.Errorf("%s", got.body)
	}
	n.do(t, "PATCH", "/wharf/sessions/"+id, `{"status":"ended"}`).fails(400, "VALIDATION_ERROR")
	if got := n.do(t, "POST", "/wharf/sessions/"+id+"/resume", nil).want(200); got.text("session.status") != "active" {
		t.Errorf("%s", got.body)
	}
	n.do(t, "DELETE", "/wharf/sessions/"+id, nil).want(204)
	n.do(t, "POST", "/wharf/sessions/"+id+"/resume", nil).fails(409, "CONFLICT")
	if got := n.do(t, "GET", "/wharf/sessions/"+id, nil).want(200); got.text("session.status") != "ended" {
		t.Errorf("%s", got.body)
	}
	n.do(t, "DELETE", "/wharf/sessions/"+id+"?delete_history=true", nil).want(204)
	n.do(t, "GET", "/wharf/sessions/"+id, nil).fails(404, "NOT_FOUND")
	n.do(t, "POST", "/wharf/sessions", map[string]string{"name": strings.Repeat("n", 101)}).fails(400, "VALIDATION_ERROR")
	n.do(t, "GET", "/wharf/sessions?status=odd", nil).fails(400, "VALIDATION_ERROR")
}

// Messages that are sent at once are answered one after the other.
func TestMessagesInTurn(t *testing.T) {
	var mu sync.Mutex
	running, most := 0, 0
	n := newNode(t, enginetest.Guests{"agent": func(ctx context.Context, h sandbox.Host) error {
		mu.Lock()
		running++
		most = max(most, running)
		mu.Unlock()
		err := say(ctx, h, "ok")
		mu.Lock()
		running--
		mu.Unlock()
		if err != nil {
			return err
		}
		return call(ctx, h, abi.CallOutput, `{"summary":"ok"}`)
	}})
	id := n.do(t, "POST", "/wharf/sessions", nil).want(201).text("session.id")
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if got := n.do(t, "POST", "/wharf/sessions/"+id+"/message", fmt.Sprintf(`{"content":"%d"}`, i)); got.status != 200 {
				t.Errorf("%d: %s", got.status, got.body)
			}
		})
	}
	all.Wait()
	if most != 1 {
		t.Errorf("%d ran at once", most)
	}
	if got := n.do(t, "GET", "/wharf/sessions/"+id+"/history", nil).want(200); got.get("total") != 16.0 {
		t.Errorf("%s", got.body)
	}
}

// A message whose answer takes longer than a request may is not lost.
func TestSlowAnswer(t *testing.T) {
	g, entered, leave := hold()
	n := startNode(t, crashtest.NewDisk(), enginetest.Guests{"agent": g}, gateway.Config{WaitLimit: 1})
	id := n.do(t, "POST", "/wharf/sessions", nil).want(201).text("session.id")
	said := n.do(t, "POST", "/wharf/sessions/"+id+"/message", `{"content":"hello"}`).want(202)
	if said.text("message.content") != "hello" || !strings.HasSuffix(said.text("stream_url"), "/stream") {
		t.Errorf("%s", said.body)
	}
	<-entered
	close(leave)
	if text, _, _ := readAll(t, n.streams(t, "GET", strings.TrimPrefix(said.text("stream_url"), "/v1/harnesses"), nil)); text != "hello" {
		t.Errorf("%q", text)
	}
}

// counts says how many messages the lists of sessions, a page at a time, each session and its history have, which is the same.
func (n *node) counts(t testing.TB, ids ...string) (all []float64) {
	t.Helper()
	listed := map[string]any{}
	for _, query := range []string{"?limit=1", "?limit=1&agent_id=persona_agent", "?limit=100&status=active"} {
		for more, cursor := true, ""; more; {
			page := n.do(t, "GET", "/wharf/sessions"+query+cursor, nil).want(200)
			for i := range page.get("data").([]any) {
				at := fmt.Sprintf("data.%d.", i)
				count, id := page.get(at+"message_count"), page.text(at+"id")
				if before, ok := listed[id]; ok && before != count {
					t.Errorf("%s: %v and %v", query, before, count)
				}
				listed[id] = count
			}
			if more = page.get("has_more") == true; more {
				cursor = "&cursor=" + page.text("cursor")
			}
		}
	}
	for _, id := range ids {
		alone, history := n.do(t, "GET", "/wharf/sessions/"+id, nil).want(200), n.do(t, "GET", "/wharf/sessions/"+id+"/history", nil).want(200)
		if alone.get("session.message_count") != listed[id] || history.get("total") != listed[id] {
			t.Errorf("%s has %v, in lists %v, and a history of %v", id, alone.get("session.message_count"), listed[id], history.get("total"))
		}
		all = append(all, listed[id].(float64))
	}
	return all
}

// What tools have answered counts with the message that called them, wherever a session is shown.
func TestMessagesAreCountedAlike(t *testing.T) {
	n := newNode(t, enginetest.Guests{"agent": works}, hostTools)
	var ids []string
	for range 3 {
		ids = append(ids, n.do(t, "POST", "/wharf/sessions", nil).want(201).text("session.id"))
	}
	say := func(id string) { n.do(t, "POST", "/wharf/sessions/"+id+"/message", `{"content":"hello"}`).want(200) }
	say(ids[0])
	say(ids[1])
	if got := n.counts(t, ids...); !slices.Equal(got, []float64{3, 3, 0}) {
		t.Error(got)
	}
	say(ids[0])
	if got := n.counts(t, ids...); !slices.Equal(got, []float64{6, 3, 0}) {
		t.Errorf("after another message: %v", got)
	}
	keep := 2
	if _, err := n.TruncateSession(t.Context(), n.Root, nil, ids[0], abi.TruncateSessionRequest{KeepTurns: &keep}); err != nil {
		t.Fatal(err)
	}
	say(ids[1])
	if got := n.counts(t, ids...); !slices.Equal(got, []float64{2, 6, 0}) {
		t.Errorf("after a turn was taken back: %v", got)
	}
	again := startNode(t, n.Disk.Crash(1, 0), enginetest.Guests{"agent": works}, gateway.Config{}, hostTools)
	if got := again.counts(t, ids...); !slices.Equal(got, []float64{2, 6, 0}) {
		t.Errorf("after a restart: %v", got)
	}
}
