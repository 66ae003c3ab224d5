package rewrite_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/wharf-dev/wharf/runtime/sandbox/rewrite"
)

const (
	wasmPage  = 64 << 10
	maxPages  = 1 << 16
	typeRef   = 0x70 // a funcref, which the engine's API gives no name
	specSlice = 500  // of gas: small, so that the host is called often
	// specDepth is below what the interpreter can hold, 2,000 frames.
	specDepth = 1500
)

// errStackOverflow ends a guest whose depth is spent, worded as by the engine.
var errStackOverflow = errors.New("stack overflow")

// engineKind is a way to run a module.
type engineKind string

const (
	compiler    engineKind = "compiler"
	interpreter engineKind = "interpreter"
)

func (e engineKind) config(features api.CoreFeatures) wazero.RuntimeConfig {
	c := wazero.NewRuntimeConfigCompiler()
	if e == interpreter {
		c = wazero.NewRuntimeConfigInterpreter()
	}
	return c.WithCoreFeatures(features).WithDebugInfoEnabled(false)
}

// specOutcome is what a command came to.
type specOutcome struct {
	words []uint64 // results
	trap  string   // or why there are none
}

// specInstance is an instance of a module of the suite.
type specInstance struct {
	mod       api.Module
	functions map[string]api.Function
	gas       api.MutableGlobal // nil when it counts none
	depth     api.MutableGlobal
}

func newSpecInstance(mod api.Module) *specInstance {
	in := &specInstance{mod: mod, functions: map[string]api.Function{}}
	in.gas, _ = mod.ExportedGlobal(rewrite.GasExport).(api.MutableGlobal)
	in.depth, _ = mod.ExportedGlobal(rewrite.DepthExport).(api.MutableGlobal)
	in.refill()
	return in
}

// refill gives an instance what a trap has left it without.
func (in *specInstance) refill() {
	if in.gas != nil {
		in.gas.Set(specSlice)
	}
	if in.depth != nil {
		in.depth.Set(specDepth)
	}
}

func (in *specInstance) function(name string) api.Function {
	f, ok := in.functions[name]
	if !ok {
		f = in.mod.ExportedFunction(name)
		in.functions[name] = f
	}
	return f
}

// specWorld is a store in which the commands of one script are carried out, with
// modules as they are or rewritten.
type specWorld struct {
	script   *specScript
	engine   wazero.Runtime
	modules  *specModules
	named    map[string]*specInstance
	last     *specInstance
	all      []*specInstance
	outcomes []specOutcome
	states   []string // of the instances' memories at the end
	problems []string
	strict   bool // NaNs are canonical
}

// specModules are the modules of a script, each rewritten once.
type specModules struct {
	binaries  map[string][]byte
	rewritten map[string]*rewrite.Module // nil: they are run as they are
}

func newSpecWorld(ctx context.Context, script *specScript, e engineKind, modules *specModules) (*specWorld, error) {
	w := &specWorld{
		script: script, modules: modules, named: map[string]*specInstance{},
		engine: wazero.NewRuntimeWithConfig(ctx, e.config(script.suite.features)),
	}
	raw, err := os.ReadFile(filepath.Join(script.dir, "..", "..", "testdata", "spectest.wasm"))
	if err != nil {
		return nil, err
	}
	if _, err := w.engine.InstantiateWithConfig(ctx, raw, wazero.NewModuleConfig()); err != nil {
		return nil, err
	}
	return w, offerYield(ctx, w.engine, func(_ context.Context, _ api.Module, gas, depth int64) int64 {
		if depth < 0 {
			panic(errStackOverflow)
		}
		return specSlice
	})
}

// offerYield offers what rewritten modules import.
func offerYield(ctx context.Context, engine wazero.Runtime, yield func(ctx context.Context, mod api.Module, gas, depth int64) int64) error {
	i64s := []api.ValueType{api.ValueTypeI64, api.ValueTypeI64}
	_, err := engine.NewHostModuleBuilder(rewrite.YieldModule).NewFunctionBuilder().
		WithGoModuleFunction(api.GoModuleFunc(func(ctx context.Context, mod api.Module, stack []uint64) {
			stack[0] = uint64(yield(ctx, mod, int64(stack[0]), int64(stack[1])))
		}), i64s, i64s[:1]).Export(rewrite.YieldName).Instantiate(ctx)
	return err
}

// perform carries out the commands.
func (w *specWorld) perform(ctx context.Context) {
	w.outcomes = make([]specOutcome, len(w.script.Commands))
	for i := range w.script.Commands {
		c := &w.script.Commands[i]
		w.outcomes[i] = w.command(ctx, i, c)
		if err := w.judge(c, w.outcomes[i]); err != nil {
			w.problems = append(w.problems, fmt.Sprintf("line %d: %s %s: %v", c.Line, c.Kind, c.Action.Field, err))
		}
	}
	for _, in := range w.all {
		w.states = append(w.states, memoryState(in.mod))
	}
}

// command carries out one command. What is wrong with it is found by judge.
func (w *specWorld) command(ctx context.Context, i int, c *specCommand) specOutcome {
	switch c.Kind {
	case "module":
		return w.module(ctx, c, w.script.registeredAs(i))
	case "action", "assert_return", "assert_trap", "assert_exhaustion":
		return w.act(ctx, c.Action)
	case "assert_invalid", "assert_malformed":
		return w.refuse(ctx, c)
	case "assert_uninstantiable", "assert_unlinkable":
		_, err := w.instantiate(ctx, c.Filename, "")
		return specOutcome{trap: trapText(err)}
	}
	return specOutcome{}
}

// registeredAs returns the name under which others can import from the module of a
// command, which the next command says.
func (s *specScript) registeredAs(i int) string {
	if i+1 < len(s.Commands) && s.Commands[i+1].Kind == "register" {
		return s.Commands[i+1].As
	}
	return ""
}

func (w *specWorld) module(ctx context.Context, c *specCommand, name string) specOutcome {
	mod, err := w.instantiate(ctx, c.Filename, name)
	if err != nil {
		return specOutcome{trap: trapText(err)}
	}
	w.last = newSpecInstance(mod)
	w.all = append(w.all, w.last)
	if c.Name != "" {
		w.named[c.Name] = w.last
	}
	return specOutcome{}
}

// refuse hands the engine a module that it has to refuse.
func (w *specWorld) refuse(ctx context.Context, c *specCommand) specOutcome {
	code, err := w.engine.CompileModule(ctx, w.modules.binaries[c.Filename])
	if err != nil {
		return specOutcome{trap: trapText(err)}
	}
	mod, err := w.engine.InstantiateModule(ctx, code, wazero.NewModuleConfig())
	if err == nil {
		_ = mod.Close(ctx)
	}
	return specOutcome{trap: trapText(err)}
}

func (w *specWorld) act(ctx context.Context, a specAction) specOutcome {
	in := w.last
	if a.Module != "" {
		in = w.named[a.Module]
	}
	if in == nil {
		return specOutcome{trap: "no module " + a.Module}
	}
	if a.Kind == "get" {
		return specOutcome{words: []uint64{in.mod.ExportedGlobal(a.Field).Get()}}
	}
	f := in.function(a.Field)
	words, err := f.Call(ctx, wordsOf(a.Args)...)
	if err != nil {
		w.recover()
		return specOutcome{trap: trapText(err)}
	}
	return specOutcome{words: withoutAddresses(f.Definition().ResultTypes(), words)}
}

// recover does what a host has to do after a trap, if it is to use the instances
// again.
func (w *specWorld) recover() {
	for _, in := range w.all {
		in.refill()
	}
}

// withoutAddresses replaces function references, which are addresses, by 1. It
// cuts what is above 32 bits, which the engine leaves as it was.
func withoutAddresses(types []api.ValueType, words []uint64) []uint64 {
	at := 0
	for _, t := range types {
		switch t {
		case api.ValueTypeI32, api.ValueTypeF32:
			words[at] &= ones(32)
		case typeRef:
			words[at] = min(words[at], 1)
		case 0x7b:
			at++
		}
		at++
	}
	return words
}

// instantiate makes an instance of the module in the given file, as it is or
// rewritten.
func (w *specWorld) instantiate(ctx context.Context, file, name string) (api.Module, error) {
	wasm, module := w.modules.binaries[file], w.modules.rewritten[file]
	if module != nil {
		wasm = module.Wasm
	}
	code, err := w.engine.CompileModule(ctx, wasm)
	if err != nil {
		if module != nil && w.accepts(ctx, w.modules.binaries[file]) {
			w.problems = append(w.problems, fmt.Sprintf("%s: the engine refuses it once rewritten: %v", file, err))
		}
		return nil, err
	}
	if module != nil && module.Memory != nil {
		ctx = experimental.WithMemoryAllocator(ctx, boundedMemory(module.Memory))
	}
	mod, err := w.engine.InstantiateModule(ctx, code, wazero.NewModuleConfig().WithName(name).WithStartFunctions())
	if err != nil || module == nil {
		return mod, err
	}
	return mod, restore(ctx, mod, module)
}

func (w *specWorld) accepts(ctx context.Context, wasm []byte) bool {
	_, err := w.engine.CompileModule(ctx, wasm)
	return err == nil
}

// boundedMemory enforces the maximum of a memory, which a module does not declare
// once it is rewritten with Restore.
func boundedMemory(m *rewrite.Memory) experimental.MemoryAllocator {
	limit := uint64(maxPages)
	if m.HasMax {
		limit = uint64(m.Max)
	}
	return experimental.MemoryAllocatorFunc(func(uint64, uint64) experimental.LinearMemory {
		return &growingMemory{limit: limit * wasmPage}
	})
}

type growingMemory struct {
	limit uint64
	b     []byte
}

func (m *growingMemory) Reallocate(size uint64) []byte {
	if size > m.limit {
		return nil
	}
	if grown := int(size) - len(m.b); grown > 0 {
		m.b = append(m.b, make([]byte, grown)...)
	}
	return m.b
}

func (m *growingMemory) Free() {}

// restore does what is left to the host: active data segments and the start
// function.
func restore(ctx context.Context, mod api.Module, m *rewrite.Module) error {
	for i, s := range m.Data {
		if !mod.Memory().Write(s.Offset, s.Bytes) {
			return fmt.Errorf("data[%d]: out of bounds memory access", i)
		}
	}
	if !m.Start {
		return nil
	}
	_, err := mod.ExportedFunction(rewrite.StartExport).Call(ctx)
	return err
}

// judge compares an outcome with what the suite expects.
func (w *specWorld) judge(c *specCommand, o specOutcome) error {
	switch c.Kind {
	case "module", "action":
		if o.trap != "" {
			return errors.New(o.trap)
		}
	case "assert_return":
		if o.trap != "" {
			return errors.New(o.trap)
		}
		negated := strings.Contains(c.Action.Field, "neg") // which keeps a NaN's bits but for the sign
		return matches(c.Expected, o.words, w.strict && !negated)
	case "assert_trap", "assert_exhaustion":
		if want := specTrap(c.Text); o.trap != want {
			return fmt.Errorf("trapped with %q, not %q; results %v", o.trap, want, o.words)
		}
	case "assert_invalid", "assert_malformed", "assert_unlinkable", "assert_uninstantiable":
		return judgeRefusal(c, o)
	case "register":
	default:
		return errors.New("unknown command")
	}
	return nil
}

func judgeRefusal(c *specCommand, o specOutcome) error {
	// The engine leaves out an active element segment that does not fit, and goes on.
	lenient := c.Kind == "assert_uninstantiable" && c.Text == "out of bounds table access"
	if filepath.Ext(c.Filename) == ".wasm" && !lenient && o.trap == "" {
		return errors.New("it was accepted: " + c.Text)
	}
	return nil
}

// trapText cuts what only the engine's own words differ in.
func trapText(err error) string {
	if err == nil {
		return ""
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	line = strings.TrimSuffix(line, " (recovered by wazero)")
	return strings.TrimPrefix(line, "wasm error: ")
}

// memoryState sums a memory up. Of a large one it takes both ends.
func memoryState(mod api.Module) string {
	m := mod.Memory()
	if reflect.ValueOf(m).IsNil() { // what the engine gives is never a plain nil
		return ""
	}
	const end = 1 << 20
	size := m.Size()
	head, _ := m.Read(0, min(size, end))
	tail, _ := m.Read(size-min(size, end), min(size, end))
	return fmt.Sprintf("%d bytes %x", size, sha256.Sum256(slices.Concat(head, tail)))
}

func (w *specWorld) close(ctx context.Context, t testing.TB) {
	if err := w.engine.Close(ctx); err != nil {
		t.Error(err)
	}
}
