package tape

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

var good = []string{
	`{}`, `[]`, `null`, `true`, `false`, `0`, `-0.5e+3`, `1E400`[:2] + `3`, `""`,
	` { "a" : [ 1 , "x\n\"\u00e9\ud83d\ude00\/" , { } , null ] , "b" : { "c" : [ ] } } `,
	`{"__proto__":{"constructor":1},"toString":2,"":3}`,
	`{"a0":0,"a1":1,"a2":2,"a3":3,"a4":4,"a5":5,"a6":6,"a7":7,"a8":8,"a9":9,"\u0061a":10}`,
	strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth),
	`"` + strings.Repeat("x", 1<<20) + `"`,
}

// plain makes of a value what encoding/json makes of its text.
func plain(v Value) any {
	switch v.Kind() {
	case Object:
		all := map[string]any{}
		v.Members(func(name string, value Value) bool { all[name] = plain(value); return true })
		return all
	case Array:
		all := []any{}
		v.Elements(func(e Value) bool { all = append(all, plain(e)); return true })
		return all
	case String:
		return v.Text()
	case Number:
		f, _ := v.Float()
		return f
	case Null:
		return nil
	}
	return v.Kind() == True
}

func TestParse(t *testing.T) {
	var d Doc
	for _, text := range good {
		v, err := d.Parse(text)
		if err != nil {
			t.Errorf("%.80s: %v", text, err)
			continue
		}
		var want any
		if err := json.Unmarshal([]byte(text), &want); err != nil || !reflect.DeepEqual(plain(v), want) {
			t.Errorf("%.80s: %.80v, %v; want %.80v", text, plain(v), err, want)
		}
		if v.Raw() != strings.TrimSpace(text) {
			t.Errorf("%.80s: stands as %.80s", text, v.Raw())
		}
	}
}

func TestRefuse(t *testing.T) {
	many := strings.Builder{}
	for i := range 20 {
		fmt.Fprintf(&many, `"k%d":1,`, i)
	}
	var d Doc
	for text, want := range map[string]error{
		``: &SyntaxError{}, `{`: &SyntaxError{}, `[1,]`: &SyntaxError{}, `{"a":1,}`: &SyntaxError{}, `{"a"}`: &SyntaxError{}, `01`: &SyntaxError{},
		`1.`: &SyntaxError{}, `.5`: &SyntaxError{}, `1e`: &SyntaxError{}, `-`: &SyntaxError{}, `+1`: &SyntaxError{}, `NaN`: &SyntaxError{}, `tru`: &SyntaxError{},
		"\"a\nb\"": &SyntaxError{}, `"\q"`: &SyntaxError{}, `"\u12g4"`: &SyntaxError{}, `"abc`: &SyntaxError{}, `{} {}`: &SyntaxError{}, `{1:2}`: &SyntaxError{},
		"\ufeff{}": &SyntaxError{}, `'a'`: &SyntaxError{}, `[1 2]`: &SyntaxError{}, `{,}`: &SyntaxError{},
		`{"a":1,"a":2}`: ErrDuplicate, `{"a":1,"\u0061":2}`: ErrDuplicate, `[{"x":{"b":1,"c":2,"b":3}}]`: ErrDuplicate,
		`{` + many.String() + `"k7":2}`: ErrDuplicate,
		`1e999`:                         ErrRange, `[` + strings.Repeat("9", 400) + `]`: ErrRange,
		`"\ud800"`: ErrUnicode, `"\ud800\u0041"`: ErrUnicode, `"\udc00"`: ErrUnicode, "\"\xff\"": ErrUnicode,
		strings.Repeat("[", MaxDepth+1): ErrDepth, strings.Repeat(`{"a":`, 100000): ErrDepth,
		`[` + strings.Repeat("1,", MaxValues): ErrValues,
	} {
		_, err := d.Parse(text)
		if _, syntax := want.(*SyntaxError); syntax {
			if !errors.As(err, new(*SyntaxError)) {
				t.Errorf("%.60s: %v, want a syntax error", text, err)
			}
		} else if !errors.Is(err, want) {
			t.Errorf("%.60s: %v, want %v", text, err, want)
		}
	}
}

func TestGet(t *testing.T) {
	var d Doc
	v, err := d.Parse(`{"a":{"b":[{"c":"x"},2,true]},"n":null,"\u00e9":1}`)
	if err != nil {
		t.Fatal(err)
	}
	if v.At("a", "b").Len() != 3 || v.At("a", "x", "y").Kind() != Missing || v.Get("n").Kind() != Null || v.Get("é").Raw() != "1" {
		t.Error("members are not found by their names")
	}
	var missing Value
	if missing.Raw() != "" || missing.Text() != "" || missing.Len() != 0 || missing.Get("a").Kind() != Missing {
		t.Error("what is not there has something")
	}
}

// sameError reports whether two parsers say the same of a text.
func sameError(a, b error) bool { return a == b || a != nil && b != nil && a.Error() == b.Error() }

// FuzzParse holds that what is taken is JSON and read as encoding/json reads it, that
// another parser takes and refuses the same, and that texts are written as they are read.
func FuzzParse(f *testing.F) {
	for _, text := range good[:len(good)-2] {
		f.Add(text)
	}
	for _, text := range []string{
		`{"a":1,"a":2}`, `{"a":1,"b":2,"\u0061":2}`, `{"12345678":1,"1234567":2,"12345678":3}`, `{"12345678\n":1,"12345678\u000a":2}`, "\"é\\n\xff\"", "\"1234567\xff\"",
		`["\u0000",-0,0.5,1e5,10 ,"1234567\"",{"":{},"a":[]}]`, `1,2`, `[1],`, `{},{}`, `"a","b"`, `[12,"a",{"b":[7,{}]}]`, `{"a":{"b":"c"},"d":12}`, `{"a":1}}`, `{"a":1,`, `["\ud83d\u0020"`, "[\"a\x00\"]", "{\"a\":\x00}",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var d Doc
		v, err := d.Parse(text)
		if other := new(reference).Parse(text); !sameError(err, other) {
			t.Fatalf("%q: %v, the other parser %v", text, err, other)
		}
		if err != nil {
			return
		}
		var want any
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatalf("%q is taken: %v", text, err)
		}
		if got := plain(v); !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: %v, want %v", text, got, want)
		}
		again, err := d.Parse(string(AppendString(nil, text)))
		if err != nil || again.Text() != text {
			t.Fatalf("%q comes back as %q, %v", text, again.Text(), err)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	text := `{"action":"opened","issue":{"number":7,"title":"It does not start","body":"` + strings.Repeat("words ", 100) +
		`","labels":[{"name":"bug","color":"f00"}],"user":{"login":"ada","id":1}},"repository":{"full_name":"a/b","id":2,"private":false}}`
	var d Doc
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := d.Parse(text); err != nil {
			b.Fatal(err)
		}
	}
}
