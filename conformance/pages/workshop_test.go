package pages

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
	"github.com/wharf-dev/wharf/internal/loopback"
	"github.com/wharf-dev/wharf/plugins/plugintest"
)

var builder = nodetest.NewBuilder()

func TestMain(m *testing.M) {
	status := m.Run()
	if err := builder.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	os.Exit(status)
}

// nodeConfig is that of the node that examples speak to.
const nodeConfig = `models:
  script: model.json
  default: small
  small: {provider: script}
plugins: {dir: plugins}
secrets:
  hook: {env: HOOK, connectors: [github]}
webhooks: {private: "true"}
tool_servers: {private: "true"}
`

// hookSecret is what deliveries to Connectors are signed with.
const hookSecret = "whsec_c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LTEyMzQ="

// workshop is a node, and a folder with what examples speak of.
type workshop struct {
	node *nodetest.Node
	dir  string
	home string // of the user, with what is kept between commands
	path string
}

// open starts the node and makes what examples speak of.
func open(t *testing.T) *workshop {
	t.Helper()
	for _, tool := range []string{"bash", "curl", "python3", "jq", "git"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	w := &workshop{dir: t.TempDir(), home: t.TempDir()}
	w.path = filepath.Dir(builder.Binary(t)) + string(os.PathListSeparator) + os.Getenv("PATH")
	at := t.TempDir()
	write(t, filepath.Join(at, "node.yaml"), nodeConfig)
	write(t, filepath.Join(at, "model.json"), `[{"answer": {"text": "Yes."}, "times": -1}]`)
	write(t, filepath.Join(at, "plugins", "calls.wasm"), string(plugintest.Calls()))
	write(t, filepath.Join(w.dir, "calls.wasm"), string(plugintest.Calls()))
	for _, name := range []string{"env.sh", "setup.sh"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(w.dir, name), string(text))
	}
	w.node = builder.StartWith(t, nodetest.Options{Dir: at, Args: []string{"--config", "node.yaml"},
		Env: []string{"HOOK=" + hookSecret}})
	if out, err := w.bash(t.Context(), w.dir, ". ./setup.sh"); err != nil {
		t.Fatalf("preparing what examples speak of: %v\n%s", err, out)
	}
	return w
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// patience is for an example that never ends, which none is.
const patience = 5 * time.Minute

// bash runs a script in a folder, as a user whose shell has the key and the node. All that it starts ends with it.
func (w *workshop) bash(ctx context.Context, dir, script string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+w.path, "HOME="+w.home, "XDG_CONFIG_HOME="+w.home, "XDG_CACHE_HOME="+w.home, "WHARF_SERVER="+w.node.URL, "WHARF_API_KEY="+nodetest.Key,
		"N="+w.node.URL, "KEY="+nodetest.Key, "CRM_TOKEN=a-token", "HOOK="+hookSecret, "TOKEN=a-token", "WHARF_A2A_KEY="+nodetest.Key)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Minute
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

// copied returns a folder with what a script speaks of: all of it is some tens of megabytes.
func (w *workshop) copied(t *testing.T, script string) string {
	t.Helper()
	dir := t.TempDir()
	entries, err := os.ReadDir(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"-a"} // with its modes: keys are for their owner
	for _, e := range entries {
		if strings.Contains(script, e.Name()) || e.Name() == "scribe.yaml" || e.Name() == "orders.yaml" { // env.sh uses these
			args = append(args, filepath.Join(w.dir, e.Name()))
		}
	}
	if out, err := exec.CommandContext(t.Context(), "cp", append(args, dir)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// standIns are what examples have in the place of something that is somewhere else for each reader.
var standIns = []struct{ text, here string }{
	{"http://127.0.0.1:8080", "$WHARF_SERVER"}, {"https://agent.example.com", "$WHARF_SERVER"}, {"https://wharf.example.com", "$WHARF_SERVER"},
	{"https://tools.example/mcp", "$WHARF_SERVER/mcp"}, {"https://notes.example", "$WHARF_SERVER/mcp"}, {"https://receiver.example", "$WHARF_SERVER"},
	{"/etc/wharf.yaml", "wharf.yaml"}, {"/var/lib/wharf", "stopped"}, {"/backups/", "backups/"}, {"./wharf-data", "stopped"},
	{"task_01K0A...", "$ID_TASK"}, {"task_01K0B...", "$ID_TASK2"}, {"task_01K1...", "$ID_TASK2"}, {"7f3b...", "tides"}, {"1042", "$EVENT"}, {"4711", "$EVENT"}, {"wharf-2026-1", "$SIGNING"}, {"127.0.0.1:9000", "$FREE"},
}

var shortID = regexp.MustCompile(`\b([a-z]+)_01K0\.\.\.`)

// here puts what is on this machine in the place of what examples stand it in for.
func here(t *testing.T, text string) string {
	t.Helper()
	for _, s := range standIns {
		text = strings.ReplaceAll(text, s.text, s.here)
	}
	text = shortID.ReplaceAllStringFunc(text, func(id string) string {
		return "$ID_" + strings.ToUpper(strings.TrimSuffix(id, "_01K0..."))
	})
	if strings.Contains(text, "$FREE") {
		text = strings.ReplaceAll(text, "$FREE", loopback.Free(t))
	}
	return text
}
