package scan

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
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
	if r.err != nil || len(r.rest) == 0 || r.rest[0] != '"' {
		if raw := r.Raw(); r.err == nil && string(raw) != "null" {
			r.err = errSyntax
		}
		return ""
	}
	text, n, ok := unquoteInPlace(r.rest[1:])
	if !ok {
		r.rest, r.err = nil, errSyntax
		return ""
	}
	r.rest = space(r.rest[1+n:])
	return text
}

// unquoteInPlace returns the text up to the next quote, and how many bytes of b stood
// for it and the quote. A text is never longer than what stands for it, so that it is
// written where it was read.
func unquoteInPlace(b []byte) (text string, n int, ok bool) {
	in := unsafe.String(unsafe.SliceData(b), len(b))
	at := special(in, 0)
	for end := at; at < len(b); {
		switch b[at] {
		case '"':
			return in[:end], at + 1, true
		case '\\':
			if at+1 < len(b) && shortEscapes[b[at+1]] != 0 { // nearly all of them
				b[end] = shortEscapes[b[at+1]]
				end, at = end+1, at+2
				break
			}
			put, took := unquoteEscape(b[end:end], b[at:])
			if took == 0 {
				return "", 0, false
			}
			end, at = end+put, at+took
		default:
			return "", 0, false
		}
		next := special(in, at)
		end, at = end+copy(b[end:], b[at:next]), next
	}
	return "", 0, false
}

// unquoteEscape writes what a \u escape stands for to out, and returns how many bytes
// that are, and how many the escape had: 0 for what is none. A pair of surrogates is
// one escape.
func unquoteEscape(out, b []byte) (put, took int) {
	n := escapes(b)
	if n < 6 {
		return 0, 0
	}
	n = min(n, 12)
	var text string
	if json.Unmarshal(append(append([]byte{'"'}, b[:n]...), '"'), &text) != nil {
		return 0, 0
	}
	if _, size := utf8.DecodeRuneInString(text); n == 12 && size < len(text) {
		n, text = 6, text[:size] // two characters, and no pair
	}
	return len(append(out, text...)), n
}
