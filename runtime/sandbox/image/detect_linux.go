//go:build linux && (amd64 || arm64)

package image

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// osPage is the size of the kernel's pages, which divides PageBytes.
var osPage = os.Getpagesize()

// detector finds which pages of a private mapping are the mapping's own, since they
// were written: present or swapped out, and not the file's. A page that was never
// written, or was given back since, is the file's or not there at all.
type detector interface {
	// detect tells r.own of every page of r.memory that is the memory's own, and
	// moves r.at behind what was looked at.
	detect(r *restoring) error
	close()
}

// newDetector returns the fastest detector that the kernel has and that gives the
// right answer for a mapping of the file, or nil.
func newDetector(file *os.File) detector {
	pagemap, err := os.Open("/proc/self/pagemap")
	if err != nil {
		return nil
	}
	for _, d := range []detector{newScanner(pagemap), newReader(pagemap)} {
		if proves(d, file) {
			return d
		}
	}
	_ = pagemap.Close()
	return nil
}

// proves reports whether a detector sees a page that was written, and neither one
// that was only read nor one that was not touched.
func proves(d detector, file *os.File) bool {
	memory, err := unix.Mmap(int(file.Fd()), 0, PageBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE)
	if err != nil {
		return false
	}
	defer func() { _ = unix.Munmap(memory) }()
	const read, written = 0, PageBytes / 2
	memory[written] = ^memory[read]
	page := written &^ (osPage - 1)
	r := restoring{memory: memory, image: memory, room: PageBytes}
	if err := d.detect(&r); err != nil || r.kept != osPage {
		return false
	}
	return r.at == PageBytes && r.last == page
}

// comparer looks for itself. Pages that were written and hold what they held are
// no different from others to it.
type comparer struct{}

func (comparer) close() {}

func (comparer) detect(r *restoring) error {
	for at := 0; at < len(r.memory); at += osPage {
		if r.same(at) {
			continue
		}
		if !r.own(at, at+osPage) {
			return nil
		}
	}
	r.at = len(r.memory)
	return nil
}

// pageRegion is what PAGEMAP_SCAN answers: addresses [start, end).
type pageRegion struct{ start, end, _ uint64 } // the last: its categories

// scanArg is the argument of PAGEMAP_SCAN, struct pm_scan_arg.
type scanArg struct {
	size, flags, start, end, walkEnd   uint64
	vec, vecLen, maxPages              uint64
	inverted, mask, anyOf, returnsMask uint64
}

const (
	pagemapScan = 0xc0606610 // _IOWR('f', 16, struct pm_scan_arg)

	pageIsFile    = 1 << 2
	pageIsPresent = 1 << 3
	pageIsSwapped = 1 << 4
)

// scanner asks with PAGEMAP_SCAN, from Linux 6.7 on.
type scanner struct {
	pagemap *os.File
	fd      uintptr
	scans   sync.Pool
}

// scan is the memory that one call needs. It lies on the heap, where it does not
// move: the kernel is handed addresses.
type scan struct {
	arg     scanArg
	regions [128]pageRegion
}

func newScanner(pagemap *os.File) *scanner {
	return &scanner{pagemap: pagemap, fd: pagemap.Fd(), scans: sync.Pool{New: func() any { return new(scan) }}}
}

func (s *scanner) close() { _ = s.pagemap.Close() }

func (s *scanner) detect(r *restoring) error {
	call := s.scans.Get().(*scan)
	defer s.scans.Put(call)
	for r.at < len(r.memory) {
		more, err := s.step(call, r)
		if err != nil || !more {
			return err
		}
	}
	return nil
}

func (s *scanner) step(call *scan, r *restoring) (more bool, err error) {
	base := uint64(uintptr(unsafe.Pointer(unsafe.SliceData(r.memory))))
	call.arg = scanArg{
		size:     uint64(unsafe.Sizeof(call.arg)),
		start:    base + uint64(r.at),
		end:      base + uint64(len(r.memory)),
		vec:      uint64(uintptr(unsafe.Pointer(&call.regions))),
		vecLen:   uint64(len(call.regions)),
		inverted: pageIsFile,
		mask:     pageIsFile,
		anyOf:    pageIsPresent | pageIsSwapped,
	}
	n, _, errno := unix.Syscall(unix.SYS_IOCTL, s.fd, pagemapScan, uintptr(unsafe.Pointer(&call.arg)))
	if errno != 0 {
		return false, fmt.Errorf("scanning pages: %w", errno)
	}
	if call.arg.walkEnd <= call.arg.start {
		return false, errors.New("scanning pages: no progress")
	}
	for _, region := range call.regions[:n] {
		if !r.own(int(region.start-base), int(region.end-base)) {
			return false, nil
		}
	}
	r.at = int(call.arg.walkEnd - base)
	return true, nil
}

// reader reads what is known of each page, as older kernels tell it too.
type reader struct {
	pagemap *os.File
	entries sync.Pool
}

const (
	entryBytes   = 8
	entryPresent = 1 << 63
	entrySwapped = 1 << 62
	entryFile    = 1 << 61 // of a file, or shared
)

type entries [1024]uint64

func newReader(pagemap *os.File) *reader {
	return &reader{pagemap: pagemap, entries: sync.Pool{New: func() any { return new(entries) }}}
}

func (d *reader) close() { _ = d.pagemap.Close() }

func (d *reader) detect(r *restoring) error {
	buffer := d.entries.Get().(*entries)
	defer d.entries.Put(buffer)
	for r.at < len(r.memory) {
		more, err := d.step(buffer, r)
		if err != nil || !more {
			return err
		}
	}
	return nil
}

func (d *reader) step(buffer *entries, r *restoring) (more bool, err error) {
	from := r.at
	page := (int(uintptr(unsafe.Pointer(unsafe.SliceData(r.memory)))) + from) / osPage
	known := buffer[:min(len(buffer), (len(r.memory)-from)/osPage)]
	raw := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(known))), len(known)*entryBytes)
	if _, err := d.pagemap.ReadAt(raw, int64(page)*entryBytes); err != nil {
		return false, fmt.Errorf("reading what is known of pages: %w", err)
	}
	for i := 0; i < len(known); {
		first := i
		for i < len(known) && isOwn(known[i]) {
			i++
		}
		if i > first && !r.own(from+first*osPage, from+i*osPage) {
			return false, nil
		}
		if i == first {
			i++
		}
	}
	r.at = from + len(known)*osPage
	return true, nil
}

// isOwn reports whether an entry of the pagemap is of a page that was written.
func isOwn(entry uint64) bool {
	return entry&(entryPresent|entrySwapped) != 0 && entry&entryFile == 0
}
