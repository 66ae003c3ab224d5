package pebble

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// frameOf returns a frame of session 1 with the given records.
func frameOf(n int, task string, records ...storage.Record) storage.Frame {
	return storage.Frame{
		Tenant: 1, Time: epoch.Add(time.Duration(n) * time.Second), WorkspaceID: newID(abi.ObjectWorkspace, 1),
		SessionID: newID(abi.ObjectSession, 1), TaskID: task, Actor: "user_1", Records: records,
	}
}

func taskEvent(n int, kind abi.EventKind, sequence uint64, stated []byte) *storage.Batch {
	task := newID(abi.ObjectTask, n)
	return &storage.Batch{Frame: frameOf(n, task, storage.Record{Kind: kind,
		Resource: ptr(abi.ObjectTask, task), Sequence: sequence, State: stated})}
}

// script returns writes that together do everything a batch can do.
func script() []*storage.Batch {
	session, fork := newID(abi.ObjectSession, 1), newID(abi.ObjectSession, 2)
	batches := []*storage.Batch{
		{Frame: storage.Frame{Tenant: 0, Time: epoch, Records: []storage.Record{{Kind: abi.EventTenantCreated,
			Resource: ptr(abi.ObjectTenant, newID(abi.ObjectTenant, 1)), Created: true, State: []byte(`{}`)}}}},
		{Frame: frameOf(0, "", storage.Record{Kind: abi.EventSessionCreated, Resource: ptr(abi.ObjectSession, session),
			Created: true, State: state(session, 0)})},
	}
	for n := range 4 {
		batches = append(batches, accept(1, n), taskEvent(n, abi.EventTaskStarted, 1, state("started", n)))
	}
	large := make([]byte, 5<<10)
	batches = append(batches,
		taskEvent(0, abi.EventProgress, 2, nil),
		taskEvent(0, abi.EventTaskCompleted, 3, fmt.Appendf(nil, `{"large":"%x"}`, large)),
		taskEvent(1, abi.EventTaskFailed, 2, state("failed", 1)),
		&storage.Batch{Frame: frameOf(20, "", storage.Record{Kind: abi.EventSessionTruncated, Resource: ptr(abi.ObjectSession, session),
			Sequence: 1, State: state(session, 1), Transcript: storage.TranscriptOp{Kind: storage.TranscriptTruncate, At: 8}})},
		accept(1, 5),
	)
	forked := storage.Frame{Tenant: 1, Time: epoch.Add(time.Minute), WorkspaceID: newID(abi.ObjectWorkspace, 1), SessionID: fork,
		Records: []storage.Record{{Kind: abi.EventSessionCreated, Resource: ptr(abi.ObjectSession, fork), Created: true, State: state(fork, 0),
			Transcript: storage.TranscriptOp{Kind: storage.TranscriptCopy, From: session, At: 6}}}}
	batches = append(batches, &storage.Batch{Frame: forked}, accept(2, 7), taskEvent(5, abi.EventTaskCanceled, 1, state("canceled", 5)))
	return append(batches, memory(1, "the sky is blue"), memory(2, "the sea is blue, too"), redaction(1),
		taskEvent(5, abi.EventTaskDeleted, 2, state("deleted", 5)))
}

// longScript is the script followed by enough to fill several tables.
func longScript() []*storage.Batch {
	batches := script()
	for n := range 60 {
		b := accept(1, 200+n)
		b.Frame.Records[0].Payload = fmt.Appendf(nil, `{"padding":"%0900d"}`, n)
		batches = append(batches, b)
	}
	return batches
}

// lastOfBatches returns where the log ends after n of the batches.
func lastOfBatches(batches []*storage.Batch, n int) (last storage.Position) {
	for _, b := range batches[:n] {
		last += storage.Position(len(b.Frame.Records))
	}
	return last
}

// mustHold opens a folder, perhaps after a crash, and checks that it holds exactly
// the first few of the batches, all those that were acknowledged among them, and
// that everything follows from them.
func mustHold(t *testing.T, fs vfs.FS, batches []*storage.Batch, acknowledged storage.Position) {
	t.Helper()
	ctx := context.Background()
	s, err := Open("data", testOptions(fs))
	if err != nil {
		t.Fatalf("after a crash: %v", err)
	}
	defer s.Close()
	last := s.Watermark()
	if last < acknowledged {
		t.Fatalf("the log ends at %s, but %s was acknowledged", last, acknowledged)
	}
	first := storage.Position(1)
	for _, b := range batches {
		if first > last {
			mustLackKey(t, s, b)
			continue
		}
		mustHoldBatch(t, s, b, first)
		first += storage.Position(len(b.Frame.Records))
	}
	if first != last+1 {
		t.Fatalf("the log ends at %s, within a batch", last)
	}
	mustBeSound(t, s)
	if _, err := s.Append(accept(3, 100)).Wait(ctx); err != nil {
		t.Fatalf("appending after a crash: %v", err)
	}
}

// mustHoldBatch checks that b is in the log at first, with its idempotency record.
func mustHoldBatch(t *testing.T, s *Store, b *storage.Batch, first storage.Position) {
	t.Helper()
	ctx := context.Background()
	for i, want := range b.Frame.Records {
		e, err := s.Event(ctx, b.Frame.Tenant, first+storage.Position(i))
		if err != nil {
			t.Fatalf("event %s: %v", first+storage.Position(i), err)
		}
		if got := *e.Record(); !reflect.DeepEqual(got, want) || e.Frame.TaskID != b.Frame.TaskID {
			t.Fatalf("event %s = %.300q, want %.300q", e.Position(), fmt.Sprint(got), fmt.Sprint(want))
		}
	}
	if b.Idempotency == nil {
		return
	}
	i, err := s.Idempotency(ctx, b.Frame.Tenant, b.Idempotency.Key, epoch)
	if err != nil || i.Position != first+1 || i.Body != b.Idempotency.Body || i.Status != 202 {
		t.Fatalf("the idempotency record of %s = %+v, %v", first, i, err)
	}
}

func mustLackKey(t *testing.T, s *Store, b *storage.Batch) {
	t.Helper()
	if b.Idempotency == nil {
		return
	}
	if _, err := s.Idempotency(context.Background(), b.Frame.Tenant, b.Idempotency.Key, epoch); !errors.Is(err, storage.ErrNotFound) {
		t.Fatalf("an idempotency record without its frame: %v", err)
	}
}

// mustBeSound checks every invariant, and that the projections equal a rebuild.
func mustBeSound(t *testing.T, s *Store) {
	t.Helper()
	for name, f := range map[string]func(context.Context, func(storage.Progress)) (storage.Report, error){"Check": s.Check, "Rebuild": s.Rebuild} {
		report, err := f(context.Background(), nil)
		if err != nil || !report.OK() {
			t.Fatalf("%s: %v, %d faults: %v", name, err, report.Faults, report.Problems)
		}
	}
}

// TestCrashAfterEveryStep takes the power away after every acknowledged write,
// losing a random share of what was not synced.
func TestCrashAfterEveryStep(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	fs := vfs.NewCrashableMem()
	s := openTest(t, fs)
	batches := script()
	for i, b := range batches {
		mustAppend(t, s, b)
		for _, percent := range []int{0, 100, rng.IntN(100), rng.IntN(100)} {
			clone := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rng})
			mustHold(t, clone, batches, lastOfBatches(batches, i+1))
		}
	}
}

// TestCrashInFlight takes the power away at moments when writes are on their way.
func TestCrashInFlight(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for round := range 25 {
		fs := vfs.NewCrashableMem()
		s := openTest(t, fs)
		batches := script()
		var acknowledged atomic.Uint64
		crashAt := storage.Position(rng.IntN(int(lastOfBatches(batches, len(batches)))))
		reached := make(chan struct{})
		var waiters sync.WaitGroup
		var once sync.Once
		for _, b := range batches {
			c := s.Append(b)
			waiters.Go(func() {
				p, err := c.Wait(context.Background())
				if err != nil {
					t.Error(err)
				}
				raise(&acknowledged, uint64(p)+uint64(len(b.Frame.Records))-1)
				if p >= crashAt {
					once.Do(func() { close(reached) })
				}
			})
		}
		<-reached
		known := storage.Position(acknowledged.Load())
		clone := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: round * 4, RNG: rng})
		waiters.Wait()
		mustHold(t, clone, script(), known)
	}
}

func raise(v *atomic.Uint64, n uint64) {
	for old := v.Load(); old < n && !v.CompareAndSwap(old, n); old = v.Load() {
	}
}

// TestCrashDuringRetention takes the power away while events are removed.
func TestCrashDuringRetention(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	fs := vfs.NewCrashableMem()
	s := openTest(t, fs)
	for _, b := range script() {
		mustAppend(t, s, b)
	}
	for _, n := range []int{2, 3} { // Tasks that are still active hold the floor
		mustAppend(t, s, taskEvent(n, abi.EventTaskCompleted, 9, state("done", n)))
	}
	done := make(chan error)
	go func() {
		_, err := s.Retain(context.Background(), epoch.Add(time.Hour))
		done <- err
	}()
	clones := []*vfs.MemFS{fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 50, RNG: rng})}
	for running := true; running; {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			running = false
		default:
		}
		clones = append(clones, fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 50, RNG: rng}))
	}
	for _, clone := range clones {
		s, err := Open("data", testOptions(clone))
		if err != nil {
			t.Fatal(err)
		}
		res, err := s.Get(context.Background(), 1, abi.ObjectTask, newID(abi.ObjectTask, 2))
		if err != nil || string(res.State) != string(state("done", 2)) {
			t.Fatalf("the Task reads %q, %v", res.State, err)
		}
		mustBeSound(t, s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// isWrite reports whether an operation changes what is on disk.
func isWrite(op errorfs.Op) bool { return op.Kind.ReadOrWrite() == errorfs.OpIsWrite }

var errInjected = errors.New("injected fault")

// TestFaultAtEveryWrite lets each write and sync in turn fail, once or from then
// on. Nothing may be acknowledged that a fresh start does not find, and after the
// first failure everything must be refused.
func TestFaultAtEveryWrite(t *testing.T) {
	if underRace {
		t.Skip("with the race detector Pebble checks invariants that do not hold after a failed write of its list of files, and panics; runs without it")
	}
	for _, run := range []struct {
		name            string
		forever, atOnce bool
	}{{"once", false, false}, {"for ever", true, false}, {"once, all writes at once", false, true}} {
		t.Run(run.name, func(t *testing.T) {
			t.Parallel()
			total, step := faultRun(t, -1, run.forever, run.atOnce), 1
			if testing.Short() {
				step = 7
			}
			for at := 0; at < total; at += step {
				faultRun(t, at, run.forever, run.atOnce)
			}
		})
	}
}

// faultRun runs the script with a fault at one write and returns how many there are.
func faultRun(t *testing.T, at int, forever, atOnce bool) int {
	t.Helper()
	mem := vfs.NewCrashableMem()
	var n atomic.Int64
	faulty := errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if !isWrite(op) {
			return nil
		}
		if i := int(n.Add(1)) - 1; i == at || (forever && at >= 0 && i > at) {
			return fmt.Errorf("%s %s: %w", op.Path, fmt.Sprint(op.Kind), errInjected)
		}
		return nil
	}))
	batches, acknowledged := faultScript(t, faulty, atOnce)
	clone := mem.CrashClone(vfs.CrashCloneCfg{})
	if _, err := clone.Stat("data"); errors.Is(err, os.ErrNotExist) {
		return int(n.Load())
	}
	mustHold(t, clone, batches, acknowledged)
	return int(n.Load())
}

// faultScript runs the script on a disk that fails, each write after the one before
// or all at once. It returns the batches that may be in the log and up to where they
// were acknowledged. A batch whose blob could not be stored is refused without
// ending the log.
func faultScript(t *testing.T, fs vfs.FS, atOnce bool) (batches []*storage.Batch, acknowledged storage.Position) {
	t.Helper()
	o := testOptions(fs)
	o.grace = 50 * time.Millisecond
	o.MemtableBytes = 24 << 10 // so small that logs are rotated and tables written
	s, err := Open("data", o)
	if err != nil {
		return nil, 0
	}
	defer func() { _ = s.Close() }() // it may well fail
	all := longScript()
	commits := make([]storage.Commit, len(all))
	for i, b := range all {
		commits[i] = s.Append(b)
		if !atOnce {
			_, _ = commits[i].Wait(context.Background())
		}
	}
	for i, b := range all {
		p, err := commits[i].Wait(context.Background())
		switch {
		case err == nil && len(batches) > 0 && p != acknowledged+1:
			t.Fatalf("batch %d was acknowledged at %s after one that was not", i, p)
		case err == nil:
			acknowledged = p + storage.Position(len(b.Frame.Records)) - 1
		case !errors.Is(err, storage.ErrFailed):
			continue
		case s.Failed() != nil:
			mustRefuse(t, s, err)
		}
		batches = append(batches, b)
	}
	return batches, acknowledged
}

func mustRefuse(t *testing.T, s *Store, err error) {
	t.Helper()
	_, again := s.Append(accept(1, 99)).Wait(context.Background())
	for _, e := range []error{err, again, s.Failed()} {
		if !errors.Is(e, storage.ErrFailed) {
			t.Fatalf("after a failure: %v", e)
		}
	}
}

// TestDamageIsFound flips bits all over a closed folder and one whose process was
// killed. Whatever is read afterwards is either what was written or an error.
func TestDamageIsFound(t *testing.T) {
	for _, closed := range []bool{true, false} {
		mem := vfs.NewCrashableMem()
		s := openTest(t, mem)
		batches := script()
		for _, b := range batches {
			mustAppend(t, s, b)
		}
		if closed {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		image := func() *vfs.MemFS {
			return mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 1))})
		}
		mustHold(t, image(), batches, lastOfBatches(batches, len(batches)))
		rng := rand.New(rand.NewPCG(7, 8))
		for _, name := range filesOf(t, image(), "data") {
			damageFile(t, image, name, batches, rng)
		}
	}
}

func filesOf(t *testing.T, fs vfs.FS, dir string) (names []string) {
	t.Helper()
	list, err := fs.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(list)
	for _, name := range list {
		name = fs.PathJoin(dir, name)
		info, err := fs.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.IsDir() {
			names = append(names, filesOf(t, fs, name)...)
		} else if info.Size() > 0 {
			names = append(names, name)
		}
	}
	return names
}

// damageFile flips one bit at a time, at every place of a small file and at a
// sample of those of a large one.
func damageFile(t *testing.T, image func() *vfs.MemFS, name string, batches []*storage.Batch, rng *rand.Rand) {
	info, err := image().Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	places := 60
	if testing.Short() {
		places = 10
	}
	for range min(places, int(info.Size())) {
		fs, at, bit := image(), rng.IntN(int(info.Size())), byte(1)<<rng.IntN(8)
		flip(t, fs, name, at, bit)
		if lost := damage(t, fs, batches); lost != "" {
			t.Errorf("%s, byte %d of %d, bit %02x: %s", name, at, info.Size(), bit, lost)
		}
	}
}

func flip(t *testing.T, fs vfs.FS, name string, at int, bit byte) {
	t.Helper()
	f, err := fs.OpenReadWrite(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b [1]byte
	if _, err := f.ReadAt(b[:], int64(at)); err != nil {
		t.Fatal(err)
	}
	b[0] ^= bit
	if _, err := f.WriteAt(b[:], int64(at)); err != nil {
		t.Fatal(err)
	}
}

// damage returns what was lost or changed without any error, "" if nothing was.
func damage(t *testing.T, fs vfs.FS, batches []*storage.Batch) string {
	s, err := Open("data", testOptions(fs))
	if err != nil {
		return ""
	}
	defer func() { _ = s.Close() }()
	ctx := context.Background()
	for _, f := range []func(context.Context, func(storage.Progress)) (storage.Report, error){s.Check, s.Rebuild} {
		if report, err := f(ctx, nil); err != nil || !report.OK() {
			return ""
		}
	}
	first := storage.Position(1)
	for _, b := range batches {
		for i, want := range b.Frame.Records {
			e, err := s.Event(ctx, b.Frame.Tenant, first)
			if err != nil || !reflect.DeepEqual(*e.Record(), want) {
				return fmt.Sprintf("event %s (record %d) is not what was written (%v), though all checks pass", first, i, err)
			}
			first++
		}
	}
	return ""
}

// TestDamagedFileListIsRefused changes the database's list of files, which Pebble
// reads up to the first record that it does not understand: it would forget the
// tables that follow, and delete them.
func TestDamagedFileListIsRefused(t *testing.T) {
	for name, closed := range map[string]bool{"closed": true, "killed": false} {
		t.Run(name, func(t *testing.T) {
			mem := vfs.NewCrashableMem()
			s := openTest(t, mem)
			batches := script()
			for i, b := range batches {
				mustAppend(t, s, b)
				if i%2 == 1 { // the logs of old tables are used for new ones
					if err := s.db.Flush(); err != nil {
						t.Fatal(err)
					}
				}
			}
			if closed {
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			image := func() *vfs.MemFS {
				return mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 1))})
			}
			desc, err := pebble.Peek("data/db", image())
			if err != nil {
				t.Fatal(err)
			}
			damageList(t, image, desc.ManifestFilename, batches)
		})
	}
}

func damageList(t *testing.T, image func() *vfs.MemFS, name string, batches []*storage.Batch) {
	info, err := image().Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	refused, step := 0, 3
	if testing.Short() {
		step = 17
	}
	for at := 0; at < int(info.Size()); at += step {
		fs := image()
		before := tablesOf(t, fs)
		flip(t, fs, name, at, 4)
		s, err := Open("data", testOptions(fs))
		if err == nil {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			mustHold(t, fs, batches, lastOfBatches(batches, len(batches)))
			continue
		}
		refused++
		if after := tablesOf(t, fs); !slices.Equal(after, before) {
			t.Fatalf("byte %d: refused with %v, but tables were deleted: %v, before: %v", at, err, after, before)
		}
	}
	if refused == 0 {
		t.Error("no damage was ever refused")
	}
}

func tablesOf(t *testing.T, fs vfs.FS) []string {
	return slices.DeleteFunc(filesOf(t, fs, "data/db"), func(name string) bool { return !strings.HasSuffix(name, ".sst") })
}
