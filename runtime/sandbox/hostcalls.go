package sandbox

import (
	"context"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/sandbox/guest"
	"github.com/wharf-dev/wharf/runtime/sandbox/rewrite"
)

// instantiateHostCalls offers every host call there is. What cannot be imported
// cannot be called.
func instantiateHostCalls(ctx context.Context, engine wazero.Runtime) (api.Module, error) {
	i32, i64 := api.ValueTypeI32, api.ValueTypeI64
	builder := engine.NewHostModuleBuilder(abi.HostModule)
	for _, def := range abi.HostCalls() {
		call := &imported{guest.NewHostCall(&def)}
		builder.NewFunctionBuilder().WithName(def.Name).
			WithGoModuleFunction(call, []api.ValueType{i32, i32}, []api.ValueType{i64}).
			Export(def.Name)
	}
	builder.NewFunctionBuilder().WithName(abi.ReadImport).
		WithGoModuleFunction(api.GoModuleFunc(readAnswer), []api.ValueType{i32, i32}, []api.ValueType{i32}).
		Export(abi.ReadImport)
	return builder.Instantiate(ctx)
}

// imported is a host call as native plugins make it.
type imported struct{ *guest.HostCall }

// Call implements api.GoModuleFunction. The upper halves of i32 parameters are
// garbage: they are cut off.
func (c *imported) Call(ctx context.Context, mod api.Module, stack []uint64) {
	r := guest.RunOf(ctx)
	ptr, size := uint32(stack[0]), uint32(stack[1])
	r.Admit(c.HostCall, int64(size))
	request, ok := mod.Memory().Read(ptr, size)
	if !ok {
		r.Abort(abi.FailurePluginTrap, "the request of %q at %d, %d bytes long, lies outside of memory", c.Name, ptr, size)
	}
	status, answer := r.Ask(c.Name, request)
	r.Answer = answer
	stack[0] = uint64(status)<<32 | uint64(uint32(len(answer)))
}

// readAnswer is abi.ReadImport.
func readAnswer(ctx context.Context, mod api.Module, stack []uint64) {
	r := guest.RunOf(ctx)
	r.CheckStop()
	ptr, size := uint32(stack[0]), uint32(stack[1])
	n := min(int64(size), int64(len(r.Answer)))
	r.Work(int(n))
	if !mod.Memory().Write(ptr, r.Answer[:n]) {
		r.Abort(abi.FailurePluginTrap, "%q is to write %d bytes to %d, outside of memory", abi.ReadImport, n, ptr)
	}
	stack[0] = uint64(n)
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
	stack[0] = uint64(guest.RunOf(ctx).Yield(int64(stack[0]), int64(stack[1])))
}
