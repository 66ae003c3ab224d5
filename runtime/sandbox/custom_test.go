package sandbox

import (
	"runtime"
	"testing"
)

// A module of 60 bytes whose names claim to be 268 million is compiled without room
// being made for them.
func TestNamesThatClaimTooMuch(t *testing.T) {
	r, err := New(t.Context(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close(t.Context())
	const module = "\x00asm\x01\x00\x00\x00\x01\x05\x01\x60\x00\x01\x7f\x03\x02\x01\x00" +
		"\x07\x07\x01\x03run\x00\x00\x0a\x06\x01\x04\x00\x41\x00\x0b" +
		"\x00\x0b\x04name\x01\x04\xff\xff\xff\x7f"
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := r.Compile(t.Context(), []byte(module)); err != nil {
		t.Errorf("what its names say keeps it from being compiled: %v", err)
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 256<<20 {
		t.Errorf("compiling it took %d MiB", got>>20)
	}
}
