package scan

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
)

// read takes a JSON text apart completely.
func read(b []byte) (any, error) {
	switch {
	case len(b) > 0 && b[0] == '{':
		out := map[string]any{}
		err := Members(b, func(key string, value []byte) (err error) {
			out[key], err = read(value)
			return err
		})
		return out, err
	case len(b) > 0 && b[0] == '[':
		out := []any{}
		err := Elements(b, func(element []byte) error {
			v, err := read(element)
			out = append(out, v)
			return err
		})
		return out, err
	case len(b) > 0 && b[0] == '"':
		return String(b)
	}
	var v any
	err := json.Unmarshal(b, &v)
	return v, err
}

// FuzzRead holds that what is valid is read as encoding/json reads it, and that
// nothing else does harm.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		`{}`, `[]`, `{"a":[1,{"b":"c\"}"}, null ],"d" : -1.5e3 }`, `"\\"`, `["\\\"","\ud83d\ude00","\u00e9\n\/"]`,
		`{"a":"` + "漢" + `","a":2}`, `[`, `{"a"`, `"\`, `"\u12"`, "[1,,2]", `{"a":"\ud83d"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		text = bytes.Trim(text, " \n\r\t")
		got, err := read(text)
		var want any
		if json.Unmarshal(text, &want) != nil {
			return
		}
		if err != nil || (bytes.Equal(bytes.ToValidUTF8(text, nil), text) && !reflect.DeepEqual(got, want)) {
			t.Errorf("read %q as %v, %v; want %v", text, got, err, want)
		}
	})
}

// FuzzAppendString holds that a text is written so that encoding/json reads the same,
// as far as it is UTF-8.
func FuzzAppendString(f *testing.F) {
	for _, seed := range []string{"", "a\"b\\c", "line\nline\r\x00\x1f\x7f", "漢 \u2028 😀", "\xff\xfe half", "<&>"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		written := AppendString([]byte("x"), text)[1:]
		var got string
		if err := json.Unmarshal(written, &got); err != nil {
			t.Fatalf("%q was written as %s: %v", text, written, err)
		}
		var want string
		plain, _ := json.Marshal(text)
		if err := json.Unmarshal(plain, &want); err != nil || got != want {
			t.Errorf("%q was written as %s, which is read as %q, want %q", text, written, got, want)
		}
	})
}
