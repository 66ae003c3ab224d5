package rewrite

// asm is code under construction.
type asm []byte

const emptyBlock = 0x40 // the type of a block that takes and gives nothing

// op appends an instruction whose immediates, if any, are unsigned integers.
func (a asm) op(o opcode, immediates ...uint32) asm {
	a = appendOp(a, o)
	for _, v := range immediates {
		a = appendU32(a, v)
	}
	return a
}

// i64 appends a constant.
func (a asm) i64(v int64) asm { return appendS64(appendOp(a, opI64Const), v) }

func (a asm) raw(b ...byte) asm { return append(a, b...) }
