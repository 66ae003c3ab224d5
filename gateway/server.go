package gateway

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"net"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fasthttp/router"
	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/intake"
	"github.com/wharf-dev/wharf/runtime/outbox"
)

// Core is what the gateway itself asks of the engine.
type Core interface {
	// Authenticate returns who an API key or an access token speaks for, or an *abi.Error.
	Authenticate(ctx context.Context, credential string) (*desk.Caller, error)
	Stats() engine.Stats
	DeliveryStats() intake.Deliveries
	WebhookStats() outbox.Stats
}

// Server is the front door. All methods are safe for concurrent use.
type Server struct {
	cfg     Config
	core    Core
	log     *slog.Logger
	http    *fasthttp.Server
	probes  *fasthttp.Server
	metrics *metrics

	// What is mounted is set by New, and not changed afterwards.
	mounts []*mounted
	owners map[string]*mounted // by prefix
	root   *mounted
	routes []Route

	ids      *abi.IDs
	inFlight shared

	mu       sync.Mutex
	listener *listener // set by Serve
	probing  *listener // set by ServeProbes
	down     bool      // set by Shutdown

	// ctx ends when running requests are given up, live when streams must end.
	ctx     context.Context
	giveUp  context.CancelFunc
	live    context.Context
	drain   context.CancelFunc
	streams streams
	sockets sockets
	unread  unread

	refusals refusals
}

// New returns a server for the given adapters. It panics about mistakes in the program, such as
// two routes that share method and path.
func New(cfg Config, core Core, logger *slog.Logger, adapters ...Adapter) *Server {
	s := &Server{cfg: cfg.WithDefaults(), core: core, log: logger, ids: newIDs(), owners: map[string]*mounted{}, refusals: refusals{log: logger}}
	s.inFlight.split(s.cfg.InFlightBytes, s.cfg.BodyLimit, s.cfg.DeliveryLimit)
	s.streams.limit = int64(s.cfg.Streams)
	s.sockets.init()
	s.unread.limit = s.cfg.InFlightBytes / unreadPart
	s.ctx, s.giveUp = context.WithCancel(context.Background())
	s.live, s.drain = context.WithCancel(s.ctx)
	s.mount(adapters)
	s.metrics = newMetrics(s)
	s.http, s.probes = s.newHTTP(), s.newProbes()
	return s
}

// newIDs returns a source of request ids. They need to be unique, not secret.
func newIDs() *abi.IDs {
	var seed [32]byte
	_, _ = rand.Read(seed[:])
	return abi.NewIDs(time.Now, mathrand.NewChaCha8(seed))
}

func (s *Server) newRequestID() string { return "req_" + s.ids.New("") }

// Routes returns the table of everything that the server answers. Do not change it.
func (s *Server) Routes() []Route { return s.routes }

// OpenAPI returns the document of the protocol that has the prefix "/", which describes the
// node's own routes too; nil when that protocol has none. Do not change it.
func (s *Server) OpenAPI() []byte { return s.root.openAPI }

func (s *Server) newHTTP() *fasthttp.Server {
	return &fasthttp.Server{
		Handler:         s.framed(s.shared(s.router().Handler)),
		ErrorHandler:    s.brokenRequest,
		Name:            "wharf",
		Concurrency:     s.cfg.Connections + 1, // the listener's limit comes first
		ReadBufferSize:  s.cfg.HeaderLimit,
		WriteBufferSize: 4096,
		ReadTimeout:     s.cfg.ReadTimeout,
		WriteTimeout:    s.cfg.WriteTimeout,
		IdleTimeout:     s.cfg.IdleTimeout,
		// Bodies are read by the handlers, so that a request is refused before
		// its body costs memory, and uploads never do.
		StreamRequestBody:            true,
		MaxRequestBodySize:           prefetched,
		DisablePreParseMultipartForm: true,
		CloseOnShutdown:              true,
		SecureErrorLogMessage:        true,
		Logger:                       httpLog{s.log},
		// Sockets outlive the handler that took the connection over.
		KeepHijackedConns: true,
	}
}

func (s *Server) router() *router.Router {
	r := router.New()
	// A path is data: none is corrected, none redirected.
	r.RedirectTrailingSlash = false
	r.RedirectFixedPath = false
	r.NotFound = s.notFound
	r.MethodNotAllowed = s.methodNotAllowed
	r.GlobalOPTIONS = s.options
	for i := range s.routes {
		rt := &s.routes[i]
		handler := s.handler(rt)
		for _, path := range rt.mount.paths(rt) {
			for _, method := range rt.methods() {
				r.Handle(method, path, handler)
			}
		}
	}
	return r
}

// handler wraps a route's handler in what every request passes.
func (s *Server) handler(rt *Route) fasthttp.RequestHandler {
	meter := s.metrics.route(rt)
	return func(ctx *fasthttp.RequestCtx) {
		r := &Request{HTTP: ctx, Route: rt, ID: s.newRequestID(), server: s}
		ctx.Response.Header.Set("X-Request-Id", r.ID)
		start := time.Now()
		r.entry = s.begin(start)
		defer func() {
			if p := recover(); p != nil {
				s.panicked(r, p)
			}
			s.finish(r)
			meter.observe(ctx.Response.StatusCode(), time.Since(start))
			s.note(r)
			r.entry.answered(r)
		}()
		if err := s.serve(r); err != nil {
			s.fail(r, err)
		}
	}
}

func (s *Server) serve(r *Request) error {
	if err := s.admit(r); err != nil {
		return err
	}
	return r.Route.Handle(r)
}

// admit asks the protocol's guard, authenticates, then checks the version, then the scope: a stranger
// learns nothing but that a key is needed.
func (s *Server) admit(r *Request) error {
	if guard := r.Route.mount.Guard; guard != nil {
		if err := guard(r); err != nil {
			return err
		}
	}
	if r.Route.Public {
		return nil
	}
	if err := s.authenticate(r); err != nil {
		return err
	}
	if r.Route.versioned() {
		if err := r.Route.mount.Version.Check(r); err != nil {
			return err
		}
	}
	return r.Require(r.Route.Scope)
}

// Require returns permission_denied unless the caller has the scope; "" is none.
func (r *Request) Require(scope string) error {
	err := Require(r.Caller, scope)
	if err != nil {
		r.challenge("insufficient_scope", "", scope)
	}
	return err
}

// Require returns permission_denied unless a caller has the scope; "" is none.
func Require(c *desk.Caller, scope string) error {
	if scope == "" || c.Can(scope) {
		return nil
	}
	if scope == abi.ScopeNode || scope == abi.ScopeMetrics {
		return abi.Errorf(abi.CodePermissionDenied, "these credentials lack the scope %s, which none have that are bound to workspaces", scope)
	}
	return abi.Errorf(abi.CodePermissionDenied, "these credentials lack the scope %s", scope)
}

func (s *Server) authenticate(r *Request) (err error) {
	key, ok := r.credential()
	if !ok {
		r.challenge("", "", "")
		return abi.Errorf(abi.CodeUnauthenticated, "an API key or an access token is needed: Authorization: Bearer <key>")
	}
	r.Caller, err = s.core.Authenticate(s.ctx, key)
	if refused, is := errors.AsType[*abi.Error](err); is && refused.Code == abi.CodeUnauthenticated {
		r.challenge("invalid_token", refused.Message, "")
	}
	if err != nil {
		return err
	}
	r.Caller, err = r.client()
	return err
}

// ClientHeader names the live client of a Session that a request comes from.
const ClientHeader = "Wharf-Client-Id"

// client returns the caller with the live client that the request names.
func (r *Request) client() (*desk.Caller, error) {
	named := r.HTTP.Request.Header.PeekAll(ClientHeader)
	if len(named) == 0 {
		return r.Caller, nil
	}
	if len(named) > 1 {
		return nil, abi.InvalidParam(ClientHeader, "%s must be given once", ClientHeader)
	}
	id := string(named[0])
	if err := desk.CheckClientID(ClientHeader, id); err != nil {
		return nil, err
	}
	return r.Caller.As(id), nil
}

// bearer returns the token of an Authorization header. The scheme's case does
// not matter (RFC 9110, section 11.1).
func bearer(header []byte) (token string, ok bool) {
	const scheme = "bearer "
	if len(header) <= len(scheme) || !equalFold(header[:len(scheme)], scheme) {
		return "", false
	}
	return string(header[len(scheme):]), true
}

func equalFold(b []byte, lower string) bool {
	for i := range lower {
		if b[i] != lower[i] && b[i]|0x20 != lower[i] {
			return false
		}
	}
	return true
}

func (s *Server) panicked(r *Request, p any) {
	s.log.Error("request panicked", slog.String("request_id", r.ID),
		slog.String("operation", r.operation()), slog.Any("panic", p), slog.String("stack", string(debug.Stack())))
	writeError(r.HTTP, r.refused(), r.Route.mount.Errors, abi.Errorf(abi.CodeInternalError, "the node failed to answer this request"))
}

// finish gives back what the request held.
func (s *Server) finish(r *Request) {
	if r.held > 0 {
		s.inFlight.giveFor(r.tenant(), r.held)
	}
	r.unplace()
	for _, form := range r.spooled {
		form.close()
	}
	if r.done = true; r.hand != nil {
		r.hand.End()
	}
	if !r.HTTP.Hijacked() && !r.settled() {
		giveUp(r.HTTP)
	}
}

// giveUp closes the connection after the answer, for part of a request may still
// be on it.
func giveUp(ctx *fasthttp.RequestCtx) {
	length := ctx.Request.Header.ContentLength()
	if ctx.RequestBodyStream() == nil || length >= 0 && length <= prefetched {
		return
	}
	ctx.Response.SetConnectionClose()
	if c, ok := ctx.Conn().(*conn); ok {
		c.linger = true
	}
}

// Serve accepts connections until Shutdown and then returns nil, also when that
// came first. It is called once. It owns ln.
func (s *Server) Serve(ln net.Listener) error {
	if s.cfg.TLS != nil {
		ln = s.cfg.TLS.Listener(ln)
	}
	counted := newListener(ln, s.cfg.Connections, s.refusal(), s.log)
	if !s.attach(counted) {
		return counted.Close()
	}
	if err := s.http.Serve(counted); err != nil {
		return fmt.Errorf("serve on %s: %w", ln.Addr(), err)
	}
	return nil
}

// attach makes l the server's listener, unless the server is down.
func (s *Server) attach(l *listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		return false
	}
	s.listener = l
	return true
}

// detach keeps Serve from beginning, and closes the listener if it has begun:
// fasthttp forgets a shutdown that comes before it has seen the listener.
func (s *Server) detach() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = true
	if s.listener == nil {
		return nil
	}
	return s.listener.Close()
}

// connections returns how many are open.
func (s *Server) connections() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listener == nil {
		return 0
	}
	return s.listener.open.Load()
}

// refusal is the whole answer to a connection beyond the limit.
func (s *Server) refusal() []byte {
	// Nothing was read, so nobody knows whose path it would have been.
	body := EncodeError(s.newRequestID(), abi.Errorf(abi.CodeServiceUnavailable, "the node has as many connections as it takes"))
	return fmt.Appendf(nil, "HTTP/1.1 503 Service Unavailable\r\nContent-Type: %s\r\nContent-Length: %d\r\n"+
		"Retry-After: 1\r\nConnection: close\r\n\r\n%s", MediaJSON, len(body), body)
}

// Drain makes /readyz answer 503 and ends the streams, and leaves everything
// else as it is. It may be called more than once.
func (s *Server) Drain() { s.drain() }

// Draining reports whether the server is on its way out.
func (s *Server) Draining() bool { return s.live.Err() != nil || s.core.Stats().Draining }

// Shutdown drains: no new connections, the streams are ended, requests in flight
// finish. When ctx ends first, what still runs is given up and ctx's error is
// returned.
func (s *Server) Shutdown(ctx context.Context) error {
	s.Drain()
	defer s.giveUp()
	defer s.refusals.tell()
	err := s.detach()
	err = errors.Join(err, s.http.ShutdownWithContext(ctx), s.streams.wait(ctx))
	return errors.Join(err, s.endProbes(ctx)) // the last to go, so that it is seen what the node waits for
}

// httpLog puts what fasthttp logs, which is about broken connections, at debug.
type httpLog struct{ log *slog.Logger }

func (l httpLog) Printf(format string, args ...any) { l.log.Debug(fmt.Sprintf(format, args...)) }

// streams counts running streams.
type streams struct {
	limit   int64
	open    atomic.Int64
	running sync.WaitGroup
}

// start reserves a place, or reports that there is none.
func (st *streams) start() bool {
	if st.open.Add(1) > st.limit {
		st.open.Add(-1)
		return false
	}
	st.running.Add(1)
	return true
}

// count takes a place, also beyond the limit, for what must not be refused any more.
func (st *streams) count() {
	st.open.Add(1)
	st.running.Add(1)
}

func (st *streams) end() {
	st.open.Add(-1)
	st.running.Done()
}

// wait blocks until every stream has ended or ctx does.
func (st *streams) wait(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		st.running.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
