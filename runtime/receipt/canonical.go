package receipt

import (
	"math"
	"strconv"
	"time"
	"unicode/utf8"
)

// The canonical form (RFC 8785) of what this package writes is made by hand:
// parsing and sorting it again took more time than hashing and signing it. The
// writers below write members in the order in which they are called, which has to
// be that of their names; a test holds the result against another implementation.

// object writes the members of a JSON object.
type object struct{ b []byte }

func begin(b []byte) object { return object{append(b, '{')} }

// end closes the object.
func (o *object) end() []byte {
	if last := len(o.b) - 1; o.b[last] == ',' {
		o.b[last] = '}'
		return o.b
	}
	return append(o.b, '}')
}

// name starts a member. Names need no escapes.
func (o *object) name(name string) {
	o.b = append(append(append(o.b, '"'), name...), '"', ':')
}

func (o *object) text(name, value string) {
	o.name(name)
	o.b = append(appendString(o.b, value), ',')
}

func (o *object) optional(name, value string) {
	if value != "" {
		o.text(name, value)
	}
}

// nullable writes null for nil.
func (o *object) nullable(name string, value *string) {
	if value != nil {
		o.text(name, *value)
		return
	}
	o.name(name)
	o.b = append(o.b, "null,"...)
}

func (o *object) integer(name string, value int64) {
	o.name(name)
	o.b = append(appendInteger(o.b, value), ',')
}

func (o *object) optionalInteger(name string, value *int64) {
	if value != nil {
		o.integer(name, *value)
	}
}

// count writes a number that is left out when it is 0.
func (o *object) count(name string, value int) {
	if value != 0 {
		o.integer(name, int64(value))
	}
}

func (o *object) number(name string, value float64) {
	o.name(name)
	o.b = append(appendNumber(o.b, value), ',')
}

func (o *object) time(name string, t time.Time) {
	o.name(name)
	o.b = t.UTC().AppendFormat(append(o.b, '"'), time.RFC3339Nano)
	o.b = append(o.b, '"', ',')
}

func (o *object) optionalTime(name string, t time.Time) {
	if !t.IsZero() {
		o.time(name, t)
	}
}

// member writes a member whose value is appended by value.
func (o *object) member(name string, value func([]byte) []byte) {
	o.name(name)
	o.b = append(value(o.b), ',')
}

// list writes an array.
func list[T any](o *object, name string, values []T, element func([]byte, *T) []byte) {
	o.name(name)
	o.b = append(o.b, '[')
	for i := range values {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = element(o.b, &values[i])
	}
	o.b = append(o.b, ']', ',')
}

// optionalList writes an array, unless it is empty.
func optionalList[T any](o *object, name string, values []T, element func([]byte, *T) []byte) {
	if len(values) > 0 {
		list(o, name, values, element)
	}
}

const hexDigits = "0123456789abcdef"

// appendString writes a JSON string as RFC 8785 does: only what must be escaped
// is. Bytes that are no UTF-8 become U+FFFD.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				b = append(append(b, s[start:i]...), "\uFFFD"...)
				start = i + 1
			}
			i += size
			continue
		}
		b = appendEscape(append(b, s[start:i]...), c)
		i++
		start = i
	}
	return append(append(b, s[start:]...), '"')
}

func appendEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\b':
		return append(b, `\b`...)
	case '\t':
		return append(b, `\t`...)
	case '\n':
		return append(b, `\n`...)
	case '\f':
		return append(b, `\f`...)
	case '\r':
		return append(b, `\r`...)
	}
	return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// maxExact is the largest integer up to which every one is a double.
const maxExact = 1 << 53

func appendInteger(b []byte, n int64) []byte {
	if -maxExact <= n && n <= maxExact {
		return strconv.AppendInt(b, n, 10)
	}
	return appendNumber(b, float64(n))
}

// appendNumber writes a finite number as ECMAScript does.
func appendNumber(b []byte, f float64) []byte {
	if f == 0 {
		return append(b, '0') // there is no negative zero
	}
	if abs := math.Abs(f); abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(b, f, 'f', -1, 64)
	}
	b = strconv.AppendFloat(b, f, 'e', -1, 64)
	if n := len(b); b[n-2] == '0' && (b[n-3] == '-' || b[n-3] == '+') { // e-07 is e-7
		b = append(b[:n-2], b[n-1])
	}
	return b
}
