package gateway

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"sync"
	"time"
)

// paced is a connection that was taken over, on which the client has a time to take each piece.
// Deadlines for writing make that time shorter, never longer. It is safe for concurrent use.
type paced struct {
	*conn
	timeout time.Duration
	unread  *unread

	mu    sync.Mutex
	until time.Time // zero for none
}

// begin lets the connection be used.
func (p *paced) begin(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conn = c
}

// Write implements net.Conn.
func (p *paced) Write(b []byte) (n int, err error) {
	if err := p.renew(); err != nil {
		return 0, err
	}
	err = p.unread.write(p.conn.Conn, len(b), func() error {
		n, err = p.conn.Write(b)
		return err
	})
	return n, err
}

// renew gives the client its time again.
func (p *paced) renew() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn == nil {
		return nil
	}
	until := time.Now().Add(p.timeout)
	if !p.until.IsZero() && p.until.Before(until) {
		until = p.until
	}
	return p.conn.SetWriteDeadline(until)
}

// SetWriteDeadline implements net.Conn. It holds for what is being written, too.
func (p *paced) SetWriteDeadline(t time.Time) error {
	p.mu.Lock()
	p.until = t
	p.mu.Unlock()
	return p.renew()
}

// SetDeadline implements net.Conn.
func (p *paced) SetDeadline(t time.Time) error {
	if err := p.SetReadDeadline(t); err != nil {
		return err
	}
	return p.SetWriteDeadline(t)
}

// buffered returns what fasthttp has read of a connection beyond the request, and does not
// wait for more. fasthttp's buffer has so many bytes at most.
func buffered(c net.Conn, most int) []byte {
	_ = c.SetReadDeadline(longAgo())
	begun := make([]byte, most)
	n, _ := c.Read(begun)
	_ = c.SetReadDeadline(time.Time{})
	return begun[:n]
}

// buffers returns what a connection is read and written through, with what was read of it.
func buffers(c net.Conn, begun []byte) *bufio.ReadWriter {
	const size = 4 << 10
	r := bufio.NewReaderSize(io.MultiReader(bytes.NewReader(begun), c), max(size, len(begun)))
	_, _ = r.Peek(len(begun))
	return bufio.NewReadWriter(r, bufio.NewWriterSize(c, size))
}
