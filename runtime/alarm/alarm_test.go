package alarm_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wharf-dev/wharf/runtime/alarm"
)

// wallClock is a clock that goes with the time, and that a test sets.
type wallClock struct{ off atomic.Int64 }

func (c *wallClock) read() time.Time { return time.Now().Add(time.Duration(c.off.Load())) }

func (c *wallClock) set(off time.Duration) func() { return func() { c.off.Store(int64(off)) } }

// TestAlarmsFollowTheClock holds that an alarm goes off when the wall clock shows its
// time, within a minute of that, however the clock was set meanwhile.
func TestAlarmsFollowTheClock(t *testing.T) {
	for _, test := range []struct {
		name        string
		after, step time.Duration // when the clock is set, and by how much
		back        time.Duration // when it is put right again; 0 for never
		rings       time.Duration // after how much time the alarm has to have gone off
		not         time.Duration // and before which it must not
	}{
		{name: "never set", rings: time.Hour, not: time.Hour - 1},
		{name: "put forward beyond the time", after: 10 * time.Second, step: 72 * time.Hour, rings: 70 * time.Second, not: 10 * time.Second},
		{name: "put forward a little", after: 10 * time.Second, step: 30 * time.Minute, rings: 30 * time.Minute, not: 30*time.Minute - 1},
		{name: "put back", after: 10 * time.Second, step: -2 * time.Hour, rings: 3 * time.Hour, not: 3*time.Hour - 1},
		{name: "put back and right again", after: 10 * time.Second, step: -2 * time.Hour, back: 70 * time.Second, rings: time.Hour, not: time.Hour - 1},
		{name: "put back until after the time, then right again", after: 59*time.Minute + 10*time.Second, step: -2 * time.Hour, back: 2 * time.Minute,
			rings: time.Hour + 2*time.Minute + 10*time.Second, not: time.Hour},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clock := &wallClock{}
				began, rang := time.Now(), make(chan time.Duration, 2)
				alarm.Set(clock.read, clock.read().Add(time.Hour), func() { rang <- time.Since(began) })
				if test.step != 0 {
					time.AfterFunc(test.after, clock.set(test.step))
				}
				if test.back != 0 {
					time.AfterFunc(test.after+test.back, clock.set(0))
				}
				if at := <-rang; at > test.rings || at < test.not {
					t.Errorf("it went off after %s, want %s to %s", at, test.not, test.rings)
				}
				time.Sleep(24 * time.Hour)
				if len(rang) > 0 {
					t.Error("it went off twice")
				}
			})
		})
	}
}

// TestStoppedAlarmsAreSilent holds that Stop keeps an alarm from going off, between two
// looks too.
func TestStoppedAlarmsAreSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := alarm.Set(time.Now, time.Now().Add(time.Hour), func() { t.Error("it went off") })
		time.Sleep(30*time.Minute + time.Second)
		a.Stop()
		a.Stop()
		time.Sleep(2 * time.Hour)
	})
}
