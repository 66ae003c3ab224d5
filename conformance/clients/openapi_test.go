package clients

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
)

// TestOpenAPILinters hands the document that a node serves to two linters that
// people use. Warnings are shown; errors fail.
func TestOpenAPILinters(t *testing.T) {
	needPackages(t)
	document := fetchOpenAPI(t, builder.Start(t))
	for name, args := range map[string][]string{
		"spectral": {"node_modules/@stoplight/spectral-cli/dist/index.js", "lint", "--ruleset", ".spectral.yaml", "--fail-severity", "error", document},
		"redocly":  {"node_modules/@redocly/cli/bin/cli.js", "lint", "--config", "redocly.yaml", document},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), "node", args...)
			cmd.Env = append(os.Environ(), "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true", "NO_COLOR=1")
			out, err := cmd.CombinedOutput()
			t.Logf("%s", out)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		})
	}
}

// fetchOpenAPI writes the document to a file and returns its name.
func fetchOpenAPI(t *testing.T, n *nodetest.Node) string {
	t.Helper()
	answer, err := http.Get(n.URL + "/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("GET /openapi.json: %d %s (%v)", answer.StatusCode, text, err)
	}
	name := filepath.Join(t.TempDir(), "openapi.json")
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}
