package prove_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
	"github.com/wharf-dev/wharf/runtime/bundle"
	"github.com/wharf-dev/wharf/runtime/journal"
	"github.com/wharf-dev/wharf/runtime/receipt"
)

func checked(t *testing.T, b []byte) receipt.Report {
	t.Helper()
	return bundle.Verify(t.Context(), bytes.NewReader(b), int64(len(b)), bundle.Options{ChainOnly: true})
}

// exported runs a Task after another one, so that its receipt has one before it, and
// returns it with its bundle.
func exported(t *testing.T, c *client, persona string, input any) (id string, b []byte) {
	t.Helper()
	c.run(t, "persona_echo", message("the first"))
	id = text(c.run(t, persona, input), "id")
	return id, c.bundle(t, id)
}

// TestEveryByteOfABundleCounts flips a bit of the bytes of a bundle that a node has
// exported: of every byte with WHARF_LONG, else of some thousands all over it.
func TestEveryByteOfABundleCounts(t *testing.T) {
	c := newClient(builder.StartWith(t, nodetest.Options{Args: scripted(t)}))
	for name, task := range map[string]struct {
		persona string
		input   any
	}{"echo": {"persona_echo", message("well then")}, "every call": {"persona_calls", everyCall()}} {
		t.Run(name, func(t *testing.T) {
			_, good := exported(t, c, task.persona, task.input)
			if r := checked(t, good); !r.Valid {
				t.Fatalf("the bundle is not valid: %s", r.Reason())
			}
			stride := 1
			if !long() {
				stride = len(good)/6000 + 1
			}
			changed := bytes.Clone(good)
			for i := 0; i < len(good); i += stride {
				changed[i] ^= 1 << (i % 8)
				if r := checked(t, changed); r.Valid {
					t.Errorf("byte %d of %d is changed, and nothing was noticed", i, len(good))
				}
				changed[i] = good[i]
			}
			for _, cut := range []int{0, 1, len(good) / 2, len(good) - 1} {
				if checked(t, good[:cut]).Valid || checked(t, append(bytes.Clone(good), good[cut:]...)).Valid {
					t.Errorf("cut at %d, or going on from there, it is valid", cut)
				}
			}
			t.Logf("%d bytes, each %d. changed", len(good), stride)
		})
	}
}

// TestWharfVerifyFindsAChange uses the program, with the execution, on a few changes,
// and the verifier in JavaScript on the same.
func TestWharfVerifyFindsAChange(t *testing.T) {
	c := newClient(builder.StartWith(t, nodetest.Options{Args: scripted(t)}))
	_, good := exported(t, c, "persona_calls", everyCall())
	dir := t.TempDir()
	files := []string{filepath.Join(dir, "good.zip")}
	put(t, files[0], string(good))
	if code, out := wharf(t, "verify", files[0]); code != 0 {
		t.Fatalf("the good bundle: %d\n%s", code, out)
	}
	for i := range 12 {
		changed := bytes.Clone(good)
		changed[(2*i+1)*len(good)/24] ^= 0x10
		files = append(files, filepath.Join(dir, fmt.Sprint(i, ".zip")))
		put(t, files[i+1], string(changed))
		if code, out := wharf(t, "verify", files[i+1]); code != 1 {
			t.Errorf("change %d: exit code %d\n%s", i, code, out)
		}
	}
	t.Run("JavaScript", func(t *testing.T) {
		for i, r := range inJavaScript(t, files...) {
			if r.Valid != (i == 0) {
				t.Errorf("%s: valid is %t in JavaScript (%s)", files[i], r.Valid, r.Reason())
			}
		}
	})
}

// inJavaScript returns what the verifier in another language says of the bundles.
func inJavaScript(t *testing.T, files ...string) (reports []receipt.Report) {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("needs node, which is not installed")
	}
	folder := filepath.Join("..", "clients")
	if _, err := os.Stat(filepath.Join(folder, "node_modules", "canonicalize")); err != nil {
		t.Skip(`needs the npm packages: run "npm ci" in conformance/clients`)
	}
	cmd := exec.CommandContext(t.Context(), "node", append([]string{filepath.Join(folder, "verifier", "verify.mjs")}, files...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		var r receipt.Report
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		reports = append(reports, r)
	}
	if len(reports) != len(files) {
		t.Fatalf("%d reports on %d bundles", len(reports), len(files))
	}
	return reports
}

// alteration is one member of a receipt that is changed.
type alteration struct {
	path   string
	change func() // and back again, the second time
}

// alterations lists every value within a receipt that has no members of its own.
func alterations(path string, v any, set func(any)) (all []alteration) {
	add := func(other any) {
		now, next := v, other
		all = append(all, alteration{path, func() { set(next); now, next = next, now }})
	}
	switch v := v.(type) {
	case object:
		for name, member := range v {
			all = append(all, alterations(path+"/"+name, member, func(x any) { v[name] = x })...)
		}
		if len(v) == 0 {
			add(object{"x": 1})
		}
	case []any:
		for i, element := range v {
			all = append(all, alterations(fmt.Sprint(path, "/", i), element, func(x any) { v[i] = x })...)
		}
		if len(v) == 0 {
			add([]any{"x"})
		}
	case string:
		add(changedText(v))
	case float64:
		add(v + 1)
	case bool:
		add(!v)
	default:
		add("x")
	}
	return all
}

// changedText changes one character to one that may stand there, where it can.
func changedText(s string) string {
	if s == "" {
		return "x"
	}
	last := byte('1')
	if s[len(s)-1] == '1' {
		last = '2'
	}
	if strings.HasSuffix(s, "Z") && strings.Contains(s, "T") { // a time
		return "2" + "1" + s[2:]
	}
	return s[:len(s)-1] + string(last)
}

// TestEveryMemberOfAReceiptCounts changes the members of receipts one by one. The
// first check that fails says what is wrong.
func TestEveryMemberOfAReceiptCounts(t *testing.T) {
	c := newClient(builder.StartWith(t, nodetest.Options{Args: scripted(t)}))
	id, _ := exported(t, c, "persona_calls", everyCall())
	replay := text(c.replayed(t, id, object{"mode": "with_overrides", "override": object{"llm:1": value("llm_provider_response", object{"text": "no", "stop_reason": "end"})}}), "id")
	var keys abi.SigningKeys
	if err := json.Unmarshal(c.ask(t, "GET", "/.well-known/wharf-keys.json", nil).body, &keys); err != nil {
		t.Fatal(err)
	}
	var record journal.Record
	if err := json.Unmarshal(c.ask(t, "GET", "/wharf/v1/tasks/"+id+"/record", nil).body, &record); err != nil {
		t.Fatal(err)
	}
	for name, task := range map[string]string{"a run": id, "a replay": replay} {
		t.Run(name, func(t *testing.T) {
			wire := c.ask(t, "GET", "/v1/receipts/"+text(c.all(t, "/v1/tasks/"+task+"/receipts")[0], "id"), nil, "Accept", abi.MediaReceiptJSON).body
			trust := receipt.Trust{Keys: keys.Keys}
			if name == "a run" {
				trust.Leaves = receipt.Leaves(record.Entries)
			}
			if r := receipt.Verify(wire, trust); !r.Valid {
				t.Fatal(r.Reason())
			}
			alterEach(t, wire, trust)
		})
	}
}

func alterEach(t *testing.T, wire []byte, trust receipt.Trust) {
	t.Helper()
	var r object
	if err := json.Unmarshal(wire, &r); err != nil {
		t.Fatal(err)
	}
	chain := r["chain"].(object)
	previous, _ := chain["previous_receipt_hash"].(string)
	trust.Previous = &previous
	all := alterations("", r, nil)
	for _, a := range all {
		if strings.HasSuffix(a.path, "/signed_at") {
			continue // in a replay's receipt, no hash covers when it was signed: docs/receipt.md says so
		}
		a.change()
		found := failures(receipt.Verify(canonicalOf(t, r), trust))
		if want := wantCheck(a.path); len(found) == 0 || !slices.Contains(found, want) && !slices.Contains(found, receipt.CheckNameSchema) {
			t.Errorf("%s is changed: want %s to fail, failed: %q", a.path, want, found)
		}
		a.change()
		if strings.HasPrefix(a.path, "/signatures") || a.path == "/chain/receipt_hash" {
			continue
		}
		// Whoever changes it may state the hash that it has now, but cannot sign it.
		a.change()
		stated := chain["receipt_hash"]
		hash, err := receipt.HashWire(canonicalOf(t, r))
		if err == nil {
			chain["receipt_hash"] = hash
			found = failures(receipt.Verify(canonicalOf(t, r), trust))
			if !slices.Contains(found, receipt.CheckNameSignatures) && !slices.Contains(found, receipt.CheckNameSchema) {
				t.Errorf("%s is changed, and the hash with it: failed: %q", a.path, found)
			}
		}
		chain["receipt_hash"] = stated
		a.change()
	}
	if again := canonicalOf(t, r); !bytes.Equal(again, wire) || len(all) < 50 {
		t.Errorf("%d members were changed, or not changed back:\n%s", len(all), difference(string(wire), string(again)))
	}
	t.Logf("%d members", len(all))
}

// wantCheck is the check that has to notice a changed member.
func wantCheck(path string) string {
	switch {
	case strings.HasPrefix(path, "/signatures"):
		return receipt.CheckNameSignatures
	case path == "/chain/previous_receipt_hash":
		return receipt.CheckNameChain
	}
	return receipt.CheckNameHash
}

func canonicalOf(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	canonical := jsontext.Value(text)
	if err := canonical.Canonicalize(); err != nil {
		t.Fatal(err)
	}
	return canonical
}

func failures(r receipt.Report) (names []string) {
	for _, c := range r.Checks {
		if c.Status == receipt.CheckFailed {
			names = append(names, c.Name)
		}
	}
	return names
}
