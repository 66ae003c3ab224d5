package journal

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestDiff(t *testing.T) {
	for _, c := range []struct{ name, a, b, want string }{
		{"nothing", "", "", ""},
		{"added", "", "a\nb", "+a\n+b\n"},
		{"removed", "a\nb", "", "-a\n-b\n"},
		{"same", "a\nb", "a\nb", " a\n b\n"},
		{"first", "a\nb\nc", "x\nb\nc", "-a\n+x\n b\n c\n"},
		{"middle", "a\nb\nc", "a\nx\nc", " a\n-b\n+x\n c\n"},
		{"last", "a\nb\nc", "a\nb\nx", " a\n b\n-c\n+x\n"},
		{"inserted", "a\nc", "a\nb\nc", " a\n+b\n c\n"},
		{"cut out", "a\nb\nc", "a\nc", " a\n-b\n c\n"},
		{"moved", "a\nb\nc", "c\na\nb", "+c\n a\n b\n-c\n"},
		{"longer", "a", "a\n", " a\n+\n"},
		{"all", "a\nb", "x\ny", "-a\n-b\n+x\n+y\n"},
		{"huge, changed in the middle", long(1000, -1), long(1000, 500), " 497\n 498\n 499\n-500\n+changed\n 501\n 502\n"},
		{"huge, changed at the start", long(1000, -1), long(1000, 0), "-0\n+changed\n 1\n 2\n"},
		{"huge, changed at the end", long(1000, -1), long(1000, 999), " 996\n 997\n 998\n-999\n+changed\n"},
		{"huge, against nothing", long(1000, -1), "", "-0\n-1\n-2\n"},
		{"huge, and longer", long(1000, -1), long(1002, -1), " 997\n 998\n 999\n+1000\n+1001\n"},
	} {
		if got := Diff(c.a, c.b); got != c.want {
			t.Errorf("%s:\n%swant\n%s", c.name, got, c.want)
		}
	}
}

// long returns numbered lines, one of which is changed.
func long(n, changed int) string {
	lines := make([]string, n)
	for i := range lines {
		if lines[i] = itoa(i); i == changed {
			lines[i] = "changed"
		}
	}
	return strings.Join(lines, "\n")
}

func itoa(i int) string {
	if i < 10 {
		return string(rune('0' + i))
	}
	return itoa(i/10) + itoa(i%10)
}

// side reads back one of the sides of a diff.
func side(diff, mark string) (lines []string) {
	for line := range strings.Lines(diff) {
		if line[:1] == " " || line[:1] == mark {
			lines = append(lines, strings.TrimSuffix(line[1:], "\n"))
		}
	}
	return lines
}

// checkDiff holds a diff to its two sides.
func checkDiff(t interface{ Fatalf(string, ...any) }, a, b string) {
	diff := Diff(a, b)
	left, right := strings.Join(side(diff, "-"), "\n"), strings.Join(side(diff, "+"), "\n")
	if len(lines(a)) > maxDiffLines || len(lines(b)) > maxDiffLines {
		if n := strings.Count(diff, "\n"); n > 12 {
			t.Fatalf("a diff of %d lines, of huge texts", n)
		}
		if !strings.Contains(a, left) || !strings.Contains(b, right) || a != b && left == right {
			t.Fatalf("%q and %q:\n%s", a, b, diff)
		}
		return
	}
	if left != a || right != b {
		t.Fatalf("%q and %q:\n%s", a, b, diff)
	}
}

// A diff holds both texts, so nothing that differs is left out.
func TestDiffHoldsBothSides(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.Map(rapid.SliceOf(rapid.SampledFrom([]string{"", "a", "b", "c", "-", "+", " "})), func(lines []string) string { return strings.Join(lines, "\n") })
		checkDiff(t, text.Draw(t, "a"), text.Draw(t, "b"))
	})
}

// What is huge costs no more than it takes to find where it differs.
func TestDiffIsBounded(t *testing.T) {
	a := strings.Repeat("a\n", 1<<20)
	checkDiff(t, a, strings.Repeat("b\n", 1<<20))
	checkDiff(t, a, a)
	checkDiff(t, a, a+"b")
	checkDiff(t, a, "")
}

func TestPretty(t *testing.T) {
	for in, want := range map[string]string{
		``: ``, `{"b":1.0,"a":[]}`: "{\n  \"b\": 1.0,\n  \"a\": []\n}", `{"a":`: `{"a":`, "\xff": "\xff", `{"a":1,"a":2}`: "{\n  \"a\": 1,\n  \"a\": 2\n}",
	} {
		text := []byte(in)
		if got := Pretty(text); got != want || string(text) != in {
			t.Errorf("%q: %q; the text is now %q", in, got, text)
		}
	}
}

func FuzzDiff(f *testing.F) {
	f.Add("", "")
	f.Add("a\nb\nc", "a\nx\nc")
	f.Add("\n\n", "\n")
	f.Add("-a\n+b", " a")
	f.Add(long(500, -1), long(500, 250))
	f.Add(long(401, -1), "")
	f.Fuzz(func(t *testing.T, a, b string) { checkDiff(t, a, b) })
}
