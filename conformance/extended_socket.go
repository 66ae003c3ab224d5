package conformance

import (
	"errors"
	"net/http"
	"strings"

	"github.com/fasthttp/websocket"
	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/conformance/internal/answers"
)

// socketChecks lists the checks of the WebSocket profile. The documents say what
// frames must be able to do and not what they look like: the checks follow
// docs/websocket.md.
func socketChecks() []Check {
	const profile = "WebSocket"
	return []Check{
		{ID: "socket.unauthenticated", Title: "a WebSocket without a key is refused with 401", Section: profile, Strength: Must, run: socketRefused},
		{ID: "socket.message", Title: "a user message goes in, and its event comes out", Section: profile, Strength: Must, run: socketMessage},
		{ID: "socket.idempotent", Title: "a command with an Idempotency-Key is done once", Section: profile, Strength: Must, run: socketIdempotent},
		{ID: "socket.task", Title: "a Task is submitted, and its events come in order", Section: profile, Strength: Must, run: socketTask},
		{ID: "socket.cancel", Title: "a Task can be canceled", Section: profile, Strength: Must, run: socketCancel},
		{ID: "socket.truncate", Title: "a Session can be truncated", Section: profile, Strength: Must, run: socketTruncate},
		{ID: "socket.resume", Title: "a resumed WebSocket marks what is replayed, and misses nothing", Section: profile, Strength: Must, run: socketResume},
		{ID: "socket.error", Title: "a command that cannot be done gets an error, and the WebSocket goes on", Section: profile, Strength: Must, run: socketError},
		{ID: "socket.request", Title: "what a Task asks is sent, and can be answered", Section: profile, Strength: Must, run: socketRequest},
	}
}

// socket is an open WebSocket.
type socket struct {
	p    *probe
	conn *websocket.Conn
	// events are those that came while an answer was waited for.
	events, requests []object
}

// connect opens the WebSocket of a Session. The check's end closes it.
func (p *probe) connect(session, after string) *socket {
	target := "ws" + strings.TrimPrefix(p.base, "http") + "/v1/sessions/" + session + "/connect"
	if after != "" {
		target += "?after_event_id=" + after
	}
	header := http.Header{"Authorization": {"Bearer " + p.key}, versionHeader: {protocolVersion}}
	conn, answer, err := websocket.DefaultDialer.DialContext(p.ctx, target, header)
	if err != nil {
		status := 0
		if answer != nil {
			status = answer.StatusCode
		}
		p.fail("no WebSocket at %s: %d %v", target, status, err)
	}
	go func() {
		<-p.ctx.Done() // at the latest when the check is over
		_ = conn.Close()
	}()
	s := &socket{p: p, conn: conn}
	if hello := s.next(); hello["type"] != "hello" {
		p.fail("the first frame is %s", answers.Show(hello))
	}
	return s
}

// next reads a frame.
func (s *socket) next() object {
	_, text, err := s.conn.ReadMessage()
	if err != nil {
		s.p.fail("the WebSocket has ended: %v", err)
	}
	var frame object
	if err := json.Unmarshal(text, &frame); err != nil {
		s.p.fail("a frame is no JSON object: %s", answers.Excerpt(text))
	}
	return frame
}

// keep keeps what comes unasked; false for anything else.
func (s *socket) keep(frame object) bool {
	switch frame["type"] {
	case "event":
		s.events = append(s.events, s.p.member(frame, "event"))
	case "request":
		s.requests = append(s.requests, s.p.member(frame, "request"))
	default:
		return false
	}
	return true
}

// command sends a frame and returns what it is answered with.
func (s *socket) command(kind string, members object) object {
	members["type"], members["id"] = kind, "c1"
	text, err := json.Marshal(members, json.Deterministic(true))
	if err == nil {
		err = s.conn.WriteMessage(websocket.TextMessage, text)
	}
	if err != nil {
		s.p.fail("sending %s: %v", kind, err)
	}
	for {
		if frame := s.next(); !s.keep(frame) && frame["id"] == "c1" {
			return frame
		}
	}
}

// done sends a command and returns the resource that came of it.
func (s *socket) done(kind string, members object) object {
	answer := s.command(kind, members)
	if answer["type"] != "ack" || answer["ok"] != true {
		s.p.fail("%s was answered with %s", kind, answers.Show(answer))
	}
	return s.p.member(answer, "resource")
}

// event waits for an event that is wanted.
func (s *socket) event(wanted func(object) bool) object {
	for seen := 0; ; {
		for ; seen < len(s.events); seen++ {
			if wanted(s.events[seen]) {
				return s.events[seen]
			}
		}
		s.keep(s.next())
	}
}

func kindIs(kinds ...string) func(object) bool {
	return func(e object) bool {
		for _, k := range kinds {
			if e["event"] == k {
				return true
			}
		}
		return false
	}
}

func socketRefused(p *probe) {
	target := "ws" + strings.TrimPrefix(p.base, "http") + "/v1/sessions/" + p.newSession() + "/connect"
	conn, answer, err := websocket.DefaultDialer.DialContext(p.ctx, target, http.Header{versionHeader: {protocolVersion}})
	if err == nil {
		_ = conn.Close()
		p.fail("it was let in")
	}
	if !errors.Is(err, websocket.ErrBadHandshake) || answer == nil || answer.StatusCode != 401 {
		p.fail("want 401, got %v", err)
	}
}

func socketMessage(p *probe) {
	session := p.newSession()
	s := p.connect(session, "")
	made := s.done("message", object{"message": say("over the wire")})
	p.oneOf(made, "object", "message")
	told := s.event(kindIs("user.message"))
	p.equal("the event's resource", p.member(told, "resource")["id"], made["id"])
	p.equal("replayed, of what happens now", told["replayed"], false)
	p.equal("the transcript", p.messageIDs(session), []string{p.text(made, "id")})
}

func socketIdempotent(p *probe) {
	session := p.newSession()
	s := p.connect(session, "")
	members := func() object { return object{"message": say("once"), "idempotency_key": "conformance-once"} }
	first := s.done("message", members())
	p.equal("the second answer's resource", s.done("message", members())["id"], first["id"])
	p.equal("the transcript", len(p.messageIDs(session)), 1)
}

func socketTask(p *probe) {
	session := p.newSession()
	s := p.connect(session, "")
	task := s.done("task.submit", p.order(say(sampleText)))
	p.oneOf(task, "object", "task")
	s.event(kindIs("task.completed", "task.failed"))
	var got []string
	for _, e := range s.events {
		got = append(got, p.text(e, "id"))
	}
	var want []string
	for _, e := range p.eventsAfter("/v1/sessions/"+session+"/events", "", 200) {
		want = append(want, p.text(e, "id"))
	}
	from := len(want) - len(want[indexOf(want, got[0]):])
	p.equal("the events of the Session", got, want[from:from+len(got)])
}

func indexOf(all []string, one string) int {
	for i, v := range all {
		if v == one {
			return i
		}
	}
	return len(all)
}

func socketCancel(p *probe) {
	for range 10 {
		s := p.connect(p.newSession(), "")
		task := s.done("task.submit", p.order(say(strings.Repeat(sampleText+"\n\n", 2000))))
		answer := s.command("task.cancel", object{"task_id": task["id"]})
		if answer["type"] == "ack" {
			p.equal("the Task's status", p.settled(p.text(task, "id"))["status"], "CANCELED")
			return
		}
	}
	p.skip("the Task had ended in 10 of 10 tries")
}

func socketTruncate(p *probe) {
	session := p.newSession()
	p.append(session, "first")
	p.append(session, "second")
	s := p.connect(session, "")
	p.oneOf(s.done("session.truncate", object{"keep_turns": 1}), "object", "session")
	p.equal("the turns that are left", len(p.messageIDs(session)), 1)
	s.event(kindIs("session.truncated"))
}

func socketResume(p *probe) {
	session := p.newSession()
	p.append(session, "first")
	cursor := p.text(p.eventsAfter("/v1/sessions/"+session+"/events", "", 200)[0], "id")
	p.append(session, "second")
	s := p.connect(session, cursor)
	for _, want := range p.eventsAfter("/v1/sessions/"+session+"/events", cursor, 200) {
		id := p.text(want, "id")
		got := s.event(func(e object) bool { return e["id"] == id })
		p.equal("replayed, of history", got["replayed"], true)
	}
	live := s.done("message", object{"message": say("third")})
	got := s.event(func(e object) bool { return p.member(e, "resource")["id"] == live["id"] })
	p.equal("replayed, of what happens now", got["replayed"], false)
}

func socketError(p *probe) {
	s := p.connect(p.newSession(), "")
	for _, bad := range []object{s.command("no.such.command", object{}), s.command("task.cancel", object{"task_id": "task_00000000000000000000000000"})} {
		if bad["type"] != "error" {
			p.fail("it was answered with %s", answers.Show(bad))
		}
		p.text(p.member(bad, "error"), "code")
	}
	s.done("message", object{"message": say("still here")})
}

func socketRequest(p *probe) {
	ask := p.asks()
	s := p.connect(p.newSession(), "")
	task := p.text(s.done("task.submit", ask), "id")
	for len(s.requests) == 0 {
		s.keep(s.next())
	}
	p.equal("the request's Task", s.requests[0]["task_id"], task)
	s.done("input", object{"task_id": task, "message": say("nine o'clock")})
	s.event(kindIs("task.completed"))
}
