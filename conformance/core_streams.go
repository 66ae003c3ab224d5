package conformance

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"unicode/utf8"

	"github.com/wharf-dev/wharf/conformance/internal/answers"
)

func streamChecks() []Check {
	const sse = "Server-sent events"
	return []Check{
		{ID: "sse.frames", Title: "every frame has id, event and an Event as data, and they agree", Section: sse, Strength: Must, run: streamFrames},
		{ID: "sse.history", Title: "a Session's stream delivers exactly the events of its log", Section: sse, Strength: Must, run: streamHistory},
		{ID: "sse.task", Title: "a Task's stream delivers exactly the events of the Task", Section: sse, Strength: Must, run: streamTask},
		{ID: "sse.live", Title: "what happens while a client listens reaches it", Section: sse, Strength: Must, run: streamLive},
		{ID: "sse.resume", Title: "Last-Event-ID continues without gap or double from anywhere", Section: sse, Strength: Should, run: streamResume},
		{ID: "sse.bad-cursor", Title: "an unavailable cursor gets a clear error and the end of the stream", Section: sse, Strength: Must, run: streamBadCursor},
		{ID: "sse.auth", Title: "a stream needs a key and the version header", Section: "API key", Strength: Must, run: streamAuth},
		{ID: "sse.not-found", Title: "the stream of an absent resource gets 404", Section: "Error taxonomy", Strength: Must, run: streamNotFound},
	}
}

// listen opens a stream that has to be one.
func (p *probe) listen(path, after string) *stream {
	s, err := p.openStream(p.ctx, path, after)
	if err != nil {
		p.fail("GET %s: %v", path, err)
	}
	kind, _, _ := mime.ParseMediaType(s.answer.Header.Get("Content-Type"))
	if s.answer.StatusCode != 200 || kind != "text/event-stream" {
		body, _ := io.ReadAll(io.LimitReader(s.answer.Body, 1000))
		s.close()
		p.fail("%s answered %d %s: %s", s.to, s.answer.StatusCode, kind, answers.Excerpt(body))
	}
	return s
}

// frame reads the next frame and fails the check when it is no Event.
func (p *probe) frame(s *stream) frame {
	f, err := s.next()
	if err != nil {
		p.fail("%s: the stream ended early: %v", s.to, err)
	}
	p.checkFrame(s.to, f)
	return f
}

func (p *probe) checkFrame(where string, f frame) {
	switch {
	case f.doc == nil:
		p.fail("%s: data is no JSON object: %s", where, answers.Excerpt([]byte(f.data)))
	case !utf8.ValidString(f.data):
		p.fail("%s: data is not UTF-8", where)
	case f.id == "" || f.event == "":
		p.fail("%s: a frame without id or event: id %q, event %q", where, f.id, f.event)
	}
	p.equal(where+": the frame's id", f.id, f.doc["id"])
	p.equal(where+": the frame's event", f.event, f.doc["event"])
}

// follow reads n frames after a cursor and returns their ids.
func (p *probe) follow(path, after string, n int) []string {
	s := p.listen(path, after)
	defer s.close()
	ids := []string{}
	for range n {
		ids = append(ids, p.frame(s).id)
	}
	return ids
}

func streamFrames(p *probe) {
	session, events := p.lived()
	s := p.listen("/v1/sessions/"+session+"/events/stream", "")
	defer s.close()
	for _, want := range events {
		f := p.frame(s)
		for _, member := range []string{"id", "event", "resource", "sequence", "created_at", "payload"} {
			p.equal("event "+f.id+", "+member, f.doc[member], want[member])
		}
	}
	p.note("%d frames", len(events))
}

func streamHistory(p *probe) {
	session, events := p.lived()
	p.equal("the stream", p.follow("/v1/sessions/"+session+"/events/stream", "", len(events)), p.ids(events))
}

func streamTask(p *probe) {
	id := p.text(p.finished(), "id")
	events := p.taskEvents(id)
	p.equal("the stream", p.follow("/v1/tasks/"+id+"/stream", "", len(events)), p.ids(events))
}

// streamLive listens first and acts then: whatever comes must be what the log
// has in the end, in its order.
func streamLive(p *probe) {
	session := p.newSession()
	path := "/v1/sessions/" + session
	s := p.listen(path+"/events/stream", "")
	defer s.close()
	p.append(session, "first")
	p.settled(p.text(p.submit(session), "id"))
	p.append(session, "last")
	for i, want := range p.ids(p.eventsAfter(path+"/events", "", 200)) {
		p.equal(fmt.Sprintf("live event %d", i), p.frame(s).id, want)
	}
}

func streamResume(p *probe) {
	session, events := p.lived()
	ids := p.ids(events)
	for i, id := range ids[:len(ids)-1] {
		p.equal("the stream after "+id, p.follow("/v1/sessions/"+session+"/events/stream", id, len(ids)-i-1), ids[i+1:])
	}
	p.note("from each of %d cursors", len(ids)-1)
}

// streamBadCursor takes either form that is clear: an error answer instead of a
// stream, or a stream whose only frame is an error and which then ends.
func streamBadCursor(p *probe) {
	session, _ := p.lived()
	s, err := p.openStream(p.ctx, "/v1/sessions/"+session+"/events/stream", "no-such-event")
	if err != nil {
		p.fail("%v", err)
	}
	defer s.close()
	if s.answer.StatusCode >= 400 {
		p.note("answered %d", s.answer.StatusCode)
		return
	}
	f, err := s.next()
	if err != nil {
		p.fail("the stream ended without a word: %v", err)
	}
	if _, ok := f.doc["error"].(object); !ok {
		p.fail("the stream went on as if nothing was wrong, with event %q: %s", f.event, answers.Excerpt([]byte(f.data)))
	}
	if _, err := s.next(); !errors.Is(err, io.EOF) {
		p.fail("the stream did not end after the error")
	}
	p.note("event %q: %s", f.event, answers.Excerpt([]byte(f.data)))
}

func streamAuth(p *probe) {
	path := "/v1/sessions/" + p.newSession() + "/events/stream"
	p.wantError(p.do(request{method: "GET", path: path, auth: "-"}), 401, "unauthenticated")
	p.wantError(p.do(request{method: "GET", path: path, version: "-"}), 426, "unsupported_protocol_version")
}

func streamNotFound(p *probe) {
	p.wantError(p.get("/v1/sessions/sess_00000000000000000000000000/events/stream"), 404, "resource_not_found")
	p.wantError(p.get("/v1/tasks/task_00000000000000000000000000/stream"), 404, "resource_not_found")
}
