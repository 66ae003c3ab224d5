package sandbox

import (
	"math/bits"
	"sync"

	"github.com/tetratelabs/wazero/experimental"
)

// Buffers of up to pageBytes<<(bufferClasses-1) bytes are used again.
const bufferClasses = 7

// buffers keeps memories for later Runs, by size. Each buffer in it is zero from
// end to end: that is how one Task cannot see another's memory.
type buffers struct{ classes [bufferClasses]sync.Pool }

// bufferClass returns the class whose buffers hold size bytes; beyond the last
// class the result is bufferClasses or more.
func bufferClass(size uint64) int {
	if size <= pageBytes {
		return 0
	}
	return bits.Len64((size - 1) / pageBytes)
}

// get returns a zero buffer of at least size bytes of capacity.
func (p *buffers) get(size uint64) *[]byte {
	class := bufferClass(size)
	if class >= bufferClasses {
		b := make([]byte, size)
		return &b
	}
	if b, ok := p.classes[class].Get().(*[]byte); ok {
		return b
	}
	b := make([]byte, pageBytes<<class)
	return &b
}

// put takes back a buffer of which the guest may have written the first used
// bytes.
func (p *buffers) put(b *[]byte, used int) {
	class := bufferClass(uint64(cap(*b)))
	if class >= bufferClasses {
		return
	}
	clear((*b)[:used])
	p.classes[class].Put(b)
}

// memory is the linear memory of one Run. It knows when the guest was refused.
type memory struct {
	buffers *buffers
	limit   uint64
	buffer  *[]byte
	size    int // bytes in use; memory never shrinks
	refused uint64
}

var (
	_ experimental.MemoryAllocator = (*memory)(nil)
	_ experimental.LinearMemory    = (*memory)(nil)
)

// Allocate implements experimental.MemoryAllocator. A module has one memory.
func (m *memory) Allocate(uint64, uint64) experimental.LinearMemory { return m }

// Reallocate implements experimental.LinearMemory: nil refuses the growth.
func (m *memory) Reallocate(size uint64) []byte {
	if size > m.limit {
		m.refused = size
		return nil
	}
	if m.buffer == nil || size > uint64(cap(*m.buffer)) {
		m.move(size)
	}
	m.size = int(size)
	return (*m.buffer)[:size]
}

// move takes a larger buffer. Beyond the pooled sizes it leaves room to grow, so
// that a guest that grows page by page does not copy its memory each time.
func (m *memory) move(size uint64) {
	room := size
	if m.buffer != nil && bufferClass(size) >= bufferClasses {
		room = min(max(size, 2*uint64(cap(*m.buffer))), m.limit)
	}
	old, used := m.buffer, m.size
	m.buffer = m.buffers.get(room)
	if old != nil {
		copy(*m.buffer, (*old)[:used])
		m.buffers.put(old, used)
	}
}

// Free implements experimental.LinearMemory. It does nothing: the engine may call
// it from elsewhere while the guest still runs. See release.
func (m *memory) Free() {}

// release gives the buffer back. The guest must have ended.
func (m *memory) release() {
	if m.buffer == nil {
		return
	}
	m.buffers.put(m.buffer, m.size)
	m.buffer = nil
}
