package pebble

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// aTail returns a disk with a data folder of a killed process whose tables were not
// written while it went through several files of its write-ahead log: what step appends
// or removes goes into the file of its number. The first steps, settled of them, lie in
// tables.
func aTail(t *testing.T, steps []func(*Store), settled int) func() *vfs.MemFS {
	t.Helper()
	mem := vfs.NewCrashableMem()
	tables := make(chan struct{})
	var held atomic.Bool
	fs := errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if held.Load() && op.Kind == errorfs.OpCreate && strings.HasSuffix(op.Path, ".sst") {
			<-tables
		}
		return nil
	}))
	s, err := Open("data", testOptions(fs))
	if err != nil {
		t.Fatal(err)
	}
	for i, step := range steps {
		if i == settled {
			held.Store(true)
		}
		step(s)
		if i < settled {
			err = s.db.Flush()
		} else if i < len(steps)-1 {
			_, err = s.db.AsyncFlush()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	image := func(from *vfs.MemFS) *vfs.MemFS {
		return from.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 1))})
	}
	still := image(mem)
	close(tables)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return func() *vfs.MemFS { return image(still) }
}

// sortedLogs returns the files of the write-ahead log that hold something, oldest first.
func sortedLogs(t *testing.T, fs vfs.FS) (names []string) {
	t.Helper()
	all := contents(t, fs, "data/db")
	for _, name := range logsOf(t, fs) {
		if all[name] != "" {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	return names
}

// sixSteps returns steps of six events each, of two tenants, and all that they append.
func sixSteps(t *testing.T) (batches []*storage.Batch, steps []func(*Store)) {
	for n := range 6 {
		own := []*storage.Batch{accept(1, 3*n), accept(2, 3*n+1), accept(1, 3*n+2)}
		batches = append(batches, own...)
		steps = append(steps, func(s *Store) {
			for _, b := range own {
				mustAppend(t, s, b)
			}
		})
	}
	return batches, steps
}

// liveTables returns the tables that the database is made of. What a compaction has
// replaced may lie beside them until it is removed, and nobody misses it.
func liveTables(t *testing.T, fs vfs.FS) (names []string) {
	t.Helper()
	s, err := OpenReadOnly("data", testOptions(fs))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	levels, err := s.db.SSTables()
	if err != nil {
		t.Fatal(err)
	}
	all := tablesOf(t, fs)
	for _, table := range slices.Concat(levels...) {
		name := fmt.Sprintf("data/db/%06d.sst", table.FileNum)
		if !slices.Contains(all, name) {
			t.Fatalf("table %s is none of %v", name, all)
		}
		names = append(names, name)
	}
	return names
}

// TestLostTableInBetween loses each table of several.
func TestLostTableInBetween(t *testing.T) {
	batches, steps := sixSteps(t)
	image := aTail(t, steps, len(steps))
	tables := liveTables(t, image())
	if len(tables) < 3 { // a compaction may have made fewer of them
		t.Fatalf("there are %d tables", len(tables))
	}
	for _, name := range tables {
		for harm, do := range harms {
			t.Run(harm+" "+name, func(t *testing.T) {
				fs := image()
				if err := do(fs, name, contents(t, fs, "data/db")[name]); err != nil {
					t.Fatal(err)
				}
				mustHoldOrRefuse(t, fs, batches)
				if _, err := OpenReadOnly("data", testOptions(fs)); err == nil {
					t.Error("it was opened")
				}
			})
		}
	}
}

// TestLostLogInBetween loses each file of a write-ahead log of several, while the others
// stay. Nothing that was acknowledged is given up in silence.
func TestLostLogInBetween(t *testing.T) {
	for _, settled := range []int{0, 2} {
		batches, steps := sixSteps(t)
		image := aTail(t, steps, settled)
		mustHold(t, image(), batches, lastOfBatches(batches, len(batches)))
		logs := sortedLogs(t, image())
		if len(logs) < len(steps)-settled {
			t.Fatalf("the log has %d files", len(logs))
		}
		for i, name := range logs[len(logs)-(len(steps)-settled):] {
			first := storage.Position(6*(settled+i) + 1)
			for harm, do := range harms {
				t.Run(fmt.Sprintf("%d in tables, %s %d", settled, harm, i), func(t *testing.T) {
					fs := image()
					if err := do(fs, name, contents(t, fs, "data/db")[name]); err != nil {
						t.Fatal(err)
					}
					mustHoldOrRefuse(t, fs, batches)
					_, err := OpenReadOnly("data", testOptions(fs))
					want := fmt.Sprintf("positions %s to %s are missing", first, first+5)
					if between := i > 0 && i < len(steps)-settled-1; between && harm == "removed" && (err == nil || !strings.Contains(err.Error(), want)) {
						t.Errorf("OpenReadOnly = %v, want %q", err, want)
					}
				})
			}
		}
	}
}

// TestDamagedFrameInTheTail checks that a frame which does not decode keeps no folder
// from being opened, but a gap beside it does.
func TestDamagedFrameInTheTail(t *testing.T) {
	for name, c := range map[string]struct {
		tail []span
		gap  string
	}{
		"nothing":                    {nil, "positions 11 to 20 "},
		"whole, out of order":        {[]span{{15, 20}, {11, 14}}, ""},
		"damaged in between":         {[]span{{11, 12}, {13, 0}, {18, 20}}, ""},
		"damaged at the end":         {[]span{{11, 18}, {19, 0}}, ""},
		"a gap before a damaged":     {[]span{{11, 12}, {14, 0}}, "positions 13 to 13 "},
		"a gap at the beginning":     {[]span{{13, 20}}, "positions 11 to 12 "},
		"a gap in between":           {[]span{{11, 12}, {16, 20}}, "positions 13 to 15 "},
		"a gap at the end":           {[]span{{11, 19}}, "positions 20 to 20 "},
		"two that lie on each other": {[]span{{11, 17}, {12, 13}, {18, 20}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := checkSpans(c.tail, 10, 20)
			if (err != nil) != (c.gap != "") || err != nil && !strings.Contains(err.Error(), c.gap) {
				t.Errorf("checkSpans = %v, want %q", err, c.gap)
			}
		})
	}
}

// TestFileDamagedAtRunTime damages the tables of an open folder. What is told names the
// file, on one line, and not where in the code it was found.
func TestFileDamagedAtRunTime(t *testing.T) {
	for name, read := range map[string]func(*Store) error{
		"a check": func(s *Store) error {
			_, err := s.Check(context.Background(), nil)
			return err
		},
		"an event": func(s *Store) error {
			_, err := s.Event(context.Background(), 1, 300)
			return err
		},
		"a list": func(s *Store) error {
			_, _, err := s.Events(context.Background(), 1, storage.Scope{}, 0, 500)
			return err
		},
		"a resource": func(s *Store) error {
			_, err := s.Get(context.Background(), 1, abi.ObjectTask, newID(abi.ObjectTask, 200))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			fs := vfs.NewMem()
			s := openTest(t, fs)
			for n := range 400 {
				mustAppend(t, s, accept(1, n))
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			var said strings.Builder
			o := testOptions(fs)
			o.Logger = slog.New(slog.NewTextHandler(&said, nil))
			s, err := Open("data", o)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			for _, table := range tablesOf(t, fs) {
				info, err := fs.Stat(table)
				if err != nil {
					t.Fatal(err)
				}
				for at := 0; at < int(info.Size())*9/10; at += 50 {
					flip(t, fs, table, at, 1)
				}
			}
			err = read(s)
			if err == nil || errors.Is(err, storage.ErrNotFound) {
				t.Fatalf("it was read: %v", err)
			}
			if err := s.Close(); err == nil { // which waits for whoever else has found the damage and writes to the log
				t.Error("a store that has failed is closed without a word")
			}
			for what, text := range map[string]string{
				"error": fmt.Sprintf("%+v", err), "failure": fmt.Sprintf("%+v", s.Failed()), "log": strings.TrimSpace(said.String()),
			} {
				if !strings.Contains(text, "db/0000") || !strings.Contains(text, "is damaged: ") || strings.ContainsAny(text, "\n\t<") ||
					strings.Contains(text, "stack") || len(text) > 400 {
					t.Errorf("%s: %s", what, text)
				}
			}
		})
	}
}
