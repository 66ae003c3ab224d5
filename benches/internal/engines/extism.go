package engines

import (
	"context"
	"errors"
	"fmt"
	"time"

	extism "github.com/extism/go-sdk"

	"github.com/wharf-dev/wharf/abi"
)

// NewExtism compiles a plugin with Extism's SDK. The host calls of native plugins are
// offered, but answer nothing: only what does not call them is measured. The function get
// records what it is asked, and answers as many bytes.
func NewExtism(ctx context.Context, wasm []byte, h *Host) (*extism.CompiledPlugin, error) {
	i64 := extism.ValueTypeI64
	get := extism.NewHostFunctionWithStack("get", func(ctx context.Context, p *extism.CurrentPlugin, stack []uint64) {
		request, err := p.ReadBytes(stack[0])
		if err != nil {
			panic(err)
		}
		_, answer, _ := h.Call(ctx, abi.CallStateGet, request)
		if stack[0], err = p.WriteBytes(answer); err != nil {
			panic(err)
		}
	}, []extism.ValueType{i64}, []extism.ValueType{i64})
	functions := append(unanswered(), get)
	p, err := extism.NewCompiledPlugin(ctx, extism.Manifest{Wasm: []extism.Wasm{extism.WasmData{Data: wasm}}},
		extism.PluginConfig{EnableWasi: true}, functions)
	if err != nil {
		return nil, fmt.Errorf("compiling a plugin with Extism: %w", err)
	}
	return p, nil
}

// unanswered are the imports of native plugins.
func unanswered() []extism.HostFunction {
	i32, i64 := extism.ValueTypeI32, extism.ValueTypeI64
	function := func(name string, result extism.ValueType) extism.HostFunction {
		f := extism.NewHostFunctionWithStack(name, func(_ context.Context, _ *extism.CurrentPlugin, stack []uint64) { stack[0] = 0 },
			[]extism.ValueType{i32, i32}, []extism.ValueType{result})
		f.SetNamespace(abi.HostModule)
		return f
	}
	functions := []extism.HostFunction{function(abi.ReadImport, i32)}
	for _, def := range abi.HostCalls() {
		functions = append(functions, function(def.Name, i64))
	}
	return functions
}

// ExtismOnce makes an instance, lets do make calls, and closes it.
func ExtismOnce(ctx context.Context, p *extism.CompiledPlugin, export string, do func(call func() error) error) error {
	inst, err := p.Instance(ctx, extism.PluginInstanceConfig{})
	if err != nil {
		return fmt.Errorf("instantiating with Extism: %w", err)
	}
	err = do(func() error {
		code, _, err := inst.CallWithContext(ctx, export, nil)
		if err == nil && code != 0 {
			err = fmt.Errorf("%s returned %d", export, code)
		}
		return err
	})
	return errors.Join(err, inst.Close(ctx))
}

// ExtismRun makes an instance, has it run with an input, closes it, and returns what the run took.
func ExtismRun(ctx context.Context, p *extism.CompiledPlugin, input string) (time.Duration, error) {
	inst, err := p.Instance(ctx, extism.PluginInstanceConfig{})
	if err != nil {
		return 0, fmt.Errorf("instantiating with Extism: %w", err)
	}
	begun := time.Now()
	code, answer, err := inst.CallWithContext(ctx, "run", []byte(input))
	took := time.Since(begun)
	if err == nil && (code != 0 || len(answer) == 0) {
		err = fmt.Errorf("run returned %d and %q", code, answer)
	}
	return took, errors.Join(err, inst.Close(ctx))
}
