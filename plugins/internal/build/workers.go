package build

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	workers   = "plugintest/src/workers"
	assembler = "./node_modules/.bin/asc" // in the folder of the workers
)

// WorkerRecipes returns how to build the plugins of package workers: one plugin in several
// languages.
func WorkerRecipes() []Recipe {
	golang := goRecipe("work-go", "1.0.0")
	golang.dir, golang.sources = workers+"/work-go", []string{workers + "/work-go", "../sdk/go"}
	c := clangRecipe("work-c", workers, "work.c", 8192)
	c.sources = append(c.sources, "plugintest/src/guest.h")
	return []Recipe{
		{
			Name: "work-as", Version: "1.0.0", dir: workers,
			sources: []string{workers + "/work.ts", workers + "/package-lock.json"},
			command: []string{assembler, "work.ts", "-O", "--noAssert", "--runtime", "incremental", "--use", "abort=", "-o"},
			tool:    assemblyScriptVersion,
		},
		c,
		golang,
		{
			Name: "work-rust", Version: "1.0.0", dir: workers,
			sources: []string{workers + "/work.rs"},
			command: []string{"rustc", "--edition=2024", "--target=wasm32-wasip1", "--crate-type=cdylib", "-Copt-level=z", "-Clto",
				"-Cpanic=abort", "-Cstrip=symbols", "-Ccodegen-units=1", "work.rs", "-o"},
			tool: rustVersion,
		},
		{
			Name: "work-wat", Version: "1.0.0", dir: workers,
			sources: []string{workers + "/work.wat"},
			command: []string{"wat2wasm", "work.wat", "-o"},
			tool: func(ctx context.Context, _ string) (string, error) {
				version, err := firstLine(ctx, "wat2wasm", "--version")
				return "wat2wasm " + version, err
			},
		},
	}
}

func assemblyScriptVersion(ctx context.Context, plugins string) (string, error) {
	asc, err := filepath.Abs(filepath.Join(plugins, workers, assembler))
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(asc); err != nil {
		return "", fmt.Errorf("asc, which npm ci in %s installs: %w", workers, ErrNoTool)
	}
	version, err := firstLine(ctx, asc, "--version")
	return "AssemblyScript " + strings.TrimPrefix(version, "Version "), err
}

// rustVersion is an error also where rustc has not the standard library for WASI, or is
// rustup's stand-in for a toolchain that is not installed.
func rustVersion(ctx context.Context, _ string) (string, error) {
	root, err := firstLine(ctx, "rustc", "--print", "sysroot")
	if _, refused := errors.AsType[*exec.ExitError](err); refused {
		return "", fmt.Errorf("a toolchain of rustc: %w", ErrNoTool)
	}
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(filepath.Join(root, "lib", "rustlib", "wasm32-wasip1")); err != nil {
		return "", fmt.Errorf("the target wasm32-wasip1 of rustc: %w", ErrNoTool)
	}
	return firstLine(ctx, "rustc", "--version")
}

// firstLine runs a program and returns the first line that it writes. The error is
// ErrNoTool when there is no such program.
func firstLine(ctx context.Context, program string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, program, args...).Output()
	if errors.Is(err, exec.ErrNotFound) {
		return "", fmt.Errorf("%s: %w", program, ErrNoTool)
	}
	if err != nil {
		return "", fmt.Errorf("asking %s for its version: %w", program, err)
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return strings.TrimSpace(line), nil
}
