package ledger

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// Write is a write that a client may send again.
type Write struct {
	Tenant storage.Tenant
	Key    storage.Key // the client's key and what it is for, hashed
	Sent   string      // the key as the client sent it
	// Fingerprint tells whether a write with the same key is the same.
	Fingerprint [sha256.Size]byte
}

// Once performs a write at most once for its key. do makes the write, with the record to commit
// beside it, and waits until that is durable. If the write was made before, do is not called,
// and first is the record of the first time. The same holds when another writer on the same
// store was faster, and do has left nothing. A key that was used with another body is an
// [abi.CodeIdempotencyKeyReused].
func Once[T any](ctx context.Context, l *Ledger, w *Write, do func(*storage.Idempotency) (T, error)) (done T, first *storage.Idempotency, err error) {
	release, err := l.keys.Claim(ctx, ClaimKey{w.Tenant, w.Key})
	if err != nil {
		return done, nil, l.Failed("waiting for the first request with this Idempotency-Key", err)
	}
	defer release()
	first, err = l.first(ctx, w)
	if first != nil || err != nil {
		return done, first, err
	}
	done, err = do(&storage.Idempotency{Key: w.Key, ClientKey: w.Sent, Body: w.Fingerprint, Expires: l.now().Add(l.keepKeys)})
	if !beaten(err, w.Key) {
		return done, nil, err
	}
	var none T
	first, found := l.first(ctx, w)
	if first == nil && found == nil {
		return none, nil, err
	}
	return none, first, found
}

// first returns the record of the first write with a key, nil when there was none.
func (l *Ledger) first(ctx context.Context, w *Write) (*storage.Idempotency, error) {
	first, err := l.store.Idempotency(ctx, w.Tenant, w.Key, l.now())
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, l.Failed("looking up the Idempotency-Key", err)
	case first.Body != w.Fingerprint:
		return nil, abi.Errorf(abi.CodeIdempotencyKeyReused,
			"Idempotency-Key %q was used before with another body; use a new key for a new request", w.Sent)
	}
	return first, nil
}

// beaten reports whether a write has left nothing because a writer that shares no claims
// with this ledger was the first with its key.
func beaten(err error, k storage.Key) bool {
	c, ok := errors.AsType[*storage.ConflictError](err)
	return ok && c.Expected.Kind == storage.ExpectNoAnswer && c.Expected.Key == k
}

// CanonicalHash hashes the RFC 8785 form of a body. A body that has none (it is empty, or not
// JSON) is hashed as it is.
func CanonicalHash(body []byte) [32]byte {
	canonical := jsontext.Value(bytes.Clone(body))
	if err := canonical.Canonicalize(); err != nil {
		return sha256.Sum256(body)
	}
	return sha256.Sum256(canonical)
}
