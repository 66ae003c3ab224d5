package extism

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	extism "github.com/extism/go-sdk"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/sandbox/guest"
	"github.com/wharf-dev/wharf/runtime/sandbox/image"
	"github.com/wharf-dev/wharf/runtime/sandbox/rewrite"
	"github.com/wharf-dev/wharf/runtime/sandbox/stack"
	"github.com/wharf-dev/wharf/runtime/sandbox/wasi"
)

// The modules that a plugin made with an Extism PDK imports from.
const (
	EnvModule  = "extism:host/env"  // what the Extism SDK offers
	UserModule = "extism:host/user" // what a host offers beyond: here the host calls
	// ownModule is where imports of EnvModule lead that Wharf answers itself.
	ownModule = "extism:host/wharf"
	// wasiModule is where imports of WASI lead, for the SDK has one of its own.
	wasiModule = "wharf:wasi"
)

// Is reports whether a module was made with an Extism PDK: it imports something
// that only an Extism host has.
func Is(imports []rewrite.Import) bool {
	return slices.ContainsFunc(imports, func(i rewrite.Import) bool { return i.Module == EnvModule || i.Module == UserModule })
}

// Transforms is how Extism plugins are rewritten. They are not restored from a
// snapshot: the SDK makes their instances.
const Transforms = rewrite.Gas | rewrite.Depth | rewrite.NaN

// Source is a plugin that was checked, and not compiled yet.
type Source struct {
	module  *source
	imports []rewrite.Import
	memory  uint64 // bytes that it declares
}

// Check refuses, by an *abi.Failure, a module that cannot run; it was rewritten with
// [Transforms]. What is refused must not be compiled.
func Check(m *rewrite.Module) (*Source, error) {
	if failure := checkImports(m.Imports); failure != nil {
		return nil, failure
	}
	if _, set := os.LookupEnv(OutputVariable); set {
		return nil, fmt.Errorf("plugins made with an Extism PDK cannot run while the environment of the node has %s, "+
			"which gives them its standard output; unset it", OutputVariable)
	}
	wasm, err := redirectImports(m.Wasm, redirect)
	if err != nil {
		return nil, invalid("the module cannot be loaded: %v", err)
	}
	s := &Source{module: &source{wasm: wasm}, imports: m.Imports}
	s.module.start, s.module.starts = startFunction(wasm)
	if m.Memory != nil {
		s.memory = uint64(m.Memory.Min) * image.PageBytes
	}
	return s, nil
}

// HostCalls returns the names of the host calls that the plugin can make, sorted.
func (s *Source) HostCalls() []string { return hostCalls(s.imports) }

// Engine is what the SDK makes the engine and the instances of a plugin of.
type Engine struct {
	Runtime wazero.RuntimeConfig
	Module  wazero.ModuleConfig
	Shared  guest.Shared
	// Locate says where code of the plugin is from: see [guest.Run].
	Locate func(offsets []uint32) map[uint32][]stack.Place
}

// Compile hands the plugin to the SDK, which makes an engine for it. It may panic, as the
// compiler may. The caller closes the Plugin.
func (s *Source) Compile(ctx context.Context, e Engine) (*Plugin, error) {
	ctx = experimental.WithFunctionListenerFactory(ctx, s.module)
	compiled, err := extism.NewCompiledPlugin(ctx, extism.Manifest{Wasm: []extism.Wasm{s.module}},
		extism.PluginConfig{RuntimeConfig: e.Runtime, EnableWasi: true}, functions(s.imports))
	if err != nil {
		return nil, err
	}
	return &Plugin{compiled: compiled, exports: s.module.runnable(), imports: len(s.imports), memory: s.memory, engine: e}, nil
}

// Plugin is a plugin that was made with an Extism PDK. It runs through the
// Extism SDK, in an engine of its own that the SDK makes: each Run in an instance that
// is thrown away, for statics and grown memory survive a call. It is safe for concurrent
// use.
//
// The SDK is always given one module. Of several it keeps a map, and makes and
// initializes them in the map's order, which differs from run to run.
type Plugin struct {
	compiled *extism.CompiledPlugin
	exports  []string
	imports  int    // functions
	memory   uint64 // bytes that it declares
	engine   Engine
}

// Exports returns the names of the functions that [Plugin.Run] can call, sorted.
func (p *Plugin) Exports() []string { return p.exports }

// Close frees the plugin's engine. No Run may be under way.
func (p *Plugin) Close() error { return p.compiled.Close(context.Background()) }

func invalid(format string, args ...any) *abi.Failure {
	return guest.Failf(abi.FailurePluginInvalid, format, args...)
}

// redirect says where an import leads.
func redirect(module, name string) string {
	if module == wasi.Module {
		return wasiModule
	}
	if module == EnvModule && offered(rewrite.Import{Module: module, Name: name}).own != nil {
		return ownModule
	}
	return module
}

// functions are the functions that a plugin is given beside those of the SDK: those
// that it imports, each once.
func functions(imports []rewrite.Import) []extism.HostFunction {
	functions := []extism.HostFunction{yield()}
	given := map[[2]string]bool{}
	for _, f := range imports {
		key := [2]string{f.Module, f.Name}
		if given[key] {
			continue
		}
		given[key] = true
		if f.Module == wasi.Module {
			functions = append(functions, wasiFunction(f))
		} else if offer := offered(f); offer.own != nil {
			functions = append(functions, offer.function(f))
		}
	}
	return functions
}

// source is the one module of a manifest. It takes note of the exports when the SDK
// compiles it, for the SDK does not tell, and has them listened to.
type source struct {
	wasm    []byte
	start   uint32 // the start function, with starts
	starts  bool
	handed  bool // what the SDK compiles from here on is this module
	exports []string
}

var (
	_ extism.Wasm                          = (*source)(nil)
	_ experimental.FunctionListenerFactory = (*source)(nil)
)

// ToWasmData implements extism.Wasm.
func (s *source) ToWasmData(context.Context) (extism.WasmData, error) {
	s.handed = true
	return extism.WasmData{Data: s.wasm, Name: "main"}, nil
}

// NewFunctionListener implements experimental.FunctionListenerFactory. It is asked before
// the module is compiled, function by function.
func (s *source) NewFunctionListener(def api.FunctionDefinition) experimental.FunctionListener {
	if !s.handed || def.GoFunction() != nil {
		return nil
	}
	runs := len(def.ExportNames()) > 0 && runs(def)
	if runs {
		s.exports = append(s.exports, def.ExportNames()...)
	}
	if runs || slices.ContainsFunc(def.ExportNames(), isInitializer) || s.starts && def.Index() == s.start {
		return entry{}
	}
	return nil
}

// runs reports whether the SDK calls functions of this form: () -> i32, and () -> ().
func runs(f api.FunctionDefinition) bool {
	results := f.ResultTypes()
	return len(f.ParamTypes()) == 0 && (len(results) == 0 || len(results) == 1 && results[0] == api.ValueTypeI32)
}

// exportInitialize is the export of a reactor that initializes it.
const exportInitialize = "_initialize"

// isInitializer reports whether the SDK calls an export by itself, before the first other
// one.
func isInitializer(export string) bool {
	return export == exportInitialize || export == "__wasm_call_ctors" || export == "hs_init"
}

// runnable lists the exports that can be run, sorted.
func (s *source) runnable() []string {
	names := slices.DeleteFunc(s.exports, isInitializer)
	slices.Sort(names)
	return names
}

// Runnable returns which exports of a module can be run, sorted, before anything of it is compiled.
func Runnable(exports []rewrite.Export) []string {
	var names []string
	for _, e := range exports {
		if e.Params == "" && (e.Results == "" || e.Results == i32) && !isInitializer(e.Name) {
			names = append(names, e.Name)
		}
	}
	slices.Sort(names)
	return names
}

// OutputVariable is a variable of the environment by which the SDK gives plugins the
// standard output of the process.
const OutputVariable = "EXTISM_ENABLE_WASI_OUTPUT"

// checkImports refuses what an Extism plugin cannot be given, by name.
func checkImports(imports []rewrite.Import) *abi.Failure {
	seen := map[[2]string]rewrite.Signature{}
	for _, f := range imports {
		sig := f.Signature()
		if f.Kind != rewrite.ImportsFunction {
			return invalid("it imports %q.%q, which is no function; an Extism plugin imports functions only", f.Module, f.Name)
		}
		if failure := checkImport(f, sig); failure != nil {
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

func checkImport(f rewrite.Import, sig rewrite.Signature) *abi.Failure {
	switch f.Module {
	case wasi.Module:
		want, ok := wasi.Lookup(f.Name)
		return refuseUnlike(f, sig, []rewrite.Signature{want.Signature}, ok)
	case EnvModule:
		offer, ok := envFunctions[f.Name]
		return refuseUnlike(f, sig, []rewrite.Signature{offer.sig}, ok)
	case UserModule:
		if f.Name == StatusImport {
			return refuseUnlike(f, sig, []rewrite.Signature{statusForm}, true)
		}
		_, ok := callsByName()[f.Name]
		return refuseUnlike(f, sig, callForms, ok)
	case abi.HostModule:
		return invalid("it imports %q from the module %q; a plugin made with an Extism PDK imports host calls from %q",
			f.Name, f.Module, UserModule)
	}
	return invalid("it imports %q from the module %q; an Extism plugin imports from %q, %q and %q only, and is one module: "+
		"link others into it (wasm-merge)", f.Name, f.Module, EnvModule, UserModule, wasi.Module)
}

// refuseUnlike refuses an import that does not exist, or that has none of the forms in
// which it is offered.
func refuseUnlike(f rewrite.Import, sig rewrite.Signature, forms []rewrite.Signature, exists bool) *abi.Failure {
	if !exists {
		return invalid("it imports %q.%q, which does not exist; %s", f.Module, f.Name, existing(f.Module))
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

// existing says what can be imported from a module instead.
func existing(module string) string {
	switch module {
	case EnvModule:
		return fmt.Sprintf("%q offers %s", module, strings.Join(slices.Sorted(maps.Keys(envFunctions)), ", "))
	case UserModule:
		var names []string
		for _, def := range abi.HostCalls() {
			names = append(names, identifier(def.Name))
		}
		slices.Sort(names)
		return fmt.Sprintf("%q offers %s", module, strings.Join(names, ", "))
	}
	return "see docs/plugins.md"
}

// hostCalls returns the host calls that an Extism plugin can make, sorted: those
// that it imports, those that the host makes for it with what it returns, and those
// behind the functions of its PDK.
func hostCalls(imports []rewrite.Import) []string {
	names := map[string]bool{abi.CallInput: true, abi.CallMessageAppend: true, abi.CallOutput: true}
	calls := callsByName()
	for _, f := range imports {
		switch {
		case f.Module == UserModule && f.Name != StatusImport:
			names[calls[f.Name].Name] = true
		case f.Module == EnvModule && envFunctions[f.Name].call != "":
			names[envFunctions[f.Name].call] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}
