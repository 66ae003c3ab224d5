package build

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/plugins/internal/build/unwind"
)

// Record says what a module was built from and with.
type Record struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Tool    string `json:"tool"`    // name and version of what compiled it
	Sources string `json:"sources"` // SHA-256 over the sources and the command, in hex
	Wasm    string `json:"wasm"`    // SHA-256 of the module, in hex
}

// ParseLock reads a lock file.
func ParseLock(text []byte) ([]Record, error) {
	var records []Record
	if err := json.Unmarshal(text, &records); err != nil {
		return nil, fmt.Errorf("reading the lock file: %w", err)
	}
	return records, nil
}

// FormatLock writes a lock file.
func FormatLock(records []Record) ([]byte, error) {
	text, err := json.Marshal(records, jsontext.WithIndent("  "))
	if err != nil {
		return nil, fmt.Errorf("writing the lock file: %w", err)
	}
	return append(text, '\n'), nil
}

// Recipe says how to build a plugin. Paths are relative to the folder of the
// plugins.
type Recipe struct {
	Name    string
	Version string
	sources []string // files, or folders of which every source counts
	dir     string
	command []string // without the output, which is its last argument
	env     []string
	after   func(wasm []byte) ([]byte, error) // what is done to the module then; nil for nothing
	tool    func(ctx context.Context, plugins string) (string, error)
	// Long says that building takes so long that tests do it only when they may be long.
	Long bool
}

// ErrNoTool says that what compiles a plugin is not installed.
var ErrNoTool = errors.New("the compiler is not installed")

// Set is a group of plugins whose modules lie in one folder, with a lock file.
type Set struct {
	Folder  string // of the modules, relative to the folder of the plugins
	Lock    string // the lock file's name in it
	Recipes []Recipe
}

// Sets returns every plugin that is built: those that ship, that of "wharf demo", and those that tests
// and measurements run.
func Sets() []Set {
	return []Set{
		{Folder: "bundled", Lock: "bundled.lock", Recipes: Recipes()},
		{Folder: "bills/wasm", Lock: "bills.lock", Recipes: []Recipe{billsRecipe()}},
		{Folder: "plugintest/wasm", Lock: "plugintest.lock", Recipes: TestRecipes()},
		{Folder: "plugintest/workers/wasm", Lock: "workers.lock", Recipes: WorkerRecipes()},
		{Folder: "js/wasm", Lock: "engine.lock", Recipes: []Recipe{engineRecipe()}},
		{Folder: "py/wasm", Lock: "engine.lock", Recipes: []Recipe{pythonRecipe()}},
	}
}

// TestRecipes returns how to build the plugins of package plugintest.
func TestRecipes() []Recipe {
	var all []Recipe
	for _, name := range []string{"calls", "fixture", "steps"} {
		recipe := clangRecipe(name, "plugintest/src", name+".c", 8192)
		recipe.sources = []string{"plugintest/src/guest.h", "plugintest/src/" + name + ".c"}
		all = append(all, recipe)
	}
	return all
}

// billsRecipe builds the plugin of package bills, with what the test plugins have of the border to the host.
func billsRecipe() Recipe {
	recipe := clangRecipe("bills", "bills/src", "bills.c", 8192)
	recipe.sources = append(recipe.sources, "plugintest/src/guest.h")
	return recipe
}

// Recipes returns how to build each bundled plugin.
func Recipes() []Recipe {
	return []Recipe{
		goRecipe("agent", "1.2.0"),
		goRecipe("connectors", "1.0.0"),
		goRecipe("digest", "1.1.2"),
		clangRecipe("echo", "echo", "echo.c", 4096),
	}
}

// clangRecipe builds a plugin that is one source in C, with a stack of so many bytes.
func clangRecipe(name, dir, source string, stack int) Recipe {
	return Recipe{
		Name: name, Version: "1.0.0", dir: dir,
		sources: []string{dir + "/" + source},
		command: []string{"clang", "--target=wasm32", "-O2", "-msimd128", "-mbulk-memory", "-ffreestanding", "-nostdlib",
			"-Wall", "-Wextra", "-Werror", "-Wl,--no-entry", "-Wl,--strip-all", "-Wl,--stack-first",
			fmt.Sprintf("-Wl,-z,stack-size=%d", stack), source, "-o"},
		tool: clangVersion,
	}
}

// engineRecipe builds the engine of plugins in JavaScript, which needs a C library and the
// compiler's builtins: on Debian, the packages wasi-libc and libclang-rt-14-dev-wasm32, or
// that of the version of clang.
func engineRecipe() Recipe {
	const dir = "js/engine"
	return Recipe{
		Name: "engine", Version: "1.0.0", dir: dir, sources: []string{dir},
		command: []string{"clang", "--target=wasm32-wasi", "--sysroot=/", "-isystem", "/usr/include/wasm32-wasi", "-L/usr/lib/wasm32-wasi",
			"-mexec-model=reactor", "-O2", "-mbulk-memory", "-D_GNU_SOURCE", "-DNDEBUG", "-funsigned-char", "-w",
			"-Wl,--strip-all", "-Wl,--stack-first", "-Wl,-z,stack-size=1310720",
			"shim.c", "quickjs/quickjs.c", "quickjs/dtoa.c", "quickjs/libregexp.c", "quickjs/libunicode.c", "-o"},
		tool: engineVersion, Long: true,
	}
}

// pythonRecipe builds the engine of plugins in Python, with the same packages.
func pythonRecipe() Recipe {
	const dir = "py/engine"
	return Recipe{
		Name: "engine", Version: "1.0.0", dir: dir, sources: []string{dir, "internal/build/unwind"},
		command: slices.Concat([]string{"clang", "--target=wasm32-wasi", "--sysroot=/", "-isystem", "/usr/include/wasm32-wasi", "-L/usr/lib/wasm32-wasi",
			"-mexec-model=reactor", "-O2", "-mbulk-memory", "-DNDEBUG", "-funsigned-char", "-w", "-Wl,--strip-all", "-Wl,--stack-first",
			"-I.", "-Imicropython", "-mllvm", "-enable-emscripten-sjlj",
			"-Wl,--allow-undefined", "-Wl,--export=__THREW__", "-Wl,-z,stack-size=262144", "shim.c", "json.c", "unwind.c"}, micropython(), []string{"-o"}),
		after: unwind.Rewrite, tool: engineVersion, Long: true,
	}
}

// engineVersion is the version of clang, where it can build for wasm32-wasi.
func engineVersion(ctx context.Context, plugins string) (string, error) {
	builtins, err := firstLine(ctx, "clang", "--target=wasm32-wasi", "-print-libgcc-file-name")
	if err != nil {
		return "", err
	}
	for _, file := range []string{builtins, "/usr/include/wasm32-wasi/stdio.h"} {
		if _, err := os.Stat(file); err != nil {
			return "", fmt.Errorf("clang for wasm32-wasi (%s): %w", filepath.Base(file), ErrNoTool)
		}
	}
	return clangVersion(ctx, plugins)
}

// goRecipe builds a plugin that is a Go module of its own, with the guest SDK.
func goRecipe(name, version string) Recipe {
	return Recipe{
		Name: name, Version: version, dir: name,
		sources: []string{name, "../sdk/go"},
		command: []string{"go", "build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-o"},
		env: []string{"GOOS=wasip1", "GOARCH=wasm", "GOWASM=", "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=",
			"GOEXPERIMENT=", "GOTOOLCHAIN=local"},
		tool: goVersion,
	}
}

// goVersion is the version of the toolchain that runs this program, for the same
// toolchain builds the plugin.
func goVersion(context.Context, string) (string, error) { return runtime.Version(), nil }

func clangVersion(ctx context.Context, _ string) (string, error) {
	if _, err := exec.LookPath("wasm-ld"); err != nil {
		return "", fmt.Errorf("wasm-ld: %w", ErrNoTool)
	}
	return firstLine(ctx, "clang", "--version")
}

// Tool returns the name and version of what would compile the plugin of the given
// folder of plugins here. The error is ErrNoTool when there is none.
func (r Recipe) Tool(ctx context.Context, plugins string) (string, error) {
	return r.tool(ctx, plugins)
}

// Build compiles the plugin of the given folder of plugins.
func (r Recipe) Build(ctx context.Context, plugins string) (wasm []byte, err error) {
	scratch, err := os.MkdirTemp("", "wharf-plugin-")
	if err != nil {
		return nil, fmt.Errorf("building %s: %w", r.Name, err)
	}
	defer os.RemoveAll(scratch)
	output := filepath.Join(scratch, r.Name+".wasm")
	args := slices.Concat(r.command[1:], []string{output})
	cmd := exec.CommandContext(ctx, r.command[0], args...)
	cmd.Dir = filepath.Join(plugins, r.dir)
	cmd.Env = append(os.Environ(), r.env...)
	if said, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building %s: %w\n%s", r.Name, err, said)
	}
	wasm, err = os.ReadFile(output)
	if err == nil && r.after != nil {
		wasm, err = r.after(wasm)
	}
	if err != nil {
		return nil, fmt.Errorf("building %s: %w", r.Name, err)
	}
	return wasm, nil
}

// Record returns what the lock file has to say about a module that was just built.
func (r Recipe) Record(ctx context.Context, plugins string, wasm []byte) (Record, error) {
	tool, err := r.Tool(ctx, plugins)
	if err != nil {
		return Record{}, err
	}
	sources, err := r.HashSources(plugins)
	if err != nil {
		return Record{}, err
	}
	return Record{Name: r.Name, Version: r.Version, Tool: tool, Sources: sources, Wasm: Hash(wasm)}, nil
}

// Hash returns the SHA-256 of b, in hex.
func Hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// HashSources returns the SHA-256 over the command and over every source by name.
func (r Recipe) HashSources(plugins string) (string, error) {
	var all bytes.Buffer
	fmt.Fprintf(&all, "%q %q\n", r.env, r.command)
	for _, source := range r.sources {
		if err := addSources(&all, plugins, source); err != nil {
			return "", fmt.Errorf("reading the sources of %s: %w", r.Name, err)
		}
	}
	return Hash(all.Bytes()), nil
}

func addSources(all *bytes.Buffer, plugins, source string) error {
	return filepath.WalkDir(filepath.Join(plugins, source), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !isSource(path) {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(plugins, path)
		if err != nil {
			return err
		}
		fmt.Fprintf(all, "%s %d\n", filepath.ToSlash(name), len(text))
		all.Write(text)
		return nil
	})
}

// isSource reports whether a file goes into the module.
func isSource(path string) bool {
	name := filepath.Base(path)
	switch filepath.Ext(name) {
	case ".c", ".h", ".mod", ".sum", ".rs", ".ts", ".wat":
		return true
	case ".go":
		return !strings.HasSuffix(name, "_test.go")
	}
	return name == "package-lock.json"
}
