package alarm

import (
	"sync"
	"time"
)

// LookEvery is how often an alarm looks at the clock at least.
const LookEvery = time.Minute

// Alarm is a call that is to be made. It is safe for concurrent use.
type Alarm struct {
	now  func() time.Time
	at   time.Time
	fire func()

	mu      sync.Mutex
	timer   *time.Timer
	stopped bool
}

// Set calls fire once, on a goroutine of its own, when now reaches at.
func Set(now func() time.Time, at time.Time, fire func()) *Alarm {
	a := &Alarm{now: now, at: at.Round(0), fire: fire}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.timer = time.AfterFunc(Wait(now(), at), a.look)
	return a
}

// Wait returns for how long to wait for at before looking at the clock again.
func Wait(now, at time.Time) time.Duration {
	left := at.Round(0).Sub(now.Round(0)) // without monotonic readings: by the wall clock
	return min(max(left, 0), LookEvery)
}

// Stop keeps the call from being made. One that has begun goes on.
func (a *Alarm) Stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stopped = true
	a.timer.Stop()
}

func (a *Alarm) look() {
	if a.due() {
		a.fire()
	}
}

// due reports whether to make the call now; if not yet, it sees to another look.
func (a *Alarm) due() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stopped {
		return false
	}
	wait := Wait(a.now(), a.at)
	if wait > 0 {
		a.timer.Reset(wait)
		return false
	}
	a.stopped = true
	return true
}
