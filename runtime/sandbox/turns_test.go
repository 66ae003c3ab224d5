package sandbox

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
)

// busy are limits for a guest that computes for several turns.
func busy() Limits {
	l := tight()
	l.Gas = 5 * turnGas
	return l
}

// TestTurnsAreHandedOn runs more guests that compute than there are places: each comes to
// its end, and no place is lost however that is.
func TestTurnsAreHandedOn(t *testing.T) {
	r := newRuntime(t, Config{})
	r.turns = &turns{places: make(chan struct{}, 1)}
	m := compile(t, r, runner(opLoopForever+opUnreachable).wasm())
	var guests sync.WaitGroup
	for range 4 {
		guests.Go(func() {
			_, err := m.Run(t.Context(), abi.DefaultExport, &host{}, busy())
			if failure, ok := errors.AsType[*abi.Failure](err); !ok || failure.Code != abi.FailurePluginGas {
				t.Errorf("a guest that computes ended with %v", err)
			}
		})
	}
	guests.Wait()
	if n := len(r.turns.places); n != 0 {
		t.Errorf("%d places are taken after all have ended", n)
	}
}

// TestGuestsWaitForTheirTurn holds that a guest that computes for long waits while all
// places are taken, that a cancel ends the wait, and that others do not wait.
func TestGuestsWaitForTheirTurn(t *testing.T) {
	r := newRuntime(t, Config{})
	r.turns = &turns{places: make(chan struct{}, 1)}
	r.turns.places <- struct{}{}
	short := compile(t, r, runner(konst(0)).wasm())
	if _, err := short.Run(t.Context(), abi.DefaultExport, &host{}, Limits{}); err != nil {
		t.Fatal(err)
	}
	m := compile(t, r, runner(opLoopForever+opUnreachable).wasm())
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	usage, err := m.Run(ctx, abi.DefaultExport, &host{}, Limits{})
	if !errors.Is(err, context.DeadlineExceeded) || usage.Gas > 2*turnGas {
		t.Errorf("it ended with %v after %d units of gas", err, usage.Gas)
	}
}

// TestNoPlaceIsHeldWhileTheHostAnswers holds that a guest that waits for its host lets
// others compute.
func TestNoPlaceIsHeldWhileTheHostAnswers(t *testing.T) {
	r := newRuntime(t, Config{})
	// 2^24 turns of a loop, and then a call.
	spin := konst(1<<24) + "\x21\x00\x03\x40\x20\x00" + konst(1) + "\x6b\x22\x00\x0d\x00\x0b"
	g := &guest{pages: 1}
	g.importCall(abi.CallClock)
	g.add(fn{export: abi.DefaultExport, sig: runSig, locals: "\x01\x01" + typeI32, body: spin + hostCallOf(0, 0, 0) + konst(0)})
	m := compile(t, r, g.wasm())
	held := -1
	h := &host{answer: func(context.Context, string, []byte) (abi.CallStatus, []byte, error) {
		held = len(r.turns.places)
		return abi.CallOK, nil, nil
	}}
	if _, err := m.Run(t.Context(), abi.DefaultExport, h, Limits{}); err != nil || held != 0 {
		t.Errorf("%d places were held during the call, %v", held, err)
	}
}
