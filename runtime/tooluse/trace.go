package tooluse

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// The lengths of ids in W3C Trace Context, in bytes.
const (
	traceLen = 16
	spanLen  = 8
)

// TraceID returns the id of a Task's trace, as W3C Trace Context spells it.
func TraceID(task string) string { return hashed("trace "+task, traceLen) }

// SpanID returns the id of the span that a host call of a Task is: all events of one call have it.
func SpanID(task string, index int) string {
	return hashed("span "+task+" "+strconv.Itoa(index), spanLen)
}

func hashed(text string, n int) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:n])
}
