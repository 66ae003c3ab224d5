package jsonpath

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/wharf-dev/wharf/plugins/connectors/tape"
)

// What an expression may have at most.
const (
	maxText  = 1024 // bytes
	maxDepth = 16   // parentheses and filters in each other
)

// Compile reads an expression. It begins with $, or with @ for what is relative.
func Compile(text string) (*Path, error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("the JSONPath is longer than %d bytes", maxText)
	}
	p := &parser{text: text}
	path, err := p.path(0)
	if err == nil && p.at != len(text) {
		err = p.unexpected()
	}
	if err != nil {
		return nil, err
	}
	path.text, path.names = text, onlyNames(path.segments)
	return path, nil
}

type parser struct {
	text string
	at   int
}

func (p *parser) unexpected() error {
	if p.at >= len(p.text) {
		return fmt.Errorf("the JSONPath %q ends too soon", p.text)
	}
	r, _ := utf8.DecodeRuneInString(p.text[p.at:])
	return fmt.Errorf("the JSONPath %q has an unexpected %q at byte %d", p.text, r, p.at)
}

func (p *parser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

func (p *parser) skip(s string) bool {
	if !strings.HasPrefix(p.text[p.at:], s) {
		return false
	}
	p.at += len(s)
	return true
}

func (p *parser) space() {
	for strings.IndexByte(" \t\r\n", p.peek()) >= 0 && p.peek() != 0 {
		p.at++
	}
}

func (p *parser) path(depth int) (*Path, error) {
	path := &Path{relative: p.peek() == '@'}
	if !p.skip("$") && !p.skip("@") {
		return nil, p.unexpected()
	}
	for {
		before := p.at
		p.space()
		if c := p.peek(); c != '.' && c != '[' {
			p.at = before
			return path, nil
		}
		s, err := p.segment(depth)
		if err != nil {
			return nil, err
		}
		path.segments = append(path.segments, s)
	}
}

func (p *parser) segment(depth int) (s segment, err error) {
	s.descend = p.skip("..")
	if p.peek() == '[' {
		s.selectors, err = p.bracket(depth)
		return s, err
	}
	if !s.descend && !p.skip(".") {
		return s, p.unexpected()
	}
	if p.skip("*") {
		s.selectors = []selector{{kind: byWildcard}}
		return s, nil
	}
	name := p.name()
	if name == "" {
		return s, p.unexpected()
	}
	s.selectors = []selector{{kind: byName, name: name}}
	return s, nil
}

// name reads a name as it may stand without quotes.
func (p *parser) name() string {
	from := p.at
	for p.at < len(p.text) {
		c := p.text[p.at]
		letter := c == '_' || c >= 0x80 || c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (p.at == from || c-'0' >= 10) {
			break
		}
		p.at++
	}
	return p.text[from:p.at]
}

func (p *parser) bracket(depth int) ([]selector, error) {
	var all []selector
	for p.at++; ; {
		p.space()
		s, err := p.selector(depth)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
		p.space()
		if p.skip("]") {
			return all, nil
		}
		if !p.skip(",") {
			return nil, p.unexpected()
		}
	}
}

func (p *parser) selector(depth int) (s selector, err error) {
	switch c := p.peek(); {
	case c == '"' || c == '\'':
		s.name, err = p.quoted()
		return s, err
	case c == '*':
		p.at++
		return selector{kind: byWildcard}, nil
	case c == '?':
		p.at++
		s.kind = byFilter
		s.filter, err = p.or(depth + 1)
		return s, err
	}
	return p.numbers()
}

// numbers reads an index or a slice.
func (p *parser) numbers() (s selector, err error) {
	s.step = 1
	if s.start, s.hasStart, err = p.integer(); err != nil {
		return s, err
	}
	p.space()
	if !p.skip(":") {
		if !s.hasStart {
			return s, p.unexpected()
		}
		return selector{kind: byIndex, index: s.start}, nil
	}
	s.kind = bySlice
	p.space()
	if s.end, s.hasEnd, err = p.integer(); err != nil {
		return s, err
	}
	if p.space(); !p.skip(":") {
		return s, nil
	}
	p.space()
	step, given, err := p.integer()
	if given {
		s.step = step
	}
	return s, err
}

func (p *parser) integer() (n int, given bool, err error) {
	from := p.at
	p.skip("-")
	for p.peek()-'0' < 10 {
		p.at++
	}
	text := p.text[from:p.at]
	if text == "" {
		return 0, false, nil
	}
	digits := strings.TrimPrefix(text, "-")
	n, err = strconv.Atoi(text)
	if err != nil || len(digits) > 1 && digits[0] == '0' || text == "-0" || n > 1<<30 || n < -1<<30 {
		return 0, false, fmt.Errorf("the JSONPath %q has the number %q, which is none", p.text, text)
	}
	return n, true, nil
}

// quoted reads a text in single or double quotes, with the escapes of JSON.
func (p *parser) quoted() (string, error) {
	quote, from := p.peek(), p.at
	out := []byte{'"'}
	for p.at++; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == quote:
			p.at++
			var d tape.Doc
			v, err := d.Parse(string(append(out, '"')))
			if err != nil {
				p.at = from
				return "", p.unexpected()
			}
			return v.Text(), nil
		case c == '\\' && p.at+1 < len(p.text):
			p.at++
			if p.text[p.at] != '\'' || quote != '\'' {
				out = append(out, '\\')
			}
			out = append(out, p.text[p.at])
		case c == '"':
			out = append(out, '\\', '"')
		default:
			out = append(out, c)
		}
	}
	return "", p.unexpected()
}

func (p *parser) or(depth int) (condition, error) { return p.joined(depth, "||", p.and) }

func (p *parser) and(depth int) (condition, error) { return p.joined(depth, "&&", p.term) }

// joined reads parts with an operator between them.
func (p *parser) joined(depth int, operator string, part func(int) (condition, error)) (condition, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("the JSONPath %q is nested too deeply", p.text)
	}
	var all []condition
	for {
		p.space()
		one, err := part(depth)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
		if p.space(); p.skip(operator) {
			continue
		}
		switch {
		case len(all) == 1:
			return one, nil
		case operator == "||":
			return anyOf(all), nil
		}
		return allOf(all), nil
	}
}

func (p *parser) term(depth int) (condition, error) {
	negated := p.skip("!")
	p.space()
	if p.skip("(") {
		inner, err := p.or(depth + 1)
		if err != nil {
			return nil, err
		}
		if p.space(); !p.skip(")") {
			return nil, p.unexpected()
		}
		return negate(inner, negated), nil
	}
	left, err := p.operand(depth)
	if err != nil {
		return nil, err
	}
	p.space()
	operator := p.operator()
	if operator == "" || negated {
		if left.path == nil || operator != "" {
			return nil, p.unexpected()
		}
		return negate(exists{left.path}, negated), nil
	}
	p.space()
	right, err := p.operand(depth)
	if err != nil {
		return nil, err
	}
	if !left.single() || !right.single() {
		return nil, fmt.Errorf("the JSONPath %q compares what may be several values", p.text)
	}
	return comparison{operator, left, right}, nil
}

func negate(c condition, negated bool) condition {
	if negated {
		return not{c}
	}
	return c
}

func (p *parser) operator() string {
	for _, operator := range []string{"==", "!=", "<=", ">=", "<", ">"} {
		if p.skip(operator) {
			return operator
		}
	}
	return ""
}

// single reports whether it is at most one value, as RFC 9535 asks of what is compared.
func (o operand) single() bool {
	if o.path == nil {
		return true
	}
	for _, s := range o.path.segments {
		if s.descend || len(s.selectors) != 1 || s.selectors[0].kind > byIndex {
			return false
		}
	}
	return true
}

func (p *parser) operand(depth int) (o operand, err error) {
	switch c := p.peek(); {
	case c == '$' || c == '@':
		o.path, err = p.path(depth)
		return o, err
	case c == '\'' || c == '"':
		text, err := p.quoted()
		if err != nil {
			return o, err
		}
		o.literal, err = parsed(string(tape.AppendString(nil, text)))
		return o, err
	}
	from := p.at
	for p.at < len(p.text) && strings.IndexByte("+-.", p.text[p.at]) >= 0 || p.name() != "" || p.peek()-'0' < 10 {
		if c := p.peek(); c == '+' || c == '-' || c == '.' || c-'0' < 10 {
			p.at++
		}
	}
	if o.literal, err = parsed(p.text[from:p.at]); err != nil || p.at == from {
		p.at = from
		return o, p.unexpected()
	}
	return o, nil
}

func parsed(text string) (tape.Value, error) {
	return new(tape.Doc).Parse(text)
}
