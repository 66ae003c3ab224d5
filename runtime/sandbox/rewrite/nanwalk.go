package rewrite

import "slices"

// tracer walks a function and builds the graph of its floats.
type tracer struct {
	f *function
	*graph
	locals []valueID // what each local holds; kept for those that are no floats
	stack  []valueID
	open   []construct
	loops  int
	dead   bool // nothing gets to the next instruction
	// sets holds, for each construct by its index in the code, the float locals that
	// are set in it: only those can be others where control comes together.
	sets map[int32][]uint32
	// work is how many more values may be merged. Of a function that takes more,
	// which no compiler writes, the places where locals are set are not told apart.
	work   int
	coarse bool
}

// construct is a block, loop, if, or the function itself.
type construct struct {
	op     opcode
	at     int32
	height int // of the stack below its parameters
	typ    signature
	sets   []uint32
	// params and entry are what an if starts with: its parameters, and what the
	// locals in sets hold.
	params, entry []valueID
	// label and joined are what is merged where a branch to the construct goes: the
	// operands, and the locals in sets.
	label, joined []valueID
}

const (
	maxDepth     = 8  // loops inside of more are not told apart
	workPerInstr = 64 // how many values may be merged
)

// trace builds the graph of the floats of a function.
func trace(f *function, work int) *graph {
	t := &tracer{f: f, graph: newGraph(), work: work}
	t.sets, t.coarse = floatSets(f, work)
	if !t.coarse {
		t.run()
	}
	if t.coarse {
		t = &tracer{f: f, graph: newGraph(), coarse: true}
		t.run()
	}
	return t.graph
}

// floatSets finds which float locals are set in each construct. It gives up when
// that takes more than so much work.
func floatSets(f *function, work int) (sets map[int32][]uint32, tooMuch bool) {
	type scope struct {
		at   int32
		sets []uint32
	}
	sets, open := map[int32][]uint32{}, []scope{{at: -1}}
	for i := range f.code {
		top := &open[len(open)-1]
		switch in := &f.code[i]; in.op {
		case opBlock, opLoop, opIf:
			open = append(open, scope{at: int32(i)})
		case opLocalSet, opLocalTee:
			if isFloat(f.locals[in.a]) {
				top.sets = append(top.sets, uint32(in.a))
			}
		case opEnd:
			slices.Sort(top.sets)
			top.sets = slices.Compact(top.sets)
			sets[top.at] = top.sets
			open = open[:len(open)-1]
			if work -= len(top.sets); work < 0 {
				return nil, true
			}
			if len(open) > 0 {
				open[len(open)-1].sets = append(open[len(open)-1].sets, top.sets...)
			}
		}
	}
	return sets, false
}

func (t *tracer) run() {
	t.locals = make([]valueID, len(t.f.locals))
	for l, typ := range t.f.locals {
		t.locals[l] = kept(typ)
		if l >= len(t.f.sig.params) {
			t.locals[l] = never(typ)
		}
		if t.coarse {
			t.locals[l] = t.merged(typ, -1, t.locals[l])
		}
	}
	t.open = append(t.open, construct{op: opBlock, at: -1, typ: signature{results: t.f.sig.results}})
	for i := range t.f.code {
		t.step(int32(i), &t.f.code[i])
		if t.work < 0 && !t.coarse {
			t.coarse = true
			return
		}
	}
}

func (t *tracer) step(i int32, in *instr) {
	switch in.op {
	case opBlock, opLoop, opIf:
		t.enter(i, in)
	case opElse:
		t.otherwise()
	case opEnd:
		t.leave()
	case opBr:
		t.branch(uint32(in.a))
		t.stop()
	case opBrIf:
		t.pop()
		t.branch(uint32(in.a))
	case opBrTable:
		t.pop()
		for _, l := range in.labels {
			t.branch(l)
		}
		t.stop()
	case opReturn:
		t.branch(uint32(len(t.open) - 1))
		t.stop()
	case opUnreachable:
		t.stop()
	case opCall, opReturnCall:
		t.call(t.f.module.types[t.f.module.funcs[in.a]], in.op == opReturnCall)
	case opCallIndirect, opReturnCallIndirect:
		t.pop()
		t.call(t.f.module.types[in.a], in.op == opReturnCallIndirect)
	default:
		t.plain(i, in)
	}
}

// depth is how many loops are around.
func (t *tracer) depth() int8 { return int8(min(t.loops, maxDepth)) }

func (t *tracer) push(v valueID) { t.stack = append(t.stack, v) }

func (t *tracer) pushKept(types ...valType) {
	for _, typ := range types {
		t.push(kept(typ))
	}
}

func (t *tracer) pop() valueID { return t.popAll(1)[0] }

// popAll returns the topmost operands, which hold until something is pushed.
func (t *tracer) popAll(n int) []valueID {
	vs := t.top(n)
	t.stack = t.stack[:len(t.stack)-n]
	return vs
}

// top returns the topmost operands. In a valid function they are always there.
func (t *tracer) top(n int) []valueID {
	t.cut(max(n, len(t.stack)))
	return t.stack[len(t.stack)-n:]
}

// cut leaves so many operands.
func (t *tracer) cut(height int) {
	for len(t.stack) < height {
		t.push(noFloat)
	}
	t.stack = t.stack[:height]
}

// popObserved pops so many operands whose bits can be told.
func (t *tracer) popObserved(n int) {
	for _, v := range t.popAll(n) {
		t.use(v, 0)
	}
}

// merged adds a value that has one source so far. The place of a value that is no
// float holds kept.
func (t *tracer) merged(typ valType, construct int32, from valueID) valueID {
	if !isFloat(typ) {
		return noFloat
	}
	return t.addMerged(from, typ, construct, t.depth())
}

// enter opens a construct. What a loop starts with can come from its end, so there
// all that can differ is merged from the start.
func (t *tracer) enter(i int32, in *instr) {
	if in.op == opIf {
		t.pop()
	}
	c := construct{op: in.op, at: i, typ: in.block, sets: t.sets[i]}
	params := t.top(len(c.typ.params))
	c.height = len(t.stack) - len(params)
	switch in.op {
	case opLoop:
		t.loops++
		for n, v := range params {
			params[n] = t.merged(c.typ.params[n], i, v)
		}
		c.label = slices.Clone(params)
		for _, l := range c.sets {
			t.locals[l] = t.merged(t.f.locals[l], i, t.locals[l])
		}
		c.joined = t.held(c.sets)
	case opIf:
		c.params, c.entry = slices.Clone(params), t.held(c.sets)
		fallthrough
	default:
		c.label, c.joined = none(len(c.typ.results)), none(len(c.sets))
	}
	t.work -= len(c.sets)
	t.open = append(t.open, c)
}

// held returns what locals hold.
func (t *tracer) held(locals []uint32) []valueID {
	vs := make([]valueID, len(locals))
	for n, l := range locals {
		vs[n] = t.locals[l]
	}
	return vs
}

func none(n int) []valueID { return slices.Repeat([]valueID{unset}, n) }

func (t *tracer) innermost() *construct { return &t.open[len(t.open)-1] }

// stop ends what can be reached of the innermost construct, or of its first half.
func (t *tracer) stop() {
	t.dead = true
	t.cut(t.innermost().height)
}

// otherwise starts the second half of an if.
func (t *tracer) otherwise() {
	c := t.innermost()
	t.fall(c)
	t.restart(c)
	c.op = opElse
}

// restart puts everything as it was where an if started.
func (t *tracer) restart(c *construct) {
	t.dead = false
	t.cut(c.height)
	t.stack = append(t.stack, c.params...)
	for n, l := range c.sets {
		t.locals[l] = c.entry[n]
	}
}

// fall goes on behind a construct.
func (t *tracer) fall(c *construct) {
	if !t.dead {
		t.join(c, c.typ.results)
	}
}

// leave closes a construct. What is behind it starts with what was merged, or, when
// nothing gets there, with values that are never NaN.
func (t *tracer) leave() {
	c := t.innermost()
	switch {
	case c.at < 0:
		if !t.dead {
			t.popObserved(len(c.typ.results))
		}
		return
	case c.op == opLoop:
		t.loops--
		if t.dead {
			c.label = none(len(c.typ.results))
		} else {
			c.label = slices.Clone(t.top(len(c.typ.results)))
		}
		c.joined = t.held(c.sets)
	case c.op == opIf:
		t.fall(c)
		t.restart(c)
		t.fall(c)
	default:
		t.fall(c)
	}
	t.cut(c.height)
	for n, v := range c.label {
		t.push(reached(v, c.typ.results[n]))
	}
	for n, l := range c.sets {
		t.locals[l] = reached(c.joined[n], t.f.locals[l])
	}
	t.dead = false
	t.open = t.open[:len(t.open)-1]
}

func reached(v valueID, t valType) valueID {
	if v == unset {
		return never(t)
	}
	return v
}

// branch goes to a label, with the operands that it takes; they stay on the stack.
func (t *tracer) branch(label uint32) {
	c := &t.open[len(t.open)-1-int(label)]
	switch {
	case c.at < 0:
		for _, v := range t.top(len(c.typ.results)) {
			t.use(v, 0)
		}
	case c.op == opLoop:
		t.join(c, c.typ.params)
	default:
		t.join(c, c.typ.results)
	}
}

// join merges the operands and the locals with those that get to a label otherwise.
func (t *tracer) join(c *construct, types []valType) {
	t.work -= len(types) + len(c.sets)
	for n, v := range t.top(len(types)) {
		c.label[n] = t.merge(c.label[n], v, types[n], c.at, t.depth())
	}
	for n, l := range c.sets {
		c.joined[n] = t.merge(c.joined[n], t.locals[l], t.f.locals[l], c.at, t.depth())
	}
}

func (t *tracer) call(s signature, tail bool) {
	t.popObserved(len(s.params))
	if tail {
		t.stop()
		return
	}
	t.pushKept(s.results...)
}

// plain takes an instruction that control passes through.
func (t *tracer) plain(i int32, in *instr) {
	switch in.op {
	case opNop:
	case opDrop:
		t.pop()
	case opSelect, opSelectTyped:
		t.pop()
		b, a := t.pop(), t.pop()
		if typ := t.values[a].typ; isFloat(typ) {
			t.selects = append(t.selects, selection{i, typ})
		}
		t.push(t.same(i, a, b))
	case opLocalGet:
		t.push(t.same(i, t.locals[in.a], t.locals[in.a]))
	case opLocalSet:
		t.set(uint32(in.a), t.pop())
	case opLocalTee:
		v := t.pop()
		t.set(uint32(in.a), v)
		t.push(t.same(i, v, v))
	case opGlobalSet:
		t.popObserved(1)
	case opGlobalGet:
		t.pushKept(t.f.module.globals[in.a])
	case opRefNull:
		t.push(noFloat)
	case opTableSet:
		t.popObserved(2)
	case opTableGrow:
		t.popObserved(2)
		t.push(noFloat)
	case opTableFill:
		t.popObserved(3)
	case opTableGet, opRefIsNull:
		t.popObserved(1)
		t.push(noFloat)
	case opF32Const, opF64Const, opV128Const:
		t.push(floatConstant(in))
	default:
		t.fixed(i, in)
	}
}

func (t *tracer) set(local uint32, v valueID) {
	switch {
	case !isFloat(t.f.locals[local]):
	case t.coarse:
		t.addSource(t.locals[local], v)
	default:
		t.locals[local] = v
	}
}

// fixed takes an instruction whose operands and result follow from its opcode.
func (t *tracer) fixed(i int32, in *instr) {
	info, op := in.op.info(), treats(in)
	operands := t.popAll(len(info.pops))
	for _, v := range operands {
		t.use(v, op.in)
	}
	if len(info.pushes) == 0 {
		return
	}
	typ := info.pushes[0]
	result := kept(typ)
	switch op.treatment {
	case makes:
		result = t.add(value{kind: isMade, typ: typ, lanes: op.out, at: i, loops: t.depth()})
	case numbers:
		result = never(typ)
	case passes:
		result = t.from(i, isSame, typ, op.out, operands[0], operands[len(operands)-1])
	case negates:
		result = t.from(i, isSigned, typ, op.out, operands[0], operands[0])
	case signs:
		t.use(operands[1], 0)
		result = t.from(i, isSigned, typ, op.out, operands[0], operands[0])
	}
	t.push(result)
}

// same adds a value that is one of two others.
func (t *tracer) same(i int32, a, b valueID) valueID {
	return t.from(i, isSame, t.values[a].typ, lanesBoth, a, b)
}

// from adds a value that follows from others. Where no check is ever needed, one
// value stands for all.
func (t *tracer) from(i int32, kind valueKind, typ valType, in lanes, a, b valueID) valueID {
	switch {
	case t.values[a].kind == isNever && t.values[b].kind == isNever:
		return never(typ)
	case a < firstOwn && b < firstOwn:
		return kept(typ)
	}
	return t.add(value{kind: kind, typ: typ, lanes: in, at: i, loops: t.depth(), from: [2]valueID{a, b}})
}
