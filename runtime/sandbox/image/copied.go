package image

// copied is an image in a buffer of ours. It works everywhere.
type copied struct {
	content []byte
}

func newCopied(content []byte) source {
	c := &copied{content: make([]byte, roundUp(uint64(len(content))))}
	copy(c.content, content)
	return c
}

func (c *copied) bytes() []byte { return c.content }
func (c *copied) close()        {}

func (c *copied) newStore(limit uint64) (store, error) {
	return &copiedStore{image: c.content, limit: limit}, nil
}

// copiedStore is a memory in a buffer of ours. What lies between what the guest has
// and the buffer's capacity is zero.
type copiedStore struct {
	image  []byte
	limit  uint64
	buffer []byte // as long as what the guest has; nil before the first resize
}

func (s *copiedStore) resize(size uint64) ([]byte, error) {
	if s.buffer == nil {
		s.buffer = make([]byte, max(size, uint64(len(s.image))))
		copy(s.buffer, s.image)
	}
	if size > uint64(cap(s.buffer)) {
		s.move(size)
	}
	s.buffer = s.buffer[:size]
	return s.buffer, nil
}

// move takes a larger buffer, with room to grow: a guest that grows page by page
// does not copy its memory each time.
func (s *copiedStore) move(size uint64) {
	room := min(max(size, 2*uint64(cap(s.buffer))), s.limit)
	next := make([]byte, size, room)
	copy(next, s.buffer)
	s.buffer = next
}

func (s *copiedStore) reset(first, used uint64) error {
	if used > 2*first+PageBytes {
		s.buffer = nil // a large buffer is not worth keeping
		return nil
	}
	clear(s.buffer[copy(s.buffer, s.image):])
	return nil
}

func (s *copiedStore) resident() uint64 { return uint64(cap(s.buffer)) }

// trim does nothing: the engine holds the buffer's address.
func (s *copiedStore) trim() error { return nil }

func (s *copiedStore) close() error {
	s.buffer = nil
	return nil
}
