package sandbox

import (
	"testing"

	"github.com/wharf-dev/wharf/abi"
)

// BenchmarkRunTiny is one Run of the smallest plugin that answers: an instance, a
// host call, the end.
func BenchmarkRunTiny(b *testing.B) {
	g := runner(hostCallOf(0, 8, 15)+konst(0), abi.CallOutput).at(8, `{"summary":"ok"}`)
	m := compile(b, newRuntime(b, Config{}), g.wasm())
	h := &host{}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Run(b.Context(), abi.DefaultExport, h, Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRunTinyParallel is the same on every core.
func BenchmarkRunTinyParallel(b *testing.B) {
	g := runner(hostCallOf(0, 8, 15)+konst(0), abi.CallOutput).at(8, `{"summary":"ok"}`)
	m := compile(b, newRuntime(b, Config{}), g.wasm())
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		h := &host{}
		for pb.Next() {
			if _, err := m.Run(b.Context(), abi.DefaultExport, h, Limits{}); err != nil {
				b.Error(err)
				return
			}
		}
	})
}
