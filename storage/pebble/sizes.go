package pebble

import (
	"encoding/hex"
	"errors"
	"sync"

	"github.com/wharf-dev/wharf/storage"
)

// sizes adds up what blobs take. Folders are counted one after the other once the store is open; from then on
// every change of a folder is. The zero value is ready.
type sizes struct {
	mu      sync.Mutex
	counted [256]bool
	total   int64
}

// change makes a change of the file of a blob, and notes what it adds or takes away.
func (s *sizes) change(b *blobStore, h storage.Hash, f func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := b.sizeOf(h)
	err := f()
	if s.counted[h[0]] {
		s.total += b.sizeOf(h) - before
	}
	return err
}

// sizeOf returns how large the file of a blob is, 0 for none.
func (b *blobStore) sizeOf(h storage.Hash) int64 {
	info, err := b.fs.Stat(b.name(h))
	if err != nil {
		return 0
	}
	return info.Size()
}

// count counts a folder.
func (s *sizes) count(b *blobStore, folder byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	dir := b.fs.PathJoin(b.dir, hex.EncodeToString([]byte{folder}))
	names, err := list(b.fs, dir)
	for _, name := range names {
		if info, err := b.fs.Stat(b.fs.PathJoin(dir, name)); err == nil {
			s.total += info.Size()
		}
	}
	s.counted[folder] = true
	return err
}

func (s *sizes) bytes() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.total
}

// countBlobs counts all folders.
func (s *Store) countBlobs() {
	release, err := s.use()
	if err != nil {
		return
	}
	defer release()
	for folder := range len(s.blobs.sizes.counted) {
		if s.fail.err() != nil { // which was told
			return
		}
		err = errors.Join(err, s.blobs.sizes.count(s.blobs, byte(folder)))
	}
	if err != nil {
		s.log.Warn("the room that content takes could not be counted", "error", err)
	}
}
