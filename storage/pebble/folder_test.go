package pebble

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/wharf-dev/wharf/storage"
)

// aFolder returns a disk with a data folder that holds the batches: some in tables,
// some in the log if the process was killed.
func aFolder(t *testing.T, closed bool) (image func() *vfs.MemFS, batches []*storage.Batch) {
	t.Helper()
	mem := vfs.NewCrashableMem()
	s, err := Open("data", testOptions(mem))
	if err != nil {
		t.Fatal(err)
	}
	batches = script()
	for i, b := range batches {
		mustAppend(t, s, b)
		if i == len(batches)/2 {
			if err := s.db.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	image = func() *vfs.MemFS {
		return mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 1))})
	}
	if !closed {
		t.Cleanup(func() { _ = s.Close() })
		still := image()
		return func() *vfs.MemFS {
			return still.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 1))})
		}, batches
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return image, batches
}

// contents returns every file below a folder, the empty ones too.
func contents(t *testing.T, fs vfs.FS, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	names, err := fs.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		name = fs.PathJoin(dir, name)
		info, err := fs.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.IsDir() {
			files[name+"/"] = ""
			maps.Copy(files, contents(t, fs, name))
			continue
		}
		text, err := readFile(fs, name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(text)
	}
	return files
}

// mustBeUnchanged compares a folder with what it was.
func mustBeUnchanged(t *testing.T, fs vfs.FS, before map[string]string) {
	t.Helper()
	after := contents(t, fs, "data")
	for name, text := range before {
		if got, ok := after[name]; !ok || got != text {
			t.Errorf("%s was changed: it is there: %t", name, ok)
		}
	}
	for name := range after {
		if _, ok := before[name]; !ok {
			t.Errorf("%s was made", name)
		}
	}
}

// harms are ways to lose a file.
var harms = map[string]func(fs vfs.FS, name, text string) error{
	"removed": func(fs vfs.FS, name, _ string) error { return fs.Remove(name) },
	"emptied": func(fs vfs.FS, name, _ string) error { return writeFile(fs, name, nil) },
	"halved":  func(fs vfs.FS, name, text string) error { return writeFile(fs, name, []byte(text[:len(text)/2])) },
	"zeroed": func(fs vfs.FS, name, text string) error {
		return writeFile(fs, name, []byte(text[:len(text)/2]+strings.Repeat("\x00", len(text)-len(text)/2)))
	},
}

// TestLostFilesAreTold loses each file of a folder in turn. A start either finds all
// that was acknowledged or refuses, in a line that says what to do, and changes
// nothing: what was lost may be put back.
func TestLostFilesAreTold(t *testing.T) {
	for name, closed := range map[string]bool{"closed": true, "killed": false} {
		t.Run(name, func(t *testing.T) {
			image, batches := aFolder(t, closed)
			mustHold(t, image(), batches, lastOfBatches(batches, len(batches)))
			for file, text := range contents(t, image(), "data") {
				if strings.HasSuffix(file, "/") || strings.HasSuffix(file, "LOCK") || strings.HasPrefix(file, "data/blobs/") {
					continue // blobs are looked for by a check, not by a start
				}
				for harm, do := range harms {
					if text == "" && harm != "removed" {
						continue
					}
					fs := image()
					if err := do(fs, file, text); err != nil {
						t.Fatal(err)
					}
					t.Run(harm+" "+strings.TrimPrefix(file, "data/"), func(t *testing.T) { mustHoldOrRefuse(t, fs, batches) })
				}
			}
		})
	}
}

func mustHoldOrRefuse(t *testing.T, fs *vfs.MemFS, batches []*storage.Batch) {
	t.Helper()
	before := contents(t, fs, "data")
	reader, err := OpenReadOnly("data", testOptions(fs))
	if err == nil {
		err = reader.Close()
	}
	mustSayWhatToDo(t, err)
	mustBeUnchanged(t, fs, before)
	s, again := Open("data", testOptions(fs))
	if fmt.Sprint(err) != fmt.Sprint(again) {
		t.Errorf("to be read it opens with %v, to be written with %v", err, again)
	}
	if again != nil {
		mustBeUnchanged(t, fs, before)
		return
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	mustHold(t, fs, batches, lastOfBatches(batches, len(batches)))
}

// mustSayWhatToDo checks a refusal: one line, and what to do.
func mustSayWhatToDo(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	var refused *FolderError
	if !errors.As(err, &refused) || refused.Try == "" || strings.ContainsAny(fmt.Sprintf("%+v", err), "\n\t") || len(err.Error()) > 300 {
		t.Errorf("refused with %T: %+v", errors.Unwrap(err), err)
	}
}

// TestLostPartsAreTold loses what no single file is.
func TestLostPartsAreTold(t *testing.T) {
	image, batches := aFolder(t, false)
	for name, part := range map[string][]string{
		"the database":          {"data/db"},
		"the database and HEAD": {"data/db", "data/HEAD"},
		"all but the blobs":     {"data/db", "data/HEAD", "data/FORMAT"},
		"all but HEAD":          {"data/db", "data/FORMAT", "data/blobs"},
		"all but FORMAT":        {"data/db", "data/HEAD", "data/blobs"},
		"HEAD and the logs":     append(logsOf(t, image()), "data/HEAD"),
		"both markers":          markersOf(t, image()),
	} {
		t.Run(name, func(t *testing.T) {
			fs := image()
			for _, p := range part {
				if err := fs.RemoveAll(p); err != nil {
					t.Fatal(err)
				}
			}
			mustHoldOrRefuse(t, fs, batches)
		})
	}
}

func logsOf(t *testing.T, fs vfs.FS) []string {
	return slices.DeleteFunc(filesOf(t, fs, "data/db"), func(name string) bool { return !isLog(name) })
}

func markersOf(t *testing.T, fs vfs.FS) (names []string) {
	for name := range contents(t, fs, "data/db") {
		if strings.Contains(name, "marker.") {
			names = append(names, name)
		}
	}
	return names
}

// TestReadingChangesNothing opens folders to read them, sound ones and damaged ones, on
// a disk that refuses writes, and checks them.
func TestReadingChangesNothing(t *testing.T) {
	for name, closed := range map[string]bool{"closed": true, "killed": false} {
		t.Run(name, func(t *testing.T) {
			image, batches := aFolder(t, closed)
			sound := image()
			damaged := image()
			for _, name := range tablesOf(t, damaged) {
				flip(t, damaged, name, 20, 1)
			}
			unlocked := image()
			for _, name := range []string{"data/LOCK", "data/db/LOCK"} {
				if err := unlocked.Remove(name); err != nil {
					t.Fatal(err)
				}
			}
			for what, fs := range map[string]*vfs.MemFS{"sound": sound, "damaged": damaged, "as a backup": unlocked} {
				before := contents(t, fs, "data")
				report := mustLook(t, fs)
				if (what == "damaged") == report.OK() {
					t.Errorf("%s: %d faults: %q", what, report.Faults, report.Problems)
				}
				if last := lastOfBatches(batches, len(batches)); what != "damaged" && report.Last != last {
					t.Errorf("%s: the log ends at %s, not at %s", what, report.Last, last)
				}
				mustBeUnchanged(t, fs, before)
			}
		})
	}
}

// mustLook checks a folder, on a disk on which every write but those of a scratch
// database fails.
func mustLook(t *testing.T, fs vfs.FS) storage.Report {
	t.Helper()
	var writes atomic.Int64
	o := testOptions(errorfs.Wrap(fs, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if !isWrite(op) || strings.HasPrefix(op.Path, "scratch") || op.Kind == errorfs.OpLock {
			return nil
		}
		writes.Add(1)
		return fmt.Errorf("%s: %w", op.Path, syscall.EROFS)
	})))
	o.Scratch = "scratch"
	if err := fs.MkdirAll("scratch", 0o700); err != nil {
		t.Fatal(err)
	}
	s, err := OpenReadOnly("data", o)
	if err != nil {
		mustSayWhatToDo(t, err)
		return storage.Report{Faults: 1}
	}
	defer func() {
		if err := s.Close(); err != nil || writes.Load() != 0 {
			t.Errorf("%d writes were tried; Close = %v", writes.Load(), err)
		}
	}()
	if _, err := s.Append(accept(1, 1)).Wait(context.Background()); !errors.Is(err, ErrReadOnly) {
		t.Errorf("Append = %v", err)
	}
	if _, _, err := s.Blobs().Put(context.Background(), strings.NewReader("x"), nil); !errors.Is(err, ErrReadOnly) {
		t.Errorf("Put = %v", err)
	}
	report, err := s.Check(context.Background(), nil)
	if err != nil {
		return storage.Report{Faults: 1}
	}
	again, err := s.Rebuild(context.Background(), nil)
	if err != nil {
		return storage.Report{Faults: 1}
	}
	report.Faults += again.Faults
	report.Problems = append(report.Problems, again.Problems...)
	return report
}

// TestReadingAndWritingExclude checks that a folder is not read while it is written to.
func TestReadingAndWritingExclude(t *testing.T) {
	fs := vfs.NewMem()
	s := openTest(t, fs)
	var locked *LockedError
	if _, err := OpenReadOnly("data", testOptions(fs)); !errors.As(err, &locked) {
		t.Errorf("OpenReadOnly of an open folder: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	reader, err := OpenReadOnly("data", testOptions(fs))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open("data", testOptions(fs)); !errors.As(err, &locked) {
		t.Errorf("Open of a folder that is read: %v", err)
	}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	openTest(t, fs)
}

// TestReadingNeedsAFolder checks that looking at nothing makes nothing.
func TestReadingNeedsAFolder(t *testing.T) {
	fs := vfs.NewMem()
	if _, err := OpenReadOnly("data", testOptions(fs)); err == nil {
		t.Error("a folder that does not exist was opened")
	}
	if _, err := fs.Stat("data"); err == nil {
		t.Error("the folder was made")
	}
}

// TestFaultWhileOpening lets each operation of a start fail, with each error that a
// disk has for it, once or from then on. The start ends: it fails, or comes up. What
// was acknowledged is there when the disk works again.
func TestFaultWhileOpening(t *testing.T) {
	if underRace {
		t.Skip("with the race detector Pebble checks invariants that do not hold after a failed write of its list of files, and panics; runs without it")
	}
	empty := func() *vfs.MemFS { return vfs.NewCrashableMem() }
	closed, batches := aFolder(t, true)
	killed, _ := aFolder(t, false)
	for name, folder := range map[string]struct {
		image   func() *vfs.MemFS
		batches []*storage.Batch
	}{"new": {empty, nil}, "closed": {closed, batches}, "killed": {killed, batches}} {
		for _, fault := range []syscall.Errno{syscall.ENOSPC, syscall.EIO, syscall.EROFS, syscall.EDQUOT} {
			for _, forever := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %s, for ever: %t", name, fault, forever), func(t *testing.T) {
					t.Parallel()
					total, step := openFaulty(t, folder.image(), folder.batches, -1, fault, forever), 1
					if testing.Short() {
						step = 5
					}
					if fault != syscall.ENOSPC {
						step *= 4
					}
					for at := 0; at < total; at += step {
						openFaulty(t, folder.image(), folder.batches, at, fault, forever)
					}
				})
			}
		}
	}
}

// openFaulty opens a folder with a fault at one of its operations, and returns how many
// there are.
func openFaulty(t *testing.T, mem *vfs.MemFS, batches []*storage.Batch, at int, fault syscall.Errno, forever bool) int {
	t.Helper()
	var n atomic.Int64
	var opening atomic.Bool
	opening.Store(true)
	o := testOptions(errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if !isWrite(op) || !opening.Load() && !forever {
			return nil
		}
		if i := int(n.Add(1)) - 1; at >= 0 && (i == at || forever && i > at) {
			return fmt.Errorf("%s: %w", op.Path, fault)
		}
		return nil
	})))
	o.grace = 20 * time.Millisecond
	o.MemtableBytes, o.CacheBytes = 64<<10, 64<<10 // a database that fails while it opens is left behind
	s, err := Open("data", o)
	opening.Store(false)
	total := int(n.Load())
	switch {
	case err != nil && at < 0:
		t.Fatal(err)
	case err != nil && !errors.Is(err, fault) && !errors.Is(err, errFrozen):
		t.Errorf("operation %d: %v", at, err)
	case err == nil:
		_ = s.Close() // it may well fail
	}
	clone := mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, uint64(at+1)))})
	mustHold(t, clone, batches, lastOfBatches(batches, len(batches)))
	clone = mem.CrashClone(vfs.CrashCloneCfg{})
	mustHold(t, clone, batches, lastOfBatches(batches, len(batches)))
	return total
}

// TestFormatOfTheFuture checks that a folder of a later program is left alone before
// anything in it is opened, and so is one whose format cannot be told.
func TestFormatOfTheFuture(t *testing.T) {
	image, batches := aFolder(t, false)
	for name, text := range map[string]string{
		"the next": fmt.Sprintln(formatVersion + 1), "a far one": "4000000000\n",
		"none": "", "words": "three\n", "negative": "-1\n", "of before the file": "2\n", "too large": "4294967299\n",
	} {
		t.Run(name, func(t *testing.T) {
			fs := image()
			if err := writeFile(fs, "data/FORMAT", []byte(text)); err != nil {
				t.Fatal(err)
			}
			before := contents(t, fs, "data")
			_, err := Open("data", testOptions(fs))
			if err == nil || !strings.Contains(strings.ToLower(err.Error()), "format") {
				t.Fatalf("Open = %v", err)
			}
			mustHoldOrRefuse(t, fs, batches)
			mustBeUnchanged(t, fs, before)
		})
	}
}

// TestFormatFileIsWritten checks that new folders, copies, and folders of before the
// file have one.
func TestFormatFileIsWritten(t *testing.T) {
	fs := format1(t)
	reader, err := OpenReadOnly("data", testOptions(fs))
	if err != nil {
		t.Fatal(err)
	}
	report, err := reader.Check(context.Background(), nil)
	if err := errors.Join(err, reader.Close()); err != nil || !report.OK() {
		t.Errorf("a folder of format 1, read as it is: %v, %q", err, report.Problems)
	}
	if _, err := fs.Stat("data/FORMAT"); err == nil {
		t.Error("reading has written the file")
	}
	s := openTest(t, fs)
	if err := s.Checkpoint("copy"); err != nil {
		t.Fatal(err)
	}
	fresh := vfs.NewMem()
	openTest(t, fresh)
	for where, at := range map[string]vfs.FS{"data": fs, "copy": fs, "data ": fresh} {
		if text, err := readFile(at, strings.TrimSpace(where)+"/FORMAT"); string(text) != fmt.Sprintln(formatVersion) {
			t.Errorf("%s: %q, %v", where, text, err)
		}
	}
}
