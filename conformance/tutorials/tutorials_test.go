package tutorials

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
	"github.com/wharf-dev/wharf/internal/cargotest"
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
	root, err := nodetest.Root()
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(root, "docs", "tutorials", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("there are %d tutorials, %v", len(pages), err)
	}
	for _, page := range pages {
		language := strings.TrimSuffix(filepath.Base(page), ".md")
		t.Run(language, func(t *testing.T) {
			prepare(t, language)
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			words := strings.NewReplacer("npm install --ignore-scripts\n", "ln -s "+filepath.Join(root, installed)+" node_modules\n")
			follow(t, stepsOf(t, words.Replace(string(text))))
		})
	}
}

// installed is where npm has put the compiler of AssemblyScript, of the version that plugins ask for: no test asks a
// registry.
const installed = "sdk/assemblyscript/node_modules"

// prepare skips the page of a language whose toolchain is missing.
func prepare(t *testing.T, language string) {
	t.Helper()
	for _, tool := range append(needed[language], "bash") {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	if (language == "rust" || language == "assemblyscript") && os.Getenv("WHARF_LONG") == "" {
		t.Skip("its compiler takes long: set WHARF_LONG=1 to run it")
	}
	switch language {
	case "rust":
		cargotest.UseDebiansCrates(t)
	case "assemblyscript":
		if _, err := os.Stat(filepath.Join("../..", installed, ".bin", "asc")); err != nil {
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

// follow does the steps in one shell, as what a command sets the next one needs.
func follow(t *testing.T, steps []step) {
	t.Helper()
	n := builder.Start(t)
	dir := t.TempDir()
	var script strings.Builder
	fmt.Fprintf(&script, "export PATH=%q:$PATH WHARF_SERVER=%s WHARF_API_KEY=%s\n", filepath.Dir(builder.Binary(t)), n.URL, nodetest.Key)
	for i, s := range steps {
		switch {
		case s.file != "":
			fmt.Fprintf(&script, "cat >%s <<'CONTENT'\n%sCONTENT\n", s.file, s.content)
		case s.fails:
			fmt.Fprintf(&script, "if {\n%s} >%s 2>&1; then echo 'this does not fail, step %d'; exit 1; fi\n", s.commands, printed(dir, i), i)
		default: // with braces alone, so that variables stay
			fmt.Fprintf(&script, "{\n%s} >%s 2>&1\n", s.commands, printed(dir, i))
		}
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script.String())
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	for i, s := range steps {
		if s.file != "" {
			continue
		}
		text, _ := os.ReadFile(printed(dir, i)) // a step that was not reached has printed nothing
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
		t.Fatalf("%v\n%s", err, out)
	}
}

// printed is the file that the output of a step goes to.
func printed(dir string, step int) string {
	return filepath.Join(dir, fmt.Sprintf("step-%d.txt", step))
}
