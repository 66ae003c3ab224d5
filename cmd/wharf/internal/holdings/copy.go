package holdings

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"

	"github.com/wharf-dev/wharf/storage/pebble"
)

// Incomplete says that a copy of a data folder is not whole.
type Incomplete struct {
	Dir    string
	Faults uint64
	First  string // what the first fault is
}

// Error implements the error interface.
func (e *Incomplete) Error() string {
	return fmt.Sprintf("the copy at %s is incomplete, for the node has lost or damaged files: %d faults, of which the first is: %s. \"wharf doctor --data %s\" tells all",
		e.Dir, e.Faults, e.First, e.Dir)
}

// CheckCopy returns an [*Incomplete] unless a copy of a data folder, which nobody has
// open, is whole. It writes nothing to it.
func CheckCopy(ctx context.Context, dir string, log *slog.Logger) (err error) {
	store, err := pebble.OpenReadOnly(dir, pebble.Options{Logger: log})
	if err != nil {
		return fmt.Errorf("opening the copy to check it: %w", err)
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	found, err := store.Check(ctx, nil)
	if err != nil {
		return fmt.Errorf("checking the copy: %w", pebble.Explain(err))
	}
	beside, err := Check(ctx, store, dir, math.MaxUint64)
	if err != nil {
		return err
	}
	if faults := found.Faults + beside.Faults; faults > 0 {
		return &Incomplete{Dir: dir, Faults: faults, First: append(found.Problems, beside.Lost...)[0]}
	}
	return nil
}
