package abi

import "github.com/go-json-experiment/json/jsontext"

// Harness is a named way to run agents: a plugin, a Workspace, and what is the same for all that
// runs there. Whatever belongs to its Workspace belongs to it.
type Harness struct {
	Envelope      `json:",inline"`
	Name          string        `json:"name"` // what clients call it by: one in a tenant has it
	Title         string        `json:"title"`
	Vendor        string        `json:"vendor"`
	Description   string        `json:"description"`
	Kind          HarnessKind   `json:"kind"`
	Status        HarnessStatus `json:"status"`
	Version       string        `json:"version,omitzero"` // as its maker says
	WorkspaceID   string        `json:"workspace_id"`
	PersonaID     string        `json:"persona_id,omitzero"`     // does what names no agent; none: it runs nothing
	EntryWorkflow string        `json:"entry_workflow,omitzero"` // the plugin that runs its agents
	BaseURL       string        `json:"base_url,omitzero"`       // of another server, for one that is hosted there
	SkillsPath    string        `json:"skills_path,omitzero"`    // the folder of the Workspace in which skills are looked for
	// DeletedAt is set on one that was deleted: no read shows it any more.
	DeletedAt Time `json:"deleted_at,omitzero"`
}

// HarnessKind says where the agents of a Harness run.
type HarnessKind string

// The kinds of Harnesses.
const (
	HarnessHosted HarnessKind = "hosted" // on another server
	HarnessSDK    HarnessKind = "sdk"    // on this node
	HarnessIDE    HarnessKind = "ide"    // in somebody's editor: it is known, and runs nothing here
)

// HarnessStatus is what the maker of a Harness says of it.
type HarnessStatus string

// The statuses of Harnesses. None but HarnessActive and HarnessBeta takes new work.
const (
	HarnessActive      HarnessStatus = "active"
	HarnessBeta        HarnessStatus = "beta"
	HarnessComingSoon  HarnessStatus = "coming_soon"
	HarnessMaintenance HarnessStatus = "maintenance"
	HarnessDeprecated  HarnessStatus = "deprecated"
)

// OwnHarness is the name of the Harness that every tenant has: the node's own agent, in the
// tenant's default Workspace.
const OwnHarness = "wharf"

// NewHarness says what a Harness is to be.
type NewHarness struct {
	Name          string
	Title         string
	Vendor        string
	Description   string
	Kind          HarnessKind
	Status        HarnessStatus // default active
	Version       string
	EntryWorkflow string // PLUGIN, or PLUGIN#EXPORT, of a plugin of the node
	BaseURL       string
	SkillsPath    string
	Metadata      jsontext.Value
}

// HarnessCredentials are what the server of a hosted Harness is asked with for one Task.
type HarnessCredentials struct {
	APIKey  string `json:"api_key"`
	BaseURL string `json:"base_url,omitzero"` // of the server; empty: that of the Harness
}

// HarnessChange says what of a Harness changes. Nil members stay as they are.
type HarnessChange struct {
	Title         *string
	Description   *string
	Status        *HarnessStatus
	EntryWorkflow *string
	BaseURL       *string
	SkillsPath    *string
}
