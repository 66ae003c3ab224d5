package harn

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
)

const (
	statusPartial       = fasthttp.StatusPartialContent
	statusNotModified   = fasthttp.StatusNotModified
	statusUnsatisfiable = fasthttp.StatusRequestedRangeNotSatisfiable
)

// byteRange is part of a content, in bytes.
type byteRange struct{ start, length int64 }

func (b byteRange) contentRange(size int64) string {
	return fmt.Sprintf("bytes %d-%d/%d", b.start, b.start+b.length-1, size)
}

// wantedRange returns the one range that the request asks for. A Range header
// that is malformed, asks for several ranges, or is guarded by another ETag is
// ignored, as RFC 9110 section 14.2 allows.
func wantedRange(r *gateway.Request, etag string, size int64) (part byteRange, partial bool, err error) {
	whole := byteRange{0, size}
	header := r.Header("Range")
	if guard := r.Header("If-Range"); guard != "" && guard != etag {
		header = ""
	}
	part, ok := parseRange(header, size)
	if !ok {
		return whole, false, nil
	}
	if part.length == 0 {
		shown := abi.InvalidParam("Range", "the content has only %d bytes", size)
		shown.Status = statusUnsatisfiable
		return whole, false, shown
	}
	return part, true, nil
}

// parseRange reads a single bytes range. ok is false for what should be ignored;
// a length of 0 is a range that lies outside.
func parseRange(header string, size int64) (part byteRange, ok bool) {
	spec, ok := strings.CutPrefix(header, "bytes=")
	if !ok || strings.Contains(spec, ",") {
		return byteRange{}, false
	}
	first, last, ok := strings.Cut(strings.TrimSpace(spec), "-")
	if !ok {
		return byteRange{}, false
	}
	if first == "" {
		return suffixRange(last, size)
	}
	start, err := parseOffset(first)
	if err != nil {
		return byteRange{}, false
	}
	end := size - 1
	if last != "" {
		if end, err = parseOffset(last); err != nil || end < start {
			return byteRange{}, false
		}
	}
	end = min(end, size-1)
	return byteRange{start, max(end-start+1, 0)}, true
}

// suffixRange is the last n bytes.
func suffixRange(last string, size int64) (byteRange, bool) {
	n, err := parseOffset(last)
	if err != nil {
		return byteRange{}, false
	}
	n = min(n, size)
	return byteRange{size - n, n}, true
}

// parseOffset reads digits only: no sign.
func parseOffset(s string) (int64, error) {
	n, err := strconv.ParseUint(s, 10, 63)
	return int64(n), err
}
