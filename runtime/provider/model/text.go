package model

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// text takes the text of one attempt, piece by piece. What reaches the answer and
// the watcher is the same: without a leading block of reasoning, and without the
// key, also when either comes in several pieces.
type text struct {
	whole strings.Builder
	emit  func(string)
	runes runeFilter
	think thinkFilter
	keys  keyFilter

	thoughts *thoughts // what is told of what it thinks besides; nil for nothing
}

func newText(key string, tell func(string)) *text {
	return &text{emit: tell, keys: keyFilter{key: key}}
}

// write takes the next piece.
func (t *text) write(piece string) {
	if piece != "" {
		t.thoughts.flush()
	}
	t.pass(t.keys.write(t.think.write(t.runes.write(piece))))
}

// close takes the end of the text.
func (t *text) close() {
	t.thoughts.close()
	t.write(t.runes.close())
	t.pass(t.keys.write(t.think.close()) + t.keys.close())
}

func (t *text) pass(s string) {
	if s == "" {
		return
	}
	t.whole.WriteString(s)
	t.emit(s)
}

// String returns the text so far.
func (t *text) String() string { return t.whole.String() }

// minScrubbed is the shortest key that is looked for in what a model says. A
// shorter one is a word like "ollama", put in where a server wants any key.
const minScrubbed = 16

// scrub takes the key out of what a server says of an error.
func scrub(s, key string) string {
	if key == "" {
		return s
	}
	return strings.ReplaceAll(s, key, redacted)
}

// clean takes the key, and what is not UTF-8, out of a part of an answer.
func (a *ask) clean(s string) string {
	s = valid(s)
	if len(a.key) < minScrubbed {
		return s
	}
	return scrub(s, a.key)
}

// valid returns s with each byte replaced that is not UTF-8: the SDKs pass them
// on, and no JSON can hold them.
func valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	size := 0
	for _, r := range s {
		size += utf8.RuneLen(r)
	}
	var b strings.Builder
	b.Grow(size)
	for _, r := range s {
		b.WriteRune(r)
	}
	return b.String()
}

// runeFilter is valid for a text that comes in pieces: it keeps back a character
// of which a part is missing.
type runeFilter struct {
	kept string
}

func (f *runeFilter) write(piece string) string {
	s := f.kept + piece
	end := len(s)
	for n := 1; n < utf8.UTFMax && n <= len(s); n++ {
		if last := s[len(s)-n:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRuneInString(last) {
				end -= n
			}
			break
		}
	}
	f.kept = s[end:]
	return valid(s[:end])
}

func (f *runeFilter) close() string {
	kept := valid(f.kept)
	f.kept = ""
	return kept
}

// keyFilter is scrub for a text that comes in pieces: it keeps back what may be
// the beginning of the key.
type keyFilter struct {
	key, kept string
}

func (f *keyFilter) write(piece string) string {
	if len(f.key) < minScrubbed {
		return piece
	}
	s := scrub(f.kept+piece, f.key)
	n := overlap(s, f.key)
	f.kept = s[len(s)-n:]
	return s[:len(s)-n]
}

func (f *keyFilter) close() string {
	kept := f.kept
	f.kept = ""
	return kept
}

// overlap returns the length of the longest end of s that is a beginning of
// word, and not all of it.
func overlap(s, word string) int {
	for n := min(len(s), len(word)-1); n > 0; n-- {
		if strings.HasSuffix(s, word[:n]) {
			return n
		}
	}
	return 0
}

// The marks around reasoning that some models write into their text, when their
// server does not take it out.
const (
	thinkOpen  = "<think>"
	thinkClose = "</think>"
	whiteSpace = " \t\r\n"
)

// thinkFilter drops a block of reasoning at the beginning of a text, and the white
// space after it. One that never ends is dropped to the end.
//
// It looks at each byte once, and keeps at most maxKept of white space: a server may
// send it byte by byte.
type thinkFilter struct {
	state thinkState
	kept  []byte
	white int // how much of kept, at its beginning, is white space
}

// maxKept is how much white space may come before a block of reasoning. What has more
// has none.
const maxKept = 64 << 10

type thinkState int

const (
	thinkMaybe  thinkState = iota // only white space and a beginning of thinkOpen so far
	thinkInside                   // within the block
	thinkAfter                    // only white space since the block
	thinkOver                     // everything passes
)

func (f *thinkFilter) write(piece string) string {
	if f.state == thinkOver {
		return piece
	}
	f.kept = append(f.kept, piece...)
	if f.state == thinkMaybe && !f.begin() {
		return f.close()
	}
	if f.state == thinkInside {
		f.inside()
	}
	if f.state == thinkAfter {
		return f.trim()
	}
	return ""
}

// begin reports whether the text may still begin with a block.
func (f *thinkFilter) begin() bool {
	s := bytes.TrimLeft(f.kept[f.white:], whiteSpace)
	if f.white = len(f.kept) - len(s); f.white > maxKept {
		return false
	}
	if rest, ok := bytes.CutPrefix(s, []byte(thinkOpen)); ok {
		f.state, f.kept = thinkInside, rest
		return true
	}
	return len(s) < len(thinkOpen) && strings.HasPrefix(thinkOpen, string(s))
}

func (f *thinkFilter) inside() {
	if _, rest, ok := bytes.Cut(f.kept, []byte(thinkClose)); ok {
		f.state, f.kept = thinkAfter, rest
		return
	}
	end := f.kept[max(0, len(f.kept)-len(thinkClose)):]
	f.kept = append([]byte{}, end[len(end)-overlap(string(end), thinkClose):]...)
}

func (f *thinkFilter) trim() string {
	f.kept = bytes.TrimLeft(f.kept, whiteSpace)
	if len(f.kept) == 0 {
		return ""
	}
	return f.close()
}

func (f *thinkFilter) close() string {
	kept := string(f.kept)
	if f.state == thinkInside {
		kept = ""
	}
	f.state, f.kept = thinkOver, nil
	return kept
}

// watcher tells text as it comes, over all attempts of a call.
type watcher struct {
	emit   func(string)
	on     bool
	passed []byte
}

// attempt returns what tells the text of one further attempt: only what goes
// beyond what was told, and nothing once it differs.
func (w *watcher) attempt() func(string) {
	seen, same := 0, w.on
	return func(s string) {
		if !same {
			return
		}
		n := min(len(s), len(w.passed)-seen)
		if s[:n] != string(w.passed[seen:seen+n]) {
			same = false
			return
		}
		seen += len(s)
		if n < len(s) {
			w.passed = append(w.passed, s[n:]...)
			w.emit(s[n:])
		}
	}
}
