package plugins

import (
	"errors"
	"os"
	"path/filepath"
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

// lockOf reads the lock file of a set, by plugin.
func lockOf(t *testing.T, set build.Set) map[string]build.Record {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(set.Folder, set.Lock))
	if err != nil {
		t.Fatal(err)
	}
	records, err := build.ParseLock(text)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]build.Record{}
	for _, r := range records {
		out[r.Name] = r
	}
	return out
}

// TestSourcesAreWhatIsLocked fails when a source was changed without building the
// module again. It needs no compiler.
func TestSourcesAreWhatIsLocked(t *testing.T) {
	for _, set := range build.Sets() {
		locked := lockOf(t, set)
		for _, recipe := range set.Recipes {
			sources, err := recipe.HashSources(".")
			if err != nil {
				t.Fatal(err)
			}
			record := locked[recipe.Name]
			if sources != record.Sources || recipe.Version != record.Version {
				t.Errorf("%s: the sources or the version changed since the module was built; run go generate ./plugins", recipe.Name)
			}
		}
	}
}

// TestRebuild builds each module from its sources and compares it with the one that
// is locked. Other versions of a compiler give other bytes.
func TestRebuild(t *testing.T) {
	for _, set := range build.Sets() {
		locked := lockOf(t, set)
		for _, recipe := range set.Recipes {
			t.Run(recipe.Name, func(t *testing.T) { checkRebuild(t, recipe, locked[recipe.Name]) })
		}
	}
}

func checkRebuild(t *testing.T, recipe build.Recipe, locked build.Record) {
	if recipe.Long && os.Getenv("WHARF_LONG") == "" {
		t.Skip("skipped: it takes a minute; set WHARF_LONG=1")
	}
	tool, err := recipe.Tool(t.Context(), ".")
	if errors.Is(err, build.ErrNoTool) {
		t.Skipf("skipped: %v; install %s to check that the embedded module is what its sources build to", err, locked.Tool)
	}
	if err != nil {
		t.Fatal(err)
	}
	if tool != locked.Tool {
		t.Skipf("skipped: this is %q, the embedded module was built with %q", tool, locked.Tool)
	}
	wasm, err := recipe.Build(t.Context(), ".")
	if err != nil {
		t.Fatal(err)
	}
	if got := build.Hash(wasm); got != locked.Wasm {
		t.Errorf("the sources build to another module (%s) than the one that is locked (%s)", got, locked.Wasm)
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
		if _, ok := Lookup(plugin); !ok || export != abi.DefaultExport && p.ID != PersonaPoll && p.ID != PersonaInvoke || err != nil {
			t.Errorf("%s enters %q (%q, %v), which does not ship with Wharf", p.ID, plugin, export, err)
		}
	}
	if !seen[PersonaEcho] || !seen[PersonaDigest] || !seen[PersonaAgent] || !seen[PersonaPoll] || !seen[PersonaInvoke] {
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
