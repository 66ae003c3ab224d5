package rewrite

import "slices"

// appendTo appends the function's body: its locals and its code with all edits.
func (f *function) appendTo(out []byte) []byte {
	slices.SortStableFunc(f.edits, func(a, b edit) int { return a.place - b.place })
	out = f.appendLocals(out)
	edits := f.edits
	from, to := 0, 0 // what is copied unchanged from the module
	for i := range f.code {
		in := &f.code[i]
		f.mark(len(out)+to-from, in)
		for ; len(edits) > 0 && edits[0].place < 2*i+1; edits = edits[1:] {
			out = append(out, f.module.wasm[from:to]...)
			out = append(out, f.inserted[edits[0].from:edits[0].to]...)
			from = to
		}
		if moved := f.moved(in); moved || in.at != to {
			out = append(out, f.module.wasm[from:to]...)
			from = in.at
			if moved {
				out = appendU32(appendOp(out, in.op), f.module.newIndex(uint32(in.a)))
				from = in.end()
			}
		}
		to = in.end()
		for ; len(edits) > 0 && edits[0].place == 2*i+1; edits = edits[1:] {
			out = append(out, f.module.wasm[from:to]...)
			out = append(out, f.inserted[edits[0].from:edits[0].to]...)
			from = to
		}
	}
	return append(out, f.module.wasm[from:to]...)
}

// moved says that the instruction names a function whose index has changed.
func (f *function) moved(in *instr) bool {
	switch in.op {
	case opCall, opReturnCall, opRefFunc:
		return f.module.newIndex(uint32(in.a)) != uint32(in.a)
	}
	return false
}

// appendLocals appends the declarations of what is no parameter.
func (f *function) appendLocals(out []byte) []byte {
	locals := f.locals[len(f.sig.params):]
	groups := uint32(0)
	for i := range locals {
		if i == 0 || locals[i] != locals[i-1] {
			groups++
		}
	}
	out = appendU32(out, groups)
	for len(locals) > 0 {
		n := 1
		for n < len(locals) && locals[n] == locals[0] {
			n++
		}
		out = append(appendU32(out, uint32(n)), byte(locals[0]))
		locals = locals[n:]
	}
	return out
}
