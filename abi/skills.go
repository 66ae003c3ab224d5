package abi

import "github.com/go-json-experiment/json/jsontext"

// Skill is a callable capability: a Persona with a declared input and output.
type Skill struct {
	Envelope         `json:",inline"`
	Name             string         `json:"name"`
	Description      string         `json:"description"`
	InputSchema      jsontext.Value `json:"input_schema"`  // a JSON Schema, or null
	OutputSchema     jsontext.Value `json:"output_schema"` // the same
	Source           string         `json:"source,omitzero"`
	Version          string         `json:"version,omitzero"`
	Capabilities     []string       `json:"capabilities,omitzero"`
	RequiresApproval bool           `json:"requires_approval"`
	Deprecated       bool           `json:"deprecated"`
	PersonaID        string         `json:"persona_id,omitzero"` // what runs it
}
