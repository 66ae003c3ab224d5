package engine

import (
	"context"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/storage"
)

// sequenceTable orders the events of resources that many tell of at once, such as the
// uses of a secret: each is handed over with the next sequence, and nobody waits for
// the disk of another.
type sequenceTable struct {
	mu  lockrank.Mutex[lockTable]
	all map[owner]*sequence
}

// sequence is that of one resource, while anybody tells of it.
type sequence struct {
	mu    lockrank.Mutex[lockSequence]
	next  uint64
	known bool

	users int // guarded by the table
}

func (t *sequenceTable) acquire(key owner) *sequence {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all == nil {
		t.all = map[owner]*sequence{}
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
func (t *sequenceTable) release(key owner, s *sequence) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.users--; s.users == 0 {
		delete(t.all, key)
	}
}

// commitNext is commit for one record, whose sequence is the next of its resource. The
// frame lacks time and records.
func (e *Engine) commitNext(ctx context.Context, f storage.Frame, idem *storage.Idempotency, status int, rec record) (Doc, error) {
	key := owner{f.Tenant, rec.id}
	s := e.sequences.acquire(key)
	defer e.sequences.release(key, s)
	commit, doc, err := e.handOverNext(ctx, s, f, idem, status, rec)
	if err != nil {
		return Doc{}, err
	}
	if _, err := commit.Wait(context.Background()); err != nil {
		return Doc{}, e.failed("writing to the log", err)
	}
	return doc, nil
}

func (e *Engine) handOverNext(ctx context.Context, s *sequence, f storage.Frame, idem *storage.Idempotency, status int, rec record) (storage.Commit, Doc, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.known {
		last, found, err := e.store.Sequence(ctx, f.Tenant, abi.ResourcePointer{Object: rec.object, ID: rec.id})
		if err != nil {
			return nil, Doc{}, e.failed("reading the sequence of "+rec.id, err)
		}
		if s.known = true; found {
			s.next = last + 1
		}
	}
	rec.seq = s.next
	encoded, err := encode(rec)
	if err != nil {
		return nil, Doc{}, err
	}
	s.next++
	f.Time, f.Records = e.now(), encoded
	return e.store.Append(batch(f, idem, status, 0)), Doc{ID: rec.id, JSON: encoded[0].State}, nil
}
