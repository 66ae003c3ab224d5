package scan

import (
	"bytes"
	"encoding/json"
	"unsafe"
)

// Reader reads JSON in one pass. The first error stays, and everything that is read
// after it is empty. The texts that it returns may share the input, which must not
// change after.
type Reader struct {
	rest []byte
	err  error
}

// NewReader returns a reader of the value that b begins with.
func NewReader(b []byte) *Reader { return &Reader{rest: space(b)} }

// Err returns what was wrong.
func (r *Reader) Err() error { return r.err }

// Object calls f for each member of the object that comes next; null has none. f
// reads the value, with any one of the reader's methods.
func (r *Reader) Object(f func(key string)) {
	r.each('{', '}', func() {
		key := r.String()
		r.rest, r.err = r.then(open(r.rest, ':'))
		f(key)
	})
}

// Array calls f for each element of the array that comes next; null has none. f reads
// it.
func (r *Reader) Array(f func()) { r.each('[', ']', f) }

func (r *Reader) each(opening, closing byte, f func()) {
	if bytes.HasPrefix(r.rest, []byte("null")) {
		r.Raw()
		return
	}
	r.rest, r.err = r.then(open(r.rest, opening))
	for r.err == nil && len(r.rest) > 0 && r.rest[0] != closing {
		f()
		r.rest, r.err = r.then(separator(r.rest, closing))
	}
	if r.rest, r.err = r.then(r.rest, end(r.rest, nil)); r.err == nil {
		r.rest = space(r.rest[1:])
	}
}

// then keeps the first error.
func (r *Reader) then(rest []byte, err error) ([]byte, error) {
	if r.err != nil {
		return nil, r.err
	}
	return rest, err
}

// Raw returns the value that comes next as it stands.
func (r *Reader) Raw() json.RawMessage {
	if r.err != nil {
		return nil
	}
	value, rest, err := next(r.rest)
	r.rest, r.err = space(rest), err
	return value
}

// String returns the text that comes next; "" for null.
func (r *Reader) String() string {
	raw := r.Raw()
	if r.err != nil || string(raw) == "null" {
		return ""
	}
	if len(raw) < 2 || raw[0] != '"' {
		r.err = errSyntax
		return ""
	}
	inner := raw[1 : len(raw)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return unsafe.String(unsafe.SliceData(inner), len(inner))
	}
	text, err := unquote(inner)
	if err != nil {
		r.err = err
	}
	return text
}
