package storage

import (
	"context"
	"time"

	"github.com/wharf-dev/wharf/abi"
)

// The interfaces in this file are what an engine may offer beside [Store]. Whoever needs
// one asks for it by a type assertion, and says so where the engine lacks it.

// Retainer is an engine that lets go of old events.
type Retainer interface {
	// Retain removes events that are older than before, and returns how many. It stops at
	// the first event that is newer, and before the first event of a Task that is not
	// terminal and the first delivery that is pending. Resources, transcripts, lists and
	// blobs stay. Reads below the new floor fail with [ErrCursorExpired]. When Retain fails
	// or ctx ends half way, what was removed until then stays removed.
	Retain(ctx context.Context, before time.Time) (removed int, err error)
}

// Backuper is an engine that copies what it holds while it works.
type Backuper interface {
	// Checkpoint writes a copy to dir, which must not exist. The copy holds everything that
	// was durable when Checkpoint was called, and can be opened as a data folder.
	Checkpoint(dir string) error
}

// Checker is an engine that looks for damage. The error is about the check itself; what is
// wrong with the data is in the report. progress, which may be nil, is called now and then.
type Checker interface {
	// Check tests what is stored against every invariant of the log.
	Check(ctx context.Context, progress func(Progress)) (Report, error)
	// Rebuild derives every projection again from the events, and compares them with those that
	// are stored. It changes none of them.
	Rebuild(ctx context.Context, progress func(Progress)) (Report, error)
}

// Sizer is an engine that says how much room a Workspace takes.
type Sizer interface {
	// SizeOf returns the bytes that the events of a Workspace take as they are stored, and the content that is their own
	// ([ContentSize], [Named]). What is just being written may be among them. It is not known while they are still being
	// counted in what an older program has written.
	SizeOf(ctx context.Context, t Tenant, workspace string) (bytes int64, known bool, err error)
}

// Walker is an engine that shows all it holds.
type Walker interface {
	// Walk shows v everything that is durable, and skips what is damaged.
	Walk(ctx context.Context, v Visitor) error
}

// Report is what a [Checker] has found.
type Report struct {
	Tenants   int
	Frames    uint64
	Events    uint64
	Keys      uint64 // looked at, frames included
	Blobs     uint64
	BlobBytes uint64
	Floor     Position // up to here retention has removed everything
	Last      Position // the newest event
	// Kept counts projections that follow from events which retention has removed:
	// they cannot be derived again.
	Kept uint64
	// Problems describes the first faults, Faults counts all of them.
	Problems []string
	Faults   uint64
}

// OK reports whether nothing is wrong.
func (r *Report) OK() bool { return r.Faults == 0 }

// Progress says how far a check is.
type Progress struct {
	Phase string // "frames", "projections", "blobs", "rebuild" or "compare"
	Done  uint64 // keys or files looked at in this phase
}

// Visitor receives what a store holds. Members that are nil are not called.
type Visitor struct {
	// Event is called with every event, in the order of each tenant's log. The parts of it that
	// cannot be read are nil.
	Event func(t Tenant, ev Event)
	// Objects are the kinds of resources that Resource is called with, each as it was last
	// stated. Resources that cannot be read are left out.
	Objects  []abi.Object
	Resource func(t Tenant, o abi.Object, r Resource)
	// Reference is called with every blob that the log keeps a value in.
	Reference func(h Hash)
	// Blob is called with every blob, and before all else.
	Blob func(h Hash, size int64)
}
