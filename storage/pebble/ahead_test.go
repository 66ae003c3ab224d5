package pebble

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/storage"
)

// held keeps the committer busy until it is let go: what is handed over meanwhile sees nothing of what was just before.
func held(t *testing.T, s *Store) (letGo func()) {
	t.Helper()
	begun, free := make(chan struct{}), make(chan struct{})
	inTurn(t, s, false, func(*pebble.Batch) error {
		close(begun)
		<-free
		return nil
	})
	<-begun
	return func() { close(free) }
}

// inTurn hands over a job, and does not wait for it.
func inTurn(t *testing.T, s *Store, removes bool, job func(*pebble.Batch) error) {
	t.Helper()
	if err := s.enqueue(&commit{store: s, job: job, removes: removes, done: make(chan struct{}), size: commitOverhead}); err != nil {
		t.Fatal(err)
	}
}

// TestErasureIsOvertaken has something come between an erasure's being made ready and its turn. Whatever that is, all
// is as if the erasure were made in its turn.
func TestErasureIsOvertaken(t *testing.T) {
	task, message := ptr(abi.ObjectTask, newID(abi.ObjectTask, 1)), ptr(abi.ObjectMessage, newID(abi.ObjectMessage, 1))
	for name, c := range map[string]struct {
		between   func(t *testing.T, s *Store)
		overtaken uint64
		err       error
	}{
		"nothing":                 {between: func(*testing.T, *Store) {}},
		"another Task's event":    {between: func(_ *testing.T, s *Store) { s.Append(taskEvent(2, abi.EventProgress, 9, nil)) }},
		"another Task":            {between: func(_ *testing.T, s *Store) { s.Append(accept(1, 7)) }},
		"one more of its events":  {overtaken: 1, between: func(_ *testing.T, s *Store) { s.Append(taskEvent(1, abi.EventProgress, 9, nil)) }},
		"its Message's new text":  {overtaken: 1, between: func(_ *testing.T, s *Store) { s.Append(edited(message)) }},
		"the same erasure":        {overtaken: 1, between: func(_ *testing.T, s *Store) { s.Append(erasing(1)) }},
		"another erasure":         {overtaken: 1, between: func(_ *testing.T, s *Store) { s.Append(erasing(3)) }},
		"a fork":                  {overtaken: 1, err: storage.ErrInUse, between: func(_ *testing.T, s *Store) { s.Append(forkOf(1, 8)) }},
		"a part of it taken away": {overtaken: 1, between: stripBeside},
		"retention of all events": {overtaken: 1, between: retainBeside},
	} {
		t.Run(name, func(t *testing.T) {
			s := openTest(t, vfs.NewMem())
			blobs := lived(t, s, 1)
			lived(t, s, 2)
			lived(t, s, 3)
			letGo := held(t, s)
			c.between(t, s)
			commit := s.Append(erasing(1))
			letGo()
			if _, err := commit.Wait(ctx); !errors.Is(err, c.err) {
				t.Fatalf("it is %v, want %v", err, c.err)
			}
			wantSound(t, s)
			if got := s.overtaken.Load(); got != c.overtaken {
				t.Errorf("it was made again %d times, want %d", got, c.overtaken)
			}
			if c.err != nil {
				return
			}
			if _, err := s.Get(ctx, 1, task.Object, task.ID); !errors.Is(err, storage.ErrNotFound) {
				t.Errorf("the Task is there: %v", err)
			}
			if events, _, err := s.Events(ctx, 1, storage.Scope{Object: abi.ObjectTask, ID: task.ID}, storage.Position(s.floor.Load()), 99); len(events) != 0 || err != nil {
				t.Errorf("it has %d events: %v", len(events), err)
			}
			res, err := s.Get(ctx, 1, message.Object, message.ID)
			if edit := bytes.Contains(res.State, []byte("edited")); err != nil || edit != (name == "its Message's new text") {
				t.Errorf("its Message, which stays, is %s: %v", res.State, err)
			}
			if sweepAll(t, s); there(s, blobs[1]) {
				t.Error("a blob of its own is there")
			}
		})
	}
}

// TestErasureOfWhatJustEnds checks that what stood in the way of an erasure when that was made ready may be gone when its turn
// comes.
func TestErasureOfWhatJustEnds(t *testing.T) {
	s := openTest(t, vfs.NewMem())
	mustAppend(t, s, accept(1, 1))
	mustAppend(t, s, forkOf(1, 2))
	letGo := held(t, s)
	s.Append(taskEvent(1, abi.EventTaskCompleted, 1, state("done", 1)))
	s.Append(taskEvent(2, abi.EventTaskCompleted, 1, state("done", 2)))
	b := erasing(2)
	b.Frame.Records[0].Erase.Source = ptr(abi.ObjectTask, newID(abi.ObjectTask, 1))
	fork, source := s.Append(b), s.Append(erasing(1))
	letGo()
	for _, c := range []storage.Commit{fork, source} {
		if _, err := c.Wait(ctx); err != nil {
			t.Error(err)
		}
	}
	wantSound(t, s)
}

// edited returns a batch that states a Message anew.
func edited(message abi.ResourcePointer) *storage.Batch {
	b := accept(1, 1)
	b.Frame.TaskID, b.Idempotency = "", nil
	b.Frame.Records = []storage.Record{{Kind: abi.EventAgentMessage, Resource: message, Sequence: 1, State: []byte(`{"edited":true}`)}}
	return b
}

// forkOf returns a batch that makes a Task from another one.
func forkOf(source, n int) *storage.Batch {
	b := accept(1, n)
	b.Frame.Records[1].State = fmt.Appendf(nil, `{"id":"fork","fork":{"source_task_id":%q}}`, newID(abi.ObjectTask, source))
	return b
}

// stripBeside hands over the removal of the first of the Task's frames.
func stripBeside(t *testing.T, s *Store) {
	r := ptr(abi.ObjectTask, newID(abi.ObjectTask, 1))
	e := s.newEraser(1, "")
	first, err := e.framesOf(r)
	e.close()
	if err != nil || len(first) < 3 {
		t.Fatalf("it has %d frames: %v", len(first), err)
	}
	strip := func(e *eraser) error { return e.strip(r, first[:2]) }
	inTurn(t, s, true, func(b *pebble.Batch) error {
		defer s.writeCounts(b)
		return s.erasing(b, nil, 1, "", strip)
	})
}

// retainBeside hands over the removal of all that is there.
func retainBeside(t *testing.T, s *Store) {
	r := &removal{store: s, floor: s.mark.position()}
	if err := r.collect(ctx, 1); err != nil {
		t.Fatal(err)
	}
	inTurn(t, s, true, r.commit)
}

// TestListsOfWhatGoesHaveMarks checks that marks which a list gets between an erasure's being made ready and its turn go with the list.
func TestListsOfWhatGoesHaveMarks(t *testing.T) {
	o := testOptions(vfs.NewMem())
	o.markEvery, o.markLag = 2, 2
	s, err := Open("data", o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	session := newID(abi.ObjectSession, 1)
	for n := range 9 {
		mustAppend(t, s, accept(1, n+1))
		mustAppend(t, s, taskEvent(n+1, abi.EventTaskCompleted, 1, state("done", n+1)))
	}
	letGo := held(t, s)
	list := listPrefix(nil, 1, abi.ObjectTask, storage.Scope{Object: abi.ObjectSession, ID: session})
	s.askForMarks(list)
	commit := s.Append(&storage.Batch{Frame: storage.Frame{Tenant: 1, Time: epoch, WorkspaceID: newID(abi.ObjectWorkspace, 1),
		Records: []storage.Record{{Kind: abi.EventSessionErased, Resource: ptr(abi.ObjectSession, session), Erase: &storage.Erasure{}}}}})
	letGo()
	if _, err := commit.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	if err := s.Sync(ctx); err != nil {
		t.Fatal(err)
	}
	if mark, err := firstIn(s.db, marksOfAll(list), keyAfter(marksOfAll(list))); err != nil || mark != nil {
		t.Errorf("a mark is left of a list that is gone: %x, %v", mark, err)
	}
	wantSound(t, s)
}
