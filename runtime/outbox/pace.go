package outbox

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

const (
	// tripAfter is how many attempts in a row fail before a receiver counts as gone: then one
	// is made at a time, and new events wait for long.
	tripAfter = 5
	// maxHold is for how long new events wait at most, after an attempt has failed or when the
	// receiver has asked for that.
	maxHold = 5 * time.Minute
	// maxAsked is the longest wait that a receiver can ask for, of one delivery.
	maxAsked = 24 * time.Hour
)

func random() float64 { return rand.Float64() }

// pace says how many requests a receiver is sent at one time, and when. It knows no clock:
// times are told to it.
type pace struct {
	most   int
	width  int // requests at one time: one until the receiver has taken something
	failed int // attempts in a row
	until  time.Time
}

// gone reports whether the receiver counts as gone.
func (p *pace) gone() bool { return p.failed >= tripAfter }

// room returns how many requests may be under way at a time.
func (p *pace) room(now time.Time) int {
	if now.Before(p.until) {
		return 0
	}
	return max(1, p.width)
}

// took notes that the receiver has taken a delivery, and reports whether it had counted as gone.
func (p *pace) took() (back bool) {
	back = p.gone()
	p.failed, p.until = 0, time.Time{}
	p.width = min(p.width+1, p.most)
	return back
}

// missed notes an attempt that has failed. asked is the wait that the receiver wants.
func (p *pace) missed(now time.Time, asked time.Duration, jitter float64) {
	p.failed++
	p.width = 1
	hold := min(asked, maxHold)
	if p.gone() {
		hold = max(hold, spread(min(time.Second<<min(p.failed-tripAfter, 20), maxHold), jitter))
	}
	if until := now.Add(hold); until.After(p.until) {
		p.until = until
	}
}

// spread returns between three quarters and all of d, so that what failed together is not
// tried again together.
func spread(d time.Duration, jitter float64) time.Duration {
	return d - time.Duration(float64(d/4)*jitter)
}

// delay returns how long to wait after the attempt number n, from 1; ok is false when that was
// the last one.
func (c *Config) delay(f *Format, n int) (wait time.Duration, ok bool) {
	if f.Delays != nil {
		if n > len(f.Delays) {
			return 0, false
		}
		return f.Delays[n-1], true
	}
	if n >= c.Attempts {
		return 0, false
	}
	wait = c.First
	for range n - 1 {
		if wait *= 4; wait >= c.Longest {
			break
		}
	}
	return min(wait, c.Longest), true
}

// askedWait reads the header Retry-After of an answer: seconds, or a date.
func askedWait(status int, text string, now time.Time) time.Duration {
	if text == "" || status != http.StatusTooManyRequests && status != http.StatusServiceUnavailable {
		return 0
	}
	if seconds, err := strconv.ParseUint(text, 10, 32); err == nil {
		return min(time.Duration(seconds)*time.Second, maxAsked)
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(0, at.Sub(now)), maxAsked)
	}
	return 0
}
