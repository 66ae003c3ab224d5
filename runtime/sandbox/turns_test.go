package sandbox

import (
	"context"
	"errors"
	goruntime "runtime"
	"sync"
	"testing"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/sandbox/guest"
	"github.com/wharf-dev/wharf/runtime/turns"
)

// busy are limits for a guest that computes for several turns.
func busy() Limits {
	l := tight()
	l.Gas = 5 * guest.TurnGas
	return l
}

// idle reports whether the place is free.
func idle(t *testing.T, one *turns.Turns) bool {
	ended, end := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Second, end)
	err := one.Enter(ended)
	if err == nil {
		one.Leave()
	}
	return err == nil
}

// TestTurnsAreHandedOn runs more guests that compute than there are places: each comes to
// its end, and no place is lost however that is.
func TestTurnsAreHandedOn(t *testing.T) {
	place := turns.New(1)
	r := newRuntime(t, Config{Turns: place})
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
	if !idle(t, place) {
		t.Error("the place is taken after all have ended")
	}
}

// TestGuestsWaitForTheirTurn holds that a guest that computes for long waits while all
// places are taken, that a cancel ends the wait, and that others do not wait.
func TestGuestsWaitForTheirTurn(t *testing.T) {
	place := turns.New(1)
	r := newRuntime(t, Config{Turns: place})
	if err := place.Enter(t.Context()); err != nil {
		t.Fatal(err)
	}
	short := compile(t, r, runner(konst(0)).wasm())
	if _, err := short.Run(t.Context(), abi.DefaultExport, &host{}, Limits{}); err != nil {
		t.Fatal(err)
	}
	m := compile(t, r, runner(opLoopForever+opUnreachable).wasm())
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	usage, err := m.Run(ctx, abi.DefaultExport, &host{}, Limits{})
	if !errors.Is(err, context.DeadlineExceeded) || usage.Gas > 2*guest.TurnGas {
		t.Errorf("it ended with %v after %d units of gas", err, usage.Gas)
	}
}

// TestNoPlaceIsHeldWhileTheHostAnswers holds that a guest that waits for its host lets
// others compute.
func TestNoPlaceIsHeldWhileTheHostAnswers(t *testing.T) {
	place := turns.New(1)
	r := newRuntime(t, Config{Turns: place})
	// 2^24 turns of a loop, and then a call.
	spin := konst(1<<24) + "\x21\x00\x03\x40\x20\x00" + konst(1) + "\x6b\x22\x00\x0d\x00\x0b"
	g := &handmade{pages: 1}
	g.importCall(abi.CallClock)
	g.add(fn{export: abi.DefaultExport, sig: runSig, locals: "\x01\x01" + i32, body: spin + hostCallOf(0, 0, 0) + konst(0)})
	m := compile(t, r, g.wasm())
	free := false
	h := &host{answer: func(context.Context, string, []byte) (abi.CallStatus, []byte, error) {
		free = idle(t, place)
		return abi.CallOK, nil, nil
	}}
	if _, err := m.Run(t.Context(), abi.DefaultExport, h, Limits{}); err != nil || !free {
		t.Errorf("the place is free during the call: %v, %v", free, err)
	}
}

// TestALongGuestStaysLong holds that a guest that has had its first turn takes a place
// for whatever it computes after a call: many calls do not make it short again.
func TestALongGuestStaysLong(t *testing.T) {
	place := turns.New(1)
	r := newRuntime(t, Config{Turns: place})
	spin := func(rounds int64) string {
		return konst(rounds) + "\x21\x00\x03\x40\x20\x00" + konst(1) + "\x6b\x22\x00\x0d\x00\x0b"
	}
	g := &handmade{pages: 1}
	g.importCall(abi.CallClock)
	g.add(fn{export: abi.DefaultExport, sig: runSig, locals: "\x01\x01" + i32, body: spin(1<<22) + hostCallOf(0, 0, 0) + spin(1<<18) + konst(0)})
	m := compile(t, r, g.wasm())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	h := &host{answer: func(ctx context.Context, _ string, _ []byte) (abi.CallStatus, []byte, error) {
		return abi.CallOK, nil, place.Enter(ctx) // and never leaves
	}}
	ended := make(chan error, 1)
	go func() {
		_, err := m.Run(ctx, abi.DefaultExport, h, Limits{})
		ended <- err
	}()
	for place.Waiting() == 0 && len(ended) == 0 {
		goruntime.Gosched()
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("it did not wait for a place: %v", err)
	}
}
