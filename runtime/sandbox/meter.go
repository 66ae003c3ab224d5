package sandbox

import (
	"context"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/sandbox/rewrite"
)

// gasSlice is how much gas a guest is given at a time: it comes by after as much, which
// is some 50 µs of native code. More would let a stop and the garbage collector wait
// longer, less would be noticed in the guest's speed.
const gasSlice = 100_000

// meter gives a guest its gas in slices. What was used in all, and where a guest has
// to end, follow from the guest and its budget alone: not from the size of a slice, and
// not from time.
type meter struct {
	budget  int64
	slice   int64 // set before start, or 0 for gasSlice
	granted int64 // in all
	// left is the global that holds what is left of the slice, as of the last call or
	// return; nil when it is out of reach.
	left api.MutableGlobal
}

// start begins a Run. The guest holds the first slice afterwards, or none when its
// global is out of reach.
func (m *meter) start(budget uint64, left api.MutableGlobal) {
	*m = meter{budget: int64(min(budget, 1<<62)), slice: m.slice, left: left}
	if m.slice == 0 {
		m.slice = gasSlice
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

// gasUsed returns what the guest used: all that it had, when it wanted more.
func (r *run) gasUsed() uint64 {
	if r.failure != nil && r.failure.Code == abi.FailurePluginGas {
		return r.limits.Gas
	}
	return uint64(r.meter.used())
}

// offerYield offers what guests call when their gas or their depth is spent.
func offerYield(ctx context.Context, engine wazero.Runtime) (api.Module, error) {
	i64 := api.ValueTypeI64
	builder := engine.NewHostModuleBuilder(rewrite.YieldModule)
	builder.NewFunctionBuilder().WithName(rewrite.YieldName).
		WithGoFunction(api.GoFunc(yield), []api.ValueType{i64, i64}, []api.ValueType{i64}).
		Export(rewrite.YieldName)
	return builder.Instantiate(ctx)
}

func yield(ctx context.Context, stack []uint64) {
	stack[0] = uint64(runOf(ctx).yield(int64(stack[0]), int64(stack[1])))
}

// yield is where a guest that computes comes by. It returns the gas that the guest has
// from here on, or ends the Run. What is reproducible comes before what is not.
func (r *run) yield(gas, depth int64) int64 {
	left, ok := r.meter.refill(gas)
	switch {
	case !ok:
		r.gasIsUp()
	case depth < 0:
		panic(errDepth)
	}
	r.turn()
	r.checkStop()
	return left
}

// checkGas ends the Run when all gas is used up. The global is up to date in every
// call, so that this is reproducible.
func (r *run) checkGas() {
	if r.meter.over() {
		r.gasIsUp()
	}
}

func (r *run) gasIsUp() {
	r.failure = r.outOfGas()
	panic(r.failure)
}

func (r *run) outOfGas() *abi.Failure {
	return failf(abi.FailurePluginGas, "the plugin used up its gas, %d units", r.limits.Gas)
}

// checkStop ends the Run when it is to stop.
func (r *run) checkStop() {
	if r.Err() != nil || r.wall.rest() <= 0 {
		panic(errStopped)
	}
}
