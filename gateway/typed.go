package gateway

import (
	"cmp"
	"reflect"
	"slices"

	jsonschema "github.com/wharf-dev/wharf/abi/schema"
)

// Typed makes schemas of the OpenAPI document from Go types: their members, which of them
// are always there, and what they hold. What a member means is in the tag `doc` of its field, or
// in its comment where the type is one of abi; [jsonschema.Builder.Object] has other tags.
type Typed struct {
	// Component returns the name of the component that a struct or a string type is; ""
	// for one that is described where it is used. nil: all are.
	Component func(t reflect.Type) string
}

// Object returns the schema of a struct.
func (of Typed) Object(t reflect.Type, doc string) Schema {
	return asMap(of.builder().Object(t, doc))
}

func (of Typed) builder() *jsonschema.Builder {
	return &jsonschema.Builder{Values: jsonschema.Values, Named: of.member,
		Comment: func(t reflect.Type, f reflect.StructField) string {
			return cmp.Or(f.Tag.Get("doc"), jsonschema.Comment(t, f))
		}}
}

// member is the schema of what a member holds: of a component, or here.
func (of Typed) member(t reflect.Type) *jsonschema.Schema {
	if of.Component != nil {
		if name := of.Component(t); name != "" {
			return &jsonschema.Schema{Ref: componentSchemas + name}
		}
	}
	if t.Kind() == reflect.String {
		return nil
	}
	return of.builder().Object(t, "")
}

// asMap is a schema as the OpenAPI document has it: integers count from 0, a raw JSON text
// is an object.
func asMap(s *jsonschema.Schema) Schema {
	m := Schema{}
	switch kind := s.Type.(type) {
	case nil:
		if s.Ref != "" {
			m["$ref"] = s.Ref
			break
		}
		m["type"] = "object"
	case string:
		m["type"] = kind
	case []any: // may be null
		plain := *s
		plain.Type = kind[0]
		return Nullable(asMap(&plain))
	}
	if m["type"] == "integer" {
		m["minimum"] = s.Minimum
	}
	if s.MinItems > 0 {
		m["minItems"] = s.MinItems
	}
	for name, value := range map[string]string{"description": s.Description, "format": s.Format, "contentEncoding": s.ContentEncoding} {
		if value != "" {
			m[name] = value
		}
	}
	if s.Enum != nil {
		m["enum"] = s.Enum
	}
	if s.Items != nil {
		m["items"] = asMap(s.Items)
	}
	if of, ok := s.Additional.(*jsonschema.Schema); ok {
		m["additionalProperties"] = asMap(of)
	}
	if s.Properties != nil {
		properties := Schema{}
		for name, p := range s.Properties {
			properties[name] = asMap(p)
		}
		required := slices.Clone(s.Required)
		slices.Sort(required)
		m["properties"], m["required"] = properties, required
	}
	return m
}

// Describe says what members of an object mean. It panics when one is not there, which is
// a mistake in the program.
func Describe(object Schema, docs map[string]string) {
	for name, doc := range docs {
		object["properties"].(Schema)[name].(Schema)["description"] = doc
	}
}

// Nullable returns the schema of what may be null too. It may change s.
func Nullable(s Schema) Schema {
	if kind, ok := s["type"].(string); ok && s["enum"] == nil {
		s["type"] = []string{kind, "null"}
		return s
	}
	either := Schema{"anyOf": []Schema{s, {"type": "null"}}}
	if doc := s["description"]; doc != nil {
		delete(s, "description")
		either["description"] = doc
	}
	return either
}
