package rewrite

import "strings"

// Opcodes that passes know by name. The rest is in the table below.
const (
	opUnreachable        opcode = 0x00
	opNop                opcode = 0x01
	opBlock              opcode = 0x02
	opLoop               opcode = 0x03
	opIf                 opcode = 0x04
	opElse               opcode = 0x05
	opEnd                opcode = 0x0b
	opBr                 opcode = 0x0c
	opBrIf               opcode = 0x0d
	opBrTable            opcode = 0x0e
	opReturn             opcode = 0x0f
	opCall               opcode = 0x10
	opCallIndirect       opcode = 0x11
	opReturnCall         opcode = 0x12
	opReturnCallIndirect opcode = 0x13
	opDrop               opcode = 0x1a
	opSelect             opcode = 0x1b
	opSelectTyped        opcode = 0x1c
	opLocalGet           opcode = 0x20
	opLocalSet           opcode = 0x21
	opLocalTee           opcode = 0x22
	opGlobalGet          opcode = 0x23
	opGlobalSet          opcode = 0x24
	opTableGet           opcode = 0x25
	opTableSet           opcode = 0x26
	opMemoryGrow         opcode = 0x40
	opI32Const           opcode = 0x41
	opI64Const           opcode = 0x42
	opF32Const           opcode = 0x43
	opF64Const           opcode = 0x44
	opI64GeS             opcode = 0x59
	opI32Or              opcode = 0x72
	opI32Add             opcode = 0x6a
	opI32Sub             opcode = 0x6b
	opI32Mul             opcode = 0x6c
	opI64Add             opcode = 0x7c
	opI64Sub             opcode = 0x7d
	opI64Mul             opcode = 0x7e
	opI64Or              opcode = 0x84
	opI64Shl             opcode = 0x86
	opI64ShrU            opcode = 0x88
	opI64ExtendI32U      opcode = 0xad
	opI32ReinterpretF32  opcode = 0xbc
	opI64ReinterpretF64  opcode = 0xbd
	opF32ReinterpretI32  opcode = 0xbe
	opF64ReinterpretI64  opcode = 0xbf
	opRefNull            opcode = 0xd0
	opRefIsNull          opcode = 0xd1
	opRefFunc            opcode = 0xd2

	opMemoryInit opcode = 0xfc008
	opDataDrop   opcode = 0xfc009
	opMemoryCopy opcode = 0xfc00a
	opMemoryFill opcode = 0xfc00b
	opTableInit  opcode = 0xfc00c
	opElemDrop   opcode = 0xfc00d
	opTableCopy  opcode = 0xfc00e
	opTableGrow  opcode = 0xfc00f
	opTableSize  opcode = 0xfc010
	opTableFill  opcode = 0xfc011

	opV128Const opcode = 0xfd00c
	opV128Not   opcode = 0xfd04d
)

// Prefixes of opcodes.
const (
	prefixGC     = 0xfb
	prefixMisc   = 0xfc
	prefixVector = 0xfd
	prefixAtomic = 0xfe
)

// immediate is the kind of what follows an opcode, and where in an instr it is kept.
type immediate uint8

const (
	immNone     immediate = iota
	immBlock              // a block type: block
	immLabel              // a depth: a
	immLabels             // a vector of depths and the default: labels
	immFunc               // a function: a
	immIndirect           // a type and a table: a, b
	immLocal              // a local: a
	immGlobal             // a global: a
	immTable              // a table: a
	immTables             // the tables to copy to and from: a, b
	immElem               // an element segment: a
	immElemTo             // an element segment and a table: a, b
	immData               // a data segment: a
	immDataTo             // a data segment and a memory: a, b
	immMemory             // a memory: a
	immMemories           // the memories to copy to and from: a, b
	immMemArg             // alignment and offset: a, b
	immMemLane            // alignment, offset and a lane: a, b, labels
	immI32                // the bits of a constant: a
	immI64
	immF32
	immF64
	immV128    // both halves of a constant, the lower first: a, b
	immShuffle // sixteen lanes: labels
	immLane    // a lane: a
	immRefType // a reference type: a
	immTypes   // a vector of value types: types
)

// opInfo describes an opcode.
type opInfo struct {
	name string // "" for what is not an opcode
	imm  immediate
	// fixed says that pops and pushes hold for every use. Otherwise they follow from
	// the immediate, or from what is on the stack.
	fixed        bool
	pops, pushes []valType // the top of the stack last
}

// info describes the opcode, nil when there is none of this number.
func (o opcode) info() *opInfo {
	var in *opInfo
	switch {
	case o < 0x100:
		in = &opcodes.plain[o]
	case o>>12 == prefixMisc && o&0xfff < opcode(len(opcodes.misc)):
		in = &opcodes.misc[o&0xfff]
	case o>>12 == prefixVector && o&0xfff < opcode(len(opcodes.vector)):
		in = &opcodes.vector[o&0xfff]
	default:
		return nil
	}
	if in.name == "" {
		return nil
	}
	return in
}

// String returns the name of the text format.
func (o opcode) String() string {
	if in := o.info(); in != nil {
		return in.name
	}
	return "unknown"
}

type opTable struct {
	plain  [0x100]opInfo
	misc   [0x12]opInfo
	vector [0x100]opInfo
}

// run is a row of the table: opcodes that follow each other, have the same kind of
// immediate and, if they are fixed, the same operands and results.
type run struct {
	first opcode
	imm   immediate
	types string // operands, ">", results; "" when they are not fixed
	names string
}

var opcodes = buildTable()

func buildTable() *opTable {
	t := &opTable{}
	for _, r := range runs {
		operands, results, fixed := strings.Cut(r.types, ">")
		in := opInfo{imm: r.imm, fixed: fixed, pops: valTypes(operands), pushes: valTypes(results)}
		for i, name := range strings.Fields(r.names) {
			in.name = name
			t.put(r.first+opcode(i), in)
		}
	}
	return t
}

func (t *opTable) put(o opcode, in opInfo) {
	switch o >> 12 {
	case prefixMisc:
		t.misc[o&0xfff] = in
	case prefixVector:
		t.vector[o&0xfff] = in
	default:
		t.plain[o] = in
	}
}

// valTypes spells out the letters of the table.
func valTypes(letters string) []valType {
	types := make([]valType, len(letters))
	for i, letter := range letters {
		switch letter {
		case 'i':
			types[i] = i32
		case 'l':
			types[i] = i64
		case 'f':
			types[i] = f32
		case 'd':
			types[i] = f64
		case 'v':
			types[i] = v128
		case 'r':
			types[i] = funcref
		}
	}
	return types
}

// runs is every opcode of the core specification 2.0, and tail calls. The letters
// are i for i32, l for i64, f for f32, d for f64, v for v128, r for funcref.
var runs = []run{
	{0x00, immNone, "", "unreachable"},
	{0x01, immNone, ">", "nop"},
	{0x02, immBlock, "", "block loop if"},
	{0x05, immNone, "", "else"},
	{0x0b, immNone, "", "end"},
	{0x0c, immLabel, "", "br br_if"},
	{0x0e, immLabels, "", "br_table"},
	{0x0f, immNone, "", "return"},
	{0x10, immFunc, "", "call"},
	{0x11, immIndirect, "", "call_indirect"},
	{0x12, immFunc, "", "return_call"},
	{0x13, immIndirect, "", "return_call_indirect"},
	{0x1a, immNone, "", "drop select"},
	{0x1c, immTypes, "", "select_t"},
	{0x20, immLocal, "", "local.get local.set local.tee"},
	{0x23, immGlobal, "", "global.get global.set"},
	{0x25, immTable, "", "table.get table.set"},
	{0x28, immMemArg, "i>i", "i32.load"},
	{0x29, immMemArg, "i>l", "i64.load"},
	{0x2a, immMemArg, "i>f", "f32.load"},
	{0x2b, immMemArg, "i>d", "f64.load"},
	{0x2c, immMemArg, "i>i", "i32.load8_s i32.load8_u i32.load16_s i32.load16_u"},
	{0x30, immMemArg, "i>l", "i64.load8_s i64.load8_u i64.load16_s i64.load16_u i64.load32_s i64.load32_u"},
	{0x36, immMemArg, "ii>", "i32.store"},
	{0x37, immMemArg, "il>", "i64.store"},
	{0x38, immMemArg, "if>", "f32.store"},
	{0x39, immMemArg, "id>", "f64.store"},
	{0x3a, immMemArg, "ii>", "i32.store8 i32.store16"},
	{0x3c, immMemArg, "il>", "i64.store8 i64.store16 i64.store32"},
	{0x3f, immMemory, ">i", "memory.size"},
	{0x40, immMemory, "i>i", "memory.grow"},
	{0x41, immI32, ">i", "i32.const"},
	{0x42, immI64, ">l", "i64.const"},
	{0x43, immF32, ">f", "f32.const"},
	{0x44, immF64, ">d", "f64.const"},
	{0x45, immNone, "i>i", "i32.eqz"},
	{0x46, immNone, "ii>i", "i32.eq i32.ne i32.lt_s i32.lt_u i32.gt_s i32.gt_u i32.le_s i32.le_u i32.ge_s i32.ge_u"},
	{0x50, immNone, "l>i", "i64.eqz"},
	{0x51, immNone, "ll>i", "i64.eq i64.ne i64.lt_s i64.lt_u i64.gt_s i64.gt_u i64.le_s i64.le_u i64.ge_s i64.ge_u"},
	{0x5b, immNone, "ff>i", "f32.eq f32.ne f32.lt f32.gt f32.le f32.ge"},
	{0x61, immNone, "dd>i", "f64.eq f64.ne f64.lt f64.gt f64.le f64.ge"},
	{0x67, immNone, "i>i", "i32.clz i32.ctz i32.popcnt"},
	{0x6a, immNone, "ii>i", "i32.add i32.sub i32.mul i32.div_s i32.div_u i32.rem_s i32.rem_u i32.and i32.or i32.xor i32.shl i32.shr_s i32.shr_u i32.rotl i32.rotr"},
	{0x79, immNone, "l>l", "i64.clz i64.ctz i64.popcnt"},
	{0x7c, immNone, "ll>l", "i64.add i64.sub i64.mul i64.div_s i64.div_u i64.rem_s i64.rem_u i64.and i64.or i64.xor i64.shl i64.shr_s i64.shr_u i64.rotl i64.rotr"},
	{0x8b, immNone, "f>f", "f32.abs f32.neg f32.ceil f32.floor f32.trunc f32.nearest f32.sqrt"},
	{0x92, immNone, "ff>f", "f32.add f32.sub f32.mul f32.div f32.min f32.max f32.copysign"},
	{0x99, immNone, "d>d", "f64.abs f64.neg f64.ceil f64.floor f64.trunc f64.nearest f64.sqrt"},
	{0xa0, immNone, "dd>d", "f64.add f64.sub f64.mul f64.div f64.min f64.max f64.copysign"},
	{0xa7, immNone, "l>i", "i32.wrap_i64"},
	{0xa8, immNone, "f>i", "i32.trunc_f32_s i32.trunc_f32_u"},
	{0xaa, immNone, "d>i", "i32.trunc_f64_s i32.trunc_f64_u"},
	{0xac, immNone, "i>l", "i64.extend_i32_s i64.extend_i32_u"},
	{0xae, immNone, "f>l", "i64.trunc_f32_s i64.trunc_f32_u"},
	{0xb0, immNone, "d>l", "i64.trunc_f64_s i64.trunc_f64_u"},
	{0xb2, immNone, "i>f", "f32.convert_i32_s f32.convert_i32_u"},
	{0xb4, immNone, "l>f", "f32.convert_i64_s f32.convert_i64_u"},
	{0xb6, immNone, "d>f", "f32.demote_f64"},
	{0xb7, immNone, "i>d", "f64.convert_i32_s f64.convert_i32_u"},
	{0xb9, immNone, "l>d", "f64.convert_i64_s f64.convert_i64_u"},
	{0xbb, immNone, "f>d", "f64.promote_f32"},
	{0xbc, immNone, "f>i", "i32.reinterpret_f32"},
	{0xbd, immNone, "d>l", "i64.reinterpret_f64"},
	{0xbe, immNone, "i>f", "f32.reinterpret_i32"},
	{0xbf, immNone, "l>d", "f64.reinterpret_i64"},
	{0xc0, immNone, "i>i", "i32.extend8_s i32.extend16_s"},
	{0xc2, immNone, "l>l", "i64.extend8_s i64.extend16_s i64.extend32_s"},
	{0xd0, immRefType, "", "ref.null"},
	{0xd1, immNone, "", "ref.is_null"},
	{0xd2, immFunc, ">r", "ref.func"},

	{0xfc000, immNone, "f>i", "i32.trunc_sat_f32_s i32.trunc_sat_f32_u"},
	{0xfc002, immNone, "d>i", "i32.trunc_sat_f64_s i32.trunc_sat_f64_u"},
	{0xfc004, immNone, "f>l", "i64.trunc_sat_f32_s i64.trunc_sat_f32_u"},
	{0xfc006, immNone, "d>l", "i64.trunc_sat_f64_s i64.trunc_sat_f64_u"},
	{0xfc008, immDataTo, "iii>", "memory.init"},
	{0xfc009, immData, ">", "data.drop"},
	{0xfc00a, immMemories, "iii>", "memory.copy"},
	{0xfc00b, immMemory, "iii>", "memory.fill"},
	{0xfc00c, immElemTo, "iii>", "table.init"},
	{0xfc00d, immElem, ">", "elem.drop"},
	{0xfc00e, immTables, "iii>", "table.copy"},
	{0xfc00f, immTable, "", "table.grow"},
	{0xfc010, immTable, ">i", "table.size"},
	{0xfc011, immTable, "", "table.fill"},

	{0xfd000, immMemArg, "i>v", "v128.load v128.load8x8_s v128.load8x8_u v128.load16x4_s v128.load16x4_u v128.load32x2_s v128.load32x2_u v128.load8_splat v128.load16_splat v128.load32_splat v128.load64_splat"},
	{0xfd00b, immMemArg, "iv>", "v128.store"},
	{0xfd00c, immV128, ">v", "v128.const"},
	{0xfd00d, immShuffle, "vv>v", "i8x16.shuffle"},
	{0xfd00e, immNone, "vv>v", "i8x16.swizzle"},
	{0xfd00f, immNone, "i>v", "i8x16.splat i16x8.splat i32x4.splat"},
	{0xfd012, immNone, "l>v", "i64x2.splat"},
	{0xfd013, immNone, "f>v", "f32x4.splat"},
	{0xfd014, immNone, "d>v", "f64x2.splat"},
	{0xfd015, immLane, "v>i", "i8x16.extract_lane_s i8x16.extract_lane_u"},
	{0xfd017, immLane, "vi>v", "i8x16.replace_lane"},
	{0xfd018, immLane, "v>i", "i16x8.extract_lane_s i16x8.extract_lane_u"},
	{0xfd01a, immLane, "vi>v", "i16x8.replace_lane"},
	{0xfd01b, immLane, "v>i", "i32x4.extract_lane"},
	{0xfd01c, immLane, "vi>v", "i32x4.replace_lane"},
	{0xfd01d, immLane, "v>l", "i64x2.extract_lane"},
	{0xfd01e, immLane, "vl>v", "i64x2.replace_lane"},
	{0xfd01f, immLane, "v>f", "f32x4.extract_lane"},
	{0xfd020, immLane, "vf>v", "f32x4.replace_lane"},
	{0xfd021, immLane, "v>d", "f64x2.extract_lane"},
	{0xfd022, immLane, "vd>v", "f64x2.replace_lane"},
	{0xfd023, immNone, "vv>v", "i8x16.eq i8x16.ne i8x16.lt_s i8x16.lt_u i8x16.gt_s i8x16.gt_u i8x16.le_s i8x16.le_u i8x16.ge_s i8x16.ge_u"},
	{0xfd02d, immNone, "vv>v", "i16x8.eq i16x8.ne i16x8.lt_s i16x8.lt_u i16x8.gt_s i16x8.gt_u i16x8.le_s i16x8.le_u i16x8.ge_s i16x8.ge_u"},
	{0xfd037, immNone, "vv>v", "i32x4.eq i32x4.ne i32x4.lt_s i32x4.lt_u i32x4.gt_s i32x4.gt_u i32x4.le_s i32x4.le_u i32x4.ge_s i32x4.ge_u"},
	{0xfd041, immNone, "vv>v", "f32x4.eq f32x4.ne f32x4.lt f32x4.gt f32x4.le f32x4.ge"},
	{0xfd047, immNone, "vv>v", "f64x2.eq f64x2.ne f64x2.lt f64x2.gt f64x2.le f64x2.ge"},
	{0xfd04d, immNone, "v>v", "v128.not"},
	{0xfd04e, immNone, "vv>v", "v128.and v128.andnot v128.or v128.xor"},
	{0xfd052, immNone, "vvv>v", "v128.bitselect"},
	{0xfd053, immNone, "v>i", "v128.any_true"},
	{0xfd054, immMemLane, "iv>v", "v128.load8_lane v128.load16_lane v128.load32_lane v128.load64_lane"},
	{0xfd058, immMemLane, "iv>", "v128.store8_lane v128.store16_lane v128.store32_lane v128.store64_lane"},
	{0xfd05c, immMemArg, "i>v", "v128.load32_zero v128.load64_zero"},
	{0xfd05e, immNone, "v>v", "f32x4.demote_f64x2_zero f64x2.promote_low_f32x4"},
	{0xfd060, immNone, "v>v", "i8x16.abs i8x16.neg i8x16.popcnt"},
	{0xfd063, immNone, "v>i", "i8x16.all_true i8x16.bitmask"},
	{0xfd065, immNone, "vv>v", "i8x16.narrow_i16x8_s i8x16.narrow_i16x8_u"},
	{0xfd067, immNone, "v>v", "f32x4.ceil f32x4.floor f32x4.trunc f32x4.nearest"},
	{0xfd06b, immNone, "vi>v", "i8x16.shl i8x16.shr_s i8x16.shr_u"},
	{0xfd06e, immNone, "vv>v", "i8x16.add i8x16.add_sat_s i8x16.add_sat_u i8x16.sub i8x16.sub_sat_s i8x16.sub_sat_u"},
	{0xfd074, immNone, "v>v", "f64x2.ceil f64x2.floor"},
	{0xfd076, immNone, "vv>v", "i8x16.min_s i8x16.min_u i8x16.max_s i8x16.max_u"},
	{0xfd07a, immNone, "v>v", "f64x2.trunc"},
	{0xfd07b, immNone, "vv>v", "i8x16.avgr_u"},
	{0xfd07c, immNone, "v>v", "i16x8.extadd_pairwise_i8x16_s i16x8.extadd_pairwise_i8x16_u i32x4.extadd_pairwise_i16x8_s i32x4.extadd_pairwise_i16x8_u i16x8.abs i16x8.neg"},
	{0xfd082, immNone, "vv>v", "i16x8.q15mulr_sat_s"},
	{0xfd083, immNone, "v>i", "i16x8.all_true i16x8.bitmask"},
	{0xfd085, immNone, "vv>v", "i16x8.narrow_i32x4_s i16x8.narrow_i32x4_u"},
	{0xfd087, immNone, "v>v", "i16x8.extend_low_i8x16_s i16x8.extend_high_i8x16_s i16x8.extend_low_i8x16_u i16x8.extend_high_i8x16_u"},
	{0xfd08b, immNone, "vi>v", "i16x8.shl i16x8.shr_s i16x8.shr_u"},
	{0xfd08e, immNone, "vv>v", "i16x8.add i16x8.add_sat_s i16x8.add_sat_u i16x8.sub i16x8.sub_sat_s i16x8.sub_sat_u"},
	{0xfd094, immNone, "v>v", "f64x2.nearest"},
	{0xfd095, immNone, "vv>v", "i16x8.mul i16x8.min_s i16x8.min_u i16x8.max_s i16x8.max_u"},
	{0xfd09b, immNone, "vv>v", "i16x8.avgr_u i16x8.extmul_low_i8x16_s i16x8.extmul_high_i8x16_s i16x8.extmul_low_i8x16_u i16x8.extmul_high_i8x16_u"},
	{0xfd0a0, immNone, "v>v", "i32x4.abs i32x4.neg"},
	{0xfd0a3, immNone, "v>i", "i32x4.all_true i32x4.bitmask"},
	{0xfd0a7, immNone, "v>v", "i32x4.extend_low_i16x8_s i32x4.extend_high_i16x8_s i32x4.extend_low_i16x8_u i32x4.extend_high_i16x8_u"},
	{0xfd0ab, immNone, "vi>v", "i32x4.shl i32x4.shr_s i32x4.shr_u"},
	{0xfd0ae, immNone, "vv>v", "i32x4.add"},
	{0xfd0b1, immNone, "vv>v", "i32x4.sub"},
	{0xfd0b5, immNone, "vv>v", "i32x4.mul i32x4.min_s i32x4.min_u i32x4.max_s i32x4.max_u i32x4.dot_i16x8_s"},
	{0xfd0bc, immNone, "vv>v", "i32x4.extmul_low_i16x8_s i32x4.extmul_high_i16x8_s i32x4.extmul_low_i16x8_u i32x4.extmul_high_i16x8_u"},
	{0xfd0c0, immNone, "v>v", "i64x2.abs i64x2.neg"},
	{0xfd0c3, immNone, "v>i", "i64x2.all_true i64x2.bitmask"},
	{0xfd0c7, immNone, "v>v", "i64x2.extend_low_i32x4_s i64x2.extend_high_i32x4_s i64x2.extend_low_i32x4_u i64x2.extend_high_i32x4_u"},
	{0xfd0cb, immNone, "vi>v", "i64x2.shl i64x2.shr_s i64x2.shr_u"},
	{0xfd0ce, immNone, "vv>v", "i64x2.add"},
	{0xfd0d1, immNone, "vv>v", "i64x2.sub"},
	{0xfd0d5, immNone, "vv>v", "i64x2.mul i64x2.eq i64x2.ne i64x2.lt_s i64x2.gt_s i64x2.le_s i64x2.ge_s"},
	{0xfd0dc, immNone, "vv>v", "i64x2.extmul_low_i32x4_s i64x2.extmul_high_i32x4_s i64x2.extmul_low_i32x4_u i64x2.extmul_high_i32x4_u"},
	{0xfd0e0, immNone, "v>v", "f32x4.abs f32x4.neg"},
	{0xfd0e3, immNone, "v>v", "f32x4.sqrt"},
	{0xfd0e4, immNone, "vv>v", "f32x4.add f32x4.sub f32x4.mul f32x4.div f32x4.min f32x4.max f32x4.pmin f32x4.pmax"},
	{0xfd0ec, immNone, "v>v", "f64x2.abs f64x2.neg"},
	{0xfd0ef, immNone, "v>v", "f64x2.sqrt"},
	{0xfd0f0, immNone, "vv>v", "f64x2.add f64x2.sub f64x2.mul f64x2.div f64x2.min f64x2.max f64x2.pmin f64x2.pmax"},
	{0xfd0f8, immNone, "v>v", "i32x4.trunc_sat_f32x4_s i32x4.trunc_sat_f32x4_u f32x4.convert_i32x4_s f32x4.convert_i32x4_u i32x4.trunc_sat_f64x2_s_zero i32x4.trunc_sat_f64x2_u_zero f64x2.convert_low_i32x4_s f64x2.convert_low_i32x4_u"},
}
