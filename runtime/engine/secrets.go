package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/policy"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/secret"
	"github.com/wharf-dev/wharf/runtime/provider/vault"
	"github.com/wharf-dev/wharf/storage"
)

// secretUser is who wants to use a secret: a Task for its Persona, or a Connector.
type secretUser struct {
	tenant    storage.Tenant
	workspace string
	persona   string
	connector string

	task, session string // "" for a Connector
	call          string // the host call
}

// needs returns the capability that a Vault must have for the user.
func (u *secretUser) needs() string {
	if u.connector != "" {
		return vaultSign
	}
	return vaultRead
}

// allowed reports whether a Vault's access policy names the user. It is by id, which
// nobody chooses.
func (u *secretUser) allowed(access *abi.VaultAccess) bool {
	if access == nil {
		return false
	}
	patterns, id := access.Personas, u.persona
	if u.connector != "" {
		patterns, id = access.Connectors, u.connector
	}
	return policy.MatchAny(patterns, id)
}

// secretUse is the payload of the event that tells the use of a secret, or that it was
// refused. It holds nothing of the value.
type secretUse struct {
	VaultID     string `json:"vault_id,omitzero"` // empty: the node's own
	Name        string `json:"name"`
	Version     int    `json:"version,omitzero"`
	Allowed     bool   `json:"allowed"`
	Reason      string `json:"reason,omitzero"` // why not
	TaskID      string `json:"task_id,omitzero"`
	PersonaID   string `json:"persona_id,omitzero"`
	ConnectorID string `json:"connector_id,omitzero"`
	Call        string `json:"call,omitzero"`
	Host        string `json:"host,omitzero"` // where it was sent, or was to be
}

// tellUse tells a use of a secret, and waits until that is on disk. about is the
// secret, or the Vault that has none of the name. workspace is whose it is, "" for the
// tenant's: nobody learns of another Workspace's Task.
func (e *Engine) tellUse(ctx context.Context, u *secretUser, about abi.ResourcePointer, workspace string, use secretUse) error {
	e.trusted.told.count(use.Allowed)
	use.TaskID, use.PersonaID, use.ConnectorID, use.Call = u.task, u.persona, u.connector, u.call
	f := storage.Frame{Tenant: u.tenant, WorkspaceID: u.workspace, SessionID: u.session, TaskID: u.task, Actor: u.persona + u.connector}
	if workspace != "" && workspace != u.workspace {
		f.WorkspaceID, f.SessionID, f.TaskID = workspace, "", ""
	}
	_, err := e.commitNext(ctx, f, nil, 0, record{kind: abi.EventSecretUsed, object: about.Object, id: about.ID, payload: use})
	return err
}

// vaultSecret is a secret that its user may use.
type vaultSecret struct {
	vault  abi.Vault
	secret *abi.VaultSecret
}

func (s *vaultSecret) pointer() abi.ResourcePointer {
	return abi.ResourcePointer{Object: abi.ObjectVaultSecret, ID: s.secret.ID}
}

func (s *vaultSecret) name() string { return s.vault.ID + "/" + s.secret.Name }

func noSecret(vaultID, name string) *provider.Refusal {
	return provider.Refuse(abi.CallNotFound, secret.CodeUnknown, fmt.Sprintf("there is no secret %q", vaultID+"/"+name))
}

// findSecret returns a secret of a Vault, or a *provider.Refusal: a Vault that the
// user's Workspace has no part in is as absent as one that is not there.
func (e *Engine) findSecret(ctx context.Context, u *secretUser, vaultID, name string) (*vaultSecret, error) {
	if e.vaults == nil || !secretName.MatchString(name) {
		return nil, noSecret(vaultID, name)
	}
	res, err := e.find(ctx, u.tenant, abi.ObjectVault, vaultID)
	if isNotFound(err) {
		return nil, noSecret(vaultID, name)
	}
	s := &vaultSecret{}
	if err == nil {
		err = decode(res.State, &s.vault)
	}
	if err != nil {
		return nil, err
	}
	refusal, err := e.judge(ctx, u, s, name)
	if err != nil || refusal == nil {
		return s, err
	}
	about, use := abi.ResourcePointer{Object: abi.ObjectVault, ID: vaultID}, secretUse{VaultID: vaultID, Name: name, Reason: refusal.Code}
	if s.secret != nil {
		about, use.Version = s.pointer(), s.secret.Version
	}
	if err := e.tellUse(ctx, u, about, vaultWorkspace(s.vault.WorkspaceID), use); err != nil {
		return nil, err
	}
	return nil, refusal
}

// judge finds the secret of a name in a Vault, and says why the user may not use it.
func (e *Engine) judge(ctx context.Context, u *secretUser, s *vaultSecret, name string) (*provider.Refusal, error) {
	v := &s.vault
	if v.WorkspaceID != nil && *v.WorkspaceID != u.workspace {
		return noSecret(v.ID, name), nil
	}
	switch {
	case !servesVault(v.Provider):
		return provider.Refuse(abi.CallUnavailable, secret.CodeUnavailable, errUnserved(v).Message), nil
	case !slices.Contains(v.Capabilities, u.needs()):
		return provider.Refuse(abi.CallDenied, secret.CodeDenied, fmt.Sprintf("the vault %s lacks the capability %q", v.ID, u.needs())), nil
	case !u.allowed(v.Access):
		return provider.Refuse(abi.CallDenied, secret.CodeDenied, fmt.Sprintf("the access policy of the vault %s does not name %s", v.ID, u.persona+u.connector)), nil
	case v.Provider != abi.VaultLocal:
		s.secret = outsideSecret(v, name)
		return nil, nil
	}
	stored, err := e.storedSecret(ctx, u.tenant, secretID(v.ID, name))
	if isNotFound(err) || err == nil && !stored.RemovedAt.IsZero() {
		return noSecret(v.ID, name), nil
	}
	s.secret = stored
	return nil, err
}

// openSecret reads a value that its user may use. Its error is a *provider.Refusal
// when it cannot be read: the log says why, and the plugin does not learn it.
func (e *Engine) openSecret(ctx context.Context, u *secretUser, s *vaultSecret) ([]byte, error) {
	value, err := e.readSecret(ctx, u.tenant, s)
	if errors.Is(err, vault.ErrAbsent) && s.vault.Provider == abi.VaultLocal {
		// It may have been given another version since it was looked up.
		current, again := e.storedSecret(ctx, u.tenant, s.secret.ID)
		if again == nil && current.Version != s.secret.Version {
			s.secret = current
			value, err = e.readSecret(ctx, u.tenant, s)
		}
	}
	if err == nil {
		return value, nil
	}
	if errors.Is(err, vault.ErrAbsent) && s.vault.Provider != abi.VaultLocal {
		return nil, noSecret(s.vault.ID, s.secret.Name)
	}
	e.log.Warn("a secret cannot be read", "secret", s.secret.ID, "error", err)
	return nil, provider.Refuse(abi.CallUnavailable, secret.CodeUnavailable,
		fmt.Sprintf("the secret %q cannot be read now; the node's log says why", s.name()))
}

func (e *Engine) readSecret(ctx context.Context, t storage.Tenant, s *vaultSecret) ([]byte, error) {
	switch s.vault.Provider {
	case abi.VaultEnv:
		return e.vaults.Env(e.tenantName(t), s.secret.Name)
	case abi.VaultFile:
		return e.vaults.File(e.tenantName(t), s.secret.Name)
	}
	return e.vaults.Open(ctx, s.secret.ID, s.secret.Version, s.secret.Sealed)
}

// secretUser is the run as one who uses secrets in a host call.
func (r *run) secretUser(call string) *secretUser {
	t := &r.task.about
	return &secretUser{tenant: r.task.tenant, workspace: t.WorkspaceID, session: t.SessionID, task: t.ID, persona: t.PersonaID, call: call}
}

// tellNodeSecret tells the uses of secrets of the node's configuration.
func (r *run) tellNodeSecret(call string) func(ctx context.Context, name, host string, refused *provider.Refusal) error {
	return func(ctx context.Context, name, host string, refused *provider.Refusal) error {
		use := secretUse{Name: name, Allowed: refused == nil, Host: host}
		if refused != nil {
			use.Reason = refused.Code
		}
		about := abi.ResourcePointer{Object: abi.ObjectVaultSecret, ID: nodeSecretID(name)}
		return r.engine.tellUse(ctx, r.secretUser(call), about, "", use)
	}
}

// vault finds the secrets of Vaults for a host call.
func (r *run) vault(call string) func(ctx context.Context, name string) (*provider.VaultSecret, error) {
	u := r.secretUser(call)
	return func(ctx context.Context, name string) (*provider.VaultSecret, error) {
		s, err := r.findVaulted(ctx, u, name)
		if err != nil {
			return nil, err
		}
		return r.engine.usable(u, s), nil
	}
}

// findVaulted finds a secret by VAULT/NAME, or by NAME in the Vaults of the Session.
func (r *run) findVaulted(ctx context.Context, u *secretUser, name string) (*vaultSecret, error) {
	if vaultID, short, whole := strings.Cut(name, "/"); whole {
		return r.engine.findSecret(ctx, u, vaultID, short)
	}
	for _, id := range r.task.session.vaults() {
		s, err := r.engine.findSecret(ctx, u, id, name)
		if refused, ok := errors.AsType[*provider.Refusal](err); !ok || refused.Status != abi.CallNotFound {
			return s, err
		}
	}
	return nil, provider.Refuse(abi.CallNotFound, secret.CodeUnknown, fmt.Sprintf("there is no secret %q", name))
}

// vaults returns the Vaults whose secrets the Session's Tasks can name in short.
func (s *session) vaults() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.state.VaultIDs
}

// usable hands a secret to a provider.
func (e *Engine) usable(u *secretUser, s *vaultSecret) *provider.VaultSecret {
	tell := func(ctx context.Context, host string, s *vaultSecret, refused *provider.Refusal) error {
		use := secretUse{VaultID: s.vault.ID, Name: s.secret.Name, Version: s.secret.Version, Allowed: refused == nil, Host: host}
		if refused != nil {
			use.Reason = refused.Code
		}
		return e.tellUse(ctx, u, s.pointer(), vaultWorkspace(s.vault.WorkspaceID), use)
	}
	return &provider.VaultSecret{
		Name: s.name(), Hosts: s.secret.Hosts,
		Value: func(ctx context.Context, host string) (string, error) {
			// What was allowed may have been so long ago: somebody was asked meanwhile.
			s, err := e.findSecret(ctx, u, s.vault.ID, s.secret.Name)
			if err != nil {
				return "", err
			}
			value, err := e.openSecret(ctx, u, s)
			if err != nil {
				return "", err
			}
			// No value leaves before the log says so.
			return string(value), tell(ctx, host, s, nil)
		},
		Refused: func(ctx context.Context, host string, why *provider.Refusal) error { return tell(ctx, host, s, why) },
	}
}
