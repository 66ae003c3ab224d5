package pebble

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/wharf-dev/wharf/storage"
)

// What a Workspace takes is kept as a tally. The committer adds up in memory what frames bring, and writes what
// has changed once in a while, with the position up to which the tallies are complete: an ordinary commit costs an addition.
// Who opens the folder adds the frames after that position. Whatever removes frames writes the tallies in its own batch, so
// that those after the position are all there.

// tallyEvery is after how many bytes of the log tallies are written. So many are read at a start.
const tallyEvery = 1 << 20

// The kinds of keys in the space of volumes.
const (
	volumeTally   = 0 // of a Workspace
	volumeContent = 1 // of a frame: the content that it names
)

// space is a Workspace of a tenant.
type space struct {
	tenant storage.Tenant
	id     string
}

// volumes are what Workspaces take. The committer alone changes them.
type volumes struct {
	mu sync.Mutex
	// changes is what was added since the tallies were written, written what these said then: the batch that
	// says so may not be applied yet.
	changes, written map[space]int64
	writes           uint64 // counts how often they were written
	// log is how many bytes of the log have come since, and due says that the next batch has to have the tallies.
	log int
	due bool
	// from and to bound the frames that an older program has written and that are not counted yet. Who holds
	// Store.retaining may read them.
	from, to storage.Position
}

func (v *volumes) init() { v.changes, v.written = map[space]int64{}, map[space]int64{} }

// add adds what a frame takes.
func (v *volumes) add(f *storage.Frame, bytes int64) {
	if f.WorkspaceID == "" {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.changes[space{f.Tenant, f.WorkspaceID}] += bytes
}

// take takes away what frames had that are gone.
func (v *volumes) take(gone map[space]int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.due = true
	for s, n := range gone {
		v.changes[s] -= n
	}
}

// uncounted reports whether a frame is still to be counted.
func (v *volumes) uncounted(first storage.Position) bool { return first >= v.from && first < v.to }

// known returns what is known of a Workspace without the database, and what has to be added to what that has.
func (v *volumes) known(s space) (written int64, ok bool, change int64, writes uint64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	written, ok = v.written[s]
	return written, ok, v.changes[s], v.writes
}

// settle notes what a batch says that is about to be applied. What was written before that is in the database.
func (v *volumes) settle(written map[space]int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.written, v.changes = written, map[space]int64{}
	v.writes++
	v.log, v.due = 0, false
}

func volumeKey(s space) []byte {
	return appendID(append(appendPrefix(nil, s.tenant, spaceVolume), volumeTally), s.id)
}

// contentPrefix returns what the keys of the content that frames name start with.
func contentPrefix(dst []byte, t storage.Tenant) []byte {
	return append(appendPrefix(dst, t, spaceVolume), volumeContent)
}

// SizeOf implements [storage.Sizer].
func (s *Store) SizeOf(_ context.Context, t storage.Tenant, workspace string) (bytes int64, known bool, err error) {
	release, err := s.use()
	if err != nil {
		return 0, false, err
	}
	defer release()
	if !s.prepared.Load() {
		return 0, false, nil
	}
	about := space{t, workspace}
	for {
		written, ok, change, writes := s.volumes.known(about)
		if !ok {
			if written, err = s.tallied(about); err != nil {
				return 0, false, err
			}
		}
		if _, _, _, now := s.volumes.known(about); ok || now == writes {
			return written + change, true, nil
		}
	}
}

// tallied returns what the database says that a Workspace takes.
func (s *Store) tallied(about space) (int64, error) {
	v, ok, err := lookup(s.db, volumeKey(about))
	if err != nil || !ok {
		return 0, err
	}
	n, rest, ok := cutUvarint(v)
	if !ok || len(rest) > 0 {
		return 0, &CorruptError{Tenant: about.tenant, Key: volumeKey(about), Reason: errMalformed.Error()}
	}
	return int64(n), nil
}

// writeVolumes adds the tallies to a batch, if it is time. They are complete up to last then.
func (s *Store) writeVolumes(b *pebble.Batch, last storage.Position) error {
	v := &s.volumes
	if !v.due && v.log < tallyEvery {
		return nil
	}
	written := make(map[space]int64, len(v.changes))
	for about, change := range v.changes {
		n, ok := v.written[about]
		if !ok {
			var err error
			if n, err = s.tallied(about); err != nil {
				return fmt.Errorf("reading what %s takes: %w", about.id, err)
			}
		}
		n = max(0, n+change)                                                   // less than nothing is a fault that a check tells of
		_ = b.Set(volumeKey(about), binary.AppendUvarint(nil, uint64(n)), nil) // fails only on an indexed batch
		written[about] = n
	}
	v.settle(written)
	return b.Set(metaKey(metaMeasured), appendPosition(nil, last), nil)
}

// finishVolumes writes the tallies at the end.
func (s *Store) finishVolumes() {
	if len(s.volumes.changes) == 0 || s.fail.err() != nil {
		return
	}
	s.volumes.due = true
	s.submit(&group{batch: s.db.NewBatch(), last: s.next - 1})
}

// recoverVolumes finds out up to where tallies are complete, and adds what came after. In a folder that has none
// everything is counted.
func (s *Store) recoverVolumes() error {
	v, ok, err := s.meta(metaMeasured)
	if err != nil {
		return err
	}
	if !ok {
		b := s.db.NewBatch()
		defer b.Close()
		if err = s.recount(b); err == nil {
			err = b.Commit(pebble.Sync)
		}
		if err != nil {
			return err
		}
		v = appendPosition(nil, s.next-1)
	}
	if len(v) != positionLen {
		return &CorruptError{Key: metaKey(metaMeasured), Reason: errMalformed.Error()}
	}
	if s.volumes.to, err = s.metaPosition(metaPrepared); err != nil {
		return err
	}
	if s.volumes.from, err = s.metaPosition(metaPreparing); err != nil {
		return err
	}
	after := positionAt(v)
	return eachTenant(s.db, func(t storage.Tenant) error {
		return scan(s.db, frameKey(nil, t, after+1), keyAfter(appendPrefix(nil, t, spaceFrame)), func(key, value []byte) error {
			f, refs, err := decodeFrame(t, lastPosition(key), value)
			if errors.Is(err, storage.ErrDamaged) { // it is told where it is read
				return nil
			}
			if err != nil {
				return err
			}
			n, err := volumeOf(s.db, f, refs, len(value))
			s.volumes.add(f, n)
			return err
		})
	})
}

// recount has everything looked at anew that is there: what refers to what, and what Workspaces take.
func (s *Store) recount(b *pebble.Batch) error {
	_ = b.Set(metaKey(metaPrepared), appendPosition(nil, s.next), nil) // fails only on an indexed batch
	_ = b.Delete(metaKey(metaPreparing), nil)                          // as above
	_ = b.Set(metaKey(metaMeasured), appendPosition(nil, s.next-1), nil)
	return eachTenant(s.db, func(t storage.Tenant) error {
		prefix := appendPrefix(nil, t, spaceVolume)
		return b.DeleteRange(prefix, keyAfter(prefix), nil)
	})
}

// weigh returns what a frame takes whose draft is made, and notes in the draft what the content takes that it names: that
// cannot be told from the frame.
func (s *Store) weigh(d *draft, f *storage.Frame, refs outline) int64 {
	if f.WorkspaceID == "" {
		return 0
	}
	frame := d.ops[0]
	return ownVolume(f, refs, frame.end-frame.value) + s.addContent(d, f)
}

// addContent notes what the content takes that a frame names.
func (s *Store) addContent(d *draft, f *storage.Frame) (bytes int64) {
	for _, h := range storage.Named(f) {
		bytes += s.blobs.sizeOf(h)
	}
	if bytes > 0 {
		d.begin(opSet)
		d.buf = contentPrefix(d.buf, f.Tenant)
		d.position(0)
		d.endKey()
		d.buf = binary.AppendUvarint(d.buf, uint64(bytes))
		d.end()
	}
	return bytes
}

// ownVolume returns what a frame takes that has so many bytes, without the content that it names.
func ownVolume(f *storage.Frame, refs outline, frame int) int64 {
	n := int64(frame)
	for i := range f.Records {
		for _, ref := range []*blobRef{refs.state(i), refs.payload(i)} {
			if ref != nil {
				n += int64(ref.size)
			}
		}
		if refs.state(i) == nil {
			n += storage.ContentSize(&f.Records[i])
		}
	}
	return n
}

// volumeOf returns what a stored frame takes.
func volumeOf(r pebble.Reader, f *storage.Frame, refs outline, frame int) (int64, error) {
	n := ownVolume(f, refs, frame)
	if !mayName(f, refs) {
		return n, nil
	}
	v, _, err := lookup(r, appendPosition(contentPrefix(nil, f.Tenant), f.First))
	if err != nil {
		return 0, err
	}
	named, _, _ := cutUvarint(v)
	return n + int64(named), nil
}

// mayName reports whether a stored frame names content, or has a payload in a file of its own that may.
func mayName(f *storage.Frame, refs outline) bool {
	for i := range f.Records {
		if refs.payload(i) != nil || bytes.Contains(f.Records[i].Payload, []byte("sha256:")) {
			return true
		}
	}
	return false
}

// forgetVolume notes that a frame goes, with what it took.
func (e *eraser) forgetVolume(f *storage.Frame, refs outline, frame int) error {
	n, err := volumeOf(e.store.db, f, refs, frame)
	if f.WorkspaceID != "" {
		e.volume[space{f.Tenant, f.WorkspaceID}] += n
	}
	if mayName(f, refs) {
		e.delete(appendPosition(contentPrefix(nil, f.Tenant), f.First))
	}
	return err
}

// weighed is a frame that goes, and what it takes.
type weighed struct {
	space
	first  storage.Position
	volume int64
}

// takeVolume takes away what the frames had that go. Those that were erased since they were read are not among them any more.
func (r *removal) takeVolume() error {
	gone := map[space]int64{}
	for _, f := range r.volume {
		_, there, err := lookup(r.store.db, frameKey(nil, f.tenant, f.first))
		if err != nil {
			return err
		}
		if there {
			gone[f.space] += f.volume
		}
	}
	r.store.volumes.take(gone)
	return nil
}

// count notes what a frame takes that is found in a check.
func (c *inspection) count(f *storage.Frame, refs outline, frame int) error {
	if f.WorkspaceID == "" || f.First > c.measured {
		return nil
	}
	n, err := volumeOf(c.snap, f, refs, frame)
	c.volume[space{f.Tenant, f.WorkspaceID}] += n
	return err
}

// checkVolumes holds the tallies against the frames. Memory grows with the Workspaces.
func (c *inspection) checkVolumes() error {
	if !c.prepared || c.measured == 0 {
		return nil // they are still being counted
	}
	err := eachTenant(c.snap, func(t storage.Tenant) error {
		prefix := append(appendPrefix(nil, t, spaceVolume), volumeTally)
		return scan(c.snap, prefix, keyAfter(prefix), func(key, value []byte) error {
			k, ok := parseKey(key)
			n, rest, valid := cutUvarint(value)
			about := space{t, k.id}
			if !ok || !valid || len(rest) > 0 {
				c.fault("key %x: %s", key, errMalformed)
			} else if int64(n) != c.volume[about] {
				c.fault("%s takes %d bytes by its tally, and %d by its events", k.id, n, c.volume[about])
			}
			delete(c.volume, about)
			return c.step()
		})
	})
	for about, n := range c.volume {
		c.fault("%s takes %d bytes, and has no tally", about.id, n)
	}
	return err
}

// checkContent looks at what a frame is said to name.
func (c *inspection) checkContent(t storage.Tenant, k parsedKey, value []byte) (string, error) {
	if k.suffix == volumeTally {
		return "", nil // held against the frames
	}
	f, refs, err := c.frameAt(t, k.position)
	if err != nil {
		return "", err
	}
	if n, rest, ok := cutUvarint(value); !ok || len(rest) > 0 || n == 0 {
		return errMalformed.Error(), nil
	}
	if f == nil || !mayName(f, refs) {
		return "no frame there names content", nil
	}
	return "", nil
}
