package keyfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestWriteThenRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys", "key")
	if _, err := Read(path); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("a file that is not there: %v", err)
	}
	for _, content := range []string{"first", "second"} {
		if err := Write(path, []byte(content)); err != nil {
			t.Fatal(err)
		}
		if got, err := Read(path); err != nil || string(got) != content {
			t.Fatalf("%q, %v", got, err)
		}
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
}

func TestOnlyTheOwner(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such modes")
	}
	path := filepath.Join(t.TempDir(), "keys", "key")
	if err := Write(path, []byte("x")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	content, err := Read(path)
	if exposed, ok := errors.AsType[*Exposed](err); !ok || exposed.Mode != 0o640 || string(content) != "x" {
		t.Errorf("%q, %v", content, err)
	}
}
