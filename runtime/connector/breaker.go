package connector

import (
	"math/rand/v2"
	"time"
)

// Breaker decides when something that failed is tried again, and when it has failed
// so often that it is left alone for a while. The zero value is closed. It is not
// safe for concurrent use, and knows no clock: times are told to it, so that who uses
// it can be tested without waiting.
type Breaker struct {
	failures int
	until    time.Time // nothing is tried before
}

// How failures are answered.
const (
	// TripAfter is how many failures in a row open the breaker.
	TripAfter = 8
	// FirstBackoff is the wait after the first failure; it doubles with each.
	FirstBackoff = time.Second
	// OpenFor is how long an open breaker keeps still between trials.
	OpenFor = 5 * time.Minute
)

// Failed counts a failure. It returns when to try again, and whether the breaker is
// open from now on and was not before: that is when a Connector becomes FAILED.
func (b *Breaker) Failed(now time.Time) (retryAt time.Time, tripped bool) {
	b.failures++
	b.until = now.Add(b.wait())
	return b.until, b.failures == TripAfter
}

// wait is how long to keep still: with jitter, so that Connectors that failed together
// do not try again together.
func (b *Breaker) wait() time.Duration {
	if b.failures >= TripAfter {
		return spread(OpenFor)
	}
	return spread(min(FirstBackoff<<(b.failures-1), OpenFor))
}

// spread returns between three quarters and all of d.
func spread(d time.Duration) time.Duration {
	return d - rand.N(d/4+1)
}

// Succeeded closes the breaker. It reports whether it was open: that is when a
// Connector becomes ACTIVE again.
func (b *Breaker) Succeeded() (closed bool) {
	closed = b.Open()
	*b = Breaker{}
	return closed
}

// Trip opens the breaker as if it had failed often enough before: for a Connector
// that was FAILED when the node started.
func (b *Breaker) Trip(now time.Time) {
	b.failures = TripAfter
	b.until = now.Add(b.wait())
}

// Reset closes the breaker, whatever happened: somebody says that it is mended.
func (b *Breaker) Reset() { *b = Breaker{} }

// Open reports whether it failed so often that it is left alone.
func (b *Breaker) Open() bool { return b.failures >= TripAfter }

// RetryAt is from when on something may be tried; zero for at once. With an open breaker
// that is one trial, once in a while.
func (b *Breaker) RetryAt() time.Time { return b.until }
