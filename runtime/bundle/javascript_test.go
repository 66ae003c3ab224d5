package bundle

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	json "github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/receipt"
)

// verifierFolder holds a verifier in JavaScript that shares no code with this one.
var verifierFolder = filepath.Join("..", "..", "conformance", "clients", "verifier")

// inJavaScript returns what that verifier reports on the bundles.
func inJavaScript(t *testing.T, trusted []abi.SigningKey, bundles ...[]byte) (reports []receipt.Report) {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("needs node, which is not installed")
	}
	if _, err := os.Stat(filepath.Join(verifierFolder, "..", "node_modules", "canonicalize")); err != nil {
		t.Skip(`needs the npm packages: run "npm ci" in conformance/clients`)
	}
	dir := t.TempDir()
	args := []string{filepath.Join(verifierFolder, "verify.mjs")}
	if trusted != nil {
		keys, err := json.Marshal(abi.SigningKeys{Issuer: "wharf", Keys: trusted})
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, "--keys", writeFile(t, dir, "keys.json", keys))
	}
	for i, b := range bundles {
		args = append(args, writeFile(t, dir, fmt.Sprint(i, ".zip"), b))
	}
	cmd := exec.CommandContext(t.Context(), "node", args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		t.Fatalf("node: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		var r receipt.Report
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		reports = append(reports, r)
	}
	if len(reports) != len(bundles) {
		t.Fatalf("%d reports on %d bundles", len(reports), len(bundles))
	}
	return reports
}

func writeFile(t *testing.T, dir, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// wantAgreement compares two reports check by check, where both have made it.
func wantAgreement(t *testing.T, name string, ours, theirs receipt.Report) {
	t.Helper()
	if ours.Valid != theirs.Valid {
		t.Errorf("%s: valid %t here, and %t in JavaScript (%q, %q)", name, ours.Valid, theirs.Valid, ours.Reason(), theirs.Reason())
	}
	here := map[string]receipt.Check{}
	for _, c := range ours.Checks {
		here[c.Name] = c
	}
	for _, c := range theirs.Checks {
		if mine, ok := here[c.Name]; ok && mine.Status != c.Status {
			t.Errorf("%s: %s is %s here (%s), and %s in JavaScript (%s)", name, c.Name, mine.Status, mine.Reason, c.Status, c.Reason)
		}
	}
}

// TestJavaScriptAgrees gives both verifiers good bundles and bundles whose parts do
// not fit together.
func TestJavaScriptAgrees(t *testing.T) {
	forge := func(change func(*Contents)) []byte {
		c := sampleContents(t)
		change(c)
		return write(t, c)
	}
	names := []string{"good", "from before", "another answer", "another module", "another Task", "another batch", "a changed receipt", "no record of the receipt", "no module"}
	bundles := [][]byte{
		write(t, sampleContents(t)),
		beforeRewriting(t),
		forge(func(c *Contents) { c.Record.Entries[1].Answer = []byte(`{"content":[]}`) }),
		forge(func(c *Contents) { c.Module = []byte("x") }),
		forge(func(c *Contents) { c.Task = []byte(`{"id":"task_2"}`) }),
		forge(func(c *Contents) { c.Proof.Proof.Index = 0 }),
		forge(func(c *Contents) {
			c.Receipts[1] = bytes.Replace(c.Receipts[1], []byte(`"total":0`), []byte(`"total":1`), 1)
			c.Proof = nil
		}),
		forge(func(c *Contents) { c.Record.Entries = nil }),
		forge(func(c *Contents) { c.Module = nil }),
	}
	for _, trusted := range [][]abi.SigningKey{nil, {testKey(1).Public(start)}, {testKey(2).Public(start)}} {
		for i, theirs := range inJavaScript(t, trusted, bundles...) {
			ours := verify(t, bundles[i], Options{TrustKeys: trusted})
			wantAgreement(t, fmt.Sprint(names[i], " with ", len(trusted), " trusted keys"), ours, theirs)
		}
	}
}

// TestJavaScriptFindsChangedBytes flips bits all over a bundle: every seventh byte,
// or with WHARF_LONG every one.
func TestJavaScriptFindsChangedBytes(t *testing.T) {
	good := write(t, sampleContents(t))
	step := 7
	if os.Getenv("WHARF_LONG") != "" {
		step = 1
	}
	for first := 0; first < len(good); first += 500 * step { // a command line takes so many names
		var changed [][]byte
		for i := first; i < min(len(good), first+500*step); i += step {
			b := bytes.Clone(good)
			b[i] ^= 1 << (i % 8)
			changed = append(changed, b)
		}
		for n, r := range inJavaScript(t, nil, changed...) {
			if r.Valid {
				t.Errorf("byte %d is changed, and nothing was noticed", first+n*step)
			}
		}
	}
}
