package files

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
)

func (n *node) make(t testing.TB, dir string) bool {
	t.Helper()
	f, created, err := n.MakeFolder(t.Context(), n.root, workspace, dir)
	if err != nil || f.Object != "folder" || f.Path != strings.TrimSuffix(dir, "/") || f.UpdatedAt.IsZero() {
		t.Fatal(f, err)
	}
	return created
}

// walked returns the paths of a walk, folders with a / at the end.
func (n *node) walked(t testing.TB, w Walk) (paths []string, more bool) {
	t.Helper()
	all, more, err := n.WalkFiles(t.Context(), n.root, workspace, w)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		if f.UpdatedAt.IsZero() || (f.MediaType == "") != (f.Object == "folder") {
			t.Errorf("%+v", f)
		}
		if f.Object == "folder" {
			f.Path += "/"
		}
		paths = append(paths, f.Path)
	}
	return paths, more
}

func (n *node) wantWalk(t testing.TB, want ...string) {
	t.Helper()
	if got, more := n.walked(t, Walk{Recursive: true}); !slices.Equal(got, want) || more {
		t.Errorf("the workspace holds %q, want %q", got, want)
	}
}

// A folder that somebody has made stays when it is empty, also over a restart; one of a file goes
// with it. Both are told.
func TestFoldersThatAreMadeStay(t *testing.T) {
	n, _ := newNode(t)
	n.write(t, "of/a/file", "x")
	if !n.make(t, "made/deep/") || n.make(t, "made/deep") || n.make(t, "made") {
		t.Error("a folder is not created once")
	}
	n.write(t, "made/deep/f", "x")
	n.restart()
	n.wantWalk(t, "made/", "made/deep/", "made/deep/f", "of/", "of/a/", "of/a/file")
	for _, p := range []string{"made/deep/f", "of/a/file"} {
		if err := n.RemoveFile(t.Context(), n.root, workspace, p, Condition{}); err != nil {
			t.Fatal(err)
		}
	}
	n.wantWalk(t, "made/", "made/deep/")
	if list, err := n.ListFiles(t.Context(), n.root, workspace, "made", desk.Page{Limit: 9}); err != nil || len(list.Docs) != 1 {
		t.Errorf("%v, %v", list, err)
	}
	if got := listAll(t, n, abi.CallFileListRequest{Path: "made"}); !slices.Equal(got, []string{"made/deep"}) {
		t.Errorf("a plugin is shown %q", got)
	}
	gone, err := n.RemoveFolder(t.Context(), n.root, workspace, "made/deep", false)
	if err != nil || gone != (Removed{Folders: 1}) {
		t.Errorf("%+v went, %v", gone, err)
	}
	n.wantWalk(t, "made/")
	kinds := strings.Join(n.kinds(t), " ")
	if strings.Count(kinds, string(abi.EventFolderMade)) != 1 || strings.Count(kinds, string(abi.EventFolderRemoved)) != 1 {
		t.Errorf("the log tells %s", kinds)
	}
	for _, p := range []string{"f", "f/x"} {
		n.write(t, "f", "x")
		_, _, err := n.MakeFolder(t.Context(), n.root, workspace, p)
		wantCode(t, err, abi.CodeInvalidRequest)
	}
	n.room.bytes[ledger.Key{Tenant: 1, ID: workspace}] = maxWorkspaceBytes
	_, _, err = n.MakeFolder(t.Context(), n.root, workspace, "no/room")
	wantCode(t, err, abi.CodePayloadTooLarge)
	n.make(t, "made") // it takes no more than before
}

// What is in a folder goes with it only when that is asked for, and is told file by file; what is
// counted is given back.
func TestFoldersAreRemoved(t *testing.T) {
	n, dir := newNode(t)
	tree(t, n, "a/b", "a/c/d", "a/c/e", "ab")
	n.make(t, "a/empty")
	_, err := n.RemoveFolder(t.Context(), n.root, workspace, "a", false)
	wantCode(t, err, abi.CodeConflict)
	n.wantFile(t, "a/c/d", "a/c/d")
	for _, p := range []string{"none", "ab", "a/b"} {
		_, err := n.RemoveFolder(t.Context(), n.root, workspace, p, true)
		wantCode(t, err, abi.CodeResourceNotFound)
	}
	gone, err := n.RemoveFolder(t.Context(), n.root, workspace, "a/", true)
	if err != nil || gone != (Removed{Files: 3, Folders: 3}) {
		t.Errorf("%+v went, %v", gone, err)
	}
	n.wantWalk(t, "ab")
	if used := n.room.bytes[ledger.Key{Tenant: 1, ID: workspace}]; used != entryBytes+2 {
		t.Errorf("%d bytes are counted", used)
	}
	if kinds := strings.Join(n.kinds(t), " "); strings.Count(kinds, string(abi.EventFileRemoved)) != 3 {
		t.Errorf("the log tells %s", kinds)
	}
	many := filepath.Join(dir, "1", workspace, "many")
	if err := os.Mkdir(many, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range maxRemoved + 1 {
		if err := os.WriteFile(filepath.Join(many, fmt.Sprint(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, err = n.RemoveFolder(t.Context(), n.root, workspace, "many", true)
	wantCode(t, err, abi.CodePayloadTooLarge)
	if all, more := n.walked(t, Walk{Path: "many"}); len(all) != maxListed || !more {
		t.Errorf("%d are listed, more: %t", len(all), more)
	}
}

// Parts of a walk have every entry once.
func TestWalksInParts(t *testing.T) {
	n, _ := newNode(t)
	n.wantWalk(t)
	tree(t, n, "a/b", "a/c/d", "b")
	all := []string{"a/", "a/b", "a/c/", "a/c/d", "b"}
	for limit := 1; limit <= 6; limit++ {
		var got []string
		for {
			part, more := n.walked(t, Walk{Recursive: true, Offset: len(got), Limit: limit})
			if got = append(got, part...); !more {
				break
			}
		}
		if !slices.Equal(got, all) {
			t.Errorf("in parts of %d: %q", limit, got)
		}
	}
	if got, _ := n.walked(t, Walk{Path: "a/"}); !slices.Equal(got, []string{"a/b", "a/c/"}) {
		t.Errorf("a holds %q", got)
	}
	for _, w := range []Walk{{Path: "none"}, {Path: "b"}, {Path: "../x"}, {Offset: -1}, {Limit: -1}, {Limit: maxListed + 1}} {
		if _, _, err := n.WalkFiles(t.Context(), n.root, workspace, w); err == nil {
			t.Errorf("%+v is answered", w)
		}
	}
}

// What a file is follows from its name, or else from its content.
func TestMediaTypes(t *testing.T) {
	n, _ := newNode(t)
	for p, test := range map[string]struct{ content, want string }{
		"a.MD": {"\x00", "text/markdown"}, "b.html": {"x", "text/html"}, "c": {"%PDF-1.7", "application/pdf"}, "d": {"text\n", "text/plain"},
		"e": {"a\x00b", "application/octet-stream"}, "f.unknown": {"\x89PNG\r\n\x1a\n", "image/png"}, "g": {strings.Repeat("é", 400), "text/plain"},
		"h": {strings.Repeat("x", 511) + "é", "text/plain"}, "i": {"\xff", "application/octet-stream"}, "j": {"", "text/plain"},
	} {
		f, _, err := n.WriteFile(t.Context(), n.root, workspace, p, strings.NewReader(test.content), Condition{})
		again, _, bad := n.read(t.Context(), n.root, workspace, p)
		entry, worse := n.FindEntry(t.Context(), n.root, workspace, p)
		if err := errors.Join(err, bad, worse); err != nil || f.MediaType != test.want || again.MediaType != test.want || entry.MediaType != test.want {
			t.Errorf("%s is %q, read as %q, found as %q, %v; want %q", p, f.MediaType, again.MediaType, entry.MediaType, err, test.want)
		}
	}
}

// A search of a client finds files with their lines, as many as it asks for.
func TestClientsFind(t *testing.T) {
	n, _ := newNode(t)
	n.write(t, "a.txt", "one\ntwo\none more")
	n.write(t, "b/many", strings.Repeat("one\n", 1500))
	n.write(t, "b/z.txt", "none")
	find := func(q Query) (text string, whole bool) {
		t.Helper()
		found, whole, err := n.FindFiles(t.Context(), n.root, workspace, q)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			text += fmt.Sprintf("%s:%d ", f.File.Path, len(f.Lines))
			if f.File.Size == 0 || f.File.MediaType == "" {
				t.Errorf("%+v", f.File)
			}
		}
		return text, whole
	}
	for want, q := range map[string]Query{
		"a.txt:2 b/many:100 b/z.txt:1 true": {Pattern: "one"},
		"a.txt:2 b/many:100 false":          {Pattern: "one", Most: 2},
		"b/z.txt:1 true":                    {Pattern: "^none$", Path: "b/"},
		"a.txt:0 b/z.txt:0 true":            {Glob: "**/*.txt"},
		"a.txt:2 true":                      {Glob: "a*", Pattern: "one"},
		"true":                              {Glob: "nothing"},
	} {
		if got, whole := find(q); got+fmt.Sprint(whole) != want {
			t.Errorf("%+v finds %s%t, want %s", q, got, whole, want)
		}
	}
	for _, q := range []Query{{Pattern: "("}, {Glob: "["}, {Path: "none"}, {Most: 1001}, {Most: -1}, {Path: ".."}, {Pattern: strings.Repeat("(a{50}){50}", 2)}} {
		if _, _, err := n.FindFiles(t.Context(), n.root, workspace, q); err == nil {
			t.Errorf("%+v is answered", q)
		}
	}
}

// A search that takes long stops, and goes on where it was: nothing is left out, and nothing is told
// twice.
func TestLongSearchesStop(t *testing.T) {
	n, _ := newNode(t)
	n.write(t, "a", "x1\nx2\nx3")
	n.write(t, "b", "x4")
	n.write(t, "c", "y")
	now := time.Now()
	n.parts.Now = func() time.Time { now = now.Add(maxSearchTime); return now } // the second look at the clock is too late
	got := searchAll(t, n, abi.CallFileSearchRequest{Text: "x"})
	if want := []string{"a:1:x1", "a:2:x2", "a:3:x3", "b:1:x4"}; !slices.Equal(got, want) {
		t.Errorf("it finds %q", got)
	}
	var first abi.CallFileSearchAnswer
	if n.do(t, 0, abi.CallFileSearch, abi.CallFileSearchRequest{Text: "x"}, &first); len(first.Matches) > 2 || first.Next == "" {
		t.Errorf("one search has gone on: %+v", first)
	}
	if _, whole, err := n.FindFiles(t.Context(), n.root, workspace, Query{Pattern: "x"}); err != nil || whole {
		t.Errorf("a client is told that this is all (%v)", err)
	}
}

func (n *node) pack(t testing.TB, paths ...string) *zip.Reader {
	t.Helper()
	a, err := n.PackFiles(t.Context(), n.root, workspace, paths)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err = errors.Join(a.Write(t.Context(), &out), a.Close())
	in, bad := zip.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil || bad != nil {
		t.Fatal(err, bad)
	}
	return in
}

// An archive has each file that was asked for once, by its path, and empty folders.
func TestArchives(t *testing.T) {
	n, _ := newNode(t)
	tree(t, n, "a/b", "a/c/d", "e", "f")
	n.make(t, "empty")
	for want, paths := range map[string][]string{
		"a/ a/b a/c/ a/c/d e":          {"e", "a/b", "a/", "a/c/d", "e"},
		"a/ a/b a/c/ a/c/d e empty/ f": {"", "a"},
		"a/c/ a/c/d empty/":            {"a/c", "empty"},
	} {
		var names []string
		for _, f := range n.pack(t, paths...).File {
			names = append(names, f.Name)
			in, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			content, err := io.ReadAll(in)
			if err != nil || !f.FileInfo().IsDir() && string(content) != f.Name || f.Modified.IsZero() {
				t.Errorf("%s holds %q, %v", f.Name, content, err)
			}
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%q are packed as %s", paths, got)
		}
	}
	for _, paths := range [][]string{nil, {"none"}, {"e", "none"}, {"../x"}, make([]string, MaxPacked+1)} {
		if a, err := n.PackFiles(t.Context(), n.root, workspace, paths); err == nil {
			t.Errorf("%d paths are packed", len(paths))
			_ = a.Close()
		}
	}
	a, err := n.PackFiles(t.Context(), n.root, workspace, []string{"a", "e", "f"})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if err := n.RemoveFile(t.Context(), n.root, workspace, "e", Condition{}); err != nil {
		t.Fatal(err)
	}
	if err := a.Write(t.Context(), io.Discard); err != nil {
		t.Error("a file that has gone meanwhile: ", err)
	}
	left, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.Write(left, io.Discard); err == nil {
		t.Error("it goes on when nobody waits for it any more")
	}
}

// Of files that are written together each has an end of its own.
func TestFilesAreWrittenTogether(t *testing.T) {
	n, _ := newNode(t)
	n.write(t, "there", "old")
	uploads := func() []Upload {
		return []Upload{{Path: "a/b", Content: strings.NewReader("1")}, {Path: "there", Content: strings.NewReader("new")},
			{Path: "../x", Content: strings.NewReader("2")}, {Path: "a", Content: strings.NewReader("3")}, {Path: "c", Content: strings.NewReader("4")}}
	}
	w, err := n.WriteFiles(t.Context(), n.root, workspace, uploads(), false)
	if err != nil || len(w.Files) != 2 || !slices.Equal(w.Skipped, []string{"there"}) || len(w.Failed) != 2 || w.Failed[0].Path != "../x" || w.Failed[1].Path != "a" {
		t.Fatalf("%+v, %v", w, err)
	}
	n.wantFile(t, "there", "old")
	n.wantFile(t, "c", "4")
	if w, err = n.WriteFiles(t.Context(), n.root, workspace, uploads(), true); err != nil || len(w.Files) != 3 || len(w.Skipped) != 0 {
		t.Fatalf("%+v, %v", w, err)
	}
	n.wantFile(t, "there", "new")
	_, err = n.WriteFiles(t.Context(), n.root, workspace, make([]Upload, MaxWritten+1), true)
	wantCode(t, err, abi.CodePayloadTooLarge)
	_, err = n.WriteFiles(t.Context(), n.root, workspace, []Upload{{Path: "d", Size: MaxTogether}, {Path: "e", Size: 1}}, true)
	wantCode(t, err, abi.CodePayloadTooLarge)
	_, err = n.WriteFiles(t.Context(), n.root, "ws_none", nil, true)
	wantCode(t, err, abi.CodeResourceNotFound)
}

// An edit replaces a text that is there exactly as it is given.
func TestPluginsEdit(t *testing.T) {
	n, _ := newNode(t)
	n.write(t, "f", "one two\none\x00")
	_, err := n.call(t, 1, abi.CallFileEdit, abi.CallFileEditRequest{Path: "f", Old: "one", New: "1"})
	wantRefused(t, err, abi.CallInvalid, "conflict")
	var got abi.CallFileEditAnswer
	n.do(t, 2, abi.CallFileEdit, abi.CallFileEditRequest{Path: "f", Old: "one two\n", SHA256: hexOf("one two\none\x00")}, &got)
	n.wantFile(t, "f", "one\x00")
	if got.Replaced != 1 || got.Size != 4 || got.BeforeSHA256 != hexOf("one two\none\x00") || got.SHA256 != hexOf("one\x00") {
		t.Errorf("%+v", got)
	}
	n.write(t, "f", "a$1a")
	n.do(t, 3, abi.CallFileEdit, abi.CallFileEditRequest{Path: "f", Old: "a", New: "$1", All: true}, &got)
	n.wantFile(t, "f", "$1$1$1")
	n.write(t, "large", strings.Repeat("a", MaxBytes))
	_, err = n.call(t, 4, abi.CallFileEdit, abi.CallFileEditRequest{Path: "large", Old: "a", New: strings.Repeat("b", 1<<20), All: true})
	wantRefused(t, err, abi.CallTooLarge, "payload_too_large")
	n.write(t, "large", strings.Repeat("a", MaxBytes+1))
	_, err = n.call(t, 5, abi.CallFileEdit, abi.CallFileEditRequest{Path: "large", Old: "a", All: true})
	wantRefused(t, err, abi.CallTooLarge, "payload_too_large")
}

// Edits, folders and removals at the same time lose nothing of one another, and what is counted
// stays what is there.
func TestChangesAtOnce(t *testing.T) {
	n, _ := newNode(t)
	n.write(t, "log", "end")
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			n.do(t, i, abi.CallFileEdit, abi.CallFileEditRequest{Path: "log", Old: "end", New: "x end"}, nil)
		})
		all.Go(func() {
			n.make(t, "folder/a")
			n.write(t, fmt.Sprint("folder/a/", i), "x")
			if _, err := n.RemoveFolder(t.Context(), n.root, workspace, "folder", true); err != nil {
				wantCode(t, err, abi.CodeResourceNotFound)
			}
		})
	}
	all.Wait()
	n.wantFile(t, "log", strings.Repeat("x ", 8)+"end")
	for range 2 { // what the last have left, and nothing
		_, _ = n.RemoveFolder(t.Context(), n.root, workspace, "folder", true)
	}
	n.wantWalk(t, "log")
	if used := n.room.bytes[ledger.Key{Tenant: 1, ID: workspace}]; used != entryBytes+19 {
		t.Errorf("%d bytes are counted", used)
	}
}

// A plugin removes a folder with what was in it when it asked, once: also when the node dies in
// between, and whatever others have written since.
func TestPluginsRemoveFolders(t *testing.T) {
	n, _ := newNode(t)
	task(t, n, abi.TaskWorking)
	tree(t, n, "d/a", "d/b/c", "d/b/e", "f")
	n.make(t, "d/empty")
	removed := `{"path":"d","before_sha256":"","removed":[{"path":"d/a","before_sha256":"` + hexOf("d/a") + `"},{"path":"d/b/c","before_sha256":"` +
		hexOf("d/b/c") + `"},{"path":"d/b/e","before_sha256":"` + hexOf("d/b/e") + `"}]}`
	// The node dies after the first file.
	n.mark(t, 7, &mark{Task: "task_test", Path: "d", Folder: true, Folders: []string{"d", "d/b", "d/empty"},
		Removed: []abi.RemovedFile{{Path: "d/a", BeforeSHA256: hexOf("d/a")}, {Path: "d/b/c", BeforeSHA256: hexOf("d/b/c")}, {Path: "d/b/e", BeforeSHA256: hexOf("d/b/e")}}})
	if err := n.RemoveFile(t.Context(), n.root, workspace, "d/a", Condition{}); err != nil {
		t.Fatal(err)
	}
	n.restart()
	n.write(t, "d/new", "of another")
	n.write(t, "d/b/e", "of another")
	request := abi.CallFileRemoveRequest{Path: "d/", Recursive: true}
	for range 2 {
		if got, err := n.call(t, 7, abi.CallFileRemove, request); err != nil || got != removed {
			t.Fatalf("it is answered %s, %v", got, err)
		}
		n.wantWalk(t, "d/", "d/b/", "d/b/e", "d/new", "f")
		n.restart()
	}
	var answer abi.CallFileRemoveAnswer
	n.do(t, 8, abi.CallFileRemove, request, &answer)
	n.wantWalk(t, "f")
	if len(answer.Removed) != 2 {
		t.Errorf("%+v", answer)
	}
	n.make(t, "d")
	n.do(t, 9, abi.CallFileRemove, abi.CallFileRemoveRequest{Path: "d"}, nil)
	n.wantWalk(t, "f")
}
