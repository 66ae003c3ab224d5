package sdk

import (
	"archive/zip"
	"bytes"
	"flag"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/plugins/js"
	"github.com/wharf-dev/wharf/plugins/py"
)

var update = flag.Bool("update", false, "write go.zip, and the modules that run plugins natively")

// goSources are the files that belong into go.zip.
func goSources(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	license, err := os.ReadFile("../LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	files["LICENSE"] = string(license)
	sources := os.DirFS("go")
	err = fs.WalkDir(sources, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") && name != "go.mod" || strings.HasSuffix(name, "_test.go") {
			return err
		}
		text, err := fs.ReadFile(sources, name)
		files[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// A plugin that is made anew has the SDK as it is, and not as it was once.
func TestTheGoSDKIsTheOneBesideIt(t *testing.T) {
	want := goSources(t)
	if *update {
		if err := os.WriteFile("go.zip", packed(t, want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	files, err := Go()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	err = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, name)
		got[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] != want[name] {
			t.Errorf("%s in go.zip is not what it is in the folder: go test ./sdk -update", name)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s in go.zip is not in the folder: go test ./sdk -update", name)
		}
	}
}

// TestTheNativeModulesAreThoseOfTheEngines holds that what runs in an author's own tests is what runs in a node.
func TestTheNativeModulesAreThoseOfTheEngines(t *testing.T) {
	script, err := js.Native()
	if err != nil {
		t.Fatal(err)
	}
	python, err := py.Native()
	if err != nil {
		t.Fatal(err)
	}
	license, err := os.ReadFile("../LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]byte{"typescript/index.js": script, "typescript/LICENSE": license, "python/LICENSE": license}
	for name, text := range python {
		want["python/src/wharf/"+name] = text
	}
	for name, text := range want {
		if *update {
			if err := os.WriteFile(name, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(name)
		if err != nil || !bytes.Equal(got, text) {
			t.Errorf("sdk/%s is not what it is made of (%v): go test ./sdk -update", name, err)
		}
	}
}

func packed(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		w, err := z.Create(name) // without times, so that the same files make the same archive
		if err == nil {
			_, err = w.Write([]byte(files[name]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
