package openharness_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/internal/gatewaytest"
	"github.com/wharf-dev/wharf/runtime/enginetest"
	"github.com/wharf-dev/wharf/storage/pebble/crashtest"
)

// sse is a server-sent event as a client reads it.
type sse struct{ event, id, data string }

// events is a stream that a client reads.
type events struct {
	t    testing.TB
	body *bufio.Reader
	end  context.CancelFunc
	res  *http.Response
}

// listen opens a stream. path is below /v1/harnesses.
func (n *node) streams(t testing.TB, method, path string, body any, options ...option) *events {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	r, err := http.NewRequestWithContext(ctx, method, n.url+"/v1/harnesses"+path, contentOf(t, body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+enginetest.RootKey)
	for _, o := range options {
		o(r)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); _ = res.Body.Close() })
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%s %s answered %d %s", method, path, res.StatusCode, res.Header.Get("Content-Type"))
	}
	return &events{t, bufio.NewReader(res.Body), cancel, res}
}

// next returns the next event; ok is false at the end of the stream. Comments are passed over.
func (e *events) next() (ev sse, ok bool) {
	e.t.Helper()
	for {
		line, err := e.body.ReadString('\n')
		if err != nil {
			return ev, false
		}
		if strings.Contains(line, "\r") {
			e.t.Errorf("a line ends otherwise than by LF: %q", line)
		}
		switch name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": "); name {
		case "":
			if ev.event != "" {
				return ev, true
			}
		case "event":
			ev.event = value
		case "id":
			ev.id = value
		case "data":
			ev.data = value
		}
	}
}

// wants reads on until an event of a kind has come.
func (e *events) wants(kind string) sse {
	e.t.Helper()
	for {
		ev, ok := e.next()
		if !ok {
			e.t.Fatalf("the stream has ended before %s has come", kind)
		}
		if ev.event == kind {
			return ev
		}
	}
}

// What a harness tells of is streamed as it happens, narrowed by name, and goes on where a client
// has left off.
func TestStreamOfEvents(t *testing.T) {
	n := newNode(t, nil)
	for _, method := range []string{"GET", "POST"} {
		s := n.streams(t, method, "/wharf/events/stream", nil)
		task := n.Submit(t, n.Session(t), "persona_agent")
		created := s.wants("session.created")
		started, ended := s.wants("execution.started"), s.wants("execution.completed")
		for _, ev := range []sse{created, started, ended} {
			schema.fits(t, "HarnessEvent", []byte(ev.data))
		}
		if !strings.Contains(started.data, task) || !strings.Contains(ended.data, `"status":"completed"`) {
			t.Errorf("%v, %v", started, ended)
		}
		s.end()
		again := n.streams(t, method, "/wharf/events/stream?events=execution.completed,session.*", nil, header("Last-Event-ID", created.id))
		if ev, _ := again.next(); ev != ended {
			t.Errorf("it goes on with %v, want %v", ev, ended)
		}
		again.end()
	}
	n.do(t, "GET", "/wharf/events/stream?events=nonsense", nil).fails(400, "VALIDATION_ERROR")
	for _, id := range []string{"x", "1.", "1.0", "1.x", "-1"} {
		n.do(t, "GET", "/wharf/events/stream", nil, header("Last-Event-ID", id)).fails(400, "VALIDATION_ERROR")
	}
	n.do(t, "GET", "/wharf/events/stream", nil, by("")).fails(401, "UNAUTHORIZED")
	n.do(t, "GET", "/wharf/events/stream", nil, by(n.key(t, []string{"tasks:read"}))).fails(403, "FORBIDDEN")
	if got := n.do(t, "HEAD", "/wharf/events/stream", nil); got.status != 200 {
		t.Errorf("%d", got.status)
	}
}

func TestStreamOfLogs(t *testing.T) {
	n := newNode(t, enginetest.Guests{"agent": says})
	s := n.streams(t, "GET", "/wharf/logs/stream?level=warn", nil)
	n.Submit(t, n.Session(t), "persona_agent")
	var lines []string
	for range 3 {
		ev := s.wants("log")
		schema.fits(t, "LogEntry", []byte(ev.data))
		lines = append(lines, ev.data)
	}
	if all := strings.Join(lines, "\n"); !strings.Contains(all, "a line of warn") || strings.Contains(all, "a line of info") {
		t.Errorf("%s", all)
	}
}

// What a model thinks is told by the stream of an execution to keys that may see what is internal, and to no other.
func TestStreamOfThoughts(t *testing.T) {
	n := newNode(t, enginetest.Guests{"agent": makes}, thinking)
	id := n.streams(t, "POST", "/wharf/execute/stream", `{"message":"go"}`).res.Header.Get("X-Execution-ID")
	n.Wait(t, id)
	limited := n.key(t, []string{"tasks:read", "tasks:write", "sessions:read", "events:read"})
	for key, may := range map[string]bool{enginetest.RootKey: true, limited: false} {
		text, kinds, _ := readAll(t, n.streams(t, "GET", "/wharf/executions/"+id+"/stream", nil, by(key)))
		if told := strings.Contains(kinds, "thinking "); told != may || strings.Contains(text, "let me see") != may {
			t.Errorf("%v: it tells %s: %s", may, kinds, text)
		}
	}
}

// A stream lasts no longer than the key that has opened it, and a quiet one says that it lives.
func TestAStreamEndsWithItsKey(t *testing.T) {
	n := startNode(t, crashtest.NewDisk(), nil, gateway.Config{Heartbeat: 20 * time.Millisecond})
	made, err := n.CreateKey(t.Context(), n.Root, abi.CreateKeyRequest{Name: "k", Scopes: []string{"events:read"}})
	if err != nil {
		t.Fatal(err)
	}
	s := n.streams(t, "GET", "/wharf/events/stream", nil, by(gatewaytest.KeyOf(t, made.JSON)))
	if line, err := s.body.ReadString('\n'); err != nil || line != ": \n" {
		t.Errorf("a quiet stream says %q, %v", line, err)
	}
	if _, err := n.RevokeKey(t.Context(), n.Root, made.ID); err != nil {
		t.Fatal(err)
	}
	if ev := s.wants("error"); !strings.Contains(ev.data, "UNAUTHORIZED") {
		t.Errorf("%v", ev)
	}
	if ev, more := s.next(); more {
		t.Errorf("after its end comes %v", ev)
	}
}

// What was read of an event for one reader is told to no other who may see less.
func TestStreamsOfReadersWhoSeeDifferently(t *testing.T) {
	n := newNode(t, enginetest.Guests{"agent": works}, hostTools)
	id := n.do(t, "POST", "/wharf/execute", `{"message":"go"}`).want(202).text("execution_id")
	n.Wait(t, id)
	all, less := []string{"tasks:read", "events:read", abi.ScopeEventsInternal}, []string{"tasks:read", "events:read"}
	whole := func(scopes []string) (text string) {
		for s := n.streams(t, "GET", "/wharf/executions/"+id+"/stream", nil, by(n.key(t, scopes))); ; {
			ev, ok := s.next()
			if !ok {
				return text
			}
			text += ev.data + "\n"
		}
	}
	first := whole(less)
	if sees := whole(all); sees == first {
		t.Errorf("both see %s", sees)
	}
	if again := whole(less); again != first {
		t.Errorf("after somebody who sees more it is %s, and was %s", again, first)
	}
}
