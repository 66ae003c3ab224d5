package rewrite

import "math"

// treatment is what an instruction does with the NaNs of its operands.
type treatment uint8

const (
	// observes can tell their bits, and gives bits of its own.
	observes treatment = iota
	// reads treats all NaNs alike, and gives no float.
	reads
	// makes treats all NaNs alike, and gives NaNs whose bits are the processor's.
	makes
	// numbers never gives a NaN.
	numbers
	// passes gives one of its operands, or lanes of them, save for the sign of abs.
	passes
	// negates gives its operand with the other sign.
	negates
	// signs gives its first operand with the sign of the second.
	signs
)

// floatOp is how an opcode treats NaNs.
type floatOp struct {
	treatment treatment
	// in is the format of the operands, out that of the result.
	in, out lanes
}

// floatRun is a row of the table: opcodes that follow each other and treat NaNs
// alike. All others observe their operands.
type floatRun struct {
	first, last opcode
	floatOp
}

var floatRuns = []floatRun{
	{0x5b, 0x60, floatOp{reads, lanes32, 0}},         // f32.eq to f32.ge
	{0x61, 0x66, floatOp{reads, lanes64, 0}},         // f64.eq to f64.ge
	{0x8b, 0x8b, floatOp{passes, lanes32, lanes32}},  // f32.abs
	{0x8c, 0x8c, floatOp{negates, lanes32, lanes32}}, // f32.neg
	{0x8d, 0x97, floatOp{makes, lanes32, lanes32}},   // f32.ceil to f32.max
	{0x98, 0x98, floatOp{signs, lanes32, lanes32}},   // f32.copysign
	{0x99, 0x99, floatOp{passes, lanes64, lanes64}},  // f64.abs
	{0x9a, 0x9a, floatOp{negates, lanes64, lanes64}}, // f64.neg
	{0x9b, 0xa5, floatOp{makes, lanes64, lanes64}},   // f64.ceil to f64.max
	{0xa6, 0xa6, floatOp{signs, lanes64, lanes64}},   // f64.copysign
	{0xa8, 0xa9, floatOp{reads, lanes32, 0}},         // i32.trunc_f32
	{0xaa, 0xab, floatOp{reads, lanes64, 0}},         // i32.trunc_f64
	{0xae, 0xaf, floatOp{reads, lanes32, 0}},         // i64.trunc_f32
	{0xb0, 0xb1, floatOp{reads, lanes64, 0}},         // i64.trunc_f64
	{0xb2, 0xb5, floatOp{numbers, 0, lanes32}},       // f32.convert
	{0xb6, 0xb6, floatOp{makes, lanes64, lanes32}},   // f32.demote_f64
	{0xb7, 0xba, floatOp{numbers, 0, lanes64}},       // f64.convert
	{0xbb, 0xbb, floatOp{makes, lanes32, lanes64}},   // f64.promote_f32

	{0xfc000, 0xfc001, floatOp{reads, lanes32, 0}}, // i32.trunc_sat_f32
	{0xfc002, 0xfc003, floatOp{reads, lanes64, 0}}, // i32.trunc_sat_f64
	{0xfc004, 0xfc005, floatOp{reads, lanes32, 0}}, // i64.trunc_sat_f32
	{0xfc006, 0xfc007, floatOp{reads, lanes64, 0}}, // i64.trunc_sat_f64

	{0xfd013, 0xfd013, floatOp{passes, lanes32, lanes32}},  // f32x4.splat
	{0xfd014, 0xfd014, floatOp{passes, lanes64, lanes64}},  // f64x2.splat
	{0xfd01f, 0xfd020, floatOp{passes, lanes32, lanes32}},  // f32x4.extract_lane, replace_lane
	{0xfd021, 0xfd022, floatOp{passes, lanes64, lanes64}},  // f64x2.extract_lane, replace_lane
	{0xfd041, 0xfd046, floatOp{reads, lanes32, 0}},         // f32x4.eq to f32x4.ge
	{0xfd047, 0xfd04c, floatOp{reads, lanes64, 0}},         // f64x2.eq to f64x2.ge
	{0xfd05e, 0xfd05e, floatOp{makes, lanes64, lanes32}},   // f32x4.demote_f64x2_zero
	{0xfd05f, 0xfd05f, floatOp{makes, lanes32, lanes64}},   // f64x2.promote_low_f32x4
	{0xfd067, 0xfd06a, floatOp{makes, lanes32, lanes32}},   // f32x4.ceil to f32x4.nearest
	{0xfd074, 0xfd075, floatOp{makes, lanes64, lanes64}},   // f64x2.ceil, f64x2.floor
	{0xfd07a, 0xfd07a, floatOp{makes, lanes64, lanes64}},   // f64x2.trunc
	{0xfd094, 0xfd094, floatOp{makes, lanes64, lanes64}},   // f64x2.nearest
	{0xfd0e0, 0xfd0e0, floatOp{passes, lanes32, lanes32}},  // f32x4.abs
	{0xfd0e1, 0xfd0e1, floatOp{negates, lanes32, lanes32}}, // f32x4.neg
	{0xfd0e3, 0xfd0e9, floatOp{makes, lanes32, lanes32}},   // f32x4.sqrt to f32x4.max
	{0xfd0ea, 0xfd0eb, floatOp{passes, lanes32, lanes32}},  // f32x4.pmin, f32x4.pmax
	{0xfd0ec, 0xfd0ec, floatOp{passes, lanes64, lanes64}},  // f64x2.abs
	{0xfd0ed, 0xfd0ed, floatOp{negates, lanes64, lanes64}}, // f64x2.neg
	{0xfd0ef, 0xfd0f5, floatOp{makes, lanes64, lanes64}},   // f64x2.sqrt to f64x2.max
	{0xfd0f6, 0xfd0f7, floatOp{passes, lanes64, lanes64}},  // f64x2.pmin, f64x2.pmax
	{0xfd0f8, 0xfd0f9, floatOp{reads, lanes32, 0}},         // i32x4.trunc_sat_f32x4
	{0xfd0fa, 0xfd0fb, floatOp{numbers, 0, lanes32}},       // f32x4.convert_i32x4
	{0xfd0fc, 0xfd0fd, floatOp{reads, lanes64, 0}},         // i32x4.trunc_sat_f64x2_zero
}

// floatOps is the table by opcode: the one-byte ones, then those with the prefixes
// for what was added later and for vectors.
var floatOps = buildFloatOps()

func buildFloatOps() *[0x300]floatOp {
	t := &[0x300]floatOp{}
	for _, r := range floatRuns {
		for o := r.first; o <= r.last; o++ {
			t[floatIndex(o)] = r.floatOp
		}
	}
	return t
}

func floatIndex(o opcode) int {
	switch o >> 12 {
	case prefixMisc:
		return 0x100 + int(o&0xff)
	case prefixVector:
		return 0x200 + int(o&0xff)
	}
	return int(o & 0xff)
}

// treats says how an instruction treats NaNs. A shuffle that moves whole lanes of a
// format passes them.
func treats(in *instr) floatOp {
	if in.op != opShuffle {
		return floatOps[floatIndex(in.op)]
	}
	switch {
	case movesLanes(in.labels, 8):
		return floatOp{passes, lanesBoth, lanesBoth}
	case movesLanes(in.labels, 4):
		return floatOp{passes, lanes32, lanes32}
	}
	return floatOp{}
}

// movesLanes says whether a shuffle of bytes keeps lanes of so many bytes whole.
func movesLanes(bytes []uint32, width uint32) bool {
	for i, from := range bytes {
		first := uint32(i) / width * width
		if from%width != uint32(i)%width || from/width != bytes[first]/width {
			return false
		}
	}
	return true
}

// floatConstant says what a constant of floats is.
func floatConstant(in *instr) valueID {
	var nan bool
	switch in.op {
	case opF32Const:
		nan = isNaN32(in.a)
	case opF64Const:
		nan = isNaN64(in.a)
	case opV128Const:
		// What is a NaN of 64 bits has one of 32 bits in its upper half.
		nan = isNaN32(in.a) || isNaN32(in.a>>32) || isNaN32(in.b) || isNaN32(in.b>>32)
	}
	t := in.op.info().pushes[0]
	if nan {
		return kept(t)
	}
	return never(t)
}

func isNaN32(bits uint64) bool { f := math.Float32frombits(uint32(bits)); return f != f }
func isNaN64(bits uint64) bool { f := math.Float64frombits(bits); return f != f }
