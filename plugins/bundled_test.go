package plugins

import (
	"bytes"
	"errors"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/plugins/internal/build"
)

// TestBundledIsWhatIsLocked holds that each embedded module is the one that the
// lock file describes.
func TestBundledIsWhatIsLocked(t *testing.T) {
	for _, p := range Bundled() {
		if got := build.Hash(p.Wasm()); got != p.Digest {
			t.Errorf("%s: the embedded module has the hash %s, bundled.lock says %s", p.Name, got, p.Digest)
		}
	}
}

// TestSourcesAreWhatIsLocked fails when a source was changed without building the
// module again. It needs no compiler.
func TestSourcesAreWhatIsLocked(t *testing.T) {
	for _, recipe := range build.Recipes() {
		sources, err := recipe.HashSources(".")
		if err != nil {
			t.Fatal(err)
		}
		record := locked()[recipe.Name]
		if sources != record.Sources || recipe.Version != record.Version {
			t.Errorf("%s: the sources or the version changed since the module was built; run go generate ./plugins", recipe.Name)
		}
	}
}

// TestRebuild builds each module from its sources and compares it with the embedded
// one, byte by byte. Other versions of a compiler give other bytes.
func TestRebuild(t *testing.T) {
	for _, recipe := range build.Recipes() {
		t.Run(recipe.Name, func(t *testing.T) {
			tool, err := recipe.Tool(t.Context())
			if errors.Is(err, build.ErrNoTool) {
				t.Skipf("skipped: %v; install %s to check that the embedded module is what its sources build to",
					err, locked()[recipe.Name].Tool)
			}
			if err != nil {
				t.Fatal(err)
			}
			if want := locked()[recipe.Name].Tool; tool != want {
				t.Skipf("skipped: this is %q, the embedded module was built with %q", tool, want)
			}
			wasm, err := recipe.Build(t.Context(), ".")
			if err != nil {
				t.Fatal(err)
			}
			p, _ := Lookup(recipe.Name)
			if !bytes.Equal(wasm, p.Wasm()) {
				t.Errorf("the sources build to another module (%s) than the embedded one (%s)", build.Hash(wasm), p.Digest)
			}
		})
	}
}

func TestPersonas(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range Personas() {
		seen[p.ID] = true
		if !abi.ValidID(abi.ObjectPersona, p.ID) || p.Object != abi.ObjectPersona {
			t.Errorf("%s is no valid persona id of the object %q", p.ID, p.Object)
		}
		plugin, export, err := ParseEntry(p.EntryWorkflow)
		if _, ok := Lookup(plugin); !ok || export != abi.DefaultExport || err != nil {
			t.Errorf("%s enters %q (%q, %v), which does not ship with Wharf", p.ID, plugin, export, err)
		}
	}
	if !seen[PersonaEcho] || !seen[PersonaDigest] {
		t.Errorf("got the personas %v", seen)
	}
}

func TestParseEntry(t *testing.T) {
	for _, test := range []struct{ entry, plugin, export string }{
		{"echo", "echo", "run"},
		{"echo#run", "echo", "run"},
		{"acme/digest-2.1#outline", "acme/digest-2.1", "outline"},
		{"", "", ""}, {"#", "", ""}, {"echo#", "", ""}, {"#run", "", ""}, {"echo#a#b", "", ""}, {"two words", "", ""},
		{"ech\u00f6", "", ""},
	} {
		plugin, export, err := ParseEntry(test.entry)
		if plugin != test.plugin || export != test.export || (err != nil) != (test.plugin == "") {
			t.Errorf("ParseEntry(%q) = %q, %q, %v", test.entry, plugin, export, err)
		}
		if failure, ok := errors.AsType[*abi.Failure](err); err != nil && (!ok || failure.Code != abi.FailurePluginMissing) {
			t.Errorf("ParseEntry(%q) fails with %v", test.entry, err)
		}
	}
}
