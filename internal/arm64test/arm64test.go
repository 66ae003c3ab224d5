package arm64test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// Emulator finds a program that runs binaries for arm64. It skips the test where there
// is none, and on arm64, where the test would find nothing new.
func Emulator(t testing.TB) string {
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

// TestBinary builds the tests of the package that is being tested, for arm64.
func TestBinary(t testing.TB) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "arm64.test")
	Build(t, ".", "test", "-c", "-o", binary, ".")
	return binary
}

// Build runs the go command for arm64 in a folder, with the flags of the environment: a fault
// that is planted is one of them.
func Build(t testing.TB, dir string, args ...string) {
	t.Helper()
	build := exec.CommandContext(t.Context(), "go", args...)
	build.Dir = dir
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=arm64")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building for arm64: %v\n%s", err, out)
	}
}
