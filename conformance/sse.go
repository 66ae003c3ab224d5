package conformance

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
)

// frame is one dispatched event of a text/event-stream.
type frame struct {
	id, event, data string
	doc             object // data as a JSON object; nil when it is none
}

// stream reads a text/event-stream as the HTML standard parses it, except that
// a frame's id is its own and not inherited: the protocol asks for one in each.
type stream struct {
	to     string
	answer *http.Response
	lines  *bufio.Reader
	seen   *observer
	close  context.CancelFunc
}

// maxLine bounds a line of a stream.
const maxLine = 16 << 20

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
		lines: bufio.NewReader(answer.Body),
		close: func() { cancel(); answer.Body.Close() },
	}, nil
}

// next returns the next frame that carries data. Its error is io.EOF when the
// server ended the stream.
func (s *stream) next() (frame, error) {
	var f frame
	var data []string
	for {
		line, err := s.line()
		if err != nil {
			return frame{}, err
		}
		if line == "" {
			if data != nil {
				return s.finish(f, data), nil
			}
			f = frame{} // a comment, or fields without data: nothing is dispatched
			continue
		}
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "id":
			f.id = value
		case "event":
			f.event = value
		case "data":
			data = append(data, value)
		}
	}
}

func (s *stream) finish(f frame, data []string) frame {
	f.data = strings.Join(data, "\n")
	if json.Unmarshal([]byte(f.data), &f.doc) != nil {
		f.doc = nil
	}
	s.seen.frame(s.to, []byte(f.data), f.doc)
	return f
}

func (s *stream) line() (string, error) {
	var line []byte
	for {
		part, err := s.lines.ReadSlice('\n')
		line = append(line, part...)
		if errors.Is(err, bufio.ErrBufferFull) && len(line) < maxLine {
			continue
		}
		if errors.Is(err, io.EOF) {
			return "", io.EOF
		}
		if err != nil {
			return "", fmt.Errorf("reading %s: %w", s.to, err)
		}
		return strings.TrimSuffix(strings.TrimSuffix(string(line), "\n"), "\r"), nil
	}
}
