package pebble

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/wharf-dev/wharf/storage"
)

// reasonChanged is what is wrong with content that is not what was stored.
const reasonChanged = "does not have the SHA-256 that it is named by"

// blob implements [storage.Blob].
type blob struct {
	store *blobStore
	hash  storage.Hash
	file  vfs.File
	info  os.FileInfo // of the file when it was opened
	whole *io.SectionReader

	// sum hashes what Read returns, for as long as it goes on from the beginning. It is
	// nil once Seek has gone elsewhere: then the content is verified first.
	sum    hash.Hash
	summed int64
}

func newBlob(store *blobStore, h storage.Hash, f vfs.File, info os.FileInfo) *blob {
	return &blob{store: store, hash: h, file: f, info: info, whole: io.NewSectionReader(f, 0, info.Size()), sum: sha256.New()}
}

// Size implements [storage.Blob].
func (b *blob) Size() int64 { return b.info.Size() }

// Close implements io.Closer.
func (b *blob) Close() error { return b.file.Close() }

// Read implements io.Reader. The piece that would reach the end is held back until
// the hash of everything was compared.
func (b *blob) Read(p []byte) (int, error) {
	if b.sum == nil {
		if err := b.Verify(context.Background()); err != nil {
			return 0, err
		}
		return b.whole.Read(p)
	}
	n, err := b.whole.Read(p)
	b.sum.Write(p[:n])
	b.summed += int64(n)
	if err != nil && err != io.EOF {
		return n, err
	}
	if b.summed == b.Size() || err == io.EOF {
		if storage.Hash(b.sum.Sum(nil)) != b.hash {
			return 0, b.store.damage(b.hash, reasonChanged)
		}
	}
	return n, err
}

// ReadAt implements io.ReaderAt.
func (b *blob) ReadAt(p []byte, off int64) (int, error) {
	if err := b.Verify(context.Background()); err != nil {
		return 0, err
	}
	return b.whole.ReadAt(p, off)
}

// Seek implements io.Seeker.
func (b *blob) Seek(offset int64, whence int) (int64, error) {
	at, err := b.whole.Seek(offset, whence)
	if err != nil || at == b.summed && b.sum != nil {
		return at, err
	}
	b.sum, b.summed = nil, 0
	if at == 0 {
		b.sum = sha256.New()
	}
	return at, nil
}

// Verify implements [storage.Blob].
func (b *blob) Verify(ctx context.Context) error {
	return b.store.seen.once(ctx, identify(b.hash, b.info), b.verify)
}

// verify reads the whole content, beside what Read does.
func (b *blob) verify(ctx context.Context) error {
	sum := sha256.New()
	if _, err := copyBlob(ctx, sum, io.NewSectionReader(b.file, 0, b.Size())); err != nil {
		if errors.Is(err, context.Cause(ctx)) {
			return err
		}
		return fmt.Errorf("reading a blob: %w", err)
	}
	if storage.Hash(sum.Sum(nil)) != b.hash {
		return b.store.damage(b.hash, reasonChanged)
	}
	return nil
}
