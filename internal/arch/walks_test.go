package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Whoever follows a walk of the guide finds each station: the file is there, and declares
// the functions that stand behind it.
func TestWalksLeadSomewhere(t *testing.T) {
	text, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, walks, found := strings.Cut(string(text), "## Five walks\n")
	walks, _, ended := strings.Cut(walks, "\n## ")
	if !found || !ended {
		t.Fatal("docs/architecture.md has no section with the five walks")
	}
	stations, functions := 0, 0
	path, source := "", ""
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(walks, -1) {
		switch name := m[1]; {
		case strings.HasSuffix(name, ".go"):
			stations++
			if strings.Contains(name, "/") {
				path, source = sourceOf(t, name)
			} else {
				path, source = sourceOf(t, filepath.Base(filepath.Dir(path))+"/"+name)
			}
		case strings.Contains(name, "/"):
			path, source = "", ""
		case !regexp.MustCompile(`(?m)^func (\([^)]*\) )?` + name + `[\[(]`).MatchString(source):
			t.Errorf("%s declares no function %s", path, name)
		default:
			functions++
		}
	}
	if stations < 30 || functions < 30 {
		t.Errorf("the walks have %d stations and %d functions", stations, functions)
	}
}

// sourceOf returns the file that ends in the given path, and what it holds.
func sourceOf(t *testing.T, name string) (path, source string) {
	for _, root := range []string{"../..", "../../runtime", "../../storage"} {
		path = filepath.Join(root, name)
		if text, err := os.ReadFile(path); err == nil {
			return path, string(text)
		}
	}
	t.Errorf("there is no %s", name)
	return path, ""
}
