package inhand

import (
	"context"
	"slices"
	"sync"

	"github.com/wharf-dev/wharf/storage"
)

// Budget is how many bytes all large documents in hand may take, and three quarters of it
// those of one tenant. Who has to wait gets a share in the order of asking, but that a
// tenant that has its part is passed over. It is safe for concurrent use. A nil Budget
// bounds nothing.
type Budget struct {
	total, each int64

	mu      sync.Mutex
	used    int64
	tenants map[storage.Tenant]int64 // of used
	waiting []*waiter                // the one that asked first in front
}

type waiter struct {
	tenant storage.Tenant
	bytes  int64
	then   func()
}

// NewBudget returns a Budget of so many bytes; nil for 0.
func NewBudget(total int64) *Budget {
	if total <= 0 {
		return nil
	}
	return &Budget{total: total, each: total / 4 * 3, tenants: map[storage.Tenant]int64{}}
}

// Used returns how many bytes are taken.
func (b *Budget) Used() int64 {
	if b == nil {
		return 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// share returns what is taken for so many bytes: no more than a tenant's part, so that
// the largest goes on when it is alone.
func (b *Budget) share(bytes int64) int64 { return min(bytes, b.each) }

// enter takes a share, now or when there is room, and then calls then, without a lock. What
// it returns takes the question back, and reports false when the share was taken before.
func (b *Budget) enter(t storage.Tenant, bytes int64, then func()) (leave func() bool) {
	w := &waiter{t, bytes, then}
	b.mu.Lock()
	b.waiting = append(b.waiting, w)
	granted := b.grant()
	b.mu.Unlock()
	call(granted)
	return func() bool { return b.leave(w) }
}

func (b *Budget) leave(w *waiter) bool {
	b.mu.Lock()
	i := slices.Index(b.waiting, w)
	if i < 0 {
		b.mu.Unlock()
		return false
	}
	b.waiting = slices.Delete(b.waiting, i, i+1)
	granted := b.grant() // it may have stood before others
	b.mu.Unlock()
	call(granted)
	return true
}

// take takes a share, and waits for it as long as ctx lasts.
func (b *Budget) take(ctx context.Context, t storage.Tenant, bytes int64) error {
	taken := make(chan struct{})
	leave := b.enter(t, bytes, func() { close(taken) })
	select {
	case <-taken:
		return nil
	case <-ctx.Done():
	}
	if !leave() {
		b.add(t, -bytes)
	}
	return context.Cause(ctx)
}

// add counts bytes that are taken without asking, or given back.
func (b *Budget) add(t storage.Tenant, bytes int64) {
	if bytes == 0 {
		return
	}
	b.mu.Lock()
	b.count(t, bytes)
	granted := b.grant()
	b.mu.Unlock()
	call(granted)
}

func (b *Budget) count(t storage.Tenant, bytes int64) {
	b.used += bytes
	if b.tenants[t] += bytes; b.tenants[t] == 0 {
		delete(b.tenants, t)
	}
}

// grant gives shares to those whose turn it is, and returns them: nobody gets one that
// somebody waits for who asked before. The caller holds b.mu.
func (b *Budget) grant() (granted []*waiter) {
	if len(b.waiting) == 0 {
		return nil
	}
	full := false
	left := b.waiting[:0]
	for _, w := range b.waiting {
		mayHave := b.tenants[w.tenant]+w.bytes <= b.each
		full = full || mayHave && b.used+w.bytes > b.total
		if full || !mayHave {
			left = append(left, w)
			continue
		}
		b.count(w.tenant, w.bytes)
		granted = append(granted, w)
	}
	clear(b.waiting[len(left):])
	b.waiting = left
	return granted
}

func call(granted []*waiter) {
	for _, w := range granted {
		w.then()
	}
}
