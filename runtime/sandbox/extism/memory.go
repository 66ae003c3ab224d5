package extism

import (
	"github.com/tetratelabs/wazero/experimental"

	"github.com/wharf-dev/wharf/runtime/sandbox/guest"
)

// memories are the memories of one Run of an Extism plugin: the plugin's own, and
// the one in which the SDK passes bytes. They share one limit.
type memories struct {
	run  *guest.Run
	size uint64 // of all together
}

// memory is one of them. The garbage collector takes it back.
type memory struct {
	all   *memories
	bytes []byte
}

var (
	_ experimental.MemoryAllocator = (*memories)(nil)
	_ experimental.LinearMemory    = (*memory)(nil)
)

// Allocate implements experimental.MemoryAllocator.
func (m *memories) Allocate(uint64, uint64) experimental.LinearMemory {
	return &memory{all: m, bytes: []byte{}}
}

// Reallocate implements experimental.LinearMemory: nil refuses the growth.
func (m *memory) Reallocate(size uint64) []byte {
	others := m.all.size - uint64(len(m.bytes))
	limit := m.all.run.Limits.MemoryBytes
	if size > limit || others > limit-size {
		m.all.run.Refused = others + size
		return nil
	}
	m.all.run.Hold(others + size)
	if size > uint64(cap(m.bytes)) {
		grown := make([]byte, size, min(max(size, 2*uint64(cap(m.bytes))), limit-others))
		copy(grown, m.bytes)
		m.bytes = grown
	}
	m.bytes, m.all.size = m.bytes[:size], others+size
	return m.bytes
}

// kernelPages is more than the SDK's own memory begins with.
const kernelPages = 64

// Free implements experimental.LinearMemory.
func (m *memory) Free() {}

// How the SDK lays out the memory in which it passes bytes (its extism-runtime.wasm):
// what it knows as a whole comes first, then the blocks, a header before each.
const (
	rootBytes   = 65
	headerBytes = 12
)

// headers knows where the headers of blocks lie in the memory in which the SDK
// passes bytes. Plugins can write everywhere in it, and the SDK walks from header to
// header without a bound, in code that is not metered. A header stays where it is: blocks
// are used again, never joined.
type headers struct {
	starts []uint64 // a bit for each byte of memory, set where a header begins
	blocks int      // how many there are
}

// newHeaders knows the header of the first block, which holds the input.
func newHeaders() headers {
	var h headers
	h.add(rootBytes + headerBytes)
	return h
}

// add takes note of a block.
func (h *headers) add(block uint32) {
	start := block - headerBytes
	if need := int(start/64) + 1; need > len(h.starts) {
		h.starts = append(h.starts, make([]uint64, need-len(h.starts))...)
	}
	if bit := uint64(1) << (start % 64); h.starts[start/64]&bit == 0 {
		h.starts[start/64] |= bit
		h.blocks++
	}
}

// overlaps reports whether any of size bytes belongs to a header, or to what comes before
// the blocks.
func (h *headers) overlaps(at, size uint32) bool {
	if at < rootBytes {
		return true
	}
	for start := at - (headerBytes - 1); start < at+size; {
		word := start / 64
		if int(word) >= len(h.starts) {
			return false
		}
		end := min(at+size, (word+1)*64)
		mask := ^uint64(0) << (start % 64) & (^uint64(0) >> ((64 - end%64) % 64))
		if h.starts[word]&mask != 0 {
			return true
		}
		start = end
	}
	return false
}
