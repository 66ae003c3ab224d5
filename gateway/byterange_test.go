package gateway

import (
	"testing"

	"pgregory.net/rapid"
)

func TestParseRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.Int64Range(0, 100).Draw(t, "size")
		header := rapid.StringMatching(`bytes=[0-9]{0,3}-[0-9]{0,3}`).Draw(t, "header")
		part, ok := parseRange(header, size)
		if ok && (part.Start < 0 || part.Length < 0 || part.Length > 0 && part.Start+part.Length > size) {
			t.Fatalf("%q of %d bytes: %+v", header, size, part)
		}
	})
}
