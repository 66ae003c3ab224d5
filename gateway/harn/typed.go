package harn

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/wharf-dev/wharf/abi"
	jsonschema "github.com/wharf-dev/wharf/abi/schema"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/internal/agentcard"
)

// What a schema says about members beyond their types is said with aspects.
type aspect func(s schema)

// of is the schema of a type: its members, which of them are always there, and what they
// hold. The aspects are applied in order.
func of[T any](doc string, aspects ...aspect) schema {
	s := gateway.Typed{Component: component}.Object(reflect.TypeFor[T](), doc)
	for _, a := range aspects {
		a(s)
	}
	s["required"] = sorted(s["required"].([]string))
	return s
}

// resourceOf is [of] for a resource, which names its kind.
func resourceOf[T any](o abi.Object, doc string, aspects ...aspect) schema {
	return of[T](doc, append(aspects, but(schema{"object": constant(string(o))}))...)
}

// requestOf is [of] for the body of a request, whose lists and maps hold so much at most.
func requestOf[T any](doc string, aspects ...aspect) schema {
	return of[T](doc, append(aspects, bound[T])...)
}

// bound says how much the lists and maps of a request hold at most.
func bound[T any](s schema) {
	t := reflect.TypeFor[T]()
	for name, p := range s["properties"].(schema) {
		member := p.(schema)
		if member["items"] != nil {
			member["maxItems"] = abi.MaxItems(t, name)
		}
		if member["additionalProperties"] != nil {
			member["maxProperties"] = abi.MaxItems(t, name)
		}
	}
}

// component names the component that a type is: those of package abi and of the adapter have
// one, but for texts, and for what belongs to one other type alone.
func component(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[abi.Visibility]():
		return "PartVisibility"
	case reflect.TypeFor[abi.TaskStatus]():
		return t.Name()
	case reflect.TypeFor[abi.ModelPolicy](), reflect.TypeFor[abi.Budget](), reflect.TypeFor[abi.ApprovalPolicy](), reflect.TypeFor[abi.ToolContent](),
		reflect.TypeFor[abi.Agent](), reflect.TypeFor[abi.AgentSkill](), reflect.TypeFor[abi.AgentServer](), reflect.TypeFor[abi.AgentModel](),
		reflect.TypeFor[abi.AgentTools](), reflect.TypeFor[abi.Rights](), reflect.TypeFor[abi.AgentBundle]():
		return ""
	}
	if t.PkgPath() == reflect.TypeFor[agentcard.Card]().PkgPath() && t.Name() != "" {
		return "A2a" + strings.Replace(t.Name(), "Card", "AgentCard", 1)
	}
	abis, own := reflect.TypeFor[abi.Task]().PkgPath(), reflect.TypeFor[Adapter]().PkgPath()
	if t.Kind() == reflect.String || t.Name() == "" || t.PkgPath() != abis && t.PkgPath() != own {
		return ""
	}
	return strings.ToUpper(t.Name()[:1]) + t.Name()[1:]
}

// but replaces members, whose descriptions stay, or adds them as such that may be missing.
func but(members schema) aspect {
	return func(s schema) {
		properties := s["properties"].(schema)
		for name, as := range members {
			member := maps.Clone(as.(schema))
			if former, ok := properties[name].(schema); ok && member["description"] == nil && former["description"] != nil {
				member["description"] = former["description"]
			}
			properties[name] = member
		}
	}
}

// anything says which members may be any JSON value.
func anything(names ...string) aspect {
	return func(s schema) {
		for _, name := range names {
			member := s["properties"].(schema)[name].(schema)
			delete(member, "type")
			if member["description"] == nil {
				member["description"] = "Any JSON value."
			}
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
	return func(s schema) { gateway.Describe(s, docs) }
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

// only leaves the members that are needed, and those that may be there.
func only(needed []string, optional ...string) aspect {
	return func(s schema) {
		maps.DeleteFunc(s["properties"].(schema), func(name string, _ any) bool {
			return !slices.Contains(needed, name) && !slices.Contains(optional, name)
		})
		s["required"] = needed
	}
}

// anyOfThem says that one of some members is needed at least.
func anyOfThem(names ...string) aspect {
	return func(s schema) {
		var needed []schema
		for _, name := range names {
			needed = append(needed, schema{"required": []string{name}})
		}
		s["anyOf"] = needed
	}
}

// valuesOf returns the values of a closed enumeration.
func valuesOf[T ~string]() []string { return jsonschema.Values(reflect.TypeFor[T]()) }
