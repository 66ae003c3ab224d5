package clients

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
)

// TestWhatTheReadmeBuildsIsStatic holds the ways to get wharf to what the README says of them. On a machine with a C
// compiler a plain go build would link it to the C library.
func TestWhatTheReadmeBuildsIsStatic(t *testing.T) {
	root, err := nodetest.Root()
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)<!-- install -->\n```sh\n(.*?)```").FindSubmatch(readme)
	if block == nil {
		t.Fatal("the README does not say how wharf is built")
	}
	if plain := regexp.MustCompile("(?m)(?:^|`)go (install|build) ./cmd/wharf").FindSubmatch(readme); plain != nil {
		t.Errorf("the README says %q, which is not static everywhere", plain[0])
	}
	lines := strings.Split(strings.TrimSpace(string(block[1])), "\n")
	for i, line := range lines {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line == "make build" {
			line = recipe(t, root)
		}
		if !strings.HasPrefix(line, "CGO_ENABLED=0 go ") {
			t.Errorf("%q links with the C library where there is one", line)
			continue
		}
		if os.Getenv("WHARF_LONG") == "" || runtime.GOOS != "linux" {
			continue // it is built anew, for other options than those of these tests
		}
		checkStatic(t, root, line, i)
	}
}

// recipe is what "make build" runs.
func recipe(t *testing.T, root string) string {
	t.Helper()
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	rule := regexp.MustCompile(`(?m)^build:.*\n\t(.*)$`).FindSubmatch(makefile)
	if rule == nil {
		t.Fatal("the Makefile does not say how to build")
	}
	return string(rule[1])
}

func checkStatic(t *testing.T, root, line string, n int) {
	t.Helper()
	need(t, "sh")
	dir := t.TempDir()
	cmd := exec.Command("sh", "-c", strings.ReplaceAll(line, "-o bin/wharf", "-o "+filepath.Join(dir, "wharf")))
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOBIN="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	file, err := elf.Open(filepath.Join(dir, "wharf"))
	if err != nil {
		t.Fatalf("line %d, %s: %v", n+1, line, err)
	}
	defer file.Close()
	for _, p := range file.Progs {
		if p.Type == elf.PT_INTERP {
			t.Errorf("%s makes a file that needs a dynamic linker", line)
		}
	}
}
