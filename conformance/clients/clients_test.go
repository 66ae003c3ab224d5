package clients

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"testing"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
)

// builder builds the binary for every test of this package.
var builder = nodetest.NewBuilder()

func TestMain(m *testing.M) {
	code := m.Run()
	if err := builder.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

// need skips the test unless a program is installed.
func need(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("needs %s, which is not installed", program)
	}
}

// needPackages skips the test unless node and the npm packages are there.
func needPackages(t *testing.T) {
	t.Helper()
	need(t, "node")
	if _, err := os.Stat("node_modules"); err != nil {
		t.Skip(`needs the npm packages: run "npm ci" in conformance/clients`)
	}
}

// launch starts a program that ends when its standard input does, which is when the test ends at the latest.
func launch(t *testing.T, env []string, program string, args ...string) (in io.WriteCloser, lines *bufio.Scanner) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Stderr = os.Stderr
	cmd.Env = append(os.Environ(), env...)
	in, out := nodetest.Talk(t, cmd)
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	lines = bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	return in, lines
}

// call sends a request to a node, wants a status below 400, and returns the
// answer as an object.
func call(t *testing.T, n *nodetest.Node, method, path string, body any) map[string]any {
	t.Helper()
	var reader io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		reader = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, n.URL+path, reader)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+nodetest.Key)
	req.Header.Set("Harn-Agents-Protocol-Version", nodetest.Version)
	req.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode >= 400 {
		t.Fatalf("%s %s: %d %s (%v)", method, path, answer.StatusCode, text, err)
	}
	var doc map[string]any
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatalf("%s %s: %v: %s", method, path, err, text)
	}
	return doc
}

// newSession opens a Session in the node's first Workspace.
func newSession(t *testing.T, n *nodetest.Node) string {
	t.Helper()
	workspaces := list(t, n, "/v1/workspaces")
	if len(workspaces) == 0 {
		t.Fatal("the node has no Workspace")
	}
	return call(t, n, "POST", "/v1/sessions", map[string]any{"workspace_id": workspaces[0]["id"]})["id"].(string)
}

// list returns the first 200 members of a list.
func list(t *testing.T, n *nodetest.Node, path string) []map[string]any {
	t.Helper()
	data, _ := call(t, n, "GET", path+"?limit=200", nil)["data"].([]any)
	docs := make([]map[string]any, len(data))
	for i := range data {
		docs[i] = data[i].(map[string]any)
	}
	return docs
}

func say(text string) map[string]any {
	return map[string]any{"role": "user", "parts": []any{map[string]any{"type": "text", "text": text, "visibility": "public"}}}
}
