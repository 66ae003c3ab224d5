package datadir

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// folder makes a folder with the given files and returns its path.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "folder")
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func read(t *testing.T, parts ...string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestOnlyDataFoldersAreRecognized(t *testing.T) {
	data := folder(t, map[string]string{"db/x": "", "HEAD": ""})
	if err := Recognize(data); err != nil {
		t.Error(err)
	}
	for name, dir := range map[string]string{
		"missing":     filepath.Join(data, "none"),
		"a file":      filepath.Join(data, "HEAD"),
		"another one": folder(t, map[string]string{"notes.txt": ""}),
		"half of one": folder(t, map[string]string{"db/x": ""}),
	} {
		if err := Recognize(dir); err == nil {
			t.Errorf("%s: recognized", name)
		}
	}
}

func TestCopyTakesEverythingButTheLock(t *testing.T) {
	from := folder(t, map[string]string{"db/1": "one", "blobs/ab/cd": "blob", "HEAD": "h", "LOCK": ""})
	to := filepath.Join(t.TempDir(), "copy")
	if err := Copy(from, to); err != nil {
		t.Fatal(err)
	}
	if read(t, to, "db", "1")+read(t, to, "blobs", "ab", "cd")+read(t, to, "HEAD") != "oneblobh" {
		t.Error("the content differs")
	}
	if _, err := os.Stat(filepath.Join(to, "LOCK")); err == nil {
		t.Error("the lock was copied")
	}
	if err := Copy(from, to); err == nil {
		t.Error("an existing folder was written over")
	}
}

func TestCopyRefusesLinks(t *testing.T) {
	from := folder(t, map[string]string{"HEAD": "h"})
	if err := os.Symlink("HEAD", filepath.Join(from, "link")); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	if err := Copy(from, filepath.Join(t.TempDir(), "copy")); err == nil || !strings.Contains(err.Error(), "link") {
		t.Errorf("got %v", err)
	}
}

func TestReplace(t *testing.T) {
	fresh := folder(t, map[string]string{"HEAD": "new"})
	target := folder(t, map[string]string{"HEAD": "old", "extra": ""})
	if err := Replace(fresh, target); err != nil {
		t.Fatal(err)
	}
	if got := read(t, target, "HEAD"); got != "new" {
		t.Errorf("holds %q", got)
	}
	if _, err := os.Stat(filepath.Join(target, "extra")); err == nil {
		t.Error("what was there before is mixed in")
	}
	missing := filepath.Join(t.TempDir(), "missing")
	if err := Replace(target, missing); err != nil || read(t, missing, "HEAD") != "new" {
		t.Errorf("into a place where nothing is: %v", err)
	}
}

func TestReplacePutsTheOldFolderBackWhenItFails(t *testing.T) {
	target := folder(t, map[string]string{"HEAD": "old"})
	if err := Replace(filepath.Join(t.TempDir(), "none"), target); err == nil {
		t.Fatal("a folder that does not exist was put in place")
	}
	if got := read(t, target, "HEAD"); got != "old" {
		t.Errorf("holds %q", got)
	}
}

func TestVacant(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]bool{dir: true, filepath.Join(dir, "none"): true, folder(t, map[string]string{"x": ""}): false} {
		if got, err := Vacant(path); err != nil || got != want {
			t.Errorf("%s: got %t, %v", path, got, err)
		}
	}
}

var errKilled = errors.New("killed")

// Whenever a replacement is cut short, the next command finds a whole folder, the old
// or the new one, and can replace it.
func TestRecoverAfterEachStep(t *testing.T) {
	for step, want := range map[string]struct {
		recovery Recovery
		head     string
	}{"away": {Untouched, "old"}, "into place": {RolledBack, "old"}, "aside": {LeftOver, "new"}} {
		t.Run(step, func(t *testing.T) {
			fresh := folder(t, map[string]string{"HEAD": "new", "db/x": ""})
			target := folder(t, map[string]string{"HEAD": "old", "db/x": ""})
			err := replace(fresh, target, func(s string) error {
				if s == step {
					return errKilled
				}
				return nil
			})
			if !errors.Is(err, errKilled) {
				t.Fatal(err)
			}
			if err := Recognize(target); err != nil && !strings.Contains(err.Error(), target+".replaced") {
				t.Errorf("a command that only reads does not say where the folder is: %v", err)
			}
			recovery, old, err := Recover(target)
			if err != nil || recovery != want.recovery || read(t, target, "HEAD") != want.head {
				t.Errorf("%v, %q, %v; it holds %q", recovery, old, err, read(t, target, "HEAD"))
			}
			if recovery == LeftOver && read(t, old, "HEAD") != "old" {
				t.Error("the old folder is not where it is said to be")
			}
			if recovery, _, err := Recover(target); err != nil || recovery == RolledBack {
				t.Errorf("again: %v, %v", recovery, err)
			}
		})
	}
}

// What is beside a missing folder is not taken for it when it is something else.
func TestRecoverTakesDataFoldersOnly(t *testing.T) {
	target := filepath.Join(t.TempDir(), "data")
	if err := os.MkdirAll(filepath.Join(target+".replaced", "notes"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Recover(target); err == nil || !strings.Contains(err.Error(), target+".replaced") {
		t.Errorf("got %v", err)
	}
}
