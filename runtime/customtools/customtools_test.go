package customtools_test

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/connector/signature"
	"github.com/wharf-dev/wharf/runtime/customtools"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/internal/roomtest"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
	"github.com/wharf-dev/wharf/runtime/redact"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/memory"
)

// asProgram makes the test binary a program that answers a call.
const asProgram = "as-program"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == asProgram {
		runProgram(os.Args[2])
		return
	}
	os.Exit(m.Run())
}

func runProgram(kind string) {
	input, _ := io.ReadAll(os.Stdin)
	switch kind {
	case "echo":
		_ = json.NewEncoder(os.Stdout).Encode(map[string]any{"args": os.Args[3:], "got": json.RawMessage(input), "env": os.Getenv("WHARF_CANARY")})
	case "fail":
		os.Exit(3)
	case "flood":
		fmt.Print(strings.Repeat("x", 4<<20+1))
	case "text":
		fmt.Print("no JSON")
	}
}

type room struct {
	*roomtest.House
	*customtools.Keeper
	tools  *tool.Tools
	added  *tool.Added
	values roomtest.Values
	config customtools.Config
}

func newRoom(t testing.TB) *room {
	r := &room{House: roomtest.New(t, memory.New(time.Now)), values: roomtest.Values{}, config: customtools.Config{Most: 3, Private: true, Commands: map[string][]string{}}}
	for _, kind := range []string{"echo", "fail", "flood", "text"} {
		r.config.Commands[kind] = []string{os.Args[0], asProgram, kind, "fixed"}
	}
	r.config.Commands["gone"] = []string{"/no/such/program"}
	r.furnish(t)
	return r
}

// furnish begins a life of the node.
func (r *room) furnish(t testing.TB) {
	t.Helper()
	r.added = tool.NewAdded()
	r.tools = tool.New(tool.Config{Added: r.added})
	r.Keeper = customtools.NewKeeper(customtools.Parts{Parts: r.Parts, Config: r.config, Added: r.added, Values: r.values, Entropy: rand.Reader,
		TenantID: func(n storage.Tenant) string { return fmt.Sprint("tenant_", n) }})
	if err := r.LoadCustomTools(t.Context(), []*abi.Tenant{{Number: uint32(roomtest.Tenant)}}); err != nil {
		t.Fatal(err)
	}
}

func good() abi.CreateCustomToolRequest {
	return abi.CreateCustomToolRequest{WorkspaceID: roomtest.Workspace, Name: "lookup", Description: "Looks up.",
		InputSchema: []byte(`{"type":"object","properties":{"q":{"type":"string"}}}`), Handler: abi.ToolHandler{URL: "https://tools.test/x?token=secret"}}
}

func (r *room) create(t testing.TB, change func(*abi.CreateCustomToolRequest)) abi.CustomTool {
	t.Helper()
	req := good()
	change(&req)
	doc, err := r.CreateCustomTool(t.Context(), r.Root(), nil, req)
	if err != nil {
		t.Fatal(err)
	}
	return roomtest.As[abi.CustomTool](t, doc)
}

// ask makes a host call of a Task's plugin.
func (r *room) ask(t testing.TB, workspace, call, request string) (string, provider.Plan, error) {
	t.Helper()
	c := &provider.Call{Name: call, Request: []byte(request), Tenant: fmt.Sprint("tenant_", roomtest.Tenant), WorkspaceID: workspace, TaskID: "task_1", Plugin: "agent", IdempotencyKey: "k"}
	plan, err := r.tools.Prepare(t.Context(), c)
	if err != nil {
		return "", plan, err
	}
	answer, err := plan.Do(t.Context(), func(string) {})
	return string(answer), plan, err
}

func (r *room) call(t testing.TB, name string) (string, error) {
	t.Helper()
	answer, _, err := r.ask(t, roomtest.Workspace, abi.CallToolCall, fmt.Sprintf(`{"server":"custom","name":%q,"arguments":{"q":"x"}}`, name))
	return answer, err
}

func wantRefused(t testing.TB, err error, status abi.CallStatus, code string) {
	t.Helper()
	if refused, ok := errors.AsType[*provider.Refusal](err); !ok || refused.Status != status || refused.Code != code {
		t.Errorf("got %v, want status %d and %s", err, status, code)
	}
}

// receiver answers requests, and keeps the last.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	answer func(http.ResponseWriter)
	header http.Header
	body   []byte
}

// answers has it answer like this from now on.
func (r *receiver) answers(answer func(http.ResponseWriter)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = answer
}

// last returns the last request; a nil body is none.
func (r *receiver) last() (http.Header, []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.header, r.body
}

func newReceiver(t testing.TB) *receiver {
	r := &receiver{answer: func(w http.ResponseWriter) { _, _ = io.WriteString(w, `{"found":[1]}`) }}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.mu.Lock()
		r.header, r.body = req.Header, body
		answer := r.answer
		r.mu.Unlock()
		answer(w)
	}))
	t.Cleanup(r.Close)
	t.Cleanup(r.CloseClientConnections)
	return r
}

// A tool that requests answer is listed and called, also in the node's next life: its receiver can
// check from whom they are.
func TestToolsThatRequestsAnswer(t *testing.T) {
	r, s := newRoom(t), newReceiver(t)
	doc, err := r.CreateCustomTool(t.Context(), r.Root(), nil, func() abi.CreateCustomToolRequest {
		req := good()
		req.Handler = abi.ToolHandler{URL: s.URL, Signature: &abi.WebhookSignature{Header: "X-Sign", Prefix: "sha256="}}
		return req
	}())
	if err != nil {
		t.Fatal(err)
	}
	var made struct{ ID, Secret string }
	if err := json.Unmarshal(doc.JSON, &made); err != nil || !strings.HasPrefix(made.Secret, "whsec_") {
		t.Fatalf("%s, %v", doc.JSON, err)
	}
	for range 2 {
		list, _, err := r.ask(t, roomtest.Workspace, abi.CallToolList, `{}`)
		if err != nil || !strings.Contains(list, `"server":"custom","name":"lookup"`) {
			t.Errorf("%s, %v", list, err)
		}
		answer, plan, err := r.ask(t, roomtest.Workspace, abi.CallToolCall, `{"server":"custom","name":"lookup","arguments":{"q":"x"}}`)
		if err != nil || !strings.Contains(answer, `"structured":{"found":[1]}`) || plan.Effect != abi.EffectWrite || plan.Repeatable || plan.By != "custom_tool:"+made.ID {
			t.Errorf("%s, %+v, %v", answer, plan, err)
		}
		header, body := s.last()
		if string(body) != `{"tool":"lookup","input":{"q":"x"},"execution_id":"task_1"}` {
			t.Errorf("it is sent %s", body)
		}
		mac := hmac.New(sha256.New, []byte(made.Secret))
		mac.Write(body)
		if got := header.Get("X-Sign"); got != "sha256="+hex.EncodeToString(mac.Sum(nil)) {
			t.Errorf("signed with %s", got)
		}
		signed, err := signature.Sign(abi.WebhookAuth{Scheme: abi.SchemeStandard}, []byte(made.Secret), header.Get("webhook-id"), body, r.Parts.Now())
		if err != nil || header.Get("webhook-id") == "" || signed["webhook-signature"] != header.Get("webhook-signature") && signed["webhook-timestamp"] == header.Get("webhook-timestamp") {
			t.Errorf("%v, not %v, %v", header, signed, err)
		}
		r.Crash()
		r.furnish(t)
	}
	if shown, err := r.CustomTool(t.Context(), r.Root(), roomtest.Workspace, made.ID); err != nil || strings.Contains(string(shown.JSON), made.Secret) {
		t.Errorf("a read shows %s, %v", shown.JSON, err)
	}
	events, _, err := r.Desk.Events(t.Context(), r.Root(), desk.Filter{}, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range events {
		rec := ev.Record()
		if shown := string(redact.State(rec.Resource.Object, rec.State, true)) + string(rec.Payload); strings.Contains(shown, made.Secret) {
			t.Errorf("an event tells %s", shown)
		}
	}
}

// What a receiver answers is taken, or refused with the reason.
func TestWhatReceiversAnswer(t *testing.T) {
	r, s := newRoom(t), newReceiver(t)
	r.create(t, func(q *abi.CreateCustomToolRequest) { q.Handler.URL = s.URL })
	write := func(text string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) { _, _ = io.WriteString(w, text) }
	}
	for name, test := range map[string]struct {
		answer func(http.ResponseWriter)
		want   string // in the answer
		status abi.CallStatus
		code   string
	}{
		"an object":     {write(` { "a" : 1 } `), `"structured":{"a":1}`, 0, ""},
		"a text":        {write(`"a \"b\""`), `"text":"a \"b\""`, 0, ""},
		"a list":        {write(`[1, 2]`), `"text":"[1,2]"`, 0, ""},
		"nothing":       {func(w http.ResponseWriter) { w.WriteHeader(204) }, `"content":[]`, 0, ""},
		"the most":      {write(`"` + strings.Repeat("x", 4<<20-2) + `"`), `xxx`, 0, ""},
		"one more":      {write(`"` + strings.Repeat("x", 4<<20-1) + `"`), "", abi.CallTooLarge, tool.CodeTooLarge},
		"no JSON":       {write(`<html>`), "", abi.CallUnavailable, tool.CodeRejected},
		"half":          {write(`{"a":`), "", abi.CallUnavailable, tool.CodeRejected},
		"an error":      {func(w http.ResponseWriter) { w.WriteHeader(500) }, "", abi.CallUnavailable, tool.CodeRejected},
		"a redirect":    {func(w http.ResponseWriter) { w.Header().Set("Location", "/"); w.WriteHeader(307) }, "", abi.CallUnavailable, tool.CodeRejected},
		"far too deep":  {write(`{"a":` + strings.Repeat("[", 900) + strings.Repeat("]", 900) + `}`), "", abi.CallTooLarge, tool.CodeTooLarge},
		"it breaks off": {func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, "", abi.CallUnavailable, tool.CodeUnavailable},
	} {
		s.answers(test.answer)
		answer, err := r.call(t, "lookup")
		if test.code != "" {
			t.Run(name, func(t *testing.T) { wantRefused(t, err, test.status, test.code) })
		} else if err != nil || !strings.Contains(answer, test.want) {
			t.Errorf("%s: %.200s, %v", name, answer, err)
		}
	}
}

// A program gets the call on its standard input and nothing of the node's environment; what is
// wrong with it is told without where it lies.
func TestToolsThatProgramsAnswer(t *testing.T) {
	t.Setenv("WHARF_CANARY", "canary")
	r := newRoom(t)
	r.config.Most = 10
	r.furnish(t)
	for name := range r.config.Commands {
		r.create(t, func(q *abi.CreateCustomToolRequest) {
			q.Name, q.Handler = name, abi.ToolHandler{Command: name, Args: []string{"more"}}
		})
	}
	answer, err := r.call(t, "echo")
	if err != nil || !strings.Contains(answer, `"args":["fixed","more"]`) || !strings.Contains(answer, `"got":{"tool":"echo","input":{"q":"x"},"execution_id":"task_1"}`) || !strings.Contains(answer, `"env":""`) {
		t.Errorf("%s, %v", answer, err)
	}
	for name, want := range map[string]struct {
		status abi.CallStatus
		code   string
	}{"fail": {abi.CallUnavailable, tool.CodeRejected}, "flood": {abi.CallTooLarge, tool.CodeTooLarge}, "text": {abi.CallUnavailable, tool.CodeRejected}, "gone": {abi.CallUnavailable, tool.CodeUnavailable}} {
		_, err := r.call(t, name)
		t.Run(name, func(t *testing.T) { wantRefused(t, err, want.status, want.code) })
		if err != nil && strings.Contains(err.Error(), "/no/such") {
			t.Errorf("a plugin learns %v", err)
		}
	}
	r.config.Commands = nil
	r.Crash()
	r.furnish(t)
	_, err = r.call(t, "echo")
	wantRefused(t, err, abi.CallUnavailable, tool.CodeUnavailable)
}

// A tool is the Workspace's that it was made for: others neither list nor call it, and have one of
// its name themselves.
func TestToolsOfAnotherWorkspace(t *testing.T) {
	r := newRoom(t)
	r.NewWorkspace(t, "ws_other")
	about := r.create(t, func(q *abi.CreateCustomToolRequest) { q.Handler = abi.ToolHandler{Command: "echo"} })
	list, _, err := r.ask(t, "ws_other", abi.CallToolList, `{}`)
	if err != nil || strings.Contains(list, "lookup") {
		t.Errorf("%s, %v", list, err)
	}
	_, _, err = r.ask(t, "ws_other", abi.CallToolCall, `{"server":"custom","name":"lookup"}`)
	wantRefused(t, err, abi.CallNotFound, tool.CodeUnknown)
	for name, c := range r.Strangers() {
		if _, err := r.CustomTool(t.Context(), c, roomtest.Workspace, about.ID); err == nil {
			t.Errorf("%s is shown a tool", name)
		}
		if all := r.CustomTools(t.Context(), c, roomtest.Workspace); len(all) != 0 {
			t.Errorf("%s is listed %d tools", name, len(all))
		}
		if err := r.DeleteCustomTool(t.Context(), c, nil, roomtest.Workspace, about.ID); err == nil {
			t.Errorf("%s deletes a tool", name)
		}
		if _, err := r.CreateCustomTool(t.Context(), c, nil, good()); err == nil {
			t.Errorf("%s makes a tool", name)
		}
	}
	if _, err := r.CustomTool(t.Context(), r.Root(), "ws_other", about.ID); err == nil {
		t.Error("it is found in another Workspace")
	}
	r.create(t, func(q *abi.CreateCustomToolRequest) { q.WorkspaceID = "ws_other" })
}

// A tool that is deleted is called no more, in this life and in the next; its name is free, and an
// approval of it holds for no other.
func TestToolsThatAreDeleted(t *testing.T) {
	r := newRoom(t)
	about := r.create(t, func(*abi.CreateCustomToolRequest) {})
	if err := r.DeleteCustomTool(t.Context(), r.Root(), nil, roomtest.Workspace, about.ID); err != nil {
		t.Fatal(err)
	}
	if len(r.values) != 0 {
		t.Errorf("%d secrets are left", len(r.values))
	}
	for range 2 {
		_, err := r.call(t, "lookup")
		wantRefused(t, err, abi.CallNotFound, tool.CodeUnknown)
		roomtest.WantCode(t, r.DeleteCustomTool(t.Context(), r.Root(), nil, roomtest.Workspace, about.ID), abi.CodeResourceNotFound)
		r.Crash()
		r.furnish(t)
	}
	if next := r.create(t, func(*abi.CreateCustomToolRequest) {}); next.ID == about.ID {
		t.Error("it has the id of the one before")
	}
}

// What cannot be a tool is refused with the member, and makes none.
func TestToolsThatAreRefused(t *testing.T) {
	r := newRoom(t)
	for name, test := range map[string]struct {
		change func(*abi.CreateCustomToolRequest)
		code   abi.ErrorCode
		param  string
	}{
		"no name":          {func(q *abi.CreateCustomToolRequest) { q.Name = "" }, abi.CodeInvalidRequest, "name"},
		"a long name":      {func(q *abi.CreateCustomToolRequest) { q.Name = strings.Repeat("n", 101) }, abi.CodeInvalidRequest, "name"},
		"a star":           {func(q *abi.CreateCustomToolRequest) { q.Name = "a*" }, abi.CodeInvalidRequest, "name"},
		"a line":           {func(q *abi.CreateCustomToolRequest) { q.Name = "a\nb" }, abi.CodeInvalidRequest, "name"},
		"no description":   {func(q *abi.CreateCustomToolRequest) { q.Description = "" }, abi.CodeInvalidRequest, "description"},
		"a long one":       {func(q *abi.CreateCustomToolRequest) { q.Description = strings.Repeat("ä", 1001) }, abi.CodeInvalidRequest, "description"},
		"no schema":        {func(q *abi.CreateCustomToolRequest) { q.InputSchema = nil }, abi.CodeInvalidRequest, "input_schema"},
		"a wrong schema":   {func(q *abi.CreateCustomToolRequest) { q.InputSchema = []byte(`{"type":"thing"}`) }, abi.CodeInvalidRequest, "input_schema"},
		"a schema outside": {func(q *abi.CreateCustomToolRequest) { q.InputSchema = []byte(`{"$ref":"https://a.test/s"}`) }, abi.CodeInvalidRequest, "input_schema"},
		"no handler":       {func(q *abi.CreateCustomToolRequest) { q.Handler = abi.ToolHandler{} }, abi.CodeInvalidRequest, "handler"},
		"two handlers":     {func(q *abi.CreateCustomToolRequest) { q.Handler.Command = "echo" }, abi.CodeInvalidRequest, "handler"},
		"args of a URL":    {func(q *abi.CreateCustomToolRequest) { q.Handler.Args = []string{"x"} }, abi.CodeInvalidRequest, "handler.args"},
		"a file":           {func(q *abi.CreateCustomToolRequest) { q.Handler.URL = "file:///etc/passwd" }, abi.CodeInvalidRequest, "handler.url"},
		"a shell":          {func(q *abi.CreateCustomToolRequest) { q.Handler = abi.ToolHandler{Command: "sh"} }, abi.CodePolicyViolation, "handler.command"},
		"many args": {func(q *abi.CreateCustomToolRequest) {
			q.Handler = abi.ToolHandler{Command: "echo", Args: make([]string, 33)}
		}, abi.CodeInvalidRequest, "handler.args"},
		"no workspace": {func(q *abi.CreateCustomToolRequest) { q.WorkspaceID = "ws_none" }, abi.CodeResourceNotFound, ""},
	} {
		req := good()
		test.change(&req)
		t.Run(name, func(t *testing.T) {
			_, err := r.CreateCustomTool(t.Context(), r.Root(), nil, req)
			if got := roomtest.WantCode(t, err, test.code); got != nil && got.Param != test.param {
				t.Errorf("the member is %q: %v", got.Param, err)
			}
		})
	}
	if all := r.CustomTools(t.Context(), r.Root(), roomtest.Workspace); len(all) != 0 {
		t.Errorf("%d tools are there", len(all))
	}
	r.create(t, func(q *abi.CreateCustomToolRequest) {
		q.Name, q.Description = strings.Repeat("n", 100), strings.Repeat("ä", 1000)
	})
	r.create(t, func(*abi.CreateCustomToolRequest) {})
	_, err := r.CreateCustomTool(t.Context(), r.Root(), nil, good())
	roomtest.WantCode(t, err, abi.CodeConflict)
	r.create(t, func(q *abi.CreateCustomToolRequest) { q.Name = "third" })
	req := good()
	req.Name = "fourth"
	_, err = r.CreateCustomTool(t.Context(), r.Root(), nil, req)
	roomtest.WantCode(t, err, abi.CodeConflict)
}

// A receiver in the node's own network is not reached, by its address or by a name.
func TestReceiversAreOutside(t *testing.T) {
	r, s := newRoom(t), newReceiver(t)
	r.config.Private = false
	r.furnish(t)
	req := good()
	req.Handler.URL = s.URL
	_, err := r.CreateCustomTool(t.Context(), r.Root(), nil, req)
	roomtest.WantCode(t, err, abi.CodeInvalidRequest)
	r.create(t, func(q *abi.CreateCustomToolRequest) {
		q.Handler.URL = strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
	})
	_, err = r.call(t, "lookup")
	wantRefused(t, err, abi.CallUnavailable, tool.CodeUnavailable)
	if _, body := s.last(); body != nil {
		t.Error("a request has come")
	}
}

// One key makes one tool, whose secret every answer to it has.
func TestRetriesMakeOneTool(t *testing.T) {
	r := newRoom(t)
	retry := roomtest.Retry("k", "body")
	first, err := r.CreateCustomTool(t.Context(), r.Root(), retry, good())
	if err != nil {
		t.Fatal(err)
	}
	r.Crash()
	r.furnish(t)
	again, err := r.CreateCustomTool(t.Context(), r.Root(), retry, good())
	if err != nil || string(again.JSON) != string(first.JSON) || !strings.Contains(string(again.JSON), `"secret":"whsec_`) {
		t.Errorf("%s, then %s, %v", first.JSON, again.JSON, err)
	}
	reader, err := r.CustomTool(t.Context(), r.With("tools:read"), roomtest.Workspace, first.ID)
	if shown := roomtest.As[abi.CustomTool](t, reader); err != nil || shown.Handler.URL != "https://tools.test" {
		t.Errorf("a reader is shown %+v, %v", shown, err)
	}
}

// A server of a tenant that has had the name since before custom tools keeps it.
func TestAServerThatIsNamedCustom(t *testing.T) {
	r := newRoom(t)
	if !r.added.Reserved(abi.ToolServerCustom) {
		t.Error("a server can get the name")
	}
	mcp := tool.NewMCP(tool.MCPConfig{Name: "custom", URL: "http://127.0.0.1:1"})
	t.Cleanup(func() { _ = mcp.Close() })
	r.added.Put(fmt.Sprint("tenant_", roomtest.Tenant), &tool.AddedServer{ID: "tsrv_1", Name: "custom", Plugins: []string{"*"}, MCP: mcp})
	_, err := r.CreateCustomTool(context.Background(), r.Root(), nil, good())
	roomtest.WantCode(t, err, abi.CodeConflict)
}
