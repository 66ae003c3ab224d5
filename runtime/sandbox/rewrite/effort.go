package rewrite

import "sort"

// effort is what a function costs a compiler that allocates registers: it follows not so
// much the size of the code as what is alive in how many places at once.
type effort struct {
	values int // that instructions leave on the stack, block parameters included
	places int // where straight code begins: the basic blocks of the compiler
	// alive is the sum, over all places, of the locals and operands that are alive
	// there; merges that of their squares, for where paths meet each is compared with
	// the others.
	alive, merges int
	// walks is how many blocks are passed when what dominates a block, or where a value
	// was set, is looked for.
	walks    int
	accesses int // of memory, tables and globals, and calls
}

// surveyor finds what functions cost. It is used for one function after the other.
type surveyor struct {
	f      *function
	height int // of the stack of operands
	scopes int // that were opened so far
	open   []scope
	loops  []turn // that are open, from the outermost
	places []place
	spans  []span // of each local
	dead   bool   // nothing gets to the next instruction
	depth  int    // of the current place in the tree of those that come before it for sure
	path   int    // how many places it is behind the last where paths meet
	sum    effort
}

// scope is a block, loop, an arm of an if, or the function itself.
type scope struct {
	op     opcode
	height int // of the stack below its parameters
	typ    signature
	number int // of the scope, over the whole function
	// depth is the least of the places that lead to the end, and before that of the place
	// that the scope was opened in.
	depth, before int
}

// far is a depth that no place has.
const far = 1 << 30

// turn is a loop that is open.
type turn struct {
	depth  int      // of its scope
	begun  int      // its first place
	locals []uint32 // that are alive to its end
}

// place is where straight code begins.
type place struct {
	count    int // how many there are alike: a br_table has one for each of its targets
	operands int // on the stack
	change   int // how many locals more are alive than in the place before
	walk     int // how many places are passed for each value that is alive
}

// span is where a local is alive: from its first mention to its last, and to the end of
// a loop that reads what was set outside of it. What may have been left by an earlier turn
// is alive throughout the outermost loop.
type span struct {
	first, last int
	mentioned   bool
	// set is the scope with the earliest set that is sure to come before what follows in
	// it, and depth is where that scope is open.
	set, depth int
	until      int // the loop to whose end it is alive, counted from 1; 0 for none
}

// survey returns what a function that was decoded costs.
func (s *surveyor) survey(f *function) effort {
	*s = surveyor{f: f, open: s.open[:0], loops: s.loops[:0], places: s.places[:0], spans: append(s.spans[:0], make([]span, f.named())...)}
	s.begin(1, 0)
	s.enclose(opBlock, signature{results: f.sig.results})
	for i := range f.sig.params {
		s.spans[i] = span{mentioned: true, set: s.scopes}
	}
	for i := range f.code {
		s.step(&f.code[i])
	}
	s.add()
	return s.sum
}

// named is how many locals there are up to the last that the code names, parameters
// included: the others cost nothing.
func (f *function) named() int {
	n := len(f.sig.params)
	for i := range f.code {
		if in := &f.code[i]; in.op == opLocalGet || in.op == opLocalSet || in.op == opLocalTee {
			n = max(n, int(in.a)+1)
		}
	}
	return n
}

// begin begins places right behind the one at the given depth.
func (s *surveyor) begin(count, depth int) {
	s.depth = depth + 1
	s.path++
	s.sum.walks += count * s.depth
	s.places = append(s.places, place{count: count, operands: s.height})
}

// meet begins a place where paths meet.
func (s *surveyor) meet(depth int) {
	s.begin(1, depth)
	s.path = 0
}

// join notes that a path leads from here to the end of a scope, or to its start.
func (s *surveyor) join(c *scope, count int) {
	c.depth = min(c.depth, s.depth)
	s.places[s.here()].walk += count * s.path
}

func (s *surveyor) branch(label uint32, count int) {
	s.join(&s.open[len(s.open)-1-int(label)], count)
}

// here is the place that the walk is in.
func (s *surveyor) here() int { return len(s.places) - 1 }

// add adds up what is alive in each place.
func (s *surveyor) add() {
	for _, l := range s.spans {
		if !l.mentioned {
			continue
		}
		s.places[l.first].change++
		if l.last+1 < len(s.places) {
			s.places[l.last+1].change--
		}
	}
	locals := 0
	for _, p := range s.places {
		locals += p.change
		alive := locals + p.operands
		s.sum.places += p.count
		s.sum.alive += p.count * alive
		s.sum.merges += p.count * alive * alive
		s.sum.walks += p.walk * (alive + 1)
	}
}

func (s *surveyor) push(n int) { s.height += n; s.sum.values += n }

// pop takes operands. A function that is not valid may take more than there are.
func (s *surveyor) pop(n int) { s.height = max(0, s.height-n) }

func (s *surveyor) step(in *instr) {
	switch in.op {
	case opBlock, opLoop, opIf:
		s.enter(in)
	case opElse:
		s.restart()
	case opEnd:
		s.leave()
	case opBr:
		s.branch(uint32(in.a), 1)
		s.stop()
	case opReturn, opUnreachable:
		s.stop()
	case opBrIf:
		s.pop(1)
		s.branch(uint32(in.a), 1)
		s.begin(2, s.depth)
	case opBrTable:
		s.pop(1)
		s.table(in.labels)
		s.stop()
	case opCall, opReturnCall:
		s.call(s.f.module.types[s.f.module.funcs[in.a]], in.op == opReturnCall)
	case opCallIndirect, opReturnCallIndirect:
		s.pop(1)
		s.call(s.f.module.types[in.a], in.op == opReturnCallIndirect)
	case opLocalGet, opLocalSet, opLocalTee:
		s.mention(uint32(in.a), in.op)
		s.plain(in)
	default:
		s.plain(in)
	}
}

// table takes a br_table, which has a place of its own for each of its targets.
func (s *surveyor) table(labels []uint32) {
	s.sum.values += len(labels) * s.arity(labels[0])
	s.begin(len(labels), s.depth)
	for _, l := range labels {
		s.branch(l, 1)
	}
}

// arity is how many values a branch to a label takes along.
func (s *surveyor) arity(label uint32) int {
	c := &s.open[len(s.open)-1-int(label)]
	if c.op == opLoop {
		return len(c.typ.params)
	}
	return len(c.typ.results)
}

func (s *surveyor) call(t signature, tail bool) {
	s.sum.accesses++
	s.pop(len(t.params))
	if tail {
		s.stop()
		return
	}
	s.push(len(t.results))
}

func (s *surveyor) enter(in *instr) {
	if in.op == opIf {
		s.pop(1)
	}
	s.pop(len(in.block.params))
	s.enclose(in.op, in.block)
	s.push(len(in.block.params))
	if in.op != opLoop {
		s.begin(1, s.depth)
		return
	}
	s.meet(s.depth)
	s.loops = append(s.loops, turn{depth: len(s.open) - 1, begun: s.here()})
}

func (s *surveyor) enclose(op opcode, t signature) {
	s.scopes++
	s.open = append(s.open, scope{op: op, height: s.height, typ: t, number: s.scopes, depth: far, before: s.depth})
}

func (s *surveyor) innermost() *scope { return &s.open[len(s.open)-1] }

// restart begins the second half of an if.
func (s *surveyor) restart() {
	s.scopes++
	c := s.innermost()
	s.fall(c)
	c.op, c.number, s.height = opElse, s.scopes, c.height
	s.push(len(c.typ.params))
	s.begin(1, c.before)
}

func (s *surveyor) leave() {
	c := *s.innermost()
	s.open = s.open[:len(s.open)-1]
	if len(s.open) == 0 {
		return
	}
	s.fall(&c)
	s.dead, s.height = false, c.height
	s.push(len(c.typ.results))
	switch c.op {
	case opLoop:
		s.turned()
	case opIf:
		s.meet(c.before)
	default:
		s.meet(c.end(s.depth))
	}
}

// end is the depth of what comes before the end of a scope for sure; nothing may lead there.
func (c *scope) end(depth int) int {
	if c.depth == far {
		return depth
	}
	return c.depth
}

// fall goes on behind a scope.
func (s *surveyor) fall(c *scope) {
	if !s.dead {
		s.join(c, 1)
	}
	s.dead = false
}

// turned ends a loop.
func (s *surveyor) turned() {
	last := len(s.loops) - 1
	for _, l := range s.loops[last].locals {
		if span := &s.spans[l]; span.until == last+1 {
			span.last, span.until = s.here(), 0
		}
	}
	s.loops = s.loops[:last]
}

// stop ends what can be reached of the innermost scope.
func (s *surveyor) stop() { s.height, s.dead = s.innermost().height, true }

func (s *surveyor) mention(local uint32, op opcode) {
	l := &s.spans[local]
	if !l.mentioned {
		l.mentioned, l.first = true, s.here()
	}
	l.last = s.here()
	s.sum.walks += s.path
	if op != opLocalGet {
		s.set(l)
		return
	}
	if loop := s.carries(l); loop < len(s.loops) && (l.until == 0 || l.until > loop+1) {
		l.until = loop + 1
		s.loops[loop].locals = append(s.loops[loop].locals, local)
	}
}

// sure says that a local is set in a scope that is still open.
func (s *surveyor) sure(l *span) bool {
	return l.set > 0 && l.depth < len(s.open) && s.open[l.depth].number == l.set
}

// set keeps the earliest scope in the outermost loop in which a local is set.
func (s *surveyor) set(l *span) {
	if s.sure(l) && (len(s.loops) == 0 || l.depth >= s.loops[0].depth) {
		return
	}
	l.depth = len(s.open) - 1
	l.set = s.open[l.depth].number
}

// carries finds the outermost loop that a local is alive in from one turn to the next.
func (s *surveyor) carries(l *span) int {
	if len(s.loops) == 0 {
		return 0
	}
	if !s.sure(l) {
		l.first = min(l.first, s.loops[0].begun)
		return 0
	}
	return sort.Search(len(s.loops), func(i int) bool { return s.loops[i].depth > l.depth })
}

// plain takes an instruction that control passes through.
func (s *surveyor) plain(in *instr) {
	if accesses(in.op) {
		s.sum.accesses++
		s.sum.walks += s.path
	}
	switch in.op {
	case opLocalGet, opGlobalGet, opRefNull, opTableSize:
		s.push(1)
	case opLocalSet, opGlobalSet, opDrop:
		s.pop(1)
	case opLocalTee, opTableGet, opRefIsNull:
		s.pop(1)
		s.push(1)
	case opSelect, opSelectTyped:
		s.pop(3)
		s.push(1)
	case opTableSet:
		s.pop(2)
	case opTableGrow:
		s.pop(2)
		s.push(1)
	case opTableFill:
		s.pop(3)
	default:
		info := in.op.info()
		s.pop(len(info.pops))
		s.push(len(info.pushes))
	}
}

// accesses says that an instruction needs to know where a memory, a table or a global is.
func accesses(o opcode) bool {
	switch o.info().imm {
	case immMemArg, immMemLane, immMemory, immMemories, immDataTo, immData, immTable, immTables, immElemTo, immElem, immGlobal:
		return true
	}
	return false
}
