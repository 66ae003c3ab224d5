package rewrite

// valType is a value type as it is encoded.
type valType byte

const (
	i32       valType = 0x7f
	i64       valType = 0x7e
	f32       valType = 0x7d
	f64       valType = 0x7c
	v128      valType = 0x7b
	funcref   valType = 0x70
	externref valType = 0x6f
)

// opcode is the encoded opcode. Those with a prefix are the prefix times 0x1000
// plus what follows it: 0xfc00a is memory.copy.
type opcode uint32

// signature is a function type.
type signature struct{ params, results []valType }

// instr is an instruction that can be reached.
type instr struct {
	op opcode
	at int // offset of the opcode in the module
	// a and b are the immediates in their order: an index, the bits of a constant,
	// alignment and offset of a memory access, both halves of a v128.const.
	a, b   uint64
	labels []uint32  // of br_table, the default last; the lanes of a shuffle
	types  []valType // of select with types
	// block is the type of a block, loop, if or try.
	block signature
	// raw is the immediate as it was encoded, for what is copied unchanged.
	raw []byte
}

// function is a function whose code is rewritten.
type function struct {
	module *module
	index  uint32 // in the original's index space
	sig    signature
	locals []valType // parameters first; passes add theirs at the end
	own    int       // how many of locals the author declared, parameters included
	code   []instr   // without what cannot be reached; ends with the function's end

	before, after map[int][]byte // what passes insert, by the index in code
}

// newLocal adds a local and returns its index.
func (f *function) newLocal(t valType) uint32 {
	f.locals = append(f.locals, t)
	return uint32(len(f.locals) - 1)
}

// insertBefore puts code before code[i]. Later calls for the same place come after
// earlier ones.
func (f *function) insertBefore(i int, code ...byte) { f.before[i] = append(f.before[i], code...) }

// insertAfter puts code after code[i]: after a block's first instruction that is
// inside of it. Later calls for the same place come after earlier ones.
func (f *function) insertAfter(i int, code ...byte) { f.after[i] = append(f.after[i], code...) }

// module is a module that was read.
type module struct {
	types  []signature
	funcs  []uint32 // the type of each function, the imported ones first
	tables []valType
	// globals holds the type of each global, the imported ones first, and mutable
	// whether it can be set.
	globals []valType
	mutable []bool
}
