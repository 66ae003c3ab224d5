package skillmd_test

import (
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/runtime/skillmd"
)

// hostile are front matters that are small, and much to a parser that takes them at their word.
func hostile() map[string]string {
	fill := func(text string) string { return strings.Repeat(text, 64<<10/len(text)-8) }
	return map[string]string{
		"bomb":        "a: &a [x,x,x,x]\nb: &b [*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b]\nd: [*c,*c,*c,*c]",
		"anchors":     "a: " + fill("&a "),
		"aliases":     "a: [" + fill("*a,") + "]",
		"brackets":    "a: " + fill("["),
		"braces":      "a: " + fill("{a: "),
		"entries":     fill("- "),
		"questions":   fill("? "),
		"colons":      fill(": "),
		"keys":        fill("a: b\n"),
		"quotes":      fill("'"),
		"escapes":     "a: \"" + fill("\\x") + "\"",
		"scalar":      "a: " + fill("x"),
		"block":       "a: |\n" + fill(" x\n"),
		"comments":    fill("#\n"),
		"stairs":      stairs(300),
		"tags":        "a: " + fill("!!map "),
		"directives":  fill("%YAML 1.2\n"),
		"documents":   fill("...\n"),
		"tabs":        fill("\t"),
		"merges":      fill("<<: a\n"),
		"flow commas": "a: [" + fill(",") + "]",
		"flow list":   "a: [" + fill("a,") + "]",
		"sequence":    "a:\n" + fill("- a\n"),
	}
}

// stairs are mappings in one another, each a space further in.
func stairs(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

// None of them takes more memory than a parser needs for texts of this size.
func TestHostileFrontMatters(t *testing.T) {
	for name, lines := range hostile() {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			r := alone(front(lines))
			runtime.ReadMemStats(&after)
			if r.Valid {
				t.Error("it is valid")
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > 256<<20 {
				t.Errorf("it took %d MiB", took>>20)
			}
		})
	}
}

func FuzzFrontMatter(f *testing.F) {
	f.Add(good + "metadata:\n  a: b\nallowed-tools: [a, b]\nlicense: MIT")
	f.Add("name: 'a'\ndescription: |\n  b\n\n  c\nversion: 1.0")
	f.Add("name: &a b\ndescription: *a")
	f.Add("? a\n: b")
	f.Add(stairs(20))
	f.Add("name: \"\\xff\\ud800\"\ndescription: \"\\U00110000\"")
	f.Fuzz(func(t *testing.T, lines string) {
		text := front(lines)
		r := alone(text)
		if r.Valid != (len(r.Errors) == 0) || r.Valid && r.Skill == nil {
			t.Errorf("valid is %v with %v", r.Valid, r.Errors)
		}
		if _, err := json.Marshal(r); err != nil {
			t.Error("it cannot be shown:", err)
		}
		most := 1 + strings.Count(text, "\n")
		for _, finding := range append(r.Errors, r.Warnings...) {
			if finding.Line < 0 || finding.Line > most || finding.Message == "" || finding.Code == "" {
				t.Errorf("of %d lines: %+v", most, finding)
			}
		}
		if s := r.Skill; r.Valid && (len(s.Name) > 64 || utf8.RuneCountInString(s.Description) > 1024 || skillmd.Digest(s.Files) != s.Digest) {
			t.Errorf("valid: %+v", s)
		}
	})
}
