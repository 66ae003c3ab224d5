// Command rebuild builds the guests from their sources. It runs in the folder of package
// guests:
//
//	go generate ./benches/internal/guests
//
// It needs Go, and clang with wasm-ld.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/klauspost/compress/zstd"
)

func main() {
	if err := errors.Join(buildC("kernels.c", "c.wasm"), buildC("extism.c", "extism.wasm"), buildGo()); err != nil {
		fmt.Fprintln(os.Stderr, "rebuild:", err)
		os.Exit(1)
	}
}

func buildC(source, wasm string) error {
	return run("src", nil, "clang", "--target=wasm32", "-O2", "-ffreestanding", "-nostdlib", "-Wall", "-Werror",
		"-Wl,--no-entry,--strip-all,-z,stack-size=8192", source, "-o", filepath.Join("../wasm", wasm))
}

// buildGo builds the plugin in Go, and compresses it.
func buildGo() error {
	dir, err := os.MkdirTemp("", "guests")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "golang.wasm")
	env := []string{"GOOS=wasip1", "GOARCH=wasm", "GOWASM=", "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS="}
	if err := run("src/golang", env, "go", "build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false",
		"-ldflags=-s -w -buildid=", "-o", out); err != nil {
		return err
	}
	wasm, err := os.ReadFile(out)
	if err != nil {
		return err
	}
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		return err
	}
	return os.WriteFile("wasm/golang.wasm.zst", encoder.EncodeAll(wasm, nil), 0o644)
}

func run(dir string, env []string, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("running %s: %w\n%s", name, err, out)
	}
	return nil
}
