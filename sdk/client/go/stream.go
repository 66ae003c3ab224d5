package wharf

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"time"
)

// Stream follows the events that a streaming operation shows ([OpStreamEvents],
// [OpStreamSessionEvents], [OpStreamTaskEvents]), from the one after the event whose id is
// after, or from the beginning when it is "". When the connection is cut or the node restarts, it connects
// again and goes on: no event comes twice, and none is lost. It ends when the stream does, which that
// of a Task does, when ctx ends, or with an error that coming back does not help against. It gives up
// when the node was not to be reached for MaxWait.
func (c *Client) Stream(ctx context.Context, op Operation, path []string, query any, after string) iter.Seq2[*Event, error] {
	return func(yield func(*Event, error) bool) {
		s := &stream{c: c, op: op, path: path, query: query, cursor: after, reached: time.Now()}
		for failed := 0; ; failed++ {
			over, err := s.follow(ctx, func(e *Event) bool {
				failed = 0
				return yield(e, nil)
			})
			if over {
				return
			}
			if ctx.Err() != nil {
				yield(nil, ctx.Err())
				return
			}
			if time.Since(s.reached) > c.config.MaxWait || !transient(err) {
				yield(nil, err)
				return
			}
			if err := pause(ctx, max(backoff(failed), asked(err))); err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// transient reports whether it may help to connect again.
func transient(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return !ok || e.Code == CodeServiceUnavailable || e.Code == CodeRateLimited || e.Code == CodeInternalError || e.Code == CodeUpstreamUnavailable ||
		e.Status == http.StatusBadGateway || e.Status == http.StatusServiceUnavailable || e.Status == http.StatusGatewayTimeout
}

func asked(err error) (wait time.Duration) {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.After
	}
	return 0
}

// stream is what is known of a stream between its connections.
type stream struct {
	c       *Client
	op      Operation
	path    []string
	query   any
	cursor  string
	reached time.Time // when the node was there
}

var errCut = errors.New("wharf: the stream was cut")

// follow connects and shows events until the connection ends. It is over when nobody wants
// more, or the node has no more.
func (s *stream) follow(ctx context.Context, show func(*Event) bool) (over bool, err error) {
	target, err := s.c.target(s.op.Path, s.path, s.query)
	if err != nil {
		return false, &Error{Code: CodeInvalidRequest, Message: err.Error()}
	}
	header := http.Header{"Accept": {"text/event-stream"}}
	if s.cursor != "" {
		header.Set("Last-Event-ID", s.cursor)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	response, err := s.c.once(ctx, http.MethodGet, target, nil, 0, header)
	if err != nil {
		return false, err
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusNoContent {
		return true, nil
	}
	defer func() { s.reached = time.Now() }()
	return s.read(bufio.NewReader(response.Body), show)
}

// read reads the frames of server-sent events. A frame counts when the empty line after it is there.
func (s *stream) read(lines *bufio.Reader, show func(*Event) bool) (over bool, err error) {
	var id, name string
	var data []string
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = errCut
			}
			return false, err
		}
		line = strings.TrimRight(line, "\r\n")
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case field == "id":
			id = value
		case field == "event":
			name = value
		case field == "data":
			data = append(data, value)
		case line == "" && len(data) > 0:
			text := []byte(strings.Join(data, "\n"))
			if over, err := s.frame(id, name, text, show); over || err != nil {
				return over, err
			}
			name, data = "", nil
		}
	}
}

func (s *stream) frame(id, name string, text []byte, show func(*Event) bool) (over bool, err error) {
	if name == "error" {
		return false, decodeError(text)
	}
	e := new(Event)
	if err := json.Unmarshal(text, e); err != nil {
		return false, &Error{Code: CodeInternalError, Message: fmt.Sprintf("an event is not readable: %v", err)}
	}
	s.cursor = id
	return !show(e), nil
}

// Stream follows the events of a Session. See [Client.Stream].
func (r SessionsResource) Stream(ctx context.Context, sessionID, after string) iter.Seq2[*Event, error] {
	return r.c.Stream(ctx, OpStreamSessionEvents, []string{sessionID}, nil, after)
}

// Stream follows the events of a Task, and ends with it. See [Client.Stream].
func (r TasksResource) Stream(ctx context.Context, taskID, after string) iter.Seq2[*Event, error] {
	return r.c.Stream(ctx, OpStreamTaskEvents, []string{taskID}, nil, after)
}

// Stream follows all events that a query selects. See [Client.Stream].
func (r EventsResource) Stream(ctx context.Context, query *StreamEventsQuery, after string) iter.Seq2[*Event, error] {
	return r.c.Stream(ctx, OpStreamEvents, nil, query, after)
}
