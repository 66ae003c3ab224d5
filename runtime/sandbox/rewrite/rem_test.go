package rewrite

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero/api"
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
