package abi

import "github.com/go-json-experiment/json/jsontext"

// SourceNode is the source of the Skills that come with the node.
const SourceNode = "node"

// Skill is a callable capability: a Persona with a declared input and output.
type Skill struct {
	Envelope         `json:",inline"`
	Name             string         `json:"name"`
	Description      string         `json:"description"`
	InputSchema      jsontext.Value `json:"input_schema"`    // a JSON Schema of what it takes, or null
	OutputSchema     jsontext.Value `json:"output_schema"`   // a JSON Schema of what it gives out, or null
	Source           string         `json:"source,omitzero"` // who offers it: node, or the actor that made it
	Version          string         `json:"version,omitzero"`
	Capabilities     []string       `json:"capabilities,omitzero"`
	RequiresApproval bool           `json:"requires_approval"`
	Deprecated       bool           `json:"deprecated"`
	PersonaID        string         `json:"persona_id,omitzero"`   // what runs it
	WorkspaceID      string         `json:"workspace_id,omitzero"` // that of its Persona: it alone sees and uses the Skill
}

// CreateSkillRequest is the body of POST /wharf/v1/skills.
type CreateSkillRequest struct {
	PersonaID        string         `json:"persona_id"`
	Name             string         `json:"name"`
	Description      string         `json:"description"`
	InputSchema      jsontext.Value `json:"input_schema,omitzero"`
	OutputSchema     jsontext.Value `json:"output_schema,omitzero"`
	Version          string         `json:"version,omitzero"`
	Capabilities     []string       `json:"capabilities,omitzero"`
	RequiresApproval bool           `json:"requires_approval,omitzero"`
	Metadata         jsontext.Value `json:"metadata,omitzero"`
}

// UpdateSkillRequest is the body of PATCH /wharf/v1/skills/{id}. Nil members stay as
// they are.
type UpdateSkillRequest struct {
	Description      *string        `json:"description,omitzero"`
	InputSchema      jsontext.Value `json:"input_schema,omitzero"`
	OutputSchema     jsontext.Value `json:"output_schema,omitzero"`
	Version          *string        `json:"version,omitzero"`
	RequiresApproval *bool          `json:"requires_approval,omitzero"`
	Deprecated       *bool          `json:"deprecated,omitzero"`
	Metadata         jsontext.Value `json:"metadata,omitzero"`
}
