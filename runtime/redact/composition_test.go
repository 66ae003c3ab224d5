package redact

import (
	"strings"
	"testing"
)

// Of a child everybody sees which tool it is and how it ended, and of an end that there was one; the rest is for those who see
// all events, unless the Persona shows it.
func TestComposition(t *testing.T) {
	for name, c := range map[string]struct{ payload, public string }{
		"a call": {`{"kind":"composition_child_call","run_id":"r","call_id":"c","raw_input":{"a":"CANARY"},"requested_side_effect_level":"read_only"}`,
			`{"kind":"composition_child_call","run_id":"r","call_id":"c","requested_side_effect_level":"read_only","content_withheld":true}`},
		"a result": {`{"kind":"composition_child_result","run_id":"r","call_id":"c","status":"failed","output":"CANARY","error":{"category":"tool_error","code":"x","message":"CANARY"}}`,
			`{"kind":"composition_child_result","run_id":"r","call_id":"c","status":"failed","error":{"category":"tool_error","code":"x"},"content_withheld":true}`},
		"an end": {`{"kind":"composition_finish","run_id":"r","stdout":"CANARY","stderr":"CANARY","result":["CANARY"],"artifacts":["a"]}`,
			`{"kind":"composition_finish","run_id":"r","artifacts":["a"],"content_withheld":true}`},
		"a start":        {`{"kind":"composition_start","run_id":"r","language":"js"}`, `{"kind":"composition_start","run_id":"r","language":"js"}`},
		"of a newer one": {`{"kind":"composition_finish","run_id":"r","transcript":"CANARY"}`, `{"kind":"composition_finish","run_id":"r"}`},
		"nothing":        {``, ``},
	} {
		got, err := Composition([]byte(c.payload), false)
		if err != nil || string(got) != c.public {
			t.Errorf("%s: everybody sees %s (%v)", name, got, err)
		}
		if inside, err := Composition([]byte(c.payload), true); err != nil || string(inside) != c.payload {
			t.Errorf("%s: with events:internal one sees %s (%v)", name, inside, err)
		}
	}
	shown := `{"kind":"composition_finish","run_id":"r","stdout":"out","visibility":"public"}`
	if got, err := Composition([]byte(shown), false); err != nil || string(got) != shown {
		t.Errorf("what the Persona shows is seen as %s (%v)", got, err)
	}
	hidden := `{"kind":"composition_child_call","run_id":"r","call_id":"c","raw_input":"CANARY","type":"composition_child_call","visibility":"internal"}`
	got, err := Composition([]byte(hidden), false)
	if err == nil {
		got, err = Document(got, false)
	}
	if err != nil || strings.Contains(string(got), "CANARY") || strings.Contains(string(got), "call_id") {
		t.Errorf("what is nobody's business is seen as %s (%v)", got, err)
	}
}
