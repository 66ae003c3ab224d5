package node

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// Frame is one event of a stream.
type Frame struct {
	Event string
	Data  []byte // valid until the next call of Next
}

// Stream is an open event stream, read by one goroutine.
type Stream struct {
	body io.ReadCloser
	in   *bufio.Reader
}

// StreamRequest is the request for a stream as it goes over the wire.
func (n *Node) StreamRequest(path string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "GET %s HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\n", path, n.Addr)
	for _, h := range headers(n.key) {
		fmt.Fprintf(&b, "%s: %s\r\n", h.Name, h.Value)
	}
	b.WriteString("\r\n")
	return b.Bytes()
}

// Stream opens an event stream that ends with ctx.
func (n *Node) Stream(ctx context.Context, path string) (*Stream, error) {
	return n.stream(ctx, http.MethodGet, path, nil)
}

// PostStream asks for something whose answer is an event stream, which ends with ctx.
func (n *Node) PostStream(ctx context.Context, path string, body []byte) (*Stream, error) {
	return n.stream(ctx, http.MethodPost, path, body)
}

func (n *Node) stream(ctx context.Context, method, path string, body []byte) (*Stream, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://"+n.Addr+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("making a stream's request: %w", err)
	}
	if len(body) > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers(n.key) {
		req.Header.Set(h.Name, h.Value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("opening a stream: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		said, _ := io.ReadAll(io.LimitReader(resp.Body, 300))
		return nil, fmt.Errorf("opening a stream was answered with %d: %s", resp.StatusCode, said)
	}
	return &Stream{body: resp.Body, in: bufio.NewReaderSize(resp.Body, 64<<10)}, nil
}

// Next returns the next event, leaving comments out.
func (s *Stream) Next() (Frame, error) {
	var f Frame
	for {
		line, err := s.in.ReadSlice('\n')
		if err != nil {
			return Frame{}, fmt.Errorf("reading a stream: %w", err)
		}
		line = bytes.TrimSuffix(line, []byte("\n"))
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch {
		case len(line) == 0 && f.Event != "":
			return f, nil
		case string(name) == "event":
			f.Event = string(value)
		case string(name) == "data":
			f.Data = append(f.Data[:0], value...)
		}
	}
}

// Until reads to the next event of the given kind, whose data names id.
func (s *Stream) Until(event, id string) error {
	for {
		f, err := s.Next()
		if err != nil {
			return err
		}
		if f.Event == "error" {
			return errors.New("the stream ended with an error: " + string(f.Data))
		}
		if f.Event == event && bytes.Contains(f.Data, []byte(id)) {
			return nil
		}
	}
}

// Close ends the stream.
func (s *Stream) Close() { s.body.Close() }
