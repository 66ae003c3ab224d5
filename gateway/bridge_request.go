package gateway

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wharf-dev/wharf/abi"
)

// request returns the request as net/http would have read it, by having net/http read it: what
// it keeps are copies.
func (b *bridge) request(r *Request) (*http.Request, error) {
	header := &r.HTTP.Request.Header
	sent := bytes.Join([][]byte{header.Method(), header.RequestURI(), header.Protocol()}, []byte(" "))
	sent = append(append(append(sent, "\r\n"...), header.RawHeaders()...), "\r\n\r\n"...)
	request, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(sent)))
	if err != nil {
		return nil, abi.Errorf(abi.CodeInvalidRequest, "the request is not well-formed HTTP")
	}
	request = request.WithContext(b.ctx)
	request.Trailer = nil
	request.Body = &b.body
	if r.incoming.ended {
		request.Body = http.NoBody
	}
	request.RemoteAddr = r.HTTP.RemoteAddr().String()
	request.TLS = tlsState(r.HTTP.Conn())
	for _, name := range r.Route.pathParams() {
		request.SetPathValue(name, r.PathValue(name))
	}
	b.answer.noBody = request.Method == http.MethodHead
	b.answer.chunks = request.ProtoAtLeast(1, 1)
	return request, nil
}

// tlsState returns how a connection is secured, nil when it is not.
func tlsState(c net.Conn) *tls.ConnectionState {
	if counted, ok := c.(*conn); ok {
		c = counted.Conn
	}
	secure, ok := c.(*secureConn)
	if !ok {
		return nil
	}
	state := secure.ConnectionState()
	return &state
}

// bridgeBody is the body of a bridged request, which is read from the request while the
// request is there. It is safe for concurrent use.
type bridgeBody struct {
	conn    net.Conn
	until   time.Time // the whole body has to be there
	limit   int64
	arrived atomic.Bool // nothing of it is left on the connection

	reading sync.Mutex
	request *Request // nil when nothing more is to be read
	count   int64    // bytes that were read
	refused error    // why the node reads no more of it, as the client is told

	timing  sync.Mutex
	stopped atomic.Bool
}

var _ io.ReadCloser = (*bridgeBody)(nil)

func (b *bridgeBody) init(r *Request) {
	b.conn, b.request, b.limit = r.HTTP.Conn(), r, r.server.cfg.BodyLimit
	b.until = time.Now().Add(r.server.cfg.ReadTimeout)
	b.arrived.Store(r.settled())
}

// Read implements io.Reader. What is read is held against the node's budget until the request
// has ended: a handler that reads a body keeps it.
func (b *bridgeBody) Read(p []byte) (int, error) {
	b.reading.Lock()
	defer b.reading.Unlock()
	if b.request == nil {
		return 0, http.ErrBodyReadAfterClose
	}
	if b.refused != nil {
		return 0, b.refused
	}
	n, err := b.request.stream().Read(p[:min(len(p), bodyPiece)])
	if b.request.incoming.ended {
		b.arrived.Store(true)
	}
	if b.count += int64(n); b.count > b.limit {
		b.refused = tooLarge(b.limit)
		return 0, &http.MaxBytesError{Limit: b.limit}
	}
	if b.count > b.request.server.inFlight.most(b.request.tenant()) || !b.request.charge(jsonCopies*int64(n)) {
		b.refused = errCrowded()
		return 0, b.refused
	}
	if err != nil && !errors.Is(err, io.EOF) && !b.stopped.Load() {
		b.refused = bodyError(err)
		return n, err
	}
	return n, err
}

// Close implements io.Closer.
func (b *bridgeBody) Close() error {
	b.reading.Lock()
	defer b.reading.Unlock()
	b.request = nil
	return nil
}

// setDeadline makes the time that the client has for its body shorter.
func (b *bridgeBody) setDeadline(t time.Time) error {
	b.timing.Lock()
	defer b.timing.Unlock()
	if b.stopped.Load() {
		return nil
	}
	if t.IsZero() || t.After(b.until) {
		t = b.until
	}
	return b.conn.SetReadDeadline(t)
}

// stop ends all reading, also one that waits for the client.
func (b *bridgeBody) stop() {
	b.timing.Lock()
	defer b.timing.Unlock()
	if b.stopped.Swap(true) {
		return
	}
	if !b.reading.TryLock() {
		_ = b.conn.SetReadDeadline(longAgo())
		b.reading.Lock()
	}
	b.request = nil
	b.reading.Unlock()
}

// longAgo is a deadline that ends a read at once.
func longAgo() time.Time { return time.Unix(1, 0) }
