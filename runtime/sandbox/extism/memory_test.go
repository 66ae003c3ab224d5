package extism

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestHeaders compares what is known of the SDK's memory with the same, byte by
// byte.
func TestHeaders(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const size = 1000
		var taken [size + 100]bool
		h := newHeaders()
		mark := func(from, to int) {
			for i := from; i < to; i++ {
				taken[i] = true
			}
		}
		mark(0, rootBytes+headerBytes)
		for range rapid.IntRange(0, 12).Draw(t, "blocks") {
			block := rapid.IntRange(rootBytes+2*headerBytes, size).Draw(t, "block")
			h.add(uint32(block))
			mark(block-headerBytes, block)
		}
		for range 50 {
			at, n := rapid.IntRange(0, size).Draw(t, "at"), rapid.SampledFrom([]int{1, 8}).Draw(t, "bytes")
			if got, want := h.overlaps(uint32(at), uint32(n)), slices.Contains(taken[at:at+n], true); got != want {
				t.Fatalf("%d bytes at %d: %v, want %v", n, at, got, want)
			}
		}
	})
}
