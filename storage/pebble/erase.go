package pebble

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

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

// eraser erases within one batch. It runs in the committer, when the database shows all that
// was handed over before.
type eraser struct {
	store     *Store
	b         *pebble.Batch
	tenant    storage.Tenant
	workspace string

	gone    map[storage.Position]bool // the frames that go, by where they begin
	spans   []span
	chunks  map[storage.Position]bool // those that frames go from
	hashes  map[storage.Hash]bool     // the blobs that these referred to
	spaces  map[string]bool           // their Workspaces
	dropped map[abi.ResourcePointer]bool
	// unmarked begins the keys of marks that go with their lists.
	unmarked [][]byte
	stays    abi.ResourcePointer // what goes later, and may be stated in frames that go
	bytes    uint64
	events   uint64
	volume   map[space]int64 // of Workspaces, that becomes free
}

func (s *Store) newEraser(b *pebble.Batch, t storage.Tenant, workspace string) *eraser {
	return &eraser{store: s, b: b, tenant: t, workspace: workspace, gone: map[storage.Position]bool{},
		chunks: map[storage.Position]bool{}, hashes: map[storage.Hash]bool{}, spaces: map[string]bool{}, dropped: map[abi.ResourcePointer]bool{}, volume: map[space]int64{}}
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

// admitErasures reports why what a commit erases cannot be erased, nil if it can.
func (s *Store) admitErasures(f *storage.Frame) error {
	frames := 0
	for i := range f.Records {
		r := &f.Records[i]
		if r.Erase == nil {
			continue
		}
		if !s.prepared.Load() {
			return storage.ErrPreparing
		}
		err := s.eachFrameOf(f.Tenant, r.Resource, func(first storage.Position) error {
			if frames++; frames > storage.MaxErased {
				return fmt.Errorf("erasing %s: %w", r.Resource.ID, storage.ErrTooLarge)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// unused returns an error if something was made from r that is not erased, or r is a Task that has not
// ended.
func (s *Store) unused(t storage.Tenant, r abi.ResourcePointer) error {
	users, err := s.users(t, r, 1)
	if err != nil {
		return err
	}
	if len(users) > 0 {
		return fmt.Errorf("%s is the source of %s: %w", r.ID, users[0].ID, storage.ErrInUse)
	}
	_, active, err := lookup(s.db, appendID(appendPrefix(nil, t, spaceActive), r.ID))
	if err == nil && active && r.Object == abi.ObjectTask {
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

// eachFrameOf calls f with where each frame of a Task, a Session or an Artifact begins.
func (s *Store) eachFrameOf(t storage.Tenant, r abi.ResourcePointer, f func(storage.Position) error) error {
	if r.Object == abi.ObjectArtifact {
		return s.eachOwnFrame(t, r, f)
	}
	for _, index := range ownIndexes() {
		if index.object != r.Object {
			continue
		}
		prefix := scopePrefix(nil, t, index.space, r.ID)
		return scan(s.db, prefix, keyAfter(prefix), func(key, _ []byte) error { return f(lastPosition(key)) })
	}
	return nil
}

// eachOwnFrame calls f with where the frames begin that state an Artifact: the one that has brought it
// into being, and the one that says that it is to be erased.
func (s *Store) eachOwnFrame(t storage.Tenant, r abi.ResourcePointer, f func(storage.Position) error) error {
	for _, suffix := range []byte{suffixOrigin, suffixLatest} {
		p, ok, err := s.pointer(t, r, suffix)
		if err != nil || !ok || p.moved() {
			if err != nil {
				return err
			}
			continue
		}
		frame, _, err := s.frame(t, p.first)
		if errors.Is(err, errErased) || errors.Is(err, storage.ErrCursorExpired) {
			continue
		}
		if err == nil && !storage.OwnFrame(frame, r) {
			err = fmt.Errorf("what tells of %s tells of more: %w", r.ID, storage.ErrInUse)
		}
		if err == nil {
			err = f(p.first)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// erase adds what the erasures of a frame remove to a batch, or nothing when one of them cannot
// be.
func (s *Store) erase(b *pebble.Batch, f *storage.Frame) error {
	if err := s.admitErasures(f); err != nil {
		return err
	}
	return s.erasing(b, f.Tenant, f.WorkspaceID, func(e *eraser) error {
		for i := range f.Records {
			if r := &f.Records[i]; r.Erase != nil {
				if err := e.erase(r.Resource, r.Erase); err != nil {
					return fmt.Errorf("erasing %s: %w", r.Resource.ID, err)
				}
			}
		}
		return nil
	})
}

// erasing adds to a batch what f erases, if f succeeds. What the marks of lists count then has
// still to be written.
func (s *Store) erasing(b *pebble.Batch, t storage.Tenant, workspace string, f func(*eraser) error) error {
	own := s.db.NewBatch()
	defer own.Close()
	e := s.newEraser(own, t, workspace)
	err := f(e)
	if err == nil {
		err = e.finish()
	}
	if err != nil {
		s.counts.forgetChanges()
		return err
	}
	s.counts.leaveOut(e.unmarked)
	s.chunkKeys = chunkKeys{} // some may have to be written again
	s.erased.note(e)
	s.volumes.take(e.volume)
	return b.Apply(own, nil)
}

func (e *eraser) erase(r abi.ResourcePointer, op *storage.Erasure) error {
	if err := e.store.unused(e.tenant, r); err != nil {
		return err
	}
	if op.Source != (abi.ResourcePointer{}) {
		_ = e.b.Delete(appendResource(userPrefix(nil, e.tenant, op.Source), r), nil) // fails only on an indexed batch
	}
	of := owners{workspace: e.workspace, session: op.Session, task: op.Task}
	switch r.Object {
	case abi.ObjectTask:
		of.task = r.ID
	case abi.ObjectSession:
		of.session = r.ID
	}
	// Frames of an Artifact say themselves whose it is.
	err := e.store.eachFrameOf(e.tenant, r, func(first storage.Position) error { return e.frame(r, of, first) })
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
	if e.gone[first] {
		return nil
	}
	e.forget(f, refs)
	e.bytes += uint64(len(text))
	e.events += uint64(len(f.Records))
	return e.forgetVolume(f, refs, len(text))
}

// forget removes a frame and the keys by which it is found.
func (e *eraser) forget(f *storage.Frame, refs outline) {
	e.gone[f.First] = true
	e.spans = append(e.spans, span{f.First, lastOf(f)})
	_ = e.b.Delete(frameKey(nil, f.Tenant, f.First), nil) // fails only on an indexed batch
	for _, index := range e.store.indexesOf(f.First) {
		if id := index.owner(f); id != "" {
			_ = e.b.Delete(appendPosition(scopePrefix(nil, f.Tenant, index.space, id), f.First), nil) // as above
		}
	}
	e.chunks[chunkOf(f.First)] = true
	if f.WorkspaceID != "" && f.First >= e.store.chunked {
		e.spaces[f.WorkspaceID] = true
	}
	for _, h := range referencesOf(f, refs) {
		e.hashes[h] = true
	}
}

// record removes what a record says.
func (e *eraser) record(r abi.ResourcePointer, of owners, f *storage.Frame, i int, refs outline) error {
	rec, at := &f.Records[i], f.First+storage.Position(i)
	if rec.Intake.Kind == storage.IntakeReceive || rec.Intake.Kind == storage.IntakePend {
		_, pending, err := lookup(e.store.db, appendPosition(pendingPrefix(nil, e.tenant, rec.Intake.Connector), at))
		if err == nil && pending {
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
	if rec.State == nil && refs.state(i) == nil || e.dropped[rec.Resource] {
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
	return e.store.moveValue(e.b, st)
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
	if err := e.unlist(origin, len(listKey(e.tenant, r.Object, storage.Scope{}))); err != nil {
		return err
	}
	for _, object := range storage.ListedBy(r.Object) {
		if id := of.of(object); id != "" {
			key := listPrefix(nil, e.tenant, r.Object, storage.Scope{Object: object, ID: id})
			list := len(key)
			if err := e.unlist(appendID(key, r.ID), list); err != nil {
				return err
			}
		}
	}
	_ = e.b.Delete(resourceKey(nil, e.tenant, r, suffixLatest), nil) // fails only on an indexed batch
	_ = e.b.Delete(sequenceKey(nil, e.tenant, r), nil)               // as above
	_ = e.b.Delete(deletedKey(nil, e.tenant, r), nil)                // as above
	return nil
}

// unlist removes the entry of a list, whose name is the first bytes of the key.
func (e *eraser) unlist(key []byte, list int) error {
	if err := e.store.counts.noteEntry(e.store.db, key, list, false); err != nil {
		return err
	}
	_ = e.b.Delete(key, nil) // as above
	return nil
}

// listed removes what is listed by a resource that goes, and the lists.
func (e *eraser) listed(r abi.ResourcePointer, of owners) error {
	for _, o := range storage.ListsOf(r.Object) {
		list := listPrefix(nil, e.tenant, o, storage.Scope{Object: r.Object, ID: r.ID})
		err := scan(e.store.db, list, keyAfter(list), func(key, _ []byte) error {
			id, rest, ok := cutID(key[len(list):])
			if !ok || len(rest) > 0 {
				return &CorruptError{Tenant: e.tenant, Key: clone(key), Reason: errMalformed.Error()}
			}
			return e.entry(r, of, abi.ResourcePointer{Object: o, ID: id})
		})
		if err != nil {
			return err
		}
		e.deletePrefix(list)
		marks := marksOf(nil, list, 0)
		marks = marks[:len(marks)-1] // of all levels
		e.deletePrefix(marks)
		e.unmarked = append(e.unmarked, marks)
	}
	if r.Object != abi.ObjectSession {
		return nil
	}
	e.deletePrefix(transcriptPrefix(nil, e.tenant, r.ID))
	return e.values(r, of)
}

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
	prefix := append(append(listKey(e.tenant, abi.ObjectState, storage.Scope{}), stateCode), u[:]...)
	return scan(e.store.db, prefix, keyAfter(prefix), func(key, _ []byte) error {
		k, ok := parseKey(key)
		if !ok {
			return &CorruptError{Tenant: e.tenant, Key: clone(key), Reason: errMalformed.Error()}
		}
		return e.drop(k.resource(), of)
	})
}

func (e *eraser) deletePrefix(prefix []byte) { _ = e.b.DeleteRange(prefix, keyAfter(prefix), nil) } // as above

// finish removes the keys of chunks that no frame needs any more, and makes gaps of what is gone.
func (e *eraser) finish() error {
	s := e.store
	for chunk := range e.chunks {
		hashes, workspaces, err := referencesIn(s.db, s.blobs, e.tenant, chunk, func(p storage.Position) bool { return e.gone[p] })
		if err != nil {
			return err
		}
		for h := range e.hashes {
			if !hashes[h] {
				_ = e.b.Delete(appendPosition(referredPrefix(nil, e.tenant, h), chunk), nil) // fails only on an indexed batch
			}
		}
		for w := range e.spaces {
			if !workspaces[w] {
				_ = e.b.Delete(appendPosition(chunkPrefix(nil, e.tenant, w), chunk), nil) // as above
			}
		}
	}
	return addGaps(s.db, e.b, joined(e.spans))
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
	var first []storage.Position
	err = s.eachFrameOf(t, r, func(p storage.Position) error {
		if first = append(first, p); len(first) > 2*storage.MaxErased {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) || len(first) <= storage.MaxErased {
		return false, err
	}
	more = len(first) > 2*storage.MaxErased
	return more, s.do(ctx, func(b *pebble.Batch) error { return s.strip(b, t, r, first[:storage.MaxErased]) })
}

// strip removes frames, and what they state of resources that go with r.
func (s *Store) strip(b *pebble.Batch, t storage.Tenant, r abi.ResourcePointer, first []storage.Position) error {
	err := s.erasing(b, t, "", func(e *eraser) error {
		e.stays = r
		for _, p := range first {
			if err := e.frame(r, owners{}, p); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		s.writeCounts(b)
	}
	return err
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
		d := &decoder{rest: key[len(prefix):]}
		user := abi.ResourcePointer{Object: d.object(), ID: d.id()}
		if d.end() != nil {
			return &CorruptError{Tenant: t, Key: clone(key), Reason: errMalformed.Error()}
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
