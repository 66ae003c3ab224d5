package skill_test

import (
	"testing"

	"github.com/wharf-dev/wharf/runtime/skill"
)

// Whoever gives a wrong value is told where it is wrong, and what would be right.
func TestTold(t *testing.T) {
	for _, c := range []struct{ schema, value, want string }{
		{`{"items":{"enum":[1,2.50,{"a":[1]},"x"]}}`, `[1,7]`, `at '/1': it is none of 1, 2.50, {"a":[1]}, "x"`},
		{`{"properties":{"a":{"const":1}}}`, `{"a":2}`, `at '/a': it is not 1`},
		{`{"type":["string","integer"]}`, `1.5`, `at '': got number, want integer or string`},
		{`{"anyOf":[{"properties":{"a":{"type":"string"}}},false]}`, `{"a":1}`,
			`at '': it is none of the alternatives; of the first: at '/a': got number, want string`},
		{`{"maximum":0.1}`, `0.2`, `at '': 0.2 is more than the maximum 0.1`},
	} {
		s, err := skill.Compile([]byte(c.schema))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Check(t.Context(), nil, []byte(c.value)); err == nil || err.Error() != c.want {
			t.Errorf("%s with %s: %v, want %s", c.value, c.schema, err, c.want)
		}
	}
}
