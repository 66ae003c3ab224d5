package rewrite

import "encoding/binary"

// canonicalize makes the bits of every NaN that the guest can see the same on each
// processor and engine.
//
// What a NaN that arithmetic made looks like is up to the processor: its sign, and
// whose payload it carries on. A NaN that the guest made itself, from the bits of an
// integer or of memory, keeps them wherever it is moved, and has to. So a NaN is
// replaced by the canonical one between the arithmetic that may have made it and the
// first instruction that can tell its bits. Most values never get that far: other
// arithmetic, comparisons and conversions to integers treat all NaNs alike.
//
// The function is walked once, which gives a graph of its float values (nanwalk.go).
// The graph knows of each value where its NaNs come from, and so where checks have
// to be for an instruction that observes it (nangraph.go). Some moves of floats are
// replaced in passing, for another reason (nanmoves.go).
func canonicalize(f *function) {
	matters := false
	for i := range f.code {
		in := &f.code[i]
		matters = matters || treats(in).treatment == makes || in.op == opSelect || in.op == opSelectTyped
	}
	if matters {
		canonicalizeWithin(f, workPerInstr*(len(f.code)+1024))
	}
	replaceLanes(f)
}

// canonicalizeWithin spends so much work on telling values apart before it settles
// for less.
func canonicalizeWithin(f *function, work int) {
	g := trace(f, work)
	g.solve()
	for _, u := range g.uses {
		if g.values[u.value].made&^u.reads != 0 {
			g.observe(u.value)
		}
	}
	held := operands{f: f}
	for i := range g.values {
		if g.values[i].check {
			insertCheck(f, &g.values[i], &held)
		}
	}
	replaceSelects(f, g.selects, &held)
}

// Canonical NaNs are positive, quiet, and have no payload.
const (
	canonical32 uint32 = 0x7fc00000
	canonical64 uint64 = 0x7ff8000000000000
)

const (
	opF32Ge         opcode = 0x60
	opF64Ge         opcode = 0x66
	opV128Bitselect opcode = 0xfd052
	opF32x4Eq       opcode = 0xfd041
	opF64x2Eq       opcode = 0xfd047
	opShuffle       opcode = 0xfd00d
)

// insertCheck replaces a NaN by the canonical one where the value is on top of the
// stack.
//
// Every number is greater than or equal to itself and no NaN is, which takes one
// processor flag to tell, where an equality takes two. A branch that is never taken
// costs less than selecting.
func insertCheck(f *function, v *value, held *operands) {
	x := held.local(v.typ, 0)
	code := asm{}.op(opLocalTee, x)
	switch {
	case v.typ == f32:
		code = code.op(opLocalGet, x).op(opF32Ge)
	case v.typ == f64:
		code = code.op(opLocalGet, x).op(opF64Ge)
	case v.form == lanes32:
		code = appendCanonical(code, v).op(opLocalGet, x).op(opLocalGet, x).op(opF32x4Eq).op(opV128Bitselect)
	default:
		code = appendCanonical(code, v).op(opLocalGet, x).op(opLocalGet, x).op(opF64x2Eq).op(opV128Bitselect)
	}
	if v.typ != v128 {
		code = code.op(opIf).raw(byte(v.typ)).op(opLocalGet, x).op(opElse)
		code = appendCanonical(code, v).op(opEnd)
	}
	f.insertAfter(int(v.at), code...)
}

// operands are the locals that hold operands of what is inserted.
type operands struct {
	f *function
	// locals are two of each of f32, f64 and v128, and an i32, plus one.
	locals [7]uint32
}

// local returns the n-th local of a type, which nothing is kept in for long.
func (o *operands) local(t valType, n int) uint32 {
	slot := len(o.locals) - 1
	if t != i32 {
		slot = 2*int(f32-t) + n
	}
	if o.locals[slot] == 0 {
		o.locals[slot] = o.f.newLocal(t) + 1
	}
	return o.locals[slot] - 1
}

// appendCanonical appends a constant of canonical NaNs of the form of v.
func appendCanonical(code asm, v *value) asm {
	le := binary.LittleEndian
	switch v.typ {
	case f32:
		return le.AppendUint32(code.op(opF32Const), canonical32)
	case f64:
		return le.AppendUint64(code.op(opF64Const), canonical64)
	}
	lane := canonical64
	if v.form == lanes32 {
		lane = uint64(canonical32)<<32 | uint64(canonical32)
	}
	return le.AppendUint64(le.AppendUint64(code.op(opV128Const), lane), lane)
}
