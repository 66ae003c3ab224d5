package wharf

import (
	"github.com/wharf-dev/wharf/sdk/go/internal/hostcall"
	"github.com/wharf-dev/wharf/sdk/go/internal/scan"
)

// Skill is a skill that a Task has: files that teach a model something.
type Skill struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Version     string `json:"version"`
	// What it says of when to use it: in words, and as patterns of files. AllowedTools are those that
	// it asks for, by the names that its author knows.
	WhenToUse    string   `json:"when_to_use,omitempty"`
	Paths        []string `json:"paths,omitempty"`
	AllowedTools []string `json:"allowed_tools,omitempty"`
}

func (t *Task) addSkill(raw []byte) error {
	var s Skill
	if err := scan.Members(raw, s.set); err != nil {
		return err
	}
	t.Skills = append(t.Skills, s)
	return nil
}

func (s *Skill) set(key string, value []byte) (err error) {
	switch key {
	case "name":
		s.Name, err = scan.String(value)
	case "description":
		s.Description, err = scan.String(value)
	case "version":
		s.Version, err = scan.String(value)
	case "when_to_use":
		s.WhenToUse, err = scan.String(value)
	case "paths":
		s.Paths, err = texts(value)
	case "allowed_tools":
		s.AllowedTools, err = texts(value)
	}
	return err
}

func texts(list []byte) (all []string, err error) {
	err = scan.Elements(list, func(element []byte) error {
		text, err := scan.String(element)
		all = append(all, text)
		return err
	})
	return all, err
}

// SkillRequest says what [ReadSkill] reads.
type SkillRequest struct {
	// CallID names this call: a replay can be given another answer for it.
	CallID string `json:"call_id,omitempty"`
	Skill  string `json:"skill"`          // its name
	Path   string `json:"path,omitempty"` // within the skill; SKILL.md when it is empty
}

// SkillFile is a file of a skill.
type SkillFile struct {
	Skill   string   `json:"skill"`
	Version string   `json:"version"`
	Path    string   `json:"path"`
	Text    string   `json:"text"`
	Files   []string `json:"files"` // with SKILL.md: the paths of the other files
	// Manifest is set for a skill that a client of the Session has.
	Manifest *SkillManifest `json:"manifest,omitempty"`
}

// SkillManifest is what a client says of a skill that it has.
type SkillManifest struct {
	WhenToUse    string   `json:"when_to_use,omitempty"`
	AllowedTools []string `json:"allowed_tools,omitempty"`
	Paths        []string `json:"paths,omitempty"` // patterns of the files that it is for
	Model        string   `json:"model,omitempty"`
}

// ReadSkill reads a file of a skill that the Task has, as it was when the Task started, or the
// instructions of one that a client of its Session has. A file that is no text is [StatusInvalid].
func ReadSkill(r SkillRequest) (SkillFile, error) {
	var file SkillFile
	err := ask(hostcall.NameSkillRead, hostcall.SkillRead, r, &file)
	return file, err
}

// SkillMatchRequest says what [MatchSkills] ranks skills by.
type SkillMatchRequest struct {
	// CallID names this call: a replay can be given another answer for it.
	CallID       string   `json:"call_id,omitempty"`
	Prompt       string   `json:"prompt"`
	WorkingFiles []string `json:"working_files,omitempty"`
	// Candidates are the skills that are ranked. Nil stands for all that the Task can read, which the
	// answer then lists.
	Candidates []SkillCandidate `json:"candidates,omitempty"`
	// Strategy is metadata, the default: the node ranks by what is said of the skills; or host: a client
	// of the Session does, if there is one that does.
	Strategy string `json:"strategy,omitempty"`
}

// SkillCandidate is a skill that is ranked.
type SkillCandidate struct {
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	WhenToUse   string   `json:"when_to_use,omitempty"`
	Paths       []string `json:"paths,omitempty"` // patterns of the files that it is for
}

// KnownSkill is a skill that the Task can read.
type KnownSkill struct {
	SkillCandidate
	Source string `json:"source"` // installed; or host: a client of the Session has it
}

// SkillMatch is a skill that fits.
type SkillMatch struct {
	Name   string  `json:"name"`
	Score  float64 `json:"score"`
	Reason string  `json:"reason"`
}

// SkillMatches are the skills that fit, the best first.
type SkillMatches struct {
	Matches []SkillMatch `json:"matches"`
	By      string       `json:"by"`     // node or host: who has ranked them
	Skills  []KnownSkill `json:"skills"` // what was ranked, where no candidates were given
}

// MatchSkills ranks skills by how well they fit a prompt, and the files that are worked on.
func MatchSkills(r SkillMatchRequest) (SkillMatches, error) {
	var matches SkillMatches
	err := ask(hostcall.NameSkillMatch, hostcall.SkillMatch, r, &matches)
	return matches, err
}
