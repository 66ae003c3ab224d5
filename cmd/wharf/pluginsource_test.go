package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/runtime/parcel"
)

// sources writes the files of a plugin into a folder.
func sources(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const triageManifest = `name = "triage"
version = "1.0.0"
kind = "persona"
hosts = ["api.example.com"]
secrets = ["token"]
capabilities = ["http.fetch", "secret.use"]
limits.memory = "32MiB"
config.greeting = {type = "string", default = "hello"}
config.team = {type = "string", description = "Who sorts."}
schemas.input = "in.json"
`

func TestWhatIsInstalled(t *testing.T) {
	dir := sources(t, map[string]string{"wharf.toml": triageManifest, "in.json": `{"type":"object"}`, "build/triage.wasm": "one", "other.wasm": "two"})
	for _, path := range []string{dir, filepath.Join(dir, "wharf.toml"), filepath.Join(dir, "build", "triage.wasm")} {
		of, err := sourceOf(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if of.name != "triage" || !sameFile(of.module, filepath.Join(dir, "build", "triage.wasm")) || of.said.Text != triageManifest || of.said.Files["in.json"] == "" {
			t.Errorf("%s: it is %+v", path, of)
		}
	}
	of, err := sourceOf(filepath.Join(dir, "other.wasm"), nil)
	if err != nil || of.said != nil || of.name != "other" {
		t.Errorf("a module that no manifest names is %+v, %v", of, err)
	}
}

// A package is installed with what is in it, and, where keys are named, if one of them has signed it.
func TestPackagesAreInstalled(t *testing.T) {
	dir := sources(t, map[string]string{"wharf.toml": triageManifest, "in.json": `{"type":"object"}`, "build/triage.wasm": "\x00asm\x01\x00\x00\x00"})
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	p, err := parcel.Pack(root)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), p.Name())
	if _, err := writePackage(file, p); err != nil {
		t.Fatal(err)
	}
	of, err := sourceOf(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	body, size, err := of.open()
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	stored, err := os.ReadFile(file)
	if sent, failed := io.ReadAll(body); err != nil || failed != nil || !bytes.Equal(sent, stored) || size != int64(len(stored)) {
		t.Errorf("%d bytes are sent of the package of %d: %v, %v", size, len(stored), err, failed)
	}
	if of.name != "triage" || of.said.Text != triageManifest || of.said.Files["in.json"] != `{"type":"object"}` {
		t.Errorf("it is %+v", of)
	}
	bare := filepath.Join(t.TempDir(), "package")
	if err := os.Rename(file, bare); err != nil {
		t.Fatal(err)
	}
	if of, err = sourceOf(bare, nil); err != nil || of.packed == nil {
		t.Errorf("a package under another name is %+v, %v", of, err)
	}
	file = bare
	stranger := parcel.Trust{{PublicKey: "of a stranger"}}
	if _, err := sourceOf(file, stranger); err == nil || !strings.Contains(err.Error(), "is not signed") {
		t.Errorf("one that nobody has signed: %v", err)
	}
	if _, err := sourceOf(dir, stranger); err == nil || !strings.Contains(err.Error(), "--trust is for packages") {
		t.Errorf("a folder, with --trust: %v", err)
	}
}

func TestWhatAManifestWantsOfTheConfiguration(t *testing.T) {
	of, err := sourceOf(sources(t, map[string]string{"wharf.toml": triageManifest, "in.json": "{}"}), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := `grants:
  triage:
    http: [{hosts: ["api.example.com"], methods: ["GET"]}]
    secrets: ["token"]
settings:
  triage:
    team:  # a value of the type string: Who sorts.
plugins:
  limits:
    triage:
      memory: 32MiB
`
	if got := wants(of.means); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestManifestsThatAreNotSent(t *testing.T) {
	dir := sources(t, map[string]string{"wharf.toml": strings.Replace(triageManifest, "in.json", "../in.json", 1)})
	linked := sources(t, map[string]string{"wharf.toml": triageManifest})
	if err := os.Symlink(filepath.Join(dir, "wharf.toml"), filepath.Join(linked, "in.json")); err != nil {
		t.Skip("this system makes no links")
	}
	for about, path := range map[string]string{
		"a schema out of the folder": dir, "a link out of it": linked, "no manifest": t.TempDir(),
		"a mistake": sources(t, map[string]string{"wharf.toml": "nme = 1\n"}),
	} {
		if of, err := sourceOf(path, nil); err == nil {
			t.Errorf("%s: it is %+v", about, of)
		}
	}
}
