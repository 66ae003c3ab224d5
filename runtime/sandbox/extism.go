package sandbox

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	extism "github.com/extism/go-sdk"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/sandbox/rewrite"
	"github.com/wharf-dev/wharf/runtime/turns"
)

// The modules that a plugin made with an Extism PDK imports from.
const (
	extismEnv  = "extism:host/env"  // what the Extism SDK offers
	extismUser = "extism:host/user" // what a host offers beyond: here the host calls
	// extismOwn is where imports of extismEnv lead that Wharf answers itself.
	extismOwn = "extism:host/wharf"
	// extismWASI is where imports of WASI lead, for the SDK has one of its own.
	extismWASI = "wharf:wasi"
)

// extismPlugin is a plugin that was made with an Extism PDK. It runs through the
// Extism SDK, in an engine of its own that the SDK makes: each Run in an instance that
// is thrown away, for statics and grown memory survive a call.
//
// The SDK is always given one module. Of several it keeps a map, and makes and
// initializes them in the map's order, which differs from run to run.
type extismPlugin struct {
	compiled *extism.CompiledPlugin
	imports  int   // functions
	gasSlice int64 // as [Runtime.slice]
	turns    *turns.Turns
	memories *guestMemory
}

// isExtism reports whether a module was made with an Extism PDK: it imports something
// that only an Extism host has.
func isExtism(imports []rewrite.Import) bool {
	return slices.ContainsFunc(imports, func(i rewrite.Import) bool { return i.Module == extismEnv || i.Module == extismUser })
}

// extismTransforms is how Extism plugins are rewritten. They are not restored from a
// snapshot: the SDK makes their instances.
const extismTransforms = rewrite.Gas | rewrite.Depth | rewrite.NaN

// prepareExtism checks and compiles a plugin that was made with an Extism PDK.
func (m *Module) prepareExtism(ctx context.Context, wasm []byte) error {
	rewritten, err := rewrite.Rewrite(wasm, rewrite.Options{Transforms: extismTransforms, MaxTableEntries: maxTableEntries})
	if err != nil {
		return invalid("the module cannot be loaded: %v", err)
	}
	m.shape = shape{Bytes: len(wasm), Imports: rewritten.Imports, Memory: rewritten.Memory,
		Why: "it was made with an Extism PDK, and the Extism SDK makes its instances"}
	if failure := checkExtismImports(rewritten.Imports, m.runtime.offers[wasiModule]); failure != nil {
		return failure
	}
	m.imports = extismImports(rewritten.Imports)
	if err := m.runtime.validate(wasm); err != nil {
		return invalid("the module does not compile: %s", firstLine(err.Error()))
	}
	source := &extismSource{}
	if source.wasm, err = redirectImports(rewritten.Wasm, redirectExtism); err != nil {
		return invalid("the module cannot be loaded: %v", err)
	}
	source.start, source.starts = startFunction(source.wasm)
	if m.extism, err = m.runtime.linkExtism(ctx, source, extismFunctions(rewritten.Imports)); err != nil {
		return err
	}
	m.extism.imports = len(rewritten.Imports)
	if m.exports = source.runnable(); len(m.exports) == 0 {
		_ = m.extism.close()
		return invalid("it exports no function () -> i32; export one, usually %q", abi.DefaultExport)
	}
	return nil
}

// redirectExtism says where an import leads.
func redirectExtism(module, name string) string {
	if module == wasiModule {
		return extismWASI
	}
	if module == extismEnv && extismOffers(rewrite.Import{Module: module, Name: name}).own != nil {
		return extismOwn
	}
	return module
}

// extismFunctions are the functions that a plugin is given beside those of the SDK: those
// that it imports, each once.
func extismFunctions(imports []rewrite.Import) []extism.HostFunction {
	functions := []extism.HostFunction{extismYield()}
	given := map[[2]string]bool{}
	for _, f := range imports {
		key := [2]string{f.Module, f.Name}
		if given[key] {
			continue
		}
		given[key] = true
		if f.Module == wasiModule {
			functions = append(functions, extismWASIFunction(f))
		} else if offer := extismOffers(f); offer.own != nil {
			functions = append(functions, offer.function(f))
		}
	}
	return functions
}

// extismSource is the one module of a manifest. It takes note of the exports when the SDK
// compiles it, for the SDK does not tell, and has them listened to.
type extismSource struct {
	wasm    []byte
	start   uint32 // the start function, with starts
	starts  bool
	handed  bool // what the SDK compiles from here on is this module
	exports []string
}

var (
	_ extism.Wasm                          = (*extismSource)(nil)
	_ experimental.FunctionListenerFactory = (*extismSource)(nil)
)

// ToWasmData implements extism.Wasm.
func (s *extismSource) ToWasmData(context.Context) (extism.WasmData, error) {
	s.handed = true
	return extism.WasmData{Data: s.wasm, Name: "main"}, nil
}

// NewFunctionListener implements experimental.FunctionListenerFactory. It is asked before
// the module is compiled, function by function.
func (s *extismSource) NewFunctionListener(def api.FunctionDefinition) experimental.FunctionListener {
	if !s.handed || def.GoFunction() != nil {
		return nil
	}
	runs := len(def.ExportNames()) > 0 && runsInExtism(def)
	if runs {
		s.exports = append(s.exports, def.ExportNames()...)
	}
	if runs || slices.ContainsFunc(def.ExportNames(), isInitializer) || s.starts && def.Index() == s.start {
		return entry{}
	}
	return nil
}

// runsInExtism reports whether the SDK calls functions of this form: () -> i32, and () -> ().
func runsInExtism(f api.FunctionDefinition) bool {
	results := f.ResultTypes()
	return len(f.ParamTypes()) == 0 && (len(results) == 0 || len(results) == 1 && results[0] == api.ValueTypeI32)
}

// isInitializer reports whether the SDK calls an export by itself, before the first other
// one.
func isInitializer(export string) bool {
	return export == exportInitialize || export == "__wasm_call_ctors" || export == "hs_init"
}

// runnable lists the exports that can be run, sorted.
func (s *extismSource) runnable() []string {
	names := slices.DeleteFunc(s.exports, isInitializer)
	slices.Sort(names)
	return names
}

// extismOutput is a variable of the environment by which the SDK gives plugins the
// standard output of the process.
const extismOutput = "EXTISM_ENABLE_WASI_OUTPUT"

// linkExtism hands a module to the SDK, which makes an engine for it.
func (r *Runtime) linkExtism(ctx context.Context, source *extismSource, functions []extism.HostFunction) (*extismPlugin, error) {
	if _, set := os.LookupEnv(extismOutput); set {
		return nil, fmt.Errorf("plugins made with an Extism PDK cannot run while the environment of the node has %s, "+
			"which gives them its standard output; unset it", extismOutput)
	}
	ctx = experimental.WithFunctionListenerFactory(ctx, source)
	compiled, err := compileCached(ctx, func(ctx context.Context) (*extism.CompiledPlugin, error) {
		source.handed, source.exports = false, nil
		return extism.NewCompiledPlugin(ctx, extism.Manifest{Wasm: []extism.Wasm{source}},
			extism.PluginConfig{RuntimeConfig: r.config, EnableWasi: true}, functions)
	})
	if err != nil {
		return nil, err
	}
	return &extismPlugin{compiled: compiled, gasSlice: r.slice, turns: r.turns, memories: r.memories}, nil
}

// close frees the plugin's engine. No Run may be under way.
func (e *extismPlugin) close() error { return e.compiled.Close(context.Background()) }

// checkExtismImports refuses what an Extism plugin cannot be given, by name.
func checkExtismImports(imports []rewrite.Import, wasi map[string]signature) *abi.Failure {
	seen := map[[2]string]signature{}
	for _, f := range imports {
		sig := signature{f.Params, f.Results}
		if f.Kind != externFunc {
			return invalid("it imports %q.%q, which is no function; an Extism plugin imports functions only", f.Module, f.Name)
		}
		if failure := checkExtismImport(f, sig, wasi); failure != nil {
			return failure
		}
		key := [2]string{f.Module, f.Name}
		if before, again := seen[key]; again && before != sig {
			return invalid("it imports %q.%q as %s and as %s; one of the two", f.Module, f.Name, before, sig)
		}
		seen[key] = sig
	}
	return nil
}

func checkExtismImport(f rewrite.Import, sig signature, wasi map[string]signature) *abi.Failure {
	switch f.Module {
	case wasiModule:
		want, ok := wasi[f.Name]
		return refuseUnlike(f, sig, []signature{want}, ok)
	case extismEnv:
		offer, ok := extismEnvFunctions[f.Name]
		return refuseUnlike(f, sig, []signature{offer.sig}, ok)
	case extismUser:
		if f.Name == statusImport {
			return refuseUnlike(f, sig, []signature{{"", typeI64}}, true)
		}
		_, ok := extismCalls()[f.Name]
		return refuseUnlike(f, sig, callForms, ok)
	case abi.HostModule:
		return invalid("it imports %q from the module %q; a plugin made with an Extism PDK imports host calls from %q",
			f.Name, f.Module, extismUser)
	}
	return invalid("it imports %q from the module %q; an Extism plugin imports from %q, %q and %q only, and is one module: "+
		"link others into it (wasm-merge)", f.Name, f.Module, extismEnv, extismUser, wasiModule)
}

// refuseUnlike refuses an import that does not exist, or that has none of the forms in
// which it is offered.
func refuseUnlike(f rewrite.Import, sig signature, forms []signature, exists bool) *abi.Failure {
	if !exists {
		return invalid("it imports %q.%q, which does not exist; %s", f.Module, f.Name, extismExists(f.Module))
	}
	if slices.Contains(forms, sig) {
		return nil
	}
	var wanted []string
	for _, form := range forms {
		wanted = append(wanted, form.String())
	}
	return invalid("it imports %q.%q as %s; it is %s", f.Module, f.Name, sig, strings.Join(wanted, " or "))
}

// extismExists says what can be imported from a module instead.
func extismExists(module string) string {
	switch module {
	case extismEnv:
		return fmt.Sprintf("%q offers %s", module, strings.Join(slices.Sorted(maps.Keys(extismEnvFunctions)), ", "))
	case extismUser:
		var names []string
		for _, def := range abi.HostCalls() {
			names = append(names, extismName(def.Name))
		}
		slices.Sort(names)
		return fmt.Sprintf("%q offers %s", module, strings.Join(names, ", "))
	}
	return "see docs/plugins.md"
}

// extismImports returns the host calls that an Extism plugin can make, sorted: those
// that it imports, those that the host makes for it with what it returns, and those
// behind the functions of its PDK.
func extismImports(imports []rewrite.Import) []string {
	names := map[string]bool{abi.CallInput: true, abi.CallMessageAppend: true, abi.CallOutput: true}
	calls := extismCalls()
	for _, f := range imports {
		switch {
		case f.Module == extismUser && f.Name != statusImport:
			names[calls[f.Name].name] = true
		case f.Module == extismEnv && extismEnvFunctions[f.Name].call != "":
			names[extismEnvFunctions[f.Name].call] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}
