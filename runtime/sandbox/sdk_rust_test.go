package sandbox

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/internal/share"
)

// debianBin is where Debian's packages have their programs: another cargo may come first in the path.
const debianBin = "/usr/bin"

// crates is the folder of a plugin's crate, that of docs/sdk-rust.md, with a copy of the SDK's in it.
// Cargo works there by itself: with Debian's rustc and crates, and no network.
type crates struct {
	dir string
	env []string
}

// copyCrates makes the folder. The SDK's crate has more examples, by their names.
func copyCrates(t *testing.T, examples map[string]string) crates {
	t.Helper()
	for _, needed := range []string{debianBin + "/rustc", debianBin + "/cargo", "/usr/share/cargo/registry/serde_json-*", "/usr/lib/rustlib/wasm32-unknown-unknown", "/usr/lib/rustlib/wasm32-wasi"} {
		if found, _ := filepath.Glob(needed); len(found) == 0 {
			t.Skipf("skipped: %s is missing: it needs Debian's rustc, cargo, libstd-rust-dev-wasm32, librust-serde-dev and librust-serde-json-dev", needed)
		}
	}
	dir := t.TempDir()
	sdk := filepath.Join(dir, "wharf-plugin")
	for _, folder := range []string{"src", "examples", "macros"} {
		if err := os.CopyFS(filepath.Join(sdk, folder), os.DirFS(filepath.Join("../../sdk/rust", folder))); err != nil {
			t.Fatal(err)
		}
	}
	manifest := fileText(t, "../../sdk/rust/Cargo.toml")
	for name, text := range examples {
		manifest += "\n[[example]]\nname = \"" + name + "\"\ncrate-type = [\"cdylib\"]\n"
		writeText(t, filepath.Join(sdk, "examples", name+".rs"), text)
	}
	writeText(t, filepath.Join(sdk, "Cargo.toml"), manifest)
	page := blocks(t, "../../docs/sdk-rust.md", "toml")
	writeText(t, filepath.Join(dir, "Cargo.toml"), page[0])
	writeText(t, filepath.Join(dir, ".cargo", "config.toml"), page[1])
	writeText(t, filepath.Join(dir, "src", "lib.rs"), blocks(t, "../../docs/sdk-rust.md", "rust")[0])
	return crates{dir, []string{
		"CARGO_HOME=" + filepath.Join(dir, "home"), "CARGO_TARGET_DIR=" + filepath.Join(dir, "target"), "RUSTFLAGS=", "RUSTDOCFLAGS=",
		"RUSTC=" + debianBin + "/rustc", "RUSTDOC=" + debianBin + "/rustdoc",
	}}
}

func writeText(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// cargo runs cargo in a folder of it. A warning is an error.
func (c crates) cargo(t *testing.T, folder string, arguments ...string) {
	t.Helper()
	command := append([]string{debianBin + "/cargo", arguments[0], "--offline"}, arguments[1:]...)
	if out := said(t, filepath.Join(c.dir, folder), c.env, command...); strings.Contains(out, "warning") {
		t.Errorf("it has warnings:\n%s", out)
	}
}

// rustTargets are those that plugins are built for, as Debian's compiler calls them, with what the standard library
// imports of WASI.
func rustTargets() map[string][]string {
	return map[string][]string{
		"wasm32-unknown-unknown": nil,
		"wasm32-wasi":            {"environ_get", "environ_sizes_get", "fd_write", "proc_exit"},
	}
}

// wasm returns what was built for a target, by its path below the target's folder.
func (c crates) wasm(t *testing.T, target, path string) []byte {
	t.Helper()
	return []byte(fileText(t, filepath.Join(c.dir, "target", target, "debug", path+".wasm")))
}

// wasiImports are the functions of WASI that a module imports.
func wasiImports(wasm []byte) (names []string) {
	for _, found := range regexp.MustCompile(`wasi_snapshot_preview1.([a-z_]+)\x00`).FindAllSubmatch(wasm, -1) {
		names = append(names, string(found[1]))
	}
	slices.Sort(names)
	return names
}

// TestRust runs what the crate tests of itself and of its documentation, and its plugins in the
// sandbox: a plugin is the same for each target.
func TestRust(t *testing.T) {
	if os.Getenv("WHARF_LONG") == "" {
		t.Skip("compiles for a minute: set WHARF_LONG=1")
	}
	c := copyCrates(t, map[string]string{"everything": fileText(t, "testdata/everything.rs"), "panics": rustPanics})
	c.cargo(t, ".", "test")
	c.cargo(t, "wharf-plugin", "test", "--lib")
	c.cargo(t, "wharf-plugin", "test", "--doc")
	c.cargo(t, "wharf-plugin", "doc", "--no-deps")
	for target, imports := range rustTargets() {
		t.Run(target, func(t *testing.T) {
			if target != "wasm32-unknown-unknown" {
				share.Quarter(t, 3)
			}
			c.cargo(t, ".", "build", "--target", target)
			c.cargo(t, "wharf-plugin", "build", "--examples", "--target", target)
			checkRust(t, c, target, imports)
		})
	}
}

func checkRust(t *testing.T, c crates, target string, imports []string) {
	t.Run("greet", func(t *testing.T) {
		wasm := c.wasm(t, target, "examples/greet")
		checkGreets(t, wasm, abi.CallInput, abi.CallLog, abi.CallMessageAppend, abi.CallOutput)
		if got := wasiImports(wasm); !slices.Equal(got, imports) {
			t.Errorf("it imports %q of WASI", got)
		}
	})
	t.Run("documented", func(t *testing.T) { checkCounts(t, c.wasm(t, target, "greet")) })
	t.Run("everything", func(t *testing.T) {
		compareTraces(t, callsOf(t, c.wasm(t, target, "examples/everything")), callsOf(t, buildWithSDK(t, everything)))
	})
	t.Run("panics", func(t *testing.T) {
		h := newTask(t, `"Ada"`)
		_, err := compile(t, newRuntime(t, Config{}), c.wasm(t, target, "examples/panics")).Run(t.Context(), abi.DefaultExport, h, Limits{})
		checkFailure(t, err, abi.FailurePluginTrap, "unreachable")
		if f := h.output.Failure; f == nil || f.Code != "plugin_panic" || !strings.HasPrefix(f.Message, "the plugin panicked: no Ada here at examples/panics.rs:") {
			t.Errorf("it ends with %+v", f)
		}
	})
}

// rustPanics is a plugin that ends by a panic.
const rustPanics = `#[wharf::main]
fn panics(task: &wharf::Task) -> wharf::Result<wharf::Outcome> {
    panic!("no {} here", task.text())
}
`
