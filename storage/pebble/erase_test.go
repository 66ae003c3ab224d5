package pebble

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// secret returns text that is found again where it is not packed, and what is packed is found by its
// hash alone; so tests look for both in files.
func secret(n int) string {
	sum := sha256.Sum256(fmt.Append(nil, "secret ", n))
	return fmt.Sprintf("%x", sum[:])
}

// lived appends all that a Task has: an input, calls with large answers, an Artifact, an Outcome and a
// Receipt. It returns the blobs that it refers to.
func lived(t *testing.T, s *Store, n int) (blobs []storage.Hash) {
	t.Helper()
	accepted := accept(1, n)
	accepted.Frame.Records[0].State = fmt.Appendf(nil, `{"id":"msg","text":%q}`, secret(n))
	mustAppend(t, s, accepted)
	task := newID(abi.ObjectTask, n)
	put := func(text string) storage.Hash {
		h, _, err := s.Blobs().Put(context.Background(), strings.NewReader(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		blobs = append(blobs, h)
		return h
	}
	module := put("the module that all run")
	mustAppend(t, s, &storage.Batch{Frame: frameOf(n, task, storage.Record{Kind: abi.EventTaskStarted, Resource: ptr(abi.ObjectTask, task), Sequence: 1,
		State: state(task, 1), Payload: fmt.Appendf(nil, `{"program":{"module":"sha256:%x"}}`, module)})})
	answer, content := put("answer "+secret(n)), put("content "+secret(n))
	artifact, outcome, rcpt := newID(abi.ObjectArtifact, n), newID(abi.ObjectOutcome, n), newID(abi.ObjectReceipt, n)
	mustAppend(t, s, &storage.Batch{Frame: frameOf(n, task,
		storage.Record{Kind: abi.EventCall, Payload: fmt.Appendf(nil, `{"call":"http.fetch","answer_blob":"sha256:%x"}`, answer)},
		storage.Record{Kind: abi.EventArtifactCreated, Resource: ptr(abi.ObjectArtifact, artifact), Created: true,
			State: fmt.Appendf(nil, `{"id":%q,"sha256":"%x"}`, artifact, content)})})
	mustAppend(t, s, &storage.Batch{Frame: frameOf(n, task,
		storage.Record{Kind: abi.EventTaskCompleted, Resource: ptr(abi.ObjectTask, task), Sequence: 2, State: state(task, 2)},
		storage.Record{Kind: abi.EventOutcomeCreated, Resource: ptr(abi.ObjectOutcome, outcome), Created: true,
			State: fmt.Appendf(nil, `{"id":%q,"padding":%q}`, outcome, strings.Repeat(secret(n), 40))},
		storage.Record{Kind: abi.EventReceiptIssued, Resource: ptr(abi.ObjectReceipt, rcpt), Created: true, State: state(rcpt, 0)})})
	return append(blobs, sha256.Sum256(fmt.Appendf(nil, `{"id":%q,"padding":%q}`, outcome, strings.Repeat(secret(n), 40))))
}

// erasing returns a batch that erases Tasks of Session 1.
func erasing(tasks ...int) *storage.Batch {
	b := &storage.Batch{Frame: storage.Frame{Tenant: 1, Time: epoch, WorkspaceID: newID(abi.ObjectWorkspace, 1)}}
	for _, n := range tasks {
		b.Frame.Records = append(b.Frame.Records, storage.Record{Kind: abi.EventTaskErased, Resource: ptr(abi.ObjectTask, newID(abi.ObjectTask, n)),
			Sequence: 3, Erase: &storage.Erasure{Session: newID(abi.ObjectSession, 1)}})
	}
	return b
}

func wantSound(t *testing.T, s *Store) {
	t.Helper()
	for name, look := range map[string]func(context.Context, func(storage.Progress)) (storage.Report, error){"Check": s.Check, "Rebuild": s.Rebuild} {
		if report, err := look(context.Background(), nil); err != nil || !report.OK() {
			t.Fatalf("%s: %v, %.2000q", name, err, report.Problems)
		}
	}
}

// there reports whether a blob is.
func there(s *Store, h storage.Hash) bool {
	b, err := s.Blobs().Open(context.Background(), h)
	if err == nil {
		_ = b.Close()
	}
	return err == nil
}

// sweepAll sweeps every part, as a process would that has begun long ago.
func sweepAll(t *testing.T, s *Store) (swept storage.Swept) {
	t.Helper()
	s.blobs.kept = recent{}
	for part := range storage.SweepParts {
		one, err := s.Sweep(context.Background(), part)
		if err != nil {
			t.Fatal(err)
		}
		swept.Blobs += one.Blobs
		swept.BlobBytes += one.BlobBytes
	}
	return swept
}

// TestErasedTask checks that a Task goes with all that belongs to it, that its Receipt and the Messages of
// its Session stay, and that another Task loses nothing, across crashes and retention.
func TestErasedTask(t *testing.T) {
	fs := vfs.NewCrashableMem()
	s, err := Open("data", testOptions(fs))
	if err != nil {
		t.Fatal(err)
	}
	gone := lived(t, s, 1)
	stays := lived(t, s, 2)
	mustAppend(t, s, erasing(1))
	for round := range 3 {
		for _, r := range []abi.ResourcePointer{ptr(abi.ObjectTask, newID(abi.ObjectTask, 1)), ptr(abi.ObjectOutcome, newID(abi.ObjectOutcome, 1)),
			ptr(abi.ObjectArtifact, newID(abi.ObjectArtifact, 1))} {
			if _, err := s.Get(ctx, 1, r.Object, r.ID); !errors.Is(err, storage.ErrNotFound) {
				t.Errorf("%s: %v", r.ID, err)
			}
		}
		for _, r := range []abi.ResourcePointer{ptr(abi.ObjectReceipt, newID(abi.ObjectReceipt, 1)), ptr(abi.ObjectMessage, newID(abi.ObjectMessage, 1)),
			ptr(abi.ObjectTask, newID(abi.ObjectTask, 2)), ptr(abi.ObjectArtifact, newID(abi.ObjectArtifact, 2))} {
			if _, err := s.Get(ctx, 1, r.Object, r.ID); err != nil {
				t.Errorf("%s: %v", r.ID, err)
			}
		}
		if events, _, err := s.Events(ctx, 1, storage.Scope{Object: abi.ObjectTask, ID: newID(abi.ObjectTask, 1)}, 0, 99); len(events) != 0 || err != nil {
			t.Errorf("the events of what was erased: %d, %v", len(events), err)
		}
		for object, want := range map[abi.Object]int{abi.ObjectTask: 1, abi.ObjectArtifact: 1, abi.ObjectReceipt: 2} {
			list, _, err := s.List(ctx, 1, object, storage.Scope{Object: abi.ObjectWorkspace, ID: newID(abi.ObjectWorkspace, 1)}, storage.Page{Limit: 9})
			if n, _, counted := s.Count(ctx, 1, object, storage.Scope{}, storage.Page{Limit: 9}); len(list) != want || n != want || err != nil || counted != nil {
				t.Errorf("%s: %d listed, %d counted, want %d: %v, %v", object, len(list), n, want, err, counted)
			}
		}
		wantSound(t, s)
		if round == 0 {
			sweepAll(t, s)
		}
		if round == 1 { // all that is left is below the floor
			if _, err := s.Retain(ctx, epoch.Add(1e12)); err != nil {
				t.Fatal(err)
			}
			wantSound(t, s)
		}
		fs = fs.CrashClone(vfs.CrashCloneCfg{})
		_ = s.Close()
		if s, err = Open("data", testOptions(fs)); err != nil {
			t.Fatal(err)
		}
	}
	defer s.Close()
	for i, h := range gone {
		if want := i == 0; there(s, h) != want { // the module is Task 2's, too
			t.Errorf("blob %d of what was erased is there: %v", i, !want)
		}
	}
	for i, h := range stays[2:3] {
		if !there(s, h) {
			t.Errorf("blob %d of the other Task is gone", i)
		}
	}
}

// TestErasedBytesAreGone looks for the bytes of an erased Task in every file.
func TestErasedBytesAreGone(t *testing.T) {
	fs := vfs.NewMem()
	s := openTest(t, fs)
	lived(t, s, 1)
	lived(t, s, 2)
	if found := filesWith(t, fs, "data", secret(1)); len(found) == 0 {
		t.Fatal("the test looks in the wrong place")
	}
	mustAppend(t, s, erasing(1))
	message := ptr(abi.ObjectMessage, newID(abi.ObjectMessage, 1)) // it belongs to the Session
	if _, err := s.Get(ctx, 1, message.Object, message.ID); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, s, accept(1, 3))
	sweepAll(t, s)
	if err := s.Reclaim(ctx); err != nil {
		t.Fatal(err)
	}
	for _, name := range filesWith(t, fs, "data", secret(1)) {
		if !strings.HasSuffix(name, ".sst") { // the Message is in one
			t.Errorf("%s still has the content of what was erased", name)
		}
	}
	session := &storage.Batch{Frame: storage.Frame{Tenant: 1, Time: epoch, WorkspaceID: newID(abi.ObjectWorkspace, 1),
		Records: []storage.Record{{Kind: abi.EventSessionErased, Resource: ptr(abi.ObjectSession, newID(abi.ObjectSession, 1)), Erase: &storage.Erasure{}}}}}
	if _, err := s.Append(session).Wait(ctx); !errors.Is(err, storage.ErrInUse) {
		t.Errorf("a Session with a Task that has not ended: %v", err)
	}
	mustAppend(t, s, taskEvent(3, abi.EventTaskFailed, 1, state("failed", 3)))
	session.Frame.First = 0
	mustAppend(t, s, session)
	wantSound(t, s)
	sweepAll(t, s)
	if err := s.Reclaim(ctx); err != nil {
		t.Fatal(err)
	}
	until(func() bool { // Pebble removes files a moment after nobody needs them
		return len(filesWith(t, fs, "data", secret(1))) == 0 && len(filesWith(t, fs, "data", secret(2))) == 0
	})
	mustAppend(t, s, accept(1, 4)) // and it goes on
	wantSound(t, s)
}

// filesWith returns the files below a folder that have a text in them.
func filesWith(t *testing.T, fs vfs.FS, dir, text string) (found []string) {
	t.Helper()
	names, err := fs.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		name = fs.PathJoin(dir, name)
		info, err := fs.Stat(name)
		if err != nil { // it was just removed
			continue
		}
		if info.IsDir() {
			found = append(found, filesWith(t, fs, name, text)...)
			continue
		}
		content, err := readFile(fs, name)
		if err != nil { // it was just removed
			continue
		}
		if bytes.Contains(content, []byte(text)) {
			found = append(found, name)
		}
	}
	return found
}

// TestStripped checks that a Task with many events is erased in parts.
func TestStripped(t *testing.T) {
	s := openTest(t, vfs.NewMem())
	mustAppend(t, s, accept(1, 1))
	mustAppend(t, s, accept(1, 2))
	for n := range 3 * storage.MaxErased {
		s.Append(taskEvent(1, abi.EventProgress, uint64(n+1), nil))
	}
	mustAppend(t, s, taskEvent(1, abi.EventTaskCompleted, 3*storage.MaxErased+1, state("done", 1)))
	if _, err := s.Append(erasing(1)).Wait(ctx); !errors.Is(err, storage.ErrTooLarge) {
		t.Fatalf("too much at once: %v", err)
	}
	task := ptr(abi.ObjectTask, newID(abi.ObjectTask, 1))
	for more := true; more; {
		var err error
		if more, err = s.Strip(ctx, 1, task); err != nil {
			t.Fatal(err)
		}
		wantSound(t, s)
		if res, err := s.Get(ctx, 1, task.Object, task.ID); err != nil || !bytes.Equal(res.State, state("done", 1)) {
			t.Fatalf("what goes last is gone first: %s, %v", res.State, err)
		}
	}
	mustAppend(t, s, erasing(1))
	wantSound(t, s)
	var gaps []span
	if err := eachGap(s.db, 0, func(g span) error { gaps = append(gaps, g); return nil }); err != nil || len(gaps) != 2 {
		t.Errorf("the gaps are %v, %v", gaps, err)
	}
}

// TestSourcesStay checks that nothing is erased that something else was made from.
func TestSourcesStay(t *testing.T) {
	s := openTest(t, vfs.NewMem())
	lived(t, s, 1)
	fork := accept(1, 2)
	source := ptr(abi.ObjectTask, newID(abi.ObjectTask, 1))
	fork.Frame.Records[1].State = fmt.Appendf(nil, `{"id":"fork","fork":{"source_task_id":%q}}`, source.ID)
	mustAppend(t, s, fork)
	mustAppend(t, s, taskEvent(2, abi.EventTaskCompleted, 1, state("done", 2)))
	if users, err := s.Users(ctx, 1, source, 9); err != nil || len(users) != 1 || users[0].ID != newID(abi.ObjectTask, 2) {
		t.Errorf("the users are %v, %v", users, err)
	}
	last := s.Watermark()
	if _, err := s.Append(erasing(1)).Wait(ctx); !errors.Is(err, storage.ErrInUse) || s.Watermark() != last {
		t.Errorf("erasing a source: %v", err)
	}
	b := erasing(2)
	b.Frame.Records[0].Erase.Source = source
	mustAppend(t, s, b)
	mustAppend(t, s, erasing(1))
	wantSound(t, s)
}

// TestSweepBesideWriters checks that no blob goes that somebody has just stored or kept, and that others do.
func TestSweepBesideWriters(t *testing.T) {
	s := openTest(t, vfs.NewMem())
	put := func(n int) storage.Hash {
		h, _, err := s.Blobs().Put(ctx, strings.NewReader(fmt.Sprint("content ", n)), nil)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	fresh := put(1)
	part := int(fresh[0])
	if swept, err := s.Sweep(ctx, part); err != nil || swept.Blobs != 0 || !there(s, fresh) {
		t.Errorf("what was just stored: %v, %v", swept, err)
	}
	s.blobs.kept = recent{}
	if !s.Blobs().Keep(fresh) || s.Blobs().Keep(storage.Hash{1}) {
		t.Error("what is there is not kept, or what is not there is")
	}
	if swept, err := s.Sweep(ctx, part); err != nil || swept.Blobs != 0 || !there(s, fresh) {
		t.Errorf("what was kept: %v, %v", swept, err)
	}
	s.blobs.kept = recent{}
	if swept, err := s.Sweep(ctx, part); err != nil || swept.Blobs != 1 || swept.BlobBytes == 0 || there(s, fresh) {
		t.Errorf("what nobody refers to: %v, %v", swept, err)
	}
	r := &recent{}
	for n := range maxRecent + 1 {
		r.note(storage.Hash{byte(n), byte(n >> 8), byte(n >> 16)})
	}
	if ran, _ := r.unless(storage.Hash{9, 9, 9, 9}, func() error { return nil }); ran {
		t.Error("of too many to remember one was taken for old")
	}
}

// A blob that may go waits while somebody looks through all of them, and is not forgotten when a sweep ends in the middle.
func TestSweepWaits(t *testing.T) {
	s := openTest(t, vfs.NewMem())
	h, _, err := s.Blobs().Put(ctx, strings.NewReader("content"), nil)
	if err != nil {
		t.Fatal(err)
	}
	s.blobs.kept = recent{}
	s.erased.wait(h, 7)
	over, end := context.WithCancel(ctx)
	end()
	if _, err := s.Sweep(over, -1); !errors.Is(err, context.Canceled) || !there(s, h) {
		t.Errorf("a sweep that is over: %v", err)
	}
	s.blobs.removing.RLock() // as who looks through all of them
	swept, err := s.Sweep(ctx, -1)
	s.blobs.removing.RUnlock()
	if err != nil || swept.Blobs != 0 || !there(s, h) || s.Erased().Waiting == 0 {
		t.Errorf("beside who looks through them: %+v, %v", swept, err)
	}
	if swept, err := s.Sweep(ctx, -1); err != nil || swept.Blobs != 1 || there(s, h) || s.Erased().Waiting != 0 {
		t.Errorf("and then: %+v, %v", swept, err)
	}
}

// TestOlderFolderIsPrepared checks that what an older program wrote is erased like anything else.
func TestOlderFolderIsPrepared(t *testing.T) {
	fs := vfs.NewMem()
	s := openTest(t, fs)
	var blobs []storage.Hash
	for n := range 5 {
		blobs = append(blobs, lived(t, s, n+1)...)
	}
	fork := accept(1, 9)
	fork.Frame.Records[1].State = fmt.Appendf(nil, `{"id":"fork","fork":{"source_task_id":%q}}`, newID(abi.ObjectTask, 2))
	mustAppend(t, s, fork)
	for _, space := range []byte{spaceUser, spaceReferred} { // as a program of format 3 leaves it
		prefix := appendPrefix(nil, 1, space)
		if err := s.db.DeleteRange(prefix, keyAfter(prefix), pebble.Sync); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.db.Set(metaKey(metaFormat), []byte{0, 0, 0, 3}, pebble.Sync); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Close(), writeText(fs, "data/FORMAT", "3\n")); err != nil {
		t.Fatal(err)
	}
	s = openTest(t, fs)
	until(s.prepared.Load)
	wantSound(t, s)
	if swept := sweepAll(t, s); swept.Blobs != 0 {
		t.Errorf("%d blobs were swept that are referred to", swept.Blobs)
	}
	for _, h := range blobs {
		if !there(s, h) {
			t.Fatal("a blob is gone")
		}
	}
	if _, err := s.Append(erasing(2)).Wait(ctx); !errors.Is(err, storage.ErrInUse) {
		t.Errorf("erasing a source: %v", err)
	}
	mustAppend(t, s, erasing(1, 3))
	wantSound(t, s)
	if swept := sweepAll(t, s); swept.Blobs != 6 {
		t.Errorf("%d blobs were swept", swept.Blobs)
	}
}

func writeText(fs vfs.FS, name, text string) error {
	f, err := fs.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte(text))
	return errors.Join(err, f.Sync(), f.Close())
}

// TestErasingAndCrashes takes the power away at random points of a life with erasures, sweeps and
// reclaiming: what is left is always sound, and lacks no blob.
func TestErasingAndCrashes(t *testing.T) {
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 1))
		fs := vfs.NewCrashableMem()
		for round := range 6 {
			s, err := Open("data", testOptions(fs))
			if err != nil {
				t.Fatalf("seed %d, round %d: %v", seed, round, err)
			}
			until(s.prepared.Load)
			wantSound(t, s)
			base := 100 * (round + 1)
			for n := range 4 {
				lived(t, s, base+n)
			}
			s.Append(erasing(base + rng.IntN(4)))
			if rng.IntN(2) == 0 {
				sweepAll(t, s)
			}
			if rng.IntN(2) == 0 {
				if err := s.Reclaim(ctx); err != nil {
					t.Fatal(err)
				}
			}
			s.Append(erasing(base + rng.IntN(4)))
			fs = fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: rng.IntN(101), RNG: rng})
			_ = s.Close()
		}
	}
}
