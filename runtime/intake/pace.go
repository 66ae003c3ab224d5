package intake

import (
	"time"

	"github.com/wharf-dev/wharf/runtime/lockrank"
)

// What the polls of one Connector may hand over in a minute. A source that answers each
// poll with new items fills the log no faster, and its Tasks leave room for others.
const (
	paceDeliveries = 10_000
	paceBytes      = 64 << 20
)

// pace counts what a Connector's polls hand over.
type pace struct {
	mu         lockrank.Mutex[lockrank.Table]
	since      time.Time
	deliveries int
	bytes      int64
}

// take reports whether so much more may be handed over now, and counts it if so. A clock
// that is put back begins a minute of its own.
func (p *pace) take(now time.Time, deliveries int, bytes int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Before(p.since) || now.Sub(p.since) >= time.Minute {
		p.since, p.deliveries, p.bytes = now, 0, 0
	}
	if p.deliveries+deliveries > paceDeliveries || p.bytes+bytes > paceBytes {
		return false
	}
	p.deliveries += deliveries
	p.bytes += bytes
	return true
}
