package py

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is a word or a sign of a source. Strings are left out, but for what stands in f-strings.
type token struct {
	text         string
	line, column int  // from 1
	first        bool // of a statement
	indented     bool // its statement is
	literal      bool // it is a string, whose text this is
}

func (t token) isName() bool { return !t.literal && isLetter(firstRune(t.text)) }

func firstRune(text string) rune {
	c, _ := utf8.DecodeRuneInString(text)
	return c
}

func isLetter(c rune) bool { return c == '_' || unicode.IsLetter(c) }

// lexer takes a source apart as far as imports and names need it. What does not compile gives
// some tokens, too: the engine says what is wrong with it.
type lexer struct {
	rest         string
	line, column int
	depth        int  // of brackets
	fresh        bool // a statement begins
	indented     bool
	tokens       []token
}

func tokens(source string) []token {
	l := &lexer{rest: source, line: 1, column: 1, fresh: true}
	for l.rest != "" {
		l.next()
	}
	return l.tokens
}

func (l *lexer) next() {
	c := firstRune(l.rest)
	switch {
	case c == '\n':
		l.newline()
	case strings.HasPrefix(l.rest, "\\\n"), strings.HasPrefix(l.rest, "\\\r\n"):
		l.skip(strings.IndexByte(l.rest, '\n') + 1)
	case c == ' ' || c == '\t' || c == '\r' || c == '\f':
		l.space(c)
	case c == '#':
		l.skip(lineEnd(l.rest))
	case c == '"' || c == '\'':
		l.text("")
	case isLetter(c):
		l.word()
	default:
		l.sign(c)
	}
}

func lineEnd(text string) int {
	if n := strings.IndexByte(text, '\n'); n >= 0 {
		return n
	}
	return len(text)
}

func (l *lexer) newline() {
	l.skip(1)
	if l.depth == 0 {
		l.fresh, l.indented = true, false
	}
}

func (l *lexer) space(c rune) {
	if l.column == 1 && l.fresh && c != '\r' {
		l.indented = true
	}
	l.skip(1)
}

// skip goes on by n bytes.
func (l *lexer) skip(n int) {
	for _, c := range l.rest[:n] {
		l.column++
		if c == '\n' {
			l.line, l.column = l.line+1, 1
		}
	}
	l.rest = l.rest[n:]
}

func (l *lexer) add(t token) {
	t.first, t.indented = l.fresh, l.indented
	l.tokens = append(l.tokens, t)
	l.fresh = false
}

func (l *lexer) word() {
	n := strings.IndexFunc(l.rest, func(c rune) bool { return !isLetter(c) && !unicode.IsDigit(c) })
	if n < 0 {
		n = len(l.rest)
	}
	word := l.rest[:n]
	if n < len(l.rest) && (l.rest[n] == '"' || l.rest[n] == '\'') && n <= 2 && strings.Trim(strings.ToLower(word), "rbfu") == "" {
		l.skip(n)
		l.text(strings.ToLower(word))
		return
	}
	l.add(token{text: word, line: l.line, column: l.column})
	l.skip(n)
}

// text reads a string. What an f-string computes counts as source.
func (l *lexer) text(prefix string) {
	mark := l.rest[:1]
	if strings.HasPrefix(l.rest, strings.Repeat(mark, 3)) {
		mark = l.rest[:3]
	}
	line, column := l.line, l.column
	l.skip(len(mark))
	n := endOfText(l.rest, mark)
	inside := l.rest[:n]
	l.add(token{text: inside, line: line, column: column, literal: true})
	l.skip(n)
	if strings.HasPrefix(l.rest, mark) {
		l.skip(len(mark))
	}
	if !strings.Contains(prefix, "f") {
		return
	}
	for _, t := range tokens(strings.ReplaceAll(inside, "#", " ")) {
		l.tokens = append(l.tokens, token{text: t.text, line: line, column: column, indented: true, literal: t.literal})
	}
}

// endOfText is how long a string is before its end.
func endOfText(rest, mark string) int {
	for i := 0; i < len(rest); i++ {
		switch {
		case rest[i] == '\\':
			i++
		case strings.HasPrefix(rest[i:], mark), len(mark) == 1 && rest[i] == '\n':
			return i
		}
	}
	return len(rest)
}

func (l *lexer) sign(c rune) {
	switch c {
	case '(', '[', '{':
		l.depth++
	case ')', ']', '}':
		l.depth = max(0, l.depth-1)
	}
	size := utf8.RuneLen(c)
	if c == utf8.RuneError {
		size = 1
	}
	l.add(token{text: l.rest[:size], line: l.line, column: l.column})
	l.skip(size)
	if c == ';' && l.depth == 0 {
		l.fresh = true
	}
}
