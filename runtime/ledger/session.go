package ledger

import (
	"cmp"
	"container/list"
	"context"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/storage"
)

// Session is a Session in memory: its last form, and what orders the writes to it.
//
// Writers that do not change the Session itself (a Task, a Message) hand their
// batch to the store under mu's read lock; those that do, under its write lock. So
// the log has each of them on one side of a close or truncation, and no reader of
// the log can tell otherwise. Under either lock a writer waits for nothing but the disk: the
// store knows whether a batch is durable, and needs no other writer for that.
type Session struct {
	ledger   *Ledger
	key      Key
	mu       lockrank.RWMutex[lockrank.Session]
	loaded   bool
	state    abi.Session // guarded by mu
	sequence uint64      // of the last event whose resource is the Session; guarded by mu

	refs int           // guarded by the table
	idle *list.Element // in the table's list while refs is 0
}

// Workspace returns the Session's Workspace, which never changes.
func (s *Session) Workspace() string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.state.WorkspaceID
}

// Branch returns the Branch that the Session goes along, which never changes.
func (s *Session) Branch() string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.state.BranchID
}

// OnlyTask returns the Task that a hidden Session was made with, which never changes; "" for any
// other.
func (s *Session) OnlyTask() string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.state.OnlyTaskID
}

// State returns the Session as it is now. Its lists and metadata must not be changed.
func (s *Session) State() abi.Session {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.state
}

// While calls hand, which hands over a batch that leaves the Session itself alone. check,
// which may be nil, sees the Session as the log will have it before the batch. It is not asked
// for the batch that makes the Session: there is none before.
func (s *Session) While(check func(*abi.Session) error, hand func() error) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if check != nil && s.loaded {
		if err := check(&s.state); err != nil {
			return err
		}
	}
	return hand()
}

// Append hands over a batch as [Session.While] does.
func (s *Session) Append(l *Ledger, b *storage.Batch, check func(*abi.Session) error) (commit storage.Commit, err error) {
	err = s.While(check, func() error {
		commit = l.Append(b)
		return nil
	})
	return commit, err
}

// Change changes the Session itself. Nothing is handed over for it meanwhile. write gets
// a copy of the Session to change, and the sequence of its next event; it commits that,
// and returns nil when it is durable: then the copy is the Session. Where another writer on the
// same store has changed the Session since it was read, write has left nothing, and is called
// again with what it is now.
func (s *Session) Change(ctx context.Context, write func(next *abi.Session, sequence uint64) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for try := 1; ; try++ {
		next := s.state
		err := write(&next, s.sequence+1)
		if err == nil {
			s.state, s.sequence = next, s.sequence+1
			return nil
		}
		if !overtakenIn(err, abi.ResourcePointer{Object: abi.ObjectSession, ID: s.key.ID}) {
			return err
		}
		if failed := s.read(ctx); failed != nil || try == maxTries {
			return cmp.Or(failed, err)
		}
	}
}

// Alone calls do, which hands over batches that leave the Session itself alone, and waits for them.
// Nothing else is handed over for the Session meanwhile.
func (s *Session) Alone(do func(is *abi.Session) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	is := s.state
	return do(&is)
}

// Join is [Session.Change] for a batch that says more than the change, and that nobody waits for
// here: once write has handed it over, the copy is the Session. write returns false when the batch
// leaves the Session as it is.
func (s *Session) Join(write func(next *abi.Session, sequence uint64) (changed bool, err error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := s.state
	changed, err := write(&next, s.sequence+1)
	if err == nil && changed {
		s.state, s.sequence, s.loaded = next, s.sequence+1, true
	}
	return err
}

// load reads the Session once.
func (s *Session) load(ctx context.Context) error {
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
	return s.read(ctx)
}

// read takes over what the log has of the Session. The caller holds mu.
func (s *Session) read(ctx context.Context) error {
	res, err := s.ledger.Find(ctx, s.key.Tenant, abi.ObjectSession, s.key.ID)
	if err != nil {
		return err
	}
	var state abi.Session
	if err := Decode(res.State, &state); err != nil {
		return err
	}
	s.state, s.sequence, s.loaded = state, res.Sequence, true
	return nil
}

// Open returns a Session in memory, to be released when what was written to it is durable.
func (l *Ledger) Open(ctx context.Context, session Key) (s *Session, release func(), err error) {
	s, release = l.Hold(session)
	if err := s.load(ctx); err != nil {
		release()
		return nil, nil, err
	}
	return s, release, nil
}

// Hold is [Ledger.Open] for writes to a Session whatever its state: it may never have been
// read, and then says nothing of itself.
func (l *Ledger) Hold(session Key) (s *Session, release func()) {
	s = l.sessions.acquire(l, session)
	return s, func() { l.sessions.release(session, s) }
}

// Make is [Ledger.Open] for a Session that is made by the batch to come, which states it up to
// that sequence. Whoever opens it reads it from the log, where it is only if the batch is.
func (l *Ledger) Make(t storage.Tenant, state *abi.Session, sequence uint64) (s *Session, release func()) {
	s, release = l.Hold(Key{Tenant: t, ID: state.ID})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state, s.sequence = *state, sequence
	return s, release
}

// CheckSession reads a Session from the log and says what is wrong with it.
func (l *Ledger) CheckSession(ctx context.Context, session Key) error {
	return (&Session{ledger: l, key: session}).load(ctx)
}

// sessionTable keeps the Sessions that are being written to, and some of those
// that were. A Session whose own change is on its way to the disk is never dropped: a
// later load would not see it.
type sessionTable struct {
	mu    lockrank.Mutex[lockrank.Table]
	limit int
	byID  map[Key]*Session
	idle  list.List // of Key, least recently used first
}

// acquire returns the entry of a Session, which may not be loaded yet. It must be
// released when what was changed of the Session under it is durable.
func (t *sessionTable) acquire(l *Ledger, key Key) *Session {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byID == nil {
		t.byID = map[Key]*Session{}
	}
	s := t.byID[key]
	if s == nil {
		s = &Session{ledger: l, key: key}
		t.byID[key] = s
	}
	if s.idle != nil {
		t.idle.Remove(s.idle)
		s.idle = nil
	}
	s.refs++
	return s
}

func (t *sessionTable) release(key Key, s *Session) {
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
		delete(t.byID, oldest.Value.(Key))
	}
}
