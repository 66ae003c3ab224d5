package api

import (
	"context"
	"io"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/memories"
)

// resourcesCore serves what Tasks work with.
type resourcesCore interface {
	CreateWorkspace(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.CreateWorkspaceRequest) (desk.Doc, error)
	UpdateWorkspace(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.UpdateWorkspaceRequest) (desk.Doc, error)
	GetWorkspace(ctx context.Context, c *desk.Caller, id string) (desk.Doc, error)
	CreateBranch(ctx context.Context, c *desk.Caller, r *desk.Retry, sessionID string, req abi.CreateBranchRequest) (desk.Doc, error)
	RegisterArtifact(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.RegisterArtifactRequest, content io.Reader) (desk.Doc, error)
	CreatePersona(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.CreatePersonaRequest) (desk.Doc, error)
	ClonePersona(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.ClonePersonaRequest) (desk.Doc, error)
	UpdatePersona(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.UpdatePersonaRequest) (desk.Doc, error)
	DeletePersona(ctx context.Context, c *desk.Caller, r *desk.Retry, id string) error
	PersonaVersions(ctx context.Context, c *desk.Caller, id string, p desk.Page) (desk.DocList, error)
	CreateSkill(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.CreateSkillRequest) (desk.Doc, error)
	UpdateSkill(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.UpdateSkillRequest) (desk.Doc, error)
	PublicSkills() []abi.Skill
	CreateMemory(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.CreateMemoryRequest) (desk.Doc, error)
	ListMemories(ctx context.Context, c *desk.Caller, f memories.Filter, p desk.Page) (desk.DocList, error)
	RedactMemory(ctx context.Context, c *desk.Caller, r *desk.Retry, id string) error
	Quota(ctx context.Context, c *desk.Caller, id string) (desk.Doc, error)
	Quotas(ctx context.Context, c *desk.Caller, p desk.Page) (desk.DocList, error)
	CreateQuota(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.CreateQuotaRequest) (desk.Doc, error)
	UpdateQuota(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.UpdateQuotaRequest) (desk.Doc, error)
	Permissions(ctx context.Context, c *desk.Caller, f desk.Filter, status abi.PermissionStatus, p desk.Page) (desk.DocList, error)
	RespondPermission(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.RespondRequest) (desk.Doc, error)
	CreateVault(ctx context.Context, c *desk.Caller, r *desk.Retry, req abi.CreateVaultRequest) (desk.Doc, error)
	UpdateVault(ctx context.Context, c *desk.Caller, r *desk.Retry, id string, req abi.UpdateVaultRequest) (desk.Doc, error)
	ListSecrets(ctx context.Context, c *desk.Caller, vaultID string, p desk.Page) (desk.DocList, error)
	StoreSecret(ctx context.Context, c *desk.Caller, r *desk.Retry, vaultID, name string, req abi.StoreSecretRequest) (desk.Doc, error)
	RemoveSecret(ctx context.Context, c *desk.Caller, r *desk.Retry, vaultID, name string) error
	RotateVaultKey(ctx context.Context, c *desk.Caller) (abi.VaultKeyRotation, error)
}

// CreateWorkspace makes a Workspace. A key that is bound to Workspaces makes none.
func (a *API) CreateWorkspace(ctx context.Context, c *Caller, r *Write, req abi.CreateWorkspaceRequest) (View, error) {
	return a.to(ctx, c).view(a.core.CreateWorkspace(ctx, c, r, req))
}

// UpdateWorkspace changes what is said about a Workspace, and which Quota bounds it.
func (a *API) UpdateWorkspace(ctx context.Context, c *Caller, r *Write, id string, req abi.UpdateWorkspaceRequest) (View, error) {
	return a.to(ctx, c).view(a.core.UpdateWorkspace(ctx, c, r, id, req))
}

// GetWorkspace returns a Workspace, and how much room it takes.
func (a *API) GetWorkspace(ctx context.Context, c *Caller, id string) (View, error) {
	return a.to(ctx, c).view(a.core.GetWorkspace(ctx, c, id))
}

// CreateBranch records a Branch of a Session.
func (a *API) CreateBranch(ctx context.Context, c *Caller, r *Write, sessionID string, req abi.CreateBranchRequest) (View, error) {
	return a.to(ctx, c).view(a.core.CreateBranch(ctx, c, r, sessionID, req))
}

// RegisterArtifact records an Artifact. With content, which is streamed to the
// blob store, Wharf holds its bytes; without, it describes bytes that live at
// req.URI. A stated SHA-256 must be that of the content.
func (a *API) RegisterArtifact(ctx context.Context, c *Caller, r *Write, req abi.RegisterArtifactRequest, content io.Reader) (View, error) {
	return a.to(ctx, c).view(a.core.RegisterArtifact(ctx, c, r, req, content))
}

// CreatePersona makes a Persona, of one Workspace or of the whole tenant. A key that is bound to
// Workspaces makes none for the tenant: that is policy for all of them.
func (a *API) CreatePersona(ctx context.Context, c *Caller, r *Write, req abi.CreatePersonaRequest) (View, error) {
	return a.to(ctx, c).view(a.core.CreatePersona(ctx, c, r, req))
}

// ClonePersona makes a Persona with the policy that another one has now, and a name of its own.
func (a *API) ClonePersona(ctx context.Context, c *Caller, r *Write, id string, req abi.ClonePersonaRequest) (View, error) {
	return a.to(ctx, c).view(a.core.ClonePersona(ctx, c, r, id, req))
}

// UpdatePersona changes a Persona. A change of its policy is a new version; Tasks
// that have begun keep theirs.
func (a *API) UpdatePersona(ctx context.Context, c *Caller, r *Write, id string, req abi.UpdatePersonaRequest) (View, error) {
	return a.to(ctx, c).view(a.core.UpdatePersona(ctx, c, r, id, req))
}

// DeletePersona deletes a Persona: nothing new may name it. Tasks that were taken go on.
func (a *API) DeletePersona(ctx context.Context, c *Caller, r *Write, id string) error {
	return a.core.DeletePersona(ctx, c, r, id)
}

// PersonaVersions lists the versions of a Persona, newest first: each as it was
// last stated.
func (a *API) PersonaVersions(ctx context.Context, c *Caller, id string, p Page) (List, error) {
	return a.to(ctx, c).list(a.core.PersonaVersions(ctx, c, id, p))
}

// CreateSkill offers a Persona as a Skill, which belongs where the Persona does.
func (a *API) CreateSkill(ctx context.Context, c *Caller, r *Write, req abi.CreateSkillRequest) (View, error) {
	return a.to(ctx, c).view(a.core.CreateSkill(ctx, c, r, req))
}

// UpdateSkill changes a Skill that did not come with the node. Tasks that have begun
// end by the schema with which they began.
func (a *API) UpdateSkill(ctx context.Context, c *Caller, r *Write, id string, req abi.UpdateSkillRequest) (View, error) {
	return a.to(ctx, c).view(a.core.UpdateSkill(ctx, c, r, id, req))
}

// CreateMemory keeps what a client knows for those that may use it.
func (a *API) CreateMemory(ctx context.Context, c *Caller, r *Write, req abi.CreateMemoryRequest) (View, error) {
	return a.to(ctx, c).view(a.core.CreateMemory(ctx, c, r, req))
}

// ListMemories returns the Memories that a filter lets through and the caller may
// see, newest first. A page may hold fewer than there are and still have a next.
func (a *API) ListMemories(ctx context.Context, c *Caller, f MemoryFilter, p Page) (List, error) {
	return a.to(ctx, c).list(a.core.ListMemories(ctx, c, f, p))
}

// Quota returns a Quota with what was used of it.
func (a *API) Quota(ctx context.Context, c *Caller, id string) (View, error) {
	return a.to(ctx, c).view(a.core.Quota(ctx, c, id))
}

// Quotas lists the Quotas that bound the caller, newest first.
func (a *API) Quotas(ctx context.Context, c *Caller, p Page) (List, error) {
	return a.to(ctx, c).list(a.core.Quotas(ctx, c, p))
}

// CreateQuota makes a Quota. One for the whole node, and one for another tenant,
// needs [abi.ScopeNode].
func (a *API) CreateQuota(ctx context.Context, c *Caller, r *Write, req abi.CreateQuotaRequest) (View, error) {
	return a.to(ctx, c).view(a.core.CreateQuota(ctx, c, r, req))
}

// UpdateQuota changes a Quota's limits. What was used stays; what was exhausted is
// judged anew.
func (a *API) UpdateQuota(ctx context.Context, c *Caller, r *Write, id string, req abi.UpdateQuotaRequest) (View, error) {
	return a.to(ctx, c).view(a.core.UpdateQuota(ctx, c, r, id, req))
}

// Permissions lists requests for permission, newest first: all, or those of one
// status. Pending ones are found without a look at the others.
func (a *API) Permissions(ctx context.Context, c *Caller, f Filter, status abi.PermissionStatus, p Page) (List, error) {
	return a.to(ctx, c).list(a.core.Permissions(ctx, c, f, status, p))
}

// RespondPermission decides on a request for permission, or brings what it asks
// for. It answers with the request as it is after that: still pending while more
// have to approve.
func (a *API) RespondPermission(ctx context.Context, c *Caller, r *Write, id string, req abi.RespondRequest) (View, error) {
	return a.to(ctx, c).view(a.core.RespondPermission(ctx, c, r, id, req))
}

// CreateVault makes a Vault, of a Workspace or of the whole tenant. A key that is
// bound to Workspaces makes none for the tenant.
func (a *API) CreateVault(ctx context.Context, c *Caller, r *Write, req abi.CreateVaultRequest) (View, error) {
	return a.to(ctx, c).view(a.core.CreateVault(ctx, c, r, req))
}

// UpdateVault changes what a Vault is for and who may use it.
func (a *API) UpdateVault(ctx context.Context, c *Caller, r *Write, id string, req abi.UpdateVaultRequest) (View, error) {
	return a.to(ctx, c).view(a.core.UpdateVault(ctx, c, r, id, req))
}

// ListSecrets lists the secrets of a Vault, without their values. A Vault of environment
// variables or files lists those that are there now.
func (a *API) ListSecrets(ctx context.Context, c *Caller, vaultID string, p Page) (List, error) {
	return a.to(ctx, c).list(a.core.ListSecrets(ctx, c, vaultID, p))
}

// StoreSecret keeps a new version of a secret's value in a Vault. No method returns
// it again.
func (a *API) StoreSecret(ctx context.Context, c *Caller, r *Write, vaultID, name string, req abi.StoreSecretRequest) (View, error) {
	return a.to(ctx, c).view(a.core.StoreSecret(ctx, c, r, vaultID, name, req))
}
