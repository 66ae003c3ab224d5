package plainly

import (
	"slices"
	"strings"
	"testing"
)

func TestTheNearestNameIsFound(t *testing.T) {
	names := slices.Values([]string{"name", "version", "capabilities"})
	for wrote, want := range map[string]string{"nmae": "name", "capabilites": "capabilities", "ersion": "version", "evrsion": "version", "abc": "", "zzzz": "", "": "",
		strings.Repeat("capabilities", 1000): ""} {
		if got := Nearest(wrote, names); got != want {
			t.Errorf("%q: got %q, want %q", wrote, got, want)
		}
	}
}
