package outbox

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/runtime/sealed"
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
		value, err := o.values.Open(ctx, t, s.ID)
		if err != nil {
			return nil, err
		}
		own.secrets = append(own.secrets, signer{value, s.ExpiresAt})
	}
	if len(w.Headers) > 0 {
		header, err := o.values.OpenHeaders(ctx, t, w.ID)
		if err != nil {
			return nil, err
		}
		own.header = header
	}
	k.kept = own
	return own, nil
}

// discard removes values, and returns the events that say so.
func (o *Outbox) discard(ctx context.Context, t storage.Tenant, ids []string) (records []ledger.Record) {
	for _, id := range ids {
		removed, err := o.values.Remove(ctx, t, id)
		if err != nil {
			o.parts.Log.Warn("a secret of a webhook is left on disk", "secret", id, "error", err)
			continue
		}
		records = append(records, removed)
	}
	return records
}

// newSecret keeps a secret of a Webhook: that which is given, or a new one.
func (o *Outbox) newSecret(ctx context.Context, t storage.Tenant, w *abi.WebhookEndpoint, value string) (ledger.Record, error) {
	if value == "" {
		raw := make([]byte, secretBytes)
		if _, err := io.ReadFull(o.parts.Entropy, raw); err != nil {
			return ledger.Record{}, fmt.Errorf("making a secret: %w", err)
		}
		value = secretPrefix + base64.StdEncoding.EncodeToString(raw)
	}
	id := o.parts.IDs.New(abi.ObjectVaultSecret)
	about := abi.WebhookSecret{ID: id, Hint: value[len(value)-4:], CreatedAt: abi.At(o.parts.Now())}
	w.Secrets = append([]abi.WebhookSecret{about}, w.Secrets...)
	return o.values.Seal(ctx, sealed.Secret{Tenant: t, ID: id, WorkspaceID: w.WorkspaceID, Name: w.ID}, []byte(value))
}

func hmacOf(secret, body []byte) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write(body)
	return mac.Sum(nil)
}
