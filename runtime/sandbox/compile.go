package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/wharf-dev/wharf/abi"
)

const (
	wasiModule       = wasi_snapshot_preview1.ModuleName
	exportInitialize = "_initialize"
	exportStart      = "_start"
)

// Module is a compiled plugin. It is safe for concurrent use, and lives as long
// as its [Runtime].
type Module struct {
	runtime     *Runtime
	code        wazero.CompiledModule
	digest      string
	imports     []string
	exports     []string
	initialize  bool
	wasi        bool
	memoryBytes uint64
}

// Digest returns "sha256:" and the hex SHA-256 of the bytes that [Runtime.Compile]
// was given.
func (m *Module) Digest() string { return m.digest }

// Imports returns the names of the host calls that the plugin can make, sorted.
// Neither abi.ReadImport nor WASI counts among them.
func (m *Module) Imports() []string { return slices.Clone(m.imports) }

// Exports returns the names of the functions that [Module.Run] can call, sorted.
func (m *Module) Exports() []string { return slices.Clone(m.exports) }

// HasExport reports whether [Module.Run] can call the given function: it is
// exported, takes nothing and returns an i32.
func (m *Module) HasExport(name string) bool { return slices.Contains(m.exports, name) }

// Compile checks and compiles a plugin. A plugin that cannot run is an
// *abi.Failure of the code plugin_invalid that says why and what to do. Compiling
// takes from milliseconds to seconds: keep the Module. The bytes may be changed
// afterwards.
func (r *Runtime) Compile(ctx context.Context, wasm []byte) (*Module, error) {
	p, err := prepare(wasm)
	if err != nil {
		return nil, invalid("the module cannot be loaded: %v", err)
	}
	if failure := r.checkImports(p); failure != nil {
		return nil, failure
	}
	code, err := r.compile(ctx, p.wasm)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(wasm)
	m := &Module{
		runtime: r, code: code, digest: "sha256:" + hex.EncodeToString(sum[:]), memoryBytes: p.memoryBytes,
		imports: hostCallsOf(p), exports: runnable(code), wasi: importsFrom(p, wasiModule),
	}
	if failure := m.checkExports(); failure != nil {
		_ = code.Close(ctx)
		return nil, failure
	}
	return m, nil
}

func invalid(format string, args ...any) *abi.Failure {
	return &abi.Failure{Code: abi.FailurePluginInvalid, Message: fmt.Sprintf(format, args...)}
}

// checkImports refuses what the host does not offer, by name.
func (r *Runtime) checkImports(p *prepared) *abi.Failure {
	for _, f := range p.imports {
		offers, ok := r.offers[f.module]
		if !ok {
			return invalid("it imports %q from the module %q; import from %q or %q only",
				f.name, f.module, abi.HostModule, wasiModule)
		}
		offer, ok := offers[f.name]
		if !ok {
			return invalid("it imports %q.%q, which does not exist; %q offers %s",
				f.module, f.name, f.module, strings.Join(r.offered(f.module), ", "))
		}
		if offer != f.sig {
			return invalid("it imports %q.%q as %s; it is %s", f.module, f.name, f.sig, offer)
		}
	}
	if len(p.imports) > 0 && !p.hasMemory {
		return invalid("it has no memory, which host calls need to pass bytes; declare one")
	}
	return nil
}

// String writes a signature as (i32, i32) -> i64.
func (s signature) String() string {
	return "(" + typeNames(s.params) + ") -> (" + typeNames(s.results) + ")"
}

func typeNames(types string) string {
	var names []string
	for i := range len(types) {
		names = append(names, api.ValueTypeName(types[i]))
	}
	return strings.Join(names, ", ")
}

func importsFrom(p *prepared, module string) bool {
	return slices.ContainsFunc(p.imports, func(f importedFunc) bool { return f.module == module })
}

func hostCallsOf(p *prepared) []string {
	names := map[string]bool{}
	for _, f := range p.imports {
		if f.module == abi.HostModule && f.name != abi.ReadImport {
			names[f.name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// compile hands a prepared module to the engine. Trouble with the cache on disk
// is not the module's fault: a damaged entry is dropped, and one that cannot be
// written has left the module in memory, where the second try finds it.
func (r *Runtime) compile(ctx context.Context, wasm []byte) (wazero.CompiledModule, error) {
	ctx = experimental.WithCompilationWorkers(ctx, runtime.GOMAXPROCS(0))
	code, err := r.compileOnce(ctx, wasm)
	if r.cache != nil && damagedCache(err) {
		if dropErr := r.dropCache(); dropErr != nil {
			return nil, fmt.Errorf("dropping a damaged compilation cache: %w", dropErr)
		}
		code, err = r.compileOnce(ctx, wasm)
	}
	if r.cache != nil && fileTrouble(err) {
		code, err = r.compileOnce(ctx, wasm)
	}
	switch {
	case err == nil:
		return code, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case fileTrouble(err):
		return nil, fmt.Errorf("compiling a module: %w", err)
	}
	return nil, invalid("the module does not compile: %s", firstLine(err.Error()))
}

// compileOnce turns a panic of the decoder or the compiler over a module into an
// error: whatever a stranger's bytes do to them must not end the process.
func (r *Runtime) compileOnce(ctx context.Context, wasm []byte) (code wazero.CompiledModule, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the compiler gave up on it: %v", p)
		}
	}()
	return r.engine.CompileModule(ctx, wasm)
}

func damagedCache(err error) bool {
	return err != nil && strings.Contains(err.Error(), "compilationcache:")
}

func fileTrouble(err error) bool {
	var path *fs.PathError
	var link *os.LinkError
	return errors.As(err, &path) || errors.As(err, &link)
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

// checkExports refuses programs, and modules that have nothing to run.
func (m *Module) checkExports() *abi.Failure {
	functions := m.code.ExportedFunctions()
	if _, ok := functions[exportStart]; ok {
		return invalid("it is a program: it exports %q; build a reactor instead (%s)", exportStart, howToBuild)
	}
	if f, ok := functions[exportInitialize]; ok {
		if len(f.ParamTypes())+len(f.ResultTypes()) != 0 {
			return invalid("its %q takes or returns something; it must do neither", exportInitialize)
		}
		m.initialize = true
	}
	if len(m.exports) == 0 {
		return invalid("it exports no function () -> i32; export one, usually %q (%s)", abi.DefaultExport, howToBuild)
	}
	return nil
}
