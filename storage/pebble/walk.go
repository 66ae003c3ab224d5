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

// Walk implements [storage.Walker]. It skips what is damaged; [Store.Check] reports that.
func (s *Store) Walk(ctx context.Context, v storage.Visitor) (err error) {
	release, err := s.use()
	if err != nil {
		return err
	}
	defer release()
	s.blobs.removing.RLock() // what the snapshot refers to has to stay
	defer s.blobs.removing.RUnlock()
	snap := s.db.NewSnapshot()
	defer func() { err = errors.Join(err, snap.Close()) }()
	w := &walk{store: s, ctx: ctx, snap: snap, Visitor: v}
	if err := w.blobs(); err != nil {
		return fmt.Errorf("listing the blobs: %w", err)
	}
	return eachTenant(snap, func(t storage.Tenant) error {
		for _, visit := range []func(storage.Tenant) error{w.events, w.resources, w.answers} {
			if err := visit(t); err != nil {
				return fmt.Errorf("reading what tenant %d has: %w", t, err)
			}
		}
		return nil
	})
}

// walk is a running [Store.Walk].
type walk struct {
	storage.Visitor
	store *Store
	ctx   context.Context // of the one call that the walk lives for
	snap  *pebble.Snapshot
}

func (w *walk) blobs() error {
	if w.Blob == nil {
		return nil
	}
	b := w.store.blobs
	return b.eachFolder(func(dir string) error {
		files, err := b.fs.List(b.fs.PathJoin(b.dir, dir))
		if err != nil {
			return err
		}
		for _, name := range files {
			raw, err := hex.DecodeString(name)
			info, statErr := b.fs.Stat(b.fs.PathJoin(b.dir, dir, name))
			if err == nil && statErr == nil && len(raw) == len(storage.Hash{}) {
				w.Blob(storage.Hash(raw), info.Size())
			}
		}
		return nil
	})
}

func (w *walk) events(t storage.Tenant) error {
	if w.Event == nil && w.Reference == nil {
		return nil
	}
	prefix := appendPrefix(nil, t, spaceFrame)
	return scan(w.snap, prefix, keyAfter(prefix), func(key, value []byte) error {
		if len(key) != prefixLen+positionLen {
			return nil
		}
		f, refs, err := decodeFrame(t, lastPosition(key), value)
		if err != nil {
			return context.Cause(w.ctx)
		}
		for i := range f.Records {
			r := &f.Records[i]
			r.State = w.value(r.State, refs.state(i))
			r.Payload = w.value(r.Payload, refs.payload(i))
			if w.Event != nil {
				w.Event(t, storage.Event{Frame: f, Index: i})
			}
		}
		return context.Cause(w.ctx)
	})
}

// value returns v, or what ref stands for if it can be read.
func (w *walk) value(v []byte, ref *blobRef) []byte {
	if ref == nil {
		return v
	}
	w.refer(ref)
	if w.Event == nil {
		return nil
	}
	v, err := w.store.blobs.resolve(w.ctx, nil, ref)
	if err != nil {
		return nil
	}
	return v
}

func (w *walk) refer(ref *blobRef) {
	if ref != nil && w.Reference != nil {
		w.Reference(ref.hash)
	}
}

// resources shows each resource once, at its last key: that of its latest statement
// follows that of its origin.
func (w *walk) resources(t storage.Tenant) error {
	var last abi.ResourcePointer
	prefix := appendPrefix(nil, t, spaceResource)
	return scan(w.snap, prefix, keyAfter(prefix), func(key, value []byte) error {
		k, ok := parseKey(key)
		if !ok {
			return nil
		}
		if p, err := decodePointer(value); err == nil {
			w.refer(p.blob)
		}
		if r := k.resource(); r != last {
			last = r
			w.resource(t, r)
		}
		return context.Cause(w.ctx)
	})
}

func (w *walk) resource(t storage.Tenant, r abi.ResourcePointer) {
	for _, o := range w.Objects {
		if o != r.Object {
			continue
		}
		if res, err := w.store.resource(w.ctx, t, r); err == nil {
			w.Resource(t, o, res)
		}
	}
}

// answers shows the blobs of answers to writes.
func (w *walk) answers(t storage.Tenant) error {
	prefix := appendPrefix(nil, t, spaceIdempotency)
	return scan(w.snap, prefix, keyAfter(prefix), func(key, value []byte) error {
		if k, ok := parseKey(key); ok {
			if _, ref, err := decodeIdempotency(k.key, value); err == nil {
				w.refer(ref)
			}
		}
		return context.Cause(w.ctx)
	})
}
