package gateway

import (
	"crypto/tls"
	"io"
	"net"
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
	}
	return n, err
}

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
