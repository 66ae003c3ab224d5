package journal

import (
	"math/big"
	"strconv"
	"testing"

	"github.com/gowebpki/jcs"
	"pgregory.net/rapid"
)

func TestCanonicalValue(t *testing.T) {
	for text, want := range map[string]string{
		` { "b" : 1.0, "a" : [ 1e2, -0, 0.50, true, null, "\u0041,]" ] } `: `{"a":[100,0,0.5,true,null,"A,]"],"b":1}`,
		`[12345678901234567890,1e400,0.1000000000000000000001,1E-400]`:     `[12345678901234567890,1e400,0.1000000000000000000001,1E-400]`,
		`[9007199254740992,9007199254740993,1e21,123456789012345680000]`:   `[9007199254740992,9007199254740993,1e+21,123456789012345680000]`,
		`{"ｚ":1,"😀":2,"z":3}`:                                              `{"z":3,"😀":2,"ｚ":1}`, // by UTF-16
		`[1e999999999999999999999]`:                                        `[1e999999999999999999999]`,
		`-1.50e-3`:                                                         `-0.0015`,
	} {
		got, err := CanonicalValue([]byte(text))
		if err != nil || string(got) != want {
			t.Errorf("%s became %s, want %s (%v)", text, got, want, err)
		}
	}
	for _, text := range []string{``, `{`, `{"a":1,"a":1}`, `"\ud800"`, `[1] 2`} {
		if got, err := CanonicalValue([]byte(text)); err == nil {
			t.Errorf("%q became %s", text, got)
		}
	}
}

// drawJSON draws a JSON text, spelled at random, whose numbers are drawn by number.
func drawJSON(t *rapid.T, depth int, number func(*rapid.T) string) string {
	kinds := 4
	if depth == 0 {
		kinds = 2
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return number(t)
	case 1:
		return rapid.SampledFrom([]string{`null`, `true`, `""`, `"a\\\"b"`, `"\u0041\/\ud83d\ude00"`, `"[1,{\\"`, `" "`}).Draw(t, "scalar")
	case 2:
		text := "["
		for i := range rapid.IntRange(0, 3).Draw(t, "elements") {
			if i > 0 {
				text += " ,"
			}
			text += drawJSON(t, depth-1, number)
		}
		return text + " ]"
	}
	names := rapid.Permutation([]string{`"a"`, `"\u00e9"`, `"Z"`, `""`, `"ﬀ"`, `"\ud83d\ude00"`}).Draw(t, "names")
	text := "{ "
	for i := range rapid.IntRange(0, 4).Draw(t, "members") {
		if i > 0 {
			text += ", "
		}
		text += names[i] + "\n:" + drawJSON(t, depth-1, number)
	}
	return text + "}"
}

func drawDouble(t *rapid.T) string {
	f := rapid.Float64().Draw(t, "number")
	return strconv.FormatFloat(f, byte(rapid.SampledFrom([]byte("eEfg")).Draw(t, "form")), -1, 64)
}

// Values of doubles have the form of RFC 8785.
func TestCanonicalValueOfDoubles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(drawJSON(t, 3, drawDouble))
		got, err := CanonicalValue(text)
		want, wrong := jcs.Transform(text)
		if err != nil || wrong != nil || string(got) != string(want) {
			t.Fatalf("%s became %s, want %s (%v, %v)", text, got, want, err, wrong)
		}
	})
}

// Two numbers are the same when they are, however large or fine.
func TestSameNumbers(t *testing.T) {
	number := rapid.StringMatching(`-?(0|[1-9][0-9]{0,22})(\.[0-9]{1,22})?([eE][+-]?[0-9]{1,3})?`)
	rapid.Check(t, func(t *rapid.T) {
		a := number.Draw(t, "a")
		b := rapid.OneOf(number, rapid.Just(a+"0"), rapid.Just(a+"e0")).Draw(t, "b")
		x, okX := new(big.Rat).SetString(a)
		y, okY := new(big.Rat).SetString(b)
		if !okX || !okY {
			t.Skip("no JSON number")
		}
		if got := SameValue([]byte(a), []byte(b)); got && x.Cmp(y) != 0 {
			t.Fatalf("%s and %s are taken for the same", a, b)
		}
	})
}
