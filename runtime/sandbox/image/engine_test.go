package image

import (
	"context"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// peek is (module (memory 1)
//
//	(func (export "load") (param i32) (result i32) local.get 0 i32.load)
//	(func (export "store") (param i32 i32) local.get 0 local.get 1 i32.store)
//	(func (export "grow") (param i32) (result i32) local.get 0 memory.grow)
//	(func (export "size") (result i32) memory.size))
const peek = "\x00asm\x01\x00\x00\x00" +
	"\x01\x0f\x03\x60\x01\x7f\x01\x7f\x60\x02\x7f\x7f\x00\x60\x00\x01\x7f" +
	"\x03\x05\x04\x00\x01\x00\x02" +
	"\x05\x03\x01\x00\x01" +
	"\x07\x1e\x04\x04load\x00\x00\x05store\x00\x01\x04grow\x00\x02\x04size\x00\x03" +
	"\x0a\x1f\x04\x07\x00\x20\x00\x28\x02\x00\x0b\x09\x00\x20\x00\x20\x01\x36\x02\x00\x0b" +
	"\x06\x00\x20\x00\x40\x00\x0b\x04\x00\x3f\x00\x0b"

// TestEngineAdoptsTheMemory holds that guests in wazero, compiled and interpreted, see
// the image, its size and its bounds again after each reset.
func TestEngineAdoptsTheMemory(t *testing.T) {
	for engine, config := range map[string]wazero.RuntimeConfig{
		"default":     wazero.NewRuntimeConfig(),
		"interpreter": wazero.NewRuntimeConfigInterpreter(),
	} {
		for name, make := range sources(t) {
			t.Run(engine+"/"+name, func(t *testing.T) { testEngine(t, config, make) })
		}
	}
}

func testEngine(t *testing.T, config wazero.RuntimeConfig, make func([]byte) (*Image, error)) {
	image, err := make([]byte(strings.Repeat("a", 3*PageBytes))) // more than is declared
	if err != nil {
		t.Fatal(err)
	}
	memory, err := image.NewMemory(6 * PageBytes)
	if err != nil {
		t.Fatal(err)
	}
	g := instantiate(t, config, memory)
	const aaaa, last = 0x61616161, 3*PageBytes - 4
	for range 2*checkEvery + 1 {
		g.want("size", 3)
		g.want("load", aaaa, 0)
		g.want("load", aaaa, last)
		g.traps("load", 3*PageBytes)
		g.call("store", last, 1)
		g.want("grow", 3, 2)
		g.want("load", 0, 5*PageBytes-4)
		g.call("store", 5*PageBytes-4, 7)
		g.traps("load", 5*PageBytes)
		g.want("grow", 0xffffffff, 2)
		if got := memory.Refused(); got != 7*PageBytes {
			t.Fatalf("Refused() = %d", got)
		}
		if err := memory.Reset(g.module.Memory()); err != nil {
			t.Fatal(err)
		}
		memory.SetLimit(6 * PageBytes)
	}
	if err := g.module.Close(t.Context()); err != nil {
		t.Error(err)
	}
	closeAll(t, memory.Close, image.Close)
}

func closeAll(t *testing.T, closers ...func() error) {
	for _, c := range closers {
		if err := c(); err != nil {
			t.Error(err)
		}
	}
}

type guest struct {
	t      *testing.T
	module api.Module
}

func instantiate(t *testing.T, config wazero.RuntimeConfig, m *Memory) guest {
	runtime := wazero.NewRuntimeWithConfig(t.Context(), config)
	t.Cleanup(func() { _ = runtime.Close(context.Background()) })
	module, err := runtime.Instantiate(experimental.WithMemoryAllocator(t.Context(), m), []byte(peek))
	if err != nil {
		t.Fatal(err)
	}
	return guest{t, module}
}

func (g guest) call(name string, args ...uint64) []uint64 {
	got, err := g.module.ExportedFunction(name).Call(g.t.Context(), args...)
	if err != nil {
		g.t.Fatalf("%s%v: %v", name, args, err)
	}
	return got
}

func (g guest) want(name string, want uint64, args ...uint64) {
	if got := g.call(name, args...)[0]; got != want {
		g.t.Fatalf("%s%v = %#x, want %#x", name, args, got, want)
	}
}

func (g guest) traps(name string, args ...uint64) {
	_, err := g.module.ExportedFunction(name).Call(g.t.Context(), args...)
	if err == nil || !strings.Contains(err.Error(), "out of bounds memory access") {
		g.t.Fatalf("%s%v: %v", name, args, err)
	}
}
