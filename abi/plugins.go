package abi

// PluginStatus says whether new Tasks run a plugin that was installed.
type PluginStatus string

// The statuses of a Plugin.
const (
	PluginEnabled  PluginStatus = "enabled"
	PluginDisabled PluginStatus = "disabled"
	// PluginRemoved is one that is shown no more. Its modules stay where Tasks that ran them,
	// and replays, find them.
	PluginRemoved PluginStatus = "removed"
)

// Plugin is a plugin that was installed while the node ran. Every tenant's Personas can name it.
type Plugin struct {
	Envelope `json:",inline"`
	Name     string       `json:"name"` // by which Personas name it
	Status   PluginStatus `json:"status"`
	Version  string       `json:"version"` // that new Tasks run
	Digest   string       `json:"digest"`  // of that version's module
	Previous string       `json:"previous,omitzero"`
	// PersonaID is by which each tenant's Tasks reach the plugin, when the version's manifest makes a Persona.
	PersonaID string `json:"persona_id,omitzero"`
	// Refused says why new Tasks do not run an enabled plugin all the same: the node trusts none of the keys that
	// have signed the version.
	Refused  string        `json:"refused,omitzero"`
	Versions []PluginBuild `json:"versions"` // that can be switched to, oldest first
}

// PluginBuild is a version of a Plugin: a name for one module.
type PluginBuild struct {
	Version     string   `json:"version"`
	Digest      string   `json:"digest"`             // "sha256:" and hex, of the module as it was sent
	Bytes       int64    `json:"bytes"`              // of the module
	Manifest    string   `json:"manifest,omitzero"`  // its digest, "sha256:" and hex; "" when none came with the module
	Kind        string   `json:"kind,omitzero"`      // what the manifest says that the plugin is
	Package     string   `json:"package,omitzero"`   // the digest of the package that it came in, "sha256:" and hex; "" when it came in none
	SignedBy    []string `json:"signed_by,omitzero"` // the public keys in base64 that have signed that package
	Imports     []string `json:"imports"`            // the host calls that it makes
	Exports     []string `json:"exports"`            // that Personas can name
	InstalledBy string   `json:"installed_by"`
	InstalledAt Time     `json:"installed_at"`
}

// Plugins are the plugins that were installed, by name.
type Plugins struct {
	Data []Plugin `json:"data"`
}

// InstallPluginRequest says of a module what it is to be.
type InstallPluginRequest struct {
	Name    string `json:"name"`
	Version string `json:"version"` // "" for that of the manifest, or the next number
	// Manifest is what the author says of the plugin; nil makes no Persona.
	Manifest *PluginManifest `json:"manifest,omitzero"`
}

// PluginManifest is the manifest of a version of a Plugin, and the files that it names.
type PluginManifest struct {
	Text  string            `json:"text"`           // of wharf.toml
	Files map[string]string `json:"files,omitzero"` // by the paths that the manifest has: its JSON Schemas
}

// RollbackPluginRequest says which version of a Plugin new Tasks are to run.
type RollbackPluginRequest struct {
	Version string `json:"version"` // "" for the one before
}
