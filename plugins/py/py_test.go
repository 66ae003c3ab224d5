package py_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/plugins/py"
)

// build writes files into a folder and builds the first one.
func build(t *testing.T, files ...string) (*py.Built, error) {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		path := filepath.Join(dir, files[i])
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(files[i+1]), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return py.Build(filepath.Join(dir, files[0]))
}

const empty = "def run(task): pass\n"

// TestBuildImportsWhatIsNamed holds that the host calls are those whose functions the sources name,
// through what they import too, however that is written.
func TestBuildImportsWhatIsNamed(t *testing.T) {
	for _, test := range []struct {
		name  string
		files []string
		calls []string
	}{
		{"nothing", []string{"first-one.py", "\ufeff" + empty}, nil},
		{"a name", []string{"a.py", "from wharf import state_get\n" + empty}, []string{"state.get"}},
		{"names in brackets", []string{"a.py", "from wharf import (  # what is used\n    state_get as get,\n    reply,\n)\n" + empty}, []string{"message.append", "state.get"}},
		{"the module", []string{"a.py", "import json, wharf\ndef run(t): wharf.memory_query(text=\"x\")\n"}, []string{"memory.query"}},
		{"by another name", []string{"a.py", "import wharf as w\nimport json as wharf\ndef run(t): w . fetch('u')\n"}, []string{"http.fetch"}},
		{"in a function", []string{"a.py", "def run(t):\n    from wharf import log\n"}, []string{"log"}},
		{"print", []string{"a.py", "def run(t): print('x')\n"}, []string{"log"}},
		{"in an f-string", []string{"a.py", "import wharf\ndef run(t): return f\"{wharf.state_get(key='k')['value']:>{3}}\"\n"}, []string{"state.get"}},
		{"texts and comments", []string{"a.py", "import wharf\n# wharf.log()\nx = 'wharf.log()' r\"\\\" wharf.log\" '''\nwharf.log\n''' b'wharf.log' \"\\\"wharf.log\"\ny = x.print\n" + empty}, nil},
		{"another's member", []string{"a.py", "import wharf\nx = [].wharf.log\n" + empty}, nil},
		{"after a backslash", []string{"a.py", "from wharf \\\n    import log\r\n" + empty}, []string{"log"}},
		{"a file beside", []string{"a.py", "import b\n" + empty, "b.py", "from wharf import reply\n", "c.py", "from wharf import log\n"}, []string{"message.append"}},
		{"a package", []string{"a.py", "from p.q import x\n" + empty, "p/__init__.py", "from . import r\n", "p/r.py", "from wharf import log", "p/q.py", "from ..p.s import x", "p/s.py", "from wharf import sleep\nx = 1"}, []string{"log", "sleep"}},
		{"each other", []string{"a.py", "import b\n" + empty, "b.py", "import a\nfrom wharf import log\n"}, []string{"log"}},
		{"where it may be missing", []string{"a.py", "try:\n    import numpy\nexcept ImportError:\n    numpy = None\n" + empty}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := build(t, test.files...)
			if err != nil {
				t.Fatal(err)
			}
			want := append([]string{"input", "output"}, test.calls...)
			slices.Sort(want)
			if !slices.Equal(got.Calls, want) {
				t.Errorf("the plugin imports %q, want %q", got.Calls, want)
			}
		})
	}
}

func TestBuildSaysWhereTheTroubleIs(t *testing.T) {
	for source, want := range map[string]string{
		"x = 1\n": "a.py:1: there is no function run",
		"x = '''\nimport os\n'''\nimport os\n" + empty: "a.py:4:8: there is no module \"os\"",
		"from .b import c\n" + empty:                   "a.py:1:6: there is no module \".b\"",
		"from ..b import c\n" + empty:                  "a.py:1:6: there is no module \"..b\"",
	} {
		_, err := build(t, "a.py", source)
		var problems py.Problems
		if !errors.As(err, &problems) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q is told as %v", source, err)
		}
	}
	for name, want := range map[string]string{"json.py": "json.py:1: ", "a.b.py": "a.b.py:1: ", "wharf.py": "wharf.py:1: "} {
		if _, err := build(t, name, empty); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("a program that is called %s is told %v", name, err)
		}
	}
	if _, err := build(t, "a.py", "import wharf\n"+empty, "wharf.py", ""); err == nil || !strings.Contains(err.Error(), "hides the SDK") {
		t.Errorf("a file in the place of the SDK is told %v", err)
	}
	if _, err := build(t, "a.py", "\ufeff# \xff\n"+empty); err == nil || !strings.Contains(err.Error(), "not UTF-8") {
		t.Errorf("a file that is not UTF-8 is told %v", err)
	}
	if _, err := py.Build(filepath.Join(t.TempDir(), "none.py")); err == nil {
		t.Error("a file that is not there was built")
	}
	var all strings.Builder
	for i := range 33 {
		fmt.Fprintf(&all, "'e%d',", i)
	}
	if _, err := build(t, "a.py", "__all__ = ["+all.String()+"]\n"); err == nil || !strings.Contains(err.Error(), "room for") {
		t.Errorf("a program with 33 exports is told %v", err)
	}
}

func TestExports(t *testing.T) {
	for source, want := range map[string]string{
		empty:                                     "[run]",
		"async def run(t): pass":                  "[run]",
		"from wharf import reply as run\n":        "[run]",
		"run = lambda t: 1\n":                     "[run]",
		"__all__ = (\n  'run', \"nightly\",\n)\n": "[run nightly]",
	} {
		got, err := build(t, "a.py", source)
		if err != nil || fmt.Sprint(got.Exports) != want {
			t.Errorf("%q has the exports %v (%v)", source, got, err)
		}
	}
}

// TestBuildIsTheSameAnywhere holds that a folder's place does not change the module, and that what is not imported does not.
func TestBuildIsTheSameAnywhere(t *testing.T) {
	one, err := build(t, "a.py", "import b\n"+empty, "b.py", "x = 1")
	if err != nil {
		t.Fatal(err)
	}
	two, err := build(t, "a.py", "import b\n"+empty, "b.py", "x = 1", "c.py", "x = 2")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(one.Module, two.Module) || fmt.Sprint(one.Inputs) != "[a.py b.py]" {
		t.Errorf("the same sources give other bytes in another folder, or were made of %v", one.Inputs)
	}
}

// TestHostCallsFit holds that a program can use every host call that there is.
func TestHostCallsFit(t *testing.T) {
	got, err := build(t, "a.py", "from wharf import *\n"+empty)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Calls) != len(abi.HostCalls()) {
		t.Errorf("a program that uses all %d host calls imports %d", len(abi.HostCalls()), len(got.Calls))
	}
}
