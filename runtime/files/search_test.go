package files

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
)

// hexOf is the hash of a text; "" for "-".
func hexOf(text string) string {
	if text == "-" {
		return ""
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// tree fills a Workspace with files that hold their own path.
func tree(t testing.TB, n *node, paths ...string) {
	for _, p := range paths {
		n.write(t, p, p)
	}
}

// listAll lists in pages of a size.
func listAll(t testing.TB, n *node, req abi.CallFileListRequest) (paths []string) {
	t.Helper()
	for range 100 {
		var page abi.CallFileListAnswer
		n.do(t, 0, abi.CallFileList, req, &page)
		for _, e := range page.Entries {
			if e.Folder != strings.HasSuffix(e.Path, "/") && !e.Folder && e.Size != int64(len(e.Path)) {
				t.Errorf("%+v", e)
			}
			paths = append(paths, e.Path)
		}
		if req.After = page.Next; page.Next == "" {
			return paths
		}
	}
	t.Fatal("the list does not end")
	return nil
}

// Pages of any size have every entry once, in one order, beginning anywhere.
func TestListsInPages(t *testing.T) {
	n, _ := newNode(t)
	if got := listAll(t, n, abi.CallFileListRequest{}); len(got) != 0 {
		t.Errorf("an empty Workspace has %v", got)
	}
	all := []string{"a", "b/c", "b/d/e", "b/d/f", "b.txt", "c", "Ä"}
	tree(t, n, all...)
	for limit := 1; limit <= 8; limit++ {
		if got := listAll(t, n, abi.CallFileListRequest{Recursive: true, Limit: limit}); !slices.Equal(got, all) {
			t.Errorf("pages of %d: %v", limit, got)
		}
		if got := listAll(t, n, abi.CallFileListRequest{Limit: limit}); !slices.Equal(got, []string{"a", "b", "b.txt", "c", "Ä"}) {
			t.Errorf("pages of %d: %v", limit, got)
		}
		if got := listAll(t, n, abi.CallFileListRequest{Limit: limit, Path: "b/"}); !slices.Equal(got, []string{"b/c", "b/d"}) {
			t.Errorf("pages of %d: %v", limit, got)
		}
	}
	if got := listAll(t, n, abi.CallFileListRequest{Recursive: true, After: "b/d/ea"}); !slices.Equal(got, all[3:]) {
		t.Errorf("after what is gone: %v", got)
	}
}

func searchAll(t testing.TB, n *node, req abi.CallFileSearchRequest) (found []string) {
	t.Helper()
	for range 100 {
		var page abi.CallFileSearchAnswer
		n.do(t, 0, abi.CallFileSearch, req, &page)
		for _, m := range page.Matches {
			found = append(found, fmt.Sprintf("%s:%d:%s", m.Path, m.Line, m.Text))
		}
		if req.After = page.Next; page.Next == "" {
			return found
		}
	}
	t.Fatal("the search does not end")
	return nil
}

// A search finds what it is asked for, in pages of any size, and nothing in what is no text.
func TestSearch(t *testing.T) {
	n, _ := newNode(t)
	n.write(t, "a.txt", "one\r\nTwo\none two\nno end")
	n.write(t, "src/b.go", "two\n\n"+strings.Repeat("x", 3*maxLine)+"one\nlast")
	n.write(t, "src/deep/c.go", "ONE é")
	n.write(t, "bin", "one\x00two")
	n.write(t, "latin", "one \xe9")
	for name, test := range map[string]struct {
		req  abi.CallFileSearchRequest
		want []string
	}{
		"text": {abi.CallFileSearchRequest{Text: "one"}, []string{"a.txt:1:one", "a.txt:3:one two", "latin:1:one \uFFFD", "src/b.go:3:one"}},
		"any case": {abi.CallFileSearchRequest{Text: "one", IgnoreCase: true, Path: "src"},
			[]string{"src/b.go:3:one", "src/deep/c.go:1:ONE é"}},
		"pattern":        {abi.CallFileSearchRequest{Pattern: "^(one|two)$"}, []string{"a.txt:1:one", "src/b.go:1:two", "src/b.go:3:one"}},
		"a plain (":      {abi.CallFileSearchRequest{Text: "(", IgnoreCase: true}, nil},
		"the last line":  {abi.CallFileSearchRequest{Text: "no end"}, []string{"a.txt:4:no end"}},
		"names":          {abi.CallFileSearchRequest{Glob: "*.go"}, []string{"src/b.go:0:", "src/deep/c.go:0:"}},
		"paths":          {abi.CallFileSearchRequest{Glob: "src/*.go"}, []string{"src/b.go:0:"}},
		"below a folder": {abi.CallFileSearchRequest{Glob: "**/deep/*", Path: "src"}, []string{"src/deep/c.go:0:"}},
		"both":           {abi.CallFileSearchRequest{Glob: "**/*.go", Text: "last"}, []string{"src/b.go:4:last"}},
	} {
		for _, limit := range []int{1, 2, 100} {
			test.req.Limit = limit
			if got := searchAll(t, n, test.req); !slices.Equal(got, test.want) {
				t.Errorf("%s, %d at a time: %q, want %q", name, limit, got, test.want)
			}
		}
	}
	n.write(t, "long", strings.Repeat("é", 900))
	if got := searchAll(t, n, abi.CallFileSearchRequest{Pattern: "éé", Glob: "long"}); len(got) != 1 || len(got[0]) > maxLineTold+20 {
		t.Errorf("%d found", len(got))
	}
}

func TestGlob(t *testing.T) {
	for _, test := range []struct {
		pattern, p string
		want       bool
	}{
		{"", "a/b", true}, {"b", "a/b", true}, {"a/b", "a/b", true}, {"a", "a/b", false}, {"**", "a/b/c", true}, {"a/**", "a/b/c", true}, {"a/**", "a", true},
		{"**/c", "c", true}, {"**/b/**/d", "a/b/c/d", true}, {"**/b/**/d", "a/c/d", false}, {"?.[ab]", "x.b", true}, {"a/*", "a/b/c", false},
	} {
		g, err := newGlob(test.pattern)
		if err != nil || g.matches(test.p) != test.want {
			t.Errorf("%q and %q: %v, %v", test.pattern, test.p, !test.want, err)
		}
	}
}
