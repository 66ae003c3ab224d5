package oaf

import "github.com/wharf-dev/wharf/runtime/filetree"

// The files that are read.
const (
	ManifestFile = "AGENTS.md"
	PackageFile  = "PACKAGE.yaml"
	skillsFolder = "skills/"
	versionsDir  = "versions/"
	memoryDir    = "memory/"
)

// Agent is an agent of a bundle.
type Agent struct {
	Folder string // in the bundle; "" for its root
	Text   []byte // its AGENTS.md, as it is

	Fields
	Confirm bool // its writes are to be confirmed

	Skills    []Skill
	Servers   []Server
	Subagents []Subagent
	ReadOnly  bool            // its memory
	Blocks    []Block         // of its memory, by label
	Files     []filetree.File // beside AGENTS.md, from its folder on
}

// Fields are what can be written anew.
type Fields struct {
	Name, VendorKey, AgentKey, Version, Slug string
	Description, Author, License             string
	Tags                                     []string
	Model                                    Model
	Temperature                              *float64
	MaxTokens                                int
	Allow, Deny                              []string // names of tools, in the format's own words
	Instructions                             string   // the text below the front matter, without blank lines around it
}

// Model is a model as a bundle names it: by a name alone, or with its provider.
type Model struct{ Provider, Name, Embedding string }

// Skill is a skill that an agent refers to.
type Skill struct {
	Name, Source, Version string
	Required              bool
	Line                  int // of AGENTS.md
}

// Local reports whether the skill lies in the bundle.
func (s *Skill) Local() bool { return s.Source == "" || s.Source == "local" }

// Server is a server of tools that an agent refers to.
type Server struct {
	Vendor, Name, Version string
	Required              bool
	Tools                 []string // that are selected; none: all
	Excluded              []string
}

// Subagent is another agent that an agent delegates to.
type Subagent struct {
	Vendor, Agent, Version, Role string
	Required                     bool
}

// Block is a block of memory that an agent begins with.
type Block struct{ Label, Value string }

// Report is what [Read] finds.
type Report struct {
	Agents           []Agent // that of the package's first entry is the first
	Errors, Warnings []Finding
}

// Limits are those of a bundle: 5,000 files with 50 MiB altogether.
func Limits() filetree.Limits {
	return filetree.Limits{Files: 5000, FileBytes: 50 << 20, Bytes: 50 << 20, Ratio: 200}
}

// SkillTree returns the files of a skill that lies in the bundle of an agent, nil when there are none.
func (a *Agent) SkillTree(name string) *filetree.Tree {
	t := &filetree.Tree{Root: name, Files: below(a.Files, skillsFolder+name+"/")}
	if len(t.Files) == 0 {
		return nil
	}
	return t
}

// Names returns how an agent delegates to another one, nil when it does not.
func (a *Agent) Names(other *Agent) *Subagent {
	for i := range a.Subagents {
		if s := &a.Subagents[i]; s.Agent == other.AgentKey && (s.Vendor == "" || s.Vendor == other.VendorKey) {
			return s
		}
	}
	return nil
}
