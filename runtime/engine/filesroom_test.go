package engine

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Whatever is written and removed, also where it fails, what is counted of a
// Workspace's files is what is on the disk, and no empty folder stays.
func TestRoomIsWhatIsOnDisk(t *testing.T) {
	_, files := withFiles(t)
	n := newNode(t, guests{}, files)
	ws := DefaultWorkspace
	paths := rapid.SampledFrom([]string{"a", "a/b", "a/b/c", "b", "b/c", "c/d/e/f", "a/x"})
	rapid.Check(t, func(t *rapid.T) {
		t.Repeat(map[string]func(*rapid.T){
			"write": func(t *rapid.T) {
				content := make([]byte, rapid.IntRange(0, 20_000).Draw(t, "size"))
				_, _, _ = n.WriteFile(n.base, n.root, ws, paths.Draw(t, "path"), content, FileCondition{Absent: rapid.Bool().Draw(t, "absent")})
			},
			"remove": func(t *rapid.T) {
				_ = n.RemoveFile(n.base, n.root, ws, paths.Draw(t, "path"), FileCondition{})
			},
			"restart": func(*rapid.T) { n.room.bytes = nil },
			"": func(t *rapid.T) {
				counted, known := n.room.bytes[owner{n.root.Tenant, ws}]
				if !known {
					return
				}
				root, err := n.openFiles(n.root, ws, false)
				if err != nil || root == nil {
					t.Fatal("no folder: ", err)
				}
				defer root.Close()
				if taken := entriesOn(t, root); taken != counted {
					t.Fatalf("%d bytes are counted, %d are taken", counted, taken)
				}
			},
		})
	})
}

func entriesOn(t *rapid.T, root *os.Root) (taken int64) {
	err := fs.WalkDir(root.FS(), ".", func(at string, d fs.DirEntry, err error) error {
		if err != nil || at == "." {
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
	_, files := withFiles(t)
	n := newNode(t, guests{}, files)
	at := owner{n.root.Tenant, DefaultWorkspace}
	if _, _, err := n.WriteFile(t.Context(), n.root, DefaultWorkspace, strings.Repeat("d/", 31)+"f", nil, FileCondition{}); err != nil {
		t.Fatal(err)
	}
	if got := n.room.bytes[at]; got != 32*entryBytes {
		t.Errorf("%d bytes are counted", got)
	}
	n.room.bytes[at] = maxWorkspaceBytes
	if _, _, err := n.WriteFile(t.Context(), n.root, DefaultWorkspace, "empty", nil, FileCondition{}); err == nil {
		t.Error("a full workspace takes an empty file")
	}
}
