package secrets

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/runtime/policy"
	"github.com/wharf-dev/wharf/runtime/provider"
	"github.com/wharf-dev/wharf/runtime/provider/secret"
	"github.com/wharf-dev/wharf/runtime/provider/vault"
	"github.com/wharf-dev/wharf/storage"
)

// User is who wants to use a secret: a Task for its Persona, or a Connector.
type User struct {
	Tenant    storage.Tenant
	Workspace string
	Persona   string // its id; "" for a Connector
	Connector string // its id; "" for a Task

	Task, Session string // "" for a Connector
	Call          string // the host call
	// Vaults returns the Vaults of the Session, in which a bare name is looked up.
	Vaults func() []string
}

// needs returns the capability that a Vault must have for the user.
func (u *User) needs() string {
	if u.Connector != "" {
		return vaultSign
	}
	return vaultRead
}

// allowed reports whether a Vault's access policy names the user. It is by id, which
// nobody chooses.
func (u *User) allowed(access *abi.VaultAccess) bool {
	if access == nil {
		return false
	}
	patterns, id := access.Personas, u.Persona
	if u.Connector != "" {
		patterns, id = access.Connectors, u.Connector
	}
	return policy.MatchAny(patterns, id)
}

// tellUse tells a use of a secret, and waits until that is on disk. about is the
// secret, or the Vault that has none of the name. workspace is whose it is, "" for the
// tenant's: nobody learns of another Workspace's Task.
func (k *Keeper) tellUse(ctx context.Context, u *User, about abi.ResourcePointer, workspace string, use abi.SecretUse) error {
	k.counts.count(use.Allowed)
	use.TaskID, use.PersonaID, use.ConnectorID, use.Call = u.Task, u.Persona, u.Connector, u.Call
	f := storage.Frame{Tenant: u.Tenant, WorkspaceID: u.Workspace, SessionID: u.Session, TaskID: u.Task, Actor: u.Persona + u.Connector}
	if workspace != "" && workspace != u.Workspace {
		f.WorkspaceID, f.SessionID, f.TaskID = workspace, "", ""
	}
	_, err := k.parts.Desk.CommitNext(ctx, f, nil, 0, ledger.Record{Kind: abi.EventSecretUsed, Object: about.Object, ID: about.ID, Payload: use})
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
func (k *Keeper) findSecret(ctx context.Context, u *User, vaultID, name string) (*vaultSecret, error) {
	if k.parts.Values == nil || !secretName.MatchString(name) {
		return nil, noSecret(vaultID, name)
	}
	res, err := k.parts.Ledger.Find(ctx, u.Tenant, abi.ObjectVault, vaultID)
	if ledger.IsNotFound(err) {
		return nil, noSecret(vaultID, name)
	}
	s := &vaultSecret{}
	if err == nil {
		err = ledger.Decode(res.State, &s.vault)
	}
	if err != nil {
		return nil, err
	}
	refusal, err := k.judge(ctx, u, s, name)
	if err != nil || refusal == nil {
		return s, err
	}
	about, use := abi.ResourcePointer{Object: abi.ObjectVault, ID: vaultID}, abi.SecretUse{VaultID: vaultID, Name: name, Reason: refusal.Code}
	if s.secret != nil {
		about, use.Version = s.pointer(), s.secret.Version
	}
	if err := k.tellUse(ctx, u, about, vaultWorkspace(s.vault.WorkspaceID), use); err != nil {
		return nil, err
	}
	return nil, refusal
}

// judge finds the secret of a name in a Vault, and says why the user may not use it.
func (k *Keeper) judge(ctx context.Context, u *User, s *vaultSecret, name string) (*provider.Refusal, error) {
	v := &s.vault
	if v.WorkspaceID != nil && *v.WorkspaceID != u.Workspace {
		return noSecret(v.ID, name), nil
	}
	switch {
	case !servesVault(v.Provider):
		return provider.Refuse(abi.CallUnavailable, secret.CodeUnavailable, errUnserved(v).Message), nil
	case !slices.Contains(v.Capabilities, u.needs()):
		return provider.Refuse(abi.CallDenied, secret.CodeDenied, fmt.Sprintf("the vault %s lacks the capability %q", v.ID, u.needs())), nil
	case !u.allowed(v.Access):
		return provider.Refuse(abi.CallDenied, secret.CodeDenied, fmt.Sprintf("the access policy of the vault %s does not name %s", v.ID, u.Persona+u.Connector)), nil
	case v.Provider != abi.VaultLocal:
		s.secret = outsideSecret(v, name)
		return nil, nil
	}
	stored, _, err := k.storedSecret(ctx, u.Tenant, secretID(v.ID, name))
	if ledger.IsNotFound(err) || err == nil && !stored.RemovedAt.IsZero() {
		return noSecret(v.ID, name), nil
	}
	s.secret = stored
	return nil, err
}

// openSecret reads a value that its user may use. Its error is a *provider.Refusal
// when it cannot be read: the log says why, and the plugin does not learn it.
func (k *Keeper) openSecret(ctx context.Context, u *User, s *vaultSecret) ([]byte, error) {
	value, err := k.readSecret(ctx, u.Tenant, s)
	if errors.Is(err, vault.ErrAbsent) && s.vault.Provider == abi.VaultLocal {
		// It may have been given another version since it was looked up.
		current, _, again := k.storedSecret(ctx, u.Tenant, s.secret.ID)
		if again == nil && current.Version != s.secret.Version {
			s.secret = current
			value, err = k.readSecret(ctx, u.Tenant, s)
		}
	}
	if err == nil {
		return value, nil
	}
	if errors.Is(err, vault.ErrAbsent) && s.vault.Provider != abi.VaultLocal {
		return nil, noSecret(s.vault.ID, s.secret.Name)
	}
	k.parts.Log.Warn("a secret cannot be read", "secret", s.secret.ID, "error", err)
	return nil, provider.Refuse(abi.CallUnavailable, secret.CodeUnavailable,
		fmt.Sprintf("the secret %q cannot be read now; the node's log says why", s.name()))
}

func (k *Keeper) readSecret(ctx context.Context, t storage.Tenant, s *vaultSecret) ([]byte, error) {
	switch s.vault.Provider {
	case abi.VaultEnv:
		return k.parts.Values.Env(k.parts.Tenants.NameOf(t), s.secret.Name)
	case abi.VaultFile:
		return k.parts.Values.File(k.parts.Tenants.NameOf(t), s.secret.Name)
	}
	return k.parts.Values.Open(ctx, s.secret.ID, s.secret.Version, s.secret.Sealed)
}

// TellNodeSecrets returns a function that records a user's uses of secrets of the node's
// configuration.
func (k *Keeper) TellNodeSecrets(u *User) func(ctx context.Context, name, host string, refused *provider.Refusal) error {
	return func(ctx context.Context, name, host string, refused *provider.Refusal) error {
		use := abi.SecretUse{Name: name, Allowed: refused == nil, Host: host}
		if refused != nil {
			use.Reason = refused.Code
		}
		about := abi.ResourcePointer{Object: abi.ObjectVaultSecret, ID: nodeSecretID(name)}
		return k.tellUse(ctx, u, about, "", use)
	}
}

// SecretsFor returns a function that finds the secrets of Vaults for a user.
func (k *Keeper) SecretsFor(u *User) func(ctx context.Context, name string) (*provider.VaultSecret, error) {
	return func(ctx context.Context, name string) (*provider.VaultSecret, error) {
		s, err := k.findVaulted(ctx, u, name)
		if err != nil {
			return nil, err
		}
		return k.usable(u, s), nil
	}
}

// findVaulted finds a secret by VAULT/NAME, or by NAME in the Vaults of the Session.
func (k *Keeper) findVaulted(ctx context.Context, u *User, name string) (*vaultSecret, error) {
	if vaultID, short, whole := strings.Cut(name, "/"); whole {
		return k.findSecret(ctx, u, vaultID, short)
	}
	for _, id := range u.Vaults() {
		s, err := k.findSecret(ctx, u, id, name)
		if refused, ok := errors.AsType[*provider.Refusal](err); !ok || refused.Status != abi.CallNotFound {
			return s, err
		}
	}
	return nil, provider.Refuse(abi.CallNotFound, secret.CodeUnknown, fmt.Sprintf("there is no secret %q", name))
}

// usable hands a secret to a provider.
func (k *Keeper) usable(u *User, s *vaultSecret) *provider.VaultSecret {
	tell := func(ctx context.Context, host string, s *vaultSecret, refused *provider.Refusal) error {
		use := abi.SecretUse{VaultID: s.vault.ID, Name: s.secret.Name, Version: s.secret.Version, Allowed: refused == nil, Host: host}
		if refused != nil {
			use.Reason = refused.Code
		}
		return k.tellUse(ctx, u, s.pointer(), vaultWorkspace(s.vault.WorkspaceID), use)
	}
	return &provider.VaultSecret{
		Name: s.name(), Hosts: s.secret.Hosts,
		Value: func(ctx context.Context, host string) (string, error) {
			// What was allowed may have been so long ago: somebody was asked meanwhile.
			s, err := k.findSecret(ctx, u, s.vault.ID, s.secret.Name)
			if err != nil {
				return "", err
			}
			value, err := k.openSecret(ctx, u, s)
			if err != nil {
				return "", err
			}
			// No value leaves before the log says so.
			return string(value), tell(ctx, host, s, nil)
		},
		Refused: func(ctx context.Context, host string, why *provider.Refusal) error { return tell(ctx, host, s, why) },
	}
}
