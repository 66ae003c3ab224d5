package pool

import (
	"slices"
	"time"
)

// Config says what a pool does with its things. The functions are called by whoever
// uses any pool of the same budget, with no lock held.
type Config[T any] struct {
	// Drop frees a thing that the pool does not keep.
	Drop func(T)
	// Trim has an idle thing give back what it can do without, and returns how many
	// bytes it still holds. Nil when there is nothing to trim.
	Trim func(T) uint64
	// TrimAfter is how long a thing is idle before it is trimmed; 0 stands for a second.
	TrimAfter time.Duration
	// Window is for how long, twice at most, the pool remembers how many things were in
	// use at once; 0 stands for 15 seconds.
	Window time.Duration
}

// Pool keeps idle things of one kind. It is safe for concurrent use.
type Pool[T any] struct {
	budget *Budget
	config Config[T]

	// Guarded by the budget's lock.
	idle   []*thing[T] // from the oldest to the newest
	cold   int         // how many of them, the oldest, are trimmed
	inUse  int
	peak   int // the most in use since turned
	before int // the most in use in the window before that
	turned time.Time
	closed bool
}

// thing is an idle thing.
type thing[T any] struct {
	item
	value T
	since time.Time
}

// New returns an empty pool. The caller closes it.
func New[T any](b *Budget, c Config[T]) *Pool[T] {
	if c.TrimAfter == 0 {
		c.TrimAfter = time.Second
	}
	if c.Window == 0 {
		c.Window = 15 * time.Second
	}
	p := &Pool[T]{budget: b, config: c}
	b.mu.Lock()
	defer b.mu.Unlock()
	p.turned = b.now()
	b.pools[p] = struct{}{}
	return p
}

// Take begins a use: it returns the thing that was put last, or false when the caller
// has to make one. Each Take is followed by a Put or a Lose.
func (p *Pool[T]) Take() (T, bool) {
	p.budget.mu.Lock()
	defer p.budget.mu.Unlock()
	p.inUse++
	p.peak = max(p.peak, p.inUse)
	if len(p.idle) == 0 {
		var none T
		return none, false
	}
	last := len(p.idle) - 1
	i := p.idle[last]
	p.idle = p.idle[:last]
	p.cold = min(p.cold, last)
	p.budget.unlink(&i.item)
	return i.value, true
}

// Put ends a use with a thing that can be used again, and that holds the given number
// of bytes while it is idle. The pool owns it: it may be dropped at once.
func (p *Pool[T]) Put(value T, bytes uint64) { p.put(value, bytes, 1) }

// Add gives a thing to the pool that nobody took.
func (p *Pool[T]) Add(value T, bytes uint64) { p.put(value, bytes, 0) }

// mostAtOnce bounds what one Put does for things other than its own.
const mostAtOnce = 2

func (p *Pool[T]) put(value T, bytes uint64, used int) {
	b := p.budget
	b.mu.Lock()
	p.inUse -= used
	if p.closed {
		b.mu.Unlock()
		p.config.Drop(value)
		return
	}
	now := b.now()
	i := &thing[T]{item: item{owner: p, bytes: bytes}, value: value, since: now}
	p.idle = append(p.idle, i)
	b.link(&i.item)
	after := append(p.tidy(now, mostAtOnce), b.fit()...)
	b.mu.Unlock()
	call(after)
}

// Lose ends a use whose thing is not to be used again. The caller frees it.
func (p *Pool[T]) Lose() {
	p.budget.mu.Lock()
	defer p.budget.mu.Unlock()
	p.inUse--
}

// Close drops what is idle; what is put later is dropped at once.
func (p *Pool[T]) Close() {
	b := p.budget
	b.mu.Lock()
	p.closed = true
	delete(b.pools, p)
	after := p.shrink(0, len(p.idle))
	b.mu.Unlock()
	call(after)
}

// tidy implements owner.
func (p *Pool[T]) tidy(now time.Time, most int) []func() {
	p.turn(now)
	after := p.shrink(max(p.peak, p.before)-p.inUse, most)
	return append(after, p.trim(now, most)...)
}

// turn begins a new window when the last one is over.
func (p *Pool[T]) turn(now time.Time) {
	passed := now.Sub(p.turned)
	if passed < p.config.Window {
		return
	}
	p.before = p.peak
	if passed >= 2*p.config.Window {
		p.before = p.inUse
	}
	p.peak = p.inUse
	p.turned = now
}

// shrink evicts the oldest things until n are left, but most at most.
func (p *Pool[T]) shrink(n, most int) []func() {
	var after []func()
	for len(p.idle) > max(n, 0) && len(after) < most {
		after = append(after, p.evict())
	}
	return after
}

// evict implements owner.
func (p *Pool[T]) evict() func() {
	i := p.idle[0]
	p.idle = slices.Delete(p.idle, 0, 1)
	p.cold = max(p.cold-1, 0)
	p.budget.unlink(&i.item)
	return func() { p.config.Drop(i.value) }
}

// trim takes out the oldest of what was idle for long. What it returns trims them and
// puts them back where they were.
func (p *Pool[T]) trim(now time.Time, most int) []func() {
	if p.config.Trim == nil {
		return nil
	}
	end := p.cold
	for end < len(p.idle) && end-p.cold < most && now.Sub(p.idle[end].since) >= p.config.TrimAfter {
		end++
	}
	var after []func()
	for _, i := range p.idle[p.cold:end] {
		p.budget.unlink(&i.item)
		after = append(after, func() { p.putCold(i, p.config.Trim(i.value)) })
	}
	p.idle = slices.Delete(p.idle, p.cold, end)
	return after
}

// putCold puts a thing back that was trimmed: above the others that were.
func (p *Pool[T]) putCold(i *thing[T], bytes uint64) {
	b := p.budget
	b.mu.Lock()
	if p.closed {
		b.mu.Unlock()
		p.config.Drop(i.value)
		return
	}
	i.bytes = bytes
	b.linkAfter(p.lastCold(), &i.item)
	p.idle = slices.Insert(p.idle, p.cold, i)
	p.cold++
	after := b.fit()
	b.mu.Unlock()
	call(after)
}

// lastCold returns what the next thing that is trimmed comes after in the ring.
func (p *Pool[T]) lastCold() *item {
	if p.cold == 0 {
		return &p.budget.ring
	}
	return &p.idle[p.cold-1].item
}
