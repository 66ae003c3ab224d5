package rewrite

// mutableGlobals are the globals that are exported, in their order.
func (m *module) mutableGlobals() []Global {
	var list []Global
	for i := m.importedGlobals; i < uint32(len(m.globals)); i++ {
		if m.mutable[i] {
			list = append(list, Global{byte(m.globals[i])})
		}
	}
	return list
}

// globalSection renumbers the functions in the initial values, and adds the
// globals.
func (m *module) globalSection() []byte {
	list := m.addedGlobals()
	r := m.sections[sectionGlobal]
	n := length(&r)
	if int(n)+len(list) == 0 {
		return nil
	}
	out := appendU32(make([]byte, 0, r.end-r.at+64), n+uint32(len(list)))
	for range n {
		out = append(out, r.byte(), r.byte())
		out = m.constExpr(&r, out)
	}
	for _, g := range list {
		op := opI64Const
		if g.t == i32 {
			op = opI32Const
		}
		out = appendOp(append(out, byte(g.t), 1), op)
		out = appendOp(appendS64(out, g.value), opEnd)
	}
	return out
}

// watchChanges sets the global ChangedExport before each instruction that changes
// what a snapshot cannot hold.
func watchChanges(f *function) {
	for i := range f.code {
		if !f.changes(&f.code[i]) {
			continue
		}
		f.module.added.changes = true
		code := appendOp(make([]byte, 0, 8), opI32Const)
		code = appendOp(append(code, 1), opGlobalSet)
		f.insertBefore(i, appendU32(code, f.module.added.changed)...)
	}
}

func (f *function) changes(in *instr) bool {
	switch in.op {
	case opTableSet, opTableGrow, opTableFill, opTableCopy, opTableInit, opElemDrop, opDataDrop:
		return true
	case opGlobalSet:
		switch f.module.globals[in.a] {
		case v128, funcref, externref:
			return true
		}
	}
	return false
}
