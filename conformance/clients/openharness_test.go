package clients

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
)

// toured is a line that openharness.mjs prints.
type toured struct {
	Step, Failed string
	Done         bool
	Method, Path string
	Body, Event  json.RawMessage
}

// TestOpenHarness has a client of the Open Harness API tour a node. What the node answers, and
// tells in streams, fits what the protocol's authors publish.
func TestOpenHarness(t *testing.T) {
	need(t, "node")
	n := builder.StartWith(t, nodetest.Options{Args: []string{"--config", slowAndCanned(t)}})
	cmd := exec.CommandContext(t.Context(), "node", "openharness.mjs", n.URL, nodetest.Key)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	known := readPublished(t)
	var step string
	var done bool
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line toured
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		done = line.Done
		switch {
		case line.Step != "":
			step = line.Step
		case line.Failed != "":
			t.Errorf("%s: %s", step, line.Failed)
		case line.Event != nil:
			known.fits(t, step, "#/components/schemas/ExecutionEvent", line.Event)
		case line.Method != "":
			known.fits(t, step, known.answer(t, line.Method, line.Path), line.Body)
		}
	}
	if err := lines.Err(); err != nil || !done {
		t.Errorf("the tour ended in %q: %v", step, err)
	}
}

// slowAndCanned writes a configuration with a model that says hello, and one that never answers.
func slowAndCanned(t *testing.T) string {
	t.Helper()
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(slow.Close)
	dir := t.TempDir()
	config, script := filepath.Join(dir, "wharf.yaml"), filepath.Join(dir, "answers.json")
	text := "models:\n  script: " + script + "\n  default: canned\n  canned: {provider: script}\n" +
		"  slow: {provider: openai, model: slow, base_url: " + slow.URL + "/v1}\n"
	for path, text := range map[string]string{config: text, script: `[{"answer": {"text": "Hello there."}, "times": -1}]`} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return config
}

// published is what the protocol's authors publish of each operation.
type published struct {
	compiler *jsonschema.Compiler
	paths    map[string]map[string]struct {
		Responses map[string]struct {
			Content map[string]struct {
				Schema struct {
					Ref string `json:"$ref"`
				} `json:"schema"`
			} `json:"content"`
		} `json:"responses"`
	}
}

func readPublished(t *testing.T) *published {
	t.Helper()
	root, err := nodetest.Root()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "gateway", "openharness", "testdata", "openharness.json"))
	if err != nil {
		t.Fatal(err)
	}
	whole, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	p := &published{compiler: jsonschema.NewCompiler()}
	p.compiler.AssertFormat()
	if err := p.compiler.AddResource("published.json", whole); err != nil {
		t.Fatal(err)
	}
	var doc struct{ Paths json.RawMessage }
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(doc.Paths, &p.paths); err != nil {
		t.Fatal(err)
	}
	return p
}

// answer returns where the schema of an operation's answer is; "" for what is not published.
func (p *published) answer(t *testing.T, method, path string) string {
	t.Helper()
	path, _, _ = strings.Cut("/harnesses"+path, "?")
	if strings.HasSuffix(path, "/skills/discover") {
		method = "POST" // the client reads it by a GET, which is published nowhere else
	}
	var best string
	for at := range p.paths {
		pattern := regexp.MustCompile(`\\\{\w+\\\}`).ReplaceAllString(strings.ReplaceAll(regexp.QuoteMeta(at), `\{path\}`, `.+`), `[^/]+`)
		_, has := p.paths[at][strings.ToLower(method)]
		if has && regexp.MustCompile("^"+pattern+"$").MatchString(path) && (best == "" || strings.Count(at, "{") < strings.Count(best, "{")) {
			best = at
		}
	}
	for _, status := range []string{"200", "201", "202"} {
		if ref := p.paths[best][strings.ToLower(method)].Responses[status].Content["application/json"].Schema.Ref; ref != "" {
			return ref
		}
	}
	return ""
}

func (p *published) fits(t *testing.T, step, ref string, text []byte) {
	t.Helper()
	if ref == "" {
		return
	}
	schema, err := p.compiler.Compile("published.json" + ref)
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(value); err != nil {
		t.Errorf("%s: this is no %s: %v\n%s", step, ref, err, text)
	}
}
