package hosts_test

import (
	"context"
	"io"
	"slices"
	"sync"
	"testing"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway/jsonrpc"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/hosts"
	"github.com/wharf-dev/wharf/runtime/provider/tool"
)

// editor is a client: the other end of a pipe. It answers by method, and remembers what it was asked.
type editor struct {
	answers map[string]func(ctx context.Context, params jsontext.Value) (any, error)
	leave   func()

	mu    sync.Mutex
	asked []string // METHOD PARAMS
}

// says answers a method always the same.
func says(result string) func(context.Context, jsontext.Value) (any, error) {
	return func(context.Context, jsontext.Value) (any, error) { return jsontext.Value(result), nil }
}

func fails(code int, message string) func(context.Context, jsontext.Value) (any, error) {
	return func(context.Context, jsontext.Value) (any, error) { return nil, jsonrpc.Errorf(code, "%s", message) }
}

func (e *editor) handle(ctx context.Context, r *jsonrpc.Request) (any, error) {
	e.mu.Lock()
	e.asked = append(e.asked, r.Method+" "+string(r.Params))
	e.mu.Unlock()
	if answer := e.answers[r.Method]; answer != nil {
		return answer(ctx, r.Params.Clone())
	}
	return nil, jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "there is no %s", r.Method)
}

func (e *editor) heard() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.asked)
}

// connect runs an editor at the other end of a pipe, and returns the node's end.
func connect(t testing.TB, e *editor) hosts.Caller {
	t.Helper()
	toEditor, fromNode := io.Pipe()
	toNode, fromEditor := io.Pipe()
	node := jsonrpc.New(jsonrpc.Lines(toNode, fromNode, 8<<20), jsonrpc.Config{Handle: func(context.Context, *jsonrpc.Request) (any, error) { return nil, nil }})
	other := jsonrpc.New(jsonrpc.Lines(toEditor, fromEditor, 8<<20), jsonrpc.Config{Handle: e.handle})
	var both sync.WaitGroup
	both.Go(func() { _ = node.Serve(context.Background()) })
	both.Go(func() { _ = other.Serve(context.Background()) })
	e.leave = func() {
		_ = fromNode.Close()
		_ = fromEditor.Close()
	}
	t.Cleanup(func() {
		e.leave()
		both.Wait()
	})
	return node
}

// call is of a Task of the Session s.
func call(name, request string) *provider.Call {
	return &provider.Call{Name: name, Plugin: "p", Tenant: "t", SessionID: "s", TaskID: "task_1", IdempotencyKey: "task_1-0", Request: []byte(request)}
}

// box is what a plugin reaches of the clients of a Session.
type box struct {
	hosts *hosts.Hosts
	tools *tool.Tools
}

func newBox(c hosts.Config, p hosts.ProcessConfig) *box {
	hs := hosts.New(c)
	return &box{hs, tool.New(tool.Config{Servers: map[string]tool.Server{
		tool.ServerClient: tool.NewClients(tool.Limits{}, tool.Hints{}).Beside(hs), abi.ToolServerProcess: hosts.NewProcess(hs, p),
	}, Grants: map[string][]string{"p": {"client:*", "process:*"}}})}
}

func (b *box) add(t testing.TB, e *editor, c hosts.Client) *hosts.Host {
	t.Helper()
	c.Tenant, c.Session, c.Caller = "t", "s", connect(t, e)
	h := b.hosts.Connect(c)
	t.Cleanup(h.Close)
	return h
}

// list returns the tools of a server.
func (b *box) list(t testing.TB, server string) []abi.Tool {
	t.Helper()
	plan, err := b.tools.Prepare(t.Context(), call(abi.CallToolList, `{"server":"`+server+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := plan.Do(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var answer abi.CallToolListAnswer
	if err := json.Unmarshal(raw, &answer); err != nil {
		t.Fatal(err)
	}
	return answer.Tools
}

func (b *box) names(t testing.TB, server string) (names []string) {
	t.Helper()
	for _, of := range b.list(t, server) {
		names = append(names, of.Name)
	}
	return names
}

// do prepares a call of a tool and makes it.
func (b *box) do(ctx context.Context, server, name, arguments string) (plan provider.Plan, answer string, err error) {
	plan, err = b.tools.Prepare(ctx, call(abi.CallToolCall, `{"server":"`+server+`","name":"`+name+`","arguments":`+arguments+`}`))
	if err != nil {
		return plan, "", err
	}
	raw, err := plan.Do(ctx, nil)
	return plan, string(raw), err
}
