package policy

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestMatch holds that * stands for any characters, as a rule that is too slow for use
// says it.
func TestMatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.StringOfN(rapid.SampledFrom([]rune("ab")), 0, 8, -1)
		pattern := strings.Join(rapid.SliceOfN(letters, 1, 4).Draw(t, "pattern"), "*")
		name := letters.Draw(t, "name")
		if got, want := Match(pattern, name), fits(pattern, name); got != want {
			t.Errorf("Match(%q, %q) is %t, want %t", pattern, name, got, want)
		}
	})
}

func fits(pattern, name string) bool {
	switch {
	case pattern == "":
		return name == ""
	case pattern[0] == '*':
		return fits(pattern[1:], name) || name != "" && fits(pattern, name[1:])
	default:
		return name != "" && name[0] == pattern[0] && fits(pattern[1:], name[1:])
	}
}

// TestHostilePatterns holds that no pattern has a name looked at again and again: by
// backtracking, these would not end.
func TestHostilePatterns(t *testing.T) {
	name := strings.Repeat("a", 1<<20)
	for _, pattern := range []string{
		strings.Repeat("a*", 1000) + "b", strings.Repeat("*", 1<<16) + "b", strings.Repeat("*a", 1<<19) + "*b*", "*" + name + "b*",
	} {
		if Match(pattern, name) {
			t.Errorf("a pattern of %d bytes fits", len(pattern))
		}
	}
}
