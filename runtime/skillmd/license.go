package skillmd

import (
	"regexp"
	"strings"
)

// licenseWord is an id of a license or of an exception, as SPDX writes them.
var licenseWord = regexp.MustCompile(`^((DocumentRef-[A-Za-z0-9.-]+:)?LicenseRef-[A-Za-z0-9.-]+|[A-Za-z0-9][A-Za-z0-9.-]*\+?)$`)

// checkLicense warns of a license that is not written as SPDX does. Whether there is a license of
// that name is not looked up.
func (s *reading) checkLicense(f *field) {
	if s.skill.License != "" && !spdx(s.skill.License) {
		s.warn(LicenseNotSPDX, FileName, f.line, "the license is not written as SPDX does (spdx.org/licenses): use an id such as Apache-2.0 or MIT")
	}
}

// spdx reports whether a text has the form of an SPDX expression.
func spdx(text string) bool {
	e := expression{strings.Fields(strings.NewReplacer("(", " ( ", ")", " ) ").Replace(text)), 0}
	return e.either() && len(e.words) == 0
}

// maxLicenseDepth bounds parentheses in one another.
const maxLicenseDepth = 16

// expression is what is left of an SPDX expression.
type expression struct {
	words []string
	depth int
}

// next takes a word off when it is the given one.
func (e *expression) next(word string) bool {
	if len(e.words) == 0 || e.words[0] != word {
		return false
	}
	e.words = e.words[1:]
	return true
}

// either reads terms with AND and OR between them: which binds first does not matter to their form.
func (e *expression) either() bool {
	for e.term() {
		if !e.next("AND") && !e.next("OR") {
			return true
		}
	}
	return false
}

// term reads a license, with or without an exception, or an expression in parentheses.
func (e *expression) term() bool {
	if e.next("(") {
		e.depth++
		ok := e.depth <= maxLicenseDepth && e.either() && e.next(")")
		e.depth--
		return ok
	}
	return e.word() && (!e.next("WITH") || e.word())
}

func (e *expression) word() bool {
	if len(e.words) == 0 || !licenseWord.MatchString(e.words[0]) {
		return false
	}
	switch e.words[0] {
	case "AND", "OR", "WITH":
		return false
	}
	e.words = e.words[1:]
	return true
}
