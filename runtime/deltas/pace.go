package deltas

import "time"

const (
	// PerSecond is how many pieces a Task tells in any second.
	PerSecond = 20
	// gap lies between two pieces of a text. It leaves some of PerSecond to the ends of texts, which
	// wait for no gap.
	gap = time.Second / 16
)

// pace says when a piece may be told.
type pace struct {
	told [PerSecond]time.Time // the latest pieces, as a ring
	next int                  // the oldest of them
}

// latest returns when the last piece was told.
func (p *pace) latest() time.Time { return p.told[(p.next+PerSecond-1)%PerSecond] }

// from returns from when on a piece may be told: of the middle of a text, or of its end.
func (p *pace) from(end bool) time.Time {
	at := p.told[p.next].Add(time.Second)
	if end {
		return at
	}
	if spaced := p.latest().Add(gap); spaced.After(at) {
		return spaced
	}
	return at
}

// may reports whether a piece may be told now. A clock that was set back does not make it wait.
func (p *pace) may(now time.Time, end bool) bool {
	if now.Before(p.latest()) {
		*p = pace{}
	}
	return !now.Before(p.from(end))
}

// took notes that a piece is told now.
func (p *pace) took(now time.Time) {
	p.told[p.next] = now
	p.next = (p.next + 1) % PerSecond
}
