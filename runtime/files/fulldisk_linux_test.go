package files

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/abi"
)

// TestRoomOnAFullDisk does the same as TestRoomIsWhatIsOnDisk on a small disk that others fill, by bytes and by files:
// what fails gives back what it took, at whatever step, and says that the disk is full.
func TestRoomOnAFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=256k,nr_inodes=24"); err != nil {
		t.Skipf("a small file system cannot be mounted, which takes root: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	if err := os.Mkdir(filepath.Join(dir, "files"), 0o700); err != nil {
		t.Fatal(err)
	}
	n := newNodeIn(t, filepath.Join(dir, "files"))
	at, err := n.clientsPlace(n.root, workspace, true)
	if err == nil {
		err = at.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	paths := rapid.SampledFrom([]string{"a", "a/b", "a/b/c", "b", "b/c", "c/d/e/f", "a/x"})
	full := 0
	// done holds that what the disk refuses is told as that.
	done := func(t *rapid.T, err error) {
		own, ok := errors.AsType[*abi.Error](err)
		switch {
		case err == nil, ok && own.Code != abi.CodeServiceUnavailable && own.Code != abi.CodeInternalError:
		case ok && own.RetryAfter > 0 && own.Code == abi.CodeServiceUnavailable:
			full++
		default:
			t.Fatalf("it is told as %v", err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		t.Repeat(map[string]func(*rapid.T){
			"write": func(t *rapid.T) {
				content := make([]byte, rapid.IntRange(0, 100_000).Draw(t, "size"))
				_, _, err := n.WriteFile(context.Background(), n.root, workspace, paths.Draw(t, "path"), bytes.NewReader(content), Condition{})
				done(t, err)
			},
			"remove": func(t *rapid.T) {
				done(t, n.RemoveFile(context.Background(), n.root, workspace, paths.Draw(t, "path"), Condition{}))
			},
			"make": func(t *rapid.T) {
				_, _, err := n.MakeFolder(context.Background(), n.root, workspace, paths.Draw(t, "folder"))
				done(t, err)
			},
			"remove folder": func(t *rapid.T) {
				_, err := n.RemoveFolder(context.Background(), n.root, workspace, paths.Draw(t, "folder"), true)
				done(t, err)
			},
			"others write": func(t *rapid.T) {
				_ = os.WriteFile(filepath.Join(dir, "bytes"), make([]byte, rapid.IntRange(0, 256<<10).Draw(t, "bytes")), 0o600) // as far as it goes
			},
			"others make files": func(t *rapid.T) {
				for i := range rapid.IntRange(1, 16).Draw(t, "files") {
					_ = os.Mkdir(filepath.Join(dir, string(rune('A'+i))), 0o700) // as far as it goes
				}
			},
			"others remove": func(*rapid.T) {
				left, err := filepath.Glob(filepath.Join(dir, "[A-Zb]*"))
				for _, name := range left {
					err = errors.Join(err, os.Remove(name))
				}
				if err != nil {
					t.Fatal(err)
				}
			},
			"restart": func(*rapid.T) { n.room.bytes = nil },
			"":        func(t *rapid.T) { mustCountWhatIsThere(t, n) },
		})
	})
	if full == 0 {
		t.Error("the disk was never full")
	}
}
