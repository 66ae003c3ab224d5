package pebble

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/internal/share"
	"github.com/wharf-dev/wharf/storage"
)

// format1 returns a disk with the data folder that the golden file of format 1
// shows: four events of tenant 1.
func format1(t *testing.T) vfs.FS {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "golden", "projections-v1.txt"))
	if err != nil {
		t.Fatal(err)
	}
	fs := vfs.NewMem()
	if err := fs.MkdirAll("data/db", 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := pebble.Open("data/db", &pebble.Options{FS: fs, FormatMajorVersion: pebble.FormatNewest})
	if err != nil {
		t.Fatal(err)
	}
	for pair := range slices.Chunk(bytes.Fields(text), 3) {
		if err := db.Set(unhex(t, pair[1]), unhex(t, pair[2]), pebble.Sync); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(db.Close(), writeHead(fs, "data/HEAD", 4)); err != nil {
		t.Fatal(err)
	}
	return fs
}

// TestFormat1IsReadAndContinued opens a folder of the format before, writes to it and
// reads what is old and what is new by every scope.
func TestFormat1IsReadAndContinued(t *testing.T) {
	fs := format1(t)
	for start := range 3 {
		s := openTest(t, fs)
		mustBeSound(t, s)
		mustReadAll(t, s, 4+2*start)
		if _, err := s.Idempotency(ctx, 1, accept(1, 1).Idempotency.Key, epoch); err != nil {
			t.Errorf("start %d: the idempotency record is lost: %v", start, err)
		}
		if p := mustAppend(t, s, accept(1, 2+start)); int(p) != 5+2*start {
			t.Fatalf("the next event is at %s", p)
		}
		mustReadAll(t, s, 6+2*start)
		mustBeSound(t, s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s := openTest(t, fs)
	if n, err := s.Retain(ctx, epoch.Add(time.Hour)); err != nil || n != 4 {
		t.Fatalf("%d events are removed, %v", n, err)
	}
	mustReadAll(t, s, 10)
	mustBeSound(t, s)
}

// mustReadAll reads every event of the one Workspace after every position, and
// compares them with the tenant's.
func mustReadAll(t *testing.T, s *Store, last int) {
	t.Helper()
	workspace := storage.Scope{Object: abi.ObjectWorkspace, ID: newID(abi.ObjectWorkspace, 1)}
	if p, err := s.Last(ctx, 1, workspace); err != nil || int(p) != last {
		t.Errorf("the last event is at %s, want %d, %v", p, last, err)
	}
	mustEqualFiltered(t, s, workspace.ID)
}

// mustEqualFiltered reads the events of a Workspace in pages of several sizes from
// every position on, and holds them against what the tenant's own stream says.
func mustEqualFiltered(t *testing.T, s *Store, workspace string) {
	t.Helper()
	floor := storage.Position(s.floor.Load())
	for after := floor; after <= s.Watermark()+1; after++ {
		var want []storage.Position
		for _, e := range allEvents(t, s, storage.Scope{}, after, 1000) {
			if e.Frame.WorkspaceID == workspace {
				want = append(want, e.Position())
			}
		}
		for _, limit := range []int{1, 7, 1000} {
			if limit == 1 && after != floor {
				continue
			}
			var got []storage.Position
			for _, e := range allEvents(t, s, storage.Scope{Object: abi.ObjectWorkspace, ID: workspace}, after, limit) {
				got = append(got, e.Position())
			}
			if !slices.Equal(got, want) {
				t.Fatalf("after %s, in pages of %d: %v, want %v", after, limit, got, want)
			}
		}
	}
}

func allEvents(t *testing.T, s *Store, scope storage.Scope, after storage.Position, limit int) (all []storage.Event) {
	t.Helper()
	for more := true; more; {
		var events []storage.Event
		var err error
		if events, more, err = s.Events(ctx, 1, scope, after, limit); err != nil {
			t.Fatal(err)
		}
		if all = append(all, events...); len(all) > 0 {
			after = all[len(all)-1].Position()
		}
	}
	return all
}

// TestWorkspacesAreReadByChunks writes frames of three Workspaces and two tenants, some
// longer than a chunk, and reads them from every position, also when retention has
// taken part of a chunk, and after a restart.
func TestWorkspacesAreReadByChunks(t *testing.T) {
	share.Alone(t)
	fs := vfs.NewMem()
	s := openTest(t, fs)
	for n := range 60 {
		b := accept(storage.Tenant(1+n%7/6), n)
		b.Frame.WorkspaceID = newID(abi.ObjectWorkspace, []int{1, 1, 2, 1, 3}[n%5])
		r := storage.Record{Kind: abi.EventProgress, Resource: b.Frame.Records[1].Resource, Hint: true}
		for range []int{0, 1, 5, 0, 0, 90, 2, 0, 0, 0, 63}[n%11] {
			b.Frame.Records = append(b.Frame.Records, r)
		}
		mustAppend(t, s, b)
		mustAppend(t, s, &storage.Batch{Frame: storage.Frame{Tenant: b.Frame.Tenant, Time: b.Frame.Time,
			WorkspaceID: b.Frame.WorkspaceID, TaskID: b.Frame.TaskID,
			Records: []storage.Record{{Kind: abi.EventTaskCompleted, Resource: r.Resource, State: state(r.Resource.ID, 1)}}}})
	}
	check := func() {
		mustBeSound(t, s)
		for n := range 4 {
			mustEqualFiltered(t, s, newID(abi.ObjectWorkspace, 1+n))
		}
	}
	check()
	for _, hours := range []int{9, 10, 23, 41} {
		if _, err := s.Retain(ctx, epoch.Add(time.Duration(hours)*time.Second)); err != nil {
			t.Fatal(err)
		}
		check()
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openTest(t, fs)
	check()
}

// TestChunkKeysAreWrittenOnce checks that a busy Workspace costs one key for a chunk,
// not one for a frame.
func TestChunkKeysAreWrittenOnce(t *testing.T) {
	var known chunkKeys
	key := func(workspace int, p storage.Position) []byte {
		return appendPosition(chunkPrefix(nil, 1, newID(abi.ObjectWorkspace, workspace)), chunkOf(p))
	}
	for _, c := range []struct {
		workspace int
		p         storage.Position
		known     bool
	}{{1, 1, false}, {1, 2, true}, {2, 3, false}, {1, 63, true}, {1, 64, false}, {2, 65, false}, {2, 127, true}, {1, 1000, false}} {
		if got := known.known(key(c.workspace, c.p)); got != c.known {
			t.Errorf("Workspace %d at %s is known: %v", c.workspace, c.p, got)
		}
	}
}
