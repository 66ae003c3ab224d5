package image

import (
	"errors"
	"fmt"
	"sync"
)

// PageBytes is the size of a page of linear memory. Images are rounded up to it.
const PageBytes = 64 << 10

// ErrClosed is returned for an Image that was closed.
var ErrClosed = errors.New("image: it is closed")

// Image is what memories begin with. It is safe for concurrent use.
type Image struct {
	size   uint64
	source source

	mu     sync.Mutex
	users  int // memories, and 1 for the Image until it is closed
	closed bool
}

// source holds an image's bytes and makes memories of them.
type source interface {
	// bytes returns the image, size bytes long. Nobody may change it.
	bytes() []byte
	// newStore returns a store that begins with the image and can hold limit bytes,
	// which are a multiple of PageBytes and no fewer than the image's.
	newStore(limit uint64) (store, error)
	close()
}

// store is where a memory's bytes are. Its methods are called by one goroutine at a
// time.
type store interface {
	// resize makes the first size bytes accessible and returns them. What was not
	// accessible since the last reset is zero. It is never called with more than the
	// store's limit.
	resize(size uint64) ([]byte, error)
	// reset makes the content that of the image, followed by zeros, when the guest
	// could write the first used bytes. Unless used is first, resize(first) follows.
	reset(first, used uint64) error
	// resident returns how many bytes are the store's alone after a reset.
	resident() uint64
	// trim gives back what reset keeps for speed. The content stays.
	trim() error
	close() error
}

// New makes an image of content, which may be empty and may be changed afterwards.
// The caller closes it.
func New(content []byte) (*Image, error) {
	source, err := newMapped(content)
	if err != nil {
		// Only speed and memory are lost: a kernel may lack memfds, or a policy forbid
		// them.
		source = newCopied(content)
	}
	return newImage(content, source), nil
}

func newImage(content []byte, s source) *Image {
	return &Image{size: roundUp(uint64(len(content))), source: s, users: 1}
}

func roundUp(size uint64) uint64 { return (size + PageBytes - 1) &^ (PageBytes - 1) }

// Size returns how many bytes a memory begins with, a multiple of PageBytes.
func (i *Image) Size() uint64 { return i.size }

// Bytes returns the image, Size bytes long. They may not be changed, and not be read
// after Close.
func (i *Image) Bytes() []byte { return i.source.bytes() }

// NewMemory returns a memory that begins with the image and can grow to limit bytes.
// The limit, rounded down to PageBytes, takes address space alone; it may not be
// below the image's size. The caller closes the memory.
func (i *Image) NewMemory(limit uint64) (*Memory, error) {
	limit &^= PageBytes - 1
	if limit < i.size {
		return nil, fmt.Errorf("image: a memory of at most %d bytes cannot begin with %d", limit, i.size)
	}
	if err := i.use(); err != nil {
		return nil, err
	}
	s, err := i.source.newStore(limit)
	if err != nil {
		i.release()
		return nil, fmt.Errorf("image: reserving %d bytes for a memory: %w", limit, err)
	}
	return &Memory{image: i, store: s, reserved: limit, limit: limit, first: i.size}, nil
}

func (i *Image) use() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.closed {
		return ErrClosed
	}
	i.users++
	return nil
}

func (i *Image) release() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.users--; i.users == 0 {
		i.source.close()
	}
}

// Close lets go of the image. Memories that were made of it stay usable: it is freed
// when the last of them is closed.
func (i *Image) Close() error {
	i.mu.Lock()
	if i.closed {
		i.mu.Unlock()
		return ErrClosed
	}
	i.closed = true
	i.mu.Unlock()
	i.release()
	return nil
}
