package pebble

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/cockroachdb/errors/oserror"

	"github.com/wharf-dev/wharf/storage"
)

// maxOrphans bounds how many blobs are remembered that may have become superfluous. The sweep finds
// those that are not.
const maxOrphans = 1 << 16

// maxRanges bounds in how many places what was erased is remembered to lie.
const maxRanges = 1 << 12

// erased is what was erased since the store was opened.
type erased struct {
	mu      sync.Mutex
	total   storage.Swept
	orphans map[storage.Hash]struct{}
	waiting uint64 // bytes of those that only wait until they are no longer recent
	ranges  keyRanges
}

type keyRange struct{ first, end []byte }

// keyRanges are where keys lie, by how they begin.
type keyRanges map[string]keyRange

// rangePrefix is how much of its keys a range has in common: the tenant, the space, and the kind of
// what they tell of.
const rangePrefix = prefixLen + 1

// note takes what an eraser has erased.
func (e *erased) note(by *eraser) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.total.Events += by.events
	e.total.EventBytes += by.bytes
	for _, c := range by.chunks {
		for h := range c.hashes {
			e.remember(h)
		}
	}
	for _, r := range by.ranges {
		e.ranges.note(r.first, r.end)
	}
}

// remember has a blob looked at by the next sweep, and reports whether it is. The caller holds mu.
func (e *erased) remember(h storage.Hash) bool {
	if len(e.orphans) >= maxOrphans {
		return false
	}
	if e.orphans == nil {
		e.orphans = map[storage.Hash]struct{}{}
	}
	e.orphans[h] = struct{}{}
	return true
}

// note adds the keys from one up to but not including another.
func (rs *keyRanges) note(first, end []byte) {
	if len(first) < rangePrefix {
		return
	}
	known, ok := (*rs)[string(first[:rangePrefix])]
	switch {
	case !ok && len(*rs) >= maxRanges:
		return
	case !ok:
		known = keyRange{first, end}
	}
	if string(first) < string(known.first) {
		known.first = first
	}
	if string(end) > string(known.end) {
		known.end = end
	}
	if *rs == nil {
		*rs = keyRanges{}
	}
	(*rs)[string(first[:rangePrefix])] = known
}

// taken returns the blobs that may have become superfluous, and forgets them.
func (e *erased) taken() map[storage.Hash]struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	orphans := e.orphans
	e.orphans, e.waiting = nil, 0
	return orphans
}

// giveBack has blobs looked at again that were taken.
func (e *erased) giveBack(orphans map[storage.Hash]struct{}) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for h := range orphans {
		e.remember(h)
	}
}

// wait has a blob looked at again later, for it is recent or was not to be removed just now.
func (e *erased) wait(h storage.Hash, size int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.remember(h) {
		e.waiting += uint64(size)
	}
}

func (e *erased) takenRanges() keyRanges {
	e.mu.Lock()
	defer e.mu.Unlock()
	ranges := e.ranges
	e.ranges = nil
	return ranges
}

func (e *erased) addBlob(size int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.total.Blobs++
	e.total.BlobBytes += uint64(size)
}

// Erased implements [storage.Eraser].
func (s *Store) Erased() storage.Swept {
	s.erased.mu.Lock()
	defer s.erased.mu.Unlock()
	total := s.erased.total
	total.Waiting = s.erased.waiting
	return total
}

// Sweep implements [storage.Eraser].
func (s *Store) Sweep(ctx context.Context, part int) (swept storage.Swept, err error) {
	release, err := s.use()
	if err != nil {
		return swept, err
	}
	defer release()
	if !s.prepared.Load() {
		return swept, storage.ErrPreparing
	}
	before := s.Erased()
	orphans := s.erased.taken()
	if err = s.sweep(ctx, orphans); err != nil {
		s.erased.giveBack(orphans)
	}
	if err == nil && part >= 0 {
		var there map[storage.Hash]struct{}
		if there, err = s.blobs.inPart(part); err == nil {
			err = s.sweep(ctx, there)
		}
	}
	after := s.Erased()
	return storage.Swept{Blobs: after.Blobs - before.Blobs, BlobBytes: after.BlobBytes - before.BlobBytes}, err
}

// inPart returns the blobs that lie in one folder.
func (b *blobStore) inPart(part int) (map[storage.Hash]struct{}, error) {
	names, err := list(b.fs, b.fs.PathJoin(b.dir, hex.EncodeToString([]byte{byte(part % storage.SweepParts)})))
	if err != nil {
		return nil, fmt.Errorf("listing the blobs: %w", err)
	}
	all := map[storage.Hash]struct{}{}
	for _, name := range names {
		if raw, err := hex.DecodeString(name); err == nil && len(raw) == len(storage.Hash{}) {
			all[storage.Hash(raw)] = struct{}{}
		}
	}
	return all, nil
}

// sweep removes those of some blobs that nothing refers to. What has taken the last reference to one must
// be durable before it goes: after a crash the reference would be there again. And nobody can make
// a new one meanwhile without having stored or kept the blob.
func (s *Store) sweep(ctx context.Context, hashes map[storage.Hash]struct{}) error {
	var orphans []storage.Hash
	for h := range hashes {
		found, err := s.referred(h)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("looking for what refers to a blob: %w", err)
		}
		if !found {
			orphans = append(orphans, h)
		}
	}
	if len(orphans) == 0 {
		return nil
	}
	if err := s.Sync(ctx); err != nil {
		return err
	}
	for _, h := range orphans {
		size, removed, err := s.blobs.remove(h)
		switch {
		case err != nil:
			return fmt.Errorf("removing a blob: %w", err)
		case removed:
			s.erased.addBlob(size)
		case size > 0:
			s.erased.wait(h, size)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// remove removes a blob, unless it is recent or somebody looks through all of them, and returns its size, 0 if it is not there.
func (b *blobStore) remove(h storage.Hash) (size int64, removed bool, err error) {
	if err := b.fail.err(); err != nil {
		return 0, false, err
	}
	info, err := b.fs.Stat(b.name(h))
	if oserror.IsNotExist(err) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	if !b.removing.TryLock() { // that may take minutes, and a blob can wait
		return info.Size(), false, nil
	}
	defer b.removing.Unlock()
	// The name goes first, for a large file takes its time.
	aside := b.fs.PathJoin(b.dir, unfinishedDir, "gone."+strconv.FormatUint(b.temp.Add(1), 10))
	removed, err = b.kept.unless(h, func() error {
		return b.sizes.change(b, h, func() error { return b.fs.Rename(b.name(h), aside) })
	})
	if err != nil || !removed {
		return info.Size(), false, err
	}
	return info.Size(), true, errors.Join(b.fs.Remove(aside), syncDir(b.fs, b.folder(h)))
}

// Keep implements [storage.Blobs].
func (b *blobStore) Keep(h storage.Hash) bool {
	if b.kept.known(h) {
		return true
	}
	b.kept.note(h) // first: from here on nobody removes it
	if _, err := b.fs.Stat(b.name(h)); err != nil {
		b.kept.forget(h)
		return false
	}
	return true
}

// Reclaim implements [storage.Eraser]. What was erased lies in tables, and in logs that are kept to be
// written again.
func (s *Store) Reclaim(ctx context.Context) error {
	release, err := s.use()
	if err != nil {
		return err
	}
	defer release()
	ranges := s.erased.takenRanges()
	if len(ranges) == 0 {
		return nil
	}
	logs, err := s.oldLogs()
	if err == nil {
		err = s.db.Flush()
	}
	for _, r := range ranges {
		if err == nil {
			err = s.db.Compact(ctx, r.first, r.end, false)
		}
	}
	if err == nil {
		err = s.guard.removeOld(s.opts.FS.PathJoin(s.dir, databaseDir), logs)
	}
	if err != nil {
		s.erased.mu.Lock()
		for _, r := range ranges {
			s.erased.ranges.note(r.first, r.end)
		}
		s.erased.mu.Unlock()
		return fmt.Errorf("giving back what was erased: %w", err)
	}
	return nil
}

// oldLogs returns the names of the logs that are superfluous once what is in memory is flushed.
func (s *Store) oldLogs() (logs []string, err error) {
	names, err := list(s.opts.FS, s.opts.FS.PathJoin(s.dir, databaseDir))
	for _, name := range names {
		if isLog(name) {
			logs = append(logs, name)
		}
	}
	return logs, err
}

// removeOld removes logs, those of them that have no new name yet.
func (g *guardFS) removeOld(dir string, logs []string) error {
	g.recycling.Lock()
	defer g.recycling.Unlock()
	for _, name := range logs {
		if err := g.Remove(g.PathJoin(dir, name)); err != nil && !oserror.IsNotExist(err) {
			return err
		}
	}
	return nil
}

// Used returns how many bytes the store takes on the disk: its database, the log of that, and the blobs. What will be gone in a
// moment by itself is left out: who makes room for it would make too much.
func (s *Store) Used() int64 {
	m := s.Metrics()
	return int64(m.DiskBytes-min(m.PassingBytes, m.DiskBytes)) + s.blobs.sizes.bytes()
}
