package clients

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
)

// TestDocumentedCommands runs what documents tell people to type, as it stands there, against a node.
func TestDocumentedCommands(t *testing.T) {
	need(t, "bash")
	n := builder.Start(t)
	for name, want := range map[string][]string{
		"mcp.md":        {`"protocolVersion":"2025-11-25"`, `"name":"wharf"`},
		"a2a.md":        {"signature  valid", "# Digest of Tides", "completed", `"TASK_STATE_COMPLETED"`},
		"delegation.md": {"paid work  yes", "nothing was dispatched", "handed over", "status     completed", "status     replayed"},
	} {
		t.Run(name, func(t *testing.T) {
			out := typed(t, n, strings.Join(marked(t, name, "sh"), "\n"))
			for _, w := range want {
				if !strings.Contains(out, w) {
					t.Errorf("%q is not in what is printed:\n%s", w, out)
				}
			}
		})
	}
}

// TestDesktopConfiguration starts what docs/mcp.md has desktop clients start.
func TestDesktopConfiguration(t *testing.T) {
	need(t, "bash")
	n := builder.Start(t)
	var servers struct {
		All map[string]struct {
			Command string            `json:"command"`
			Args    []string          `json:"args"`
			Env     map[string]string `json:"env"`
		} `json:"mcpServers"`
	}
	text := document(t, "mcp.md")
	block := regexp.MustCompile("(?s)```json\n([^`]*\"command\"[^`]*)```").FindStringSubmatch(text)
	if block == nil || json.Unmarshal([]byte(block[1]), &servers) != nil || servers.All["wharf"].Command != "wharf" {
		t.Fatalf("docs/mcp.md has no configuration with a command: %q", block)
	}
	s := servers.All["wharf"]
	script := "export WHARF_API_KEY=" + strings.ReplaceAll(s.Env["WHARF_API_KEY"], "KEY", nodetest.Key) + "\n" +
		`echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"d","version":"1"}}}' | ` +
		s.Command + " " + strings.Join(s.Args, " ")
	if out := typed(t, n, script); !strings.Contains(out, `"serverInfo"`) {
		t.Errorf("the server says %s", out)
	}
}

// typed is what a script prints in an empty folder, with wharf on the path.
func typed(t *testing.T, n *nodetest.Node, script string) string {
	t.Helper()
	home := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script)
	cmd.Dir = home
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(builder.Binary(t))+string(os.PathListSeparator)+os.Getenv("PATH"), "HOME="+home,
		"XDG_CONFIG_HOME="+home, "WHARF_SERVER="+n.URL, "WHARF_API_KEY="+nodetest.Key)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

func document(t *testing.T, name string) string {
	t.Helper()
	root, err := nodetest.Root()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// marked returns the blocks of a document that are marked to be run.
func marked(t *testing.T, name, language string) (blocks []string) {
	t.Helper()
	for _, block := range regexp.MustCompile("(?s)<!-- run -->\n```"+language+"\n(.*?)```").FindAllStringSubmatch(document(t, name), -1) {
		blocks = append(blocks, block[1])
	}
	if len(blocks) == 0 {
		t.Fatalf("docs/%s has no commands that are marked to be run", name)
	}
	return blocks
}
