package memory

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	"github.com/wharf-dev/wharf/storage"
)

// Blobs implements [storage.Store].
func (s *Store) Blobs() storage.Blobs { return blobs{s} }

// blobs implements [storage.Blobs]. It holds values whole, which other engines may not.
type blobs struct{ store *Store }

// Put implements [storage.Blobs].
func (b blobs) Put(ctx context.Context, r io.Reader, want *storage.Hash) (storage.Hash, int64, error) {
	content, err := io.ReadAll(r)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return storage.Hash{}, 0, fmt.Errorf("reading the content of a blob: %w", err)
	}
	h := storage.Hash(sha256.Sum256(content))
	if want != nil && *want != h {
		return storage.Hash{}, 0, storage.ErrBlobMismatch
	}
	err = b.store.locked(func() error {
		b.store.kept.blobs[h] = content
		return nil
	})
	return h, int64(len(content)), err
}

// Open implements [storage.Blobs].
func (b blobs) Open(_ context.Context, h storage.Hash) (found storage.Blob, err error) {
	err = b.store.locked(func() error {
		content, ok := b.store.kept.blobs[h]
		if !ok {
			return &storage.ContentError{File: hex.EncodeToString(h[:]), Reason: "is missing", Missing: true}
		}
		found = blob{bytes.NewReader(content)}
		return nil
	})
	return found, err
}

// Keep implements [storage.Blobs].
func (b blobs) Keep(h storage.Hash) (there bool) {
	_ = b.store.locked(func() error { // a closed Store has none
		_, there = b.store.kept.blobs[h]
		return nil
	})
	return there
}

// blob implements [storage.Blob].
type blob struct{ *bytes.Reader }

// Size implements [storage.Blob].
func (b blob) Size() int64 { return b.Reader.Size() }

// Verify implements [storage.Blob].
func (blob) Verify(context.Context) error { return nil }

// Close implements [storage.Blob].
func (blob) Close() error { return nil }
