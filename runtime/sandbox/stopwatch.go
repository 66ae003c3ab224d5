package sandbox

import "time"

// stopwatch ends a Run when the guest has used up its time. It stands still while
// the Host answers a call: what a model or a person takes is not the guest's doing,
// and has limits of its own. It is used by one goroutine.
type stopwatch struct {
	timer *time.Timer
	since time.Time // when it last began to run
	left  time.Duration
}

func (s *stopwatch) start(limit time.Duration, over func()) {
	s.left, s.since = limit, time.Now()
	s.timer = time.AfterFunc(limit, over)
}

// pause stops the watch. Once its time is over, it stays over.
func (s *stopwatch) pause() {
	if s.timer.Stop() {
		s.left -= time.Since(s.since)
	}
}

func (s *stopwatch) resume() {
	s.since = time.Now()
	s.timer.Reset(max(s.left, 0))
}
