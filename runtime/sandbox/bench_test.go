package sandbox

import (
	"context"
	"slices"
	"testing"
	"time"

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
		r, err := New(b.Context(), Config{CacheDir: cacheDir, CacheKey: cacheKey})
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

// BenchmarkHostCall is a host call with 100 bytes in and 100 bytes out, of which a Run
// makes 10,000.
func BenchmarkHostCall(b *testing.B) {
	const calls = 10_000
	step := localGet0 + konst(1) + opAdd + "\x22\x00" // local.tee 0
	g := runner("", abi.CallStateGet, abi.ReadImport)
	g.funcs[0].locals = twoOfI32
	g.funcs[0].body = "\x03\x40" + hostCallOf(0, 0, 100) + konst(200) + konst(100) + call(1) + opDrop +
		step + konst(calls) + opNe + branchIf0 + opEnd + konst(0)
	m := compile(b, newRuntime(b, Config{}), g.wasm())
	answer := make([]byte, 100)
	h := &host{answer: func(context.Context, string, []byte) (abi.CallStatus, []byte, error) { return abi.CallOK, answer, nil }}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Run(b.Context(), abi.DefaultExport, h, Limits{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/calls, "ns/call")
}

// benchmarkPristine measures what it takes to have an instance as it was at first, where
// a Run has used it before.
func benchmarkPristine(b *testing.B, m *Module, h Host) {
	l := Limits{}.OrDefault()
	var took []time.Duration
	for b.Loop() {
		begun := time.Now()
		inst, err := m.base.take(l)
		if err != nil {
			b.Fatal(err)
		}
		taken := time.Since(begun)
		if _, err := inst.serve(b.Context(), begun, abi.DefaultExport, h, l); err != nil {
			b.Fatal(err)
		}
		begun = time.Now()
		m.base.put(inst)
		took = append(took, taken+time.Since(begun))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "p50-ns")
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds()), "p99-ns")
}

// BenchmarkPristineSmall is an instance of a small native plugin.
func BenchmarkPristineSmall(b *testing.B) {
	g := runner(hostCallOf(0, 8, 15)+konst(64)+konst(1)+opStore+konst(0), abi.CallOutput).at(8, `{"summary":"ok"}`)
	benchmarkPristine(b, compile(b, newRuntime(b, Config{}), g.wasm()), &host{})
}

// BenchmarkPristineGo is an instance of digest, a plugin in standard Go.
func BenchmarkPristineGo(b *testing.B) {
	m := bundled(b, newRuntime(b, Config{CacheDir: cacheDir}), "digest")
	input := newTask(b, smallInput).input
	benchmarkPristine(b, m, &host{answer: func(_ context.Context, call string, _ []byte) (abi.CallStatus, []byte, error) {
		if call == abi.CallInput {
			return abi.CallOK, input, nil
		}
		return abi.CallOK, []byte(`{"message_id":"msg_1","artifact_id":"art_1"}`), nil
	}})
}

// BenchmarkBirthGo is a new instance of digest.
func BenchmarkBirthGo(b *testing.B) {
	m := bundled(b, newRuntime(b, Config{CacheDir: cacheDir}), "digest")
	b.ReportAllocs()
	for b.Loop() {
		inst, err := m.base.newInstance(256 << 20)
		if err != nil {
			b.Fatal(err)
		}
		if err := inst.close(); err != nil {
			b.Fatal(err)
		}
	}
}
