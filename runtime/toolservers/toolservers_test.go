package toolservers_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/internal/roomtest"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
	"github.com/wharf-dev/wharf/runtime/toolservers"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/memory"
)

// canary is the secret of the tests.
const canary = "canary-4711-token"

// room is a keeper with the tools that calls use.
type room struct {
	*roomtest.House
	*toolservers.Keeper
	tools  *tool.Tools
	added  *tool.Added
	values roomtest.Values
	config toolservers.Config
}

func newRoom(t testing.TB) *room {
	r := &room{House: roomtest.New(t, memory.New(time.Now)), values: roomtest.Values{}, config: toolservers.Config{Private: true, Most: 3}}
	r.furnish(t)
	return r
}

// furnish begins a life of the node.
func (r *room) furnish(t testing.TB) {
	t.Helper()
	if r.added != nil {
		_ = r.added.Close() // the life before has no connections any more
	}
	r.added = tool.NewAdded()
	r.tools = tool.New(tool.Config{Added: r.added, Servers: map[string]tool.Server{"configured": nil}, Grants: map[string][]string{"other": {"configured:*"}}})
	r.Keeper = toolservers.NewKeeper(toolservers.Parts{Parts: r.Parts, Config: r.config, Added: r.added, Values: r.values,
		TenantID: func(n storage.Tenant) string { return map[storage.Tenant]string{roomtest.Tenant: roomtest.TenantID}[n] }})
	t.Cleanup(func() { _ = r.added.Close() })
	if err := r.LoadToolServers(t.Context(), []*abi.Tenant{{Number: uint32(roomtest.Tenant)}}); err != nil {
		t.Fatal(err)
	}
}

// server is an MCP server that says what it was sent.
type server struct {
	*httptest.Server
	mcp  *mcp.Server
	bare atomic.Int64 // requests without the secret
	hold chan struct{}
}

func newServer(t testing.TB) *server {
	s := &server{mcp: mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil), hold: make(chan struct{})}
	type args struct {
		Text string `json:"text,omitzero"`
	}
	mcp.AddTool(s.mcp, &mcp.Tool{Name: "echo", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
		func(_ context.Context, _ *mcp.CallToolRequest, a args) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: a.Text}}}, nil, nil
		})
	mcp.AddTool(s.mcp, &mcp.Tool{Name: "hang"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ args) (*mcp.CallToolResult, any, error) {
		close(s.hold)
		<-ctx.Done()
		return nil, nil, ctx.Err()
	})
	inner := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.mcp }, nil)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+canary {
			s.bare.Add(1)
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { leave(s.Server) })
	return s
}

// leave closes a server to which somebody connects again: it takes no connection from then on.
func leave(s *httptest.Server) {
	_ = s.Listener.Close()
	s.CloseClientConnections()
	s.Close()
}

func (r *room) create(t testing.TB, req abi.CreateToolServerRequest) abi.ToolServer {
	t.Helper()
	doc, err := r.CreateToolServer(t.Context(), r.Root(), nil, req)
	if err != nil {
		t.Fatal(err)
	}
	return decode[abi.ToolServer](t, doc)
}

func decode[T any](t testing.TB, doc desk.Doc) (v T) {
	t.Helper()
	if err := json.Unmarshal(doc.JSON, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// ask makes a host call of a Task's plugin.
func (r *room) ask(t testing.TB, workspace, plugin, call, request string) (string, provider.Plan, error) {
	t.Helper()
	c := &provider.Call{Name: call, Request: []byte(request), Tenant: roomtest.TenantID, WorkspaceID: workspace, Plugin: plugin}
	plan, err := r.tools.Prepare(t.Context(), c)
	if err != nil {
		return "", plan, err
	}
	answer, err := plan.Do(t.Context(), func(string) {})
	return string(answer), plan, err
}

func (r *room) echo(t testing.TB, name, text string) (string, error) {
	t.Helper()
	answer, _, err := r.ask(t, roomtest.Workspace, "agent", abi.CallToolCall, fmt.Sprintf(`{"server":%q,"name":"echo","arguments":{"text":%q}}`, name, text))
	return answer, err
}

func wantRefused(t testing.TB, err error, status abi.CallStatus, code string) {
	t.Helper()
	if refused, ok := errors.AsType[*provider.Refusal](err); !ok || refused.Status != status || refused.Code != code {
		t.Errorf("got %v, want status %d and %s", err, status, code)
	}
}

func wantCode(t testing.TB, err error, code abi.ErrorCode) {
	t.Helper()
	if e, ok := errors.AsType[*abi.Error](err); !ok || e.Code != code {
		t.Errorf("got %v, want %s", err, code)
	}
}

// The tools of a server that was added are called as any, also after the node has died; what its
// headers hold is sent to it, and shown to nobody.
func TestToolsOfAddedServers(t *testing.T) {
	r, s := newRoom(t), newServer(t)
	about := r.create(t, abi.CreateToolServerRequest{Name: "weather", URL: s.URL, Headers: map[string]string{"Authorization": "Bearer " + canary}})
	for range 2 {
		answer, err := r.echo(t, "weather", "it rains; "+canary)
		if err != nil || !strings.Contains(answer, "it rains; ") || strings.Contains(answer, canary) {
			t.Errorf("%s, %v", answer, err)
		}
		list, plan, err := r.ask(t, roomtest.Workspace, "agent", abi.CallToolList, `{}`)
		if err != nil || !strings.Contains(list, `"server":"weather","name":"echo"`) || plan.Effect != abi.EffectRead {
			t.Errorf("%s, %v", list, err)
		}
		ping, err := r.PingToolServer(t.Context(), r.Root(), about.ID)
		if err != nil || !ping.Answers || ping.Tools != 2 || ping.Failure != nil {
			t.Errorf("%+v, %v", ping, err)
		}
		if n := s.bare.Load(); n != 0 {
			t.Errorf("%d requests came without the header", n)
		}
		doc, err := r.ToolServer(t.Context(), r.Root(), about.ID)
		if err != nil || strings.Contains(string(doc.JSON), canary) || !strings.Contains(string(doc.JSON), `"headers":["Authorization"]`) {
			t.Errorf("%s, %v", doc.JSON, err)
		}
		r.Crash()
		r.furnish(t)
	}
	events, _, err := r.Desk.Events(t.Context(), r.Root(), desk.Filter{}, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range events {
		if record := ev.Record(); strings.Contains(string(record.State)+string(record.Payload), canary) {
			t.Errorf("the log tells %s", record.State)
		}
	}
}

// A server is used by the Tasks of its Workspace and by the plugins that it names, and by no
// others: to them it is not there.
func TestWhoUsesAddedServers(t *testing.T) {
	r, s := newRoom(t), newServer(t)
	r.NewWorkspace(t, "ws_other")
	r.create(t, abi.CreateToolServerRequest{Name: "own", URL: s.URL, WorkspaceID: roomtest.Workspace, Plugins: []string{"agent", "my-*"}})
	const call = `{"server":"own","name":"echo"}`
	for _, who := range []struct {
		workspace, plugin string
		allowed           bool
	}{{roomtest.Workspace, "agent", true}, {roomtest.Workspace, "my-own", true}, {roomtest.Workspace, "other", false}, {"ws_other", "agent", false}} {
		_, _, err := r.ask(t, who.workspace, who.plugin, abi.CallToolCall, call)
		if (err == nil) != who.allowed {
			t.Errorf("%+v: %v", who, err)
		}
		list, _, err := r.ask(t, who.workspace, who.plugin, abi.CallToolList, `{}`)
		if who.plugin != "other" && (err != nil || strings.Contains(list, `"own"`) != who.allowed) {
			t.Errorf("%+v: %s, %v", who, list, err)
		}
	}
	other := &provider.Call{Name: abi.CallToolCall, Request: []byte(call), Tenant: "tenant_other", WorkspaceID: roomtest.Workspace, Plugin: "agent"}
	_, err := r.tools.Prepare(t.Context(), other)
	wantRefused(t, err, abi.CallDenied, tool.CodeDenied)
}

// A server that is deleted while a Task runs ends the calls that are under way; its name is free,
// and an approval of a tool holds for no other server of the name.
func TestServersThatLeave(t *testing.T) {
	r, s := newRoom(t), newServer(t)
	about := r.create(t, abi.CreateToolServerRequest{Name: "weather", URL: s.URL, Headers: map[string]string{"X-Key": canary}})
	_, before, err := r.ask(t, roomtest.Workspace, "agent", abi.CallToolCall, `{"server":"weather","name":"echo"}`)
	if err != nil {
		t.Fatal(err)
	}
	hanging := make(chan error, 1)
	go func() {
		_, _, err := r.ask(t, roomtest.Workspace, "agent", abi.CallToolCall, `{"server":"weather","name":"hang"}`)
		hanging <- err
	}()
	<-s.hold
	if err := r.DeleteToolServer(t.Context(), r.Root(), nil, about.ID); err != nil {
		t.Fatal(err)
	}
	wantRefused(t, <-hanging, abi.CallUnavailable, tool.CodeUnavailable)
	_, err = r.echo(t, "weather", "x")
	wantRefused(t, err, abi.CallDenied, tool.CodeDenied)
	_, err = r.ToolServer(t.Context(), r.Root(), about.ID)
	wantCode(t, err, abi.CodeResourceNotFound)
	wantCode(t, r.DeleteToolServer(t.Context(), r.Root(), nil, about.ID), abi.CodeResourceNotFound)
	if len(r.values) != 0 {
		t.Errorf("its headers are still kept: %d", len(r.values))
	}
	r.create(t, abi.CreateToolServerRequest{Name: "weather", URL: s.URL})
	_, after, err := r.ask(t, roomtest.Workspace, "agent", abi.CallToolCall, `{"server":"weather","name":"echo"}`)
	if err != nil || before.By == "" || before.By == after.By {
		t.Errorf("%q and %q answer for it, %v", before.By, after.By, err)
	}
	r.Crash()
	r.furnish(t)
	if list, err := r.ToolServers(t.Context(), r.Root(), desk.Page{Limit: 10}); err != nil || len(list.Docs) != 1 {
		t.Errorf("%d servers, %v", len(list.Docs), err)
	}
}

// A server that is changed is used as it is then.
func TestServersThatChange(t *testing.T) {
	r, one, two := newRoom(t), newServer(t), newServer(t)
	mcp.AddTool(two.mcp, &mcp.Tool{Name: "more"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{}, nil, nil
	})
	about := r.create(t, abi.CreateToolServerRequest{Name: "weather", URL: one.URL})
	if _, err := r.echo(t, "weather", "x"); err != nil {
		t.Fatal(err)
	}
	doc, err := r.UpdateToolServer(t.Context(), r.Root(), nil, about.ID, abi.UpdateToolServerRequest{URL: &two.URL, Writes: []string{"echo"},
		Headers: map[string]string{"Authorization": "Bearer " + canary}})
	if next := decode[abi.ToolServer](t, doc); err != nil || next.URL != two.URL || len(next.Headers) != 1 || next.Name != "weather" {
		t.Fatalf("%+v, %v", next, err)
	}
	_, plan, err := r.ask(t, roomtest.Workspace, "agent", abi.CallToolCall, `{"server":"weather","name":"echo"}`)
	if err != nil || plan.Effect != abi.EffectWrite {
		t.Errorf("it is a %s, %v", plan.Effect, err)
	}
	if _, _, err := r.ask(t, roomtest.Workspace, "agent", abi.CallToolCall, `{"server":"weather","name":"more"}`); err != nil || two.bare.Load() != 0 {
		t.Errorf("%v; %d requests without the header", err, two.bare.Load())
	}
}

// What cannot be a server is refused, and adds none.
func TestServersThatAreRefused(t *testing.T) {
	r := newRoom(t)
	good := abi.CreateToolServerRequest{Name: "weather", URL: "https://tools.test/mcp"}
	for name, test := range map[string]struct {
		change func(*abi.CreateToolServerRequest)
		code   abi.ErrorCode
	}{
		"no name":           {func(q *abi.CreateToolServerRequest) { q.Name = "" }, abi.CodeInvalidRequest},
		"a colon":           {func(q *abi.CreateToolServerRequest) { q.Name = "a:b" }, abi.CodeInvalidRequest},
		"a star":            {func(q *abi.CreateToolServerRequest) { q.Name = "*" }, abi.CodeInvalidRequest},
		"a long name":       {func(q *abi.CreateToolServerRequest) { q.Name = strings.Repeat("a", 65) }, abi.CodeInvalidRequest},
		"the configuration": {func(q *abi.CreateToolServerRequest) { q.Name = "configured" }, abi.CodeConflict},
		"no URL":            {func(q *abi.CreateToolServerRequest) { q.URL = "" }, abi.CodeInvalidRequest},
		"a file":            {func(q *abi.CreateToolServerRequest) { q.URL = "file:///etc/passwd" }, abi.CodeInvalidRequest},
		"a command":         {func(q *abi.CreateToolServerRequest) { q.URL = "stdio:sh" }, abi.CodeInvalidRequest},
		"a password":        {func(q *abi.CreateToolServerRequest) { q.URL = "https://a:b@tools.test" }, abi.CodeInvalidRequest},
		"a host header":     {func(q *abi.CreateToolServerRequest) { q.Headers = map[string]string{"Host": "x"} }, abi.CodeInvalidRequest},
		"a header twice":    {func(q *abi.CreateToolServerRequest) { q.Headers = map[string]string{"a-b": "x", "A-B": "y"} }, abi.CodeInvalidRequest},
		"two lines":         {func(q *abi.CreateToolServerRequest) { q.Headers = map[string]string{"a": "x\r\ny: z"} }, abi.CodeInvalidRequest},
		"no time":           {func(q *abi.CreateToolServerRequest) { q.TimeoutMS = -1 }, abi.CodeInvalidRequest},
		"an empty pattern":  {func(q *abi.CreateToolServerRequest) { q.Plugins = []string{""} }, abi.CodeInvalidRequest},
		"no workspace":      {func(q *abi.CreateToolServerRequest) { q.WorkspaceID = "ws_none" }, abi.CodeResourceNotFound},
	} {
		req := good
		test.change(&req)
		t.Run(name, func(t *testing.T) {
			_, err := r.CreateToolServer(t.Context(), r.Root(), nil, req)
			wantCode(t, err, test.code)
		})
	}
	if list, err := r.ToolServers(t.Context(), r.Root(), desk.Page{Limit: 10}); err != nil || len(list.Docs) != 0 {
		t.Errorf("%d servers, %v", len(list.Docs), err)
	}
	about := r.create(t, good)
	_, err := r.CreateToolServer(t.Context(), r.Root(), nil, good)
	wantCode(t, err, abi.CodeConflict)
	r.create(t, abi.CreateToolServerRequest{Name: "b", URL: good.URL})
	r.create(t, abi.CreateToolServerRequest{Name: "c", URL: good.URL})
	_, err = r.CreateToolServer(t.Context(), r.Root(), nil, abi.CreateToolServerRequest{Name: "d", URL: good.URL})
	wantCode(t, err, abi.CodeConflict)
	for name, c := range r.Strangers() {
		if _, err := r.ToolServer(t.Context(), c, about.ID); err == nil {
			t.Errorf("%s sees a server of the tenant", name)
		}
		if err := r.DeleteToolServer(t.Context(), c, nil, about.ID); err == nil {
			t.Errorf("%s deletes a server of the tenant", name)
		}
	}
	doc, err := r.ToolServer(t.Context(), r.With("tools:read"), about.ID)
	if shown := decode[abi.ToolServer](t, doc); err != nil || shown.URL != "https://tools.test" {
		t.Errorf("a reader is shown %s, %v", shown.URL, err)
	}
	bound := r.Bound(roomtest.Workspace)
	if list, err := r.ToolServers(t.Context(), bound, desk.Page{Limit: 10}); err != nil || len(list.Docs) != 0 {
		t.Errorf("a key of a Workspace sees %d servers of the tenant, %v", len(list.Docs), err)
	}
}

// A server in the node's own network is not reached, by its address or by a name.
func TestServersAreOutside(t *testing.T) {
	r, s := newRoom(t), newServer(t)
	r.config.Private = false
	r.furnish(t)
	for _, url := range []string{s.URL, "http://[::1]:1", "http://169.254.169.254/", "http://10.0.0.1"} {
		_, err := r.CreateToolServer(t.Context(), r.Root(), nil, abi.CreateToolServerRequest{Name: "inside", URL: url})
		wantCode(t, err, abi.CodeInvalidRequest)
	}
	about := r.create(t, abi.CreateToolServerRequest{Name: "inside", URL: strings.Replace(s.URL, "127.0.0.1", "localhost", 1)})
	ping, err := r.PingToolServer(t.Context(), r.Root(), about.ID)
	if err != nil || ping.Answers || ping.Failure == nil || ping.Failure.Code != tool.CodeUnavailable || s.bare.Load() != 0 {
		t.Errorf("%+v, %v; %d requests have come", ping, err, s.bare.Load())
	}
}

// One key makes one server, however often it is sent.
func TestRetriesAddOneServer(t *testing.T) {
	r := newRoom(t)
	retry := &desk.Retry{Key: "k", Scope: "POST /wharf/v1/tool-servers", Fingerprint: [32]byte{1}}
	req := abi.CreateToolServerRequest{Name: "weather", URL: "https://tools.test", Headers: map[string]string{"X-Key": canary}}
	first, err := r.CreateToolServer(t.Context(), r.Root(), retry, req)
	if err != nil {
		t.Fatal(err)
	}
	r.Crash()
	r.furnish(t)
	again, err := r.CreateToolServer(t.Context(), r.Root(), retry, req)
	if err != nil || again.ID != first.ID || string(again.JSON) != string(first.JSON) {
		t.Errorf("%s, then %s, %v", first.JSON, again.JSON, err)
	}
}
