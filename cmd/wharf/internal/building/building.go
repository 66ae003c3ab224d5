package building

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wharf-dev/wharf/runtime/manifest"
)

// maxModule is the size of the largest module that a node loads.
const maxModule = 64 << 20

// Project is a plugin's folder, and what its manifest says.
type Project struct {
	Folder   string
	Manifest *manifest.Manifest

	before record // of the last build
}

// Options are how a plugin is built.
type Options struct {
	Fresh bool // build it also when nothing has changed
	Quick bool // let the build be quick, and the module larger: another will soon take its place
	// Announce is told what is about to run; nil to tell nobody.
	Announce func(*Plan)
	// Output is told what the toolchain says while it runs; nil for nobody.
	Output io.Writer
}

// Built is a module that was built, now or before.
type Built struct {
	Plan
	Wasm   []byte
	Digest string   // of the module: sha256:...
	Cached bool     // nothing has changed since it was built
	Inputs int      // how many files it was built from
	Beyond []string // those of them that lie elsewhere than in the folder
	Took   time.Duration
}

// CompileError is the error of sources that do not compile.
type CompileError struct {
	Command []string // nil where no program was run
	Output  string   // what the toolchain says
	Told    bool     // the caller's Output was told already
}

// Error implements the error interface: what the toolchain says.
func (e *CompileError) Error() string { return strings.TrimRight(e.Output, "\n") }

// Missing is the error of a toolchain that is not there.
type Missing struct {
	What string   // a sentence
	Get  []string // ways to get it, the best first
}

// Error implements the error interface.
func (e *Missing) Error() string { return e.What }

// Build makes the module of a project, unless it is current. The error is a [*Missing] when the
// toolchain is not there, and a [*CompileError] when the sources do not compile.
func Build(ctx context.Context, p Project, o Options) (_ *Built, err error) {
	begun := time.Now()
	root, err := os.OpenRoot(p.Folder)
	if err != nil {
		return nil, fmt.Errorf("opening the plugin's folder: %w", err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	p.before = recorded(root, p.Manifest.Module)
	plan, err := planFor(ctx, p)
	if err != nil {
		return nil, err
	}
	if o.Quick {
		plan.Environment = append(plan.Environment, plan.quick...)
	}
	inputs, err := p.inputs(root)
	if err != nil {
		return nil, err
	}
	made := record{Version: recordVersion, Command: plan.Command, Environment: plan.environment(), Toolchain: plan.Toolchain, Stamp: plan.stamp, Inputs: inputs}
	if !o.Fresh {
		if wasm := made.current(root, p.Manifest.Module, &p.before); wasm != nil {
			return &Built{Plan: *plan, Wasm: wasm, Digest: Digest(wasm), Cached: true, Inputs: len(inputs), Beyond: slices.Sorted(maps.Keys(p.before.Beyond)), Took: time.Since(begun)}, nil
		}
	}
	if o.Announce != nil {
		o.Announce(plan)
	}
	wasm, err := plan.runAndRead(ctx, root, o)
	if err != nil {
		return nil, err
	}
	if err := made.keep(root, p, plan, wasm); err != nil {
		return nil, err
	}
	return &Built{Plan: *plan, Wasm: wasm, Digest: made.Module, Inputs: len(inputs) + len(made.Beyond), Beyond: slices.Sorted(maps.Keys(made.Beyond)), Took: time.Since(begun)}, nil
}

// Plan is how a module is made.
type Plan struct {
	Command     []string // what an author would type; nil when no program is run
	Environment []string // NAME=VALUE, beside what the program has anyway
	Toolchain   string   // its version

	folder, module string
	stamp          string                                         // of the program, when its version follows from it
	program        string                                         // what is run instead of the first word, "" for that itself
	own            bool                                           // the author's command, which writes the module itself
	inside         func() ([]byte, []string, error)               // makes the module without a program, and names the files that it read
	find           func(stdout []byte) (string, error)            // says where a program that chooses the place itself has put the module
	reads          func(context.Context) ([]string, error)        // names the files that the module was made of, as far as the toolchain says
	quick          []string                                       // NAME=VALUE that make the build quick
	beside         bool                                           // reads needs nothing of the build, and can be asked while it runs
	read           []string                                       // what inside has read
	finish         func(file string, wasm []byte) ([]byte, error) // puts into the module what lies beside it; nil when nothing does
	output         func(command []string, to string) []string     // has the program write to another place; nil if it cannot
}

// environment is what of it and of the caller's decides what is built.
func (p *Plan) environment() []string {
	all := slices.Clone(p.Environment)
	for _, name := range []string{"GOFLAGS", "GOWORK", "GOEXPERIMENT", "RUSTFLAGS", "CARGO_BUILD_RUSTFLAGS", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"} {
		if v := os.Getenv(name); v != "" {
			all = append(all, name+"="+v)
		}
	}
	return all
}

// runAndRead makes the module, and finds out what it was made of: meanwhile, if that is possible.
func (p *Plan) runAndRead(ctx context.Context, root *os.Root, o Options) ([]byte, error) {
	if p.reads == nil {
		return p.run(ctx, root, o)
	}
	reads := sync.OnceValues(func() ([]string, error) { return p.reads(ctx) })
	var asked sync.WaitGroup
	defer asked.Wait()
	if p.beside {
		asked.Go(func() { _, _ = reads() })
	}
	wasm, err := p.run(ctx, root, o)
	if err != nil {
		return nil, err // which says more than what was read
	}
	p.read, err = reads()
	return wasm, err
}

// run makes the module and puts it where the manifest says.
func (p *Plan) run(ctx context.Context, root *os.Root, o Options) ([]byte, error) {
	if p.inside != nil {
		wasm, read, err := p.inside()
		if err != nil {
			return nil, err
		}
		p.read = read
		return wasm, replace(root, p.module, wasm)
	}
	if p.own {
		if _, err := p.execute(ctx, p.Command, o); err != nil {
			return nil, err
		}
		return p.made(root)
	}
	scratch, err := os.MkdirTemp("", "wharf-build-")
	if err != nil {
		return nil, fmt.Errorf("making a folder to build in: %w", err)
	}
	defer os.RemoveAll(scratch)
	file, command := filepath.Join(scratch, "plugin.wasm"), p.Command
	if p.output != nil {
		command = p.output(command, file)
	}
	stdout, err := p.execute(ctx, command, o)
	if err == nil && p.find != nil {
		file, err = p.find(stdout)
	}
	if err != nil {
		return nil, err
	}
	wasm, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading what was built: %w", err)
	}
	if err := check(wasm); err != nil {
		return nil, err
	}
	if p.finish != nil {
		if wasm, err = p.finish(file, wasm); err != nil {
			return nil, err
		}
	}
	return wasm, replace(root, p.module, wasm)
}

// made reads what the author's own command has written.
func (p *Plan) made(root *os.Root) ([]byte, error) {
	wasm, err := root.ReadFile(filepath.FromSlash(p.module))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &CompileError{Command: p.Command, Output: fmt.Sprintf("%s has run, and there is no %s: build.command has to write the file that module names", quoted(p.Command), p.module)}
	}
	if err != nil {
		return nil, fmt.Errorf("reading the module that was built: %w", err)
	}
	return wasm, check(wasm)
}

// check refuses what is no module.
func check(wasm []byte) error {
	switch {
	case !bytes.HasPrefix(wasm, []byte("\x00asm")):
		return &CompileError{Output: "what was built is no WebAssembly module"}
	case len(wasm) > maxModule:
		return &CompileError{Output: fmt.Sprintf("the module has %d bytes, and a node loads at most %d", len(wasm), maxModule)}
	}
	return nil
}

// replace writes a file of the folder as a whole, so that who watches it never sees a part.
func replace(root *os.Root, name string, content []byte) error {
	name = filepath.FromSlash(name)
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return fmt.Errorf("making the folder of %s: %w", name, err)
	}
	part := filepath.Join(filepath.Dir(name), fmt.Sprintf(".%s.%d.part", filepath.Base(name), os.Getpid()))
	if err := root.WriteFile(part, content, 0o644); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	if err := root.Rename(part, name); err != nil {
		return fmt.Errorf("writing %s: %w", name, errors.Join(err, root.Remove(part)))
	}
	return nil
}

// Shown is the command as it can be typed into a shell.
func (p *Plan) Shown() string {
	return strings.Join(append(slices.Clone(p.Environment), quoted(p.Command)), " ")
}

// quoted puts words between quotes that a shell would take apart.
func quoted(words []string) string {
	shown := make([]string, len(words))
	for i, w := range words {
		shown[i] = w
		if w == "" || strings.ContainsFunc(w, func(c rune) bool { return !plain(c) }) {
			shown[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(shown, " ")
}

func plain(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_./=+:,@%", c) || c > 0x7f
}

// sourceFolder is the folder of the manifest's entry, with slashes.
func sourceFolder(m *manifest.Manifest) string { return path.Dir(path.Clean(m.Entry)) }
