package building

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const manifestRust = "name = \"hello\"\nversion = \"1.0.0\"\nkind = \"persona\"\nlanguage = \"rust\"\nentry = \"src/lib.rs\"\n"

// playRust puts a cargo and a rustc first on the path: the compiler knows some targets, and has the standard library
// of others. Cargo makes a program and a module of nothing. No configuration of cargo's is there but what a test writes.
func playRust(t *testing.T, known, installed string) rustTools {
	t.Helper()
	bin := t.TempDir()
	for target := range strings.FieldsSeq(installed) {
		write(t, filepath.Join(bin, target, "libcore-1.rlib"), "")
	}
	runnable(t, filepath.Join(bin, "rustc"), `#!/bin/sh
case "$2" in
target-libdir) case " `+known+` " in *" $4 "*) echo "`+bin+`/$4" ;; *) exit 1 ;; esac ;;
target-list) printf '%s\n' `+known+` ;;
*) echo "rustc 1.0.0" ;;
esac
`)
	runnable(t, filepath.Join(bin, "cargo"), `#!/bin/sh
to=$(pwd)/target/$4
mkdir -p "$to"
printf '\0asm\1\0\0\0' >"$to/hello.wasm"
echo "$to/hello.wasm: $(pwd)/src/lib.rs" >"$to/hello.d"
artifact() { printf '{"reason":"compiler-artifact","manifest_path":"%s/Cargo.toml","target":{"crate_types":["%s"]},"filenames":["%s"]}\n' "$(pwd)" "$1" "$2"; }
artifact bin "$to/program.wasm"
artifact cdylib "$to/hello.wasm"
`)
	t.Setenv("PATH", strings.Join([]string{bin, "/usr/bin", "/bin"}, string(filepath.ListSeparator)))
	t.Setenv("CARGO_HOME", filepath.Join(bin, "home"))
	t.Setenv("CARGO_BUILD_TARGET", "")
	return rustTools{cargo: filepath.Join(bin, "cargo"), rustc: filepath.Join(bin, "rustc")}
}

const (
	newTargets = "x86_64-unknown-linux-gnu wasm32-unknown-unknown wasm32-wasip1 wasm32-wasip2 wasm32v1-none"
	oldTargets = "x86_64-unknown-linux-gnu wasm32-unknown-unknown wasm32-wasi"
)

// configured is a configuration file of cargo's that names a target.
func configured(target string) string { return "[build]\ntarget = " + target + "\n" }

// The target is what cargo would build for, where that is WebAssembly, by whichever name the compiler has for it; and
// else the one that is there.
func TestWhichTargetRustIsBuiltFor(t *testing.T) {
	const within, around, old, home = "hello/.cargo/config.toml", ".cargo/config.toml", "hello/.cargo/config", "home/config.toml"
	for name, c := range map[string]struct {
		known, installed string
		files            map[string]string
		env              string
		want             string
	}{
		"nothing is said":                   {newTargets, newTargets, nil, "", wasmTarget},
		"nothing, and only WASI is there":   {newTargets, "wasm32-wasip1", nil, "", wasiTarget},
		"nothing, WASI of an old compiler":  {oldTargets, "wasm32-wasi", nil, "", oldWASITarget},
		"in the folder":                     {newTargets, newTargets, map[string]string{within: configured(`"wasm32-wasip1"`)}, "", wasiTarget},
		"in the file of old":                {newTargets, newTargets, map[string]string{old: configured(`"wasm32-wasip1"`)}, "", wasiTarget},
		"in a folder around it":             {newTargets, newTargets, map[string]string{around: configured(`"wasm32-wasip1"`)}, "", wasiTarget},
		"in cargo's home":                   {newTargets, newTargets, map[string]string{home: configured(`"wasm32-wasip1"`)}, "", wasiTarget},
		"the nearest counts":                {newTargets, newTargets, map[string]string{within: configured(`"wasm32-unknown-unknown"`), around: configured(`"wasm32-wasip1"`)}, "", wasmTarget},
		"the nearest that says something":   {newTargets, newTargets, map[string]string{within: "[net]\noffline = true\n", around: configured(`"wasm32-wasip1"`)}, "", wasiTarget},
		"the environment counts for more":   {newTargets, newTargets, map[string]string{within: configured(`"wasm32-unknown-unknown"`)}, "wasm32-wasip1", wasiTarget},
		"the new name, and an old compiler": {oldTargets, oldTargets, map[string]string{within: configured(`"wasm32-wasip1"`)}, "", oldWASITarget},
		"the old name, and a new compiler":  {newTargets, newTargets, map[string]string{within: configured(`"wasm32-wasi"`)}, "", wasiTarget},
		"without a standard library":        {newTargets, newTargets, map[string]string{within: configured(`"wasm32v1-none"`)}, "", bareTarget},
		"no WebAssembly":                    {newTargets, newTargets, map[string]string{home: configured(`"x86_64-unknown-linux-musl"`)}, "", wasmTarget},
		"several":                           {newTargets, newTargets, map[string]string{within: configured(`["x86_64-unknown-linux-gnu", "wasm32-wasip1"]`)}, "", wasiTarget},
		"nothing of the kind":               {newTargets, newTargets, map[string]string{within: configured(`7`)}, "", wasmTarget},
		"a file that cargo will refuse":     {newTargets, newTargets, map[string]string{within: "[build"}, "", wasmTarget},
		"a target of components": {newTargets, newTargets, map[string]string{within: configured(`"wasm32-wasip2"`)}, "",
			"hello/.cargo/config.toml names the target wasm32-wasip2, and nodes run no modules of it: name wasm32-unknown-unknown or wasm32-wasip1"},
		"the same, in the environment": {newTargets, newTargets, nil, "wasm32-unknown-emscripten",
			"the environment variable CARGO_BUILD_TARGET names the target wasm32-unknown-emscripten, and nodes run no modules of it: name wasm32-unknown-unknown or wasm32-wasip1"},
	} {
		t.Run(name, func(t *testing.T) {
			tools := playRust(t, c.known, c.installed)
			root := t.TempDir()
			t.Setenv("CARGO_HOME", filepath.Join(root, "home"))
			t.Setenv("CARGO_BUILD_TARGET", c.env)
			for file, text := range c.files {
				write(t, filepath.Join(root, file), text)
			}
			folder := filepath.Join(root, "hello")
			write(t, filepath.Join(folder, "Cargo.toml"), "")
			got := ""
			w, err := wantedTarget(folder)
			if err == nil {
				tools, err = findRust(t.Context(), folder, []rustTools{tools}, w)
				got = tools.target
			}
			if err != nil {
				got = strings.TrimPrefix(err.Error(), root+"/")
			}
			if got != c.want {
				t.Errorf("it is %s, want %s", got, c.want)
			}
		})
	}
}

// One compiler has the target that another, which comes first, has not.
func TestTheCompilerThatHasTheTarget(t *testing.T) {
	second := playRust(t, newTargets, "wasm32-unknown-unknown wasm32-wasip1")
	first := playRust(t, newTargets, "wasm32-wasip1")
	for target, want := range map[string]rustTools{"": second, wasmTarget: second, wasiTarget: first} {
		got, err := findRust(t.Context(), t.TempDir(), []rustTools{first, second}, wanted{target, "a file"})
		if err != nil || got.rustc != want.rustc {
			t.Errorf("%q is built with %+v, %v", target, got, err)
		}
	}
}

// What is missing is told by the name that the compiler has for it.
func TestAMissingTargetSaysHowToGetIt(t *testing.T) {
	for _, c := range []struct {
		known, wanted, what, get string
	}{
		{newTargets, "", "rustc cannot build for wasm32-unknown-unknown", "rustup target add wasm32-unknown-unknown"},
		{newTargets, wasiTarget, "rustc cannot build for wasm32-wasip1 (a file names the target)", "rustup target add wasm32-wasip1"},
		{newTargets, oldWASITarget, "rustc cannot build for wasm32-wasip1 (a file names the target)", "rustup target add wasm32-wasip1"},
		{oldTargets, wasiTarget, "rustc cannot build for wasm32-wasi (a file names the target)", "rustup target add wasm32-wasi"},
	} {
		tools := playRust(t, c.known, "x86_64-unknown-linux-gnu")
		_, err := findRust(t.Context(), t.TempDir(), []rustTools{tools}, wanted{c.wanted, "a file"})
		missing, ok := errors.AsType[*Missing](err)
		if !ok || !strings.HasSuffix(missing.What, c.what) || !slices.ContainsFunc(missing.Get, func(get string) bool { return strings.HasSuffix(get, c.get) }) {
			t.Errorf("%s is missing: %v, %v", c.wanted, err, missing)
		}
	}
	_, err := findRust(t.Context(), t.TempDir(), nil, wanted{})
	if missing, ok := errors.AsType[*Missing](err); !ok || missing.What != "Rust is not installed: there is no program cargo" || missing.Get[0] == "" {
		t.Errorf("without Rust: %v", err)
	}
}

// What is built quickly is not taken for what is built with care.
func TestAQuickBuildIsAnother(t *testing.T) {
	playRust(t, newTargets, newTargets)
	p := project(t, manifestRust, map[string]string{"src/lib.rs": "", "Cargo.toml": ""})
	quick := func() *Built {
		built, err := Build(t.Context(), p, Options{Quick: true})
		if err != nil {
			t.Fatal(err)
		}
		return built
	}
	if built := quick(); built.Cached || !strings.Contains(built.Shown(), " CARGO_PROFILE_RELEASE_LTO=off ") {
		t.Errorf("the first build was %s", built.Shown())
	}
	if !quick().Cached {
		t.Error("it is built quickly again, and nothing has changed")
	}
	if built := build(t, p); built.Cached || strings.Contains(built.Shown(), "LTO") {
		t.Errorf("after a quick build it was %s", built.Shown())
	}
}

// The module is that of the library, and a change of what cargo is told makes for another.
func TestRustIsBuiltAsCargoIsTold(t *testing.T) {
	playRust(t, newTargets, newTargets)
	p := project(t, manifestRust, map[string]string{"src/lib.rs": "", "Cargo.toml": "", ".cargo/config.toml": configured(`"wasm32-wasip1"`)})
	if built := build(t, p); !strings.Contains(built.Shown(), "cargo build --release --target wasm32-wasip1 ") || built.Cached {
		t.Errorf("the first build was %s", built.Shown())
	}
	if !build(t, p).Cached {
		t.Error("it is built again, and nothing has changed")
	}
	write(t, filepath.Join(p.Folder, ".cargo/config.toml"), configured(`"wasm32-wasip1"`)+"rustflags = [\"-Ctarget-feature=+bulk-memory\"]\n")
	if build(t, p).Cached {
		t.Error("the flags have changed, and nothing was built")
	}
}
