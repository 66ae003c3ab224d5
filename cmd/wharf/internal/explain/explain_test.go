package explain

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite docs/errors.md")

// declared returns the values of the string constants of a package that keep says to, by
// their names and types.
func declared(t *testing.T, dir string, keep func(name, kind string) bool) (codes []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../../../..", dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there is no package %s: %v", dir, err)
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				return true
			}
			kind, _ := spec.Type.(*ast.Ident)
			name := ""
			if kind != nil {
				name = kind.Name
			}
			if value, ok := spec.Values[0].(*ast.BasicLit); ok && value.Kind != token.CHAR && keep(spec.Names[0].Name, name) {
				codes = append(codes, codeOf(spec.Names[0].Name, value))
			}
			return true
		})
	}
	return codes
}

// codeOf is the value of a constant. Numbers of host calls have the name of theirs in front.
func codeOf(name string, value *ast.BasicLit) string {
	if value.Kind == token.STRING {
		code, _ := strconv.Unquote(value.Value) // it was parsed
		return code
	}
	if call, ok := strings.CutPrefix(name, "Call"); ok {
		return strings.ToLower(words.ReplaceAllString(call, "${1}_$2"))
	}
	return value.Value
}

// words stands between two words of a name.
var words = regexp.MustCompile(`([a-z])([A-Z])`)

// Every code that is declared has a page, and no page is of a code that is not.
func TestEachCodeHasAPage(t *testing.T) {
	typed := func(want string) func(name, kind string) bool {
		return func(_, kind string) bool { return kind == want }
	}
	named := func(prefix string) func(name, kind string) bool {
		return func(name, kind string) bool { return kind == "" && strings.HasPrefix(name, prefix) }
	}
	want := map[Kind][]string{
		Answer:   declared(t, "abi", typed("ErrorCode")),
		Failure:  append(declared(t, "abi", named("Failure")), declared(t, "sdk/go", func(name, _ string) bool { return name == "CodePanic" })...),
		Inbox:    declared(t, "abi", typed("InboxReason")),
		Manifest: declared(t, "runtime/manifest", typed("Code")),
		Status:   declared(t, "abi", typed("CallStatus")),
	}
	for _, code := range declared(t, "cmd/wharf", named("exit")) {
		want[Exit] = append(want[Exit], "exit "+code)
	}
	for _, k := range Kinds() {
		var have []string
		for _, p := range Pages() {
			if p.Kind == k {
				have = append(have, p.Code)
			}
		}
		done := func(code string) bool { return k == Status && code == "ok" }
		codes := slices.Compact(slices.Sorted(slices.Values(slices.DeleteFunc(want[k], done))))
		if slices.Sort(have); len(codes) == 0 || !slices.Equal(have, codes) {
			t.Errorf("%s: there are pages about\n%q\nand the codes are\n%q", k, have, codes)
		}
	}
}

// A page says something, in words that can be shown in a line or a paragraph.
func TestPagesAreWhole(t *testing.T) {
	for _, p := range Pages() {
		if p.Short == "" || strings.HasSuffix(p.Short, ".") || len(p.Short) > 80 {
			t.Errorf("%s: its short description is %q: want a phrase without a full stop", p.Code, p.Short)
		}
		for _, text := range []string{p.Means, p.Do} {
			if !strings.HasSuffix(text, ".") || strings.Contains(text, "\n") {
				t.Errorf("%s: %q are no sentences", p.Code, text)
			}
		}
		if found := Find(p.Code); !slices.Contains(found, p) {
			t.Errorf("%s is not found, but %v", p.Code, found)
		}
	}
}

func TestFind(t *testing.T) {
	for asked, want := range map[string]string{"plugin_trap": "plugin_trap", " Plugin_Trap: ": "plugin_trap", "exit  3": "exit 3", "3": "exit 3", "status 2": "denied", `"conflict".`: "conflict"} {
		if found := Find(asked); len(found) != 1 || found[0].Code != want {
			t.Errorf("%q finds %v", asked, found)
		}
	}
	if found := Find("deadline_exceeded"); len(found) != 2 || found[0].Kind == found[1].Kind {
		t.Errorf("what a Task fails with, and what a node answers, are %v", found)
	}
	if found := Find(""); len(found) > 0 {
		t.Errorf("nothing is %v", found)
	}
	for asked, want := range map[string]string{"plugin_tarp": "plugin_trap", "plugin_memory": "plugin_memory_exceeded", "zzzzzz": "", "": ""} {
		if near := Near(asked); near != want {
			t.Errorf("near %q is %q", asked, near)
		}
	}
}

func TestReferenceIsCurrent(t *testing.T) {
	const path = "../../../../docs/errors.md"
	if *update {
		if err := os.WriteFile(path, []byte(Reference()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != Reference() {
		t.Error("docs/errors.md is not what the pages say: go test ./cmd/wharf/internal/explain -update")
	}
}
