package rewrite

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// nanEngines are the engines that have to agree.
var nanEngines = map[string]func() wazero.RuntimeConfig{
	"compiler":    wazero.NewRuntimeConfigCompiler,
	"interpreter": wazero.NewRuntimeConfigInterpreter,
}

// onEngines instantiates a module on each engine.
func onEngines(t *testing.T, wasm []byte, test func(t *testing.T, m api.Module)) {
	t.Helper()
	for name, config := range nanEngines {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			features := api.CoreFeaturesV2 | experimental.CoreFeaturesTailCall
			r := wazero.NewRuntimeWithConfig(ctx, config().WithCoreFeatures(features))
			t.Cleanup(func() { _ = r.Close(ctx) })
			m, err := r.Instantiate(ctx, wasm)
			if err != nil {
				t.Fatal(err)
			}
			test(t, m)
		})
	}
}

func call(t *testing.T, m api.Module, name string, args ...uint64) []uint64 {
	t.Helper()
	results, err := m.ExportedFunction(name).Call(context.Background(), args...)
	if err != nil {
		t.Fatal(err)
	}
	return results
}

func canonicalized(t testing.TB, wasm []byte) []byte {
	t.Helper()
	m, err := Rewrite(wasm, Options{Transforms: NaN})
	if err != nil {
		t.Fatal(err)
	}
	return m.Wasm
}

const (
	zero      = 0
	signaling = 0xfff4000000000001 // a NaN with a sign, a payload, and not quiet
	one64     = 0x3ff0000000000000
	signBit   = 1 << 63
)

// nanSources are ways to make a NaN of which processors differ in the bits, from
// the parameters: 0.0, and a NaN with a payload.
var nanSources = map[string]string{
	"0/0":      "local.get 0 local.get 0 f64.div",
	"0/-0":     "local.get 0 local.get 0 f64.neg f64.div",
	"inf-inf":  "f64.const Inf f64.const Inf f64.sub",
	"inf*0":    "f64.const -Inf local.get 0 f64.mul",
	"sqrt":     "f64.const -1 f64.sqrt",
	"1+nan":    "f64.const 1 local.get 1 f64.add",
	"nan+1":    "local.get 1 f64.const 1 f64.add",
	"nan+nan":  "local.get 1 local.get 0 local.get 0 f64.div f64.add",
	"min":      "local.get 1 local.get 0 f64.min",
	"max":      "local.get 0 local.get 1 f64.max",
	"ceil":     "local.get 1 f64.ceil",
	"floor":    "local.get 1 f64.floor",
	"trunc":    "local.get 1 f64.trunc",
	"nearest":  "local.get 1 f64.nearest",
	"promote":  "local.get 1 f32.demote_f64 f64.promote_f32",
	"vector":   "local.get 1 f64x2.splat local.get 0 f64x2.splat f64x2.div f64x2.extract_lane 1",
	"vpromote": "local.get 1 f64x2.splat f32x4.demote_f64x2_zero f64x2.promote_low_f32x4 f64x2.extract_lane 0",
	"vmin":     "local.get 1 f64x2.splat local.get 0 f64x2.splat f64x2.min f64x2.extract_lane 0",
	"vmax":     "local.get 0 f64x2.splat local.get 1 f64x2.splat f64x2.max f64x2.extract_lane 0",
	"vsqrt":    "f64.const -1 f64x2.splat f64x2.sqrt f64x2.extract_lane 0",
	"vceil":    "local.get 1 f64x2.splat f64x2.ceil f64x2.extract_lane 0",
	"vnearest": "local.get 1 f64x2.splat f64x2.nearest f64x2.extract_lane 1",
}

const (
	bits  = " i64.reinterpret_f64"
	bits2 = " i64x2.extract_lane 1"
)

// nanObservers are ways to tell the bits of a NaN: NAN makes one, and what is
// returned has to be as it is given here.
var nanObservers = []struct {
	name, body string
	expected   uint64
}{
	{"reinterpret", "NAN" + bits, canonical64},
	{"store", "i32.const 0 NAN f64.store 0 i32.const 0 i64.load 0", canonical64},
	{"neg", "NAN f64.neg" + bits, canonical64 | signBit},
	{"neg of neg", "NAN f64.neg f64.neg" + bits, canonical64},
	{"abs", "NAN f64.abs" + bits, canonical64},
	{"abs of neg", "NAN f64.neg f64.abs" + bits, canonical64},
	{"abs of what may be passed", "NAN local.get 1 i32.const 1 select f64.abs" + bits, canonical64},
	{"copysign, magnitude", "NAN f64.const -1 f64.copysign" + bits, canonical64 | signBit},
	{"copysign, sign", "f64.const -1 NAN f64.copysign" + bits, one64},
	{"copysign, sign of neg", "f64.const 1 NAN f64.neg f64.copysign" + bits, one64 | signBit},
	{"arithmetic between", "NAN f64.const 2 f64.mul f64.sqrt" + bits, canonical64},
	{"neg between", "NAN f64.neg f64.const 2 f64.mul" + bits, canonical64},
	{"argument", "NAN call 1", canonical64},
	{"argument of an indirect call", "NAN i32.const 1 call_indirect d>l", canonical64},
	{"argument of a tail call", "NAN return_call 1", canonical64},
	{"result", "local.get 0 local.get 1 call 2" + bits, canonical64},
	{"second result", "local.get 0 local.get 1 call 3 drop" + bits, canonical64},
	{"return", "local.get 0 local.get 1 call 4" + bits, canonical64},
	{"branch out", "local.get 0 local.get 1 call 5" + bits, canonical64},
	{"global", "NAN global.set 1 global.get 1" + bits, canonical64},
	{"block", "block >d NAN end" + bits, canonical64},
	{"loop", "loop >d NAN end" + bits, canonical64},
	{"parameter of a block", "NAN block d>d nop end" + bits, canonical64},
	{"parameter of a loop", "NAN loop d>d i32.const 0 br_if 0 end" + bits, canonical64},
	{"if", "i32.const 1 if >d NAN else local.get 1 end" + bits, canonical64},
	{"else", "i32.const 0 if >d local.get 1 else NAN end" + bits, canonical64},
	{"parameter of an if", "NAN i32.const 0 if d>d f64.neg end" + bits, canonical64},
	{"parameter of an else", "NAN i32.const 0 if d>d drop local.get 1 else nop end" + bits, canonical64},
	{"branch", "block >d NAN br 0 end" + bits, canonical64},
	{"branch with two", "block >dd local.get 1 NAN br 0 end" + bits + " return", canonical64},
	{"branch with two, the lower", "block >dd NAN local.get 1 br 0 end drop" + bits, canonical64},
	{"conditional branch taken", "block >d NAN i32.const 1 br_if 0 drop local.get 1 end" + bits, canonical64},
	{"conditional branch not taken", "block >d NAN i32.const 0 br_if 0 end" + bits, canonical64},
	{"table of branches", "block >d block >d NAN i32.const 1 br_table 1 0 1 end drop local.get 1 end" + bits, canonical64},
	{"unreachable behind", "block >d NAN return_call 1 end" + bits, canonical64},
	{"select with what was passed", "NAN local.get 1 i32.const 1 select" + bits, canonical64},
	{"select from what was passed", "local.get 1 NAN i32.const 0 select" + bits, canonical64},
	{"select of two", "NAN NAN i32.const 0 select" + bits, canonical64},
	{"select with a type", "NAN local.get 1 i32.const 1 select_t d" + bits, canonical64},
	{"local", "NAN local.set 2 local.get 2" + bits, canonical64},
	{"tee", "NAN local.tee 2" + bits, canonical64},
	{"behind a tee", "NAN local.tee 2 drop local.get 2" + bits, canonical64},
	{"parameter set", "NAN local.set 1 local.get 1" + bits, canonical64},
	{"local of what is passed or made", "local.get 1 local.set 2 i32.const 1 if > NAN local.set 2 end local.get 2" + bits, canonical64},
	{"local set in a block", "block > NAN local.set 2 i32.const 1 br_if 0 local.get 1 local.set 2 end local.get 2" + bits, canonical64},
	{"local set where a loop ends", "local.get 1 local.set 2 loop > local.get 2" + bits +
		" local.set 3 NAN local.set 2 local.get 4 i32.eqz local.tee 4 br_if 0 end local.get 3", canonical64},
	{"locals that swap in a loop", "local.get 1 local.set 2 NAN local.set 5 loop > local.get 2 local.get 5 local.set 2 local.set 5" +
		" local.get 4 i32.eqz local.tee 4 br_if 0 end local.get 5" + bits, canonical64},
	{"locals that swapped in a loop", "local.get 1 local.set 2 NAN local.set 5 loop > local.get 2 local.get 5 local.set 2 local.set 5" +
		" local.get 4 i32.eqz local.tee 4 br_if 0 end local.get 2" + bits, signaling},
	{"local through locals", "NAN local.set 2 local.get 2 local.set 5 local.get 5 local.set 1 local.get 1" + bits, canonical64},
	{"stored twice", "NAN local.set 2 i32.const 0 local.get 2 f64.store 0 i32.const 8 local.get 2 f64.store 0 i32.const 8 i64.load 0", canonical64},
	{"under others", "NAN local.get 0 local.get 0 f64.eq drop" + bits, canonical64},
	{"demoted", "NAN f32.demote_f64 i32.reinterpret_f32 i64.extend_i32_u", uint64(canonical32)},
	{"copysign of f32", "f32.const 1 NAN f32.demote_f64 f32.copysign i32.reinterpret_f32 i64.extend_i32_u", 0x3f800000},
	{"f32 store", "i32.const 0 NAN f32.demote_f64 f32.store 0 i32.const 0 i64.load32_u 0", uint64(canonical32)},

	{"splat", "NAN f64x2.splat" + bits2, canonical64},
	{"replaced lane", "local.get 0 f64x2.splat NAN f64x2.replace_lane 1" + bits2, canonical64},
	{"lane beside a passed one", "local.get 1 f64x2.splat NAN f64x2.replace_lane 1" + bits2, canonical64},
	{"vector store", "i32.const 0 NAN f64x2.splat v128.store 0 i32.const 8 i64.load 0", canonical64},
	{"vector neg", "NAN f64x2.splat f64x2.neg" + bits2, canonical64 | signBit},
	{"vector abs", "NAN f64x2.splat f64x2.abs" + bits2, canonical64},
	{"vector pmin", "NAN f64x2.splat local.get 0 f64x2.splat f64x2.pmin" + bits2, canonical64},
	{"vector pmax", "NAN f64x2.splat local.get 1 f64x2.splat f64x2.pmax" + bits2, canonical64},
	{"vector and", "NAN f64x2.splat v128.const -1 -1 v128.and" + bits2, canonical64},
	{"vector bitselect", "NAN f64x2.splat local.get 1 f64x2.splat v128.const -1 -1 v128.bitselect" + bits2, canonical64},
	{"vector compare of integers", "NAN f64x2.splat v128.const 0 0x7ff8000000000000 i64x2.eq" + bits2, math.MaxUint64},
	{"vector shuffle of lanes", "NAN f64x2.splat v128.const 0 0 i8x16.shuffle 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15" + bits2, canonical64},
	{"vector shuffle of halves", "NAN f64x2.splat v128.const 0 0 i8x16.shuffle 0 1 2 3 4 5 6 7 8 9 10 11 4 5 6 7" + bits2, 0x7ff8000000000000},
	{"vector shuffle of bytes", "NAN f64x2.splat v128.const 0 0 i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 6 7" + bits2, 0x7ff8000000000000},
	{"vector swizzle", "NAN f64x2.splat v128.const 0x0706050403020100 0x0706050403020100 i8x16.swizzle" + bits2, canonical64},
	{"vector select", "NAN f64x2.splat local.get 1 f64x2.splat i32.const 1 select" + bits2, canonical64},
	{"vector global", "NAN f64x2.splat global.set 2 global.get 2" + bits2, canonical64},
	{"vector local", "NAN f64x2.splat local.set 6 local.get 6" + bits2, canonical64},
	{"vector block", "block >v NAN f64x2.splat end" + bits2, canonical64},
	{"vector argument", "NAN f64x2.splat call 6" + bits2, canonical64},
	{"vector read as another format", "NAN f64x2.splat v128.const 0 0 f32x4.add i32x4.extract_lane 3 i64.extend_i32_u", uint64(canonical32)},
	{"vector abs of another format", "NAN f64x2.splat f32x4.abs" + bits2, canonical64},
	{"vector neg of another format", "NAN f64x2.splat f32x4.neg" + bits2, canonical64 ^ signBit ^ 1<<31},
	{"vector arithmetic, then lane", "NAN f64x2.splat f64x2.sqrt f64x2.extract_lane 0 f64.const 1 f64.add" + bits, canonical64},
	{"vector of f32", "NAN f32.demote_f64 f32x4.splat f32x4.sqrt f32x4.extract_lane 2 i32.reinterpret_f32 i64.extend_i32_u", uint64(canonical32)},
	{"bytes of a vector", "NAN f64x2.splat i8x16.bitmask i64.extend_i32_u", 0x4040},
	{"vector converted as integers", "NAN f64x2.splat f64x2.convert_low_i32x4_u i64x2.extract_lane 1", math.Float64bits(0x7ff80000)},
}

// Whatever makes a NaN and whatever observes it: the bits are canonical.
func TestNaNObserved(t *testing.T) {
	for source, made := range nanSources {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			testObservers(t, made)
		})
	}
}

const nanLocals = "dlidv" // from 2 on

func testObservers(t *testing.T, made string) {
	for _, o := range nanObservers {
		funcs := []nanFunc{
			{"dd>l", nanLocals, o.body},
			{"d>l", "", "local.get 0" + bits},
			{"dd>d", "", "NAN"},
			{"dd>dd", "", "NAN local.get 1"},
			{"dd>d", "", "block > NAN return end unreachable"},
			{"dd>d", "", "block > NAN br 1 end unreachable"},
			{"v>v", "", "local.get 0"},
		}
		if o.name == "branch with two" {
			funcs[0].body = strings.Replace(o.body, bits+" return", bits+" local.set 3 drop local.get 3", 1)
		}
		for i := range funcs {
			funcs[i].body = strings.ReplaceAll(funcs[i].body, "NAN", made)
		}
		t.Run(o.name, func(t *testing.T) {
			onEngines(t, canonicalized(t, nanModule(t, funcs...)), func(t *testing.T, m api.Module) {
				if got := call(t, m, "f0", zero, signaling)[0]; got != o.expected {
					t.Errorf("the bits are %#x, expected %#x", got, o.expected)
				}
			})
		})
	}
}

// A NaN that the guest made from bits keeps them wherever it is moved.
func TestNaNKept(t *testing.T) {
	cases := map[string]string{
		"passed":           "local.get 1" + bits,
		"local":            "local.get 1 local.set 2 local.get 2" + bits,
		"tee":              "local.get 1 local.tee 2" + bits,
		"loaded":           "i32.const 0 local.get 1 i64.reinterpret_f64 i64.store 0 i32.const 0 f64.load 0" + bits,
		"stored":           "i32.const 0 local.get 1 f64.store 0 i32.const 0 i64.load 0",
		"reinterpreted":    "local.get 1 i64.reinterpret_f64 f64.reinterpret_i64" + bits,
		"constant":         "f64.const :0xfff4000000000001" + bits,
		"argument, result": "local.get 1 call 1" + bits,
		"global":           "local.get 1 global.set 1 global.get 1" + bits,
		"select":           "local.get 1 local.get 0 i32.const 1 select" + bits,
		"select, made":     "local.get 1 local.get 0 local.get 0 f64.div i32.const 1 select" + bits,
		"block":            "block >d local.get 1 end" + bits,
		"block, made":      "block >d local.get 1 i32.const 1 br_if 0 drop local.get 0 local.get 0 f64.div end" + bits,
		"local, made":      "local.get 1 local.set 2 i32.const 0 if > local.get 0 local.get 0 f64.div local.set 2 end local.get 2" + bits,
		"neg of neg":       "local.get 1 f64.neg f64.neg" + bits,
		"copysign":         "local.get 1 f64.abs f64.const -1 f64.copysign" + bits,
		"loop":             "local.get 1 loop d>d f64.neg local.get 4 i32.eqz local.tee 4 br_if 0 end" + bits,
		"splat":            "local.get 1 f64x2.splat" + bits2,
		"lane":             "local.get 1 f64x2.splat f64x2.extract_lane 0" + bits,
		"vector, made":     "local.get 0 f64x2.splat local.get 0 f64x2.splat f64x2.div local.get 1 f64x2.replace_lane 1" + bits2,
		"pmin":             "local.get 1 f64x2.splat local.get 0 f64x2.splat f64x2.pmin" + bits2,
		"vector constant":  "v128.const 0 0xfff4000000000001" + bits2,
		"bits of another":  "f64.const 1 f64x2.splat f64x2.sqrt v128.const 0 0xfff4000000000001 i32.const 0 select" + bits2,
		"as another float": "v128.const 0 0xfff4000000000001 f32x4.abs f32x4.neg i32.const 0 v128.const 0 0xfff4000000000001 v128.store 0 i32.const 8 i64.load 0 i64.const 0 i64.or local.set 3 drop local.get 3",
	}
	for name, bits := range map[string]string{
		"f32":            "f32.const :0xffa00001",
		"f32 neg of neg": "f32.const :0xffa00001 f32.neg f32.neg",
		"f32 copysign":   "f32.const :0xffa00001 f32.abs f32.const -1 f32.copysign",
		"f32 global":     "f32.const :0xffa00001 global.set 0 global.get 0",
		"f32 stored":     "i32.const 0 f32.const :0xffa00001 f32.store 0 i32.const 0 f32.load 0",
		"f32 select":     "f32.const :0xffa00001 f32.const 1 i32.const 1 select",
		"f32 argument":   "f32.const :0xffa00001 call 2",
		"f32 lane":       "f32.const :0xffa00001 f32x4.splat v128.const 0 0 f32x4.pmin f32x4.extract_lane 3",
		"f32 replaced":   "v128.const 0 0 f32.const :0xffa00001 f32x4.replace_lane 2 f32x4.extract_lane 2",
	} {
		cases[name] = bits + " i32.reinterpret_f32 i32.const 0xffa00001 i32.eq if >l i64.const 0xfff4000000000001 else i64.const 0 end"
	}
	for name, body := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wasm := nanModule(t, nanFunc{"dd>l", nanLocals, body}, nanFunc{"d>d", "", "local.get 0"}, nanFunc{"f>f", "", "local.get 0"})
			onEngines(t, canonicalized(t, wasm), func(t *testing.T, m api.Module) {
				if got := call(t, m, "f0", zero, signaling)[0]; got != signaling {
					t.Errorf("the bits are %#x, expected %#x", got, uint64(signaling))
				}
			})
		})
	}
}

// A float is the right one where the compiler has to load another from the stack
// before it moves the one: see nanmoves.go.
func TestFloatMoved(t *testing.T) {
	cases := []struct {
		body     nanFunc
		expected uint64
	}{
		{nanFunc{">l", "", "global.get 1 global.get 1 call 0 i32.const 0 select" + bits}, math.Float64bits(4)},
		{nanFunc{">l", "", "global.get 0 global.get 0 call 1 i32.const 0 select i32.reinterpret_f32 i64.extend_i32_u"}, uint64(math.Float32bits(4))},
		{nanFunc{">l", "", "global.get 2 global.get 2 call 2 i32.const 0 select" + bits2}, 4},
		{nanFunc{">l", "d", "global.get 1 local.tee 0 call 3 local.get 0 f64x2.replace_lane 0" + bits2}, 4},
		{nanFunc{">l", "d", "global.get 1 local.tee 0 call 3 local.get 0 f64x2.replace_lane 1 i64x2.extract_lane 0"}, 3},
		{nanFunc{">l", "f", "global.get 0 local.tee 0 call 4 local.get 0 f32x4.replace_lane 0" + bits2}, 4},
		{nanFunc{">l", "f", "global.get 0 local.tee 0 call 4 local.get 0 f32x4.replace_lane 3 i64x2.extract_lane 0"}, 3},
	}
	funcs := []nanFunc{
		{"d>d", "", "f64.const 4"}, {"f>f", "", "f32.const 4"}, {"v>v", "", "v128.const 3 4"},
		{"d>v", "", "v128.const 3 4"}, {"f>v", "", "v128.const 3 4"},
	}
	called := len(funcs)
	for _, c := range cases {
		funcs = append(funcs, c.body)
	}
	onEngines(t, canonicalized(t, nanModule(t, funcs...)), func(t *testing.T, m api.Module) {
		for i, c := range cases {
			if got := call(t, m, fmt.Sprintf("f%d", called+i))[0]; got != c.expected {
				t.Errorf("%s gives %#x, expected %#x", c.body.body, got, c.expected)
			}
		}
	})
}
