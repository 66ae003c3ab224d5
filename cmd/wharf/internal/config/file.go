package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/wharf-dev/wharf/abi/plainly"
)

// fileReader walks a YAML document and takes down what it states.
type fileReader struct {
	name     string
	layer    layer
	problems Problems
}

// maxFile bounds a configuration file, in bytes: the parser's time grows with the square
// of how many keys there are.
const maxFile = 256 << 10

// parseFile reads a configuration file. Values are kept as text: each setting
// parses its own, so that a problem can be reported with its line.
func parseFile(name string, content []byte) (layer, Problems) {
	r := &fileReader{name: name, layer: newLayer()}
	if len(content) > maxFile {
		return r.layer, Problems{{Origin: name, Message: fmt.Sprintf("has %d bytes, more than the %d of a configuration file", len(content), maxFile)}}
	}
	doc, err := parser.ParseBytes(content, 0)
	if err != nil {
		return r.layer, Problems{syntaxProblem(name, err)}
	}
	if len(doc.Docs) > 1 {
		return r.layer, Problems{{Origin: name, Message: "holds more than one YAML document"}}
	}
	if found := references(name, doc); len(found) > 0 {
		return r.layer, found
	}
	for _, d := range doc.Docs {
		r.node("", d.Body)
	}
	return r.layer, r.problems
}

func syntaxProblem(name string, err error) Problem {
	line, message := Syntax(err)
	if line > 0 {
		name = fmt.Sprintf("%s:%d", name, line)
	}
	return Problem{Origin: name, Message: message}
}

func (r *fileReader) node(path string, n ast.Node) {
	switch n := n.(type) {
	case nil, *ast.NullNode, *ast.CommentNode, *ast.CommentGroupNode:
		return
	case *ast.MappingNode:
		for _, v := range n.Values {
			r.entry(path, v)
		}
	case *ast.MappingValueNode:
		r.entry(path, n)
	default:
		r.scalar(path, n)
	}
}

func (r *fileReader) entry(path string, v *ast.MappingValueNode) {
	key := v.Key.GetToken().Value
	if path != "" {
		key = path + "." + key
	}
	section := sectionOf(path)
	switch {
	case isGroup(key), lookup(key) != nil:
		r.node(key, v.Value)
	case section != nil:
		r.named(section, v)
	default:
		r.report(v.Key, "", unknown(key))
	}
}

// named reads what a section calls by a name.
func (r *fileReader) named(s *Section, v *ast.MappingValueNode) {
	name := v.Key.GetToken().Value
	path := s.Name + "." + name
	if err := s.valid(name); err != nil {
		r.report(v.Key, path, err.Error())
		return
	}
	if absent(v.Value) {
		r.report(v.Key, path, "is empty")
		return
	}
	s.read(&r.layer.named, name, place{r, path, v.Value})
}

func (r *fileReader) scalar(path string, n ast.Node) {
	scalar, ok := n.(ast.ScalarNode)
	switch {
	case path == "":
		r.report(n, "", "is not a mapping of settings")
	case isGroup(path):
		r.report(n, path, "is a group of settings, and has no value of its own")
	case !ok:
		r.report(n, path, "has to be a single value")
	case r.layer.origins[path] != "":
		r.report(n, path, "was set before, at "+r.layer.origins[path])
	default:
		r.layer.put(path, scalarText(scalar), r.origin(n))
	}
}

// scalarText returns the value as it was written, so that 1_000 and 0x10 reach
// the setting's own parser, which says what it takes.
func scalarText(n ast.ScalarNode) string {
	if s, ok := n.(*ast.StringNode); ok {
		return s.Value
	}
	return strings.TrimSpace(n.GetToken().Value)
}

func (r *fileReader) report(n ast.Node, setting, message string) {
	r.problems = append(r.problems, Problem{Origin: r.origin(n), Setting: setting, Message: message})
}

func (r *fileReader) origin(n ast.Node) string {
	return fmt.Sprintf("%s:%d", r.name, n.GetToken().Position.Line)
}

func isGroup(name string) bool {
	for _, g := range Groups() {
		if g.Name == name && name != "" {
			return true
		}
	}
	return sectionOf(name) != nil
}

// unknown says that there is no such setting, and which one may have been meant.
func unknown(name string) string {
	if near := nearest(name); near != "" {
		return fmt.Sprintf("there is no setting %q: did you mean %q?", name, near)
	}
	return fmt.Sprintf("there is no setting %q: \"wharf config init\" lists them all", name)
}

// nearest returns the setting or group whose name differs least from name, or ""
// when none is near.
func nearest(name string) string {
	return cmp.Or(plainly.Nearest(name, slices.Values(spellable(name))), sameKey(name))
}

// spellable are the names that may have been meant by name.
func spellable(name string) []string {
	var all []string
	for _, s := range Settings() {
		all = append(all, s.Name)
	}
	for _, g := range Groups() {
		if g.Name != "" && !strings.Contains(name, ".") {
			all = append(all, g.Name)
		}
	}
	for _, s := range Sections() {
		if strings.Contains(s.Name, ".") && strings.Contains(name, ".") {
			all = append(all, s.Name)
		}
	}
	return all
}

// sameKey finds the setting of another group with name's last part, for what was
// written under the wrong heading.
func sameKey(name string) string {
	key := name[strings.LastIndexByte(name, '.')+1:]
	for _, s := range Settings() {
		if s.Key() == key {
			return s.Name
		}
	}
	return ""
}
