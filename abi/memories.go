package abi

import "github.com/go-json-experiment/json/jsontext"

// CreateMemoryRequest is the body of POST /v1/memories. What follows Metadata is
// Wharf's own.
type CreateMemoryRequest struct {
	Scope           MemoryScope    `json:"scope"`
	OwnerID         string         `json:"owner_id"`   // what the scope is of: a Persona, a Session, a Workspace or a tenant
	Content         jsontext.Value `json:"content"`    // a string, an object, or an artifact_ref part
	Provenance      jsontext.Value `json:"provenance"` // where the knowledge comes from
	Metadata        jsontext.Value `json:"metadata,omitzero"`
	ExpiresAt       Time           `json:"expires_at,omitzero"`
	Visibility      Visibility     `json:"visibility,omitzero"` // default public
	Confidence      float64        `json:"confidence,omitzero"` // 0 to 1
	RedactionPolicy jsontext.Value `json:"redaction_policy,omitzero"`
	EmbeddingRef    string         `json:"embedding_ref,omitzero"`
}
