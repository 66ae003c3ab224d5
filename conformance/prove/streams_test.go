package prove_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	sse "github.com/wharf-dev/wharf/conformance/internal/answers"
	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
)

// The two turns of the model, in the pieces in which it says them.
var turns = [2][]string{{"I look ", "at the ", "clock."}, {"It is ", "noon, ", "and all is well."}}

// separator is what stands between the texts of two Messages.
const separator = "\n\n"

// turnsText is what an execution has said when it has ended.
var turnsText = strings.Join(turns[0], "") + separator + strings.Join(turns[1], "")

// world is a model and a tool outside of the node. They stop where a test wants them to, which is
// where it kills the node.
type world struct {
	model, desk *httptest.Server
	tool        string // that the model calls, of the desk

	mu      sync.Mutex
	at      string        // where to stop next; "" for nowhere
	arrived chan struct{} // closed when they have stopped there
	leave   chan struct{} // closed when what has stopped may end
	calls   int           // of the tool
}

func newWorld(t *testing.T, called string) *world {
	t.Helper()
	w := &world{tool: called}
	w.model = httptest.NewServer(http.HandlerFunc(w.answer))
	tools := mcp.NewServer(&mcp.Implementation{Name: "desk", Version: "1"}, nil)
	for name, hints := range map[string]*mcp.ToolAnnotations{"look": {ReadOnlyHint: true}, "note": {}} {
		mcp.AddTool(tools, &mcp.Tool{Name: name, Annotations: hints}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			w.mu.Lock()
			w.calls++
			w.mu.Unlock()
			w.reach(ctx, "tool")
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "noon"}}}, nil, nil
		})
	}
	w.desk = httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return tools }, nil))
	t.Cleanup(func() {
		w.letGo()
		for _, s := range []*httptest.Server{w.model, w.desk} {
			s.CloseClientConnections()
			s.Close()
		}
	})
	return w
}

// stop has them stop at a point, and returns what is closed when they have.
func (w *world) stop(at string) (arrived <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at, w.arrived, w.leave = at, make(chan struct{}), make(chan struct{})
	return w.arrived
}

// letGo lets what has stopped end.
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

// points are where the world may stop, in their order, and what has been said by then.
func points() (names []string, said map[string]string) {
	said = map[string]string{}
	before := ""
	add := func(name string) { names, said[name] = append(names, name), before }
	for i, pieces := range turns {
		add(fmt.Sprintf("asked in turn %d", i))
		if i > 0 {
			before += separator
		}
		for j, piece := range pieces {
			before += piece
			add(fmt.Sprintf("piece %d of turn %d", j, i))
		}
		if i == 0 {
			add("call begun")
		}
		add(fmt.Sprintf("end of turn %d", i))
		if i == 0 {
			add("tool")
		}
	}
	return names, said
}

// answer is a chat completion. Asked after the tool has answered, it is the second turn.
func (w *world) answer(rw http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	turn := 0
	if bytes.Contains(body, []byte(`"role":"tool"`)) {
		turn = 1
	}
	rw.Header().Set("Content-Type", "text/event-stream")
	send := func(format string, args ...any) {
		_, _ = fmt.Fprintf(rw, "data: "+format+"\n\n", args...)
		rw.(http.Flusher).Flush()
	}
	w.reach(r.Context(), fmt.Sprintf("asked in turn %d", turn))
	for i, piece := range turns[turn] {
		send(`{"id":"c","model":"small","choices":[{"index":0,"delta":{"content":%q}}]}`, piece)
		w.reach(r.Context(), fmt.Sprintf("piece %d of turn %d", i, turn))
	}
	end := "stop"
	if turn == 0 {
		end = "tool_calls"
		send(`{"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"t1","type":"function","function":{"name":"desk__%s","arguments":"{"}}]}}]}`, w.tool)
		w.reach(r.Context(), "call begun")
		send(`{"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]}}]}`)
	}
	send(`{"id":"c","choices":[{"index":0,"delta":{},"finish_reason":%q}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`, end)
	send("[DONE]")
	w.reach(r.Context(), fmt.Sprintf("end of turn %d", turn))
}

// node starts a node whose agent asks this model and calls this tool.
func (w *world) node(t *testing.T) *nodetest.Node {
	t.Helper()
	config := filepath.Join(t.TempDir(), "wharf.yaml")
	put(t, config, fmt.Sprintf(`
models:
  default: small
  small: {provider: openai, base_url: %q, model: small}
tools:
  desk: {url: %q}
grants:
  agent: {models: ["*"], tools: ["desk:*"]}
settings:
  agent: {approve: never}
`, w.model.URL+"/v1", w.desk.URL))
	return builder.StartWith(t, nodetest.Options{Args: append(withPlugins(t), "--config", config, "--set", "tasks.attempts=1000")})
}

// audience is a client that reads the stream of an execution, over as many connections as it takes.
type audience struct {
	c         *client
	begin     string // where the execution is begun by a POST; "" when it is there
	body      object
	again     bool // it resumes by the POST it has begun with, and not by the execution's own stream
	execution string

	stream io.ReadCloser
	events *sse.Events
	last   string
	told   []heard
}

// heard is an event as a client hears it.
type heard struct {
	sse.Event
	data struct {
		Type    string `json:"type"`
		Content string `json:"content"`
		ID      string `json:"id"`
		ToolID  string `json:"tool_id"`
		Differs bool   `json:"output_differs"`
	}
}

// connect begins the execution, or goes on with it. It reports whether there is more to read.
func (a *audience) connect(t *testing.T) bool {
	t.Helper()
	method, path, body := http.MethodGet, "/v1/harnesses/wharf/executions/"+a.execution+"/stream", io.Reader(nil)
	if a.execution == "" || a.again && a.begin != "" {
		text, err := json.Marshal(a.body)
		if err != nil {
			t.Fatal(err)
		}
		method, path, body = http.MethodPost, a.begin, bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, a.c.url+path, body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+a.c.key)
	req.Header.Set("Content-Type", "application/json")
	if a.last != "" {
		req.Header.Set("Last-Event-ID", a.last)
	} else if a.execution != "" {
		req.Header.Set("X-Execution-ID", a.execution)
	}
	res, err := a.c.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode == http.StatusNoContent {
		_ = res.Body.Close()
		return false
	}
	if id := res.Header.Get("X-Execution-ID"); method == http.MethodPost && a.execution != "" && id != a.execution {
		t.Fatalf("it goes on with the execution %q, and has begun %q", id, a.execution)
	} else if id != "" {
		a.execution = id
	}
	if res.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(res.Body)
		t.Fatalf("%s %s: %d %s", method, path, res.StatusCode, text)
	}
	if a.execution == "" {
		t.Fatal("a stream does not say of which execution it is")
	}
	a.stream, a.events = res.Body, sse.NewEvents(res.Body)
	return true
}

// listen reads until it is as wanted. The error is that of a connection that has ended before.
func (a *audience) listen(t *testing.T, enough func() bool) error {
	t.Helper()
	for !enough() {
		ev, err := a.events.Next()
		if err != nil {
			return err
		}
		one := heard{Event: ev}
		if err := json.Unmarshal([]byte(ev.Data), &one.data); err != nil || ev.ID == "" || one.data.Type != ev.Type {
			t.Fatalf("%v: %v", ev, err)
		}
		a.told, a.last = append(a.told, one), ev.ID
	}
	return nil
}

func (a *audience) text() (all string) {
	for _, ev := range a.told {
		all += ev.data.Content
	}
	return all
}

func never() bool { return false }

// lose reads what is on its way yet when the other side has died.
func (a *audience) lose(t *testing.T) {
	t.Helper()
	if err := a.listen(t, never); err == nil {
		t.Error("a stream of a dead node goes on")
	}
	_ = a.stream.Close()
}

// wantOnce reads to the end, and holds that everything was told once, and the end last.
func (a *audience) wantOnce(t *testing.T, words string, tools ...string) {
	t.Helper()
	if a.connect(t) {
		if err := a.listen(t, never); !errors.Is(err, io.EOF) {
			t.Errorf("the stream ends with %v", err)
		}
		_ = a.stream.Close()
	}
	if got := a.text(); got != words {
		t.Errorf("it is told %q, want %q", got, words)
	}
	var calls, ends []string
	for _, ev := range a.told {
		switch ev.Type {
		case "tool_call_start", "tool_call_end":
			calls = append(calls, ev.data.ID+" "+ev.Type)
		case "tool_result":
			calls = append(calls, ev.data.ToolID+ev.data.ID+" "+ev.Type)
		case "done", "error":
			ends = append(ends, ev.Type)
		}
	}
	if !slices.Equal(calls, tools) {
		t.Errorf("it is told of the calls %q, want %q", calls, tools)
	}
	last := a.told[len(a.told)-1]
	if !slices.Equal(ends, []string{"done"}) || last.Type != "done" || last.data.Differs {
		t.Errorf("it ends with %q, and is told %s at last", ends, last.Data)
	}
	seen := map[string]bool{}
	for _, ev := range a.told {
		if seen[ev.ID] {
			t.Errorf("%s is told twice", ev.ID)
		}
		seen[ev.ID] = true
	}
	if result := a.c.get(t, "/v1/harnesses/wharf/executions/"+a.execution+"/result"); text(result, "result", "output") != words {
		t.Errorf("the result is %v", result)
	}
	if list := a.c.get(t, "/v1/harnesses/wharf/executions"); list["total"] != 1.0 {
		t.Errorf("there are %v executions", list["total"])
	}
}

// wantAnywhere resumes after each event that was told in any life of the node, which is to tell the rest.
func (a *audience) wantAnywhere(t *testing.T) {
	t.Helper()
	for i, ev := range a.told {
		rest := &audience{c: a.c, execution: a.execution, last: ev.ID}
		if i == len(a.told)-1 {
			if rest.connect(t) {
				t.Error("after the end comes more")
			}
			continue
		}
		rest.connect(t)
		if err := rest.listen(t, never); !errors.Is(err, io.EOF) {
			t.Errorf("the stream ends with %v", err)
		}
		_ = rest.stream.Close()
		want := (&audience{told: a.told[i+1:]}).text()
		if got := rest.text(); got != want || rest.told[len(rest.told)-1].Type != "done" {
			t.Errorf("after %s, %v it is told %q, want %q", ev.ID, ev.Data, got, want)
		}
	}
}

// toldOnce is what a stream tells of the one call.
var toldOnce = []string{"t1 tool_call_start", "t1 tool_call_end", "t1 tool_result"}

// TestStreamsOfAKilledNode kills a node at each point of an execution of the bundled agent: before a
// client has seen what was said by then, and after. Started again, it tells the rest: text and calls
// once and whole, and the end once and last.
func TestStreamsOfAKilledNode(t *testing.T) {
	names, said := points()
	for i, point := range names {
		for _, seen := range []bool{true, false} {
			if !long() && (i%5 != 1 || seen != (i%2 == 0)) {
				continue // some points, one way; TestStreamOfANodeKilledAgainAndAgain has all of them
			}
			t.Run(fmt.Sprintf("%s, seen %v", point, seen), func(t *testing.T) {
				w := newWorld(t, []string{"look", "note"}[i%2])
				node := w.node(t)
				a := &audience{c: newClient(node), begin: "/v1/harnesses/wharf/execute/stream", body: object{"message": "go"}, again: i%3 == 0}
				if i%2 != 0 {
					session := text(a.c.post(t, "/v1/harnesses/wharf/sessions", nil), "session", "id")
					a.begin, a.body = "/v1/harnesses/wharf/sessions/"+session+"/message/stream", object{"content": "go"}
				}
				w.killAt(t, a, node, point, seen, said[point])
				a.wantOnce(t, turnsText, toldOnce...)
				a.wantAnywhere(t)
			})
		}
	}
}

// TestStreamOfANodeKilledAgainAndAgain kills a node at all points of one execution.
func TestStreamOfANodeKilledAgainAndAgain(t *testing.T) {
	w := newWorld(t, "look")
	node := w.node(t)
	a := &audience{c: newClient(node), begin: "/v1/harnesses/wharf/execute/stream", body: object{"message": "go"}}
	names, said := points()
	for i, point := range names {
		w.killAt(t, a, node, point, i%2 == 0, said[point])
	}
	a.wantOnce(t, turnsText, toldOnce...)
	a.wantAnywhere(t)
	if w.calls != 2 {
		t.Errorf("a tool that was killed once was called %d times", w.calls)
	}
}

// killAt reads a stream until the world has come to a point, kills the node, and starts it again. A
// client that has seen what there is has the text that was said by then.
func (w *world) killAt(t *testing.T, a *audience, node *nodetest.Node, point string, seen bool, said string) {
	t.Helper()
	arrived := w.stop(point)
	if !a.connect(t) {
		t.Fatalf("it ended before %s", point)
	}
	if seen {
		if err := a.listen(t, func() bool { return a.text() == said }); err != nil {
			t.Fatalf("%s: %v after %q", point, err, a.text())
		}
	}
	<-arrived
	node.Kill(t)
	w.letGo()
	a.lose(t)
	node.Run(t)
}

// TestStreamOfAPluginThatNeverStreams kills a node while an execution waits, and its plugin tells nothing
// until it has said something whole.
func TestStreamOfAPluginThatNeverStreams(t *testing.T) {
	node := builder.StartWith(t, nodetest.Options{Args: withPlugins(t)})
	c := newClient(node)
	says := func(words string) string {
		return fmt.Sprintf(`{"role":"assistant","parts":[{"type":"text","text":%q,"visibility":"public"}]}`, words)
	}
	waits := step("input.request", `{"prompt":"well?"}`)
	task := c.submit(t, c.session(t), "persona_calls", program(waits, step("message.append", says("One.")), waits,
		step("message.append", says("Two.")), step("message.append", says("Three.")), waits))
	a := &audience{c: c, execution: task}
	for _, said := range []string{"", "One.", "One.\n\nTwo.\n\nThree."} {
		a.connect(t)
		c.waitsFor(t, task, "input.request")
		if err := a.listen(t, func() bool { return a.text() == said && a.waiting() }); err != nil {
			t.Fatalf("%v after %q", err, a.text())
		}
		node.Kill(t)
		a.lose(t)
		node.Run(t)
		c.post(t, "/v1/harnesses/wharf/executions/"+task+"/input", object{"data": "go on"})
	}
	a.wantOnce(t, "One.\n\nTwo.\n\nThree.")
	a.wantAnywhere(t)
}

// waiting reports whether the last that was told is that the execution waits.
func (a *audience) waiting() bool {
	return len(a.told) > 0 && strings.Contains(a.told[len(a.told)-1].Data, `"waiting"`)
}
