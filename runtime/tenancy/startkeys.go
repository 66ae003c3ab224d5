package tenancy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
)

// startKey is an API key that a start of the node has made, as it is stored.
type startKey struct {
	abi.APIKey
	seq uint64 // of the event that states it
}

// is reports whether this is the key with the given hash.
func (k *startKey) is(hash [sha256.Size]byte) bool { return k.Hash == hex.EncodeToString(hash[:]) }

// startKeys reads the keys that starts have made, and has those found that persons chose.
func (d *Directory) startKeys(ctx context.Context) (roots []*startKey, err error) {
	for after := ""; ; {
		page, more, err := d.parts.Store.List(ctx, storage.SystemTenant, abi.ObjectAPIKey, desk.Scope{}, storage.Page{After: after, Limit: 200})
		if err != nil {
			return nil, fmt.Errorf("reading the API keys: %w", err)
		}
		for _, res := range page {
			after = res.ID
			k := &startKey{seq: res.Sequence}
			if ledger.ReadListed(&res, &k.APIKey) != nil || !k.Root() {
				continue // one that cannot be read lets nobody in
			}
			roots = append(roots, k)
			d.findChosen(k)
		}
		if !more {
			return roots, nil
		}
	}
}

// findChosen has a key found whose id does not follow from it.
func (d *Directory) findChosen(k *startKey) {
	hash, err := hex.DecodeString(k.Hash)
	if err != nil || len(hash) != sha256.Size || k.Source != abi.KeyFromEnvironment || !k.RevokedAt.IsZero() {
		return
	}
	d.keys.mu.Lock()
	defer d.keys.mu.Unlock()
	if d.keys.chosen == nil {
		d.keys.chosen = map[[sha256.Size]byte]string{}
	}
	d.keys.chosen[[sha256.Size]byte(hash)] = k.ID
}

// takeRootKey makes the key that a start was given the node's own, and ends the one that
// a start was given before.
func (d *Directory) takeRootKey(ctx context.Context, tenant *abi.Tenant, roots []*startKey, key string) error {
	current, err := d.currentRootKey(ctx, roots, key)
	if ledger.IsUnreadable(err) {
		d.parts.LeaveOut(storage.SystemTenant, abi.ObjectAPIKey, abi.APIKeyID(key), err)
		return nil
	}
	if err != nil {
		return err
	}
	if current != nil && !current.RevokedAt.IsZero() {
		d.parts.Log.Warn("the API key that the node was started with was revoked: it opens nothing; start with another", "key", current.ID)
		return nil
	}
	if current == nil {
		if current, err = d.newRootKey(tenant, key); err != nil {
			return err
		}
	}
	if weakKey(key) != nil {
		d.parts.Log.Warn("the API key that the node was started with is easily guessed: start with another", "key", current.ID)
	}
	return d.endFormer(roots, current.ID)
}

// currentRootKey returns the stored key that a start was given; nil for none, and for one
// that only a start has ended. The one in use comes before those that were revoked.
func (d *Directory) currentRootKey(ctx context.Context, roots []*startKey, key string) (*startKey, error) {
	hash := sha256.Sum256([]byte(key))
	var revoked *startKey
	for _, k := range roots {
		switch {
		case !k.is(hash) || k.Source == abi.KeyFromFormerEnvironment:
		case !k.RevokedAt.IsZero():
			revoked = k
		default:
			return k, d.markRootKey(k)
		}
	}
	if revoked != nil {
		return revoked, nil
	}
	stored, err := d.storedKey(ctx, abi.APIKeyID(key)) // any other key of the node does as well
	if ledger.IsNotFound(err) || err == nil && stored.Source == abi.KeyFromFormerEnvironment {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &startKey{APIKey: *stored}, nil
}

// markRootKey states where a key comes from that was made before that was said, so that a
// start with another ends it.
func (d *Directory) markRootKey(k *startKey) error {
	if k.Source != "" {
		return nil
	}
	k.Source, k.UpdatedAt, k.seq = abi.KeyFromEnvironment, abi.At(d.parts.Now()), k.seq+1
	_, err := d.parts.Desk.Commit(&desk.Caller{Tenant: storage.SystemTenant, Actor: desk.HostActor}, "", "", nil, 0,
		ledger.Record{Kind: abi.EventKeyCreated, Object: abi.ObjectAPIKey, ID: k.ID, Sequence: k.seq, State: &k.APIKey})
	d.findChosen(k)
	return err
}

func (d *Directory) newRootKey(tenant *abi.Tenant, key string) (*startKey, error) {
	if err := weakKey(key); err != nil {
		return nil, err
	}
	made, err := d.writeRootKey(tenant, key, abi.KeyFromEnvironment)
	if err != nil {
		return nil, err
	}
	k := &startKey{APIKey: *made}
	d.findChosen(k)
	return k, nil
}

func (d *Directory) writeRootKey(tenant *abi.Tenant, key string, source abi.KeySource) (*abi.APIKey, error) {
	return d.writeKey(desk.HostActor, tenant, key, source, abi.CreateKeyRequest{
		Name: abi.RootKeyName, Actor: abi.RootKeyActor, Scopes: []string{abi.ScopeAll},
	})
}

// weakKey says why a key of a person's choice is guessed at too easily; nil for others.
func weakKey(key string) error {
	if len(key) < MinKeyLen {
		return fmt.Errorf("the API key must have at least %d characters; it has %d", MinKeyLen, len(key))
	}
	different := map[byte]bool{}
	for i := range len(key) {
		different[key[i]] = true
	}
	if len(different) < minKeyBytes {
		return fmt.Errorf("the API key must have at least %d different characters; it has %d: make one with openssl rand -hex 32", minKeyBytes, len(different))
	}
	return nil
}

// endFormer revokes the keys that starts were given before, and tells of those that may
// be such: who made them was not written down.
func (d *Directory) endFormer(roots []*startKey, current string) error {
	for _, k := range roots {
		switch {
		case k.ID == current || !k.RevokedAt.IsZero():
		case k.Source == abi.KeyFromEnvironment:
			k.Source = abi.KeyFromFormerEnvironment
			if err := d.endKey(desk.HostActor, &k.APIKey, k.seq); err != nil {
				return fmt.Errorf("revoking the API key of the start before: %w", err)
			}
			d.parts.Log.Info("the node was started with another API key: the former one is revoked", "key", k.ID)
		case k.Source == "":
			d.parts.Log.Warn("a key that an earlier start made or was given still administers the node: revoke it if it is not in use", "key", k.ID)
		}
	}
	return nil
}
