package sandbox

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"sync"

	"github.com/tetratelabs/wazero"

	"github.com/wharf-dev/wharf/runtime/sandbox/rewrite"
)

// A module whose machine code is kept is given to the engine without the bodies of its
// functions, for it reads, checks and hashes them at each load, and needs nothing of them
// then. Since it looks for code by what a module is made of, the code is kept as that of the
// hollow module. An engine of its own compiles the whole one, and the Runtime's never sees it.

// nothing is a module with a function that does nothing.
const nothing = "\x00asm\x01\x00\x00\x00" + "\x01\x04\x01\x60\x00\x00" + "\x03\x02\x01\x00" + "\x0a\x04\x01\x02\x00\x0b"

// hollows reports whether the engine takes machine code that is kept. One that compiles
// notices that it need not any more; an interpreter takes the module, and would execute the
// bodies that a hollow one has not got.
func (r *Runtime) hollows(ctx context.Context) bool {
	if r.cache == nil {
		return false
	}
	code, err := r.compile(over(), []byte(nothing))
	if err != nil {
		return true
	}
	_ = code.Close(ctx) // nothing was compiled
	return false
}

// build compiles a rewritten module. It also returns what is to be kept of its bytes.
func (r *Runtime) build(ctx context.Context, wasm []byte) (code wazero.CompiledModule, keep []byte, err error) {
	if !r.hollow {
		code, err = r.compile(ctx, wasm)
		return code, wasm, err
	}
	hollow := rewrite.Hollow(wasm)
	if code, err := r.compile(over(), hollow); err == nil {
		return code, hollow, nil
	}
	made, err := compileApart(ctx, wasm, hollow)
	if err != nil {
		return nil, nil, err
	}
	var keeping sync.WaitGroup
	keeping.Go(func() { r.code.Keep(made.key, made.code) })
	defer keeping.Wait()
	defer r.code.Lend(made.key, made.code)()
	code, err = r.compile(over(), hollow)
	return code, hollow, err
}

// compileApart compiles a module in an engine of its own, and returns its machine code and
// under which key an engine asks for that of the hollow one.
func compileApart(ctx context.Context, wasm, hollow []byte) (*machineCode, error) {
	made := &machineCode{}
	cache, err := cacheOver(made)
	if err != nil {
		return nil, err
	}
	engine := wazero.NewRuntimeWithConfig(ctx, engineConfig(wazero.NewRuntimeConfigCompiler()).WithCompilationCache(cache))
	defer func() {
		_ = engine.Close(context.WithoutCancel(ctx)) // it has instantiated nothing
		_ = cache.Close(context.WithoutCancel(ctx))
	}()
	compile := func(ctx context.Context, wasm []byte) error {
		_, err := compileCached(ctx, func(ctx context.Context) (wazero.CompiledModule, error) { return engine.CompileModule(ctx, wasm) })
		return err
	}
	if err := compile(ctx, wasm); err != nil {
		return nil, err
	}
	if err := compile(over(), hollow); !errors.Is(err, context.Canceled) {
		return nil, errors.Join(errors.New("compiling a module: the engine took the hollow one for it"), err)
	}
	return made, nil
}

// machineCode keeps the code that an engine has compiled, and the key that it last asked for.
type machineCode struct {
	key  [sha256.Size]byte
	code []byte
}

// Get has no code.
func (c *machineCode) Get(key [sha256.Size]byte) (content io.ReadCloser, ok bool, err error) {
	c.key = key
	return nil, false, nil
}

// Add takes the code.
func (c *machineCode) Add(_ [sha256.Size]byte, content io.Reader) error {
	var b bytes.Buffer
	if sized, ok := content.(interface{ Len() int }); ok {
		b.Grow(sized.Len() + bytes.MinRead) // it is not moved while it is read
	}
	_, err := b.ReadFrom(content)
	c.code = b.Bytes()
	return err
}

// Delete does nothing: there is no old code.
func (c *machineCode) Delete([sha256.Size]byte) error { return nil }
