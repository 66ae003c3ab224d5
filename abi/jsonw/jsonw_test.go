package jsonw_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi/jsonw"
)

// FuzzString holds that strings are written as the JSON library does, whatever is in them.
func FuzzString(f *testing.F) {
	for _, s := range []string{"", "task_1", "a\"b\\c", "\x00\b\t\n\f\r\x1f\x7f", "é\u2028\u2029<>&", "\U0001F600", "\xff\xfea", "\xe2\x80", strings.Repeat("a\n", 100)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want, _ := jsontext.AppendQuote([]byte("x"), s)
		if got := jsonw.String([]byte("x"), s); string(got) != string(want) {
			t.Errorf("%q is written as %s, want %s", s, got, want)
		}
		if got := jsonw.String([]byte("x"), []byte(s)); string(got) != string(want) {
			t.Errorf("the bytes %q are written as %s, want %s", s, got, want)
		}
		if got := jsonw.UTF8([]byte("x"), []byte(s)); utf8.ValidString(s) && string(got) != string(want) {
			t.Errorf("the text %q is written as %s, want %s", s, got, want)
		}
	})
}

// TestObject holds what is left out, and that an object without members is one.
func TestObject(t *testing.T) {
	east := time.FixedZone("", 3600)
	for want, write := range map[string]func(*jsonw.Object){
		`{}`: func(o *jsonw.Object) {
			o.Optional("a", "")
			o.Count("b", 0)
			o.OptionalTime("d", time.Time{})
			o.True("e", false)
			o.Raw("f", nil)
			jsonw.OptionalList(o, "g", []string{}, nil)
		},
		`{"a":null,"b":[],"c":""}`: func(o *jsonw.Object) {
			o.Nullable("a", nil)
			jsonw.List(o, "b", []string{}, nil)
			o.Text("c", "")
		},
		`{"at":"1970-01-01T00:00:01.5Z","raw":{"a b":[1,2]},"n":9007199254740993,"r":9007199254740992,"u":18446744073709551615,"b64":"AAE="}`: func(o *jsonw.Object) {
			o.Time("at", time.Unix(1, 5e8).In(east))
			o.Raw("raw", jsontext.Value("{ \"a b\": [1,\n2] }"))
			o.Int("n", 1<<53+1)
			o.Rounded("r", 1<<53+1)
			o.Uint("u", 1<<64-1)
			o.Base64("b64", []byte{0, 1})
		},
	} {
		o := jsonw.Begin(nil)
		write(&o)
		if got := string(o.End()); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func BenchmarkString(b *testing.B) {
	for name, s := range map[string]string{"id": "task_01JZ8Q9W3K5V7X2M4N6P8R0T1Y", "text": strings.Repeat("All work and no play. ", 50), "json": strings.Repeat(`{"a":"b","c":[1,2]},`, 50)} {
		buf := make([]byte, 0, 4096)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				buf = jsonw.String(buf[:0], s)
			}
		})
	}
}
