package abi

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxDepth is how deeply JSON that comes in may nest arrays and objects, whoever
// sends it: clients over REST and WebSockets, plugins in host calls, approvers. It is
// far below what the JSON library takes, so that what Wharf keeps such a text in (an
// event, a record, an answer) can always be read again.
const MaxDepth = 200

// MaxToldDepth is [MaxDepth] for what a plugin is told by models and tools. The levels
// in between are for what the plugin puts it in to pass it on.
const MaxToldDepth = MaxDepth - 16

// TooDeep returns the offset at which a text nests arrays and objects deeper than so
// many levels, or -1. The text may be no JSON at all.
func TooDeep(text []byte, levels int) int {
	if bytes.Count(text, []byte("{"))+bytes.Count(text, []byte("[")) <= levels {
		return -1
	}
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = stringEnd(text, i)
		case '{', '[':
			if depth++; depth > levels {
				return i
			}
		case '}', ']':
			depth--
		}
	}
	return -1
}

// Values counts the values of a text, without reading it: at least as many as it has.
// The text may be no JSON at all.
func Values(text []byte) int {
	n := 1
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = stringEnd(text, i)
		case ',', '{', '[':
			n++
		}
	}
	return n
}

// stringEnd returns where the string that begins at an offset has its closing quote: the
// length of the text when it has none.
func stringEnd(text []byte, start int) int {
	for at := start + 1; at < len(text); at++ {
		end := bytes.IndexByte(text[at:], '"')
		if end < 0 {
			break
		}
		at += end
		escapes := at - 1
		for escapes > start && text[escapes] == '\\' {
			escapes--
		}
		if (at-escapes)%2 == 1 {
			return at
		}
	}
	return len(text)
}

// Plain returns a JSON text in the one spelling in which plugins are told what came
// from outside: no white space between tokens, and each string in its shortest form.
// Members keep their order and numbers their digits, for a plugin may look at both,
// and a number may be more than a double holds. Writing, keeping and reading a plain
// text does not change it. A text with duplicate names, or that is not UTF-8, is an
// error. v is not changed.
func Plain(v jsontext.Value) (jsontext.Value, error) {
	return jsontext.AppendFormat(nil, v)
}
