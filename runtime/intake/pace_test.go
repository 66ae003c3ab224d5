package intake

import (
	"testing"
	"time"
)

func TestPace(t *testing.T) {
	var p pace
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, c := range []struct {
		after      time.Duration
		deliveries int
		bytes      int64
		want       bool
	}{
		{0, paceDeliveries, 1, true}, {time.Second, 1, 1, false}, {time.Minute - 2*time.Second, 1, 1, false}, {time.Second, 1, 1, true},
		{0, 1, paceBytes, false}, {0, 1, paceBytes - 1, true}, {0, 0, 1, false},
		{-time.Hour, 1, 1, true}, // the clock was put back
	} {
		now = now.Add(c.after)
		if got := p.take(now, c.deliveries, c.bytes); got != c.want {
			t.Errorf("step %d: %v, want %v", i, got, c.want)
		}
	}
}
