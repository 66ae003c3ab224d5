package image

import (
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero/experimental"
)

// Memory is the linear memory of one guest, and the allocator that hands it to the
// engine. It is used by one goroutine at a time.
//
// Its life: NewMemory; instantiate with it as the allocator; then, for each Run,
// SetLimit, the guest, Reset; and in the end Close.
type Memory struct {
	image    *Image
	store    store
	reserved uint64 // what the store can hold
	limit    uint64 // what the guest may have
	first    uint64 // the size after a reset
	size     uint64 // what the engine was given last
	refused  uint64
	grow     func(size uint64) // see OnGrow; nil for nothing
	born     bool              // the engine was given the first size
	// adopt says that the next Reallocate answers the first size, whatever it is
	// asked: the engine adopts it.
	adopt  bool
	broken bool // a reset failed: the content is not the image's
}

var (
	_ experimental.MemoryAllocator = (*Memory)(nil)
	_ experimental.LinearMemory    = (*Memory)(nil)
)

var errBroken = errors.New("image: a memory whose reset failed cannot be used")

// Allocate implements experimental.MemoryAllocator: the memory serves one instance.
func (m *Memory) Allocate(uint64, uint64) experimental.LinearMemory { return m }

// Reallocate implements experimental.LinearMemory: nil refuses the growth. The first
// call answers the image's size, or what is asked when that is more.
func (m *Memory) Reallocate(size uint64) []byte {
	switch {
	case !m.born:
		m.born = true
		m.first = max(m.first, size)
		return m.resize(m.first)
	case m.adopt:
		m.adopt = false
		return m.resize(m.first)
	case size > m.limit:
		m.refused = size
		return nil
	}
	if m.grow != nil {
		m.grow(size)
	}
	return m.resize(size)
}

func (m *Memory) resize(size uint64) []byte {
	if size > m.reserved {
		m.refused = size
		return nil
	}
	b, err := m.store.resize(size)
	if err != nil { // the machine has no more to give
		m.refused = size
		return nil
	}
	m.size = size
	return b
}

// Free implements experimental.LinearMemory. It does nothing: the engine may call it
// from elsewhere while the guest still runs. See Close.
func (m *Memory) Free() {}

// SetLimit says how many bytes the guest may have from here on, never more than were
// reserved, and forgets what was refused. What the guest has already stays.
func (m *Memory) SetLimit(bytes uint64) {
	m.limit = min(bytes, m.reserved)
	m.refused = 0
}

// OnGrow has a function called before the guest is given memory of another size than the
// first. It may wait, and it may unwind the guest.
func (m *Memory) OnGrow(grow func(size uint64)) { m.grow = grow }

// Refused returns the size in bytes that the guest asked for in vain last, since
// SetLimit; 0 when it was given what it asked for.
func (m *Memory) Refused() uint64 { return m.refused }

// Size returns how many bytes the guest has.
func (m *Memory) Size() uint64 { return m.size }

// Reserved returns how many bytes the guest can be allowed at most.
func (m *Memory) Reserved() uint64 { return m.reserved }

// Engine is the engine's view of the memory: an api.Memory.
type Engine interface {
	Size() uint32
	Grow(deltaPages uint32) (previousPages uint32, ok bool)
}

// Reset makes the content that of the image again, and the size, also the engine's,
// what it was at first: out of bounds is where it was before. The guest must have
// ended, and nobody may keep a slice of its memory. After an error, of the machine or
// for a memory that has grown to all that 32 bits can address, nothing may be done
// with the memory and its instance but closing them.
func (m *Memory) Reset(engine Engine) error {
	if m.broken {
		return errBroken
	}
	m.broken = true
	if err := m.store.reset(m.first, m.size); err != nil {
		return fmt.Errorf("image: resetting a memory of %d bytes: %w", m.size, err)
	}
	if m.size != m.first {
		if err := m.shrink(engine); err != nil {
			return err
		}
	}
	m.broken = false
	return nil
}

// shrink has the engine adopt the first size. It asks us for a page more, and takes
// what it is given.
func (m *Memory) shrink(engine Engine) error {
	m.adopt = true
	if _, ok := engine.Grow(1); !ok {
		return fmt.Errorf("image: the engine keeps a memory of %d bytes", m.size)
	}
	if got := uint64(engine.Size()); got != m.first {
		return fmt.Errorf("image: the engine has a memory of %d bytes, not %d", got, m.first)
	}
	return nil
}

// Kept returns how many bytes of memory are this memory's alone after Reset or Trim,
// the image's not counted.
func (m *Memory) Kept() uint64 { return m.store.resident() }

// Trim gives back what Reset keeps to make the next Run faster. It is for memories
// that are idle for long, between Reset and the next Run; the content stays.
func (m *Memory) Trim() error {
	if err := m.store.trim(); err != nil {
		return fmt.Errorf("image: trimming a memory: %w", err)
	}
	return nil
}

// Close frees the memory. The guest must have ended, and its instance may not be
// called again. It may be called once.
func (m *Memory) Close() error {
	err := m.store.close()
	m.image.release()
	if err != nil {
		return fmt.Errorf("image: closing a memory: %w", err)
	}
	return nil
}
