package openharness_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
	"github.com/wharf-dev/wharf/conformance/openharness"
)

var builder = nodetest.NewBuilder()

func TestMain(m *testing.M) {
	code := m.Run()
	if err := builder.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

// answers is what the models of the node say.
const answers = `[{"answer": {"text": "Hello!", "usage": {"input_tokens": 12, "output_tokens": 3}}, "times": -1}]`

// Every check is made against the real binary, with a model that follows a script.
func TestWharfConforms(t *testing.T) {
	n := wharf(t)
	report, err := openharness.Run(t.Context(), openharness.Config{BaseURL: n.URL, APIKey: nodetest.Key, Harness: "wharf"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range report.Results {
		if r.Status != openharness.Pass {
			t.Errorf("%s: %s (%s): %s", r.Status, r.ID, r.Title, r.Seen)
		}
	}
	if len(report.Results) != len(openharness.Checks()) {
		t.Errorf("%d checks were made of %d", len(report.Results), len(openharness.Checks()))
	}
}

// wharf starts a node.
func wharf(t *testing.T) *nodetest.Node {
	t.Helper()
	dir := t.TempDir()
	script, config := filepath.Join(dir, "answers.json"), filepath.Join(dir, "wharf.yaml")
	for path, text := range map[string]string{script: answers, config: "models:\n  script: " + script + "\n  canned: {provider: script}\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return builder.StartWith(t, nodetest.Options{Args: []string{"--config", config}})
}

// A node checks itself when it is asked to, with the key of whoever asks. What it has found is there
// when it has died and started again.
func TestWharfChecksItself(t *testing.T) {
	n := wharf(t)
	ask := func(method, path, body string) (text string, doc object) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, n.URL+"/v1/harnesses/wharf/conformance/"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+nodetest.Key)
		r.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		all, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode >= 300 {
			t.Fatalf("%s %s: %d %v: %s", method, path, res.StatusCode, err, all)
		}
		_ = json.Unmarshal(all, &doc)
		return string(all), doc
	}
	_, begun := ask(http.MethodPost, "run", `{"categories":["registry"]}`)
	told, _ := ask(http.MethodGet, "run/stream", "")
	n.Kill(t)
	n.Run(t)
	again, _ := ask(http.MethodGet, "run/stream", "")
	if again != told || !strings.Contains(told, `"test_id":"registry.list.page"`) || strings.Count(told, "event: done\n") != 1 {
		t.Errorf("told\n%s\nand after a restart\n%s", told, again)
	}
	_, results := ask(http.MethodGet, "results", "")
	kept, _ := results["data"].([]any)
	if len(kept) != 1 {
		t.Fatalf("%v is kept", kept)
	}
	one := kept[0].(object)
	if one["id"] != begun["run_id"] || one["failed"] != 0.0 || one["skipped"] != 0.0 || one["result"] != "partial" {
		t.Errorf("kept %v", one)
	}
}
