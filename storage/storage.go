package storage

import (
	"context"
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/wharf-dev/wharf/abi"
)

// Tenant is the number that a tenant's keys start with.
type Tenant uint32

// SystemTenant holds tenants and API keys. No caller is ever bound to it.
const SystemTenant Tenant = 0

// Position is an event's place in the node's log: gapless, from 1. 0 means
// "before the first event".
type Position uint64

// String returns p as the decimal string that is an Event's id.
func (p Position) String() string { return strconv.FormatUint(uint64(p), 10) }

// ParsePosition reads what [Position.String] wrote; ok is false for anything else.
func ParsePosition(s string) (p Position, ok bool) {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || strconv.FormatUint(n, 10) != s {
		return 0, false
	}
	return Position(n), true
}

// Errors that callers decide on.
var (
	// ErrFailed is wrapped by every error after a write or sync has failed. Only
	// opening the store again, which reads back what is really on disk, clears it.
	ErrFailed = errors.New("storage has failed and refuses further work")
	// ErrNotStored is wrapped when the disk has refused a value for [Blobs]. It may take
	// the next one: the store has not failed.
	ErrNotStored = errors.New("the disk has refused to take a value")
	// ErrClosed is returned after Close.
	ErrClosed = errors.New("storage is closed")
	// ErrNotFound is returned for a resource, event or blob that is not there.
	ErrNotFound = errors.New("not found")
	// ErrCursorExpired is returned for a position below the retention floor.
	ErrCursorExpired = errors.New("cursor lies before what retention has kept")
	// ErrDamaged is returned for something in the log that is not what was written, and for a
	// value whose blob is lost or changed. Other values can be read.
	ErrDamaged = errors.New("what is stored is damaged")
	// ErrTooLarge is returned for a frame with more in it than the log takes at once.
	ErrTooLarge = errors.New("too large for one frame")
	// ErrBlobMismatch is returned when a blob's bytes do not have the hash stated.
	ErrBlobMismatch = errors.New("content does not have the stated SHA-256")
)

// ContentError says that content is not on disk as it was written.
type ContentError struct {
	File    string // the path
	Reason  string // what is wrong with it, as "is missing"
	Missing bool   // it is not there: the error is ErrNotFound, too
}

// Is reports whether target is ErrNotFound and the file is missing.
func (e *ContentError) Is(target error) bool { return e.Missing && target == ErrNotFound }

// Error implements the error interface.
func (e *ContentError) Error() string { return e.File + " " + e.Reason }

// Frame is what one writer appends at once. Its events have contiguous positions
// from First on and share tenant, time and owners. Empty ids mean "none".
type Frame struct {
	Tenant      Tenant
	First       Position // 0 until committed
	Time        time.Time
	WorkspaceID string
	SessionID   string
	TaskID      string
	Actor       string
	Records     []Record
}

// Last returns the position of the frame's last event that a scope shows, 0 when it
// shows none. The frame must be committed, and belong to the scope.
func (f *Frame) Last(s Scope) Position {
	for i := len(f.Records) - 1; i >= 0; i-- {
		if s.Shows(&f.Records[i]) {
			return f.First + Position(i)
		}
	}
	return 0
}

// Record is one event of a [Frame].
type Record struct {
	Kind     abi.EventKind
	Resource abi.ResourcePointer
	Sequence uint64 // counts from 0 within Resource, and never falls
	// Hint marks telemetry: the replay cursor skips it.
	Hint bool
	// Restricted is set when State or Payload holds content that is not public, so
	// that a reader knows that it has something to withhold.
	Restricted bool
	// Created is set on the record that brings Resource into being. Its State is
	// kept as the resource's origin.
	Created bool
	// State is Resource as JSON after this event; nil when the event does not state it.
	State []byte
	// Payload is a JSON object with what the event says besides State; nil for {}.
	Payload []byte
	// IdempotencyKey is the client's key, when the write carried one.
	IdempotencyKey string
	// Transcript says what the event does to its Session's transcript.
	Transcript TranscriptOp
	// Intake says what the event does to the deliveries of a Connector. A record has
	// at most one of Transcript and Intake.
	Intake IntakeOp
	// Erase has the event remove its Resource and all that belongs to it; nil for none. A record
	// that erases has neither of the others.
	Erase *Erasure
}

// TranscriptKind discriminates a [TranscriptOp].
type TranscriptKind uint8

// The transcript operations.
const (
	// TranscriptNone leaves the transcript as it is.
	TranscriptNone TranscriptKind = iota
	// TranscriptAppend adds the record's Resource, a Message, to the transcript of
	// the frame's Session.
	TranscriptAppend
	// TranscriptTruncate drops, from the transcript of the frame's Session, every
	// Message at or after position At.
	TranscriptTruncate
	// TranscriptCopy gives the frame's Session, which is new, the Messages of
	// Session From up to and including position At.
	TranscriptCopy
)

// TranscriptOp is a change of a transcript. Transcripts hold Messages in the
// order of the positions of the events that appended them.
type TranscriptOp struct {
	Kind TranscriptKind
	At   Position // TranscriptTruncate, TranscriptCopy
	From string   // TranscriptCopy: the Session to copy from
}

// IntakeKind discriminates an [IntakeOp].
type IntakeKind uint8

// The operations on what Connectors have received.
const (
	// IntakeNone leaves it as it is.
	IntakeNone IntakeKind = iota
	// IntakeReceive takes a delivery: from here on its key counts as seen, and the event is
	// pending until it is settled.
	IntakeReceive
	// IntakePend makes the event pending, and marks no key as seen: what was put aside is to be
	// handled again.
	IntakePend
	// IntakeSettle makes the event at position At no longer pending.
	IntakeSettle
	// IntakeDrop leaves no event of the Connector pending, and forgets its tally.
	IntakeDrop
	// IntakeTally keeps a tally, and does nothing else.
	IntakeTally
)

// IntakeOp is a change of what a Connector has received, or of what a Webhook is to be sent.
type IntakeOp struct {
	Kind      IntakeKind
	Connector string      // the Connector's id, or the Webhook's; never empty
	Delivery  DeliveryKey // IntakeReceive
	At        Position    // IntakeSettle
	// Tally is what the Connector has counted so far, as its owner writes it. IntakeSettle and
	// IntakeTally have one.
	Tally string
}

// DeliveryKey identifies a delivery: a hash of its Connector and the provider's id
// for it.
type DeliveryKey [16]byte

// Batch is one atomic append: a frame and, if the write carried an idempotency
// key, the record that answers its retries.
type Batch struct {
	Frame       Frame
	Idempotency *Idempotency
	// Expect is what must hold when the batch takes effect. If any of it does not, the batch
	// leaves nothing, not even a position, and [Commit.Wait] returns a [*ConflictError].
	Expect []Expectation
}

// Key identifies an idempotency record: a hash of its scope and the client's key.
type Key [32]byte

// Idempotency is the record that answers retries of a write.
type Idempotency struct {
	Key Key
	// ClientKey is what the client sent. It is not kept in the record: the event
	// carries it.
	ClientKey string
	Body      [32]byte // hash of the canonical request body
	Expires   time.Time
	Status    int // HTTP status of the first response
	// Answer is the first response's body. When it is nil, the answer is the State
	// of the batch's record number Record.
	Answer []byte
	Record int
	// Position is that record's position. It is set on reading.
	Position Position
}

// Commit is a batch on its way to the disk.
type Commit interface {
	// Wait blocks until the batch is durable and returns the position of its first
	// event. It returns early, without knowing the outcome, only when ctx ends; an outcome that
	// is known is returned whatever ctx is. It may be called with any context, any number of
	// times, by any number of goroutines, or never: all calls return the same.
	Wait(ctx context.Context) (Position, error)
}

// Resource is a projection: the last stated form of a resource.
type Resource struct {
	ID         string
	State      []byte // JSON; the caller must not change it
	Restricted bool
	Position   Position // of the event that stated it
	Origin     Position // of the event that brought it into being
	// Sequence is that of the event that stated it. Events that do not state the
	// resource may have followed.
	Sequence uint64
	// Err is set in a list, instead of everything but the id, when the resource cannot be read.
	// It is ErrDamaged.
	Err error
}

// Scope selects events and resources: all of a tenant, or those of one
// Workspace, Session or Task.
type Scope struct {
	Object abi.Object // "", abi.ObjectWorkspace, abi.ObjectSession or abi.ObjectTask
	ID     string
}

// Shows reports whether a record of a frame that belongs to the scope is one of its events. A
// Quota is stated in the frame of the Task that used it up, and a batch of receipts in the
// frame of the Task that filled it, so that both become durable at once. But they are not
// events of that Task and its Session. Nor are the making and the end of a Session, which may be
// stated with those of a Task, events of the Task.
func (s Scope) Shows(r *Record) bool {
	switch r.Resource.Object {
	case abi.ObjectQuota, abi.ObjectReceiptBatch:
		return s.Object != abi.ObjectTask && s.Object != abi.ObjectSession
	case abi.ObjectSession, abi.ObjectReference:
		return s.Object != abi.ObjectTask
	}
	return true
}

// Event is one event as it is read back. It is shared between readers: no field
// may be changed. Frame.Records[Index] is the event itself.
type Event struct {
	Frame *Frame
	Index int
}

// Position returns the event's position.
func (e Event) Position() Position { return e.Frame.First + Position(e.Index) }

// Record returns the event's record.
func (e Event) Record() *Record { return &e.Frame.Records[e.Index] }

// Subscription reads a stream of events, first from the log and then as they become durable,
// with no gap and no duplicate. It is used by one goroutine.
type Subscription interface {
	// Next returns the events after the last ones returned, at least one, blocking
	// until there are any. It returns ErrCursorExpired when retention has overtaken
	// the reader and ctx's error when ctx ends. live is the position that was the
	// durable watermark when the subscription began: later events are live.
	Next(ctx context.Context) ([]Event, error)
	// Poll returns what Next would, but does not wait. When there is nothing yet it returns no
	// events, and wake is called once there may be events or an error, so that a reader with
	// nothing to do needs no goroutine. wake is called at most once for each such answer. It
	// holds up the writer, so it must neither block nor use the subscription. It is not called
	// any more once Close has returned.
	Poll(ctx context.Context, wake func()) ([]Event, error)
	// Start returns the durable watermark at the time of subscribing: events up to
	// it are history.
	Start() Position
	// Close ends the subscription.
	Close()
}

// Page asks for part of a list. After is the id or position (as decimal string)
// of the last entry seen, "" for the beginning. Limit is at least 1.
type Page struct {
	After string
	Limit int
	// Newest lists a transcript from its end: the page then lies before After.
	Newest bool
	// Oldest lists resources from the oldest on: the page then lies after After.
	Oldest bool
	// Offset is how many entries are left out first, at most MaxOffset. In a transcript each costs
	// a step over its key.
	Offset int
	// Least and Below bound a list of resources by their ids, which sort by time: it has those
	// from Least on, and none from Below on. "" bounds nothing.
	Least, Below string
}

// MaxOffset is the largest [Page.Offset] that engines have to be quick at.
const MaxOffset = 10_000

// PageBytes is when a page is large enough, however few entries it has: it ends with the entry
// that reaches so many bytes, and has at least one.
const PageBytes = 4 << 20

// Store is an open data folder. All methods are safe for concurrent use.
type Store interface {
	// Append hands b to the committer. The store owns b from here on. Batches take effect in
	// the order in which Append is called; what a batch expects is checked when its turn comes.
	Append(b *Batch) Commit
	// Sync waits until every batch that was handed over before is durable. It returns
	// early, without knowing, only when ctx ends.
	Sync(ctx context.Context) error

	// Get returns a resource, or ErrNotFound.
	Get(ctx context.Context, t Tenant, o abi.Object, id string) (Resource, error)
	// GetAll returns several resources in the order of their ids, or those before the first that
	// cannot be read, and why. What is stated in one frame costs one reading of it.
	GetAll(ctx context.Context, t Tenant, o abi.Object, ids []string) ([]Resource, error)
	// Sequence returns the highest sequence that any event of the resource has, and
	// false if it has no event. Deliveries have none: there are many, with an event each.
	Sequence(ctx context.Context, t Tenant, r abi.ResourcePointer) (uint64, bool, error)
	// List returns resources of one kind, newest first unless Page.Oldest is set, and whether
	// there are more: the page may end at PageBytes. The cost is that of the page, wherever it lies.
	// A Scope that the kind is not listed by ([ListedBy]) yields a [*ScopeError].
	List(ctx context.Context, t Tenant, o abi.Object, s Scope, p Page) ([]Resource, bool, error)
	// Count returns how many entries a list of resources has within the bounds of a page, up to
	// its Limit, and whether there are more. The cost does not grow with the list, but for the
	// Messages of a Session, which are those of its transcript: each costs a step over its key.
	Count(ctx context.Context, t Tenant, o abi.Object, s Scope, p Page) (n int, more bool, err error)
	// Transcript returns a Session's Messages, oldest first unless Page.Newest is set, and
	// whether there are more: the page may end at PageBytes. Page.After is a position. The
	// cost is that of the page, wherever it lies.
	Transcript(ctx context.Context, t Tenant, session string, p Page) ([]Resource, bool, error)
	// Turn returns the position of a Session's Message number n, from 0, and false
	// when the transcript has no more than n.
	Turn(ctx context.Context, t Tenant, session string, n int) (Position, bool, error)

	// Search returns Memories, newest first, and the id after which to go on, "" at
	// the end. One search looks at a bounded number of them: it may return fewer than it was
	// asked for, and still not be at the end. A damaged Memory says so in Err.
	Search(ctx context.Context, t Tenant, q Query) (found []Resource, next string, err error)

	// Event returns the event at p, or ErrNotFound (also when it is another
	// tenant's), or ErrCursorExpired. In a context of [Together] it is shared: nobody may change it.
	Event(ctx context.Context, t Tenant, p Position) (Event, error)
	// Events returns the events of s after a position, oldest first, and whether
	// there are more. ErrCursorExpired if after lies below the retention floor,
	// unless after is 0, which means the oldest that is kept.
	Events(ctx context.Context, t Tenant, s Scope, after Position, limit int) ([]Event, bool, error)
	// Last returns the position of the newest durable event of s, 0 if there is none.
	Last(ctx context.Context, t Tenant, s Scope) (Position, error)
	// Subscribe starts a subscription after the given position.
	Subscribe(t Tenant, s Scope, after Position) (Subscription, error)

	// Idempotency returns the live record of k, or ErrNotFound. now decides what
	// has expired.
	Idempotency(ctx context.Context, t Tenant, k Key, now time.Time) (*Idempotency, error)

	// Seen returns the position of the event that last received a delivery with key k
	// at or after since, and false if there is none. Times are
	// compared in whole seconds. Keys are kept for the days that the engine is opened with.
	Seen(ctx context.Context, t Tenant, k DeliveryKey, since time.Time) (Position, bool, error)
	// Pending returns the pending events of a Connector after a position, oldest first,
	// and whether there are more.
	Pending(ctx context.Context, t Tenant, connector string, after Position, limit int) ([]Event, bool, error)
	// Backlogs calls f with every Connector that has pending events or a tally: how many,
	// and the last tally. It costs a step for each event.
	Backlogs(ctx context.Context, f func(t Tenant, connector string, pending int, tally []byte) error) error

	// Active calls f with every Task that is not terminal, oldest first within a tenant.
	Active(ctx context.Context, f func(t Tenant, taskID string) error) error

	// Watermark returns the position up to which everything is durable.
	Watermark() Position
	// Failed returns the error that stopped the store, or nil.
	Failed() error

	// Blobs returns the store of large values.
	Blobs() Blobs

	// Close flushes and closes. Batches handed over before are committed.
	Close() error
}

// Hash is the name of a blob.
type Hash = abi.Hash

// Blobs keeps large values by their SHA-256. Values are streamed, never held
// whole in memory. A blob is durable when Put returns.
type Blobs interface {
	// Put stores what r yields and returns its hash and size. If r fails, nothing is
	// kept. want, if not nil, is the hash that the content must have.
	Put(ctx context.Context, r io.Reader, want *Hash) (Hash, int64, error)
	// Open returns the content, or a [*ContentError] that is ErrNotFound.
	Open(ctx context.Context, h Hash) (Blob, error)
	// Keep reports whether a blob is there, and keeps it from being swept for a while, as Put
	// does. Who refers to a blob that was stored earlier has to keep it before.
	Keep(h Hash) bool
}

// Blob is an open value. It never gives out bytes that were never stored: what is read from the
// beginning is hashed on the way, and what is read elsewhere lies in content that was hashed as
// a whole before. Damage is a [*ContentError].
type Blob interface {
	// Read never returns the last bytes of damaged content, so that its reader meets an error
	// instead of the end.
	io.Reader
	io.Seeker
	io.ReaderAt
	io.Closer
	// Size returns how many bytes the file has. The caller has to compare it with what the
	// content should have.
	Size() int64
	// Verify returns a [*ContentError] unless the content has its hash. It reads all of it,
	// unless the file was found whole before and has not changed since.
	Verify(ctx context.Context) error
}
