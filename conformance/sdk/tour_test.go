package sdk

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
)

// TestTour does with each client what a first program does.
func TestTour(t *testing.T) {
	n := builder.Start(t)
	inEach(t, func(t *testing.T, c *client) {
		c.url = n.URL + "/" // people write it so
		session := c.text(t, "session", nil)
		task := c.text(t, "submit", command{"session": session, "persona": "persona_echo", "text": "high water at nine"})
		if got := c.text(t, "wait", command{"task": task}); got != "COMPLETED" {
			t.Errorf("the Task is %s", got)
		}
		if got := c.text(t, "wait", command{"task": task, "orAsked": true}); got != "COMPLETED" {
			t.Errorf("waited for once more, the Task is %s", got)
		}
		if got := c.text(t, "outcome", command{"task": task}); !strings.HasPrefix(got, "echoed ") {
			t.Errorf("the Outcome is %q", got)
		}
		if got := c.text(t, "receipt", command{"task": task}); got != task {
			t.Errorf("the receipt is about %s", got)
		}
		for i := range 3 {
			c.ask(t, "append", command{"session": session, "text": fmt.Sprint("tide ", i)})
		}
		texts, _ := c.ask(t, "messages", command{"session": session}).([]any)
		for i := range 3 {
			if !slices.Contains(texts, any(fmt.Sprint("tide ", i))) {
				t.Errorf("the pages of Messages have %v", texts)
			}
		}
		if got := c.text(t, "upload", command{"session": session, "text": "ebb and flow: ≈ 4 m"}); got != "ebb and flow: ≈ 4 m" {
			t.Errorf("the content came back as %q", got)
		}
		if got := c.text(t, "create key", command{"text": "a key of " + t.Name()}); got == "" {
			t.Error("an operation without a resource gave nothing")
		}
		c.start(t, "stream", command{"task": task})
		if ids := c.follow(t, ""); len(ids) == 0 {
			t.Error("the stream of a Task that has ended shows nothing")
		}
	})
}

// TestErrorsSayWhatToDo looks at the errors of each client.
func TestErrorsSayWhatToDo(t *testing.T) {
	n := builder.Start(t)
	inEach(t, func(t *testing.T, c *client) {
		c.url = n.URL
		e := c.refused(t, "get task", command{"task": "task_none"})
		if e.Status != 404 || e.Code != "resource_not_found" || e.RequestID == "" || e.Advice == "" || e.Message == "" {
			t.Errorf("a Task that is not there: %+v", e)
		}
		for _, part := range []string{e.Code, e.Message, e.Advice, e.RequestID} {
			if !strings.Contains(e.Text, part) {
				t.Errorf("%q does not say %q", e.Text, part)
			}
		}
		if e := c.refused(t, "get task", command{"task": "task_none", "key": "wrong-key"}); e.Status != 401 || e.Code != "unauthenticated" {
			t.Errorf("a wrong key: %+v", e)
		}
		// What is no id is not put into a path: .. would name another resource.
		for _, id := range []string{"", ".", ".."} {
			if e := c.refused(t, "get task", command{"task": id}); e.Status != 0 {
				t.Errorf("%q was sent as an id: %+v", id, e)
			}
		}
		if e := c.refused(t, "get task", command{"task": "../sessions?x=y#z"}); e.Code != "resource_not_found" {
			t.Errorf("an id with signs of URLs: %+v", e)
		}
		session := c.text(t, "session", nil)
		one := command{"session": session, "text": "a", "idempotencyKey": "one key " + t.Name()}
		c.ask(t, "append", one)
		one["text"] = "b"
		if e := c.refused(t, "append", one); e.Code != "idempotency_key_reused" || e.Status != 409 {
			t.Errorf("a key of another request: %+v", e)
		}
	})
}

// TestSockets says something over a WebSocket, and sees the answer and the event.
func TestSockets(t *testing.T) {
	n := builder.Start(t)
	inEach(t, func(t *testing.T, c *client) {
		c.url = n.URL
		session := c.text(t, "session", nil)
		for _, text := range []string{"short", strings.Repeat("a long swell ", 100), strings.Repeat("a very long one ", 10_000)} {
			c.start(t, "socket", command{"session": session, "text": text})
			r := c.next(t)
			if r.Error != nil && strings.Contains(r.Error.Text, "there is no WebSocket here") {
				t.Skip(`needs Node 22, or the package ws: run "npm ci" in conformance/clients`)
			}
			ids, _ := r.Done.([]any)
			if r.Error != nil || len(ids) != 2 || ids[0] != ids[1] {
				t.Fatalf("the answer and the event are about %v (%+v)", ids, r.Error)
			}
		}
		c.start(t, "socket", command{"session": "sess_none", "text": "x"})
		if r := c.next(t); r.Error == nil {
			t.Error("a socket to a Session that is not there was opened")
		}
	})
}

// TestManyStreamsAtOnce has a client wait for events many times, and write meanwhile.
func TestManyStreamsAtOnce(t *testing.T) {
	n := builder.Start(t)
	inEach(t, func(t *testing.T, c *client) {
		c.url = n.URL
		session := c.text(t, "session", nil)
		if got := c.ask(t, "crowd", command{"session": session, "text": "all at once"}); got != 50.0 {
			t.Errorf("%v of 50 streams have shown what was said", got)
		}
	})
}

// TestWaitingForAnAnswer waits for a Task that asks somebody, of what stands in for a node.
func TestWaitingForAnAnswer(t *testing.T) {
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/stream") {
			io.WriteString(w, `{"object":"task","id":"task_1","status":"INPUT_REQUIRED"}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, ": a heartbeat\n\nid: 1\nevent: task.started\ndata: {\"id\":\"1\",\"event\":\"task.started\"}\n\n"+
			"id: 2\r\nevent: task.input_required\r\ndata: {\"id\":\"2\",\r\ndata: \"event\":\"task.input_required\"}\r\n\r\n")
		http.NewResponseController(w).Flush()
		<-r.Context().Done() // the stream stays open: the Task has not ended
	}))
	t.Cleanup(func() {
		node.CloseClientConnections()
		node.Close()
	})
	inEach(t, func(t *testing.T, c *client) {
		c.url = node.URL
		if got := c.text(t, "wait", command{"task": "task_1", "orAsked": true}); got != "INPUT_REQUIRED" {
			t.Errorf("the Task is %s", got)
		}
	})
}

// get reads a resource of a node, without any of the clients.
func get(t *testing.T, n *nodetest.Node, path string, into any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", n.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	text := body(t, req)
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v: %s", path, err, text)
	}
}

// body sends a request with the node's key, and returns what it is answered with, which must be success.
func body(t *testing.T, req *http.Request) []byte {
	t.Helper()
	req.Header.Set("Authorization", "Bearer "+nodetest.Key)
	req.Header.Set("Harn-Agents-Protocol-Version", nodetest.Version)
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode >= 400 {
		t.Fatalf("%s: %d %s (%v)", req.URL, answer.StatusCode, text, err)
	}
	return text
}

// log returns the ids of a Session's events, in their order.
func log(t *testing.T, n *nodetest.Node, session string) (ids []string) {
	t.Helper()
	var page struct{ Data []struct{ ID string } }
	get(t, n, "/v1/sessions/"+session+"/events?limit=200", &page)
	for _, e := range page.Data {
		ids = append(ids, e.ID)
	}
	return ids
}
