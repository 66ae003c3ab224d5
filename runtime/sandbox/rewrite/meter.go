package rewrite

// meter counts gas and depth. Both are counted in one walk, for they are checked
// together.
//
// Gas is charged by segment: instructions that are paid for at one place, before
// the first of them. A segment begins at the entry of the function, at the header
// of a loop, at the start of an arm of an if, and where paths meet of which some
// have left before (see [meter.close]). What follows a conditional branch in the
// same segment is paid for even if the branch is taken, up to slack.
//
// Outside of loops, and in loops that call, the counter is the global: the engine
// keeps it in a register between its uses. In the outermost loop without a call it
// is a local, which costs no memory access in the loop.
//
// Depth is counted in a local. The global holds what the caller has left, at each
// call; it is set before each call and read at the entry of a function that calls.
// After a call it holds no meaning, save that an exported function puts back what
// it found.
//
// Its fields are the state of one walk over a function's code.
type meter struct {
	f          *function
	gas, depth bool
	exported   bool // the host may call the function
	calls      bool // it calls functions of the module
	weight     int64

	g, d, length uint32 // locals, plus one; 0 until they are needed

	segments []segment
	current  int // the segment that the walk is in
	split    split
	frames   []frame
	loops    []loop   // in the order of their headers
	next     int      // the loop whose header comes next
	accesses []access // of locals, in the order of the code
	opened   []int    // scratch of survey
	seen     []stamp  // what renew knows of each local
	turn     uint32   // counts calls of renew over all functions
	region   int      // the frame of the loop in which the counter is a local, or -1
	straight bool     // nothing so far could leave what the function begins with
	first    int      // the segment of a loop that the function begins with, or 0
}

// loop is what is known of a loop before the walk.
type loop struct {
	at       int // of the instruction
	calls    bool
	params   bool // it takes operands
	cost     int64
	from, to int // of accesses
}

// access is a local that is read or set.
type access struct {
	local uint32
	set   bool
}

// segment is a part of the code that is charged for at once.
type segment struct {
	place  int   // of the charge
	cost   int64 // of its instructions
	parent int   // the segment from which it is always reached; its own number if none
	merged int64 // what it pays for segments that were merged into it
	loop   *loop // whose header it is, where it has to be asked whether the gas is spent
	local  bool  // the counter is a local there
}

// split is where the current segment can be split: after a conditional branch, for
// what follows may not be run.
type split struct {
	place int   // after the last such branch, -1 without one
	cost  int64 // of the segment up to there
	first int64 // of the segment up to the first such branch
}

var noSplit = split{place: -1}

// frame is a block, loop or if that is open.
type frame struct {
	op       opcode
	at       int
	segment  int // that was current before it
	split    split
	targeted bool // something branches to it
	outmost  int  // the frame furthest out that something in it branches to; -1 for the caller
}

// slack bounds what a segment charges for code that may not be run.
const slack = 64

// tight is the cost of the largest loop in which the counter is a local. In a larger
// one the way through memory is no hindrance, and a register for the counter is.
const tight = 64

// hot is the cost of the largest loop in which it is worth it to keep the call to
// the host from disturbing the registers.
const hot = 256

// small is what a segment may pay for small segments after it, so that they need
// no charge of their own.
const small = 16

// count counts gas and depth in f.
func (m *meter) count(f *function) {
	m.begin(f)
	m.survey()
	m.open(-1, 0)
	for i := range f.code {
		m.instruction(i, &f.code[i])
	}
	m.merge()
	for i := range m.segments {
		m.charge(&m.segments[i])
		if i == 0 {
			m.enter()
		}
	}
}

func (m *meter) begin(f *function) {
	*m = meter{
		f: f, gas: f.module.does(Gas), depth: f.module.does(Depth), exported: f.module.callable[f.index],
		segments: m.segments[:0], frames: append(m.frames[:0], frame{op: opBlock}), loops: m.loops[:0], accesses: m.accesses[:0], opened: m.opened, seen: m.seen, turn: m.turn, region: -1,
		straight: true,
		split:    noSplit,
	}
}

// survey finds out about the loops, and what a call of the function takes of the
// stack: the engine may keep every local and every value in a slot of its own.
func (m *meter) survey() {
	opened := m.opened[:0] // the loops around, -1 for other blocks
	total, values, lastCall := int64(0), int64(m.f.own+len(m.f.code)), -1
	for i := range m.f.code {
		in := &m.f.code[i]
		total += cost(in.op)
		switch in.op {
		case opLoop:
			opened = append(opened, len(m.loops))
			m.loops = append(m.loops, loop{at: i, params: len(in.block.params) > 0, cost: -total, from: len(m.accesses)})
		case opBlock, opIf:
			opened = append(opened, -1)
		case opEnd:
			if last := len(opened) - 1; last >= 0 {
				m.surveyed(opened[last], total, lastCall)
				opened = opened[:last]
			}
		case opLocalGet, opLocalSet, opLocalTee:
			m.accesses = append(m.accesses, access{uint32(in.a), in.op != opLocalGet})
		case opCall, opCallIndirect, opReturnCall, opReturnCallIndirect:
			sig := m.f.callee(in)
			values += int64(len(sig.params) + len(sig.results))
			m.calls = m.calls || !m.f.callsHost(in)
			lastCall = i
		}
	}
	m.weight, m.opened = 1+values/64, opened
}

// surveyed is called at the end of a loop, given what has been seen up to there.
func (m *meter) surveyed(which int, cost int64, lastCall int) {
	if which < 0 {
		return
	}
	l := &m.loops[which]
	l.calls = lastCall > l.at
	l.cost += cost
	l.to = len(m.accesses)
}

// callee is the type of the function that is called.
func (f *function) callee(in *instr) signature {
	if in.op == opCallIndirect || in.op == opReturnCallIndirect {
		return f.module.types[in.a]
	}
	return f.module.types[f.module.funcs[in.a]]
}

// callsHost says that an instruction calls an imported function.
func (f *function) callsHost(in *instr) bool {
	return (in.op == opCall || in.op == opReturnCall) && uint32(in.a) < f.module.importedFuncs
}

// open begins a segment, whose charge goes to the given place.
func (m *meter) open(place, parent int) {
	m.current = len(m.segments)
	m.segments = append(m.segments, segment{place: place, parent: parent, local: m.region >= 0})
	m.split = noSplit
}

// pay adds to the current segment. When it has come to more than slack since a
// branch that may have left, what comes after the last branch becomes a segment.
func (m *meter) pay(cost int64) {
	s := &m.segments[m.current]
	s.cost += cost
	if m.split.place < 0 || s.cost-m.split.first <= slack {
		return
	}
	at, whole := m.split, m.current
	rest := s.cost - at.cost
	s.cost = at.cost
	m.open(at.place, whole)
	m.segments[m.current].cost = rest
	for i := len(m.frames) - 1; i > 0 && 2*m.frames[i].at > at.place; i-- {
		if fr := &m.frames[i]; fr.segment == whole {
			fr.segment, fr.split = m.current, noSplit
		}
	}
}

func (m *meter) instruction(i int, in *instr) {
	m.pay(cost(in.op))
	m.straight = m.straight && in.op.straight()
	switch in.op {
	case opBlock, opIf, opLoop:
		m.begins(i, in.op)
	case opElse:
		m.open(2*i+1, m.frames[len(m.frames)-1].segment)
	case opEnd:
		m.close(i)
	case opBr, opBrIf:
		m.branch(i, uint32(in.a))
	case opBrTable:
		m.branch(i, in.labels...)
	case opReturn:
		m.branch(i, uint32(len(m.frames)-1))
	case opCall, opCallIndirect:
		m.call(i, in)
	case opReturnCall, opReturnCallIndirect:
		m.tailCall(i)
	case opMemoryGrow, opMemoryFill, opMemoryCopy, opMemoryInit, opTableGrow, opTableFill, opTableCopy, opTableInit:
		m.bulk(i, in.op)
	}
}

// begins opens a block.
func (m *meter) begins(i int, op opcode) {
	m.frames = append(m.frames, frame{op: op, at: i, segment: m.current, split: m.split, outmost: len(m.frames)})
	switch op {
	case opIf:
		m.open(2*i+1, m.current)
	case opLoop:
		loop := &m.loops[m.next]
		m.next++
		if m.gas && !loop.calls && m.region < 0 && loop.cost <= tight {
			m.region = len(m.frames) - 1
			m.f.insertBefore(i, m.load()...)
		}
		m.open(2*i+1, m.current)
		m.segments[m.current].loop = loop
		if m.straight && m.calls && m.gas && loop.calls && !loop.params {
			m.first, m.straight = m.current, false
		}
	}
}

// close ends a block. Where it is left only forwards and by its own end, all that
// entered it get there, and the segment from before it goes on.
func (m *meter) close(i int) {
	last := len(m.frames) - 1
	fr := m.frames[last]
	m.frames = m.frames[:last]
	if last == 0 {
		m.leave(i)
		return
	}
	m.reaches(fr.outmost)
	escapes := fr.outmost < last
	if m.region == last {
		m.region = -1
		m.f.insertAfter(i, m.store()...)
	}
	switch {
	case fr.op == opBlock && !fr.targeted:
	case escapes && fr.op != opIf:
		m.open(2*i+1, fr.segment)
	default:
		m.current, m.split = fr.segment, fr.split
		if escapes {
			m.mayLeave(2*i + 1)
		}
	}
}

// mayLeave notes that what comes from here on may not be run.
func (m *meter) mayLeave(place int) {
	so := m.segments[m.current].cost
	if m.split.place < 0 {
		m.split.first = so
	}
	m.split.place, m.split.cost = place, so
}

// branch notes where the instruction can go.
func (m *meter) branch(i int, labels ...uint32) {
	outmost := len(m.frames) - 1
	for _, label := range labels {
		target := len(m.frames) - 1 - int(label)
		m.frames[target].targeted = true
		outmost = min(outmost, target)
	}
	m.reaches(outmost)
	if outmost < m.region {
		m.f.insertBefore(i, m.store()...)
	}
	if outmost == 0 {
		m.leave(i)
	}
	if m.f.code[i].op == opBrIf {
		m.mayLeave(2*i + 1)
	}
}

// reaches notes that something in the innermost block branches that far out.
func (m *meter) reaches(frame int) {
	inner := &m.frames[len(m.frames)-1]
	inner.outmost = min(inner.outmost, frame)
}

// leave puts the depth back before the function is left.
func (m *meter) leave(i int) {
	if m.depth && m.calls && m.exported {
		m.f.insertBefore(i, m.putBack()...)
	}
}

// tailCall leaves the function by a call, which finds the depth as this one did.
func (m *meter) tailCall(i int) {
	m.reaches(-1)
	if m.depth && m.calls {
		m.f.insertBefore(i, m.putBack()...)
	}
}

// call says before a call what depth is left.
func (m *meter) call(i int, in *instr) {
	if m.depth && !m.f.callsHost(in) {
		m.f.insertBefore(i, asm{}.op(opLocalGet, m.local(&m.d, i64)).op(opGlobalSet, m.f.module.added.depth)...)
	}
}

// merge lets segments pay for what follows them, where that is little.
func (m *meter) merge() {
	for i := len(m.segments) - 1; i > 0; i-- {
		s := &m.segments[i]
		into := &m.segments[s.parent]
		if total := s.cost + s.merged; s.loop == nil && into.merged+total <= small {
			into.merged += total
			s.cost, s.merged = 0, 0
		}
	}
	entry := &m.segments[0]
	if total := entry.cost + entry.merged; m.first > 0 && total <= small {
		m.segments[m.first].cost += total
		entry.cost, entry.merged = 0, 0
	}
}

// straight says that the next instruction in the code always follows.
func (o opcode) straight() bool {
	switch o {
	case opIf, opElse, opEnd, opBr, opBrIf, opBrTable, opReturn, opReturnCall, opReturnCallIndirect, opCall, opCallIndirect, opUnreachable:
		return false
	}
	return true
}

// local returns a local that is made when it is first needed.
func (m *meter) local(which *uint32, t valType) uint32 {
	if *which == 0 {
		*which = m.f.newLocal(t) + 1
	}
	return *which - 1
}

// load, in front of a loop, takes the counter into the local; store puts it back.
func (m *meter) load() asm {
	return asm{}.op(opGlobalGet, m.f.module.added.gas).op(opLocalSet, m.local(&m.g, i64))
}

func (m *meter) store() asm {
	return asm{}.op(opLocalGet, m.local(&m.g, i64)).op(opGlobalSet, m.f.module.added.gas)
}

// putBack gives the caller its depth back.
func (m *meter) putBack() asm {
	code := asm{}.op(opLocalGet, m.local(&m.d, i64)).i64(m.weight).op(opI64Add)
	return code.op(opGlobalSet, m.f.module.added.depth)
}

// counter appends an instruction that gets or sets the counter.
func (m *meter) counter(code asm, local bool, get bool) asm {
	switch {
	case local && get:
		return code.op(opLocalGet, m.local(&m.g, i64))
	case local:
		return code.op(opLocalSet, m.local(&m.g, i64))
	case get:
		return code.op(opGlobalGet, m.f.module.added.gas)
	}
	return code.op(opGlobalSet, m.f.module.added.gas)
}

// charge takes the cost of a segment off the counter.
func (m *meter) charge(s *segment) {
	total := s.cost + s.merged
	if !m.gas || total == 0 {
		return
	}
	code := m.counter(asm{}, s.local, true).i64(total).op(opI64Sub)
	if s.place < 0 && m.calls && m.first == 0 {
		code = code.op(opLocalTee, m.local(&m.g, i64))
	}
	code = m.counter(code, s.local, false)
	switch {
	case s.loop == nil:
	case s.loop.params:
		code = m.check(code, s.local)
	default:
		code = m.checkLoop(code, s, total)
	}
	m.f.insert(s.place, code)
}

// check appends what asks the host for gas when there is none.
func (m *meter) check(code asm, local bool) asm {
	code = m.counter(code, local, true).i64(0).op(opI64GeS).op(opIf).raw(emptyBlock).op(opElse)
	code = m.counter(code, local, true).i64(0).op(opCall, m.f.module.added.yield)
	return m.counter(code, local, false).op(opEnd)
}

// checkLoop is check at the header of a loop, to which it goes back once the host
// has given gas. So what comes after it has one way to be reached, and the
// compiler puts the call where it is out of the way.
//
// What the loop sets is set anew before the call, to the same. Otherwise the
// compiler would store it in every turn of the loop, for the case that the call
// happens.
func (m *meter) checkLoop(code asm, s *segment, cost int64) asm {
	code = m.counter(code, s.local, true)
	first := m.first > 0 && s == &m.segments[m.first] && m.depth
	if first {
		code = code.op(opLocalGet, m.local(&m.d, i64)).op(opI64Or)
	}
	code = code.i64(0).op(opI64GeS).op(opIf).raw(emptyBlock).op(opElse)
	if !s.loop.calls && s.loop.cost <= hot {
		code = m.renew(code, m.accesses[s.loop.from:s.loop.to])
	}
	code = m.counter(code, s.local, true)
	if first {
		code = code.op(opLocalGet, m.local(&m.d, i64))
	} else {
		code = code.i64(0)
	}
	code = code.op(opCall, m.f.module.added.yield).i64(cost).op(opI64Add)
	return m.counter(code, s.local, false).op(opBr, 1).op(opEnd)
}

// stamp is what renew knows of a local.
type stamp struct {
	turn uint32 // in which this was found out
	set  bool   // it was set, or is taken care of
}

// renew gives a new value of the same bits to each local that goes from one turn of
// a loop into the next: one that is read, and then set. There are registers for
// some only.
func (m *meter) renew(code asm, accesses []access) asm {
	const registers = 16
	m.turn++
	m.seen = append(m.seen, make([]stamp, max(0, m.f.own-len(m.seen)))...)
	renewed := 0
	for _, a := range accesses {
		s := &m.seen[a.local]
		read := s.turn == m.turn && !s.set
		if a.set && read && renewed < registers {
			code = m.f.renewed(code, a.local)
			renewed++
		}
		if a.set || s.turn != m.turn {
			*s = stamp{m.turn, a.set}
		}
	}
	return code
}

// renewed appends what sets a local to a new value of the same bits.
func (f *function) renewed(code asm, local uint32) asm {
	code = code.op(opLocalGet, local)
	switch f.locals[local] {
	case i32:
		code = code.op(opI32Const, 0).op(opI32Or)
	case i64:
		code = code.i64(0).op(opI64Or)
	case f32:
		code = code.op(opI32ReinterpretF32).op(opF32ReinterpretI32)
	case f64:
		code = code.op(opI64ReinterpretF64).op(opF64ReinterpretI64)
	case v128:
		code = code.op(opV128Not).op(opV128Not)
	}
	return code.op(opLocalSet, local)
}

// enter takes the depth, and asks the host when gas or depth are spent, at the
// entry of a function that calls. What does not call ends, or has a loop that asks.
func (m *meter) enter() {
	if !m.calls {
		return
	}
	var code, spent asm
	if m.depth {
		code = code.op(opGlobalGet, m.f.module.added.depth).i64(m.weight).op(opI64Sub).op(opLocalSet, m.local(&m.d, i64))
		spent = asm{}.op(opLocalGet, m.local(&m.d, i64))
	}
	if m.first > 0 {
		m.f.insert(-1, code)
		return
	}
	if m.gas {
		spent = m.counter(spent, true, true)
	}
	code = code.op(opLoop).raw(emptyBlock).raw(spent...)
	if m.depth && m.gas {
		code = code.op(opI64Or)
	}
	code = code.i64(0).op(opI64GeS).op(opIf).raw(emptyBlock).op(opElse)
	m.f.insert(-1, m.ask(code).op(opBr, 1).op(opEnd).op(opEnd))
}

// ask appends the call to the host with both counters.
func (m *meter) ask(code asm) asm {
	if m.gas {
		code = m.counter(code, true, true)
	} else {
		code = code.i64(0)
	}
	if m.depth {
		code = code.op(opLocalGet, m.local(&m.d, i64))
	} else {
		code = code.i64(0)
	}
	code = code.op(opCall, m.f.module.added.yield)
	if m.gas {
		return m.counter(code.op(opLocalTee, m.local(&m.g, i64)), false, false)
	}
	return code.op(opDrop)
}

// bulk charges for the length of what an instruction copies, fills or grows, which
// is on top of the stack, and checks.
func (m *meter) bulk(i int, op opcode) {
	if !m.gas {
		return
	}
	local := m.region >= 0
	length := m.local(&m.length, i32)
	code := m.counter(asm{}.op(opLocalTee, length), local, true)
	code = code.op(opLocalGet, length).op(opI64ExtendI32U)
	switch op {
	case opMemoryGrow:
		code = code.i64(pageShift).op(opI64Shl)
	case opMemoryFill, opMemoryCopy, opMemoryInit:
		code = code.i64(byteShift).op(opI64ShrU)
	}
	code = m.counter(code.op(opI64Sub), local, false)
	m.f.insertBefore(i, m.check(code, local)...)
}
