package secrets

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/lockrank"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/secret"
	"github.com/wharf-dev/wharf/storage"
)

// How long what ConnectorSecret has found is used again, and how often it is told.
const (
	trustStored  = time.Hour        // a local Vault's: changes are noticed at once
	trustOutside = 10 * time.Second // the operator's, which change unnoticed
	trustRefusal = time.Minute
	tellTrust    = time.Hour
)

// maxTrusted bounds how many secrets of Connectors are kept.
const maxTrusted = 10_000

// trustTable remembers the secrets that Connectors check signatures with: deliveries
// come by the ten thousand a second.
type trustTable struct {
	generation atomic.Uint64 // of all Vaults: nothing older is used

	mu  lockrank.Mutex[lockrank.Table]
	all map[trustKey]*trusted
}

// change makes the table forget what Vaults hold. It is called when a change is
// durable.
func (t *trustTable) change() { t.generation.Add(1) }

type trustKey struct {
	tenant                     storage.Tenant
	workspace, connector, kind string
	vault, name                string
}

// trusted is what was found for a Connector. Its lock is held while it is looked for.
type trusted struct {
	mu         lockrank.Mutex[lockrank.Secret]
	generation uint64
	until      time.Time
	value      []byte
	err        error

	lastUse     time.Time // when its use was told last
	lastVersion int
	lastErr     string
}

func (t *trustTable) entry(key trustKey) *trusted {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e := t.all[key]; e != nil {
		return e
	}
	if t.all == nil || len(t.all) >= maxTrusted {
		t.all = map[trustKey]*trusted{}
	}
	e := &trusted{}
	t.all[key] = e
	return e
}

// ConnectorSecret returns the value of a secret that a Connector checks signatures
// with: of the Vault that it names, or, for an empty vaultID, of the node's
// configuration. Do not change the value. The error is a *provider.Refusal when the
// Connector may not use the secret, or it cannot be read.
//
// It is cheap enough to be called for each delivery: what it has found is kept, and looked up
// again at once when a Vault changes, and every few seconds where changes go unnoticed. The use
// of a secret is recorded when it is first used, when its version or the decision changes, and
// once an hour.
func (k *Keeper) ConnectorSecret(ctx context.Context, t storage.Tenant, c *abi.Connector, vaultID, name string) ([]byte, error) {
	key := trustKey{t, c.WorkspaceID, c.ID, c.Provider, vaultID, name}
	known := k.trusted.entry(key)
	known.mu.Lock()
	defer known.mu.Unlock()
	generation, now := k.trusted.generation.Load(), k.parts.Now()
	if known.generation == generation && now.Before(known.until) {
		return known.value, known.err
	}
	found := k.trust(ctx, t, c, vaultID, name)
	if refused, ok := errors.AsType[*provider.Refusal](found.err); found.err != nil && !ok {
		return nil, found.err
	} else if ok {
		found.keep, found.use.Reason = trustRefusal, refused.Code
	}
	if err := k.tellTrusted(ctx, t, c, known, &found); err != nil {
		return nil, err
	}
	known.generation, known.until = generation, now.Add(found.keep)
	known.value, known.err = found.value, found.err
	return known.value, known.err
}

// finding is what was found for a Connector.
type finding struct {
	value []byte
	err   error
	keep  time.Duration

	use       abi.SecretUse
	about     abi.ResourcePointer // "" when the refusal was told already
	workspace string
}

// nodeSecretID is the resource that events tell of when a secret of the node's
// configuration is used.
func nodeSecretID(name string) string { return secretID("node", name) }

func (k *Keeper) trust(ctx context.Context, t storage.Tenant, c *abi.Connector, vaultID, name string) finding {
	if vaultID == "" {
		return k.trustNode(ctx, c, name)
	}
	u := &User{Tenant: t, Workspace: c.WorkspaceID, Connector: c.ID}
	s, err := k.findSecret(ctx, u, vaultID, name)
	if err != nil {
		return finding{err: err}
	}
	value, err := k.openSecret(ctx, u, s)
	f := finding{
		value: value, err: err, keep: trustStored, about: s.pointer(), workspace: vaultWorkspace(s.vault.WorkspaceID),
		use: abi.SecretUse{VaultID: vaultID, Name: name, Version: s.secret.Version, Allowed: err == nil},
	}
	if s.vault.Provider != abi.VaultLocal {
		f.keep = trustOutside
	}
	return f
}

func (k *Keeper) trustNode(ctx context.Context, c *abi.Connector, name string) finding {
	if k.parts.NodeSecret == nil || !secretName.MatchString(name) {
		return finding{err: provider.Refuse(abi.CallNotFound, secret.CodeUnknown, "there is no secret \""+name+"\"")}
	}
	value, err := k.parts.NodeSecret(ctx, c, name)
	return finding{
		value: value, err: err, keep: trustOutside, about: abi.ResourcePointer{Object: abi.ObjectVaultSecret, ID: nodeSecretID(name)},
		use: abi.SecretUse{Name: name, Allowed: err == nil},
	}
}

// tellTrusted tells the use of a secret by a Connector, unless that was told lately.
func (k *Keeper) tellTrusted(ctx context.Context, t storage.Tenant, c *abi.Connector, known *trusted, f *finding) error {
	now := k.parts.Now()
	if f.about.ID == "" || known.lastVersion == f.use.Version && known.lastErr == f.use.Reason && now.Before(known.lastUse.Add(tellTrust)) {
		return nil
	}
	u := &User{Tenant: t, Workspace: c.WorkspaceID, Connector: c.ID}
	if err := k.tellUse(ctx, u, f.about, f.workspace, f.use); err != nil {
		return err
	}
	known.lastUse, known.lastVersion, known.lastErr = now, f.use.Version, f.use.Reason
	return nil
}
