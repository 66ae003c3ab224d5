package sandbox

import (
	"github.com/tetratelabs/wazero/experimental"
)

// extismMemories are the memories of one Run of an Extism plugin: the plugin's own, and
// the one in which the SDK passes bytes. They share one limit.
type extismMemories struct {
	run  *run
	size uint64 // of all together
}

// extismMemory is one of them. The garbage collector takes it back.
type extismMemory struct {
	all   *extismMemories
	bytes []byte
}

var (
	_ experimental.MemoryAllocator = (*extismMemories)(nil)
	_ experimental.LinearMemory    = (*extismMemory)(nil)
)

// Allocate implements experimental.MemoryAllocator.
func (m *extismMemories) Allocate(uint64, uint64) experimental.LinearMemory {
	return &extismMemory{all: m, bytes: []byte{}}
}

// Reallocate implements experimental.LinearMemory: nil refuses the growth.
func (m *extismMemory) Reallocate(size uint64) []byte {
	others := m.all.size - uint64(len(m.bytes))
	limit := m.all.run.limits.MemoryBytes
	if size > limit || others > limit-size {
		m.all.run.refused = others + size
		return nil
	}
	m.all.run.hold(others + size)
	if size > uint64(cap(m.bytes)) {
		grown := make([]byte, size, min(max(size, 2*uint64(cap(m.bytes))), limit-others))
		copy(grown, m.bytes)
		m.bytes = grown
	}
	m.bytes, m.all.size = m.bytes[:size], others+size
	return m.bytes
}

// extismPages is more than the SDK's own memory begins with.
const extismPages = 64

// Free implements experimental.LinearMemory.
func (m *extismMemory) Free() {}

// How the SDK lays out the memory in which it passes bytes (its extism-runtime.wasm):
// what it knows as a whole comes first, then the blocks, a header before each.
const (
	extismRootBytes   = 65
	extismHeaderBytes = 12
)

// extismHeaders knows where the headers of blocks lie in the memory in which the SDK
// passes bytes. Plugins can write everywhere in it, and the SDK walks from header to
// header without a bound, in code that is not metered. A header stays where it is: blocks
// are used again, never joined.
type extismHeaders struct {
	starts []uint64 // a bit for each byte of memory, set where a header begins
	blocks int      // how many there are
}

// newExtismHeaders knows the header of the first block, which holds the input.
func newExtismHeaders() extismHeaders {
	var h extismHeaders
	h.add(extismRootBytes + extismHeaderBytes)
	return h
}

// add takes note of a block.
func (h *extismHeaders) add(block uint32) {
	start := block - extismHeaderBytes
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
func (h *extismHeaders) overlaps(at, size uint32) bool {
	if at < extismRootBytes {
		return true
	}
	for start := at - (extismHeaderBytes - 1); start < at+size; {
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
