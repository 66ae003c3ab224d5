package scan

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// readAny reads any JSON into what encoding/json would make of it, with numbers as texts.
func readAny(r *Reader, first byte) any {
	switch first {
	case '{':
		object := map[string]any{}
		for r.Object(); r.More('}'); {
			object[r.Key()] = peek(r)
		}
		return object
	case '[':
		array := []any{}
		for r.Array(); r.More(']'); {
			array = append(array, peek(r))
		}
		return array
	case '"':
		return r.String()
	}
	return json.Number(r.Raw())
}

func peek(r *Reader) any {
	return readAny(r, r.peek())
}

var readable = []string{`{}`, `[]`, ` { "a" : [ 1 , "x\n\"\u00e9\ud83d\ude00" , { } ] , "b" : { "c" : [ ] } } `, `{"":""}`, `[[[]]]`,
	`["\n","1234567\"","12345678\\","\u0041\ud800","a\\\"b\/c and then some more\ttext",[{}],{"a":[]}]`}

var unreadable = []string{``, `{`, `[`, `{"a"`, `{"a":`, `{"a":1`, `[1`, `[1,`, `{"a" 1}`, `{1:2}`, `["a]`, `[ "\q" ]`, `{,}`, `[1,]`, `{"a":1,}`, `{"a":1]`, `[{},[}]`, `[1 2]`, "[\"a\nb\"]", `["\n\u12`}

func TestReader(t *testing.T) {
	for _, text := range readable {
		r := NewReader([]byte(text))
		got := peek(r)
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		var want any
		if err := decoder.Decode(&want); err != nil || r.Err() != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %v; want %v, %v", text, got, r.Err(), want, err)
		}
	}
	for _, text := range unreadable {
		r := NewReader([]byte(text))
		if peek(r); r.Err() == nil {
			t.Errorf("%s: no error", text)
		}
	}
}

// FuzzReader holds that the reader ends on anything, and reads what encoding/json
// reads as encoding/json does, of what is UTF-8 as all that the host sends.
func FuzzReader(f *testing.F) {
	for _, text := range append(readable, unreadable...) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := NewReader([]byte(text))
		got := peek(r)
		var want map[string]string
		if json.Unmarshal([]byte(text), &want) != nil || want == nil || r.Err() != nil || !utf8.ValidString(text) {
			return
		}
		for key, value := range got.(map[string]any) {
			if value != want[key] && value != json.Number("null") && value != "" {
				t.Errorf("%s: %q is %q, want %q", text, key, value, want[key])
			}
		}
	})
}
