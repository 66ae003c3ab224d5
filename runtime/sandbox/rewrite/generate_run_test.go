package rewrite_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/crc64"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/wharf-dev/wharf/runtime/sandbox/rewrite"
)

var errOutOfGas = errors.New("out of gas")

// genLimits are what a run of a generated module may take.
type genLimits struct {
	slice, budget, depth int64
}

// genAmple is more than a generated module can take.
var genAmple = genLimits{slice: 1000, budget: 1 << 40, depth: 1 << 30}

// genCalls is how often a generated module may go round a loop or call a function.
const genCalls = 300

// genResult is all that can be told of a run of a generated module.
type genResult struct {
	calls  []string // results or traps
	gas    []int64  // used before and after each call, in all
	counts []int64  // of each call, what it counted itself
	told   string   // a sum of what the host was told
	memory string
	state  string // globals
	spent  bool   // a call ended for want of gas
}

// differs says where two results are not the same, "" when they are.
func (r genResult) differs(o genResult, gas bool) string {
	for i := range r.calls {
		if i >= len(o.calls) || r.calls[i] != o.calls[i] {
			return fmt.Sprintf("call %d is %q, not %q", i, r.calls[i], slices.Concat(o.calls, []string{"missing"})[min(i, len(o.calls))])
		}
	}
	switch {
	case gas && !slices.Equal(r.gas, o.gas):
		return fmt.Sprintf("gas is %v, not %v after %q", r.gas, o.gas, r.calls)
	case r.told != o.told:
		return fmt.Sprintf("the host was told %s, not %s", r.told, o.told)
	case r.memory != o.memory:
		return fmt.Sprintf("memory is %s, not %s", r.memory, o.memory)
	case r.state != o.state:
		return fmt.Sprintf("globals are %s, not %s", r.state, o.state)
	}
	return ""
}

// cheap returns the first call that returned and used less gas than it counted, -1
// without one.
func (r genResult) cheap() int {
	for i, count := range r.counts {
		if strings.HasSuffix(r.calls[i], "]") && r.gas[i+1]-r.gas[i] < count {
			return i
		}
	}
	return -1
}

// trapped reports whether a call trapped: what it used since it last brought its gas
// up to date is then not known.
func (r genResult) trapped() bool {
	return slices.ContainsFunc(r.calls, func(c string) bool { return !strings.HasSuffix(c, "]") })
}

// genEngine runs generated modules on one engine. It is safe for concurrent use.
type genEngine struct{ runtime wazero.Runtime }

// genFeatures are what generated modules use.
const genFeatures = api.CoreFeaturesV2 | experimental.CoreFeaturesTailCall | experimental.CoreFeaturesExtendedConst

func newGenEngine(t testing.TB, kind engineKind) *genEngine {
	ctx := context.Background()
	e := &genEngine{wazero.NewRuntimeWithConfig(ctx, kind.config(genFeatures))}
	t.Cleanup(func() { _ = e.runtime.Close(ctx) })
	env := e.runtime.NewHostModuleBuilder("env")
	for i, s := range genHost {
		env.NewFunctionBuilder().WithGoModuleFunction(genHostFunction(i, s), s.params, s.results).Export(fmt.Sprint(i))
	}
	if _, err := env.Instantiate(ctx); err != nil {
		t.Fatal(err)
	}
	if err := offerYield(ctx, e.runtime, func(ctx context.Context, mod api.Module, gas, depth int64) int64 {
		return ctx.Value(genRunKey{}).(*genRun).yield(mod, gas, depth)
	}); err != nil {
		t.Fatal(err)
	}
	return e
}

type genRunKey struct{}

// genRun is the state of the host during a run.
type genRun struct {
	limits  genLimits
	granted int64 // gas, in all
	told    uint64
	count   uint64
	spent   bool
}

var genSum = sync.OnceValue(func() *crc64.Table { return crc64.MakeTable(crc64.ECMA) })

// genHostFunction sums up what it is told, and tells numbers and NaNs.
func genHostFunction(index int, s genSig) api.GoModuleFunction {
	return api.GoModuleFunc(func(ctx context.Context, _ api.Module, stack []uint64) {
		r := ctx.Value(genRunKey{}).(*genRun)
		text := fmt.Sprint(index, withoutAddresses(s.params, slices.Clone(stack[:len(s.params)])))
		r.told = crc64.Update(r.told, genSum(), []byte(text))
		for i, t := range s.results {
			r.count++
			stack[i] = genNumber(t, r.count)[0]
		}
	})
}

// yield is the host's side of gas and depth. The global of the guest is moved along
// with what is granted: between two places where the guest brings it up to date,
// which is where a trap leaves it, it tells what was used as of the first.
func (r *genRun) yield(mod api.Module, gas, depth int64) int64 {
	used := r.granted - gas
	switch {
	case used > r.limits.budget:
		r.spent = true
		panic(errOutOfGas)
	case depth < 0:
		panic(errStackOverflow)
	}
	n := min(r.limits.slice, r.limits.budget-used)
	if left, ok := mod.ExportedGlobal(rewrite.GasExport).(api.MutableGlobal); ok {
		left.Set(left.Get() + uint64(used+n-r.granted))
	}
	r.granted = used + n
	return n
}

// genNumber is the n-th value of a type that a module is given.
func genNumber(t byte, n uint64) []uint64 {
	switch t {
	case tI32:
		return []uint64{uint64(genInts[n%uint64(len(genInts))]) & ones(32)}
	case tI64:
		return []uint64{uint64(genInts[n%uint64(len(genInts))])}
	case tF32:
		return []uint64{uint64(genFloats[n%uint64(len(genFloats))])}
	case tF64:
		return []uint64{genReals[n%uint64(len(genReals))]}
	case tV128:
		return []uint64{genReals[n%uint64(len(genReals))], uint64(genFloats[n%uint64(len(genFloats))]) << 16}
	case tExtern:
		return []uint64{n % 2 * 77}
	}
	return []uint64{0}
}

// genCode is a compiled module, as it is or rewritten.
type genCode struct {
	engine *genEngine
	code   wazero.CompiledModule
	module *rewrite.Module // nil for one that is not rewritten
	funcs  []genSig
}

// compile compiles a module until the test ends.
func (e *genEngine) compile(t *testing.T, wasm []byte, funcs []genSig) *genCode {
	t.Helper()
	code, err := e.runtime.CompileModule(context.Background(), wasm)
	if err != nil {
		t.Fatalf("the module is not valid: %v", err)
	}
	return &genCode{engine: e, code: code, funcs: funcs}
}

// compileRewritten compiles what a module is rewritten to.
func (e *genEngine) compileRewritten(t *testing.T, m *rewrite.Module, funcs []genSig) *genCode {
	t.Helper()
	c := e.compile(t, m.Wasm, funcs)
	c.module = m
	return c
}

func (c *genCode) close() { _ = c.code.Close(context.Background()) }

// genRounds is how often a run calls each function.
const genRounds = 3

// run calls each function of a module a few times.
func (c *genCode) run(limits genLimits) genResult {
	r := &genRun{limits: limits}
	ctx := context.WithValue(context.Background(), genRunKey{}, r)
	in, err := c.instantiate(ctx)
	if err != nil {
		_, trap, _ := strings.Cut(err.Error(), "start function[") // as the engine calls it
		trap = trap[strings.Index(trap, ":")+1:]
		return genResult{calls: []string{"start " + trapText(errors.New(strings.TrimSpace(trap)))}}
	}
	defer in.mod.Close(ctx)
	return in.rounds(ctx, c.funcs, 0, genRounds)
}

// runRestored runs a module once as it is and once more with another instance after
// the first round, which is made from the memory and the globals of the first. It
// returns false when that cannot be done, because the module does not start, or
// says that it changed what they do not hold.
func (c *genCode) runRestored(limits genLimits) (whole, restored genResult, ok bool) {
	r := &genRun{limits: limits}
	ctx := context.WithValue(context.Background(), genRunKey{}, r)
	in, err := c.instantiate(ctx)
	if err != nil {
		return whole, restored, false
	}
	defer in.mod.Close(ctx)
	in.rounds(ctx, c.funcs, 0, 1)
	if in.mod.ExportedGlobal(rewrite.ChangedExport).Get() != 0 {
		return whole, restored, false
	}
	r2 := &genRun{limits: limits, granted: r.granted, told: r.told, count: r.count}
	ctx2 := context.WithValue(context.Background(), genRunKey{}, r2)
	in2, err := c.restored(ctx2, in)
	if err != nil {
		return whole, genResult{calls: []string{err.Error()}}, true
	}
	defer in2.mod.Close(ctx2)
	last := len(c.funcs) - 1
	if a, b := in.call(ctx, last, c.funcs[last], 0)+in.globals(), in2.call(ctx2, last, c.funcs[last], 0)+in2.globals(); a != b {
		return genResult{calls: []string{a}}, genResult{calls: []string{b}}, true
	}
	whole = in.rounds(ctx, c.funcs, 1, genRounds)
	return whole, in2.rounds(ctx2, c.funcs, 1, genRounds), true
}

// restored makes an instance that has the memory and the globals of another.
func (c *genCode) restored(ctx context.Context, from *genInstance) (*genInstance, error) {
	in, err := c.blank(ctx)
	if err != nil {
		return nil, err
	}
	b, _ := from.mod.Memory().Read(0, from.mod.Memory().Size())
	memory := in.mod.Memory()
	if _, ok := memory.Grow(uint32(len(b)-int(memory.Size())) / wasmPage); !ok || !memory.Write(0, b) {
		return nil, errors.New("the memory cannot be restored")
	}
	for i, g := range c.module.Globals {
		if name := rewrite.GlobalExport(i); g.Type != tV128 && g.Type != tFunc && g.Type != tExtern {
			in.mod.ExportedGlobal(name).(api.MutableGlobal).Set(from.mod.ExportedGlobal(name).Get())
		}
	}
	return in, nil
}

// genInstance is an instance of a generated module.
type genInstance struct {
	mod        api.Module
	gas, depth api.MutableGlobal
	run        *genRun
}

// instantiate makes an instance and has its start function called.
func (c *genCode) instantiate(ctx context.Context) (*genInstance, error) {
	in, err := c.blank(ctx)
	if err != nil || c.module == nil {
		return in, err
	}
	if err := restore(ctx, in.mod, c.module); err != nil {
		_ = in.mod.Close(ctx)
		return nil, fmt.Errorf("start function[]: %w", err)
	}
	return in, nil
}

// blank makes an instance as the engine does by itself.
func (c *genCode) blank(ctx context.Context) (*genInstance, error) {
	if c.module != nil && c.module.Memory != nil {
		ctx = experimental.WithMemoryAllocator(ctx, boundedMemory(c.module.Memory))
	}
	mod, err := c.engine.runtime.InstantiateModule(ctx, c.code, wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		return nil, err
	}
	in := &genInstance{mod: mod, run: ctx.Value(genRunKey{}).(*genRun)}
	in.gas, _ = mod.ExportedGlobal(rewrite.GasExport).(api.MutableGlobal)
	in.depth, _ = mod.ExportedGlobal(rewrite.DepthExport).(api.MutableGlobal)
	if in.depth != nil {
		in.depth.Set(uint64(in.run.limits.depth))
	}
	return in, nil
}

// rounds calls each function, in the given rounds.
func (in *genInstance) rounds(ctx context.Context, funcs []genSig, from, to uint64) genResult {
	out := genResult{gas: []int64{in.settle()}}
	for round := from; round < to; round++ {
		for i, s := range funcs {
			out.calls = append(out.calls, in.call(ctx, i, s, round))
			out.gas = append(out.gas, in.settle())
			out.counts = append(out.counts, int64(in.mod.ExportedGlobal(genCount).Get()))
		}
	}
	out.told, out.memory, out.state = fmt.Sprintf("%x", in.run.told), memorySum(in.mod), in.globals()
	out.spent = in.run.spent
	return out
}

// settle returns the gas used so far, and takes back what was granted and is not
// used, as a host does that begins another call.
func (in *genInstance) settle() int64 {
	if in.depth != nil {
		in.depth.Set(uint64(in.run.limits.depth))
	}
	if in.gas == nil {
		return 0
	}
	used := in.run.granted - int64(in.gas.Get())
	in.run.granted = used
	in.gas.Set(0)
	return used
}

func (in *genInstance) call(ctx context.Context, i int, s genSig, round uint64) string {
	in.mod.ExportedGlobal(genFuel).(api.MutableGlobal).Set(genCalls)
	in.mod.ExportedGlobal(genCount).(api.MutableGlobal).Set(0)
	var args []uint64
	for k, t := range s.params {
		args = append(args, genNumber(t, round*7+uint64(3*k+i))...)
	}
	words, err := in.mod.ExportedFunction(fmt.Sprint("f", i)).Call(ctx, args...)
	if err != nil {
		return fmt.Sprint("f", i, " ", trapText(err))
	}
	if in.depth != nil && int64(in.depth.Get()) != in.run.limits.depth {
		return fmt.Sprintf("f%d returned with a depth of %d", i, in.depth.Get())
	}
	return fmt.Sprintf("f%d %x", i, withoutAddresses(s.results, words))
}

func (in *genInstance) globals() string {
	var all []string
	for i, t := range genAll {
		g := in.mod.ExportedGlobal(fmt.Sprint("g", i+1))
		all = append(all, fmt.Sprintf("%x", withoutAddresses([]byte{t}, []uint64{g.Get(), 0})[0]))
	}
	fuel := in.mod.ExportedGlobal(genFuel).Get()
	return fmt.Sprint(int32(fuel), " ", strings.Join(all, " "))
}

func memorySum(mod api.Module) string {
	b, _ := mod.Memory().Read(0, mod.Memory().Size())
	return fmt.Sprintf("%d bytes %x", len(b), sha256.Sum256(b))
}
