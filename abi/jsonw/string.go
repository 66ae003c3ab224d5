package jsonw

import "github.com/go-json-experiment/json/jsontext"

// String appends a JSON string in the form of RFC 8785: only what must be escaped is.
// Each byte of s that is no part of UTF-8 becomes U+FFFD.
func String[S ~string | ~[]byte](b []byte, s S) []byte {
	if plain(s) {
		return append(append(append(b, '"'), s...), '"')
	}
	b, _ = jsontext.AppendQuote(b, s) // its error says that something was replaced
	return b
}

// plain reports whether a string is written as it is, as ids and names are.
func plain[S ~string | ~[]byte](s S) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c > '~' {
			return false
		}
	}
	return true
}

// UTF8 is [String] for a long text that the caller has found to be UTF-8. It looks at
// bytes: none of those that are escaped is part of a longer character.
func UTF8(b, text []byte) []byte {
	b = append(b, '"')
	from := 0
	for i, c := range text {
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b = appendEscape(append(b, text[from:i]...), c)
		from = i + 1
	}
	return append(append(b, text[from:]...), '"')
}

const hexDigits = "0123456789abcdef"

func appendEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\b':
		return append(b, '\\', 'b')
	case '\t':
		return append(b, '\\', 't')
	case '\n':
		return append(b, '\\', 'n')
	case '\f':
		return append(b, '\\', 'f')
	case '\r':
		return append(b, '\\', 'r')
	}
	return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}
