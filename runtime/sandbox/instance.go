package sandbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/wharf-dev/wharf/runtime/sandbox/guest"
	"github.com/wharf-dev/wharf/runtime/sandbox/image"
	"github.com/wharf-dev/wharf/runtime/sandbox/rewrite"
)

// instance is a module's instance, over a memory that can become what it was at first.
// It is used by one Run at a time.
type instance struct {
	ground  *ground
	mod     api.Module
	memory  *image.Memory // nil without one
	globals []api.MutableGlobal
	gas     api.MutableGlobal
	depth   api.MutableGlobal
	changed api.Global
	// functions are the exports that can be run, in the order of Module.exports, nil
	// before their first use: a lookup costs more than a small Run.
	functions  []api.Function
	stackField []int // where a function has its stack: see stackBytes
	stack      [1]uint64
	run        guest.Run
}

// errReserve marks a lack of address space for a memory.
var errReserve = errors.New("sandbox: no room for an instance")

// newInstance makes an instance whose memory can grow to reserve bytes. It begins as its
// ground says, but for the initialization.
func (g *ground) newInstance(reserve uint64) (inst *instance, err error) {
	m := g.module
	inst = &instance{ground: g, functions: make([]api.Function, len(m.exports))}
	ctx := context.Background()
	if g.image != nil {
		if inst.memory, err = g.image.NewMemory(max(reserve, g.image.Size())); err != nil {
			return nil, fmt.Errorf("%w: %w", errReserve, err)
		}
		inst.memory.OnGrow(inst.run.Hold)
		ctx = experimental.WithMemoryAllocator(ctx, inst.memory)
	}
	if inst.mod, err = m.instantiate(ctx); err != nil {
		return nil, errors.Join(&guest.InstantiateError{Err: err}, inst.close())
	}
	inst.find()
	inst.setGlobals()
	return inst, nil
}

// instantiate turns a panic of the engine into an error, which is how it answers when
// the machine has no more memory.
func (m *Module) instantiate(ctx context.Context) (mod api.Module, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the engine gave up: %v", p)
		}
	}()
	return m.runtime.engine.InstantiateModule(ctx, m.code, plainConfig)
}

// find keeps what rewriting has exported.
func (inst *instance) find() {
	mutable := func(name string) api.MutableGlobal {
		g, _ := inst.mod.ExportedGlobal(name).(api.MutableGlobal)
		return g
	}
	inst.gas, inst.depth = mutable(rewrite.GasExport), mutable(rewrite.DepthExport)
	inst.changed = inst.mod.ExportedGlobal(rewrite.ChangedExport)
	for i, g := range inst.ground.module.shape.Globals {
		if copied(g.Type) {
			inst.globals = append(inst.globals, mutable(rewrite.GlobalExport(i)))
		}
	}
}

// copied says that a global of the given type can be read and set from outside. Setting
// any other sets ChangedExport.
func copied(valueType byte) bool {
	switch api.ValueType(valueType) {
	case api.ValueTypeI32, api.ValueTypeI64, api.ValueTypeF32, api.ValueTypeF64:
		return true
	}
	return false
}

// setGlobals makes the globals what they are on the ground.
func (inst *instance) setGlobals() {
	for i, v := range inst.ground.globals {
		inst.globals[i].Set(v)
	}
}

func (inst *instance) globalValues() []uint64 {
	values := make([]uint64, 0, len(inst.globals))
	for _, g := range inst.globals {
		values = append(values, g.Get())
	}
	return values
}

// serve does a Run. The instance is used up afterwards, until it is reset.
func (inst *instance) serve(ctx context.Context, begun time.Time, export string, h Host, l Limits) (Usage, error) {
	r := &inst.run
	r.Begin(ctx, h, l, inst.ground.module.runtime.shared)
	defer r.End()
	inst.arm()
	var usage Usage
	result, err := inst.perform(export, begun, &usage)
	inst.measure(&usage)
	return usage, r.Judge(export, result, err)
}

// arm gives the guest what it may use.
func (inst *instance) arm() {
	r, l := &inst.run, &inst.run.Limits
	r.ClockFrom(inst.ground.monotonic)
	r.Locate = inst.ground.module.locator.locate
	r.YieldAt = len(inst.ground.module.shape.Imports) + 1
	r.Arm(inst.gas)
	if inst.depth != nil {
		inst.depth.Set(uint64(l.Depth))
	}
	if inst.memory != nil {
		inst.memory.SetLimit(inst.ground.module.memoryLimit(l.MemoryBytes))
	}
}

// measure adds what was used, and what was refused, to a Run's usage.
func (inst *instance) measure(usage *Usage) {
	r := &inst.run
	usage.HostCalls, usage.Gas = r.Calls, r.GasUsed()
	if inst.memory == nil {
		return
	}
	usage.MemoryBytes = inst.memory.Size()
	if refused := inst.memory.Refused(); refused <= inst.ground.module.shape.maximum() {
		r.Refused = refused // what the module itself excludes is no limit of ours
	}
}

// perform initializes the instance, where that was not done before, and calls the
// export.
func (inst *instance) perform(export string, begun time.Time, usage *Usage) (result int32, err error) {
	err = guest.Caught(func() { inst.run.Hold(inst.ground.memoryBytes()) })
	if err == nil && inst.ground.initialize {
		err = inst.initialize()
	}
	called := time.Now()
	usage.Instantiate = called.Sub(begun)
	if err != nil {
		return 0, err
	}
	r := &inst.run
	inst.stack[0] = 0
	err = inst.function(export).CallWithStack(r, inst.stack[:])
	if err == nil {
		err = r.Conclude()
	}
	usage.Run = time.Since(called)
	return int32(uint32(inst.stack[0])), err
}

// initialize calls the start function and what initializes a reactor.
func (inst *instance) initialize() error {
	m := inst.ground.module
	for _, f := range []struct {
		name   string
		exists bool
	}{{rewrite.StartExport, m.shape.Start}, {exportInitialize, m.initialize}} {
		if !f.exists {
			continue
		}
		if err := inst.mod.ExportedFunction(f.name).CallWithStack(&inst.run, nil); err != nil {
			return err
		}
	}
	return nil
}

func (inst *instance) function(export string) api.Function {
	i, _ := slices.BinarySearch(inst.ground.module.exports, export)
	if inst.functions[i] == nil {
		inst.functions[i] = inst.mod.ExportedFunction(export)
	}
	return inst.functions[i]
}

// reset makes the instance what it was at first, and says whether it could.
func (inst *instance) reset() bool {
	if inst.changed != nil && inst.changed.Get() != 0 {
		return false
	}
	if inst.memory != nil && inst.memory.Reset(inst.mod.Memory()) != nil {
		return false
	}
	inst.setGlobals()
	for i, f := range inst.functions {
		if f != nil && inst.stackBytes(f) > maxIdleStack {
			inst.functions[i] = nil
		}
	}
	return true
}

func (inst *instance) close() error {
	var err error
	if inst.mod != nil {
		err = inst.mod.Close(context.Background())
	}
	if inst.memory != nil {
		err = errors.Join(err, inst.memory.Close())
	}
	return err
}

// plainConfig is for all modules: WASI is our own, and needs nothing of it. Instances are
// anonymous, and their exports are called by us alone. Nobody reads this randomness and
// these clocks: they are set because the engine's own cost half of a small Run to make.
var plainConfig = wazero.NewModuleConfig().WithName("").WithStartFunctions().
	WithRandSource(strings.NewReader("")).
	WithWalltime(func() (int64, int32) { return 0, 0 }, 1).
	WithNanotime(func() int64 { return 0 }, 1)
