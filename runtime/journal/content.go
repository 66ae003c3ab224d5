package journal

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/wharf-dev/wharf/storage"
)

// Content returns the content of a blob that a record refers to: what is too large for an event, a
// module, a Persona.
func Content(ctx context.Context, blobs storage.Blobs, hash storage.Hash) ([]byte, error) {
	b, err := blobs.Open(ctx, hash)
	if err != nil {
		return nil, fmt.Errorf("opening the blob %s: %w", FormatHash(hash), err)
	}
	defer b.Close()
	content := make([]byte, b.Size())
	if _, err := io.ReadFull(b, content); err != nil {
		return nil, fmt.Errorf("reading the blob %s: %w", FormatHash(hash), err)
	}
	return content, nil
}

// Keep puts what of a call's texts is too large for the event of a phase into blobs.
func (e *Entry) Keep(ctx context.Context, blobs storage.Blobs, phase Phase) (refs Refs, err error) {
	if phase != Result {
		if refs.Request, err = keep(ctx, blobs, e.Request); err != nil {
			return refs, err
		}
	}
	if phase != Intent {
		refs.Answer, err = keep(ctx, blobs, e.Answer)
	}
	return refs, err
}

func keep(ctx context.Context, blobs storage.Blobs, text []byte) (storage.Hash, error) {
	if len(text) <= MaxInline {
		return storage.Hash{}, nil
	}
	hash, _, err := blobs.Put(ctx, bytes.NewReader(text), nil)
	if err != nil {
		return hash, fmt.Errorf("storing a large value: %w", err)
	}
	return hash, nil
}
