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
	// size is how many bytes it takes there.
	size int
	// a and b are the immediates in their order: an index, the bits of a constant,
	// alignment and offset of a memory access, both halves of a v128.const.
	a, b   uint64
	labels []uint32  // of br_table, the default last; the lanes of a shuffle
	types  []valType // of select with types
	// block is the type of a block, loop, if or try.
	block signature
}

// function is a function whose code is rewritten. It and everything in it is only
// valid until the next one is decoded.
type function struct {
	module *module
	index  uint32 // in the original's index space
	sig    signature
	locals []valType // parameters first; passes add theirs at the end
	own    int       // how many of locals the author declared, parameters included
	code   []instr   // without what cannot be reached; ends with the function's end

	edits    []edit // what passes insert
	inserted []byte // the code of all edits
	marks    []mark // see [module.locate]; nil where none are wanted
}

// edit is code that is inserted: inserted[from:to].
type edit struct {
	place    int // 2*i before code[i], 2*i+1 after it
	from, to int
}

// newLocal adds a local and returns its index.
func (f *function) newLocal(t valType) uint32 {
	f.locals = append(f.locals, t)
	return uint32(len(f.locals) - 1)
}

// insertBefore puts code before code[i]. Later calls for the same place come after
// earlier ones.
func (f *function) insertBefore(i int, code ...byte) { f.insert(2*i, code) }

// insertAfter puts code after code[i]: after a block's first instruction that is
// inside of it. Later calls for the same place come after earlier ones.
func (f *function) insertAfter(i int, code ...byte) { f.insert(2*i+1, code) }

func (f *function) insert(place int, code []byte) {
	from := len(f.inserted)
	f.inserted = append(f.inserted, code...)
	f.edits = append(f.edits, edit{place, from, len(f.inserted)})
}

// end is the offset of what follows the instruction in the module.
func (in *instr) end() int { return in.at + in.size }
