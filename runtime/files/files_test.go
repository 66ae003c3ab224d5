package files

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/desk"
	"github.com/wharf-dev/wharf/runtime/ledger"
	"github.com/wharf-dev/wharf/storage"
	"github.com/wharf-dev/wharf/storage/memory"
)

// workspace is the Workspace of the tests.
const workspace = "ws_test"

// node is a keeper over a store in memory, and a caller who may do everything.
type node struct {
	*Keeper
	root *desk.Caller
}

// newNode returns a node with a Workspace, and the folder that all files are in.
func newNode(t testing.TB) (n *node, dir string) {
	t.Helper()
	dir = t.TempDir()
	return newNodeIn(t, dir), dir
}

// newNodeIn returns a node whose files are in a folder.
func newNodeIn(t testing.TB, dir string) (n *node) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	store := memory.New(time.Now)
	t.Cleanup(func() { _ = errors.Join(root.Close(), store.Close()) })
	l := ledger.New(ledger.Config{Store: store, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	n = &node{root: &desk.Caller{Tenant: 1, Actor: "test", Scopes: []string{abi.ScopeAll}}}
	n.Keeper = NewKeeper(Parts{Root: root, MostTold: MaxBytes, TenantOf: func(string) (storage.Tenant, error) { return 1, nil }, Parts: desk.Parts{
		Store: store, Ledger: l, Desk: desk.New(store, l, time.Now, nil), IDs: abi.NewIDs(time.Now, rand.Reader), Now: time.Now}})
	_, err = n.parts.Desk.Commit(n.root, "", workspace, nil, 0, ledger.Record{Kind: abi.EventWorkspaceCreated, Object: abi.ObjectWorkspace, ID: workspace,
		Created: true, State: &abi.Workspace{Envelope: abi.NewEnvelope(abi.ObjectWorkspace, workspace, time.Now(), nil)}})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// kinds returns the kinds of the Workspace's events, oldest first.
func (n *node) kinds(t testing.TB) (kinds []string) {
	t.Helper()
	events, more, err := n.parts.Desk.Events(t.Context(), n.root, desk.Filter{WorkspaceID: workspace}, 0, 1000)
	if err != nil || more {
		t.Fatal(err, more)
	}
	for _, ev := range events {
		kinds = append(kinds, string(ev.Record().Kind))
	}
	return kinds
}

// read returns a file and its content.
func (n *node) read(ctx context.Context, c *desk.Caller, workspace, p string) (abi.File, []byte, error) {
	f, content, err := n.OpenFile(ctx, c, workspace, p)
	if err != nil {
		return f, nil, err
	}
	text, err := io.ReadAll(content)
	return f, text, errors.Join(err, content.Close())
}

func wantCode(t testing.TB, err error, code abi.ErrorCode) {
	t.Helper()
	if e, ok := errors.AsType[*abi.Error](err); !ok || e.Code != code {
		t.Errorf("the error is %v, want %s", err, code)
	}
}

func TestFiles(t *testing.T) {
	n, _ := newNode(t)
	ctx, ws := t.Context(), workspace
	f, created, err := n.WriteFile(ctx, n.root, ws, "notes/today.txt", strings.NewReader("hello"), Condition{})
	if err != nil || !created || f.Size != 5 {
		t.Fatalf("%+v, %v, %v", f, created, err)
	}
	if _, _, err := n.WriteFile(ctx, n.root, ws, "notes/today.txt", strings.NewReader("x"), Condition{Absent: true}); err == nil {
		t.Error("a file that is there is written as a new one")
	}
	if _, _, err := n.WriteFile(ctx, n.root, ws, "notes/today.txt", strings.NewReader("x"), Condition{Match: `"old"`}); err == nil {
		t.Error("a file that has changed is written over")
	}
	if _, created, err := n.WriteFile(ctx, n.root, ws, "notes/today.txt", strings.NewReader("more"), Condition{Match: `"` + f.SHA256 + `"`}); err != nil || created {
		t.Error(created, err)
	}
	if _, content, err := n.read(ctx, n.root, ws, "notes/today.txt"); err != nil || string(content) != "more" {
		t.Errorf("%s, %v", content, err)
	}
	for dir, want := range map[string]string{"": "notes", "notes/": "today.txt"} {
		if list, err := n.ListFiles(ctx, n.root, ws, dir, desk.Page{Limit: 9}); err != nil || len(list.Docs) != 1 || list.Docs[0].ID != want {
			t.Errorf("%q holds %v, %v", dir, list, err)
		}
	}
	_, _, err = n.WriteFile(ctx, n.root, ws, "notes", strings.NewReader("x"), Condition{})
	wantCode(t, err, abi.CodeInvalidRequest)
	_, _, err = n.WriteFile(ctx, n.root, ws, "notes/today.txt/x", strings.NewReader("x"), Condition{})
	wantCode(t, err, abi.CodeInvalidRequest)
	if err := n.RemoveFile(ctx, n.root, ws, "notes/today.txt", Condition{}); err != nil {
		t.Fatal(err)
	}
	_, _, err = n.read(ctx, n.root, ws, "notes/today.txt")
	wantCode(t, err, abi.CodeResourceNotFound)
	if kinds := strings.Join(n.kinds(t), " "); strings.Count(kinds, string(abi.EventFileWritten)) != 2 || strings.Count(kinds, string(abi.EventFileRemoved)) != 1 {
		t.Errorf("the events are %s", kinds)
	}
}

// What lies outside a Workspace is not reached, neither by a name nor by a link that
// somebody has put there.
func TestFilesStayInside(t *testing.T) {
	n, dir := newNode(t)
	ctx, ws := t.Context(), workspace
	if _, _, err := n.WriteFile(ctx, n.root, ws, "a", strings.NewReader("inside"), Condition{}); err != nil {
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
		if _, content, err := n.read(ctx, n.root, ws, p); err == nil {
			t.Errorf("%q reads %q", p, content)
		}
		if p == "link" {
			continue // it is replaced by a file, and what it led to stays
		}
		if _, _, err := n.WriteFile(ctx, n.root, ws, p, strings.NewReader("changed"), Condition{}); err == nil {
			t.Errorf("%q is written", p)
		}
	}
	if _, _, err := n.WriteFile(ctx, n.root, ws, "link", strings.NewReader("changed"), Condition{}); err != nil {
		t.Error(err)
	}
	if content, err := os.ReadFile(outside); err != nil || string(content) != "secret" {
		t.Errorf("outside there is %q, %v", content, err)
	}
	stranger := *n.root
	stranger.Tenant = 2
	_, _, err := n.read(ctx, &stranger, ws, "a")
	wantCode(t, err, abi.CodeResourceNotFound)
	bound := *n.root
	bound.Workspaces = []string{"ws_other"}
	_, _, err = n.read(ctx, &bound, ws, "a")
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
	n, dir := newNode(t)
	own := filepath.Join(dir, "1", workspace, "notes")
	left := filepath.Join(own, unfinished+"left")
	if err := os.MkdirAll(own, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(left, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := n.WriteFile(t.Context(), n.root, workspace, "a", strings.NewReader("x"), Condition{}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
}
