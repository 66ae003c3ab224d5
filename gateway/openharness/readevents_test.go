package openharness

import (
	"testing"

	"github.com/wharf-dev/wharf/gateway/openharness/mapper"
)

// What is written by hand is what the JSON library writes: a client that resumes gets the same.
func TestTextIsWrittenAsOtherThings(t *testing.T) {
	for _, text := range []string{"", "Two orders are late.", "\"\\\n\u2028<>&\x00\x7f", "\xff", "\U0001F600é"} {
		one := mapper.Told{Type: mapper.Text, Content: text}
		if got, want := string(appendTold(nil, &one)), string(appendJSON(nil, &one)); got != want {
			t.Errorf("%q is written as %s, want %s", text, got, want)
		}
	}
}
