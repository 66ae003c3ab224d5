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
	}
	return err
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
}

// ReadSkill reads a file of a skill that the Task has, as it was when the Task started. A file that
// is no text is [StatusInvalid].
func ReadSkill(r SkillRequest) (SkillFile, error) {
	var file SkillFile
	err := ask(hostcall.NameSkillRead, hostcall.SkillRead, r, &file)
	return file, err
}
