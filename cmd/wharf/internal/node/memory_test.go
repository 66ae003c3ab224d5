package node

import (
	"log/slog"
	"testing"
)

func TestBodiesFitIntoTheMemory(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct{ inFlight, largest, memory, want int64 }{
		{256 * mib, 32 * mib, 0, 256 * mib},             // not known
		{256 * mib, 32 * mib, 2048 * mib, 256 * mib},    // just enough
		{256 * mib, 32 * mib, 1024 * mib, 128 * mib},    // a small container
		{256 * mib, 32 * mib, 64 * mib, 32 * mib},       // one body at a time
		{32 * mib, 32 * mib, 64 * mib, 32 * mib},        // as configured
		{4096 * mib, 32 * mib, 65536 * mib, 4096 * mib}, // a large machine
	} {
		if got := bodies(c.inFlight, c.largest, c.memory, slog.New(slog.DiscardHandler)); got != c.want {
			t.Errorf("of %d MiB with %d MiB of memory: %d MiB, want %d", c.inFlight/mib, c.memory/mib, got/mib, c.want/mib)
		}
	}
}

func TestMemoryIsKnown(t *testing.T) {
	if available() <= 0 {
		t.Error("neither the container's limit nor the machine's memory is known")
	}
}
