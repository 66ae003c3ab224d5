package journal

import (
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
