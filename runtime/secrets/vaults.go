package secrets

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/plainly"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/provider/secret"
	"github.com/wharf-dev/wharf/runtime/provider/vault"
	"github.com/wharf-dev/wharf/runtime/sealed"
	"github.com/wharf-dev/wharf/storage"
)

// What a Vault's capabilities allow.
const (
	vaultRead  = "read"  // its secrets are put in the calls of Tasks
	vaultWrite = "write" // values are stored in it
	vaultSign  = "sign"  // Connectors check signatures with its secrets
)

var errNoVaults = abi.Errorf(abi.CodeNotImplemented, "this node keeps no vaults")

// Tenants are the tenants of the node.
type Tenants interface {
	// NameOf returns the name of the tenant of a number, "" for none.
	NameOf(number storage.Tenant) string
}

// Parts are what a keeper works with.
type Parts struct {
	desk.Parts
	Tenants Tenants
	// Values keeps the values of local Vaults, and reads those of the operator; nil when
	// the node has no Vaults.
	Values *vault.Store
	// NodeSecret returns a secret of the node's configuration that a Connector may check
	// signatures with, or a *provider.Refusal; nil when there are none.
	NodeSecret func(ctx context.Context, c *abi.Connector, name string) ([]byte, error)
}

// Keeper serves Vaults to callers, and their secrets to users that may use them. It is safe for
// concurrent use.
type Keeper struct {
	parts   Parts
	counts  counts
	trusted trustTable
}

// NewKeeper returns a keeper.
func NewKeeper(p Parts) *Keeper { return &Keeper{parts: p} }

// SecretUses returns how often secrets were used since the node started, and how often
// their use was refused.
func (k *Keeper) SecretUses() (used, refused uint64) {
	return k.counts.used.Load(), k.counts.refused.Load()
}

// counts is what is counted of secrets that Tasks and Connectors use.
type counts struct{ used, refused atomic.Uint64 }

func (c *counts) count(allowed bool) {
	if allowed {
		c.used.Add(1)
		return
	}
	c.refused.Add(1)
}

// CreateVault makes a Vault, of a Workspace or of the whole tenant. A key that is
// bound to Workspaces makes none for the tenant.
func (k *Keeper) CreateVault(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.CreateVaultRequest) (desk.Doc, error) {
	if err := k.checkVault(ctx, c, &req); err != nil {
		return desk.Doc{}, err
	}
	workspace := vaultWorkspace(req.WorkspaceID)
	return k.parts.Desk.Once(ctx, c, r, workspace, func(idem *storage.Idempotency) (desk.Doc, error) {
		v := &abi.Vault{
			Envelope:    abi.NewEnvelope(abi.ObjectVault, k.parts.IDs.New(abi.ObjectVault), k.parts.Now(), req.Metadata),
			WorkspaceID: req.WorkspaceID, Provider: req.Provider, Capabilities: req.Capabilities, Access: req.Access,
		}
		return k.parts.Desk.Commit(c, "", workspace, idem, desk.StatusCreated,
			ledger.Record{Kind: abi.EventVaultCreated, Object: abi.ObjectVault, ID: v.ID, Created: true, State: v})
	})
}

// vaultWorkspace returns the Workspace of a Vault, "" for the whole tenant.
func vaultWorkspace(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func (k *Keeper) checkVault(ctx context.Context, c *desk.Caller, req *abi.CreateVaultRequest) error {
	if k.parts.Values == nil {
		return errNoVaults
	}
	if req.WorkspaceID != nil {
		if err := k.parts.Desk.CheckWorkspace(ctx, c, *req.WorkspaceID); err != nil {
			return err
		}
	} else if len(c.Workspaces) > 0 {
		return abi.Errorf(abi.CodePermissionDenied, "this key is bound to workspaces and makes no vault for the whole tenant: name one in workspace_id")
	}
	if err := cmp.Or(checkVaultWord("provider", req.Provider), checkCapabilities(req.Provider, req.Capabilities), checkAccess(req.Access), desk.CheckMetadata(&req.Metadata)); err != nil {
		return err
	}
	return k.checkVaultTenant(c.Tenant, req.Provider)
}

// checkVaultTenant refuses providers that the operator has not set up for a tenant.
func (k *Keeper) checkVaultTenant(t storage.Tenant, provider string) error {
	var err error
	switch provider {
	case abi.VaultEnv:
		err = k.parts.Values.CheckEnv(k.parts.Tenants.NameOf(t))
	case abi.VaultFile:
		err = k.parts.Values.CheckFiles(k.parts.Tenants.NameOf(t))
	}
	if err != nil {
		return abi.InvalidParam("provider", "%v", err)
	}
	return nil
}

// servesVault reports whether this node can use the secrets of a provider's Vaults. A
// provider is any string: one that is not served is kept, and refused when it is used.
func servesVault(provider string) bool {
	return provider == abi.VaultLocal || provider == abi.VaultEnv || provider == abi.VaultFile
}

func errUnserved(v *abi.Vault) *abi.Error {
	return abi.Errorf(abi.CodeNotImplemented, "this node cannot use the secrets of vault %s: it serves the providers %s, %s and %s, not %q",
		v.ID, abi.VaultLocal, abi.VaultEnv, abi.VaultFile, v.Provider)
}

const (
	maxVaultWord    = 255 // bytes of a provider or a capability
	maxCapabilities = 100
)

// checkVaultWord checks a provider or a capability.
func checkVaultWord(param, word string) error {
	if err := desk.CheckPresent(param, word); err != nil {
		return err
	}
	if len(word) > maxVaultWord {
		return abi.InvalidParam(param, "%s has at most %d bytes", param, maxVaultWord)
	}
	return nil
}

// checkCapabilities takes capabilities that mean nothing here, too: they are kept and
// allow nothing.
func checkCapabilities(provider string, capabilities []string) error {
	if len(capabilities) == 0 || len(capabilities) > maxCapabilities {
		return abi.InvalidParam("capabilities", "a vault has 1 to %d capabilities; %s mean something here", maxCapabilities, plainly.List([]string{vaultRead, vaultWrite, vaultSign}, "and"))
	}
	for _, one := range capabilities {
		if err := checkVaultWord("capabilities", one); err != nil {
			return err
		}
		if one == vaultWrite && (provider == abi.VaultEnv || provider == abi.VaultFile) {
			return abi.InvalidParam("capabilities", "the values of a vault of the provider %s are the operator's to write", provider)
		}
	}
	return nil
}

// maxAccessPatterns is how many patterns a Vault's access may have, of each kind.
const maxAccessPatterns = 200

func checkAccess(access *abi.VaultAccess) error {
	if access == nil {
		return nil
	}
	return cmp.Or(checkAccessPatterns("access.personas", access.Personas), checkAccessPatterns("access.connectors", access.Connectors))
}

func checkAccessPatterns(param string, patterns []string) error {
	if len(patterns) > maxAccessPatterns {
		return abi.InvalidParam(param, "%s has %d patterns; it may have %d", param, len(patterns), maxAccessPatterns)
	}
	for _, p := range patterns {
		if p == "" || len(p) > abi.MaxIDLen || !abi.ValidName(strings.ReplaceAll(p, "*", "")) {
			return abi.InvalidParam(param, "%q is no pattern: an id, in which * stands for any characters", p)
		}
	}
	return nil
}

// UpdateVault changes what a Vault is for and who may use it.
func (k *Keeper) UpdateVault(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.UpdateVaultRequest) (desk.Doc, error) {
	v, err := k.writableVault(ctx, c, id)
	if err != nil {
		return desk.Doc{}, err
	}
	if err := cmp.Or(checkAccess(req.Access), desk.CheckMetadata(&req.Metadata)); err != nil {
		return desk.Doc{}, err
	}
	if req.Capabilities != nil {
		if err := checkCapabilities(v.Provider, req.Capabilities); err != nil {
			return desk.Doc{}, err
		}
	}
	return k.parts.Desk.Once(ctx, c, r, vaultWorkspace(v.WorkspaceID), func(idem *storage.Idempotency) (desk.Doc, error) {
		return ledger.Change(k.parts.Ledger, c.Tenant, id, func() (desk.Doc, error) {
			v, res, err := desk.Find[abi.Vault](ctx, k.parts.Desk, c, abi.ObjectVault, id)
			if err != nil {
				return desk.Doc{}, err
			}
			amendVault(&v, req)
			v.UpdatedAt = abi.At(k.parts.Now())
			defer k.trusted.change()
			return k.parts.Desk.CommitNext(ctx, storage.Frame{Tenant: c.Tenant, WorkspaceID: vaultWorkspace(v.WorkspaceID), Actor: c.Actor}, idem, desk.StatusOK,
				ledger.Record{Kind: abi.EventVaultUpdated, Object: abi.ObjectVault, ID: id, State: &v, Read: res.Position})
		})
	})
}

func amendVault(v *abi.Vault, req abi.UpdateVaultRequest) {
	if req.Capabilities != nil {
		v.Capabilities = req.Capabilities
	}
	if req.Access != nil {
		v.Access = req.Access
	}
	if req.Metadata != nil {
		v.Metadata = req.Metadata
	}
}

// writableVault returns a Vault that the caller may change.
func (k *Keeper) writableVault(ctx context.Context, c *desk.Caller, id string) (abi.Vault, error) {
	v, _, err := desk.Find[abi.Vault](ctx, k.parts.Desk, c, abi.ObjectVault, id)
	switch {
	case err != nil:
		return v, err
	case k.parts.Values == nil:
		return v, errNoVaults
	case v.WorkspaceID == nil && len(c.Workspaces) > 0:
		return v, abi.Errorf(abi.CodePermissionDenied, "this key is bound to workspaces, and the vault is the whole tenant's")
	}
	return v, nil
}

var secretName = regexp.MustCompile(`^` + secret.NamePattern + `$`)

// secretID returns the id of a Vault's secret.
func secretID(vault, name string) string {
	return abi.IDPrefix(abi.ObjectVaultSecret) + strings.TrimPrefix(vault, abi.IDPrefix(abi.ObjectVault)) + "." + name
}

// maxHosts is how many hosts a secret may be sent to.
const maxHosts = 100

func checkSecret(name string, req *abi.StoreSecretRequest) error {
	switch {
	case !secretName.MatchString(name):
		return abi.InvalidParam("name", "the name of a secret is 1 to 64 of A-Z a-z 0-9 _ . -, and begins with a letter or digit")
	case req.Value == "":
		return abi.InvalidParam("value", `missing required member "value"`)
	case len(req.Value) > vault.MaxValue:
		return abi.InvalidParam("value", "the value has %d bytes; it may have %d", len(req.Value), vault.MaxValue)
	case len(req.Hosts) > maxHosts:
		return abi.InvalidParam("hosts", "it has %d hosts; it may have %d", len(req.Hosts), maxHosts)
	}
	for _, host := range req.Hosts {
		bare := strings.TrimPrefix(host, "*.")
		if bare == "" || len(host) > 260 || strings.ContainsAny(bare, "*/@? ") {
			return abi.InvalidParam("hosts", "%q is not a host, such as api.example.com, *.example.com or 127.0.0.1:8080", host)
		}
	}
	return nil
}

// StoreSecret keeps a new version of a secret's value in a Vault. No method returns
// it again.
func (k *Keeper) StoreSecret(ctx context.Context, c *desk.Caller, r *desk.Retry, vaultID, name string, req abi.StoreSecretRequest) (desk.Doc, error) {
	v, err := k.writableVault(ctx, c, vaultID)
	if err != nil {
		return desk.Doc{}, err
	}
	if err := checkSecret(name, &req); err != nil {
		return desk.Doc{}, err
	}
	if !servesVault(v.Provider) {
		return desk.Doc{}, errUnserved(&v)
	}
	if !slices.Contains(v.Capabilities, vaultWrite) {
		return desk.Doc{}, abi.Errorf(abi.CodePermissionDenied, "the vault %s lacks the capability %q", vaultID, vaultWrite)
	}
	if r, err = sealed.Blind(ctx, k.parts.Values, r); err != nil {
		return desk.Doc{}, err
	}
	return k.parts.Desk.Once(ctx, c, r, vaultWorkspace(v.WorkspaceID), func(idem *storage.Idempotency) (desk.Doc, error) {
		unlock := k.parts.Ledger.Lock(c.Tenant, secretID(vaultID, name))
		defer unlock()
		return k.storeSecret(ctx, c, idem, &v, name, req)
	})
}

// storeSecret is called under the secret's lock.
func (k *Keeper) storeSecret(ctx context.Context, c *desk.Caller, idem *storage.Idempotency, v *abi.Vault, name string, req abi.StoreSecretRequest) (desk.Doc, error) {
	id := secretID(v.ID, name)
	s, read, err := k.storedSecret(ctx, c.Tenant, id)
	created := ledger.IsNotFound(err)
	switch {
	case created:
		s = &abi.VaultSecret{
			Envelope: abi.NewEnvelope(abi.ObjectVaultSecret, id, k.parts.Now(), nil),
			VaultID:  v.ID, WorkspaceID: vaultWorkspace(v.WorkspaceID), Name: name,
		}
	case err != nil:
		return desk.Doc{}, err
	}
	// The value first: a version that the log states is there.
	s.Version++
	if s.Sealed, err = k.parts.Values.Seal(ctx, id, s.Version, []byte(req.Value)); err != nil {
		return desk.Doc{}, err
	}
	s.Hosts, s.RemovedAt, s.UpdatedAt = req.Hosts, time.Time{}, abi.At(k.parts.Now())
	defer k.trusted.change()
	doc, err := k.parts.Desk.CommitNext(ctx, storage.Frame{Tenant: c.Tenant, WorkspaceID: s.WorkspaceID, Actor: c.Actor}, idem, desk.StatusOK,
		ledger.Record{Kind: abi.EventSecretStored, Object: abi.ObjectVaultSecret, ID: id, Created: created, State: s, Read: read})
	if err != nil {
		return desk.Doc{}, err
	}
	if err := k.parts.Values.Keep(id, s.Version); err != nil {
		k.parts.Log.Warn("an old version of a secret is left on disk", "secret", id, "error", err)
	}
	return doc, nil
}

// storedSecret returns a secret as the log has it, and the event that states it.
func (k *Keeper) storedSecret(ctx context.Context, t storage.Tenant, id string) (s *abi.VaultSecret, stated storage.Position, err error) {
	res, err := k.parts.Ledger.Find(ctx, t, abi.ObjectVaultSecret, id)
	if err != nil {
		return nil, 0, err
	}
	s = &abi.VaultSecret{}
	return s, res.Position, ledger.Decode(res.State, s)
}

// RemoveSecret takes a secret out of a Vault and destroys its value.
func (k *Keeper) RemoveSecret(ctx context.Context, c *desk.Caller, r *desk.Retry, vaultID, name string) error {
	v, err := k.writableVault(ctx, c, vaultID)
	if err != nil {
		return err
	}
	id := secretID(vaultID, name)
	_, err = k.parts.Desk.Once(ctx, c, r, vaultWorkspace(v.WorkspaceID), func(idem *storage.Idempotency) (desk.Doc, error) {
		unlock := k.parts.Ledger.Lock(c.Tenant, id)
		defer unlock()
		s, read, err := k.storedSecret(ctx, c.Tenant, id)
		if ledger.IsNotFound(err) || err == nil && !s.RemovedAt.IsZero() {
			return desk.Doc{}, abi.NotFound(abi.ObjectVaultSecret, name)
		}
		if err != nil {
			return desk.Doc{}, err
		}
		defer k.trusted.change()
		// The value first: what is said to be removed is gone. Cut short here, the
		// secret cannot be used, and can be removed again.
		if err := k.parts.Values.Keep(id, 0); err != nil {
			return desk.Doc{}, err
		}
		s.RemovedAt, s.Sealed, s.Hosts = abi.At(k.parts.Now()), "", nil
		s.UpdatedAt = s.RemovedAt
		return k.parts.Desk.CommitNext(ctx, storage.Frame{Tenant: c.Tenant, WorkspaceID: s.WorkspaceID, Actor: c.Actor}, idem, desk.StatusNoContent,
			ledger.Record{Kind: abi.EventSecretRemoved, Object: abi.ObjectVaultSecret, ID: id, State: s, Read: read})
	})
	return err
}

// ListSecrets lists the secrets of a Vault, without their values. A Vault of environment
// variables or files lists those that are there now.
func (k *Keeper) ListSecrets(ctx context.Context, c *desk.Caller, vaultID string, p desk.Page) (desk.DocList, error) {
	v, _, err := desk.Find[abi.Vault](ctx, k.parts.Desk, c, abi.ObjectVault, vaultID)
	if err != nil {
		return desk.DocList{}, err
	}
	if !servesVault(v.Provider) {
		return desk.DocList{}, errUnserved(&v)
	}
	if v.Provider != abi.VaultLocal {
		return k.outsideSecrets(c, &v, p)
	}
	var list desk.DocList
	scope := desk.Filter{WorkspaceID: vaultWorkspace(v.WorkspaceID)}.ScopeFor(abi.ObjectVaultSecret)
	for after, looked := p.After, 0; ; {
		page, more, err := k.parts.Store.List(ctx, c.Tenant, abi.ObjectVaultSecret, scope, storage.Page{After: after, Limit: p.Limit})
		if err != nil {
			return desk.DocList{}, k.parts.Ledger.Failed("listing secrets", err)
		}
		for i, res := range page {
			after = res.ID
			var s abi.VaultSecret
			if err := ledger.Decode(res.State, &s); err != nil {
				return desk.DocList{}, err
			}
			if s.VaultID != vaultID || !s.RemovedAt.IsZero() {
				continue
			}
			if list.Add(desk.Doc{ID: res.ID, JSON: res.State}, p.Limit) {
				return list.End(after, more || i < len(page)-1), nil
			}
		}
		if looked += len(page); !more || looked >= desk.MaxLooked {
			return list.End(after, more), nil
		}
	}
}

// outsideSecrets lists the secrets of a Vault whose values are the operator's, by name.
func (k *Keeper) outsideSecrets(c *desk.Caller, v *abi.Vault, p desk.Page) (list desk.DocList, err error) {
	if k.parts.Values == nil {
		return desk.DocList{}, errNoVaults
	}
	names, err := k.outsideNames(c.Tenant, v.Provider)
	if err != nil {
		return desk.DocList{}, err
	}
	for _, name := range names {
		if !secretName.MatchString(name) || p.After != "" && name <= p.After {
			continue
		}
		if len(list.Docs) == p.Limit {
			return list.End(strings.TrimPrefix(list.Docs[p.Limit-1].ID, secretID(v.ID, "")), true), nil
		}
		text, err := json.Marshal(outsideSecret(v, name))
		if err != nil {
			return desk.DocList{}, err
		}
		list.Docs = append(list.Docs, desk.Doc{ID: secretID(v.ID, name), JSON: text})
	}
	return list.End("", false), nil
}

func (k *Keeper) outsideNames(t storage.Tenant, provider string) ([]string, error) {
	if provider == abi.VaultEnv {
		return k.parts.Values.EnvNames(k.parts.Tenants.NameOf(t))
	}
	return k.parts.Values.FileNames(k.parts.Tenants.NameOf(t))
}

// outsideSecret describes a secret whose value is the operator's. It has one version,
// whatever its value is.
func outsideSecret(v *abi.Vault, name string) *abi.VaultSecret {
	return &abi.VaultSecret{
		Envelope: abi.NewEnvelope(abi.ObjectVaultSecret, secretID(v.ID, name), v.CreatedAt, nil),
		VaultID:  v.ID, WorkspaceID: vaultWorkspace(v.WorkspaceID), Name: name, Version: 1,
	}
}

// RotateVaultKey encrypts the values of every local Vault of the node to a new key.
func (k *Keeper) RotateVaultKey(ctx context.Context, c *desk.Caller) (abi.VaultKeyRotation, error) {
	if !c.Can(abi.ScopeNode) {
		return abi.VaultKeyRotation{}, desk.Denied(abi.ScopeNode)
	}
	if k.parts.Values == nil {
		return abi.VaultKeyRotation{}, errNoVaults
	}
	done, err := k.parts.Values.Rotate(ctx)
	if err != nil {
		return abi.VaultKeyRotation{}, err
	}
	k.parts.Log.Info("the values of vaults are encrypted to a new key", "recipient", done.Recipient, "files", done.Files, "actor", c.Actor)
	return abi.VaultKeyRotation{Recipient: done.Recipient, Files: done.Files, Own: done.Own}, nil
}

// maxSessionVaults is how many Vaults a Session may name.
const maxSessionVaults = 32

// CheckVaultIDs checks the Vaults that a Session is to name: the caller sees them, and
// the Session's Workspace has a part in them.
func (k *Keeper) CheckVaultIDs(ctx context.Context, c *desk.Caller, workspace string, ids []string) error {
	if len(ids) > maxSessionVaults {
		return abi.InvalidParam("vault_ids", "a session names at most %d vaults", maxSessionVaults)
	}
	for _, id := range ids {
		v, _, err := desk.Find[abi.Vault](ctx, k.parts.Desk, c, abi.ObjectVault, id)
		if err != nil {
			return err
		}
		if v.WorkspaceID != nil && *v.WorkspaceID != workspace {
			return abi.NotFound(abi.ObjectVault, id)
		}
	}
	return nil
}
