package guest

import (
	"runtime"
	"time"
)

const (
	// TurnGas is the gas of a turn: a few milliseconds, whatever the size of a slice.
	TurnGas = 40 * GasSlice
	// breathGas is after how much gas a guest lets others go first: some 200 µs.
	breathGas = 4 * GasSlice
	// breather is for how long a guest stands aside after a turn: Go looks for what came
	// over the network when a processor has nothing to do, and else every 10 ms only.
	breather = 20 * time.Microsecond
)

// turn is where a guest that computes comes by after each slice of its gas. For its first
// turn it needs no place; from then on it is long work, also when it has waited for the
// Host meanwhile. It returns early when the Run is to stop.
func (r *Run) turn() {
	if r.shared.Turns == nil {
		return
	}
	r.sinceTurn += r.meter.slice
	r.sinceBreath += r.meter.slice
	if r.sinceTurn >= TurnGas || r.long && !r.inTurn {
		r.nextTurn()
		return
	}
	if r.sinceBreath >= breathGas {
		r.sinceBreath = 0
		runtime.Gosched()
	}
}

// nextTurn waits for the next turn.
func (r *Run) nextTurn() {
	if r.sinceTurn >= TurnGas {
		r.leaveTurn()
		time.Sleep(breather)
		r.sinceTurn = 0
	}
	r.long, r.sinceBreath = true, 0
	r.inTurn = r.shared.Turns.Enter(r.Context) == nil
}

// leaveTurn gives a place back: the guest waits for the Host, or has ended.
func (r *Run) leaveTurn() {
	if r.inTurn {
		r.inTurn = false
		r.shared.Turns.Leave()
	}
}
