package gateway

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
)

// Why the context of a bridged request has ended before its handler has returned, as
// [context.Cause] tells it.
var (
	ErrClientGone = errors.New("the client has left")
	ErrDraining   = errors.New("the node is draining")
)

// What becomes of a request whose handler did not return.
var (
	errAborted  = errors.New("the handler has aborted the answer")
	errPanicked = errors.New("the handler has panicked")
)

// askGone is how often a request that waits for its handler asks whether the client is there.
const askGone = time.Second

// Bridge has a handler of a net/http library answer the request, as if it stood behind
// net/http's own server. Nothing that the handler is given belongs to fasthttp, so it may
// keep it. The request's context has what [CallerOf] and [RequestIDOf] return; it ends when
// the handler returns, when the client leaves, when the node gives up and, once something was
// flushed, when the node drains.
//
// An answer that was not flushed goes out as any other; one of more than 64 KiB as it
// is written, on a connection that takes no further request. Flushing makes it a stream, for
// which there has to be a place: the answer is an error of the gateway's when there is none.
// The body is limited as that of any route and counted against the node's budget. Deadlines
// that the handler sets make the node's own shorter, never longer. Trailers, 1xx answers and
// reading the body after flushing are not supported; Date, X-Request-Id and the framing are
// the gateway's. A WebSocket is upgraded after the same checks as in [Request.Upgrade].
func (r *Request) Bridge(h http.Handler) error {
	if r.IsUpgrade() {
		if err := r.server.checkHandshake(r); err != nil {
			return err
		}
	}
	if limit := r.server.cfg.BodyLimit; r.stream().left > limit {
		return tooLarge(limit)
	}
	b := newBridge(r)
	request, err := b.request(r)
	if err != nil {
		b.cancel(nil)
		return err
	}
	go b.run(h, request)
	return b.await(r)
}

// bridge is a request that a handler of a net/http library answers, on a goroutine of its
// own: fasthttp lets go of a connection only when its handler has returned. That handler's
// goroutine waits until the other one has returned, or needs the connection.
type bridge struct {
	server        *Server
	id, operation string
	whose         string // whose share of the budget the body takes
	ctx           context.Context
	cancel        context.CancelCauseFunc
	body          bridgeBody
	answer        bridgeAnswer
	conn          paced // once it is taken over

	done  chan struct{} // closed when the handler has returned
	fault error         // set before done is closed, if it did not return by itself
	asks  chan struct{} // closed when it needs the connection
	taken taken
}

// taken is what a bridge knows of a connection that it has taken over.
type taken struct {
	from    chan net.Conn // fasthttp hands it out here
	lost    chan struct{} // closed with the connection
	watched chan struct{} // closed when nobody reads it any more
	users   atomic.Int32  // the handler and the connection, while they have not ended
	held    int64         // of the budget, by the body
	entry   *entry        // of the access log
	ended   atomic.Bool   // the handler has returned
	stops   []func() bool // end what waits for the server's end
}

func newBridge(r *Request) *bridge {
	s := r.server
	b := &bridge{
		server: s, id: r.ID, operation: r.operation(), whose: r.tenant(),
		done: make(chan struct{}), asks: make(chan struct{}),
		taken: taken{from: make(chan net.Conn, 1), lost: make(chan struct{}), watched: make(chan struct{})},
	}
	ctx := context.WithValue(s.ctx, http.LocalAddrContextKey, r.HTTP.LocalAddr())
	b.ctx, b.cancel = context.WithCancelCause(context.WithValue(ctx, bridgedKey{}, bridged{r.Caller, r.ID, s.live}))
	b.body.init(r)
	b.answer.bridge = b
	b.answer.declared = -1
	b.conn.timeout, b.conn.unread = s.cfg.WriteTimeout, &s.unread
	return b
}

// bridgedKey is the key of a [bridged] in a context.
type bridgedKey struct{}

// bridged is what a request was before it was bridged.
type bridged struct {
	caller *desk.Caller
	id     string
	live   context.Context
}

// CallerOf returns who sends the bridged request that has this context; nil on public routes.
func CallerOf(ctx context.Context) *desk.Caller {
	b, _ := ctx.Value(bridgedKey{}).(bridged)
	return b.caller
}

// RequestIDOf returns the request_id of the bridged request that has this context.
func RequestIDOf(ctx context.Context) string {
	b, _ := ctx.Value(bridgedKey{}).(bridged)
	return b.id
}

// LiveOf returns a context that ends when the node drains, for a handler that goes on after its
// bridged request, which has the context ctx; ctx itself where it is none of a bridged request.
func LiveOf(ctx context.Context) context.Context {
	if b, ok := ctx.Value(bridgedKey{}).(bridged); ok {
		return b.live
	}
	return ctx
}

// await serves the bridge's handler from fasthttp's side: it notices that the client has left,
// hands the connection over, or sends the answer.
func (b *bridge) await(r *Request) error {
	ticker := time.NewTicker(askGone)
	defer ticker.Stop()
	for {
		select {
		case <-b.done:
			return b.settle(r)
		case <-b.asks:
			b.handOver(r)
			return nil
		case <-ticker.C:
			// One who has closed its side before its body was read may have sent all of it.
			if b.body.arrived.Load() && r.Gone() {
				b.cancel(ErrClientGone)
			}
		}
	}
}

// handOver makes fasthttp hand the connection out when its handler has returned. It may fail
// before, and then closes the connection.
func (b *bridge) handOver(r *Request) {
	b.taken.held, r.held = r.held, 0
	b.taken.entry = r.entry
	b.taken.entry.stream(r.HTTP, "sse")
	r.HTTP.SetStatusCode(b.answer.counted())
	r.HTTP.Conn().(*conn).onClose(b.connectionClosed)
	r.HTTP.HijackSetNoResponse(true)
	r.HTTP.Hijack(func(c net.Conn) { b.taken.from <- c })
}

// settle answers when the handler has returned and its answer was not streamed.
func (b *bridge) settle(r *Request) error {
	switch b.fault {
	case nil:
	case errAborted:
		r.HTTP.SetStatusCode(fasthttp.StatusInternalServerError) // for the metrics alone
		r.HTTP.HijackSetNoResponse(true)
		r.HTTP.Hijack(func(c net.Conn) { _ = c.Close() })
		return nil
	case errPanicked: // which is in the log
		writeError(r.HTTP, r.refused(), r.Route.mount.Errors, abi.Errorf(abi.CodeInternalError, "the node failed to answer this request"))
		return nil
	}
	if b.answer.refused != nil {
		return b.answer.refused
	}
	if err := b.body.refused; err != nil && b.answer.status >= fasthttp.StatusBadRequest {
		return err // the handler cannot say better why it failed
	}
	b.answer.copyTo(&r.HTTP.Response)
	return nil
}

// run runs the handler and ends its answer.
func (b *bridge) run(h http.Handler, request *http.Request) {
	defer close(b.done)
	defer b.end()
	defer func() {
		if request.MultipartForm != nil {
			_ = request.MultipartForm.RemoveAll()
		}
	}()
	b.serve(h, request)
}

func (b *bridge) serve(h http.Handler, request *http.Request) {
	returned := false
	defer func() {
		if returned {
			return
		}
		b.fault = errAborted
		if p := recover(); p != nil && p != http.ErrAbortHandler {
			b.fault = errPanicked
			b.server.log.Error("request panicked", slog.String("request_id", b.id),
				slog.String("operation", b.operation), slog.Any("panic", p), slog.String("stack", string(debug.Stack())))
		}
	}()
	h.ServeHTTP(&b.answer, request)
	returned = true
}

// end ends what the handler has left, on its goroutine.
func (b *bridge) end() {
	b.body.stop()
	b.answer.finish()
	b.cancel(nil)
	if b.taken.ended.Store(true); b.taken.users.Load() == 0 {
		return
	}
	if b.answer.hijacked && (b.fault != nil || b.server.live.Err() != nil) {
		_ = b.conn.Close() // nobody is left to do it, or to hear of the drain
	}
	b.release()
}

// take takes the connection over from fasthttp, when it counts as a stream.
func (b *bridge) take() (net.Conn, error) {
	b.taken.users.Store(2)
	b.body.stop()
	close(b.asks)
	select {
	case c := <-b.taken.from:
		return c, nil
	case <-b.taken.lost:
		b.cancel(ErrClientGone)
		return nil, ErrClientGone
	}
}

// stream makes a connection that was taken over one that only the answer uses.
func (b *bridge) stream(c *conn) {
	below := c.Conn
	b.forget(context.AfterFunc(b.server.ctx, func() { _ = below.Close() })) // ends a write that is stuck
	go func() {
		defer close(b.taken.watched)
		discard(below)
		b.cancel(ErrClientGone)
	}()
	b.conn.begin(c)
}

// closeStream closes a stream's connection, and returns when nothing reads it any more.
func (b *bridge) closeStream() {
	b.conn.linger = !b.body.arrived.Load()
	_ = b.conn.Close()
	<-b.taken.watched
}

// lend makes a connection that was taken over the handler's. It outlives the handler, and
// neither a drain nor the server's end.
func (b *bridge) lend(c *conn) {
	s := b.server
	b.forget(context.AfterFunc(s.live, func() {
		if b.cancel(ErrDraining); b.taken.ended.Load() {
			_ = c.Close()
		}
	}))
	b.forget(context.AfterFunc(s.ctx, func() { _ = c.Close() }))
	b.conn.begin(c)
}

// heedDrain ends the handler's context when the server drains, as that of a stream.
func (b *bridge) heedDrain() {
	b.forget(context.AfterFunc(b.server.live, func() { b.cancel(ErrDraining) }))
}

// forget has something stopped that waits for the server's end, when it would be too late.
func (b *bridge) forget(stop func() bool) { b.taken.stops = append(b.taken.stops, stop) }

// connectionClosed hears of the end of a connection that was taken over.
func (b *bridge) connectionClosed() {
	close(b.taken.lost)
	b.release()
}

// release gives back what a stream holds when both the handler and the connection have ended.
func (b *bridge) release() {
	if b.taken.users.Add(-1) > 0 {
		return
	}
	for _, stop := range b.taken.stops {
		stop()
	}
	if b.taken.held > 0 {
		b.server.inFlight.giveFor(b.whose, b.taken.held)
	}
	b.taken.entry.end()
	b.server.streams.end()
}
