package main

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/cmd/wharf/internal/show"
	"github.com/wharf-dev/wharf/runtime/manifest"
)

// showReached says how Tasks reach a plugin, whose manifest is m: nil for none.
func (a *app) showReached(p *abi.Plugin, m *manifest.Manifest) {
	if p.PersonaID != "" {
		a.out.Line("Tasks reach it as the persona ", p.PersonaID, ": ", self(), " task submit ", show.OneLine(reaching(p, m)))
	}
}

// reaching are the arguments of a submit that a plugin takes: a Skill is named, so that its input is held against
// its schema, and what takes no text gets an example of what it takes.
func reaching(p *abi.Plugin, m *manifest.Manifest) string {
	named := "--persona " + p.PersonaID
	if m == nil {
		return named + " TEXT"
	}
	if m.Kind == manifest.KindSkill {
		named = "--skill " + m.Name
	}
	if example := exampleInput(m.Schemas.Input.Text); example != "" {
		return named + " --json-input '" + strings.ReplaceAll(example, "'", `'\''`) + "'"
	}
	return named + " TEXT"
}

// maxExampleMembers is how many members an example has at most: it is a line of a terminal.
const maxExampleMembers = 12

// objectSchema is what of a JSON Schema tells which members an object has.
type objectSchema struct {
	Type       jsontext.Value            `json:"type"`
	Required   []string                  `json:"required"`
	Properties map[string]jsontext.Value `json:"properties"`
	Additional jsontext.Value            `json:"additionalProperties"`
}

// exampleInput returns an object with the members that a schema requires, each of the kind that it has; "" where
// text will do, which is the member "text", and for what is no schema of an object.
func exampleInput(schema jsontext.Value) string {
	var s objectSchema
	if schema.Kind() != '{' || json.Unmarshal(schema, &s) != nil || s.takesText() {
		return ""
	}
	names := s.Required
	if len(names) == 0 {
		for name := range s.Properties {
			names = append(names, name)
		}
		slices.Sort(names)
		names = names[:min(len(names), 1)]
	}
	var members []string
	for _, name := range names[:min(len(names), maxExampleMembers)] {
		quoted, err := jsontext.AppendQuote(nil, name)
		if err != nil {
			return ""
		}
		members = append(members, string(quoted)+": "+exampleOf(s.Properties[name]))
	}
	return "{" + strings.Join(members, ", ") + "}"
}

// takesText reports whether an object that has a text alone may fit.
func (s *objectSchema) takesText() bool {
	others := slices.ContainsFunc(s.Required, func(name string) bool { return name != "text" })
	text, has := s.Properties["text"]
	closed := !has && (s.Additional.Kind() == 'f' || len(s.Properties) > 0)
	return !others && !closed && (!has || exampleOf(text) == `"..."`)
}

// exampleOf returns a value that a schema says may be there.
func exampleOf(schema jsontext.Value) string {
	var s struct {
		Type     jsontext.Value   `json:"type"`
		Const    jsontext.Value   `json:"const"`
		Default  jsontext.Value   `json:"default"`
		Enum     []jsontext.Value `json:"enum"`
		Examples []jsontext.Value `json:"examples"`
		Minimum  jsontext.Value   `json:"minimum"`
	}
	if schema.Kind() != '{' || json.Unmarshal(schema, &s) != nil {
		return `"..."`
	}
	for _, said := range append([]jsontext.Value{s.Const, s.Default}, append(s.Examples, s.Enum...)...) {
		if len(said) > 0 {
			return string(said)
		}
	}
	kinds := []string{""}
	if json.Unmarshal(s.Type, &kinds[0]) != nil {
		_ = json.Unmarshal(s.Type, &kinds) // it may be a list; what is neither is taken for a text
	}
	switch kind := strings.Join(kinds[:min(len(kinds), 1)], ""); kind {
	case "number", "integer":
		if s.Minimum.Kind() == '0' {
			return string(s.Minimum)
		}
		return "1"
	case "boolean":
		return "true"
	case "array":
		return "[]"
	case "object":
		return "{}"
	case "null":
		return "null"
	}
	return `"..."`
}

// withSchemas puts the schemas of files that come along with a manifest into it.
func withSchemas(m *manifest.Manifest, files map[string]string) *manifest.Manifest {
	if m == nil {
		return nil
	}
	if s := &m.Schemas.Input; s.File != "" && s.Text == nil {
		s.Text = jsontext.Value(files[s.File])
	}
	return m
}
