package gateway

import (
	"strings"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/gateway/accesslog"
)

// entry is a request's line of the access log while what it tells of goes on: the handler, and the
// stream that it may have begun. It is nil where there is no such log.
type entry struct {
	log     *accesslog.Log
	line    accesslog.Line
	goingOn atomic.Int32

	conn    *conn // of a stream
	in, out int64 // what the connection had carried before
}

// begin begins a request's line.
func (s *Server) begin(began time.Time) *entry {
	if s.cfg.AccessLog == nil {
		return nil
	}
	e := &entry{log: s.cfg.AccessLog, line: accesslog.Line{Time: began, Protocol: "http"}}
	e.goingOn.Store(1)
	return e
}

// stream has the line wait for the end of a stream. It is called by the handler.
func (e *entry) stream(ctx *fasthttp.RequestCtx, protocol string) {
	if e == nil {
		return
	}
	e.goingOn.Add(1)
	e.line.Protocol = protocol
	if e.conn, _ = ctx.Conn().(*conn); e.conn != nil {
		e.in, e.out = e.conn.carriedIn.Load(), e.conn.carriedOut.Load()
	}
}

// answered fills in what is known when the handler has returned.
func (e *entry) answered(r *Request) {
	if e == nil {
		return
	}
	l, request := &e.line, &r.HTTP.Request
	l.RequestID, l.Client, l.Method = r.ID, clientOf(r.HTTP), string(request.Header.Method())
	l.Operation, l.Template, l.Path = r.operation(), r.Route.Path, r.loggedPath()
	l.Agent = string(request.Header.UserAgent())
	if c := r.Caller; c != nil {
		l.Actor, l.Key, l.Tenant = c.Actor, c.KeyID, c.TenantID
	}
	if name := r.Route.mount.Name; name == "mcp" || name == "a2a" || name == "acp" {
		l.Protocol = name
	}
	l.Status, l.In, l.Out = r.HTTP.Response.StatusCode(), max(0, int64(request.Header.ContentLength())), answerSize(r.HTTP)
	if e.goingOn.Load() > 1 && r.IsUpgrade() {
		l.Status = fasthttp.StatusSwitchingProtocols
	}
	e.end()
}

// end ends the handler's part of the line, or the stream's: the last one tells it.
func (e *entry) end() {
	if e == nil || e.goingOn.Add(-1) > 0 {
		return
	}
	if c := e.conn; c != nil {
		e.line.In, e.line.Out = e.line.In+c.carriedIn.Load()-e.in, c.carriedOut.Load()-e.out
	}
	e.line.Duration = time.Since(e.line.Time)
	e.log.Tell(&e.line)
}

// answerSize returns the bytes of an answer's body that fasthttp sends; 0 where only the end will tell.
func answerSize(ctx *fasthttp.RequestCtx) int64 {
	switch {
	case ctx.Hijacked() || ctx.IsHead():
		return 0
	case ctx.Response.IsBodyStream():
		return max(0, int64(ctx.Response.Header.ContentLength()))
	}
	return int64(len(ctx.Response.Body()))
}

// tellUnrouted logs a request that no route has answered.
func (s *Server) tellUnrouted(ctx *fasthttp.RequestCtx, id string) {
	if s.cfg.AccessLog == nil {
		return
	}
	path, _, _ := strings.Cut(sentPath(ctx), "?")
	s.cfg.AccessLog.Tell(&accesslog.Line{
		Time: time.Now(), RequestID: id, Client: clientOf(ctx), Method: string(ctx.Request.Header.Method()), Path: s.maskedPath(path), Status: ctx.Response.StatusCode(),
		In: max(0, int64(ctx.Request.Header.ContentLength())), Out: answerSize(ctx), Protocol: "http", Agent: string(ctx.Request.Header.UserAgent()),
	})
}

// clientOf returns the address that a request came from, as the node sees it.
func clientOf(ctx *fasthttp.RequestCtx) string { return ctx.RemoteIP().String() }

// secretParam is the parameter of a path that opens it, and is logged nowhere.
const secretParam = "{token}"

// loggedPath returns the path as it was sent, without its query and without what opens it.
func (r *Request) loggedPath() string {
	path := string(r.HTTP.URI().PathOriginal())
	if strings.Contains(r.Route.Path, secretParam) {
		return r.server.maskedPath(path)
	}
	return path
}

// maskedPath leaves out of a path what may open it, however it is spelled.
func (s *Server) maskedPath(path string) string {
	plain := unescape(path)
	for i := range s.routes {
		before, _, secret := strings.Cut(s.routes[i].Path, secretParam)
		if secret && strings.HasPrefix(plain, before) {
			return before + secretParam
		}
	}
	return path
}
