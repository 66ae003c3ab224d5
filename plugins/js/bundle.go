package js

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/plugins/internal/engine"
)

//go:embed wasm/engine.wasm.zst
var engineFile []byte

//go:embed sdk/runtime.js
var runtimeSource string

//go:embed sdk/globals.js
var globalsSource string

//go:embed sdk/wharf.js
var wharfSource string

// Names of the modules that are not files.
const (
	space         = "wharf"
	moduleWharf   = "wharf"         // what a program imports
	moduleRuntime = "wharf:runtime" // what calls the program
	moduleGlobals = "wharf:globals" // fetch, console and others, where the program uses them
	callPrefix    = "wharf:call/"   // a host call each
)

// Problem is what is wrong with a source, and Problems the error of a program that cannot be bundled.
type (
	Problem  = engine.Problem
	Problems = engine.Problems
)

// Bundled is a plugin that [Bundle] has made.
type Bundled struct {
	Module  []byte
	Calls   []string // the host calls that it imports, sorted
	Exports []string // what a Persona's entry_workflow can name
	Inputs  []string // the files that it was made of
}

// Bundle makes a plugin of a program in TypeScript or JavaScript: a file, and what it
// imports. Each of its exports becomes one of the plugin; the default export is "run". An
// error about the sources is a [Problems].
func Bundle(entry string) (*Bundled, error) {
	path, err := filepath.Abs(entry)
	if err != nil {
		return nil, fmt.Errorf("bundling %s: %w", entry, err)
	}
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("bundling: %w", err)
	}
	result := api.Build(options(path))
	if len(result.Errors) > 0 {
		return nil, problems(result.Errors)
	}
	p, inputs, err := read(&result)
	if err != nil {
		return nil, fmt.Errorf("bundling %s: %w", entry, err)
	}
	if len(p.exports) == 0 {
		return nil, Problems{{File: entry, Line: 1, Column: 1, Text: "nothing is exported: a plugin begins with \"export async function run(task)\""}}
	}
	made := &engine.Program{Calls: p.calls, Parts: []string{engine.Terminated(p.exports), p.source, p.sources}}
	for _, name := range p.exports {
		made.Exports = append(made.Exports, wasmExport(name))
	}
	module, err := engine.Assemble(engineFile, made)
	if err != nil {
		return nil, fmt.Errorf("bundling %s: %w", entry, err)
	}
	return &Bundled{Module: module, Calls: p.calls, Exports: made.Exports, Inputs: inputs}, nil
}

// wasmExport is the name that a node knows an export of the program by.
func wasmExport(name string) string {
	if name == "default" {
		return abi.DefaultExport
	}
	return name
}

// program is what was bundled.
type program struct {
	calls   []string // the host calls, by slot
	exports []string // of the program, by slot
	source  string   // an ES module
	sources string   // the source map, "" without one
}

func options(path string) api.BuildOptions {
	return api.BuildOptions{
		EntryPoints: []string{path}, AbsWorkingDir: filepath.Dir(path), Outfile: "plugin.js",
		Bundle: true, Write: false, Metafile: true, TreeShaking: api.TreeShakingTrue,
		Format: api.FormatESModule, Platform: api.PlatformNeutral, Target: api.ES2023, Charset: api.CharsetUTF8,
		MainFields: []string{"module", "main"}, Sourcemap: api.SourceMapExternal, SourcesContent: api.SourcesContentExclude,
		Inject: []string{moduleRuntime, moduleGlobals}, LogLevel: api.LogLevelSilent,
		Plugins: []api.Plugin{{Name: "wharf", Setup: provide}},
	}
}

// nativeEntry is all of the SDK, for a host that is beneath it in JavaScript: that host has the globals as __wharf.globals.
const nativeEntry = `import "wharf:runtime";
import * as globals from "wharf:globals";
export * from "wharf";
__wharf.globals = globals;
`

// nativeHead is what the module of [Native] begins with. The host has the names that the engine has, and globals that
// are not those of the process.
const nativeHead = `// Generated from plugins/js/sdk by go test ./sdk -update. Do not edit.
import { __wharf, globals as globalThis } from "./native.js";`

// Native returns the module wharf as it is in the package that runs plugins outside of the engine: the SDK with the
// functions of all host calls.
func Native() ([]byte, error) {
	o := options(".")
	o.EntryPoints, o.Inject, o.AbsWorkingDir = nil, nil, ""
	o.Stdin = &api.StdinOptions{Contents: nativeEntry, Sourcefile: "wharf.js"}
	o.Sourcemap = api.SourceMapNone
	o.Banner = map[string]string{"js": nativeHead}
	result := api.Build(o)
	if len(result.Errors) > 0 {
		return nil, problems(result.Errors)
	}
	return result.OutputFiles[0].Contents, nil
}

// provide resolves the modules that are not files.
func provide(build api.PluginBuild) {
	build.OnResolve(api.OnResolveOptions{Filter: `^wharf(:.*)?$`}, func(args api.OnResolveArgs) (api.OnResolveResult, error) {
		effects := api.SideEffectsFalse
		if args.Path == moduleRuntime {
			effects = api.SideEffectsTrue
		}
		return api.OnResolveResult{Path: args.Path, Namespace: space, SideEffects: effects}, nil
	})
	build.OnLoad(api.OnLoadOptions{Filter: `.*`, Namespace: space}, func(args api.OnLoadArgs) (api.OnLoadResult, error) {
		text, ok := provided(args.Path)
		if !ok {
			return api.OnLoadResult{}, fmt.Errorf("there is no module %q", args.Path)
		}
		return api.OnLoadResult{Contents: &text, Loader: api.LoaderJS}, nil
	})
}

func provided(name string) (string, bool) {
	switch name {
	case moduleRuntime:
		return runtimeSource, true
	case moduleGlobals:
		return globalsSource, true
	case moduleWharf:
		return wharfSource + allCalls(), true
	}
	call, ok := abi.LookupHostCall(strings.TrimPrefix(name, callPrefix))
	if !ok || !strings.HasPrefix(name, callPrefix) {
		return "", false
	}
	return callSource(&call), true
}

// callSource is the module of a host call: a function that takes what the call takes.
func callSource(c *abi.HostCall) string {
	parameters, request := "request", "request"
	switch {
	case c.Name == abi.CallRandom:
		parameters, request = "count", "__wharf.counted(count)"
	case c.Name == abi.CallArtifactPut:
		parameters, request = "request, content", "__wharf.withContent(request, content)"
	case holdsBytes(reflect.TypeOf(c.RequestType), nil):
		request = "__wharf.withBytes(request)"
	}
	made := fmt.Sprintf("__wharf.call(%q, %s, %t)", c.Name, request, answersBytes(c.Name))
	if c.Effect == abi.EffectWrite { // the calls that a tier can hold back
		made = fmt.Sprintf("__wharf.unlessWithheld(() => %s)", made)
	}
	return fmt.Sprintf("export default async function %s(%s) { return %s }\n", functionName(c.Name), parameters, made)
}

// holdsBytes reports whether a value of a type can have bytes in it, which JSON has in base64. Seen are the types
// that are being looked at.
func holdsBytes(t reflect.Type, seen []reflect.Type) bool {
	switch {
	case t == nil || slices.Contains(seen, t) || t == reflect.TypeFor[jsontext.Value]():
		return false
	case t == reflect.TypeFor[[]byte]():
		return true
	}
	seen = append(seen, t)
	switch t.Kind() {
	case reflect.Struct:
		return slices.ContainsFunc(reflect.VisibleFields(t), func(f reflect.StructField) bool { return holdsBytes(f.Type, seen) })
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return holdsBytes(t.Elem(), seen)
	}
	return false
}

// allCalls exports a function for each host call. The two that frame a Task are made by the runtime.
func allCalls() string {
	var b strings.Builder
	for _, c := range abi.HostCalls() {
		fmt.Fprintf(&b, "export { default as %s } from %q;\n", functionName(c.Name), callPrefix+c.Name)
	}
	return b.String()
}

func answersBytes(call string) bool { return call == abi.CallRandom || call == abi.CallArtifactGet }

// functionName is what a host call is called in JavaScript: message.append is messageAppend.
func functionName(call string) string {
	words := strings.FieldsFunc(call, func(r rune) bool { return r == '.' || r == '_' })
	for i := 1; i < len(words); i++ {
		words[i] = strings.ToUpper(words[i][:1]) + words[i][1:]
	}
	return strings.Join(words, "")
}

// metafile is what esbuild says of a build, as far as it is used.
type metafile struct {
	Inputs  map[string]struct{} `json:"inputs"`
	Outputs map[string]struct {
		Exports []string `json:"exports"`
		Inputs  map[string]struct {
			Bytes int `json:"bytesInOutput"`
		} `json:"inputs"`
	} `json:"outputs"`
}

// read returns the program that a build has made, and the files that it was made of.
func read(result *api.BuildResult) (*program, []string, error) {
	var meta metafile
	if err := json.Unmarshal([]byte(result.Metafile), &meta); err != nil {
		return nil, nil, fmt.Errorf("reading what was built: %w", err)
	}
	p := &program{calls: []string{abi.CallInput, abi.CallOutput}}
	for _, file := range result.OutputFiles {
		if strings.HasSuffix(file.Path, ".map") {
			p.sources = string(file.Contents)
			continue
		}
		p.source = string(file.Contents)
	}
	for _, output := range meta.Outputs {
		p.exports = append(p.exports, output.Exports...)
		for name, input := range output.Inputs {
			if call, ok := strings.CutPrefix(name, space+":"+callPrefix); ok && input.Bytes > 0 {
				p.calls = append(p.calls, call)
			}
		}
	}
	slices.Sort(p.calls)
	p.calls = slices.Compact(p.calls)
	slices.Sort(p.exports)
	var inputs []string
	for name := range meta.Inputs {
		if !strings.HasPrefix(name, space+":") {
			inputs = append(inputs, name)
		}
	}
	slices.Sort(inputs)
	return p, inputs, nil
}

func problems(messages []api.Message) Problems {
	var out Problems
	for _, m := range messages {
		p := Problem{Text: m.Text}
		if at := m.Location; at != nil {
			p.File, p.Line, p.Column = at.File, at.Line, at.Column+1
		}
		out = append(out, p)
	}
	return out
}
