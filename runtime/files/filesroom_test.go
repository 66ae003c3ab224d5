package files

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/runtime/ledger"
)

// Whatever is written, made and removed, also where it fails, what is counted of a
// Workspace's files is what is on the disk, and no empty folder stays that nobody has made.
func TestRoomIsWhatIsOnDisk(t *testing.T) {
	n, _ := newNode(t)
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
			"restart": func(*rapid.T) { n.room.bytes = nil },
			"": func(t *rapid.T) {
				counted, known := n.room.bytes[ledger.Key{Tenant: n.root.Tenant, ID: ws}]
				if !known {
					return
				}
				at, err := n.clientsPlace(n.root, ws, false)
				if err != nil || at == nil {
					t.Fatal("no folder: ", err)
				}
				defer at.Close()
				if taken := entriesOn(t, at.root); taken != counted {
					t.Fatalf("%d bytes are counted, %d are taken", counted, taken)
				}
			},
		})
	})
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
