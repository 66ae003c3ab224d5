package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
)

// script answers the requests of a test, one after the other, and keeps them.
type script struct {
	t       *testing.T
	answers []http.HandlerFunc
	got     []*http.Request
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if len(s.got) == len(s.answers) {
		s.t.Errorf("unexpected request: %s %s", r.Method, r.URL)
		return
	}
	s.got = append(s.got, r)
	s.answers[len(s.got)-1](w, r)
}

// serve starts a server that answers as scripted, and a client for it that does
// not pause between attempts.
func serve(t *testing.T, answers ...http.HandlerFunc) (*Client, *script) {
	t.Helper()
	s := &script{t: t, answers: answers}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	c, err := New(server.URL, "secret-key")
	if err != nil {
		t.Fatal(err)
	}
	c.pause = func(ctx context.Context, _ int) error { return ctx.Err() }
	return c, s
}

func answer(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func sse(frames string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, frames)
	}
}

func event(id int) string {
	return fmt.Sprintf("id: %d\nevent: task.started\ndata: {\"object\":\"event\",\"id\":\"%d\",\"event\":\"task.started\",\"payload\":{}}\n\n", id, id)
}

func TestRequestsCarryKeyAndVersion(t *testing.T) {
	c, s := serve(t, answer(200, `{"id":"task_1","status":"WORKING","extra":1}`))
	doc, err := c.Task(t.Context(), "task_1")
	if err != nil {
		t.Fatal(err)
	}
	if doc.Value.Status != abi.TaskWorking || !strings.Contains(string(doc.JSON), `"extra":1`) {
		t.Errorf("got %+v, %s", doc.Value, doc.JSON)
	}
	r := s.got[0]
	if r.Header.Get("Authorization") != "Bearer secret-key" || r.Header.Get(abi.VersionHeader) != abi.ProtocolVersion {
		t.Errorf("headers: %v", r.Header)
	}
}

func TestIDsAreEscaped(t *testing.T) {
	c, s := serve(t, answer(404, `{"error":{"code":"resource_not_found","message":"no","type":"not_found_error"}}`))
	_, err := c.Task(t.Context(), "../keys?x=1#y")
	var refused *Refused
	if !errors.As(err, &refused) {
		t.Fatal(err)
	}
	if got := s.got[0].URL.EscapedPath(); got != "/v1/tasks/..%2Fkeys%3Fx=1%23y" {
		t.Errorf("requested %s", got)
	}
}

func TestErrorsAreTyped(t *testing.T) {
	t.Run("refused", func(t *testing.T) {
		c, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "7")
			answer(429, `{"error":{"code":"rate_limited","message":"full","type":"rate_limit_error","request_id":"req_1"}}`)(w, r)
		})
		_, err := c.Task(t.Context(), "task_1")
		var refused *Refused
		if !errors.As(err, &refused) || refused.Retry != "7" || refused.Answer.RequestID != "req_1" || refused.Status != 429 {
			t.Errorf("got %#v", err)
		}
	})
	t.Run("no node", func(t *testing.T) {
		c, err := New("http://127.0.0.1:1", "k")
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Task(t.Context(), "task_1")
		var gone *Unreachable
		if !errors.As(err, &gone) {
			t.Errorf("got %#v", err)
		}
	})
	for name, h := range map[string]http.HandlerFunc{
		"not JSON":   answer(200, "<html>hello</html>"),
		"not Wharf":  answer(502, "Bad Gateway"),
		"other JSON": answer(500, `{"message":"oops"}`),
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := serve(t, h)
			_, err := c.Task(t.Context(), "task_1")
			var stray *Stray
			if !errors.As(err, &stray) {
				t.Errorf("got %#v", err)
			}
		})
	}
	t.Run("the caller gave up", func(t *testing.T) {
		why := errors.New("because")
		ctx, cancel := context.WithCancelCause(t.Context())
		c, _ := serve(t, func(_ http.ResponseWriter, r *http.Request) {
			cancel(why)
			<-r.Context().Done() // or the answer might still come first
		})
		if _, err := c.Task(ctx, "task_1"); !errors.Is(err, why) {
			t.Errorf("got %v", err)
		}
	})
}

func TestAddressesThatAreNone(t *testing.T) {
	for _, server := range []string{"", "localhost:8080", "ftp://x", "http://", "::"} {
		if _, err := New(server, ""); err == nil {
			t.Errorf("%q was accepted", server)
		}
	}
}

func TestListsFollowTheirPages(t *testing.T) {
	page := func(next string, ids ...string) http.HandlerFunc {
		var data []string
		for _, id := range ids {
			data = append(data, fmt.Sprintf(`{"id":%q,"status":"FAILED"}`, id))
		}
		cursor := "null"
		if next != "" {
			cursor = fmt.Sprintf("%q", next)
		}
		return answer(200, fmt.Sprintf(`{"object":"list","data":[%s],"page":{"has_more":%t,"next_cursor":%s}}`,
			strings.Join(data, ","), next != "", cursor))
	}
	c, s := serve(t, page("c1", "task_1", "task_2"), page("", "task_3"))
	all, err := c.Tasks(t.Context(), TaskFilter{SessionID: "sess_1", Statuses: []abi.TaskStatus{abi.TaskFailed}}, 10)
	if err != nil || len(all) != 3 {
		t.Fatalf("got %d, %v", len(all), err)
	}
	if q := s.got[1].URL.Query(); q.Get("cursor") != "c1" || q.Get("session_id") != "sess_1" {
		t.Errorf("second page asked with %v", q)
	}
	c, s = serve(t, page("c1", "task_1", "task_2"))
	if all, err = c.Tasks(t.Context(), TaskFilter{}, 2); err != nil || len(all) != 2 || len(s.got) != 1 {
		t.Errorf("a limit of 2: got %d in %d requests, %v", len(all), len(s.got), err)
	}
}

func collectEvents(t *testing.T, c *Client, s Stream) (ids []string, err error) {
	t.Helper()
	for e, err := range c.Follow(t.Context(), s) {
		if err != nil {
			return ids, err
		}
		ids = append(ids, e.Value.ID)
	}
	return ids, nil
}

func TestABrokenStreamGoesOnWhereItBroke(t *testing.T) {
	cut := func(w http.ResponseWriter, r *http.Request) {
		sse(event(3)+"id: 4\ndata: {\"half")(w, r)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	c, s := serve(t, sse(": heartbeat\n\n"+event(1)+event(2)), cut,
		answer(503, `{"error":{"code":"service_unavailable","message":"draining","type":"server_error"}}`),
		sse(event(4)), answer(204, ""))
	breaks := 0
	stream := TaskStream("task_1")
	stream.Broken = func(error) { breaks++ }
	ids, err := collectEvents(t, c, stream)
	if err != nil || strings.Join(ids, " ") != "1 2 3 4" {
		t.Fatalf("got %v, %v", ids, err)
	}
	var resumed []string
	for _, r := range s.got {
		resumed = append(resumed, r.Header.Get("Last-Event-ID"))
	}
	if got := strings.Join(resumed, ","); got != ",2,3,3,4" {
		t.Errorf("resumed after %s", got)
	}
	if breaks != 4 {
		t.Errorf("told of %d breaks, want 4", breaks)
	}
}

func TestAStreamThatCannotGoOnEndsWithItsError(t *testing.T) {
	c, _ := serve(t, sse(event(1)+"event: error\ndata: {\"error\":{\"code\":\"cursor_expired\",\"message\":\"too old\",\"type\":\"request_error\"}}\n\n"))
	ids, err := collectEvents(t, c, TaskStream("task_1"))
	var refused *Refused
	if len(ids) != 1 || !errors.As(err, &refused) || refused.Answer.Code != abi.CodeCursorExpired {
		t.Errorf("got %v, %v", ids, err)
	}
}

func TestAStreamIsGivenUpInTheEnd(t *testing.T) {
	down := make([]http.HandlerFunc, maxFailures+1)
	for i := range down {
		down[i] = answer(503, `{"error":{"code":"service_unavailable","message":"down","type":"server_error"}}`)
	}
	c, s := serve(t, down...)
	_, err := collectEvents(t, c, TaskStream("task_1"))
	if err == nil || len(s.got) != maxFailures+1 {
		t.Errorf("after %d attempts: %v", len(s.got), err)
	}
}

func TestAStreamStopsWhenTheReaderHasEnough(t *testing.T) {
	c, s := serve(t, sse(event(1)+event(2)))
	for range c.Follow(t.Context(), TaskStream("task_1")) {
		break
	}
	if len(s.got) != 1 {
		t.Errorf("%d requests", len(s.got))
	}
}

func FuzzFrames(f *testing.F) {
	f.Add(event(1) + ": c\n\n" + event(2))
	f.Add("data: a\ndata:b\r\n\r\nid\n\ndata\n\n")
	f.Add("event: error\ndata: {}\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		ended := false
		for fr, err := range frames(strings.NewReader(text)) {
			if ended {
				t.Error("a frame after the end")
			}
			if ended = err != nil; !ended && len(fr.data) == 0 {
				t.Error("a frame without data")
			}
		}
		if !ended {
			t.Error("the end was not told")
		}
	})
}
