package disk_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/disk"
)

const mib = 1 << 20

// machine is a disk that a test fills, and a clock that it sets.
type machine struct {
	mu      sync.Mutex // of space, where a watch looks by itself
	space   disk.Space
	unknown bool
	at      time.Time
	log     bytes.Buffer
	watch   *disk.Watch
}

func newMachine(free, reserve uint64) *machine {
	m := &machine{space: disk.Space{Free: free, Total: 100_000 * mib, FreeFiles: 1 << 20, Files: 1 << 20}, at: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	m.watch = disk.New(disk.Config{Read: m.read, Reserve: func(uint64) uint64 { return reserve },
		Now: func() time.Time { return m.at }, Log: slog.New(slog.NewTextHandler(&m.log, nil))})
	return m
}

func (m *machine) read() (disk.Space, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.space, !m.unknown
}

func (m *machine) set(free uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.space.Free = free
}

func (m *machine) look(free uint64) disk.State {
	m.set(free)
	m.watch.Look()
	return m.watch.State()
}

// TestReserve plays what is free, and says when new work is refused and when calls wait: each ends only with a tenth
// more than it began with.
func TestReserve(t *testing.T) {
	m := newMachine(500*mib, 100*mib)
	for i, step := range []struct {
		free              uint64 // MiB
		refusing, waiting bool
	}{
		{100, false, false}, {99, true, false}, {100, true, false}, {109, true, false}, {110, false, false}, {105, false, false},
		{25, true, false}, {24, true, true}, {0, true, true}, {27, true, true}, {28, true, false}, {500, false, false}, {0, true, true}, {110, false, false},
	} {
		s := m.look(step.free * mib)
		if s.Refusing != step.refusing || s.Waiting != step.waiting {
			t.Errorf("step %d, %d MiB: refusing %v, waiting %v", i, step.free, s.Refusing, s.Waiting)
		}
		if (m.watch.NewWork() != nil) != step.refusing || (m.watch.Delivery() != nil) != step.refusing {
			t.Errorf("step %d: %v", i, m.watch.NewWork())
		}
	}
	if began, ended := strings.Count(m.log.String(), "nearly full"), strings.Count(m.log.String(), "room on the disk again"); began != 3 || ended != 3 {
		t.Errorf("it was logged %d times that it began, and %d times that it ended:\n%s", began, ended, m.log.String())
	}
}

func TestWhatRefusesNothing(t *testing.T) {
	var nobody *disk.Watch
	for name, w := range map[string]*disk.Watch{"nobody watches": nobody, "no reserve": newMachine(0, 0).watch} {
		if err := errors.Join(w.NewWork(), w.Delivery(), w.Await(t.Context()), w.AwaitCall(t.Context())); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	m := newMachine(0, 100*mib)
	if m.watch.NewWork() == nil {
		t.Error("a disk that is full from the beginning refuses nothing")
	}
	m.unknown = true
	if m.look(0); m.watch.NewWork() != nil {
		t.Error("what nobody knows refuses new work")
	}
}

// TestFilesThatRunOut has bytes and no room for files.
func TestFilesThatRunOut(t *testing.T) {
	m := newMachine(500*mib, 100*mib)
	m.space.FreeFiles = 999
	m.watch.Look()
	err := m.watch.NewWork()
	if err == nil || !strings.Contains(err.Error(), "room for 999 more files") {
		t.Errorf("the refusal is %v", err)
	}
	m.space.FreeFiles, m.space.Files = 0, 0 // of a file system that does not bound them
	if m.watch.Look(); m.watch.NewWork() != nil {
		t.Error("files are missed on a disk that does not count them")
	}
}

func TestWordsOfRefusals(t *testing.T) {
	m := newMachine(312*mib, 512*mib)
	told, ok := errors.AsType[*abi.Error](m.watch.NewWork())
	if !ok || told.Code != abi.CodeServiceUnavailable || told.RetryAfter == 0 {
		t.Fatalf("the refusal is %v", told)
	}
	if want := "312 MiB are free, 512 MiB are kept in reserve"; !strings.Contains(told.Message, want) || !strings.Contains(told.Message, "Delete what is no longer needed") {
		t.Errorf("it says %q", told.Message)
	}
	if want := fmt.Sprintf(`{"reason":"disk","free_bytes":%d,"reserve_bytes":%d}`, 312*mib, 512*mib); string(told.Details) != want {
		t.Errorf("its details are %s", told.Details)
	}
	sender, _ := errors.AsType[*abi.Error](m.watch.Delivery())
	if strings.ContainsAny(sender.Message, "0123456789") || sender.Details != nil || sender.RetryAfter == 0 {
		t.Errorf("a sender is told %q %s", sender.Message, sender.Details)
	}
}

// TestWaiting has work wait, some for ever, until there is room.
func TestWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(0, 100*mib)
		ended := make(chan string, 3)
		ctx, cancel := context.WithCancelCause(t.Context())
		left := errors.New("left")
		go func() { _ = m.watch.Await(t.Context()); ended <- "work" }()
		go func() { _ = m.watch.AwaitCall(t.Context()); ended <- "call" }()
		go func() {
			if err := m.watch.Await(ctx); !errors.Is(err, left) {
				t.Errorf("whoever left is told %v", err)
			}
			ended <- "left"
		}()
		next := func(want string) {
			synctest.Wait()
			if got := <-ended; got != want {
				t.Errorf("%s ended instead of %s", got, want)
			}
		}
		synctest.Wait()
		cancel(left)
		next("left")
		m.look(50 * mib)
		next("call")
		m.look(60 * mib)
		if synctest.Wait(); len(ended) > 0 {
			t.Errorf("%s ended", <-ended)
		}
		running, stop := context.WithCancel(t.Context())
		defer stop()
		go m.watch.Run(running)
		synctest.Wait()
		m.set(200 * mib) // seen by the ticker alone
		next("work")
	})
}
