package guest

import (
	"github.com/tetratelabs/wazero/api"

	"github.com/wharf-dev/wharf/abi"
)

// GasSlice is how much gas a guest is given at a time: it comes by after as much, which
// is some 50 µs of native code. More would let a stop and the garbage collector wait
// longer, less would be noticed in the guest's speed.
const GasSlice = 100_000

// meter gives a guest its gas in slices. What was used in all, and where a guest has
// to end, follow from the guest and its budget alone: not from the size of a slice, and
// not from time.
type meter struct {
	budget  int64
	slice   int64
	granted int64 // in all
	// left is the global that holds what is left of the slice, as of the last call or
	// return; nil when it is out of reach.
	left api.MutableGlobal
}

// start begins a Run, in slices of the given size, 0 for GasSlice. The guest holds the first slice afterwards, or none when its
// global is out of reach.
func (m *meter) start(budget uint64, slice int64, left api.MutableGlobal) {
	*m = meter{budget: int64(min(budget, 1<<62)), slice: slice, left: left}
	if m.slice == 0 {
		m.slice = GasSlice
	}
	if left != nil {
		m.granted = min(m.slice, m.budget)
		left.Set(uint64(m.granted))
	}
}

// used returns the gas that was used as of the guest's last call or return.
func (m *meter) used() int64 {
	if m.left == nil {
		return m.granted
	}
	return m.granted - int64(m.left.Get())
}

// refill returns what the guest has from here on, when it says that left is left of
// what it had, and false when all of its gas is used up.
//
// The global is moved along, without being brought up to date: what was used as of the
// last call or return must not depend on how often the guest came by since.
func (m *meter) refill(left int64) (slice int64, ok bool) {
	used := m.granted - left
	if used > m.budget {
		return 0, false
	}
	if left >= 0 {
		return left, true // it came by for another reason
	}
	slice = min(m.slice, m.budget-used)
	more := used + slice - m.granted
	m.granted += more
	if m.left != nil {
		m.left.Set(m.left.Get() + uint64(more))
	}
	return slice, true
}

// spend charges the guest for what the host does on its behalf.
func (m *meter) spend(gas int64) {
	if m.left != nil {
		m.left.Set(m.left.Get() - uint64(gas))
	}
}

// over reports whether more gas was used than there is.
func (m *meter) over() bool { return m.used() > m.budget }

// GasUsed returns what the guest used: all that it had, when it wanted more.
func (r *Run) GasUsed() uint64 {
	if r.Failure != nil && r.Failure.Code == abi.FailurePluginGas {
		return r.Limits.Gas
	}
	return uint64(r.meter.used())
}

// Yield is where a guest that computes comes by. It returns the gas that the guest has
// from here on, or ends the Run. What is reproducible comes before what is not.
func (r *Run) Yield(gas, depth int64) int64 {
	left, ok := r.meter.refill(gas)
	switch {
	case !ok:
		r.gasIsUp()
	case depth < 0:
		panic(errDepth)
	}
	r.turn()
	r.CheckStop()
	return left
}

// CheckGas ends the Run when all gas is used up. The global is up to date in every
// call, so that this is reproducible.
func (r *Run) CheckGas() {
	if r.meter.over() {
		r.gasIsUp()
	}
}

func (r *Run) gasIsUp() {
	r.Failure = r.outOfGas()
	panic(r.Failure)
}

func (r *Run) outOfGas() *abi.Failure {
	return Failf(abi.FailurePluginGas, "the plugin used up its gas, %d units", r.Limits.Gas)
}

// CheckStop ends the Run when it is to stop.
func (r *Run) CheckStop() {
	if r.Err() != nil || r.wall.rest() <= 0 {
		panic(errStopped)
	}
}

// GasSpent returns the gas that was used as of the guest's last call or return, also where
// that is more than there was.
func (r *Run) GasSpent() uint64 { return uint64(r.meter.used()) }

// IsOutOfGas reports whether more gas was used than there is.
func (r *Run) IsOutOfGas() bool { return r.meter.over() }

// Charge takes gas for what the host does on the guest's behalf, or ends the Run.
func (r *Run) Charge(gas int64) {
	r.meter.spend(gas)
	r.CheckGas()
}
