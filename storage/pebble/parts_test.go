package pebble

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// gate is a disk whose log can be kept from being synced.
type gate struct {
	mu   sync.Mutex
	held chan struct{} // not nil while syncs are held; closed to let them go
}

func (g *gate) hold() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held = make(chan struct{})
}

func (g *gate) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.held != nil {
		close(g.held)
		g.held = nil
	}
}

// MaybeError blocks syncs of the log while they are held. It never fails.
func (g *gate) MaybeError(op errorfs.Op) error {
	switch op.Kind {
	case errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo:
	default:
		return nil
	}
	g.mu.Lock()
	held := g.held
	g.mu.Unlock()
	if held != nil && isLog(op.Path) {
		<-held
	}
	return nil
}

func (g *gate) String() string { return "gate" }

func openGated(t *testing.T) (*Store, *gate) {
	g := new(gate)
	s := openTest(t, errorfs.Wrap(vfs.NewMem(), g))
	t.Cleanup(g.release)
	return s, g
}

// until waits for something that another goroutine is about to do.
func until(done func() bool) {
	for !done() {
		runtime.Gosched()
	}
}

// TestReadsWaitForTheSync checks that nothing which is written but not synced is
// shown by any read, and that every read shows it once it is synced.
func TestReadsWaitForTheSync(t *testing.T) {
	s, g := openGated(t)
	session, task := newID(abi.ObjectSession, 1), newID(abi.ObjectTask, 1)
	mustAppend(t, s, accept(1, 0))
	g.hold()
	b := accept(1, 1)
	b.Frame.Records = append(b.Frame.Records, storage.Record{Kind: abi.EventProgress, Resource: ptr("span", "span_1"), Hint: true})
	c := s.Append(b)
	until(func() bool {
		_, ok, _ := lookup(s.db, resourceKey(nil, 1, ptr(abi.ObjectTask, task), suffixOrigin))
		return ok
	})
	reads := map[string]func(context.Context) error{
		"Get":   func(ctx context.Context) error { _, err := s.Get(ctx, 1, abi.ObjectTask, task); return err },
		"Event": func(ctx context.Context) error { _, err := s.Event(ctx, 1, 3); return err },
		"Transcript": func(ctx context.Context) error {
			_, _, err := s.Transcript(ctx, 1, session, storage.Page{Limit: 9})
			return err
		},
		"Turn": func(ctx context.Context) error { _, _, err := s.Turn(ctx, 1, session, 1); return err },
		"List": func(ctx context.Context) error {
			_, _, err := s.List(ctx, 1, abi.ObjectTask, storage.Scope{}, storage.Page{Limit: 9})
			return err
		},
		"Sequence": func(ctx context.Context) error {
			_, _, err := s.Sequence(ctx, 1, ptr(abi.ObjectTask, task))
			return err
		},
		"Sequence of what is not stated": func(ctx context.Context) error {
			_, _, err := s.Sequence(ctx, 1, ptr("span", "span_1"))
			return err
		},
		"Idempotency": func(ctx context.Context) error {
			_, err := s.Idempotency(ctx, 1, b.Idempotency.Key, epoch)
			return err
		},
		"Active": func(ctx context.Context) error {
			return s.Active(ctx, func(storage.Tenant, string) error { return nil })
		},
	}
	gone, leave := context.WithCancel(ctx)
	leave()
	for name, read := range reads {
		if err := read(gone); !errors.Is(err, context.Canceled) {
			t.Errorf("%s did not wait: %v", name, err)
		}
	}
	if events, more, err := s.Events(ctx, 1, storage.Scope{}, 0, 9); len(events) != 2 || more || err != nil {
		t.Errorf("Events shows %d events, %v, %v", len(events), more, err)
	}
	if last, err := s.Last(ctx, 1, storage.Scope{Object: abi.ObjectSession, ID: session}); last != 2 || err != nil {
		t.Errorf("Last is %s, %v", last, err)
	}
	g.release()
	if _, err := c.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	for name, read := range reads {
		if err := read(ctx); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTruncationIsNotShownBeforeItsSync checks the one write that shows by what is
// missing.
func TestTruncationIsNotShownBeforeItsSync(t *testing.T) {
	s, g := openGated(t)
	session := newID(abi.ObjectSession, 1)
	mustAppend(t, s, accept(1, 0))
	g.hold()
	c := s.Append(&storage.Batch{Frame: frameOf(1, "", storage.Record{Kind: abi.EventSessionTruncated,
		Resource: ptr(abi.ObjectSession, session), Transcript: storage.TranscriptOp{Kind: storage.TranscriptTruncate}})})
	until(func() bool { return s.applied.Load() == 3 })
	gone, leave := context.WithCancel(ctx)
	leave()
	if _, _, err := s.Transcript(gone, 1, session, storage.Page{Limit: 9}); !errors.Is(err, context.Canceled) {
		t.Errorf("Transcript did not wait: %v", err)
	}
	if _, _, err := s.Turn(gone, 1, session, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("Turn did not wait: %v", err)
	}
	g.release()
	if _, err := c.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	if list, more, err := s.Transcript(ctx, 1, session, storage.Page{Limit: 9}); len(list) != 0 || more || err != nil {
		t.Errorf("%d Messages are left, %v, %v", len(list), more, err)
	}
}

// TestAppendBlocksWhenTheQueueIsFull checks that what waits for the disk is bounded.
func TestAppendBlocksWhenTheQueueIsFull(t *testing.T) {
	const batches = 200
	g := new(gate)
	o := testOptions(errorfs.Wrap(vfs.NewMem(), g))
	o.QueueBytes = 16 << 10
	s, err := Open("data", o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	mustAppend(t, s, accept(1, 0))
	g.hold()
	defer g.release()
	handed := make(chan storage.Commit, batches)
	go func() {
		defer close(handed)
		for n := range batches {
			handed <- s.Append(accept(1, n+1))
		}
	}()
	one := func() int { c := <-handed; return c.(*commit).size }()
	until(func() bool { return s.queue.held() > o.QueueBytes-one })
	if held := s.queue.held(); held > o.QueueBytes {
		t.Errorf("%d bytes are held, more than %d", held, o.QueueBytes)
	}
	if n := len(handed); n >= batches/2 {
		t.Errorf("%d batches got into the queue", n)
	}
	g.release()
	for c := range handed {
		if _, err := c.Wait(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWaitEndsWithItsCaller checks that a caller can leave before the disk answers.
func TestWaitEndsWithItsCaller(t *testing.T) {
	s, g := openGated(t)
	mustAppend(t, s, accept(1, 0))
	g.hold()
	c := s.Append(accept(1, 1))
	gone, leave := context.WithCancel(ctx)
	leave()
	if _, err := c.Wait(gone); !errors.Is(err, context.Canceled) {
		t.Fatalf("Wait = %v", err)
	}
	g.release()
	for range 2 { // and may ask again, as often as it likes
		if p, err := c.Wait(ctx); p != 3 || err != nil {
			t.Fatalf("Wait = %s, %v", p, err)
		}
	}
}

// TestBatchesAboveTheLimitsAreRefused checks what of a valid batch this engine does not take.
func TestBatchesAboveTheLimitsAreRefused(t *testing.T) {
	s := openTest(t, vfs.NewMem())
	message := ptr(abi.ObjectMessage, newID(abi.ObjectMessage, 1))
	for name, spoil := range map[string]func(*storage.Batch){
		"kept for too long": func(b *storage.Batch) { b.Idempotency.Expires = b.Frame.Time.Add(49 * time.Hour) },
		"too large": func(b *storage.Batch) {
			b.Frame.Records = make([]storage.Record, 1<<21)
			for i := range b.Frame.Records {
				b.Frame.Records[i] = storage.Record{Kind: abi.EventLog, Resource: message}
			}
		},
	} {
		b := accept(1, 1)
		spoil(b)
		if p, err := s.Append(b).Wait(ctx); err == nil || p != 0 {
			t.Errorf("%s: appended at %s", name, p)
		}
	}
	if p := mustAppend(t, s, accept(1, 1)); p != 1 {
		t.Errorf("the first valid batch is at %s", p)
	}
	mustBeSound(t, s)
}

// TestLargeValuesLieInBlobs checks that large values are read back wherever they
// are asked for, also after their event was removed.
func TestLargeValuesLieInBlobs(t *testing.T) {
	s := openTest(t, vfs.NewMem())
	large := func(c byte) []byte { return bytes.Repeat([]byte{c}, 100<<10) }
	task := newID(abi.ObjectTask, 1)
	b := accept(1, 1)
	b.Frame.Records[1].State, b.Frame.Records[1].Payload, b.Idempotency.Answer = large('s'), large('p'), large('a')
	mustAppend(t, s, b)
	mustAppend(t, s, taskEvent(1, abi.EventTaskCompleted, 1, large('d')))
	if n := s.Metrics().Bytes; n > 10<<10 {
		t.Errorf("the log holds %d bytes", n)
	}
	e, err := s.Event(ctx, 1, 2)
	if err != nil || !bytes.Equal(e.Record().State, large('s')) || !bytes.Equal(e.Record().Payload, large('p')) {
		t.Fatalf("the event reads %d bytes, %v", len(e.Record().State), err)
	}
	i, err := s.Idempotency(ctx, 1, b.Idempotency.Key, epoch)
	if err != nil || !bytes.Equal(i.Answer, large('a')) {
		t.Fatalf("the answer reads %d bytes, %v", len(i.Answer), err)
	}
	for range 2 {
		res, err := s.Get(ctx, 1, abi.ObjectTask, task)
		if err != nil || !bytes.Equal(res.State, large('d')) || res.Origin != 2 || res.Position != 3 || res.Sequence != 1 {
			t.Fatalf("Get = %d bytes, %+v, %v", len(res.State), res.Position, err)
		}
		mustBeSound(t, s)
		if _, err := s.Retain(ctx, epoch.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	if n, ok, err := s.Sequence(ctx, 1, ptr(abi.ObjectTask, task)); n != 1 || !ok || err != nil {
		t.Errorf("Sequence = %d, %v, %v", n, ok, err)
	}
}

// TestDamagedBlobIsFound changes a value that lies in a blob.
func TestDamagedBlobIsFound(t *testing.T) {
	fs := vfs.NewMem()
	s := openTest(t, fs)
	value := bytes.Repeat([]byte("x"), 5000)
	b := accept(1, 1)
	b.Frame.Records[1].State = value
	mustAppend(t, s, b)
	flip(t, fs, s.blobs.name(sha256.Sum256(value)), 4000, 1)
	var corrupt *CorruptError
	if _, err := s.Get(ctx, 1, abi.ObjectTask, newID(abi.ObjectTask, 1)); !errors.As(err, &corrupt) {
		t.Errorf("Get = %v", err)
	}
	if report, err := s.Check(ctx, nil); err != nil || report.OK() {
		t.Errorf("Check = %+v, %v", report, err)
	}
	if err := fs.Remove(s.blobs.name(sha256.Sum256(value))); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Event(ctx, 1, 2); !errors.As(err, &corrupt) {
		t.Errorf("Event = %v", err)
	}
	if report, err := s.Check(ctx, nil); err != nil || report.OK() {
		t.Errorf("Check = %+v, %v", report, err)
	}
}

// TestAFailedPutLeavesNoFile checks that a Put that fails leaves no file either.
func TestAFailedPutLeavesNoFile(t *testing.T) {
	fs := vfs.NewMem()
	s := openTest(t, fs)
	if _, _, err := s.Blobs().Put(ctx, strings.NewReader("other"), nil); err != nil {
		t.Fatal(err)
	}
	before := filesOf(t, fs, "data/blobs")
	broken := io.MultiReader(strings.NewReader("some"), iotest.ErrReader(errInjected))
	for name, put := range map[string]struct {
		r    io.Reader
		hash *storage.Hash
	}{
		"a reader that fails":     {broken, nil},
		"content of another hash": {strings.NewReader("some"), &storage.Hash{}},
	} {
		if _, _, err := s.Blobs().Put(ctx, put.r, put.hash); err == nil {
			t.Errorf("%s is stored", name)
		}
	}
	if after := filesOf(t, fs, "data/blobs"); !reflect.DeepEqual(after, before) {
		t.Errorf("files were left: %v, before: %v", after, before)
	}
}

// TestUnfinishedBlobsAreRemoved checks that Open tidies up after a crash.
func TestUnfinishedBlobsAreRemoved(t *testing.T) {
	fs := vfs.NewMem()
	if err := openTest(t, fs).Close(); err != nil {
		t.Fatal(err)
	}
	f, err := fs.Create(fs.PathJoin("data", "blobs", "tmp", "7"), vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("half")); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	openTest(t, fs)
	if left := filesOf(t, fs, "data/blobs"); len(left) != 0 {
		t.Errorf("%v is left", left)
	}
}

// TestCheckpointWhileWriting copies the folder under load, on a real file system.
func TestCheckpointWhileWriting(t *testing.T) {
	o := testOptions(nil)
	dir := filepath.Join(t.TempDir(), "data")
	s, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	large := accept(1, 0)
	large.Frame.Records[1].State = bytes.Repeat([]byte("x"), 5000)
	mustAppend(t, s, large)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for n := 1; ; n++ {
			select {
			case <-stop:
				return
			default:
				if _, err := s.Append(accept(1, n)).Wait(ctx); err != nil {
					t.Error(err)
					return
				}
			}
		}
	}()
	for i := range 3 {
		to := fmt.Sprintf("%s-copy-%d", dir, i)
		durable := s.Watermark()
		if err := s.Checkpoint(to); err != nil {
			t.Fatal(err)
		}
		if err := s.Checkpoint(to); err == nil {
			t.Error("a checkpoint into a folder that exists")
		}
		mustBeCopy(t, to, o, durable, large.Frame.Records[1].State)
	}
	close(stop)
	<-stopped
}

func mustBeCopy(t *testing.T, dir string, o Options, durable storage.Position, state []byte) {
	t.Helper()
	c, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if c.Watermark() < durable {
		t.Errorf("the copy ends at %s, but %s was durable", c.Watermark(), durable)
	}
	res, err := c.Get(ctx, 1, abi.ObjectTask, newID(abi.ObjectTask, 0))
	if err != nil || !bytes.Equal(res.State, state) {
		t.Errorf("the copy reads %d bytes, %v", len(res.State), err)
	}
	mustBeSound(t, c)
	mustAppend(t, c, accept(2, 1))
}

// TestFolderInUse checks what a second process is told, and that the lock goes
// with the store.
func TestFolderInUse(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s, err := Open(dir, testOptions(nil))
	if err != nil {
		t.Fatal(err)
	}
	var locked *LockedError
	_, err = Open(dir, testOptions(nil))
	if !errors.As(err, &locked) || err.Error() != "data folder "+dir+" is in use by another process" {
		t.Errorf("opening twice: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(dir, testOptions(nil))
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestNewerFormatIsRefused checks that a folder of a later program is left alone.
func TestNewerFormatIsRefused(t *testing.T) {
	fs := vfs.NewMem()
	s := openTest(t, fs)
	newer := binary.BigEndian.AppendUint32(nil, formatVersion+1)
	if err := s.db.Set(metaKey(metaFormat), newer, pebble.Sync); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open("data", testOptions(fs)); err == nil || !strings.Contains(err.Error(), fmt.Sprint("the folder has format ", formatVersion+1)) {
		t.Errorf("Open = %v", err)
	}
}

// TestIdempotencyRecordsExpire checks that a record is found as long as it lives,
// also across midnight and restarts, and is removed some time after.
func TestIdempotencyRecordsExpire(t *testing.T) {
	now := time.Date(2026, 5, 1, 23, 59, 0, 0, time.UTC)
	fs := vfs.NewMem()
	o := testOptions(fs)
	o.Now = func() time.Time { return now }
	reopen := func() *Store {
		s, err := Open("data", o)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := reopen()
	b := accept(1, 1)
	b.Frame.Time, b.Idempotency.Expires = now, now.Add(24*time.Hour)
	mustAppend(t, s, b)
	for _, after := range []time.Duration{0, 2 * time.Minute, 24*time.Hour - 1} {
		if _, err := s.Idempotency(ctx, 1, b.Idempotency.Key, now.Add(after)); err != nil {
			t.Errorf("after %s: %v", after, err)
		}
		if _, err := s.Idempotency(ctx, 2, b.Idempotency.Key, now.Add(after)); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("another tenant's, after %s: %v", after, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = reopen()
	}
	defer func() { _ = s.Close() }()
	if _, err := s.Idempotency(ctx, 1, b.Idempotency.Key, now.Add(24*time.Hour)); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("expired: %v", err)
	}
	key := idempotencyKey(nil, 1, dayOf(b.Idempotency.Expires), b.Idempotency.Key)
	for days, want := range []bool{true, true, false} {
		late := note(1, 1, 1, days)
		mustAppend(t, s, late)
		if _, there, err := lookup(s.db, key); there != want || err != nil {
			t.Errorf("%d days later it is there: %v, %v", days, there, err)
		}
		now = now.Add(24 * time.Hour)
	}
}

// TestLostEndIsRefused takes the end of the log away, which no checksum can show.
func TestLostEndIsRefused(t *testing.T) {
	fs := vfs.NewMem()
	s := openTest(t, fs)
	mustAppend(t, s, accept(1, 0))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	old := vfs.NewMem()
	if ok, err := vfs.Clone(fs, old, "data", "data"); !ok || err != nil {
		t.Fatal(ok, err)
	}
	s = openTest(t, fs)
	mustAppend(t, s, accept(1, 1))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := vfs.Clone(fs, old, "data/HEAD", "data/HEAD"); err != nil {
		t.Fatal(err)
	}
	var corrupt *CorruptError
	if _, err := Open("data", testOptions(old)); !errors.As(err, &corrupt) || !strings.Contains(err.Error(), "was acknowledged") {
		t.Errorf("Open = %v", err)
	}
}

// TestRebuildFindsWrongProjections spoils one key of each space in turn: the check
// or the rebuild must see it.
func TestRebuildFindsWrongProjections(t *testing.T) {
	for _, space := range derivedSpaces {
		for what, spoil := range map[string]func(s *Store, key, value []byte) error{
			"a key is missing": func(s *Store, key, _ []byte) error { return s.db.Delete(key, pebble.Sync) },
			"a value is wrong": func(s *Store, key, value []byte) error {
				return s.db.Set(key, append(value, 1), pebble.Sync)
			},
			"a key is too much": func(s *Store, key, value []byte) error {
				return s.db.Set(append(bytes.TrimSuffix(key, key[len(key)-1:]), key[len(key)-1]^1), value, pebble.Sync)
			},
		} {
			s := openTest(t, vfs.NewMem())
			if space == spaceWorkspace { // only a folder of format 1 has such keys
				s = openTest(t, format1(t))
			}
			for _, b := range script() {
				mustAppend(t, s, b)
			}
			mustBeSound(t, s)
			prefix := appendPrefix(nil, 1, space)
			var key, value []byte
			err := scan(s.db, prefix, keyAfter(prefix), func(k, v []byte) error {
				key, value = clone(k), clone(v)
				return nil
			})
			if err != nil || key == nil {
				t.Fatalf("space %c: %v", space, err)
			}
			if err := spoil(s, key, value); err != nil {
				t.Fatal(err)
			}
			if report, err := s.Rebuild(ctx, nil); err != nil || report.OK() || len(report.Problems) == 0 {
				t.Errorf("space %c, %s: Rebuild finds nothing, %v", space, what, err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestInspectionEndsWithItsCaller checks that a long check can be stopped, and that
// it tells how far it is.
func TestInspectionEndsWithItsCaller(t *testing.T) {
	s := openTest(t, vfs.NewMem())
	for n := range 1000 {
		s.Append(accept(1, n))
	}
	mustAppend(t, s, accept(1, 1000))
	phases := make(map[string]bool)
	for _, f := range []func(context.Context, func(storage.Progress)) (storage.Report, error){s.Check, s.Rebuild} {
		if _, err := f(ctx, func(p storage.Progress) { phases[p.Phase] = true }); err != nil {
			t.Fatal(err)
		}
		gone, leave := context.WithCancel(ctx)
		leave()
		if _, err := f(gone, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("after the caller left: %v", err)
		}
	}
	for _, name := range []string{"frames", "projections", "blobs", "rebuild", "compare"} {
		if !phases[name] {
			t.Errorf("nothing was heard of the phase %q", name)
		}
	}
}

// TestMetrics checks that the counters follow what was done.
func TestMetrics(t *testing.T) {
	s := openTest(t, vfs.NewMem())
	for n := range 5 {
		mustAppend(t, s, accept(1, n))
	}
	if _, _, err := s.Blobs().Put(ctx, strings.NewReader("blob"), nil); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, s, accept(1, 5)) // what comes before it has been counted
	m := s.Metrics()
	if m.Events < 10 || m.Batches < 5 || m.Commits < 5 || m.Bytes == 0 || m.Watermark != 12 ||
		m.BlobsStored != 1 || m.BlobBytesStored != 4 || m.WALBytesWritten == 0 {
		t.Errorf("%+v", m)
	}
}

// TestDamagedBlobIsNotRead checks that no way of reading a blob gives the end of
// content that is not what was stored.
func TestDamagedBlobIsNotRead(t *testing.T) {
	content := bytes.Repeat([]byte("0123456789"), 50_000)
	hash := storage.Hash(sha256.Sum256(content))
	all := func(b storage.Blob) error {
		got, err := io.ReadAll(b)
		if err == nil && !bytes.Equal(got, content) {
			t.Error("other bytes were read to the end")
		}
		return err
	}
	ways := map[string]func(storage.Blob) error{
		"whole":  all,
		"verify": func(b storage.Blob) error { return b.Verify(ctx) },
		"range": func(b storage.Blob) error {
			_, err := b.ReadAt(make([]byte, 10), 0)
			return err
		},
		"from elsewhere": func(b storage.Blob) error {
			if _, err := b.Seek(-5, io.SeekEnd); err != nil {
				return err
			}
			_, err := b.Read(make([]byte, 5))
			return err
		},
		"twice": func(b storage.Blob) error {
			_, _ = b.Read(make([]byte, 10))
			if _, err := b.Seek(0, io.SeekStart); err != nil {
				return err
			}
			return all(b)
		},
		"in a hurry": func(b storage.Blob) error {
			_, err := io.ReadFull(b, make([]byte, b.Size()))
			return err
		},
	}
	for name, read := range ways {
		t.Run(name, func(t *testing.T) {
			fs := vfs.NewMem()
			s := openTest(t, fs)
			if _, _, err := s.Blobs().Put(ctx, bytes.NewReader(content), &hash); err != nil {
				t.Fatal(err)
			}
			open := func() storage.Blob {
				b, err := s.Blobs().Open(ctx, hash)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = b.Close() })
				return b
			}
			for range 2 {
				if err := read(open()); err != nil {
					t.Errorf("before: %v", err)
				}
			}
			flip(t, fs, s.blobs.name(hash), 123_456, 1)
			var damage *storage.ContentError
			if err := read(open()); !errors.As(err, &damage) || damage.File != s.blobs.name(hash) {
				t.Errorf("after: %v", err)
			}
		})
	}
}

// TestVerifyingIsDoneOnce checks that a file is hashed once, whoever asks, and again
// when it has changed; what is remembered is bounded.
func TestVerifyingIsDoneOnce(t *testing.T) {
	var v verified
	var reads atomic.Int64
	hold := make(chan struct{})
	var callers sync.WaitGroup
	for range 20 {
		callers.Go(func() {
			err := v.once(ctx, identity{size: 1}, func(context.Context) error { reads.Add(1); <-hold; return nil })
			if err != nil {
				t.Error(err)
			}
		})
	}
	close(hold)
	callers.Wait()
	if reads.Load() != 1 {
		t.Errorf("the file was read %d times", reads.Load())
	}
	for range 2 {
		if err := v.once(ctx, identity{size: 2}, func(context.Context) error { return errInjected }); !errors.Is(err, errInjected) {
			t.Errorf("a failure is remembered as %v", err)
		}
	}
	for i := range maxVerified + 10 {
		_ = v.once(ctx, identity{mtime: int64(i)}, func(context.Context) error { return nil })
	}
	if len(v.whole) > maxVerified || len(v.busy) > 0 {
		t.Errorf("%d files are remembered, %d are being read", len(v.whole), len(v.busy))
	}
}
