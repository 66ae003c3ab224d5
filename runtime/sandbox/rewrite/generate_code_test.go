package rewrite_test

import "slices"

// genFunc writes the code of a function.
type genFunc struct {
	*generator
	sig     genSig
	locals  []byte
	scratch map[byte]uint32
	hidden  map[byte]uint32
	code    []byte
	labels  [][]byte // what a branch to each takes, the innermost last
	budget  int      // how much more it is to write
}

// genHidden are the types of locals that canonical uses alone, by what stands for them
// in a list of locals.
var genHidden = map[byte]byte{1: tF32, 2: tF64, 3: tV128}

// function writes a body: locals and code.
func (g *generator) function(sig genSig) []byte {
	f := &genFunc{
		generator: g, sig: sig, locals: slices.Clone(sig.params), scratch: map[byte]uint32{}, hidden: map[byte]uint32{},
		labels: [][]byte{sig.results}, budget: 20 + 4*g.n(60),
	}
	for _, t := range genAll {
		f.scratch[t] = uint32(len(f.locals))
		f.locals = append(f.locals, t)
	}
	for hidden := byte(1); hidden <= 3; hidden++ {
		f.hidden[hidden] = uint32(len(f.locals))
		f.locals = append(f.locals, hidden)
	}
	f.fuel()
	f.statements()
	for _, t := range sig.results {
		f.expr(t)
	}
	f.emit(0x0b)
	locals := appendU32(nil, uint32(len(f.locals)-len(sig.params)))
	for _, t := range f.locals[len(sig.params):] {
		if shown, ok := genHidden[t]; ok {
			t = shown
		}
		locals = append(locals, 1, t)
	}
	return append(locals, f.code...)
}

// probe is the body of a function that sums up the tables: their sizes, and which
// entries are null.
func probe() []byte {
	f := &genFunc{code: []byte{0}}
	f.emit(0xfc, 0x10, 0, 0x41, 8, 0x74, 0xfc, 0x10, 1, 0x72) // table.size 0 << 8 | table.size 1
	for i := range byte(genTable) {
		f.emit(0x41, 1, 0x74, 0x41, i, 0x25, 0, 0xd1, 0x72) // << 1 | ref.is_null (table.get 0 i)
	}
	for i := range byte(4) {
		f.emit(0x41, 1, 0x74, 0xfc, 0x10, 1, 0x41, i, 0x4b)       // << 1, table.size 1 > i
		f.emit(0x04, tI32, 0x41, i, 0x25, 1, 0xd1, 0x05, 0x41, 1) // if ref.is_null (table.get 1 i) else 1
		f.emit(0x0b, 0x72)                                        // end |
	}
	f.emit(0x0b)
	return f.code
}

func (f *genFunc) emit(b ...byte) { f.code = append(f.code, b...) }

func (f *genFunc) emitU32(op byte, v uint32) { f.code = appendU32(append(f.code, op), v) }

// op writes an opcode.
func (f *genFunc) op(code uint32) {
	if code < 0x100 {
		f.emit(byte(code))
		return
	}
	f.emitU32(byte(code>>16), code&0xffff)
}

// fuel traps when none is left.
func (f *genFunc) fuel() {
	f.emit(0x23, 0, 0x41, 1, 0x6b, 0x24, 0) // fuel = fuel - 1
	f.emit(0x23, 0, 0x41, 0, 0x48)          // fuel < 0
	f.emit(0x04, 0x40, 0x00, 0x0b)          // if unreachable end
}

// count adds what it takes itself, and one instruction that is always run with it.
func (f *genFunc) count() { f.countUp(1) }

// countUp adds what it takes itself, and what is always run with it.
func (f *genFunc) countUp(cost int64) {
	if f.counted {
		global := uint32(len(f.globals) - 1)
		f.emitU32(0x23, global)
		f.code = appendS64(append(f.code, 0x42), 4+cost)
		f.emit(0x7c)
		f.emitU32(0x24, global)
	}
}

func (f *genFunc) statements() {
	for range 1 + f.n(5) {
		f.statement()
	}
}

func (f *genFunc) statement() {
	f.budget--
	if f.budget <= 0 {
		return
	}
	switch f.n(22) {
	case 0:
		f.emit(0x01)
	case 20, 21:
		f.tightLoop()
	case 1, 2, 3:
		l := f.n(len(f.locals))
		if f.locals[l] <= 3 {
			return
		}
		f.expr(f.locals[l])
		f.emitU32(0x21, uint32(l))
	case 4, 5:
		f.setGlobal()
	case 6, 7, 8:
		f.store()
	case 9:
		f.expr(pick(&f.choices, genAll))
		f.emit(0x1a)
	case 10:
		f.block(pick(&f.choices, []byte{0x02, 0x04, 0x03}), nil)
	case 11:
		f.block(0x03, nil)
	case 12, 13:
		f.call(f.n(len(f.imports) + len(f.funcs)))
	case 14:
		f.bulk()
	case 15:
		f.branchIf()
	case 16:
		f.tables()
	case 17:
		f.tell()
	case 18:
		f.leave()
	case 19:
		f.callIndirect()
	}
}

// tell tells the host a number, a float more often than not.
func (f *genFunc) tell() { f.call(pick(&f.choices, []int{2, 3, 2, 3, 0, 1})) }

func (f *genFunc) setGlobal() {
	i := f.n(len(f.globals) - 1)
	if i == 0 || !f.globals[i].mutable {
		return
	}
	f.expr(f.globals[i].kind)
	f.emitU32(0x24, uint32(i))
}

func (f *genFunc) store() {
	a := genAccess[f.n(len(genAccess))]
	for !a.store {
		a = genAccess[(slices.Index(genAccess, a)+1)%len(genAccess)]
	}
	f.address()
	f.expr(a.kind)
	f.count()
	f.access(a.op, a.lanes)
}

// address writes an address that is seldom out of bounds.
func (f *genFunc) address() {
	f.expr(tI32)
	if !f.one(24) {
		f.emit(0x41, 0xff, 0xff, 0x01, 0x71) // i32.and with 0x7fff
	}
}

func (f *genFunc) access(op uint32, lanes int) {
	f.op(op)
	f.emitU32(0, pick(&f.choices, []uint32{0, 8, 16, 1000, 32766, 32768, 65536, 0xffffffff}[:4+4*f.n(2)*f.n(2)]))
	if lanes > 0 {
		f.emit(byte(f.n(lanes)))
	}
}

// small writes a length or an offset that is small most of the time.
func (f *genFunc) small(mask byte) {
	f.expr(tI32)
	if !f.one(16) {
		f.emit(0x41, mask, 0x71)
	}
}

// tightLoop writes a loop that calls nothing and is short, which may be left in its
// middle.
func (f *genFunc) tightLoop() {
	counter := uint32(len(f.locals))
	f.locals = append(f.locals, tI32)
	f.emit(0x41, byte(f.n(50)))
	f.emitU32(0x21, counter)
	f.emit(0x03, 0x40)
	f.labels = append(f.labels, nil)
	f.count()
	f.emitU32(0x20, counter)
	f.emit(0x41, 3, 0x6c)
	if f.one(2) {
		f.emitU32(0x20, f.localOf(tI64))
		f.emit(0xa7, 0x72)
	}
	f.emit(0x1a)
	for k := range f.labels {
		if k > 0 && len(f.label(k)) == 0 && f.one(3) {
			f.emitU32(0x20, counter)
			f.emit(0x41, byte(f.n(50)), 0x46) // i32.eq
			f.emitU32(0x0d, uint32(k))
			break
		}
	}
	f.emitU32(0x20, counter)
	f.emit(0x41, 1, 0x6b)
	f.emitU32(0x22, counter)
	f.emit(0x41, 0, 0x4a, 0x0d, 0, 0x0b) // i32.gt_s br_if end
	f.labels = f.labels[:len(f.labels)-1]
}

func (f *genFunc) bulk() {
	const copyOp, fill, initOp, drop = 0xfc000a, 0xfc000b, 0xfc0008, 0xfc0009
	switch k := f.n(8); {
	case k >= 5:
		f.emit(0x41, 0, 0x41, 0, 0x41, 0x80, 0x80, 0x01) // 16 KiB
		f.countUp(5 + 16<<10/8)
		f.emit(pick(&f.choices, [][]byte{{0xfc, copyOp & 0xff, 0, 0}, {0xfc, fill & 0xff, 0}})...)
	case k == 0:
		f.address()
		f.expr(tI32)
		f.small(0x3f)
		f.op(fill)
		f.emit(0)
	case k == 1:
		f.address()
		f.address()
		f.small(0x3f)
		f.op(copyOp)
		f.emit(0, 0)
	case k == 2:
		f.expr(tI32)
		f.emit(0x41, 3, 0x71, 0x40, 0, 0x1a)
	case f.data == 0:
	case k == 3:
		f.address()
		f.small(7)
		f.small(3)
		f.op(initOp)
		f.emit(byte(2+f.n(f.data)), 0)
	default:
		f.op(drop)
		f.emit(byte(f.n(2 + f.data)))
	}
}

func (f *genFunc) tables() {
	const initOp, drop, copyOp, grow, fill = 0xfc000c, 0xfc000d, 0xfc000e, 0xfc000f, 0xfc0011
	table := byte(f.n(2))
	kind := []byte{tFunc, tExtern}[table]
	switch k := f.n(6); {
	case k == 0:
		f.small(7)
		f.expr(kind)
		f.emit(0x26, table)
	case k == 1:
		f.small(7)
		f.small(7)
		f.small(3)
		f.op(copyOp)
		f.emit(table, table)
	case k == 2:
		f.small(7)
		f.expr(kind)
		f.small(3)
		f.op(fill)
		f.emit(table)
	case k == 3:
		f.expr(kind)
		f.emit(0x41, byte(f.n(3)))
		f.op(grow)
		f.emit(table, 0x1a)
	case f.elems == 0:
	case k == 4:
		f.small(7)
		f.small(1)
		f.small(3)
		f.op(initOp)
		f.emit(byte(1+f.n(f.elems)), 0)
	default:
		f.op(drop)
		f.emit(byte(f.n(1 + f.elems)))
	}
}

// branchIf branches away on a condition.
func (f *genFunc) branchIf() {
	k := f.n(len(f.labels))
	types := f.label(k)
	f.values(types)
	f.expr(tI32)
	f.emitU32(0x0d, uint32(k))
	for range types {
		f.emit(0x1a)
	}
}

// label returns what a branch takes that goes k labels outwards.
func (f *genFunc) label(k int) []byte { return f.labels[len(f.labels)-1-k] }

func (f *genFunc) values(types []byte) {
	for _, t := range types {
		f.expr(t)
	}
}

// leave goes away for good, and writes what cannot be reached.
func (f *genFunc) leave() {
	k := f.n(len(f.labels))
	switch f.n(8) {
	case 0:
		f.values(f.label(k))
		f.emitU32(0x0c, uint32(k))
	case 1:
		f.values(f.sig.results)
		f.emit(0x0f)
	case 2:
		if f.one(8) {
			f.emit(0x00)
		}
		return
	case 3:
		if !f.tailCall() {
			return
		}
	default:
		f.branchTable(k)
	}
	f.unreached()
}

func (f *genFunc) branchTable(k int) {
	types := f.label(k)
	same := []uint32{uint32(k)}
	for i := range f.labels {
		if slices.Equal(f.label(i), types) {
			same = append(same, uint32(i))
		}
	}
	f.values(types)
	f.expr(tI32)
	f.emit(0x41, 7, 0x71)
	n := f.n(6)
	f.emitU32(0x0e, uint32(n))
	for range n + 1 {
		f.code = appendU32(f.code, pick(&f.choices, same))
	}
}

func (f *genFunc) tailCall() bool {
	i := f.n(len(f.imports) + len(f.funcs))
	s := f.sigOf(i)
	if !slices.Equal(s.results, f.sig.results) {
		return false
	}
	f.values(s.params)
	if f.one(2) {
		f.emit(0x41, byte(f.n(genTable)))
		f.emitU32(0x13, f.typeOf(s))
		f.emit(0)
		return true
	}
	f.emitU32(0x12, uint32(i))
	return true
}

// unreached writes code that is valid only where it cannot be reached.
func (f *genFunc) unreached() {
	for range f.n(4) {
		switch f.n(8) {
		case 0:
			f.emit(0x1a) // drop
		case 1:
			f.emit(0x6a, 0x1a) // i32.add drop
		case 2:
			f.emit(0x1b, 0x1a) // select drop
		case 3:
			f.emit(0x38, 0, 0) // f32.store
		case 4:
			f.emit(0x02, 0x40, 0x0c, 0, 0xa0, 0x1a, 0x0b) // block br 0 f64.add drop end
		case 5:
			f.emit(0x04, 0x7c, 0x44, 0, 0, 0, 0, 0, 0, 0, 0, 0x05, 0x00, 0x0b, 0x1a) // if f64 … else unreachable end drop
		case 6:
			f.emitU32(0x22, f.scratch[tF64]) // local.tee drop
			f.emit(0x1a)
		case 7:
			f.emit(0x03, 0x40, 0x00, 0x0b) // loop unreachable end
		}
	}
}

// call calls a function and puts what it answers into locals.
func (f *genFunc) call(i int) {
	s := f.sigOf(i)
	f.values(s.params)
	f.count()
	f.emitU32(0x10, uint32(i))
	f.results(s.results)
}

func (f *genFunc) callIndirect() {
	if !f.one(3) {
		return // it traps more often than not
	}
	s := f.sigOf(f.n(len(f.imports) + len(f.funcs)))
	f.values(s.params)
	f.small(7)
	f.emitU32(0x11, f.typeOf(s))
	f.emit(0)
	f.results(s.results)
}

func (f *genFunc) results(types []byte) {
	for _, t := range slices.Backward(types) {
		f.emitU32(0x21, f.scratch[t])
	}
}

// block writes a block, loop or if that gives values.
func (f *genFunc) block(kind byte, results []byte) {
	var params []byte
	for range f.n(4) / 2 {
		params = append(params, pick(&f.choices, genAll))
	}
	f.values(params)
	if kind == 0x04 {
		f.expr(tI32)
	}
	f.emit(kind)
	f.blockType(params, results)
	if kind == 0x03 {
		f.labels = append(f.labels, params)
	} else {
		f.labels = append(f.labels, results)
	}
	f.body(kind == 0x03, params, results)
	if kind == 0x04 && (len(params)+len(results) > 0 || f.one(2)) {
		f.emit(0x05)
		f.body(false, params, results)
	}
	f.emit(0x0b)
	f.labels = f.labels[:len(f.labels)-1]
}

func (f *genFunc) blockType(params, results []byte) {
	switch {
	case len(params) == 0 && len(results) == 0:
		f.emit(0x40)
	case len(params) == 0 && len(results) == 1:
		f.emit(results[0])
	default:
		f.code = appendS64(f.code, int64(f.typeOf(genSig{params, results})))
	}
}

func (f *genFunc) body(loop bool, params, results []byte) {
	if loop {
		f.fuel()
	}
	for _, t := range slices.Backward(params) {
		f.emitU32(0x21, f.scratch[t])
	}
	f.statements()
	if loop {
		f.branchBack(params)
	}
	f.values(results)
}

// branchBack goes round a loop again, some times.
func (f *genFunc) branchBack(params []byte) {
	counter := uint32(len(f.locals))
	f.locals = append(f.locals, tI32)
	f.values(params)
	f.emitU32(0x20, counter)
	f.emit(0x41, 1, 0x6a)
	f.emitU32(0x22, counter)
	f.emit(0x41, byte(1+f.n(12)), 0x70) // the remainder, which is 0 once in so many times
	f.emit(0x0d, 0)
	for range params {
		f.emit(0x1a)
	}
}

// expr writes code that leaves a value of the given type.
func (f *genFunc) expr(t byte) {
	f.budget--
	if f.budget <= 0 {
		f.leaf(t)
		return
	}
	if t == tFunc || t == tExtern {
		f.reference(t)
		return
	}
	switch f.n(16) {
	case 0, 1, 2:
		f.leaf(t)
	case 3, 4, 5, 6:
		f.operation(pick(&f.choices, genOpsOf[t]), t)
	case 7, 8:
		f.load(t)
	case 9:
		f.expr(t)
		f.expr(t)
		f.expr(tI32)
		f.emit(pick(&f.choices, [][]byte{{0x1b}, {0x1c, 1, t}})...)
	case 10, 11:
		f.blockOf(t)
	case 12:
		f.expr(t)
		f.emitU32(0x22, f.localOf(t))
	case 13:
		f.call(f.n(len(f.imports) + len(f.funcs)))
		f.leaf(t)
	case 14:
		f.special(t)
	case 15:
		f.branchWith(t)
	}
}

// blockOf writes a block that gives the value, and maybe one more.
func (f *genFunc) blockOf(t byte) {
	results := []byte{t}
	if f.one(4) {
		results = append(results, pick(&f.choices, genAll))
	}
	f.block(pick(&f.choices, []byte{0x02, 0x04, 0x03}), results)
	if len(results) == 2 {
		f.emit(0x1a)
	}
}

// branchWith branches away with the value if there is a label that takes it.
func (f *genFunc) branchWith(t byte) {
	f.expr(t)
	for k := range f.labels {
		if slices.Equal(f.label(k), []byte{t}) {
			f.expr(tI32)
			f.emitU32(0x0d, uint32(k))
			return
		}
	}
}

func (f *genFunc) localOf(t byte) uint32 {
	from := f.n(len(f.locals))
	for i := range f.locals {
		if l := (from + i) % len(f.locals); f.locals[l] == t {
			return uint32(l)
		}
	}
	return f.scratch[t]
}

func (f *genFunc) leaf(t byte) {
	f.count()
	switch f.n(4) {
	case 0:
		f.emit(f.constant(t)...)
	case 1, 2:
		f.emitU32(0x20, f.localOf(t))
	case 3:
		i := slices.IndexFunc(f.globals[1:], func(g genGlobal) bool { return g.kind == t })
		f.emitU32(0x23, uint32(1+i))
	}
}

// operation writes an instruction that computes.
func (f *genFunc) operation(o genOp, t byte) {
	f.values(o.params)
	o.code = f.tame(o.code)
	f.count()
	f.op(o.code)
	if o.lanes > 0 {
		f.emit(byte(f.n(o.lanes)))
	}
	if lane, ok := genArithmetic(o.code); ok && f.clean {
		f.canonical(t, lane)
	}
}

// tame makes an instruction trap less often.
func (f *genFunc) tame(code uint32) uint32 {
	switch {
	case f.one(6):
	case code >= 0x6d && code <= 0x70: // division, by an odd number
		f.emit(0x41, 1, 0x72)
	case code >= 0x7f && code <= 0x82:
		f.emit(0x42, 1, 0x84)
	case code >= 0xa8 && code <= 0xab: // truncation, which saturates
		return 0xfc0000 + code - 0xa8
	case code >= 0xae && code <= 0xb1:
		return 0xfc0004 + code - 0xae
	}
	return code
}

// canonical replaces NaNs by the canonical one.
func (f *genFunc) canonical(t, lane byte) {
	s := f.hidden[map[byte]byte{tF32: 1, tF64: 2, tV128: 3}[t]]
	f.emitU32(0x22, s)
	switch {
	case t == tF32:
		f.emit(0x43, 0, 0, 0xc0, 0x7f)
	case t == tF64:
		f.emit(0x44, 0, 0, 0, 0, 0, 0, 0xf8, 0x7f)
	case lane == tF32:
		f.emit(0xfd, 0x0c, 0, 0, 0xc0, 0x7f, 0, 0, 0xc0, 0x7f, 0, 0, 0xc0, 0x7f, 0, 0, 0xc0, 0x7f)
	default:
		f.emit(0xfd, 0x0c, 0, 0, 0, 0, 0, 0, 0xf8, 0x7f, 0, 0, 0, 0, 0, 0, 0xf8, 0x7f)
	}
	f.emitU32(0x20, s)
	f.emitU32(0x20, s)
	switch {
	case t == tF32:
		f.emit(0x5b, 0x1b) // f32.eq select
	case t == tF64:
		f.emit(0x61, 0x1b)
	case lane == tF32:
		f.emit(0xfd, 0x41, 0xfd, 0x52) // f32x4.eq v128.bitselect
	default:
		f.emit(0xfd, 0x47, 0xfd, 0x52)
	}
}

func (f *genFunc) load(t byte) {
	from := f.n(len(genAccess))
	for i := range genAccess {
		a := genAccess[(from+i)%len(genAccess)]
		if a.store || a.kind != t {
			continue
		}
		f.address()
		if a.lanes > 0 {
			f.expr(tV128)
		}
		f.access(a.op, a.lanes)
		return
	}
}

// special writes what gives a value of one type only.
func (f *genFunc) special(t byte) {
	switch {
	case t == tI32 && f.one(2):
		f.expr(pick(&f.choices, []byte{tFunc, tExtern}))
		f.emit(0xd1)
	case t == tI32:
		f.emit(pick(&f.choices, [][]byte{{0x3f, 0}, {0xfc, 0x10, 0}, {0xfc, 0x10, 1}})...)
	case t == tV128:
		f.expr(t)
		f.expr(t)
		f.emit(0xfd, 0x0d)
		for range 16 {
			f.emit(byte(f.n(32)))
		}
	default:
		f.callIndirect()
		f.leaf(t)
	}
}

func (f *genFunc) reference(t byte) {
	switch f.n(5) {
	case 0, 1:
		f.leaf(t)
	case 2:
		f.small(7)
		f.emit(0x25, bit(t == tExtern))
	case 3:
		f.expr(t)
		f.expr(t)
		f.expr(tI32)
		f.emit(0x1c, 1, t)
	case 4:
		if t == tFunc {
			f.emitU32(0xd2, uint32(len(f.imports)+f.n(len(f.funcs))))
			return
		}
		f.blockOf(t)
	}
}
