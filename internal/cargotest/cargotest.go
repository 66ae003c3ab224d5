package cargotest

import (
	"os"
	"path/filepath"
	"testing"
)

const crates = "/usr/share/cargo/registry"

// UseDebiansCrates has cargo take crates from where Debian's packages put them, and ask no registry. It skips the
// test where they are not installed.
func UseDebiansCrates(t testing.TB) {
	t.Helper()
	if found, err := filepath.Glob(crates + "/serde_json-*"); err != nil || len(found) == 0 {
		t.Skip("librust-serde-dev and librust-serde-json-dev are not installed")
	}
	useCrates(t, crates)
}

// useCrates has cargo take crates from a folder.
func useCrates(t testing.TB, folder string) {
	t.Helper()
	home := t.TempDir()
	config := "[source.crates-io]\nreplace-with = \"debian\"\n[source.debian]\ndirectory = \"" + folder + "\"\n"
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CARGO_HOME", home)
}
