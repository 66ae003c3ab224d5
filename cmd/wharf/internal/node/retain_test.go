package node

import (
	"testing"
	"time"
)

// A clock that leaps ahead is not believed for an hour of the process; one that goes back, or is corrected a little, is.
func TestClockLeaps(t *testing.T) {
	const day = 24 * time.Hour
	begins := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	c := &clock{}
	for i, look := range []struct {
		wall  time.Duration // since the first look
		ran   time.Duration
		rests bool
		ahead time.Duration
	}{
		{0, 0, false, 0},
		{time.Hour, time.Hour, false, 0},
		{2*time.Hour + 10*time.Minute, 2 * time.Hour, false, 0}, // corrected
		{366 * day, 3 * time.Hour, true, 366*day - 2*time.Hour - 10*time.Minute - time.Hour},
		{366*day + 30*time.Minute, 3*time.Hour + 30*time.Minute, true, 0},
		{366*day + 61*time.Minute, 4*time.Hour + time.Minute, false, 0},
		{5 * time.Hour, 5 * time.Hour, false, 0}, // put right again
		{5*time.Hour + 2*day, 5*time.Hour + 2*day, false, 0},
		{5*time.Hour + 4*day, 5*time.Hour + 2*day, true, 2 * day}, // it slept
	} {
		if rests, ahead := c.leaps(begins.Add(look.wall), look.ran); rests != look.rests || ahead != look.ahead {
			t.Errorf("look %d: %v, %v, want %v, %v", i, rests, ahead, look.rests, look.ahead)
		}
	}
}
