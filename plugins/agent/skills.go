package main

import (
	"fmt"
	"slices"
	"strings"

	wharf "github.com/wharf-dev/wharf/sdk/go"
)

// skillTool is the host's tool that reads files of skills.
const skillTool = "skill_read"

func readsSkills(t wharf.Tool) bool { return t.Server == "host" && t.Name == skillTool }

// usable leaves out the tool that reads skills where there are none, and those that change blocks of
// memory where there can be none.
func usable(tools []wharf.Tool, skills []wharf.Skill, noBlocks bool) []wharf.Tool {
	return slices.DeleteFunc(tools, func(t wharf.Tool) bool {
		return len(skills) == 0 && readsSkills(t) || noBlocks && (replacesBlocks(t) || appendsToBlocks(t))
	})
}

// skillsSection tells the model which skills it has, and how it reads one: the instructions of a
// skill are long, and most Tasks need few of them. A model that may not read them is told of none.
func skillsSection(skills []wharf.Skill, box toolbox) string {
	tool := box.nameOf(readsSkills)
	if len(skills) == 0 || tool == "" {
		return ""
	}
	lines := []string{fmt.Sprintf(`You have skills. When what you are to do is what one of them describes, first read its instructions
with the tool %s, and follow them. With a path the tool reads another file of the skill. Scripts
among the files are there to be read: nothing here runs them.`, tool), ""}
	for _, s := range skills {
		lines = append(lines, "- "+s.Name+": "+strings.Join(strings.Fields(s.Description), " "))
	}
	return strings.Join(lines, "\n")
}

// nameOf returns the name that a model calls the first tool by that is wanted; "" for none.
func (b toolbox) nameOf(wanted func(wharf.Tool) bool) string {
	for _, offered := range b.offered {
		if wanted(b.byName[offered.Name]) {
			return offered.Name
		}
	}
	return ""
}
