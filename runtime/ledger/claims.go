package ledger

import (
	"context"

	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/storage"
)

// Claims are the keys whose write is on its way to the disk: looking a key up and writing under
// it are one step to all others that have the same Claims, and nobody does the work of a write
// in vain. R is the place of the keys among the locks. The zero value has no claims.
type Claims[R lockrank.Ranked] struct {
	mu     lockrank.Mutex[lockrank.Table]
	flying map[ClaimKey]chan struct{}
}

// ClaimKey is a key that a tenant's writes may have once.
type ClaimKey struct {
	Tenant storage.Tenant
	Key    storage.Key
}

// Claim makes the caller the only one at work on k, and waits for another that is at work on
// it. The same goroutine releases it.
func (t *Claims[R]) Claim(ctx context.Context, k ClaimKey) (release func(), err error) {
	lockrank.Enter[R]()
	for {
		t.mu.Lock()
		if t.flying == nil {
			t.flying = map[ClaimKey]chan struct{}{}
		}
		other, taken := t.flying[k]
		if !taken {
			done := make(chan struct{})
			t.flying[k] = done
			t.mu.Unlock()
			return func() { t.release(k, done) }, nil
		}
		t.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			lockrank.Leave[R]()
			return nil, ctx.Err()
		}
	}
}

func (t *Claims[R]) release(k ClaimKey, done chan struct{}) {
	lockrank.Leave[R]()
	t.mu.Lock()
	delete(t.flying, k)
	t.mu.Unlock()
	close(done)
}
