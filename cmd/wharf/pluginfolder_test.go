package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/runtime/manifest"
)

// Each command says in its own words what is wrong with a folder and what to do, and all of them look alike at what lies there.
func TestFoldersOfPlugins(t *testing.T) {
	outside := filepath.Join(sources(t, map[string]string{"wharf.toml": triageManifest}), "wharf.toml")
	linked, odd := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(linked, "wharf.toml")); err != nil {
		t.Skip("this system makes no links")
	}
	if err := os.Mkdir(filepath.Join(odd, "wharf.toml"), 0o700); err != nil {
		t.Fatal(err)
	}
	reads := map[string]func(path string) error{
		"lint":    func(path string) error { _, err := lintAt(t.Context(), path); return err },
		"install": func(path string) error { _, err := sourceOf(path, nil); return err },
		"run":     func(path string) error { _, err := readPlugin(path); return err },
		"build":   func(path string) error { _, err := openProject(path); return err },
	}
	all := func(text string) map[string]string {
		return map[string]string{"lint": text, "install": text, "run": text, "build": text}
	}
	for _, test := range []struct {
		about, folder string
		want          map[string]string // by command; FOLDER stands for the folder
	}{
		{"no manifest", t.TempDir(), map[string]string{
			"lint": "there is no manifest FOLDER/wharf.toml|\"wharf plugin new\"", "install": "there is no manifest FOLDER/wharf.toml|write one (docs/manifest.md)",
			"run": "the folder FOLDER has no wharf.toml|a folder with a manifest, or a module", "build": "there is no wharf.toml in FOLDER|wharf plugin new NAME"}},
		{"a mistake", sources(t, map[string]string{"wharf.toml": strings.Replace(triageManifest, `"triage"`, "1", 1)}), map[string]string{
			"lint": "", "install": "FOLDER/wharf.toml:1:8: error: |wharf plugin lint FOLDER", "run": "the manifest of FOLDER is not valid: 1:8: error: |wharf plugin lint FOLDER",
			"build": "FOLDER/wharf.toml:1:8: |wharf plugin lint FOLDER, which says all"}},
		{"too long", sources(t, map[string]string{"wharf.toml": strings.Repeat("#\n", manifest.MaxBytes/2+1)}), map[string]string{
			"lint": "", "install": "FOLDER/wharf.toml:", "run": "is not valid", "build": "FOLDER/wharf.toml:"}},
		{"a link out of the folder", linked, all("reading the manifest: ")},
		{"a folder for a manifest", odd, all("reading the manifest: wharf.toml is no file")},
		{"no folder", filepath.Join(t.TempDir(), "absent"), all("absent")},
	} {
		for command, read := range reads {
			err, want := read(test.folder), strings.ReplaceAll(test.want[command], "FOLDER", test.folder)
			if want == "" {
				if err != nil {
					t.Errorf("%s, %s: %v", test.about, command, err)
				}
				continue
			}
			if err == nil {
				t.Errorf("%s, %s: no error", test.about, command)
				continue
			}
			told := (&app{}).explain(err)
			message, try, _ := strings.Cut(want, "|")
			if !strings.Contains(told.Message, message) || !strings.Contains(told.Try, try) {
				t.Errorf("%s, %s: %q, try %q", test.about, command, told.Message, told.Try)
			}
		}
	}
}

// What is named is read, also beside another manifest.
func TestManifestsThatAreNamed(t *testing.T) {
	dir := sources(t, map[string]string{"wharf.toml": triageManifest, "in.json": "{}", "other.toml": strings.Replace(triageManifest, "triage", "other", 1)})
	for name, want := range map[string]string{"wharf.toml": "triage", "other.toml": "other"} {
		of, err := sourceOf(filepath.Join(dir, name), nil)
		if err != nil || of.name != want {
			t.Errorf("%s: %+v, %v", name, of, err)
		}
		l, err := lintAt(t.Context(), filepath.Join(dir, name))
		if err != nil || l.Name != want {
			t.Errorf("%s: %+v, %v", name, l, err)
		}
	}
	p, err := openProject(filepath.Join(dir, "wharf.toml"))
	if err != nil || p.Folder != dir || p.Manifest.Name != "triage" {
		t.Errorf("%+v, %v", p, err)
	}
}
