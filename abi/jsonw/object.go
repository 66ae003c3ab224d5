package jsonw

import (
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Object writes the members of a JSON object. Names need no escapes.
type Object struct {
	// B is the text so far. What has a form of its own is appended to it after
	// [Object.Name], and a comma after that.
	B []byte
}

// Begin begins an object at the end of b.
func Begin(b []byte) Object { return Object{append(b, '{')} }

// End closes the object, and returns the text.
func (o *Object) End() []byte {
	if last := len(o.B) - 1; o.B[last] == ',' {
		o.B[last] = '}'
		return o.B
	}
	return append(o.B, '}')
}

// Name starts a member.
func (o *Object) Name(name string) {
	o.B = append(append(append(o.B, '"'), name...), '"', ':')
}

// Text writes a string.
func (o *Object) Text(name, value string) {
	o.Name(name)
	o.B = append(String(o.B, value), ',')
}

// Optional writes a string that is left out when it is empty.
func (o *Object) Optional(name, value string) {
	if value != "" {
		o.Text(name, value)
	}
}

// Nullable writes a string, or null for nil.
func (o *Object) Nullable(name string, value *string) {
	if value != nil {
		o.Text(name, *value)
		return
	}
	o.Name(name)
	o.B = append(o.B, "null,"...)
}

// Int writes an integer with all its digits.
func (o *Object) Int(name string, value int64) {
	o.Name(name)
	o.B = append(strconv.AppendInt(o.B, value, 10), ',')
}

// Uint writes an integer with all its digits.
func (o *Object) Uint(name string, value uint64) {
	o.Name(name)
	o.B = append(strconv.AppendUint(o.B, value, 10), ',')
}

// Count writes an integer that is left out when it is 0.
func (o *Object) Count(name string, value int) {
	if value != 0 {
		o.Int(name, int64(value))
	}
}

// Rounded writes an integer in the form of RFC 8785, as the nearest double.
func (o *Object) Rounded(name string, value int64) {
	o.Name(name)
	o.B = append(Rounded(o.B, value), ',')
}

// Number writes a finite number.
func (o *Object) Number(name string, value float64) {
	o.Name(name)
	o.B = append(Number(o.B, value), ',')
}

// Hash writes a SHA-256 as "sha256:" and hex.
func (o *Object) Hash(name string, h *[32]byte) {
	o.Name(name)
	o.B = append(hex.AppendEncode(append(o.B, `"sha256:`...), h[:]), '"', ',')
}

// True writes true, or leaves the member out.
func (o *Object) True(name string, value bool) {
	if value {
		o.Name(name)
		o.B = append(o.B, "true,"...)
	}
}

// Time writes a time in UTC.
func (o *Object) Time(name string, t time.Time) {
	o.Name(name)
	o.B = t.UTC().AppendFormat(append(o.B, '"'), time.RFC3339Nano)
	o.B = append(o.B, '"', ',')
}

// OptionalTime writes a time that is left out when it is zero.
func (o *Object) OptionalTime(name string, t time.Time) {
	if !t.IsZero() {
		o.Time(name, t)
	}
}

// Base64 writes bytes in base64.
func (o *Object) Base64(name string, content []byte) {
	o.Name(name)
	o.B = append(base64.StdEncoding.AppendEncode(append(o.B, '"'), content), '"', ',')
}

// JSON writes a JSON text as it is.
func (o *Object) JSON(name string, text []byte) {
	o.Name(name)
	o.B = append(append(o.B, text...), ',')
}

// Raw writes a JSON text without the white space between its tokens, and leaves the member
// out for nil.
func (o *Object) Raw(name string, text jsontext.Value) {
	if text != nil {
		o.Name(name)
		o.B = append(Raw(o.B, text), ',')
	}
}

// Member writes a member whose value is appended by value.
func (o *Object) Member(name string, value func([]byte) []byte) {
	o.Name(name)
	o.B = append(value(o.B), ',')
}

// OptionalList is [List], and leaves the member out when there are no values.
func OptionalList[T any](o *Object, name string, values []T, element func([]byte, *T) []byte) {
	if len(values) > 0 {
		List(o, name, values, element)
	}
}

// List writes an array, of which element appends each.
func List[T any](o *Object, name string, values []T, element func([]byte, *T) []byte) {
	o.Name(name)
	o.B = append(o.B, '[')
	for i := range values {
		if i > 0 {
			o.B = append(o.B, ',')
		}
		o.B = element(o.B, &values[i])
	}
	o.B = append(o.B, ']', ',')
}

// Raw appends a JSON text without the white space between its tokens.
func Raw(b []byte, text jsontext.Value) []byte {
	if !Spaced(text) {
		return append(b, text...)
	}
	compact := text.Clone()
	if compact.Compact() != nil { // not JSON: the caller broke its promise
		return append(b, text...)
	}
	return append(b, compact...)
}

// Spaced reports whether there is white space between the tokens of a JSON text.
func Spaced(text jsontext.Value) bool {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			quoted = !quoted
		case '\\':
			i++
		case ' ', '\t', '\r', '\n':
			if !quoted {
				return true
			}
		}
	}
	return false
}
