package pages

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/conformance/internal/nodetest"
)

// fence is a block of a document.
type fence struct {
	line           int
	language, text string
}

var fenced = regexp.MustCompile("(?m)^```([^\n`]*)\n((?s:.*?)\n)?```$")

// fences returns the blocks of a document.
func fences(t *testing.T, page string) (all []fence) {
	t.Helper()
	text := read(t, page)
	for _, at := range fenced.FindAllStringSubmatchIndex(text, -1) {
		f := fence{line: 1 + strings.Count(text[:at[0]], "\n"), language: text[at[2]:at[3]]}
		if at[4] >= 0 {
			f.text = text[at[4]:at[5]]
		}
		all = append(all, f)
	}
	if opened := strings.Count(text, "\n```"); opened != 2*len(all) {
		t.Errorf("%s: %d lines with ``` make %d blocks", page, opened, len(all))
	}
	return all
}

// read returns a file of the repository.
func read(t *testing.T, name string) string {
	t.Helper()
	root, err := nodetest.Root()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// place says who looks after a block.
type place struct {
	kind string
	// what says more: the test that does it, the reason why nothing can, or what a script needs before it.
	what string
	// but are parts of the lines of a script that are left out, with the reason.
	but map[string]string
}

// run has a block of shell be run.
func run() place { return place{kind: "run"} }

// after has a block be run after a script of this test.
func after(script string) place { return place{kind: "run", what: script} }

// without leaves out the lines of a script that have a text, for a reason.
func (p place) without(text, reason string) place {
	p.but = maps.Clone(p.but)
	if p.but == nil {
		p.but = map[string]string{}
	}
	p.but[text] = reason
	return p
}

// config has a block be a configuration, which is checked. What it speaks of and other blocks have is put before it.
func config(more ...string) place { return place{kind: "config", what: strings.Join(more, "\n")} }

// json has a block be JSON; of a kind that [decoded] knows, in just its form.
func json(kind string) place { return place{kind: "json", what: kind} }

// made has a block be what a resource is made from.
func made(resource string) place { return place{kind: "made", what: resource} }

// file has a block be written into a file, and then something be done with that, as FILE.
func file(name, script string) place {
	return place{kind: "run", what: "cat >" + name + " <<'CONTENT'\nBLOCK\nCONTENT\n" + strings.ReplaceAll(script, "FILE", name)}
}

// by says that another test does something with the block: FILE TestName.
func by(test string) place { return place{kind: "by", what: test} }

// never says why nothing can be done with a block.
func never(reason string) place { return place{kind: "never", what: reason} }

// pages are the documents with blocks.
func pagesOf(t *testing.T) (all []string) {
	t.Helper()
	root, err := nodetest.Root()
	if err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/tutorials/*.md", "examples/*/README.md", "sdk/*/README.md", "benches/README.md", "conformance/README.md"} {
		found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s names %d pages, %v", pattern, len(found), err)
		}
		for _, page := range found {
			name, err := filepath.Rel(root, page)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, filepath.ToSlash(name))
		}
	}
	return all
}

// TestEveryBlockHasAPlace holds that somebody looks after each block of each document: a new one needs a line in places.
func TestEveryBlockHasAPlace(t *testing.T) {
	pages := pagesOf(t)
	for page := range places {
		if !slices.Contains(pages, page) {
			t.Errorf("there is no document %s", page)
		}
	}
	for _, page := range pages {
		blocks, known := fences(t, page), places[page]
		if len(known) == 1 && known[0].kind == "by" && len(blocks) > 0 { // one test looks after the whole page
			checkTest(t, page, known[0].what)
			continue
		}
		if len(blocks) != len(known) {
			t.Errorf("%s has %d blocks, and places says what becomes of %d: say it of each, in their order", page, len(blocks), len(known))
			continue
		}
		for i, p := range known {
			at := fmt.Sprintf("%s:%d", page, blocks[i].line)
			switch p.kind {
			case "by":
				checkTest(t, at, p.what)
			case "never":
				if len(p.what) < 10 {
					t.Errorf("%s: there is no reason", at)
				}
			}
		}
	}
}

// checkTest holds that a test is there, and knows of the page that it looks after.
func checkTest(t *testing.T, at, test string) {
	t.Helper()
	file, name, _ := strings.Cut(test, " ")
	if !regexp.MustCompile(`(?m)^func ` + name + `\(`).MatchString(read(t, file)) {
		t.Errorf("%s: there is no %s", at, test)
	}
}

// TestDocuments runs the commands of documents on one node, those of a page in one shell, and checks what is a
// configuration.
func TestDocuments(t *testing.T) {
	w := open(t)
	for _, page := range pagesOf(t) {
		blocks := fences(t, page)
		if len(blocks) != len(places[page]) {
			continue // which the test above says
		}
		script := ""
		for i, p := range places[page] {
			switch p.kind {
			case "run":
				if strings.Contains(p.what, "\nBLOCK\n") {
					script += strings.ReplaceAll(p.what, "BLOCK", blocks[i].text) + "\n"
				} else {
					script += p.what + "\n" + p.script(t, blocks[i].text) + "\n"
				}
			case "made":
				script += fmt.Sprintf("cat >made.yaml <<'CONTENT'\n%s\nCONTENT\nwharf %s create -f made.yaml\n", blocks[i].text, p.what)
			case "json":
				checkJSON(t, fmt.Sprintf("%s:%d", page, blocks[i].line), p.what, blocks[i].text)
			case "config":
				script += fmt.Sprintf("cat >checked.yaml <<'CONFIGURATION'\n%s\n%s\nCONFIGURATION\nwharf config check checked.yaml\n", p.what, blocks[i].text)
			}
		}
		if script == "" {
			continue
		}
		t.Run(page, func(t *testing.T) {
			script = ". ./env.sh\nset -x\n" + here(t, script)
			if out, err := w.bash(t.Context(), w.copied(t, script), script); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// script returns the lines of a block that are run.
func (p place) script(t *testing.T, text string) string {
	t.Helper()
	for part, reason := range p.but {
		lines := strings.SplitAfter(text, "\n")
		kept := slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return strings.Contains(l, part) })
		if len(kept) == len(lines) || reason == "" {
			t.Errorf("no line has %q, or there is no reason", part)
		}
		text = strings.Join(kept, "")
	}
	return regexp.MustCompile(`(?m)^\$ `).ReplaceAllString(text, "")
}
