package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/valyala/fasthttp"
)

const (
	// probeConnections and probeTime bound those that only ask how the node is.
	probeConnections = 64
	probeTime        = 10 * time.Second
)

// ServeProbes answers /metrics, /healthz and /readyz, and nothing else, to anybody who reaches ln, until the
// server has shut down: then it returns nil. It owns ln.
func (s *Server) ServeProbes(ln net.Listener) error {
	counted := newListener(ln, probeConnections, s.refusal(), s.log)
	if !s.attachProbes(counted) {
		return counted.Close()
	}
	if err := s.probes.Serve(counted); err != nil {
		return fmt.Errorf("serve metrics on %s: %w", ln.Addr(), err)
	}
	return nil
}

// attachProbes has Shutdown close ln, unless the server is down.
func (s *Server) attachProbes(ln *listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		return false
	}
	s.probing = ln
	return true
}

// endProbes ends what ServeProbes does.
func (s *Server) endProbes(ctx context.Context) error {
	s.mu.Lock()
	ln := s.probing
	s.mu.Unlock()
	if ln == nil {
		return nil
	}
	err := ln.Close() // which is how fasthttp learns of the end that has not seen the listener yet
	return errors.Join(err, s.probes.ShutdownWithContext(ctx))
}

func (s *Server) newProbes() *fasthttp.Server {
	return &fasthttp.Server{
		Handler: s.probe, Name: "wharf", Concurrency: probeConnections + 1, // the listener's limit comes first
		ReadBufferSize: s.cfg.HeaderLimit,
		ReadTimeout:    probeTime, WriteTimeout: probeTime, IdleTimeout: s.cfg.IdleTimeout, MaxRequestBodySize: prefetched,
		CloseOnShutdown: true, SecureErrorLogMessage: true, Logger: httpLog{s.log},
	}
}

func (s *Server) probe(ctx *fasthttp.RequestCtx) {
	if !ctx.IsGet() && !ctx.IsHead() {
		ctx.Error("this listener answers GET alone\n", fasthttp.StatusMethodNotAllowed)
		ctx.Response.Header.Set("Allow", "GET, HEAD")
		return
	}
	var err error
	switch string(ctx.Path()) {
	case "/metrics":
		err = s.showMetrics(ctx)
	case "/healthz":
		ctx.SetContentType(MediaJSON)
		ctx.SetBodyString(alive)
	case "/readyz":
		var body []byte
		var code int
		if code, body, err = s.readiness(); err == nil {
			ctx.SetStatusCode(code)
			ctx.SetContentType(MediaJSON)
			ctx.SetBody(body)
		}
	default:
		ctx.Error("this listener has /metrics, /healthz and /readyz alone\n", fasthttp.StatusNotFound)
	}
	if err != nil {
		s.log.Error("request failed", slog.String("path", string(ctx.Path())), slog.Any("error", err))
		ctx.Error("the node failed to answer this request\n", fasthttp.StatusInternalServerError)
	}
}
