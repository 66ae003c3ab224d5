package scan

import (
	"bytes"
	"encoding/json"
	"errors"
)

var errSyntax = errors.New("the JSON is malformed")

// Members calls f for each member of an object. The value is part of the input.
func Members(object []byte, f func(key string, value []byte) error) error {
	rest, err := open(object, '{')
	for err == nil && len(rest) > 0 && rest[0] != '}' {
		var key string
		if key, rest, err = member(rest); err != nil {
			return err
		}
		var value []byte
		if value, rest, err = next(rest); err != nil {
			return err
		}
		if err = f(key, value); err != nil {
			return err
		}
		rest, err = separator(rest, '}')
	}
	return end(rest, err)
}

// Elements calls f for each element of an array. The element is part of the input.
func Elements(array []byte, f func(element []byte) error) error {
	rest, err := open(array, '[')
	for err == nil && len(rest) > 0 && rest[0] != ']' {
		var value []byte
		if value, rest, err = next(rest); err != nil {
			return err
		}
		if err = f(value); err != nil {
			return err
		}
		rest, err = separator(rest, ']')
	}
	return end(rest, err)
}

// String returns the text of a JSON string.
func String(value []byte) (string, error) {
	if len(value) < 2 || value[0] != '"' {
		return "", errSyntax
	}
	inner := value[1 : len(value)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return string(inner), nil
	}
	return unquote(inner)
}

const hex = "0123456789abcdef"

// AppendString appends a text as a JSON string. Each byte that is not UTF-8 becomes U+FFFD.
func AppendString(b []byte, text string) []byte {
	if standsAsItIs(text) {
		return append(append(append(b, '"'), text...), '"')
	}
	if !valid(text) {
		text = string([]rune(text))
	}
	b = append(b, '"')
	from := 0
	for i := special(text, 0); i < len(text); i = special(text, from) {
		b = appendEscape(append(b, text[from:i]...), text[i])
		from = i + 1
	}
	return append(append(b, text[from:]...), '"')
}

func appendEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, `\n`...)
	}
	return append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}

// shortEscapes are the escapes of one letter.
var shortEscapes = [256]byte{'n': '\n', 't': '\t', 'r': '\r', '"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f'}

// unquote copies a text from one escape to the next.
func unquote(inner []byte) (string, error) {
	out := make([]byte, 0, len(inner))
	for {
		i := bytes.IndexByte(inner, '\\')
		if i < 0 {
			return string(append(out, inner...)), nil
		}
		if i+1 == len(inner) {
			return "", errSyntax
		}
		out = append(out, inner[:i]...)
		if c := shortEscapes[inner[i+1]]; c != 0 {
			out, inner = append(out, c), inner[i+2:]
			continue
		}
		n := escapes(inner[i:])
		var text string
		if json.Unmarshal(append(append([]byte{'"'}, inner[i:i+n]...), '"'), &text) != nil {
			return "", errSyntax
		}
		out, inner = append(out, text...), inner[i+n:]
	}
}

// escapes returns the length of the \u escapes that follow each other, as pairs of
// surrogates do.
func escapes(b []byte) int {
	n := 0
	for n+6 <= len(b) && b[n] == '\\' && b[n+1] == 'u' {
		n += 6
	}
	return max(n, 2)
}

func space(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\n' || b[0] == '\r' || b[0] == '\t') {
		b = b[1:]
	}
	return b
}

func open(b []byte, bracket byte) ([]byte, error) {
	b = space(b)
	if len(b) == 0 || b[0] != bracket {
		return nil, errSyntax
	}
	return space(b[1:]), nil
}

// end checks that an object or array was closed.
func end(rest []byte, err error) error {
	if err == nil && len(rest) == 0 {
		return errSyntax
	}
	return err
}

func member(b []byte) (key string, rest []byte, err error) {
	raw, rest, err := next(b)
	if err != nil {
		return "", nil, err
	}
	if key, err = String(raw); err != nil {
		return "", nil, err
	}
	rest, err = open(rest, ':')
	return key, rest, err
}

// separator passes over a comma; a closing bracket stays.
func separator(b []byte, closing byte) ([]byte, error) {
	b = space(b)
	switch {
	case len(b) > 0 && b[0] == closing:
		return b, nil
	case len(b) > 0 && b[0] == ',':
		return space(b[1:]), nil
	}
	return nil, errSyntax
}

// next cuts off the value that b begins with.
func next(b []byte) (value, rest []byte, err error) {
	n := 0
	switch {
	case len(b) == 0:
		return nil, nil, errSyntax
	case b[0] == '"':
		n = stringLen(b)
	case b[0] == '{' || b[0] == '[':
		n = nestedLen(b)
	default:
		n = scalarLen(b)
	}
	if n == 0 {
		return nil, nil, errSyntax
	}
	return b[:n], b[n:], nil
}

// scalarLen returns the length of the number or word that b begins with.
func scalarLen(b []byte) int {
	for n, c := range b {
		switch c {
		case ',', ']', '}', ' ', '\n', '\r', '\t':
			return n
		}
	}
	return len(b)
}

// stringLen returns the length of the string that b begins with, 0 if it does not
// end. A quote is escaped by an odd number of backslashes before it.
func stringLen(b []byte) int {
	for n := 1; ; n++ {
		i := bytes.IndexByte(b[n:], '"')
		if i < 0 {
			return 0
		}
		n += i
		slashes := 0
		for b[n-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return n + 1
		}
	}
}

// nestedLen returns the length of the object or array that b begins with, 0 if it
// does not end.
func nestedLen(b []byte) int {
	depth := 0
	for n := 0; n < len(b); n++ {
		switch b[n] {
		case '"':
			length := stringLen(b[n:])
			if length == 0 {
				return 0
			}
			n += length - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return n + 1
			}
		}
	}
	return 0
}
