package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"github.com/wharf-dev/wharf/abi/plainly"
	"github.com/wharf-dev/wharf/runtime/provider/secret"
)

// place is a value in the file: where it stands, and what it is called. Reading
// it reports what is wrong with it, with its line, and takes down what it says.
type place struct {
	r    *fileReader
	path string
	node ast.Node
}

func (p place) problem(format string, args ...any) {
	p.r.report(p.node, p.path, fmt.Sprintf(format, args...))
}

// states takes down the value for those who ask what holds, and from where.
func (p place) states(text string) {
	p.r.layer.values = append(p.r.layer.values,
		Value{Setting: Setting{Member: Member{Name: p.path}}, Text: text, Origin: p.r.origin(p.node)})
}

func absent(n ast.Node) bool {
	switch n.(type) {
	case nil, *ast.NullNode, *ast.CommentNode, *ast.CommentGroupNode:
		return true
	}
	return false
}

// plain returns a scalar as it was written.
func (p place) plain() (string, bool) {
	if block, ok := p.node.(*ast.LiteralNode); ok {
		return block.Value.Value, true
	}
	scalar, ok := p.node.(ast.ScalarNode)
	if !ok {
		p.problem("has to be a single value%s", quotesHint(p.node))
		return "", false
	}
	return scalarText(scalar), true
}

// quotesHint is for a text with a colon, which may be taken for a mapping.
func quotesHint(n ast.Node) string {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "; put a text with a colon in quotes"
	}
	return ""
}

// members reads a mapping.
func (p place) members(read func(name string, key ast.Node, value place)) {
	var entries []*ast.MappingValueNode
	switch n := p.node.(type) {
	case *ast.MappingNode:
		entries = n.Values
	case *ast.MappingValueNode:
		entries = []*ast.MappingValueNode{n}
	default:
		p.problem("has to have members")
		return
	}
	for _, e := range entries {
		name := e.Key.GetToken().Value
		read(name, e.Key, place{p.r, p.path + "." + name, e.Value})
	}
}

// items reads a list; what is no list is a list of one.
func (p place) items(read func(item place)) {
	list, ok := p.node.(*ast.SequenceNode)
	if !ok {
		read(p)
		return
	}
	for i, n := range list.Values {
		read(place{p.r, fmt.Sprintf("%s[%d]", p.path, i), n})
	}
}

// texts reads a list of texts, each of which is to be valid.
func (p place) texts(valid func(string) error) []string {
	all := []string{}
	p.items(func(item place) {
		text, ok := item.plain()
		if !ok {
			return
		}
		if err := valid(text); err != nil {
			item.problem("%s", err)
			return
		}
		all = append(all, text)
	})
	p.states("[" + strings.Join(all, ", ") + "]")
	return all
}

// reference reads {secret: NAME}.
func (p place) reference() string {
	name := ""
	p.members(func(member string, key ast.Node, value place) {
		if member != "secret" {
			p.r.report(key, p.path, fmt.Sprintf("has no member %q: write {secret: NAME}", member))
			return
		}
		text, ok := value.plain()
		if ok && text == "" {
			value.problem("names no secret")
		}
		name = text
	})
	if name != "" {
		p.states("{secret: " + name + "}")
	}
	return name
}

// textOrSecret reads a text, which may hold handles of secrets, or {secret: NAME},
// which is the same as its handle.
func (p place) textOrSecret() string {
	switch p.node.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return secret.Handle(p.reference())
	}
	text, ok := p.plain()
	if ok {
		p.states(text)
	}
	return text
}

// json reads any value as JSON, with the members of objects in order.
func (p place) json() jsontext.Value {
	var value any
	if err := yaml.NodeToValue(p.node, &value); err != nil {
		p.problem("cannot be read: %s", firstLine(err))
		return nil
	}
	text, err := json.Marshal(value, json.Deterministic(true))
	if err != nil {
		p.problem("is no JSON: %s", plainly.Say(err))
		return nil
	}
	p.states(string(text))
	return text
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// member is a Member of things of the type T.
type member[T any] struct {
	Member
	read func(*T, place)
}

// memberOf declares a member of a kind.
func memberOf[T, V any](name string, k kind[V], at func(*T) *V, doc string) member[T] {
	return member[T]{Member{name, k.name, k.bounds, doc}, func(t *T, p place) {
		text, ok := p.plain()
		if !ok {
			return
		}
		canonical, err := k.into(at(t), text)
		if err != nil {
			p.problem("%s", err)
			return
		}
		p.states(canonical)
	}}
}

// texts declares a list of texts, each of which is to be valid.
func texts[T any](name, doc string, at func(*T) *[]string, valid func(string) error) member[T] {
	return member[T]{Member{Name: name, Kind: "list", Doc: doc}, func(t *T, p place) { *at(t) = p.texts(valid) }}
}

// secrets declares texts by name, which may hold handles of secrets.
func secrets[T any](name, doc string, at func(*T) *map[string]string) member[T] {
	return member[T]{Member{Name: name, Kind: "texts by name, which may hold {{secret:NAME}}; or {secret: NAME}", Doc: doc}, func(t *T, p place) {
		*at(t) = map[string]string{}
		p.members(func(key string, _ ast.Node, value place) { (*at(t))[key] = value.textOrSecret() })
	}}
}

// read fills t from a mapping.
func readMembers[T any](p place, t *T, members []member[T]) {
	p.members(func(name string, key ast.Node, value place) {
		i := slices.IndexFunc(members, func(m member[T]) bool { return m.Name == name })
		switch {
		case i < 0:
			p.r.report(key, "", unknownMember(p.path, name, members))
		case !absent(value.node):
			members[i].read(t, value)
		}
	})
}

func unknownMember[T any](path, name string, members []member[T]) string {
	var all []string
	for _, m := range members {
		all = append(all, m.Name)
	}
	if best := plainly.Nearest(name, slices.Values(all)); best != "" {
		return fmt.Sprintf("there is no setting %q: did you mean %q?", path+"."+name, path+"."+best)
	}
	return fmt.Sprintf("there is no setting %q: %s has %s", path+"."+name, path, strings.Join(all, ", "))
}
