package guest

import (
	"slices"
	"sync"
	"time"
)

// Memory bounds the memory of all Runs together. A guest that wants more than there
// is waits, within the instruction that grows its memory: it is never refused, for what
// it is told must not depend on its neighbours. The Run that came first never waits, so
// that there is always one that goes on; it may take as much as its own limit beyond.
type Memory struct {
	limit uint64

	mu      sync.Mutex
	used    uint64
	order   []*Run        // those that hold something, the first one first
	changed chan struct{} // closed when something was given back
}

// freeMemory is how much each Run has beside, without asking: what a small plugin needs
// must not wait for large ones.
const freeMemory = 4 << 20

// NewMemory returns a budget of as many bytes for all Runs together; nil, which bounds
// nothing, for none.
func NewMemory(bytes int64) *Memory {
	if bytes <= 0 {
		return nil
	}
	return &Memory{limit: uint64(bytes), changed: make(chan struct{})}
}

// Hold waits until the Run may have memory of the given size in all. It ends the Run when
// that is to stop: waiting takes of the guest's own time, for whoever holds the memory may
// wait for a host that never answers.
func (r *Run) Hold(size uint64) {
	b := r.shared.Memory
	if b == nil || size <= max(r.held, freeMemory) {
		return
	}
	for {
		wait := b.take(r, size)
		if wait == nil {
			return
		}
		r.leaveTurn()
		r.wait(wait)
	}
}

// wait waits for a piece of the guest's time at most, for the stopwatch counts no more of
// a gap.
func (r *Run) wait(changed <-chan struct{}) {
	r.CheckStop()
	piece := time.NewTimer(min(r.wall.left, longestGap))
	defer piece.Stop()
	select {
	case <-changed:
	case <-piece.C:
	case <-r.Done():
	}
	r.CheckStop()
}

// Load returns how many bytes are held, and by how many Runs, those that wait included.
func (b *Memory) Load() (used uint64, runs int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used, len(b.order)
}

// take returns nil when the Run has what it asks for, or what to wait for.
func (b *Memory) take(r *Run, size uint64) <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !r.holds {
		r.holds = true
		b.order = append(b.order, r)
	}
	more := size - r.held
	if b.order[0] != r && (b.used > b.limit || more > b.limit-b.used) {
		return b.changed
	}
	b.used += more
	r.held = size
	return nil
}

// Release gives back what the Run holds.
func (r *Run) Release() {
	r.leaveTurn()
	if !r.holds {
		return
	}
	b := r.shared.Memory
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.Index(b.order, r)
	b.order = slices.Delete(b.order, i, i+1)
	b.used -= r.held
	r.holds, r.held = false, 0
	close(b.changed)
	b.changed = make(chan struct{})
}
