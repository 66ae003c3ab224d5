package rewrite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

var engines = map[string]func() wazero.RuntimeConfig{
	"compiler": wazero.NewRuntimeConfigCompiler, "interpreter": wazero.NewRuntimeConfigInterpreter,
}

// world is a rewritten module that runs.
type world struct {
	guest  api.Module
	module *Module
	yields int
	slice  int64 // of gas, given at each yield
	left   int64 // how many yields are allowed
}

var (
	errGas   = errors.New("the budget of gas is spent")
	errDepth = errors.New("calls are too deep")
)

// yield gives another slice, until there are no more.
func (w *world) yield(_ context.Context, stack []uint64) {
	switch {
	case int64(stack[1]) < 0:
		panic(errDepth)
	case w.left == 0:
		panic(errGas)
	}
	w.left--
	w.yields++
	stack[0] += uint64(w.slice)
}

func features() api.CoreFeatures {
	return api.CoreFeaturesV2 | experimental.CoreFeaturesTailCall | experimental.CoreFeaturesExtendedConst
}

// instantiate rewrites a module and makes an instance of it.
func instantiate(t testing.TB, config wazero.RuntimeConfig, wasm []byte, o Options) *world {
	t.Helper()
	m, err := Rewrite(wasm, o)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, config.WithCoreFeatures(features()))
	t.Cleanup(func() { _ = r.Close(ctx) })
	w := &world{module: m}
	_, err = r.NewHostModuleBuilder(YieldModule).NewFunctionBuilder().
		WithGoFunction(api.GoFunc(w.yield), []api.ValueType{api.ValueTypeI64, api.ValueTypeI64}, []api.ValueType{api.ValueTypeI64}).
		Export(YieldName).Instantiate(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if w.guest, err = r.InstantiateWithConfig(ctx, m.Wasm, wazero.NewModuleConfig()); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) set(name string, v int64) {
	w.guest.ExportedGlobal(name).(api.MutableGlobal).Set(uint64(v))
}

func (w *world) get(name string) int64 { return int64(w.guest.ExportedGlobal(name).Get()) }

const plenty = 1 << 40

// gasOf runs f0 and says what gas it took.
func (w *world) gasOf(t *testing.T, args ...uint64) int64 {
	t.Helper()
	w.set(GasExport, plenty)
	if _, err := w.guest.ExportedFunction("f0").Call(context.Background(), args...); err != nil {
		t.Fatal(err)
	}
	return plenty - w.get(GasExport)
}

// long is code that costs n: it can only be told apart by its cost.
func long(n int) string { return strings.Repeat("i32.const 0 drop ", n/2) }

// TestGas holds what functions cost, to the unit: gas goes into receipts.
func TestGas(t *testing.T) {
	for _, test := range []struct {
		name  string
		funcs []nanFunc
		args  []uint64
		want  int64
	}{
		{"nothing", []nanFunc{{">", "", ""}}, nil, 0},
		{"straight code", []nanFunc{{">", "", "i32.const 1 drop nop"}}, nil, 2},
		{"what is costly", []nanFunc{{">", "", "i32.const 1 i32.const 1 i32.div_s drop"}}, nil, 2 + 5 + 1},
		{"a call", []nanFunc{{">", "", "call 1 call 1"}, {">", "", long(20)}}, nil, 2 * (5 + 20)},
		{"an indirect call", []nanFunc{{">", "", "i32.const 1 call_indirect >"}, {">", "", long(20)}}, nil, 1 + 7 + 20},
		{"a tail call", []nanFunc{{">", "", "return_call 1"}, {">", "", long(20)}}, nil, 5 + 20},
		{"the arm that is taken", []nanFunc{{"i>", "", "local.get 0 if > " + long(100) + "else " + long(40) + "end"}}, []uint64{1}, 2 + 100},
		{"the other arm", []nanFunc{{"i>", "", "local.get 0 if > " + long(100) + "else " + long(40) + "end"}}, []uint64{0}, 2 + 40},
		{"a small arm is paid for in any case", []nanFunc{{"i>", "", "local.get 0 if > " + long(16) + "end"}}, []uint64{0}, 2 + 16},
		{"one that is larger is not", []nanFunc{{"i>", "", "local.get 0 if > " + long(18) + "end"}}, []uint64{0}, 2},
		{"ten turns of a loop", []nanFunc{{"i>", "", countdown(long(20))}}, []uint64{10}, 10 * (20 + 5)},
		{"a loop that is left by a branch", []nanFunc{{"i>", "", "block > loop > " + long(20) + "local.get 0 i32.const 1 i32.sub local.tee 0 i32.eqz br_if 1 br 0 end end"}}, []uint64{10}, 10 * (20 + 7)},
		{"a loop that is left by a return", []nanFunc{{"i>", "", "loop > " + long(20) + "local.get 0 i32.const 1 i32.sub local.tee 0 if > br 1 end return end"}}, []uint64{10}, 10 * (20 + 7)},
		{"a loop that is left by a table", []nanFunc{{"i>", "", "block > loop > " + long(20) + "local.get 0 i32.const 1 i32.sub local.tee 0 br_table 1 1 0 end end"}}, []uint64{10}, 10 * (20 + 5)},
		{"what a block within another skips", []nanFunc{{"i>", "", "block > block > block > local.get 0 br_table 0 1 end end end " + long(100)}}, []uint64{0}, 2 + 100},
		{"a branch from within a block beyond another", []nanFunc{{"i>", "", "block > block > block > local.get 0 br_table 2 0 1 2 end end " + long(100) + "end"}}, []uint64{2}, 2},
		{"a loop in a loop", []nanFunc{{"i>", "", countdown("i32.const 3 local.set 0 i32.const 1 local.set 0 " + "loop > " + long(20) + "end ")}}, []uint64{10}, 4 + 20 + 5},
		{"what comes after a branch that is taken, up to a bound", []nanFunc{{"i>", "", "local.get 0 br_if 0 " + long(64)}}, []uint64{1}, 2 + 64},
		{"and not beyond", []nanFunc{{"i>", "", "local.get 0 br_if 0 " + long(66)}}, []uint64{1}, 2},
		{"a block that is left by a table", []nanFunc{{"i>", "", "block > block > local.get 0 br_table 2 0 1 2 end " + long(100) + "return end " + long(30)}}, []uint64{1}, 2 + 30},
		{"code that cannot be reached", []nanFunc{{">", "", "return " + long(100)}}, nil, 1},
		{"filling 800 bytes", []nanFunc{{">", "", "i32.const 0 i32.const 0 i32.const 800 memory.fill 0"}}, nil, 3 + 5 + 100},
		{"copying 800 bytes", []nanFunc{{">", "", "i32.const 0 i32.const 0 i32.const 800 memory.copy 0 0"}}, nil, 3 + 5 + 100},
		{"growing by two pages", []nanFunc{{">", "", "i32.const 2 memory.grow 0 drop"}}, nil, 2 + 5 + 2*8192},
		{"a table of ten", []nanFunc{{">", "", "ref.null r i32.const 10 table.grow 0 drop"}}, nil, 3 + 5 + 10},
	} {
		for name, engine := range engines {
			t.Run(test.name+"/"+name, func(t *testing.T) {
				w := instantiate(t, engine(), nanModule(t, test.funcs...), Options{Transforms: Gas})
				if got := w.gasOf(t, test.args...); got != test.want {
					t.Errorf("it takes %d, want %d", got, test.want)
				}
			})
		}
	}
}

// countdown is a loop that runs as often as the parameter says.
func countdown(body string) string {
	return "loop > " + body + "local.get 0 i32.const 1 i32.sub local.tee 0 br_if 0 end"
}

// endless are functions that never end by themselves.
var endless = map[string][]nanFunc{
	"a loop":                            {{">", "", "loop > br 0 end"}},
	"a loop of nothing":                 {{">", "", "loop > block > br 1 end end"}},
	"a loop with operands":              {{">", "", "i32.const 1 loop i>i br 0 end drop"}},
	"a loop that calls":                 {{">", "", "loop > call 1 br 0 end"}, {">", "", "nop"}},
	"a loop at the start of what calls": {{"i>", "", "loop > local.get 0 br_if 0 call 1 br 0 end"}, {">", "", "nop"}},
	"two loops by turns":                {{">", "", "loop > loop > i32.const 1 br_if 1 br 0 end end"}},
	"a large loop":                      {{">", "", "loop > " + long(500) + "br 0 end"}},
	"tail calls":                        {{">", "", "return_call 0"}},
	"indirect tail calls":               {{">", "", "i32.const 0 return_call_indirect >"}},
	"filling memory":                    {{">", "", "loop > i32.const 0 i32.const 0 i32.const 65536 memory.fill 0 br 0 end"}},
	"2^64 calls without a loop":         doubling(),
}

// doubling is a chain of functions that each call the next twice.
func doubling() []nanFunc {
	var funcs []nanFunc
	for i := range 64 {
		funcs = append(funcs, nanFunc{">", "", fmt.Sprintf("call %d call %d", i+1, i+1)})
	}
	return append(funcs, nanFunc{">", "", "nop"})
}

// TestGasStops holds that no guest goes on without the host's leave, and that it
// is asked after every slice.
func TestGasStops(t *testing.T) {
	for name, funcs := range endless {
		for kind, engine := range engines {
			t.Run(name+"/"+kind, func(t *testing.T) {
				w := instantiate(t, engine(), nanModule(t, funcs...), Options{Transforms: Gas | Depth})
				w.set(DepthExport, InitialDepth)
				w.slice, w.left = 1000, 100
				params := make([]uint64, len(w.guest.ExportedFunction("f0").Definition().ParamTypes()))
				if _, err := w.guest.ExportedFunction("f0").Call(context.Background(), params...); !errors.Is(err, errGas) {
					t.Errorf("it ended with %v", err)
				}
				if w.yields != 100 {
					t.Errorf("it asked %d times", w.yields)
				}
			})
		}
	}
}

// TestGasOfBulk holds that what fills, copies or grows more than the gas allows
// asks before it does so.
func TestGasOfBulk(t *testing.T) {
	w := instantiate(t, wazero.NewRuntimeConfigCompiler(), nanModule(t,
		nanFunc{">", "", "i32.const 0 i32.const 1 i32.const 65536 memory.fill 0"}), Options{Transforms: Gas})
	w.set(GasExport, 8000)
	if _, err := w.guest.ExportedFunction("f0").Call(context.Background()); !errors.Is(err, errGas) {
		t.Fatalf("it ended with %v", err)
	}
	if b, _ := w.guest.Memory().ReadByte(0); b != 0 {
		t.Error("memory was filled nonetheless")
	}
}

// TestSlices holds that what a guest takes does not depend on how its gas is
// dealt out.
func TestSlices(t *testing.T) {
	funcs := []nanFunc{
		{"i>", "", countdown("call 1 " + long(100))},
		{">", "i", "i32.const 7 local.set 0 " + countdown("local.get 0 if > "+long(50)+"end ")},
	}
	total := func(slice int64) int64 {
		w := instantiate(t, wazero.NewRuntimeConfigCompiler(), nanModule(t, funcs...), Options{Transforms: Gas | Depth})
		w.slice, w.left = slice, plenty
		if _, err := w.guest.ExportedFunction("f0").Call(context.Background(), 20); err != nil {
			t.Fatal(err)
		}
		return slice*int64(w.yields) - w.get(GasExport)
	}
	want := total(plenty)
	for _, slice := range []int64{1, 7, 100, 1000} {
		if got := total(slice); got != want {
			t.Errorf("in slices of %d it takes %d, want %d", slice, got, want)
		}
	}
}

// deep calls itself as often as its parameter says, and leaves by an if.
var deep = nanFunc{"i>", "", "local.get 0 if > local.get 0 i32.const 1 i32.sub call 0 end"}

// TestDepth holds how deep calls get, to the unit, and that what returns gives
// back what it took.
func TestDepth(t *testing.T) {
	for _, test := range []struct {
		name  string
		funcs []nanFunc
		arg   uint64
		depth int64 // that is just enough
	}{
		{"a call", []nanFunc{{"i>", "", "local.get 0 call 1"}, {"i>", "", ""}}, 0, 1},
		{"a leaf", []nanFunc{{"i>", "", long(1000)}}, 0, 0},
		{"ten calls in each other", []nanFunc{deep}, 9, 10},
		{"twice ten, one after the other", []nanFunc{{"i>", "", "local.get 0 call 1 local.get 0 call 1"}, {"i>", "", strings.Replace(deep.body, "call 0", "call 1", 1)}}, 9, 11},
		{"a return from within", []nanFunc{{"i>", "", "local.get 0 if > local.get 0 i32.const 1 i32.sub call 0 return end call 1"}, {">", "", ""}}, 9, 10},
		{"a branch out", []nanFunc{{"i>", "", "local.get 0 i32.eqz br_if 0 local.get 0 i32.const 1 i32.sub call 0"}}, 9, 10},
		{"tail calls take nothing", []nanFunc{{"i>", "", "local.get 0 if > local.get 0 i32.const 1 i32.sub return_call 0 end"}}, 1000, 1},
		{"a large function weighs more", []nanFunc{{"i>", "", deep.body + " " + long(640)}}, 9, 10 * 11},
	} {
		for name, engine := range engines {
			for _, transforms := range []Transforms{Depth, Depth | Gas} {
				t.Run(fmt.Sprintf("%s/%s/%d", test.name, name, transforms), func(t *testing.T) {
					w := instantiate(t, engine(), nanModule(t, test.funcs...), Options{Transforms: transforms})
					w.left, w.slice = plenty, plenty
					w.set(DepthExport, test.depth)
					if _, err := w.guest.ExportedFunction("f0").Call(context.Background(), test.arg); err != nil {
						t.Errorf("with %d: %v", test.depth, err)
					}
					if left := w.get(DepthExport); left != test.depth {
						t.Errorf("%d are left, want %d", left, test.depth)
					}
					w.set(DepthExport, test.depth-1)
					if _, err := w.guest.ExportedFunction("f0").Call(context.Background(), test.arg); test.depth > 0 && !errors.Is(err, errDepth) {
						t.Errorf("with one less it ended with %v", err)
					}
				})
			}
		}
	}
}

// TestDepthBeforeStack holds that the default depth ends before the compiler's
// stack does, also where functions keep a lot on it.
func TestDepthBeforeStack(t *testing.T) {
	fat := "local.get 0 "
	for range 300 {
		fat += "i32.const 16 v128.load 0 "
	}
	fat += "local.get 0 i32.const 1 i32.sub call 0 "
	for range 300 {
		fat += "i64x2.add "
	}
	fat = strings.Replace(fat, "call 0 i64x2.add", "call 0", 1) + "i64x2.extract_lane 0 drop drop"
	for name, f := range map[string]nanFunc{
		"thin": {"i>", "", "local.get 0 i32.const 1 i32.sub call 0"},
		"fat":  {"i>", "", fat},
	} {
		t.Run(name, func(t *testing.T) {
			w := instantiate(t, wazero.NewRuntimeConfigCompiler(), nanModule(t, f), Options{Transforms: Depth | Gas})
			w.set(DepthExport, InitialDepth)
			w.left, w.slice = plenty, plenty
			if _, err := w.guest.ExportedFunction("f0").Call(context.Background(), 0); !errors.Is(err, errDepth) {
				t.Errorf("it ended with %.200v", err)
			}
		})
	}
}
