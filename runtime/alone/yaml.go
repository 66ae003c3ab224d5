package alone

import (
	"errors"
	"fmt"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// The bounds of a file.
const (
	maxFile   = 4 << 20
	maxTokens = 200_000
	maxDepth  = 64
)

// Problem is a mistake in a file.
type Problem struct {
	File         string
	Line, Column int // from 1; 0 for none
	Message      string
}

// Error implements the error interface.
func (p *Problem) Error() string {
	switch {
	case p.Line == 0:
		return p.File + ": " + p.Message
	case p.Column == 0:
		return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
}

// node is a value of a file. Its members keep their order.
type node struct {
	file         string
	line, column int
	scalar       jsontext.Value // of what has no parts
	kind         jsontext.Kind
	names        []string // of an object
	parts        []node
}

func (n *node) problem(format string, args ...any) error {
	return &Problem{n.file, n.line, n.column, fmt.Sprintf(format, args...)}
}

// get returns a member; nil when there is none.
func (n *node) get(name string) *node {
	for i := range n.names {
		if n.names[i] == name {
			return &n.parts[i]
		}
	}
	return nil
}

// only refuses members other than those named.
func (n *node) only(what string, names ...string) error {
	if n.kind != '{' {
		return n.problem("%s is a mapping with the members %s", what, strings.Join(names, ", "))
	}
next:
	for i, name := range n.names {
		for _, known := range names {
			if name == known {
				continue next
			}
		}
		return n.parts[i].problem("%s has no member %q; it has %s", what, name, strings.Join(names, ", "))
	}
	return nil
}

// text returns a string.
func (n *node) text(what string) (string, error) {
	var s string
	if n.kind != '"' || json.Unmarshal(n.scalar, &s) != nil {
		return "", n.problem("%s is a text: put quotes around it", what)
	}
	return s, nil
}

// json returns the value as JSON.
func (n *node) json() jsontext.Value { return n.appendJSON(nil) }

func (n *node) appendJSON(b []byte) []byte {
	if n.kind != '{' && n.kind != '[' {
		return append(b, n.scalar...)
	}
	b = append(b, byte(n.kind))
	for i := range n.parts {
		if i > 0 {
			b = append(b, ',')
		}
		if n.kind == '{' {
			b = append(append(b, quoted(n.names[i])...), ':')
		}
		b = n.parts[i].appendJSON(b)
	}
	if n.kind == '{' {
		return append(b, '}')
	}
	return append(b, ']')
}

func quoted(s string) []byte {
	b, err := jsontext.AppendQuote(nil, s)
	if err != nil { // which YAML's reader has let through
		b, _ = jsontext.AppendQuote(nil, strings.ToValidUTF8(s, "\ufffd"))
	}
	return b
}

// readFile reads a file of YAML or JSON. Errors are a [*Problem].
func readFile(file string, text []byte) (*node, error) {
	if len(text) > maxFile {
		return nil, &Problem{File: file, Message: fmt.Sprintf("it has %d bytes; at most %d are read", len(text), maxFile)}
	}
	source := strings.ReplaceAll(string(text), "\r\n", "\n")
	if err := checkTokens(file, source); err != nil {
		return nil, err
	}
	doc, err := parser.ParseBytes([]byte(source), 0)
	if err != nil {
		if detail, ok := errors.AsType[yaml.Error](err); ok && detail.GetToken() != nil {
			at := detail.GetToken().Position
			return nil, &Problem{file, at.Line, at.Column, "it is no YAML here: " + detail.GetMessage()}
		}
		return nil, &Problem{File: file, Message: "it is no YAML: " + err.Error()}
	}
	if len(doc.Docs) != 1 || doc.Docs[0].Body == nil {
		return nil, &Problem{File: file, Message: "it holds no YAML document, or more than one"}
	}
	r := reader{file: file}
	return r.read(doc.Docs[0].Body, 0)
}

// checkTokens refuses what takes a parser long, or makes much of little.
func checkTokens(file, text string) error {
	for at, line := range strings.Split(text, "\n") {
		if indent := len(line) - len(strings.TrimLeft(line, " -?:\t")); indent > 4*maxDepth {
			return &Problem{file, at + 1, 0, fmt.Sprintf("it nests deeper than %d levels", maxDepth)}
		}
	}
	flow, tokens := 0, lexer.Tokenize(text)
	if len(tokens) > maxTokens {
		return &Problem{File: file, Message: fmt.Sprintf("it has more than %d parts", maxTokens)}
	}
	for _, t := range tokens {
		switch t.Type {
		case token.AnchorType, token.AliasType, token.MergeKeyType:
			return &Problem{file, t.Position.Line, t.Position.Column, "anchors and aliases (& * <<) are not taken: write the value out, or put quotes around text"}
		case token.TagType, token.DirectiveType:
			return &Problem{file, t.Position.Line, t.Position.Column, "tags and directives (! %) are not taken: put quotes around text"}
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow--
		}
		if flow > maxDepth {
			return &Problem{file, t.Position.Line, t.Position.Column, fmt.Sprintf("it nests deeper than %d levels", maxDepth)}
		}
	}
	return nil
}

// reader makes nodes of a document.
type reader struct{ file string }

func (r *reader) read(from ast.Node, depth int) (*node, error) {
	n := &node{file: r.file}
	if t := from.GetToken(); t != nil {
		n.line, n.column = t.Position.Line, t.Position.Column
	}
	if depth > maxDepth {
		return nil, n.problem("it nests deeper than %d levels", maxDepth)
	}
	switch from := from.(type) {
	case *ast.StringNode:
		n.kind, n.scalar = '"', quoted(from.Value)
	case *ast.LiteralNode:
		n.kind, n.scalar = '"', quoted(from.Value.Value)
	case *ast.NullNode:
		n.kind, n.scalar = 'n', jsontext.Value("null")
	case *ast.BoolNode:
		n.kind, n.scalar = 't', jsontext.Value(fmt.Sprint(from.Value))
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		n.kind, n.scalar = '0', jsontext.Value(from.GetToken().Value)
		if !n.scalar.IsValid() || n.scalar.Kind() != '0' {
			return nil, n.problem("%s is no number as JSON writes it: write it so, or put quotes around it", n.scalar)
		}
	case *ast.SequenceNode:
		n.kind = '['
		return n, r.items(n, from.Values, depth)
	case *ast.MappingNode:
		n.kind = '{'
		return n, r.members(n, from.Values, depth)
	case *ast.MappingValueNode:
		n.kind = '{'
		return n, r.members(n, []*ast.MappingValueNode{from}, depth)
	default:
		return nil, n.problem("this kind of YAML is not taken here")
	}
	return n, nil
}

func (r *reader) items(n *node, values []ast.Node, depth int) error {
	for _, v := range values {
		part, err := r.read(v, depth+1)
		if err != nil {
			return err
		}
		n.parts = append(n.parts, *part)
	}
	return nil
}

func (r *reader) members(n *node, values []*ast.MappingValueNode, depth int) error {
	known := map[string]bool{}
	for _, v := range values {
		key, ok := v.Key.(ast.Node)
		if !ok {
			return n.problem("this kind of key is not taken here")
		}
		name := key.GetToken().Value
		if known[name] {
			return &Problem{r.file, key.GetToken().Position.Line, key.GetToken().Position.Column, fmt.Sprintf("%q is there twice", name)}
		}
		known[name] = true
		part, err := r.read(v.Value, depth+1)
		if err != nil {
			return err
		}
		part.line, part.column = key.GetToken().Position.Line, key.GetToken().Position.Column
		n.names, n.parts = append(n.names, name), append(n.parts, *part)
	}
	return nil
}
