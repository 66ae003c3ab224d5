package client

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
)

// frame is one server-sent event.
type frame struct {
	id, event string
	data      []byte
	retry     int // milliseconds before the stream is opened again, as the server last said
}

// maxLine bounds one line of a stream. A line is an event as JSON.
const maxLine = 256 << 20

// frames reads server-sent events until r ends. Comments, and frames without
// data, are passed over. The data is valid until the next frame.
func frames(r io.Reader) iter.Seq2[frame, error] {
	return func(yield func(frame, error) bool) {
		for f, err := range allFrames(r) {
			if (err != nil || len(f.data) > 0) && !yield(f, err) {
				return
			}
		}
	}
}

// allFrames reads server-sent events as frames does, those without data included.
func allFrames(r io.Reader) iter.Seq2[frame, error] {
	return func(yield func(frame, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(make([]byte, 0, 16<<10), maxLine)
		var f frame
		for lines.Scan() {
			line := bytes.TrimSuffix(lines.Bytes(), []byte("\r"))
			if len(line) > 0 {
				f.field(line)
				continue
			}
			if !yield(f, nil) {
				return
			}
			f.event, f.data = "", f.data[:0]
		}
		err := lines.Err()
		if err == nil {
			err = io.ErrUnexpectedEOF
		}
		yield(frame{}, err)
	}
}

func (f *frame) field(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "id":
		f.id = string(value)
	case "event":
		f.event = string(value)
	case "retry":
		if n, err := strconv.Atoi(string(value)); err == nil && n >= 0 {
			f.retry = n
		}
	case "data":
		if len(f.data) > 0 {
			f.data = append(f.data, '\n')
		}
		f.data = append(f.data, value...)
	}
}

// Stream names a stream of events.
type Stream struct {
	Path  string
	After string // the id of the last event seen, "" for the beginning
	// Endless has a stream go on that the node ends: it is opened again, as one that breaks.
	Endless bool
	// Broken, if not nil, is told why a stream broke, before it is opened again.
	Broken func(error)
}

// TaskStream returns the stream of a Task's events.
func TaskStream(id string) Stream {
	return Stream{Path: "/v1/tasks/" + url.PathEscape(id) + "/stream"}
}

// CallStream returns the stream that answers a call, which goes on until the context ends.
func CallStream(call Call) Stream {
	path := call.path
	if len(call.query) > 0 {
		path += "?" + call.query.Encode()
	}
	return Stream{Path: path, Endless: true}
}

var errStreamEnded = errors.New("the stream has ended")

// Follow yields the events of a stream, first those that were, then those that
// come. A stream that breaks is opened again after the last event seen; when that
// keeps failing for about a minute, Follow yields the error and ends. It ends
// without an error when the node says that there is no more to come.
func (c *Client) Follow(ctx context.Context, s Stream) iter.Seq2[Doc[abi.Event], error] {
	return func(yield func(Doc[abi.Event], error) bool) {
		enough := false
		next := func(doc Doc[abi.Event], err error) bool {
			enough = !yield(doc, err)
			return !enough
		}
		for failures := 0; ; {
			seen, err := c.followOnce(ctx, &s, next)
			if ended := errors.Is(err, errStreamEnded); ended && (enough || !s.Endless) {
				return
			} else if ended {
				err = &Unreachable{Server: c.base, Err: io.EOF}
			}
			if failures++; seen {
				failures = 1
			}
			if !broken(err) || failures > maxFailures {
				yield(Doc[abi.Event]{}, err)
				return
			}
			if s.Broken != nil {
				s.Broken(err)
			}
			if err := c.pause(ctx, failures); err != nil {
				yield(Doc[abi.Event]{}, err)
				return
			}
		}
	}
}

// broken reports whether opening the stream again may help.
func broken(err error) bool {
	var refused *Refused
	if errors.As(err, &refused) {
		return refused.Status == http.StatusServiceUnavailable || refused.Status == http.StatusTooManyRequests
	}
	var gone *Unreachable
	return errors.As(err, &gone)
}

// followOnce reads one connection's worth of events. seen is whether there was
// one. The error is never nil, and errStreamEnded when there is no more to come
// or the consumer wants no more.
func (c *Client) followOnce(ctx context.Context, s *Stream, yield func(Doc[abi.Event], error) bool) (seen bool, err error) {
	header := map[string]string{"Accept": "text/event-stream"}
	if s.After != "" {
		header["Last-Event-ID"] = s.After
	}
	resp, err := c.send(ctx, request{method: http.MethodGet, path: s.Path, header: header})
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusNoContent {
		return false, errStreamEnded
	}
	for f, err := range frames(resp.Body) {
		if err != nil {
			return seen, c.unreachable(ctx, err)
		}
		if f.event == "error" {
			return seen, refusalFrom(resp, f.data)
		}
		var doc Doc[abi.Event]
		if err := json.Unmarshal(f.data, &doc); err != nil {
			return seen, &Stray{Server: c.base, Status: resp.StatusCode, Start: excerpt(f.data), Err: err}
		}
		seen, s.After = true, f.id
		if !yield(doc, nil) {
			return seen, errStreamEnded
		}
	}
	return seen, errStreamEnded
}

// maxFailures is how often in a row opening a stream may fail: with [backoff]
// that is about a minute.
const maxFailures = 16

// backoff waits from 50 ms to 5 s, twice as long each time.
func backoff(ctx context.Context, n int) error {
	wait := min(50*time.Millisecond<<min(n, 10), 5*time.Second)
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
