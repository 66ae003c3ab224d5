package datadir

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// nodeFolder is a data folder with something of everything, and what checkpoints it.
func nodeFolder(t *testing.T) (c *Copying, data string) {
	t.Helper()
	data = folder(t, map[string]string{
		"db/1": "events", "HEAD": "h", "FORMAT": "1", "blobs/ab/cd": "blob", "keys/signing-keys.json": "key", "vaults/v": "sealed",
		"workspaces/1/ws_a/f": "file", "modules/wazero/code": "native",
	})
	checkpoint := func(dir string) error {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
		for _, part := range []string{"db", "blobs", "FORMAT", "HEAD"} {
			if err := Copy(filepath.Join(data, part), filepath.Join(dir, part)); err != nil {
				return err
			}
		}
		return nil
	}
	return &Copying{Checkpoint: checkpoint, Data: data}, data
}

func absent(t *testing.T, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("%s is there", path)
		}
	}
}

func TestBackupIsWholeAndLeavesLinksOut(t *testing.T) {
	c, data := nodeFolder(t)
	link := filepath.Join(data, Workspaces, "1", "ws_a", "link")
	if err := os.Symlink("f", link); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	dir := filepath.Join(t.TempDir(), "a", "copy")
	links, err := c.Write(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(links) != 1 || links[0] != link {
		t.Errorf("left out: %v", links)
	}
	if err := Recognize(dir); err != nil {
		t.Error(err)
	}
	if got := read(t, dir, "db", "1") + read(t, dir, Keys, "signing-keys.json") + read(t, dir, Vaults, "v") + read(t, dir, Workspaces, "1", "ws_a", "f"); got != "eventskeysealedfile" {
		t.Errorf("it holds %q", got)
	}
	absent(t, dir+partial, filepath.Join(dir, "modules"), filepath.Join(dir, Workspaces, "1", "ws_a", "link"))
	if _, err := c.Write(dir); err == nil {
		t.Error("an existing folder was written over")
	}
}

// TestBackupThatFailsLeavesNothing holds it for each step, and that what a process leaves
// which dies there is no backup and in nobody's way.
func TestBackupThatFailsLeavesNothing(t *testing.T) {
	for _, at := range []string{"checkpoint", Keys, Vaults, Workspaces, "rename"} {
		c, _ := nodeFolder(t)
		dir := filepath.Join(t.TempDir(), "copy")
		why := errors.New("no room")
		c.step = func(step string) error {
			if step == at {
				return why
			}
			return nil
		}
		if _, err := c.Write(dir); !errors.Is(err, why) {
			t.Errorf("%s: %v", at, err)
		}
		absent(t, dir, dir+partial)

		why = errDied
		if _, err := c.Write(dir); !errors.Is(err, errDied) {
			t.Errorf("%s: %v", at, err)
		}
		absent(t, dir)
		for _, left := range []string{dir + partial, filepath.Join(dir+partial, "copy")} {
			if err := Recognize(left); err == nil {
				t.Errorf("%s: %s is taken for a backup", at, left)
			}
		}
		c.step = nil
		if _, err := c.Write(dir); err != nil {
			t.Errorf("after a death before %s: %v", at, err)
		}
		absent(t, dir+partial)
	}
}

// TestBackupsLieApart holds that no spelling leads into a folder that the node uses.
func TestBackupsLieApart(t *testing.T) {
	c, data := nodeFolder(t)
	plugins, outside := t.TempDir(), t.TempDir()
	c.Apart = []string{plugins, filepath.Join(data, "missing")}
	link := filepath.Join(outside, "link")
	if err := os.Symlink(filepath.Join(data, Workspaces), link); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	for _, dir := range []string{
		filepath.Join(data, "x"), filepath.Join(data, Workspaces, "1", "ws_a", "bk"), data + "/../" + filepath.Base(data) + "/x",
		filepath.Join(link, "x"), filepath.Join(link, "1", "new", "x"), link + "/../link/x", filepath.Join(plugins, "x"), plugins + "//y/z",
	} {
		if _, err := c.Write(dir); err == nil || !strings.Contains(err.Error(), "outside") {
			t.Errorf("%s: %v", dir, err)
		}
	}
	if _, err := c.Write(data + "-beside"); err != nil {
		t.Error(err)
	}
}

func TestPartialFoldersOfOthersStay(t *testing.T) {
	c, _ := nodeFolder(t)
	dir := filepath.Join(t.TempDir(), "copy")
	other := filepath.Join(dir+partial, "mine")
	if err := os.MkdirAll(other, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write(dir); err == nil {
		t.Error("it was written over")
	}
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
}

func TestRestoreTakesKnownPartsOnly(t *testing.T) {
	_, data := nodeFolder(t)
	if err := os.WriteFile(filepath.Join(data, "run.sh"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "data")
	left, err := Restore(data, to)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Join(left, " ") != "modules run.sh" {
		t.Errorf("left out: %v", left)
	}
	absent(t, filepath.Join(to, "modules"), filepath.Join(to, "run.sh"))
	for _, part := range parts {
		if _, err := os.Stat(filepath.Join(to, part)); err != nil {
			t.Error(err)
		}
	}
}
