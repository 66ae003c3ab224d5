package openharness

import (
	"io"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/conformance/internal/answers"
)

// frame is one event of a text/event-stream.
type frame struct {
	id, event, data string
	doc             object
}

// is reports whether the frame has a type, which clients read in its data and on its line.
func (f *frame) is(kind string) bool { return f.doc["type"] == kind }

// stream is a text/event-stream that a check reads.
type stream struct {
	p      *probe
	to     string
	schema string // of each event's data
	events *answers.Events
	body   io.Closer
}

// open asks for a stream of events, each of which has to fit a schema.
func (p *probe) open(method, path, schema string, body any, with ...option) *stream {
	res := p.openAny(method, path, body, with...)
	if res.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(res.Body, maxBody))
		res.Body.Close()
		p.want(answer{to: method + " " + path, status: res.StatusCode, body: text}, 200)
	}
	return p.reading(res, method+" "+path, schema)
}

// openAny asks for a stream that there may be none of. The caller closes the answer's body.
func (p *probe) openAny(method, path string, body any, with ...option) *http.Response {
	with = append([]option{header("Accept", "text/event-stream")}, with...)
	res, err := p.client.open(p.ctx, request{method: method, path: p.at(path), body: body, with: with})
	if err != nil {
		p.fail("%s %s: %v", method, path, err)
	}
	return res
}

func (p *probe) reading(res *http.Response, to, schema string) *stream {
	if media := res.Header.Get("Content-Type"); !strings.HasPrefix(media, "text/event-stream") {
		res.Body.Close()
		p.fail("%s answered with %q, want text/event-stream", to, media)
	}
	return &stream{p: p, to: to, schema: schema, events: answers.NewEvents(res.Body), body: res.Body}
}

func (s *stream) close() { _ = s.body.Close() }

// next returns the next event; false at the end of the stream. One that is not as the protocol has
// it fails the check.
func (s *stream) next() (f frame, ok bool) {
	for {
		ev, err := s.events.Next()
		if err != nil {
			if s.p.ctx.Err() != nil {
				s.close()
				s.p.fail("%s has not ended after %v", s.to, s.p.timeout)
			}
			return f, false
		}
		if ev.Data != "" {
			return s.held(frame{id: ev.ID, event: ev.Type, data: ev.Data}), true
		}
	}
}

// held holds an event against its schema.
func (s *stream) held(f frame) frame {
	if json.Unmarshal([]byte(f.data), &f.doc) != nil {
		s.close()
		s.p.fail("%s: the data of an event is no JSON object: %s", s.to, answers.Excerpt([]byte(f.data)))
	}
	if err := s.p.doc.event(s.schema, []byte(f.data)); err != nil {
		s.close()
		s.p.fail("%s: an event is no %s: %v", s.to, s.schema, err)
	}
	if kind, _ := f.doc["type"].(string); f.event != "" && f.event != "message" && f.event != kind {
		s.close()
		s.p.fail("%s: an event is %q on its line and %q in its data", s.to, f.event, kind)
	}
	return f
}

// all reads the stream to its end.
func (s *stream) all() (frames []frame) {
	defer s.close()
	for {
		f, ok := s.next()
		if !ok {
			return frames
		}
		frames = append(frames, f)
	}
}

// wants reads on until an event of a type comes that a test takes.
func (s *stream) wants(kind string, takes func(object) bool) frame {
	for {
		f, ok := s.next()
		if !ok {
			s.p.fail("%s has ended before %s has come", s.to, kind)
		}
		if f.is(kind) && takes(f.doc) {
			return f
		}
	}
}
