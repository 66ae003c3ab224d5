package sandbox

import (
	"slices"
	"testing"

	"github.com/wharf-dev/wharf/internal/share"
	"github.com/wharf-dev/wharf/plugins"
)

// What is read of a module without compiling it is what compiling it finds.
func TestAnOutlineIsWhatCompilingFinds(t *testing.T) {
	share.Alone(t)
	r := newRuntime(t, Config{})
	run := fn{export: "run", sig: runSig, body: konst(0)}
	withoutMemory := runner(konst(0), "clock")
	withoutMemory.pages = 0
	modules := map[string][]byte{
		"extism in C": extismFixture(t, "c.wasm"), "extism in Rust": extismFixture(t, "rust.wasm"), "junk": []byte("\x00asm junk"),
		"a program":       (&handmade{pages: 1}).add(run).add(fn{export: "_start", sig: runSig, body: konst(0)}).wasm(),
		"nothing to run":  (&handmade{pages: 1}).wasm(),
		"an unknown call": runner(konst(0), "sing").wasm(),
		"no memory":       withoutMemory.wasm(),
	}
	for _, p := range plugins.Bundled() {
		modules[p.Name] = p.Wasm()
	}
	for name, wasm := range modules {
		outline, refused := r.Outline(t.Context(), wasm)
		m, err := r.Compile(t.Context(), wasm)
		if err != nil || refused != nil {
			if err == nil || refused == nil || err.Error() != refused.Error() {
				t.Errorf("%s: the outline says %v, the compiler %v", name, refused, err)
			}
			continue
		}
		if !slices.Equal(outline.Calls, m.Imports()) || !slices.Equal(outline.Exports, m.Exports()) {
			t.Errorf("%s: got %v, compiling finds %v and %v", name, outline, m.Imports(), m.Exports())
		}
	}
}
