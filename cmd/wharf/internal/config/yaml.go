package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// Syntax returns the line of a text that is no YAML, and what is wrong there: by an error of the YAML
// library, which speaks of its own tokens. The line is 0 where the error is not one of syntax.
func Syntax(err error) (line int, message string) {
	var detail yaml.Error
	if !errors.As(err, &detail) || detail.GetToken() == nil {
		return 0, firstLine(err)
	}
	token := detail.GetToken()
	return token.Position.Line, syntaxWords(detail.GetMessage())
}

// syntaxWords says what people have done who get a message of the YAML library.
func syntaxWords(message string) string {
	const columns = "lines of one level begin in the same column"
	switch {
	case strings.HasPrefix(message, "mapping value is not allowed"):
		return `the indentation of this line and the next does not fit together, or a value with ": " in it has no quotes: ` + columns
	case strings.HasPrefix(message, "value is not allowed in this context. map key-value"):
		return "something follows the value: put a value with quotes in it into quotes of the other kind"
	case strings.HasPrefix(message, "value is not allowed"):
		return "the indentation of this line fits none above it: " + columns
	case strings.HasPrefix(message, "found character '\t'"):
		return "a tab is in the indentation: YAML takes spaces alone"
	case strings.HasPrefix(message, "non-map value"):
		return "this is not NAME: VALUE, as the lines around it are"
	case strings.HasPrefix(message, "could not find end character"):
		return "a quote is opened and not closed"
	case strings.HasSuffix(message, "is a reserved character"):
		return "a value that begins with " + strings.TrimSuffix(message, " is a reserved character") + " needs quotes"
	case strings.Contains(message, "end token"):
		return "a bracket is opened and not closed"
	case strings.Contains(message, "already defined at"):
		name, at, _ := strings.Cut(strings.TrimPrefix(message, "mapping key "), " already defined at [")
		first, _, _ := strings.Cut(at, ":")
		return name + " is there twice: first in line " + first
	}
	return "this is no YAML: " + message
}

// references are what a file has of YAML's anchors, aliases and merges. A value is read where it stands,
// so that what is wrong with it has one line.
func references(name string, doc *ast.File) Problems {
	v := &referenceFinder{}
	for _, d := range doc.Docs {
		if d.Body != nil {
			ast.Walk(v, d.Body)
		}
	}
	var found Problems
	slices.Sort(v.lines)
	for _, line := range slices.Compact(v.lines) {
		found = append(found, Problem{Origin: fmt.Sprintf("%s:%d", name, line),
			Message: "anchors (&name), aliases (*name) and merges (<<) of YAML are not read here: write the value out where it is used, or put it in quotes"})
	}
	return found
}

// referenceFinder takes down where there are references.
type referenceFinder struct{ lines []int }

// Visit implements [ast.Visitor].
func (f *referenceFinder) Visit(n ast.Node) ast.Visitor {
	switch n.(type) {
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode:
		f.lines = append(f.lines, n.GetToken().Position.Line)
	}
	return f
}
