package gateway

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// lingerTime is how long a connection is kept, after an answer that came before
// the whole request was read, for the client to read that answer.
const lingerTime = time.Second

// listener bounds the number of open connections. fasthttp has a limit of its
// own, but forgets connections that were taken over by streams and refuses in
// plain text.
type listener struct {
	net.Listener
	limit  int64
	open   atomic.Int64
	refuse []byte // a whole HTTP response
	closed atomic.Bool
}

// Close stops accepting. Closing again does nothing: both the server and fasthttp
// close.
func (l *listener) Close() error {
	if l.closed.Swap(true) {
		return nil
	}
	return l.Listener.Close()
}

func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.open.Add(1) <= l.limit {
			return &conn{Conn: c, listener: l}, nil
		}
		l.open.Add(-1)
		turnAway(c, l.refuse)
	}
}

// turnAway must not block the accept loop: an answer that does not fit the
// socket's empty buffer at once is not worth waiting for.
func turnAway(c net.Conn, answer []byte) {
	if secure, ok := c.(*secureConn); ok {
		_ = secure.NetConn().Close() // a handshake would have to come first
		return
	}
	_ = c.SetDeadline(time.Now().Add(10 * time.Millisecond))
	_, _ = c.Write(answer)
	_ = c.Close()
}

// conn is an accepted connection that counts against its listener's limit.
type conn struct {
	net.Conn
	listener *listener
	closing  sync.Once
	// linger is set, by the goroutine that serves the connection, when an answer
	// was given without reading the whole request: closing at once would reset the
	// connection and could lose the answer.
	linger bool
}

func (c *conn) Close() error {
	err := net.ErrClosed
	c.closing.Do(func() {
		if c.linger {
			c.drain()
		}
		err = c.Conn.Close()
		c.listener.open.Add(-1)
	})
	return err
}

func (c *conn) drain() {
	half, ok := c.Conn.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	_ = c.Conn.SetReadDeadline(time.Now().Add(lingerTime))
	_, _ = io.Copy(io.Discard, c.Conn)
}
