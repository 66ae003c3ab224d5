package journal

import (
	"fmt"
	"strings"
	"testing"
)

func listing(found []Difference) string {
	var lines []string
	for _, d := range found {
		line := fmt.Sprintf("%s: %s → %s", d.Path, string(d.Want), string(d.Got))
		if d.Order {
			line += " (order)"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestDifferencesAreAllThatMeanSomethingElse(t *testing.T) {
	for _, c := range []struct{ name, a, b, meant, strict string }{
		{"the same", `{"a":1}`, `{"a":1}`, "", ""},
		{"members in another order", `{"a":1,"b":{"c":1,"d":2}}`, `{"b":{"d":2,"c":1},"a":1}`, "",
			"/b: {\"c\":1,\"d\":2} → {\"d\":2,\"c\":1} (order)\n: {\"a\":1,\"b\":{\"c\":1,\"d\":2}} → {\"b\":{\"d\":2,\"c\":1},\"a\":1} (order)"},
		{"spaces, escapes, numbers", `{"a": 1.0, "t": "\u0061"}`, `{"a":1,"t":"a"}`, "", ""},
		{"two at once", `{"a":1,"b":[{"c":"x"}]}`, `{"a":2,"b":[{"c":"y"}]}`, "/a: 1 → 2\n/b/0/c: \"x\" → \"y\"", "same"},
		{"a member more, one less", `{"a":1,"b":2}`, `{"a":1,"c":3}`, "/b: 2 → \n/c:  → 3", "same"},
		{"an item put in", `[1,2,3]`, `[0,1,2,3]`, "/0:  → 0", "same"},
		{"an item taken out", `[1,{"a":1,"b":2},3]`, `[1,3]`, `/1: {"a":1,"b":2} → `, "same"},
		{"an order within items", `[{"a":1,"b":2}]`, `[{"b":2,"a":1}]`, "", "/0: {\"a\":1,\"b\":2} → {\"b\":2,\"a\":1} (order)"},
		{"another kind", `{"a":[]}`, `{"a":{}}`, "/a: [] → {}", "same"},
		{"names with slashes", `{"a/b":{"~":1}}`, `{"a/b":{"~":2}}`, "/a~1b/~0: 1 → 2", "same"},
		{"large numbers keep their digits", `12345678901234567890`, `12345678901234567891`, ": 12345678901234567890 → 12345678901234567891", "same"},
		{"no JSON", "plain", "text", `: "plain" → "text"`, "same"},
		{"no JSON, bytes", "\xff", "\xfe", `: {"base64":"/w=="} → {"base64":"/g=="}`, "same"},
		{"nothing and something", "", `1`, ":  → 1", "same"},
		{"names twice are no JSON", `{"a":1,"a":2}`, `{"a":2}`, `: "{\"a\":1,\"a\":2}" → {"a":2}`, "same"},
	} {
		strict := c.strict
		if strict == "same" {
			strict = c.meant
		}
		if got := listing(Differences([]byte(c.a), []byte(c.b), false)); got != c.meant {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.meant)
		}
		if got := listing(Differences([]byte(c.a), []byte(c.b), true)); got != strict {
			t.Errorf("%s, strict:\n%s\nwant\n%s", c.name, got, strict)
		}
	}
}

func TestDifferencesAreBounded(t *testing.T) {
	many := func(v string) []byte {
		return []byte("[" + strings.TrimSuffix(strings.Repeat(v+",", 50_000), ",") + "]")
	}
	if n := len(Differences(many("1"), many("2"), false)); n != MaxDifferences {
		t.Errorf("%d differences are told, want %d", n, MaxDifferences)
	}
	deep := func(v string) []byte { return []byte(strings.Repeat("[", 5000) + v + strings.Repeat("]", 5000)) }
	if found := Differences(deep("1"), deep("2"), false); len(found) != 1 || found[0].Path != strings.Repeat("/0", 5000) {
		t.Errorf("a difference at the bottom of a deep text: %d", len(found))
	}
}
