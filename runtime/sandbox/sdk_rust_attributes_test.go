package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// attributes is a folder with the crate of the attributes, and with as much of the SDK's as they need: neither cargo
// nor a crate of others has a part in it.
type attributes struct{ dir string }

func buildAttributes(t *testing.T) attributes {
	t.Helper()
	if _, err := os.Stat(debianBin + "/rustc"); err != nil {
		t.Skip("skipped: it needs Debian's rustc")
	}
	a := attributes{t.TempDir()}
	a.rustc(t, "../../sdk/rust/macros/src/lib.rs", "--crate-type=proc-macro", "--extern=proc_macro", "--crate-name=wharf_plugin_macros", "-Dwarnings")
	return a
}

// rustc compiles a source, and returns what is said of it.
func (a attributes) rustc(t *testing.T, source string, options ...string) string {
	t.Helper()
	out, err := a.command(t, source, options...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", source, err, out)
	}
	return string(out)
}

func (a attributes) command(t *testing.T, source string, options ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), debianBin+"/rustc", append(options, "--edition=2021", "--out-dir="+a.dir, "-L"+a.dir, filepath.FromSlash(source))...)
	cmd.Env = append(os.Environ(), "RUSTFLAGS=")
	return cmd
}

// sdk compiles what the attributes need of the SDK.
func (a attributes) sdk(t *testing.T, options ...string) {
	t.Helper()
	a.rustc(t, "testdata/entries_sdk.rs", append(options, "--crate-type=rlib", "--crate-name=wharf", "--extern=wharf_plugin_macros")...)
}

// TestRustAttributesExport builds functions of many forms for each target, and calls what they have become.
func TestRustAttributesExport(t *testing.T) {
	a := buildAttributes(t)
	want := []string{"made", "named_as_what_the_macros_use", "normalize", "of.any-name", "of_an_item", "run"}
	for _, target := range []string{"wasm32-unknown-unknown", "wasm32-wasi"} {
		t.Run(target, func(t *testing.T) {
			if _, err := os.Stat("/usr/lib/rustlib/" + target); err != nil {
				t.Skip("skipped: it needs libstd-rust-dev-wasm32")
			}
			a.sdk(t, "--target="+target)
			a.rustc(t, "testdata/entries.rs", "--target="+target, "--crate-type=cdylib", "--extern=wharf", "-Cpanic=abort")
			m := compile(t, newRuntime(t, Config{}), []byte(fileText(t, filepath.Join(a.dir, "entries.wasm"))))
			if !slices.Equal(m.Exports(), want) {
				t.Errorf("it exports %q", m.Exports())
			}
			for _, export := range want {
				if _, err := m.Run(t.Context(), export, newTask(t, `"Ada"`), Limits{}); err != nil {
					t.Errorf("%s: %v", export, err)
				}
			}
		})
	}
	t.Run("tests", func(t *testing.T) { // where exports of programs would be those of the C library
		a.sdk(t)
		a.rustc(t, "testdata/entries.rs", "--test", "--extern=wharf")
	})
}

// TestRustAttributesRefuse compiles what is no function of a plugin's: each mistake is told in its place, and nothing else is.
func TestRustAttributesRefuse(t *testing.T) {
	const source = "testdata/entries_refused.rs"
	a := buildAttributes(t)
	a.sdk(t)
	out, err := a.command(t, source, "--crate-type=cdylib", "--extern=wharf", "--error-format=short").CombinedOutput()
	if _, failed := errors.AsType[*exec.ExitError](err); !failed {
		t.Fatalf("it ends with %v:\n%s", err, out)
	}
	found := map[string]string{}
	for _, said := range regexp.MustCompile(`(?m)^\S+\.rs:(\d+:\d+): error(?:\[\w+\])?: (.*)$`).FindAllStringSubmatch(string(out), -1) {
		found[said[1]] += said[2]
	}
	expected := 0
	for i, l := range strings.Split(fileText(t, source), "\n") {
		code, comment, _ := strings.Cut(l, " // ")
		word, says, _ := strings.Cut(comment, ": ")
		if says == "" {
			continue
		}
		expected++
		at := fmt.Sprintf("%d:%d", i+1, strings.Index(code, word)+1)
		if !strings.HasPrefix(found[at], says) {
			t.Errorf("%s, of %s: %q, want %q", at, code, found[at], says)
		}
	}
	if len(found) != expected {
		t.Errorf("%d mistakes are told, want %d:\n%s", len(found), expected, out)
	}
}
