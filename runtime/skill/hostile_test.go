package skill_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/internal/share"
	"github.com/wharf-dev/wharf/runtime/skill"
	"github.com/wharf-dev/wharf/runtime/turns"
)

func repeated(n int, item func(i int) string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(item(i))
	}
	return b.String()
}

func constant(text string) func(int) string { return func(int) string { return text } }

// hostile are schemas that ask for much with few bytes, each with a value of up to
// 1 MiB, and whether they are still checked to their end.
var hostile = map[string]struct {
	schema, value string
	ends          bool
}{
	"enum of numbers": {`{"items":{"enum":[` + repeated(5000, func(i int) string { return fmt.Sprint(i) }) + `]}}`,
		`[` + repeated(200_000, constant("4999")) + `]`, true},
	"enum of texts": {`{"items":{"enum":[` + repeated(3000, func(i int) string { return fmt.Sprintf(`"t%d"`, i) }) + `]}}`,
		`[` + repeated(100_000, constant(`"t2999"`)) + `]`, true},
	"enum of large values, often": {`{"allOf":[` + repeated(2000, constant(`{"enum":[{}]}`)) + `]}`,
		`{"x":"` + strings.Repeat("x", 1<<20-10) + `"}`, true}, // the first does not hold
	"const, often": {`{"not":{"oneOf":[` + repeated(1500, constant(`{"const":[0]}`)) + `]}}`,
		`["` + strings.Repeat("x", 1<<20-10) + `"]`, false},
	"required": {`{"items":{"required":[` + repeated(3500, func(i int) string { return fmt.Sprintf(`"%d"`, i) }) + `]}}`,
		`[` + repeated(200_000, constant(`{}`)) + `]`, true},
	"required, all there, often": {`{"$defs":{"r":{"required":[` + repeated(1000, func(i int) string { return fmt.Sprintf(`"%d"`, i) }) +
		`]}},"allOf":[` + repeated(700, constant(`{"allOf":[{"$ref":"#/$defs/r"}]}`)) + `]}`,
		`{` + repeated(100_000, func(i int) string { return fmt.Sprintf(`"%d":0`, i) }) + `}`, true},
	"patternProperties": {`{"patternProperties":{` + repeated(800, func(i int) string { return fmt.Sprintf(`"x%dy*$":true`, i) }) + `}}`,
		`{` + repeated(20_000, func(i int) string { return fmt.Sprintf(`"%d":0`, i) }) + `}`, false},
	"one pattern":          {`{"pattern":"(x{0,30}){30}y$"}`, `"` + strings.Repeat("x", 1<<20-10) + `"`, false},
	"one pattern, 30 KiB":  {`{"pattern":"(x{0,30}){20}y$"}`, `"` + strings.Repeat("x", 30<<10) + `"`, true},
	"patterns":             {`{"allOf":[` + repeated(60, func(i int) string { return fmt.Sprintf(`{"pattern":"(x{0,30}){10}%d?$"}`, i) }) + `]}`, `"` + strings.Repeat("x", 60<<10) + `"`, false},
	"patterns of names":    {`{"propertyNames":{"pattern":"(x{0,30}){20}y?$"}}`, `{` + repeated(9000, func(i int) string { return fmt.Sprintf(`"%s%d":0`, strings.Repeat("x", 100), i) }) + `}`, false},
	"numbers":              {`{"items":{"minimum":0,"multipleOf":7e-10}}`, `[` + repeated(100_000, constant(`1e999999`)) + `]`, false},
	"integers":             {`{"items":{"type":"integer"}}`, `[` + repeated(100_000, constant(`1e999999`)) + `]`, true},
	"a number":             {`{"minimum":0}`, strings.Repeat("9", 1<<20-10), false},
	"a huge number":        {`{"minimum":0}`, `1e999999999`, false},
	"a fraction":           {`{"minimum":0}`, strings.Repeat("7", 1<<19) + `e-500000`, false},
	"equal numbers":        {`{"uniqueItems":true}`, `[` + repeated(100_000, func(i int) string { return fmt.Sprintf("1e%d", 900_000+i) }) + `]`, true},
	"formats":              {`{"$schema":"http://json-schema.org/draft-07/schema#","format":"regex"}`, `"` + strings.Repeat("(x{0,30}){30}", 70_000) + `"`, true},
	"formats, often":       {`{"$schema":"http://json-schema.org/draft-07/schema#","allOf":[` + repeated(900, constant(`{"format":"regex"}`)) + `]}`, `"` + strings.Repeat("(a|b)", 100_000) + `"`, false},
	"what is left":         {`{"unevaluatedProperties":false,"allOf":[` + repeated(2200, constant(`{"minimum":0}`)) + `]}`, `{` + repeated(100_000, func(i int) string { return fmt.Sprintf(`"%d":0`, i) }) + `}`, false},
	"items that are left":  {`{"unevaluatedItems":false,"anyOf":[` + repeated(1600, constant(`{"contains":false}`)) + `]}`, `[` + repeated(200_000, constant("0")) + `]`, false},
	"lengths":              {`{"allOf":[` + repeated(1600, constant(`{"minLength":1}`)) + `]}`, `"` + strings.Repeat("x", 1<<20-10) + `"`, false},
	"dependencies":         {`{"items":{"dependentRequired":{` + repeated(2000, func(i int) string { return fmt.Sprintf(`"%d":[]`, i) }) + `}}}`, `[` + repeated(200_000, constant(`{}`)) + `]`, false},
	"equal items, nested":  {`{"$ref":"#/$defs/u","$defs":{"u":{"uniqueItems":true,"items":{"$ref":"#/$defs/u"}}}}`, strings.Repeat("[", 60) + repeated(100_000, func(i int) string { return fmt.Sprintf(`"%d"`, i) }) + strings.Repeat("]", 60), false},
	"a long chain":         {`{"$ref":"#/$defs/a0","$defs":{` + repeated(700, func(i int) string { return fmt.Sprintf(`"a%d":{"$ref":"#/$defs/a%d"}`, i, i+1) }) + `,"a700":{"items":{"$ref":"#/$defs/a0"}}}}`, `[` + repeated(200_000, constant(`[]`)) + `]`, false},
	"what nobody may have": {`{"items":{"anyOf":[` + repeated(900, constant(`{"type":"string"}`)) + `]}}`, `[` + repeated(200_000, constant(`0`)) + `]`, true},
}

// Whatever a schema asks of a value, what is done is bounded, or refused with the limit.
func TestHostile(t *testing.T) {
	share.Alone(t)
	for name, c := range hostile {
		t.Run(name, func(t *testing.T) {
			if len(c.schema) > skill.MaxSchema {
				t.Fatalf("the schema has %d bytes", len(c.schema))
			}
			s, err := skill.Compile([]byte(c.schema))
			if err != nil {
				t.Fatal(err)
			}
			v, err := skill.Read([]byte(c.value))
			if err != nil {
				t.Fatal(err)
			}
			work, err := s.Work(t.Context(), v)
			if work > skill.MaxWork || (err == nil) != c.ends {
				t.Errorf("%d units: %v, ends %t", work, err, c.ends)
			}
		})
	}
}

// A check ends soon after its context has ended.
func TestCancel(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range hostile {
		s, err := skill.Compile([]byte(c.schema))
		if err != nil {
			t.Fatal(err)
		}
		v, err := skill.Read([]byte(c.value))
		if err != nil {
			t.Fatal(err)
		}
		if work, err := s.Work(ended, v); (err == nil || skill.Wrong(err)) && work > skill.PerLook {
			t.Errorf("%s: goes on for %d units: %v", name, work, err)
		}
	}
}

// Long checks, and large values, take turns; what is short always goes on.
func TestChecksTakeTurns(t *testing.T) {
	for name, long := range map[string]bool{"enum of texts": true, "one pattern, 30 KiB": true, "enum of large values, often": true, "small": false} {
		t.Run(name, func(t *testing.T) {
			c := hostile[name]
			if !long {
				c.schema, c.value = `{"items":{"type":"string"}}`, `["t1"]`
			}
			s, err := skill.Compile([]byte(c.schema))
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) { waitsForAPlace(t, s, []byte(c.value), long) })
		})
	}
}

// waitsForAPlace checks a value while the only place is taken, and when it is free.
func waitsForAPlace(t *testing.T, s *skill.Schema, value []byte, waits bool) {
	one := turns.New(1)
	if err := one.Enter(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	canceled, done := make(chan error, 1), make(chan error, 1)
	go func() { canceled <- s.Check(ctx, one, value) }()
	go func() { done <- s.Check(t.Context(), one, value) }()
	synctest.Wait()
	if len(canceled) == 0 != waits || len(done) == 0 != waits {
		t.Errorf("the checks have ended: %d, %d", len(canceled), len(done))
	}
	cancel()
	if err := <-canceled; waits && (err == nil || skill.Wrong(err)) {
		t.Errorf("a check that was canceled: %v", err)
	}
	one.Leave()
	if err := <-done; err != nil && !skill.Wrong(err) {
		t.Errorf("a check with a place: %v", err)
	}
	if err := one.Enter(t.Context()); err != nil { // each gives back what it took
		t.Fatal(err)
	}
}

// What is not counted as work is not done: whatever the schema, a unit stands for no
// more than a bounded part of an allocation, and the count is the same each time.
func TestWorkIsCounted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		root, _ := drawSchema(t, 3).(map[string]any)
		if root == nil {
			root = map[string]any{}
		}
		root["$defs"] = map[string]any{"x": drawSchema(t, 2), "y": drawSchema(t, 1)}
		text, err := json.Marshal(root)
		if err != nil {
			t.Fatal(err)
		}
		s, err := skill.Compile(text)
		if err != nil {
			t.Skip("no schema")
		}
		value, _ := json.Marshal(drawValue(t, 4))
		v, err := skill.Read(value)
		if err != nil {
			t.Fatal(err)
		}
		work, _ := s.Work(t.Context(), v)
		if again, _ := s.Work(t.Context(), v); again != work {
			t.Fatalf("%s with %s: %d units, then %d", value, text, work, again)
		}
		allocations := testing.AllocsPerRun(2, func() { _, _ = s.Work(t.Context(), v) })
		if allocations > float64(20*(work/500+1)) {
			t.Fatalf("%s with %s: %.0f allocations for %d units", value, text, allocations, work)
		}
	})
}

// A new schema has patterns of a bounded size; one that was taken in the past is still
// read.
func TestAccept(t *testing.T) {
	many := `{"allOf":[` + repeated(60, func(i int) string { return fmt.Sprintf(`{"pattern":"x{400}%d"}`, i) }) + `]}`
	for schema, want := range map[string]string{
		`{"pattern":"^[a-z0-9-]{1,64}$"}`:                "",
		`{"pattern":"` + strings.Repeat("x", 300) + `"}`: "256",
		`{"pattern":"(x{0,30}){33}"}`:                    "1000",
		`{"patternProperties":{"(x{0,30}){33}":{}}}`:     "1000",
		many: "20000",
	} {
		if err := skill.Accept([]byte(schema)); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.50s: %v, want %q", schema, err, want)
		}
		if _, err := skill.Compile([]byte(schema)); err != nil {
			t.Errorf("%.50s is no longer read: %v", schema, err)
		}
	}
	for name, schema := range map[string]string{
		"a program": `{"allOf":[` + repeated(150, func(i int) string { return fmt.Sprintf(`{"pattern":"x{1000}%d"}`, i) }) + `]}`,
		"a number":  `{"minimum":1e999999}`,
		"numbers":   `{"items":[` + repeated(100, constant(`{"maximum":1e300}`)) + `]}`,
	} {
		if _, err := skill.Compile([]byte(schema)); err == nil || !strings.Contains(err.Error(), "more than") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
