package sandbox

import (
	"runtime"
	"time"
)

// turns shares the processors among guests that compute for long. Such a guest needs one
// of as many places as there are processors, and hands it on after every turn. Go alone
// would give each of them 10 ms at a time, and everything else that the node does would
// wait behind all of them. A guest that computes for less than a turn never comes here.
type turns struct{ places chan struct{} }

const (
	// turnGas is the gas of a turn: a few milliseconds, whatever the size of a slice.
	turnGas = 40 * gasSlice
	// breather is for how long a guest stands aside after a turn: Go looks for what came
	// over the network when a processor has nothing to do, and else every 10 ms only.
	breather = 20 * time.Microsecond
)

func newTurns() *turns { return &turns{places: make(chan struct{}, runtime.GOMAXPROCS(0))} }

// turn is where a guest that computes comes by after each slice of its gas. It returns
// early when the Run is to stop.
func (r *run) turn() {
	if r.turns == nil {
		return
	}
	if r.sinceTurn += r.meter.slice; r.sinceTurn < turnGas {
		return
	}
	r.sinceTurn = 0
	r.leaveTurn()
	time.Sleep(breather)
	select {
	case r.turns.places <- struct{}{}:
		r.inTurn = true
	case <-r.Done():
	}
}

// leaveTurn gives a place back: the guest waits for the Host, or has ended.
func (r *run) leaveTurn() {
	if r.inTurn {
		r.inTurn = false
		<-r.turns.places
	}
}
