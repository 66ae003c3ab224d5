package oaf

import (
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// kind is what a value of a front matter is.
type kind int

const (
	nothing kind = iota
	text
	other // a number, true or false
	listKind
	mapping
)

// node is a value of a front matter.
type node struct {
	kind    kind
	value   string // of a text, and of another as it is written
	items   []node
	entries []entry
	block   bool // a mapping with its keys on lines of their own
}

// entry is a key of a mapping and its value. Lines are counted from 0, columns from 1.
type entry struct {
	key          string
	line, column int
	value        node
}

// fileLine is the line of its file that an entry of a front matter stands in.
func (e *entry) fileLine() int { return e.line + 2 }

func (n *node) get(key string) *entry {
	for i := range n.entries {
		if n.entries[i].key == key {
			return &n.entries[i]
		}
	}
	return nil
}

// parseYAML reads what skillmd.ReadFront has let through.
func parseYAML(front string) (node, error) {
	doc, err := parser.ParseBytes([]byte(strings.ReplaceAll(front, "\r\n", "\n")), 0, parser.AllowDuplicateMapKey())
	if err != nil || len(doc.Docs) == 0 {
		return node{}, err
	}
	return nodeOf(doc.Docs[0].Body), nil
}

func nodeOf(n ast.Node) node {
	switch n := n.(type) {
	case *ast.StringNode:
		return node{kind: text, value: n.Value}
	case *ast.LiteralNode:
		return node{kind: text, value: n.Value.Value}
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return node{kind: other, value: n.GetToken().Value}
	case *ast.SequenceNode:
		out := node{kind: listKind}
		for _, item := range n.Values {
			out.items = append(out.items, nodeOf(item))
		}
		return out
	case *ast.MappingNode:
		out := node{kind: mapping, block: !n.IsFlowStyle}
		for _, v := range n.Values {
			out.entries = append(out.entries, entryOf(v))
		}
		return out
	case *ast.MappingValueNode:
		return node{kind: mapping, block: true, entries: []entry{entryOf(n)}}
	}
	return node{}
}

func entryOf(v *ast.MappingValueNode) entry {
	at := v.Key.GetToken()
	return entry{key: at.Value, line: at.Position.Line - 1, column: at.Position.Column, value: nodeOf(v.Value)}
}

// flow writes a value in one line.
func (n *node) flow() string {
	switch n.kind {
	case text:
		return quote(n.value)
	case other:
		return n.value
	case listKind:
		parts := make([]string, len(n.items))
		for i := range n.items {
			parts[i] = n.items[i].flow()
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case mapping:
		parts := make([]string, len(n.entries))
		for i := range n.entries {
			parts[i] = quote(n.entries[i].key) + ": " + n.entries[i].value.flow()
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return "null"
}

// textNode, listNode and numberNode are values that are written.
func textNode(s string) node { return node{kind: text, value: s} }

func numberNode(literal string) node { return node{kind: other, value: literal} }

func listNode(texts []string) node {
	n := node{kind: listKind}
	for _, t := range texts {
		n.items = append(n.items, textNode(t))
	}
	return n
}

// breaks are characters that end a line in YAML or are none there, and that JSON leaves as they are.
var breaks = strings.NewReplacer("\u0085", `\u0085`, "\u2028", `\u2028`, "\u2029", `\u2029`, "\ufeff", `\ufeff`, "\x7f", `\u007f`)

// quote writes a text as YAML and JSON both have it.
func quote(s string) string {
	b, err := json.Marshal(strings.ToValidUTF8(s, "\ufffd"))
	if err != nil {
		return `""` // what is valid can be marshaled
	}
	return breaks.Replace(string(b))
}
