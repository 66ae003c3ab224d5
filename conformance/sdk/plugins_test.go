package sdk

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
)

// pluginSDK returns the folder of an SDK for plugins.
func pluginSDK(t *testing.T, name string) string {
	t.Helper()
	root, err := nodetest.Root()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(root, "sdk", name)
}

// plugin returns a copy of the plugin that the tests are of, with its cases.
func plugin(t *testing.T, language string) string {
	t.Helper()
	dir := t.TempDir()
	if err := errors.Join(os.CopyFS(dir, os.DirFS(filepath.Join("testdata/plugin", language))),
		os.CopyFS(filepath.Join(dir, "testdata"), os.DirFS("testdata/plugin/cases"))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// must runs a program in a folder, which is to do well.
func must(t *testing.T, cmd *exec.Cmd, dir string) string {
	t.Helper()
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	return string(out)
}

// pythonPlugin starts Python with the modules of the SDK for plugins.
func pythonPlugin(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := python(t, args...)
	cmd.Env = append(cmd.Env, "PYTHONPATH="+filepath.Join(pluginSDK(t, "python"), "src"))
	return cmd
}

// nodePackages makes a folder one whose programs find the SDK for plugins in TypeScript as npm installs it.
func nodePackages(t *testing.T, dir string) {
	t.Helper()
	need(t, "node")
	need(t, "npm")
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"private":true,"type":"module"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	packs := t.TempDir()
	must(t, exec.CommandContext(t.Context(), "npm", "pack", "--offline", "--silent", "--pack-destination", packs), pluginSDK(t, "typescript"))
	archives, err := filepath.Glob(filepath.Join(packs, "*.tgz"))
	if err != nil || len(archives) != 1 {
		t.Fatalf("npm pack has made %v (%v)", archives, err)
	}
	must(t, exec.CommandContext(t.Context(), "npm", "install", "--offline", "--silent", "--no-audit", "--no-fund", "--save-dev", "wharf@file:"+archives[0]), dir)
}

// compiler starts the compiler of TypeScript.
func compiler(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	program := filepath.Join(folder(t, "ts"), "node_modules/.bin/tsc")
	if !exists(program) {
		t.Skip(`needs the compiler of TypeScript: run "npm ci" in sdk/client/ts`)
	}
	return exec.CommandContext(t.Context(), program, args...)
}

func copyFile(t *testing.T, to, from string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestPluginsRunTheSameNatively runs the cases of one plugin in the engine, and in each language's own test runner beside
// what is the native host's own.
func TestPluginsRunTheSameNatively(t *testing.T) {
	for _, language := range []string{"python", "typescript"} {
		t.Run(language+" in the engine", func(t *testing.T) {
			t.Parallel()
			builds(t, plugin(t, language))
		})
	}
	t.Run("python", func(t *testing.T) {
		t.Parallel()
		must(t, pythonPlugin(t, "-m", "unittest", "--verbose"), plugin(t, "python"))
	})
	t.Run("typescript", func(t *testing.T) {
		t.Parallel()
		dir := plugin(t, "typescript")
		nodePackages(t, dir)
		copyFile(t, filepath.Join(dir, "wharf.d.ts"), filepath.Join(pluginSDK(t, "typescript"), "wharf.d.ts"))
		must(t, compiler(t, "-p", "."), dir)
		must(t, exec.CommandContext(t.Context(), "node", "--test"), dir)
	})
}

// TestNewPluginsAreTestedNatively does what the documents say with a folder that wharf has made.
func TestNewPluginsAreTestedNatively(t *testing.T) {
	t.Run("python", func(t *testing.T) {
		t.Parallel()
		test := pythonPlugin(t, "-c", "import test_plugin as t; t.test_greets(); t.test_fails_where_nobody_hears()")
		dir := newPlugin(t, "python")
		exampleBelow(t, document(t, "sdk-python.md"), "## Tests in your own Python", "python", filepath.Join(dir, "test_plugin.py"))
		must(t, test, dir)
		if python(t, "-c", "import mypy").Run() == nil { // which finds the package beside the stub that lies in the folder
			check := pythonPlugin(t, "-m", "mypy", "test_plugin.py")
			check.Env = append(check.Env, "MYPYPATH="+filepath.Join(pluginSDK(t, "python"), "src"))
			must(t, check, dir)
		}
		builds(t, dir)
	})
	t.Run("javascript", func(t *testing.T) {
		t.Parallel()
		need(t, "node")
		need(t, "npm")
		dir := newPlugin(t, "javascript")
		if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"type":"module"}`), 0o644); err != nil {
			t.Fatal(err)
		}
		install := exec.CommandContext(t.Context(), "npm", "install", "--offline", "--silent", "--no-audit", "--no-fund", "--save-dev", "wharf@file:"+pluginSDK(t, "typescript"))
		must(t, install, dir)
		exampleBelow(t, document(t, "sdk-typescript.md"), "## Tests in Node", "js", filepath.Join(dir, "plugin.test.mjs"))
		if out := must(t, exec.CommandContext(t.Context(), "node", "--test", "--test-reporter=tap"), dir); !strings.Contains(out, "# pass 2") {
			t.Errorf("the example's two tests are not run:\n%s", out)
		}
		builds(t, dir)
	})
}

func document(t *testing.T, name string) string {
	t.Helper()
	root, err := nodetest.Root()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(root, "docs", name)
}

// newPlugin makes the folder of a plugin, as an author does.
func newPlugin(t *testing.T, language string) string {
	t.Helper()
	dir := t.TempDir()
	must(t, exec.CommandContext(t.Context(), builder.Binary(t), "plugin", "new", "hello", "--lang", language), dir)
	return filepath.Join(dir, "hello")
}

// builds holds that a plugin is built, and does in the engine what its cases say.
func builds(t *testing.T, dir string) {
	t.Helper()
	must(t, exec.CommandContext(t.Context(), builder.Binary(t), "plugin", "build"), dir)
	must(t, exec.CommandContext(t.Context(), builder.Binary(t), "plugin", "test"), dir)
}

// TestPluginReadmes runs the examples of the packages' pages.
func TestPluginReadmes(t *testing.T) {
	t.Run("python", func(t *testing.T) {
		t.Parallel()
		run := pythonPlugin(t, "-c", "import test_readme as r; r.test_greets_by_the_name_that_it_keeps(); r.test_greets_strangers()")
		dir := t.TempDir()
		example(t, pluginSDK(t, "python"), "python", filepath.Join(dir, "test_readme.py"))
		must(t, run, dir)
	})
	t.Run("typescript", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		nodePackages(t, dir)
		example(t, pluginSDK(t, "typescript"), "js", filepath.Join(dir, "readme.test.js"))
		if out := must(t, exec.CommandContext(t.Context(), "node", "--test", "--test-reporter=tap"), dir); !strings.Contains(out, "# pass 2") {
			t.Errorf("the example's two tests are not run:\n%s", out)
		}
	})
}

// TestPluginPackagesOfPython has build make both packages, and installs one in an environment of its own.
func TestPluginPackagesOfPython(t *testing.T) {
	t.Parallel()
	if python(t, "-c", "import build, setuptools, sys; sys.exit(int(setuptools.__version__.split('.')[0]) < 77)").Run() != nil {
		t.Skip("needs the Python packages build and setuptools, of version 77 or later")
	}
	copied := t.TempDir()
	for _, name := range []string{"pyproject.toml", "README.md", "LICENSE", "src"} {
		if err := copyInto(copied, pluginSDK(t, "python"), name); err != nil {
			t.Fatal(err)
		}
	}
	must(t, python(t, "-m", "build", "--no-isolation"), copied)
	wheel, source := only(t, filepath.Join(copied, "dist/*.whl")), only(t, filepath.Join(copied, "dist/*.tar.gz"))
	modules := []string{"_wharf.py", "wharf/__init__.py", "wharf/__init__.pyi", "wharf/_runtime.py", "wharf/_runtime.pyi", "wharf/py.typed",
		"wharf_testing/__init__.py", "wharf_testing/_answers.py", "wharf_testing/_calls.py", "wharf_testing/_form.py", "wharf_testing/_host.py", "wharf_testing/py.typed"}
	same(t, "the wheel", withoutMetadata(zipped(t, wheel)), modules)
	var sources []string
	for _, name := range modules {
		sources = append(sources, "src/"+name)
	}
	sources = append(sources, "LICENSE", "PKG-INFO", "README.md", "pyproject.toml", "setup.cfg")
	same(t, "the source package", withoutMetadata(packedFiles(t, source)), sources)

	environment := filepath.Join(t.TempDir(), "environment")
	if python(t, "-m", "venv", "--without-pip", environment).Run() != nil {
		t.Skip("needs Python's module venv")
	}
	inside := filepath.Join(environment, "bin/python")
	if python(t, "-m", "pip", "--python", inside, "--version").Run() != nil {
		t.Skip("needs pip, of version 22.3 or later")
	}
	must(t, python(t, "-m", "pip", "--python", inside, "install", "--no-index", "--no-deps", "--quiet", wheel), copied)
	cmd := exec.CommandContext(t.Context(), inside, "-I", "-c", "import unittest, sys; sys.path.insert(0, '.'); unittest.main(module='test_plugin', verbosity=0)")
	must(t, cmd, plugin(t, "python"))
}

// TestPluginTypesOfPython holds that what editors know of the module is what the module has, by names and by
// parameters, and that the host of tests has the types that it says.
func TestPluginTypesOfPython(t *testing.T) {
	t.Parallel()
	if python(t, "-c", "import mypy").Run() != nil {
		t.Skip("needs the Python package mypy")
	}
	dir := t.TempDir()
	for _, name := range []string{"pyproject.toml", "src"} {
		if err := copyInto(dir, pluginSDK(t, "python"), name); err != nil {
			t.Fatal(err)
		}
	}
	must(t, python(t, "-m", "mypy"), dir)
	// A Task has what the host gives it, which only __getattr__ can say.
	if err := os.WriteFile(filepath.Join(dir, "allowed"), []byte("wharf.Task.__getattr__\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	stubs := python(t, "-m", "mypy.stubtest", "wharf", "--allowlist", "allowed")
	stubs.Env = append(stubs.Env, "PYTHONPATH=src", "MYPYPATH=src")
	must(t, stubs, dir)
}

// TestTheStubOfPythonHasTheModulesParameters holds the same without mypy, as far as names go.
func TestTheStubOfPythonHasTheModulesParameters(t *testing.T) {
	t.Parallel()
	stub := filepath.Join(pluginSDK(t, "python"), "src/wharf/__init__.pyi")
	must(t, pythonPlugin(t, "testdata/plugin/stub.py", stub), ".")
}

// TestPluginPackagesOfNode holds what npm packs.
func TestPluginPackagesOfNode(t *testing.T) {
	need(t, "npm")
	for name, want := range map[string][]string{
		"typescript": {"LICENSE", "README.md", "answers.js", "calls.d.ts", "calls.js", "form.js", "index.d.ts", "index.js", "native.js", "package.json",
			"testing.d.ts", "testing.js", "wharf.d.ts"},
		"assemblyscript": {"LICENSE", "README.md", "assembly/call.ts", "assembly/calls.ts", "assembly/end.ts", "assembly/exports.ts", "assembly/host.ts",
			"assembly/index.ts", "assembly/json.ts", "assembly/number.ts", "assembly/run.ts", "assembly/task.ts", "assembly/types.ts", "index.ts", "package.json"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			packs := t.TempDir()
			must(t, exec.CommandContext(t.Context(), "npm", "pack", "--offline", "--silent", "--pack-destination", packs), pluginSDK(t, name))
			archive := only(t, filepath.Join(packs, "*.tgz"))
			same(t, "the package", packedFiles(t, archive), want)
			about, err := os.ReadFile(filepath.Join(pluginSDK(t, name), "package.json"))
			if err != nil {
				t.Fatal(err)
			}
			var told struct {
				Scripts      map[string]string `json:"scripts"`
				Dependencies map[string]string `json:"dependencies"`
			}
			if err := json.Unmarshal(about, &told); err != nil || len(told.Scripts)+len(told.Dependencies) > 0 {
				t.Errorf("the package runs %v and depends on %v (%v)", told.Scripts, told.Dependencies, err)
			}
		})
	}
}

// same holds that files are those of a list, in any order.
func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	slices.Sort(got)
	want = slices.Sorted(slices.Values(want))
	if !slices.Equal(got, want) {
		t.Errorf("%s has\n%s\nand should have\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// only returns the file that a pattern finds.
func only(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) != 1 {
		t.Fatalf("%s finds %v (%v)", pattern, found, err)
	}
	return found[0]
}

func zipped(t *testing.T, file string) (names []string) {
	t.Helper()
	z, err := zip.OpenReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for _, f := range z.File {
		names = append(names, f.Name)
	}
	return names
}

// packedFiles are the files in an archive, without the folder that they all lie in.
func packedFiles(t *testing.T, file string) (names []string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for archive := tar.NewReader(unzipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return names
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Typeflag == tar.TypeReg {
			_, name, _ := strings.Cut(header.Name, "/")
			names = append(names, name)
		}
	}
}

// withoutMetadata leaves out what the tools of Python write about a package.
func withoutMetadata(names []string) []string {
	return slices.DeleteFunc(names, func(name string) bool {
		folder := path.Base(path.Dir(name))
		return strings.Contains(name, ".dist-info/") || strings.HasSuffix(folder, ".egg-info")
	})
}
