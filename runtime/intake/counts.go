package intake

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/wharf-dev/wharf/runtime/backlog"
	"github.com/wharf-dev/wharf/runtime/lockrank"
)

// Deliveries says what became of the deliveries to all Connectors. What was received is on
// disk, and settled or pending. The counts outlive a restart, except those that say otherwise.
type Deliveries struct {
	Received, Deduped, Normalized, Dead, Redriven uint64

	Rejected map[string]uint64 // by reason: "signature" or "backlog"; since the node started
	Pending  int64
	Oldest   time.Duration // about how long the oldest pending one has waited; 0 when none is pending
	Held     int64         // bytes of those that wait in memory
	Batches  Histogram     // deliveries that a plugin was run for at once; since the node started
}

// Histogram counts observations. Buckets holds how many observations were at most each key.
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

	mu   lockrank.Mutex[lockrank.Last]
	gone struct{ received, deduped, normalized, dead, redriven, rejected uint64 } // of Connectors that are deleted
}

// forget keeps what a Connector has counted that is deleted, so that no count falls.
func (c *intakeCounts) forget(s *inlet) {
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
func (i *Intake) DeliveryStats() Deliveries {
	c := &i.inlets.counts
	c.mu.Lock()
	gone := c.gone
	c.mu.Unlock()
	d := Deliveries{
		Received: gone.received, Deduped: gone.deduped, Normalized: gone.normalized, Dead: gone.dead, Redriven: gone.redriven,
		Rejected: map[string]uint64{"backlog": c.full.Load()}, Batches: c.batches.histogram(),
		Held: i.bytes.Load(),
	}
	rejected, now := gone.rejected, i.parts.Now()
	for _, s := range i.inlets.all() {
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
func (s *inlet) oldest() time.Time {
	if s.pending.Load() <= 0 {
		return time.Time{}
	}
	s.order.Lock()
	defer s.order.Unlock()
	if s.state.Work != backlog.Busy && s.state.Reach == backlog.Whole && len(s.inbox) > 0 {
		return s.inbox[0].at
	}
	return s.reached
}

// reach notes when the first delivery of a batch came that is worked on from now on.
func (s *inlet) reach(at time.Time) {
	s.order.Lock()
	defer s.order.Unlock()
	s.reached = at
}
