package datadir

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestRestoreTellsBeforeItWrites holds that a backup which cannot be restored, for it is
// larger than the disk or holds what is no file, is refused before a byte is written.
func TestRestoreTellsBeforeItWrites(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("what a disk has room for is not known here")
	}
	for _, test := range []struct {
		name string
		do   func(path string) error
		want string
	}{
		{"a hole of exabytes", func(path string) error {
			err := os.WriteFile(path, nil, 0o600)
			for bits := 62; bits > 42; bits-- { // as large as the file system lets it be
				if err = os.Truncate(path, 1<<bits); err == nil {
					break
				}
			}
			return err
		}, "has room for"},
		{"a link to a file", func(path string) error { return os.Symlink("/etc/hosts", path) }, "neither a file nor a folder"},
		{"a link to a folder", func(path string) error { return os.Symlink("/", path) }, "neither a file nor a folder"},
		{"a pipe", pipe, "neither a file nor a folder"},
	} {
		for _, part := range []string{"db/9", "blobs/ab/ef", Keys + "/x", Vaults + "/x", Workspaces + "/1/ws_a/x"} {
			_, data := nodeFolder(t)
			if err := test.do(filepath.Join(data, filepath.FromSlash(part))); err != nil {
				t.Skipf("%s cannot be made here: %v", test.name, err)
			}
			to := filepath.Join(t.TempDir(), "data")
			if _, err := Restore(data, to); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s at %s: %v", test.name, part, err)
			}
			absent(t, to)
		}
	}
}

// TestWhatABackupTakes counts known parts, files with holes, and entries without content.
func TestWhatABackupTakes(t *testing.T) {
	_, data := nodeFolder(t)
	before, err := measure(data)
	if err != nil {
		t.Fatal(err)
	}
	for name, size := range map[string]int64{"blobs/ab/hole": 1 << 30, "keys/empty": 0, "run.sh": 1 << 20} {
		path := filepath.Join(data, filepath.FromSlash(name))
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, size)); err != nil {
			t.Fatal(err)
		}
	}
	after, err := measure(data)
	if err != nil || after.bytes-before.bytes != 1<<30 || after.entries-before.entries != 2 {
		t.Errorf("%+v, before %+v, %v", after, before, err)
	}
}

func TestRoom(t *testing.T) {
	const k = blockBytes
	for _, test := range []struct {
		need, have room
		fits       bool
	}{
		{room{10 * k, 1}, room{11 * k, 1}, true},
		{room{10 * k, 1}, room{11*k - 1, 1}, false},
		{room{0, 1000}, room{1 << 40, 999}, false},
		{room{0, 1000}, room{999 * k, 1 << 20}, false},
		{room{math.MaxUint64, 1}, room{math.MaxUint64, 1}, false},
	} {
		err := test.need.fits("dir", test.have)
		if full, ok := errors.AsType[*NoRoom](err); ok == test.fits || (err != nil) == test.fits || ok && full.Dir != "dir" {
			t.Errorf("%+v: %v", test, err)
		}
	}
}
