package memory

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// Store implements [storage.Store], [storage.Retainer], [storage.Eraser] and [storage.Sizer].
type Store struct {
	now func() time.Time

	mu      sync.Mutex
	closed  bool
	changed chan struct{} // closed, and made anew, when there is news for subscribers
	readers map[*subscription]bool
	kept    *kept
}

// kept is what outlives a Store.
type kept struct {
	frames  []*storage.Frame // in the order of the log
	last    storage.Position
	floor   storage.Position
	tenants map[storage.Tenant]*tenant
	blobs   map[storage.Hash][]byte
}

// tenant is all that follows from a tenant's events.
type tenant struct {
	resources   map[abi.ResourcePointer]*resource
	transcripts map[string][]entry
	active      map[string]storage.Position // where each Task began
	answers     map[storage.Key]*storage.Idempotency
	seen        map[storage.DeliveryKey]seen
	backlogs    map[string]*backlog
	memories    map[string]indexed
	deleted     map[abi.ResourcePointer]storage.Position
	users       map[abi.ResourcePointer]map[abi.ResourcePointer]bool // by what they were made from
}

// resource is what is known of a resource: its last form, whether there is any, and the
// lists that it is in.
type resource struct {
	storage.Resource
	stated   bool
	created  bool
	owners   []storage.Scope
	sequence uint64 // the highest of any event
	kept     []storage.Scope
}

type entry struct {
	position storage.Position
	message  string
}

type seen struct {
	position storage.Position
	at       time.Time
}

type backlog struct {
	pending []storage.Position // sorted
	tally   []byte
}

// indexed is a Memory as it is found by its words.
type indexed struct {
	owner string
	words []string
}

var (
	_ storage.Store    = (*Store)(nil)
	_ storage.Retainer = (*Store)(nil)
	_ storage.Eraser   = (*Store)(nil)
	_ storage.Sizer    = (*Store)(nil)
)

// New returns an empty Store. It gives frames without a time the time that now returns.
func New(now func() time.Time) *Store {
	return open(now, &kept{tenants: map[storage.Tenant]*tenant{}, blobs: map[storage.Hash][]byte{}})
}

func open(now func() time.Time, k *kept) *Store {
	return &Store{now: now, changed: make(chan struct{}), readers: map[*subscription]bool{}, kept: k}
}

// Reopen closes the Store, if it is open, and returns one that has all that it held.
func (s *Store) Reopen() *Store {
	_ = s.Close()
	return open(s.now, s.kept)
}

// Close implements [storage.Store].
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return storage.ErrClosed
	}
	s.closed = true
	s.notify()
	return nil
}

// Watermark implements [storage.Store].
func (s *Store) Watermark() storage.Position {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept.last
}

// Failed implements [storage.Store].
func (s *Store) Failed() error { return nil }

// Sync implements [storage.Store].
func (s *Store) Sync(context.Context) error { return nil }

// commit is a batch whose outcome is known.
type commit struct {
	first storage.Position
	err   error
}

// Wait implements [storage.Commit].
func (c commit) Wait(context.Context) (storage.Position, error) { return c.first, c.err }

// Append implements [storage.Store].
func (s *Store) Append(b *storage.Batch) storage.Commit {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return commit{err: storage.ErrClosed}
	}
	if err := b.Validate(); err != nil {
		return commit{err: fmt.Errorf("appending to the log: %w", err)}
	}
	if err := s.of(b.Frame.Tenant).check(b.Expect); err != nil {
		return commit{err: err}
	}
	if err := s.checkErasures(&b.Frame); err != nil {
		return commit{err: err}
	}
	f := &b.Frame
	if f.Time.IsZero() {
		f.Time = s.now()
	}
	f.Time, f.First = f.Time.Round(0).UTC(), s.kept.last+1
	s.kept.last += storage.Position(len(f.Records))
	s.kept.frames = append(s.kept.frames, f)
	for i := range f.Records {
		s.project(f, i)
	}
	if b.Idempotency != nil {
		i := *b.Idempotency
		i.ClientKey, i.Position = "", f.First+storage.Position(i.Record)
		s.of(f.Tenant).answers[i.Key] = &i
	}
	s.notify()
	return commit{first: f.First}
}

// of returns what a tenant has.
func (s *Store) of(t storage.Tenant) *tenant {
	if s.kept.tenants[t] == nil {
		s.kept.tenants[t] = &tenant{
			resources: map[abi.ResourcePointer]*resource{}, transcripts: map[string][]entry{},
			active: map[string]storage.Position{}, answers: map[storage.Key]*storage.Idempotency{},
			seen: map[storage.DeliveryKey]seen{}, backlogs: map[string]*backlog{}, memories: map[string]indexed{},
			deleted: map[abi.ResourcePointer]storage.Position{}, users: map[abi.ResourcePointer]map[abi.ResourcePointer]bool{},
		}
	}
	return s.kept.tenants[t]
}

// project adds what follows from a record.
func (s *Store) project(f *storage.Frame, i int) {
	r, at, t := &f.Records[i], f.First+storage.Position(i), s.of(f.Tenant)
	if r.Erase != nil {
		s.erase(f.Tenant, r.Resource, r.Erase.Source)
		return
	}
	if storage.Deletes(r) {
		t.deleted[r.Resource] = at
	}
	if user, source, ok := storage.UseOf(f, r); ok {
		if t.users[source] == nil {
			t.users[source] = map[abi.ResourcePointer]bool{}
		}
		t.users[source][user] = true
	}
	t.state(f, r, at)
	t.transcribe(f, r, at)
	t.takeIn(&r.Intake, at, f.Time)
	if r.Resource.Object == abi.ObjectTask {
		switch r.Kind {
		case abi.EventTaskSubmitted:
			t.active[r.Resource.ID] = f.First
		case abi.EventTaskCompleted, abi.EventTaskFailed, abi.EventTaskCanceled:
			delete(t.active, r.Resource.ID)
		}
	}
	if r.Resource.Object == abi.ObjectMemory {
		t.index(r)
	}
}

func (t *tenant) state(f *storage.Frame, r *storage.Record, at storage.Position) {
	if r.Resource == (abi.ResourcePointer{}) {
		return
	}
	res := t.resources[r.Resource]
	if res == nil {
		res = &resource{}
		t.resources[r.Resource] = res
	}
	res.sequence = max(res.sequence, r.Sequence)
	if r.State == nil {
		return
	}
	origin := res.Origin
	if storage.Unlists(r) {
		res.owners = nil
	}
	if r.Created {
		origin, res.created = at, true
		for _, o := range storage.ListedBy(r.Resource.Object) {
			if id := f.Owner(o); id != "" {
				res.owners = append(res.owners, storage.Scope{Object: o, ID: id})
			}
		}
	}
	res.stated = true
	for _, o := range storage.KeptBy(r.Resource.Object) {
		res.kept = append(res.kept, storage.Scope{Object: o, ID: f.Owner(o)})
	}
	res.Resource = storage.Resource{ID: r.Resource.ID, State: r.State, Restricted: r.Restricted,
		Position: at, Origin: origin, Sequence: r.Sequence}
}

func (t *tenant) transcribe(f *storage.Frame, r *storage.Record, at storage.Position) {
	all := t.transcripts
	switch op := r.Transcript; op.Kind {
	case storage.TranscriptAppend:
		all[f.SessionID] = append(all[f.SessionID], entry{at, r.Resource.ID})
	case storage.TranscriptTruncate:
		all[f.SessionID] = without(all[f.SessionID], func(e entry) bool { return e.position >= op.At })
	case storage.TranscriptCopy:
		all[f.SessionID] = without(all[op.From], func(e entry) bool { return e.position > op.At })
	}
}

// without returns a copy of a list that lacks some.
func without[T any](list []T, gone func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(list), gone)
}

func (t *tenant) takeIn(op *storage.IntakeOp, at storage.Position, now time.Time) {
	if op.Kind == storage.IntakeNone {
		return
	}
	b := t.backlogs[op.Connector]
	if b == nil {
		b = &backlog{}
		t.backlogs[op.Connector] = b
	}
	switch op.Kind {
	case storage.IntakeReceive:
		t.seen[op.Delivery] = seen{at, now}
		b.pending = append(b.pending, at)
	case storage.IntakePend:
		b.pending = append(b.pending, at)
	case storage.IntakeSettle:
		b.pending = without(b.pending, func(p storage.Position) bool { return p == op.At })
		b.tally = []byte(op.Tally)
	case storage.IntakeTally:
		b.tally = []byte(op.Tally)
	case storage.IntakeDrop:
		delete(t.backlogs, op.Connector)
	}
}

// index makes a Memory that comes to be one that is found, and one that is redacted one
// that is not.
func (t *tenant) index(r *storage.Record) {
	if r.Kind == abi.EventMemoryRedacted {
		delete(t.memories, r.Resource.ID)
		return
	}
	var m struct {
		OwnerID    string         `json:"owner_id"`
		Content    jsontext.Value `json:"content"`
		Visibility abi.Visibility `json:"visibility"`
		RedactedAt jsontext.Value `json:"redacted_at"`
	}
	if !r.Created || json.Unmarshal(r.State, &m) != nil || m.OwnerID == "" || m.RedactedAt != nil {
		return
	}
	found := indexed{owner: m.OwnerID}
	if m.Visibility != abi.VisibilityReceiptOnly {
		found.words = storage.Words(m.Content)
	}
	t.memories[r.Resource.ID] = found
}

// Retain implements [storage.Retainer].
func (s *Store) Retain(ctx context.Context, before time.Time) (removed int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, storage.ErrClosed
	}
	keep := s.kept.last + 1 // the first position that stays
	for _, f := range s.kept.frames {
		if !f.Time.Before(before) || s.needed(f) {
			keep = f.First
			break
		}
	}
	s.kept.frames = slices.DeleteFunc(s.kept.frames, func(f *storage.Frame) bool { return f.First < keep })
	old := s.kept.floor
	s.kept.floor = max(old, keep-1)
	return int(s.kept.floor - old), ctx.Err()
}

// needed reports whether a Task that is not terminal begins in a frame, or a delivery in
// it is pending.
func (s *Store) needed(f *storage.Frame) bool {
	t := s.of(f.Tenant)
	for _, first := range t.active {
		if first == f.First {
			return true
		}
	}
	for _, b := range t.backlogs {
		for _, p := range b.pending {
			if f.First <= p && p < f.First+storage.Position(len(f.Records)) {
				return true
			}
		}
	}
	return false
}
