package ledger

import (
	"hash/maphash"
	"sync"

	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/storage"
)

// Stripes is a fixed set of locks, picked by a resource's id: writes that read
// a resource before they change it hold the resource's stripe until the change is
// durable. The zero value is ready.
type Stripes[R lockrank.Ranked] struct {
	seed maphash.Seed
	once sync.Once
	mu   [256]lockrank.Mutex[R]
}

// Lock makes the caller the only one to change a resource, until it calls unlock. Now and
// then another resource shares the lock.
func (l *Ledger) Lock(t storage.Tenant, id string) (unlock func()) { return l.resources.Lock(id) }

// Lock takes the lock of an id, until unlock is called. Other ids may share it.
func (s *Stripes[R]) Lock(id string) (unlock func()) {
	s.once.Do(func() { s.seed = maphash.MakeSeed() })
	mu := &s.mu[maphash.String(s.seed, id)%uint64(len(s.mu))]
	mu.Lock()
	return mu.Unlock
}

// Key names a resource across tenants.
type Key struct {
	Tenant storage.Tenant
	ID     string
}
