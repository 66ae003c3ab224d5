package tape

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// short are the escapes of one letter.
var short = [256]byte{'n': '\n', 't': '\t', 'r': '\r', '"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f'}

// unicodeEscape reads \u and four digits.
func unicodeEscape(s string) (r rune, ok bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	for i := 2; i < 6; i++ {
		c := s[i]
		switch {
		case c-'0' < 10:
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// unquote returns the text of the inside of a string that was parsed.
func unquote(inner string) string {
	out := make([]byte, 0, len(inner))
	for {
		i := strings.IndexByte(inner, '\\')
		if i < 0 {
			return string(append(out, inner...))
		}
		out = append(out, inner[:i]...)
		if c := short[inner[i+1]]; c != 0 {
			out, inner = append(out, c), inner[i+2:]
			continue
		}
		r, _ := unicodeEscape(inner[i:])
		inner = inner[i+6:]
		if utf16.IsSurrogate(r) {
			low, _ := unicodeEscape(inner)
			r, inner = utf16.DecodeRune(r, low), inner[6:]
		}
		out = utf8.AppendRune(out, r)
	}
}

const hex = "0123456789abcdef"

// AppendString appends a text, which must be UTF-8, as a JSON string.
func AppendString(b []byte, text string) []byte {
	if standsAsItIs(text) {
		return append(append(append(b, '"'), text...), '"')
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
