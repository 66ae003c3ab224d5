package clients

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
)

// TestTour runs the tour of the README as it stands there, with bash and curl,
// against a node. Between the last two blocks the node is killed and started
// again, as the text says. Addresses and key are the only words that are changed.
func TestTour(t *testing.T) {
	need(t, "bash")
	need(t, "curl")
	root, err := nodetest.Root()
	if err != nil {
		t.Fatal(err)
	}
	blocks := tour(t, filepath.Join(root, "README.md"))
	n := builder.Start(t)
	words := strings.NewReplacer("http://127.0.0.1:8080", n.URL, "a-key-for-the-tour", nodetest.Key)
	last := len(blocks) - 1

	// What the shell knows at the end of the first part, the second part needs.
	state := filepath.Join(t.TempDir(), "state")
	out := shell(t, root, words.Replace(strings.Join(blocks[:last], "\n"))+"\ndeclare -p N S A T D R P >"+state+"; declare -f api id >>"+state)
	for _, want := range []string{`"protocol_family":"harn_agents_protocol"`, `"persona_echo"`, `"persona_digest"`, `"status":"COMPLETED"`,
		"High water is at nine", `"role":"assistant"`, `"status":"SUCCEEDED"`, "event: task.submitted", "event: task.completed",
		`"valid":true`, `"status":"accepted","delivery_id":"gauge-1"`, `"status":"deduped","delivery_id":"gauge-1"`, `"received":1`,
		"# Digest of Neap", `"loadSession":true`, `"checkpoint_id":"task_`, "event: replay.event_replayed", "event: replay.completed"} {
		if !strings.Contains(out, want) {
			t.Errorf("%s is not in what the tour prints", want)
		}
	}
	if proposed := proposal(t, document(t, "policy.md")); !strings.Contains(out, `"proposals":[`+proposed) {
		t.Errorf("the proposal %s is not in what the tour prints", proposed)
	}
	twice := regexp.MustCompile(`(?m)^task_\w+$`).FindAllString(out, -1)
	if len(twice) != 2 || twice[0] != twice[1] {
		t.Errorf("sending a Task twice gave %q", twice)
	}
	n.Kill(t)
	n.Run(t)
	again := shell(t, root, "export WHARF_API_KEY="+nodetest.Key+"\n. "+state+"\n"+blocks[last])
	if !strings.Contains(again, `"status":"COMPLETED"`) {
		t.Errorf("after the restart: %s", again)
	}
	if t.Failed() {
		t.Logf("the tour printed:\n%s", out)
	}
}

// proposal returns what docs/policy.md says that the tour's Persona proposes, as a node writes it.
func proposal(t *testing.T, page string) string {
	t.Helper()
	block := regexp.MustCompile("<!-- proposal -->\n```json\n(.*)\n```").FindStringSubmatch(page)
	if block == nil {
		t.Fatal("docs/policy.md shows no proposal")
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(block[1])); err != nil {
		t.Fatal(err)
	}
	return compact.String()
}

// tour returns the shell blocks of the README's tour.
func tour(t *testing.T, readme string) []string {
	t.Helper()
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "<!-- tour -->")
	part, _, ended := strings.Cut(rest, "<!-- /tour -->")
	var blocks []string
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(part, -1) {
		blocks = append(blocks, block[1])
	}
	if !found || !ended || len(blocks) < 5 {
		t.Fatalf("the README has no tour, or only %d blocks of it", len(blocks))
	}
	return blocks
}

// shell runs a script in a folder and returns what it prints. The script ends at
// its first error.
func shell(t *testing.T, dir, script string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}
