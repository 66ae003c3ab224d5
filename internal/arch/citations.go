package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

var (
	// citation is a document of ours in a comment, with the heading or the number in it that is meant.
	citation = regexp.MustCompile(`\b(docs/[\w-]+\.md)(?:, (?:"([^"]+)"|(\d+(?:\.\d+)*)))?`)
	// section is a chapter of some paper, with the RFC before it, if there is one.
	section = regexp.MustCompile(`(RFC \d+,? )?\bsection \d`)
)

// CheckCitations returns a sentence for each place that a comment of a Go file cites and
// that a reader cannot look up: a document of ours, or a heading or number in one, that is
// not there, and a section of what is not an RFC. root is the top of the repository.
func CheckCitations(root, name string) ([]string, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("parsing: %w", err)
	}
	var broken []string
	for _, group := range file.Comments {
		for _, b := range checkComment(root, oneLine(group)) {
			broken = append(broken, fmt.Sprintf("%s: %s", fset.Position(group.Pos()), b))
		}
	}
	return broken, nil
}

// oneLine is a comment without its marks and line ends.
func oneLine(group *ast.CommentGroup) string {
	return strings.Join(strings.Fields(group.Text()), " ")
}

func checkComment(root, text string) []string {
	var broken []string
	for _, s := range section.FindAllStringSubmatch(text, -1) {
		if s[1] == "" {
			broken = append(broken, fmt.Sprintf("%q is of a paper that is not in the tree: cite docs/protocol.md", s[0]))
		}
	}
	for _, c := range citation.FindAllStringSubmatch(text, -1) {
		if !cited(filepath.Join(root, c[1]), c[2], c[3]) {
			broken = append(broken, fmt.Sprintf("%s is not there", c[0]))
		}
	}
	return broken
}

// cited reports whether a document has a heading, or a heading or the row of a table with
// a number. Without either it is enough that the document exists.
func cited(document, heading, number string) bool {
	data, err := os.ReadFile(document)
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(data)) {
		title, isHeading := strings.CutPrefix(strings.TrimLeft(line, "#"), " ")
		isHeading = isHeading && line[0] == '#'
		switch {
		case isHeading && number != "" && numbered(title, number),
			isHeading && heading != "" && strings.TrimRight(title, "?\n") == heading,
			number != "" && strings.HasPrefix(line, "| "+number+" |"):
			return true
		}
	}
	return heading == "" && number == ""
}

// numbered reports whether a heading begins with a number: "9. Privacy", "5.1 The lifecycle".
func numbered(title, number string) bool {
	first, _, _ := strings.Cut(title, " ")
	return strings.TrimSuffix(first, ".") == number
}
