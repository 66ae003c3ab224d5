package records

import (
	"context"
	"fmt"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/personas"
	"github.com/wharf-dev/wharf/storage"
)

// Parts are what a reader works with.
type Parts struct {
	desk.Parts
	// PersonaAt returns a Persona as it was when a program was fixed, by the hash that the
	// program has of it.
	PersonaAt func(ctx context.Context, t storage.Tenant, id, hash string) (*personas.Persona, error)
}

// Reader reads how Tasks ran. It is safe for concurrent use.
type Reader struct{ parts Parts }

// NewReader returns a reader.
func NewReader(p Parts) *Reader { return &Reader{parts: p} }

// Task reads a Task as the log has it, without its input.
func (r *Reader) Task(ctx context.Context, tenant storage.Tenant, id string) (*abi.Task, error) {
	res, err := r.parts.Ledger.Find(ctx, tenant, abi.ObjectTask, id)
	if err != nil {
		return nil, err
	}
	about := &abi.Task{}
	if err := ledger.Decode(res.State, about); err != nil {
		return nil, ledger.Naming(abi.ObjectTask, id, err)
	}
	about.Input = nil
	return about, ledger.CheckEnvelope(&about.Envelope, abi.ObjectTask, id)
}

// History is what the log tells of a Task's runs.
type History struct {
	Program *journal.Program // what the Task runs; nil where the log does not tell
	Entries []journal.Entry  // the calls of its record, with those that a fork shares with its source
	// LastStart is the position of the last event that told a start; 0 for none.
	LastStart storage.Position
	Progress  bool // calls were recorded after it, or a drain has stopped what it began
	Alone     bool // the Task has the node to itself since then
}

// pageOfEvents is how many events are read at once.
const pageOfEvents = 500

// History reads the record of a Task, with what a fork shares with its source.
func (r *Reader) History(ctx context.Context, tenant storage.Tenant, about *abi.Task) (*History, error) {
	if err := r.checkForks(ctx, tenant, about.Fork); err != nil {
		return nil, err
	}
	return r.history(ctx, tenant, about)
}

// checkForks reports forks that come from one another in a circle.
func (r *Reader) checkForks(ctx context.Context, tenant storage.Tenant, f *abi.TaskFork) error {
	for seen := map[string]bool{}; f != nil; {
		if seen[f.SourceTaskID] {
			return ledger.Nonsense(abi.ObjectTask, f.SourceTaskID, "it is a fork of itself")
		}
		seen[f.SourceTaskID] = true
		source, err := r.Task(ctx, tenant, f.SourceTaskID)
		if err != nil {
			return err
		}
		f = source.Fork
	}
	return nil
}

// history reads the record of a Task whose forks come to an end.
func (r *Reader) history(ctx context.Context, tenant storage.Tenant, about *abi.Task) (*History, error) {
	h := &History{}
	if err := r.share(ctx, tenant, about.Fork, h); err != nil {
		return nil, err
	}
	after, more := storage.Position(0), true
	for more {
		var page []storage.Event
		var err error
		page, more, err = r.parts.Store.Events(ctx, tenant, desk.Scope{Object: abi.ObjectTask, ID: about.ID}, after, pageOfEvents)
		if err != nil {
			return nil, r.parts.Ledger.Failed("reading the record of task "+about.ID, err)
		}
		for _, ev := range page {
			after = ev.Position()
			if err := h.read(ev, func(hash storage.Hash) ([]byte, error) { return journal.Content(ctx, r.parts.Store.Blobs(), hash) }); err != nil {
				return nil, err
			}
		}
	}
	return h, nil
}

// share reads the part of a record that a fork has from its source.
func (r *Reader) share(ctx context.Context, tenant storage.Tenant, f *abi.TaskFork, h *History) error {
	if f == nil {
		return nil
	}
	source, err := r.Task(ctx, tenant, f.SourceTaskID)
	if err != nil {
		return err
	}
	from, err := r.history(ctx, tenant, source)
	if err != nil {
		return err
	}
	if f.Calls < 0 || len(from.Entries) < f.Calls {
		return &abi.Failure{Code: abi.FailureReplayMissing, Message: fmt.Sprintf(
			"task %s has the record of %d calls; the fork shares %d", f.SourceTaskID, len(from.Entries), f.Calls)}
	}
	h.Entries, h.Program = from.Entries[:f.Calls], from.Program
	return nil
}
