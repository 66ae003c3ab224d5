package provider

import "sync"

// Budget bounds how many bytes of answers from outside are being read at one time, by
// all Tasks of a node together, and by those of one tenant: no more than half. It is
// safe for concurrent use. A nil Budget bounds nothing.
type Budget struct {
	total int64

	mu      sync.Mutex
	used    int64
	tenants map[string]int64 // of used
}

// NewBudget returns a Budget of so many bytes.
func NewBudget(total int64) *Budget { return &Budget{total: total, tenants: map[string]int64{}} }

// Take takes n bytes for a tenant, and reports whether there were so many. What was
// taken is to be returned.
func (b *Budget) Take(tenant string, n int64) bool {
	if b == nil {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.used+n > b.total || b.tenants[tenant]+n > b.total/2 {
		return false
	}
	b.used += n
	b.tenants[tenant] += n
	return true
}

// Return gives back what a tenant has taken.
func (b *Budget) Return(tenant string, n int64) {
	if b == nil || n == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= n
	if b.tenants[tenant] -= n; b.tenants[tenant] == 0 {
		delete(b.tenants, tenant)
	}
}
