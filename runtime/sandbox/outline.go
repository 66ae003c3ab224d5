package sandbox

import (
	"context"
	"slices"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/sandbox/extism"
	"github.com/wharf-dev/wharf/runtime/sandbox/rewrite"
)

// Outline says what a module can ask for and what can be run of it.
type Outline struct {
	Calls   []string // the host calls that it imports, sorted
	Exports []string // those that can be run, sorted
}

// runnableForm is the form of the exports that can be run: () -> i32.
var runnableForm = rewrite.Signature{Results: "\x7f"}

// Outline reads a module without compiling it, in milliseconds. A module that cannot be loaded is
// an *abi.Failure; some can be read that fail to compile, which [Runtime.Compile] finds.
func (r *Runtime) Outline(ctx context.Context, wasm []byte) (*Outline, error) {
	leave, err := r.alone(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	read, err := rewrite.Rewrite(wasm, rewrite.Options{})
	if err != nil {
		return nil, invalid("the module cannot be loaded: %v", err)
	}
	if err := r.validate(wasm); err != nil {
		return nil, invalid("the module does not compile: %s", firstLine(err.Error()))
	}
	if extism.Is(read.Imports) {
		source, err := extism.Check(read)
		if err != nil {
			return nil, err
		}
		return outlined(source.HostCalls(), extism.Runnable(read.Exports))
	}
	m := &Module{runtime: r, shape: shape{Imports: read.Imports, Memory: read.Memory}}
	if failure := m.checkImports(); failure != nil {
		return nil, failure
	}
	if slices.ContainsFunc(read.Exports, func(e rewrite.Export) bool { return e.Name == exportStart }) {
		return nil, isProgram()
	}
	var names []string
	for _, e := range read.Exports {
		if e.Signature == runnableForm {
			names = append(names, e.Name)
		}
	}
	slices.Sort(names)
	return outlined(m.imports, names)
}

func outlined(calls, exports []string) (*Outline, error) {
	if len(exports) == 0 {
		return nil, nothingToRun()
	}
	return &Outline{Calls: calls, Exports: exports}, nil
}

func isProgram() *abi.Failure {
	return invalid("it is a program: it exports %q; build a reactor instead (%s)", exportStart, howToBuild)
}

func nothingToRun() *abi.Failure {
	return invalid("it exports no function () -> i32; export one, usually %q (%s)", abi.DefaultExport, howToBuild)
}
