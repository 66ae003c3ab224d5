package pebble

import (
	"testing"

	"github.com/oklog/ulid/v2"
	"pgregory.net/rapid"
)

// TestULIDsAreReadAsTheyAreWritten compares with the library: what it reads, and writes as
// the same text again, is read as the same, and nothing else is.
func TestULIDsAreReadAsTheyAreWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(
			rapid.StringMatching(`[0-9A-HJKMNP-TV-Z]{26}`),
			rapid.StringMatching(`[0-8][0-9A-Za-z]{25}`),
			rapid.StringN(0, 30, 30),
		).Draw(t, "text")
		want, err := ulid.ParseStrict(s)
		got, ok := parseULID(s)
		if canonical := err == nil && want.String() == s; ok != canonical || ok && got != want {
			t.Fatalf("%q: %v, %v; the library has %v, %v", s, got, ok, want, err)
		}
	})
}
