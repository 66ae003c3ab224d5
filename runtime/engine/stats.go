package engine

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/wharf-dev/wharf/runtime/lockrank"
)

// Deliveries says what became of the deliveries to all Connectors. What was received is
// on disk, and settled or pending. The counts outlive a restart but for those that say
// otherwise.
type Deliveries struct {
	Received, Deduped, Normalized, Dead, Redriven uint64

	Rejected map[string]uint64 // by reason: "signature" or "backlog"; since the node started
	Pending  int64
	Oldest   time.Duration // how long the oldest that is pending has waited, about; 0 when none is
	Batches  Histogram     // deliveries that a plugin was run for at once; since the node started
}

// Histogram counts observations. Buckets holds how many were at most its key.
type Histogram struct {
	Count   uint64
	Sum     uint64
	Buckets map[float64]uint64
}

// batchBounds are the upper bounds of the sizes of batches that are told apart.
var batchBounds = [...]int{1, 4, 16, 64, maxBatch}

// batchSizes counts batches by their size.
type batchSizes struct {
	deliveries atomic.Uint64
	counts     [len(batchBounds)]atomic.Uint64
}

func (b *batchSizes) observe(n int) {
	i, _ := slices.BinarySearch(batchBounds[:], n)
	b.counts[min(i, len(b.counts)-1)].Add(1)
	b.deliveries.Add(uint64(n))
}

func (b *batchSizes) histogram() Histogram {
	h := Histogram{Sum: b.deliveries.Load(), Buckets: map[float64]uint64{}}
	for i := range b.counts {
		h.Count += b.counts[i].Load()
		h.Buckets[float64(batchBounds[i])] = h.Count
	}
	return h
}

// intakeCounts is what the intake counts for all Connectors.
type intakeCounts struct {
	full    atomic.Uint64 // deliveries that there was no room for
	batches batchSizes

	mu   lockrank.Mutex[lockLast]
	gone struct{ received, deduped, normalized, dead, redriven, rejected uint64 } // of Connectors that are deleted
}

// forget keeps what a Connector has counted that is deleted, so that no count falls.
func (c *intakeCounts) forget(s *source) {
	counted, redriven := s.counters(), s.tally.redriven.Load()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone.received += counted.Received
	c.gone.deduped += counted.Deduped
	c.gone.normalized += counted.Normalized
	c.gone.dead += counted.Failed
	c.gone.redriven += redriven
	c.gone.rejected += counted.Rejected
}

// DeliveryStats adds up what all Connectors have counted. It looks at each.
func (e *Engine) DeliveryStats() Deliveries {
	c := &e.sources.counts
	c.mu.Lock()
	gone := c.gone
	c.mu.Unlock()
	d := Deliveries{
		Received: gone.received, Deduped: gone.deduped, Normalized: gone.normalized, Dead: gone.dead, Redriven: gone.redriven,
		Rejected: map[string]uint64{"backlog": c.full.Load()}, Batches: c.batches.histogram(),
	}
	rejected, now := gone.rejected, e.now()
	for _, s := range e.sources.all() {
		counted := s.counters()
		d.Received += counted.Received
		d.Deduped += counted.Deduped
		d.Normalized += counted.Normalized
		d.Dead += counted.Failed
		d.Redriven += s.tally.redriven.Load()
		d.Pending += int64(counted.Pending)
		rejected += counted.Rejected
		if oldest := s.oldest(); !oldest.IsZero() {
			d.Oldest = max(d.Oldest, now.Sub(oldest))
		}
	}
	d.Rejected["signature"] = rejected
	return d
}

// oldest returns when the oldest delivery came that is pending, zero when none is. For
// those that are read from the log it is when the one came that was read last: no other
// is older.
func (s *source) oldest() time.Time {
	if s.pending.Load() <= 0 {
		return time.Time{}
	}
	s.hand.Lock()
	defer s.hand.Unlock()
	if !s.settling && !s.behind && len(s.inbox) > 0 {
		return s.inbox[0].at
	}
	return s.reached
}

// reach notes that a batch is worked on from now on, or, when it is empty, that none is.
func (s *source) reach(batch []arrival) {
	s.hand.Lock()
	defer s.hand.Unlock()
	if s.settling = len(batch) > 0; s.settling {
		s.reached = batch[0].at
	}
}

// secretCounts is what is counted of secrets that Tasks and Connectors use.
type secretCounts struct{ used, refused atomic.Uint64 }

func (c *secretCounts) count(allowed bool) {
	if allowed {
		c.used.Add(1)
		return
	}
	c.refused.Add(1)
}

// size returns how many requests for permission wait for an answer.
func (a *askedTable) size() (n int) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	for _, all := range a.byTenant {
		n += len(all)
	}
	return n
}
