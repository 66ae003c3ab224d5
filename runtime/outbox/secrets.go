package outbox

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/storage"
)

const (
	// secretPrefix begins the secrets that the node makes, as Standard Webhooks wants it.
	secretPrefix = "whsec_"
	// secretBytes is how long they are.
	secretBytes = 32
	// maxSecrets is how many secrets of a Webhook are valid at a time.
	maxSecrets = 4
)

// keys is what a Webhook's deliveries are signed with, and what they carry.
type keys struct {
	about   *abi.WebhookEndpoint // whose
	secrets []signer             // newest first
	header  map[string]string
}

type signer struct {
	value   []byte
	expires time.Time
}

// over reports whether the secret is valid no more.
func (s *signer) over(now time.Time) bool { return !s.expires.IsZero() && !s.expires.After(now) }

// keyring keeps what was read of a Webhook's secrets until the Webhook changes.
type keyring struct {
	mu   lockrank.Mutex[lockrank.Secret]
	kept *keys
}

// of returns the keys of a Webhook in this form.
func (k *keyring) of(ctx context.Context, o *Outbox, t storage.Tenant, w *abi.WebhookEndpoint) (*keys, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.kept != nil && k.kept.about == w {
		return k.kept, nil
	}
	own := &keys{about: w}
	for _, s := range w.Secrets {
		value, err := o.open(ctx, t, s.ID)
		if err != nil {
			return nil, err
		}
		own.secrets = append(own.secrets, signer{value, s.ExpiresAt})
	}
	if len(w.Headers) > 0 {
		text, err := o.open(ctx, t, headersID(w.ID))
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, &own.header); err != nil {
			return nil, fmt.Errorf("reading the headers of %s: %w", w.ID, err)
		}
	}
	k.kept = own
	return own, nil
}

// headersID is the secret that holds the values of a Webhook's headers.
func headersID(webhook string) string {
	return abi.IDPrefix(abi.ObjectVaultSecret) + webhook + ".headers"
}

// open reads a value.
func (o *Outbox) open(ctx context.Context, t storage.Tenant, id string) ([]byte, error) {
	res, err := o.parts.Ledger.Find(ctx, t, abi.ObjectVaultSecret, id)
	if err != nil {
		return nil, err
	}
	var s abi.VaultSecret
	if err := ledger.Decode(res.State, &s); err != nil {
		return nil, err
	}
	return o.parts.Values.Open(ctx, id, s.Version, s.Sealed)
}

// sealed is a value that was kept, and the event that says so.
type sealed struct {
	id  string
	rec ledger.Record
}

// seal keeps a value. It is kept before the log says so.
func (o *Outbox) seal(ctx context.Context, w *abi.WebhookEndpoint, t storage.Tenant, id, name string, value []byte) (sealed, error) {
	now := o.parts.Now()
	s := abi.VaultSecret{Envelope: abi.NewEnvelope(abi.ObjectVaultSecret, id, now, nil), WorkspaceID: w.WorkspaceID, Name: name, Version: 1}
	rec := ledger.Record{Kind: abi.EventSecretStored, Object: abi.ObjectVaultSecret, ID: id, Created: true}
	res, err := o.parts.Ledger.Find(ctx, t, abi.ObjectVaultSecret, id)
	if err == nil {
		if err := ledger.Decode(res.State, &s); err != nil {
			return sealed{}, err
		}
		s.Version, s.UpdatedAt, s.RemovedAt = s.Version+1, abi.At(now), time.Time{}
		rec.Created, rec.Sequence = false, res.Sequence+1
	} else if !ledger.IsNotFound(err) {
		return sealed{}, err
	}
	if s.Sealed, err = o.parts.Values.Seal(ctx, id, s.Version, value); err != nil {
		return sealed{}, fmt.Errorf("keeping a secret: %w", err)
	}
	rec.State = &s
	return sealed{id, rec}, nil
}

// discard removes values, and returns the events that say so.
func (o *Outbox) discard(ctx context.Context, t storage.Tenant, ids []string) (records []ledger.Record) {
	for _, id := range ids {
		res, err := o.parts.Ledger.Find(ctx, t, abi.ObjectVaultSecret, id)
		var s abi.VaultSecret
		if err == nil {
			err = ledger.Decode(res.State, &s)
		}
		if err == nil {
			err = o.parts.Values.Keep(id, 0)
		}
		if err != nil {
			o.parts.Log.Warn("a secret of a webhook is left on disk", "secret", id, "error", err)
			continue
		}
		s.RemovedAt, s.UpdatedAt, s.Sealed = abi.At(o.parts.Now()), abi.At(o.parts.Now()), ""
		records = append(records, ledger.Record{Kind: abi.EventSecretRemoved, Object: abi.ObjectVaultSecret, ID: id, Sequence: res.Sequence + 1, State: &s})
	}
	return records
}

// newSecret keeps a secret of a Webhook: that which is given, or a new one.
func (o *Outbox) newSecret(ctx context.Context, t storage.Tenant, w *abi.WebhookEndpoint, value string) (sealed, error) {
	if value == "" {
		raw := make([]byte, secretBytes)
		if _, err := io.ReadFull(o.parts.Entropy, raw); err != nil {
			return sealed{}, fmt.Errorf("making a secret: %w", err)
		}
		value = secretPrefix + base64.StdEncoding.EncodeToString(raw)
	}
	id := o.parts.IDs.New(abi.ObjectVaultSecret)
	about := abi.WebhookSecret{ID: id, Hint: value[len(value)-4:], CreatedAt: abi.At(o.parts.Now())}
	w.Secrets = append([]abi.WebhookSecret{about}, w.Secrets...)
	return o.seal(ctx, w, t, id, w.ID, []byte(value))
}

// blind has the body of a write stand for itself without being guessable from what is kept of it.
func (o *Outbox) blind(ctx context.Context, r *desk.Retry) (*desk.Retry, error) {
	if r == nil {
		return nil, nil
	}
	blind, err := o.parts.Values.Blind(ctx, r.Fingerprint[:])
	blinded := *r
	blinded.Fingerprint = ledger.CanonicalHash(blind)
	return &blinded, err
}

func hmacOf(secret, body []byte) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write(body)
	return mac.Sum(nil)
}
