package manifest

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/abi/plainly"
	"github.com/wharf-dev/wharf/runtime/policy"
)

// granting reports whether a host call is one that capabilities grant: what a Task is given, what the
// host alone knows, and what watchers are told needs no grant.
func granting(c *abi.HostCall) bool {
	return c.Effect != abi.EffectGiven && c.Effect != abi.EffectLocal && c.Effect != abi.EffectHint && c.Name != abi.CallOutput && c.Name != abi.CallNormalized
}

// free lists the host calls that need no grant, for people.
func free() string {
	var names []string
	for _, c := range abi.HostCalls() {
		if !granting(&c) {
			names = append(names, "`"+c.Name+"`")
		}
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

func callNames() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, c := range abi.HostCalls() {
			if !yield(c.Name) {
				return
			}
		}
	}
}

// fits returns the host calls that fit a pattern and need a grant.
func fits(pattern string) []string {
	var names []string
	for _, c := range abi.HostCalls() {
		if granting(&c) && policy.Match(pattern, c.Name) {
			names = append(names, c.Name)
		}
	}
	return names
}

// checkCapability refuses a pattern that fits no host call: a name that is misspelled would
// grant nothing.
func checkCapability(pattern string) error {
	for name := range callNames() {
		if policy.Match(pattern, name) {
			return nil
		}
	}
	if near := plainly.Nearest(strings.ReplaceAll(pattern, "_", "."), callNames()); near != "" {
		return fmt.Errorf("%s fits no host call: did you mean %q?", quote(pattern), near)
	}
	return fmt.Errorf("%s fits no host call: host-calls.md has them", quote(pattern))
}

// grants reports whether the manifest grants a host call.
func (m *Manifest) grants(call string) bool { return policy.MatchAny(m.Capabilities, call) }

// grantsAny reports whether the manifest grants one of some host calls.
func (m *Manifest) grantsAny(calls ...string) bool { return slices.ContainsFunc(calls, m.grants) }
