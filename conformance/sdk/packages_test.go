package sdk

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
)

// TestExamples runs the example of each README against a node.
func TestExamples(t *testing.T) {
	n := builder.Start(t)
	for name, run := range map[string]func(t *testing.T, dir string) *exec.Cmd{
		"go": func(t *testing.T, dir string) *exec.Cmd {
			client := folder(t, "go")
			file := example(t, client, "go", filepath.Join(dir, "main.go"))
			cmd := exec.CommandContext(t.Context(), "go", "run", file)
			cmd.Dir = client
			return cmd
		},
		"ts": func(t *testing.T, dir string) *exec.Cmd {
			packed := typescript(t)
			if err := os.MkdirAll(filepath.Join(dir, "node_modules/@wharf-dev"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(packed, filepath.Join(dir, "node_modules/@wharf-dev/client")); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"type":"module"}`), 0o644); err != nil {
				t.Fatal(err)
			}
			file := example(t, folder(t, "ts"), "ts", filepath.Join(dir, "example.ts"))
			if err := output(dir, filepath.Join(folder(t, "ts"), "node_modules/.bin/tsc"), "--strict", "--noUncheckedIndexedAccess",
				"--target", "es2022", "--module", "nodenext", "--lib", "es2022,dom,dom.asynciterable", "--types", "", file); err != nil {
				t.Fatal(err)
			}
			return exec.CommandContext(t.Context(), "node", filepath.Join(dir, "example.js"))
		},
		"python": func(t *testing.T, dir string) *exec.Cmd {
			return python(t, example(t, folder(t, "python"), "python", filepath.Join(dir, "example.py")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := run(t, t.TempDir())
			if cmd.Env == nil {
				cmd.Env = os.Environ()
			}
			cmd.Env = append(cmd.Env, "WHARF_URL="+n.URL, "WHARF_API_KEY="+nodetest.Key)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			for _, part := range []string{"task.submitted", "task.completed", "COMPLETED echoed", "a receipt of", "resource_not_found", "Check the id"} {
				if !strings.Contains(string(out), part) {
					t.Errorf("the example does not print %q:\n%s", part, out)
				}
			}
		})
	}
}

func folder(t *testing.T, name string) string {
	t.Helper()
	path, err := sdkFolder(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// example writes the first example in a language of a README to a file.
func example(t *testing.T, client, language, file string) string {
	t.Helper()
	return exampleBelow(t, filepath.Join(client, "README.md"), "# ", language, file)
}

// exampleBelow writes the first example in a language below a heading of a page to a file.
func exampleBelow(t *testing.T, page, heading, language, file string) string {
	t.Helper()
	whole, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, below, found := strings.Cut(string(whole), heading)
	_, rest, ok := strings.Cut(below, "```"+language+"\n")
	text, _, closed := strings.Cut(rest, "```")
	if !found || !ok || !closed {
		t.Fatalf("%s has no example in %s below %q", page, language, heading)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestPackages looks into what npm and build make of the folders.
func TestPackages(t *testing.T) {
	t.Run("typescript", func(t *testing.T) {
		packed := typescript(t)
		for _, name := range []string{"package.json", "README.md", "LICENSE", "dist/index.js", "dist/index.d.ts", "src/index.ts"} {
			if !exists(filepath.Join(packed, name)) {
				t.Errorf("the package has no %s", name)
			}
		}
		if exists(filepath.Join(packed, "node_modules")) {
			t.Error("the package has the compiler in it")
		}
	})
	t.Run("python", func(t *testing.T) {
		copied := copyOfPython(t)
		if python(t, "-c", "import build, setuptools, sys; sys.exit(int(setuptools.__version__.split('.')[0]) < 77)").Run() != nil {
			t.Skip("needs the Python packages build and setuptools, of version 77 or later")
		}
		cmd := python(t, "-m", "build", "--no-isolation")
		cmd.Dir = copied
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		wheels, err := filepath.Glob(filepath.Join(copied, "dist/*.whl"))
		if err != nil || len(wheels) != 1 {
			t.Fatalf("build has made the wheels %v (%v)", wheels, err)
		}
		// A wheel is a zip that Python can import from.
		use := python(t, "-c", "import importlib.resources, wharf_client; print(wharf_client.__file__, (importlib.resources.files(wharf_client) / 'py.typed').is_file())")
		use.Dir, use.Env = copied, append(os.Environ(), "PYTHONPATH="+wheels[0])
		use.Dir = t.TempDir() // where no wharf_client lies
		if out, err := use.CombinedOutput(); err != nil || string(out) != fmt.Sprintf("%s/wharf_client/__init__.py True\n", wheels[0]) {
			t.Errorf("%v\n%s", err, out)
		}
	})
	t.Run("python types", func(t *testing.T) {
		copied := copyOfPython(t)
		if python(t, "-c", "import mypy").Run() != nil {
			t.Skip("needs the Python package mypy")
		}
		cmd := python(t, "-m", "mypy", "wharf_client", example(t, copied, "python", filepath.Join(copied, "example.py")))
		cmd.Dir = copied
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
}

func copyOfPython(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"pyproject.toml", "README.md", "LICENSE", "wharf_client"} {
		if err := copyInto(dir, folder(t, "python"), name); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
