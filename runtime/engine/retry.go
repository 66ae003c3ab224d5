package engine

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/storage"
)

// retryTable holds the keys whose write is on its way to the disk: looking a key up and
// committing under it are one step to everybody else. R is the place of the keys among
// the locks.
type retryTable[R lockrank.Ranked] struct {
	mu     lockrank.Mutex[lockTable]
	flying map[retryKey]chan struct{}
}

type retryKey struct {
	tenant storage.Tenant
	key    storage.Key
}

// claim makes the caller the only one at work on k, waiting for whoever is. The same
// goroutine releases it.
func (t *retryTable[R]) claim(ctx context.Context, k retryKey) (release func(), err error) {
	lockrank.Enter[R]()
	for {
		t.mu.Lock()
		if t.flying == nil {
			t.flying = map[retryKey]chan struct{}{}
		}
		other, taken := t.flying[k]
		if !taken {
			done := make(chan struct{})
			t.flying[k] = done
			t.mu.Unlock()
			return func() { t.release(k, done) }, nil
		}
		t.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			lockrank.Leave[R]()
			return nil, ctx.Err()
		}
	}
}

func (t *retryTable[R]) release(k retryKey, done chan struct{}) {
	lockrank.Leave[R]()
	t.mu.Lock()
	delete(t.flying, k)
	t.mu.Unlock()
	close(done)
}

// once performs a write at most once for its idempotency key. do makes the write
// with the record to commit beside it (nil without a key) and waits for the disk.
// A retry with an equivalent body gets the first answer again.
func (e *Engine) once(ctx context.Context, c *Caller, r *Retry, workspace string,
	do func(*storage.Idempotency) (Doc, error)) (Doc, error) {
	if r == nil {
		return do(nil)
	}
	key := retryKey{c.Tenant, r.scope(cmp.Or(c.Retries, c.Actor), workspace)}
	release, err := e.retries.claim(ctx, key)
	if err != nil {
		return Doc{}, e.failed("waiting for the first request with this Idempotency-Key", err)
	}
	defer release()

	var body [32]byte
	err = e.turns.DoFor(ctx, uint64(c.Tenant), len(r.Body), func() error { body = canonicalHash(r.Body); return nil })
	if err != nil {
		return Doc{}, e.failed("reading the body of a retry", err)
	}
	first, err := e.store.Idempotency(ctx, c.Tenant, key.key, e.now())
	if err == nil {
		return e.answerRetry(ctx, c, r, first, body)
	}
	if !errors.Is(err, storage.ErrNotFound) {
		return Doc{}, e.failed("looking up the Idempotency-Key", err)
	}
	return do(&storage.Idempotency{Key: key.key, ClientKey: r.Key, Body: body, Expires: e.now().Add(e.config.IdempotencyTTL)})
}

// answerRetry answers with the resource as the first response showed it.
func (e *Engine) answerRetry(ctx context.Context, c *Caller, r *Retry, first *storage.Idempotency, body [32]byte) (Doc, error) {
	if first.Body != body {
		return Doc{}, abi.Errorf(abi.CodeIdempotencyKeyReused,
			"Idempotency-Key %q was used before with another body; use a new key for a new request", r.Key)
	}
	ev, err := e.store.Event(ctx, c.Tenant, first.Position)
	if err != nil {
		return Doc{}, e.failed("reading the first response", err)
	}
	doc, err := e.asTold(ctx, c.Tenant, ev)
	doc.Status, doc.told = first.Status, ev.Record().Payload
	return doc, err
}

// asTold returns the resource that an event states, as it was then.
func (e *Engine) asTold(ctx context.Context, t storage.Tenant, ev storage.Event) (Doc, error) {
	rec := ev.Record()
	res := storage.Resource{
		ID: rec.Resource.ID, State: rec.State, Restricted: rec.Restricted,
		Position: ev.Position(), Origin: ev.Position(), Sequence: rec.Sequence,
	}
	switch {
	case rec.Resource.Object == abi.ObjectSession:
		return Doc{ID: res.ID, JSON: withLastEvent(res.State, lastOf(ev.Frame)), Restricted: res.Restricted}, nil
	case rec.Resource.Object == abi.ObjectArtifact: // without the receipt, which came later
		return Doc{ID: res.ID, JSON: res.State, Restricted: res.Restricted}, nil
	case rec.Resource.Object == abi.ObjectTask && !rec.Created: // its input is in the event that accepted it
		now, err := e.find(ctx, t, abi.ObjectTask, res.ID)
		if err != nil {
			return Doc{}, err
		}
		res.Origin = now.Origin
	}
	return e.render(ctx, t, rec.Resource.Object, res)
}

// lastOf returns the position of a frame's last event.
func lastOf(f *storage.Frame) Position { return f.First + Position(len(f.Records)-1) }

// scope hashes what the protocol makes an idempotency key's scope: actor,
// Workspace, method, canonical target, key. Lengths keep the parts apart.
func (r *Retry) scope(whose, workspace string) storage.Key {
	h := sha256.New()
	for _, part := range []string{whose, workspace, r.Method, r.Target, r.Key} {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(part)))
		h.Write(n[:])
		h.Write([]byte(part))
	}
	return storage.Key(h.Sum(nil))
}

// canonicalHash hashes the RFC 8785 form of a body. A body that has none (it is
// no JSON, or empty) is hashed as it is.
func canonicalHash(body []byte) [32]byte {
	canonical := jsontext.Value(bytes.Clone(body))
	if err := canonical.Canonicalize(); err != nil {
		return sha256.Sum256(body)
	}
	return sha256.Sum256(canonical)
}
