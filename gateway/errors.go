package gateway

import (
	"errors"
	"log/slog"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
)

// fail answers with err. What is no *abi.Error, or is one of the node's own faults, is
// logged with the request_id. Of the first the client learns nothing but that, or what
// is stored and cannot be read.
func (s *Server) fail(r *Request, err error) {
	shown, ok := errors.AsType[*abi.Error](err)
	if !ok || shown.Code == abi.CodeInternalError {
		s.log.Error("request failed", slog.String("request_id", r.ID),
			slog.String("method", string(r.HTTP.Method())), slog.Any("error", err))
	}
	if !ok {
		shown = internalError(err, "the node failed to answer this request")
	}
	r.refusal = shown
	writeError(r.HTTP, r.refused(), r.Route.mount.Errors, shown)
}

// internalError is what a client is told of an error that is not an *abi.Error.
func internalError(err error, otherwise string) *abi.Error {
	if unreadable, ok := errors.AsType[*desk.UnreadableError](err); ok {
		return unreadable.Shown()
	}
	return abi.Errorf(abi.CodeInternalError, "%s", otherwise)
}

// refused describes the request to what puts its error into words.
func (r *Request) refused() Refused { return Refused{r.ID, r.Route.Operation, r.Call} }

func writeError(ctx *fasthttp.RequestCtx, r Refused, shape ErrorShape, shown *abi.Error) {
	answer := shape(r, shown)
	ctx.Response.ResetBody()
	ctx.SetStatusCode(answer.Status)
	ctx.SetContentType(answer.Media)
	setErrorHeaders(ctx, answer.Status, shown.RetryAfter)
	ctx.Response.SetBodyRaw(answer.Body)
}

func setErrorHeaders(ctx *fasthttp.RequestCtx, status, retryAfter int) {
	switch status {
	case fasthttp.StatusUnauthorized:
		if len(ctx.Response.Header.Peek(fasthttp.HeaderWWWAuthenticate)) == 0 {
			ctx.Response.Header.Set(fasthttp.HeaderWWWAuthenticate, bearerChallenge)
		}
	case fasthttp.StatusTooManyRequests, fasthttp.StatusServiceUnavailable:
		retryAfter = max(retryAfter, 1)
	}
	if retryAfter > 0 {
		ctx.Response.Header.Set("Retry-After", strconv.Itoa(retryAfter))
	}
}

// EncodeError returns the error envelope with the given request_id. shown, which
// may be shared, is left as it is.
func EncodeError(id string, shown *abi.Error) []byte {
	sent := *shown
	sent.RequestID = id
	body, err := json.Marshal(abi.ErrorEnvelope{Error: &sent}, json.Deterministic(true))
	if err != nil {
		sent.Details, sent.Param, sent.Message = nil, "", "the error could not be put into words"
		body, _ = json.Marshal(abi.ErrorEnvelope{Error: &sent})
	}
	return body
}

// brokenRequest answers what fasthttp could not read as a request.
func (s *Server) brokenRequest(ctx *fasthttp.RequestCtx, err error) {
	id := s.newRequestID()
	ctx.Response.Header.Set("X-Request-Id", id)
	s.metrics.broken.Inc()
	writeError(ctx, Refused{ID: id}, s.owner(sentPath(ctx)).Errors, brokenError(err))
	s.tellUnrouted(ctx, id)
}

// sentPath returns the path of a request as it was sent, as far as that is known: of one
// whose headers could not be read there is what the connection has kept of it.
func sentPath(ctx *fasthttp.RequestCtx) string {
	if path := ctx.Request.Header.RequestURI(); len(path) > 1 {
		return string(path)
	}
	if c, ok := ctx.Conn().(*conn); ok {
		return c.target()
	}
	return "/"
}

// brokenError never repeats fasthttp's text: it can hold the request's headers.
func brokenError(err error) *abi.Error {
	answer := abi.Errorf(abi.CodeInvalidRequest, "the request is not well-formed HTTP")
	if _, ok := errors.AsType[*fasthttp.ErrSmallBuffer](err); ok {
		answer = abi.Errorf(abi.CodeInvalidRequest, "the request line and headers are too large")
		answer.Status = fasthttp.StatusRequestHeaderFieldsTooLarge
	}
	if errors.Is(err, fasthttp.ErrBodyTooLarge) {
		answer = abi.Errorf(abi.CodePayloadTooLarge, "the request's body is too large")
	}
	if errors.Is(err, errFraming) {
		return errFraming
	}
	if timedOut(err) {
		answer, _ = errors.AsType[*abi.Error](errSlow())
	}
	return answer
}

func (s *Server) notFound(ctx *fasthttp.RequestCtx) {
	s.refuse(ctx, abi.Errorf(abi.CodeResourceNotFound, "there is nothing at this path"))
}

// methodNotAllowed runs after the router has set Allow.
func (s *Server) methodNotAllowed(ctx *fasthttp.RequestCtx) {
	err := abi.Errorf(abi.CodeInvalidRequest, "this path does not take the method %q", ctx.Method())
	err.Status = fasthttp.StatusMethodNotAllowed
	s.refuse(ctx, err)
}

// options runs after the router has set Allow.
func (s *Server) options(ctx *fasthttp.RequestCtx) {
	id := s.newRequestID()
	ctx.Response.Header.Set("X-Request-Id", id)
	ctx.SetStatusCode(fasthttp.StatusNoContent)
	giveUp(ctx)
	s.tellUnrouted(ctx, id)
}

// refuse answers where there is no route.
func (s *Server) refuse(ctx *fasthttp.RequestCtx, err *abi.Error) {
	id := s.newRequestID()
	ctx.Response.Header.Set("X-Request-Id", id)
	writeError(ctx, Refused{ID: id}, s.owner(sentPath(ctx)).Errors, err)
	giveUp(ctx)
	s.metrics.unrouted.Inc()
	s.tellUnrouted(ctx, id)
}
