package storage

import (
	"fmt"
	"time"

	"github.com/wharf-dev/wharf/abi"
)

// ExpectKind discriminates an [Expectation].
type ExpectKind uint8

// What a batch may expect of its tenant.
const (
	_ ExpectKind = iota
	// ExpectNoAnswer expects that no idempotency record of Key is live at Time.
	ExpectNoAnswer
	// ExpectUnseen expects that no delivery with the key Delivery was received at or after
	// Time. Times are compared in whole seconds.
	ExpectUnseen
	// ExpectNew expects that no event has Resource.
	ExpectNew
	// ExpectSequence expects that the highest sequence of any event of Resource is Sequence.
	ExpectSequence
	// ExpectHead expects that the State of Resource, in which a chain keeps its head, has the
	// SHA-256 Head. A chain that has not begun has the zero Head.
	ExpectHead
	// ExpectLease expects that Resource is still as the event at Position stated it: its holder
	// took the lease with that event, and a new holder states Resource anew.
	ExpectLease
	// ExpectStated expects that there is Resource.
	ExpectStated
)

// Expectation is what must hold of a batch's tenant when the batch takes effect, after
// everything that was handed over before it.
type Expectation struct {
	Kind     ExpectKind
	Key      Key                 // ExpectNoAnswer
	Delivery DeliveryKey         // ExpectUnseen
	Time     time.Time           // ExpectNoAnswer, ExpectUnseen
	Resource abi.ResourcePointer // all others; not a Delivery
	Sequence uint64              // ExpectSequence
	Head     Hash                // ExpectHead
	Position Position            // ExpectLease
}

// Standing is what a batch has met instead of what it expected.
type Standing struct {
	// Position is that of the event whose form answers the write, of the event that received
	// the delivery, or of the event that last stated Resource; 0 when there is none.
	Position Position
	Sequence uint64 // ExpectNew, ExpectSequence: the highest of any event of Resource
	Head     Hash   // ExpectHead: of the State of Resource
}

// ConflictError says why a batch left nothing: it expected something else. What it met is
// durable, so the same batch gets the same answer until somebody writes.
type ConflictError struct {
	Index    int // of the Expectation in Batch.Expect
	Expected Expectation
	Found    Standing
}

// Error implements the error interface.
func (e *ConflictError) Error() string { return e.Expected.String() + ": " + e.found() }

// String says what is expected.
func (e *Expectation) String() string {
	switch e.Kind {
	case ExpectNoAnswer:
		return "a write with this idempotency key is expected to be the first"
	case ExpectUnseen:
		return "a delivery is expected to be new"
	case ExpectNew:
		return e.Resource.ID + " is expected to be new"
	case ExpectSequence:
		return fmt.Sprintf("%s is expected at sequence %d", e.Resource.ID, e.Sequence)
	case ExpectHead:
		return fmt.Sprintf("the head in %s is expected to be %x", e.Resource.ID, e.Head[:8])
	case ExpectLease:
		return fmt.Sprintf("the lease %s is expected to be the one of %s", e.Resource.ID, e.Position)
	case ExpectStated:
		return e.Resource.ID + " is expected to be there"
	}
	return fmt.Sprintf("expectation %d", e.Kind)
}

func (e *ConflictError) found() string {
	f := &e.Found
	switch {
	case f.Position == 0 && e.Expected.Kind != ExpectNew && e.Expected.Kind != ExpectSequence:
		return "nothing is there"
	case e.Expected.Kind == ExpectHead:
		return fmt.Sprintf("it is %x, since %s", f.Head[:8], f.Position)
	case e.Expected.Kind == ExpectNew, e.Expected.Kind == ExpectSequence:
		return fmt.Sprintf("it was stated at %s, and is at sequence %d", f.Position, f.Sequence)
	}
	return "another was at " + f.Position.String()
}

// validate returns why no engine could tell whether the expectation holds.
func (e *Expectation) validate() error {
	switch e.Kind {
	case ExpectNoAnswer, ExpectUnseen:
		return nil
	case ExpectNew, ExpectSequence, ExpectHead, ExpectLease, ExpectStated:
		if e.Resource.ID == "" || e.Resource.Object == abi.ObjectDelivery {
			return fmt.Errorf("nobody can tell of what %s %q is", e.Resource.Object, e.Resource.ID)
		}
		return nil
	}
	return fmt.Errorf("its kind %d is not known", e.Kind)
}
