package main

import (
	"slices"
	"strings"
)

// prompt is what the model is told before the conversation, section by section, in this order: its
// instructions; the context of the Session and of the Task; skills, and those that are active; blocks of memory; the plan; reminders. Each
// section has a file of its own; one that is empty is left out.
func (a *agent) prompt() string {
	sections := []string{a.settings.prompt, a.settings.context, a.skills, a.active.section(), a.blocks.section(a.tools), a.plan.section(), a.inbox.section()}
	return strings.Join(slices.DeleteFunc(sections, func(s string) bool { return s == "" }), "\n\n")
}
