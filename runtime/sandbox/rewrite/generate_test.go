package rewrite_test

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// choices decides what a generated module looks like: one byte for each choice, and
// the first of the alternatives once the bytes have run out.
type choices []byte

func (c *choices) n(limit int) int {
	if limit <= 1 || len(*c) == 0 {
		return 0
	}
	b := (*c)[0]
	*c = (*c)[1:]
	return int(b) % limit
}

func (c *choices) one(in int) bool { return c.n(in) == in-1 }

func pick[T any](c *choices, from []T) T { return from[c.n(len(from))] }

type genSig struct{ params, results []byte }

type genGlobal struct {
	kind    byte
	mutable bool
	init    []byte
}

// generator makes a valid module out of choices. Every module ends: each loop and
// each function takes from the global genFuel, and traps when it is used up.
type generator struct {
	choices
	types   []genSig
	imports []genSig // functions of the module env
	funcs   []genSig
	globals []genGlobal
	// clean makes canonical what arithmetic answers, so that nothing follows from
	// how a processor chooses the bits of a NaN. The same choices make the same module
	// otherwise.
	clean bool
	// counted has the module count some of what it does in the global genCount.
	counted bool
	// passive segments
	data, elems int
}

// What a generated module exports beside its functions f0, f1, …, the last of which is
// probe, and its mutable globals g0, g1, …
const (
	genFuel     = "fuel"
	genCount    = "count"
	genMemory   = "memory"
	genTable    = 8 // entries of its table of functions
	genMaxPages = 3
)

var (
	genAll = []byte{tI32, tF64, tF32, tI64, tV128, tFunc, tExtern}
	// genHost are the functions that a host offers: it is told a number, or tells one.
	genHost = []genSig{
		{params: []byte{tI32}}, {params: []byte{tI64}}, {params: []byte{tF32}}, {params: []byte{tF64}},
		{results: []byte{tF32}}, {results: []byte{tF64}}, {params: []byte{tF64, tF32}, results: []byte{tI64, tF64}},
	}
)

// generate makes a module, and tells its functions.
func generate(c []byte, clean bool) (wasm []byte, funcs []genSig) {
	g := &generator{choices: c, imports: genHost, clean: clean}
	g.counted = g.one(3)
	g.globals = append(g.globals, genGlobal{tI32, true, []byte{0x41, 0}})
	for _, t := range genAll {
		g.globals = append(g.globals, genGlobal{t, !g.one(4), g.constant(t)})
	}
	g.globals = append(g.globals, genGlobal{tI64, true, []byte{0x42, 0}})
	for range 1 + g.n(4) {
		g.funcs = append(g.funcs, g.signature())
	}
	g.funcs = append(g.funcs, genSig{}, genSig{results: []byte{tI32}}) // the start function, and probe
	g.data, g.elems = g.n(3), g.n(3)
	bodies := make([][]byte, len(g.funcs))
	for i := range g.funcs[:len(g.funcs)-1] {
		bodies[i] = g.function(g.funcs[i])
	}
	bodies[len(bodies)-1] = probe()
	return g.module(bodies), g.funcs
}

func (g *generator) signature() genSig {
	var s genSig
	for range g.n(4) {
		s.params = append(s.params, pick(&g.choices, genAll))
	}
	for range g.n(3) {
		s.results = append(s.results, pick(&g.choices, genAll))
	}
	return s
}

// typeOf returns the index of a function type.
func (g *generator) typeOf(s genSig) uint32 {
	i := slices.IndexFunc(g.types, func(o genSig) bool {
		return slices.Equal(o.params, s.params) && slices.Equal(o.results, s.results)
	})
	if i < 0 {
		g.types = append(g.types, s)
		i = len(g.types) - 1
	}
	return uint32(i)
}

// sigOf returns the type of a function, the imported ones first.
func (g *generator) sigOf(i int) genSig {
	if i < len(g.imports) {
		return g.imports[i]
	}
	return g.funcs[i-len(g.imports)]
}

var (
	genInts   = []int64{0, 1, 2, 7, -1, 31, 64, 255, 4096, -128, 65535, 0x7fffffff, -0x80000000, 0x7fffffffffffffff, -0x8000000000000000}
	genFloats = []uint32{0x3fc00000, 0x7fa54321, 0x7f800000, 0xffc12345, 0, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001, 0x7fa00000, 0x7f812345, 0x40490fdb, 0xcf000001, 1}
	genReals  = []uint64{
		0x3ff8000000000000, 0x7ff4000000054321, 0x7ff0000000000000, 0xfff8000000012345, 0, 0x8000000000000000, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000,
		0xfff8000000000001, 0x7ff4000000000000, 0x7ff0000000012345, 0x400921fb54442d18, 0xc1e0000000200000, 1,
	}
)

// constant writes a constant expression without its end.
func (g *generator) constant(t byte) []byte {
	switch t {
	case tI32:
		return appendS64([]byte{0x41}, int64(int32(pick(&g.choices, genInts))))
	case tI64:
		return appendS64([]byte{0x42}, pick(&g.choices, genInts))
	case tF32:
		return binary.LittleEndian.AppendUint32([]byte{0x43}, pick(&g.choices, genFloats))
	case tF64:
		return binary.LittleEndian.AppendUint64([]byte{0x44}, pick(&g.choices, genReals))
	case tV128:
		b := []byte{0xfd, 0x0c}
		if g.one(2) {
			b = binary.LittleEndian.AppendUint64(b, pick(&g.choices, genReals))
			return binary.LittleEndian.AppendUint64(b, pick(&g.choices, genReals))
		}
		for range 4 {
			b = binary.LittleEndian.AppendUint32(b, pick(&g.choices, genFloats))
		}
		return b
	}
	return []byte{0xd0, t}
}

func appendU32(b []byte, v uint32) []byte { return binary.AppendUvarint(b, uint64(v)) }

func appendS64(b []byte, v int64) []byte {
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

func appendVec[T any](b []byte, items []T, write func([]byte, T) []byte) []byte {
	b = appendU32(b, uint32(len(items)))
	for _, it := range items {
		b = write(b, it)
	}
	return b
}

func appendName(b []byte, s string) []byte { return append(appendU32(b, uint32(len(s))), s...) }

func appendTypes(b, types []byte) []byte { return append(appendU32(b, uint32(len(types))), types...) }

// module puts the sections together.
func (g *generator) module(bodies [][]byte) []byte {
	funcs := appendVec(nil, g.funcs, func(b []byte, s genSig) []byte { return appendU32(b, g.typeOf(s)) })
	imports := appendU32(nil, uint32(len(g.imports)))
	for i, s := range g.imports {
		imports = appendName(appendName(imports, "env"), fmt.Sprint(i))
		imports = appendU32(append(imports, 0), g.typeOf(s))
	}
	wasm := []byte("\x00asm\x01\x00\x00\x00")
	section := func(id byte, payload []byte) {
		wasm = append(append(wasm, id), appendTypes(nil, payload)...)
	}
	section(1, appendVec(nil, g.types, func(b []byte, s genSig) []byte {
		return appendTypes(appendTypes(append(b, 0x60), s.params), s.results)
	}))
	section(2, imports)
	section(3, funcs)
	section(4, []byte{2, tFunc, 1, genTable, genTable + 3, tExtern, 0, 4})
	section(5, g.memorySection())
	section(6, appendVec(nil, g.globals, func(b []byte, v genGlobal) []byte {
		return append(append(append(b, v.kind, bit(v.mutable)), v.init...), 0x0b)
	}))
	section(7, g.exports())
	if g.one(3) {
		section(8, appendU32(nil, uint32(len(g.imports)+len(g.funcs)-2)))
	}
	section(9, g.elements())
	section(12, appendU32(nil, uint32(2+g.data)))
	section(10, appendVec(nil, bodies, appendTypes))
	section(11, g.segments())
	return wasm
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}

func (g *generator) memorySection() []byte {
	if g.one(2) {
		return []byte{1, 0, 1}
	}
	return []byte{1, 1, 1, genMaxPages}
}

func (g *generator) exports() []byte {
	n := uint32(1 + len(g.funcs) + len(g.globals))
	b := append(appendName(appendU32(nil, n), genMemory), 2, 0)
	for i := range g.funcs {
		b = appendU32(append(appendName(b, fmt.Sprint("f", i)), 0), uint32(len(g.imports)+i))
	}
	for i := range g.globals {
		name := fmt.Sprint("g", i)
		switch i {
		case 0:
			name = genFuel
		case len(g.globals) - 1:
			name = genCount
		}
		b = appendU32(append(appendName(b, name), 3), uint32(i))
	}
	return b
}

// elements writes an active segment, and passive ones.
func (g *generator) elements() []byte {
	b := appendU32(nil, uint32(1+g.elems))
	b = append(b, 0, 0x41, 0, 0x0b)
	b = appendTypes(b, g.someFuncs(genTable))
	for range g.elems {
		b = appendTypes(append(b, 1, 0), g.someFuncs(3))
	}
	return b
}

func (g *generator) someFuncs(limit int) []byte {
	var b []byte
	for range g.n(limit + 1) {
		b = append(b, byte(g.n(len(g.imports)+len(g.funcs))))
	}
	return b
}

// segments writes two active data segments that overlap, and passive ones.
func (g *generator) segments() []byte {
	b := appendU32(nil, uint32(2+g.data))
	b = appendName(append(b, 0, 0x41, 8, 0x0b), "\x00\x00\xc0\x7f\x01\x00\xc0\xff\x00\x00\x00\x00\x01\x00\xf0\x7fabcdefgh")
	b = appendName(append(b, 0, 0x41, 20, 0x0b), "\x45\x23\x01\x00\x00\x00\xf4\xff")
	for i := range g.data {
		b = appendName(append(b, 1), "passive"[i:])
	}
	return b
}
