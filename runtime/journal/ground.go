package journal

import (
	"crypto/sha256"
	"math/rand/v2"
	"time"
)

// Ground is what a guest is told without a host call: the time and the randomness
// of WASI. Both follow from the record alone, so nothing of it needs recording. It
// is used by one goroutine.
type Ground struct {
	now    time.Time
	random *rand.ChaCha8
}

// NewGround returns the ground of a run that started at the given time.
func NewGround(started time.Time, seed []byte) *Ground {
	return &Ground{now: Moment(started), random: rand.NewChaCha8(sha256.Sum256(append([]byte("wasi "), seed...)))}
}

// Now returns the time and moves it on by a microsecond: a guest that waits for
// the time to pass gets there.
func (g *Ground) Now() time.Time {
	g.now = g.now.Add(time.Microsecond)
	return g.now
}

// At returns the time, and does not move it on.
func (g *Ground) At() time.Time { return g.now }

// Reach moves the time on to that of an answered call; it never goes back.
func (g *Ground) Reach(at time.Time) {
	if at.After(g.now) {
		g.now = at
	}
}

// Sleep moves the time on by what the guest sleeps.
func (g *Ground) Sleep(d time.Duration) { g.now = g.now.Add(max(d, 0)) }

// Random fills p.
func (g *Ground) Random(p []byte) { _, _ = g.random.Read(p) } // it never fails

// Moment returns t as a record keeps it: in UTC, to the microsecond.
func Moment(t time.Time) time.Time { return t.Round(0).UTC().Truncate(time.Microsecond) }
