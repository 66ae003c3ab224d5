package building

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/wharf-dev/wharf/plugins/py"
	"github.com/wharf-dev/wharf/runtime/alone"
	"github.com/wharf-dev/wharf/runtime/sandbox"
)

// PythonToolchain is what Python is built with.
const PythonToolchain = "MicroPython, in wharf"

// python builds with what this program has in it.
func python(ctx context.Context, p Project) (*Plan, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	plan := &Plan{Toolchain: PythonToolchain, stamp: stamp(program)}
	plan.inside = func() ([]byte, []string, error) {
		entry := filepath.Join(p.Folder, filepath.FromSlash(p.Manifest.Entry))
		built, err := Python(ctx, entry)
		if err != nil {
			return nil, nil, err
		}
		var read []string
		for _, name := range built.Inputs { // as seen from the entry's folder
			read = append(read, filepath.Join(filepath.Dir(entry), filepath.FromSlash(name)))
		}
		return built.Module, read, nil
	}
	return plan, nil
}

// Python makes a plugin of a program in Python, whose files compile. The error is a [*CompileError] when they do not.
func Python(ctx context.Context, entry string) (*py.Built, error) {
	built, err := py.Build(entry)
	if err == nil {
		err = checkPython(ctx, built)
	}
	if problems, ok := errors.AsType[py.Problems](err); ok {
		return nil, &CompileError{Output: problems.Error()}
	}
	return built, err
}

// checkPython has the engine compile the files.
func checkPython(ctx context.Context, built *py.Built) (err error) {
	runtime, err := sandbox.New(ctx, sandbox.Config{})
	if err != nil {
		return fmt.Errorf("preparing to compile the files: %w", err)
	}
	defer func() { err = errors.Join(err, runtime.Close(ctx)) }()
	module, err := runtime.Compile(ctx, built.Check)
	if err != nil {
		return fmt.Errorf("preparing to compile the files: %w", err)
	}
	defer func() { err = errors.Join(err, module.Close(ctx)) }()
	report, err := alone.Run(ctx, module, built.Exports[0], alone.Options{})
	if err != nil {
		return fmt.Errorf("compiling the files: %w", err)
	}
	if report.Failure == nil {
		return errors.New("compiling the files: the engine has said nothing")
	}
	if report.Failure.Code != py.CheckedCode {
		return fmt.Errorf("compiling the files: %s: %s", report.Failure.Code, report.Failure.Message)
	}
	return py.Told(report.Failure.Details)
}
