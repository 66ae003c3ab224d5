package restate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/go-json-experiment/json"
)

// ErrMissing is wrapped by errors that say what to install.
var ErrMissing = errors.New("not installed")

// Install is Restate as npm has put it into a folder of the source tree.
type Install struct {
	Node    string // the executable that runs the service
	Binary  string // the server
	Folder  string // of the service
	Version string // of the server
	SDK     string // the version of what the service is made with
}

// Find looks for what the comparison needs. An error of [ErrMissing] says what to
// do. The working directory must lie in the source tree.
func Find(ctx context.Context) (*Install, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-f", "{{.Dir}}", "github.com/wharf-dev/wharf/benches").Output()
	if err != nil {
		return nil, fmt.Errorf("looking for the source tree: %w", err)
	}
	in := &Install{Folder: filepath.Join(strings.TrimSpace(string(out)), "compare", "restate")}
	if in.Node, err = exec.LookPath("node"); err != nil {
		return nil, fmt.Errorf("node is %w: the comparison needs it, and npm, to install Restate and to run its service", ErrMissing)
	}
	packages := filepath.Join(in.Folder, "node_modules", "@restatedev")
	in.Binary = filepath.Join(packages, "restate-server-"+runtime.GOOS+"-"+processor(), "bin", "restate-server")
	if in.Version, err = version(filepath.Join(packages, "restate-server")); err != nil {
		return nil, err
	}
	in.SDK, err = version(filepath.Join(packages, "restate-sdk"))
	return in, err
}

// processor is how npm calls this machine's.
func processor() string {
	if runtime.GOARCH == "amd64" {
		return "x64"
	}
	return runtime.GOARCH
}

// version reads the version of an installed package.
func version(folder string) (string, error) {
	text, err := os.ReadFile(filepath.Join(folder, "package.json"))
	if errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("%s is %w: run \"npm ci\" in benches/compare/restate", filepath.Base(folder), ErrMissing)
	}
	if err != nil {
		return "", fmt.Errorf("reading the version of a package: %w", err)
	}
	var stated struct {
		Version string `json:"version"`
	}
	if err := json.Unmarshal(text, &stated); err != nil {
		return "", fmt.Errorf("reading the version of a package: %w", err)
	}
	return stated.Version, nil
}
