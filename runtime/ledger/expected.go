package ledger

import (
	"errors"
	"slices"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// maxTries is how often a change is made that other writers are faster at. Each of them has
// made a change of its own by then.
const maxTries = 16

// Expected returns what the writer of records relies on: that each resource is at the sequence
// before the one that the record has, that one with the sequence 0 is new, that nothing has
// stated what the writer has read, that deliveries are new, and that a Session whose Messages are
// copied is there.
func Expected(records ...Record) (all []storage.Expectation) {
	for i := range records {
		r := &records[i]
		if !r.Unseen.IsZero() {
			all = append(all, storage.Expectation{Kind: storage.ExpectUnseen, Delivery: r.Intake.Delivery, Time: r.Unseen})
		}
		if r.Transcript.Kind == storage.TranscriptCopy {
			all = append(all, Stated(abi.ObjectSession, r.Transcript.From))
		}
		// A delivery has no sequence of its own, and nothing comes after an erasure. A Message has an id that was just made up, and
		// nobody changes it.
		if r.Object == abi.ObjectDelivery || r.Object == abi.ObjectMessage || r.Erase != nil {
			continue
		}
		about := abi.ResourcePointer{Object: r.Object, ID: r.ID}
		if !slices.ContainsFunc(all, func(e storage.Expectation) bool { return e.Resource == about }) {
			all = append(all, follows(about, r.Sequence))
		}
		if r.Read != 0 {
			all = append(all, storage.Expectation{Kind: storage.ExpectLease, Resource: about, Position: r.Read})
		}
	}
	return all
}

// Stated expects that a resource is there: it may be erased at this moment.
func Stated(o abi.Object, id string) storage.Expectation {
	return storage.Expectation{Kind: storage.ExpectStated, Resource: abi.ResourcePointer{Object: o, ID: id}}
}

// Owned adds to what a batch expects that the Session and the Task of its frame are there: what is written into one that was
// erased would stay for ever. It is for writers that are no run of that Task: what runs is not erased.
func Owned(f *storage.Frame, all []storage.Expectation) []storage.Expectation {
	for _, o := range []abi.Object{abi.ObjectSession, abi.ObjectTask} {
		about := abi.ResourcePointer{Object: o, ID: f.Owner(o)}
		if about.ID != "" && !slices.ContainsFunc(all, func(e storage.Expectation) bool { return e.Resource == about }) {
			all = append(all, Stated(o, about.ID))
		}
	}
	return all
}

// follows expects that an event with that sequence is the next of its resource.
func follows(about abi.ResourcePointer, sequence uint64) storage.Expectation {
	if sequence == 0 {
		return storage.Expectation{Kind: storage.ExpectNew, Resource: about}
	}
	return storage.Expectation{Kind: storage.ExpectSequence, Resource: about, Sequence: sequence - 1}
}

// Overtaken reports whether a write has left nothing because a writer that shares no locks
// with this ledger was faster: it has changed what the write relies on.
func Overtaken(err error) bool {
	c, ok := errors.AsType[*storage.ConflictError](err)
	return ok && c.Expected.Kind != storage.ExpectNoAnswer && c.Expected.Kind != storage.ExpectStated
}

// overtakenIn reports whether it is that resource that was changed since it was read.
func overtakenIn(err error, about abi.ResourcePointer) bool {
	c, ok := errors.AsType[*storage.ConflictError](err)
	return ok && c.Expected.Resource == about
}

// OvertakenError says that other writers were faster each time that this one had read what its
// write relies on. Nothing is left of the write, so whoever asked for it may ask again.
type OvertakenError struct{ Cause *storage.ConflictError }

// Error implements the error interface.
func (o *OvertakenError) Error() string { return o.Cause.Error() }

// Unwrap returns the cause and what callers are shown.
func (o *OvertakenError) Unwrap() []error {
	busy := abi.Errorf(abi.CodeServiceUnavailable, "others were faster at changing the same; send the request again")
	busy.RetryAfter = 1
	return []error{o.Cause, busy}
}

// Change makes the caller the only one on this node to change a resource while do does it. do
// reads the resource and commits the change. Where another writer on the same store was faster,
// do has left nothing, and is called again: so it does nothing else that others notice.
func Change[T any](l *Ledger, t storage.Tenant, id string, do func() (T, error)) (T, error) {
	unlock := l.Lock(t, id)
	defer unlock()
	for try := 1; ; try++ {
		done, err := do()
		if !Overtaken(err) || try == maxTries {
			return done, err
		}
	}
}

// ExpectedDeliveries returns what of a run's records the log is expected to hold: that of those which anybody may write
// as well, deliveries. All else is for the run's owner to write.
func ExpectedDeliveries(records []Record) []storage.Expectation {
	var all []Record
	for _, rec := range records {
		if rec.Object == abi.ObjectDelivery {
			all = append(all, rec)
		}
	}
	return Expected(all...)
}
