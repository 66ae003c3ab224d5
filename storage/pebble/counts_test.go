package pebble

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/internal/share"
	"github.com/wharf-dev/wharf/storage"
)

// openMarked opens a folder whose marks lie close to each other.
func openMarked(t testing.TB, fs vfs.FS) *Store {
	t.Helper()
	o := testOptions(fs)
	o.markEvery, o.markLag = 4, 8
	s, err := Open("data", o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sessionsMade returns a batch that creates Sessions, each with a number for an id.
func sessionsMade(numbers ...int) *storage.Batch {
	b := &storage.Batch{Frame: frameOf(1, "")}
	for _, n := range numbers {
		id := newID(abi.ObjectSession, n)
		b.Frame.Records = append(b.Frame.Records, storage.Record{Kind: abi.EventSessionCreated, Resource: ptr(abi.ObjectSession, id), Created: true, State: state(id, 0)})
	}
	return b
}

// numbers returns those from one on and before another.
func numbers(from, to int) (all []int) {
	for n := from; n < to; n++ {
		all = append(all, n)
	}
	return all
}

// ofWorkspace are the Sessions that sessionsMade makes.
func ofWorkspace() storage.Scope {
	return storage.Scope{Object: abi.ObjectWorkspace, ID: newID(abi.ObjectWorkspace, 1)}
}

func mustCount(t testing.TB, s *Store, scope storage.Scope, want int) {
	t.Helper()
	n, more, err := s.Count(context.Background(), 1, abi.ObjectSession, scope, storage.Page{Limit: 1 << 20})
	if err != nil || more || n != want {
		t.Fatalf("the list %+v has %d entries, %v, %v; want %d", scope, n, more, err, want)
	}
}

// stepsOver returns how many steps over entries it takes to count a list and to find its middle.
func stepsOver(t testing.TB, s *Store, scope storage.Scope) int {
	t.Helper()
	list := listKey(1, abi.ObjectSession, scope)
	k := ranks{r: s.db, list: list, marked: s.counted}
	n, err := k.before(keyAfter(list))
	if err == nil {
		_, err = k.at(n / 2)
	}
	if err != nil {
		t.Fatal(err)
	}
	return k.walked
}

// TestMarksBoundTheSteps makes a list grow, and checks that counting it and finding an entry take
// no more steps when it is fifty times as long.
func TestMarksBoundTheSteps(t *testing.T) {
	s := openMarked(t, vfs.NewMem())
	defer s.Close()
	for n := 0; n < 5000; n += 10 {
		mustAppend(t, s, sessionsMade(numbers(n, n+10)...))
		if n%500 != 490 {
			continue
		}
		for _, scope := range []storage.Scope{{}, ofWorkspace()} {
			mustCount(t, s, scope, n+10)
			if took := stepsOver(t, s, scope); took > 90 {
				t.Errorf("with %d entries, %d steps were taken over them in list %+v", n+10, took, scope)
			}
		}
	}
	mustBeSound(t, s)
}

// TestMarksOfAnOlderProgram writes as a program does that knows of no marks, which then count no
// more.
func TestMarksOfAnOlderProgram(t *testing.T) {
	fs := vfs.NewMem()
	s := openMarked(t, fs)
	mustAppend(t, s, sessionsMade(numbers(0, 100)...))
	mustAppend(t, s, sessionsMade(numbers(200, 300)...))
	mustAppend(t, s, sessionsMade(300)) // after which there are marks
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openMarked(t, fs)
	d, b := newDraft(), s.db.NewBatch()
	older := sessionsMade(150, 301).Frame
	d.project(&older, nil)
	d.place(s.next)
	d.applyAll(b)
	_ = b.Set(metaKey(metaLast), appendPosition(nil, s.next+1), nil)
	if err := s.db.Apply(b, pebble.Sync); err != nil {
		t.Fatal(err)
	}
	s.mark.raise(s.next + 1)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, open := range []func() (*Store, error){
		func() (*Store, error) { return OpenReadOnly("data", testOptions(fs)) },
		func() (*Store, error) { return openMarked(t, fs), nil },
	} {
		s, err := open()
		if err != nil {
			t.Fatal(err)
		}
		mustCount(t, s, ofWorkspace(), 203)
		mustCount(t, s, storage.Scope{}, 203)
		if !s.readOnly {
			mustBeSound(t, s)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestListOfBeforeMarks counts a list that was written before there were marks: a reader that has
// to take many steps has it marked.
func TestListOfBeforeMarks(t *testing.T) {
	share.Alone(t)
	fs := vfs.NewMem()
	o := testOptions(fs)
	o.markEvery, o.markLag = 4, 1<<30 // no list ever grows so long
	s, err := Open("data", o)
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < 6000; n += 500 {
		mustAppend(t, s, sessionsMade(numbers(n, n+500)...))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openMarked(t, fs)
	defer s.Close()
	before := stepsOver(t, s, ofWorkspace())
	mustCount(t, s, ofWorkspace(), 6000)
	s.counts.mu.Lock()
	asked := s.counts.busy
	s.counts.mu.Unlock()
	s.askForMarks(listKey(1, abi.ObjectSession, ofWorkspace())) // if it is done already, once more
	s.seeToAsked()
	mustCount(t, s, ofWorkspace(), 6000)
	if after := stepsOver(t, s, ofWorkspace()); !asked || before < 6000 || after > 90 {
		t.Errorf("asked %v: %d steps before, and %d after", asked, before, after)
	}
	mustBeSound(t, s)
}

// TestMarksAfterACrash crashes after every few batches of creations in any order and of deletions,
// and counts what is left.
func TestMarksAfterACrash(t *testing.T) {
	share.Alone(t)
	rng := rand.New(rand.NewPCG(7, 7))
	fs := vfs.NewCrashableMem()
	s := openMarked(t, fs)
	order := rng.Perm(900)
	for i := 0; i < len(order); i += 9 {
		commit := s.Append(sessionsMade(order[i : i+9]...))
		if i%2 == 0 {
			gone := newID(abi.ObjectSession, order[rng.IntN(i+9)])
			commit = s.Append(&storage.Batch{Frame: frameOf(1, "", storage.Record{Kind: abi.EventSessionDeleted, Resource: ptr(abi.ObjectSession, gone), Sequence: 1, State: state(gone, 1)})})
		}
		if i%27 != 0 {
			continue
		}
		if i%54 == 0 {
			if _, err := commit.Wait(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		crashed := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 50, RNG: rng})
		after := openMarked(t, crashed)
		for _, scope := range []storage.Scope{{}, ofWorkspace()} {
			walked := ranks{r: after.db, list: listKey(1, abi.ObjectSession, scope)}
			n, err := walked.before(keyAfter(walked.list))
			if err != nil {
				t.Fatal(err)
			}
			mustCount(t, after, scope, n)
		}
		mustBeSound(t, after)
		if err := after.Close(); err != nil {
			t.Fatal(fmt.Errorf("after %d: %w", i, err))
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
