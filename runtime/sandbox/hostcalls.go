package sandbox

import (
	"context"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/wharf-dev/wharf/abi"
)

// hostCall is one import of abi.HostModule.
type hostCall struct {
	name string
	// output says that requests count toward Limits.OutputBytes: they end up in
	// the log or in storage.
	output bool
}

func newHostCall(def *abi.HostCall) *hostCall {
	return &hostCall{name: def.Name, output: def.Effect == abi.EffectWrite || def.Effect == abi.EffectHint}
}

// instantiateHostCalls offers every host call there is. What cannot be imported
// cannot be called.
func instantiateHostCalls(ctx context.Context, engine wazero.Runtime) (api.Module, error) {
	i32, i64 := api.ValueTypeI32, api.ValueTypeI64
	builder := engine.NewHostModuleBuilder(abi.HostModule)
	for _, def := range abi.HostCalls() {
		c := newHostCall(&def)
		builder.NewFunctionBuilder().WithName(def.Name).
			WithGoModuleFunction(c, []api.ValueType{i32, i32}, []api.ValueType{i64}).
			Export(def.Name)
	}
	builder.NewFunctionBuilder().WithName(abi.ReadImport).
		WithGoModuleFunction(api.GoModuleFunc(readAnswer), []api.ValueType{i32, i32}, []api.ValueType{i32}).
		Export(abi.ReadImport)
	return builder.Instantiate(ctx)
}

// Call implements api.GoModuleFunction. The upper halves of i32 parameters are
// garbage: they are cut off.
func (c *hostCall) Call(ctx context.Context, mod api.Module, stack []uint64) {
	r := runOf(ctx)
	ptr, size := uint32(stack[0]), uint32(stack[1])
	r.admit(c, int64(size))
	request, ok := mod.Memory().Read(ptr, size)
	if !ok {
		r.abort(abi.FailurePluginTrap, "the request of %q at %d, %d bytes long, lies outside of memory", c.name, ptr, size)
	}
	status, answer := r.ask(c.name, request)
	r.answer = answer
	stack[0] = uint64(status)<<32 | uint64(uint32(len(answer)))
}

// readAnswer is abi.ReadImport.
func readAnswer(ctx context.Context, mod api.Module, stack []uint64) {
	r := runOf(ctx)
	r.checkStop()
	ptr, size := uint32(stack[0]), uint32(stack[1])
	n := min(int64(size), int64(len(r.answer)))
	r.work(int(n))
	if !mod.Memory().Write(ptr, r.answer[:n]) {
		r.abort(abi.FailurePluginTrap, "%q is to write %d bytes to %d, outside of memory", abi.ReadImport, n, ptr)
	}
	stack[0] = uint64(n)
}

// admit counts a host call and ends the Run when that passes a limit, or when the
// Run is to stop. What is reproducible comes before what is not. The guest's time stands
// still from here on until ask, which follows, has its answer.
func (r *run) admit(c *hostCall, size int64) {
	r.checkGas()
	r.wall.pause()
	if r.Err() != nil || r.wall.left <= 0 {
		panic(errStopped)
	}
	r.calls++
	if c.output {
		r.output += size
	}
	switch {
	case r.calls > r.limits.HostCalls:
		r.abort(abi.FailureHostCalls, "it made more than %d host calls; the last was %q", r.limits.HostCalls, c.name)
	case size > int64(r.limits.PayloadBytes):
		r.abort(abi.FailurePayloadTooLarge, "it passed %d bytes to %q; one call takes at most %d", size, c.name, r.limits.PayloadBytes)
	case r.output > r.limits.OutputBytes:
		r.abort(abi.FailureOutputTooLarge, "it wrote more than %d bytes in all; the last %d went to %q", r.limits.OutputBytes, size, c.name)
	}
}

// ask puts a host call that was admitted to the Host. An error of the Host ends the Run. So does a
// panic, which does not end the process and is not blamed on the guest.
func (r *run) ask(call string, request []byte) (abi.CallStatus, []byte) {
	returned := false
	defer func() {
		if !returned {
			r.failure = &abi.Failure{
				Code:    abi.FailureHost,
				Message: fmt.Sprintf("the host failed while answering %q: %v", call, recover()),
			}
			panic(r.failure)
		}
	}()
	r.leaveTurn()
	status, answer, err := r.host.Call(r.Context, call, request)
	returned = true
	r.wall.resume()
	if err != nil {
		r.ended = err
		panic(errStopped)
	}
	return status, answer
}

// abort ends the Run with a failure. It does not return: the engine unwinds the
// guest and recovers.
func (r *run) abort(code, format string, args ...any) {
	r.failure = &abi.Failure{Code: code, Message: "the plugin was stopped: " + fmt.Sprintf(format, args...)}
	panic(r.failure)
}
