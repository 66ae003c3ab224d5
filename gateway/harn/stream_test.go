package harn_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/runtime/enginetest"
)

// frame is one server-sent event, or a heartbeat when it has a comment only.
type frame struct {
	id, event, data, comment string
}

// stream is an open event stream, read as a client does.
type stream struct {
	t    testing.TB
	resp *http.Response
	r    *bufio.Reader
	stop context.CancelFunc
}

// follow opens a stream. It is closed with the test at the latest.
func (n *node) follow(t testing.TB, path string, options ...func(*http.Request)) *stream {
	t.Helper()
	r := n.request(t, "GET", path, nil, options...)
	ctx, stop := context.WithCancel(r.Context())
	resp, err := http.DefaultClient.Do(r.WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(); resp.Body.Close() })
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" || resp.Header.Get("X-Request-Id") == "" {
		body, _ := io.ReadAll(resp.Body)
		t.Fatalf("%s: %d %v %s", path, resp.StatusCode, resp.Header, body)
	}
	return &stream{t, resp, bufio.NewReaderSize(resp.Body, 64<<10), stop}
}

func lastEventID(id string) func(*http.Request) { return header("Last-Event-ID", id) }

// next reads one frame; io.EOF is the stream's proper end.
func (s *stream) next() (f frame, err error) {
	for {
		line, err := s.r.ReadString('\n')
		if err != nil {
			if errors.Is(err, io.EOF) && line == "" && f == (frame{}) {
				return f, io.EOF
			}
			return f, errors.Join(errors.New("the stream breaks within a frame"), err)
		}
		line = strings.TrimSuffix(line, "\n")
		name, value, _ := strings.Cut(line, ": ")
		switch {
		case line == "":
			return f, nil
		case name == "id" && f.id == "":
			f.id = value
		case name == "event" && f.event == "":
			f.event = value
		case name == "data" && f.data == "":
			f.data = value
		case strings.HasPrefix(line, ":"):
			f.comment = line
		default:
			return f, errors.New("no line of a frame: " + line)
		}
	}
}

// event reads the next frame that is no heartbeat and checks that its parts agree.
func (s *stream) event() (abi.Event, error) {
	for {
		f, err := s.next()
		if err != nil {
			return abi.Event{}, err
		}
		if f.comment != "" {
			continue
		}
		var ev abi.Event
		if err := json.Unmarshal([]byte(f.data), &ev); err != nil {
			return ev, err
		}
		if ev.ID != f.id || string(ev.Event) != f.event {
			return ev, errors.New("the frame " + f.id + " " + f.event + " holds " + f.data)
		}
		return ev, nil
	}
}

// take reads n events.
func (s *stream) take(n int) (events []abi.Event) {
	s.t.Helper()
	for range n {
		ev, err := s.event()
		if err != nil {
			s.t.Fatalf("after %d of %d events: %v", len(events), n, err)
		}
		events = append(events, ev)
	}
	return events
}

// rest reads to the end of the stream.
func (s *stream) rest() (events []abi.Event) {
	s.t.Helper()
	for {
		ev, err := s.event()
		if errors.Is(err, io.EOF) {
			return events
		}
		if err != nil {
			s.t.Fatal(err)
		}
		events = append(events, ev)
	}
}

func idsOf(events []abi.Event) (ids []string) {
	for _, ev := range events {
		ids = append(ids, ev.ID)
	}
	return ids
}

func (n *node) say(t testing.TB, session, words string) {
	t.Helper()
	n.do(t, "POST", "/v1/sessions/"+session+"/messages", object{"message": message(words)}).want(201)
}

// The bytes of a stream are what the protocol asks for.
func TestStreamFraming(t *testing.T) {
	n := newNode(t)
	task := n.finished(t, n.session(t))
	for _, version := range []string{"HTTP/1.1", "HTTP/1.0"} {
		c := n.dial(t)
		_, err := io.WriteString(c, "GET /v1/tasks/"+task+"/stream "+version+"\r\nHost: x\r\nAuthorization: Bearer "+enginetest.RootKey+"\r\n"+
			abi.VersionHeader+": "+abi.ProtocolVersion+"\r\n\r\n")
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body) // of a chunked body, an error unless the end is marked
		if err != nil {
			t.Fatal(version, err)
		}
		if want := version == "HTTP/1.1"; want != slices.Equal(resp.TransferEncoding, []string{"chunked"}) {
			t.Errorf("%s: transfer encoding %v", version, resp.TransferEncoding)
		}
		for name, value := range map[string]string{"Content-Type": "text/event-stream", "Cache-Control": "no-cache, no-transform"} {
			if resp.Header.Get(name) != value {
				t.Errorf("%s: %s: %q", version, name, resp.Header.Get(name))
			}
		}
		if !strings.HasPrefix(string(body), "id: ") || strings.Contains(string(body), "\r") || !strings.HasSuffix(string(body), "}\n\n") {
			t.Errorf("%s: body %q", version, body)
		}
		for part := range strings.SplitSeq(strings.TrimSuffix(string(body), "\n\n"), "\n\n") {
			if lines := strings.Split(part, "\n"); len(lines) != 3 || !strings.HasPrefix(lines[0], "id: ") ||
				!strings.HasPrefix(lines[1], "event: ") || !strings.HasPrefix(lines[2], "data: {") {
				t.Errorf("%s: frame %q", version, part)
			}
		}
	}
}

// A client's own line breaks never reach a data line.
func TestStreamOfPrettyJSON(t *testing.T) {
	n := newNode(t)
	session := n.session(t)
	body := "{\r\n  \"input\": {\n    \"list\": [\n 1,\r 2 ],\n \"text\": \"a\\nb\"\n  },\n \"metadata\": {\n\"a\": \"b\"\n}\n}"
	n.do(t, "POST", "/v1/sessions/"+session+"/tasks", body, header("Prefer", "wait=30")).want(200)
	var seen bool
	s := n.follow(t, "/v1/sessions/"+session+"/events/stream")
	for _, ev := range s.take(3) {
		seen = seen || strings.Contains(string(ev.Payload), `"text":"a\nb"`)
	}
	if !seen {
		t.Error("the input is in no event")
	}
}

// Wherever a client resumes, it gets what it has not seen and nothing else, with
// the marks that tell history from the present.
func TestStreamResumesAtEveryCursor(t *testing.T) {
	n := newNode(t)
	session := n.session(t)
	n.finished(t, session)
	at := "/v1/sessions/" + session + "/events"
	history := n.do(t, "GET", at+"?limit=200", nil).ids()
	streams := make([]*stream, 0, 2*len(history)+2)
	for i := range history {
		streams = append(streams,
			n.follow(t, at+"/stream", lastEventID(history[i])),
			n.follow(t, at+"/stream?after_event_id="+history[i]))
	}
	fresh := n.follow(t, at+"/stream")
	for i, s := range streams {
		want := history[i/2+1:]
		got := s.take(len(want))
		if !slices.Equal(idsOf(got), want) {
			t.Errorf("after %s: %v, want %v", history[i/2], idsOf(got), want)
		}
		for _, ev := range got {
			if !ev.Replayed {
				t.Errorf("after %s: the missed event %s is not marked replayed", history[i/2], ev.ID)
			}
		}
	}
	for _, ev := range fresh.take(len(history)) {
		if ev.Replayed {
			t.Errorf("event %s is marked replayed to a client that sees it for the first time", ev.ID)
		}
	}
	n.say(t, session, "live")
	live := n.do(t, "GET", at+"?after_event_id="+history[len(history)-1], nil).ids()
	for _, s := range append(streams, fresh) {
		if ev := s.take(1)[0]; ev.ID != live[0] || ev.Replayed {
			t.Errorf("live event %s replayed %v, want %s", ev.ID, ev.Replayed, live[0])
		}
	}
}

// While events keep coming, clients that come, go and resume see each of them
// once and in order.
func TestStreamHasNoGapAndNoDouble(t *testing.T) {
	n := newNode(t)
	session := n.session(t)
	at := "/v1/sessions/" + session + "/events"
	const messages, readers = 150, 6
	var writing sync.WaitGroup
	for range 3 {
		writing.Go(func() {
			for range messages / 3 {
				n.say(t, session, "m")
			}
		})
	}
	got := make([][]string, readers)
	var reading sync.WaitGroup
	for reader := range readers {
		reading.Go(func() {
			for len(got[reader]) < messages+1 {
				var resume []func(*http.Request)
				if seen := got[reader]; len(seen) > 0 {
					resume = append(resume, lastEventID(seen[len(seen)-1]))
				}
				s := n.follow(t, at+"/stream", resume...)
				piece := min(7+reader*5, messages+1-len(got[reader]))
				got[reader] = append(got[reader], idsOf(s.take(piece))...)
				s.stop()
			}
		})
	}
	writing.Wait()
	reading.Wait()
	var want []string
	for after := "0"; ; {
		a := n.do(t, "GET", at+"?limit=200&after_event_id="+after, nil)
		want = append(want, a.ids()...)
		if after, _ = a.get("page", "next_cursor").(string); after == "" {
			break
		}
	}
	for reader := range readers {
		if !slices.Equal(got[reader], want) {
			t.Errorf("reader %d saw %d events, want %d:\n%v\n%v", reader, len(got[reader]), len(want), got[reader], want)
		}
	}
}

// A Task's stream ends with the Task, and says so to who comes back.
func TestTaskStreamEnds(t *testing.T) {
	n := newNode(t)
	task := n.submit(t, n.session(t), "persona_hold").want(202).id()
	at := "/v1/tasks/" + task
	live := n.follow(t, at+"/stream")
	<-n.held
	n.leave <- struct{}{}
	got := live.rest()
	all := n.do(t, "GET", at+"/events", nil).ids()
	if !slices.Equal(idsOf(got), all) {
		t.Errorf("streamed %v, listed %v", idsOf(got), all)
	}
	if !slices.ContainsFunc(got, func(ev abi.Event) bool { return ev.Event == abi.EventTaskCompleted }) {
		t.Errorf("no end in %v", got)
	}
	if again := n.follow(t, at+"/stream").rest(); !slices.Equal(idsOf(again), all) {
		t.Errorf("after the end: %v, want %v", idsOf(again), all)
	}
	for i, id := range all[:len(all)-1] {
		if resumed := n.follow(t, at+"/stream", lastEventID(id)).rest(); !slices.Equal(idsOf(resumed), all[i+1:]) {
			t.Errorf("resumed after %s: %v, want %v", id, idsOf(resumed), all[i+1:])
		}
	}
	n.do(t, "GET", at+"/stream", nil, lastEventID(all[len(all)-1])).want(204)
}

func TestStreamOfExpiredCursor(t *testing.T) {
	n := newNode(t)
	session := n.session(t)
	n.finished(t, session)
	at := "/v1/sessions/" + session + "/events"
	old := n.do(t, "GET", at, nil).ids()
	removed, err := n.Store.Retain(t.Context(), time.Now().Add(time.Hour))
	if err != nil || removed == 0 {
		t.Fatalf("%d removed, %v", removed, err)
	}
	n.do(t, "GET", at+"?after_event_id="+old[0], nil).wantError(410, abi.CodeCursorExpired)
	s := n.follow(t, at+"/stream", lastEventID(old[0]))
	f, err := s.next()
	if err != nil || f.event != "error" || f.id == "" {
		t.Fatalf("%+v %v", f, err)
	}
	var envelope abi.ErrorEnvelope
	if err := json.Unmarshal([]byte(f.data), &envelope); err != nil || envelope.Error.Code != abi.CodeCursorExpired ||
		envelope.Error.RequestID != s.resp.Header.Get("X-Request-Id") {
		t.Errorf("%s %v", f.data, err)
	}
	if f, err := s.next(); !errors.Is(err, io.EOF) {
		t.Errorf("after the error: %+v %v", f, err)
	}
	// An EventSource comes again with the id of the last frame, and goes on.
	n.finished(t, session)
	kept := n.do(t, "GET", at, nil).ids()
	if f, err := n.follow(t, at+"/stream", lastEventID(f.id)).next(); err != nil || f.id != kept[0] {
		t.Errorf("after coming again: %+v %v, want %s", f, err, kept[0])
	}
}

// Every one of many readers of one stream gets everything.
func TestManyReaders(t *testing.T) {
	n := newNode(t)
	session := n.session(t)
	task := n.submit(t, session, "persona_hold").want(202).id()
	<-n.held
	const readers, messages = 500, 20
	streams := make([]*stream, readers)
	for i := range streams {
		streams[i] = n.follow(t, "/v1/tasks/"+task+"/stream")
	}
	for range messages {
		n.do(t, "POST", "/v1/tasks/"+task+"/messages", object{"kind": "interrupt", "message": message("m")}).want(201)
	}
	n.leave <- struct{}{}
	want := n.follow(t, "/v1/tasks/"+task+"/stream").rest()
	if len(want) < messages {
		t.Fatalf("%d events", len(want))
	}
	var reading sync.WaitGroup
	for i, s := range streams {
		reading.Go(func() {
			if got := idsOf(s.rest()); !slices.Equal(got, idsOf(want)) {
				t.Errorf("reader %d: %v", i, got)
			}
		})
	}
	reading.Wait()
	n.eventually(t, "wharf_http_streams", func(v float64) bool { return v == 0 })
}

// metric reads a gauge without labels.
func (n *node) metric(t testing.TB, name string) float64 {
	t.Helper()
	for line := range strings.SplitSeq(string(n.do(t, "GET", "/metrics", nil).want(200).body), "\n") {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			v, err := strconv.ParseFloat(value, 64)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
	}
	t.Fatal("no metric " + name)
	return 0
}

// eventually asks for a metric until it is as it should be.
func (n *node) eventually(t testing.TB, name string, ok func(float64) bool) {
	t.Helper()
	for end := time.Now().Add(patience); ; {
		v := n.metric(t, name)
		if ok(v) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s stays at %v", name, v)
		}
	}
}

// A reader that takes nothing is let go, and nobody else waits for it.
func TestSlowReader(t *testing.T) {
	n := newNode(t, func(c *gateway.Config) { c.WriteTimeout = 300 * time.Millisecond })
	session := n.session(t)
	slow := n.dial(t)
	if err := slow.(*net.TCPConn).SetReadBuffer(4096); err != nil {
		t.Fatal(err)
	}
	_, err := io.WriteString(slow, "GET /v1/sessions/"+session+"/events/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+enginetest.RootKey+"\r\n"+
		abi.VersionHeader+": "+abi.ProtocolVersion+"\r\n\r\n")
	if err != nil {
		t.Fatal(err)
	}
	n.eventually(t, "wharf_http_streams", func(v float64) bool { return v == 1 })
	quick := n.follow(t, "/v1/sessions/"+session+"/events/stream")
	quick.take(1)
	large := strings.Repeat("x", 100_000)
	for i := range 100 {
		n.say(t, session, large)
		if got := quick.take(1)[0]; !strings.Contains(string(got.Payload), large) {
			t.Fatalf("message %d: %.200s", i, got.Payload)
		}
	}
	n.eventually(t, "wharf_http_streams", func(v float64) bool { return v == 1 })
}

// A client that left is noticed although nothing happens on its stream.
func TestClientThatLeft(t *testing.T) {
	n := newNode(t, func(c *gateway.Config) { c.Heartbeat = 20 * time.Millisecond })
	session := n.session(t)
	for range 5 {
		s := n.follow(t, "/v1/sessions/"+session+"/events/stream")
		s.take(1)
		s.stop()
	}
	n.eventually(t, "wharf_http_streams", func(v float64) bool { return v == 0 })
}

func TestStreamLimit(t *testing.T) {
	n := newNode(t, func(c *gateway.Config) { c.Streams, c.Heartbeat = 2, 20*time.Millisecond })
	session := n.session(t)
	at := "/v1/sessions/" + session + "/events/stream"
	first := n.follow(t, at)
	n.follow(t, at)
	a := n.do(t, "GET", at, nil)
	if a.wantError(429, abi.CodeRateLimited); a.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	first.stop()
	n.eventually(t, "wharf_http_streams", func(v float64) bool { return v == 1 })
	n.follow(t, at).take(1)
}

// Draining ends the streams properly and makes the node unready, and what is in
// flight is finished.
func TestDrain(t *testing.T) {
	n := newNode(t)
	session := n.session(t)
	s := n.follow(t, "/v1/sessions/"+session+"/events/stream")
	s.take(1)
	n.do(t, "GET", "/readyz", nil).want(200)
	n.server.Drain()
	if left := s.rest(); len(left) != 0 {
		t.Errorf("%v", left)
	}
	a := n.do(t, "GET", "/readyz", nil).want(503)
	if a.get("status") != "draining" {
		t.Errorf("%s", a.body)
	}
	n.do(t, "GET", "/healthz", nil).want(200)
	n.do(t, "GET", "/v1/sessions/"+session+"/events/stream", nil).wantError(503, abi.CodeServiceUnavailable)
	n.do(t, "GET", "/v1/sessions/"+session, nil).want(200)
}
