package rewrite_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/wharf-dev/wharf/internal/share"
	"github.com/wharf-dev/wharf/runtime/sandbox/rewrite"
)

// genBench are the engines that generated modules are compared on.
type genBench struct{ compiler, interpreter *genEngine }

func newGenBench(t testing.TB) *genBench {
	return &genBench{newGenEngine(t, compiler), newGenEngine(t, interpreter)}
}

// genBytes are choices of a seed.
func genBytes(seed uint64) []byte {
	r := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16), byte(seed >> 24)})
	b := make([]byte, 256+seed%8*512)
	_, _ = r.Read(b)
	return b
}

// Generated modules behave as before, whichever transformations they are rewritten
// with: results, traps, memory, globals, and what the host is told. Under All the
// engines agree to the bit, on the gas too.
func TestGenerated(t *testing.T) {
	share.Alone(t)
	t.Parallel()
	b := newGenBench(t)
	n, mine := 100, share.All
	if long() {
		n, mine = 800, share.Of(t)
	}
	for seed := range n {
		if !mine(seed) {
			continue
		}
		if b.check(t, genBytes(uint64(seed))); t.Failed() {
			t.Fatalf("with the seed %d", seed)
		}
	}
}

// What gas is used, and where a budget or a depth ends a call, follows from the
// module alone: neither the engine nor the size of the slices in which gas is
// handed out can be told from it. Nothing is free.
func TestGeneratedGas(t *testing.T) {
	share.Alone(t)
	t.Parallel()
	b := newGenBench(t)
	n, mine := 30, share.All
	if long() {
		n, mine = 250, share.Of(t)
	}
	for seed := range n {
		if !mine(seed) {
			continue
		}
		if b.checkGas(t, genBytes(uint64(seed))); t.Failed() {
			t.Fatalf("with the seed %d", seed)
		}
	}
}

// An instance that is made from the memory and the globals of another goes on as the
// other does, unless that one says that it changed what they do not hold.
func TestGeneratedSnapshot(t *testing.T) {
	share.Alone(t)
	t.Parallel()
	b := newGenBench(t)
	n, restored := uint64(200), 0
	if long() {
		n = 1000
	}
	for seed := range n {
		if b.checkSnapshot(t, genBytes(seed)) {
			restored++
		}
		if t.Failed() {
			t.Fatalf("with the seed %d", seed)
		}
	}
	if restored < int(n)/10 {
		t.Errorf("of %d modules %d could be restored: too few to tell", n, restored)
	}
}

func (b *genBench) checkSnapshot(t *testing.T, choices []byte) bool {
	wasm, funcs := generate(choices, false)
	m := rewritten(t, wasm, rewrite.All)
	c := b.compiler.compileRewritten(t, m, funcs)
	defer c.close()
	whole, restored, ok := c.runRestored(genAmple)
	if ok {
		if d := restored.differs(whole, true); d != "" {
			t.Errorf("restored, %s", d)
		}
	}
	return ok
}

func FuzzGeneratedGas(f *testing.F) {
	seeds := uint64(20)
	if testing.Short() {
		seeds = 4
	}
	for seed := range seeds {
		f.Add(genBytes(seed))
	}
	b := newGenBench(f)
	f.Fuzz(func(t *testing.T, choices []byte) { b.checkGas(t, choices) })
}

// checkGas compares runs of a generated module within narrower and narrower limits.
func (b *genBench) checkGas(t *testing.T, choices []byte) {
	wasm, funcs := generate(choices, false)
	m := rewritten(t, wasm, rewrite.All)
	codes := map[string]*genCode{
		"compiler":    b.compiler.compileRewritten(t, m, funcs),
		"interpreter": b.interpreter.compileRewritten(t, m, funcs),
	}
	for _, c := range codes {
		defer c.close()
	}
	whole := sameEverywhere(t, codes, genAmple)
	if len(whole.gas) == 0 {
		return // the start function trapped
	}
	if i := whole.cheap(); i >= 0 {
		t.Fatalf("%s used %d gas, for %d at least", whole.calls[i], whole.gas[i+1]-whole.gas[i], whole.counts[i])
	}
	total := whole.gas[len(whole.gas)-1]
	for _, budget := range []int64{0, total / 3, total / 2, total - 1, total} {
		l := genAmple
		l.budget = budget
		if r := sameEverywhere(t, codes, l); budget == total && r.spent && !whole.trapped() {
			t.Errorf("a budget of %d is not enough for what takes that much", total)
		}
	}
	for _, depth := range []int64{0, 3, 10, 50} {
		l := genAmple
		l.depth = depth
		sameEverywhere(t, codes, l)
	}
}

// sameEverywhere runs a module on each engine, with slices of several sizes.
func sameEverywhere(t *testing.T, codes map[string]*genCode, l genLimits) genResult {
	t.Helper()
	first := codes["compiler"].run(l)
	for _, l.slice = range []int64{1, 17, 1000, 1_000_000} {
		for name, c := range codes {
			if d := c.run(l).differs(first, true); d != "" {
				t.Fatalf("%s, %+v: %s", name, l, d)
			}
		}
	}
	return first
}

func FuzzGenerated(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(genBytes(seed))
	}
	b := newGenBench(f)
	f.Fuzz(func(t *testing.T, choices []byte) { b.check(t, choices) })
}

// check compares a generated module with what it is rewritten to. With NaN, it also
// compares what is made of a module whose arithmetic makes any NaNs with the same
// module where each is made canonical at once.
func (b *genBench) check(t *testing.T, choices []byte) {
	clean, funcs := generate(choices, true)
	original := once(b.compiler.compile(t, clean, funcs))
	for _, set := range transformSets {
		b.checkSet(t, set, clean, funcs, original)
		if set.transforms&rewrite.NaN != 0 {
			any, _ := generate(choices, false)
			set.name += ", NaNs"
			b.checkSet(t, set, any, funcs, original)
		}
	}
}

// checkSet compares what a module is rewritten to with what it is expected to do.
func (b *genBench) checkSet(t *testing.T, set transformSet, wasm []byte, funcs []genSig, want genResult) {
	m := rewritten(t, wasm, set.transforms)
	got := once(b.compiler.compileRewritten(t, m, funcs))
	if d := got.differs(want, false); d != "" {
		t.Errorf("%s: %s", set.name, d)
	}
	if i := got.cheap(); i >= 0 && set.transforms&rewrite.Gas != 0 {
		t.Errorf("%s: %s used %d gas, for %d at least", set.name, got.calls[i], got.gas[i+1]-got.gas[i], got.counts[i])
	}
	if set.transforms == rewrite.All {
		if d := once(b.interpreter.compileRewritten(t, m, funcs)).differs(got, true); d != "" {
			t.Errorf("%s: on the interpreter, %s", set.name, d)
		}
	}
}

func once(c *genCode) genResult {
	defer c.close()
	return c.run(genAmple)
}

func rewritten(t *testing.T, wasm []byte, tr rewrite.Transforms) *rewrite.Module {
	t.Helper()
	m, err := rewrite.Rewrite(wasm, rewrite.Options{Transforms: tr})
	if err != nil {
		t.Fatalf("rewriting a valid module: %v", err)
	}
	return m
}

// FuzzRewrite hands the rewriter what may be no module. It takes what the engine
// takes, but for what the profile refuses with advice, and the engine takes what it
// makes of it.
func FuzzRewrite(f *testing.F) {
	for _, wasm := range fuzzSeeds(f) {
		f.Add(wasm, uint16(rewrite.All))
	}
	ctx := context.Background()
	engine := wazero.NewRuntimeWithConfig(ctx, interpreter.config(genFeatures))
	f.Cleanup(func() { _ = engine.Close(ctx) })
	f.Fuzz(func(t *testing.T, wasm []byte, transforms uint16) {
		o := rewrite.Options{Transforms: rewrite.Transforms(transforms) & rewrite.All}
		m, err := rewrite.Rewrite(wasm, o)
		original, ok := modest(wasm)
		if err != nil && len(original) != len(wasm) {
			m, err = rewrite.Rewrite(original, o) // it may have been about what was left out
		}
		if refused(err) || !ok || validate(ctx, engine, original) != nil {
			return // what becomes of an invalid module does not matter
		}
		if err != nil {
			t.Fatalf("a valid module is refused: %v", err)
		}
		if err := validate(ctx, engine, m.Wasm); err != nil {
			t.Errorf("a rewritten module is not valid: %v", err)
		}
	})
}

// validate has the engine judge a module. Its decoder panics over some.
func validate(ctx context.Context, engine wazero.Runtime, wasm []byte) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the engine panics: %v", p)
		}
	}()
	code, err := engine.CompileModule(ctx, wasm)
	if err == nil {
		_ = code.Close(ctx)
	}
	return err
}

// refused reports whether an error is one that the engine need not agree with. It says
// what the author can do, or it is about bytes that the engine is careless with: its
// decoder makes room for what a module announces before it looks whether that is
// there, takes some opcodes of several bytes by their first or last one, and does not
// look at the spare bits of an integer.
func refused(err error) bool {
	var e *rewrite.Error
	if !errors.As(err, &e) {
		return false
	}
	careless := []string{"it ends in the middle", "unknown opcode", "an integer that is too long"}
	return e.Advice != "" || slices.ContainsFunc(careless, func(s string) bool { return strings.Contains(e.Reason, s) })
}

// large reports whether there is an integer of four bytes or more, which may be a
// length.
func large(b []byte) bool {
	run := 0
	return slices.ContainsFunc(b, func(c byte) bool {
		if run++; c < 0x80 {
			run = 0
		}
		return run == 3
	})
}

// modest returns a module without custom sections, and false when a section announces
// more elements than it has bytes: the engine's decoder would make room for them.
func modest(wasm []byte) ([]byte, bool) {
	const preamble, custom, start, code, data, dataCount = 8, 0, 8, 10, 11, 12
	out := slices.Clone(wasm[:min(preamble, len(wasm))])
	for b := wasm[len(out):]; len(b) > 1; {
		size, n := binary.Uvarint(b[1:])
		if n <= 0 || size > uint64(len(b)-1-n) {
			return nil, false
		}
		id, section, content := b[0], b[:1+n+int(size)], b[1+n:][:size]
		b = b[len(section):]
		if id == custom {
			continue
		}
		count, n := binary.Uvarint(content)
		if id != start && id != dataCount && (n <= 0 || count > size) {
			return nil, false
		}
		if id != code && id != data && large(content) {
			return nil, false
		}
		out = append(out, section...)
	}
	return out, true
}

// fuzzSeeds are small modules of the WebAssembly test suite and generated ones.
func fuzzSeeds(f *testing.F) [][]byte {
	const most, small = 200, 600
	var seeds [][]byte
	for seed := range uint64(20) {
		wasm, _ := generate(genBytes(8*seed), false)
		seeds = append(seeds, wasm)
	}
	paths, _ := filepath.Glob(filepath.Join(specFolder(f), "*", "testdata", "*.wasm"))
	for i, path := range paths {
		info, err := os.Stat(path)
		if err != nil || info.Size() > small || i%(len(paths)/most+1) != 0 {
			continue
		}
		wasm, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		seeds = append(seeds, wasm)
	}
	return seeds
}
