package skillmd

import (
	"cmp"
	"fmt"
	"math/big"
	"strings"
)

// CompareVersions compares two versions as semver.org says: below 0 when a comes before b, above 0
// when it comes after it. What is behind a + does not count. Both have to be versions.
func CompareVersions(a, b string) int {
	a, _, _ = strings.Cut(a, "+")
	b, _, _ = strings.Cut(b, "+")
	coreA, preA, _ := strings.Cut(a, "-")
	coreB, preB, _ := strings.Cut(b, "-")
	if d := compareParts(coreA, coreB); d != 0 {
		return d
	}
	switch {
	case preA == preB:
		return 0
	case preA == "":
		return 1
	case preB == "":
		return -1
	}
	return compareParts(preA, preB)
}

// compareParts compares texts with dots part by part. Of two that begin the same, the longer one
// comes after.
func compareParts(a, b string) int {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(as), len(bs)) {
		if d := comparePart(as[i], bs[i]); d != 0 {
			return d
		}
	}
	return cmp.Compare(len(as), len(bs))
}

// comparePart compares numbers as such, and puts them before texts. Numbers may have any length.
func comparePart(a, b string) int {
	numberA, numberB := isNumber(a), isNumber(b)
	switch {
	case numberA && numberB:
		return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
	case numberA:
		return -1
	case numberB:
		return 1
	}
	return strings.Compare(a, b)
}

func isNumber(s string) bool {
	return strings.Trim(s, "0123456789") == ""
}

// NextMinor returns the next minor version after one: 1.3.0 after 1.2.3.
func NextMinor(version string) string {
	core, _, _ := strings.Cut(version, "+")
	core, _, _ = strings.Cut(core, "-")
	parts := strings.SplitN(core, ".", 3)
	minor, _ := new(big.Int).SetString(parts[1], 10) // it is a version
	return fmt.Sprintf("%s.%d.0", parts[0], minor.Add(minor, big.NewInt(1)))
}
