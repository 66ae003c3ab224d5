package load

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
)

// keyHeader names the header that makes a write safe to retry.
const keyHeader = "Idempotency-Key"

// keyLen is the length of the keys that [Request.Refresh] makes.
const keyLen = 32

// Request is a prebuilt HTTP/1.1 request. It belongs to one connection.
type Request struct {
	raw []byte
	key []byte // where in raw the idempotency key is, nil if it has none

	refreshed func(key []byte)
}

// Header is one header field of a request.
type Header struct{ Name, Value string }

// NewRequest builds a request. With keyed set it carries an Idempotency-Key,
// which [Request.Refresh] changes.
func NewRequest(method, host, path string, headers []Header, keyed bool, body []byte) *Request {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", method, path, host)
	for _, h := range headers {
		fmt.Fprintf(&b, "%s: %s\r\n", h.Name, h.Value)
	}
	keyAt := -1
	if keyed {
		b.WriteString(keyHeader + ": ")
		keyAt = b.Len()
		b.Write(bytes.Repeat([]byte{'0'}, keyLen))
		b.WriteString("\r\n")
	}
	if len(body) > 0 {
		fmt.Fprintf(&b, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	b.WriteString("\r\n")
	b.Write(body)
	r := &Request{raw: b.Bytes()}
	if keyAt >= 0 {
		r.key = r.raw[keyAt : keyAt+keyLen]
	}
	return r
}

// Slot returns the place of a text in the request, to be overwritten with one as long.
// The text has to be there.
func (r *Request) Slot(text string) []byte {
	at := bytes.Index(r.raw, []byte(text))
	return r.raw[at : at+len(text)]
}

// OnRefresh has f called with each new key, to change what depends on it.
func (r *Request) OnRefresh(f func(key []byte)) { r.refreshed = f }

// Bytes returns the request as it goes over the wire, valid until the next
// Refresh.
func (r *Request) Bytes() []byte { return r.raw }

// Refresh gives the request an idempotency key that no other request has, if it
// carries one.
func (r *Request) Refresh() {
	if r.key == nil {
		return
	}
	var id [keyLen / 2]byte
	for i := 0; i < len(id); i += 8 {
		n := rand.Uint64()
		for j := range 8 {
			id[i+j] = byte(n >> (8 * j))
		}
	}
	hex.Encode(r.key, id[:])
	if r.refreshed != nil {
		r.refreshed(r.key)
	}
}
