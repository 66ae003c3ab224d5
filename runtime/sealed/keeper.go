package sealed

import (
	"context"
	"fmt"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

// Blinder makes texts with secrets in them comparable without giving the secrets away.
type Blinder interface {
	// Blind returns what stands for a text with a secret in it where texts are compared.
	Blind(ctx context.Context, text []byte) ([]byte, error)
}

// Values keeps the values of secrets. *vault.Store is one.
type Values interface {
	Blinder
	// Seal keeps a value, durably, and returns what Open wants to be told of it.
	Seal(ctx context.Context, id string, version int, value []byte) (sealed string, err error)
	// Open returns what Seal was given when it returned sealed.
	Open(ctx context.Context, id string, version int, sealed string) ([]byte, error)
	// Keep removes every version but one, and all of them when version is 0.
	Keep(id string, version int) error
}

// Keeper keeps values. It is safe for concurrent use; two writes of one secret are for the caller
// to put in order.
type Keeper struct {
	Ledger *ledger.Ledger
	Values Values // nil when the node can keep none: then only Blind and Open may be called
	Now    func() time.Time
}

// Secret names a value.
type Secret struct {
	Tenant      storage.Tenant
	ID          string
	WorkspaceID string // of what it is for; "" for the whole tenant
	Name        string // what it is for, as the log tells it
}

// Seal keeps a value, in place of the one before, and returns the event that says so.
func (k *Keeper) Seal(ctx context.Context, of Secret, value []byte) (ledger.Record, error) {
	now := k.Now()
	s := abi.VaultSecret{Envelope: abi.NewEnvelope(abi.ObjectVaultSecret, of.ID, now, nil), WorkspaceID: of.WorkspaceID, Name: of.Name, Version: 1}
	rec := ledger.Record{Kind: abi.EventSecretStored, Object: abi.ObjectVaultSecret, ID: of.ID, Created: true}
	before, res, err := k.find(ctx, of.Tenant, of.ID)
	switch {
	case err == nil:
		s = before
		s.Version, s.UpdatedAt, s.RemovedAt = s.Version+1, abi.At(now), time.Time{}
		rec.Created, rec.Sequence = false, res.Sequence+1
	case !ledger.IsNotFound(err):
		return ledger.Record{}, err
	}
	if s.Sealed, err = k.Values.Seal(ctx, of.ID, s.Version, value); err != nil {
		return ledger.Record{}, fmt.Errorf("keeping a secret: %w", err)
	}
	rec.State = &s
	return rec, nil
}

// Open returns a value. A node that can keep none may still meet the secrets of one that could, and
// fails to open them.
func (k *Keeper) Open(ctx context.Context, t storage.Tenant, id string) ([]byte, error) {
	if k.Values == nil {
		return nil, fmt.Errorf("opening the secret %s: the node has no vault", id)
	}
	s, _, err := k.find(ctx, t, id)
	if err != nil {
		return nil, err
	}
	return k.Values.Open(ctx, id, s.Version, s.Sealed)
}

// Remove removes a value, all versions of it, and returns the event that says so.
func (k *Keeper) Remove(ctx context.Context, t storage.Tenant, id string) (ledger.Record, error) {
	s, res, err := k.find(ctx, t, id)
	if err != nil {
		return ledger.Record{}, err
	}
	if err := k.Values.Keep(id, 0); err != nil {
		return ledger.Record{}, fmt.Errorf("removing a secret: %w", err)
	}
	s.RemovedAt, s.UpdatedAt, s.Sealed = abi.At(k.Now()), abi.At(k.Now()), ""
	return ledger.Record{Kind: abi.EventSecretRemoved, Object: abi.ObjectVaultSecret, ID: id, Sequence: res.Sequence + 1, State: &s}, nil
}

func (k *Keeper) find(ctx context.Context, t storage.Tenant, id string) (s abi.VaultSecret, res storage.Resource, err error) {
	if res, err = k.Ledger.Find(ctx, t, abi.ObjectVaultSecret, id); err == nil {
		err = ledger.Decode(res.State, &s)
	}
	return s, res, err
}

// HeadersID is the id of the secret that holds the values of the headers of a resource.
func HeadersID(owner string) string {
	return abi.IDPrefix(abi.ObjectVaultSecret) + owner + ".headers"
}

// SealHeaders keeps the values of the headers of a resource, by their names, as Seal does.
func (k *Keeper) SealHeaders(ctx context.Context, t storage.Tenant, owner, workspace string, headers map[string]string) (ledger.Record, error) {
	text, err := json.Marshal(headers, json.Deterministic(true))
	if err != nil {
		return ledger.Record{}, err
	}
	return k.Seal(ctx, Secret{Tenant: t, ID: HeadersID(owner), WorkspaceID: workspace, Name: owner + " headers"}, text)
}

// OpenHeaders returns what SealHeaders was given last.
func (k *Keeper) OpenHeaders(ctx context.Context, t storage.Tenant, owner string) (headers map[string]string, err error) {
	text, err := k.Open(ctx, t, HeadersID(owner))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &headers); err != nil {
		return nil, fmt.Errorf("reading the headers of %s: %w", owner, err)
	}
	return headers, nil
}

// Blind returns a retry whose body cannot be guessed from what is kept of it: a hash of a weak
// value could be. No retry stays none.
func Blind(ctx context.Context, b Blinder, r *desk.Retry) (*desk.Retry, error) {
	if r == nil {
		return nil, nil
	}
	blind, err := b.Blind(ctx, r.Fingerprint[:])
	if err != nil {
		return nil, err
	}
	blinded := *r
	blinded.Fingerprint = ledger.CanonicalHash(blind)
	return &blinded, nil
}
