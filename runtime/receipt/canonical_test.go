package receipt

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/gowebpki/jcs"
	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/runtime/journal"
)

// canonicalOf is the canonical form of a value by two other implementations.
func canonicalOf(t interface{ Fatalf(string, ...any) }, v any) []byte {
	text, err := json.Marshal(v, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		t.Fatalf("%v", err)
	}
	want, err := jcs.Transform(text)
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	again := jsontext.Value(text)
	if err := again.Canonicalize(); err != nil || !bytes.Equal(again, want) {
		t.Fatalf("two implementations differ on %s (%v)", text, err)
	}
	return want
}

// fill sets every member of a value, so that one which the encoder forgets is
// missed. Strings and numbers are random and of the awkward kind.
func fill(t *rapid.T, v reflect.Value, empty bool) {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "seconds"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns")).UTC()))
			return
		}
		for i := range v.NumField() {
			fill(t, v.Field(i), empty)
		}
	case reflect.Pointer:
		if empty && rapid.Bool().Draw(t, "nil") {
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), empty)
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[jsontext.Value]() {
			v.SetBytes([]byte(rapid.SampledFrom([]string{`{"type":"object","$ref":"#/a"}`, `{"b":[1e2,"\u0061"],"a":{ }}`, `null`}).Draw(t, "JSON")))
			return
		}
		n := rapid.IntRange(1, 3).Draw(t, "length")
		if empty {
			n--
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fill(t, v.Index(i), empty)
		}
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]float64{"EUR": aNumber(t), "CHF": aNumber(t)}))
	case reflect.String:
		v.SetString(aString(t, empty))
	case reflect.Bool:
		v.SetBool(!empty || rapid.Bool().Draw(t, "bool"))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.OneOf(rapid.Int64Range(1, 1<<20), rapid.Int64Range(1, math.MaxInt64)).Draw(t, "integer"))
	case reflect.Uint64:
		v.SetUint(rapid.Uint64Range(0, 1<<40).Draw(t, "integer"))
	case reflect.Uint8:
		v.SetUint(uint64(rapid.Byte().Draw(t, "byte")))
	case reflect.Float64:
		v.SetFloat(aNumber(t))
	default:
		panic(fmt.Sprint("nothing fills a ", v.Kind()))
	}
}

func aString(t *rapid.T, empty bool) string {
	awkward := rapid.SampledFrom([]string{"a", "\"\\/\b\f\n\r\t\x00\x1f\x7f", "é\u2028\u2029<>&", "\U0001F600", "\uE000\uFFFD", "\xff\xfea"})
	s := rapid.OneOf(awkward, rapid.StringN(1, 20, -1)).Draw(t, "string")
	if empty && rapid.Bool().Draw(t, "no string") {
		return ""
	}
	return s
}

func aNumber(t *rapid.T) float64 {
	return rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 0.1842, 1e-6, 9.99e-7, 1e-7, 1e21, 1e20,
		123456789012345680000, 5e-324, math.MaxFloat64, -1.5e-9, 4.5, 2e-3})).Draw(t, "number")
}

func TestCanonicalIsThatOfOtherImplementations(t *testing.T) {
	for _, empty := range []bool{false, true} {
		t.Run(fmt.Sprint("empty members ", empty), rapid.MakeCheck(func(t *rapid.T) {
			var r Receipt
			fill(t, reflect.ValueOf(&r).Elem(), empty)
			if got, want := r.AppendCanonical(nil), canonicalOf(t, &r); !bytes.Equal(got, want) {
				t.Fatalf("got  %s\nwant %s", got, want)
			}
		}))
	}
}

func TestProgramIsCanonical(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p journal.Program
		fill(t, reflect.ValueOf(&p).Elem(), rapid.Bool().Draw(t, "empty members"))
		if got, want := appendProgram(nil, &p), canonicalOf(t, &p); !bytes.Equal(got, want) {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	})
}

// TestHashedLeavesOutTheSeal holds what the hash is over against the definition:
// the canonical form without two members.
func TestHashedLeavesOutTheSeal(t *testing.T) {
	r := sealed(t)
	var doc map[string]any
	if err := json.Unmarshal(r.AppendCanonical(nil), &doc); err != nil {
		t.Fatal(err)
	}
	delete(doc, "signatures")
	delete(doc["chain"].(map[string]any), "receipt_hash")
	if want := canonicalOf(t, doc); !bytes.Equal(r.AppendHashed(nil), want) {
		t.Fatalf("got  %s\nwant %s", r.AppendHashed(nil), want)
	}
	if Hash(r) != r.Chain.ReceiptHash {
		t.Fatal("the seal changes the hash")
	}
}

func TestParseReadsWhatIsWritten(t *testing.T) {
	wire := sealed(t).AppendCanonical(nil)
	r, err := Parse(wire)
	if err != nil {
		t.Fatal(err)
	}
	if again := r.AppendCanonical(nil); !bytes.Equal(again, wire) {
		t.Fatalf("got  %s\nwant %s", again, wire)
	}
	if _, err := Parse(bytes.Replace(wire, []byte(`"cost":{`), []byte(`"cost":{"extra":1,`), 1)); err == nil {
		t.Error("an unknown member was accepted")
	}
}

// TestCanonicalFormOfOthers holds the canonical form of any JSON against another
// implementation: names that sort as UTF-16 does, odd numbers, all escapes.
func TestCanonicalFormOfOthers(t *testing.T) {
	texts := rapid.SampledFrom([]string{"a", "b", "é", "\u20ac", "\U0001f600", "\ufb33", "\r", "1", "\u0080", "ö", `"`, `\`, "\u0000", "\u2028", "</script>", ""})
	numbers := rapid.SampledFrom([]string{"0", "-0", "1e21", "1E+20", "0.000001", "1e-7", "333333333.33333329", "9007199254740993", "1.7976931348623157e308", "5e-324", "-1.50", "4.50", "2e-3"})
	var value func(depth int) *rapid.Generator[string]
	value = func(depth int) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			kind := rapid.IntRange(0, 5).Draw(t, "kind")
			switch {
			case kind == 0:
				return numbers.Draw(t, "number")
			case kind == 1 || depth == 0:
				text, _ := json.Marshal(texts.Draw(t, "text"))
				return string(text)
			case kind == 2:
				return rapid.SampledFrom([]string{"null", "true", " false "}).Draw(t, "word")
			case kind == 3:
				return "[ " + strings.Join(rapid.SliceOfN(value(depth-1), 0, 4).Draw(t, "members"), " , ") + "]"
			}
			var members []string
			for _, name := range rapid.SliceOfNDistinct(texts, 0, 6, rapid.ID).Draw(t, "names") {
				quoted, _ := json.Marshal(name)
				members = append(members, string(quoted)+" :\n"+value(depth-1).Draw(t, "member"))
			}
			return "{" + strings.Join(members, ",") + " }"
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		text := "{\"x\":" + value(3).Draw(t, "value") + "}" // of a text alone the other takes some only
		got, err := Canonicalize([]byte(text))
		want, wrong := jcs.Transform([]byte(text))
		if err != nil || wrong != nil || !bytes.Equal(got, want) {
			t.Fatalf("%q became %q, want %q (%v, %v)", text, got, want, err, wrong)
		}
	})
}
