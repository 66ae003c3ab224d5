package rewrite

// constExpr reads a constant expression, and appends it to out with its functions
// renumbered.
func (m *module) constExpr(r *reader, out []byte) []byte {
	d := decoder{m: m}
	for r.err == nil {
		var in instr
		d.instr(r, &in, 0)
		switch {
		case r.err != nil:
		case !in.op.constant():
			r.fail(in.at, "", "a constant expression holds %v", in.op)
		case in.op == opRefFunc:
			out = appendU32(appendOp(out, in.op), m.newIndex(uint32(in.a)))
		default:
			out = append(out, r.b[in.at:r.at]...)
		}
		if in.op == opEnd {
			break
		}
	}
	return out
}

// constant says that an instruction may be part of a constant expression.
func (o opcode) constant() bool {
	switch o {
	case opI32Const, opI64Const, opF32Const, opF64Const, opV128Const, opGlobalGet, opRefNull, opRefFunc, opEnd,
		opI32Add, opI32Sub, opI32Mul, opI64Add, opI64Sub, opI64Mul:
		return true
	}
	return false
}

// readConst reads a constant expression and evaluates it, as far as it is an i32
// that does not depend on the host.
func (m *module) readConst(r *reader) constant {
	again := *r
	m.constExpr(r, nil)
	if r.err != nil {
		return constant{}
	}
	again.end = r.at
	d := decoder{m: m}
	var stack []constant
	for again.more() {
		var in instr
		d.instr(&again, &in, 0)
		stack = m.evaluate(&in, stack)
	}
	if len(stack) != 1 {
		return constant{}
	}
	return stack[0]
}

func (m *module) evaluate(in *instr, stack []constant) []constant {
	switch in.op {
	case opEnd:
		return stack
	case opI32Const:
		return append(stack, constant{uint32(in.a), true})
	case opGlobalGet:
		if in.a < uint64(len(m.constants)) {
			return append(stack, m.constants[in.a])
		}
	case opI32Add, opI32Sub, opI32Mul:
		if n := len(stack); n >= 2 {
			return append(stack[:n-2], fold(in.op, stack[n-2], stack[n-1]))
		}
	}
	return append(stack, constant{})
}

func fold(op opcode, x, y constant) constant {
	known := x.known && y.known
	switch op {
	case opI32Add:
		return constant{x.value + y.value, known}
	case opI32Sub:
		return constant{x.value - y.value, known}
	}
	return constant{x.value * y.value, known}
}
