package ledger

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/storage"
)

// Config is what a Ledger works with. All but Turns is required.
type Config struct {
	Store storage.Store
	Now   func() time.Time
	Log   *slog.Logger
	// KeepKeys is for how long the answer to a write with an idempotency key is kept.
	KeepKeys time.Duration
	// IdleSessions is how many Sessions are kept in memory while nothing happens to them.
	IdleSessions int
}

// Ledger writes to one store. All its methods are safe for concurrent use.
type Ledger struct {
	store    storage.Store
	now      func() time.Time
	log      *slog.Logger
	keepKeys time.Duration

	keys      Claims[lockrank.Key]
	resources Stripes[lockrank.Resource]
	sequences sequenceTable
	sessions  sessionTable
}

// New returns the Ledger of a store, which the caller keeps open while it is used.
func New(c Config) *Ledger {
	l := &Ledger{store: c.Store, now: c.Now, log: c.Log, keepKeys: c.KeepKeys}
	l.sessions.limit = c.IdleSessions
	return l
}

// Append hands a batch over. It may wait for room in the store's queue, not for the disk.
func (l *Ledger) Append(b *storage.Batch) storage.Commit { return l.store.Append(b) }

// HandOver hands over the records of one frame; f lacks its time and the records. If idem is
// not nil, the answer to the write is the state of the first record, with that status. The
// batch takes effect only if all that is [Expected] of the records holds, and, unless it is a running
// Task's, the Session that it belongs to is there ([Owned]).
func (l *Ledger) HandOver(f storage.Frame, idem *storage.Idempotency, status int, records ...Record) (state []byte, commit storage.Commit, err error) {
	encoded, err := Encode(records...)
	if err != nil {
		return nil, nil, err
	}
	f.Time, f.Records = l.now(), encoded
	b := Batch(f, idem, status, 0)
	b.Expect = append(b.Expect, Expected(records...)...)
	if f.TaskID == "" {
		b.Expect = Owned(&b.Frame, b.Expect)
	}
	return encoded[0].State, l.Append(b), nil
}

// Commit is HandOver that waits for the disk. The position is that of the first record.
func (l *Ledger) Commit(f storage.Frame, idem *storage.Idempotency, status int, records ...Record) (state []byte, first storage.Position, err error) {
	state, commit, err := l.HandOver(f, idem, status, records...)
	if err != nil {
		return nil, 0, err
	}
	first, err = l.Durable(commit)
	return state, first, err
}

// Durable waits until a batch that was handed over is durable, and returns the position of
// its first event. It waits for the disk whatever becomes of the caller's request.
func (l *Ledger) Durable(commit storage.Commit) (storage.Position, error) {
	first, err := commit.Wait(context.Background())
	return first, l.Failed("writing to the log", err)
}

// Find reads a resource. The error is [abi.NotFound] when it is not there, and an
// [*UnreadableError] when it cannot be read.
func (l *Ledger) Find(ctx context.Context, t storage.Tenant, o abi.Object, id string) (storage.Resource, error) {
	if !abi.ValidID(o, id) {
		return storage.Resource{}, abi.NotFound(o, id)
	}
	res, err := l.store.Get(ctx, t, o, id)
	return res, l.unread(o, id, err)
}

// FindAll is [Ledger.Find] of several resources of one kind, which costs less. The first that
// cannot be read is what the error is about.
func (l *Ledger) FindAll(ctx context.Context, t storage.Tenant, o abi.Object, ids []string) ([]storage.Resource, error) {
	for _, id := range ids {
		if !abi.ValidID(o, id) {
			return nil, abi.NotFound(o, id)
		}
	}
	all, err := l.store.GetAll(ctx, t, o, ids)
	if err != nil {
		return nil, l.unread(o, ids[min(len(all), len(ids)-1)], err)
	}
	return all, nil
}

// unread says why a resource could not be read.
func (l *Ledger) unread(o abi.Object, id string, err error) error {
	if errors.Is(err, storage.ErrNotFound) {
		return abi.NotFound(o, id)
	}
	if errors.Is(err, storage.ErrDamaged) {
		return &UnreadableError{Object: o, ID: id, Err: err}
	}
	return l.Failed("reading "+string(o), err)
}
