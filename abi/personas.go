package abi

import "github.com/go-json-experiment/json/jsontext"

// CreatePersonaRequest is the body of POST /v1/personas. What follows
// ReceiptPolicy is optional; its members are those of [Persona].
type CreatePersonaRequest struct {
	Name          string        `json:"name"`
	Version       string        `json:"version"`
	EntryWorkflow string        `json:"entry_workflow"`
	Description   *string       `json:"description"`
	AutonomyTier  AutonomyTier  `json:"autonomy_tier"`
	ReceiptPolicy ReceiptPolicy `json:"receipt_policy"`
	// ModuleRef names the plugin, when EntryWorkflow names no more than its export.
	ModuleRef       string          `json:"module_ref,omitzero"`
	Tools           []string        `json:"tools,omitzero"`
	ToolsDenied     []string        `json:"tools_denied,omitzero"`
	Capabilities    []string        `json:"capabilities,omitzero"`
	Handoffs        []string        `json:"handoffs,omitzero"`
	Owner           string          `json:"owner,omitzero"`
	ModelPolicy     *ModelPolicy    `json:"model_policy,omitzero"`
	QuotaID         string          `json:"quota_id,omitzero"`
	Budget          *Budget         `json:"budget,omitzero"`
	Approvals       *ApprovalPolicy `json:"approvals,omitzero"`
	ToolsVisibility ToolsVisibility `json:"tools_visibility,omitzero"`
	Metadata        jsontext.Value  `json:"metadata,omitzero"`
	WorkspaceID     string          `json:"workspace_id,omitzero"` // the Workspace that alone sees and uses it; the whole tenant if it is absent
	Agent           *Agent          `json:"agent,omitzero"`        // makes it an agent; it needs a workspace_id
}

// ClonePersonaRequest is the body of POST /wharf/v1/personas/{id}/clone.
type ClonePersonaRequest struct {
	Name     string         `json:"name"`
	Metadata jsontext.Value `json:"metadata,omitzero"` // instead of the source's
	// WorkspaceID is the Workspace that the clone is for; that of the source if it is absent. The
	// source must be one that may be used there.
	WorkspaceID string `json:"workspace_id,omitzero"`
}

// UpdatePersonaRequest is the body of PATCH /v1/personas/{id}. Nil members stay as
// they are; those that are objects and lists are replaced as a whole.
type UpdatePersonaRequest struct {
	Name *string `json:"name,omitzero"` // no policy: a new name is no new version
	// Retired says whether the Persona is retired: no new Task or Session may name it.
	Retired *bool `json:"retired,omitzero"`
	// Version is the new version's name. Without one, a change of policy gets the next
	// number.
	Version         *string          `json:"version,omitzero"`
	Description     *string          `json:"description,omitzero"`
	AutonomyTier    *AutonomyTier    `json:"autonomy_tier,omitzero"`
	ReceiptPolicy   *ReceiptPolicy   `json:"receipt_policy,omitzero"`
	Tools           []string         `json:"tools,omitzero"`
	ToolsDenied     []string         `json:"tools_denied,omitzero"`
	Capabilities    []string         `json:"capabilities,omitzero"`
	Handoffs        []string         `json:"handoffs,omitzero"`
	ModelPolicy     *ModelPolicy     `json:"model_policy,omitzero"`
	QuotaID         jsontext.Value   `json:"quota_id,omitzero"` // a Quota that bounds its Tasks; null for none
	Budget          *Budget          `json:"budget,omitzero"`
	Approvals       *ApprovalPolicy  `json:"approvals,omitzero"`
	ToolsVisibility *ToolsVisibility `json:"tools_visibility,omitzero"`
	Metadata        jsontext.Value   `json:"metadata,omitzero"`
	Agent           *Agent           `json:"agent,omitzero"`
}
