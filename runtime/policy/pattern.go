package policy

import (
	"slices"
	"strings"
)

// Match reports whether name fits pattern, in which * stands for any characters.
func Match(pattern, name string) bool {
	first, rest, wild := strings.Cut(pattern, "*")
	if !wild {
		return pattern == name
	}
	name, ok := strings.CutPrefix(name, first)
	if !ok {
		return false
	}
	for {
		piece, more, wild := strings.Cut(rest, "*")
		if !wild {
			return strings.HasSuffix(name, piece)
		}
		i := strings.Index(name, piece)
		if i < 0 {
			return false
		}
		name, rest = name[i+len(piece):], more
	}
}

// MatchAny reports whether name fits any of the patterns.
func MatchAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return Match(pattern, name) })
}
