package files

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/runtime/ledger"
)

// Whatever is written, made and removed, also where it fails, what is counted of a
// Workspace's files is what is on the disk, and no empty folder stays that nobody has made.
func TestRoomIsWhatIsOnDisk(t *testing.T) {
	n, dir := newNode(t)
	ws := workspace
	paths := rapid.SampledFrom([]string{"a", "a/b", "a/b/c", "b", "b/c", "c/d/e/f", "a/x"})
	rapid.Check(t, func(t *rapid.T) {
		t.Repeat(map[string]func(*rapid.T){
			"write": func(t *rapid.T) {
				content := make([]byte, rapid.IntRange(0, 20_000).Draw(t, "size"))
				_, _, _ = n.WriteFile(context.Background(), n.root, ws, paths.Draw(t, "path"), bytes.NewReader(content), Condition{Absent: rapid.Bool().Draw(t, "absent")})
			},
			"remove": func(t *rapid.T) {
				_ = n.RemoveFile(context.Background(), n.root, ws, paths.Draw(t, "path"), Condition{})
			},
			"make": func(t *rapid.T) {
				_, _, _ = n.MakeFolder(context.Background(), n.root, ws, paths.Draw(t, "folder"))
			},
			"remove folder": func(t *rapid.T) {
				_, _ = n.RemoveFolder(context.Background(), n.root, ws, paths.Draw(t, "folder"), rapid.Bool().Draw(t, "recursive"))
			},
			"write what ends early": func(t *rapid.T) {
				content := io.MultiReader(bytes.NewReader(make([]byte, rapid.IntRange(0, 600_000).Draw(t, "size"))), iotest.ErrReader(io.ErrUnexpectedEOF))
				if _, _, err := n.WriteFile(context.Background(), n.root, ws, paths.Draw(t, "path"), content, Condition{}); err == nil {
					t.Fatal("half a file is written")
				}
			},
			"write what a workspace has no room for": func(t *rapid.T) {
				at := ledger.Key{Tenant: n.root.Tenant, ID: ws}
				room := rapid.Int64Range(0, 20_000).Draw(t, "room")
				used, known := n.room.bytes[at]
				if !known {
					return
				}
				n.room.bytes[at] = maxWorkspaceBytes - room
				content := make([]byte, rapid.IntRange(0, 20_000).Draw(t, "size"))
				_, _, _ = n.WriteFile(context.Background(), n.root, ws, paths.Draw(t, "path"), bytes.NewReader(content), Condition{})
				_, _, _ = n.MakeFolder(context.Background(), n.root, ws, paths.Draw(t, "folder"))
				if got := n.room.bytes[at]; got > maxWorkspaceBytes {
					t.Fatalf("%d bytes are taken of a workspace", got)
				}
				n.room.bytes[at] += used - (maxWorkspaceBytes - room)
			},
			"crash while it is written": func(t *rapid.T) {
				if err := os.MkdirAll(filepath.Join(dir, "1", ws), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, "1", ws, unfinished+"x"), make([]byte, 5000), 0o600); err != nil {
					t.Fatal(err)
				}
				n.room.bytes = nil
			},
			"restart": func(*rapid.T) { n.room.bytes = nil },
			"":        func(t *rapid.T) { mustCountWhatIsThere(t, n) },
		})
	})
}

// mustCountWhatIsThere compares what is counted of the Workspace, if that is known, with its folder.
func mustCountWhatIsThere(t *rapid.T, n *node) {
	counted, known := n.room.bytes[ledger.Key{Tenant: n.root.Tenant, ID: workspace}]
	if !known {
		return
	}
	at, err := n.clientsPlace(n.root, workspace, false)
	if err != nil || at == nil {
		t.Fatal("no folder: ", err)
	}
	defer at.Close()
	if taken := entriesOn(t, at.root); taken != counted {
		t.Fatalf("%d bytes are counted, %d are taken", counted, taken)
	}
}

// TestTheLastBytes has many write at once into a Workspace that has room for some: as many do as it has room for.
func TestTheLastBytes(t *testing.T) {
	n, _ := newNode(t)
	at := ledger.Key{Tenant: n.root.Tenant, ID: workspace}
	if _, _, err := n.WriteFile(t.Context(), n.root, workspace, "first", strings.NewReader(""), Condition{}); err != nil {
		t.Fatal(err)
	}
	const each, fit = 1000, 5
	n.room.bytes[at] = maxWorkspaceBytes - fit*(each+entryBytes) - each
	var wrote atomic.Int64
	var writing sync.WaitGroup
	for i := range 20 {
		writing.Go(func() {
			_, _, err := n.WriteFile(t.Context(), n.root, workspace, fmt.Sprint("file", i), bytes.NewReader(make([]byte, each)), Condition{})
			if err == nil {
				wrote.Add(1)
			}
		})
	}
	writing.Wait()
	for i := range 20 { // those that others were in the way of
		if _, _, err := n.WriteFile(t.Context(), n.root, workspace, fmt.Sprint("late", i), bytes.NewReader(make([]byte, each)), Condition{}); err == nil {
			wrote.Add(1)
		}
	}
	if wrote.Load() != fit || n.room.bytes[at] != maxWorkspaceBytes-each {
		t.Errorf("%d files are written, %d bytes are left", wrote.Load(), maxWorkspaceBytes-n.room.bytes[at])
	}
}

func entriesOn(t *rapid.T, root *os.Root) (taken int64) {
	err := fs.WalkDir(root.FS(), ".", func(at string, d fs.DirEntry, err error) error {
		if err != nil || at == "." || d.Name() == madeFolder {
			return err
		}
		if taken += 4096; d.Type().IsRegular() {
			info, err := d.Info()
			if err != nil {
				return err
			}
			taken += info.Size()
			return nil
		}
		inside, err := fs.ReadDir(root.FS(), at)
		if len(inside) == 0 {
			t.Fatalf("the empty folder %s stays", at)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return taken
}

// Files without content, deep in folders, fill a Workspace as others do.
func TestEntriesCost(t *testing.T) {
	n, _ := newNode(t)
	at := ledger.Key{Tenant: n.root.Tenant, ID: workspace}
	if _, _, err := n.WriteFile(t.Context(), n.root, workspace, strings.Repeat("d/", 31)+"f", strings.NewReader(""), Condition{}); err != nil {
		t.Fatal(err)
	}
	if got := n.room.bytes[at]; got != 32*entryBytes {
		t.Errorf("%d bytes are counted", got)
	}
	n.room.bytes[at] = maxWorkspaceBytes
	if _, _, err := n.WriteFile(t.Context(), n.root, workspace, "empty", strings.NewReader(""), Condition{}); err == nil {
		t.Error("a full workspace takes an empty file")
	}
}
