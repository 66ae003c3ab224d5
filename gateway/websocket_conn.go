package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/fasthttp/websocket"
	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
)

// Close codes that say why the node closes a socket: those of RFC 6455, and from its range for
// applications those whose last digits are the HTTP status that says the same.
const (
	CloseNormal       = websocket.CloseNormalClosure
	CloseGoingAway    = websocket.CloseGoingAway
	CloseUnsupported  = websocket.CloseUnsupportedData
	CloseInvalidData  = websocket.CloseInvalidFramePayloadData
	CloseTooBig       = websocket.CloseMessageTooBig
	CloseInternal     = websocket.CloseInternalServerErr
	CloseTryAgain     = websocket.CloseTryAgainLater
	CloseBadFrames    = 4400 // too many frames in a row that cannot be read
	CloseUnauthorized = 4401 // the credential is not valid any more
	CloseForbidden    = 4403 // it does not open this socket any more
	CloseTimeout      = 4408 // no pong, or no end of a message, in time
	CloseExpired      = 4410 // the cursor lies before what is kept
)

// ClosedError ends the reading of a [Socket]. Code is what the client, or the node,
// closed it with; websocket.CloseAbnormalClosure (1006) when the connection broke.
type ClosedError struct {
	Code   int
	Reason string
}

// Error implements the error interface.
func (e *ClosedError) Error() string {
	return fmt.Sprintf("the socket is closed: %d %s", e.Code, e.Reason)
}

// Socket is a WebSocket that carries JSON texts. One goroutine reads; the other
// methods are safe for concurrent use.
type Socket struct {
	server     *Server
	id         string
	entry      *entry // of the access log
	credential string
	tenant     string   // whose share of the budget messages take
	message    *message // that is being handled, for the goroutine that reads
	conn       *websocket.Conn
	wire       *wire

	writing sync.Mutex   // held over what leaves together
	reading atomic.Bool  // a message is on its way in: pongs give it no more time
	closing atomic.Int32 // the code that the node closes with, once it does
}

// farewellTime is how long a client has to answer a close frame.
const farewellTime = 2 * time.Second

// serve answers the handshake and runs f. It owns c.
func (ws *Socket) serve(c net.Conn, shake *handshake, f func(context.Context, *Socket)) {
	s := ws.server
	defer s.streams.end()
	s.sockets.open.Add(1)
	defer s.sockets.open.Add(-1)
	defer ws.entry.end()
	defer c.Close()
	ws.wire = &wire{Conn: c, timeout: s.cfg.WriteTimeout, buffers: &s.sockets.writes, unread: &s.unread}
	conn, err := shake.open(&s.sockets.upgrader, ws.wire)
	if err != nil {
		return
	}
	ws.conn = conn
	conn.SetReadLimit(s.cfg.MessageLimit)
	conn.SetPongHandler(func(string) error { return ws.alive() })
	conn.SetCloseHandler(ws.answerClose)
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("socket panicked", slog.String("request_id", ws.id), slog.Any("panic", p))
			ws.Close(CloseInternal, "")
		}
	}()
	if ws.alive() == nil {
		f(s.live, ws)
		ws.linger()
	}
}

// alive gives the client the time of two heartbeats until it must be heard again.
func (ws *Socket) alive() error {
	if ws.reading.Load() || ws.closing.Load() != 0 {
		return nil
	}
	return ws.conn.SetReadDeadline(time.Now().Add(2 * ws.server.cfg.Heartbeat))
}

// ID returns the request_id of the request that became the socket.
func (ws *Socket) ID() string { return ws.id }

// MessageLimit returns the most bytes that a message of the client may have.
func (ws *Socket) MessageLimit() int64 { return ws.server.cfg.MessageLimit }

// Heartbeat returns how often the client is pinged.
func (ws *Socket) Heartbeat() time.Duration { return ws.server.cfg.Heartbeat }

// Authenticate returns who the socket's credential belongs to by now.
func (ws *Socket) Authenticate() (*desk.Caller, error) {
	return ws.server.core.Authenticate(ws.server.ctx, ws.credential)
}

// Context ends when the server gives up on what runs.
func (ws *Socket) Context() context.Context { return ws.server.ctx }

// Shown returns err as a client may see it. Any error that is not an *abi.Error is logged.
func (ws *Socket) Shown(err error) *abi.Error {
	if shown, ok := errors.AsType[*abi.Error](err); ok {
		return shown
	}
	ws.server.log.Error("command failed", slog.String("request_id", ws.id), slog.Any("error", err))
	return internalError(err, "the node failed to do this")
}

// Read hands the next message to f, which must not keep it. Its error is a
// [ClosedError], or that of f.
func (ws *Socket) Read(f func(message []byte) error) error {
	m, err := ws.next()
	if err != nil {
		return err
	}
	ws.message = m
	defer m.release()
	return f(*m.text)
}

// next reads a message, which is to be released. Its error is a [ClosedError].
func (ws *Socket) next() (*message, error) {
	kind, r, err := ws.conn.NextReader()
	if err != nil {
		return nil, ws.readFailed(err)
	}
	if kind != websocket.TextMessage {
		return nil, ws.Close(CloseUnsupported, "messages are JSON texts")
	}
	ws.reading.Store(true)
	if err := ws.conn.SetReadDeadline(time.Now().Add(ws.server.cfg.ReadTimeout)); err != nil {
		return nil, ws.readFailed(err)
	}
	m := &message{budget: &ws.server.inFlight, tenant: ws.tenant, limit: ws.server.cfg.MessageLimit, pool: &ws.server.sockets.reads}
	err = m.read(r)
	ws.reading.Store(false)
	if err = ws.refuse(m, err); err != nil {
		m.release()
		return nil, err
	}
	return m, nil
}

// refuse closes the socket for a message that cannot be taken.
func (ws *Socket) refuse(m *message, err error) error {
	switch {
	case errors.Is(err, errMessageSize):
		return ws.Close(CloseTooBig, fmt.Sprintf("a message has at most %d bytes", m.limit))
	case errors.Is(err, errNoBudget):
		return ws.Close(CloseTryAgain, "the node is reading too much at once")
	case err != nil:
		return ws.readFailed(err)
	case !utf8.Valid(*m.text):
		return ws.Close(CloseInvalidData, "the message is no UTF-8")
	}
	if err := ws.alive(); err != nil {
		return ws.readFailed(err)
	}
	return nil
}

// Messages returns the socket for a protocol that handles messages beside each other, as a
// jsonrpc.Peer does: each counts against the server's budget until it is released. Use it
// instead of [Socket.Read].
func (ws *Socket) Messages() *Messages { return &Messages{ws} }

// Messages carries the messages of a [Socket]. One goroutine reads.
type Messages struct{ ws *Socket }

// Read returns the next message, which is valid until release is called. The error is io.EOF
// when the client has closed the socket, or the node has.
func (m *Messages) Read() (text []byte, release func(), err error) {
	got, err := m.ws.next()
	if _, closed := errors.AsType[*ClosedError](err); closed {
		return nil, nil, io.EOF
	}
	if err != nil {
		return nil, nil, err
	}
	return *got.text, got.release, nil
}

// Write sends messages.
func (m *Messages) Write(texts ...[]byte) error { return m.ws.Send(texts...) }

// Decode reads the message that [Socket.Read] has handed out into v, as [Request.Decode]
// reads a body; known says that a member that v does not have is a mistake. What it takes is
// counted against the server's budget until the message is handled.
func (ws *Socket) Decode(message []byte, v any, known bool) error {
	return decode(message, v, ws.message.take, json.RejectUnknownMembers(known))
}

// readFailed says why nothing more comes, to the client too if that helps it.
func (ws *Socket) readFailed(err error) error {
	if code := ws.closing.Load(); code != 0 {
		return &ClosedError{Code: int(code)}
	}
	if said, ok := errors.AsType[*websocket.CloseError](err); ok {
		return &ClosedError{Code: said.Code, Reason: said.Text}
	}
	switch {
	case errors.Is(err, websocket.ErrReadLimit):
		return &ClosedError{Code: CloseTooBig} // the library has told the client
	case timedOut(err):
		return ws.Close(CloseTimeout, "nothing was heard in time")
	}
	return &ClosedError{Code: websocket.CloseAbnormalClosure, Reason: "the connection broke"}
}

// Send sends each frame as a message, all of them with one write. An error is final:
// the client has left, or is too slow.
func (ws *Socket) Send(frames ...[]byte) error {
	ws.writing.Lock()
	defer ws.writing.Unlock()
	ws.wire.begin()
	err := ws.put(frames)
	return errors.Join(err, ws.wire.flush())
}

// compressed is the size from which on a message is compressed, in bytes: below it
// there is little to win.
const compressed = 512

func (ws *Socket) put(frames [][]byte) error {
	for _, frame := range frames {
		ws.conn.EnableWriteCompression(len(frame) >= compressed)
		if err := ws.conn.WriteMessage(websocket.TextMessage, frame); err != nil {
			return err
		}
	}
	return nil
}

// Ping asks the client for a pong, which [Socket.Read] waits for.
func (ws *Socket) Ping() error { return ws.control(websocket.PingMessage, nil) }

func (ws *Socket) control(kind int, payload []byte) error {
	return ws.conn.WriteControl(kind, payload, time.Now().Add(ws.server.cfg.WriteTimeout))
}

// Close tells the client why the socket ends and gives it a moment to answer. The
// first reason counts. It returns what reading ends with.
func (ws *Socket) Close(code int, reason string) error {
	if ws.closing.CompareAndSwap(0, int32(code)) {
		_ = ws.control(websocket.CloseMessage, websocket.FormatCloseMessage(code, reason))
		_ = ws.conn.SetReadDeadline(time.Now().Add(farewellTime))
	}
	return &ClosedError{Code: int(ws.closing.Load()), Reason: reason}
}

// Drop breaks the connection, so that reading and writing end at once.
func (ws *Socket) Drop() { _ = ws.wire.Conn.Close() }

// answerClose returns the client's own code, as far as it may be sent.
func (ws *Socket) answerClose(code int, _ string) error {
	if ws.closing.CompareAndSwap(0, int32(code)) {
		_ = ws.control(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""))
	}
	return nil
}

// linger reads on until the client has answered a close frame and left, or had the
// time to: what it still sends would otherwise reset the connection, and take with it
// what it has not read yet.
func (ws *Socket) linger() {
	_ = ws.wire.SetReadDeadline(time.Now().Add(farewellTime))
	for {
		_, _, err := ws.conn.NextReader()
		if err == nil {
			continue
		}
		if _, answered := errors.AsType[*websocket.CloseError](err); !answered {
			_, _ = io.Copy(io.Discard, ws.wire)
		}
		return
	}
}

var (
	errMessageSize = errors.New("the message is too large")
	errNoBudget    = errors.New("too many bytes are in flight")
)

// message is one on its way in, or being handled. Its memory is counted against the
// tenant's share of the server's budget, as a body's is, and bounded after it was
// decompressed, too.
type message struct {
	budget *shared
	tenant string
	limit  int64
	pool   *sync.Pool
	text   *[]byte
	held   int64
}

// smallMessage is what a buffer begins with, and the largest one kept for the next
// message has.
const smallMessage = 4 << 10

func (m *message) read(r io.Reader) error {
	if m.text, _ = m.pool.Get().(*[]byte); m.text == nil {
		text := make([]byte, 0, smallMessage)
		m.text = &text
	}
	for {
		b := *m.text
		if len(b) == cap(b) {
			if err := m.grow(); err != nil {
				return err
			}
			b = *m.text
		}
		n, err := r.Read(b[len(b):cap(b)])
		*m.text = b[:len(b)+n]
		switch {
		case int64(len(*m.text)) > m.limit:
			return errMessageSize
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

func (m *message) grow() error {
	b := *m.text
	room := min(2*int64(cap(b)), m.limit+1)
	if !m.take(jsonCopies * (room - int64(cap(b)))) {
		return errNoBudget
	}
	*m.text = append(make([]byte, 0, room), b...)
	return nil
}

// take takes n bytes more for the message, or reports that they do not fit.
func (m *message) take(n int64) bool { return m.budget.takeMore(m.tenant, &m.held, n) }

func (m *message) release() {
	m.budget.giveFor(m.tenant, m.held)
	if m.text != nil && cap(*m.text) <= smallMessage {
		*m.text = (*m.text)[:0]
		m.pool.Put(m.text)
	}
}
