package normalize

import (
	"fmt"
	"strings"

	wharf "github.com/wharf-dev/wharf/sdk/go"

	"github.com/wharf-dev/wharf/plugins/connectors/jsonpath"
	"github.com/wharf-dev/wharf/plugins/connectors/tape"
)

// template is a text with places that a delivery fills: {$.path}, {@.path},
// {header:name} and {id}. {{ and }} stand for braces. A text that begins with $ or @ is
// one place.
type template []place

// place is a literal, a path, a header, or one of the words that a delivery has.
type place struct {
	literal string
	path    *jsonpath.Path
	header  string
	word    string
}

// source is what fills templates.
type source struct {
	delivery      *wharf.Delivery
	root, current tape.Value
	words         map[string]string // besides id
}

func compileTemplate(text string) (template, error) {
	if strings.HasPrefix(text, "$") || strings.HasPrefix(text, "@") {
		path, err := jsonpath.Compile(text)
		return template{{path: path}}, err
	}
	var t template
	for text != "" {
		i := strings.IndexAny(text, "{}")
		if i < 0 {
			return append(t, place{literal: text}), nil
		}
		if strings.HasPrefix(text[i:], "{{") || strings.HasPrefix(text[i:], "}}") {
			t, text = append(t, place{literal: text[:i+1]}), text[i+2:]
			continue
		}
		end := closing(text[i:])
		if text[i] == '}' || end < 0 {
			return nil, fmt.Errorf("the text %q has a brace without its partner; write {{ and }} for braces", text)
		}
		p, err := compilePlace(text[i+1 : i+end])
		if err != nil {
			return nil, err
		}
		t, text = append(t, place{literal: text[:i]}, p), text[i+end+1:]
	}
	return t, nil
}

// closing returns where the place that text begins with ends. A brace in a quoted name
// of a path does not end it.
func closing(text string) int {
	quote := byte(0)
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0 && c == '\\':
			i++
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case quote == 0 && c == '}':
			return i
		}
	}
	return -1
}

func compilePlace(text string) (place, error) {
	if name, ok := strings.CutPrefix(text, "header:"); ok {
		return place{header: strings.ToLower(name)}, nil
	}
	switch text {
	case "id", "cursor":
		return place{word: text}, nil
	}
	path, err := jsonpath.Compile(text)
	return place{path: path}, err
}

// fill returns the text with its places filled. What is not there is filled with
// nothing.
func (t template) fill(s *source) (string, error) {
	if len(t) == 1 && t[0].literal != "" {
		return t[0].literal, nil
	}
	var room [256]byte
	out := room[:0]
	for i := range t {
		if t[i].literal != "" {
			out = append(out, t[i].literal...)
			continue
		}
		word, err := t[i].fill(s)
		if err != nil {
			return "", err
		}
		if len(t) == 1 {
			return word, nil
		}
		out = append(out, word...)
	}
	return string(out), nil
}

func (p *place) fill(s *source) (string, error) {
	switch {
	case p.path != nil:
		v, err := p.path.First(s.root, s.current)
		if err != nil {
			return "", err
		}
		if word, ok := v.Word(); ok {
			return word, nil
		}
		return v.Raw(), nil
	case p.header != "" && s.delivery != nil:
		return s.delivery.Header(p.header), nil
	case p.word == "id" && s.delivery != nil:
		return s.delivery.DeliveryID, nil
	case p.word != "":
		return s.words[p.word], nil
	}
	return p.literal, nil
}
