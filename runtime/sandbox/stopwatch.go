package sandbox

import "time"

// stopwatch counts the time that a guest takes for itself. It stands still while the
// Host answers a call: what a model or a person takes is not the guest's doing, and
// has limits of its own. It needs no timer, for a guest comes by at least once in
// every slice of its gas. It is used by one goroutine.
type stopwatch struct {
	since time.Time // when it last began to run
	left  time.Duration
}

func (s *stopwatch) start(limit time.Duration) { s.left, s.since = limit, time.Now() }

// rest returns what is left of the time, 0 or less when it is over.
func (s *stopwatch) rest() time.Duration { return s.left - time.Since(s.since) }

// pause stops the watch until resume.
func (s *stopwatch) pause() { s.left = s.rest() }

func (s *stopwatch) resume() { s.since = time.Now() }
