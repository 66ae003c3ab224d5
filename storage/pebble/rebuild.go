package pebble

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/wharf-dev/wharf/storage"
)

// derivedSpaces are the spaces that follow from the frames, in the order of keys.
var derivedSpaces = []byte{spaceActive, spaceChunk, spaceList, spaceTranscript, spaceWords, spaceSequence,
	spaceResource, spaceSession, spaceTask, spaceWorkspace, spaceUser, spaceReferred, spaceDeleted}

// Rebuild implements [storage.Checker]. It derives every projection and index again from the frames, into a scratch
// database in [Options.Scratch], and compares the two key by key. It changes
// nothing else. What follows from events that retention has removed cannot be derived;
// it is counted as kept. progress may be nil. Memory does not grow with the log;
// the disk needs room for the projections once more.
func (s *Store) Rebuild(ctx context.Context, progress func(storage.Progress)) (storage.Report, error) {
	return s.inspect(ctx, progress, (*inspection).rebuild)
}

func (c *inspection) rebuild() (err error) {
	fs, dir, err := c.store.scratch()
	if err != nil {
		return err
	}
	if err := fs.RemoveAll(dir); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(c.ctx)
	defer cancel(nil)
	c.ctx = ctx
	scratch, err := openScratch(fs, dir, cancel)
	if err != nil {
		return fmt.Errorf("opening the scratch database: %w", err)
	}
	defer func() { err = errors.Join(err, scratch.Close(), fs.RemoveAll(dir)) }()
	err = eachTenant(c.snap, func(t storage.Tenant) error {
		c.report.Tenants++
		c.phase("rebuild")
		if err := c.derive(scratch, t); err != nil {
			return err
		}
		c.phase("compare")
		for _, space := range derivedSpaces {
			if !c.prepared && (space == spaceUser || space == spaceReferred) {
				continue // an older program has not written them, and a node is still at it
			}
			if err := c.compare(scratch, t, space); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return c.checkVolumes()
}

// scratch returns where a database may be made that is thrown away.
func (s *Store) scratch() (fs vfs.FS, dir string, err error) {
	fs, dir = s.opts.FS, s.opts.Scratch
	if s.readOnly {
		fs = fs.Unwrap()
	}
	switch {
	case dir == "" && s.readOnly:
		return nil, "", fmt.Errorf("a rebuild needs a folder for its scratch database: %w", ErrReadOnly)
	case dir == "":
		dir = s.dir
	}
	return fs, fs.PathJoin(dir, scratchDir), nil
}

// openScratch opens a database that is thrown away. What it cannot write is told to
// cancel; it never makes a writer wait, who would wait for ever then.
func openScratch(fs vfs.FS, dir string, cancel context.CancelCauseFunc) (*pebble.DB, error) {
	return pebble.Open(dir, &pebble.Options{
		FS: fs, DisableWAL: true, FormatMajorVersion: pebble.FormatNewest,
		MemTableSize: 16 << 20, MemTableStopWritesThreshold: 1 << 20, L0StopWritesThreshold: 1 << 20,
		Logger:        quietLog{cancel},
		EventListener: &pebble.EventListener{BackgroundError: func(err error) { cancel(err) }},
	})
}

// derive applies the rules of projection to every frame of a tenant, in order.
// A tenant's projections depend on its own frames alone.
func (c *inspection) derive(scratch *pebble.DB, t storage.Tenant) error {
	err := c.eachFrame(t, func(f *storage.Frame, refs outline) error {
		b := scratch.NewBatch()
		defer b.Close()
		d := newDraft()
		defer d.free()
		d.addIndexes(f, c.store.indexesOf(f.First))
		if f.WorkspaceID != "" && f.First >= c.store.chunked {
			d.addChunk(f)
		}
		if err := c.store.resolveMemories(c.ctx, f, refs); err != nil {
			return err
		}
		if err := c.store.blobs.resolveReferring(c.ctx, f, refs); err != nil && !errors.Is(err, storage.ErrDamaged) {
			return err // what is damaged is told by a check
		}
		d.addRecords(f, refs)
		d.place(f.First)
		for _, cp := range d.copies {
			if err := copyTranscript(scratch, b, cp); err != nil {
				return err
			}
		}
		for _, m := range d.forgets {
			if err := forgetWords(scratch, b, m); err != nil {
				return err
			}
		}
		d.applyAll(b)
		return scratch.Apply(b, pebble.NoSync)
	})
	if err != nil {
		return err
	}
	first, err := c.firstBucket()
	if err != nil {
		return err
	}
	return scratch.DeleteRange(appendPrefix(nil, t, spaceSeen), seenKey(nil, t, first, storage.DeliveryKey{}), pebble.NoSync)
}

// firstBucket returns the first bucket of delivery keys that is kept.
func (c *inspection) firstBucket() (uint32, error) {
	v, ok, err := lookup(c.snap, metaKey(metaSeen))
	if err != nil || !ok || len(v) != 4 {
		return 0, err
	}
	return binary.BigEndian.Uint32(v), nil
}

// compare walks over one space of both databases at once.
func (c *inspection) compare(scratch *pebble.DB, t storage.Tenant, space byte) error {
	prefix := appendPrefix(nil, t, space)
	o := &pebble.IterOptions{LowerBound: prefix, UpperBound: keyAfter(prefix)}
	stored, err := c.snap.NewIter(o)
	if err != nil {
		return err
	}
	derived, err := scratch.NewIter(o)
	if err != nil {
		return errors.Join(err, stored.Close())
	}
	stored.First()
	derived.First()
	for (stored.Valid() || derived.Valid()) && err == nil {
		c.comparePair(stored, derived)
		err = c.step()
	}
	return errors.Join(err, stored.Close(), derived.Close())
}

// comparePair looks at the smaller of the two keys and moves past it.
func (c *inspection) comparePair(stored, derived *pebble.Iterator) {
	switch order := compareKeys(stored, derived); {
	case order < 0:
		if c.kept(stored.Key(), stored.Value()) {
			c.report.Kept++
		} else {
			c.fault("key %x is stored but does not follow from the log", stored.Key())
		}
		stored.Next()
	case order > 0:
		c.fault("key %x follows from the log but is not stored", derived.Key())
		derived.Next()
	default:
		switch {
		case bytes.Equal(stored.Value(), derived.Value()):
		case restated(stored.Key()) && c.kept(stored.Key(), stored.Value()): // of events that are left, an earlier one says the same
			c.report.Kept++
		default:
			c.fault("key %x holds %x but %x follows from the log", stored.Key(), stored.Value(), derived.Value())
		}
		stored.Next()
		derived.Next()
	}
}

func compareKeys(a, b *pebble.Iterator) int {
	switch {
	case !b.Valid():
		return -1
	case !a.Valid():
		return 1
	}
	return bytes.Compare(a.Key(), b.Key())
}

// restated reports whether a later event changes the value of a key.
func restated(key []byte) bool {
	return key[prefixLen-1] == spaceResource || key[prefixLen-1] == spaceSequence
}

// kept reports whether a pair follows from an event that retention has removed.
func (c *inspection) kept(key, value []byte) bool {
	k, ok := parseKey(key)
	if !ok {
		return false
	}
	switch k.space {
	case spaceResource:
		p, err := decodePointer(value)
		return err == nil && c.removed(p.position())
	case spaceTranscript:
		return c.removed(k.position)
	case spaceChunk:
		return k.position*chunkEvents <= c.report.Floor
	case spaceSequence, spaceList, spaceActive, spaceWords, spaceUser, spaceDeleted:
		return len(value) >= positionLen && c.removed(positionAt(value))
	case spaceReferred:
		return k.reference.chunk >= referredByAnswer || k.reference.chunk*chunkEvents <= c.report.Floor
	}
	return false
}

// quietLog drops what a scratch database has to say, save for what is fatal.
type quietLog struct{ cancel context.CancelCauseFunc }

// Infof implements pebble.Logger.
func (quietLog) Infof(string, ...any) {}

// Errorf implements pebble.Logger.
func (quietLog) Errorf(string, ...any) {}

// Fatalf implements pebble.Logger.
func (l quietLog) Fatalf(format string, args ...any) { l.cancel(fmt.Errorf(format, args...)) }
