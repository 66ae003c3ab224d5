package gateway

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/valyala/fasthttp"
)

const (
	// maxAnswer is the most that an answer may have which is not streamed.
	maxAnswer = 64 << 10
	// sniffed is how much of a body says what it is.
	sniffed = 512
)

// bridgeAnswer is the answer of a bridged request. It is safe for concurrent use.
type bridgeAnswer struct {
	bridge         *bridge
	noBody, chunks bool // the request's method is HEAD; its client understands chunks

	mu       sync.Mutex
	header   http.Header // the handler's
	sent     http.Header // as it was when the status was said; nil before
	status   int
	declared int64  // the Content-Length that the handler has said; -1 for none
	written  int64  // by the handler
	pending  []byte // what was written and not sent
	frame    []byte // kept for the next piece
	streams  bool   // the connection was taken over
	flushed  bool   // by the handler
	hijacked bool   // it is the handler's
	refused  error  // why it could not be taken over, as the client is told
	over     error  // why nothing more can be written
}

var (
	_ http.Flusher  = (*bridgeAnswer)(nil)
	_ http.Hijacker = (*bridgeAnswer)(nil)
)

// Header implements http.ResponseWriter.
func (a *bridgeAnswer) Header() http.Header {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.header == nil {
		a.header = http.Header{}
	}
	return a.header
}

// WriteHeader implements http.ResponseWriter. Answers before the answer (1xx) are not sent.
func (a *bridgeAnswer) WriteHeader(status int) {
	if status < 100 || status > 999 {
		panic(fmt.Sprintf("gateway: an answer with the status %d", status))
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if status >= http.StatusOK || status == http.StatusSwitchingProtocols {
		a.say(status)
	}
}

// say fixes the status and the header, once.
func (a *bridgeAnswer) say(status int) {
	if a.status != 0 || a.hijacked {
		return
	}
	a.status = status
	if a.sent = a.header.Clone(); a.sent == nil {
		a.sent = http.Header{}
	}
	for name, values := range a.sent {
		switch canonical := textproto.CanonicalMIMEHeaderKey(name); {
		case canonical == "Content-Length":
			if n, err := strconv.ParseInt(strings.Join(values, ","), 10, 64); err == nil && n >= 0 && a.bodyAllowed() {
				a.declared = n
			}
			delete(a.sent, name)
		case canonical == "Connection" && hasToken(strings.Join(values, ","), "close"):
			a.sent[name] = []string{"close"}
		case canonical == "Connection" && status != http.StatusSwitchingProtocols,
			strings.HasPrefix(name, http.TrailerPrefix),
			slices.Contains([]string{"Date", "Trailer", "Transfer-Encoding", "X-Request-Id"}, canonical),
			canonical == "Content-Type" && status == http.StatusNotModified:
			delete(a.sent, name)
		}
	}
}

// bodyAllowed reports whether answers of the status have a body.
func (a *bridgeAnswer) bodyAllowed() bool {
	return a.status >= http.StatusOK && a.status != http.StatusNoContent && a.status != http.StatusNotModified
}

// counted returns the status that the metrics count.
func (a *bridgeAnswer) counted() int {
	if a.status == 0 {
		return http.StatusSwitchingProtocols
	}
	return a.status
}

// Write implements http.ResponseWriter.
func (a *bridgeAnswer) Write(p []byte) (int, error) { return write(a, p) }

// WriteString implements io.StringWriter.
func (a *bridgeAnswer) WriteString(s string) (int, error) { return write(a, s) }

func write[T []byte | string](a *bridgeAnswer, p T) (n int, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.hijacked {
		return 0, http.ErrHijacked
	}
	if a.over != nil {
		return 0, a.over
	}
	if a.say(http.StatusOK); len(p) == 0 {
		return 0, nil
	}
	if !a.bodyAllowed() {
		return 0, http.ErrBodyNotAllowed
	}
	if a.written += int64(len(p)); a.declared >= 0 && a.written > a.declared {
		return 0, http.ErrContentLength
	}
	if a.noBody {
		a.pending = append(a.pending, p[:min(len(p), sniffed-len(a.pending))]...)
		return len(p), nil
	}
	if !a.streams && len(a.pending)+len(p) > maxAnswer {
		n = maxAnswer - len(a.pending)
		a.pending = append(a.pending, p[:n]...)
		if err := a.sendOff(); err != nil {
			return 0, err
		}
	}
	more, err := keepLarge(a, p[n:])
	return n + more, err
}

// keepLarge is keep for what may be large: the handler holds it until the client has taken it.
func keepLarge[T []byte | string](a *bridgeAnswer, p T) (n int, err error) {
	if !a.streams || len(p) <= smallWrite {
		return keep(a, p)
	}
	err = a.bridge.server.unread.write(a.bridge.conn.Conn, len(p), func() error {
		n, err = keep(a, p)
		return err
	})
	return n, err
}

// keep keeps p until there is enough to send, or the handler flushes.
func keep[T []byte | string](a *bridgeAnswer, p T) (int, error) {
	for rest := p; len(rest) > 0; {
		if len(a.pending) >= a.room() {
			if err := a.sendOff(); err != nil {
				return len(p) - len(rest), err
			}
		}
		n := min(len(rest), a.room()-len(a.pending))
		a.pending = append(a.pending, rest[:n]...)
		rest = rest[n:]
	}
	return len(p), nil
}

// room is how much is kept before it is sent.
func (a *bridgeAnswer) room() int {
	if !a.streams {
		return maxAnswer
	}
	return maxKeptFrame
}

// Flush implements http.Flusher.
func (a *bridgeAnswer) Flush() { _ = a.FlushError() }

// FlushError sends what was written. [http.ResponseController] calls it.
func (a *bridgeAnswer) FlushError() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.hijacked {
		return http.ErrHijacked
	}
	if a.over != nil {
		return a.over
	}
	a.say(http.StatusOK)
	if !a.streams {
		if err := a.reserve(); err != nil {
			return err
		}
		if err := a.begin(); err != nil {
			return err
		}
	} else if err := a.send(); err != nil {
		return err
	}
	if !a.flushed {
		a.flushed = true
		a.bridge.heedDrain()
	}
	return nil
}

// reserve takes a place for a stream. An error is final.
func (a *bridgeAnswer) reserve() error {
	if a.over = a.bridge.server.startStream(); a.over != nil {
		a.refused = a.over
		a.bridge.cancel(a.over)
	}
	return a.over
}

// sendOff sends what was written. An answer that begins by it is not refused, and no drain cuts
// it off: what it tells was done.
func (a *bridgeAnswer) sendOff() error {
	if a.over != nil {
		return a.over
	}
	if a.streams {
		return a.send()
	}
	a.bridge.server.streams.count()
	return a.begin()
}

// begin takes the connection over and sends the header with what was written. A place is
// counted already.
func (a *bridgeAnswer) begin() error {
	taken, err := a.take()
	if err != nil {
		return err
	}
	a.bridge.stream(unwrap(taken).(*conn))
	return a.sendHead()
}

func (a *bridgeAnswer) take() (net.Conn, error) {
	taken, err := a.bridge.take()
	a.streams, a.over = err == nil, err
	return taken, err
}

// sendHead sends the header, and what was written with it.
func (a *bridgeAnswer) sendHead() error {
	a.frame = a.appendHead(a.frame[:0])
	return a.sendAfter(a.frame)
}

// send sends what was written.
func (a *bridgeAnswer) send() error {
	if len(a.pending) == 0 {
		return nil
	}
	return a.sendAfter(a.frame[:0])
}

// sendAfter sends what was written behind what is in the frame.
func (a *bridgeAnswer) sendAfter(frame []byte) error {
	if len(a.pending) > 0 && !a.noBody {
		if a.chunked() {
			frame = appendChunk(frame, a.pending)
		} else {
			frame = append(frame, a.pending...)
		}
	}
	a.pending, a.frame = kept(a.pending), kept(frame)
	if _, err := a.bridge.conn.Write(frame); err != nil {
		a.over = fmt.Errorf("%w: %w", ErrClientGone, err)
		a.bridge.cancel(a.over)
	}
	return a.over
}

// kept returns an empty buffer for what comes next: an idle stream holds no large one.
func kept(buffer []byte) []byte {
	if cap(buffer) > 2*maxKeptFrame {
		return nil
	}
	return buffer[:0]
}

// chunked reports whether a stream goes out in chunks, which say where it ends.
func (a *bridgeAnswer) chunked() bool {
	return a.chunks && a.declared < 0 && !a.noBody && a.bodyAllowed()
}

// short reports whether the handler has written less than it has said.
func (a *bridgeAnswer) short() bool { return !a.noBody && a.written < a.declared }

// appendHead appends the header of a stream.
func (a *bridgeAnswer) appendHead(to []byte) []byte {
	a.sniff()
	if a.status != http.StatusSwitchingProtocols {
		a.sent.Set("Connection", "close")
	}
	if a.sent.Get("Server") == "" {
		a.sent.Set("Server", "wharf")
	}
	if a.declared >= 0 {
		a.sent.Set("Content-Length", strconv.FormatInt(a.declared, 10))
	}
	if a.chunked() {
		a.sent.Set("Transfer-Encoding", "chunked")
	}
	a.sent.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	a.sent.Set("X-Request-Id", a.bridge.id)
	head := bytes.NewBuffer(to)
	fmt.Fprintf(head, "HTTP/1.1 %d %s\r\n", a.status, http.StatusText(a.status))
	_ = a.sent.Write(head) // to memory; it leaves out what is no header
	head.WriteString("\r\n")
	return head.Bytes()
}

// sniff says what the body is when the handler has not.
func (a *bridgeAnswer) sniff() {
	_, said := a.sent["Content-Type"]
	if !said && len(a.pending) > 0 && a.sent.Get("Content-Encoding") == "" {
		a.sent.Set("Content-Type", http.DetectContentType(a.pending))
	}
}

// finish ends the answer when the handler has returned.
func (a *bridgeAnswer) finish() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.hijacked {
		a.complete()
	}
	if a.over == nil {
		a.over = errors.New("the handler has returned")
	}
}

func (a *bridgeAnswer) complete() {
	whole := a.bridge.fault == nil
	if whole {
		a.say(http.StatusOK)
		if !a.streams && !a.short() {
			return // fasthttp sends it
		}
		whole = a.sendOff() == nil && !a.short()
	}
	if !a.streams {
		return
	}
	if whole && a.chunked() {
		_, _ = a.bridge.conn.Write([]byte("0\r\n\r\n"))
	}
	a.bridge.closeStream()
}

// copyTo makes the answer one that fasthttp sends.
func (a *bridgeAnswer) copyTo(to *fasthttp.Response) {
	a.sniff()
	to.SetStatusCode(a.status)
	to.Header.SetNoDefaultContentType(true)
	var lines strings.Builder
	_ = a.sent.Write(&lines) // to memory; it leaves out what is no header
	for line := range strings.SplitSeq(lines.String(), "\r\n") {
		if name, value, ok := strings.Cut(line, ": "); ok {
			to.Header.Add(name, value)
		}
	}
	switch {
	case !a.noBody:
		to.SetBodyRaw(a.pending)
	case a.declared >= 0:
		to.Header.SetContentLength(int(a.declared))
	case a.written > 0:
		to.Header.SetContentLength(int(a.written))
	}
}

// SetReadDeadline shortens the time that the client has for the rest of its request.
// [http.ResponseController] calls it.
func (a *bridgeAnswer) SetReadDeadline(t time.Time) error { return a.bridge.body.setDeadline(t) }

// SetWriteDeadline shortens the time that the client has to take the answer, once that is a
// stream. [http.ResponseController] calls it.
func (a *bridgeAnswer) SetWriteDeadline(t time.Time) error { return a.bridge.conn.SetWriteDeadline(t) }

// Hijack implements http.Hijacker. Each write on the connection has the node's time.
func (a *bridgeAnswer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.hijacked:
		return nil, nil, http.ErrHijacked
	case a.over != nil:
		return nil, nil, a.over
	case a.streams:
		return nil, nil, errors.New("the answer is a stream already")
	}
	if err := a.reserve(); err != nil {
		return nil, nil, err
	}
	taken, err := a.take()
	if err != nil {
		return nil, nil, err
	}
	b := a.bridge
	begun := buffered(taken, b.server.cfg.HeaderLimit)
	b.lend(unwrap(taken).(*conn))
	a.hijacked = true
	if a.status != 0 {
		if err := a.sendHead(); err != nil {
			_ = b.conn.Close()
			return nil, nil, err
		}
	}
	return &b.conn, buffers(&b.conn, begun), nil
}
