package pebble

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/wharf-dev/wharf/storage"
)

// The write-ahead log is longer than what is in it, so that no sync has a new length to keep. A process that is killed
// leaves zeros behind the last event, and behind those of a file before the last: all of them are read back.
func TestTheLogIsGrownAhead(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(filepath.Join(dir, "data"), testOptions(vfs.Default))
	if err != nil {
		t.Fatal(err)
	}
	for n := range 60 {
		mustAppend(t, s, accept(1, n+1))
		if n%20 == 19 && n < 59 {
			if _, err := s.db.AsyncFlush(); err != nil { // which begins a file
				t.Fatal(err)
			}
		}
	}
	logs, err := filepath.Glob(filepath.Join(dir, "data", "db", "*.log"))
	if err != nil || len(logs) == 0 {
		t.Fatalf("logs: %q, %v", logs, err)
	}
	for _, name := range logs {
		if info, err := os.Stat(name); err == nil && info.Size() < s.guard.grows {
			t.Errorf("%s has %d bytes", filepath.Base(name), info.Size())
		}
	}
	last, err := s.Last(t.Context(), 1, storage.Scope{})
	if err != nil {
		t.Fatal(err)
	}
	killed := filepath.Join(dir, "killed")
	if err := os.CopyFS(killed, os.DirFS(filepath.Join(dir, "data"))); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(killed, testOptions(vfs.Default))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = again.Close() })
	if got, err := again.Last(t.Context(), 1, storage.Scope{}); got != last || err != nil {
		t.Errorf("the last event is %d, want %d (%v)", got, last, err)
	}
	report, err := again.Check(t.Context(), nil)
	if err != nil || report.Faults > 0 {
		t.Errorf("%+v, %v", report, err)
	}
}
