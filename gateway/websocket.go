package gateway

import (
	"bufio"
	"context"
	"encoding/base64"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/fasthttp/websocket"
	"github.com/wharf-dev/wharf/abi"
)

// bearerProtocol begins the subprotocol that holds the key of a client that cannot
// set headers. The node never answers with it.
const bearerProtocol = "bearer."

// The sizes of a socket's buffers: small, for most sockets are idle. Writing buffers
// are shared between all sockets.
const (
	socketReadBuffer  = 512
	socketWriteBuffer = 4 << 10
)

// IsUpgrade reports whether the request asks to become a WebSocket.
func (r *Request) IsUpgrade() bool {
	return r.HTTP.IsGet() && hasToken(r.Header("Connection"), "upgrade") && hasToken(r.Header("Upgrade"), "websocket")
}

// offered lists the subprotocols that the client offers, in its order.
func (r *Request) offered() []string {
	var all []string
	for _, line := range r.HTTP.Request.Header.PeekAll("Sec-WebSocket-Protocol") {
		for name := range strings.SplitSeq(string(line), ",") {
			all = append(all, strings.TrimSpace(name))
		}
	}
	return all
}

// credential returns the token that the request carries: in the Authorization
// header or, when it asks for a WebSocket, as a subprotocol, and on routes that take
// one there in the query.
func (r *Request) credential() (token string, ok bool) {
	if header := r.HTTP.Request.Header.Peek("Authorization"); len(header) > 0 || !r.IsUpgrade() {
		return bearer(header)
	}
	for _, name := range r.offered() {
		if token, ok := strings.CutPrefix(name, bearerProtocol); ok && token != "" {
			return token, true
		}
	}
	if !r.Route.QueryToken {
		return "", false
	}
	token = string(r.HTTP.QueryArgs().Peek("token"))
	return token, token != ""
}

// Subprotocol returns the first of the offered subprotocols that the route's protocol speaks,
// "" for none.
func (r *Request) Subprotocol() string {
	for _, name := range r.offered() {
		if slices.Contains(r.Route.mount.Subprotocols, name) {
			return name
		}
	}
	return ""
}

// UpgradeNeeded is the answer to a request for something that is there only as a WebSocket. It
// is not 426: that status means an unsupported version of the protocol, to which clients react
// by choosing another.
func (r *Request) UpgradeNeeded() error {
	r.SetHeader("Upgrade", "websocket")
	return abi.InvalidParam("Upgrade", "this path is a WebSocket: ask for an upgrade")
}

// Upgrade makes the connection a WebSocket that f serves, on a goroutine of its own,
// after the handler has returned: f must not use r. The socket is closed when f
// returns. ctx ends when the server drains. What keeps the request from being
// upgraded is an error to return.
func (r *Request) Upgrade(f func(ctx context.Context, ws *Socket)) error {
	s := r.server
	if err := s.checkHandshake(r); err != nil {
		return err
	}
	if err := s.startStream(); err != nil {
		return err
	}
	shake := handshakeOf(r)
	ws := &Socket{server: s, id: r.ID, tenant: r.tenant()}
	ws.credential, _ = r.credential()
	ws.entry = r.entry
	ws.entry.stream(r.HTTP, "websocket")
	r.HTTP.HijackSetNoResponse(true)
	r.HTTP.Hijack(func(hijacked net.Conn) {
		// On a goroutine of its own, so that what fasthttp holds for a request is
		// given back while the socket lives.
		go ws.serve(unwrap(hijacked), shake, f)
	})
	return nil
}

// checkHandshake checks what a browser, or a client's mistake, must not get past.
func (s *Server) checkHandshake(r *Request) error {
	if !hasToken(r.Header("Sec-WebSocket-Version"), "13") {
		r.SetHeader("Sec-WebSocket-Version", "13") // RFC 6455, section 4.4, leaves the status open
		return abi.InvalidParam("Sec-WebSocket-Version", "this node speaks version 13 of the WebSocket protocol")
	}
	if key, err := base64.StdEncoding.DecodeString(r.Header("Sec-WebSocket-Key")); err != nil || len(key) != 16 {
		return abi.InvalidParam("Sec-WebSocket-Key", "Sec-WebSocket-Key is 16 bytes in base64")
	}
	if !r.FromOrigins(s.cfg.Origins) {
		return abi.Errorf(abi.CodePermissionDenied, "pages of this origin may not connect: the node's websocket.origins does not have it")
	}
	if !s.cfg.SocketInsecure && s.cfg.TLS == nil && !fromLoopback(r.HTTP.RemoteAddr()) {
		return abi.Errorf(abi.CodePermissionDenied, "a WebSocket without TLS is served to this machine only, unless websocket.insecure is set")
	}
	return nil
}

// FromOrigins reports whether a page of the request's origin may ask, besides those that the server
// itself has shown: the origins are those that may, "*" is any. What has no origin is no page.
func (r *Request) FromOrigins(origins []string) bool {
	sent := r.HTTP.Request.Header.PeekAll("Origin")
	if len(sent) == 0 {
		return true
	}
	if len(sent) > 1 {
		return false
	}
	origin := string(sent[0])
	if slices.ContainsFunc(origins, func(o string) bool { return o == "*" || strings.EqualFold(o, origin) }) {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") &&
		strings.EqualFold(u.Host, string(r.HTTP.Host()))
}

func fromLoopback(a net.Addr) bool {
	at, err := netip.ParseAddrPort(a.String())
	return err == nil && at.Addr().Unmap().IsLoopback()
}

// hasToken reports whether a header's list has the token, in any letter case.
func hasToken(list, token string) bool {
	for entry := range strings.SplitSeq(list, ",") {
		if strings.EqualFold(strings.TrimSpace(entry), token) {
			return true
		}
	}
	return false
}

// handshake is what is left of a request when its socket is opened.
type handshake struct {
	request *http.Request
	answer  http.Header
}

func handshakeOf(r *Request) *handshake {
	h := &handshake{
		request: &http.Request{Method: http.MethodGet, Header: http.Header{
			"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"},
			"Sec-Websocket-Key": {r.Header("Sec-WebSocket-Key")},
		}},
		answer: http.Header{"Server": {"wharf"}, "X-Request-Id": {r.ID}},
	}
	for _, extensions := range r.HTTP.Request.Header.PeekAll("Sec-WebSocket-Extensions") {
		h.request.Header.Add("Sec-Websocket-Extensions", string(extensions))
	}
	if chosen := r.Subprotocol(); chosen != "" {
		h.answer.Set("Sec-Websocket-Protocol", chosen)
	}
	return h
}

// sockets is what all sockets of a server share: buffers of those that are being
// read from or written to.
type sockets struct {
	upgrader websocket.Upgrader
	frames   sync.Pool // of the library: a frame is made in one
	writes   sync.Pool // of *[]byte: what one write sends
	reads    sync.Pool // of *[]byte: a message as it arrives
	open     atomic.Int64
}

func (s *sockets) init() {
	s.upgrader = websocket.Upgrader{
		ReadBufferSize: socketReadBuffer, WriteBufferSize: socketWriteBuffer, WriteBufferPool: &s.frames,
		EnableCompression: true,
		CheckOrigin:       func(*http.Request) bool { return true }, // checkHandshake did
	}
}

// open answers the handshake on the connection.
func (h *handshake) open(u *websocket.Upgrader, c net.Conn) (*websocket.Conn, error) {
	return u.Upgrade(hijackable{c}, h.request, h.answer)
}

// hijackable shows a connection that was already taken over to a library that wants
// to take it over itself.
type hijackable struct{ conn net.Conn }

var _ http.Hijacker = hijackable{}

// Hijack implements http.Hijacker.
func (h hijackable) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return h.conn, bufio.NewReadWriter(bufio.NewReaderSize(h.conn, 16), bufio.NewWriterSize(h.conn, 1)), nil
}

// Header implements http.ResponseWriter. What is refused was refused before.
func (hijackable) Header() http.Header { return http.Header{} }

// Write implements http.ResponseWriter.
func (hijackable) Write(p []byte) (int, error) { return len(p), nil }

// WriteHeader implements http.ResponseWriter.
func (hijackable) WriteHeader(int) {}
