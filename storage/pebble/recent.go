package pebble

import (
	"sync"
	"time"

	"github.com/wharf-dev/wharf/storage"
)

const (
	// recentFor is how long a blob is kept at least after it was stored, while nothing refers to
	// it yet. What stores one refers to it within moments, and a module within the time in
	// which it is compiled.
	recentFor = 10 * time.Minute
	// maxLeap is how much of the time between two looks counts at most: a process that was stopped meanwhile has to
	// get on before anything is old.
	maxLeap = 2 * time.Minute
	// maxRecent bounds how many are remembered of each half of that time. Beyond it all are
	// taken for recent.
	maxRecent = 1 << 18
)

// recent remembers the blobs that were just stored or kept. Time is that in which the process runs,
// which no change of the clock concerns: a blob of an earlier process is not recent, for
// nobody is left who would refer to it. The zero value is ready. It is safe for concurrent use.
type recent struct {
	mu       sync.Mutex
	now, old map[storage.Hash]struct{}
	many     [2]bool // there are more than these in now, in old
	looked   time.Time
	age      time.Duration // of now
}

// note remembers a blob.
func (r *recent) note(h storage.Hash) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turn()
	if len(r.now) >= maxRecent {
		r.many[0] = true
		return
	}
	r.now[h] = struct{}{}
}

// turn forgets what is older.
func (r *recent) turn() {
	if r.now == nil {
		r.now, r.looked = map[storage.Hash]struct{}{}, time.Now()
		return
	}
	r.age += min(time.Since(r.looked), maxLeap)
	if r.looked = time.Now(); r.age < recentFor {
		return
	}
	r.old, r.many[1] = r.now, r.many[0]
	r.now, r.many[0], r.age = map[storage.Hash]struct{}{}, false, 0
}

// unless runs f, unless a blob is recent: nobody can note it meanwhile.
func (r *recent) unless(h storage.Hash, f func() error) (ran bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turn()
	_, now := r.now[h]
	_, old := r.old[h]
	if now || old || r.many[0] || r.many[1] {
		return false, nil
	}
	return true, f()
}

// known reports whether a blob is recent, without a look at the disk.
func (r *recent) known(h storage.Hash) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.now[h]
	return ok
}

// forget lets a blob go that turned out not to be there.
func (r *recent) forget(h storage.Hash) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.now, h)
}
