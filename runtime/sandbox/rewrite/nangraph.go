package rewrite

import "slices"

// lanes is a set of float formats, by the width of what a value holds: an f32 and a
// v128 of four of them are lanes32.
type lanes uint8

const (
	lanes32 lanes = 1 << iota
	lanes64
	lanesBoth = lanes32 | lanes64
)

// valueID is the index of a value in its graph.
type valueID int32

// The first values of each graph stand for all those that are never checked: kept
// for those whose bits the guest chose or may know already, which are constants that
// are NaN, what was loaded, passed, returned or reinterpreted; never for those that
// are no NaN. They come in the order f32, f64, v128.
const (
	noFloat    valueID = 0
	firstKept  valueID = 1
	firstNever valueID = 4
	firstOwn   valueID = 7
	unset      valueID = -1 // no value
)

func kept(t valType) valueID {
	if !isFloat(t) {
		return noFloat
	}
	return firstKept + valueID(f32-t)
}

func never(t valType) valueID {
	if !isFloat(t) {
		return noFloat
	}
	return firstNever + valueID(f32-t)
}

func isFloat(t valType) bool { return t == f32 || t == f64 || t == v128 }

// valueKind says how a value follows from others.
type valueKind uint8

const (
	isKept valueKind = iota
	isNever
	isMade   // by arithmetic: its NaNs are the processor's
	isSame   // one of its sources, or made of their lanes: its NaNs are theirs
	isSigned // its only source with another sign
	isMerged // one of its sources, by which way control came
)

// value is a float, or a vector of them, that the function computes. There is one
// for each instruction that makes or moves one, so it is kept small.
type value struct {
	// at is the instruction after which the value is on top of the stack, or the
	// construct that owns a merged one.
	at int32
	// from are its sources, the same one twice if there is one only. Those of a merged
	// value are merges[from[0]].
	from  [2]valueID
	kind  valueKind
	typ   valType
	lanes lanes // what its NaNs are looked for in
	loops int8  // how many loops are around at

	// made says in which lanes there can be a NaN that arithmetic made, as long as
	// nothing is checked.
	made lanes
	// form is the one format in which every NaN of the value was made, so that a check
	// of the value loses nothing; both if there is never a NaN; none otherwise.
	form lanes
	// hot is how many loops are around the innermost arithmetic it comes from.
	hot int8

	observed bool
	check    bool // a check has to follow
}

// use is a value in the place of an operand that treats all NaNs of some lanes alike.
type use struct {
	value valueID
	reads lanes
}

// selection is an instruction that selects between values of a type of float.
type selection struct {
	at  int32
	typ valType
}

// graph is how the floats of a function follow from each other.
type graph struct {
	values []value
	uses   []use
	// selects are the instructions that select a float.
	selects []selection
	merges  [][]valueID // the sources of merged values
	stack   []valueID   // of observe
}

func newGraph() *graph {
	g := &graph{values: make([]value, firstOwn, 64)}
	for _, t := range []valType{f32, f64, v128} {
		g.values[kept(t)] = value{kind: isKept, typ: t}
		g.values[never(t)] = value{kind: isNever, typ: t}
	}
	return g
}

func (g *graph) add(v value) valueID {
	g.values = append(g.values, v)
	return valueID(len(g.values) - 1)
}

// use notes that an instruction reads a value in a way that tells the NaNs of all
// but some lanes apart.
func (g *graph) use(v valueID, reads lanes) {
	if v >= firstOwn {
		g.uses = append(g.uses, use{v, reads})
	}
}

// addMerged adds a value with one source so far.
func (g *graph) addMerged(from valueID, t valType, construct int32, loops int8) valueID {
	g.merges = append(g.merges, []valueID{from})
	sources := [2]valueID{valueID(len(g.merges) - 1)}
	return g.add(value{kind: isMerged, typ: t, lanes: lanesBoth, at: construct, loops: loops, from: sources})
}

// merge adds a source to what a construct merges in one place, and returns what is
// there now. A place with one source only is that source.
func (g *graph) merge(into, from valueID, t valType, construct int32, loops int8) valueID {
	switch {
	case into == unset || into == from:
		return from
	case into >= firstOwn && g.values[into].kind == isMerged && g.values[into].at == construct:
		g.addSource(into, from)
		return into
	}
	v := g.addMerged(into, t, construct, loops)
	g.addSource(v, from)
	return v
}

func (g *graph) addSource(merged, from valueID) {
	sources := &g.merges[g.values[merged].from[0]]
	if from != merged && from != (*sources)[len(*sources)-1] {
		*sources = append(*sources, from)
	}
}

// sources returns what a value follows from.
func (g *graph) sources(v *value) []valueID {
	switch v.kind {
	case isMerged:
		return g.merges[v.from[0]]
	case isSame:
		return v.from[:]
	case isSigned:
		return v.from[:1]
	}
	return nil
}

// solve finds made, form and hot for each value. It starts from "no NaN" everywhere
// and tells those that follow from a value of each change, which are a few for each
// value at most: each of the three can only change in one direction.
func (g *graph) solve() {
	users, todo := g.users(), make([]valueID, 0, len(g.values))
	waiting := make([]bool, len(g.values))
	for i := range g.values {
		if g.values[i].start() {
			todo, waiting[i] = append(todo, valueID(i)), true
		}
	}
	for len(todo) > 0 {
		v := todo[len(todo)-1]
		todo, waiting[v] = todo[:len(todo)-1], false
		for _, u := range users(v) {
			if g.values[u].join(&g.values[v]) && !waiting[u] {
				todo, waiting[u] = append(todo, u), true
			}
		}
	}
}

// start sets what a value is by itself, and says whether that can be a NaN.
func (v *value) start() bool {
	switch v.kind {
	case isKept:
		v.form = 0
	case isMade:
		v.made, v.form, v.hot = v.lanes, v.lanes, v.loops
	default:
		v.form = lanesBoth
		return false
	}
	return true
}

// join adds what a source says to a value, and says whether that changed it.
func (v *value) join(from *value) bool {
	made, form, hot := v.made, v.form, v.hot
	v.made |= from.made & v.lanes
	v.hot = max(v.hot, from.hot)
	switch {
	case from.form == lanesBoth:
	case v.kind == isSigned:
		v.form = 0
	default:
		v.form &= from.form & v.lanes
	}
	return made != v.made || form != v.form || hot != v.hot
}

// users returns the values that follow from each value.
func (g *graph) users() func(valueID) []valueID {
	first := make([]int32, len(g.values)+1)
	for i := range g.values {
		for _, s := range g.sources(&g.values[i]) {
			first[s+1]++
		}
	}
	for i := range g.values {
		first[i+1] += first[i]
	}
	next, all := slices.Clone(first), make([]valueID, first[len(g.values)])
	for i := range g.values {
		for _, s := range g.sources(&g.values[i]) {
			all[next[s]] = valueID(i)
			next[s]++
		}
	}
	return func(v valueID) []valueID { return all[first[v]:first[v+1]] }
}

// observe makes sure that the NaNs of a value are canonical or the guest's own.
//
// A value all of whose NaNs were made is checked itself, unless what it comes from
// is outside of a loop that the value is in. Of any other the sources are.
func (g *graph) observe(id valueID) {
	g.stack = append(g.stack[:0], id)
	for len(g.stack) > 0 {
		v := &g.values[g.stack[len(g.stack)-1]]
		g.stack = g.stack[:len(g.stack)-1]
		if v.observed || v.made == 0 {
			continue
		}
		v.observed = true
		switch {
		case v.kind == isMade, v.kind == isSame && v.form != 0 && v.hot >= v.loops:
			v.check = true
		default:
			g.stack = append(g.stack, g.sources(v)...)
		}
	}
}
