package rewrite

import (
	"context"
	"fmt"
	"math"
	"os/exec"
	"runtime"
	"slices"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/wharf-dev/wharf/internal/arm64test"
)

// miscompiled are the functions of docs/upstream/ that a compiler of the engine gets wrong:
// the last of each module is called. The wat there is the same code.
var miscompiled = []struct {
	folder string
	funcs  []nanFunc
	args   []uint64
	right  uint64
	wrong  []string // the processors whose compiler answers something else
}{
	{"select", []nanFunc{
		{"d>d", "", "f64.const 4"},
		{">d", "", "global.get 1 global.get 1 call 0 i32.const 0 select"},
	}, nil, math.Float64bits(4), []string{"amd64"}},
	{"replace-lane", []nanFunc{
		{"d>v", "", "v128.const 3 4"},
		{">l", "d", "global.get 1 local.tee 0 call 0 local.get 0 f64x2.replace_lane 0 i64x2.extract_lane 1"},
	}, nil, 4, []string{"amd64"}},
	{"remainder", []nanFunc{
		{"l>l", "", "local.get 0"},
		{"i>i", "", "i32.const 0"},
		{"i>i", "il", `
			local.get 0 local.set 1
			i32.const 64 local.get 1 call 1 local.tee 0 i32.store 0
			loop >
				local.get 2 i64.const 0 i64.lt_s
				if > local.get 2 call 0 local.set 2 end
				local.get 1 i32.const 10000 i32.ge_u
				if > local.get 1 i32.const 10000 i32.rem_u local.set 1 br 1 end
				i32.const 32 local.get 1 i32.store 0
			end
			i32.const 32 i32.load 0`},
	}, []uint64{123456}, 3456, []string{"arm64"}},
}

// TestMiscompiled holds that the rewriter works around what the engine's compilers get wrong,
// and says so when one of them does not any more: then the detour can go.
func TestMiscompiled(t *testing.T) {
	for _, c := range miscompiled {
		t.Run(c.folder, func(t *testing.T) {
			wasm := nanModule(t, c.funcs...)
			name := fmt.Sprintf("f%d", len(c.funcs)-1)
			rewritten, err := Rewrite(wasm, Options{Transforms: NaN | Remainders})
			if err != nil {
				t.Fatal(err)
			}
			onEngines(t, rewritten.Wasm, func(t *testing.T, m api.Module) {
				if got := call(t, m, name, c.args...)[0]; got != c.right {
					t.Errorf("the rewritten module answers %#x, and not %#x", got, c.right)
				}
			})
			if !slices.Contains([]string{"amd64", "arm64"}, runtime.GOARCH) {
				return
			}
			ctx := context.Background()
			r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigCompiler())
			defer r.Close(ctx)
			m, err := r.Instantiate(ctx, wasm)
			if err != nil {
				t.Fatal(err)
			}
			got := call(t, m, name, c.args...)[0]
			if wrong := slices.Contains(c.wrong, runtime.GOARCH); wrong != (got != c.right) {
				t.Errorf("the compiler for %s answers %#x, right is %#x; a fault is expected: %t. See docs/upstream/", runtime.GOARCH, got, c.right, wrong)
			}
		})
	}
}

// TestMiscompiledOnArm64 does the same on arm64, under an emulator.
func TestMiscompiledOnArm64(t *testing.T) {
	emulator := arm64test.Emulator(t)
	run := exec.CommandContext(t.Context(), emulator, arm64test.TestBinary(t), "-test.timeout=10m", "-test.run=^TestMiscompiled$")
	if out, err := run.CombinedOutput(); err != nil {
		t.Errorf("on arm64: %v\n%s", err, out)
	}
}
