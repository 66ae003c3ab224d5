package gateway

import (
	"bytes"

	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/abi"
)

// framed refuses requests of which a proxy in front of the node and the node itself could
// each find another end (RFC 9112, sections 5.2, 6.1 and 11.2), and closes the connection:
// what follows on it may be part of the body, or another client's request.
func (s *Server) framed(handle fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		if clearlyFramed(ctx.Request.Header.RawHeaders()) {
			handle(ctx)
			return
		}
		s.brokenRequest(ctx, errFraming)
		ctx.Response.SetConnectionClose()
		if c, ok := ctx.Conn().(*conn); ok {
			c.linger = true
		}
	}
}

var errFraming = abi.Errorf(abi.CodeInvalidRequest, "the request's length must be said by Content-Length or by "+
	`"Transfer-Encoding: chunked", and not by both; no header may go on in a further line`)

// clearlyFramed reports whether the headers, as they were sent, say in one way alone how
// long the body is.
func clearlyFramed(headers []byte) bool {
	length, coding := false, false
	for len(headers) > 0 {
		line := headers
		if end := bytes.IndexByte(headers, '\n'); end >= 0 {
			line, headers = headers[:end], headers[end+1:]
		} else {
			headers = nil
		}
		if len(line) == 0 {
			continue
		}
		switch line[0] {
		case ' ', '\t':
			return false
		case 'c', 'C':
			_, is := named(line, "content-length")
			length = length || is
		case 't', 'T':
			value, is := named(line, "transfer-encoding")
			if is && !isChunked(value) {
				return false
			}
			coding = coding || is
		}
	}
	return !length || !coding
}

// named returns the value of a header line if it is that header's. Name is in lower case.
func named(line []byte, name string) (value []byte, ok bool) {
	if len(line) <= len(name) || line[len(name)] != ':' || !equalFold(line[:len(name)], name) {
		return nil, false
	}
	return bytes.TrimSpace(line[len(name)+1:]), true
}

func isChunked(value []byte) bool { return len(value) == len("chunked") && equalFold(value, "chunked") }
