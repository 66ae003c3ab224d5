package hosts

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
)

// The most skills that one client lists, and bytes of what it says of each.
const (
	maxSkills     = 512
	maxSkillBytes = 8 << 10
	maxNameBytes  = 256
)

// Skill is a skill of a client's.
type Skill struct {
	ID          string // by which it is fetched
	Name        string
	Description string
	Manifest    abi.SkillManifest
	Body        string // of one that was fetched
}

// writtenSkill is a skill as clients write it: the manifest nested or flat.
type writtenSkill struct {
	ID          string           `json:"id"`
	Name        string           `json:"name"`
	Description *string          `json:"description"`
	Body        *string          `json:"body"`
	Manifest    *writtenManifest `json:"manifest"`

	writtenManifest `json:",inline"`
}

type writtenManifest struct {
	WhenToUse    *string   `json:"when_to_use"`
	AllowedTools *[]string `json:"allowed_tools"`
	Paths        *[]string `json:"paths"`
	Model        *string   `json:"model"`
}

// skill returns what was written. What a nested manifest has comes before what stands beside it.
func (w *writtenSkill) skill() (Skill, error) {
	s := Skill{ID: cmp.Or(w.ID, w.Name), Name: cmp.Or(w.Name, w.ID), Description: orNone(w.Description), Body: orNone(w.Body)}
	if err := checkSkillName(s.Name); err != nil {
		return s, err
	}
	if err := checkSkillName(s.ID); err != nil {
		return s, err
	}
	nested := w.Manifest
	if nested == nil {
		nested = &writtenManifest{}
	}
	s.Manifest = abi.SkillManifest{
		WhenToUse: orNone(cmp.Or(nested.WhenToUse, w.WhenToUse)), Model: orNone(cmp.Or(nested.Model, w.Model)),
		AllowedTools: orNone(cmp.Or(nested.AllowedTools, w.AllowedTools)), Paths: orNone(cmp.Or(nested.Paths, w.Paths)),
	}
	size := len(s.Description) + len(s.Manifest.WhenToUse) + len(s.Manifest.Model)
	for _, list := range [][]string{s.Manifest.AllowedTools, s.Manifest.Paths} {
		for _, item := range list {
			size += len(item)
		}
	}
	if size > maxSkillBytes {
		return s, fmt.Errorf("what is said of the skill %q has more than %d bytes", s.Name, maxSkillBytes)
	}
	return s, nil
}

func orNone[T any](v *T) (none T) {
	if v == nil {
		return none
	}
	return *v
}

func checkSkillName(name string) error {
	if name == "" || len(name) > maxNameBytes || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return fmt.Errorf("the name of a skill has 1 to %d bytes and no control characters: %.100q", maxNameBytes, name)
	}
	return nil
}

// readSkills reads what a client answers to skills/list. wrong says of each that is left out why it is.
func readSkills(answer jsontext.Value) (skills []Skill, wrong []error, err error) {
	entries, err := wrapped(answer, "skills")
	if err != nil {
		return nil, nil, err
	}
	seen := map[string]bool{}
	for i, entry := range entries {
		if len(skills) == maxSkills {
			wrong = append(wrong, fmt.Errorf("the client lists more than %d skills: %d are left out", maxSkills, len(entries)-i))
			break
		}
		s, err := readSkill(entry)
		s.Body = ""
		if err == nil && seen[s.Name] {
			err = fmt.Errorf("the client lists two skills of the name %q", s.Name)
		}
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		seen[s.Name] = true
		skills = append(skills, s)
	}
	return skills, wrong, nil
}

// readSkill reads one skill, such as what a client answers to skills/fetch.
func readSkill(entry jsontext.Value) (Skill, error) {
	var w writtenSkill
	if err := json.Unmarshal(entry, &w); err != nil {
		return Skill{}, fmt.Errorf("a skill cannot be read: %w", err)
	}
	return w.skill()
}

// byHost is the reason of a match that a client gives none for.
const byHost = "host match"

// maxReason is how much of a reason is kept, in bytes.
const maxReason = 1 << 10

// readMatches reads what a client answers to skill/match: of what it names, those that were asked for,
// each once, in its order.
func readMatches(answer jsontext.Value, candidates []abi.SkillCandidate) ([]abi.SkillMatch, error) {
	entries, err := wrapped(answer, "matches", "skills")
	if err != nil {
		return nil, err
	}
	left := map[string]bool{}
	for i := range candidates {
		left[candidates[i].Name] = true
	}
	matches := []abi.SkillMatch{}
	for _, entry := range entries {
		var w struct {
			Name   string   `json:"name"`
			Score  *float64 `json:"score"`
			Reason *string  `json:"reason"`
		}
		if err := json.Unmarshal(entry, &w); err != nil {
			return nil, fmt.Errorf("a match cannot be read: %w", err)
		}
		m := abi.SkillMatch{Name: w.Name, Score: 1, Reason: cmp.Or(orNone(w.Reason), byHost)}
		if w.Score != nil {
			m.Score = max(0, *w.Score)
		}
		if len(m.Reason) > maxReason {
			m.Reason = strings.ToValidUTF8(m.Reason[:maxReason], "")
		}
		if left[m.Name] {
			left[m.Name] = false
			matches = append(matches, m)
		}
	}
	return matches, nil
}

// listSkills asks the client for its skills, unless they are known.
func (h *Host) listSkills(ctx context.Context) ([]Skill, error) {
	if !h.client.Declared.declares(MethodSkills) {
		return nil, nil
	}
	return h.skills.get(ctx, h.life, func(ctx context.Context) ([]Skill, error) {
		answer, err := h.askHarn(ctx, MethodSkills, struct{}{})
		if err != nil {
			return nil, err
		}
		skills, wrong, err := readSkills(answer)
		if err != nil {
			return nil, &unreadable{MethodSkills, err}
		}
		for _, err := range wrong {
			h.all.cfg.Log.Warn("a skill that a client lists is not offered", "session", h.client.Session, "error", err)
		}
		return skills, nil
	})
}
