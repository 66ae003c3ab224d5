package rewrite

// What a module may hold. What a compiler needs of memory and of time follows from these
// figures, and can exceed the size of the module a thousandfold: a few KB of nested loops
// keep it busy for minutes. Each bound leaves every module that a compiler of a language
// is known to have made at least four times as much as it has: see TestRealModules.
const (
	maxModuleBytes   = 64 << 20
	maxFunctionBytes = 512 << 10 // of one body, as it is and as it is rewritten
	maxFunctions     = 100_000
	maxTypes         = 10_000
	maxSignature     = 250 // parameters, and results, of a type
	maxImports       = 1_000
	maxExports       = 10_000
	maxGlobals       = 10_000
	maxTables        = 100
	maxElements      = 10_000 // segments
	maxData          = 250_000
	maxLocals        = 50_000  // of one function, parameters included, as browsers have it
	maxAllLocals     = 4 << 20 // of all functions
)

// most is what one function may cost, and what all functions of a module may cost whatever
// its size; perByte is what those may cost more for each byte of the module.
var (
	most    = effort{values: 250_000, places: 50_000, alive: 1_000_000, merges: 50_000_000, walks: 130_000_000, accesses: 64_000}
	perByte = effort{values: 2, places: 1, alive: 8, merges: 256, walks: 64, accesses: 1}
)

const adviceComplex = "split the function, or build with optimization"

// figure is one of the figures of an effort.
type figure struct {
	what string
	of   func(e *effort) *int
}

var figures = []figure{
	{"values", func(e *effort) *int { return &e.values }},
	{"branches", func(e *effort) *int { return &e.places }},
	{"values that are alive at its branches", func(e *effort) *int { return &e.alive }},
	{"pairs of values that are alive at its branches", func(e *effort) *int { return &e.merges }},
	{"branches between values and where they are set", func(e *effort) *int { return &e.walks }},
	{"accesses to memory, globals and functions", func(e *effort) *int { return &e.accesses }},
}

// ledger adds up what the functions of a module cost.
type ledger struct {
	surveyor
	sum effort
}

// check refuses a function that costs too much, alone or together with those before it.
func (l *ledger) check(f *function, at int) *Error {
	e := l.survey(f)
	r := &reader{}
	for _, figure := range figures {
		got, sum, limit := *figure.of(&e), figure.of(&l.sum), *figure.of(&most)
		if got > limit {
			r.fail(at, adviceComplex, "function %d has %d %s; %d are allowed", f.index, got, figure.what, limit)
		}
		*sum += got
		if limit += *figure.of(&perByte) * len(f.module.wasm); *sum > limit {
			r.fail(at, adviceComplex, "the functions up to %d have %d %s together; %d are allowed in a module of %d bytes",
				f.index, *sum, figure.what, limit, len(f.module.wasm))
		}
	}
	return r.err
}

// bounded reads how many elements a section holds, which may be at most so many.
func (r *reader) bounded(what string, most uint32) uint32 {
	at := r.at
	n := length(r)
	if n > most {
		r.fail(at, "", "it has %d %s; %d are allowed", n, what, most)
		return 0
	}
	return n
}
