package node

import (
	"context"
	_ "embed" // the file that a profiled build adds
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"
)

// profileEnv names the variable that tells a profiled build where to listen.
const profileEnv = "WHARF_BENCH_PPROF"

// profileSource is what a profiled build has on top of the real one. It is no Go
// file here, so that no build but that one can contain it.
//
//go:embed pprof.go.txt
var profileSource []byte

// BuildProfiled compiles the node's binary with an additional listener for
// profiles, which the shipped binary does not have.
func BuildProfiled(ctx context.Context, dir string) (string, error) {
	module, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/wharf-dev/wharf").Output()
	if err != nil {
		return "", fmt.Errorf("finding the source tree: %w", err)
	}
	overlay, err := writeOverlay(dir, string(module[:len(module)-1]))
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "wharf-profiled")
	cmd := exec.CommandContext(ctx, "go", "build", "-overlay", overlay, "-o", binary, "github.com/wharf-dev/wharf/cmd/wharf")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the node for profiling: %w\n%s", err, out)
	}
	return binary, nil
}

// writeOverlay describes a source tree that has one file more.
func writeOverlay(dir, module string) (string, error) {
	source := filepath.Join(dir, "pprof.go")
	if err := os.WriteFile(source, profileSource, 0o600); err != nil {
		return "", fmt.Errorf("writing the profiling source: %w", err)
	}
	added := filepath.Join(module, "cmd", "wharf", "zz_bench_pprof.go")
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {added: source}})
	if err != nil {
		return "", fmt.Errorf("encoding the build overlay: %w", err)
	}
	path := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(path, overlay, 0o600); err != nil {
		return "", fmt.Errorf("writing the build overlay: %w", err)
	}
	return path, nil
}

// ProfileEnv makes a profiled build listen on addr.
func ProfileEnv(addr string) string { return profileEnv + "=" + addr }

// FetchProfile saves a profile of a node to a file. kind is a name that
// net/http/pprof knows; took bounds a profile that is taken over time.
func FetchProfile(ctx context.Context, addr, kind string, took time.Duration, file string) error {
	url := "http://" + addr + "/debug/pprof/" + kind
	if took > 0 {
		url += fmt.Sprintf("?seconds=%d", max(1, int(took.Seconds())))
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return fmt.Errorf("asking for a profile: %w", err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("fetching a profile: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("fetching a profile was answered with %d", resp.StatusCode)
	}
	out, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("saving a profile: %w", err)
	}
	if _, err := io.Copy(out, resp.Body); err != nil {
		out.Close()
		return fmt.Errorf("saving a profile: %w", err)
	}
	return out.Close()
}
