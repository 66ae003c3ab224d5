package skillmd

import (
	"bytes"
	"errors"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/wharf-dev/wharf/runtime/filetree"
)

// The types of files that a skill may have, by what their names end in.
var (
	usualTypes = []string{".md", ".py", ".js", ".ts", ".json", ".yaml", ".jinja", ".txt"}
	rareTypes  = []string{".yml", ".csv", ".sh"}
)

const (
	assets      = "assets/" // the folder that may hold anything
	licenseFile = "LICENSE"
)

// Check says what is wrong with a skill, and what it is.
func Check(t *filetree.Tree) *Report {
	r := &Report{Errors: []Finding{}, Warnings: []Finding{}}
	for i := range t.Files {
		r.checkFile(&t.Files[i])
	}
	if file := t.File(FileName); file != nil {
		r.checkSkill(t, file.Content)
	} else {
		r.missing(t)
	}
	r.sort()
	return r
}

// Refused returns the report for a tree that could not be read because of what is in it; false
// for other errors, which say nothing of the skill.
func Refused(err error) (*Report, bool) {
	refusal, ok := errors.AsType[*filetree.Refusal](err)
	if !ok {
		return nil, false
	}
	r := &Report{Errors: []Finding{}, Warnings: []Finding{}}
	r.fail(Code(refusal.Code), refusal.File, 0, "%s", refusal.Reason)
	return r, true
}

// missing says that there is no SKILL.md, and where it may be.
func (r *Report) missing(t *filetree.Tree) {
	for i := range t.Files {
		if found := t.Files[i].Path; strings.EqualFold(path.Base(found), FileName) {
			r.fail(SkillMissing, found, 0, "the skill is described in a file %s right in its folder: move or rename this one", FileName)
			return
		}
	}
	r.fail(SkillMissing, FileName, 0, "there is no %s in the folder: write one, with the skill's name and description between two lines ---", FileName)
}

// checkFile holds a file against the types that there may be.
func (r *Report) checkFile(f *filetree.File) {
	if strings.HasPrefix(f.Path, assets) || f.Path == FileName {
		return
	}
	kind := strings.ToLower(path.Ext(f.Path))
	rare := slices.Contains(rareTypes, kind) || path.Base(f.Path) == licenseFile
	switch {
	case !rare && !slices.Contains(usualTypes, kind):
		r.fail(FileTypeUnknown, f.Path, 0, "files of this type may be under %s alone: move it there, or leave it out. Elsewhere there may be %s", assets, strings.Join(usualTypes, " "))
	case !utf8.Valid(f.Content) || bytes.IndexByte(f.Content, 0) >= 0:
		r.fail(FileBinary, f.Path, 0, "it is not text in UTF-8: move it under %s, or save it as UTF-8", assets)
	case rare:
		r.warn(FileTypeRare, f.Path, 0, "not every harness takes files of this type: where it has to, use one of %s", strings.Join(usualTypes, " "))
	}
}

// checkSkill reads SKILL.md.
func (r *Report) checkSkill(t *filetree.Tree, text []byte) {
	if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		r.fail(SkillNotUTF8, FileName, 1+bytes.Count(text[:invalidAt(text)], []byte("\n")), "it is not text in UTF-8: save it as UTF-8")
		return
	}
	front, body, ok := r.split(string(text))
	if !ok {
		return
	}
	fields, ok := r.parse(front)
	if !ok {
		return
	}
	r.Skill = r.read(fields, t.Root)
	r.Skill.BodyLine = body
	r.Skill.Files, r.Skill.Bytes = Files(t), t.Bytes()
	r.Skill.Digest = Digest(r.Skill.Files)
}

// invalidAt returns where a text stops to be one.
func invalidAt(text []byte) int {
	for at := 0; at < len(text); {
		c, size := utf8.DecodeRune(text[at:])
		if c == 0 || c == utf8.RuneError && size == 1 {
			return at
		}
		at += size
	}
	return len(text)
}

// maxFront bounds the front matter, in bytes: the parser's time grows faster than its text.
const maxFront = 64 << 10

// split returns the front matter of a SKILL.md, and the line at which the instructions begin.
func (r *Report) split(text string) (front string, body int, ok bool) {
	first, rest, _ := strings.Cut(strings.TrimPrefix(text, "\ufeff"), "\n")
	if strings.TrimRight(first, " \t\r") != "---" {
		r.fail(FrontMatterMissing, FileName, 1, "it has to begin with a line ---, the skill's name and description, and another line ---")
		return "", 0, false
	}
	length, after, closed := closing(rest)
	switch {
	case length > maxFront:
		r.fail(FrontMatterTooLarge, FileName, 1, "what is between the lines --- has more than %d bytes: move text below them", maxFront)
		return "", 0, false
	case !closed:
		r.fail(FrontMatterUnclosed, FileName, 1, "the line --- that ends the front matter is missing: put one before the instructions")
		return "", 0, false
	}
	body = 3 + strings.Count(rest[:length], "\n")
	instructions := rest[after:]
	if strings.TrimSpace(instructions) == "" {
		r.warn(BodyEmpty, FileName, body, "there are no instructions below the front matter: say what a model should do")
		return rest[:length], body, true
	}
	blank := instructions[:len(instructions)-len(strings.TrimLeft(instructions, " \t\r\n"))]
	return rest[:length], body + strings.Count(blank, "\n"), true
}

// closing finds the line that ends a front matter: how long the text before it is, and where
// the text after it begins.
func closing(rest string) (length, after int, closed bool) {
	for at := 0; at < len(rest); {
		line, _, more := strings.Cut(rest[at:], "\n")
		next := at + len(line)
		if more {
			next++
		}
		if strings.TrimRight(line, " \t\r") == "---" {
			return at, next, true
		}
		at = next
	}
	return len(rest), len(rest), false
}
