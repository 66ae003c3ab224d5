package node

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/cmd/wharf/internal/config"
	"github.com/wharf-dev/wharf/runtime/filetree"
	"github.com/wharf-dev/wharf/runtime/parcel"
	"github.com/wharf-dev/wharf/runtime/receipt"
)

// packageOf returns a package of the plugin echo under a name, signed by the given keys.
func packageOf(t *testing.T, name string, keys ...*receipt.Key) []byte {
	t.Helper()
	manifest := "name = \"" + name + "\"\nversion = \"1.2.0\"\nkind = \"persona\"\ncapabilities = [\"message.append\"]\nmodule = \"m.wasm\"\n"
	p, err := parcel.New(func(yield func(filetree.Named, error) bool) {
		_ = yield(filetree.Named{Path: "wharf.toml", Content: strings.NewReader(manifest)}, nil) &&
			yield(filetree.Named{Path: "m.wasm", Content: bytes.NewReader(echoWasm(t))}, nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range keys {
		p.Sign(k)
	}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func signer(n byte) *receipt.Key {
	return receipt.NewKey(bytes.Repeat([]byte{n}, ed25519.SeedSize))
}

func TestAPackageOfTheFolderIsWhatItsManifestSays(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "any-file.wharf", packageOf(t, "mine"))
	own, err := readPlugins(&config.Plugins{Dir: dir})
	if err != nil || len(own) != 1 || len(own[0].personas) != 1 {
		t.Fatalf("%v, %v", own, err)
	}
	p := &own[0].personas[0]
	if own[0].name != "mine" || p.ID != "persona_mine" || p.Version != "1.2.0" || p.EntryWorkflow != "mine" || !strings.Contains(strings.Join(p.Capabilities, " "), "message.append") {
		t.Errorf("it is %s, and its persona %+v", own[0].name, p)
	}
	all, err := Plugins(&config.Plugins{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	for _, listed := range all {
		if listed.Name == "mine" && (listed.Version != "1.2.0" || listed.Path != filepath.Join(dir, "any-file.wharf") || listed.Digest != parcel.Digest(echoWasm(t))) {
			t.Errorf("it is listed as %+v", listed)
		}
	}
}

func TestWhosePluginsAreTaken(t *testing.T) {
	public := func(n byte) string { return signer(n).Public(time.Unix(0, 0)).PublicKey }
	damaged := packageOf(t, "mine")
	for name, c := range map[string]struct {
		files map[string][]byte
		trust string
		words string // "" when they are taken
	}{
		"anybody's":                 {map[string][]byte{"a.wharf": packageOf(t, "mine"), "b.wasm": echoWasm(t)}, "", ""},
		"a trusted one's":           {map[string][]byte{"a.wharf": packageOf(t, "mine", signer(1))}, public(2) + ", " + public(1), ""},
		"nobody's":                  {map[string][]byte{"a.wharf": packageOf(t, "mine")}, public(1), "not signed"},
		"somebody else's":           {map[string][]byte{"a.wharf": packageOf(t, "mine", signer(2))}, public(1), "no such key is trusted"},
		"a module alone":            {map[string][]byte{"b.wasm": echoWasm(t)}, public(1), "is a module alone"},
		"one that is damaged":       {map[string][]byte{"a.wharf": damaged[:len(damaged)-9]}, "", "cannot be used"},
		"one that ships with Wharf": {map[string][]byte{"a.wharf": packageOf(t, "echo")}, "", "ships with Wharf"},
		"a name that is none":       {map[string][]byte{"a.wharf": packageOf(t, "under_score")}, "", "is no name"},
		"two of one name":           {map[string][]byte{"a.wharf": packageOf(t, "mine"), "mine.wasm": echoWasm(t)}, "", "both the plugin mine"},
		"keys that are none":        {nil, "absent.json", "plugins.trust"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, content := range c.files {
				put(t, dir, file, content)
			}
			_, err := readPlugins(&config.Plugins{Dir: dir, Trust: c.trust})
			if c.words == "" && err != nil {
				t.Fatal(err)
			}
			start, ok := errors.AsType[*StartError](err)
			if c.words != "" && (!ok || !strings.Contains(start.What, c.words) || start.Try == "") {
				t.Errorf("it says %v, want %q", err, c.words)
			}
		})
	}
}
