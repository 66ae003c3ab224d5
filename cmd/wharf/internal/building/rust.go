package building

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

const (
	wasmTarget = "wasm32-unknown-unknown"
	wasiTarget = "wasm32-wasip1"
	// oldWASITarget is what compilers before 1.78 call it.
	oldWASITarget = "wasm32-wasi"
	// bareTarget has no standard library.
	bareTarget = "wasm32v1-none"
)

// rustTools are a cargo and a rustc that can build for a target.
type rustTools struct{ cargo, rustc, target string }

// rust builds with cargo: for the target that cargo's own configuration names, or else for that which has no host.
func rust(ctx context.Context, p Project) (*Plan, error) {
	wanted, err := wantedTarget(p.Folder)
	if err != nil {
		return nil, err
	}
	tools, err := findRust(ctx, p.Folder, rustPairs(), wanted)
	if err != nil {
		return nil, err
	}
	version, err := ask(ctx, p.Folder, tools.rustc, "--version")
	if err != nil {
		return nil, err
	}
	plan := &Plan{Toolchain: line(version), program: tools.cargo, // The newest crates that the manifest's rust-version can be built with: cargo knows that since 1.84.
		Environment: []string{"CARGO_RESOLVER_INCOMPATIBLE_RUST_VERSIONS=fallback"},
		Command:     []string{"cargo", "build", "--release", "--target", tools.target, "--message-format", "json-render-diagnostics"}}
	if p.quick { // optimizing the whole program at its end takes most of a build, each time
		plan.Environment = append(plan.Environment, "CARGO_INCREMENTAL=1", "CARGO_PROFILE_RELEASE_LTO=off", "CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16")
	}
	if tools.rustc != lookFor("rustc") {
		plan.Environment = append(plan.Environment, "RUSTC="+tools.rustc)
	}
	var module string
	plan.find = func(stdout []byte) (_ string, err error) {
		module, err = wasmOf(p.Folder, stdout)
		return module, err
	}
	plan.reads = func(context.Context) ([]string, error) {
		rules, err := os.ReadFile(strings.TrimSuffix(module, filepath.Ext(module)) + ".d")
		if err != nil {
			return nil, fmt.Errorf("reading what cargo says the plugin is made of: %w", err)
		}
		return append(madeOf(string(rules)), slices.DeleteFunc(cargoConfigs(p.Folder), isNoFile)...), nil
	}
	return plan, nil
}

// wanted is a target that somebody has chosen, and where; nothing when nobody has.
type wanted struct{ target, where string }

// wantedTarget is the target that cargo would build for if it were told none, when that is WebAssembly: a plugin is
// built for no other, whatever somebody builds programs for.
func wantedTarget(folder string) (wanted, error) {
	w := wanted{os.Getenv("CARGO_BUILD_TARGET"), "the environment variable CARGO_BUILD_TARGET"}
	if w.target == "" {
		w = configuredTarget(folder)
	}
	switch {
	case !strings.HasPrefix(w.target, "wasm"):
		return wanted{}, nil
	case slices.Contains([]string{wasmTarget, wasiTarget, oldWASITarget, bareTarget}, w.target):
		return w, nil
	}
	return w, &CompileError{Output: fmt.Sprintf("%s names the target %s, and nodes run no modules of it: name %s or %s", w.where, w.target, wasmTarget, wasiTarget)}
}

// configuredTarget is what the nearest of cargo's configuration files says that says something.
func configuredTarget(folder string) wanted {
	for _, file := range cargoConfigs(folder) {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it is not there, or cargo will say why it cannot be read
		}
		var config struct {
			Build struct {
				Target any `toml:"target"`
			} `toml:"build"`
		}
		if toml.Unmarshal(text, &config) != nil {
			continue
		}
		if target := firstWasm(config.Build.Target); target != "" {
			return wanted{target, file}
		}
	}
	return wanted{}
}

// firstWasm is a target, or of several the first that is WebAssembly: cargo builds for all of them.
func firstWasm(target any) string {
	if one, ok := target.(string); ok {
		return one
	}
	several, _ := target.([]any)
	first := ""
	for _, each := range several {
		if one, ok := each.(string); ok && (first == "" || strings.HasPrefix(one, "wasm") && !strings.HasPrefix(first, "wasm")) {
			first = one
		}
	}
	return first
}

// cargoConfigs are where cargo looks for configuration files when it works in a folder, the nearest first.
func cargoConfigs(folder string) (files []string) {
	in := func(dir string) {
		files = append(files, filepath.Join(dir, "config"), filepath.Join(dir, "config.toml"))
	}
	for {
		in(filepath.Join(folder, ".cargo"))
		up := filepath.Dir(folder)
		if up == folder {
			break
		}
		folder = up
	}
	if home := os.Getenv("CARGO_HOME"); home != "" {
		in(home)
	} else if home, err := os.UserHomeDir(); err == nil {
		in(filepath.Join(home, ".cargo"))
	}
	return files
}

func isNoFile(path string) bool {
	info, err := os.Stat(path)
	return err != nil || !info.Mode().IsRegular()
}

// findRust finds a cargo and a rustc that has the standard library of a target. When nobody has chosen a target, it is
// one that something can build for.
func findRust(ctx context.Context, folder string, pairs []rustTools, w wanted) (rustTools, error) {
	targets := []string{wasmTarget, wasiTarget, oldWASITarget}
	switch w.target {
	case "":
	case wasiTarget:
		targets = []string{wasiTarget, oldWASITarget}
	case oldWASITarget:
		targets = []string{oldWASITarget, wasiTarget}
	default:
		targets = []string{w.target}
	}
	for _, target := range targets {
		for _, pair := range pairs {
			if hasTarget(ctx, folder, pair.rustc, target) {
				pair.target = target
				return pair, nil
			}
		}
	}
	return rustTools{}, missingRust(ctx, folder, pairs, targets, w)
}

// rustPairs are the compilers that there are: those on the path, and those of the system, which one from elsewhere
// may hide.
func rustPairs() (pairs []rustTools) {
	for _, names := range [][2]string{{"cargo", "rustc"}, {"/usr/bin/cargo", "/usr/bin/rustc"}} {
		pair := rustTools{cargo: lookFor(names[0]), rustc: lookFor(names[1])}
		if pair.cargo != "" && pair.rustc != "" && !slices.Contains(pairs, pair) {
			pairs = append(pairs, pair)
		}
	}
	return pairs
}

// missingRust says what is missing, and how it is had: by the name that the compiler has for the target.
func missingRust(ctx context.Context, folder string, pairs []rustTools, targets []string, w wanted) *Missing {
	target, why := targets[0], "Rust is not installed: there is no program cargo"
	if len(pairs) > 0 {
		last := pairs[len(pairs)-1]
		known, err := ask(ctx, folder, last.rustc, "--print", "target-list")
		if i := slices.IndexFunc(targets, func(t string) bool { return slices.Contains(strings.Fields(string(known)), t) }); err == nil && i >= 0 {
			target = targets[i]
		}
		why = fmt.Sprintf("%s cannot build for %s", last.rustc, target)
	}
	if w.target != "" {
		why += fmt.Sprintf(" (%s names the target)", w.where)
	}
	get := onPlatform(ways{
		debian: "apt install cargo rustc libstd-rust-dev-wasm32", fedora: "dnf install cargo rust-std-static-" + target, arch: "pacman -S rust rust-wasm",
		alpine: "apk add cargo rust-wasm", other: "rustup from rustup.rs",
	})
	if get[0] == "" {
		get[0] = "rustup from rustup.rs"
	}
	byRustup := "rustup target add " + target
	if lookFor("rustup") != "" {
		return &Missing{What: why, Get: append([]string{byRustup}, get...)}
	}
	return &Missing{What: why, Get: append(get, "or, with rustup, "+byRustup)}
}

func hasTarget(ctx context.Context, folder, rustc, target string) bool {
	dir, err := ask(ctx, folder, rustc, "--print", "target-libdir", "--target", target)
	if err != nil {
		return false
	}
	libraries, err := filepath.Glob(filepath.Join(line(dir), "libcore-*.rlib"))
	return err == nil && len(libraries) > 0
}
