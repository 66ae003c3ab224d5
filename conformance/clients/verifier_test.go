package clients

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
)

// TestBundlesOfANode exports Tasks from a node, and has them checked by the
// verifier in JavaScript, which trusts the keys that the node publishes, and by
// "wharf verify", which runs them again.
func TestBundlesOfANode(t *testing.T) {
	needPackages(t)
	n := builder.Start(t)
	dir := t.TempDir()
	keys := save(t, filepath.Join(dir, "keys.json"), download(t, n, "/.well-known/wharf-keys.json"))
	session := newSession(t, n)
	for _, persona := range []string{"persona_echo", "persona_digest"} {
		task := complete(t, n, session, persona)
		archive := download(t, n, "/wharf/v1/tasks/"+task+"/bundle")
		good := save(t, filepath.Join(dir, task+".zip"), archive)
		archive[len(archive)/2] ^= 1
		changed := save(t, filepath.Join(dir, task+"-changed.zip"), archive)
		for name, verifier := range map[string][]string{
			"JavaScript": {"node", "verifier/verify.mjs", "--keys", keys},
			"wharf":      {builder.Binary(t), "verify", "--trust", keys},
		} {
			if out, status := runIt(t, append(verifier, good)...); status != 0 {
				t.Errorf("%s, %s: status %d:\n%s", persona, name, status, out)
			}
			if out, status := runIt(t, append(verifier, changed)...); status != 1 {
				t.Errorf("%s, %s, with a changed byte: status %d:\n%s", persona, name, status, out)
			}
		}
	}
}

// complete submits a Task and waits until it has ended, well. It returns its id.
func complete(t *testing.T, n *nodetest.Node, session, persona string) string {
	t.Helper()
	body, err := json.Marshal(map[string]any{"persona_id": persona, "input": say("High water is at nine. The gates close at ten.")})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), "POST", n.URL+"/v1/sessions/"+session+"/tasks", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Prefer", "wait=60")
	var task struct{ ID, Status string }
	if err := json.Unmarshal(send(t, req), &task); err != nil || task.Status != "COMPLETED" {
		t.Fatalf("the Task of %s is %q (%v)", persona, task.Status, err)
	}
	return task.ID
}

func download(t *testing.T, n *nodetest.Node, path string) []byte {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", n.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return send(t, req)
}

// send sends a request with the key of the node, and returns the answer's body.
func send(t *testing.T, req *http.Request) []byte {
	t.Helper()
	req.Header.Set("Authorization", "Bearer "+nodetest.Key)
	req.Header.Set("Harn-Agents-Protocol-Version", nodetest.Version)
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %s (%v)", req.URL, answer.StatusCode, body, err)
	}
	return body
}

func save(t *testing.T, path string, content []byte) string {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// runIt runs a program, and returns what it prints and its exit status.
func runIt(t *testing.T, command ...string) (string, int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}
