package guest

import "errors"

// ErrInitialCalls ends an initialization that calls functions of WASI too often.
var ErrInitialCalls = errors.New("sandbox: too many calls of WASI in an initialization")

// BoundCalls makes the Run the initialization of an instance, which may call fewer functions
// of WASI than most: that bounds what the host does for it, as its gas bounds what it does
// itself. 0 sets no bound, as in all other Runs.
func (r *Run) BoundCalls(most int) { r.initialCalls = most }

// CountCall counts a call of a function of WASI, and ends an initialization that calls too
// often.
func (r *Run) CountCall() {
	if r.initialCalls == 0 {
		return // it is none
	}
	if r.initialCalls--; r.initialCalls == 0 {
		panic(ErrInitialCalls)
	}
}

// ClockFrom has the guest's monotonic time begin where an initialization has left it, for it
// must not go back.
func (r *Run) ClockFrom(at int64) { r.clock.base, r.clock.last = at, at }

// ClockAt returns what the guest was told last of its monotonic time.
func (r *Run) ClockAt() int64 { return r.clock.last }
