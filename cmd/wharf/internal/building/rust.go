package building

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const wasmTarget = "wasm32-unknown-unknown"

// rust builds with cargo, for the target that has no host.
func rust(ctx context.Context, p Project) (*Plan, error) {
	cargo, rustc, err := findRust(ctx, p.Folder)
	if err != nil {
		return nil, err
	}
	version, err := ask(ctx, p.Folder, rustc, "--version")
	if err != nil {
		return nil, err
	}
	plan := &Plan{Toolchain: line(version), program: cargo, // The newest crates that the manifest's rust-version can be built with: cargo knows that since 1.84.
		Environment: []string{"CARGO_RESOLVER_INCOMPATIBLE_RUST_VERSIONS=fallback"},
		Command:     []string{"cargo", "build", "--release", "--target", wasmTarget, "--message-format", "json-render-diagnostics"}}
	if p.quick {
		plan.Environment = append(plan.Environment, "CARGO_PROFILE_RELEASE_LTO=off", "CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16", "CARGO_PROFILE_RELEASE_INCREMENTAL=true",
			"CARGO_TARGET_DIR="+filepath.Join(cmp.Or(os.Getenv("CARGO_TARGET_DIR"), "target"), "dev")) // of its own, or each of the two would have the other compile all crates anew
	}
	if rustc != lookFor("rustc") {
		plan.Environment = append(plan.Environment, "RUSTC="+rustc)
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
		return madeOf(string(rules)), nil
	}
	return plan, nil
}

// findRust finds a cargo and a rustc that has the standard library of the target: those on the path,
// or those of the system when one from elsewhere hides them.
func findRust(ctx context.Context, folder string) (cargo, rustc string, err error) {
	get := onPlatform(ways{
		debian: "apt install cargo rustc libstd-rust-dev-wasm32", fedora: "dnf install cargo rust-std-static-wasm32-unknown-unknown", arch: "pacman -S rust rust-wasm",
		alpine: "apk add cargo rust-wasm", other: "rustup from rustup.rs",
	})
	byRustup := "rustup target add " + wasmTarget
	if get[0] == "" {
		get[0] = "rustup from rustup.rs"
	}
	why := "Rust is not installed: there is no program cargo"
	for _, pair := range [][2]string{{"cargo", "rustc"}, {"/usr/bin/cargo", "/usr/bin/rustc"}} {
		cargo, rustc = lookFor(pair[0]), lookFor(pair[1])
		if cargo == "" || rustc == "" {
			continue
		}
		if hasTarget(ctx, folder, rustc) {
			return cargo, rustc, nil
		}
		why = fmt.Sprintf("%s cannot build for %s", rustc, wasmTarget)
	}
	if lookFor("rustup") != "" {
		get = append([]string{byRustup}, get...)
	} else {
		get = append(get, "or, with rustup, "+byRustup)
	}
	return "", "", &Missing{What: why, Get: get}
}

func hasTarget(ctx context.Context, folder, rustc string) bool {
	dir, err := ask(ctx, folder, rustc, "--print", "target-libdir", "--target", wasmTarget)
	if err != nil {
		return false
	}
	libraries, err := filepath.Glob(filepath.Join(line(dir), "libcore-*.rlib"))
	return err == nil && len(libraries) > 0
}
