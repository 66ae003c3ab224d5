package prove_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	sse "github.com/wharf-dev/wharf/conformance/internal/answers"
	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
	"github.com/wharf-dev/wharf/internal/share"
)

// lookTwice is a model that looks at a clock, and then says what it has seen.
func lookTwice(tool string) []turn {
	return []turn{{says: []string{"I look ", "at the ", "clock."}, tool: tool, arguments: "{}"}, {says: []string{"It is ", "noon, ", "and all is well."}}}
}

// separator is what stands between the texts of two Messages.
const separator = "\n\n"

// lookedText is what such an execution has said when it has ended.
const lookedText = "I look at the clock." + separator + "It is noon, and all is well."

// points are where the world may stop in a script, in their order, and what has been said by then.
func points(script []turn) (names []string, said map[string]string) {
	said = map[string]string{}
	before := ""
	add := func(name string) { names, said[name] = append(names, name), before }
	for i, t := range script {
		add(fmt.Sprintf("asked in turn %d", i))
		if i > 0 {
			before += separator
		}
		for j, piece := range t.says {
			before += piece
			add(fmt.Sprintf("piece %d of turn %d", j, i))
		}
		if t.tool != "" {
			add(fmt.Sprintf("call of turn %d", i))
		}
		add(fmt.Sprintf("end of turn %d", i))
		if t.tool != "" {
			add("tool")
		}
	}
	return names, said
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
	names, said := points(lookTwice("any"))
	mine := share.Of(t)
	for i, point := range names {
		for _, seen := range []bool{true, false} {
			if !long() && (i%5 != 1 || seen != (i%2 == 0)) {
				continue // some points, one way; TestStreamOfANodeKilledAgainAndAgain has all of them
			}
			t.Run(fmt.Sprintf("%s, seen %v", point, seen), func(t *testing.T) {
				if long() {
					share.Skip(t, mine, i)
				}
				w := newWorld(t, lookTwice([]string{"desk__look", "desk__note"}[i%2]))
				node := builder.StartWith(t, nodetest.Options{Args: w.args(t, "")})
				a := &audience{c: newClient(node), begin: "/v1/harnesses/wharf/execute/stream", body: object{"message": "go"}, again: i%3 == 0}
				if i%2 != 0 {
					session := text(a.c.post(t, "/v1/harnesses/wharf/sessions", nil), "session", "id")
					a.begin, a.body = "/v1/harnesses/wharf/sessions/"+session+"/message/stream", object{"content": "go"}
				}
				w.killAt(t, a, node, point, seen, said[point])
				a.wantOnce(t, lookedText, toldOnce...)
				a.wantAnywhere(t)
			})
		}
	}
}

// TestStreamOfANodeKilledAgainAndAgain kills a node at all points of one execution.
func TestStreamOfANodeKilledAgainAndAgain(t *testing.T) {
	w := newWorld(t, lookTwice("desk__look"))
	node := builder.StartWith(t, nodetest.Options{Args: w.args(t, "")})
	a := &audience{c: newClient(node), begin: "/v1/harnesses/wharf/execute/stream", body: object{"message": "go"}}
	names, said := points(lookTwice("any"))
	for i, point := range names {
		w.killAt(t, a, node, point, i%2 == 0, said[point])
	}
	a.wantOnce(t, lookedText, toldOnce...)
	a.wantAnywhere(t)
	if calls := w.called(); len(calls) != 2 {
		t.Errorf("a tool that was killed once was called %d times", len(calls))
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
