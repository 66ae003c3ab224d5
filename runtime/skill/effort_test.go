package skill_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/runtime/skill"
)

// What a small schema can ask for is bounded, whichever way it multiplies its parts.
func TestEffort(t *testing.T) {
	var ladder strings.Builder
	for i := range 60 {
		fmt.Fprintf(&ladder, `"a%d":{"allOf":[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%d"}]},`, i, i+1, i+1)
	}
	nested := strings.Repeat(`{"x":`, 60) + "1" + strings.Repeat("}", 60)
	for name, c := range map[string]struct{ schema, value string }{
		"ladder":   {`{"$ref":"#/$defs/a0","$defs":{` + ladder.String() + `"a60":{"minimum":0}}}`, "1"},
		"anyOf":    {`{"anyOf":[{"allOf":[{"properties":{"x":{"$ref":"#"}}},{"required":["y"]}]},{"allOf":[{"properties":{"x":{"$ref":"#"}}},{"required":["z"]}]}]}`, nested},
		"oneOf":    {`{"type":["object","integer"],"oneOf":[{"properties":{"x":{"$ref":"#"}}},{"additionalProperties":{"$ref":"#"}}]}`, nested},
		"draft-07": {`{"$schema":"http://json-schema.org/draft-07/schema#","allOf":[{"properties":{"x":{"$ref":"#"}}},{"properties":{"x":{"$ref":"#"}}}]}`, nested},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := skill.Compile([]byte(c.schema))
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if err := s.Check(t.Context(), nil, []byte(c.value)); err == nil || !strings.Contains(err.Error(), "steps") {
					t.Errorf("%v", err)
				}
			}
		})
	}
	tree, err := skill.Compile([]byte(`{"type":["object","string"],"format":"email","properties":{"left":{"$ref":"#"},"right":{"$ref":"#"}},"$schema":"http://json-schema.org/draft-07/schema#"}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := tree.Check(t.Context(), nil, []byte(`{"left":{"right":"a@b.org"},"right":{"left":{}}}`)); err != nil {
		t.Error(err)
	}
	if err := tree.Check(t.Context(), nil, []byte(`{"left":{"right":"nobody"}}`)); err == nil || strings.Contains(err.Error(), "steps") {
		t.Errorf("%v", err)
	}
	for _, refused := range []string{`{"$dynamicRef":"#x","$defs":{"x":{"$dynamicAnchor":"x"}}}`, `{"$ref":"http://json-schema.org/draft-07/schema#"}`} {
		if _, err := skill.Compile([]byte(refused)); err == nil {
			t.Errorf("%s is taken", refused)
		}
	}
}
