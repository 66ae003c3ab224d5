package rewrite

// integer holds the opcodes of an integer type by which its remainders are made.
type integer struct {
	valType
	konst, eq, add, sub, mul, divS, divU, remS, remU opcode
}

var integers = [2]integer{
	{i32, opI32Const, 0x46, opI32Add, opI32Sub, opI32Mul, 0x6d, 0x6e, 0x6f, 0x70},
	{i64, opI64Const, 0x51, 0x7c, 0x7d, 0x7e, 0x7f, 0x80, 0x81, 0x82},
}

// divideInstead replaces each remainder of x and y by x - x/y*y, which it is.
//
// wazero's compiler for arm64 makes a remainder of two instructions that set one
// register. What the trap on a divisor of 0 needs comes in between, and where that was
// moved to the stack, its register allocator may bring it back into that very register:
// the remainder is garbage then. A quotient is made of one instruction.
func divideInstead(f *function) {
	var held [2][2]uint32 // the locals for x and y of each type
	for i := range f.code {
		for t := range integers {
			n, op := &integers[t], f.code[i].op
			if op != n.remS && op != n.remU {
				continue
			}
			if held[t] == [2]uint32{} {
				held[t] = [2]uint32{f.newLocal(n.valType), f.newLocal(n.valType)}
			}
			f.insertBefore(i, n.remainder(held[t], op == n.remS, f.mayBeMinusOne(i-1))...)
			f.code[i].size = 0
		}
	}
}

// mayBeMinusOne is false where code[i] is another constant.
func (f *function) mayBeMinusOne(i int) bool {
	if i < 0 {
		return true
	}
	switch f.code[i].op {
	case opI32Const:
		return int32(f.code[i].a) == -1
	case opI64Const:
		return int64(f.code[i].a) == -1
	}
	return true
}

// remainder returns code that takes x and y from the stack. The smallest number cannot be
// divided by -1, but the remainder is 0: so 1 takes the place of -1.
func (n *integer) remainder(held [2]uint32, signed, minusOne bool) asm {
	x, y := held[0], held[1]
	code, div := asm{}.op(opLocalSet, y), n.divU
	if signed {
		div = n.divS
	}
	if signed && minusOne {
		code = n.oneForMinusOne(code, y)
	}
	code = code.op(opLocalTee, x).op(opLocalGet, x).op(opLocalGet, y).op(div)
	return code.op(opLocalGet, y).op(n.mul).op(n.sub)
}

// oneForMinusOne adds 2 to y where it is -1: twice whether it is.
func (n *integer) oneForMinusOne(code asm, y uint32) asm {
	for range 2 {
		code = asm(appendS64(code.op(opLocalGet, y).op(n.konst), -1))
		if code = code.op(n.eq); n.valType == i64 {
			code = code.op(opI64ExtendI32U)
		}
	}
	return code.op(n.add).op(opLocalGet, y).op(n.add).op(opLocalSet, y)
}
