package pebble

import (
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// preparedAtOnce is how many positions are looked at for one commit.
const preparedAtOnce = 2048

// recoverPrepared finds out whether what refers to what has keys all over the log. A folder of an
// older format has none for what was written then.
func (s *Store) recoverPrepared() error {
	_, pending, err := s.meta(metaPrepared)
	s.prepared.Store(!pending)
	return err
}

// prepareErasing gives what an older program wrote the keys of what refers to what. Nothing is
// erased or swept before. When the store closes meanwhile, the next start goes on.
func (s *Store) prepareErasing() {
	release, err := s.use()
	if err != nil {
		return
	}
	defer release()
	switch err := s.prepareAll(); {
	case err == nil:
		s.prepared.Store(true)
	case !errors.Is(err, storage.ErrClosed) && s.fail.err() == nil:
		s.log.Error("finding out what refers to what has failed: nothing is erased until the next start", "error", err)
	}
}

func (s *Store) prepareAll() error {
	end, err := s.metaPosition(metaPrepared)
	if err != nil {
		return err
	}
	at, err := s.metaPosition(metaPreparing)
	if err != nil {
		return err
	}
	for at = max(at, storage.Position(s.floor.Load())+1); at < end; at += preparedAtOnce {
		if err := s.prepareFrames(at, min(end, at+preparedAtOnce)); err != nil {
			return fmt.Errorf("at position %s: %w", at, err)
		}
	}
	if err := eachTenant(s.db, s.preparePointers); err != nil {
		return err
	}
	return s.do(context.Background(), func(b *pebble.Batch) error {
		_ = b.Delete(metaKey(metaPreparing), nil) // fails only on an indexed batch
		return b.Delete(metaKey(metaPrepared), nil)
	})
}

// prepareFrames adds the keys for the frames that begin in a part of the log.
func (s *Store) prepareFrames(from, to storage.Position) error {
	s.retaining.Lock() // what is counted here must not go meanwhile
	defer s.retaining.Unlock()
	var drafts []*draft
	found := map[space]int64{} // to be taken away from what there is
	defer func() {
		for _, d := range drafts {
			d.free()
		}
	}()
	err := eachTenant(s.db, func(t storage.Tenant) error {
		return scan(s.db, frameKey(nil, t, from), frameKey(nil, t, to), func(key, value []byte) error {
			f, refs, err := decodeFrame(t, lastPosition(key), value)
			if errors.Is(err, storage.ErrDamaged) { // it is told where it is read
				return nil
			}
			if err == nil {
				err = s.blobs.resolveReferring(context.Background(), f, refs)
			}
			if err != nil && !errors.Is(err, storage.ErrDamaged) {
				return err
			}
			d := referringDraft(f, refs)
			if f.WorkspaceID != "" {
				found[space{t, f.WorkspaceID}] -= ownVolume(f, refs, len(value)) + s.addContent(d, f)
			}
			d.place(f.First)
			drafts = append(drafts, d)
			return nil
		})
	})
	if err != nil {
		return err
	}
	return s.do(context.Background(), func(b *pebble.Batch) error {
		for _, d := range drafts {
			d.applyAll(b)
		}
		s.volumes.take(found)
		s.volumes.from = to
		return b.Set(metaKey(metaPreparing), appendPosition(nil, to), nil)
	})
}

// referringDraft returns the keys of what a frame refers to.
func referringDraft(f *storage.Frame, refs outline) *draft {
	d := newDraft()
	for i := range f.Records {
		d.addUse(f, i)
		d.addReferences(f, i)
	}
	for i := range refs {
		d.addReferred(f, refs[i].state)
		d.addReferred(f, refs[i].payload)
	}
	return d
}

// preparePointers adds the keys for the values that retention has moved into pointers, and for the
// answers to writes that are blobs.
func (s *Store) preparePointers(t storage.Tenant) error {
	type moved struct {
		resource abi.ResourcePointer
		suffix   byte
		pointer  pointer
	}
	var all []moved
	prefix := appendPrefix(nil, t, spaceResource)
	err := scan(s.db, prefix, keyAfter(prefix), func(key, value []byte) error {
		k, ok := parseKey(key)
		p, err := decodePointer(value)
		if ok && err == nil && p.moved() {
			p.inline = clone(p.inline)
			if p.blob != nil || len(storage.ReferencesOf(k.resource(), p.inline)) > 0 {
				all = append(all, moved{k.resource(), k.suffix, p})
			}
		}
		return s.fail.err()
	})
	if err != nil {
		return err
	}
	for len(all) > 0 {
		n := min(len(all), preparedAtOnce)
		err := s.do(context.Background(), func(b *pebble.Batch) error {
			for _, m := range all[:n] {
				for _, key := range pointerReferences(t, m.resource, m.suffix, m.pointer.inline, m.pointer.blob) {
					_ = b.Set(key, nil, nil) // fails only on an indexed batch
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		all = all[n:]
	}
	return s.prepareAnswers(t)
}

func (s *Store) prepareAnswers(t storage.Tenant) error {
	d := newDraft()
	defer d.free()
	prefix := appendPrefix(nil, t, spaceIdempotency)
	err := scan(s.db, prefix, keyAfter(prefix), func(key, value []byte) error {
		k, ok := parseKey(key)
		_, answer, err := decodeIdempotency(k.key, value)
		if ok && err == nil && answer != nil {
			d.addAnswered(t, answer.hash, k.day)
		}
		return s.fail.err()
	})
	if err != nil {
		return err
	}
	return s.do(context.Background(), func(b *pebble.Batch) error {
		d.applyAll(b)
		return nil
	})
}
