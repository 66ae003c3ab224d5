package storagetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wharf-dev/wharf/storage"
)

// Epoch is when the tests take place: an engine under test takes it for the current time.
var Epoch = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// Engine opens a store again and again, as the processes of a node do one after the other.
// It keeps idempotency records for a day at least, and the keys of deliveries for a week.
type Engine interface {
	// Open opens what the previous store left; at first that is nothing.
	Open() (storage.Store, error)
	// Crash cuts the power of the store that was opened last, which is not used any more. At
	// the next Open everything durable is there, and of what was handed over after that, any
	// beginning may be.
	Crash() error
}

// Weigher is an engine that says what a frame takes, its content left out ([storage.Sizer]).
type Weigher interface {
	Weigh(f *storage.Frame) int64
}

// Run tests engines against the contract. fresh returns an engine that holds nothing.
func Run(t *testing.T, fresh func() Engine) {
	for _, part := range []struct {
		name  string
		tests []test
	}{
		{"Log", logTests()},
		{"Resources", resourceTests()},
		{"Transcripts", transcriptTests()},
		{"Subscriptions", subscriptionTests()},
		{"Answers", answerTests()},
		{"Deliveries", deliveryTests()},
		{"Expectations", expectTests()},
		{"Words", wordTests()},
		{"Blobs", blobTests()},
		{"Retention", retentionTests()},
		{"Sizes", sizeTests()},
	} {
		t.Run(part.name, func(t *testing.T) {
			for _, c := range part.tests {
				t.Run(c.name, func(t *testing.T) {
					h := start(t, fresh())
					t.Cleanup(h.stop)
					c.run(h)
				})
			}
		})
	}
	t.Run("Machine", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			m := newMachine(t, fresh())
			defer m.stop()
			t.Repeat(rapid.StateMachineActions(m))
		})
	})
}

// test is one thing that callers rely on.
type test struct {
	name string
	run  func(h *harness)
}

// harness is an engine and the store that it has opened.
type harness struct {
	rapid.TB
	engine Engine
	store  storage.Store
}

// ctx is that of calls that nobody interrupts.
var ctx = context.Background()

// gone returns a context that has ended.
func gone() context.Context {
	ended, leave := context.WithCancel(ctx)
	leave()
	return ended
}

func start(t rapid.TB, e Engine) *harness {
	h := &harness{TB: t, engine: e}
	h.open()
	return h
}

func (h *harness) open() {
	h.Helper()
	s, err := h.engine.Open()
	if err != nil {
		h.Fatalf("opening the store: %v", err)
	}
	h.store = s
}

func (h *harness) stop() { _ = h.store.Close() }

// restart closes the store and opens it again.
func (h *harness) restart() {
	h.Helper()
	h.must(h.store.Close())
	h.open()
}

// crash takes the power away and opens the store again.
func (h *harness) crash() {
	h.Helper()
	h.must(h.engine.Crash())
	h.open()
}

func (h *harness) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

// want fails the test unless err is the error that is wanted.
func (h *harness) want(what string, err, target error) {
	h.Helper()
	if !errors.Is(err, target) {
		h.Errorf("%s: %v, want %v", what, err, target)
	}
}

// append makes a batch durable and returns the position of its first event.
func (h *harness) append(b *storage.Batch) storage.Position {
	h.Helper()
	p, err := h.store.Append(b).Wait(ctx)
	h.must(err)
	return p
}

// sound checks that nothing is damaged, where the engine can tell.
func (h *harness) sound() {
	h.Helper()
	c, ok := h.store.(storage.Checker)
	if !ok {
		return
	}
	for name, look := range map[string]func(context.Context, func(storage.Progress)) (storage.Report, error){"Check": c.Check, "Rebuild": c.Rebuild} {
		if report, err := look(ctx, nil); err != nil || !report.OK() {
			h.Fatalf("%s: %v, %d faults: %.500q", name, err, report.Faults, report.Problems)
		}
	}
}

// retain removes what is older than before. Where the engine keeps everything, the test
// is over.
func (h *harness) retain(before time.Time) int {
	h.Helper()
	r, ok := h.store.(storage.Retainer)
	if !ok {
		h.Skip("the engine keeps all events")
	}
	removed, err := r.Retain(ctx, before)
	h.must(err)
	return removed
}
