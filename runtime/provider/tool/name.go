package tool

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/policy"
)

// maxName is how many bytes the name of a tool may have: what models' APIs take.
const maxName = 128

// CheckName says what is wrong with the name of a tool that somebody outside offers.
// People approve calls by it and patterns match it, so that it must look like what it
// is: no control or direction marks, no line breaks, no *.
func CheckName(name string) error {
	switch {
	case name == "" || len(name) > maxName:
		return fmt.Errorf("the name of a tool has 1 to %d bytes, not %d", maxName, len(name))
	case !utf8.ValidString(name):
		return fmt.Errorf("the name of a tool is UTF-8, and %q is not", name)
	case strings.Contains(name, "*"):
		return fmt.Errorf("the name of a tool has no *, which stands for any characters in patterns: %q", name)
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return fmt.Errorf("the name of a tool has printable characters only, not %q", name)
	}
	return nil
}

// Hints say what tools are, whatever is said of them by whoever offers them: patterns
// of names. Writes wins.
type Hints struct{ ReadOnly, Idempotent, Writes []string }

// Believe puts what the hints say in the place of what a tool says of itself.
func (h Hints) Believe(t *abi.Tool) {
	switch {
	case policy.MatchAny(h.Writes, t.Name):
		t.ReadOnly, t.Idempotent = false, false
		return
	case policy.MatchAny(h.ReadOnly, t.Name):
		t.ReadOnly, t.Destructive = true, false
	}
	if policy.MatchAny(h.Idempotent, t.Name) {
		t.Idempotent = true
	}
}
