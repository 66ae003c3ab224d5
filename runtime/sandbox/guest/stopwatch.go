package guest

import "time"

// stopwatch counts the time that a guest takes for itself. It stands still while the
// Host answers a call: what a model or a person takes is not the guest's doing, and
// has limits of its own. Nor is the time for which the process or its machine is
// stopped: that shows as a gap between two looks, of which no more than longestGap
// counts. It needs no timer, for a guest comes by at least once in every slice of its
// gas. It is used by one goroutine.
type stopwatch struct {
	since time.Time // when it was last looked at
	left  time.Duration
}

// longestGap is far more than passes between two slices of a guest's gas, also on a busy
// machine.
const longestGap = 500 * time.Millisecond

func (s *stopwatch) start(limit time.Duration) { s.left, s.since = limit, time.Now() }

// rest returns what is left of the time, 0 or less when it is over.
func (s *stopwatch) rest() time.Duration { return s.count(longestGap) }

// count takes what has passed since the last look off what is left, at most as much as
// is given, and returns what is left then.
func (s *stopwatch) count(most time.Duration) time.Duration {
	now := time.Now()
	s.left -= min(now.Sub(s.since), most)
	s.since = now
	return s.left
}

// pause stops the watch until resume.
func (s *stopwatch) pause() { s.rest() }

func (s *stopwatch) resume() { s.since = time.Now() }
