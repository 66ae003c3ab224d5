package gateway

import "sync/atomic"

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
