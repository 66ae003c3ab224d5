package pebble

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// What refers to a blob has a key: a chunk of the log in which a frame does, a pointer that holds
// its value itself, or the answer to a write. The last two have numbers in place of that of a
// chunk which no chunk reaches.
const (
	referredByPointer = storage.Position(math.MaxUint64)
	referredByAnswer  = referredByPointer - 1
)

// addUse notes what a record makes its resource from.
func (d *draft) addUse(f *storage.Frame, i int) {
	user, source, ok := storage.UseOf(f, &f.Records[i])
	if !ok {
		return
	}
	d.begin(opSet)
	d.buf = appendResource(userPrefix(d.buf, f.Tenant, source), user)
	d.endKey()
	d.position(i)
	d.end()
}

// addReferences notes the blobs that a record refers to.
func (d *draft) addReferences(f *storage.Frame, i int) {
	for _, h := range storage.References(f, &f.Records[i]) {
		d.addReference(f.Tenant, h)
	}
}

// addReferred notes the blob that holds a value.
func (d *draft) addReferred(f *storage.Frame, ref *blobRef) {
	if ref != nil {
		d.addReference(f.Tenant, ref.hash)
	}
}

func (d *draft) addReference(t storage.Tenant, h storage.Hash) {
	d.begin(opSetOnce)
	d.buf = referredPrefix(d.buf, t, h)
	d.fills = append(d.fills, fill{at: len(d.buf), chunk: true})
	d.buf = appendPosition(d.buf, 0)
	d.endKey()
	d.end()
}

// addAnswered notes the blob that answers retries until a day is over.
func (d *draft) addAnswered(t storage.Tenant, h storage.Hash, day uint32) {
	d.begin(opSet)
	d.buf = appendReference(referredPrefix(d.buf, t, h), reference{chunk: referredByAnswer, day: day})
	d.endKey()
	d.end()
}

// referencesOf returns all blobs that a frame needs. Values that are blobs are named by refs.
func referencesOf(f *storage.Frame, refs outline) (all []storage.Hash) {
	for i := range f.Records {
		all = append(all, storage.References(f, &f.Records[i])...)
	}
	for i := range refs {
		for _, ref := range []*blobRef{refs[i].state, refs[i].payload} {
			if ref != nil {
				all = append(all, ref.hash)
			}
		}
	}
	return all
}

// resolveReferring reads the values of a frame that are blobs themselves and may refer to others.
func (b *blobStore) resolveReferring(ctx context.Context, f *storage.Frame, refs outline) (err error) {
	for i := range refs {
		r := &f.Records[i]
		if r.Resource.Object == abi.ObjectMessage {
			continue
		}
		if r.State, err = b.resolve(ctx, r.State, refs[i].state); err != nil {
			return err
		}
		if r.Payload, err = b.resolve(ctx, r.Payload, refs[i].payload); err != nil {
			return err
		}
	}
	return nil
}

// pointerReferences returns the keys of the blobs that a pointer refers to whose frame goes.
func pointerReferences(t storage.Tenant, r abi.ResourcePointer, suffix byte, state []byte, ref *blobRef) (keys [][]byte) {
	all := storage.ReferencesOf(r, state)
	if ref != nil {
		all = append(all, ref.hash)
	}
	for _, h := range all {
		keys = append(keys, pointerReference(t, h, r, suffix))
	}
	return keys
}

func pointerReference(t storage.Tenant, h storage.Hash, r abi.ResourcePointer, suffix byte) []byte {
	return appendReference(referredPrefix(nil, t, h), reference{chunk: referredByPointer, resource: r, suffix: suffix})
}

// reference is what refers to a blob.
type reference struct {
	chunk    storage.Position // or referredByPointer, referredByAnswer
	resource abi.ResourcePointer
	suffix   byte
	day      uint32
}

// cutReference reads what follows the hash in a key.
func cutReference(rest []byte) (r reference, ok bool) {
	d := &decoder{rest: rest}
	switch r.chunk = d.position(); r.chunk {
	case referredByPointer:
		r.resource = abi.ResourcePointer{Object: d.object(), ID: d.id()}
		r.suffix = d.byte()
	case referredByAnswer:
		if b := d.fixed(4); b != nil {
			r.day = binary.BigEndian.Uint32(b)
		}
	}
	return r, d.end() == nil
}

// appendReference appends what cutReference reads.
func appendReference(dst []byte, r reference) []byte {
	dst = appendPosition(dst, r.chunk)
	switch r.chunk {
	case referredByPointer:
		return append(appendResource(dst, r.resource), r.suffix)
	case referredByAnswer:
		return binary.BigEndian.AppendUint32(dst, r.day)
	}
	return dst
}

// referred reports whether anything refers to a blob. Keys of pointers and answers may be left
// over: they count only as long as there is what they tell of.
func (s *Store) referred(h storage.Hash) (found bool, err error) {
	err = eachTenant(s.db, func(t storage.Tenant) error {
		if found {
			return nil
		}
		prefix := referredPrefix(nil, t, h)
		err := scan(s.db, prefix, keyAfter(prefix), func(key, _ []byte) error {
			r, ok := cutReference(key[len(prefix):])
			if !ok {
				return &CorruptError{Tenant: t, Key: clone(key), Reason: errMalformed.Error()}
			}
			holds, err := s.stillRefers(t, h, r)
			if holds {
				found, err = true, errEnough
			}
			return err
		})
		if errors.Is(err, errEnough) {
			err = nil
		}
		return err
	})
	return found, err
}

// stillRefers reports whether there is what a key tells of.
func (s *Store) stillRefers(t storage.Tenant, h storage.Hash, r reference) (bool, error) {
	switch r.chunk {
	case referredByAnswer:
		return r.day >= s.expiredDay.Load(), nil
	case referredByPointer:
		p, ok, err := s.pointer(t, r.resource, r.suffix)
		if err != nil || !ok || !p.moved() {
			return false, err
		}
		return p.blob != nil || bytes.Contains(p.inline, hexOf(h)), nil
	}
	return true, nil
}

// eachReferring calls f with the frames of a tenant that begin in a chunk, those that are wanted, and the blobs that they refer to.
func eachReferring(r pebble.Reader, blobs *blobStore, t storage.Tenant, chunk storage.Position, wanted func(storage.Position) bool, f func(*storage.Frame, []storage.Hash)) error {
	return scan(r, frameKey(nil, t, chunk*chunkEvents), frameKey(nil, t, chunkEnd(chunk)), func(key, value []byte) error {
		first := lastPosition(key)
		if !wanted(first) {
			return nil
		}
		frame, refs, err := decodeFrame(t, first, value)
		if err == nil {
			err = blobs.resolveReferring(context.Background(), frame, refs)
		}
		if err == nil {
			f(frame, referencesOf(frame, refs))
		}
		return err
	})
}

// checkUser looks at a key of what was made from something.
func (c *inspection) checkUser(t storage.Tenant, key []byte) (string, error) {
	k, _ := parseKey(key)
	_, ok, err := lookup(c.snap, resourceKey(nil, t, k.user, suffixOrigin))
	if err == nil && !ok {
		return "it names a user that does not exist", nil
	}
	return "", err
}

// checkReferred looks at a key of what refers to a blob: no frame of a chunk may have gone without it.
func (c *inspection) checkReferred(t storage.Tenant, key []byte) (string, error) {
	k, _ := parseKey(key)
	chunk := k.reference.chunk
	if chunk >= referredByAnswer || chunk*chunkEvents <= c.report.Floor {
		return "", nil
	}
	found := false
	err := eachReferring(c.snap, c.store.blobs, t, chunk, func(storage.Position) bool { return !found }, func(_ *storage.Frame, referred []storage.Hash) {
		found = found || slices.Contains(referred, storage.Hash(k.key))
	})
	if errors.Is(err, storage.ErrDamaged) { // reported with the frames
		return "", nil
	}
	if err == nil && !found {
		return "no frame of its chunk refers to the blob", nil
	}
	return "", err
}

// checkDeleted looks at a key of what is to be erased.
func (c *inspection) checkDeleted(t storage.Tenant, k parsedKey) (string, error) {
	_, ok, err := lookup(c.snap, resourceKey(nil, t, k.resource(), suffixOrigin))
	if err == nil && !ok {
		return "it names something to erase that does not exist", nil
	}
	return "", err
}
