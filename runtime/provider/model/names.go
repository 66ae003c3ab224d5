package model

import (
	"slices"
	"strconv"
	"strings"

	"github.com/wharf-dev/wharf/abi"
)

// maxName is the longest tool name that every provider takes.
const maxName = 64

// wireNames returns the request with tool names that every provider takes:
// letters, digits, "_" and "-". Names of MCP tools and of their servers hold
// others too. It also returns what the changed names stand for; the request is
// copied only where a name is changed.
func wireNames(r *abi.ModelRequest) (*abi.ModelRequest, map[string]string) {
	to, from := chooseNames(toolNames(r))
	if len(to) == 0 {
		return r, nil
	}
	wire := *r
	wire.ToolChoice = orSame(to, r.ToolChoice)
	wire.Tools = slices.Clone(r.Tools)
	for i := range wire.Tools {
		wire.Tools[i].Name = orSame(to, wire.Tools[i].Name)
	}
	wire.Messages = slices.Clone(r.Messages)
	for i := range wire.Messages {
		calls := slices.Clone(wire.Messages[i].ToolCalls)
		for j := range calls {
			calls[j].Name = orSame(to, calls[j].Name)
		}
		wire.Messages[i].ToolCalls = calls
	}
	return &wire, from
}

func orSame(names map[string]string, name string) string {
	if other, ok := names[name]; ok {
		return other
	}
	return name
}

// toolNames returns every tool name of a request, in order.
func toolNames(r *abi.ModelRequest) []string {
	var all []string
	for i := range r.Tools {
		all = append(all, r.Tools[i].Name)
	}
	for i := range r.Messages {
		for j := range r.Messages[i].ToolCalls {
			all = append(all, r.Messages[i].ToolCalls[j].Name)
		}
	}
	return all
}

// chooseNames gives each name that cannot be sent another one which no other name
// has. The same names in the same order get the same ones.
func chooseNames(names []string) (to, from map[string]string) {
	to, from = map[string]string{}, map[string]string{}
	for _, name := range names {
		safe := safeName(name)
		if safe == name || to[name] != "" {
			continue
		}
		wire := safe
		for n := 2; slices.Contains(names, wire) || from[wire] != ""; n++ {
			suffix := "_" + strconv.Itoa(n)
			wire = safe[:min(len(safe), maxName-len(suffix))] + suffix
		}
		to[name], from[wire] = wire, name
	}
	return to, from
}

func safeName(name string) string {
	safe := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
	return safe[:min(len(safe), maxName)]
}
