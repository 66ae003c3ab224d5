package quota

import (
	"math"
	"time"
)

// Rule says what is limited, and how.
type Rule struct {
	Limits  Amounts
	Limited [kinds]bool   // which of Limits count
	Window  time.Duration // after which what was used counts no more; 0: never
	Hard    bool          // work beyond is refused
	Soft    bool          // work beyond is told of
}

// Meter is what was used under a rule. The zero Meter has used nothing.
type Meter struct {
	Rule
	Used    Amounts
	ResetAt time.Time // the end of the window; zero when there is none
	// Exhausted names the limit that was reached first in the window, "" for none.
	Exhausted string

	reserved Amounts
}

// Turn begins the window that now lies in, if that is another one. Windows follow
// one another from the beginning of 1970 on, so those of a day begin at midnight UTC.
func (m *Meter) Turn(now time.Time) {
	if m.Window <= 0 {
		m.ResetAt = time.Time{}
		return
	}
	if now.Before(m.ResetAt) && m.ResetAt.Sub(now) <= m.Window {
		return
	}
	begun := !m.ResetAt.IsZero()
	m.ResetAt = now.Add(m.Window - time.Duration(now.UnixNano()%int64(m.Window)))
	if begun {
		m.Used, m.Exhausted = Amounts{Concurrent: m.Used[Concurrent]}, ""
	}
}

// Verdict says whether work may begin.
type Verdict int

// The verdicts.
const (
	Fits    Verdict = iota
	Busy            // not while other work holds what it has reserved
	Exceeds         // not before the window ends, or the limit is raised
)

// Check says whether work that uses at most want may begin, and which limit is in its
// way. A kind of which it uses nothing is never in its way.
func (m *Meter) Check(want Amounts) (Verdict, Kind) {
	busy, by := Fits, Kind(0)
	if !m.Hard {
		return Fits, 0
	}
	for k, n := range want {
		if !m.Limited[k] || n == 0 {
			continue
		}
		left := m.Limits[k] - m.Used[k]
		switch {
		case left <= 0, n > left:
			return Exceeds, Kind(k)
		case n == Rest && m.reserved[k] > 0, n > left-m.reserved[k]:
			busy, by = Busy, Kind(k)
		}
	}
	return busy, by
}

// Reserve sets want aside, after [Meter.Check], and returns how much that is.
func (m *Meter) Reserve(want Amounts) Amounts {
	for k, n := range want {
		switch {
		case !m.Limited[k]:
			want[k] = 0
		case n == Rest:
			want[k] = max(0, m.Limits[k]-m.Used[k]-m.reserved[k])
		}
	}
	m.reserved = m.reserved.Add(want)
	return want
}

// Free gives back what was reserved.
func (m *Meter) Free(reserved Amounts) { m.reserved = m.reserved.Sub(reserved) }

// Use counts what was used, and reports whether anything did that is limited.
func (m *Meter) Use(used Amounts) (counted bool) {
	for k, n := range used {
		if n != 0 && m.Limited[k] {
			counted = true
			if m.Used[k] += n; m.Used[k] < 0 && n > 0 {
				m.Used[k] = math.MaxInt64
			}
			m.Used[k] = max(0, m.Used[k])
		}
	}
	return counted
}

// Reached names the limit that what was used has come to, "" for none. Levels come
// and go: they exhaust nothing.
func (m *Meter) Reached() string {
	for k := range m.Limits {
		if Kind(k) != Concurrent && m.Limited[k] && m.Used[k] >= m.Limits[k] {
			return Kind(k).String()
		}
	}
	return ""
}
