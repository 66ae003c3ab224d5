package gateway

import (
	"bytes"
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
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
	log    *slog.Logger
	closed chan struct{}
	close  sync.Once
}

func newListener(ln net.Listener, limit int, refuse []byte, log *slog.Logger) *listener {
	return &listener{Listener: ln, limit: int64(limit), refuse: refuse, log: log, closed: make(chan struct{})}
}

// Close stops accepting. Closing again does nothing: both the server and fasthttp
// close.
func (l *listener) Close() (err error) {
	l.close.Do(func() {
		close(l.closed)
		err = l.Listener.Close()
	})
	return err
}

func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.next()
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

// The waits between two tries to accept, for want of something.
const (
	minAcceptWait = 5 * time.Millisecond
	maxAcceptWait = time.Second
)

// next returns the next connection. While the process or the machine lacks what it takes
// to accept one, it waits and tries again: clients wait in the backlog meanwhile, and an
// error would end the server.
func (l *listener) next() (net.Conn, error) {
	for wait := minAcceptWait; ; wait = min(2*wait, maxAcceptWait) {
		c, err := l.Listener.Accept()
		if err == nil || !scarcity(err) {
			return c, err
		}
		if wait == minAcceptWait {
			l.log.Warn("no connection can be accepted for now; trying again until it works", "error", err)
		}
		select {
		case <-time.After(wait):
		case <-l.closed:
			return nil, net.ErrClosed
		}
	}
}

// scarcity reports whether accepting failed for want of files, memory or the client
// itself, which gave up.
func scarcity(err error) bool {
	for _, e := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
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
	// begun is how what was read last began, when that can be a request: at most so many bytes.
	begun  [begunKept]byte
	begins int
	// linger is set, by the goroutine that serves the connection, when an answer
	// was given without reading the whole request: closing at once would reset the
	// connection and could lose the answer.
	linger bool
	closed atomic.Bool
	// carriedIn and carriedOut count bytes, for the access log.
	carriedIn, carriedOut atomic.Int64

	hears atomic.Pointer[func()] // is called by Close
}

// onClose has f called once when the connection is closed, or was closed before. It is used
// once.
func (c *conn) onClose(f func()) {
	c.hears.Store(&f)
	if c.closed.Load() {
		c.tell()
	}
}

func (c *conn) tell() {
	if f := c.hears.Swap(nil); f != nil {
		(*f)()
	}
}

// begunKept is enough for a method and the longest prefix of a protocol.
const begunKept = 128

// Read implements net.Conn. It keeps how a request begins: of one that cannot be parsed,
// nothing else says which protocol's errors its client understands.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.carriedIn.Add(int64(n))
	if n > 0 && 'A' <= p[0] && p[0] <= 'Z' {
		c.begins = copy(c.begun[:], p[:n])
	}
	return n, err
}

// Write implements net.Conn.
func (c *conn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.carriedOut.Add(int64(n))
	return n, err
}

// target returns the path of the request that was begun last, as far as it was kept. It is for
// the goroutine that serves the connection.
func (c *conn) target() string {
	_, rest, ok := bytes.Cut(c.begun[:c.begins], []byte(" "))
	if !ok || len(rest) == 0 || rest[0] != '/' {
		return "/"
	}
	if end := bytes.IndexAny(rest, " ?#\r\n"); end >= 0 {
		rest = rest[:end]
	}
	return string(rest)
}

func (c *conn) Close() error {
	err := net.ErrClosed
	c.closing.Do(func() {
		if c.linger {
			c.drain()
		}
		err = c.Conn.Close()
		c.listener.open.Add(-1)
		c.closed.Store(true)
		c.tell()
	})
	return err
}

func (c *conn) drain() {
	half, ok := c.Conn.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	_ = c.Conn.SetReadDeadline(time.Now().Add(lingerTime))
	discard(c.Conn)
}
