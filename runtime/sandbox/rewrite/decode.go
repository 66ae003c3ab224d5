package rewrite

import "encoding/binary"

// decoder decodes functions one after the other into the same memory.
type decoder struct {
	m      *module
	f      function
	blocks []opcode // that are open: opBlock, opLoop, opIf or opElse
	labels []uint32 // where the labels of instructions are kept
	types  []valType
	locals int // of all functions so far
}

// function decodes the body of a function. What it returns is overwritten by the
// next call.
func (d *decoder) function(index uint32, r *reader) *function {
	f := &d.f
	*f = function{
		module: d.m, index: index, sig: d.m.types[d.m.funcs[index]],
		locals: f.locals[:0], code: f.code[:0], edits: f.edits[:0], inserted: f.inserted[:0],
	}
	d.labels, d.types = d.labels[:0], d.types[:0]
	if size := r.end - r.at; size > maxFunctionBytes {
		r.fail(r.at, adviceComplex, "function %d has %d bytes; %d are allowed", index, size, maxFunctionBytes)
		return f
	}
	d.readLocals(r)
	d.readCode(r)
	return f
}

func (d *decoder) readLocals(r *reader) {
	f := &d.f
	f.locals = append(f.locals, f.sig.params...)
	total := uint64(len(f.locals))
	d.locals += len(f.locals)
	d.checkLocals(r, r.at, total)
	for n := r.count(); n > 0 && r.err == nil; n-- {
		at := r.at
		count := r.u32()
		total += uint64(count)
		t := r.valType()
		d.locals += int(count)
		if !d.checkLocals(r, at, total) {
			return
		}
		for range count {
			f.locals = append(f.locals, t)
		}
	}
	f.own = len(f.locals)
}

// checkLocals refuses more locals than a function may have, its parameters included, or
// all functions together.
func (d *decoder) checkLocals(r *reader, at int, total uint64) bool {
	switch {
	case total > maxLocals:
		r.fail(at, "", "function %d has %d locals or more; %d are allowed", d.f.index, total, maxLocals)
	case d.locals > maxAllLocals:
		r.fail(at, "", "its functions have more than %d locals together", maxAllLocals)
	}
	return r.err == nil
}

// readCode decodes instructions up to the end of the function, and keeps those
// that can be reached.
func (d *decoder) readCode(r *reader) {
	f := &d.f
	d.blocks = append(d.blocks[:0], opBlock)
	unreached, nested := false, 0 // nested counts the blocks opened in unreached code
	for len(d.blocks) > 0 && r.err == nil {
		f.code = append(f.code, instr{})
		in := &f.code[len(f.code)-1]
		d.instr(r, in, len(d.blocks)+nested)
		if unreached && d.skip(in.op, &nested) {
			f.code = f.code[:len(f.code)-1]
			continue
		}
		unreached = in.op.diverges()
		d.track(r, in)
	}
	if r.more() {
		r.fail(r.at, "", reasonTrailing)
	}
}

// skip says whether an instruction in unreached code is dropped: all are but the
// end, or the else, of the block that the code is in.
func (d *decoder) skip(op opcode, nested *int) bool {
	switch op {
	case opBlock, opLoop, opIf:
		*nested++
	case opElse:
		return *nested > 0
	case opEnd:
		if *nested == 0 {
			return false
		}
		*nested--
	}
	return true
}

// diverges says that what follows the instruction is never reached from it.
func (o opcode) diverges() bool {
	switch o {
	case opUnreachable, opBr, opBrTable, opReturn, opReturnCall, opReturnCallIndirect:
		return true
	}
	return false
}

// track opens and closes blocks.
func (d *decoder) track(r *reader, in *instr) {
	last := len(d.blocks) - 1
	switch in.op {
	case opBlock, opLoop, opIf:
		d.blocks = append(d.blocks, in.op)
	case opElse:
		if d.blocks[last] != opIf {
			r.fail(in.at, "", "it holds an else that belongs to no if")
		}
		d.blocks[last] = opElse
	case opEnd:
		d.blocks = d.blocks[:last]
	case opMemoryInit, opDataDrop:
		d.m.usesData = true
	}
}

// instr decodes an instruction that is in as many blocks as depth says.
func (d *decoder) instr(r *reader, in *instr, depth int) {
	in.at = r.at
	in.op = opcode(r.byte())
	if in.op >= prefixGC && in.op <= prefixAtomic && r.err == nil {
		suffix := r.u32()
		if suffix > 0xfff {
			r.fail(in.at, "", "it holds the unknown opcode %#x %#x", byte(in.op), suffix)
		}
		in.op = in.op<<12 | opcode(suffix)
	}
	info := in.op.info()
	if info == nil {
		r.refuse(in.at, in.op)
		return
	}
	d.immediate(r, in, info.imm, depth)
	in.size = r.at - in.at
}

// immediate decodes what follows an opcode.
func (d *decoder) immediate(r *reader, in *instr, kind immediate, depth int) {
	switch kind {
	case immBlock:
		in.block = d.blockType(r)
	case immLabel, immLocal, immGlobal, immTable, immElem, immData, immMemory, immLane, immFunc:
		in.a = uint64(r.u32())
		d.check(r, in, kind, depth)
	case immLabels:
		d.labelVector(r, in, depth)
	case immIndirect, immTables, immElemTo, immDataTo, immMemories:
		in.a, in.b = uint64(r.u32()), uint64(r.u32())
		d.checkBoth(r, in, kind)
	case immMemArg, immMemLane:
		d.memArg(r, in, kind == immMemLane)
	case immI32:
		in.a = uint64(uint32(r.signed(32)))
	case immI64:
		in.a = uint64(r.signed(64))
	case immF32, immF64, immV128, immShuffle:
		d.constant(r, in, kind)
	case immRefType:
		in.a = uint64(r.refType("a reference"))
	case immTypes:
		d.selectTypes(r, in)
	}
}

func (d *decoder) constant(r *reader, in *instr, kind immediate) {
	switch kind {
	case immF32:
		if p := r.bytes(4); p != nil {
			in.a = uint64(binary.LittleEndian.Uint32(p))
		}
	case immF64:
		if p := r.bytes(8); p != nil {
			in.a = binary.LittleEndian.Uint64(p)
		}
	case immV128:
		if p := r.bytes(16); p != nil {
			in.a, in.b = binary.LittleEndian.Uint64(p), binary.LittleEndian.Uint64(p[8:])
		}
	case immShuffle:
		from := len(d.labels)
		for _, lane := range r.bytes(16) {
			d.labels = append(d.labels, uint32(lane))
		}
		in.labels = d.labels[from:]
	}
}

// one holds the result types of blocks that have one.
var one = [0x80][]valType{i32: {i32}, i64: {i64}, f32: {f32}, f64: {f64}, v128: {v128}, funcref: {funcref}, externref: {externref}}

func (d *decoder) blockType(r *reader) signature {
	at := r.at
	if r.more() && r.b[at]&0xc0 == 0x40 { // a negative number in one byte
		r.at++
		if r.b[at] == 0x40 {
			return signature{}
		}
		r.at = at
		return signature{results: one[r.valType()]}
	}
	index := r.signed(33)
	if index < 0 || index >= int64(len(d.m.types)) {
		r.fail(at, "", "a block has an unknown type")
		return signature{}
	}
	return d.m.types[index]
}

func (d *decoder) labelVector(r *reader, in *instr, depth int) {
	at := r.at
	n := r.count()
	from := len(d.labels)
	for range uint64(n) + 1 {
		label := r.u32()
		if uint64(label) >= uint64(depth) {
			r.fail(at, "", "it branches to a block that does not exist")
			return
		}
		d.labels = append(d.labels, label)
	}
	in.labels = d.labels[from:]
}

func (d *decoder) memArg(r *reader, in *instr, lane bool) {
	at := r.at
	in.a, in.b = uint64(r.u32()), uint64(r.u32())
	if in.a >= 0x40 {
		r.fail(at, adviceMemories, "it has several memories, which are not supported")
	}
	if lane {
		d.labels = append(d.labels, uint32(r.byte()))
		in.labels = d.labels[len(d.labels)-1:]
	}
}

func (d *decoder) selectTypes(r *reader, in *instr) {
	from := len(d.types)
	for n := r.count(); n > 0 && r.err == nil; n-- {
		d.types = append(d.types, r.valType())
	}
	in.types = d.types[from:]
}

// check refuses an index that is out of bounds: what Rewrite adds would be there.
func (d *decoder) check(r *reader, in *instr, kind immediate, depth int) {
	bound, what := uint64(1<<32), ""
	switch kind {
	case immLabel:
		bound, what = uint64(depth), "block"
	case immLocal:
		bound, what = uint64(d.f.own), "local"
	case immGlobal:
		bound, what = uint64(len(d.m.globals)), "global"
	case immFunc:
		bound, what = uint64(len(d.m.funcs)), "function"
	case immTable:
		bound, what = uint64(len(d.m.tables)), "table"
	}
	if in.a >= bound {
		r.fail(in.at, "", "%v names the %s %d, which does not exist", in.op, what, in.a)
	}
}

func (d *decoder) checkBoth(r *reader, in *instr, kind immediate) {
	types, tables := uint64(len(d.m.types)), uint64(len(d.m.tables))
	switch {
	case kind == immIndirect && (in.a >= types || in.b >= tables):
		r.fail(in.at, "", "%v names a type or a table that does not exist", in.op)
	case kind == immTables && (in.a >= tables || in.b >= tables), kind == immElemTo && in.b >= tables:
		r.fail(in.at, "", "%v names a table that does not exist", in.op)
	}
}
