package abi

import (
	"strings"
	"testing"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi/jsonw"
)

func TestTooDeep(t *testing.T) {
	for text, want := range map[string]int{
		strings.Repeat("[", MaxDepth):                                     -1,
		strings.Repeat("[", MaxDepth+1):                                   MaxDepth,
		strings.Repeat("[]", 10*MaxDepth):                                 -1,
		`"` + strings.Repeat("[", 10*MaxDepth) + `"`:                      -1,
		`"\"` + strings.Repeat("{", 10*MaxDepth) + `"`:                    -1,
		`"\\"` + strings.Repeat("{", 10*MaxDepth):                         4 + MaxDepth,
		strings.Repeat("]", MaxDepth) + strings.Repeat("[", 2*MaxDepth+1): 3 * MaxDepth,
		`"` + strings.Repeat("[", MaxDepth+1) + `\`:                       -1,
	} {
		if got := TooDeep([]byte(text), MaxDepth); got != want {
			t.Errorf("%.20q…: %d, want %d", text, got, want)
		}
	}
}

// Plain takes out what is spelling alone, and nothing else.
func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		" { \"b\" :\t1 ,\r\n\"a\" : [ ] } ":           `{"b":1,"a":[]}`,
		`"\u0041\/\u00e9\u2028\ud83d\ude00"`:          "\"A/\u00e9\u2028\U0001F600\"",
		`"\u0001\u001F\n\""`:                          `"\u0001\u001f\n\""`,
		`[1.50e2,-0,12345678901234567890,1E400,0.10]`: `[1.50e2,-0,12345678901234567890,1E400,0.10]`,
	} {
		got, err := Plain(jsontext.Value(text))
		if err != nil || string(got) != want {
			t.Errorf("%s became %s, want %s (%v)", text, got, want, err)
		}
	}
	for _, text := range []string{``, `{`, `{"a":1,"\u0061":2}`, `"\ud800"`, "\"\xff\"", `{} {}`, `01`} {
		if got, err := Plain(jsontext.Value(text)); err == nil {
			t.Errorf("%q became %s", text, got)
		}
	}
}

// What is plain stays as it is wherever it is written and read.
func FuzzPlain(f *testing.F) {
	for _, text := range []string{`{"a":[1,"\u0041 \/"]}`, ` [ 1e400 , -0 ] `, `"\ud83d\ude00"`, `{"":{"":null}}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		plain, err := Plain(jsontext.Value(text))
		if err != nil {
			return
		}
		again, err := Plain(plain)
		if err != nil || string(again) != string(plain) {
			t.Fatalf("%s, again %s (%v)", plain, again, err)
		}
		if jsonw.Spaced(plain) {
			t.Fatalf("there is white space in %s", plain)
		}
		written, err := json.Marshal(struct {
			V jsontext.Value `json:"v"`
		}{plain})
		if err != nil || string(written) != `{"v":`+string(plain)+`}` {
			t.Fatalf("%s was written as %s (%v)", plain, written, err)
		}
		if string(jsonw.Raw(nil, plain)) != string(plain) {
			t.Fatalf("%s was written otherwise by hand", plain)
		}
	})
}
