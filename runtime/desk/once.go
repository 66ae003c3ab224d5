package desk

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"strings"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

// Once performs a write at most once for its idempotency key. do makes the write
// with the record to commit beside it (nil without a key) and waits for the disk.
// A retry with an equivalent body gets the first answer again.
func (d *Desk) Once(ctx context.Context, c *Caller, r *Retry, workspace string,
	do func(*storage.Idempotency) (Doc, error)) (Doc, error) {
	if r == nil {
		return do(nil)
	}
	w := ledger.Write{Tenant: c.Tenant, Key: r.scope(cmp.Or(c.Retries, c.Actor), workspace), Sent: r.Key, Fingerprint: r.Fingerprint}
	doc, first, err := ledger.Once(ctx, d.ledger, &w, do)
	if first != nil {
		return d.answerRetry(ctx, c, first)
	}
	return doc, err
}

// answerRetry answers with the resource as the first response showed it.
func (d *Desk) answerRetry(ctx context.Context, c *Caller, first *storage.Idempotency) (Doc, error) {
	ev, err := d.store.Event(ctx, c.Tenant, first.Position)
	switch {
	case errors.Is(err, storage.ErrNotFound) && first.Status == StatusNoContent:
		return Doc{Replayed: true}, nil
	case errors.Is(err, storage.ErrNotFound):
		return Doc{}, abi.Errorf(abi.CodeResourceNotFound, "what the first request with this Idempotency-Key made was deleted: use a new key to make it again")
	case err != nil:
		return Doc{}, d.ledger.Failed("reading the first response", err)
	}
	doc, err := d.asTold(ctx, c.Tenant, ev)
	doc.Replayed, doc.Told = true, ev.Record().Payload
	return doc, err
}

// asTold returns the resource that an event states, as it was then.
func (d *Desk) asTold(ctx context.Context, t storage.Tenant, ev storage.Event) (Doc, error) {
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
		now, err := d.ledger.Find(ctx, t, abi.ObjectTask, res.ID)
		if err != nil {
			return Doc{}, err
		}
		res.Origin = now.Origin
	}
	return d.render(ctx, t, rec.Resource.Object, res)
}

// lastOf returns the position of a frame's last event.
func lastOf(f *storage.Frame) Position { return f.First + Position(len(f.Records)-1) }

// scope hashes what a key's scope is: actor, Workspace, what it is for, key. Lengths keep the
// parts apart. What is before the first blank of Scope is a part of its own: so keys of HTTP's
// writes were hashed before there were scopes, and their retries have to be found.
func (r *Retry) scope(whose, workspace string) storage.Key {
	h := sha256.New()
	method, target, _ := strings.Cut(r.Scope, " ")
	for _, part := range []string{whose, workspace, method, target, r.Key} {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(part)))
		h.Write(n[:])
		h.Write([]byte(part))
	}
	return storage.Key(h.Sum(nil))
}
