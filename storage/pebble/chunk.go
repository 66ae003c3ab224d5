package pebble

import (
	"context"
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// chunkEvents is how many positions make a chunk. The frames of a Workspace are
// found by the chunks in which they begin: in a busy moment one key stands for many
// frames, and who reads a Workspace looks at no more than a chunk for each frame.
const chunkEvents = 64

func chunkOf(p storage.Position) storage.Position { return p / chunkEvents }

// chunkEnd returns the first position after a chunk.
func chunkEnd(chunk storage.Position) storage.Position { return (chunk + 1) * chunkEvents }

// chunkPrefix returns what the keys of a Workspace's chunks start with.
func chunkPrefix(dst []byte, t storage.Tenant, workspace string) []byte {
	return scopePrefix(dst, t, spaceChunk, workspace)
}

// addChunk notes that the frame's Workspace has a frame in its chunk.
func (d *draft) addChunk(f *storage.Frame) {
	d.begin(opSetOnce)
	d.buf = chunkPrefix(d.buf, f.Tenant, f.WorkspaceID)
	d.fills = append(d.fills, fill{at: len(d.buf), chunk: true})
	d.buf = appendPosition(d.buf, 0)
	d.endKey()
	d.end()
}

// chunkKeys remembers which keys of the newest chunk are in the log, so that each
// is written once. It is no more than a shortcut: writing a key again changes
// nothing. The committer owns it.
type chunkKeys struct {
	chunk storage.Position
	keys  map[string]struct{}
}

// known reports whether key has been here before.
func (c *chunkKeys) known(key []byte) bool {
	if chunk := lastPosition(key); chunk != c.chunk || c.keys == nil {
		c.chunk, c.keys = chunk, make(map[string]struct{})
	}
	if _, known := c.keys[string(key)]; known {
		return true
	}
	c.keys[string(key)] = struct{}{}
	return false
}

// readWorkspace walks over the frames of a Workspace: those that a folder of format
// 1 has indexed one by one, and then those that are found by their chunks.
func (p *page) readWorkspace(ctx context.Context, workspace string, upTo storage.Position) error {
	s := p.store
	if old := min(upTo, s.chunked-1); p.after < old {
		if err := p.read(ctx, scopePrefix(nil, p.tenant, spaceWorkspace, workspace), old); err != nil || p.more {
			return err
		}
	}
	if upTo < s.chunked {
		return nil
	}
	frames, err := s.iterate(frameKey(nil, p.tenant, 0), frameKey(nil, p.tenant, upTo+1))
	if err != nil {
		return err
	}
	first := max(p.after+1, s.chunked)
	err = p.reachInto(ctx, frames, workspace, first)
	if err == nil {
		err = p.chunks(ctx, frames, workspace, first, upTo)
	}
	return ended(frames, err)
}

// reachInto adds what the frame that begins before first says from there on.
func (p *page) reachInto(ctx context.Context, frames *pebble.Iterator, workspace string, first storage.Position) error {
	if !frames.SeekLT(frameKey(nil, p.tenant, first)) {
		return nil
	}
	f, refs, err := decodeFrame(p.tenant, lastPosition(frames.Key()), frames.Value())
	if err != nil || f.WorkspaceID != workspace || lastOf(f) < first {
		return err
	}
	return p.take(ctx, f, refs)
}

// chunks adds the frames that begin at or after first, chunk by chunk.
func (p *page) chunks(ctx context.Context, frames *pebble.Iterator, workspace string, first, upTo storage.Position) error {
	prefix := chunkPrefix(nil, p.tenant, workspace)
	n := len(prefix)
	it, err := p.store.iterate(appendPosition(prefix[:n:n], chunkOf(first)), appendPosition(prefix[:n:n], chunkOf(upTo)+1))
	if err != nil {
		return err
	}
	for ok := it.First(); ok && !p.more && err == nil; ok = it.Next() {
		chunk := lastPosition(it.Key())
		from := max(first, chunk*chunkEvents)
		for ok := frames.SeekGE(frameKey(nil, p.tenant, from)); ok && !p.more && err == nil; ok = frames.Next() {
			if lastPosition(frames.Key()) >= chunkEnd(chunk) {
				break
			}
			err = p.addOf(ctx, frames, workspace)
		}
	}
	return ended(it, err)
}

// addOf adds the frame at which the iterator stands if it is the Workspace's.
func (p *page) addOf(ctx context.Context, frames *pebble.Iterator, workspace string) error {
	f, refs, err := decodeFrame(p.tenant, lastPosition(frames.Key()), frames.Value())
	if err != nil || f.WorkspaceID != workspace {
		return errors.Join(err, ctx.Err())
	}
	return p.take(ctx, f, refs)
}

// lastOfWorkspace returns the position of a Workspace's newest durable event.
func (s *Store) lastOfWorkspace(ctx context.Context, t storage.Tenant, workspace string) (storage.Position, error) {
	upTo := s.mark.position()
	prefix := chunkPrefix(nil, t, workspace)
	n := len(prefix)
	it, err := s.iterate(prefix, appendPosition(prefix[:n:n], chunkOf(upTo)+1))
	if err != nil {
		return 0, err
	}
	var last storage.Position
	for ok := it.Last(); ok && last == 0 && err == nil; ok = it.Prev() {
		last, err = s.lastInChunk(t, workspace, lastPosition(it.Key()), upTo)
	}
	if err = ended(it, err); err != nil || last != 0 {
		return last, err
	}
	return s.lastOfScope(ctx, t, spaceWorkspace, storage.Scope{Object: abi.ObjectWorkspace, ID: workspace})
}

// lastInChunk returns the position of a Workspace's newest event in a frame that
// begins in a chunk, 0 if there is none up to a position.
func (s *Store) lastInChunk(t storage.Tenant, workspace string, chunk, upTo storage.Position) (last storage.Position, err error) {
	err = eachInChunk(s.db, t, chunk, func(f *storage.Frame) {
		if f.WorkspaceID == workspace && lastOf(f) <= upTo {
			last = lastOf(f)
		}
	})
	return last, err
}

// eachInChunk calls f with each frame of a tenant that begins in a chunk.
func eachInChunk(r pebble.Reader, t storage.Tenant, chunk storage.Position, f func(*storage.Frame)) error {
	return scan(r, frameKey(nil, t, chunk*chunkEvents), frameKey(nil, t, chunkEnd(chunk)), func(key, value []byte) error {
		frame, _, err := decodeFrame(t, lastPosition(key), value)
		if err == nil {
			f(frame)
		}
		return err
	})
}

// checkChunk looks at a key of a chunk. What retention has reached into may hold no
// frame any more.
func (c *inspection) checkChunk(t storage.Tenant, k parsedKey, value []byte) (string, error) {
	if len(value) != 0 {
		return errMalformed.Error(), nil
	}
	if k.position*chunkEvents <= c.report.Floor {
		c.report.Kept++
		return "", nil
	}
	found := false
	err := eachInChunk(c.snap, t, k.position, func(f *storage.Frame) { found = found || f.WorkspaceID == k.id })
	var corrupt *CorruptError
	switch {
	case errors.As(err, &corrupt): // reported with the frames
		return "", nil
	case err == nil && !found:
		return "it names a chunk without a frame of this owner", nil
	}
	return "", err
}

// checkWorkspaceKey looks for the key by which a frame is found in its Workspace.
func (c *inspection) checkWorkspaceKey(f *storage.Frame) error {
	if f.First < c.store.chunked {
		return c.checkIndexKey(f, spaceWorkspace, f.WorkspaceID)
	}
	key := appendPosition(chunkPrefix(nil, f.Tenant, f.WorkspaceID), chunkOf(f.First))
	_, ok, err := lookup(c.snap, key)
	if err == nil && !ok {
		c.fault("the frame at %s is in no chunk of %s", f.First, f.WorkspaceID)
	}
	return err
}

// indexesOf returns the spaces in which a frame that begins at a position has a key
// of its own.
func (s *Store) indexesOf(p storage.Position) []scopeSpaceOf {
	if p < s.chunked {
		return scopeSpaces[:]
	}
	return ownIndexes()
}

// ownIndexes are the spaces that hold a key for each frame.
func ownIndexes() []scopeSpaceOf {
	return scopeSpaces[:len(scopeSpaces)-1]
}
