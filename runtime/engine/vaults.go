package engine

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/provider/secret"
	"github.com/wharf-dev/wharf/runtime/provider/vault"
	"github.com/wharf-dev/wharf/storage"
)

// What a Vault's capabilities allow.
const (
	vaultRead  = "read"  // its secrets are put in the calls of Tasks
	vaultWrite = "write" // values are stored in it
	vaultSign  = "sign"  // Connectors check signatures with its secrets
)

var errNoVaults = abi.Errorf(abi.CodeNotImplemented, "this node keeps no vaults")

// CreateVault makes a Vault, of a Workspace or of the whole tenant. A key that is
// bound to Workspaces makes none for the tenant.
func (e *Engine) CreateVault(ctx context.Context, c *Caller, r *Retry, req abi.CreateVaultRequest) (Doc, error) {
	if err := e.checkVault(ctx, c, &req); err != nil {
		return Doc{}, err
	}
	workspace := vaultWorkspace(req.WorkspaceID)
	return e.once(ctx, c, r, workspace, func(idem *storage.Idempotency) (Doc, error) {
		v := &abi.Vault{
			Envelope:    abi.NewEnvelope(abi.ObjectVault, e.ids.New(abi.ObjectVault), e.now(), req.Metadata),
			WorkspaceID: req.WorkspaceID, Provider: req.Provider, Capabilities: req.Capabilities, Access: req.Access,
		}
		return e.commit(c, "", workspace, idem, statusCreated,
			record{kind: abi.EventVaultCreated, object: abi.ObjectVault, id: v.ID, created: true, state: v})
	})
}

// vaultWorkspace returns the Workspace of a Vault, "" for the whole tenant.
func vaultWorkspace(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func (e *Engine) checkVault(ctx context.Context, c *Caller, req *abi.CreateVaultRequest) error {
	if e.vaults == nil {
		return errNoVaults
	}
	if req.WorkspaceID != nil {
		if err := e.checkWorkspace(ctx, c, *req.WorkspaceID); err != nil {
			return err
		}
	} else if len(c.Workspaces) > 0 {
		return abi.Errorf(abi.CodePermissionDenied, "this key is bound to workspaces and makes no vault for the whole tenant: name one in workspace_id")
	}
	if err := firstError(checkVaultWord("provider", req.Provider), checkCapabilities(req.Provider, req.Capabilities), checkAccess(req.Access), checkMetadata(&req.Metadata)); err != nil {
		return err
	}
	return e.checkVaultTenant(c.Tenant, req.Provider)
}

// checkVaultTenant refuses providers that the operator has not set up for a tenant.
func (e *Engine) checkVaultTenant(t storage.Tenant, provider string) error {
	var err error
	switch provider {
	case abi.VaultEnv:
		err = e.vaults.CheckEnv(e.tenantName(t))
	case abi.VaultFile:
		err = e.vaults.CheckFiles(e.tenantName(t))
	}
	if err != nil {
		return abi.InvalidParam("provider", "%v", err)
	}
	return nil
}

// tenantName returns the name of a tenant.
func (e *Engine) tenantName(number storage.Tenant) string {
	e.tenants.mu.RLock()
	defer e.tenants.mu.RUnlock()
	if t := e.tenants.byNumber[number]; t != nil {
		return t.Name
	}
	return ""
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
	if err := checkPresent(param, word); err != nil {
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
		return abi.InvalidParam("capabilities", "a vault has 1 to %d capabilities; %v mean something here", maxCapabilities, []string{vaultRead, vaultWrite, vaultSign})
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
	return firstError(checkAccessPatterns("access.personas", access.Personas), checkAccessPatterns("access.connectors", access.Connectors))
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
func (e *Engine) UpdateVault(ctx context.Context, c *Caller, r *Retry, id string, req abi.UpdateVaultRequest) (Doc, error) {
	v, err := e.writableVault(ctx, c, id)
	if err != nil {
		return Doc{}, err
	}
	if err := firstError(checkAccess(req.Access), checkMetadata(&req.Metadata)); err != nil {
		return Doc{}, err
	}
	if req.Capabilities != nil {
		if err := checkCapabilities(v.Provider, req.Capabilities); err != nil {
			return Doc{}, err
		}
	}
	return e.once(ctx, c, r, vaultWorkspace(v.WorkspaceID), func(idem *storage.Idempotency) (Doc, error) {
		unlock := e.locks.lock(c.Tenant, id)
		defer unlock()
		v, _, err := findAs[abi.Vault](ctx, e, c, abi.ObjectVault, id)
		if err != nil {
			return Doc{}, err
		}
		amendVault(&v, req)
		v.UpdatedAt = abi.At(e.now())
		defer e.trusted.change()
		return e.commitNext(ctx, storage.Frame{Tenant: c.Tenant, WorkspaceID: vaultWorkspace(v.WorkspaceID), Actor: c.Actor}, idem, statusOK,
			record{kind: abi.EventVaultUpdated, object: abi.ObjectVault, id: id, state: &v})
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
func (e *Engine) writableVault(ctx context.Context, c *Caller, id string) (abi.Vault, error) {
	v, _, err := findAs[abi.Vault](ctx, e, c, abi.ObjectVault, id)
	switch {
	case err != nil:
		return v, err
	case e.vaults == nil:
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
func (e *Engine) StoreSecret(ctx context.Context, c *Caller, r *Retry, vaultID, name string, req abi.StoreSecretRequest) (Doc, error) {
	v, err := e.writableVault(ctx, c, vaultID)
	if err != nil {
		return Doc{}, err
	}
	if err := checkSecret(name, &req); err != nil {
		return Doc{}, err
	}
	if !servesVault(v.Provider) {
		return Doc{}, errUnserved(&v)
	}
	if !slices.Contains(v.Capabilities, vaultWrite) {
		return Doc{}, abi.Errorf(abi.CodePermissionDenied, "the vault %s lacks the capability %q", vaultID, vaultWrite)
	}
	if r, err = e.blind(ctx, r); err != nil {
		return Doc{}, err
	}
	return e.once(ctx, c, r, vaultWorkspace(v.WorkspaceID), func(idem *storage.Idempotency) (Doc, error) {
		unlock := e.locks.lock(c.Tenant, secretID(vaultID, name))
		defer unlock()
		return e.storeSecret(ctx, c, idem, &v, name, req)
	})
}

// blind returns a retry whose body cannot be guessed from what is kept of it: a hash
// of a weak value could be.
func (e *Engine) blind(ctx context.Context, r *Retry) (*Retry, error) {
	if r == nil {
		return nil, nil
	}
	canonical := canonicalHash(r.Body)
	body, err := e.vaults.Blind(ctx, canonical[:])
	blinded := *r
	blinded.Body = body
	return &blinded, err
}

// storeSecret is called under the secret's lock.
func (e *Engine) storeSecret(ctx context.Context, c *Caller, idem *storage.Idempotency, v *abi.Vault, name string, req abi.StoreSecretRequest) (Doc, error) {
	id := secretID(v.ID, name)
	s, err := e.storedSecret(ctx, c.Tenant, id)
	created := isNotFound(err)
	switch {
	case created:
		s = &abi.VaultSecret{
			Envelope: abi.NewEnvelope(abi.ObjectVaultSecret, id, e.now(), nil),
			VaultID:  v.ID, WorkspaceID: vaultWorkspace(v.WorkspaceID), Name: name,
		}
	case err != nil:
		return Doc{}, err
	}
	// The value first: a version that the log states is there.
	s.Version++
	if s.Sealed, err = e.vaults.Seal(ctx, id, s.Version, []byte(req.Value)); err != nil {
		return Doc{}, err
	}
	s.Hosts, s.RemovedAt, s.UpdatedAt = req.Hosts, time.Time{}, abi.At(e.now())
	defer e.trusted.change()
	doc, err := e.commitNext(ctx, storage.Frame{Tenant: c.Tenant, WorkspaceID: s.WorkspaceID, Actor: c.Actor}, idem, statusOK,
		record{kind: abi.EventSecretStored, object: abi.ObjectVaultSecret, id: id, created: created, state: s})
	if err != nil {
		return Doc{}, err
	}
	if err := e.vaults.Keep(id, s.Version); err != nil {
		e.log.Warn("an old version of a secret is left on disk", "secret", id, "error", err)
	}
	return doc, nil
}

// storedSecret returns a secret as the log has it.
func (e *Engine) storedSecret(ctx context.Context, t storage.Tenant, id string) (*abi.VaultSecret, error) {
	res, err := e.find(ctx, t, abi.ObjectVaultSecret, id)
	if err != nil {
		return nil, err
	}
	s := &abi.VaultSecret{}
	return s, decode(res.State, s)
}

// RemoveSecret takes a secret out of a Vault and destroys its value.
func (e *Engine) RemoveSecret(ctx context.Context, c *Caller, r *Retry, vaultID, name string) error {
	v, err := e.writableVault(ctx, c, vaultID)
	if err != nil {
		return err
	}
	id := secretID(vaultID, name)
	_, err = e.once(ctx, c, r, vaultWorkspace(v.WorkspaceID), func(idem *storage.Idempotency) (Doc, error) {
		unlock := e.locks.lock(c.Tenant, id)
		defer unlock()
		s, err := e.storedSecret(ctx, c.Tenant, id)
		if isNotFound(err) || err == nil && !s.RemovedAt.IsZero() {
			return Doc{}, abi.NotFound(abi.ObjectVaultSecret, name)
		}
		if err != nil {
			return Doc{}, err
		}
		defer e.trusted.change()
		// The value first: what is said to be removed is gone. Cut short here, the
		// secret cannot be used, and can be removed again.
		if err := e.vaults.Keep(id, 0); err != nil {
			return Doc{}, err
		}
		s.RemovedAt, s.Sealed, s.Hosts = abi.At(e.now()), "", nil
		s.UpdatedAt = s.RemovedAt
		return e.commitNext(ctx, storage.Frame{Tenant: c.Tenant, WorkspaceID: s.WorkspaceID, Actor: c.Actor}, idem, statusNoContent,
			record{kind: abi.EventSecretRemoved, object: abi.ObjectVaultSecret, id: id, state: s})
	})
	return err
}

// ListSecrets lists the secrets of a Vault, without their values. Those of a Vault of
// environment variables or files are those that are there now.
func (e *Engine) ListSecrets(ctx context.Context, c *Caller, vaultID string, p Page) (DocList, error) {
	v, _, err := findAs[abi.Vault](ctx, e, c, abi.ObjectVault, vaultID)
	if err != nil {
		return DocList{}, err
	}
	if !servesVault(v.Provider) {
		return DocList{}, errUnserved(&v)
	}
	if v.Provider != abi.VaultLocal {
		return e.outsideSecrets(c, &v, p)
	}
	var list DocList
	scope := Filter{WorkspaceID: vaultWorkspace(v.WorkspaceID)}.scopeFor(abi.ObjectVaultSecret)
	for after, looked := p.After, 0; ; {
		page, more, err := e.store.List(ctx, c.Tenant, abi.ObjectVaultSecret, scope, storage.Page{After: after, Limit: p.Limit})
		if err != nil {
			return DocList{}, e.failed("listing secrets", err)
		}
		for i, res := range page {
			after = res.ID
			var s abi.VaultSecret
			if err := decode(res.State, &s); err != nil {
				return DocList{}, err
			}
			if s.VaultID != vaultID || !s.RemovedAt.IsZero() {
				continue
			}
			if list.add(Doc{ID: res.ID, JSON: res.State}, p.Limit) {
				return list.end(after, more || i < len(page)-1), nil
			}
		}
		if looked += len(page); !more || looked >= maxLooked {
			return list.end(after, more), nil
		}
	}
}

// outsideSecrets lists the secrets of a Vault whose values are the operator's, by name.
func (e *Engine) outsideSecrets(c *Caller, v *abi.Vault, p Page) (list DocList, err error) {
	if e.vaults == nil {
		return DocList{}, errNoVaults
	}
	names, err := e.outsideNames(c.Tenant, v.Provider)
	if err != nil {
		return DocList{}, err
	}
	for _, name := range names {
		if !secretName.MatchString(name) || p.After != "" && name <= p.After {
			continue
		}
		if len(list.Docs) == p.Limit {
			return list.end(strings.TrimPrefix(list.Docs[p.Limit-1].ID, secretID(v.ID, "")), true), nil
		}
		text, err := json.Marshal(outsideSecret(v, name))
		if err != nil {
			return DocList{}, err
		}
		list.Docs = append(list.Docs, Doc{ID: secretID(v.ID, name), JSON: text})
	}
	return list.end("", false), nil
}

func (e *Engine) outsideNames(t storage.Tenant, provider string) ([]string, error) {
	if provider == abi.VaultEnv {
		return e.vaults.EnvNames(e.tenantName(t))
	}
	return e.vaults.FileNames(e.tenantName(t))
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
func (e *Engine) RotateVaultKey(ctx context.Context, c *Caller) (abi.VaultKeyRotation, error) {
	if !c.Can(abi.ScopeNode) {
		return abi.VaultKeyRotation{}, errDenied(abi.ScopeNode)
	}
	if e.vaults == nil {
		return abi.VaultKeyRotation{}, errNoVaults
	}
	done, err := e.vaults.Rotate(ctx)
	if err != nil {
		return abi.VaultKeyRotation{}, err
	}
	e.log.Info("the values of vaults are encrypted to a new key", "recipient", done.Recipient, "files", done.Files, "actor", c.Actor)
	return abi.VaultKeyRotation{Recipient: done.Recipient, Files: done.Files, Own: done.Own}, nil
}

// maxSessionVaults is how many Vaults a Session may name.
const maxSessionVaults = 32

// checkVaultIDs checks the Vaults that a Session is to name: the caller sees them, and
// the Session's Workspace has a part in them.
func (e *Engine) checkVaultIDs(ctx context.Context, c *Caller, workspace string, ids []string) error {
	if len(ids) > maxSessionVaults {
		return abi.InvalidParam("vault_ids", "a session names at most %d vaults", maxSessionVaults)
	}
	for _, id := range ids {
		v, _, err := findAs[abi.Vault](ctx, e, c, abi.ObjectVault, id)
		if err != nil {
			return err
		}
		if v.WorkspaceID != nil && *v.WorkspaceID != workspace {
			return abi.NotFound(abi.ObjectVault, id)
		}
	}
	return nil
}
