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

const (
	// retainFrames is how many frames are removed in one commit. Writers wait for it.
	retainFrames = 256
	// rangeKeys is from how many keys of one index on a range is deleted instead of
	// the keys. Tombstones of ranges cost readers more than those of keys.
	rangeKeys = 8
)

// Retain implements [storage.Retainer]. When a frame goes, the values of resources in it move
// into the resources' pointers.
func (s *Store) Retain(ctx context.Context, before time.Time) (removed int, err error) {
	s.retaining.Lock()
	defer s.retaining.Unlock()
	release, err := s.use()
	if err != nil {
		return 0, err
	}
	defer release()
	floor, err := s.newFloor(ctx, before)
	if err != nil {
		return 0, fmt.Errorf("looking for events to remove: %w", err)
	}
	for old := storage.Position(s.floor.Load()); old < floor; old = storage.Position(s.floor.Load()) {
		if err := s.retainStep(ctx, floor); err != nil {
			return removed, fmt.Errorf("removing events: %w", err)
		}
		removed += int(storage.Position(s.floor.Load()) - old)
	}
	return removed, nil
}

// newFloor returns the highest position up to which everything may go.
func (s *Store) newFloor(ctx context.Context, before time.Time) (storage.Position, error) {
	keep := s.mark.position() + 1 // the first position that stays
	err := eachTenant(s.db, func(t storage.Tenant) error {
		newer, err := s.firstNewer(ctx, t, before, keep)
		if err != nil {
			return err
		}
		keep = min(keep, newer)
		pending, err := firstPending(s.db, t, keep)
		if err == nil && pending < keep {
			keep, err = s.frameOf(t, pending)
		}
		if err != nil {
			return err
		}
		return eachActive(ctx, s.db, t, func(t storage.Tenant, task string) error {
			first, err := s.firstOfTask(t, task)
			keep = min(keep, first)
			return err
		})
	})
	return keep - 1, err
}

// frameOf returns where the frame begins that holds the event at p: it stays as a whole.
func (s *Store) frameOf(t storage.Tenant, p storage.Position) (storage.Position, error) {
	it, err := s.iterate(frameKey(nil, t, 0), frameKey(nil, t, p+1))
	if err != nil {
		return 0, err
	}
	if it.Last() {
		p = lastPosition(it.Key())
	}
	return p, ended(it, nil)
}

// firstNewer returns the first frame of t that is not older than before, or keep.
func (s *Store) firstNewer(ctx context.Context, t storage.Tenant, before time.Time, keep storage.Position) (storage.Position, error) {
	it, err := s.iterate(frameKey(nil, t, 0), frameKey(nil, t, keep))
	if err != nil {
		return 0, err
	}
	first := keep
	for ok := it.First(); ok && err == nil; ok = it.Next() {
		var at time.Time
		if at, err = frameTime(it.Value()); err == nil && !at.Before(before) {
			first = lastPosition(it.Key())
			break
		}
		err = errors.Join(err, ctx.Err())
	}
	return first, ended(it, err)
}

// frameTime reads a frame's time without the rest.
func frameTime(value []byte) (time.Time, error) {
	d := &decoder{rest: value}
	version, at := d.byte(), d.time()
	if d.bad || version < frameVersion1 || version > frameVersion {
		return at, errMalformed
	}
	return at, nil
}

// firstOfTask returns the position of a Task's first event.
func (s *Store) firstOfTask(t storage.Tenant, task string) (storage.Position, error) {
	prefix := scopePrefix(nil, t, spaceTask, task)
	it, err := s.iterate(prefix, keyAfter(prefix))
	if err != nil {
		return 0, err
	}
	first := ^storage.Position(0)
	if it.First() {
		first = lastPosition(it.Key())
	}
	return first, ended(it, err)
}

// retainStep removes the oldest frames, up to retainFrames of each tenant, and
// moves the floor.
func (s *Store) retainStep(ctx context.Context, floor storage.Position) error {
	r := &removal{store: s, floor: floor}
	if err := eachTenant(s.db, func(t storage.Tenant) error { return r.limit(ctx, t) }); err != nil {
		return err
	}
	if err := eachTenant(s.db, func(t storage.Tenant) error { return r.collect(ctx, t) }); err != nil {
		return err
	}
	return s.remove(ctx, r.commit)
}

// removal is what one step of retention removes.
type removal struct {
	store *Store
	floor storage.Position // the last position that goes

	tenants []storage.Tenant
	index   map[string][]storage.Position // the index keys that go: what they start with, where they end
	stated  []statement
	volume  []weighed // of Workspaces, that becomes free
	// cut is the chunk that reaches beyond the floor, and cuts what the frames of each tenant had in it that go.
	cut  storage.Position
	cuts map[storage.Tenant]*touched
}

// statement is a resource that a record which goes has stated.
type statement struct {
	tenant   storage.Tenant
	resource abi.ResourcePointer
	suffix   byte
	position storage.Position
	value    []byte
	blob     *blobRef
	frame    *storage.Frame // which says whose it is
}

// limit lowers the floor so that no more than retainFrames of t go.
func (r *removal) limit(ctx context.Context, t storage.Tenant) error {
	it, err := r.store.iterate(frameKey(nil, t, 0), frameKey(nil, t, r.floor+1))
	if err != nil {
		return err
	}
	n := 0
	for ok := it.First(); ok; ok = it.Next() {
		if n++; n > retainFrames {
			r.floor = lastPosition(it.Key()) - 1
			break
		}
	}
	return ended(it, ctx.Err())
}

// collect notes what goes of t.
func (r *removal) collect(ctx context.Context, t storage.Tenant) error {
	if r.index == nil {
		r.index = make(map[string][]storage.Position)
	}
	r.tenants = append(r.tenants, t)
	return scan(r.store.db, frameKey(nil, t, 0), frameKey(nil, t, r.floor+1), func(key, value []byte) error {
		f, refs, err := decodeFrame(t, lastPosition(key), value)
		if err != nil {
			return err
		}
		if err := r.store.blobs.resolveReferring(ctx, f, refs); err != nil && !errors.Is(err, storage.ErrDamaged) {
			return err
		}
		if f.WorkspaceID != "" && !r.store.volumes.uncounted(f.First) {
			n, err := volumeOf(r.store.db, f, refs, len(value))
			if err != nil {
				return err
			}
			r.volume = append(r.volume, weighed{space{t, f.WorkspaceID}, f.First, n})
		}
		r.frame(f, refs)
		return ctx.Err()
	})
}

func (r *removal) frame(f *storage.Frame, refs outline) {
	for _, s := range r.store.indexesOf(f.First) {
		if id := s.owner(f); id != "" {
			prefix := string(scopePrefix(nil, f.Tenant, s.space, id))
			r.index[prefix] = append(r.index[prefix], f.First)
		}
	}
	r.chunk(f)
	r.referred(f, refs)
	for i := range f.Records {
		rec := &f.Records[i]
		if rec.State == nil && refs.state(i) == nil {
			continue
		}
		suffix := byte(suffixLatest)
		if rec.Created {
			suffix = suffixOrigin
		}
		st := statement{f.Tenant, rec.Resource, suffix, f.First + storage.Position(i), rec.State, refs.state(i), f}
		r.stated = append(r.stated, st)
	}
}

// within returns what is noted of the frame's chunk if that reaches beyond the floor, nil if it does not.
func (r *removal) within(f *storage.Frame) *touched {
	chunk := chunkOf(f.First)
	if chunkEnd(chunk) <= r.floor+1 {
		return nil
	}
	if r.cuts[f.Tenant] == nil {
		if r.cuts == nil {
			r.cuts = map[storage.Tenant]*touched{}
		}
		r.cuts[f.Tenant] = &touched{hashes: map[storage.Hash]bool{}, workspaces: map[string]bool{}}
	}
	r.cut = chunk
	return r.cuts[f.Tenant]
}

// chunk notes that the key of the frame's chunk goes, if no frame that stays needs it.
func (r *removal) chunk(f *storage.Frame) {
	chunk := chunkOf(f.First)
	if f.WorkspaceID == "" || f.First < r.store.chunked {
		return
	}
	if c := r.within(f); c != nil {
		c.workspaces[f.WorkspaceID] = true
		return
	}
	prefix := string(chunkPrefix(nil, f.Tenant, f.WorkspaceID))
	if seen := r.index[prefix]; len(seen) == 0 || seen[len(seen)-1] != chunk {
		r.index[prefix] = append(seen, chunk)
	}
}

// referred notes that the keys of what the frame refers to go, if no frame of its chunk that stays refers to it.
func (r *removal) referred(f *storage.Frame, refs outline) {
	chunk, c := chunkOf(f.First), r.within(f)
	for _, h := range referencesOf(f, refs) {
		if c != nil {
			c.hashes[h] = true
			continue
		}
		prefix := string(referredPrefix(nil, f.Tenant, h))
		if seen := r.index[prefix]; len(seen) == 0 || seen[len(seen)-1] != chunk {
			r.index[prefix] = append(seen, chunk)
		}
	}
}

// commit writes the removal. It runs in the committer, so that no pointer changes
// between being read and being rewritten. The floor is raised first: a reader that
// misses a frame must find out why.
func (r *removal) commit(b *pebble.Batch) error {
	r.store.floor.Store(uint64(r.floor))
	for _, st := range r.stated {
		if err := r.store.moveValue(b, st); err != nil {
			return err
		}
	}
	for _, t := range r.tenants {
		_ = b.DeleteRange(frameKey(nil, t, 0), frameKey(nil, t, r.floor+1), nil)                        // fails only on an indexed batch
		_ = b.DeleteRange(contentPrefix(nil, t), appendPosition(contentPrefix(nil, t), r.floor+1), nil) // as above
	}
	for prefix, firsts := range r.index {
		deleteIndex(b, []byte(prefix), firsts)
	}
	if err := r.trim(b); err != nil {
		return err
	}
	if err := dropGaps(r.store.db, b, r.floor); err != nil {
		return err
	}
	if err := r.takeVolume(); err != nil {
		return err
	}
	return b.Set(metaKey(metaFloor), appendPosition(nil, r.floor), nil)
}

// trim removes the keys of the chunk that reaches beyond the floor which none of its other frames needs.
func (r *removal) trim(b *pebble.Batch) error {
	for t, c := range r.cuts {
		err := r.store.untouched(t, r.cut, c, func(first storage.Position) bool { return first > r.floor })
		if err != nil {
			return err
		}
		c.keys(t, r.cut, func(key []byte) { _ = b.Delete(key, nil) }) // fails only on an indexed batch
	}
	r.store.chunkKeys = chunkKeys{} // some may have to be written again
	return nil
}

// deleteIndex deletes the keys made of prefix and each of firsts, which are all
// that there are up to the last of them.
func deleteIndex(b *pebble.Batch, prefix []byte, firsts []storage.Position) {
	n := len(prefix)
	if len(firsts) >= rangeKeys {
		last := firsts[len(firsts)-1]
		_ = b.DeleteRange(appendPosition(prefix[:n:n], 0), appendPosition(prefix[:n:n], last+1), nil) // as above
		return
	}
	for _, p := range firsts {
		_ = b.Delete(appendPosition(prefix[:n:n], p), nil) // as above
	}
}

// moveValue puts the value into the pointer if the resource's present form is the
// one that goes.
func (s *Store) moveValue(b *pebble.Batch, st statement) error {
	if st.suffix == suffixOrigin {
		_, stated, err := s.pointer(st.tenant, st.resource, suffixLatest)
		if err != nil || stated {
			return err
		}
	}
	p, ok, err := s.pointer(st.tenant, st.resource, st.suffix)
	if err != nil || !ok || p.position() != st.position {
		return err
	}
	for _, key := range st.references() {
		_ = b.Set(key, nil, nil) // fails only on an indexed batch
	}
	if err := s.keepListed(b, st); err != nil {
		return err
	}
	return b.Set(resourceKey(nil, st.tenant, st.resource, st.suffix), st.moved(p), nil)
}

// moved returns the pointer of what was stated, with the value.
func (st *statement) moved(p pointer) []byte {
	if p.inline, p.blob = st.value, st.blob; p.blob != nil {
		p.inline = nil
	}
	return appendPointer(nil, p)
}

// references returns the keys of the blobs that the pointer refers to.
func (st *statement) references() [][]byte {
	return pointerReferences(st.tenant, st.resource, st.suffix, st.value, st.blob)
}

// keptIn returns the keys by which an erasure finds what is in no other list.
func (st *statement) keptIn() (keys [][]byte) {
	for _, o := range storage.KeptBy(st.resource.Object) {
		if id := st.frame.Owner(o); id != "" {
			list := listPrefix(nil, st.tenant, st.resource.Object, storage.Scope{Object: o, ID: id})
			keys = append(keys, appendID(list, st.resource.ID))
		}
	}
	return keys
}

// keepListed lists what an erasure would not find otherwise.
func (s *Store) keepListed(b *pebble.Batch, st statement) error {
	keys := st.keptIn()
	if len(keys) == 0 {
		return nil
	}
	origin, ok, err := s.pointer(st.tenant, st.resource, suffixOrigin)
	if err != nil || !ok {
		return err
	}
	for _, key := range keys {
		_ = b.Set(key, appendPosition(nil, origin.position()), nil) // fails only on an indexed batch
	}
	return nil
}
