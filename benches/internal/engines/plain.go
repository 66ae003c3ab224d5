package engines

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/wharf-dev/wharf/abi"
)

// Plain is a plugin in wazero as it comes.
type Plain struct {
	runtime wazero.Runtime
	code    wazero.CompiledModule
}

// PlainConfig is wazero as it comes.
func PlainConfig() wazero.RuntimeConfig { return wazero.NewRuntimeConfig() }

// StoppableConfig lets wazero look for the end of the context.
func StoppableConfig() wazero.RuntimeConfig { return PlainConfig().WithCloseOnContextDone(true) }

// NewPlain compiles a plugin, and offers it the host calls.
func NewPlain(ctx context.Context, wasm []byte, config wazero.RuntimeConfig) (*Plain, error) {
	p := &Plain{runtime: wazero.NewRuntimeWithConfig(ctx, config)}
	_, err := wasi_snapshot_preview1.Instantiate(ctx, p.runtime)
	if err == nil {
		err = offerCalls(ctx, p.runtime)
	}
	if err == nil {
		p.code, err = p.runtime.CompileModule(ctx, wasm)
	}
	if err != nil {
		p.Close(context.WithoutCancel(ctx))
		return nil, fmt.Errorf("compiling a plugin with plain wazero: %w", err)
	}
	return p, nil
}

// Close frees it.
func (p *Plain) Close(ctx context.Context) { p.runtime.Close(ctx) }

// Instance makes an instance and initializes it.
func (p *Plain) Instance(ctx context.Context) (api.Module, error) {
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions()
	mod, err := p.runtime.InstantiateModule(ctx, p.code, config)
	if err != nil {
		return nil, fmt.Errorf("instantiating with plain wazero: %w", err)
	}
	if f := mod.ExportedFunction("_initialize"); f != nil {
		if _, err := f.Call(ctx); err != nil {
			return nil, errors.Join(fmt.Errorf("initializing with plain wazero: %w", err), mod.Close(ctx))
		}
	}
	return mod, nil
}

// InstanceOnce does a Task in an instance of its own, and returns what it took but for
// the guest's own work.
func (p *Plain) InstanceOnce(ctx context.Context, h *Host) (time.Duration, error) {
	begun := time.Now()
	ctx = WithHost(ctx, h)
	mod, err := p.Instance(ctx)
	if err != nil {
		return 0, err
	}
	f := mod.ExportedFunction(abi.DefaultExport)
	called := time.Now()
	err = Call(ctx, f)
	run := time.Since(called)
	err = errors.Join(err, mod.Close(ctx))
	return time.Since(begun) - run, err
}

// Call calls an export that takes nothing and returns 0.
func Call(ctx context.Context, f api.Function) error {
	var stack [1]uint64
	if err := f.CallWithStack(ctx, stack[:]); err != nil {
		return fmt.Errorf("calling %s with plain wazero: %w", f.Definition().Name(), err)
	}
	if uint32(stack[0]) != 0 {
		return fmt.Errorf("%s returned %d", f.Definition().Name(), uint32(stack[0]))
	}
	return nil
}

// plainHost answers the host calls of one guest at a time.
type plainHost struct {
	host   *Host
	answer []byte
}

type plainHostKey struct{}

// WithHost has h answer the guests that are called with the context.
func WithHost(ctx context.Context, h *Host) context.Context {
	return context.WithValue(ctx, plainHostKey{}, &plainHost{host: h})
}

// offerCalls offers the host calls, as a program that uses wazero by itself would.
func offerCalls(ctx context.Context, runtime wazero.Runtime) error {
	i32, i64 := api.ValueTypeI32, api.ValueTypeI64
	builder := runtime.NewHostModuleBuilder(abi.HostModule)
	for _, def := range abi.HostCalls() {
		builder.NewFunctionBuilder().WithGoModuleFunction(plainCall(def.Name), []api.ValueType{i32, i32}, []api.ValueType{i64}).Export(def.Name)
	}
	builder.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(plainRead), []api.ValueType{i32, i32}, []api.ValueType{i32}).Export(abi.ReadImport)
	if _, err := builder.Instantiate(ctx); err != nil {
		return fmt.Errorf("offering host calls: %w", err)
	}
	return nil
}

func plainCall(name string) api.GoModuleFunc {
	return func(ctx context.Context, mod api.Module, stack []uint64) {
		h := ctx.Value(plainHostKey{}).(*plainHost)
		request, ok := mod.Memory().Read(uint32(stack[0]), uint32(stack[1]))
		if !ok {
			panic("a request outside of memory")
		}
		status, answer, _ := h.host.Call(ctx, name, request)
		h.answer = answer
		stack[0] = uint64(status)<<32 | uint64(uint32(len(answer)))
	}
}

func plainRead(ctx context.Context, mod api.Module, stack []uint64) {
	h := ctx.Value(plainHostKey{}).(*plainHost)
	n := min(int(uint32(stack[1])), len(h.answer))
	if !mod.Memory().Write(uint32(stack[0]), h.answer[:n]) {
		panic("an answer outside of memory")
	}
	stack[0] = uint64(n)
}

// CallsOnce makes host calls in a new instance, and returns what they took.
func (p *Plain) CallsOnce(ctx context.Context, h *Host) (time.Duration, error) {
	ctx = WithHost(ctx, h)
	mod, err := p.Instance(ctx)
	if err != nil {
		return 0, err
	}
	defer mod.Close(ctx)
	begun := time.Now()
	err = Call(ctx, mod.ExportedFunction("calls"))
	return time.Since(begun), err
}
