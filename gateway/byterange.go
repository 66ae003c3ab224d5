package gateway

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/abi"
)

// ByteRange is part of a content, in bytes.
type ByteRange struct{ Start, Length int64 }

// WantedRange returns the one range that the request asks for, of a content of a size: all of it where it asks for
// none. A Range header that is malformed, asks for several ranges, or is guarded by another ETag is
// ignored, as RFC 9110 section 14.2 allows. The error says that the content has no such part; the answer's header
// says then how long it is.
func (r *Request) WantedRange(etag string, size int64) (part ByteRange, partial bool, err error) {
	header := r.Header("Range")
	if guard := r.Header("If-Range"); guard != "" && guard != etag {
		header = ""
	}
	part, partial = parseRange(header, size)
	switch {
	case !partial:
		return ByteRange{0, size}, false, nil
	case part.Length == 0:
		r.SetHeader("Content-Range", "bytes */"+strconv.FormatInt(size, 10))
		outside := abi.InvalidParam("Range", "the content has only %d bytes", size)
		outside.Status = fasthttp.StatusRequestedRangeNotSatisfiable
		return ByteRange{}, false, outside
	}
	return part, true, nil
}

// Partial says that a request is answered with part of a content of a size.
func (r *Request) Partial(part ByteRange, size int64) {
	r.HTTP.SetStatusCode(fasthttp.StatusPartialContent)
	r.SetHeader("Content-Range", fmt.Sprintf("bytes %d-%d/%d", part.Start, part.Start+part.Length-1, size))
}

// parseRange reads a single bytes range. ok is false for what should be ignored;
// a length of 0 is a range that lies outside.
func parseRange(header string, size int64) (part ByteRange, ok bool) {
	spec, ok := strings.CutPrefix(header, "bytes=")
	if !ok || strings.Contains(spec, ",") {
		return ByteRange{}, false
	}
	first, last, ok := strings.Cut(strings.TrimSpace(spec), "-")
	if !ok {
		return ByteRange{}, false
	}
	if first == "" {
		return suffixRange(last, size)
	}
	start, err := parseOffset(first)
	if err != nil {
		return ByteRange{}, false
	}
	end := size - 1
	if last != "" {
		if end, err = parseOffset(last); err != nil || end < start {
			return ByteRange{}, false
		}
	}
	end = min(end, size-1)
	return ByteRange{start, max(end-start+1, 0)}, true
}

// suffixRange is the last n bytes.
func suffixRange(last string, size int64) (ByteRange, bool) {
	n, err := parseOffset(last)
	if err != nil {
		return ByteRange{}, false
	}
	n = min(n, size)
	return ByteRange{size - n, n}, true
}

// parseOffset reads digits only: no sign.
func parseOffset(s string) (int64, error) {
	n, err := strconv.ParseUint(s, 10, 63)
	return int64(n), err
}
