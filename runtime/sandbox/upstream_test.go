package sandbox

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// offered is where patches for the engine are.
const offered = "../../docs/upstream"

// touched finds the files that a patch changes, and not those that it adds.
var touched = regexp.MustCompile(`(?m)^--- a/(\S+)$`)

// TestOfferedPatchesFit holds that the patches in docs/upstream/ fit the engine's source, each
// by itself, that each comes with a test, and that the README there tells of each.
func TestOfferedPatchesFit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("needs git, which is not installed")
	}
	list := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Version}} {{.Dir}}", "github.com/tetratelabs/wazero")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	version, source, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	if want := "wazero-" + strings.TrimPrefix(version, "v"); want != engineName {
		t.Errorf("go.mod has %s, and records of Runs name %s", want, engineName)
	}
	if _, err := os.Stat(source); err != nil || source == "" {
		t.Skip("the engine's source is not at hand")
	}
	readme, err := os.ReadFile(filepath.Join(offered, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	patches, err := filepath.Glob(filepath.Join(offered, "*.patch"))
	if err != nil || len(patches) == 0 {
		t.Fatalf("no patches: %v", err)
	}
	for _, path := range patches {
		t.Run(filepath.Base(path), func(t *testing.T) {
			patch, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(readme), "("+filepath.Base(path)+")") {
				t.Error("the README does not tell of it")
			}
			if !strings.Contains(string(patch), "_test.go\n") {
				t.Error("it comes without a test")
			}
			dir := t.TempDir()
			for _, name := range touched.FindAllStringSubmatch(string(patch), -1) {
				copyFile(t, filepath.Join(source, name[1]), filepath.Join(dir, name[1]))
			}
			apply := exec.CommandContext(t.Context(), git, "apply", "-")
			apply.Dir, apply.Stdin = dir, strings.NewReader(string(patch))
			apply.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir)) // no repository around it
			if out, err := apply.CombinedOutput(); err != nil {
				t.Errorf("it does not fit %s: %v\n%s", version, err, out)
			}
		})
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o700)
	}
	if err == nil {
		err = os.WriteFile(to, content, fs.FileMode(0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
}
