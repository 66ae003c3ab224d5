package rewrite

// wazero's compilers move some floats in a way that hides from their register
// allocator that what is moved to has a value already, of which a part or, on a
// condition, all stays. Where what is moved has to be loaded from the stack first,
// which a call in between is enough for, it can take the very register that it is
// moved to, and garbage stays. These moves are replaced.

const (
	opF32x4ReplaceLane opcode = 0xfd020
	opF64x2ReplaceLane opcode = 0xfd022
	opI32x4ReplaceLane opcode = 0xfd01c
	opI64x2ReplaceLane opcode = 0xfd01e
	opI32ReinterpretF  opcode = 0xbc
	opI64ReinterpretF  opcode = 0xbd
)

// replaceSelects makes branches of what selects floats and vectors. The compiler for
// amd64 gets it wrong. A comparison is part of a branch, and is not part of a select:
// this is not slower.
func replaceSelects(f *function, selects []selection, held *operands) {
	for _, s := range selects {
		first, second, condition := held.local(s.typ, 0), held.local(s.typ, 1), held.local(i32, 0)
		code := asm{}.op(opLocalSet, condition).op(opLocalSet, second).op(opLocalSet, first)
		code = code.op(opLocalGet, condition).op(opIf).raw(byte(s.typ))
		code = code.op(opLocalGet, first).op(opElse).op(opLocalGet, second).op(opEnd)
		f.insertBefore(int(s.at), code...)
		f.code[s.at].size = 0
	}
}

// replaceLanes replaces lanes of floats as if they were integers. The compiler for
// amd64 gets the first of two wrong, and that for arm64 hides all.
func replaceLanes(f *function) {
	for i := range f.code {
		in := &f.code[i]
		switch in.op {
		case opF32x4ReplaceLane:
			f.insertBefore(i, asm{}.op(opI32ReinterpretF).op(opI32x4ReplaceLane, uint32(in.a))...)
		case opF64x2ReplaceLane:
			f.insertBefore(i, asm{}.op(opI64ReinterpretF).op(opI64x2ReplaceLane, uint32(in.a))...)
		default:
			continue
		}
		in.size = 0
	}
}
