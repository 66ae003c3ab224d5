package lifecycle

import (
	"testing"
	"time"
)

// Many suspects share the time that others wait for them; each has more when it is tried again.
func TestTrialsGrow(t *testing.T) {
	for _, test := range []struct {
		suspects, before int
		want             time.Duration
	}{{1, 0, 10 * time.Second}, {6, 0, 10 * time.Second}, {60, 0, time.Second}, {60, 2, 4 * time.Second}, {1, 5, time.Minute}, {60, 999, time.Minute}} {
		if got := Trial(test.suspects, test.before); got != test.want {
			t.Errorf("of %d, the %d before: %s, want %s", test.suspects, test.before, got, test.want)
		}
	}
}
