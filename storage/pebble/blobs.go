package pebble

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/errors/oserror"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/wharf-dev/wharf/storage"
)

const (
	unfinishedDir = "tmp"     // the folder of blobs that are still being written
	copyBytes     = 128 << 10 // how much of a blob is in memory while it is written
)

// blobStore keeps each value in a file named by its hash. It implements
// [storage.Blobs].
type blobStore struct {
	fs   vfs.FS
	dir  string
	temp atomic.Uint64 // numbers the unfinished files
	seen verified      // the files that were found whole
	fail *failure      // of the store
	kept recent        // the blobs that nothing may refer to yet
	// removing is held while a blob is removed, and shared by those who look through them while none may be.
	removing sync.RWMutex

	stored, storedBytes atomic.Uint64
	sizes               sizes
}

// openBlobs makes the folder and removes what a crash has left unfinished.
func openBlobs(fs vfs.FS, dir string, fail *failure) (*blobStore, error) {
	b := &blobStore{fs: fs, dir: dir, fail: fail}
	temp := fs.PathJoin(dir, unfinishedDir)
	if err := fs.RemoveAll(temp); err != nil {
		return nil, fmt.Errorf("removing unfinished blobs: %w", err)
	}
	if err := fs.MkdirAll(temp, 0o700); err != nil {
		return nil, fmt.Errorf("making the blob folder: %w", err)
	}
	return b, syncDir(fs, dir)
}

// folder returns where the blob lies, and name its path.
func (b *blobStore) folder(h storage.Hash) string {
	return b.fs.PathJoin(b.dir, hex.EncodeToString(h[:1]))
}

func (b *blobStore) name(h storage.Hash) string {
	return b.fs.PathJoin(b.folder(h), hex.EncodeToString(h[:]))
}

// Put implements [storage.Blobs]. The error is [storage.ErrBlobMismatch] when the
// content does not have the hash wanted. A store that has failed takes none, even where
// the disk would.
func (b *blobStore) Put(ctx context.Context, r io.Reader, want *storage.Hash) (storage.Hash, int64, error) {
	if err := b.fail.err(); err != nil {
		return storage.Hash{}, 0, err
	}
	temp := b.fs.PathJoin(b.dir, unfinishedDir, strconv.FormatUint(b.temp.Add(1), 10))
	h, size, err := b.write(ctx, temp, r)
	if err == nil && want != nil && h != *want {
		err = storage.ErrBlobMismatch
	}
	if err == nil {
		b.kept.note(h) // before it has its name: from then on nobody removes it
		err = notStored(b.keep(temp, h))
	}
	if err != nil {
		if rm := b.fs.Remove(temp); rm != nil && !oserror.IsNotExist(rm) {
			err = errors.Join(err, rm)
		}
		return storage.Hash{}, 0, fmt.Errorf("storing a blob: %w", err)
	}
	b.stored.Add(1)
	b.storedBytes.Add(uint64(size))
	return h, size, nil
}

// write streams r into a file and syncs it.
func (b *blobStore) write(ctx context.Context, name string, r io.Reader) (h storage.Hash, size int64, err error) {
	f, err := b.fs.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return h, 0, notStored(err)
	}
	sum := sha256.New()
	size, err = copyBlob(ctx, f, io.TeeReader(r, sum))
	if err == nil {
		err = notStored(f.Sync())
	}
	sum.Sum(h[:0])
	return h, size, errors.Join(err, notStored(f.Close()))
}

// notStored marks an error of the disk, as opposed to one of what is read.
func notStored(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", storage.ErrNotStored, err)
}

// copyBlob copies in pieces, so that a caller who has left stops it. The file may
// change what it is given to write: it was hashed before.
func copyBlob(ctx context.Context, w io.Writer, r io.Reader) (size int64, err error) {
	buf := make([]byte, copyBytes)
	for {
		if err := ctx.Err(); err != nil {
			return size, err
		}
		n, err := r.Read(buf)
		if n > 0 {
			if _, err := w.Write(buf[:n]); err != nil {
				return size, notStored(err)
			}
			size += int64(n)
		}
		if err == io.EOF {
			return size, nil
		}
		if err != nil {
			return size, err
		}
	}
}

// keep gives a finished file its name, durably. Replacing a file by one of the same
// content is harmless, also for those who read it.
func (b *blobStore) keep(temp string, h storage.Hash) error {
	dir := b.folder(h)
	if _, err := b.fs.Stat(dir); err != nil {
		if err := b.fs.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	if err := b.sizes.change(b, h, func() error { return b.fs.Rename(temp, b.name(h)) }); err != nil {
		return err
	}
	// Another Put may have made the folder a moment ago and not synced it yet.
	return errors.Join(syncDir(b.fs, dir), syncDir(b.fs, b.dir))
}

func (b *blobStore) putBytes(v []byte) (storage.Hash, error) {
	h, _, err := b.Put(context.Background(), bytes.NewReader(v), nil)
	return h, err
}

// Open implements [storage.Blobs].
func (b *blobStore) Open(_ context.Context, h storage.Hash) (storage.Blob, error) {
	f, err := b.fs.Open(b.name(h))
	if oserror.IsNotExist(err) {
		return nil, &storage.ContentError{File: b.name(h), Reason: "is missing", Missing: true}
	}
	if err != nil {
		return nil, fmt.Errorf("opening a blob: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening a blob: %w", err), f.Close())
	}
	return newBlob(b, h, f, info), nil
}

// resolve returns v, or what ref stands for when it is not nil, checked against
// its hash.
func (b *blobStore) resolve(ctx context.Context, v []byte, ref *blobRef) ([]byte, error) {
	if ref == nil {
		return v, nil
	}
	v, err := b.read(ctx, ref)
	if damage, ok := errors.AsType[*storage.ContentError](err); ok {
		return nil, &CorruptError{Reason: damage.Error(), Content: damage}
	}
	return v, err
}

func (b *blobStore) read(ctx context.Context, ref *blobRef) ([]byte, error) {
	f, err := b.Open(ctx, ref.hash)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if uint64(f.Size()) != ref.size {
		return nil, b.damage(ref.hash, fmt.Sprintf("has %d bytes instead of %d", f.Size(), ref.size))
	}
	if err := storage.Hold(ctx, f.Size()); err != nil {
		return nil, err
	}
	v := make([]byte, ref.size)
	if _, err := io.ReadFull(f, v); err != nil {
		return nil, fmt.Errorf("reading a blob: %w", err)
	}
	return v, nil
}

func (b *blobStore) damage(h storage.Hash, reason string) error {
	return &storage.ContentError{File: b.name(h), Reason: reason}
}
