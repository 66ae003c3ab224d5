package sandbox

import (
	"context"
	"testing"
)

// BenchmarkExtism measures a Run of an Extism plugin that does next to nothing: what
// remains is the price of its instance.
func BenchmarkExtism(b *testing.B) {
	for _, c := range []struct{ file, export string }{{"c.wasm", "nothing"}, {"rust.wasm", "run"}, {"assemblyscript.wasm", "run"}} {
		b.Run(c.file, func(b *testing.B) {
			m := compile(b, newRuntime(b, Config{CacheDir: cacheDir}), extismFixture(b, c.file))
			h := extismHost(`{"task":{"input":{"name":"Ada"}}}`)
			h.keep = false
			b.ReportAllocs()
			for b.Loop() {
				if _, err := m.Run(context.Background(), c.export, h, Limits{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
