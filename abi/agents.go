package abi

// Agent is what makes a Persona an agent of its own: what a model is told and asked with, and the
// bundle that it came in. It is policy: a change of it is a new version of the Persona.
type Agent struct {
	Instructions string   `json:"instructions,omitzero"` // what a model is told first, as it is
	Model        string   `json:"model,omitzero"`        // the model to ask; the node's default if it is absent
	Temperature  *float64 `json:"temperature,omitzero"`  // 0 to 1
	MaxTokens    int      `json:"max_tokens,omitzero"`   // of one answer of a model; 0: no bound
	// Skills are the bundles of skills that it knows, each as it was when it was named.
	Skills []AgentSkill `json:"skills,omitzero"`
	// MCPServers are the servers of tools that it counts on. Of one that names tools it may use
	// these alone.
	MCPServers []AgentServer `json:"mcp_servers,omitzero"`
	ParentID   string        `json:"parent_id,omitzero"` // the Persona whose subagent it is
	Role       string        `json:"role,omitzero"`      // of a subagent, for its parent

	// VendorKey and AgentKey name it among all agents, wherever they are. Both are of a-z, 0-9 and -.
	VendorKey string   `json:"vendor_key,omitzero"`
	AgentKey  string   `json:"agent_key,omitzero"`
	Slug      string   `json:"slug,omitzero"`
	Version   string   `json:"version,omitzero"` // as its author counts, 1.2.3 (semver.org); that of the Persona counts changes here
	Author    string   `json:"author,omitzero"`
	License   string   `json:"license,omitzero"` // as SPDX writes it
	Tags      []string `json:"tags,omitzero"`
	// ModelNamed and ToolsNamed are what its bundle says, in the bundle's own words. Model, and
	// the tools and tools_denied of the Persona, follow from them.
	ModelNamed *AgentModel  `json:"model_named,omitzero"`
	ToolsNamed *AgentTools  `json:"tools_named,omitzero"`
	Bundle     *AgentBundle `json:"bundle,omitzero"`
}

// AgentSkill names a version of a bundle of a skill.
type AgentSkill struct {
	Name     string `json:"name"`
	Version  string `json:"version,omitzero"`
	Digest   string `json:"digest,omitzero"` // of its files; absent while it is not installed
	Required bool   `json:"required,omitzero"`
}

// AgentServer names a server of tools.
type AgentServer struct {
	Name     string   `json:"name"`
	Tools    []string `json:"tools,omitzero"` // patterns of names; none: all of the server
	Required bool     `json:"required,omitzero"`
}

// AgentModel is a model as a bundle names it.
type AgentModel struct {
	Provider  string `json:"provider,omitzero"`
	Name      string `json:"name"`
	Embedding string `json:"embedding,omitzero"`
}

// AgentTools are tools as a bundle names them.
type AgentTools struct {
	Allow []string `json:"allow,omitzero"`
	Deny  []string `json:"deny,omitzero"`
}

// AgentBundle says where the files of an agent are kept. Digests are "sha256:" and hex.
type AgentBundle struct {
	Manifest string `json:"manifest"`       // of its AGENTS.md
	Files    string `json:"files,omitzero"` // of a zip with the files beside it; absent when there are none
	Count    int    `json:"count,omitzero"` // of these files
	Bytes    int64  `json:"bytes,omitzero"` // of these files, unpacked
}

// NewAgent says what an agent is to be that comes without a bundle. Its keys follow from its name
// where they are empty.
type NewAgent struct {
	Workflow    string // the plugin that runs it
	Name        string
	Description string
	Agent       Agent
}

// AgentMerge says what becomes of an agent that is imported where it is there already.
type AgentMerge string

// The ways to merge.
const (
	MergeFail      AgentMerge = "fail"      // it is refused
	MergeOverwrite AgentMerge = "overwrite" // the one that is there gets a new version
	MergeSkip      AgentMerge = "skip"      // the one that is there stays
)

// AgentImport says how the agents of a bundle are taken. What is named is the first of them.
type AgentImport struct {
	Workflow string // the plugin that runs them
	// Name and Description come before what the bundle says.
	Name, Description string
	RenameTo          string     // a name in place of the bundle's
	Merge             AgentMerge // empty: fail
}

// AgentChange changes an agent. Nil members stay as they are.
type AgentChange struct {
	Name, Description, Instructions *string
	Model                           *AgentModel
	Temperature                     *float64
	MaxTokens                       *int
	Allow, Deny                     *[]string // names of tools, as a bundle has them
}

// AgentExport says what a bundle of an agent is to hold.
type AgentExport struct {
	Memory, Versions bool
	Referenced       bool // no more than its AGENTS.md
}
