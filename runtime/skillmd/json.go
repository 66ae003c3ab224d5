package skillmd

import (
	"errors"
	"math"

	"github.com/goccy/go-yaml/ast"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// FrontJSON returns the front matter of a SKILL.md as JSON, with all its keys in their order, also
// those that nobody reads here. What JSON has no word for, such as .inf, is null.
func FrontJSON(text []byte) (jsontext.Value, error) {
	r := &Report{}
	front := r.front(text)
	if front == nil {
		return nil, errors.New("the front matter cannot be read")
	}
	fields, ok := r.parse(front.Text)
	if !ok {
		return nil, errors.New("the front matter cannot be read")
	}
	return object(fields)
}

func object(fields []field) (jsontext.Value, error) {
	b := []byte{'{'}
	for i, f := range fields {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = jsontext.AppendQuote(b, f.key); err != nil {
			return nil, err
		}
		value, err := asJSON(f.value)
		if err != nil {
			return nil, err
		}
		b = append(append(b, ':'), value...)
	}
	return append(b, '}'), nil
}

func asJSON(n ast.Node) (jsontext.Value, error) {
	if value, ok := text(n); ok {
		return json.Marshal(value)
	}
	switch n := n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		fields, _ := (&Report{}).mapping(n) // of a key that is there twice, the first counts
		return object(fields)
	case *ast.SequenceNode:
		return array(n.Values)
	case *ast.IntegerNode:
		return json.Marshal(n.Value)
	case *ast.FloatNode:
		if !math.IsInf(n.Value, 0) && !math.IsNaN(n.Value) {
			return json.Marshal(n.Value)
		}
	case *ast.BoolNode:
		return json.Marshal(n.Value)
	}
	return jsontext.Value("null"), nil
}

func array(values []ast.Node) (jsontext.Value, error) {
	b := []byte{'['}
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		value, err := asJSON(v)
		if err != nil {
			return nil, err
		}
		b = append(b, value...)
	}
	return append(b, ']'), nil
}
