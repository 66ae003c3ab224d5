package disk_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/wharf-dev/wharf/runtime/disk"
)

func TestUsage(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, size int) {
		t.Helper()
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("db/000001.log", 1<<20)
	write("db/000002.sst", 2<<20)
	write("blobs/ab/cd", 3<<20)
	write("strange", 4<<20)
	u := &disk.Usage{Folders: map[string]disk.Kind{"db": disk.KindLog, "blobs": disk.KindBlobs}}
	if bytes, _ := u.Bytes(); bytes != nil {
		t.Errorf("before it was counted there are %v", bytes)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if u.Walk(ended, dir); len(first(u.Bytes())) != 0 {
		t.Error("a walk that was broken off counts")
	}
	u.Walk(t.Context(), dir)
	bytes := first(u.Bytes())
	for kind, least := range map[disk.Kind]uint64{disk.KindWAL: 1 << 20, disk.KindLog: 2 << 20, disk.KindBlobs: 3 << 20, disk.KindOther: 4 << 20, disk.KindKeys: 0} {
		if got, there := bytes[kind]; !there || got < least || got > least+1<<18 {
			t.Errorf("%s takes %d bytes, want about %d", kind, got, least)
		}
	}
	if err := os.RemoveAll(filepath.Join(dir, "blobs")); err != nil {
		t.Fatal(err)
	}
	if u.Walk(t.Context(), dir); first(u.Bytes())[disk.KindBlobs] != 0 {
		t.Error("what is gone still counts")
	}
	u.Walk(t.Context(), filepath.Join(dir, "nowhere"))
}

func first[A, B any](a A, _ B) A { return a }
