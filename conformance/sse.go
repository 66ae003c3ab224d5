package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/conformance/internal/answers"
)

// frame is one dispatched event of a text/event-stream.
type frame struct {
	id, event, data string
	doc             object // data as a JSON object; nil when it is none
}

// stream is a text/event-stream that a check reads.
type stream struct {
	to     string
	answer *http.Response
	events *answers.Events
	seen   *observer
	close  context.CancelFunc
}

// openStream asks for an event stream. lastEventID may be empty. The caller
// closes the stream, also one whose answer is an error.
func (c *client) openStream(ctx context.Context, path, lastEventID string) (*stream, error) {
	ctx, cancel := context.WithCancel(ctx)
	header := map[string]string{"Accept": "text/event-stream"}
	if lastEventID != "" {
		header["Last-Event-ID"] = lastEventID
	}
	answer, err := c.open(ctx, request{method: "GET", path: path, header: header})
	if err != nil {
		cancel()
		return nil, err
	}
	return &stream{
		to: "GET " + path, answer: answer, seen: c.seen,
		events: answers.NewEvents(answer.Body),
		close:  func() { cancel(); answer.Body.Close() },
	}, nil
}

// next returns the next frame that carries data. Its error is io.EOF when the
// server ended the stream.
func (s *stream) next() (frame, error) {
	ev, err := s.events.Next()
	if errors.Is(err, io.EOF) {
		return frame{}, io.EOF
	}
	if err != nil {
		return frame{}, fmt.Errorf("reading %s: %w", s.to, err)
	}
	f := frame{id: ev.ID, event: ev.Type, data: ev.Data}
	if json.Unmarshal([]byte(f.data), &f.doc) != nil {
		f.doc = nil
	}
	s.seen.frame(s.to, []byte(f.data), f.doc)
	return f, nil
}
