package skill_test

import (
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/skill"
)

func TestCompile(t *testing.T) {
	for text, want := range map[string]string{
		`{"type":"object"}`: "",
		`{"$ref":"#/$defs/a","$defs":{"a":{"type":"string"}}}`: "",
		`{"$ref":"https://example.com/schema.json"}`:           "nothing outside itself",
		`{"$ref":"file:///etc/passwd"}`:                        "nothing outside itself",
		`{"type":"nonsense"}`:                                  "type",
		`{"pattern":"("}`:                                      "pattern",
		`true`:                                                 "no JSON object",
		`{`:                                                    "EOF",
		`{"title":"` + strings.Repeat("x", skill.MaxSchema) + `"}`:       "bytes",
		strings.Repeat(`{"not":`, 100) + "{}" + strings.Repeat("}", 100): "nested",
	} {
		_, err := skill.Compile([]byte(text))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %q", text, err, want)
		}
	}
}

func TestCheck(t *testing.T) {
	s, err := skill.Compile([]byte(`{"type":"object","properties":{"n":{"type":"integer","maximum":5}},"required":["n"],"additionalProperties":false}`))
	if err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]string{
		`{"n":5}`: "", `{"n":6}`: "/n", `{}`: "n", `{"n":1,"m":2}`: "m", `[]`: "object", `{"n":`: "EOF",
		strings.Repeat("[", 100) + strings.Repeat("]", 100): "nested",
	} {
		err := s.Check(t.Context(), nil, []byte(value))
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%.40s: %v, want %q", value, err, want)
		}
	}
}

func TestArguments(t *testing.T) {
	for input, want := range map[string]string{
		`{"n":1}`: `{"n":1}`,
		`{"role":"user","parts":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`:           `{"text":"a\nb"}`,
		`{"role":"user","parts":[{"type":"json","value":{"n":1}},{"type":"json","value":{"n":2}}]}`: `{"n":2}`,
	} {
		if got := skill.Arguments([]byte(input)); string(got) != want {
			t.Errorf("%s: %s, want %s", input, got, want)
		}
	}
}

func TestConclude(t *testing.T) {
	schema := []byte(`{"type":"object","required":["n"]}`)
	say := func(text string) (string, []byte) {
		return abi.CallMessageAppend, []byte(`{"role":"assistant","parts":[` + text + `]}`)
	}
	for name, test := range map[string]struct {
		calls func(*skill.Result)
		code  string
	}{
		"nothing":     {func(*skill.Result) {}, abi.FailureSkillOutput},
		"a text":      {func(r *skill.Result) { r.Note(say(`{"type":"text","text":"{\"n\":1}"}`)) }, abi.FailureSkillOutput},
		"a json part": {func(r *skill.Result) { r.Note(say(`{"type":"json","value":{"n":1}}`)) }, ""},
		"the last one": {func(r *skill.Result) {
			r.Note(say(`{"type":"json","value":{"n":1}}`))
			r.Note(say(`{"type":"json","value":1}`))
		}, abi.FailureSkillOutput},
		"a JSON summary":   {func(r *skill.Result) { r.Note(abi.CallOutput, []byte(`{"summary":"{\"n\":1}"}`)) }, ""},
		"an empty summary": {func(r *skill.Result) { r.Note(abi.CallOutput, []byte(`{"summary":""}`)) }, abi.FailureSkillOutput},
		"summary and value": {func(r *skill.Result) {
			r.Note(say(`{"type":"json","value":{"n":1}}`))
			r.Note(abi.CallOutput, []byte(`{"summary":"done"}`))
		}, ""},
	} {
		var r skill.Result
		test.calls(&r)
		code := ""
		f, err := r.Conclude(t.Context(), nil, schema, nil)
		if err != nil {
			t.Fatal(err)
		}
		if f != nil {
			code = f.Code
		}
		if code != test.code {
			t.Errorf("%s: ends with %q, want %q", name, code, test.code)
		}
	}
	var r skill.Result
	own := &abi.Failure{Code: "own"}
	if f, err := r.Conclude(t.Context(), nil, schema, own); f != own || err != nil {
		t.Error("a failure of its own is not left alone")
	}
	if f, err := r.Conclude(t.Context(), nil, nil, nil); f != nil || err != nil {
		t.Error("no schema is not left alone")
	}
}

// FuzzCompile checks that no schema and no value stop the host.
func FuzzCompile(f *testing.F) {
	f.Add([]byte(`{"type":"object","properties":{"a":{"$ref":"#"}}}`), []byte(`{"a":{"a":{}}}`))
	f.Add([]byte(`{"$id":"http://x/y","$ref":"z"}`), []byte(`1`))
	f.Add([]byte(`{"pattern":"^(a+)+$"}`), []byte(`"aaaaaaaaaaaaaaaaaaaaaaaaaaaa!"`))
	f.Fuzz(func(t *testing.T, schema, value []byte) {
		if s, err := skill.Compile(schema); err == nil {
			if err := s.Check(t.Context(), nil, value); err != nil && len(err.Error()) > 600 {
				t.Errorf("what is wrong takes %d bytes", len(err.Error()))
			}
		}
	})
}
