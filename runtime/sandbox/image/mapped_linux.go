//go:build linux && (amd64 || arm64)

package image

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapped is an image in a sealed memfd.
type mapped struct {
	file  *os.File // nil when the image is empty
	view  []byte   // the image, read only
	dirty detector // nil when the kernel does not tell
}

func newMapped(content []byte) (source, error) {
	if len(content) == 0 {
		return &mapped{}, nil
	}
	file, err := newSealed(content)
	if err != nil {
		return nil, err
	}
	size := roundUp(uint64(len(content)))
	view, err := unix.Mmap(int(file.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("mapping an image of %d bytes: %w", size, err)
	}
	return &mapped{file: file, view: view, dirty: newDetector(file)}, nil
}

// newSealed returns a memfd with the content, rounded up to PageBytes, that nobody
// can change.
func newSealed(content []byte) (*os.File, error) {
	const name = "wharf-image"
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING|unix.MFD_NOEXEC_SEAL)
	if err == unix.EINVAL { // before Linux 6.3
		fd, err = unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	}
	if err != nil {
		return nil, fmt.Errorf("creating a memfd: %w", err)
	}
	file := os.NewFile(uintptr(fd), name)
	if err := fill(file, content); err != nil {
		_ = file.Close()
		return nil, err
	}
	const seals = unix.F_SEAL_SEAL | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE
	if _, err := unix.FcntlInt(file.Fd(), unix.F_ADD_SEALS, seals); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("sealing a memfd: %w", err)
	}
	return file, nil
}

// fill writes the content but for pages of zeros, which take no room as holes.
func fill(file *os.File, content []byte) error {
	if err := file.Truncate(int64(roundUp(uint64(len(content))))); err != nil {
		return fmt.Errorf("sizing a memfd: %w", err)
	}
	const block = 4 << 10
	for from := 0; from < len(content); {
		to := min(from+block, len(content))
		if isZero(content[from:to]) {
			from = to
			continue
		}
		for to < len(content) && !isZero(content[to:min(to+block, len(content))]) {
			to = min(to+block, len(content))
		}
		if _, err := file.WriteAt(content[from:to], int64(from)); err != nil {
			return fmt.Errorf("writing a memfd: %w", err)
		}
		from = to
	}
	return nil
}

func isZero(b []byte) bool {
	for len(b) >= 8 {
		if *(*uint64)(unsafe.Pointer(unsafe.SliceData(b))) != 0 {
			return false
		}
		b = b[8:]
	}
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

func (m *mapped) bytes() []byte { return m.view }

func (m *mapped) close() {
	if m.file == nil {
		return
	}
	if m.dirty != nil {
		m.dirty.close()
	}
	_ = unix.Munmap(m.view)
	_ = m.file.Close()
}

// newStore reserves addresses for limit bytes and maps the image at their start.
func (m *mapped) newStore(limit uint64) (store, error) {
	if limit == 0 {
		return &mappedStore{image: m}, nil
	}
	const flags = unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_NORESERVE
	base, err := unix.MmapPtr(-1, 0, nil, uintptr(limit), unix.PROT_NONE, flags)
	if err != nil {
		return nil, err
	}
	s := &mappedStore{image: m, base: unsafe.Slice((*byte)(base), limit), open: uint64(len(m.view))}
	if m.file == nil {
		return s, nil
	}
	const fixed = unix.MAP_PRIVATE | unix.MAP_FIXED | unix.MAP_NORESERVE
	if _, err := unix.MmapPtr(int(m.file.Fd()), 0, base, uintptr(len(m.view)), unix.PROT_READ|unix.PROT_WRITE, fixed); err != nil {
		_ = s.close()
		return nil, err
	}
	return s, nil
}

// mappedStore is a memory over a private mapping of the image, with anonymous pages
// above it.
type mappedStore struct {
	image *mapped
	base  []byte // the whole reservation
	open  uint64 // how much of it is accessible: it stays so when the guest ends
	turns uint   // resets so far
	kept  int    // bytes of the image's part that are its own, since the last reset

	above     uint64 // where what a guest wrote above the image ended
	keptAbove int    // bytes of it that are there still
}

func (s *mappedStore) resize(size uint64) ([]byte, error) {
	if size > s.open {
		if err := unix.Mprotect(s.base[s.open:size], unix.PROT_READ|unix.PROT_WRITE); err != nil {
			return nil, fmt.Errorf("making %d bytes accessible: %w", size, err)
		}
		s.open = size
	}
	return s.base[:size], nil
}

// drop gives pages back. They read as the image's next, or as zeros above it.
func drop(pages []byte) error {
	if err := unix.Madvise(pages, unix.MADV_DONTNEED); err != nil {
		return fmt.Errorf("giving back %d bytes: %w", len(pages), err)
	}
	return nil
}

func (s *mappedStore) resident() uint64 { return uint64(s.kept + s.keptAbove) }

func (s *mappedStore) trim() error {
	if s.open == 0 {
		return nil
	}
	s.above, s.kept, s.keptAbove = 0, 0, 0
	return drop(s.base[:s.open])
}

func (s *mappedStore) close() error {
	if s.base == nil {
		return nil
	}
	base := unsafe.Pointer(unsafe.SliceData(s.base))
	size := uintptr(len(s.base))
	s.base = nil
	return unix.MunmapPtr(base, size)
}
