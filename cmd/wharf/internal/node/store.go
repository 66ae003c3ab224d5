package node

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/wharf-dev/wharf/cmd/wharf/internal/config"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/pebble"
)

// Errors of what a node's storage does not offer.
var (
	ErrNoBackup = errors.New("the storage of this node makes no copies of itself: back it up with its own means")
	ErrNoCheck  = errors.New("the storage of this data folder has no check of its own")
	ErrNoWalk   = errors.New("the storage of this data folder does not show all it holds")
)

// OpenStore opens a data folder as a node does, making it if need be. When ctx ends it
// returns at once, and leaves what is still being opened to the end of the process.
func OpenStore(ctx context.Context, dir string, c config.Config, log *slog.Logger) (storage.Store, error) {
	type opened struct {
		store *pebble.Store
		err   error
	}
	done := make(chan opened, 1)
	go func() {
		store, err := pebble.Open(dir, storeOptions(c, log))
		done <- opened{store, err}
	}()
	select {
	case o := <-done:
		if o.err != nil {
			return nil, storeError(dir, o.err)
		}
		return o.store, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// ReadStore opens a data folder to look at it and writes nothing to it. scratch is a
// folder for what a rebuild needs.
func ReadStore(dir, scratch string, log *slog.Logger) (storage.Store, error) {
	store, err := pebble.OpenReadOnly(dir, pebble.Options{Logger: log, Scratch: scratch})
	if err != nil {
		return nil, storeError(dir, err)
	}
	return store, nil
}

func storeOptions(c config.Config, log *slog.Logger) pebble.Options {
	return pebble.Options{
		CacheBytes: c.Storage.Cache, MemtableBytes: memtable(c), Logger: log,
		IdempotencyDays: int(c.Retention.Idempotency/(24*time.Hour)) + 1,
		DedupeDays:      int((c.Retention.Deliveries + 24*time.Hour - 1) / (24 * time.Hour)),
	}
}

// memtable is how much the store collects in memory. It is on the disk twice for a while, so where room is limited it is a small part of that.
func memtable(c config.Config) uint64 {
	const least, share = 4 << 20, 100
	size := c.Storage.Memtable
	if c.Retention.Size > 0 {
		size = min(size, max(c.Retention.Size/share, least))
	}
	return uint64(size)
}

// Explain gives an error of a damaged store a form that says what to do.
func Explain(err error) error { return pebble.Explain(err) }
