package abi

import "github.com/go-json-experiment/json/jsontext"

// The providers of Vaults.
const (
	VaultLocal = "local" // values that are encrypted in the data folder
	VaultEnv   = "env"   // environment variables of the node
	VaultFile  = "file"  // files in a folder of the node's machine
)

// Vault holds secrets that Tasks and Connectors may use and never see.
type Vault struct {
	Envelope     `json:",inline"`
	WorkspaceID  *string      `json:"workspace_id"` // null: for the whole tenant
	Provider     string       `json:"provider"`     // where the values are
	Capabilities []string     `json:"capabilities"` // what it may be used for: read (in calls), write (to store values), sign (to check signatures)
	Access       *VaultAccess `json:"access,omitzero"`
}

// VaultAccess says who may use the secrets of a Vault: patterns. What is not named
// may not.
type VaultAccess struct {
	Personas   []string `json:"personas,omitzero"`   // patterns of ids, in which * stands for any characters
	Connectors []string `json:"connectors,omitzero"` // patterns of ids, in which * stands for any characters
}

// VaultSecret is a secret in a Vault, without its value.
type VaultSecret struct {
	Envelope    `json:",inline"`
	VaultID     string   `json:"vault_id"`
	WorkspaceID string   `json:"workspace_id,omitzero"`
	Name        string   `json:"name"`
	Version     int      `json:"version"` // of the value, from 1
	Hosts       []string `json:"hosts,omitzero"`
	RemovedAt   Time     `json:"removed_at,omitzero"` // when it was removed, if it was
	// Sealed is a hash of the value and of a random salt that is kept beside it,
	// encrypted: it tells a file that was exchanged, and nothing of the value.
	Sealed string `json:"sealed,omitzero"`
}

// CreateVaultRequest is the body of POST /v1/vaults.
type CreateVaultRequest struct {
	WorkspaceID  *string        `json:"workspace_id,omitzero"`
	Provider     string         `json:"provider"`
	Capabilities []string       `json:"capabilities"`
	Access       *VaultAccess   `json:"access,omitzero"`
	Metadata     jsontext.Value `json:"metadata,omitzero"`
}

// UpdateVaultRequest is the body of PATCH /wharf/v1/vaults/{id}.
type UpdateVaultRequest struct {
	Capabilities []string       `json:"capabilities,omitzero"`
	Access       *VaultAccess   `json:"access,omitzero"`
	Metadata     jsontext.Value `json:"metadata,omitzero"`
}

// StoreSecretRequest is the body of PUT /wharf/v1/vaults/{id}/secrets/{name}.
type StoreSecretRequest struct {
	Value string   `json:"value"`          // at most 64 KiB
	Hosts []string `json:"hosts,omitzero"` // where the value may be sent; empty for wherever the plugin may send
}

// VaultKeyRotation is the answer of POST /wharf/v1/vault-key.
type VaultKeyRotation struct {
	Recipient string `json:"recipient"` // the public half of the key that encrypts from now on
	Files     int    `json:"files"`     // how many were encrypted to it
	// Own says that the key is in the node's own file, and the old one gone. Otherwise
	// it is the operator's, who may now take the old one out of the configuration.
	Own bool `json:"own"`
}
