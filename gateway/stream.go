package gateway

import (
	"context"
	"net"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
)

// Stream is an answer that goes on: a connection taken over from fasthttp. It is
// used by one goroutine.
type Stream struct {
	conn    net.Conn
	timeout time.Duration
	chunked bool
	frame   []byte  // what one Write sends, kept for the next
	unread  *unread // nil: nothing bounds what clients leave unread
}

// NewStream returns a stream on a connection whose response header was already sent. The client
// has the timeout to take each piece.
func NewStream(c net.Conn, timeout time.Duration, chunked bool) *Stream {
	return &Stream{conn: c, timeout: timeout, chunked: chunked}
}

// Write sends p as one piece with one system call. An error is final: the client
// has left, or is too slow.
func (st *Stream) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if err := st.conn.SetWriteDeadline(time.Now().Add(st.timeout)); err != nil {
		return 0, err
	}
	err := st.unread.write(st.conn, len(p), func() error { return st.write(p) })
	return len(p), err
}

func (st *Stream) write(p []byte) error {
	if !st.chunked {
		_, err := st.conn.Write(p)
		return err
	}
	if len(p) > maxKeptFrame { // is not copied
		frame := net.Buffers{strconv.AppendUint(nil, uint64(len(p)), 16), []byte("\r\n"), p, []byte("\r\n")}
		_, err := frame.WriteTo(st.conn)
		return err
	}
	st.frame = appendChunk(st.frame[:0], p)
	_, err := st.conn.Write(st.frame)
	return err
}

// appendChunk appends p as a chunk of HTTP/1.1.
func appendChunk(to, p []byte) []byte {
	to = strconv.AppendUint(to, uint64(len(p)), 16)
	to = append(to, "\r\n"...)
	to = append(to, p...)
	return append(to, "\r\n"...)
}

// maxKeptFrame bounds what a stream copies, and so what an idle one holds on to.
const maxKeptFrame = 16 << 10

// Gone reports whether the client is known to have left.
func (st *Stream) Gone() bool { return gone(st.conn) }

// end marks the stream as complete, so that a client can tell it from a broken one.
func (st *Stream) end() {
	if st.chunked {
		_ = st.conn.SetWriteDeadline(time.Now().Add(st.timeout))
		_, _ = st.conn.Write([]byte("0\r\n\r\n"))
	}
}

// Stream answers with a stream that f feeds, on a goroutine of its own, after the
// handler has returned: f must not use r. ctx ends when the server drains. A
// stream beyond the server's limit is refused with an error to return.
func (r *Request) Stream(f func(ctx context.Context, st *Stream)) error {
	s := r.server
	if err := s.startStream(); err != nil {
		return err
	}
	chunked := r.HTTP.Request.Header.IsHTTP11()
	header := streamHeader(&r.HTTP.Response.Header, r.Route.Media, chunked)
	timeout, entry := s.cfg.WriteTimeout, r.entry
	entry.stream(r.HTTP, "sse")
	r.HTTP.HijackSetNoResponse(true)
	r.HTTP.Hijack(func(hijacked net.Conn) {
		defer s.streams.end()
		c := unwrap(hijacked)
		defer entry.end()
		defer c.Close()
		_ = c.SetWriteDeadline(time.Now().Add(timeout))
		if _, err := c.Write(header); err != nil {
			return
		}
		st := NewStream(c, timeout, chunked)
		st.unread = &s.unread
		f(s.live, st)
		st.end()
	})
	return nil
}

// startStream reserves the place of a stream or a socket, which streams.end gives back.
func (s *Server) startStream() error {
	if s.live.Err() != nil {
		return abi.Errorf(abi.CodeServiceUnavailable, "the node is draining")
	}
	if !s.streams.start() {
		return abi.Errorf(abi.CodeRateLimited, "the node serves as many streams as it takes")
	}
	return nil
}

// Reauthenticate returns a function that says who the request's credential belongs to
// by now. It may be called when the request is over.
func (r *Request) Reauthenticate() func() (*desk.Caller, error) {
	s := r.server
	credential, _ := r.credential()
	return func() (*desk.Caller, error) { return s.core.Authenticate(s.ctx, credential) }
}

// unwrap returns the connection below fasthttp's, which can be asked whether the
// client has left. Nothing more is read from a stream's client.
func unwrap(c net.Conn) net.Conn {
	if below, ok := c.(interface{ UnsafeConn() net.Conn }); ok {
		return below.UnsafeConn()
	}
	return c
}

// streamHeader returns the header that a stream begins with: what the handler has set, and what streams need.
func streamHeader(h *fasthttp.ResponseHeader, media string, chunked bool) []byte {
	h.SetServer("wharf")
	h.SetContentType(media)
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")
	h.SetConnectionClose()
	if chunked {
		h.SetContentLength(-1)
	}
	return h.AppendBytes(nil)
}
