package storage

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"github.com/wharf-dev/wharf/abi"
)

// Erasure has a record remove all that belongs to its Resource, which is a Task, a Session or an
// Artifact: its events, its projections, and those of what goes with it ([GoesWith]). What the
// events have stated of anything else stays, as after [Retainer.Retain]. The positions of the
// events are not given again. An Artifact that its Task's record tells of stays with it: to
// erase it alone is refused with ErrInUse.
//
// A frame with an erasure has the Workspace of what is erased, and neither a Session nor a Task:
// it is to outlive both.
type Erasure struct {
	// Session is the Session of a Task or an Artifact, Task the Task of an Artifact: they are in
	// the lists of these. "" for none.
	Session, Task string
	// Source is what the resource was made from ([UseOf]), if it was.
	Source abi.ResourcePointer
}

// MaxErased is how many frames one batch may erase. [Eraser.Strip] makes fewer of more.
const MaxErased = 256

// ErrInUse is returned when a batch erases what something else is made from, or what is pending.
var ErrInUse = errors.New("something else needs what is to be erased")

// ErrPreparing is returned by an engine that does not know yet what refers to what.
var ErrPreparing = errors.New("what refers to what is still being found out")

// Eraser is an engine that erases what is deleted. It takes batches with an [Erasure].
type Eraser interface {
	// Strip removes events of a resource that is to be erased, the oldest first, and reports
	// whether there are more than one batch may erase. Who reads it meanwhile misses them.
	Strip(ctx context.Context, t Tenant, r abi.ResourcePointer) (more bool, err error)
	// Deleted calls f with every resource that is to be erased ([Deletes]), and where that was said.
	Deleted(ctx context.Context, f func(t Tenant, r abi.ResourcePointer, at Position) error) error
	// Users returns what was made from a resource and is not erased, at most limit.
	Users(ctx context.Context, t Tenant, r abi.ResourcePointer, limit int) ([]abi.ResourcePointer, error)
	// Sweep removes blobs that nothing refers to, and that no writer has just stored or kept
	// ([Blobs.Keep]): those of what was erased, and those of one part of all. A part below 0 is
	// none; it takes as many calls as SweepParts to look at all.
	Sweep(ctx context.Context, part int) (Swept, error)
	// Reclaim has the files give back what was erased so far. It costs as much as what
	// lies between the oldest and the newest of it.
	Reclaim(ctx context.Context) error
	// Erased counts what was erased since the store was opened.
	Erased() Swept
}

// SweepParts is how many parts blobs have for [Eraser.Sweep].
const SweepParts = 256

// Swept counts what was removed.
type Swept struct {
	Events, EventBytes uint64
	Blobs, BlobBytes   uint64
	Waiting            uint64 // bytes of blobs that go once they are not of just now
}

// Deletes reports whether a record says that its resource is to be erased. It is remembered until it is
// ([Eraser.Deleted]).
func Deletes(r *Record) bool {
	return r.Kind == abi.EventTaskDeleted || r.Kind == abi.EventArtifactDeleted || r.Kind == abi.EventHistoryDeleted
}

// GoesWith reports whether a resource that the events of another one state goes when that is
// erased. Messages and values belong to Sessions, not to the Tasks that wrote them; a
// Receipt outlives what it attests; Memories and Quotas are of nobody.
func GoesWith(erased abi.Object, o abi.Object) bool {
	switch o {
	case abi.ObjectTask, abi.ObjectOutcome, abi.ObjectArtifact, abi.ObjectPermissionRequest, abi.ObjectPlan, abi.ObjectWorker:
		return erased == abi.ObjectTask || erased == abi.ObjectSession
	case abi.ObjectSession, abi.ObjectMessage, abi.ObjectState, abi.ObjectBranch, abi.ObjectInbox, abi.ObjectInjection, abi.ObjectLiveSession:
		return erased == abi.ObjectSession
	}
	return false
}

// OwnFrame reports whether a frame tells of a resource and of nothing else.
func OwnFrame(f *Frame, r abi.ResourcePointer) bool {
	return !slices.ContainsFunc(f.Records, func(rec Record) bool { return rec.Resource != r })
}

// NamedAfter returns what has the id of a resource with another prefix, and goes with it.
func NamedAfter(r abi.ResourcePointer) (all []abi.ResourcePointer) {
	var objects []abi.Object
	switch r.Object {
	case abi.ObjectTask:
		objects = []abi.Object{abi.ObjectPlan}
	case abi.ObjectSession:
		objects = []abi.Object{abi.ObjectInbox, abi.ObjectLiveSession}
	}
	for _, o := range objects {
		all = append(all, abi.ResourcePointer{Object: o, ID: abi.IDPrefix(o) + strings.TrimPrefix(r.ID, abi.IDPrefix(r.Object))})
	}
	return all
}

// KeptBy returns by whom the resources of an object are found, for an erasure alone, once the events
// that state them are gone: they are in no other list.
func KeptBy(o abi.Object) []abi.Object {
	switch o {
	case abi.ObjectMessage, abi.ObjectInjection:
		return []abi.Object{abi.ObjectSession}
	case abi.ObjectWorker:
		return []abi.Object{abi.ObjectTask, abi.ObjectSession}
	}
	return nil
}

// ListsOf returns what is listed by a Task or a Session, or kept by it.
func ListsOf(owner abi.Object) (all []abi.Object) {
	for _, o := range []abi.Object{abi.ObjectTask, abi.ObjectArtifact, abi.ObjectReceipt, abi.ObjectOutcome,
		abi.ObjectPermissionRequest, abi.ObjectBranch, abi.ObjectMemory, abi.ObjectMessage, abi.ObjectInjection, abi.ObjectWorker} {
		if slices.Contains(ListedBy(o), owner) || slices.Contains(KeptBy(o), owner) {
			all = append(all, o)
		}
	}
	return all
}

// sourceMember is what tells, in the state of a Task, what it was made from.
var sourceMember = []byte(`"source_task_id":"`)

// UseOf returns what a record makes its resource from: a Task that replays another one or is a fork of it, a
// Session that begins with what another one has. For others it returns nothing.
func UseOf(f *Frame, r *Record) (user, source abi.ResourcePointer, ok bool) {
	if r.Transcript.Kind == TranscriptCopy {
		return abi.ResourcePointer{Object: abi.ObjectSession, ID: f.SessionID}, abi.ResourcePointer{Object: abi.ObjectSession, ID: r.Transcript.From}, true
	}
	if !r.Created || r.Resource.Object != abi.ObjectTask {
		return user, source, false
	}
	at := bytes.Index(r.State, sourceMember)
	if at < 0 {
		return user, source, false
	}
	id := r.State[at+len(sourceMember):]
	end := bytes.IndexByte(id, '"')
	if end < 0 || !abi.ValidID(abi.ObjectTask, string(id[:end])) {
		return user, source, false
	}
	return r.Resource, abi.ResourcePointer{Object: abi.ObjectTask, ID: string(id[:end])}, true
}

// References returns the blobs that a record refers to by their hashes, besides those that hold
// its own State and Payload. A blob that no record refers to may be swept ([Eraser.Sweep]).
// Records of Tasks refer to what they run, to what calls asked and answered, and to the
// content of Artifacts, each in members of their own. In the few others, which tell of
// Personas, plugins, Skills and the like, every hash counts.
func References(f *Frame, r *Record) []Hash {
	switch {
	case referless(r.Resource.Object):
		return nil
	case r.Resource.Object == abi.ObjectArtifact:
		return hashes(nil, r.State)
	case r.Resource.Object == abi.ObjectTask:
		return taskReferences(r)
	}
	if f.TaskID != "" {
		return blobMembers(nil, r.Payload)
	}
	return hashes(hashes(nil, r.State), r.Payload)
}

// ReferencesOf returns the blobs that a resource refers to as it is stated.
func ReferencesOf(r abi.ResourcePointer, state []byte) []Hash {
	return References(&Frame{}, &Record{Resource: r, State: state})
}

func taskReferences(r *Record) (found []Hash) {
	if r.State != nil && bytes.Contains(r.State, sourceMember) {
		found = hashes(nil, r.State) // what a replay was asked for
	}
	return blobMembers(hashes(found, programOf(r.Payload)), r.Payload)
}

// programMember tells, in the payload of a Task's start, what it runs.
var programMember = []byte(`"program":{`)

func programOf(payload []byte) []byte {
	if at := bytes.Index(payload, programMember); at >= 0 {
		return payload[at:]
	}
	return nil
}

// blobMember ends the name of a member that names a blob, and begins its value.
var blobMember = []byte(`_blob":"sha256:`)

func blobMembers(found []Hash, text []byte) []Hash {
	for {
		at := bytes.Index(text, blobMember)
		if at < 0 {
			return found
		}
		text = text[at+len(blobMember):]
		if len(text) > hashDigits {
			found = hashes(found, text[:hashDigits+1])
		}
	}
}

// hashDigits is how many hexadecimal digits a hash has.
const hashDigits = 2 * len(Hash{})

// HashesIn returns every hash in a text, once: each row of just so many digits.
func HashesIn(text []byte) []Hash { return hashes(nil, text) }

// hashes adds every hash in a text to those found, once.
func hashes(found []Hash, text []byte) []Hash {
	run := 0
	for i := 0; i <= len(text); i++ {
		if i < len(text) && (text[i] >= '0' && text[i] <= '9' || text[i] >= 'a' && text[i] <= 'f') {
			run++
			continue
		}
		if run == hashDigits {
			var h Hash
			_, _ = hex.Decode(h[:], text[i-hashDigits:i]) // only digits are there
			if !slices.Contains(found, h) {
				found = append(found, h)
			}
		}
		run = 0
	}
	return found
}
