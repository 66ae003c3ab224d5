package sdk

import (
	"archive/zip"
	"bytes"
	"flag"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/plugins/js"
	"github.com/wharf-dev/wharf/plugins/py"
	"github.com/wharf-dev/wharf/runtime/alone"
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

// TestNativeHostsAnswerWhatARunDoes holds that the hosts of tests answer by themselves what "wharf plugin run" does.
func TestNativeHostsAnswerWhatARunDoes(t *testing.T) {
	for name, ends := range map[string][2]string{
		"python/src/wharf_testing/_host.py": {"_MADE: dict", "\n}\n"},
		"typescript/testing.js":             {"const made = {", "\n};\n"},
	} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(text), ends[0])
		made, _, _ := strings.Cut(rest, ends[1])
		for call, def := range abi.HostCallsByName() {
			here, err := regexp.MatchString(`(?m)^\s+"?`+regexp.QuoteMeta(call)+`"?: `, made)
			if err != nil {
				t.Fatal(err)
			}
			// Of a secret that the test names, and of what a Task is given, both take care apart.
			want := alone.MadeByHost(call) || def.Name == abi.CallInput || def.Name == abi.CallSecretUse
			if here != want {
				t.Errorf("%s: the host answers %s by itself: %t, and a run does: %t", name, call, here, want)
			}
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
