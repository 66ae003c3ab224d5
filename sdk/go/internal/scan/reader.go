package scan

import (
	"encoding/json"
	"math/bits"
	"unicode/utf8"
	"unsafe"
)

// Reader reads JSON in one pass. The first error stays, and everything that is read
// after it is empty. The texts that it returns may share the input, which must not
// change after.
//
//	for r.Object(); r.More('}'); {
//		switch r.Key() {
//		case "name":
//			name = r.String()
//		default:
//			r.Raw()
//		}
//	}
type Reader struct {
	text  string
	at    int
	room  []byte // for texts that have escapes; longer by a word than what is left of text
	empty bool   // what is entered has nothing
	first bool   // nothing of what is entered was read
	err   error
}

// NewReader returns a reader of the value that b begins with.
func NewReader(b []byte) *Reader {
	return &Reader{text: unsafe.String(unsafe.SliceData(b), len(b))}
}

// Err returns what was wrong.
func (r *Reader) Err() error { return r.err }

// Object enters the object that comes next; null has no members. Read each with
// [Reader.Key] and one of the other methods, while there are [Reader.More].
func (r *Reader) Object() { r.enter('{') }

// Array enters the array that comes next; null has no elements. Read each, while there
// are [Reader.More].
func (r *Reader) Array() { r.enter('[') }

func (r *Reader) enter(opening byte) {
	r.first, r.empty = true, false
	switch c := r.peek(); {
	case c == opening:
		r.at++
	case c == 'n':
		r.empty = string(r.Raw()) == "null"
	default:
		r.fail()
	}
}

// More reports whether there is more in what was entered last, and leaves it when
// there is not. It ends with closing.
func (r *Reader) More(closing byte) bool {
	first, empty := r.first, r.empty
	r.first, r.empty = false, false
	if r.err != nil || empty {
		return false
	}
	switch c := r.peek(); {
	case c == closing:
		r.at++
		return false
	case first:
		return true
	case c == ',':
		r.at++
		return true
	}
	r.fail()
	return false
}

// Key returns the name of the member that comes next.
func (r *Reader) Key() string {
	if r.peek() != '"' {
		r.fail()
		return ""
	}
	key := r.String()
	if r.peek() != ':' {
		r.fail()
		return ""
	}
	r.at++
	return key
}

// Raw returns the value that comes next as it stands.
func (r *Reader) Raw() json.RawMessage {
	if r.peek() == 0 {
		r.fail()
		return nil
	}
	value, _, err := next(unsafe.Slice(unsafe.StringData(r.text), len(r.text))[r.at:])
	if err != nil {
		r.fail()
		return nil
	}
	r.at += len(value)
	return value
}

// String returns the text that comes next; "" for null.
func (r *Reader) String() string {
	if r.peek() != '"' {
		if raw := r.Raw(); string(raw) != "null" {
			r.fail()
		}
		return ""
	}
	r.at++
	from := r.at
	r.at = special(r.text, from)
	if r.at < len(r.text) && r.text[r.at] == '"' {
		r.at++
		return r.text[from : r.at-1]
	}
	r.at = from
	return r.unquote()
}

// peek returns the next byte that is no space, 0 at the end and after an error.
func (r *Reader) peek() byte {
	if r.at < len(r.text) && r.text[r.at] > ' ' {
		return r.text[r.at]
	}
	return r.peekBehindSpace()
}

func (r *Reader) peekBehindSpace() byte {
	for ; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; c {
		case ' ', '\n', '\r', '\t':
		default:
			return c
		}
	}
	return 0
}

// fail ends the reading.
func (r *Reader) fail() {
	if r.err == nil {
		r.err = errSyntax
	}
	r.at = len(r.text)
}

// unquote returns the text up to the next quote.
func (r *Reader) unquote() string {
	if r.room == nil {
		r.room = make([]byte, len(r.text)-r.at+8)
	}
	n := 0
	for {
		n = r.copyPlain(n)
		if r.at >= len(r.text) || r.text[r.at] < ' ' {
			r.fail()
			return ""
		}
		if r.text[r.at] == '"' {
			break
		}
		put, took := unquoteEscape(r.room[n:n], r.text[r.at:])
		if took == 0 {
			r.fail()
			return ""
		}
		n, r.at = n+put, r.at+took
	}
	r.at++
	text := unsafe.String(unsafe.SliceData(r.room), n)
	r.room = r.room[n:]
	return text
}

// copyPlain copies to the room, from n on, what needs no more than that, and what short
// escapes stand for, which are nearly all. It returns where it ends. Whole words are
// copied, and what does not belong to the text is written over by what follows: the
// room is never less than a word longer than what is left, for no text is longer than
// what stands for it.
func (r *Reader) copyPlain(n int) int {
	text, at, room := r.text, r.at, r.room
	for at+8 <= len(text) {
		w := word(text, at)
		*(*uint64)(unsafe.Pointer(unsafe.SliceData(room[n : n+8]))) = w
		found := specials(w)
		if found == 0 {
			at, n = at+8, n+8
			continue
		}
		plain := bits.TrailingZeros64(found) / 8
		at, n = at+plain, n+plain
		if text[at] != '\\' || at+1 == len(text) || shortEscapes[text[at+1]] == 0 {
			r.at = at
			return n
		}
		room[n] = shortEscapes[text[at+1]]
		at, n = at+2, n+1
	}
	for ; at < len(text) && text[at] >= ' ' && text[at] != '"' && text[at] != '\\'; at++ {
		room[n] = text[at]
		n++
	}
	r.at = at
	return n
}

// unquoteEscape writes what an escape stands for to out, and returns how many bytes
// that are, and how many the escape had: 0 for what is none. A pair of surrogates is
// one escape.
func unquoteEscape(out []byte, s string) (put, took int) {
	if len(s) > 1 && shortEscapes[s[1]] != 0 {
		return len(append(out, shortEscapes[s[1]])), 2
	}
	n := escapes([]byte(s[:min(len(s), 12)]))
	if n < 6 {
		return 0, 0
	}
	var text string
	if json.Unmarshal([]byte(`"`+s[:n]+`"`), &text) != nil {
		return 0, 0
	}
	if _, size := utf8.DecodeRuneInString(text); n == 12 && size < len(text) {
		n, text = 6, text[:size] // two characters, and no pair
	}
	return len(append(out, text...)), n
}
