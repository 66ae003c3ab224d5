package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wharf-dev/wharf/abi"
)

// withFiles gives a node a folder for Workspaces' files.
func withFiles(t testing.TB) (dir string, configure func(*Config, *Parts)) {
	dir = t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return dir, func(_ *Config, p *Parts) { p.Files = root }
}

func TestFiles(t *testing.T) {
	_, files := withFiles(t)
	n := newNode(t, guests{}, files)
	ctx, ws := t.Context(), DefaultWorkspace
	f, created, err := n.WriteFile(ctx, n.root, ws, "notes/today.txt", []byte("hello"), FileCondition{})
	if err != nil || !created || f.Size != 5 {
		t.Fatalf("%+v, %v, %v", f, created, err)
	}
	if _, _, err := n.WriteFile(ctx, n.root, ws, "notes/today.txt", []byte("x"), FileCondition{Absent: true}); err == nil {
		t.Error("a file that is there is written as a new one")
	}
	if _, _, err := n.WriteFile(ctx, n.root, ws, "notes/today.txt", []byte("x"), FileCondition{Match: `"old"`}); err == nil {
		t.Error("a file that has changed is written over")
	}
	if _, created, err := n.WriteFile(ctx, n.root, ws, "notes/today.txt", []byte("more"), FileCondition{Match: `"` + f.SHA256 + `"`}); err != nil || created {
		t.Error(created, err)
	}
	if _, content, err := n.ReadFile(ctx, n.root, ws, "notes/today.txt"); err != nil || string(content) != "more" {
		t.Errorf("%s, %v", content, err)
	}
	for dir, want := range map[string]string{"": "notes", "notes/": "today.txt"} {
		if list, err := n.ListFiles(ctx, n.root, ws, dir, Page{Limit: 9}); err != nil || len(list.Docs) != 1 || list.Docs[0].ID != want {
			t.Errorf("%q holds %v, %v", dir, list, err)
		}
	}
	_, _, err = n.WriteFile(ctx, n.root, ws, "notes", []byte("x"), FileCondition{})
	wantCode(t, err, abi.CodeInvalidRequest)
	_, _, err = n.WriteFile(ctx, n.root, ws, "notes/today.txt/x", []byte("x"), FileCondition{})
	wantCode(t, err, abi.CodeInvalidRequest)
	if err := n.RemoveFile(ctx, n.root, ws, "notes/today.txt", FileCondition{}); err != nil {
		t.Fatal(err)
	}
	_, _, err = n.ReadFile(ctx, n.root, ws, "notes/today.txt")
	wantCode(t, err, abi.CodeResourceNotFound)
	if kinds := strings.Join(n.kinds(t, Filter{WorkspaceID: ws}), " "); strings.Count(kinds, string(abi.EventFileWritten)) != 2 || strings.Count(kinds, string(abi.EventFileRemoved)) != 1 {
		t.Errorf("the events are %s", kinds)
	}
}

// What lies outside a Workspace is not reached, neither by a name nor by a link that
// somebody has put there.
func TestFilesStayInside(t *testing.T) {
	dir, files := withFiles(t)
	n := newNode(t, guests{}, files)
	ctx, ws := t.Context(), DefaultWorkspace
	if _, _, err := n.WriteFile(ctx, n.root, ws, "a", []byte("inside"), FileCondition{}); err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(dir, "1", ws)
	outside := filepath.Join(dir, "secret")
	for _, err := range []error{os.WriteFile(outside, []byte("secret"), 0o600), os.Symlink(outside, filepath.Join(own, "link")),
		os.Symlink("../..", filepath.Join(own, "up")), os.Symlink(dir, filepath.Join(own, "abs"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range []string{"link", "up/secret", "abs/secret", "../../secret", "/etc/passwd", "a/../../../secret", "..", ".", "", "a//b", "a\x00b", `a\b`, ".wharf-x"} {
		if _, content, err := n.ReadFile(ctx, n.root, ws, p); err == nil {
			t.Errorf("%q reads %q", p, content)
		}
		if p == "link" {
			continue // it is replaced by a file, and what it led to stays
		}
		if _, _, err := n.WriteFile(ctx, n.root, ws, p, []byte("changed"), FileCondition{}); err == nil {
			t.Errorf("%q is written", p)
		}
	}
	if _, _, err := n.WriteFile(ctx, n.root, ws, "link", []byte("changed"), FileCondition{}); err != nil {
		t.Error(err)
	}
	if content, err := os.ReadFile(outside); err != nil || string(content) != "secret" {
		t.Errorf("outside there is %q, %v", content, err)
	}
	stranger := *n.root
	stranger.Tenant = 2
	_, _, err := n.ReadFile(ctx, &stranger, ws, "a")
	wantCode(t, err, abi.CodeResourceNotFound)
	bound := *n.root
	bound.Workspaces = []string{"ws_other"}
	_, _, err = n.ReadFile(ctx, &bound, ws, "a")
	wantCode(t, err, abi.CodeResourceNotFound)
}

// FuzzFilePath checks that every path that is accepted stays within the Workspace.
func FuzzFilePath(f *testing.F) {
	for _, p := range []string{"notes/today.txt", "../x", "a/./b", "/a", "a//b", ".wharf-1", "a/.wharf-", "C:\\x"} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, p string) {
		if checkPath(p) == nil && (!filepath.IsLocal(p) || filepath.Clean(p) != p || strings.Contains("/"+p, "/"+unfinished)) {
			t.Errorf("%q is accepted", p)
		}
	})
}

// What a crash has left of a file is gone with the next write to its Workspace.
func TestUnfinishedFiles(t *testing.T) {
	dir, files := withFiles(t)
	n := newNode(t, guests{}, files)
	own := filepath.Join(dir, "1", DefaultWorkspace, "notes")
	left := filepath.Join(own, unfinished+"left")
	if err := os.MkdirAll(own, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(left, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := n.WriteFile(t.Context(), n.root, DefaultWorkspace, "a", []byte("x"), FileCondition{}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
}
