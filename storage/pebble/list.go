package pebble

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// List implements [storage.Store].
func (s *Store) List(ctx context.Context, t storage.Tenant, o abi.Object, scope storage.Scope, p storage.Page) ([]storage.Resource, bool, error) {
	if scope.Object != "" && !slices.Contains(storage.ListedBy(o), scope.Object) {
		return nil, false, &storage.ScopeError{Object: o, Scope: scope.Object}
	}
	release, err := s.use()
	if err != nil {
		return nil, false, err
	}
	defer release()
	ids, more, err := s.listIDs(t, o, scope, p)
	if err != nil {
		return nil, false, err
	}
	ctx = storage.Together(ctx)
	list := make([]storage.Resource, 0, len(ids))
	for bytes := 0; len(list) < len(ids); {
		if bytes >= storage.PageBytes {
			return list, true, nil
		}
		res, err := s.listed(ctx, t, abi.ResourcePointer{Object: o, ID: ids[len(list)]}, entryKey(t, o, ids[len(list)], scope))
		if errors.Is(err, errErased) {
			ids = slices.Delete(ids, len(list), len(list)+1)
			continue
		}
		if err != nil {
			return nil, false, err
		}
		list, bytes = append(list, res), bytes+len(res.State)
		if len(list)%listBreath == 0 {
			runtime.Gosched()
		}
		if err := holdPage(ctx, bytes, len(res.State)); err != nil {
			return nil, false, err
		}
	}
	return list, more, nil
}

// listBreath is after how many resources, some 200 µs, others go first.
const listBreath = 16

// largePage is what a page has when it is told to the Holder as one that may become as
// large as pages get.
const largePage = 256 << 10

// holdPage tells the Holder of ctx of a page that has so many bytes now, with the last
// ones, if it was not told before. Values that are files have told of themselves.
func holdPage(ctx context.Context, bytes, last int) error {
	if bytes <= largePage || bytes-last > largePage {
		return nil
	}
	return storage.Hold(ctx, storage.PageBytes)
}

// listed reads a resource for a list, in which it has the given entry: one that is damaged says so, and
// does not keep the others from being read. The error is errErased when it has just left the list.
func (s *Store) listed(ctx context.Context, t storage.Tenant, r abi.ResourcePointer, entry []byte) (storage.Resource, error) {
	res, err := s.resource(ctx, t, r)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		if _, still, err := lookup(s.db, entry); err != nil || !still {
			return res, errors.Join(err, errErased) // since the list was read
		}
		err = &CorruptError{Tenant: t, Reason: r.ID + " is in a list and is not there"}
	case err == nil || !errors.Is(err, storage.ErrDamaged):
		return res, err
	}
	return storage.Resource{ID: r.ID, Err: err}, nil
}

// listIDs returns the ids of a page.
func (s *Store) listIDs(t storage.Tenant, o abi.Object, scope storage.Scope, p storage.Page) (ids []string, more bool, err error) {
	var r pebble.Reader = s.db
	prefix := listKey(t, o, scope)
	lower, upper := listBounds(prefix, p)
	skip := p.Offset
	if skip > s.opts.markLag { // up to there steps cost less
		snap := s.db.NewSnapshot()
		defer func() { err = errors.Join(err, snap.Close()) }()
		skip, r = 0, snap
		if lower, upper, err = s.leap(snap, prefix, lower, upper, p); err != nil {
			return nil, false, err
		}
	}
	err = walkList(r, lower, upper, p.Oldest, func(key []byte) error {
		if skip > 0 { // nothing but the number is wanted of these
			if isEntry(key) {
				skip--
			}
			return nil
		}
		id, listed, ok := listedID(key, len(prefix))
		switch {
		case !ok:
			return &CorruptError{Tenant: t, Key: clone(key), Reason: errMalformed.Error()}
		case !listed:
		case len(ids) == p.Limit:
			more = true
			return errEnough
		default:
			ids = append(ids, id)
		}
		return nil
	})
	return ids, more, err
}

// leap returns the bounds of a list without the entries that a page leaves out first.
func (s *Store) leap(r pebble.Reader, list, lower, upper []byte, p storage.Page) (from, to []byte, err error) {
	k := ranks{r: r, list: list, marked: s.counted}
	defer func() { s.look(&k) }()
	first, err := k.before(lower)
	if err != nil {
		return nil, nil, err
	}
	end, err := k.before(upper)
	if err != nil {
		return nil, nil, err
	}
	if first+p.Offset >= end {
		return upper, upper, nil
	}
	if p.Oldest {
		entry, err := k.at(first + p.Offset)
		return append(clone(list), entry...), upper, err
	}
	entry, err := k.at(end - 1 - p.Offset)
	return lower, append(append(clone(list), entry...), pastID), err
}

// look has a list marked if too many steps were taken over it.
func (s *Store) look(k *ranks) {
	if k.walked > 4*(s.opts.markLag+markTurn*s.opts.markEvery) {
		s.askForMarks(k.list)
	}
}

// countIDs returns how many ids a page would have.
func (s *Store) countIDs(t storage.Tenant, o abi.Object, scope storage.Scope, p storage.Page) (n int, err error) {
	snap := s.db.NewSnapshot()
	defer func() { err = errors.Join(err, snap.Close()) }()
	list := listKey(t, o, scope)
	lower, upper := listBounds(list, p)
	k := ranks{r: snap, list: list, marked: s.counted}
	first, err := k.before(lower)
	if err == nil {
		n, err = k.before(upper)
	}
	s.look(&k)
	return n - first, err
}

// isEntry reports whether a key of a list is an entry: of the two pointers of a resource only the
// origin is one.
func isEntry(key []byte) bool {
	return key[prefixLen-1] == spaceList || key[len(key)-1] == suffixOrigin
}

// errEnough ends a walk whose caller has what it wants.
var errEnough = errors.New("enough")

// listKey returns what the keys of a list start with.
func listKey(t storage.Tenant, o abi.Object, scope storage.Scope) []byte {
	if scope.Object != "" {
		return listPrefix(nil, t, o, scope)
	}
	return appendObject(appendPrefix(nil, t, spaceResource), o)
}

// entryKey returns the key of a resource in a list.
func entryKey(t storage.Tenant, o abi.Object, id string, in storage.Scope) []byte {
	if in.Object == "" {
		return resourceKey(nil, t, abi.ResourcePointer{Object: o, ID: id}, suffixOrigin)
	}
	return appendID(listPrefix(nil, t, o, in), id)
}

// walkList calls f with each key of a list within bounds, from the newest on or from the oldest.
func walkList(r pebble.Reader, lower, upper []byte, oldest bool, f func(key []byte) error) error {
	it, err := r.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return err
	}
	first, next := it.Last, it.Prev
	if oldest {
		first, next = it.First, it.Next
	}
	for ok := first(); ok && err == nil; ok = next() {
		err = f(it.Key())
	}
	if err == errEnough {
		err = nil
	}
	return ended(it, err)
}

// listBounds returns the bounds of the keys of a list, of which a page is the beginning or the
// end.
func listBounds(prefix []byte, p storage.Page) (lower, upper []byte) {
	lower, upper = prefix, keyAfter(prefix)
	if p.Least != "" {
		lower = appendID(clone(prefix), p.Least)
	}
	if p.Below != "" {
		upper = appendID(clone(prefix), p.Below)
	}
	switch {
	case p.After == "":
	case p.Oldest:
		lower = slices.MaxFunc([][]byte{lower, append(appendID(clone(prefix), p.After), pastID)}, bytes.Compare)
	default:
		upper = slices.MinFunc([][]byte{upper, appendID(clone(prefix), p.After)}, bytes.Compare)
	}
	if bytes.Compare(lower, upper) > 0 {
		return upper, upper
	}
	return lower, upper
}

// pastID sorts after everything that follows an id in a key of a list.
const pastID = 0xff

// listedID returns the id that a key of a list ends with. Of the two pointers of a
// resource only the origin counts as an entry of the tenant's list.
func listedID(key []byte, prefix int) (id string, listed, ok bool) {
	id, rest, ok := cutID(key[prefix:])
	if !ok || key[prefixLen-1] == spaceList {
		return id, true, ok && len(rest) == 0
	}
	if len(rest) != 1 {
		return "", false, false
	}
	return id, rest[0] == suffixOrigin, true
}

// Count implements [storage.Store].
func (s *Store) Count(ctx context.Context, t storage.Tenant, o abi.Object, scope storage.Scope, p storage.Page) (int, bool, error) {
	release, err := s.use()
	if err != nil {
		return 0, false, err
	}
	defer release()
	p.Offset, p.After = 0, ""
	n, more := 0, false
	switch {
	case o == abi.ObjectMessage && scope.Object == abi.ObjectSession:
		n, more, err = s.countTranscript(t, scope.ID, p.Limit)
	case scope.Object != "" && !slices.Contains(storage.ListedBy(o), scope.Object):
		err = &storage.ScopeError{Object: o, Scope: scope.Object}
	default:
		if n, err = s.countIDs(t, o, scope, p); n > p.Limit {
			n, more = p.Limit, true
		}
	}
	if err != nil {
		return 0, false, err
	}
	return n, more, s.mark.wait(ctx, storage.Position(s.applied.Load()), &s.fail)
}

func (s *Store) countTranscript(t storage.Tenant, session string, limit int) (n int, more bool, err error) {
	prefix := transcriptPrefix(nil, t, session)
	it, err := s.iterate(prefix, keyAfter(prefix))
	if err != nil {
		return 0, false, err
	}
	for ok := it.First(); ok; ok = it.Next() {
		if n == limit {
			return n, true, ended(it, nil)
		}
		n++
	}
	return n, false, ended(it, nil)
}

// Transcript implements [storage.Store]. The Origin of each Message is its place
// in the transcript, which is what Page.After takes.
func (s *Store) Transcript(ctx context.Context, t storage.Tenant, session string, p storage.Page) ([]storage.Resource, bool, error) {
	after, ok := storage.ParsePosition(p.After)
	if !ok && p.After != "" {
		return nil, false, storage.ErrNotFound
	}
	release, err := s.use()
	if err != nil {
		return nil, false, err
	}
	defer release()
	entries, more, err := s.transcript(ctx, t, session, after, p)
	if err != nil {
		return nil, false, err
	}
	ctx = storage.Together(ctx)
	messages, bytes := make([]storage.Resource, 0, len(entries)), 0
	for _, e := range entries {
		if bytes >= storage.PageBytes {
			return messages, true, nil
		}
		place := appendPosition(transcriptPrefix(nil, t, session), e.position)
		m, err := s.listed(ctx, t, abi.ResourcePointer{Object: abi.ObjectMessage, ID: e.id}, place)
		if errors.Is(err, errErased) {
			continue
		}
		if err != nil {
			return nil, false, err
		}
		m.Origin = e.position
		messages, bytes = append(messages, m), bytes+len(m.State)
		if err := holdPage(ctx, bytes, len(m.State)); err != nil {
			return nil, false, err
		}
	}
	return messages, more, nil
}

// entry is a Message in a transcript.
type entry struct {
	position storage.Position
	id       string
}

// transcript returns the entries of a page after a position, and waits until nothing that
// they show, or no longer show, can be undone by a crash.
func (s *Store) transcript(ctx context.Context, t storage.Tenant, session string, after storage.Position, p storage.Page) ([]entry, bool, error) {
	prefix := transcriptPrefix(nil, t, session)
	n := len(prefix)
	lower, upper := appendPosition(prefix[:n:n], after+1), keyAfter(prefix)
	if p.Newest {
		lower = prefix
		if p.After != "" {
			upper = appendPosition(prefix[:n:n], after)
		}
	}
	it, err := s.iterate(lower, upper)
	if err != nil {
		return nil, false, err
	}
	newest := storage.Position(s.reshaped.Load())
	entries, more, err := collect(it, t, n, p)
	if err = ended(it, err); err != nil {
		return nil, false, err
	}
	for _, e := range entries {
		newest = max(newest, e.position)
	}
	return entries, more, s.mark.wait(ctx, newest, &s.fail)
}

func collect(it *pebble.Iterator, t storage.Tenant, prefix int, p storage.Page) (entries []entry, more bool, err error) {
	first, next := it.First, it.Next
	if p.Newest {
		first, next = it.Last, it.Prev
	}
	skip := p.Offset
	for ok := first(); ok; ok = next() {
		if skip > 0 {
			skip--
			continue
		}
		if len(entries) == p.Limit {
			return entries, true, nil
		}
		id, rest, ok := cutID(it.Value())
		if !ok || len(rest) != 0 || len(it.Key()) != prefix+positionLen {
			return nil, false, &CorruptError{Tenant: t, Key: clone(it.Key()), Reason: errMalformed.Error()}
		}
		entries = append(entries, entry{lastPosition(it.Key()), id})
	}
	return entries, false, nil
}

// Turn implements [storage.Store]. It costs one step for each Message before n.
func (s *Store) Turn(ctx context.Context, t storage.Tenant, session string, n int) (storage.Position, bool, error) {
	release, err := s.use()
	if err != nil {
		return 0, false, err
	}
	defer release()
	prefix := transcriptPrefix(nil, t, session)
	it, err := s.iterate(prefix, keyAfter(prefix))
	if err != nil {
		return 0, false, err
	}
	newest := storage.Position(s.reshaped.Load())
	ok := it.First()
	for ; ok && n > 0; n-- {
		ok = it.Next()
	}
	var p storage.Position
	if ok {
		p = lastPosition(it.Key())
	}
	if err := ended(it, nil); err != nil {
		return 0, false, err
	}
	return p, ok, s.mark.wait(ctx, max(newest, p), &s.fail)
}
