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

	mu      sync.Mutex
	at      string        // where to stop next; "" for nowhere
	arrived chan struct{} // closed when they have stopped there
	leave   chan struct{} // closed when what has stopped may end
	calls   []string      // of tools
	prompts []string      // that the model was asked with
}

func newWorld(t *testing.T, script []turn) *world {
	t.Helper()
	w := &world{script: script}
	counted := func(h http.Handler) *httptest.Server {
		s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			w.requests.Add(1)
			h.ServeHTTP(rw, r)
		}))
		t.Cleanup(func() {
			s.CloseClientConnections()
			s.Close()
		})
		return s
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

// stop has them stop at a point, and returns what is closed when they have.
func (w *world) stop(at string) (arrived <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at, w.arrived, w.leave = at, make(chan struct{}), make(chan struct{})
	return w.arrived
}

// letGo lets what has stopped go on.
func (w *world) letGo() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.leave != nil {
		close(w.leave)
		w.leave = nil
	}
}

// reach says that a point is reached, and stops there if it is to.
func (w *world) reach(ctx context.Context, point string) {
	w.mu.Lock()
	stops, leave := w.at == point && w.leave != nil, w.leave
	if stops {
		w.at = ""
		close(w.arrived)
	}
	w.mu.Unlock()
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
	rw.Header().Set("Content-Type", "text/event-stream")
	send := func(format string, args ...any) {
		_, _ = fmt.Fprintf(rw, "data: "+format+"\n\n", args...)
		rw.(http.Flusher).Flush()
	}
	w.reach(r.Context(), fmt.Sprintf("asked in turn %d", n))
	for i, piece := range w.script[n].says {
		send(`{"id":"c","model":"small","choices":[{"index":0,"delta":{"content":%q}}]}`, piece)
		w.reach(r.Context(), fmt.Sprintf("piece %d of turn %d", i, n))
	}
	end := "stop"
	if t := w.script[n]; t.tool != "" {
		end = "tool_calls"
		send(`{"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"t%d","type":"function","function":{"name":%q,"arguments":%q}}]}}]}`, n+1, t.tool, t.arguments[:1])
		w.reach(r.Context(), fmt.Sprintf("call of turn %d", n))
		send(`{"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":%q}}]}}]}`, t.arguments[1:])
	}
	send(`{"id":"c","choices":[{"index":0,"delta":{},"finish_reason":%q}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`, end)
	send("[DONE]")
	w.reach(r.Context(), fmt.Sprintf("end of turn %d", n))
}

// args are the flags of a node whose agent asks this model and has the host's and these tools; more
// is put behind the configuration.
func (w *world) args(t *testing.T, more string) []string {
	t.Helper()
	config := filepath.Join(t.TempDir(), "wharf.yaml")
	put(t, config, fmt.Sprintf(`
models:
  default: small
  small: {provider: openai, base_url: %q, model: small}
tools:
  desk: {url: %q}
grants:
  agent: {models: ["*"], tools: ["host:*", "desk:*"]}
settings:
  agent: {approve: never}
%s`, w.model.URL+"/v1", w.desk.URL, more))
	return append(withPlugins(t), "--config", config, "--set", "tasks.attempts=1000")
}
