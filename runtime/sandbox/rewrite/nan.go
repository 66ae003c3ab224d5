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
	g := trace(f)
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
	// held are the locals that hold what is checked, plus one: f32, f64, v128.
	held [3]uint32
}

// insert checks a value where it is on top of the stack.
//
// Every number is greater than or equal to itself and no NaN is, which takes one
// processor flag to tell, where an inequality takes two.
func (c *checks) insert(v *value) {
	held := c.local(v.typ)
	code := appendU32([]byte{byte(opLocalTee)}, held)
	code = appendCanonical(code, v)
	for range 2 {
		code = appendU32(append(code, byte(opLocalGet)), held)
	}
	switch {
	case v.typ == f32:
		code = append(code, byte(opF32Ge), byte(opSelect))
	case v.typ == f64:
		code = append(code, byte(opF64Ge), byte(opSelect))
	case v.form == lanes32:
		code = appendOp(appendOp(code, opF32x4Eq), opV128Bitselect)
	default:
		code = appendOp(appendOp(code, opF64x2Eq), opV128Bitselect)
	}
	c.f.insertAfter(int(v.at), code...)
}

// local returns the local that holds values of a type while they are checked.
func (c *checks) local(t valType) uint32 {
	held := &c.held[f32-t]
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
