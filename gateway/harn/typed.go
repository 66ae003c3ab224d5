package harn

import (
	"reflect"
	"slices"

	"github.com/wharf-dev/wharf/abi"
	jsonschema "github.com/wharf-dev/wharf/abi/schema"
)

// What a schema says about members beyond their types is said with aspects.
type aspect func(s schema)

// of is the schema of a type: its members, which of them are always there, and what they
// hold. The aspects are applied in order.
func of[T any](doc string, aspects ...aspect) schema {
	return typed(reflect.TypeFor[T](), doc, aspects)
}

// resourceOf is [of] for a resource, which names its kind.
func resourceOf[T any](o abi.Object, doc string, aspects ...aspect) schema {
	return of[T](doc, append(aspects, but(schema{"object": schema{"type": "string", "const": string(o)}}))...)
}

func typed(t reflect.Type, doc string, aspects []aspect) schema {
	s := asMap(builder().Object(t, doc))
	for _, a := range aspects {
		a(s)
	}
	s["required"] = sorted(s["required"].([]string))
	return s
}

func builder() *jsonschema.Builder {
	return &jsonschema.Builder{Values: jsonschema.Values, Named: member, Comment: func(reflect.Type, reflect.StructField) string { return "" }}
}

// within are the types that are described where they are, and not as components.
var within = map[reflect.Type]string{
	reflect.TypeFor[abi.ModelPolicy]():    "Which models its Tasks may ask.",
	reflect.TypeFor[abi.Budget]():         "What each of its Tasks may spend; 0 bounds nothing.",
	reflect.TypeFor[abi.ApprovalPolicy](): "How its Tasks' writes are approved.",
}

// member is the schema of what a member holds: of a component, or here.
func member(t reflect.Type) *jsonschema.Schema {
	doc, here := within[t]
	switch {
	case t == reflect.TypeFor[abi.Visibility]():
		return &jsonschema.Schema{Ref: componentSchemas + "PartVisibility"}
	case t.Kind() == reflect.String && t != reflect.TypeFor[abi.TaskStatus]():
		return nil
	case !here:
		return &jsonschema.Schema{Ref: componentSchemas + t.Name()}
	}
	return builder().Object(t, doc)
}

// asMap is a schema as the OpenAPI document has it: integers count from 0, a raw JSON text
// is an object.
func asMap(s *jsonschema.Schema) schema {
	m := schema{}
	switch kind := s.Type.(type) {
	case nil:
		if s.Ref != "" {
			return schema{"$ref": s.Ref}
		}
		m["type"] = "object"
	case string:
		m["type"] = kind
	case []any: // may be null
		plain := *s
		plain.Type = kind[0]
		return nullable(asMap(&plain))
	}
	if m["type"] == "integer" {
		m["minimum"] = 0
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
		properties := schema{}
		for name, p := range s.Properties {
			properties[name] = asMap(p)
		}
		m["properties"], m["required"] = properties, sorted(slices.Clone(s.Required))
	}
	return m
}

// but replaces members, or adds them as such that may be missing.
func but(members schema) aspect {
	return func(s schema) {
		for name, as := range members {
			s["properties"].(schema)[name] = as
		}
	}
}

// null says which members may be null.
func null(names ...string) aspect {
	return func(s schema) {
		properties := s["properties"].(schema)
		for _, name := range names {
			properties[name] = nullable(properties[name].(schema))
		}
	}
}

// says describes members.
func says(docs map[string]string) aspect {
	return func(s schema) {
		for name, doc := range docs {
			s["properties"].(schema)[name].(schema)["description"] = doc
		}
	}
}

// hidden takes away members that clients do not see.
func hidden(names ...string) aspect {
	return func(s schema) {
		for _, name := range names {
			delete(s["properties"].(schema), name)
		}
		maybe(names...)(s)
	}
}

// maybe says which members may be missing, though the node always writes them.
func maybe(names ...string) aspect {
	return func(s schema) {
		s["required"] = slices.DeleteFunc(s["required"].([]string), func(name string) bool { return slices.Contains(names, name) })
	}
}

// always says which members are always there, though not in the type.
func always(names ...string) aspect {
	return func(s schema) { s["required"] = append(s["required"].([]string), names...) }
}

// valuesOf returns the values of a closed enumeration.
func valuesOf[T ~string]() []string { return jsonschema.Values(reflect.TypeFor[T]()) }
