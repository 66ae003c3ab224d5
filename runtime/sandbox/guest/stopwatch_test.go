package guest

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestPausesAreNotTheGuestsTime holds that the time for which a process is stopped does
// not count against its guests, and that all other time does.
func TestPausesAreNotTheGuestsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = 10 * time.Second
		var busy stopwatch
		busy.start(limit)
		for range 99 { // comes by every tenth of a second
			time.Sleep(limit / 100)
			if busy.rest() <= 0 {
				t.Fatal("its time was up too early")
			}
		}
		time.Sleep(limit / 100)
		if left := busy.rest(); left != 0 {
			t.Errorf("%s of %s are left", left, limit)
		}

		var paused stopwatch
		paused.start(limit)
		time.Sleep(time.Hour) // the process is stopped while the guest computes
		if left := paused.rest(); left < limit-longestGap {
			t.Errorf("an hour's pause cost the guest %s", limit-left)
		}
		paused.pause()
		before := paused.left
		time.Sleep(time.Hour) // while the host answers
		paused.resume()
		if left := paused.rest(); left != before {
			t.Errorf("a host call cost the guest %s", before-left)
		}
	})
}

// oversleeper is a host whose process is stopped while a guest sleeps.
type oversleeper struct {
	Host
	pause time.Duration
}

func (o oversleeper) Sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	time.Sleep(o.pause) // longer than either timer, and both are over at once
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// TestPausesWhileAGuestSleeps holds that a guest that sleeps while the process is stopped
// goes on, and has used the time that it wanted to sleep.
func TestPausesWhileAGuestSleeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &Run{Context: t.Context(), host: oversleeper{pause: time.Hour}}
		r.wall.start(time.Minute)
		r.Sleep(int64(20 * time.Second))
		if r.wall.left != 40*time.Second {
			t.Errorf("%s of a minute are left after 20 seconds of sleep", r.wall.left)
		}
		r.Sleep(int64(20 * time.Second))
		defer func() {
			if recover() != errStopped {
				t.Error("it slept for longer than it may")
			}
		}()
		r.Sleep(int64(21 * time.Second))
	})
}
