package clients

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestCardIsSigned has the agent card of a node checked by the jose package, as the
// node gives it and with a byte changed on the way.
func TestCardIsSigned(t *testing.T) {
	needPackages(t)
	n := builder.Start(t)
	for name, test := range map[string]struct {
		edit string
		ok   bool
	}{
		"as it is":        {"", true},
		"another skill":   {`["skill_digest","skill_other"]`, false},
		"another address": {`["/v1/events/stream","/elsewhere"]`, false},
	} {
		cmd := exec.CommandContext(t.Context(), "node", "card.mjs", n.URL)
		cmd.Env = append(os.Environ(), "CARD_EDIT="+test.edit)
		out, err := cmd.CombinedOutput()
		if (err == nil) != test.ok || test.ok && strings.Count(string(out), "sig_") != 2 {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
}
