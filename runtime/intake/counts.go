package intake

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/wharf-dev/wharf/abi"
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

	// Connectors tells apart those that first had anything to count; the last one, without an id,
	// has what all others counted together, those that are deleted too.
	Connectors []ConnectorDeliveries
}

// ConnectorDeliveries is what became of the deliveries to one Connector.
type ConnectorDeliveries struct {
	ID                                string
	Received, Deduped, Rejected, Dead uint64
	Pending                           int64
	Oldest                            time.Duration // about how long the oldest pending one has waited
}

// toldApart is how many Connectors are told apart: whoever makes more does not make the figures grow.
const toldApart = 100

// The ways in which an inlet is counted. One that was counted with others stays so, for no count may fall.
const (
	notCounted = iota
	countedAlone
	countedTogether
)

// apart reports whether a Connector is told apart, which shows once it has anything to count.
func (c *intakeCounts) apart(s *inlet, counted *abi.ConnectorCounters) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.counted == notCounted && counted.Received+counted.Deduped+counted.Rejected+counted.Failed > 0 {
		s.counted = countedTogether
		if c.alone < toldApart {
			c.alone++
			s.counted = countedAlone
		}
	}
	return s.counted == countedAlone
}

func (d *ConnectorDeliveries) add(counted *abi.ConnectorCounters, oldest time.Duration) {
	d.Received += counted.Received
	d.Deduped += counted.Deduped
	d.Rejected += counted.Rejected
	d.Dead += counted.Failed
	d.Pending += int64(counted.Pending)
	d.Oldest = max(d.Oldest, oldest)
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

	mu    lockrank.Mutex[lockrank.Last]
	alone int                                                                      // Connectors that are told apart
	gone  struct{ received, deduped, normalized, dead, redriven, rejected uint64 } // of Connectors that are deleted
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
	if s.counted == countedAlone {
		c.alone--
	}
	s.counted = countedTogether
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
	others := ConnectorDeliveries{Received: gone.received, Deduped: gone.deduped, Rejected: gone.rejected, Dead: gone.dead}
	for _, s := range i.inlets.all() {
		counted := s.counters()
		d.Received += counted.Received
		d.Deduped += counted.Deduped
		d.Normalized += counted.Normalized
		d.Dead += counted.Failed
		d.Redriven += s.tally.redriven.Load()
		d.Pending += int64(counted.Pending)
		rejected += counted.Rejected
		var waits time.Duration
		if oldest := s.oldest(); !oldest.IsZero() {
			waits = now.Sub(oldest)
		}
		d.Oldest = max(d.Oldest, waits)
		if c.apart(s, counted) {
			one := ConnectorDeliveries{ID: s.key.ID}
			one.add(counted, waits)
			d.Connectors = append(d.Connectors, one)
		} else {
			others.add(counted, waits)
		}
	}
	d.Connectors = append(d.Connectors, others)
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
