package show

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

// hostile are texts of strangers: with what ends lines, steers terminals, turns the
// direction of writing, or stands for styles here.
func hostile() *rapid.Generator[string] {
	piece := rapid.SampledFrom([]string{"\n", "\r", "\r\n", "\x1b[31m", "\x1b]0;t\x07", "\u2028", "\u2029", "\u202e", "\u2066", "\u009b2J",
		"\x9b", "\x00", "\x7f", "\t", "\v", "\f", "\u0085", "\uFDD0", "\uFDD3", "\uFDDF", "\xff", "FORGED valid", "x", " "})
	return rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(piece, 0, 8).Draw(t, "pieces"), "") })
}

// steers reports whether anything in what a terminal gets is not text or a line's end.
func steers(out string) bool {
	return strings.ContainsFunc(out, func(r rune) bool {
		return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) || r == '\u2028' || r == '\u2029'
	})
}

// No text of a stranger makes a line of its own or steers a terminal, whatever writes it.
func TestTextsOfStrangers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one, other := hostile().Draw(t, "one"), hostile().Draw(t, "other")
		for name, write := range map[string]func(*Screen){
			"line":    func(s *Screen) { s.Line("ours: ", one, s.Paint(Red, other)) },
			"title":   func(s *Screen) { s.Title("ours " + one) },
			"pairs":   func(s *Screen) { s.Pairs([2]string{"ours", one}, [2]string{"ours", other}) },
			"table":   func(s *Screen) { s.Table([]string{"A", "B"}, [][]Cell{{{Text: "ours"}, {Text: one}, {Text: other}}}) },
			"block":   func(s *Screen) { s.Block("  ", one) },
			"painted": func(s *Screen) { s.Line("ours", s.Paint(Bold, one)) },
		} {
			var out bytes.Buffer
			write(&Screen{w: &out})
			if steers(out.String()) {
				t.Errorf("%s: %q reaches the terminal", name, out.String())
			}
			for line := range strings.SplitSeq(out.String(), "\n") {
				if strings.HasPrefix(line, "FORGED") {
					t.Errorf("%s: %q is a line of its own", name, line)
				}
			}
		}
	})
}

// JSON says the same with what a terminal must not get escaped.
func TestJSONForATerminal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		said := strings.ToValidUTF8(hostile().Draw(t, "text"), "?")
		text, err := json.Marshal(map[string]string{"a": said})
		if err != nil {
			t.Fatal(err)
		}
		text = []byte(strings.NewReplacer(`\u2028`, "\u2028", `\u2029`, "\u2029").Replace(string(text)))
		var out bytes.Buffer
		(&Screen{w: &out}).JSON(text)
		var back map[string]string
		if err := json.Unmarshal(out.Bytes(), &back); err != nil || back["a"] != said || steers(out.String()) {
			t.Errorf("%q is told as %q: %v", said, out.String(), err)
		}
	})
}
