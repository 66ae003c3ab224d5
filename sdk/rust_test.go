package sdk

import (
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/internal/cargotest"
	"github.com/wharf-dev/wharf/internal/share"
)

// The two crates are taken as they are by "cargo package": that of the attributes first, for the other names a version
// of it, which the registry has by then. Each has its license and its page, and nothing that is no part of it.
func TestCargoPackage(t *testing.T) {
	if os.Getenv("WHARF_LONG") == "" {
		t.Skip("compiles both crates: set WHARF_LONG=1 to run it")
	}
	share.Quarter(t, 1)
	cargo, err := exec.LookPath("cargo")
	if err != nil {
		t.Skip("cargo is not installed")
	}
	cargotest.UseDebiansCrates(t)
	t.Setenv("CARGO_TARGET_DIR", t.TempDir())
	folder := t.TempDir() // cargo writes beside the sources
	if err := os.CopyFS(folder, os.DirFS("rust")); err != nil {
		t.Fatal(err)
	}
	macros := packaged(t, cargo, filepath.Join(folder, "macros"), "wharf-plugin-macros-0.1.0")
	wantSources(t, macros, "rust/macros", "src")
	macros.Publish(t)
	wantSources(t, packaged(t, cargo, folder, "wharf-plugin-0.1.0"), "rust", "src", "examples")
}

// packaged makes a crate's package, which cargo builds to see that it is whole.
func packaged(t *testing.T, cargo, folder, name string) *cargotest.Crate {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), cargo, "package", "--offline")
	cmd.Dir = folder
	said, err := cmd.CombinedOutput()
	if err != nil || strings.Contains(string(said), "warning") {
		t.Fatalf("%s: %v\n%s", name, err, said)
	}
	return cargotest.ReadCrate(t, filepath.Join(os.Getenv("CARGO_TARGET_DIR"), "package", name+".crate"))
}

// wantSources fails unless a package is what lies in some folders, and what every package has.
func wantSources(t *testing.T, c *cargotest.Crate, root string, folders ...string) {
	t.Helper()
	want := []string{"Cargo.toml", "Cargo.toml.orig", "LICENSE", "README.md"}
	for _, folder := range folders {
		err := fs.WalkDir(os.DirFS(root), folder, func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				want = append(want, name)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(want)
	delete(c.Files, "Cargo.lock") // which some cargos put into every package
	if got := slices.Sorted(maps.Keys(c.Files)); !slices.Equal(got, want) {
		t.Errorf("%s has %q, want %q", c.Name, got, want)
	}
	license, err := os.ReadFile("../LICENSE")
	if err != nil || c.Files["LICENSE"] != string(license) {
		t.Errorf("%s has another license than the project, %v", c.Name, err)
	}
}
