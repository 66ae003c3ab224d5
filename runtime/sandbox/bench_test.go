package sandbox

import (
	"context"
	"testing"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/plugins"
	"github.com/wharf-dev/wharf/plugins/plugintest"
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

const smallInput = `{"role":"user","parts":[{"type":"text","text":"What is the answer to the question that nobody asked?","visibility":"public"}]}`

func benchmarkBundled(b *testing.B, name, input string) {
	m := bundled(b, newRuntime(b, Config{CacheDir: cacheDir}), name)
	h := newTask(b, input)
	quiet := &host{answer: func(_ context.Context, call string, _ []byte) (abi.CallStatus, []byte, error) {
		if call == abi.CallInput {
			return abi.CallOK, h.input, nil
		}
		return abi.CallOK, []byte(`{"message_id":"msg_1","artifact_id":"art_1"}`), nil
	}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Run(b.Context(), abi.DefaultExport, quiet, Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRunEcho is a Task of the bundled echo, without what the engine adds.
func BenchmarkRunEcho(b *testing.B) { benchmarkBundled(b, "echo", smallInput) }

// BenchmarkRunDigest is the same for digest, a plugin in standard Go.
func BenchmarkRunDigest(b *testing.B) { benchmarkBundled(b, "digest", smallInput) }

// BenchmarkCompileCached is what the first use of a large plugin costs when it was
// compiled before.
func BenchmarkCompileCached(b *testing.B) {
	p, _ := plugins.Lookup("digest")
	wasm := p.Wasm()
	compile(b, newRuntime(b, Config{CacheDir: cacheDir}), wasm)
	for b.Loop() {
		r, err := New(b.Context(), Config{CacheDir: cacheDir})
		if err != nil {
			b.Fatal(err)
		}
		compile(b, r, wasm)
		if err := r.Close(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRunSteps is a Task of five host calls in a small native plugin, without
// what the engine adds.
func BenchmarkRunSteps(b *testing.B) {
	m := compile(b, newRuntime(b, Config{}), plugintest.Steps())
	input := newTask(b, `{"steps":5,"kind":"durable","bytes":200}`).input
	h := &host{answer: func(_ context.Context, call string, _ []byte) (abi.CallStatus, []byte, error) {
		if call == abi.CallInput {
			return abi.CallOK, input, nil
		}
		return abi.CallOK, nil, nil
	}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Run(b.Context(), abi.DefaultExport, h, Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}
