package prove_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
)

// emulator finds a program that runs the binaries of another processor.
func emulator(t *testing.T) string {
	t.Helper()
	if runtime.GOARCH == "arm64" {
		t.Skip("this is the other processor already")
	}
	for _, name := range []string{"qemu-aarch64-static", "qemu-aarch64"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("needs qemu-aarch64, of the package qemu-user, which is not installed")
	return ""
}

// TestAnotherProcessorFindsTheSame has bundles of this processor verified on arm64,
// under an emulator: the hashes, the signatures, and the execution.
func TestAnotherProcessorFindsTheSame(t *testing.T) {
	emulator := emulator(t)
	root, err := nodetest.Root()
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(t.TempDir(), "wharf-arm64")
	build := exec.Command("go", "build", "-o", binary, "./cmd/wharf")
	build.Dir = root
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=arm64")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building for arm64: %v\n%s", err, out)
	}
	c := newClient(builder.StartWith(t, nodetest.Options{Args: scripted(t)}))
	for _, task := range record(t, c) {
		if strings.HasSuffix(task.name, "work-go") && !long() {
			continue // compiling it takes an emulated processor half a minute
		}
		t.Run(task.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "run.zip")
			put(t, file, string(c.bundle(t, task.id)))
			code, out := execute(t, exec.CommandContext(t.Context(), emulator, binary, "verify", file))
			if code != 0 || !strings.Contains(out, "rerun") {
				t.Errorf("on arm64: exit code %d\n%s", code, out)
			}
		})
	}
}
