package acptest

import (
	"bytes"
	_ "embed"
	"fmt"
	"maps"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

//go:embed schema-v0.12.2.json
var published []byte

// schemas are the types of the protocol, made strict.
type schemas struct {
	compiler *jsonschema.Compiler
	names    map[side]map[string]types // by the side that handles a method
}

// types are what a method is called with, and what it answers.
type types struct{ params, result string }

// side is one side of a connection, as the schema calls it.
type side string

const (
	agent  side = "agent"
	client side = "client"
)

func (s side) other() side {
	if s == agent {
		return client
	}
	return agent
}

func load() (*schemas, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(published))
	if err != nil {
		return nil, fmt.Errorf("reading the schema: %w", err)
	}
	root, _ := doc.(map[string]any)
	defs, ok := root["$defs"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the schema has no $defs")
	}
	s := &schemas{compiler: jsonschema.NewCompiler(), names: map[side]map[string]types{agent: {}, client: {}}}
	all := map[string]any{}
	for name, def := range defs {
		s.note(name, def)
		all[name] = strict(def)
	}
	for name, def := range whole(defs) {
		all[name] = def
	}
	doc = map[string]any{"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": all}
	return s, s.compiler.AddResource("acp.json", doc)
}

// note takes over which method a type belongs to.
func (s *schemas) note(name string, def any) {
	d, _ := def.(map[string]any)
	method, _ := d["x-method"].(string)
	of, _ := d["x-side"].(string)
	if method == "" {
		return
	}
	t := s.names[side(of)][method]
	if strings.HasSuffix(name, "Response") {
		t.result = name
	} else {
		t.params = name
	}
	s.names[side(of)][method] = t
}

// wholePrefix begins the names of types as they are checked by themselves.
const wholePrefix = "whole "

// whole returns each type with nothing beside its members.
func whole(defs map[string]any) map[string]any {
	all := map[string]any{}
	for name := range defs {
		all[wholePrefix+name] = closed(map[string]any{"$ref": "#/$defs/" + name})
	}
	return all
}

func closed(schema map[string]any) map[string]any {
	to := maps.Clone(schema)
	to["unevaluatedProperties"] = false
	return to
}

// strict closes the schema of every member and of every element. What is put together of several
// schemas is closed as a whole.
func strict(schema any) any {
	s, ok := schema.(map[string]any)
	if !ok {
		return schema
	}
	to := maps.Clone(s)
	if members, ok := s["properties"].(map[string]any); ok {
		closedMembers := map[string]any{}
		for name, m := range members {
			closedMembers[name] = member(m)
		}
		to["properties"] = closedMembers
	}
	if items, ok := s["items"]; ok {
		to["items"] = member(items)
	}
	for _, of := range []string{"allOf", "anyOf", "oneOf"} {
		if list, ok := s[of].([]any); ok {
			parts := make([]any, len(list))
			for i, p := range list {
				parts[i] = strict(p)
			}
			to[of] = parts
		}
	}
	return to
}

// member closes what says anything of its members; what says nothing may be anything.
func member(schema any) any {
	s, ok := strict(schema).(map[string]any)
	if !ok {
		return schema
	}
	if _, free := s["additionalProperties"]; free {
		return s
	}
	for _, says := range []string{"$ref", "properties", "allOf", "anyOf", "oneOf"} {
		if _, ok := s[says]; ok {
			return closed(s)
		}
	}
	return s
}

// check holds a text against a type.
func (s *schemas) check(name string, value any) error {
	of, err := s.compiler.Compile("acp.json#/$defs/" + strings.ReplaceAll(wholePrefix, " ", "%20") + name)
	if err != nil {
		return fmt.Errorf("compiling %s: %w", name, err)
	}
	if err := of.Validate(value); err != nil {
		return fmt.Errorf("no %s: %w", name, err)
	}
	return nil
}
