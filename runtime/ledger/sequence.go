package ledger

import (
	"context"
	"errors"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/storage"
)

// sequenceTable orders the events of resources that many tell of at once, such as the
// uses of a secret: each is handed over with the next sequence, and nobody waits for
// the disk of another.
type sequenceTable struct {
	mu  lockrank.Mutex[lockrank.Table]
	all map[Key]*sequence
}

// sequence is that of one resource, while anybody tells of it.
type sequence struct {
	mu    lockrank.Mutex[lockrank.Sequence]
	next  uint64
	known bool
	reads int // how often it was read from the store

	users int // guarded by the table
}

// forget has the sequence read again: a batch with a number of that reading left nothing.
// Whoever has a number after it finds so too.
func (s *sequence) forget(reading int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reads == reading {
		s.known = false
	}
}

func (t *sequenceTable) acquire(key Key) *sequence {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all == nil {
		t.all = map[Key]*sequence{}
	}
	s := t.all[key]
	if s == nil {
		s = &sequence{}
		t.all[key] = s
	}
	s.users++
	return s
}

// release is called when what was handed over is durable, or has failed: whoever
// comes next reads the sequence from the store.
func (t *sequenceTable) release(key Key, s *sequence) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.users--; s.users == 0 {
		delete(t.all, key)
	}
}

// AppendNext hands over one record, whose sequence is the next of its resource, and waits for
// the disk. The frame lacks its time and the record. If idem is not nil, the answer to the
// write is the state, with that status. When another writer has told of the resource
// meanwhile, the record gets the next sequence after that. When one has made what the record
// was to make, or stated it since the record's Read, the error is one that [Change] knows.
func (l *Ledger) AppendNext(ctx context.Context, f storage.Frame, idem *storage.Idempotency, status int, rec Record) (state []byte, err error) {
	key := Key{f.Tenant, rec.ID}
	s := l.sequences.acquire(key)
	defer l.sequences.release(key, s)
	for try := 1; ; try++ {
		state, commit, reading, err := l.handOverNext(ctx, s, f, idem, status, rec)
		if err != nil {
			return nil, err
		}
		if _, err = l.Durable(commit); err == nil {
			return state, nil
		}
		s.forget(reading)
		if rec.Created || !misnumbered(err) || try == maxTries {
			return state, err
		}
	}
}

// misnumbered reports whether a record had a sequence that was not the next.
func misnumbered(err error) bool {
	c, ok := errors.AsType[*storage.ConflictError](err)
	return ok && (c.Expected.Kind == storage.ExpectSequence || c.Expected.Kind == storage.ExpectNew)
}

// handOverNext hands over a record with the next sequence, and returns of which reading that is.
func (l *Ledger) handOverNext(ctx context.Context, s *sequence, f storage.Frame, idem *storage.Idempotency, status int, rec Record) ([]byte, storage.Commit, int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if rec.Created {
		s.next, s.known = 0, true
		s.reads++
	}
	if !s.known {
		last, found, err := l.store.Sequence(ctx, f.Tenant, abi.ResourcePointer{Object: rec.Object, ID: rec.ID})
		if err != nil {
			return nil, nil, 0, l.Failed("reading the sequence of "+rec.ID, err)
		}
		s.next, s.known = 0, true
		s.reads++
		if found {
			s.next = last + 1
		}
	}
	rec.Sequence = s.next
	state, commit, err := l.HandOver(f, idem, status, rec)
	if err == nil {
		s.next++
	}
	return state, commit, s.reads, err
}
