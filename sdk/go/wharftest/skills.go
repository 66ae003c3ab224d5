//go:build !wasip1

package wharftest

import (
	"encoding/json"
	"slices"
	"strings"

	wharf "github.com/wharf-dev/wharf/sdk/go"
	"github.com/wharf-dev/wharf/sdk/go/internal/hostcall"
)

// skillMD is the file that a skill is read from first.
const skillMD = "SKILL.md"

func (h *Host) readSkill(request []byte) (uint32, []byte) {
	var r wharf.SkillRequest
	if err := json.Unmarshal(request, &r); err != nil {
		return invalid("%v", err)
	}
	i := slices.IndexFunc(h.Skills, func(s wharf.Skill) bool { return s.Name == r.Skill })
	if i < 0 {
		return refused(&wharf.Error{Status: wharf.StatusNotFound, Code: "unknown_skill", Message: "this task has no skill " + r.Skill})
	}
	if r.Path == "" {
		r.Path = skillMD
	}
	text, ok := h.SkillFiles[r.Skill+"/"+r.Path]
	if !ok {
		return refused(&wharf.Error{Status: wharf.StatusNotFound, Code: "unknown_file", Message: "the skill has no file " + r.Path})
	}
	file := wharf.SkillFile{Skill: r.Skill, Version: h.Skills[i].Version, Path: r.Path, Text: text}
	if r.Path == skillMD {
		file.Files = h.otherFiles(r.Skill)
	}
	return hostcall.OK, mustMarshal(file)
}

func (h *Host) otherFiles(skill string) (paths []string) {
	for name := range h.SkillFiles {
		if path, ok := strings.CutPrefix(name, skill+"/"); ok && path != skillMD {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}
