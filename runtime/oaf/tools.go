package oaf

import "strings"

// everyTool is the pattern that denies all.
const everyTool = "*"

// Patterns returns the patterns of tools that an agent may use and those that it may not, each
// SERVER:TOOL, and the names that stand for none here. Of an agent that is allowed some, and none
// that is here, every tool is denied: it must not have more than its author says.
func (f *Fields) Patterns() (allow, deny, unknown []string) {
	for _, name := range f.Allow {
		some := patterns(name)
		if len(some) == 0 {
			unknown = append(unknown, name)
		}
		allow = append(allow, some...)
	}
	for _, name := range f.Deny {
		some := patterns(name)
		if len(some) == 0 { // whichever server has it
			some = []string{"*:" + name}
		}
		deny = append(deny, some...)
	}
	if len(f.Allow) > 0 && len(allow) == 0 {
		deny = append(deny, everyTool)
	}
	return allow, deny, unknown
}

// patterns returns what a name of a tool stands for here.
func patterns(name string) []string {
	switch strings.ToLower(name) {
	case "read":
		return []string{"host:file_read"}
	case "write":
		return []string{"host:file_write"}
	case "edit", "multiedit":
		return []string{"host:file_edit"}
	case "glob", "grep":
		return []string{"host:file_search"}
	case "ls":
		return []string{"host:file_list"}
	case "todowrite":
		return []string{"host:plan_set"}
	case "askuserquestion":
		return []string{"host:ask"}
	case "skill":
		return []string{"host:skill_read"}
	case "task", "agent":
		return []string{"agents:*"}
	}
	if strings.Contains(name, ":") || name == everyTool {
		return []string{name}
	}
	if rest, ok := strings.CutPrefix(name, "mcp__"); ok && rest != "" {
		if server, tool, whole := strings.Cut(rest, "__"); whole {
			return []string{server + ":" + tool}
		}
		return []string{rest + ":*"}
	}
	return nil
}
