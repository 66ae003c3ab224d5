package pebble

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"

	"github.com/cockroachdb/pebble/v2"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

func appendErasure(dst []byte, e *storage.Erasure) []byte {
	dst = appendID(appendID(append(dst, eraseCode), e.Session), e.Task)
	return appendResource(dst, e.Source)
}

// erasure reads what follows the code.
func (d *decoder) erasure() *storage.Erasure {
	return &storage.Erasure{Session: d.id(), Task: d.id(), Source: abi.ResourcePointer{Object: d.object(), ID: d.id()}}
}

// hexOf returns a hash as texts have it.
func hexOf(h storage.Hash) []byte { return hex.AppendEncode(nil, h[:]) }

// eraser finds out what goes with what is erased in one batch. That is done before its turn, or in the committer when
// it has come ([Store.erasing]).
type eraser struct {
	store     *Store
	tenant    storage.Tenant
	workspace string

	it      *pebble.Iterator    // while it is made
	empty   map[string]keyRange // where no key of a kind is
	found   findings
	rested  map[string]int // the last of the ranges of a kind that nothing is in
	changes []change
	deleted []keyRange    // beside the keys
	sealed  *pebble.Batch // the changes, once all are found
	ranges  keyRanges     // where the keys lie that go

	first   map[abi.ResourcePointer][]storage.Position // the frames of what goes
	gone    map[storage.Position]abi.Object            // the frames that go, by where they begin, and what of they are
	spans   []span
	chunks  map[storage.Position]*touched // those that frames go from
	going   map[abi.ResourcePointer]bool  // what is erased: its lists go
	dropped map[abi.ResourcePointer]bool
	entries []leaving           // of lists that stay
	kept    [][]byte            // the keys that were added to lists
	stays   abi.ResourcePointer // what goes later, and may be stated in frames that go
	bytes   uint64
	events  uint64
	volume  map[space]int64 // of Workspaces, that becomes free
}

// touched is a chunk that frames go from: what these referred to, and whose they were.
type touched struct {
	hashes     map[storage.Hash]bool
	workspaces map[string]bool
}

// leaving is an entry that leaves a list.
type leaving struct {
	key   []byte
	list  int                 // how much of the key names the list
	owner abi.ResourcePointer // of the list, zero for the tenant
	there bool                // it is known to be in the list
}

func (s *Store) newEraser(t storage.Tenant, workspace string) *eraser {
	e := &eraser{store: s, tenant: t, workspace: workspace, first: map[abi.ResourcePointer][]storage.Position{},
		gone: map[storage.Position]abi.Object{}, chunks: map[storage.Position]*touched{}, going: map[abi.ResourcePointer]bool{},
		dropped: map[abi.ResourcePointer]bool{}, empty: map[string]keyRange{}, rested: map[string]int{}, volume: map[space]int64{}}
	e.found.removals, e.found.durable = s.removals.Load(), s.mark.position()
	return e
}

// owners are whose lists a resource may be in.
type owners struct{ workspace, session, task string }

func (o owners) of(object abi.Object) string {
	switch object {
	case abi.ObjectWorkspace:
		return o.workspace
	case abi.ObjectSession:
		return o.session
	}
	return o.task
}

// unused returns an error if something was made from r that is not erased, or r is a Task that has not
// ended.
func (e *eraser) unused(r abi.ResourcePointer) error {
	prefix := userPrefix(nil, e.tenant, r)
	end := keyAfter(prefix)
	kind := appendObject(appendPrefix(nil, e.tenant, spaceUser), r.Object)
	err := e.scan(kind, prefix, end, func(key, _ []byte) error {
		user, err := userIn(e.tenant, key, prefix)
		if err == nil {
			err = fmt.Errorf("%s is the source of %s: %w", r.ID, user.ID, storage.ErrInUse)
		}
		return err
	})
	if err != nil {
		return err
	}
	if e.restOnNone(kind, prefix, end); r.Object != abi.ObjectTask {
		return nil
	}
	active, err := e.look(appendID(appendPrefix(nil, e.tenant, spaceActive), r.ID))
	if err == nil && active != nil {
		err = fmt.Errorf("%s has not ended: %w", r.ID, storage.ErrInUse)
	}
	return err
}

// deletedKey returns the key of what is to be erased.
func deletedKey(dst []byte, t storage.Tenant, r abi.ResourcePointer) []byte {
	return appendResource(appendPrefix(dst, t, spaceDeleted), r)
}

// addDeleted notes what is to be erased.
func (d *draft) addDeleted(f *storage.Frame, i int) {
	if !storage.Deletes(&f.Records[i]) {
		return
	}
	d.begin(opSet)
	d.buf = deletedKey(d.buf, f.Tenant, f.Records[i].Resource)
	d.endKey()
	d.position(i)
	d.end()
}

// Deleted implements [storage.Eraser].
func (s *Store) Deleted(ctx context.Context, f func(storage.Tenant, abi.ResourcePointer, storage.Position) error) error {
	release, err := s.use()
	if err != nil {
		return err
	}
	defer release()
	snap := s.db.NewSnapshot()
	defer snap.Close()
	return eachTenant(snap, func(t storage.Tenant) error {
		prefix := appendPrefix(nil, t, spaceDeleted)
		return scan(snap, prefix, keyAfter(prefix), func(key, value []byte) error {
			k, ok := parseKey(key)
			if !ok || len(value) != positionLen {
				return &CorruptError{Tenant: t, Key: clone(key), Reason: errMalformed.Error()}
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			return f(t, k.resource(), positionAt(value))
		})
	})
}

// framesOf returns where the frames of a Task, a Session or an Artifact begin.
func (e *eraser) framesOf(r abi.ResourcePointer) ([]storage.Position, error) {
	if all, ok := e.first[r]; ok {
		return all, nil
	}
	var all []storage.Position
	var err error
	if r.Object == abi.ObjectArtifact {
		all, err = e.ownFrames(r)
	} else {
		all, err = e.indexed(r)
	}
	e.first[r] = all
	return all, err
}

// indexed returns where the frames of a Task or a Session begin.
func (e *eraser) indexed(r abi.ResourcePointer) (all []storage.Position, err error) {
	for _, index := range ownIndexes() {
		if index.object != r.Object {
			continue
		}
		prefix := scopePrefix(nil, e.tenant, index.space, r.ID)
		end := keyAfter(prefix)
		err = e.scan(appendPrefix(nil, e.tenant, index.space), prefix, end, func(key, _ []byte) error {
			all = append(all, lastPosition(key))
			return nil
		})
		last := storage.Position(0)
		if len(all) > 0 {
			last = all[len(all)-1]
		}
		e.restOn(appendPosition(prefix, last+1), end, 0)
	}
	return all, err
}

// ownFrames returns where the frames begin that state an Artifact: the one that has brought it
// into being, and the one that says that it is to be erased.
func (e *eraser) ownFrames(r abi.ResourcePointer) (all []storage.Position, err error) {
	for _, suffix := range []byte{suffixOrigin, suffixLatest} {
		p, ok, err := e.pointer(r, suffix)
		if err != nil || !ok || p.moved() {
			if err != nil {
				return nil, err
			}
			continue
		}
		frame, _, err := e.store.frame(e.tenant, p.first)
		if errors.Is(err, errErased) || errors.Is(err, storage.ErrCursorExpired) {
			continue
		}
		if err == nil && !storage.OwnFrame(frame, r) {
			err = fmt.Errorf("what tells of %s tells of more: %w", r.ID, storage.ErrInUse)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, p.first)
	}
	return all, nil
}

// pointer returns a pointer of a resource, which the erasure rests on.
func (e *eraser) pointer(r abi.ResourcePointer, suffix byte) (p pointer, ok bool, err error) {
	key := resourceKey(nil, e.tenant, r, suffix)
	v, err := e.look(key)
	if err != nil || v == nil {
		return p, false, err
	}
	if p, err = decodePointer(v); err != nil {
		err = &CorruptError{Tenant: e.tenant, Key: key, Reason: err.Error()}
	}
	return p, err == nil, err
}

// readErasures makes ready what the erasures of a frame remove, nil if that is not possible before its turn.
func (s *Store) readErasures(f *storage.Frame) *eraser {
	return s.readied(f.Tenant, f.WorkspaceID, func(e *eraser) error { return e.all(f) })
}

// erase adds what the erasures of a frame remove to a batch, or nothing when one of them cannot
// be.
func (s *Store) erase(b *pebble.Batch, f *storage.Frame, ahead *eraser) error {
	return s.erasing(b, ahead, f.Tenant, f.WorkspaceID, func(e *eraser) error { return e.all(f) })
}

// all finds out what the erasures of a frame remove. Sessions come first: their frames are those of their Tasks, too.
func (e *eraser) all(f *storage.Frame) error {
	if !e.store.prepared.Load() {
		return storage.ErrPreparing
	}
	frames := map[storage.Position]bool{} // those of a Task are its Session's, too
	for i := range f.Records {
		r := &f.Records[i]
		if r.Erase == nil {
			continue
		}
		first, err := e.framesOf(r.Resource)
		if err != nil {
			return err
		}
		for _, p := range first {
			frames[p] = true
		}
		if len(frames) > storage.MaxErased {
			return fmt.Errorf("erasing %s: %w", r.Resource.ID, storage.ErrTooLarge)
		}
		e.going[r.Resource] = true
	}
	for _, session := range []bool{true, false} {
		for i := range f.Records {
			r := &f.Records[i]
			if r.Erase == nil || session != (r.Resource.Object == abi.ObjectSession) {
				continue
			}
			if err := e.erase(r.Resource, r.Erase); err != nil {
				return fmt.Errorf("erasing %s: %w", r.Resource.ID, err)
			}
		}
	}
	return nil
}

func (e *eraser) erase(r abi.ResourcePointer, op *storage.Erasure) error {
	if err := e.unused(r); err != nil {
		return err
	}
	if op.Source != (abi.ResourcePointer{}) {
		e.delete(appendResource(userPrefix(nil, e.tenant, op.Source), r))
	}
	of := owners{workspace: e.workspace, session: op.Session, task: op.Task}
	switch r.Object {
	case abi.ObjectTask:
		of.task = r.ID
	case abi.ObjectSession:
		of.session = r.ID
	}
	e.going[r] = true
	// Frames of an Artifact say themselves whose it is.
	first, err := e.framesOf(r)
	for _, p := range first {
		if err == nil {
			err = e.frame(r, of, p)
		}
	}
	if err == nil {
		err = e.listed(r, of)
	}
	for _, with := range append(storage.NamedAfter(r), r) {
		if err == nil {
			err = e.drop(with, of)
		}
	}
	return err
}

// frame removes one frame of r. What it states of others moves into their pointers.
func (e *eraser) frame(r abi.ResourcePointer, of owners, first storage.Position) error {
	if e.gone[first] == abi.ObjectSession { // all that goes with one of its Tasks has gone with it
		return nil
	}
	text, ok, err := lookup(e.store.db, frameKey(nil, e.tenant, first))
	if err != nil || !ok {
		return err
	}
	f, refs, err := decodeFrame(e.tenant, first, text)
	if err != nil {
		return err
	}
	if err := e.store.blobs.resolveReferring(context.Background(), f, refs); err != nil {
		return err
	}
	of.task = f.TaskID
	if of.workspace == "" {
		of.workspace, of.session = f.WorkspaceID, f.SessionID
	}
	for i := range f.Records {
		if err := e.record(r, of, f, i, refs); err != nil {
			return err
		}
	}
	_, gone := e.gone[first]
	e.gone[first] = r.Object
	if gone {
		return nil
	}
	e.forget(f, refs)
	e.bytes += uint64(len(text))
	e.events += uint64(len(f.Records))
	return e.forgetVolume(f, refs, len(text))
}

// forget removes a frame and the keys by which it is found.
func (e *eraser) forget(f *storage.Frame, refs outline) {
	e.spans = append(e.spans, span{f.First, lastOf(f)})
	e.delete(frameKey(nil, f.Tenant, f.First))
	for _, index := range e.store.indexesOf(f.First) {
		if id := index.owner(f); id != "" {
			e.delete(appendPosition(scopePrefix(nil, f.Tenant, index.space, id), f.First))
		}
	}
	c := e.chunks[chunkOf(f.First)]
	if c == nil {
		c = &touched{hashes: map[storage.Hash]bool{}, workspaces: map[string]bool{}}
		e.chunks[chunkOf(f.First)] = c
	}
	if f.WorkspaceID != "" && f.First >= e.store.chunked {
		c.workspaces[f.WorkspaceID] = true
	}
	for _, h := range referencesOf(f, refs) {
		c.hashes[h] = true
	}
}

// record removes what a record says.
func (e *eraser) record(r abi.ResourcePointer, of owners, f *storage.Frame, i int, refs outline) error {
	rec, at := &f.Records[i], f.First+storage.Position(i)
	if rec.Intake.Kind == storage.IntakeReceive || rec.Intake.Kind == storage.IntakePend {
		pending, err := e.look(appendPosition(pendingPrefix(nil, e.tenant, rec.Intake.Connector), at))
		if err == nil && pending != nil {
			err = fmt.Errorf("the event at %s is pending: %w", at, storage.ErrInUse)
		}
		if err != nil {
			return err
		}
	}
	if rec.Resource.ID == "" {
		return nil
	}
	if e.goes(r, rec.Resource) {
		return e.drop(rec.Resource, of)
	}
	if rec.State == nil && refs.state(i) == nil || e.dropped[rec.Resource] || e.going[rec.Resource] {
		return nil
	}
	suffix := byte(suffixLatest)
	if rec.Created {
		suffix = suffixOrigin
	}
	st := statement{tenant: e.tenant, resource: rec.Resource, suffix: suffix, position: at, value: rec.State, blob: refs.state(i), frame: f}
	if st.blob != nil {
		st.value = nil
	}
	return e.move(st)
}

// move puts a value into the pointer of its resource, unless that was stated again since. What was will be.
func (e *eraser) move(st statement) error {
	var rests []pair
	if st.suffix == suffixOrigin {
		key := resourceKey(nil, e.tenant, st.resource, suffixLatest)
		_, later, err := lookup(e.store.db, key)
		if err != nil || later {
			return err
		}
		rests = append(rests, pair{key, nil})
	}
	key := resourceKey(nil, e.tenant, st.resource, st.suffix)
	value, ok, err := lookup(e.store.db, key)
	if err != nil || !ok {
		return err
	}
	p, err := decodePointer(value)
	if err != nil {
		return &CorruptError{Tenant: e.tenant, Key: key, Reason: err.Error()}
	}
	if p.position() != st.position {
		return nil
	}
	e.found.pairs = append(e.found.pairs, append(rests, pair{key, value})...)
	for _, ref := range st.references() {
		e.set(ref, nil)
	}
	if err := e.keepListed(st); err != nil {
		return err
	}
	e.set(key, st.moved(p))
	return nil
}

// keepListed lists what an erasure would not find otherwise.
func (e *eraser) keepListed(st statement) error {
	lists := st.keptIn()
	if len(lists) == 0 {
		return nil
	}
	origin, ok, err := e.pointer(st.resource, suffixOrigin)
	if err != nil || !ok {
		return err
	}
	for _, key := range lists {
		e.kept = append(e.kept, key)
		e.set(key, appendPosition(nil, origin.position()))
	}
	return nil
}

// goes reports whether a resource that a frame of r tells of goes with that frame.
func (e *eraser) goes(r, about abi.ResourcePointer) bool {
	switch {
	case about == e.stays:
		return false
	case r.Object == abi.ObjectArtifact:
		return about == r
	case !storage.GoesWith(r.Object, about.Object):
		return false
	case about.Object == abi.ObjectTask, about.Object == abi.ObjectSession: // a Session's Tasks are those of its list
		return about == r
	}
	return true
}

// drop removes a resource, and takes it out of the lists that it is in.
func (e *eraser) drop(r abi.ResourcePointer, of owners) error {
	if e.dropped[r] {
		return nil
	}
	e.dropped[r] = true
	origin := resourceKey(nil, e.tenant, r, suffixOrigin)
	_, there, err := lookup(e.store.db, origin)
	if err != nil {
		return err
	}
	e.unlist(leaving{key: origin, list: len(listKey(e.tenant, r.Object, storage.Scope{})), there: there})
	for _, object := range storage.ListedBy(r.Object) {
		id := of.of(object)
		owner := abi.ResourcePointer{Object: object, ID: id}
		if id == "" || e.going[owner] { // lists go as a whole with whose they are
			continue
		}
		key := listPrefix(nil, e.tenant, r.Object, storage.Scope{Object: object, ID: id})
		list := len(key)
		e.unlist(leaving{key: appendID(key, r.ID), list: list, owner: owner})
	}
	e.delete(resourceKey(nil, e.tenant, r, suffixLatest))
	e.delete(sequenceKey(nil, e.tenant, r))
	switch r.Object {
	case abi.ObjectTask, abi.ObjectSession, abi.ObjectArtifact: // others are not deleted alone
		e.delete(deletedKey(nil, e.tenant, r))
	}
	return nil
}

// unlist removes the entry of a list.
func (e *eraser) unlist(en leaving) {
	e.entries = append(e.entries, en)
	e.delete(en.key)
}

// countOut takes notice of the entries that leave lists that stay. It runs in the committer.
func (e *eraser) countOut() error {
	marks := marksBefore{}
	for _, en := range e.entries {
		if e.going[en.owner] {
			continue
		}
		if err := e.store.counts.noteGone(e.store.db, en.key, en.list, en.there, marks); err != nil {
			return err
		}
	}
	return nil
}

// listed removes what is listed by a resource that goes, and the lists.
func (e *eraser) listed(r abi.ResourcePointer, of owners) error {
	for _, o := range storage.ListsOf(r.Object) {
		list := listPrefix(nil, e.tenant, o, storage.Scope{Object: r.Object, ID: r.ID})
		kind := append(appendObject(appendPrefix(nil, e.tenant, spaceList), o), codeOfObject[string(r.Object)])
		ids, err := e.removeList(kind, list)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if err := e.entry(r, of, abi.ResourcePointer{Object: o, ID: id}); err != nil {
				return err
			}
		}
		if _, err := e.removeAll(marksOfAll(kind), marksOfAll(list)); err != nil {
			return err
		}
	}
	if r.Object != abi.ObjectSession {
		return nil
	}
	if _, err := e.removeAll(appendPrefix(nil, e.tenant, spaceTranscript), transcriptPrefix(nil, e.tenant, r.ID)); err != nil {
		return err
	}
	return e.values(r, of)
}

// removeList removes the entries of a list, and returns whose they are.
func (e *eraser) removeList(kind, list []byte) (ids []string, err error) {
	keys, err := e.removeAll(kind, list)
	for _, key := range keys {
		id, rest, ok := cutID(key[len(list):])
		if !ok || len(rest) > 0 {
			return nil, &CorruptError{Tenant: e.tenant, Key: key, Reason: errMalformed.Error()}
		}
		ids = append(ids, id)
	}
	return ids, err
}

// removeAll removes all keys of a kind that begin with a prefix, and returns those that the database has.
func (e *eraser) removeAll(kind, prefix []byte) (keys [][]byte, err error) {
	end := keyAfter(prefix)
	err = e.scan(kind, prefix, end, func(key, _ []byte) error {
		keys = append(keys, clone(key))
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(keys) > manyKeys {
		e.deleted = append(e.deleted, keyRange{prefix, end})
	} else {
		for _, key := range keys {
			e.delete(key)
		}
	}
	for _, key := range e.kept { // by what has gone before
		if bytes.HasPrefix(key, prefix) {
			e.delete(key)
		}
	}
	return keys, nil
}

// manyKeys is from how many keys on a range of them is deleted instead: whoever reads has to find out what each tombstone of
// a range covers, again and again while there are more of them.
const manyKeys = 256

// entry removes what a list of r has, if it goes with r.
func (e *eraser) entry(r abi.ResourcePointer, of owners, listed abi.ResourcePointer) error {
	if !storage.GoesWith(r.Object, listed.Object) {
		return nil
	}
	if listed.Object == abi.ObjectTask && r.Object == abi.ObjectSession {
		return e.erase(listed, &storage.Erasure{Session: r.ID})
	}
	if r.Object == abi.ObjectSession { // of a Task whose frames are gone: it was in its lists, too
		of.task = ""
	}
	return e.drop(listed, of)
}

// values removes the values of a Session.
func (e *eraser) values(r abi.ResourcePointer, of owners) error {
	_, u, ok := compactID(r.ID)
	if !ok {
		return nil
	}
	kind := append(listKey(e.tenant, abi.ObjectState, storage.Scope{}), stateCode)
	prefix := append(clone(kind), u[:]...)
	n := 0
	var all []abi.ResourcePointer
	err := e.scan(kind, prefix, keyAfter(prefix), func(key, _ []byte) error {
		k, ok := parseKey(key)
		if !ok {
			return &CorruptError{Tenant: e.tenant, Key: clone(key), Reason: errMalformed.Error()}
		}
		n++
		all = append(all, k.resource())
		return nil
	})
	e.restOn(prefix, keyAfter(prefix), n)
	for _, value := range all {
		if err == nil {
			err = e.drop(value, of)
		}
	}
	return err
}

// finish removes the keys of chunks that no frame needs any more, and makes gaps of what is gone. Chunks to which frames may
// have come by then wait until its turn.
func (e *eraser) finish() error {
	for chunk, c := range e.chunks {
		if chunkEnd(chunk) > e.found.durable+1 {
			continue
		}
		if err := e.trim(chunk, c, e.delete); err != nil {
			return err
		}
	}
	return e.addGaps()
}

// trimTail removes the keys of those chunks to which frames may have come. It runs in the committer.
func (e *eraser) trimTail(b *pebble.Batch) error {
	for chunk, c := range e.chunks {
		if chunkEnd(chunk) <= e.found.durable+1 {
			continue
		}
		err := e.trim(chunk, c, func(key []byte) {
			_ = b.Delete(key, nil) // fails only on an indexed batch
			e.ranges.note(key, append(clone(key), 0))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// trim removes the keys of a chunk that none of its frames needs which stay.
func (e *eraser) trim(chunk storage.Position, c *touched, remove func(key []byte)) error {
	left := &touched{maps.Clone(c.hashes), maps.Clone(c.workspaces)}
	err := e.store.untouched(e.tenant, chunk, left, func(first storage.Position) bool {
		_, gone := e.gone[first]
		return !gone
	})
	if err == nil {
		left.keys(e.tenant, chunk, remove)
	}
	return err
}

// untouched takes out of c what those frames of a chunk need that stay.
func (s *Store) untouched(t storage.Tenant, chunk storage.Position, c *touched, stays func(first storage.Position) bool) error {
	return eachReferring(s.db, s.blobs, t, chunk, func(first storage.Position) bool {
		return len(c.hashes)+len(c.workspaces) > 0 && stays(first)
	}, func(f *storage.Frame, referred []storage.Hash) {
		delete(c.workspaces, f.WorkspaceID)
		for _, h := range referred {
			delete(c.hashes, h)
		}
	})
}

// keys calls f with the keys by which all of that is found in a chunk.
func (c *touched) keys(t storage.Tenant, chunk storage.Position, f func(key []byte)) {
	for h := range c.hashes {
		f(appendPosition(referredPrefix(nil, t, h), chunk))
	}
	for w := range c.workspaces {
		f(appendPosition(chunkPrefix(nil, t, w), chunk))
	}
}

// Strip implements [storage.Eraser].
func (s *Store) Strip(ctx context.Context, t storage.Tenant, r abi.ResourcePointer) (more bool, err error) {
	release, err := s.use()
	if err != nil {
		return false, err
	}
	defer release()
	if !s.prepared.Load() {
		return false, storage.ErrPreparing
	}
	e := s.newEraser(t, "")
	first, err := e.framesOf(r)
	e.close()
	if err != nil || len(first) <= storage.MaxErased {
		return false, err
	}
	more = len(first) > 2*storage.MaxErased
	strip := func(e *eraser) error { return e.strip(r, first[:storage.MaxErased]) }
	ahead := s.readied(t, "", strip)
	return more, s.remove(ctx, func(b *pebble.Batch) error {
		err := s.erasing(b, ahead, t, "", strip)
		if err == nil {
			s.writeCounts(b)
		}
		return err
	})
}

// strip removes frames, and what they state of resources that go with r.
func (e *eraser) strip(r abi.ResourcePointer, first []storage.Position) error {
	e.stays = r
	for _, p := range first {
		if err := e.frame(r, owners{}, p); err != nil {
			return err
		}
	}
	return nil
}

// Users implements [storage.Eraser].
func (s *Store) Users(ctx context.Context, t storage.Tenant, r abi.ResourcePointer, limit int) ([]abi.ResourcePointer, error) {
	release, err := s.use()
	if err != nil {
		return nil, err
	}
	defer release()
	if !s.prepared.Load() {
		return nil, storage.ErrPreparing
	}
	return s.users(t, r, limit)
}

func (s *Store) users(t storage.Tenant, r abi.ResourcePointer, limit int) (all []abi.ResourcePointer, err error) {
	prefix := userPrefix(nil, t, r)
	err = scan(s.db, prefix, keyAfter(prefix), func(key, _ []byte) error {
		user, err := userIn(t, key, prefix)
		if err != nil {
			return err
		}
		if all = append(all, user); len(all) == limit {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return all, err
}

// userIn reads what was made from something from its key, which begins with a prefix.
func userIn(t storage.Tenant, key, prefix []byte) (user abi.ResourcePointer, err error) {
	d := &decoder{rest: key[len(prefix):]}
	user = abi.ResourcePointer{Object: d.object(), ID: d.id()}
	if d.end() != nil {
		err = &CorruptError{Tenant: t, Key: clone(key), Reason: errMalformed.Error()}
	}
	return user, err
}
