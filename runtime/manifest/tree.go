package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// The bounds of a manifest.
const (
	// MaxBytes is the size of the largest.
	MaxBytes = 256 << 10
	// maxDepth is how deep tables and lists may be nested, as deep as JSON Schemas may be.
	maxDepth = 64
	// maxKeys is how many keys and headings there may be: the library takes each together with all before it.
	maxKeys = 4000
)

const byteOrderMark = "\ufeff"

// kind says what a value is.
type kind string

const (
	aTable  kind = "a table"
	aList   kind = "a list"
	aText   kind = "a text"
	aNumber kind = "a number"
	aWhole  kind = "a whole number"
	aTruth  kind = "true or false"
	aTime   kind = "a date or a time"
)

// node is a value with its place.
type node struct {
	kind  kind
	at    int    // where the value is; a list is where its key is
	key   int    // where its key is
	text  string // of a text what it says, of a number, a truth or a time how it is written
	items []*node
	table
}

// table holds the members of a table in the order in which they are stated.
type table struct {
	names   []string
	members map[string]*node
	opened  bool // it has a heading of its own
}

func (n *node) put(name string, member *node) {
	if n.members == nil {
		n.members = map[string]*node{}
	}
	n.names = append(n.names, name)
	n.members[name] = member
}

// step is one part of a dotted key.
type step struct {
	name string
	at   int
}

// grower makes the tree of a text.
type grower struct {
	*reader
	parser unstable.Parser
	root   *node
	into   *node // the table that keys are put into; nil when its heading was refused
	depth  int   // of that
	stated int   // keys and headings so far
}

// grow makes the tree of a text, nil of one that is no TOML. Of a key that is stated twice the first
// counts, and a problem is told; the first mistake of syntax ends it.
func grow(r *reader, text []byte) *node {
	if !r.readable(text) {
		return nil
	}
	g := &grower{reader: r, root: &node{kind: aTable}}
	g.into = g.root
	g.parser.Reset(text)
	for g.parser.NextExpression() {
		g.take(g.parser.Expression())
		if g.stated > maxKeys {
			r.fail(TooLarge, 0, "", "it states more than %d keys and tables", "put long schemas into files of their own", maxKeys)
			return nil
		}
	}
	if err := g.parser.Error(); err != nil {
		r.syntax(&g.parser, err)
		return nil
	}
	if len(r.problems) == 0 && !r.agreed(text) {
		return nil
	}
	return g.root
}

// readable refuses what no TOML library needs to see.
func (r *reader) readable(text []byte) bool {
	if len(text) > MaxBytes {
		r.fail(TooLarge, 0, "", "it has %d bytes, more than the %d of a manifest", "put long schemas into files of their own", len(text), MaxBytes)
		return false
	}
	if at := firstInvalid(text); at >= 0 {
		r.fail(InvalidTOML, at, "", "this is no UTF-8", "save the file as UTF-8")
		return false
	}
	if at := bytes.IndexByte(text, 0); at >= 0 {
		r.fail(InvalidTOML, at, "", "there is a NUL character", "save the file as UTF-8, without control characters")
		return false
	}
	for at := 0; ; at++ {
		next := bytes.IndexByte(text[at:], '\r')
		if next < 0 {
			return true
		}
		if at += next; at+1 == len(text) || text[at+1] != '\n' {
			r.fail(InvalidTOML, at, "", "a carriage return stands alone, and ends no line", "save the file with LF or CRLF at the ends of lines")
			return false
		}
	}
}

func firstInvalid(text []byte) int {
	for at := 0; at < len(text); {
		c, size := utf8.DecodeRune(text[at:])
		if c == utf8.RuneError && size == 1 {
			return at
		}
		at += size
	}
	return -1
}

func (r *reader) syntax(parser *unstable.Parser, err error) {
	at := len(r.places.text)
	if wrong, ok := errors.AsType[*unstable.ParserError](err); ok {
		if len(wrong.Highlight) > 0 {
			at = int(parser.Range(wrong.Highlight).Offset)
		}
		err = errors.New(wrong.Message)
	}
	r.fail(InvalidTOML, at, "", "%s", "toml.io has the syntax", clip(err.Error()))
}

// agreed asks the library for what the tree does not know: numbers, dates, and tables that may not
// be added to.
func (r *reader) agreed(text []byte) bool {
	var all map[string]any
	err := toml.Unmarshal(text, &all)
	if err == nil {
		return true
	}
	at := 0
	if wrong, ok := errors.AsType[*toml.DecodeError](err); ok {
		at = r.places.offset(wrong.Position())
	}
	r.fail(InvalidTOML, at, "", "%s", "toml.io has the syntax", clip(strings.TrimPrefix(err.Error(), "toml: ")))
	return false
}

// take puts an expression into the tree.
func (g *grower) take(e *unstable.Node) {
	keys := g.keys(e)
	switch e.Kind {
	case unstable.Table, unstable.ArrayTable:
		g.into, g.depth = g.open(g.root, keys, e.Kind == unstable.ArrayTable), len(keys)
	case unstable.KeyValue:
		if g.into != nil {
			g.set(g.into, keys, e.Value(), g.depth)
		}
	}
}

func (g *grower) keys(e *unstable.Node) []step {
	var keys []step
	for it := e.Key(); it.Next(); {
		k := it.Node()
		keys = append(keys, step{string(k.Data), int(k.Raw.Offset)})
	}
	g.stated++
	return keys
}

// open returns the table that a heading names, nil when it may not be there.
func (g *grower) open(n *node, keys []step, list bool) *node {
	n = g.walk(n, keys, 0)
	if n == nil {
		return nil
	}
	last := keys[len(keys)-1]
	had := n.members[last.name]
	switch {
	case list && had == nil:
		had = &node{kind: aList, at: last.at, key: last.at, table: table{opened: true}} // a list that headings add to
		n.put(last.name, had)
		fallthrough
	case list && had.kind == aList && had.opened:
		entry := &node{kind: aTable, at: last.at, key: last.at, table: table{opened: true}}
		had.items = append(had.items, entry)
		return entry
	case had == nil:
		had = &node{kind: aTable, at: last.at, key: last.at, table: table{opened: true}}
		n.put(last.name, had)
		return had
	case had.kind == aTable && !had.opened && !list:
		had.opened = true
		return had
	}
	g.twice(last, had)
	return nil
}

// walk returns the table that the last of the keys is a member of. depth is how deep n is.
func (g *grower) walk(n *node, keys []step, depth int) *node {
	if depth+len(keys) > maxDepth {
		g.deep(keys[0].at)
		return nil
	}
	for _, k := range keys[:len(keys)-1] {
		next := n.members[k.name]
		if next == nil {
			next = &node{kind: aTable, at: k.at, key: k.at}
			n.put(k.name, next)
		}
		if next.kind == aList && next.opened {
			next = next.items[len(next.items)-1]
		}
		if next.kind != aTable {
			g.twice(k, next)
			return nil
		}
		n = next
	}
	return n
}

// set puts a value into a table.
func (g *grower) set(n *node, keys []step, value *unstable.Node, depth int) {
	n = g.walk(n, keys, depth)
	if n == nil {
		return
	}
	last := keys[len(keys)-1]
	if had := n.members[last.name]; had != nil {
		g.twice(last, had)
		return
	}
	n.put(last.name, g.value(value, last.at, depth+len(keys)))
}

func (g *grower) value(v *unstable.Node, key, depth int) *node {
	n := &node{at: key, key: key, kind: kindOf(v)}
	if v.Raw.Length > 0 {
		n.at = int(v.Raw.Offset)
	}
	if n.kind != aList && n.kind != aTable {
		n.text = string(v.Data)
		return n
	}
	if depth >= maxDepth {
		g.deep(n.at)
		return n
	}
	for it := v.Children(); it.Next(); {
		switch child := it.Node(); {
		case child.Kind == unstable.Comment:
		case n.kind == aTable:
			g.set(n, g.keys(child), child.Value(), depth)
		default:
			n.items = append(n.items, g.value(child, n.at, depth+1))
		}
	}
	return n
}

func kindOf(v *unstable.Node) kind {
	switch v.Kind {
	case unstable.Array:
		return aList
	case unstable.InlineTable:
		return aTable
	case unstable.String:
		return aText
	case unstable.Bool:
		return aTruth
	case unstable.Integer:
		return aWhole
	case unstable.Float:
		return aNumber
	}
	return aTime
}

func (g *grower) twice(k step, had *node) {
	first := g.places.at(had.key)
	g.fail(DuplicateKey, k.at, k.name, "%s is stated twice, first in line %d", "keep one of them", quote(k.name), first.Line)
}

func (g *grower) deep(at int) {
	g.fail(InvalidTOML, at, "", "it is nested deeper than %d", "put long schemas into files of their own", maxDepth)
}

// maxShown is how many bytes of what a manifest holds are told again.
const maxShown = 200

// clip shortens what may be long.
func clip(text string) string {
	if len(text) <= maxShown {
		return text
	}
	return strings.ToValidUTF8(text[:maxShown], "") + " …"
}

// quote puts what a manifest holds between quotes, short and without control characters.
func quote(text string) string { return fmt.Sprintf("%q", clip(text)) }
