package gateway

import (
	"strings"
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
// much, or slowly, leaves room for others. What comes in on a tenant's public paths has a
// part of its own, for anybody who knows one can send it; so have callers that are nobody,
// "". It is safe for concurrent use.
type shared struct {
	budget
	each      int64    // the most that one tenant gets
	hooks     int64    // the most that one tenant's public paths get
	strangers int64    // the most that all who are nobody get together
	own       sync.Map // whose → *budget; tenants are few
}

// split says what the parts are. body and delivery are the largest that callers and
// providers send: each fits into its part, if it fits at all.
func (s *shared) split(limit, body, delivery int64) {
	part := func(of, least int64) int64 { return max(of, min(limit, least+bodyPiece)) }
	s.limit = limit
	s.each, s.hooks, s.strangers = part(limit*3/4, body), part(limit/4, delivery), part(limit/16, formLimit)
}

// hooksOf begins the name of the part of a tenant's public paths.
const hooksOf = "hooks of "

// most returns how much of the budget somebody gets.
func (s *shared) most(whose string) int64 {
	switch {
	case whose == "":
		return s.strangers
	case strings.HasPrefix(whose, hooksOf):
		return s.hooks
	}
	return s.each
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

// takeMore reserves n bytes more for one of a tenant who holds some already, or reports
// that they do not fit. One who has all of the tenant's part takes no more of it, and goes
// on: it is alone.
func (s *shared) takeMore(tenant string, held *int64, n int64) bool {
	n = min(n, s.most(tenant)-*held)
	if !s.takeFor(tenant, n) {
		return false
	}
	*held += n
	return true
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
	own, _ := s.own.LoadOrStore(tenant, &budget{limit: s.most(tenant)})
	return own.(*budget)
}
