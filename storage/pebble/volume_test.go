package pebble

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// sizeOf returns what the Workspace of the tests takes.
func sizeOf(t *testing.T, s *Store) int64 {
	t.Helper()
	n, known, err := s.SizeOf(ctx, 1, newID(abi.ObjectWorkspace, 1))
	if err != nil || !known {
		t.Fatalf("what the Workspace takes: %d, known %t, %v", n, known, err)
	}
	return n
}

// TestSizesBetweenTallies writes more than is tallied at once, in tallies' pace and after crashes between them, with
// erasures and retention: what is counted is always what a check counts, and never reads as more than there is.
func TestSizesBetweenTallies(t *testing.T) {
	for seed := range uint64(4) {
		rng := rand.New(rand.NewPCG(seed, 2))
		fs := vfs.NewCrashableMem()
		for round := range 5 {
			s, err := Open("data", testOptions(fs))
			if err != nil {
				t.Fatalf("seed %d, round %d: %v", seed, round, err)
			}
			wantSound(t, s)
			base := 100 * (round + 1)
			for n := range 3 {
				lived(t, s, base+n)
				for range rng.IntN(40) {
					b := taskEvent(base+n, abi.EventProgress, 9, nil)
					b.Frame.Records[0].Payload = fmt.Appendf(nil, `{"noise":"%x"}`, noise(rng, 20_000))
					s.Append(b)
				}
			}
			s.Append(erasing(base + rng.IntN(3)))
			if rng.IntN(3) == 0 {
				if _, err := s.Retain(ctx, time.Now().Add(time.Hour)); err != nil {
					t.Fatal(err)
				}
			}
			mustAppend(t, s, taskEvent(base, abi.EventProgress, 99, nil))
			want := sizeOf(t, s)
			wantSound(t, s)
			fs = fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: rng.IntN(101), RNG: rng})
			_ = s.Close()
			if s, err = Open("data", testOptions(fs)); err != nil {
				t.Fatal(err)
			}
			if got := sizeOf(t, s); got != want {
				t.Fatalf("seed %d, round %d: %d after the crash, %d before", seed, round, got, want)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func noise(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// TestOlderFolderIsMeasured checks that a folder without tallies is counted, also when that is cut off, and that events which retention
// removes meanwhile are not taken away twice.
func TestOlderFolderIsMeasured(t *testing.T) {
	fs := vfs.NewMem()
	s := openTest(t, fs)
	for n := range 5 {
		lived(t, s, n+1)
	}
	want := sizeOf(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	forget := func() {
		db, err := pebble.Open("data/db", &pebble.Options{FS: fs, FormatMajorVersion: pebble.FormatNewest})
		if err != nil {
			t.Fatal(err)
		}
		_ = db.Delete(metaKey(metaMeasured), pebble.Sync)
		_ = db.DeleteRange(volumeKey(space{tenant: 1})[:prefixLen], keyAfter(volumeKey(space{tenant: 1})[:prefixLen]), pebble.Sync)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	forget()
	s = openTest(t, fs)
	until(s.prepared.Load)
	if got := sizeOf(t, s); got != want {
		t.Errorf("it takes %d, and took %d", got, want)
	}
	wantSound(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	forget()
	s = openTest(t, fs) // retention comes before, between or after
	if _, err := s.Retain(ctx, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	until(s.prepared.Load)
	if got := sizeOf(t, s); got < 0 || got >= want {
		t.Errorf("after retention it takes %d, and took %d", got, want)
	}
	wantSound(t, s)
}

// TestSizeIsUnknownUntilCounted checks that a store says so, and that a damaged tally is found by a check.
func TestSizeIsUnknownUntilCounted(t *testing.T) {
	s := openTest(t, vfs.NewMem())
	lived(t, s, 1)
	s.prepared.Store(false)
	if _, known, err := s.SizeOf(ctx, 1, newID(abi.ObjectWorkspace, 1)); known || err != nil {
		t.Errorf("known %t, %v", known, err)
	}
	s.prepared.Store(true)
	if n, known, err := s.SizeOf(ctx, 2, newID(abi.ObjectWorkspace, 1)); n != 0 || !known || err != nil {
		t.Errorf("another tenant's: %d, %t, %v", n, known, err)
	}
	mustAppend(t, s, erasing(1)) // which writes the tallies
	lived(t, s, 2)
	mustAppend(t, s, erasing(2))
	key := volumeKey(space{1, newID(abi.ObjectWorkspace, 1)})
	good, ok, err := lookup(s.db, key)
	if err != nil || !ok {
		t.Fatalf("the tally: %t, %v", ok, err)
	}
	for _, bad := range [][]byte{{7}, {}, append(bytes.Clone(good), 1)} {
		if err := s.db.Set(key, bad, pebble.Sync); err != nil {
			t.Fatal(err)
		}
		for name, look := range map[string]func() (storage.Report, error){
			"Check":   func() (storage.Report, error) { return s.Check(ctx, nil) },
			"Rebuild": func() (storage.Report, error) { return s.Rebuild(ctx, nil) },
		} {
			if report, err := look(); err != nil || report.OK() {
				t.Errorf("%s of tally %x: %v, %q", name, bad, err, report.Problems)
			}
		}
	}
}

// TestSizeWhileTalliesAreWritten reads what a Workspace takes beside a writer: it never falls while nothing goes.
func TestSizeWhileTalliesAreWritten(t *testing.T) {
	s := openTest(t, vfs.NewMem())
	rng := rand.New(rand.NewPCG(1, 1))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for n := range 200 {
			b := taskEvent(1, abi.EventProgress, uint64(n), nil)
			b.Frame.Records[0].Payload = fmt.Appendf(nil, `{"noise":"%x"}`, noise(rng, 20_000))
			s.Append(b)
		}
		_ = s.Sync(ctx)
	}()
	last := int64(0)
	for writing := true; writing; {
		select {
		case <-done:
			writing = false
		default:
		}
		n, known, err := s.SizeOf(ctx, 1, newID(abi.ObjectWorkspace, 1))
		if err != nil || !known || n < last {
			t.Fatalf("%d after %d, %t, %v", n, last, known, err)
		}
		last = n
	}
	if last < 200*20_000 {
		t.Errorf("it takes %d", last)
	}
	wantSound(t, s)
}
