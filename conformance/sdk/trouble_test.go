package sdk

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
)

// TestStreamsAcrossRestarts kills the node in the middle of a stream. What the client shows in
// the end must be the log, once.
func TestStreamsAcrossRestarts(t *testing.T) {
	inEach(t, func(t *testing.T, c *client) {
		n := builder.Start(t)
		c.url = n.URL
		c.streamAcrossRestarts(t, n)
	})
}

// streamAcrossRestarts leaves the stream open: the driver takes no command after it.
func (c *client) streamAcrossRestarts(t *testing.T, n *nodetest.Node) {
	t.Helper()
	session := c.text(t, "session", nil)
	last := appendTo(t, n, session, "the first")
	c.start(t, "stream", command{"session": session, "until": "nothing"})
	got := c.follow(t, last)
	for round, stop := range []func(*nodetest.Node, testing.TB){(*nodetest.Node).Kill, (*nodetest.Node).Stop} {
		stop(n, t)
		n.Run(t)
		for i := range 3 {
			last = appendTo(t, n, session, fmt.Sprint("round ", round, ", ", i))
		}
		got = append(got, c.follow(t, last)...)
	}
	if want := log(t, n, session); !slices.Equal(got, want) {
		t.Errorf("the client showed\n%v, the log has\n%v", got, want)
	}
}

// TestWaitAcrossRestarts waits for a Task of a node that is killed meanwhile.
func TestWaitAcrossRestarts(t *testing.T) {
	inEach(t, func(t *testing.T, c *client) {
		n := builder.Start(t)
		c.url = n.URL
		session := c.text(t, "session", nil)
		task := c.text(t, "submit", command{"session": session, "persona": "persona_echo", "text": "the gates close at ten"})
		n.Kill(t)
		c.start(t, "wait", command{"task": task})
		n.Run(t)
		if r := c.next(t); r.Error != nil || r.Done != "COMPLETED" {
			t.Errorf("the Task is %v (%+v)", r.Done, r.Error)
		}
	})
}

// appendTo says something in a Session, without any of the clients, and returns the Message's id.
func appendTo(t *testing.T, n *nodetest.Node, session, text string) string {
	t.Helper()
	text = fmt.Sprintf(`{"message":{"role":"user","parts":[{"type":"text","text":%q}]}}`, text)
	req, err := http.NewRequestWithContext(t.Context(), "POST", n.URL+"/v1/sessions/"+session+"/messages", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	var message struct{ ID string }
	if err := json.Unmarshal(body(t, req), &message); err != nil {
		t.Fatal(err)
	}
	return message.ID
}

// between stands between a client and a node, and makes trouble.
type between struct {
	*httptest.Server
	trouble func(n int, w http.ResponseWriter, r *http.Request, pass http.Handler)

	mu   sync.Mutex
	seen []attempt
}

type attempt struct {
	method, path, key string
	at                time.Time
}

// newBetween has trouble handle each request that is not for reading; n counts them from 0.
func newBetween(t *testing.T, n *nodetest.Node, troubled func(*http.Request) bool, trouble func(n int, w http.ResponseWriter, r *http.Request, pass http.Handler)) *between {
	t.Helper()
	to, err := url.Parse(n.URL)
	if err != nil {
		t.Fatal(err)
	}
	pass := httputil.NewSingleHostReverseProxy(to)
	pass.FlushInterval = -1
	b := &between{trouble: trouble}
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !troubled(r) {
			pass.ServeHTTP(w, r)
			return
		}
		b.mu.Lock()
		count := len(b.seen)
		b.seen = append(b.seen, attempt{r.Method, r.URL.Path, r.Header.Get("Idempotency-Key"), time.Now()})
		b.mu.Unlock()
		trouble(count, w, r, pass)
	}))
	t.Cleanup(func() {
		b.CloseClientConnections()
		b.Close()
	})
	return b
}

func (b *between) attempts() []attempt {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.seen)
}

func posts(r *http.Request) bool { return r.Method == http.MethodPost }

// lose has the node do what is asked, and loses its answer.
func lose(pass http.Handler, r *http.Request) {
	pass.ServeHTTP(httptest.NewRecorder(), r)
	panic(http.ErrAbortHandler)
}

// TestLostAnswers loses the answers of writes that the node has done. They must be sent again with the
// same key, and done once; what has no key must not be sent again.
func TestLostAnswers(t *testing.T) {
	n := builder.Start(t)
	inEach(t, func(t *testing.T, c *client) {
		c.url = n.URL
		session := c.text(t, "session", nil)
		b := newBetween(t, n, posts, func(count int, w http.ResponseWriter, r *http.Request, pass http.Handler) {
			if count < 2 || strings.HasPrefix(r.URL.Path, "/wharf/v1/keys") {
				lose(pass, r)
			}
			pass.ServeHTTP(w, r)
		})
		c.url = b.URL
		c.ask(t, "append", command{"session": session, "text": "only once"})
		seen := b.attempts()
		if len(seen) != 3 || seen[0].key == "" || seen[0].key != seen[1].key || seen[1].key != seen[2].key {
			t.Errorf("the write was sent as %+v", seen)
		}
		if texts, _ := c.ask(t, "messages", command{"session": session}).([]any); len(texts) != 1 {
			t.Errorf("the Session has %v", texts)
		}
		if e := c.refused(t, "create key", command{"text": t.Name()}); e.Status != 0 {
			t.Errorf("a lost answer is told as %+v", e)
		}
		if seen := b.attempts(); len(seen) != 4 {
			t.Errorf("what has no key was sent %d times", len(seen)-3)
		}
		c.ask(t, "append", command{"session": session, "text": "another"})
		if seen := b.attempts(); seen[4].key == seen[0].key {
			t.Error("two writes have one key")
		}
	})
}

// TestOverload has a node say that it is busy. The client comes back as late as it is asked to.
func TestOverload(t *testing.T) {
	n := builder.Start(t)
	busy := func(w http.ResponseWriter, status int, code, after string) {
		w.Header().Set("Retry-After", after)
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":{"code":%q,"type":"server_error","message":"busy","request_id":"req_1"}}`, code)
	}
	inEach(t, func(t *testing.T, c *client) {
		c.url = n.URL
		session := c.text(t, "session", nil)
		b := newBetween(t, n, posts, func(count int, w http.ResponseWriter, r *http.Request, pass http.Handler) {
			switch count {
			case 0, 4:
				busy(w, http.StatusTooManyRequests, "rate_limited", "1")
			case 1:
				http.Error(w, "<html>", http.StatusBadGateway)
			case 3:
				busy(w, http.StatusServiceUnavailable, "service_unavailable", "3600")
			default:
				pass.ServeHTTP(w, r)
			}
		})
		c.url = b.URL
		c.ask(t, "append", command{"session": session, "text": "patience"})
		seen := b.attempts()
		if len(seen) != 3 || seen[0].key != seen[2].key {
			t.Fatalf("the write was sent as %+v", seen)
		}
		if early := seen[1].at.Sub(seen[0].at); early < time.Second {
			t.Errorf("asked to wait for a second, the client came back after %v", early)
		}
		e := c.refused(t, "append", command{"session": session, "text": "too late"})
		if e.Status != 503 || e.RetryAfter != 3600 || e.RequestID != "req_1" {
			t.Errorf("asked to wait for an hour, the client said %+v", e)
		}
		c.ask(t, "create key", command{"text": "after 429, " + t.Name()}) // was not done, so that it can be sent again
		if seen := b.attempts(); len(seen) != 6 {
			t.Errorf("what has no key was sent %d times", len(seen)-4)
		}
	})
}

// TestStreamsThatAreCut cuts a stream after each of some numbers of bytes: in the middle of a line, of a character,
// between the lines of a frame. No event may be lost, none shown twice.
func TestStreamsThatAreCut(t *testing.T) {
	n := builder.Start(t)
	inEach(t, func(t *testing.T, c *client) {
		c.url = n.URL
		session := c.text(t, "session", nil)
		var last string
		for i := range 4 {
			last = appendTo(t, n, session, fmt.Sprint("tide 潮 ", i))
		}
		cuts := []int{0, 1, 9, 700, 1101, 1502}
		streams := func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/stream") }
		b := newBetween(t, n, streams, func(count int, w http.ResponseWriter, r *http.Request, pass http.Handler) {
			if count < len(cuts) {
				w = &cut{w, cuts[count]}
			}
			pass.ServeHTTP(w, r)
		})
		c.url = b.URL
		c.start(t, "stream", command{"session": session, "until": last})
		got := c.follow(t, last)
		if want := log(t, n, session); !slices.Equal(got, want) {
			t.Errorf("the client showed\n%v, the log has\n%v", got, want)
		}
		if seen := b.attempts(); len(seen) < 5 {
			t.Errorf("the stream was cut %d times", len(seen)-1)
		}
	})
}

// cut is an answer that is cut off after so many bytes.
type cut struct {
	http.ResponseWriter
	left int
}

func (c *cut) Write(text []byte) (int, error) {
	part := text[:min(len(text), c.left)]
	c.left -= len(part)
	written, err := c.ResponseWriter.Write(part)
	if len(part) < len(text) && err == nil {
		c.Flush()
		panic(http.ErrAbortHandler)
	}
	return written, err
}

func (c *cut) Flush() { http.NewResponseController(c.ResponseWriter).Flush() }

// TestStreamsThatEndForGood gives a client the errors that coming back does not help against.
func TestStreamsThatEndForGood(t *testing.T) {
	n := builder.Start(t)
	inEach(t, func(t *testing.T, c *client) {
		c.url = n.URL
		c.start(t, "stream", command{"session": "sess_none"})
		if r := c.next(t); r.Error == nil || r.Error.Code != "resource_not_found" {
			t.Errorf("the stream of a Session that is not there: %+v", r)
		}
		session := c.text(t, "session", nil)
		b := newBetween(t, n, func(r *http.Request) bool { return true }, func(count int, w http.ResponseWriter, r *http.Request, pass http.Handler) {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, "id: 7\nevent: error\ndata: {\"error\":{\"code\":\"cursor_expired\",\"type\":\"request_error\",\"message\":\"gone\"}}\n\n")
		})
		c.url = b.URL
		c.start(t, "stream", command{"session": session})
		if r := c.next(t); r.Error == nil || r.Error.Code != "cursor_expired" || r.Error.Advice == "" {
			t.Errorf("a cursor that has expired: %+v", r)
		}
	})
}
