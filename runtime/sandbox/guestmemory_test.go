package sandbox

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/sandbox/extism"
	"github.com/wharf-dev/wharf/runtime/sandbox/guest"
	"github.com/wharf-dev/wharf/runtime/sandbox/rewrite"
)

const largeGuest = 16 << 20

// large is a guest that grows to largeGuest, fails when it is refused, and asks for the time.
func large() []byte {
	grows := konst(largeGuest/pageBytes-1) + opGrow + konst(-1) + "\x46\x04\x40" + opUnreachable + "\x0b"
	return runner(grows+hostCallOf(0, 0, 0)+konst(0), abi.CallClock).wasm()
}

// largeExtism is the same, made with an Extism PDK.
func largeExtism() []byte {
	g := &handmade{pages: 1, imports: []importedFunc{{extism.UserModule, abi.CallClock, rewrite.Signature{}}}}
	grows := konst(largeGuest/pageBytes-1) + opGrow + konst(-1) + "\x46\x04\x40" + opUnreachable + "\x0b"
	return g.add(fn{export: abi.DefaultExport, sig: runSig, body: grows + call(0) + konst(0)}).wasm()
}

func guestKinds() map[string][]byte {
	return map[string][]byte{"native": large(), "extism": largeExtism()}
}

// TestGuestsShareMemory runs more guests than there is memory for: none is refused any, and
// they never have more than there is, and what the first may have.
func TestGuestsShareMemory(t *testing.T) {
	for kind, wasm := range guestKinds() {
		t.Run(kind, func(t *testing.T) {
			const limit = 2*largeGuest + largeGuest/2
			r := newRuntime(t, Config{GuestBytes: limit, IdleBytes: -1})
			m := compile(t, r, wasm)
			var guests sync.WaitGroup
			for range 12 {
				guests.Go(func() {
					h := &host{answer: func(context.Context, string, []byte) (abi.CallStatus, []byte, error) {
						if used, _ := r.shared.Memory.Load(); used > limit+2*largeGuest {
							t.Errorf("%d bytes are used together", used)
						}
						return abi.CallOK, nil, nil
					}}
					if _, err := m.Run(t.Context(), abi.DefaultExport, h, Limits{}); err != nil {
						t.Error(err)
					}
				})
			}
			guests.Wait()
			if used, runs := r.shared.Memory.Load(); used != 0 || runs != 0 {
				t.Errorf("%d bytes of %d Runs are held after all have ended", used, runs)
			}
		})
	}
}

// onClock is a Host that does something when the guest asks for the time.
func onClock(do func()) *host {
	return &host{answer: func(_ context.Context, call string, _ []byte) (abi.CallStatus, []byte, error) {
		if call == abi.CallClock {
			do()
		}
		return abi.CallOK, nil, nil
	}}
}

// awaitHolders waits until the given number of Runs hold memory or wait for it.
func awaitHolders(t *testing.T, m *guest.Memory, runs int) {
	for t.Context().Err() == nil {
		if _, n := m.Load(); n == runs {
			return
		}
		runtime.Gosched()
	}
}

// TestGuestsWaitForMemory holds that a guest that wants more than there is waits until the
// Run ends that has it, that a cancel ends the wait, and that a small one does not wait.
func TestGuestsWaitForMemory(t *testing.T) {
	for kind, wasm := range guestKinds() {
		t.Run(kind, func(t *testing.T) {
			r := newRuntime(t, Config{GuestBytes: largeGuest})
			m := compile(t, r, wasm)
			small := compile(t, r, runner(konst(0)).wasm())
			ended := make(chan error, 3)
			start := func(ctx context.Context, h *host) {
				go func() {
					_, err := m.Run(ctx, abi.DefaultExport, h, Limits{})
					ended <- err
				}()
			}
			inside, leave := make(chan struct{}), make(chan struct{})
			start(context.Background(), onClock(func() { close(inside); <-leave }))
			<-inside
			if _, err := small.Run(t.Context(), abi.DefaultExport, &host{}, Limits{}); err != nil {
				t.Error(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			start(ctx, onClock(func() { t.Error("it was given memory that is not there") }))
			awaitHolders(t, r.shared.Memory, 2)
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("the one that waited and was canceled ended with %v", err)
			}
			start(t.Context(), onClock(func() {
				select {
				case <-leave:
				default:
					t.Error("it was given memory before the first had ended")
				}
			}))
			awaitHolders(t, r.shared.Memory, 2)
			close(leave)
			if err := errors.Join(<-ended, <-ended); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestWaitingForMemoryEnds holds that a guest does not wait beyond its own time for one
// that keeps its memory, and that the node's end ends the wait as a cancel does.
func TestWaitingForMemoryEnds(t *testing.T) {
	for kind, wasm := range guestKinds() {
		t.Run(kind, func(t *testing.T) {
			r := newRuntime(t, Config{GuestBytes: largeGuest})
			m := compile(t, r, wasm)
			inside, leave, ended := make(chan struct{}), make(chan struct{}), make(chan error)
			go func() {
				_, err := m.Run(context.Background(), abi.DefaultExport, onClock(func() { close(inside); <-leave }), Limits{})
				ended <- err
			}()
			<-inside
			never := onClock(func() { t.Error("it was given memory that is not there") })
			_, err := m.Run(t.Context(), abi.DefaultExport, never, Limits{WallTime: 600 * time.Millisecond})
			if failed, ok := errors.AsType[*abi.Failure](err); !ok || failed.Code != abi.FailurePluginTimeout {
				t.Errorf("one that waited for longer than it may run ended with %v", err)
			}
			drain, drained := context.WithCancelCause(t.Context())
			why := errors.New("the node drains")
			go func() {
				_, err := m.Run(drain, abi.DefaultExport, never, Limits{})
				ended <- err
			}()
			awaitHolders(t, r.shared.Memory, 2)
			drained(why)
			if err := <-ended; !errors.Is(err, why) && !errors.Is(err, context.Canceled) {
				t.Errorf("one that waited when the node ended ended with %v", err)
			}
			close(leave)
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}

// TestGuestsThatAllGrow holds that guests that have memory and all want more do not wait for
// one another for ever: the first goes on, and each after it.
func TestGuestsThatAllGrow(t *testing.T) {
	r := newRuntime(t, Config{GuestBytes: 3 * largeGuest, IdleBytes: -1})
	half := konst(largeGuest/2/pageBytes) + opGrow + konst(-1) + "\x46\x04\x40" + opUnreachable + "\x0b"
	m := compile(t, r, runner(half+hostCallOf(0, 0, 0)+half+half+konst(0), abi.CallClock).wasm())
	const guests = 5 // of which each has half of what it wants, so that there is no more
	var all sync.WaitGroup
	together := make(chan struct{})
	var here atomic.Int32
	for range guests {
		all.Go(func() {
			h := onClock(func() {
				if here.Add(1) == guests {
					close(together)
				}
				<-together
			})
			if _, err := m.Run(t.Context(), abi.DefaultExport, h, Limits{}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}
