package skillmd

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Front is a text with a front matter, in its parts.
type Front struct {
	Text     string // between the lines ---; it begins at line 2
	Body     string // below them
	BodyLine int    // where the body says something, from 1
}

// ReadFront reads the front matter of another file than SKILL.md by the same rules, so that it
// holds no more than a parser takes quickly. What is wrong is said of that file.
func ReadFront(file string, text []byte) (*Front, []Finding) {
	r := &Report{}
	front := r.front(text)
	for i := range r.Errors {
		r.Errors[i].File = file
	}
	return front, r.Errors
}

func (r *Report) front(text []byte) *Front {
	if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		r.fail(SkillNotUTF8, FileName, 1+bytes.Count(text[:invalidAt(text)], []byte("\n")), "it is not text in UTF-8: save it as UTF-8")
		return nil
	}
	front, line, ok := r.split(string(text))
	if !ok {
		return nil
	}
	if _, ok := r.parse(front); !ok {
		return nil
	}
	_, rest, _ := strings.Cut(strings.TrimPrefix(string(text), "\ufeff"), "\n")
	_, after, _ := closing(rest)
	return &Front{Text: front, Body: rest[after:], BodyLine: line}
}

// SPDX reports whether a text has the form of an SPDX expression.
func SPDX(text string) bool { return spdx(text) }

// SemVer reports whether a text is a version as semver.org has it.
func SemVer(text string) bool { return versionForm.MatchString(text) }
