package rewrite_test

import "github.com/tetratelabs/wazero/api"

// Value types as they are encoded.
const (
	tI32    = api.ValueTypeI32
	tI64    = api.ValueTypeI64
	tF32    = api.ValueTypeF32
	tF64    = api.ValueTypeF64
	tV128   = 0x7b
	tFunc   = 0x70
	tExtern = api.ValueTypeExternref
)

// genOps lists what a generated module computes with: opcodes of a range that share
// a signature, parameters before results. The letters are i for i32, I for i64, f
// for f32, F for f64, v for v128.
var genOps = []struct {
	first, last uint32 // those of a prefix have it in the third byte
	sig         string
}{
	{0x45, 0x45, "i:i"}, {0x46, 0x4f, "ii:i"}, {0x50, 0x50, "I:i"}, {0x51, 0x5a, "II:i"},
	{0x5b, 0x60, "ff:i"}, {0x61, 0x66, "FF:i"}, {0x67, 0x69, "i:i"}, {0x6a, 0x78, "ii:i"},
	{0x79, 0x7b, "I:I"}, {0x7c, 0x8a, "II:I"}, {0x8b, 0x91, "f:f"}, {0x92, 0x98, "ff:f"},
	{0x99, 0x9f, "F:F"}, {0xa0, 0xa6, "FF:F"}, {0xa7, 0xa7, "I:i"}, {0xa8, 0xa9, "f:i"},
	{0xaa, 0xab, "F:i"}, {0xac, 0xad, "i:I"}, {0xae, 0xaf, "f:I"}, {0xb0, 0xb1, "F:I"},
	{0xb2, 0xb3, "i:f"}, {0xb4, 0xb5, "I:f"}, {0xb6, 0xb6, "F:f"}, {0xb7, 0xb8, "i:F"},
	{0xb9, 0xba, "I:F"}, {0xbb, 0xbb, "f:F"}, {0xbc, 0xbc, "f:i"}, {0xbd, 0xbd, "F:I"},
	{0xbe, 0xbe, "i:f"}, {0xbf, 0xbf, "I:F"}, {0xc0, 0xc1, "i:i"}, {0xc2, 0xc4, "I:I"},
	{0xfc0000, 0xfc0001, "f:i"}, {0xfc0002, 0xfc0003, "F:i"}, {0xfc0004, 0xfc0005, "f:I"}, {0xfc0006, 0xfc0007, "F:I"},

	{0xfd000e, 0xfd000e, "vv:v"}, {0xfd000f, 0xfd0011, "i:v"}, {0xfd0012, 0xfd0012, "I:v"},
	{0xfd0013, 0xfd0013, "f:v"}, {0xfd0014, 0xfd0014, "F:v"},
	{0xfd0023, 0xfd004c, "vv:v"}, {0xfd004d, 0xfd004d, "v:v"}, {0xfd004e, 0xfd0051, "vv:v"}, {0xfd0052, 0xfd0052, "vvv:v"},
	{0xfd0053, 0xfd0053, "v:i"}, {0xfd005e, 0xfd005f, "v:v"},
	{0xfd0060, 0xfd0062, "v:v"}, {0xfd0063, 0xfd0064, "v:i"}, {0xfd0065, 0xfd0066, "vv:v"}, {0xfd0067, 0xfd006a, "v:v"},
	{0xfd006b, 0xfd006d, "vi:v"}, {0xfd006e, 0xfd0073, "vv:v"}, {0xfd0074, 0xfd0075, "v:v"}, {0xfd0076, 0xfd0079, "vv:v"},
	{0xfd007a, 0xfd007a, "v:v"}, {0xfd007b, 0xfd007b, "vv:v"}, {0xfd007c, 0xfd0081, "v:v"}, {0xfd0082, 0xfd0082, "vv:v"},
	{0xfd0083, 0xfd0084, "v:i"}, {0xfd0085, 0xfd0086, "vv:v"}, {0xfd0087, 0xfd008a, "v:v"}, {0xfd008b, 0xfd008d, "vi:v"},
	{0xfd008e, 0xfd0093, "vv:v"}, {0xfd0094, 0xfd0094, "v:v"}, {0xfd0095, 0xfd0099, "vv:v"}, {0xfd009b, 0xfd009f, "vv:v"},
	{0xfd00a0, 0xfd00a1, "v:v"}, {0xfd00a3, 0xfd00a4, "v:i"}, {0xfd00a7, 0xfd00aa, "v:v"}, {0xfd00ab, 0xfd00ad, "vi:v"},
	{0xfd00ae, 0xfd00ae, "vv:v"}, {0xfd00b1, 0xfd00b1, "vv:v"}, {0xfd00b5, 0xfd00ba, "vv:v"}, {0xfd00bc, 0xfd00bf, "vv:v"},
	{0xfd00c0, 0xfd00c1, "v:v"}, {0xfd00c3, 0xfd00c4, "v:i"}, {0xfd00c7, 0xfd00ca, "v:v"}, {0xfd00cb, 0xfd00cd, "vi:v"},
	{0xfd00ce, 0xfd00ce, "vv:v"}, {0xfd00d1, 0xfd00d1, "vv:v"}, {0xfd00d5, 0xfd00df, "vv:v"},
	{0xfd00e0, 0xfd00e1, "v:v"}, {0xfd00e3, 0xfd00e3, "v:v"}, {0xfd00e4, 0xfd00eb, "vv:v"},
	{0xfd00ec, 0xfd00ed, "v:v"}, {0xfd00ef, 0xfd00ef, "v:v"}, {0xfd00f0, 0xfd00f7, "vv:v"}, {0xfd00f8, 0xfd00ff, "v:v"},
}

// genLanes lists the vector instructions with a lane, of which there are so many.
var genLanes = []struct {
	op    uint32
	lanes int
	sig   string
}{
	{0xfd0015, 16, "v:i"}, {0xfd0016, 16, "v:i"}, {0xfd0017, 16, "vi:v"}, {0xfd0018, 8, "v:i"}, {0xfd0019, 8, "v:i"},
	{0xfd001a, 8, "vi:v"}, {0xfd001b, 4, "v:i"}, {0xfd001c, 4, "vi:v"}, {0xfd001d, 2, "v:I"}, {0xfd001e, 2, "vI:v"},
	{0xfd001f, 4, "v:f"}, {0xfd0020, 4, "vf:v"}, {0xfd0021, 2, "v:F"}, {0xfd0022, 2, "vF:v"},
}

// genAccess lists what reads and writes memory. Those with lanes name one.
var genAccess = []struct {
	op    uint32
	lanes int
	store bool
	kind  byte
}{
	{0x28, 0, false, tI32}, {0x29, 0, false, tI64}, {0x2a, 0, false, tF32}, {0x2b, 0, false, tF64},
	{0x2c, 0, false, tI32}, {0x2d, 0, false, tI32}, {0x2e, 0, false, tI32}, {0x2f, 0, false, tI32},
	{0x30, 0, false, tI64}, {0x31, 0, false, tI64}, {0x32, 0, false, tI64}, {0x33, 0, false, tI64},
	{0x34, 0, false, tI64}, {0x35, 0, false, tI64},
	{0x36, 0, true, tI32}, {0x37, 0, true, tI64}, {0x38, 0, true, tF32}, {0x39, 0, true, tF64},
	{0x3a, 0, true, tI32}, {0x3b, 0, true, tI32}, {0x3c, 0, true, tI64}, {0x3d, 0, true, tI64}, {0x3e, 0, true, tI64},
	{0xfd0000, 0, false, tV128}, {0xfd0001, 0, false, tV128}, {0xfd0002, 0, false, tV128}, {0xfd0003, 0, false, tV128},
	{0xfd0004, 0, false, tV128}, {0xfd0005, 0, false, tV128}, {0xfd0006, 0, false, tV128}, {0xfd0007, 0, false, tV128},
	{0xfd0008, 0, false, tV128}, {0xfd0009, 0, false, tV128}, {0xfd000a, 0, false, tV128},
	{0xfd005c, 0, false, tV128}, {0xfd005d, 0, false, tV128}, {0xfd000b, 0, true, tV128},
	{0xfd0054, 16, false, tV128}, {0xfd0055, 8, false, tV128}, {0xfd0056, 4, false, tV128}, {0xfd0057, 2, false, tV128},
	{0xfd0058, 16, true, tV128}, {0xfd0059, 8, true, tV128}, {0xfd005a, 4, true, tV128}, {0xfd005b, 2, true, tV128},
}

// genArithmetic reports whether the bits of a NaN that an instruction makes are the
// processor's choice, and the type of the lanes of its result.
func genArithmetic(op uint32) (lane byte, ok bool) {
	switch {
	case op >= 0x8d && op <= 0x97, op == 0xb6:
		return tF32, true
	case op >= 0x9b && op <= 0xa5, op == 0xbb:
		return tF64, true
	case op >= 0xfd0067 && op <= 0xfd006a, op >= 0xfd00e3 && op <= 0xfd00e9, op == 0xfd005e:
		return tF32, true
	case op == 0xfd0074, op == 0xfd0075, op == 0xfd007a, op == 0xfd0094, op >= 0xfd00ef && op <= 0xfd00f5, op == 0xfd005f:
		return tF64, true
	}
	return 0, false
}

// genOp is an instruction that takes values and gives one.
type genOp struct {
	code   uint32
	lanes  int
	params []byte
}

var genLetters = map[rune]byte{'i': tI32, 'I': tI64, 'f': tF32, 'F': tF64, 'v': tV128}

// genOpsOf lists instructions by the type of their result.
var genOpsOf = func() map[byte][]genOp {
	out := map[byte][]genOp{}
	add := func(code uint32, lanes int, sig string) {
		var params []byte
		for _, c := range sig[:len(sig)-2] {
			params = append(params, genLetters[c])
		}
		result := genLetters[rune(sig[len(sig)-1])]
		out[result] = append(out[result], genOp{code, lanes, params})
	}
	for _, r := range genOps {
		for code := r.first; code <= r.last; code++ {
			add(code, 0, r.sig)
		}
	}
	for _, l := range genLanes {
		add(l.op, l.lanes, l.sig)
	}
	return out
}()
