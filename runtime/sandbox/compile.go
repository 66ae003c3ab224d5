package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/sandbox/extism"
	"github.com/wharf-dev/wharf/runtime/sandbox/guest"
	"github.com/wharf-dev/wharf/runtime/sandbox/rewrite"
	"github.com/wharf-dev/wharf/runtime/sandbox/wasi"
)

const (
	exportInitialize = "_initialize"
	exportStart      = "_start"
)

// maxTableEntries bounds all tables of a module together: growing one allocates outside
// of linear memory, 8 bytes an entry.
const maxTableEntries = 1 << 20

// Compile checks and compiles a plugin, and initializes it once for all Runs where that
// is possible. A plugin that cannot run is an *abi.Failure of the code plugin_invalid
// that says why and what to do. Compiling takes from milliseconds to seconds: keep the
// Module. A node compiles one module fewer at a time than it has processors, and one at
// least; the others wait. The bytes may be changed afterwards.
func (r *Runtime) Compile(ctx context.Context, wasm []byte) (*Module, error) {
	digest := digestOf(wasm)
	m := r.newModule(digest)
	if !m.restore(ctx) {
		m = r.newModule(digest)
		if err := m.make(ctx, wasm); err != nil {
			return nil, err
		}
	}
	if m.extism == nil {
		m.pool = m.newPool()
	}
	r.keep(m)
	return m, nil
}

func (r *Runtime) newModule(digest string) *Module {
	return &Module{runtime: r, digest: digest, locator: r.newLocator(digest, nativeOptions)}
}

// nativeOptions are how plugins are rewritten that were made with no PDK of others.
var nativeOptions = rewrite.Options{Transforms: rewrite.All, MaxTableEntries: maxTableEntries, Offsets: true}

var extismOptions = rewrite.Options{Transforms: extism.Transforms, MaxTableEntries: maxTableEntries, Offsets: true}

// alone takes a place among those that compile: a compiler takes the memory and the
// processors of many Runs. It fails when ctx ends before there is one.
func (r *Runtime) alone(ctx context.Context) (leave func(), err error) {
	select {
	case r.compilers <- struct{}{}:
		return func() { <-r.compilers }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// maxCompilers is how many modules are compiled at one time: one processor is left to those
// who do something else.
func maxCompilers() int { return max(1, runtime.GOMAXPROCS(0)-1) }

func digestOf(wasm []byte) string {
	sum := sha256.Sum256(wasm)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// make makes the module of its bytes, and keeps what it has made for the next start.
func (m *Module) make(ctx context.Context, wasm []byte) error {
	keep, err := m.prepare(ctx, wasm)
	if err != nil {
		return err
	}
	if m.extism != nil {
		return nil
	}
	if err := m.begin(ctx); err != nil {
		_ = m.code.Close(ctx)
		return err
	}
	m.store(keep)
	return nil
}

// prepare rewrites and compiles the module, and returns what is to be kept of its bytes. The original is validated too, for what is
// never reached is not rewritten, and so would not be looked at. The engine sees nothing
// that rewriting has not bounded: its decoder takes a module's own word for how much
// there is to come.
func (m *Module) prepare(ctx context.Context, wasm []byte) (keep []byte, err error) {
	leave, err := m.runtime.alone(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	rewritten, err := rewrite.Rewrite(wasm, nativeOptions)
	if err != nil {
		return nil, invalid("the module cannot be loaded: %v", err)
	}
	if extism.Is(rewritten.Imports) {
		return nil, m.prepareExtism(ctx, wasm)
	}
	m.take(rewritten, len(wasm))
	if failure := m.checkImports(); failure != nil {
		return nil, failure
	}
	valid := make(chan error, 1)
	go func() { valid <- m.runtime.validate(wasm) }()
	m.code, keep, err = m.runtime.build(ctx, rewritten.Wasm)
	if bad := <-valid; bad != nil {
		err = invalid("the module does not compile: %s", firstLine(bad.Error()))
	}
	if err == nil {
		err = m.readExports()
	}
	if err != nil && m.code != nil {
		_ = m.code.Close(ctx)
	}
	return keep, err
}

// prepareExtism checks and compiles a plugin that was made with an Extism PDK.
func (m *Module) prepareExtism(ctx context.Context, wasm []byte) error {
	m.locator = m.runtime.newLocator(m.digest, extismOptions)
	rewritten, err := rewrite.Rewrite(wasm, extismOptions)
	if err != nil {
		return invalid("the module cannot be loaded: %v", err)
	}
	m.shape = shape{Bytes: len(wasm), Imports: rewritten.Imports, Memory: rewritten.Memory,
		Why: "it was made with an Extism PDK, and the Extism SDK makes its instances"}
	source, err := extism.Check(rewritten)
	if err != nil {
		return err
	}
	m.imports = source.HostCalls()
	if err := m.runtime.validate(wasm); err != nil {
		return invalid("the module does not compile: %s", firstLine(err.Error()))
	}
	engine := extism.Engine{Runtime: m.runtime.config, Module: plainConfig, Shared: m.runtime.shared, Locate: m.locator.locate}
	m.extism, err = compileCached(ctx, func(ctx context.Context) (*extism.Plugin, error) { return source.Compile(ctx, engine) })
	if err != nil {
		return err
	}
	if m.exports = m.extism.Exports(); len(m.exports) == 0 {
		_ = m.extism.Close()
		return invalid("it exports no function () -> i32; export one, usually %q", abi.DefaultExport)
	}
	return nil
}

// take keeps what has to be known of the rewritten module.
func (m *Module) take(w *rewrite.Module, size int) {
	m.shape = shape{Bytes: size, Imports: w.Imports, Memory: w.Memory, Globals: w.Globals, Start: w.Start, Changes: w.Changes}
	if w.Memory == nil {
		return
	}
	content := make([]byte, uint64(w.Memory.Min)*pageBytes)
	for i, s := range w.Data {
		if uint64(s.Offset)+uint64(len(s.Bytes)) > uint64(len(content)) {
			m.broken = invalid("no instance can be made of the module: data[%d]: out of bounds memory access", i)
			return
		}
		copy(content[s.Offset:], s.Bytes)
	}
	m.data = compact(content)
}

func invalid(format string, args ...any) *abi.Failure {
	return guest.Failf(abi.FailurePluginInvalid, format, args...)
}

// checkImports refuses what the host does not offer, by name, and keeps what the plugin
// can ask for.
func (m *Module) checkImports() *abi.Failure {
	calls := map[string]bool{}
	for _, f := range m.shape.Imports {
		if failure := m.runtime.checkImport(f); failure != nil {
			return failure
		}
		if f.Module == abi.HostModule && f.Name != abi.ReadImport {
			calls[f.Name] = true
		}
	}
	if len(m.shape.Imports) > 0 && m.shape.Memory == nil {
		return invalid("it has no memory, which host calls need to pass bytes; declare one")
	}
	m.imports = slices.Sorted(maps.Keys(calls))
	return nil
}

func (r *Runtime) checkImport(f rewrite.Import) *abi.Failure {
	if f.Kind != rewrite.ImportsFunction {
		return invalid("the module cannot be loaded: %q.%q is imported as a %s; only functions can be imported",
			f.Module, f.Name, externName(f.Kind))
	}
	offers, ok := r.offers[f.Module]
	if !ok {
		return invalid("it imports %q from the module %q; import from %q or %q only", f.Name, f.Module, abi.HostModule, wasi.Module)
	}
	offer, ok := offers[f.Name]
	if !ok {
		return invalid("it imports %q.%q, which does not exist; %q offers %s",
			f.Module, f.Name, f.Module, strings.Join(r.offered(f.Module), ", "))
	}
	if asked := f.Signature(); offer != asked {
		return invalid("it imports %q.%q as %s; it is %s", f.Module, f.Name, asked, offer)
	}
	return nil
}

func externName(kind byte) string {
	names := []string{"function", "table", "memory", "global"}
	if int(kind) < len(names) {
		return names[kind]
	}
	return fmt.Sprintf("thing of kind %d", kind)
}

// compile hands a rewritten module, or a hollow one, to the engine.
func (r *Runtime) compile(ctx context.Context, wasm []byte) (wazero.CompiledModule, error) {
	return compileCached(ctx, func(ctx context.Context) (wazero.CompiledModule, error) { return r.engine.CompileModule(ctx, wasm) })
}

// compileCached compiles by way of an engine with a cache. With two workers or more it looks
// at ctx before each function, and with one it does not.
func compileCached[T any](ctx context.Context, once func(context.Context) (T, error)) (T, error) {
	code, err := compileOnce(experimental.WithCompilationWorkers(ctx, max(2, runtime.GOMAXPROCS(0))), once)
	if err == nil {
		return code, nil
	}
	var none T
	if ctx.Err() != nil {
		return none, context.Cause(ctx)
	}
	return none, invalid("the module does not compile: %s", firstLine(err.Error()))
}

// compileOnce turns a panic of the decoder or the compiler over a module into an
// error: whatever a stranger's bytes do to them must not end the process.
func compileOnce[T any](ctx context.Context, once func(context.Context) (T, error)) (code T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the compiler gave up on it: %v", p)
		}
	}()
	return once(ctx)
}

// validate has the engine check the module as it was written, and compile nothing of it:
// it begins to compile only what is valid, and then finds that it need not.
func (r *Runtime) validate(wasm []byte) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the compiler gave up on it: %v", p)
		}
	}()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	code, err := r.validator.CompileModule(experimental.WithCompilationWorkers(ctx, 2), rewrite.WithoutCustom(wasm))
	switch {
	case err == nil:
		return code.Close(ctx)
	case errors.Is(err, context.Canceled):
		return nil
	}
	return err
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// runnable lists the exports of the form () -> i32.
func runnable(code wazero.CompiledModule) []string {
	var names []string
	for name, f := range code.ExportedFunctions() {
		if len(f.ParamTypes()) == 0 && slices.Equal(f.ResultTypes(), []api.ValueType{api.ValueTypeI32}) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

const howToBuild = "with Go use -buildmode=c-shared, with Rust the crate type cdylib, with clang -mexec-model=reactor"

// readExports keeps what can be run. It refuses programs, and modules that have nothing
// to run.
func (m *Module) readExports() error {
	m.exports = runnable(m.code)
	functions := m.code.ExportedFunctions()
	if _, ok := functions[exportStart]; ok {
		return isProgram()
	}
	if f, ok := functions[exportInitialize]; ok {
		if len(f.ParamTypes())+len(f.ResultTypes()) != 0 {
			return invalid("its %q takes or returns something; it must do neither", exportInitialize)
		}
		m.initialize = true
	}
	if len(m.exports) == 0 {
		return nothingToRun()
	}
	return nil
}
