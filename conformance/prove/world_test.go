package prove_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// turn is what a model answers once: a text in the pieces in which it says it, and the tool that it
// calls, if any, by the name that it is told.
type turn struct {
	says            []string
	tool, arguments string
}

// world is a model and a server of tools outside of the node. They stop where a test wants them to.
type world struct {
	model, desk *httptest.Server
	script      []turn
	requests    atomic.Int64 // to both
	*gate

	mu      sync.Mutex
	calls   []string // of tools
	prompts []string // that the model was asked with
}

// gate stops what comes to a point that a test names.
type gate struct {
	mu      sync.Mutex
	at      string        // where to stop next; "" for nowhere
	arrived chan struct{} // closed when something has stopped there
	leave   chan struct{} // closed when what has stopped may go on
}

// serve starts a server that waits for none of its connections when the test ends.
func serve(t *testing.T, h http.Handler) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

func newWorld(t *testing.T, script []turn) *world {
	t.Helper()
	w := &world{script: script, gate: &gate{}}
	counted := func(h http.Handler) *httptest.Server {
		return serve(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			w.requests.Add(1)
			h.ServeHTTP(rw, r)
		}))
	}
	tools := mcp.NewServer(&mcp.Implementation{Name: "desk", Version: "1"}, nil)
	type words struct {
		Text string `json:"text,omitempty"`
	}
	for name, hints := range map[string]*mcp.ToolAnnotations{"look": {ReadOnlyHint: true}, "note": {}} {
		mcp.AddTool(tools, &mcp.Tool{Name: name, Annotations: hints}, func(ctx context.Context, _ *mcp.CallToolRequest, in words) (*mcp.CallToolResult, any, error) {
			w.keep(&w.calls, name+" "+in.Text)
			w.reach(ctx, "tool")
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "noon"}}}, nil, nil
		})
	}
	w.model = counted(http.HandlerFunc(w.answer))
	w.desk = counted(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return tools }, nil))
	t.Cleanup(w.letGo)
	return w
}

func (w *world) keep(list *[]string, what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	*list = append(*list, what)
}

// called returns the calls of tools so far, each as NAME TEXT.
func (w *world) called() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.calls)
}

// asked returns what the model was asked with so far.
func (w *world) asked() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.prompts)
}

// stop has what comes to a point stop there, and returns what is closed when it has. What has stopped before
// goes on.
func (g *gate) stop(at string) (arrived <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.leave != nil {
		close(g.leave)
	}
	g.at, g.arrived, g.leave = at, make(chan struct{}), make(chan struct{})
	return g.arrived
}

// letGo lets what has stopped go on.
func (g *gate) letGo() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.leave != nil {
		close(g.leave)
		g.leave = nil
	}
}

// reach says that a point is reached, and stops there if it is to.
func (g *gate) reach(ctx context.Context, point string) {
	g.mu.Lock()
	stops, leave := g.at == point && g.leave != nil, g.leave
	if stops {
		g.at = ""
		close(g.arrived)
	}
	g.mu.Unlock()
	if stops {
		select {
		case <-leave:
		case <-ctx.Done():
		}
	}
}

// answer is a chat completion: the turn after as many tools as have answered.
func (w *world) answer(rw http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.keep(&w.prompts, string(body))
	n := bytes.Count(body, []byte(`"role":"tool"`))
	if n >= len(w.script) {
		http.Error(rw, "nothing more to say", http.StatusBadRequest)
		return
	}
	chat := newChat(rw)
	w.reach(r.Context(), fmt.Sprintf("asked in turn %d", n))
	for i, piece := range w.script[n].says {
		chat.delta(`{"content":%q}`, piece)
		w.reach(r.Context(), fmt.Sprintf("piece %d of turn %d", i, n))
	}
	end := "stop"
	if t := w.script[n]; t.tool != "" {
		end = "tool_calls"
		chat.delta(`{"tool_calls":[{"index":0,"id":"t%d","type":"function","function":{"name":%q,"arguments":%q}}]}`, n+1, t.tool, t.arguments[:1])
		w.reach(r.Context(), fmt.Sprintf("call of turn %d", n))
		chat.delta(`{"tool_calls":[{"index":0,"function":{"arguments":%q}}]}`, t.arguments[1:])
	}
	chat.end(end, 1)
	w.reach(r.Context(), fmt.Sprintf("end of turn %d", n))
}

// chat is the stream of a chat completion.
type chat struct{ rw http.ResponseWriter }

func newChat(rw http.ResponseWriter) chat {
	rw.Header().Set("Content-Type", "text/event-stream")
	return chat{rw}
}

func (c chat) send(format string, args ...any) {
	_, _ = fmt.Fprintf(c.rw, "data: "+format+"\n\n", args...)
	c.rw.(http.Flusher).Flush()
}

// delta says more of the answer.
func (c chat) delta(format string, args ...any) {
	c.send(`{"id":"c","model":"small","choices":[{"index":0,"delta":`+format+`}]}`, args...)
}

// end says why the answer ends, and how many tokens the question had.
func (c chat) end(why string, tokens int) {
	c.send(`{"id":"c","choices":[{"index":0,"delta":{},"finish_reason":%q}],"usage":{"prompt_tokens":%d,"completion_tokens":1}}`, why, tokens)
	c.send("[DONE]")
}

// args are the flags of a node whose agent asks this model, has the host's, these and the clients' tools, and
// nobody's leave; more is put behind the configuration.
func (w *world) args(t *testing.T, more string) []string {
	t.Helper()
	return agentArgs(t, w.model, w.desk, "approve: never", more)
}

// agentArgs are the flags of a node whose agent asks a model, and has the host's, a server's and the clients'
// tools. settings are the agent's, and more is put behind the configuration.
func agentArgs(t *testing.T, model, desk *httptest.Server, settings, more string) []string {
	t.Helper()
	config := filepath.Join(t.TempDir(), "wharf.yaml")
	put(t, config, fmt.Sprintf(`
models:
  default: small
  small: {provider: openai, base_url: %q, model: small}
tools:
  desk: {url: %q}
grants:
  agent: {models: ["*"], tools: ["host:*", "desk:*", "client:*"]}
settings:
  agent: {%s}
%s`, model.URL+"/v1", desk.URL, settings, more))
	return append(withPlugins(t), "--config", config, "--set", "tasks.attempts=1000")
}
