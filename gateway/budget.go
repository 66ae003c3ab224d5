package gateway

import (
	"sync"
	"sync/atomic"
)

// budget counts bytes that are in use against a limit. It is safe for
// concurrent use.
type budget struct {
	limit int64
	used  atomic.Int64
}

// take reserves n bytes, or reports that they do not fit.
func (b *budget) take(n int64) bool {
	if b.used.Add(n) <= b.limit {
		return true
	}
	b.used.Add(-n)
	return false
}

func (b *budget) give(n int64) { b.used.Add(-n) }

// shared is a budget of which each tenant gets a part at most, so that one who sends
// much, or slowly, leaves room for others. Callers that are nobody yet are one tenant
// more, "". It is safe for concurrent use.
type shared struct {
	budget
	each int64    // the most that one tenant gets
	own  sync.Map // tenant → *budget; tenants are few
}

// takeFor reserves n bytes for a tenant, or reports that they do not fit.
func (s *shared) takeFor(tenant string, n int64) bool {
	own := s.of(tenant)
	if !own.take(n) {
		return false
	}
	if s.take(n) {
		return true
	}
	own.give(n)
	return false
}

// giveFor gives back what takeFor has reserved.
func (s *shared) giveFor(tenant string, n int64) {
	s.give(n)
	s.of(tenant).give(n)
}

func (s *shared) of(tenant string) *budget {
	if own, ok := s.own.Load(tenant); ok {
		return own.(*budget)
	}
	own, _ := s.own.LoadOrStore(tenant, &budget{limit: s.each})
	return own.(*budget)
}
