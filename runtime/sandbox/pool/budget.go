package pool

import (
	"math"
	"sync"
	"time"
)

// Budget bounds the bytes that the idle things of all its pools hold together. It is
// safe for concurrent use.
type Budget struct {
	now func() time.Time

	// mu guards the budget and all its pools. It is never held while a function of a
	// caller runs, but for now.
	mu    sync.Mutex
	limit uint64
	used  uint64
	// ring stands between the newest and the oldest of all idle things. Those of one
	// pool lie in it in the order in which they lie in the pool.
	ring  item
	pools map[owner]struct{}
}

// owner is a pool, whatever it holds. Its methods are called with the lock held, and
// return what the caller does when it has let go of it.
type owner interface {
	// evict takes the pool's oldest thing out of it.
	evict() func()
	// tidy takes out what is too much at the given time and what is to be trimmed, most
	// things of each kind at most.
	tidy(now time.Time, most int) []func()
}

// item is the budget's part of an idle thing.
type item struct {
	owner        owner
	bytes        uint64
	newer, older *item // in the ring of the budget
}

// NewBudget returns a budget of the given number of bytes. now tells the time: its
// differences alone matter.
func NewBudget(bytes uint64, now func() time.Time) *Budget {
	b := &Budget{now: now, limit: bytes, pools: map[owner]struct{}{}}
	b.ring.newer, b.ring.older = &b.ring, &b.ring
	return b
}

// Used returns how many bytes the idle things of all pools hold.
func (b *Budget) Used() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// Sweep trims and drops what was idle for long in any pool. Called now and then, say
// each second, it gives back what pools hold that are no longer used.
func (b *Budget) Sweep() {
	b.mu.Lock()
	now := b.now()
	var after []func()
	for p := range b.pools {
		after = append(after, p.tidy(now, math.MaxInt)...)
	}
	b.mu.Unlock()
	call(after)
}

func call(fs []func()) {
	for _, f := range fs {
		f()
	}
}

// link makes an item the newest.
func (b *Budget) link(i *item) { b.linkAfter(b.ring.older, i) }

// linkAfter makes an item the one that is next newer than another; than nothing, for
// the ring itself.
func (b *Budget) linkAfter(older, i *item) {
	i.older, i.newer = older, older.newer
	i.newer.older, i.older.newer = i, i
	b.used += i.bytes
}

func (b *Budget) unlink(i *item) {
	i.newer.older, i.older.newer = i.older, i.newer
	i.newer, i.older = nil, nil
	b.used -= i.bytes
}

// fit evicts the oldest things until the budget is kept.
func (b *Budget) fit() []func() {
	var after []func()
	for b.used > b.limit {
		after = append(after, b.ring.newer.owner.evict())
	}
	return after
}
