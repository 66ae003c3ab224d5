package main

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/manifest"
)

// What an install advises works: a Skill is named, and gets what its schema takes.
func TestHowPluginsAreReached(t *testing.T) {
	p := &abi.Plugin{Name: "units", PersonaID: "persona_units"}
	if got := reaching(p, nil); got != "--persona persona_units TEXT" {
		t.Errorf("a module: %s", got)
	}
	for schema, want := range map[string]string{
		``:     "TEXT",
		`true`: "TEXT",
		`{"type":"object","required":["text"],"properties":{"text":{"type":"string"}}}`: "TEXT",
		`{"type":"object"}`: "TEXT",
		`{"type":"object","required":["value","from"],"properties":{"value":{"type":"number"},"from":{"enum":["m","ft"]},"to":{"type":"string"}}}`: `--json-input '{"value": 1, "from": "m"}'`,
		`{"type":"object","properties":{"b":{"type":"array"},"a":{"type":["integer","null"],"minimum":3}}}`:                                        `--json-input '{"a": 3}'`,
		`{"type":"object","additionalProperties":false}`:                                                                                           `--json-input '{}'`,
		`{"type":"object","required":["it's"],"properties":{"it's":{"type":"boolean"}}}`:                                                           `--json-input '{"it'\''s": true}'`,
		`{"type":"object","required":["text"],"properties":{"text":{"type":"object"}}}`:                                                            `--json-input '{"text": {}}'`,
		`{"type":7,"required":["a"],"properties":{"a":{"type":7}}}`:                                                                                `--json-input '{"a": "..."}'`,
		`{"required":[""],"properties":{"":{"const":null}}}`:                                                                                       `--json-input '{"": null}'`,
	} {
		m := &manifest.Manifest{Name: "units", Kind: manifest.KindSkill}
		m.Schemas.Input.Text = jsontext.Value(schema)
		if got := reaching(p, m); got != "--skill units "+want {
			t.Errorf("%s: %s", schema, got)
		}
		m.Kind = manifest.KindPersona
		if got := reaching(p, m); got != "--persona persona_units "+want {
			t.Errorf("%s of a persona: %s", schema, got)
		}
	}
	file := &manifest.Manifest{Name: "units", Kind: manifest.KindSkill}
	file.Schemas.Input.File = "in.json"
	if got := reaching(p, withSchemas(file, map[string]string{"in.json": `{"required":["n"]}`})); got != `--skill units --json-input '{"n": "..."}'` {
		t.Errorf("a schema in a file: %s", got)
	}
}
