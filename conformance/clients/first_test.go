package clients

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
	"github.com/wharf-dev/wharf/internal/loopback"
)

// TestFirstScreen does what the README shows first, in an empty folder: a plugin is made, installed, killed with
// its node in the middle of a Task, replayed and proved. Only the address is changed, and the shell waits
// until the node answers.
func TestFirstScreen(t *testing.T) {
	need(t, "bash")
	need(t, "curl")
	root, err := nodetest.Root()
	if err != nil {
		t.Fatal(err)
	}
	program, commands := firstScreen(t, filepath.Join(root, "README.md"))
	dir, url := t.TempDir(), "http://"+loopback.Free(t)
	made, rest, found := strings.Cut(commands, "\n")
	if !found || !strings.HasPrefix(made, "wharf plugin new dice") {
		t.Fatalf("the first command is %q", made)
	}
	rest = regexp.MustCompile(`(?m)^wharf serve (.*) &$`).ReplaceAllString(rest,
		"wharf serve --listen "+strings.TrimPrefix(url, "http://")+" $1 & node=$!; until curl -sf "+url+"/readyz >/dev/null; do kill -0 $$node; sleep 0.1; done")
	rest = strings.ReplaceAll(rest, "kill -9 $!", "kill -9 $node")
	script := fmt.Sprintf("export PATH=%q:$PATH WHARF_SERVER=%s\ntrap 'kill $node; wait $node' EXIT\n%s\ncat >dice/src/plugin.ts <<'PROGRAM'\n%sPROGRAM\n%s",
		filepath.Dir(builder.Binary(t)), url, made, program, rest)
	out := shell(t, dir, script)
	for _, want := range []string{"Tasks reach it as the persona persona_dice", "task.completed", "exact replay of task_", "valid: it is whole"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in what is printed", want)
		}
	}
	said := regexp.MustCompile(`Ada, you rolled a [1-6]\.`).FindAllString(out, -1)
	if len(said) < 2 || said[0] != said[len(said)-1] {
		t.Errorf("the Task and its replay say %q", said)
	}
	if t.Failed() {
		log, err := os.ReadFile(filepath.Join(dir, "node.log"))
		t.Logf("printed:\n%s\nthe node's log (%v):\n%s", out, err, log)
	}
}

// firstScreen returns the program and the commands that the README shows first.
func firstScreen(t *testing.T, readme string) (program, commands string) {
	t.Helper()
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "<!-- first -->")
	part, _, ended := strings.Cut(rest, "<!-- /first -->")
	blocks := regexp.MustCompile("(?s)```(ts|sh)\n(.*?)```").FindAllStringSubmatch(part, -1)
	if !ended || len(blocks) != 2 || blocks[0][1] != "ts" || blocks[1][1] != "sh" {
		t.Fatalf("the README begins with %d blocks, want a program and its commands", len(blocks))
	}
	return blocks[0][2], blocks[1][2]
}
