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
// to be for an instruction that observes it (nangraph.go).
func canonicalize(f *function) {
	for i := range f.code {
		if in := &f.code[i]; in.op == opSelect || in.op == opSelectTyped || treats(in).treatment == makes {
			canonicalizeWithin(f, workPerInstr*(len(f.code)+1024))
			return
		}
	}
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
	c := checks{f: f}
	for i := range g.values {
		if g.values[i].check {
			c.insert(&g.values[i])
		}
	}
	for _, sel := range g.selects {
		c.branch(sel)
	}
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

// checks inserts the code that replaces a NaN by the canonical one.
type checks struct {
	f *function
	// held are the locals that hold operands, plus one: two of each of f32, f64 and
	// v128, and an i32.
	held [7]uint32
}

// insert checks a value where it is on top of the stack.
//
// Every number is greater than or equal to itself and no NaN is, which takes one
// processor flag to tell, where an equality takes two. A branch that is never taken
// costs less than selecting.
func (c *checks) insert(v *value) {
	held := c.local(v.typ, 0)
	code := appendU32([]byte{byte(opLocalTee)}, held)
	get := appendU32([]byte{byte(opLocalGet)}, held)
	if v.typ == v128 {
		equal := opF64x2Eq
		if v.form == lanes32 {
			equal = opF32x4Eq
		}
		code = append(append(appendCanonical(code, v), get...), get...)
		c.f.insertAfter(int(v.at), appendOp(appendOp(code, equal), opV128Bitselect)...)
		return
	}
	equal := opF64Ge
	if v.typ == f32 {
		equal = opF32Ge
	}
	code = append(append(code, get...), byte(equal), byte(opIf), byte(v.typ))
	code = append(append(code, get...), byte(opElse))
	c.f.insertAfter(int(v.at), append(appendCanonical(code, v), byte(opEnd))...)
}

// branch replaces a select of floats by branches that do the same.
//
// wazero's compiler for amd64 moves a float on a condition in a way that hides from
// its register allocator that the target has a value already: where the first
// operand has to be loaded from the stack again, which a call in between is enough
// for, it can take the register of the second, and garbage be selected.
func (c *checks) branch(s selection) {
	first, second, condition := c.local(s.typ, 0), c.local(s.typ, 1), c.local(i32, 0)
	var code []byte
	for _, l := range []uint32{condition, second, first} {
		code = appendU32(append(code, byte(opLocalSet)), l)
	}
	code = appendU32(append(code, byte(opLocalGet)), condition)
	code = appendU32(append(code, byte(opIf), byte(s.typ), byte(opLocalGet)), first)
	code = appendU32(append(code, byte(opElse), byte(opLocalGet)), second)
	c.f.insertBefore(int(s.at), append(code, byte(opEnd))...)
	c.f.code[s.at].size = 0
}

// local returns a local that holds an operand, one of two of each type of float.
func (c *checks) local(t valType, n int) uint32 {
	slot := 6
	if t != i32 {
		slot = 2*int(f32-t) + n
	}
	held := &c.held[slot]
	if *held == 0 {
		*held = c.f.newLocal(t) + 1
	}
	return *held - 1
}

// appendCanonical appends a constant of canonical NaNs of the form of v.
func appendCanonical(code []byte, v *value) []byte {
	le := binary.LittleEndian
	switch v.typ {
	case f32:
		return le.AppendUint32(append(code, byte(opF32Const)), canonical32)
	case f64:
		return le.AppendUint64(append(code, byte(opF64Const)), canonical64)
	}
	lane := canonical64
	if v.form == lanes32 {
		lane = uint64(canonical32)<<32 | uint64(canonical32)
	}
	return le.AppendUint64(le.AppendUint64(appendOp(code, opV128Const), lane), lane)
}
