package identity

import (
	"crypto/sha256"
	"sync"
	"time"
)

// maxCached bounds the memory that known tokens take. Only tokens that were found valid
// are kept, so that nobody fills it with what they made up.
const maxCached = 10_000

// cache remembers tokens that were found valid, until they expire or their issuer's
// keys change. It keeps hashes of tokens, and no token.
type cache struct {
	mu    sync.RWMutex
	known map[[sha256.Size]byte]cached
}

type cached struct {
	id    *Identity
	from  *issuer
	epoch uint64
	until time.Time
}

func (c *cache) get(token string, now time.Time) *Identity {
	hash := sha256.Sum256([]byte(token))
	c.mu.RLock()
	known, ok := c.known[hash]
	c.mu.RUnlock()
	if !ok || !now.Before(known.until) || known.epoch != known.from.keys.epoch() {
		return nil
	}
	return known.id
}

func (c *cache) put(token string, id *Identity, from *issuer, epoch uint64, until time.Time) {
	hash := sha256.Sum256([]byte(token))
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) >= maxCached {
		c.known = map[[sha256.Size]byte]cached{}
	}
	c.known[hash] = cached{id, from, epoch, until}
}
