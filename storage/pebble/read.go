package pebble

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// Event implements [storage.Store].
func (s *Store) Event(ctx context.Context, t storage.Tenant, p storage.Position) (storage.Event, error) {
	release, err := s.use()
	if err != nil {
		return storage.Event{}, err
	}
	defer release()
	if p == 0 || p > storage.Position(s.applied.Load()) {
		return storage.Event{}, storage.ErrNotFound
	}
	if err := s.mark.wait(ctx, p, &s.fail); err != nil {
		return storage.Event{}, err
	}
	if p <= storage.Position(s.floor.Load()) {
		return storage.Event{}, storage.ErrCursorExpired
	}
	if f := framesOf(ctx).with(t, p); f != nil {
		return storage.Event{Frame: f, Index: int(p - f.First)}, nil
	}
	return s.eventAt(ctx, t, p)
}

// eventAt finds the frame that p lies in.
func (s *Store) eventAt(ctx context.Context, t storage.Tenant, p storage.Position) (storage.Event, error) {
	it, err := s.iterate(frameKey(nil, t, 0), frameKey(nil, t, p+1))
	if err != nil {
		return storage.Event{}, err
	}
	if !it.Last() {
		if err := ended(it, nil); err != nil { // it is not known to be missing
			return storage.Event{}, err
		}
		return storage.Event{}, s.expiredOr(p, storage.ErrNotFound)
	}
	ev, err := s.decodeEvent(ctx, t, it, p)
	return ev, ended(it, err)
}

// decodeEvent returns the event at p, whose frame is where it stands.
func (s *Store) decodeEvent(ctx context.Context, t storage.Tenant, it *pebble.Iterator, p storage.Position) (storage.Event, error) {
	f, refs, err := decodeFrame(t, lastPosition(it.Key()), it.Value())
	if err != nil {
		return storage.Event{}, err
	}
	if p > lastOf(f) {
		return storage.Event{}, storage.ErrNotFound
	}
	if err := s.resolve(ctx, f, refs); err != nil {
		return storage.Event{}, err
	}
	framesOf(ctx).keep(framed{tenant: t, frame: f}, frameBytes(f))
	return storage.Event{Frame: f, Index: int(p - f.First)}, nil
}

// expiredOr returns ErrCursorExpired if retention has removed p by now, else err.
func (s *Store) expiredOr(p storage.Position, err error) error {
	if p <= storage.Position(s.floor.Load()) {
		return storage.ErrCursorExpired
	}
	return err
}

func (s *Store) iterate(lower, upper []byte) (*pebble.Iterator, error) {
	return s.db.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
}

// Events implements [storage.Store]. A page ends early, with more to come, when it
// holds many bytes.
func (s *Store) Events(ctx context.Context, t storage.Tenant, scope storage.Scope, after storage.Position, limit int) ([]storage.Event, bool, error) {
	return s.eventsUpTo(ctx, t, scope, after, s.mark.position(), limit, storage.PageBytes)
}

// eventsUpTo returns the events of a scope after one position and up to another,
// which is durable.
func (s *Store) eventsUpTo(ctx context.Context, t storage.Tenant, scope storage.Scope, after, upTo storage.Position, limit, most int) ([]storage.Event, bool, error) {
	space, err := scopeSpace(scope)
	if err != nil {
		return nil, false, err
	}
	release, err := s.use()
	if err != nil {
		return nil, false, err
	}
	defer release()
	floor := storage.Position(s.floor.Load())
	if after != 0 && after < floor {
		return nil, false, storage.ErrCursorExpired
	}
	if after >= upTo {
		return nil, false, nil
	}
	p := &page{store: s, tenant: t, scope: scope, after: max(after, floor), limit: limit, most: most}
	if space == spaceWorkspace {
		err = p.readWorkspace(ctx, scope.ID, upTo)
		return p.events, p.more, err
	}
	prefix := appendPrefix(nil, t, space)
	if space != spaceFrame {
		prefix = scopePrefix(nil, t, space, scope.ID)
	}
	err = p.read(ctx, prefix, upTo)
	return p.events, p.more, err
}

// page collects events from an index or from the frames themselves.
type page struct {
	store  *Store
	tenant storage.Tenant
	scope  storage.Scope
	after  storage.Position
	limit  int
	most   int // how many bytes
	bytes  int
	events []storage.Event
	more   bool
}

// read walks over the frames whose keys start with prefix. The frame that begins
// at or before the first event asked for may reach beyond it.
func (p *page) read(ctx context.Context, prefix []byte, upTo storage.Position) error {
	n := len(prefix)
	it, err := p.store.iterate(prefix, appendPosition(prefix[:n:n], upTo+1))
	if err != nil {
		return err
	}
	ok := it.SeekLT(appendPosition(prefix[:n:n], p.after+2))
	if !ok {
		ok = it.First()
	}
	for ; ok && !p.more && err == nil; ok = it.Next() {
		err = p.add(ctx, it)
	}
	return ended(it, err)
}

// add takes what is wanted of the frame at which the iterator stands.
func (p *page) add(ctx context.Context, it *pebble.Iterator) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f, refs, err := p.frame(it)
	if errors.Is(err, errErased) { // since the iterator was made
		return nil
	}
	if err != nil || f == nil {
		return err
	}
	return p.take(ctx, f, refs)
}

// take adds the events of f that are wanted.
func (p *page) take(ctx context.Context, f *storage.Frame, refs outline) error {
	if f.Last(p.scope) <= p.after {
		return nil
	}
	if p.more = p.full(); p.more {
		return nil
	}
	for i := range f.Records {
		if f.First+storage.Position(i) <= p.after || !p.scope.Shows(&f.Records[i]) {
			continue
		}
		if p.more = p.full(); p.more {
			return nil
		}
		if err := p.store.resolveOne(ctx, f, refs, i); err != nil {
			return err
		}
		p.bytes += commitOverhead + len(f.Records[i].State) + len(f.Records[i].Payload)
		p.events = append(p.events, storage.Event{Frame: f, Index: i})
	}
	return nil
}

func (p *page) full() bool { return len(p.events) >= p.limit || p.bytes >= p.most }

// frame decodes the frame that the iterator's key names: its value when it walks
// over the frames, else the one that the index points to. An index key that ends
// before what is wanted yields nothing.
func (p *page) frame(it *pebble.Iterator) (*storage.Frame, outline, error) {
	first := lastPosition(it.Key())
	if it.Key()[prefixLen-1] == spaceFrame {
		return decodeFrame(p.tenant, first, it.Value())
	}
	if n, _, _ := cutUvarint(it.Value()); first+storage.Position(n) <= p.after+1 {
		return nil, nil, nil
	}
	return p.store.frame(p.tenant, first)
}

// frame returns the frame that begins at first. Its values are not resolved.
func (s *Store) frame(t storage.Tenant, first storage.Position) (*storage.Frame, outline, error) {
	value, err := s.frameText(t, first)
	if err != nil {
		return nil, nil, err
	}
	return decodeFrame(t, first, value)
}

func (s *Store) frameText(t storage.Tenant, first storage.Position) ([]byte, error) {
	value, ok, err := lookup(s.db, frameKey(nil, t, first))
	if err != nil {
		return nil, fmt.Errorf("reading the log at %s: %w", first, err)
	}
	if !ok {
		return nil, s.whyMissing(t, first)
	}
	return value, nil
}

// errErased is returned for a frame that was erased.
var errErased = fmt.Errorf("it was erased: %w", storage.ErrNotFound)

// whyMissing says why the frame that began at first is not there.
func (s *Store) whyMissing(t storage.Tenant, first storage.Position) error {
	if _, gap, err := gapAt(s.db, first); err != nil || gap {
		return errors.Join(err, errErased)
	}
	return s.expiredOr(first, &CorruptError{Tenant: t, Position: first, Reason: "the frame is missing"})
}

// resolve reads the values of f that are blobs.
func (s *Store) resolve(ctx context.Context, f *storage.Frame, refs outline) error {
	for i := range refs {
		if err := s.resolveOne(ctx, f, refs, i); err != nil {
			return err
		}
	}
	return nil
}

// resolveOne reads the values of one record of f that are blobs.
func (s *Store) resolveOne(ctx context.Context, f *storage.Frame, refs outline, i int) (err error) {
	if len(refs) == 0 {
		return nil
	}
	r := &f.Records[i]
	if r.State, err = s.blobs.resolve(ctx, r.State, refs[i].state); err != nil {
		return err
	}
	r.Payload, err = s.blobs.resolve(ctx, r.Payload, refs[i].payload)
	return err
}

// Last implements [storage.Store].
func (s *Store) Last(ctx context.Context, t storage.Tenant, scope storage.Scope) (storage.Position, error) {
	space, err := scopeSpace(scope)
	if err != nil {
		return 0, err
	}
	release, err := s.use()
	if err != nil {
		return 0, err
	}
	defer release()
	switch space {
	case spaceFrame:
		return s.lastOfTenant(t)
	case spaceWorkspace:
		return s.lastOfWorkspace(ctx, t, scope.ID)
	}
	return s.lastOfScope(ctx, t, space, scope)
}

func (s *Store) lastOfTenant(t storage.Tenant) (storage.Position, error) {
	it, err := s.iterate(frameKey(nil, t, 0), frameKey(nil, t, s.mark.position()+1))
	if err != nil || !it.Last() {
		return 0, errors.Join(err, closeIter(it))
	}
	f, _, err := decodeFrame(t, lastPosition(it.Key()), it.Value())
	if err = ended(it, err); err != nil {
		return 0, err
	}
	return lastOf(f), nil
}

func (s *Store) lastOfScope(ctx context.Context, t storage.Tenant, space byte, scope storage.Scope) (storage.Position, error) {
	prefix := scopePrefix(nil, t, space, scope.ID)
	n := len(prefix)
	it, err := s.iterate(prefix, appendPosition(prefix[:n:n], s.mark.position()+1))
	if err != nil {
		return 0, err
	}
	last := storage.Position(0)
	for ok := it.Last(); ok && last == 0 && err == nil; ok = it.Prev() {
		var f *storage.Frame
		if f, _, err = framesOf(ctx).at(s, t, lastPosition(it.Key())); err == nil {
			last = f.Last(scope)
		}
		if errors.Is(err, storage.ErrCursorExpired) || errors.Is(err, errErased) { // it was just removed
			err = nil
		}
	}
	return last, ended(it, err)
}

func closeIter(it *pebble.Iterator) error {
	if it == nil {
		return nil
	}
	return ended(it, nil)
}

// Get implements [storage.Store].
func (s *Store) Get(ctx context.Context, t storage.Tenant, o abi.Object, id string) (storage.Resource, error) {
	release, err := s.use()
	if err != nil {
		return storage.Resource{}, err
	}
	defer release()
	return s.resource(ctx, t, abi.ResourcePointer{Object: o, ID: id})
}

// GetAll implements [storage.Store].
func (s *Store) GetAll(ctx context.Context, t storage.Tenant, o abi.Object, ids []string) ([]storage.Resource, error) {
	release, err := s.use()
	if err != nil {
		return nil, err
	}
	defer release()
	ctx = storage.Together(ctx)
	all := make([]storage.Resource, 0, len(ids))
	for _, id := range ids {
		res, err := s.resource(ctx, t, abi.ResourcePointer{Object: o, ID: id})
		if err != nil {
			return all, err
		}
		all = append(all, res)
	}
	return all, nil
}

// resource reads a resource. When retention or an erasure turns its pointer into a value between
// reading the pointer and reading the frame, it reads again; more than once only if
// the resource was also stated anew in between.
func (s *Store) resource(ctx context.Context, t storage.Tenant, r abi.ResourcePointer) (storage.Resource, error) {
	for range 8 {
		res, err := s.resourceOnce(ctx, t, r)
		if !errors.Is(err, storage.ErrCursorExpired) && !errors.Is(err, errErased) {
			return res, err
		}
	}
	return storage.Resource{}, &CorruptError{Tenant: t, Reason: r.ID + " points to a frame that was removed"}
}

func (s *Store) resourceOnce(ctx context.Context, t storage.Tenant, r abi.ResourcePointer) (storage.Resource, error) {
	p, origin, stated, err := s.pointers(t, r)
	if err != nil {
		return storage.Resource{}, err
	}
	if !stated {
		return storage.Resource{}, storage.ErrNotFound
	}
	// The pointers of a reopened log lie below the watermark, so this waits only for
	// commits of this process.
	if err := s.mark.wait(ctx, max(p.position(), origin.position()), &s.fail); err != nil {
		return storage.Resource{}, err
	}
	return s.follow(ctx, t, r.ID, p, origin)
}

// pointers returns where a resource is stated last, and where it was brought into being.
func (s *Store) pointers(t storage.Tenant, r abi.ResourcePointer) (p, origin pointer, stated bool, err error) {
	// In this order a resource that is stated is also seen to be created.
	p, stated, err = s.pointer(t, r, suffixLatest)
	if err != nil {
		return p, origin, false, err
	}
	origin, created, err := s.pointer(t, r, suffixOrigin)
	if !stated {
		p = origin
	}
	return p, origin, stated || created, err
}

func (s *Store) pointer(t storage.Tenant, r abi.ResourcePointer, suffix byte) (pointer, bool, error) {
	key := resourceKey(nil, t, r, suffix)
	value, ok, err := lookup(s.db, key)
	if err != nil || !ok {
		return pointer{}, false, err
	}
	p, err := decodePointer(value)
	if err != nil {
		return p, false, &CorruptError{Tenant: t, Key: key, Reason: err.Error()}
	}
	return p, true, nil
}

// follow returns the resource that p states.
func (s *Store) follow(ctx context.Context, t storage.Tenant, id string, p, origin pointer) (storage.Resource, error) {
	res := storage.Resource{ID: id, Restricted: p.restricted, Position: p.position(),
		Origin: origin.position(), Sequence: p.sequence}
	state, ref := p.inline, p.blob
	if !p.moved() {
		f, refs, err := framesOf(ctx).at(s, t, p.first)
		if err != nil {
			return storage.Resource{}, err
		}
		if p.index >= uint64(len(f.Records)) || f.Records[p.index].Resource.ID != id {
			return storage.Resource{}, &CorruptError{Tenant: t, Position: p.first, Reason: "it does not state " + id}
		}
		state, ref = f.Records[p.index].State, refs.state(int(p.index))
	}
	var err error
	res.State, err = s.blobs.resolve(ctx, state, ref)
	return res, err
}

// Sequence implements [storage.Store].
func (s *Store) Sequence(ctx context.Context, t storage.Tenant, r abi.ResourcePointer) (uint64, bool, error) {
	release, err := s.use()
	if err != nil {
		return 0, false, err
	}
	defer release()
	latest, origin, stated, err := s.pointers(t, r)
	if err != nil {
		return 0, false, err
	}
	unstated, seen, err := s.noted(t, r)
	if err != nil {
		return 0, false, err
	}
	newest := max(origin.position(), latest.position(), unstated.position)
	if err := s.mark.wait(ctx, newest, &s.fail); err != nil {
		return 0, false, err
	}
	return max(origin.sequence, latest.sequence, unstated.sequence), stated || seen, nil
}

func (s *Store) noted(t storage.Tenant, r abi.ResourcePointer) (noted, bool, error) {
	key := sequenceKey(nil, t, r)
	value, ok, err := lookup(s.db, key)
	if err != nil || !ok {
		return noted{}, false, err
	}
	n, err := decodeNoted(value)
	if err != nil {
		return n, false, &CorruptError{Tenant: t, Key: key, Reason: err.Error()}
	}
	return n, true, nil
}

// Idempotency implements [storage.Store].
func (s *Store) Idempotency(ctx context.Context, t storage.Tenant, k storage.Key, now time.Time) (*storage.Idempotency, error) {
	release, err := s.use()
	if err != nil {
		return nil, err
	}
	defer release()
	i, answer, err := s.answer(t, k, now)
	if err != nil {
		return nil, err
	}
	if i == nil {
		return nil, storage.ErrNotFound
	}
	if err := s.mark.wait(ctx, i.Position, &s.fail); err != nil {
		return nil, err
	}
	i.Answer, err = s.blobs.resolve(ctx, i.Answer, answer)
	return i, err
}

// answer returns the live record of k, nil if there is none. Its answer may be a blob.
func (s *Store) answer(t storage.Tenant, k storage.Key, now time.Time) (*storage.Idempotency, *blobRef, error) {
	// A record lies under the day on which it expires. Most are young.
	for day := s.lastDay.Load(); day >= dayOf(now) && day > 0; day-- {
		if !s.keys.may(t, day, k) {
			continue
		}
		value, ok, err := lookup(s.db, idempotencyKey(nil, t, day, k))
		if err != nil {
			return nil, nil, err
		}
		if !ok {
			continue
		}
		i, answer, err := decodeIdempotency(k, value)
		if err != nil {
			return nil, nil, &CorruptError{Tenant: t, Reason: "idempotency record: " + err.Error()}
		}
		if !now.Before(i.Expires) {
			return nil, nil, nil
		}
		return i, answer, nil
	}
	return nil, nil, nil
}
