package gateway

import (
	"slices"
	"strings"

	"github.com/valyala/fasthttp"
)

// sharedHeaders are those of answers that pages of other origins may read, beside the few that browsers show always.
const sharedHeaders = "Content-Disposition, Content-Range, ETag, Location, Retry-After, WWW-Authenticate, X-Request-Id"

// shared lets pages of the origins in the configuration read answers (CORS, as the Fetch standard has it). What they may do
// is what their key may: no browser adds one by itself, so that a page of a stranger gains nothing here.
func (s *Server) shared(handle fasthttp.RequestHandler) fasthttp.RequestHandler {
	if len(s.cfg.CORSOrigins) == 0 {
		return handle
	}
	return func(ctx *fasthttp.RequestCtx) {
		origin, ok := s.sharesWith(ctx)
		header := &ctx.Response.Header // set first: a stream takes what is there when it begins
		header.Add("Vary", "Origin")
		if ok {
			header.Set("Access-Control-Allow-Origin", origin)
			header.Set("Access-Control-Expose-Headers", sharedHeaders)
		}
		if ok && ctx.IsOptions() && len(ctx.Request.Header.Peek("Access-Control-Request-Method")) > 0 {
			permit(ctx)
			s.options(ctx)
			return
		}
		handle(ctx)
	}
}

// sharesWith returns the origin of the page that asks, if it may read what it is answered.
func (s *Server) sharesWith(ctx *fasthttp.RequestCtx) (origin string, ok bool) {
	sent := ctx.Request.Header.PeekAll("Origin")
	if len(sent) != 1 {
		return "", false
	}
	origin = string(sent[0])
	return origin, slices.ContainsFunc(s.cfg.CORSOrigins, func(o string) bool { return o == "*" || strings.EqualFold(o, origin) })
}

// permit answers a browser that asks what a page may send: anything, for the route decides.
func permit(ctx *fasthttp.RequestCtx) {
	header := &ctx.Response.Header
	header.Set("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE")
	if asked := ctx.Request.Header.Peek("Access-Control-Request-Headers"); len(asked) > 0 {
		header.SetBytesV("Access-Control-Allow-Headers", asked)
	}
	header.Set("Access-Control-Max-Age", "600")
}
