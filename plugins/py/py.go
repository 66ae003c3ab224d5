package py

import (
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/plugins/internal/engine"
)

//go:embed wasm/engine.wasm.zst
var engineFile []byte

//go:embed sdk/*.py
var sdkFiles embed.FS

// Names of the SDK's modules that every program has.
const (
	moduleWharf   = "wharf"    // what a program imports
	moduleRuntime = "_runtime" // what calls the program
	sdkFolder     = ".sdk/"    // of its files, as the engine sees them
)

// CheckedCode is the code of the failure that [Built.Check] ends with.
const CheckedCode = "plugin_check"

// inEngine are the modules that the engine has itself.
const inEngine = "array binascii builtins collections errno gc hashlib heapq io json math micropython re struct sys"

// Problem is what is wrong with a source, and Problems the error of a program that no plugin can be made of.
type (
	Problem  = engine.Problem
	Problems = engine.Problems
)

// Built is a plugin that [Build] has made.
type Built struct {
	Module  []byte
	Calls   []string // the host calls that it imports, sorted
	Exports []string // what a Persona's entry_workflow can name
	Inputs  []string // the files that it was made of, as seen from the entry's folder
	// Check is a module that compiles the files instead of running them, with the same code: its exports end with
	// a failure that [Told] reads.
	Check []byte
}

// Build makes a plugin of a program in Python: a file, and the files beside it that it imports. Each function that
// its __all__ lists becomes an export of the plugin; without __all__ that is "run". An error about the sources is a
// [Problems]; that they compile is not looked at: see [Built.Check].
func Build(entry string) (*Built, error) {
	p := &program{dir: filepath.Dir(entry), files: map[string]string{}}
	name := filepath.Base(entry)
	if filepath.Ext(name) != ".py" {
		return nil, fmt.Errorf("%s: a program in Python is a file that ends in .py", entry)
	}
	source, err := os.ReadFile(entry)
	if err != nil {
		return nil, fmt.Errorf("building: %w", err)
	}
	if stem := strings.TrimSuffix(name, ".py"); strings.Contains(stem, ".") || slices.Contains(provided(), stem) {
		return nil, Problems{{File: name, Line: 1, Text: "the file that a plugin begins with cannot have this name, which Python reads as that of another module"}}
	}
	first, err := p.add(name, string(source))
	if err != nil {
		return nil, err
	}
	exports := first.names
	if len(exports) == 0 {
		exports = []string{abi.DefaultExport}
		if !first.binds[abi.DefaultExport] {
			p.problems = append(p.problems, Problem{File: name, Line: 1, Text: "there is no function run: a plugin begins with \"def run(task):\", or says in __all__ what others can call"})
		}
	}
	if len(p.problems) > 0 {
		return nil, p.problems
	}
	if err := p.addRuntime(); err != nil {
		return nil, err
	}
	return p.built(name, exports)
}

// program is what is found of a program.
type program struct {
	dir      string
	files    map[string]string // by their names in the entry's folder, with slashes
	sdk      []string          // modules of the SDK
	calls    []string
	problems Problems
}

// add takes a file of the author's, and what it imports.
func (p *program) add(name, source string) (*scanned, error) {
	source = strings.TrimPrefix(source, "\ufeff")
	p.files[name] = source
	if !utf8.ValidString(source) {
		p.problems = append(p.problems, Problem{File: name, Line: 1, Text: "the file is not UTF-8"})
	}
	if module, _, _ := strings.Cut(strings.TrimSuffix(name, ".py"), "/"); module == moduleWharf || module == moduleRuntime {
		p.problems = append(p.problems, Problem{File: name, Line: 1, Text: "the file hides the SDK: give it another name"})
	}
	s := scan(source)
	p.calls = append(p.calls, s.calls...)
	for _, each := range s.imports {
		if err := p.follow(name, each); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// follow takes the files that a statement imports.
func (p *program) follow(from string, what imported) error {
	module := strings.ReplaceAll(what.module, ".", "/")
	if what.level > 0 {
		base := path.Dir(from)
		for range what.level - 1 {
			base = path.Dir(base)
		}
		module = path.Join(base, module)
	}
	found, err := p.take(module)
	if err != nil {
		return err
	}
	for _, name := range what.names {
		inside, err := p.take(path.Join(module, name))
		if err != nil {
			return err
		}
		found = found || inside
	}
	if found || what.level == 0 && p.provided(what.module) || !what.surely {
		return nil
	}
	p.problems = append(p.problems, Problem{File: from, Line: what.at.line, Column: what.at.column,
		Text: fmt.Sprintf("there is no module %q beside the program, and the engine has %s", strings.Repeat(".", what.level)+what.module, strings.Join(provided(), ", "))})
	return nil
}

// take adds a module of the author's with the packages around it, and reports whether there is one.
func (p *program) take(module string) (found bool, err error) {
	if module == "." || !filepath.IsLocal(filepath.FromSlash(module)) {
		return module == ".", nil
	}
	for i := range len(module) {
		if module[i] == '/' {
			if _, err := p.read(module[:i] + "/__init__.py"); err != nil {
				return false, err
			}
		}
	}
	for _, name := range []string{module + "/__init__.py", module + ".py"} {
		if found, err := p.read(name); found || err != nil {
			return found, err
		}
	}
	info, err := os.Stat(filepath.Join(p.dir, filepath.FromSlash(module)))
	return err == nil && info.IsDir(), nil
}

// read adds a file, and reports whether it is there.
func (p *program) read(name string) (bool, error) {
	if _, ok := p.files[name]; ok {
		return true, nil
	}
	source, err := os.ReadFile(filepath.Join(p.dir, filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading a module: %w", err)
	}
	_, err = p.add(name, string(source))
	return true, err
}

// provided takes a module of the SDK, and reports whether there is one or the engine has it.
func (p *program) provided(module string) bool {
	if _, err := sdkFiles.Open("sdk/" + module + ".py"); err != nil {
		return slices.Contains(strings.Fields(inEngine), module)
	}
	p.sdk = append(p.sdk, module)
	return true
}

// provided are the modules that a program finds besides its own.
func provided() []string {
	names := strings.Fields(inEngine)
	found, _ := fs.Glob(sdkFiles, "sdk/*.py") // the pattern is a good one
	for _, name := range found {
		name = strings.TrimSuffix(path.Base(name), ".py")
		if !strings.HasPrefix(name, "_") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// addRuntime takes what every program needs.
func (p *program) addRuntime() error {
	p.calls = append(p.calls, abi.CallInput, abi.CallOutput)
	slices.Sort(p.calls)
	p.calls = slices.Compact(p.calls)
	p.sdk = append(p.sdk, moduleWharf, moduleRuntime)
	for _, module := range p.sdk {
		text, err := sdkFiles.ReadFile("sdk/" + module + ".py")
		if err != nil {
			return fmt.Errorf("reading the SDK: %w", err)
		}
		if module == moduleWharf {
			text = append(text, functionsOf(p.calls)...)
		}
		p.files[sdkFolder+module+".py"] = string(text)
	}
	return nil
}

// nativeHead is what the modules of [Native] begin with.
const nativeHead = "# Generated from plugins/py/sdk by go test ./sdk -update. Do not edit.\n"

// Native returns the modules of the SDK as they are in the package that runs plugins outside of the engine, by the
// names of their files: the module wharf with the functions of all host calls, and what calls a program.
func Native() (map[string][]byte, error) {
	files := map[string][]byte{}
	for module, name := range map[string]string{moduleWharf: "__init__.py", moduleRuntime: moduleRuntime + ".py"} {
		text, err := sdkFiles.ReadFile("sdk/" + module + ".py")
		if err != nil {
			return nil, fmt.Errorf("reading the SDK: %w", err)
		}
		files[name] = append([]byte(nativeHead), text...)
	}
	var calls []string
	for _, c := range abi.HostCalls() {
		calls = append(calls, c.Name)
	}
	files["__init__.py"] = append(files["__init__.py"], functionsOf(calls)...)
	return files, nil
}

// functionsOf are the functions of host calls.
func functionsOf(calls []string) string {
	var b strings.Builder
	for _, call := range calls {
		name := functionName(call)
		switch call {
		case abi.CallRandom:
			fmt.Fprintf(&b, "\n\ndef %s(n):\n    return _bytes(%q, n.to_bytes(4, \"little\"))\n", name, call)
		case abi.CallArtifactPut:
			fmt.Fprintf(&b, "\n\ndef %s(request, content):\n    if isinstance(content, str):\n        content = content.encode()\n"+
				"    answer = _bytes(%q, _written(request).encode() + b\"\\n\" + content)\n    return answer if isinstance(answer, dict) else _json.loads(answer)\n", name, call)
		case abi.CallArtifactGet:
			fmt.Fprintf(&b, "\n\ndef %s(request=None, **members):\n    return _bytes(%q, _written(_members(request, members)))\n", name, call)
		default:
			if def, ok := abi.LookupHostCall(call); ok && def.RequestType == nil {
				fmt.Fprintf(&b, "\n\ndef %s():\n    return _asked(%q, None)\n", name, call)
				continue
			}
			fmt.Fprintf(&b, "\n\ndef %s(request=None, **members):\n    return _asked(%q, _members(request, members))\n", name, call)
		}
	}
	return b.String()
}

// built assembles the module, and the one that checks.
func (p *program) built(entry string, exports []string) (*Built, error) {
	names := slices.Sorted(maps.Keys(p.files))
	names = slices.DeleteFunc(names, func(name string) bool { return name == entry })
	slices.SortStableFunc(names, func(a, b string) int { return sdkLast(a) - sdkLast(b) })
	names = append([]string{entry}, names...)
	var files strings.Builder
	out := &Built{Calls: p.calls, Exports: exports}
	for _, name := range names {
		files.WriteString(name)
		files.WriteByte(0)
		files.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(p.files[name]))))
		files.WriteString(p.files[name])
		if sdkLast(name) == 0 {
			out.Inputs = append(out.Inputs, name)
		}
	}
	var err error
	if out.Module, err = p.assemble(exports, files.String(), ""); err != nil {
		return nil, err
	}
	out.Check, err = p.assemble(exports, files.String(), "c")
	return out, err
}

func sdkLast(name string) int {
	if strings.HasPrefix(name, sdkFolder) {
		return 1
	}
	return 0
}

func (p *program) assemble(exports []string, files, check string) ([]byte, error) {
	module, err := engine.Assemble(engineFile, &engine.Program{Calls: p.calls, Exports: exports, Parts: []string{engine.Terminated(exports), files, check}})
	if err != nil {
		return nil, fmt.Errorf("making the plugin: %w", err)
	}
	return module, nil
}

// Told reads what the module [Built.Check] has found: nothing, or an error of the sources. It is given the
// details of its failure.
func Told(details []byte) error {
	var found struct {
		Problems []struct {
			File string `json:"file"`
			Line int    `json:"line"`
			Text string `json:"text"`
		} `json:"problems"`
	}
	if err := json.Unmarshal(details, &found); err != nil {
		return fmt.Errorf("reading what the check has found: %w", err)
	}
	var all Problems
	for _, each := range found.Problems {
		all = append(all, Problem{File: each.File, Line: each.Line, Text: each.Text})
	}
	if len(all) == 0 {
		return nil
	}
	return all
}
