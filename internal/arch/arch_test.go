package arch

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/internal/share"
)

// root is the top of the repository, seen from this package.
const root = "../.."

// modules are the patterns that together name every package of the workspace.
var modules = []string{"./...", "./sdk/client/go/...", "./sdk/go/...", "./examples/gauges/...", "./plugins/agent/...", "./plugins/conformance/...", "./plugins/connectors/...", "./plugins/digest/..."}

type listed struct {
	ImportPath, Dir                    string
	Imports, TestImports, XTestImports []string
}

func listPackages(t *testing.T) []listed {
	t.Helper()
	args := append([]string{"list", "-e", "-json=ImportPath,Dir,Imports,TestImports,XTestImports"}, modules...)
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &stderr)
	}
	var all []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func TestHouseRules(t *testing.T) {
	packages := listPackages(t)
	isABI := func(p listed) bool { return p.ImportPath == ModulePath+"/abi" }
	if !slices.ContainsFunc(packages, isABI) {
		t.Fatalf("package abi is not among the %d found: the patterns are wrong", len(packages))
	}
	for _, p := range packages {
		broken := CheckImports(Package{p.ImportPath, p.Imports, slices.Concat(p.TestImports, p.XTestImports)})
		broken = append(broken, CheckName(p.ImportPath)...)
		inSource, err := CheckSource(p.Dir, Guest(p.ImportPath))
		if err != nil {
			t.Error(err)
		}
		paths, err := CheckPaths(p.ImportPath, p.Dir)
		if err != nil {
			t.Error(err)
		}
		for _, b := range slices.Concat(broken, inSource, paths) {
			t.Error(b)
		}
	}
}

func TestDependenciesAreExplained(t *testing.T) {
	rationale, err := os.ReadFile(filepath.Join(root, "docs/RATIONALE.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range listPackages(t) {
		for _, b := range CheckExplained(Package{p.ImportPath, p.Imports, slices.Concat(p.TestImports, p.XTestImports)}, string(rationale)) {
			t.Error(b, "(docs/RATIONALE.md)")
		}
	}
}

func TestTrackedFiles(t *testing.T) {
	for _, name := range trackedFiles(t) {
		broken, err := CheckText(filepath.Join(root, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // removed, not yet committed
			t.Error(err)
		}
		for _, b := range broken {
			t.Error(b)
		}
	}
}

func trackedFiles(t *testing.T) []string {
	t.Helper()
	cmd := exec.Command("git", "ls-files", "-z")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("the tracked files cannot be listed: this is no git checkout, or git is missing (%v)", err)
	}
	return strings.Split(strings.TrimRight(string(out), "\x00"), "\x00")
}

func TestLinks(t *testing.T) {
	for _, name := range trackedFiles(t) {
		if filepath.Ext(name) != ".md" || strings.Contains(name, "testdata/") {
			continue
		}
		broken, err := CheckLinks(filepath.Join(root, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
		for _, b := range broken {
			t.Error(b)
		}
	}
}

func TestDocumentsNameTestsThatExist(t *testing.T) {
	known := map[string]bool{}
	tracked := trackedFiles(t)
	for _, name := range tracked {
		if !strings.HasSuffix(name, "_test.go") {
			continue
		}
		if err := TestsIn(filepath.Join(root, name), known); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	}
	for _, name := range tracked {
		if filepath.Ext(name) != ".md" || strings.Contains(name, "testdata/") || filepath.Base(name) == "CHANGELOG.md" {
			continue
		}
		broken, err := CheckTestNames(filepath.Join(root, name), known)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
		for _, b := range broken {
			t.Error(b)
		}
	}
}

func TestCommentsCiteWhatIsThere(t *testing.T) {
	for _, name := range trackedFiles(t) {
		if filepath.Ext(name) != ".go" || strings.Contains(name, "testdata/") {
			continue
		}
		broken, err := CheckCitations(root, filepath.Join(root, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
		for _, b := range broken {
			t.Error(b)
		}
	}
}

// TestCrossBuilds builds every package for the supported targets without cgo.
func TestCrossBuilds(t *testing.T) {
	if os.Getenv("WHARF_LONG") == "" {
		t.Skip("builds everything three times over: set WHARF_LONG=1 to run it")
	}
	for i, target := range []string{"linux/amd64", "linux/arm64", "darwin/arm64"} {
		t.Run(target, func(t *testing.T) {
			share.Quarter(t, i)
			system, processor, _ := strings.Cut(target, "/")
			cmd := exec.Command("go", "build", "./...")
			cmd.Dir = root
			cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+processor)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
		})
	}
}

func TestCheckImports(t *testing.T) {
	for _, c := range []struct {
		from, imp string
		test      bool
		rule      string // part of the sentence, "" when the import is allowed
	}{
		{from: "gateway", imp: "runtime/engine"},
		{from: "gateway", imp: "gateway/harn"},
		{from: "gateway/harn", imp: "gateway"},
		{from: "gateway/harn", imp: "gateway/harn/internal/sse"},
		{from: "gateway/harn", imp: "gateway/internal/sse"},
		{from: "gateway/harn", imp: "gateway/api"},
		{from: "gateway/api", imp: "runtime/engine"},
		{from: "runtime/engine", imp: "runtime/sandbox"},
		{from: "cmd/wharf", imp: "storage/pebble"},
		{from: "benches", imp: "storage/pebble"},
		{from: "plugins/digest", imp: "sdk/go"},
		{from: "gateway", imp: "storage/pebble", test: true},

		{from: "abi", imp: "storage", rule: "downwards only"},
		{from: "storage/pebble", imp: "runtime/engine", rule: "downwards only"},
		{from: "plugins", imp: "runtime/sandbox", rule: "downwards only"},
		{from: "runtime/engine", imp: "gateway", rule: "downwards only"},
		{from: "runtime/engine", imp: "cmd/wharf/internal/config", rule: "downwards only"},
		{from: "gateway/harn", imp: "storage", rule: "no adapter touches storage"},
		{from: "gateway", imp: "storage/pebble", rule: "no adapter touches storage"},
		{from: "gateway/harn", imp: "runtime/redact", rule: "ask gateway/api"},
		{from: "gateway/api", imp: "storage", rule: "no adapter touches storage"},
		{from: "gateway/harn", imp: "gateway/mcp", rule: "never imports another"},
		{from: "runtime/lifecycle", imp: "abi"},
		{from: "runtime/lifecycle", imp: "storage", rule: "read by itself"},
		{from: "runtime/lifecycle", imp: "runtime/engine", rule: "read by itself"},
		{from: "runtime/scheduler", imp: "runtime/lockrank"},
		{from: "runtime/scheduler", imp: "abi", rule: "read by itself"},
		{from: "runtime/ledger", imp: "storage"},
		{from: "runtime/ledger", imp: "runtime/receipt", rule: "read by itself"},
		{from: "runtime/ledger", imp: "storage/pebble", rule: "read by itself"},
		{from: "runtime/sandbox/extism", imp: "runtime/sandbox/guest"},
		{from: "runtime/sandbox/extism", imp: "runtime/sandbox", rule: "read by itself"},
		{from: "runtime/sandbox/guest", imp: "runtime/sandbox/rewrite", rule: "read by itself"},
		{from: "runtime/replay", imp: "runtime/engine", rule: "none of them knows it"},
		{from: "runtime/engine", imp: "storage/pebble", rule: "no engine behind it"},
		{from: "runtime/engine", imp: "storage/memory", rule: "no engine behind it"},
		{from: "runtime/engine", imp: "storage/pebble", test: true},
		{from: "runtime/enginetest", imp: "runtime/engine"},
		{from: "runtime/enginetest", imp: "storage/pebble/crashtest"},
		{from: "runtime/enginetest", imp: "gateway", rule: "read by itself"},
		{from: "runtime/engine", imp: "runtime/enginetest", test: true},
		{from: "gateway/harn", imp: "runtime/enginetest", test: true},
		{from: "runtime/engine", imp: "runtime/enginetest", rule: "for tests"},
		{from: "gateway/harn", imp: "runtime/enginetest", rule: "for tests"},
		{from: "cmd/wharf", imp: "storage/pebble/crashtest", rule: "for tests"},
		{from: "conformance", imp: "abi", rule: "stands on its own"},
		{from: "sdk/go", imp: "abi", rule: "stands on its own"},
		{from: "sdk/client/go", imp: "abi", rule: "stands on its own"},
		{from: "sdk/client/go", imp: "sdk/go", rule: "stands on its own"},
		{from: "plugins/digest", imp: "plugins", rule: "stands on its own"},
		{from: "cmd/wharf", imp: "conformance", rule: "depends on conformance"},
		{from: "cmd/wharf/internal/node", imp: "conformance/openharness"},
		{from: "gateway/openharness", imp: "conformance/openharness", rule: "depends on conformance/openharness"},
		{from: "runtime/engine", imp: "conformance/openharness", rule: "depends on conformance/openharness"},
		{from: "conformance/openharness", imp: "conformance", rule: "stands on its own"},
		{from: "conformance/cmd/openharness-conformance", imp: "conformance/openharness"},
	} {
		p := Package{Path: ModulePath + "/" + c.from}
		if c.test {
			p.TestImports = []string{ModulePath + "/" + c.imp}
		} else {
			p.Imports = []string{ModulePath + "/" + c.imp}
		}
		wantRule(t, c.from+" → "+c.imp, CheckImports(p), c.rule)
	}
}

func TestCheckLibraries(t *testing.T) {
	for _, c := range []struct{ from, imp, rule string }{
		{"runtime/sandbox", "github.com/tetratelabs/wazero/api", ""},
		{"runtime/engine", "github.com/tetratelabs/wazero", "only runtime/sandbox"},
		{"runtime/engine", "github.com/extism/go-sdk", "only runtime/sandbox"},
		{"storage/pebble", "github.com/cockroachdb/pebble/v2/vfs", ""},
		{"storage", "github.com/cockroachdb/pebble/v2", "only storage/pebble"},
		{"sdk/go", "encoding/json", ""},
		{"sdk/client/go", "encoding/json", ""},
		{"gateway", "encoding/json", "duplicate keys"},
		{"runtime/provider/web", "net/http", ""},
		{"gateway", "net/http", ""},
		{"runtime/sessions", "net/http", "speaks no protocol"},
		{"runtime/engine", "net/http", "speaks no protocol"},
	} {
		got := CheckImports(Package{Path: ModulePath + "/" + c.from, Imports: []string{c.imp}})
		if len(got) > 1 {
			got = got[:1]
		}
		wantRule(t, c.from+" → "+c.imp, got, c.rule)
	}
	inTest := CheckImports(Package{Path: ModulePath + "/gateway", TestImports: []string{"github.com/tetratelabs/wazero"}})
	wantRule(t, "a test of gateway → wazero", inTest, "only runtime/sandbox")
}

func TestCheckExplained(t *testing.T) {
	const text = "Uses `spf13/cobra` and `golang.org/x/term`."
	for imp, rule := range map[string]string{
		"github.com/spf13/cobra":      "",
		"github.com/spf13/cobra/doc":  "",
		"golang.org/x/term":           "",
		"net/http":                    "",
		ModulePath + "/abi":           "",
		"github.com/spf13/viper":      "nothing says why",
		"github.com/cobra":            "nothing says why",
		"golang.org/x/term2/terminal": "nothing says why",
	} {
		wantRule(t, imp, CheckExplained(Package{Path: ModulePath + "/cmd/wharf", Imports: []string{imp}}, text), rule)
	}
}

func TestCheckName(t *testing.T) {
	wantRule(t, "storage/util", CheckName(ModulePath+"/storage/util"), "does not say")
	wantRule(t, "storage/pebble", CheckName(ModulePath+"/storage/pebble"), "")
}

func TestCheckSource(t *testing.T) {
	const doc = "// Package p is a package.\npackage p\n"
	for name, c := range map[string]struct{ doc, code, rule string }{
		"fine":              {doc, "var names = []string{\"a\"}\nfunc f() { names := 1; names = 2; _ = names }", ""},
		"no comment":        {"package p\n", "", "no doc.go"},
		"no doc.go":         {"", "", "no doc.go"},
		"not a main":        {"", "var x = 1", "no doc.go"},
		"init":              {doc, "func init() {}", "behind the caller's back"},
		"a method init":     {doc, "type t int\nfunc (t) init() {}", ""},
		"assigned":          {doc, "var x int\nfunc f() { x = 1 }", "package variable x"},
		"counted":           {doc, "var x int\nfunc f() { x++ }", "package variable x"},
		"element assigned":  {doc, "var x = map[int]int{}\nfunc f() { x[1] = 1 }", "package variable x"},
		"member assigned":   {doc, "var x struct{ n int }\nfunc f() { x.n = 1 }", "package variable x"},
		"shadowed by param": {doc, "var x int\nfunc f(x int) { x = 1 }", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if c.doc != "" {
				writeFile(t, filepath.Join(dir, "doc.go"), c.doc)
			}
			writeFile(t, filepath.Join(dir, "code.go"), "package p\n"+c.code)
			got, err := CheckSource(dir, false)
			if err != nil {
				t.Fatal(err)
			}
			wantRule(t, name, got, c.rule)
		})
	}
}

func TestCheckPaths(t *testing.T) {
	for _, c := range []struct{ in, code, rule string }{
		{"runtime/sessions", `var at = "/v1/sessions/" + "s"`, "is a path"},
		{"runtime/engine", "func f() string { return `see PATCH /wharf/v1/quotas` }", "is a path"},
		{"runtime/sessions", "var at = \"wharf:transcript/\" // not /v1/sessions", ""},
		{"runtime/internal/roomtest", `var at = "/v1/things"`, ""},
		{"gateway/api", `var at = "/v1/sessions/"`, ""},
	} {
		dir := t.TempDir()
		writeFile(t, filepath.Join(dir, "code.go"), "package p\n"+c.code)
		writeFile(t, filepath.Join(dir, "code_test.go"), "package p\nvar tested = \"/v1/sessions/\"")
		got, err := CheckPaths(ModulePath+"/"+c.in, dir)
		if err != nil {
			t.Fatal(err)
		}
		wantRule(t, c.in+": "+c.code, got, c.rule)
	}
}

func TestCheckText(t *testing.T) {
	dir := t.TempDir()
	for _, b := range banned {
		name := filepath.Join(dir, "bad.txt")
		writeFile(t, name, "first line\nsee "+b.text+" for more\n")
		got, err := CheckText(name)
		if err != nil {
			t.Fatal(err)
		}
		wantRule(t, b.text, got, "bad.txt:2")
	}
	name := filepath.Join(dir, "binary")
	writeFile(t, name, "\x00asm"+banned[0].text)
	got, err := CheckText(name)
	if err != nil || len(got) > 0 {
		t.Errorf("a binary file was read as text: %v, %v", got, err)
	}
}

func TestCheckLinks(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "a_test.go"), "func TestA(t *testing.T) {}")
	for text, rule := range map[string]string{
		"[a](a_test.go)":                  "",
		"[here](#below)":                  "",
		"[there](https://example.com/x)":  "",
		"[the folder](.)":                 "",
		"[TestA](a_test.go)":              "",
		"[`TestA`](a_test.go#L1)":         "",
		"[TestB](a_test.go)":              "TestB is not in",
		"[gone](missing.md)":              "leads nowhere",
		"first [a](a_test.go), [b](b.md)": "leads nowhere",
	} {
		name := filepath.Join(dir, "doc.md")
		writeFile(t, name, text)
		got, err := CheckLinks(name)
		if err != nil {
			t.Fatal(err)
		}
		wantRule(t, text, got, rule)
	}
}

func TestCheckTestNames(t *testing.T) {
	dir := t.TempDir()
	source, doc := filepath.Join(dir, "a_test.go"), filepath.Join(dir, "doc.md")
	writeFile(t, source, "func TestA(t *testing.T) {}\nfunc FuzzB(f *testing.F) {}")
	known := map[string]bool{}
	if err := TestsIn(source, known); err != nil {
		t.Fatal(err)
	}
	for text, rule := range map[string]string{
		"held by `TestA` and `FuzzB`": "", "`TestB` holds it": "no test TestB", "Testing is `Testing`": "",
	} {
		writeFile(t, doc, text)
		got, err := CheckTestNames(doc, known)
		if err != nil {
			t.Fatal(err)
		}
		wantRule(t, text, got, rule)
	}
}

func TestCheckCitations(t *testing.T) {
	top := t.TempDir()
	if err := os.Mkdir(filepath.Join(top, "docs"), 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(top, "docs/a.md"), "# A\n## 1. One\n### 1.1 Within\n## Why so?\n| 8.1 | row |\n| x | 9.9 |\n")
	name := filepath.Join(top, "a.go")
	for comment, rule := range map[string]string{
		"see docs/a.md, and docs/a.md":      "",
		"(docs/a.md, 1)":                    "",
		"(docs/a.md, 1.1).":                 "",
		"(docs/a.md,\n// 8.1)":              "",
		`(docs/a.md, "Why so")`:             "",
		"(RFC 6962,\n// section 2.1)":       "",
		"in this section":                   "",
		"see docs/b.md":                     "docs/b.md is not there",
		"(docs/a.md, 2)":                    "2 is not there",
		"(docs/a.md, 9.9)":                  "9.9 is not there",
		`(docs/a.md, "Why")`:                "is not there",
		"(of some paper, section 8, row 7)": "not in the tree",
	} {
		writeFile(t, name, "// Package a. "+comment+"\npackage a\n")
		got, err := CheckCitations(top, name)
		if err != nil {
			t.Fatal(err)
		}
		wantRule(t, comment, got, rule)
	}
}

func wantRule(t *testing.T, name string, broken []string, rule string) {
	t.Helper()
	switch {
	case rule == "" && len(broken) > 0:
		t.Errorf("%s: allowed, but reported: %v", name, broken)
	case rule != "" && (len(broken) != 1 || !strings.Contains(broken[0], rule)):
		t.Errorf("%s: reported %q, want one sentence with %q", name, broken, rule)
	}
}

func writeFile(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestLinkerLeavesMethodsOut holds that nothing calls methods by names that only a run knows. Templates do:
// with them the linker keeps each method of each type, a ninth of the program.
func TestLinkerLeavesMethodsOut(t *testing.T) {
	const cobra = "github.com/spf13/cobra" // for templates of its caller's, of which there are none
	cmd := exec.Command("go", "list", "-deps", "-f", `{{$p := .ImportPath}}{{range .Imports}}{{$p}} {{.}}{{"\n"}}{{end}}`, "./cmd/wharf")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatal("go list:", err)
	}
	for line := range strings.Lines(string(out)) {
		from, imported, _ := strings.Cut(strings.TrimSpace(line), " ")
		if (imported == "text/template" || imported == "html/template") && from != "html/template" && from != cobra {
			t.Errorf("%s imports %s", from, imported)
		}
	}
}
