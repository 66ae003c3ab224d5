package rewrite

import (
	"context"
	"fmt"
	"math"
	"os/exec"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero/api"

	"github.com/wharf-dev/wharf/internal/arm64test"
)

// remainderFuncs are the four instructions, of any divisor and of constants.
func remainderFuncs() (all []nanFunc) {
	for sign := range 2 {
		for _, t := range []struct{ letter, name string }{{"i", "i32"}, {"l", "i64"}} {
			op := t.name + []string{".rem_s", ".rem_u"}[sign]
			sig := t.letter + t.letter + ">" + t.letter
			all = append(all, nanFunc{sig: sig, body: "local.get 0 local.get 1 " + op})
			for _, divisor := range []int{-1, 0, 1, 2, -7, 10000} {
				all = append(all, nanFunc{sig: sig, body: fmt.Sprintf("local.get 0 %s.const %d %s", t.name, divisor, op)})
			}
		}
	}
	return all
}

// TestRemainders holds that remainders are what they were, and trap where they did.
func TestRemainders(t *testing.T) {
	funcs := remainderFuncs()
	wasm := nanModule(t, funcs...)
	rewritten, err := Rewrite(wasm, Options{Transforms: Remainders})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	look := func(t *testing.T, m api.Module) {
		for i, f := range funcs {
			for _, x := range remainderOperands {
				for _, y := range remainderOperands {
					at, end := fmt.Sprintf("%q of %d and %d", f.body, x, y), remainder(m, i, f.sig, x, y)
					if found[at] == "" {
						found[at] = end
					}
					if end != found[at] {
						t.Errorf("%s is %s, and not %s", at, end, found[at])
					}
				}
			}
		}
	}
	onEngines(t, wasm, look)
	onEngines(t, rewritten.Wasm, look)
}

// remainder calls function i, and tells what comes of it.
func remainder(m api.Module, i int, sig string, x, y int64) string {
	a, b := uint64(x), uint64(y)
	if sig[0] == 'i' {
		a, b = api.EncodeI32(int32(x)), api.EncodeI32(int32(y))
	}
	got, err := m.ExportedFunction(fmt.Sprintf("f%d", i)).Call(context.Background(), a, b)
	switch {
	case err != nil:
		reason, _, _ := strings.Cut(err.Error(), "\n")
		return reason
	case sig[0] == 'i':
		return fmt.Sprint(int32(uint32(got[0])))
	}
	return fmt.Sprint(int64(got[0]))
}

var remainderOperands = []int64{0, 1, 2, 7, 10000, 123456789, math.MaxInt32, math.MinInt32, math.MaxInt64, math.MinInt64, -1, -2, -7, -10000}

// pressed computes remainders of 10000 in a loop, between which everything lies on the
// stack, and stores the last at 32.
var pressed = []nanFunc{
	{sig: "ll>l", body: "local.get 0"},
	{sig: "ii>i", body: "i32.const 0"},
	{sig: "i>i", locals: "iiil", body: `
		local.get 0 local.set 1
		block >
			i32.const 64 i32.load 0
			local.get 1 if >i local.get 1 else local.get 1 i32.const 6 i32.add end
			local.tee 2 i32.const 2 call 1 local.tee 0 i32.store 0
			loop >
				local.get 4 i64.const 0 i64.lt_s
				if > local.get 4 i64.const 0 call 0 local.set 4 end
				local.get 1 i32.const 10000 i32.ge_u
				if > local.get 1 i32.const 10000 i32.rem_u local.set 1 br 1 end
			end
			i32.const 32 local.get 1 i32.store 0
			local.get 1 i32.const 100 i32.ge_u
			if > local.get 0 local.get 2 i32.store16 0 end
		end
		local.get 0`},
}

// TestRemaindersUnderPressure holds that a remainder is right where the engine has to
// fetch from the stack what its trap needs.
func TestRemaindersUnderPressure(t *testing.T) {
	rewritten, err := Rewrite(nanModule(t, pressed...), Options{Transforms: Remainders})
	if err != nil {
		t.Fatal(err)
	}
	onEngines(t, rewritten.Wasm, func(t *testing.T, m api.Module) {
		for _, x := range []uint32{7, 10001, 123456, 4_000_000_000} {
			call(t, m, "f2", uint64(x))
			if got, _ := m.Memory().ReadUint32Le(32); got != x%10000 {
				t.Errorf("the remainder of %d is %d, and not %d", x, got, x%10000)
			}
		}
	})
}

// TestRemaindersOnArm64 has remainders made on arm64, under an emulator.
func TestRemaindersOnArm64(t *testing.T) {
	emulator := arm64test.Emulator(t)
	binary := arm64test.TestBinary(t)
	run := exec.CommandContext(t.Context(), emulator, binary, "-test.timeout=1m", "-test.run=^(TestRemainders|TestRemaindersUnderPressure)$")
	if out, err := run.CombinedOutput(); err != nil {
		t.Errorf("on arm64: %v\n%s", err, out)
	}
}
