package hosts

import (
	"path"
	"strings"
)

// fits reports whether a pattern of a skill's paths fits a file. A * stops at a /, the part ** stands for any number
// of parts, and a pattern of one part for a name anywhere. The agent of plugins/agent, which matches skills by
// itself, has the same: plugins/agent/testdata/paths.json holds both to it.
func fits(pattern, file string) bool {
	parts, of := partsOf(pattern), partsOf(file)
	if len(parts) == 1 && parts[0] != "**" {
		ok, _ := path.Match(parts[0], of[len(of)-1])
		return ok && parts[0] != ""
	}
	reach := make([]bool, len(of)+1) // the parts of the file up to there fit the pattern so far
	reach[0] = true
	for _, p := range parts {
		reach = reached(reach, p, of)
	}
	return reach[len(of)]
}

// reached returns how far one more part of a pattern reaches.
func reached(reach []bool, part string, of []string) []bool {
	next := make([]bool, len(reach))
	for i, there := range reach {
		switch {
		case part == "**":
			next[i] = there || i > 0 && next[i-1]
		case there && i < len(of):
			next[i+1], _ = path.Match(part, of[i])
		}
	}
	return next
}

func partsOf(p string) []string { return strings.Split(strings.TrimPrefix(p, "/"), "/") }
