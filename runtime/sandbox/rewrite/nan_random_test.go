package rewrite

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"pgregory.net/rapid"
)

// Random functions of floats do what they would do if the result of all arithmetic
// were checked at once, bit by bit, on both engines.
func TestNaNRandom(t *testing.T) {
	ctx := context.Background()
	engines := map[string]wazero.Runtime{}
	for name, config := range nanEngines {
		engines[name] = wazero.NewRuntimeWithConfig(ctx, config())
		defer func() { _ = engines[name].Close(ctx) }()
	}
	rapid.Check(t, func(t *rapid.T) {
		funcs := []nanFunc{
			{"ddff>d", randomLocals, randomFunc(t, true)},
			{"ddff>d", randomLocals, randomFunc(t, false)},
		}
		wasm := nanModule(&failing{rt: t}, funcs...)
		variants := map[string][]byte{
			"checked everywhere": each(t, wasm, checkEverywhere),
			"canonicalized":      each(t, wasm, canonicalize),
			"in coarse mode": each(t, wasm, func(f *function) {
				canonicalizeWithin(f, -1)
				replaceLanes(f)
			}),
		}
		expected := observed(t, engines["interpreter"], variants["checked everywhere"])
		for engine, r := range engines {
			for variant, wasm := range variants {
				if got := observed(t, r, wasm); !bytes.Equal(got, expected) {
					t.Fatalf("%s, %s: got %x, expected %x, for %s\n%s", engine, variant, got, expected, funcs[0].body, funcs[1].body)
				}
			}
		}
	})
}

// failing lets the assembler fail a property.
type failing struct {
	testing.TB
	rt *rapid.T
}

func (f *failing) Fatal(args ...any)            { f.rt.Fatal(args...) }
func (f *failing) Fatalf(s string, args ...any) { f.rt.Fatalf(s, args...) }

// each applies a pass to each function of a module.
func each(t interface{ Fatal(...any) }, wasm []byte, pass func(*function)) []byte {
	m, err := read(wasm, Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := m.sections[sectionCode]
	n := length(&r)
	d, code := &decoder{m: m}, appendU32(nil, n)
	for i := range n {
		part := r.part(r.u32())
		f := d.function(m.importedFuncs+i, &part)
		pass(f)
		body := f.appendTo(nil)
		code = append(appendU32(code, uint32(len(body))), body...)
	}
	return m.write(code)
}

// checkEverywhere inserts a check after all arithmetic.
func checkEverywhere(f *function) {
	held := operands{f: f}
	for at := range f.code {
		in := &f.code[at]
		if op := treats(in); op.treatment == makes {
			insertCheck(f, &value{typ: in.op.info().pushes[0], form: op.out, at: int32(at)}, &held)
		}
	}
	replaceSelects(f, trace(f, -1).selects, &held)
	replaceLanes(f)
}

// observed runs f0 and returns its result and what it left in memory.
func observed(t interface{ Fatal(...any) }, engine wazero.Runtime, wasm []byte) []byte {
	ctx := context.Background()
	m, err := engine.InstantiateWithConfig(ctx, wasm, wazero.NewModuleConfig().WithName(""))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close(ctx) }()
	mem, _ := m.Memory().Read(0, randomMemory)
	for i := 0; i < randomMemory; i += 8 {
		binary.LittleEndian.PutUint64(mem[i:], randomWords[i/8%len(randomWords)])
	}
	results, err := m.ExportedFunction("f0").Call(ctx, 0x7ff0000000000123, 0xfff8000000000456, 0x7f800789, 0xffc00abc)
	if err != nil {
		t.Fatal(err)
	}
	return binary.LittleEndian.AppendUint64(bytes.Clone(mem), results[0])
}

const (
	randomMemory = 256
	randomLocals = "dddffvvviii" // from 4 on; the first i32 is the fuel of loops
	fuelLocal    = 12
)

// randomWords is what the memory holds at first: numbers, and NaNs of all kinds.
var randomWords = []uint64{
	0, signaling, one64, 0x7ff0000000000000, 0x7fc000007fc00000, 0xffc00001_7f800001, 0xfff8000000000000, 0x4008000000000000,
}

var randomLocal = map[byte][]int{'d': {0, 1, 4, 5, 6}, 'f': {2, 3, 7, 8}, 'v': {9, 10, 11}, 'i': {13, 14}}

// randomCode writes a random function.
type randomCode struct {
	t     *rapid.T
	calls bool
	depth int
	b     strings.Builder
}

func randomFunc(t *rapid.T, calls bool) string {
	c := &randomCode{t: t, calls: calls}
	fmt.Fprintf(&c.b, "i32.const %d local.set %d ", c.n(8)+1, fuelLocal)
	c.statements(8)
	c.expr('d')
	return c.b.String()
}

func (c *randomCode) n(limit int) int { return rapid.IntRange(0, limit-1).Draw(c.t, "n") }

func (c *randomCode) pick(from string) byte { return from[c.n(len(from))] }

func (c *randomCode) local(t byte) int { return randomLocal[t][c.n(len(randomLocal[t]))] }

func (c *randomCode) emit(format string, args ...any) { fmt.Fprintf(&c.b, format+" ", args...) }

func (c *randomCode) statements(most int) {
	for range c.n(most) + 1 {
		c.statement()
	}
}

func (c *randomCode) statement() {
	c.depth++
	defer func() { c.depth-- }()
	choice := c.n(9)
	if c.depth > 4 {
		choice %= 5
	}
	t := c.pick("dfvi")
	switch choice {
	case 0, 1, 2:
		c.expr(t)
		c.emit("local.set %d", c.local(t))
	case 3:
		c.emit("i32.const %d", c.n(randomMemory/16)*16)
		c.expr(t)
		c.emit("%s.store 0", map[byte]string{'d': "f64", 'f': "f32", 'v': "v128", 'i': "i32"}[t])
	case 4:
		g := c.n(3)
		c.expr("fdv"[g])
		c.emit("global.set %d", g)
	case 5:
		c.expr('i')
		c.emit("if >")
		c.statements(3)
		if c.n(2) == 0 {
			c.emit("else")
			c.statements(3)
		}
		c.emit("end")
	case 6:
		c.emit("block >")
		c.statements(2)
		c.expr('i')
		c.emit("br_if 0")
		c.statements(3)
		c.emit("end")
	case 7:
		c.emit("loop >")
		c.statements(4)
		c.again()
		c.statements(1)
		c.emit("end")
	case 8:
		c.emit("block > block > block >")
		c.expr('i')
		c.emit("br_table 2 0 1 2 end")
		c.statements(2)
		c.emit("br 1 end")
		c.statements(2)
		c.emit("end")
	}
}

// again branches back while there is fuel.
func (c *randomCode) again() {
	c.emit("local.get %d i32.const -1 i32.add local.tee %d i32.const 0 i32.gt_s br_if 0", fuelLocal, fuelLocal)
}

func (c *randomCode) expr(t byte) {
	c.depth++
	defer func() { c.depth-- }()
	if c.depth > 6 {
		c.leaf(t)
		return
	}
	switch c.n(12) {
	case 0, 1:
		c.leaf(t)
	case 2:
		c.expr(t)
		c.expr(t)
		c.expr('i')
		c.emit("select")
	case 3:
		c.expr(t)
		c.emit("local.tee %d", c.local(t))
	case 4:
		c.block(t)
	default:
		c.operation(t)
	}
}

func (c *randomCode) block(t byte) {
	other := c.pick("dfv")
	switch c.n(6) {
	case 0:
		c.expr('i')
		c.emit("if >%c", t)
		c.expr(t)
		c.emit("else")
		c.statements(1)
		c.expr(t)
		c.emit("end")
	case 1:
		c.emit("block >%c", t)
		c.expr(t)
		c.expr('i')
		c.emit("br_if 0 drop")
		c.expr(t)
		c.emit("end")
	case 2:
		c.expr(t)
		c.emit("loop %c>%c local.set %d", t, t, c.local(t))
		c.statements(2)
		c.expr(t)
		c.again()
		c.emit("end")
	case 3:
		c.expr(t)
		c.expr(other)
		c.emit("block %c%c>%c%c local.set %d", t, other, t, other, c.local(other))
		c.expr(other)
		c.expr('i')
		c.emit("i32.const 3 i32.and br_table 1 0 0 end drop")
	case 4:
		c.expr(t)
		c.expr('i')
		c.emit("if %c>%c", t, t)
		c.emit("local.tee %d", c.local(t))
		c.emit("end")
	case 5:
		c.emit("block >%c%c", other, t)
		c.expr(other)
		c.expr(t)
		c.emit("br 0 end local.set %d local.set %d local.get %[1]d", c.local(t), c.local(other))
	}
}

func (c *randomCode) leaf(t byte) {
	switch c.n(4) {
	case 0:
		switch t {
		case 'd':
			c.emit("f64.const %s", rapid.SampledFrom([]string{"0", "-0", "1.5", "Inf", "-Inf", "-2", ":0xfff0000000000001", ":0x7ff8000000000000"}).Draw(c.t, "d"))
		case 'f':
			c.emit("f32.const %s", rapid.SampledFrom([]string{"0", "-0", "1.5", "Inf", "-Inf", ":0xff800001", ":0x7fc00000"}).Draw(c.t, "f"))
		case 'v':
			c.emit("v128.const %#x %#x", randomWords[c.n(len(randomWords))], randomWords[c.n(len(randomWords))])
		case 'i':
			c.emit("i32.const %d", c.n(4))
		}
	case 1:
		c.emit("i32.const %d %s.load 0", c.n(randomMemory/8-1)*8, map[byte]string{'d': "f64", 'f': "f32", 'v': "v128", 'i': "i32"}[t])
	case 2:
		if g := strings.IndexByte("fdv", t); g >= 0 {
			c.emit("global.get %d", g)
			return
		}
		fallthrough
	default:
		c.emit("local.get %d", c.local(t))
	}
}

// randomOps are operations by their result, with the letters of their operands.
var randomOps = buildRandomOps()

type randomOp struct {
	name     string
	operands string
	imm      immediate
}

// buildRandomOps takes everything that cannot trap from the table of opcodes, those
// on floats several times.
func buildRandomOps() map[byte][]randomOp {
	ops := map[byte][]randomOp{}
	for _, r := range runs {
		operands, results, fixed := strings.Cut(r.types, ">")
		usable := r.imm == immNone || r.imm == immLane || r.imm == immShuffle
		if !fixed || !usable || len(results) != 1 || strings.Contains(operands+results, "l") || operands == "" {
			continue
		}
		for i, name := range strings.Fields(r.names) {
			if strings.Contains(name, "div_") || strings.Contains(name, "rem_") || strings.HasPrefix(name, "i32.trunc_f") {
				continue
			}
			op := randomOp{name, operands, r.imm}
			times := 1
			if floatOps[floatIndex(r.first+opcode(i))].treatment != observes || r.imm == immShuffle {
				times = 8
			}
			for range times {
				ops[results[0]] = append(ops[results[0]], op)
			}
		}
	}
	return ops
}

func (c *randomCode) operation(t byte) {
	if t == 'd' && c.calls && c.n(12) == 0 {
		c.expr('d')
		c.expr('d')
		c.expr('f')
		c.expr('f')
		c.emit("call 1")
		return
	}
	op := randomOps[t][c.n(len(randomOps[t]))]
	for i := range op.operands {
		c.expr(op.operands[i])
	}
	c.emit("%s", op.name)
	switch op.imm {
	case immLane:
		c.emit("%d", c.n(2))
	case immShuffle:
		c.shuffle()
	}
}

// shuffle writes lanes that keep those of a format whole, most of the time.
func (c *randomCode) shuffle() {
	width := []int{1, 4, 8, 8}[c.n(4)]
	for range 16 / width {
		first := c.n(32/width) * width
		for i := range width {
			c.emit("%d", first+i)
		}
	}
}
