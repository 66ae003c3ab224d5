package skill_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/runtime/skill"
)

// oracle is what the validator says that the schemas are compiled by.
func oracle(schema, value []byte) (valid, compiled bool) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return false, false
	}
	c := jsonschema.NewCompiler()
	if c.AddResource("wharf:///skill", doc) != nil {
		return false, false
	}
	s, err := c.Compile("wharf:///skill")
	if err != nil {
		return false, false
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	return err == nil && s.Validate(v) == nil, true
}

var (
	drafts = []string{"", "", "", "http://json-schema.org/draft-04/schema#", "http://json-schema.org/draft-06/schema#",
		"http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2019-09/schema"}
	memberNames = rapid.SampledFrom([]string{"a", "b", "ab", "c", "a/b~"})
	numbers     = rapid.SampledFrom([]json.Number{"0", "1", "2", "3", "-1", "1.0", "10e-1", "0.5", "1e2", "100", "2.50", "1e-1"})
	counts      = rapid.IntRange(0, 3)
	texts       = rapid.SampledFrom([]string{"", "a", "ab", "aab", "ä", "1", "a@b.org", "2020-01-01", "^a", "("})
	patterns    = rapid.SampledFrom([]string{"a", "^a*$", "^.b", "[0-9]", ""})
	formats     = rapid.SampledFrom([]string{"email", "date", "regex", "uri", "ipv4", "unknown"})
	typeNames   = rapid.SampledFrom([]string{"null", "boolean", "number", "integer", "string", "array", "object"})
)

func drawValue(t *rapid.T, depth int) any {
	kinds := 7
	if depth == 0 {
		kinds = 4
	}
	switch rapid.IntRange(0, kinds).Draw(t, "kind") {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2, 3:
		return numbers.Draw(t, "number")
	case 4:
		return texts.Draw(t, "text")
	case 5:
		items := []any{}
		for range counts.Draw(t, "items") {
			items = append(items, drawValue(t, depth-1))
		}
		return items
	}
	object := map[string]any{}
	for range counts.Draw(t, "members") {
		object[memberNames.Draw(t, "name")] = drawValue(t, depth-1)
	}
	return object
}

// drawSchema draws a schema in which each keyword is about as likely as any other.
func drawSchema(t *rapid.T, depth int) any {
	if rapid.IntRange(0, 9).Draw(t, "boolean") == 0 {
		return rapid.Bool().Draw(t, "schema")
	}
	s := map[string]any{}
	for range rapid.IntRange(1, 3).Draw(t, "keywords") {
		drawKeyword(t, s, depth)
	}
	return s
}

func drawKeyword(t *rapid.T, s map[string]any, depth int) {
	sub := func() any { return drawSchema(t, depth-1) }
	list := func() any { return []any{sub(), sub()} }
	members := func() any {
		return map[string]any{memberNames.Draw(t, "m1"): sub(), memberNames.Draw(t, "m2"): sub()}
	}
	names := func() []string { return rapid.SliceOfNDistinct(memberNames, 1, 2, rapid.ID).Draw(t, "names") }
	plain := map[string]func() any{
		"type":             func() any { return typeNames.Draw(t, "type") },
		"const":            func() any { return drawValue(t, 1) },
		"enum":             func() any { return []any{drawValue(t, 1), []any{drawValue(t, 1)}, map[string]any{"z": 1}} },
		"format":           func() any { return formats.Draw(t, "format") },
		"required":         func() any { return names() },
		"minProperties":    func() any { return counts.Draw(t, "n") },
		"maxProperties":    func() any { return counts.Draw(t, "n") },
		"minItems":         func() any { return counts.Draw(t, "n") },
		"maxItems":         func() any { return counts.Draw(t, "n") },
		"uniqueItems":      func() any { return true },
		"minLength":        func() any { return counts.Draw(t, "n") },
		"maxLength":        func() any { return counts.Draw(t, "n") },
		"pattern":          func() any { return patterns.Draw(t, "pattern") },
		"minimum":          func() any { return numbers.Draw(t, "n") },
		"maximum":          func() any { return numbers.Draw(t, "n") },
		"exclusiveMinimum": func() any { return numbers.Draw(t, "n") },
		"exclusiveMaximum": func() any { return numbers.Draw(t, "n") },
		"multipleOf":       func() any { return rapid.SampledFrom([]json.Number{"1", "0.5", "2", "1e-1"}).Draw(t, "n") },
		"minContains":      func() any { return counts.Draw(t, "n") },
		"maxContains":      func() any { return counts.Draw(t, "n") },
		"dependentRequired": func() any {
			return map[string]any{memberNames.Draw(t, "m"): names()}
		},
	}
	deep := map[string]func() any{
		"$ref":                 func() any { return rapid.SampledFrom([]string{"#", "#/$defs/x", "#/$defs/y"}).Draw(t, "ref") },
		"allOf":                list,
		"anyOf":                list,
		"oneOf":                list,
		"not":                  sub,
		"if":                   sub,
		"then":                 sub,
		"else":                 sub,
		"properties":           members,
		"patternProperties":    func() any { return map[string]any{"^a": sub(), "b$": sub()} },
		"additionalProperties": sub, "propertyNames": sub, "unevaluatedProperties": sub,
		"dependencies":     func() any { return map[string]any{"a": sub(), "b": names()} },
		"dependentSchemas": members,
		"prefixItems":      list,
		"items": func() any {
			if rapid.Bool().Draw(t, "tuple") {
				return list()
			}
			return sub()
		},
		"additionalItems": sub, "contains": sub, "unevaluatedItems": sub,
	}
	from := plain
	if depth > 0 && rapid.IntRange(0, 2).Draw(t, "deep") > 0 {
		from = deep
	}
	keyword := rapid.SampledFrom(slices.Sorted(maps.Keys(from))).Draw(t, "keyword")
	s[keyword] = from[keyword]()
	if keyword == "contains" && rapid.Bool().Draw(t, "bounds") {
		s["minContains"] = counts.Draw(t, "least")
	}
}

// A value fits a schema if and only if the validator says so that the schema is
// compiled by, which is what was asked in the past: a record of then ends as it did.
func TestAgree(t *testing.T) {
	compiled := 0
	rapid.Check(t, func(t *rapid.T) {
		root, _ := drawSchema(t, 3).(map[string]any)
		if root == nil {
			root = map[string]any{}
		}
		root["$defs"] = map[string]any{"x": drawSchema(t, 2), "y": drawSchema(t, 1)}
		if draft := rapid.SampledFrom(drafts).Draw(t, "draft"); draft != "" {
			root["$schema"] = draft
		}
		schema, err := json.Marshal(root)
		if err != nil {
			t.Fatal(err)
		}
		s, err := skill.Compile(schema)
		for range 5 {
			value, _ := json.Marshal(drawValue(t, 3))
			want, taken := oracle(schema, value)
			if taken != (err == nil) {
				t.Fatalf("%s compiles: %v, want %t", schema, err, taken)
			}
			if !taken {
				return
			}
			compiled++
			if got := s.Check(t.Context(), nil, value); (got == nil) != want {
				t.Fatalf("%s fits %s: %v, want %t", value, schema, got, want)
			}
		}
	})
	if compiled == 0 {
		t.Error("no schema was compiled")
	}
}
