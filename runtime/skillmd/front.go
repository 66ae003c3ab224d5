package skillmd

import (
	"errors"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// The bounds of a front matter, which are looked at before it is parsed.
const (
	maxKeys  = 500
	maxNests = 8 // lists and mappings in one another, of those in one line
)

// field is a key of a front matter and its value. Lines are those of SKILL.md.
type field struct {
	key   string
	line  int
	value ast.Node
}

// fileLine returns the line in SKILL.md of a line of the front matter.
func fileLine(line int) int { return line + 1 }

// parse reads a front matter.
func (r *Report) parse(front string) ([]field, bool) {
	front = strings.ReplaceAll(front, "\r\n", "\n")
	if at := strings.IndexByte(front, '\r'); at >= 0 { // which ends a line in YAML, and in nothing else
		r.fail(YAMLInvalid, FileName, fileLine(1+strings.Count(front[:at], "\n")), "it holds a carriage return that ends no line: save it with usual line ends")
		return nil, false
	}
	if !r.checkTokens(lexer.Tokenize(front)) {
		return nil, false
	}
	doc, err := parser.ParseBytes([]byte(front), 0, parser.AllowDuplicateMapKey())
	if err != nil {
		r.syntax(err)
		return nil, false
	}
	if len(doc.Docs) > 1 {
		r.fail(YAMLInvalid, FileName, 1, "the front matter is more than one YAML document: leave out the line ...")
		return nil, false
	}
	var body ast.Node
	if len(doc.Docs) == 1 {
		body = doc.Docs[0].Body
	}
	return r.fields(body)
}

// syntax says where a text is no YAML, as the parser puts it.
func (r *Report) syntax(err error) {
	detail, ok := errors.AsType[yaml.Error](err)
	if !ok || detail.GetToken() == nil {
		r.fail(YAMLInvalid, FileName, 1, "the front matter is no YAML: %s", err)
		return
	}
	r.fail(YAMLInvalid, FileName, fileLine(detail.GetToken().Position.Line), "the front matter is no YAML here: %s", detail.GetMessage())
}

// checkTokens refuses what takes a parser long, or makes much of little.
func (r *Report) checkTokens(tokens token.Tokens) bool {
	keys, nests, flow, line := 0, 0, 0, 0
	for _, t := range tokens {
		if t.Position.Line != line {
			line, nests = t.Position.Line, 0
		}
		switch t.Type {
		case token.AnchorType, token.AliasType, token.MergeKeyType:
			r.fail(YAMLAlias, FileName, fileLine(line), "the front matter takes no anchors and aliases (& * <<): write the value out, or put quotes around text")
			return false
		case token.TagType, token.DirectiveType:
			r.fail(YAMLTag, FileName, fileLine(line), "the front matter takes no tags and directives (! %%): put quotes around text")
			return false
		case token.MappingValueType:
			keys++
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow--
		case token.SequenceEntryType, token.MappingKeyType:
			nests++
		}
		if keys > maxKeys || flow > maxNests || nests > maxNests {
			r.fail(YAMLTooDeep, FileName, fileLine(line), "the front matter has more keys, or lists in one another, than it takes (%d, %d): make it simpler", maxKeys, maxNests)
			return false
		}
	}
	return true
}

// fields lists the keys of the front matter, once each.
func (r *Report) fields(n ast.Node) ([]field, bool) {
	switch n.(type) {
	case nil, *ast.NullNode, *ast.CommentGroupNode:
		return nil, true
	}
	entries, ok := r.mapping(n)
	if !ok {
		r.fail(YAMLInvalid, FileName, fileLine(n.GetToken().Position.Line), "the front matter has to be lines like name: my-skill")
	}
	return entries, ok
}

// mapping lists the keys of a mapping, and says which are there twice; false when it is none.
func (r *Report) mapping(n ast.Node) ([]field, bool) {
	m, ok := n.(*ast.MappingNode)
	if !ok {
		single, ok := n.(*ast.MappingValueNode)
		if !ok {
			return nil, false
		}
		m = &ast.MappingNode{Values: []*ast.MappingValueNode{single}}
	}
	var fields []field
	lines := map[string]int{}
	for _, v := range m.Values {
		at := v.Key.GetToken()
		key, line := at.Value, fileLine(at.Position.Line)
		if before, twice := lines[key]; twice {
			r.fail(KeyDuplicate, FileName, line, "%q is there twice, first in line %d: remove one", key, before)
			continue
		}
		lines[key] = line
		fields = append(fields, field{key, line, v.Value})
	}
	return fields, true
}

// text returns the value of a string; false for another one.
func text(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	}
	return "", false
}

// scalar returns a value that is no string as it is written; false for lists, mappings and nothing.
func scalar(n ast.Node) (string, bool) {
	switch n.(type) {
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	}
	return "", false
}
