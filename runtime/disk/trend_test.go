package disk_test

import (
	"testing"
	"time"
)

// TestWhenTheDiskIsFull has a disk change minute by minute, and asks when it reaches its reserve.
func TestWhenTheDiskIsFull(t *testing.T) {
	const reserve = 1000 * mib
	for name, c := range map[string]struct {
		minutes int
		free    func(minute int) int // MiB
		at      func(minute int) time.Duration
		want    time.Duration // 0 for none
	}{
		"steady":                     {60, func(m int) int { return 7000 - 10*m }, nil, 541 * time.Minute},
		"too short":                  {9, func(m int) int { return 7000 - 10*m }, nil, 0},
		"unchanged":                  {60, func(int) int { return 7000 }, nil, 0},
		"room comes back":            {60, func(m int) int { return 7000 + 10*m }, nil, 0},
		"one large file":             {60, func(m int) int { return 7000 - 3000*(m/30) }, nil, 0},
		"one large file that goes":   {60, func(m int) int { return 7000 - 10*m + 3000*(m/30) }, nil, 841 * time.Minute},
		"has begun lately":           {180, func(m int) int { return 7000 - 100*max(0, m-160) }, nil, 41 * time.Minute},
		"up and down":                {180, func(m int) int { return 7000 + 50*(m%2) }, nil, 0},
		"below the reserve":          {60, func(m int) int { return 1010 - m }, nil, time.Nanosecond},
		"hardly anything":            {60, func(m int) int { return 90_000_000 - m/59 }, nil, 0},
		"a clock that is put back":   {60, func(m int) int { return 7000 - 10*m }, func(m int) time.Duration { return time.Duration(m%55) * time.Minute }, 0},
		"a clock that goes ahead":    {60, func(m int) int { return 7000 - 10*m }, func(m int) time.Duration { return time.Duration(m+1000*(m/55)) * time.Minute }, 0},
		"after a clock was put back": {90, func(m int) int { return 7000 - 10*m }, func(m int) time.Duration { return time.Duration(m%60) * time.Minute }, 511 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(uint64(c.free(0))*mib, reserve)
			begin := m.at
			for minute := range c.minutes {
				m.at = begin.Add(time.Duration(minute) * time.Minute)
				if c.at != nil {
					m.at = begin.Add(c.at(minute))
				}
				m.look(uint64(c.free(minute)) * mib)
				m.look(uint64(c.free(minute)) * mib) // more often than it takes samples
			}
			s := m.watch.State()
			if s.Falls != (c.want != 0) {
				t.Fatalf("it falls: %v, and is full in %v", s.Falls, s.Full)
			}
			if off := s.Full - c.want; off > time.Second || off < -time.Second {
				t.Errorf("it is full in %v, want %v", s.Full, c.want)
			}
		})
	}
}
