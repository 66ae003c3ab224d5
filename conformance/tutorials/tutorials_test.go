package tutorials

import (
	"bytes"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
	"github.com/wharf-dev/wharf/internal/cargotest"
	"github.com/wharf-dev/wharf/internal/loopback"
	"github.com/wharf-dev/wharf/internal/share"
	"github.com/wharf-dev/wharf/runtime/manifest"
)

var builder = nodetest.NewBuilder()

func TestMain(m *testing.M) {
	status := m.Run()
	if err := builder.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	os.Exit(status)
}

// needed is what has to be installed for a language. A page of a language that is not here needs nothing.
var needed = map[string][]string{"go": {"go"}, "rust": {"cargo"}, "c": {"clang", "wasm-ld"}, "assemblyscript": {"node"}}

// TestTutorials runs the commands of each page as they stand there. They do what the page says: print the lines
// that it shows, and fail where it says that they do.
func TestTutorials(t *testing.T) {
	for i, page := range pages(t, "docs/tutorials/*.md") {
		language := strings.TrimSuffix(filepath.Base(page), ".md")
		t.Run(language, func(t *testing.T) {
			prepare(t, language, i)
			follow(t, page, builder.Start(t), t.TempDir())
		})
	}
}

// TestExamples does the same with the page of each example, in a copy of its folder, on a node with the example's
// configuration.
func TestExamples(t *testing.T) {
	for i, page := range pages(t, "examples/*/README.md") {
		folder := filepath.Dir(page)
		t.Run(filepath.Base(folder), func(t *testing.T) {
			prepare(t, languageOf(t, folder), i)
			root := t.TempDir()
			dir := filepath.Join(root, "examples", filepath.Base(folder))
			if err := os.CopyFS(dir, os.DirFS(folder)); err != nil {
				t.Fatal(err)
			}
			moveWebsite(t, dir)
			if err := os.Symlink(filepath.Join(folder, "../../sdk"), filepath.Join(root, "sdk")); err != nil {
				t.Fatal(err)
			}
			o := nodetest.Options{Dir: dir}
			if config := filepath.Join(dir, "node.yaml"); exists(config) {
				o.Args = []string{"--config", config}
			}
			follow(t, filepath.Join(dir, filepath.Base(page)), builder.StartWith(t, o), dir)
		})
	}
}

// examplePort is the port of the website that an example reads. A grant names it, so it stands in the example's files.
const examplePort = "28473"

// moveWebsite has an example use a port that is free, in all of its files: its own may be somebody else's on this machine.
func moveWebsite(t *testing.T, dir string) {
	t.Helper()
	_, free, err := net.SplitHostPort(loopback.Free(t))
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil && bytes.Contains(text, []byte(examplePort)) {
			err = os.WriteFile(path, bytes.ReplaceAll(text, []byte(examplePort), []byte(free)), 0o644)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// pages returns the files of the repository that a pattern names. There are some.
func pages(t *testing.T, pattern string) []string {
	t.Helper()
	root, err := nodetest.Root()
	if err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(root, pattern))
	if err != nil || len(found) == 0 {
		t.Fatalf("%s names %d pages, %v", pattern, len(found), err)
	}
	return found
}

// languageOf returns the language that a plugin's manifest says.
func languageOf(t *testing.T, folder string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, manifest.FileName))
	if err != nil {
		t.Fatal(err)
	}
	m, problems := manifest.Parse(text)
	if m == nil {
		t.Fatalf("its manifest: %v", problems)
	}
	return m.Language
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// installed is where npm has put the compiler of AssemblyScript, of the version that plugins ask for: no test asks a
// registry.
const installed = "sdk/assemblyscript/node_modules"

// prepare skips the page of a language whose toolchain is missing. Those with slow compilers take turns.
func prepare(t *testing.T, language string, turn int) {
	t.Helper()
	for _, tool := range append(needed[language], "bash") {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	if language == "rust" || language == "assemblyscript" {
		if os.Getenv("WHARF_LONG") == "" {
			t.Skip("its compiler takes long: set WHARF_LONG=1 to run it")
		}
		share.Quarter(t, turn)
	}
	switch language {
	case "rust":
		cargotest.UseDebiansCrates(t)
	case "assemblyscript":
		if !exists(filepath.Join("../..", installed, ".bin", "asc")) {
			t.Skip("its compiler is not installed: npm ci in sdk/assemblyscript gets it")
		}
	}
}

// step is one thing that a reader does.
type step struct {
	file, content string   // what is written into a file of the plugin; or
	commands      string   // what is run
	fails         bool     // which says so
	prints        []string // lines, among others
}

var (
	blocks = regexp.MustCompile("(?s)(<!-- run(?: fails)? -->)?\n```(\\w+)\n(.*?)```")
	file   = regexp.MustCompile("Write this into `([^`]+)`:\n$")
)

// stepsOf reads a page. Every block of it is a step, or what the step before it prints.
func stepsOf(t *testing.T, page string) []step {
	t.Helper()
	var steps []step
	for _, at := range blocks.FindAllStringSubmatchIndex(page, -1) {
		mark, language, content := "", page[at[4]:at[5]], page[at[6]:at[7]]
		if at[2] >= 0 {
			mark = page[at[2]:at[3]]
		}
		into := file.FindStringSubmatch(page[:at[0]])
		switch {
		case mark != "" && language == "sh":
			steps = append(steps, step{commands: content, fails: strings.Contains(mark, "fails")})
		case language == "text" && len(steps) > 0:
			steps[len(steps)-1].prints = strings.Split(strings.TrimSuffix(content, "\n"), "\n")
		case into != nil:
			steps = append(steps, step{file: into[1], content: content})
		default:
			t.Fatalf("nothing says what is to be done with this block:\n%s", content)
		}
	}
	return steps
}

// follow does what a page says, in a folder and in one shell, as what a command sets the next one needs.
func follow(t *testing.T, page string, n *nodetest.Node, dir string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	npm, err := filepath.Abs(filepath.Join("../..", installed))
	if err != nil {
		t.Fatal(err)
	}
	steps := stepsOf(t, strings.ReplaceAll(string(text), "npm install --ignore-scripts\n", "ln -s "+npm+" node_modules\n"))
	out := t.TempDir()
	var script strings.Builder
	fmt.Fprintf(&script, "export PATH=%q:$PATH WHARF_SERVER=%s WHARF_API_KEY=%s\n", filepath.Dir(builder.Binary(t)), n.URL, nodetest.Key)
	for i, s := range steps {
		switch {
		case s.file != "":
			fmt.Fprintf(&script, "cat >%s <<'CONTENT'\n%sCONTENT\n", s.file, s.content)
		case s.fails:
			fmt.Fprintf(&script, "if {\n%s} >%s 2>&1; then echo 'this does not fail, step %d'; exit 1; fi\n", s.commands, printed(out, i), i)
		default: // with braces alone, so that variables stay
			fmt.Fprintf(&script, "{\n%s} >%s 2>&1\n", s.commands, printed(out, i))
		}
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script.String())
	cmd.Dir = dir
	said, err := cmd.CombinedOutput()
	for i, s := range steps {
		if s.file != "" {
			continue
		}
		text, _ := os.ReadFile(printed(out, i)) // a step that was not reached has printed nothing
		for _, line := range s.prints {
			if !strings.Contains(string(text), line) {
				t.Errorf("%q is not in what this prints:\n%s\n%s", line, s.commands, text)
			}
		}
		if err != nil {
			t.Logf("%s\n%s", s.commands, text)
		}
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
}

// printed is the file that the output of a step goes to.
func printed(dir string, step int) string {
	return filepath.Join(dir, fmt.Sprintf("step-%d.txt", step))
}
