package engine

import (
	"container/list"
	"context"
	"hash/maphash"
	"sync"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/storage"
)

// stripes is a fixed set of locks, picked by a resource's id: writes that read
// a resource before they change it hold the resource's stripe until the change is
// durable.
type stripes struct {
	seed maphash.Seed
	once sync.Once
	mu   [256]lockrank.Mutex[lockResource]
}

func (s *stripes) lock(t storage.Tenant, id string) (unlock func()) {
	s.once.Do(func() { s.seed = maphash.MakeSeed() })
	mu := &s.mu[maphash.String(s.seed, id)%uint64(len(s.mu))]
	mu.Lock()
	return mu.Unlock
}

// owner names a resource across tenants.
type owner struct {
	tenant storage.Tenant
	id     string
}

// session is a Session in memory: its last form, and what orders the writes to it.
//
// Writers that do not change the Session itself (a Task, a Message) hand their
// batch to the store under mu's read lock; those that do, under its write lock. So
// the log has each of them on one side of a close or truncation, and no reader of
// the log can tell otherwise. Under either lock a writer waits for nothing but the disk:
// whether a batch is durable is the store's knowledge, and needs no other writer.
type session struct {
	mu     lockrank.RWMutex[lockSession]
	loaded bool
	state  abi.Session // guarded by mu
	seq    uint64      // of the last event whose resource is the Session; guarded by mu
	origin Position

	refs int           // guarded by the table
	idle *list.Element // in the table's list while refs is 0
}

// sessionTable keeps the Sessions that are being written to, and some of those
// that were. A Session whose own change is on its way to the disk is never dropped: a
// later load would not see it.
type sessionTable struct {
	mu    lockrank.Mutex[lockTable]
	limit int
	byID  map[owner]*session
	idle  list.List // of owner, least recently used first
}

// acquire returns the entry of a Session, which may not be loaded yet. It must be
// released when what was changed of the Session under it is durable.
func (t *sessionTable) acquire(key owner) *session {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byID == nil {
		t.byID = map[owner]*session{}
	}
	s := t.byID[key]
	if s == nil {
		s = &session{}
		t.byID[key] = s
	}
	if s.idle != nil {
		t.idle.Remove(s.idle)
		s.idle = nil
	}
	s.refs++
	return s
}

func (t *sessionTable) release(key owner, s *session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s.refs--
	if s.refs > 0 {
		return
	}
	s.idle = t.idle.PushBack(key)
	for t.idle.Len() > t.limit {
		oldest := t.idle.Front()
		t.idle.Remove(oldest)
		delete(t.byID, oldest.Value.(owner))
	}
}

// openSession returns a Session that the caller may see, loaded and acquired.
func (e *Engine) openSession(ctx context.Context, c *Caller, id string) (*session, func(), error) {
	key := owner{c.Tenant, id}
	s := e.sessions.acquire(key)
	release := func() { e.sessions.release(key, s) }
	if err := e.loadSession(ctx, c.Tenant, id, s); err != nil {
		release()
		return nil, nil, err
	}
	if !c.Sees(s.workspace()) {
		release()
		return nil, nil, abi.NotFound(abi.ObjectSession, id)
	}
	return s, release, nil
}

// workspace returns the Session's Workspace, which never changes.
func (s *session) workspace() string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.state.WorkspaceID
}

// branch returns the Branch that the Session goes along, which never changes.
func (s *session) branch() string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.state.BranchID
}

func (e *Engine) loadSession(ctx context.Context, t storage.Tenant, id string, s *session) error {
	s.mu.RLock()
	loaded := s.loaded
	s.mu.RUnlock()
	if loaded {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.loaded {
		return nil
	}
	res, err := e.find(ctx, t, abi.ObjectSession, id)
	if err != nil {
		return err
	}
	if err := decode(res.State, &s.state); err != nil {
		return err
	}
	s.seq, s.origin, s.loaded = res.Sequence, res.Origin, true
	return nil
}

// while calls hand, which hands over a batch that leaves the Session itself alone. check,
// which may be nil, sees the Session as the log will have it before the batch.
func (s *session) while(check func(*abi.Session) error, hand func() error) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if check != nil {
		if err := check(&s.state); err != nil {
			return err
		}
	}
	return hand()
}

// append hands over a batch as [session.while] does.
func (s *session) append(e *Engine, b *storage.Batch, check func(*abi.Session) error) (commit storage.Commit, err error) {
	err = s.while(check, func() error {
		commit = e.store.Append(b)
		return nil
	})
	return commit, err
}
