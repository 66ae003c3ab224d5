package skillmd_test

import (
	"testing"

	"github.com/wharf-dev/wharf/runtime/skillmd"
)

// The order is that of the example of semver.org, and what counts as the same.
func TestCompareVersions(t *testing.T) {
	ordered := []string{"0.9.10", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11",
		"1.0.0-rc.1", "1.0.0", "1.0.9", "1.0.10", "1.2.0", "1.10.0", "2.0.0", "99999999999999999999999.0.0", "100000000000000000000000.0.0"}
	for i, a := range ordered {
		for j, b := range ordered {
			got := skillmd.CompareVersions(a, b)
			if got < 0 != (i < j) || got > 0 != (i > j) {
				t.Errorf("%s and %s compare as %d", a, b, got)
			}
		}
	}
	if skillmd.CompareVersions("1.0.0+a-b", "1.0.0+b.1") != 0 {
		t.Error("what is behind the + counts")
	}
}

func TestNextMinor(t *testing.T) {
	for version, want := range map[string]string{"1.0.0": "1.1.0", "1.9.7": "1.10.0", "0.0.1-rc.1+b-2": "0.1.0", "1.18446744073709551615.3": "1.18446744073709551616.0"} {
		if got := skillmd.NextMinor(version); got != want {
			t.Errorf("after %s comes %s, want %s", version, got, want)
		}
	}
}
