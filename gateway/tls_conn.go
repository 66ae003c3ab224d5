package gateway

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/wharf-dev/wharf/abi"
)

// secureListener speaks TLS over what it accepts. The handshake happens when the
// connection is first read, on the goroutine that serves it.
type secureListener struct {
	net.Listener
	config *tls.Config
}

func (l *secureListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &secureConn{Conn: tls.Server(c, l.config)}, nil
}

// secureConn is a connection over TLS.
type secureConn struct {
	*tls.Conn
	greeted bool // a read has succeeded, and was for a request
}

// Read reads from a connection that is not a challenge of a certificate authority. A challenge
// is done with the handshake, which asks for no certificate, and must not be used for more.
func (c *secureConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if !c.greeted {
		if c.ConnectionState().NegotiatedProtocol == acmeProtocol {
			return 0, io.EOF
		}
		c.greeted = err == nil
		if plain, ok := errors.AsType[tls.RecordHeaderError](err); ok && plain.Conn != nil && isHTTP(plain.RecordHeader) {
			answerPlain(plain.Conn)
			return 0, io.EOF
		}
	}
	return n, err
}

// isHTTP reports whether a request without TLS begins so.
func isHTTP(start [5]byte) bool {
	for _, method := range []string{"GET /", "HEAD ", "POST ", "PUT /", "PATCH", "DELET", "OPTIO"} {
		if string(start[:]) == method {
			return true
		}
	}
	return false
}

// answerPlain answers a request without TLS, whatever it is. What its client does not take, it goes without.
func answerPlain(c net.Conn) {
	body := EncodeError("", abi.Errorf(abi.CodeInvalidRequest, "this port speaks HTTPS: ask a URL that begins with https://"))
	_ = c.SetWriteDeadline(time.Now().Add(plainPatience))
	_, _ = fmt.Fprintf(c, "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(body), body)
}

// plainPatience is how long one that speaks no TLS gets to take its answer, which fits into one packet.
const plainPatience = time.Second

// below returns the connection of the operating system below c.
func below(c net.Conn) net.Conn {
	for {
		switch above := c.(type) {
		case *conn:
			c = above.Conn
		case interface{ NetConn() net.Conn }:
			c = above.NetConn()
		default:
			return c
		}
	}
}
