package toolservers_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/internal/roomtest"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
	"github.com/wharf-dev/wharf/runtime/redact"
)

// asServer makes the test binary a server of tools over its standard input and output.
const asServer = "as-server"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == asServer {
		_ = ownServer().Run(context.Background(), &mcp.StdioTransport{})
		return
	}
	os.Exit(m.Run())
}

// ownServer is a server that says what process it is and how that was started.
func ownServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "own", Version: "1"}, nil)
	add := func(name string, says func() string) {
		mcp.AddTool(s, &mcp.Tool{Name: name}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: says()}}}, nil, nil
		})
	}
	add("pid", func() string { return fmt.Sprint(os.Getpid()) })
	add("args", func() string { return strings.Join(os.Args[1:], " ") })
	add("env", func() string { return strings.Join(os.Environ(), "\n") })
	add("die", func() string { os.Exit(3); return "" })
	add("grow", func() string {
		mcp.AddTool(s, &mcp.Tool{Name: "grown"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{}, nil, nil
		})
		return "grew"
	})
	return s
}

// transports are how a server can be reached.
func (r *room) transports(t *testing.T) map[abi.ToolTransport]abi.CreateToolServerRequest {
	r.config.Commands = map[string][]string{"self": {os.Args[0], asServer, "fixed"}}
	r.furnish(t)
	s := ownServer()
	get := func(*http.Request) *mcp.Server { return s }
	serve := func(h http.Handler) string {
		server := httptest.NewServer(h)
		t.Cleanup(func() { leave(server) })
		return server.URL
	}
	return map[abi.ToolTransport]abi.CreateToolServerRequest{
		abi.TransportHTTP:  {Name: "over-http", URL: serve(mcp.NewStreamableHTTPHandler(get, nil))},
		abi.TransportSSE:   {Name: "over-sse", Transport: abi.TransportSSE, URL: serve(mcp.NewSSEHandler(get, nil))},
		abi.TransportStdio: {Name: "over-stdio", Command: "self", Args: []string{"more"}},
	}
}

func (r *room) say(t *testing.T, server, name string) (string, error) {
	t.Helper()
	answer, _, err := r.ask(t, roomtest.Workspace, "agent", abi.CallToolCall, fmt.Sprintf(`{"server":%q,"name":%q}`, server, name))
	return answer, err
}

// until waits for a status that a read shows.
func (r *room) until(t *testing.T, id string, want abi.ToolServerStatus) abi.ToolServer {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		doc, err := r.ToolServer(t.Context(), r.Root(), id)
		if err != nil {
			t.Fatal(err)
		}
		if shown := decode[abi.ToolServer](t, doc); shown.Status == want {
			return shown
		} else if time.Now().After(deadline) {
			t.Fatalf("it is %s (%s), and not %s", shown.Status, shown.LastError, want)
		}
	}
}

// Over every transport a server is connected to when it is added, its tools are called, its list
// is followed, and it is connected to again in the node's next life.
func TestEveryTransport(t *testing.T) {
	r := newRoom(t)
	for over, req := range r.transports(t) {
		about := r.create(t, req)
		if about.Transport != over || about.AutoReconnect == nil || !*about.AutoReconnect {
			t.Errorf("it is made as %+v", about)
		}
		r.until(t, about.ID, abi.ToolServerConnected)
		if answer, err := r.say(t, about.Name, "pid"); err != nil {
			t.Errorf("%s: %s, %v", over, answer, err)
		}
		if _, err := r.say(t, about.Name, "grow"); err != nil {
			t.Error(err)
		}
		for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
			tools, _, err := r.ToolServerTools(t.Context(), r.Root(), about.ID)
			if err != nil || time.Now().After(deadline) {
				t.Fatalf("%s: %v, %v", over, tools, err)
			}
			if slices.ContainsFunc(tools, func(one abi.Tool) bool { return one.Name == "grown" }) {
				break
			}
		}
		r.Crash()
		r.furnish(t)
		r.until(t, about.ID, abi.ToolServerConnected)
		if err := r.DeleteToolServer(t.Context(), r.Root(), nil, about.ID); err != nil {
			t.Fatal(err)
		}
	}
}

// A program gets the operator's arguments, then the tenant's, and nothing of the node's
// environment that it does not need; it is started again when it has died, and gone when the
// server is.
func TestProgramsOfTheOperator(t *testing.T) {
	t.Setenv("WHARF_CANARY", canary)
	r := newRoom(t)
	about := r.create(t, r.transports(t)[abi.TransportStdio])
	if args, err := r.say(t, about.Name, "args"); err != nil || !strings.Contains(args, asServer+" fixed more") {
		t.Errorf("it is started with %s, %v", args, err)
	}
	if env, err := r.say(t, about.Name, "env"); err != nil || strings.Contains(env, canary) {
		t.Errorf("it sees %s, %v", env, err)
	}
	_, err := r.say(t, about.Name, "die")
	wantRefused(t, err, abi.CallUnavailable, tool.CodeUnavailable)
	r.until(t, about.ID, abi.ToolServerConnected)
	reader, err := r.ToolServer(t.Context(), r.With("tools:read"), about.ID)
	if shown := decode[abi.ToolServer](t, reader); err != nil || shown.Args != nil || shown.Command != "self" || shown.URL != "" {
		t.Errorf("a reader is shown %+v, %v", shown, err)
	}
	events, _, err := r.Desk.Events(t.Context(), r.Root(), desk.Filter{}, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range events {
		if rec := ev.Record(); strings.Contains(string(redact.State(rec.Resource.Object, rec.State, true)), `"args"`) {
			t.Error("an event tells the arguments")
		}
	}
	r.config.Commands = nil
	r.Crash()
	r.furnish(t)
	if shown := r.until(t, about.ID, abi.ToolServerError); !strings.Contains(shown.LastError, "starts no") {
		t.Errorf("a program that the operator has taken away: %q", shown.LastError)
	}
}

// What a transport cannot have is refused with the member, and no program that is not named.
func TestTransportsThatAreRefused(t *testing.T) {
	r := newRoom(t)
	ok := r.transports(t)
	for name, test := range map[string]struct {
		over   abi.ToolTransport
		change func(*abi.CreateToolServerRequest)
		code   abi.ErrorCode
		param  string
	}{
		"another":              {abi.TransportHTTP, func(q *abi.CreateToolServerRequest) { q.Transport = "pipe" }, abi.CodeInvalidRequest, "transport"},
		"http with a command":  {abi.TransportHTTP, func(q *abi.CreateToolServerRequest) { q.Transport, q.Command = "http", "self" }, abi.CodeInvalidRequest, "command"},
		"sse with arguments":   {abi.TransportSSE, func(q *abi.CreateToolServerRequest) { q.Args = []string{"x"} }, abi.CodeInvalidRequest, "command"},
		"sse to nowhere":       {abi.TransportSSE, func(q *abi.CreateToolServerRequest) { q.URL = "" }, abi.CodeInvalidRequest, "url"},
		"stdio with a URL":     {abi.TransportStdio, func(q *abi.CreateToolServerRequest) { q.URL = "https://a.test" }, abi.CodeInvalidRequest, "url"},
		"stdio of nothing":     {abi.TransportStdio, func(q *abi.CreateToolServerRequest) { q.Transport, q.Command = "stdio", "" }, abi.CodeInvalidRequest, "command"},
		"a shell":              {abi.TransportStdio, func(q *abi.CreateToolServerRequest) { q.Command = "sh" }, abi.CodePolicyViolation, "command"},
		"a path":               {abi.TransportStdio, func(q *abi.CreateToolServerRequest) { q.Command = os.Args[0] }, abi.CodePolicyViolation, "command"},
		"headers of a program": {abi.TransportStdio, func(q *abi.CreateToolServerRequest) { q.Headers = map[string]string{"a": "b"} }, abi.CodeInvalidRequest, "headers"},
		"too many arguments":   {abi.TransportStdio, func(q *abi.CreateToolServerRequest) { q.Args = make([]string, 33) }, abi.CodeInvalidRequest, "args"},
		"a long argument":      {abi.TransportStdio, func(q *abi.CreateToolServerRequest) { q.Args = []string{strings.Repeat("x", 1025)} }, abi.CodeInvalidRequest, "args"},
		"NUL":                  {abi.TransportStdio, func(q *abi.CreateToolServerRequest) { q.Args = []string{"a\x00b"} }, abi.CodeInvalidRequest, "args"},
	} {
		req := ok[test.over]
		test.change(&req)
		t.Run(name, func(t *testing.T) {
			_, err := r.CreateToolServer(t.Context(), r.Root(), nil, req)
			if wantCode(t, err, test.code); err != nil && err.(*abi.Error).Param != test.param {
				t.Errorf("the member is %q: %v", err.(*abi.Error).Param, err)
			}
		})
	}
	if list, err := r.ToolServers(t.Context(), r.Root(), desk.Page{Limit: 10}); err != nil || len(list.Docs) != 0 {
		t.Errorf("%d servers are there, %v", len(list.Docs), err)
	}
}

// A server can get another name and another transport; its old name is free then, and no name of
// another's is taken.
func TestServersGetAnotherNameAndTransport(t *testing.T) {
	r := newRoom(t)
	ok := r.transports(t)
	one, two := r.create(t, ok[abi.TransportHTTP]), r.create(t, ok[abi.TransportSSE])
	update := func(id, change string) (abi.ToolServer, error) {
		var req abi.UpdateToolServerRequest
		if err := json.Unmarshal([]byte(change), &req); err != nil {
			t.Fatal(err)
		}
		doc, err := r.UpdateToolServer(t.Context(), r.Root(), nil, id, req)
		if err != nil {
			return abi.ToolServer{}, err
		}
		return decode[abi.ToolServer](t, doc), nil
	}
	_, err := update(one.ID, `{"name":"over-sse"}`)
	wantCode(t, err, abi.CodeConflict)
	_, err = update(one.ID, `{"name":"configured"}`)
	wantCode(t, err, abi.CodeConflict)
	_, err = update(one.ID, `{"name":"a b"}`)
	wantCode(t, err, abi.CodeInvalidRequest)
	_, err = update(one.ID, `{"transport":"stdio"}`)
	wantCode(t, err, abi.CodeInvalidRequest)
	if _, err := r.say(t, "over-http", "pid"); err != nil {
		t.Errorf("what was refused has changed something: %v", err)
	}
	next, err := update(one.ID, `{"name":"renamed","transport":"stdio","command":"self","args":["x"],"auto_reconnect":false}`)
	if err != nil || next.Name != "renamed" || next.URL != "" || next.Transport != abi.TransportStdio || *next.AutoReconnect {
		t.Fatalf("%+v, %v", next, err)
	}
	if args, err := r.say(t, "renamed", "args"); err != nil || !strings.Contains(args, "fixed x") {
		t.Errorf("%s, %v", args, err)
	}
	_, err = r.say(t, "over-http", "pid")
	wantRefused(t, err, abi.CallDenied, tool.CodeDenied)
	if _, err := update(two.ID, `{"name":"over-http"}`); err != nil {
		t.Errorf("the old name is not free: %v", err)
	}
	if _, err := update(one.ID, `{"name":"renamed"}`); err != nil {
		t.Errorf("its own name is taken: %v", err)
	}
}

// One that does not connect again by itself is disconnected after a death, of it or of the node,
// until it is pinged.
func TestServersThatStayDisconnected(t *testing.T) {
	r := newRoom(t)
	req := r.transports(t)[abi.TransportStdio]
	req.AutoReconnect = new(bool)
	about := r.create(t, req)
	r.until(t, about.ID, abi.ToolServerConnected)
	_, _ = r.say(t, about.Name, "die")
	for range 2 {
		r.until(t, about.ID, abi.ToolServerDisconnected)
		_, err := r.say(t, about.Name, "pid")
		wantRefused(t, err, abi.CallUnavailable, tool.CodeUnavailable)
		if ping, err := r.PingToolServer(t.Context(), r.Root(), about.ID); err != nil || !ping.Answers {
			t.Errorf("%+v, %v", ping, err)
		}
		if _, err := r.say(t, about.Name, "pid"); err != nil {
			t.Error(err)
		}
		r.Crash()
		r.furnish(t)
	}
}
