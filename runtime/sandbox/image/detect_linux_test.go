//go:build linux && (amd64 || arm64)

package image

import (
	"errors"
	"os"
	"testing"
)

// detectors are the ways of finding what was written.
func detectors() map[string]func(source) {
	asks := func(make func(*os.File) detector) func(source) {
		return func(s source) {
			pagemap, err := os.Open("/proc/self/pagemap")
			if err != nil {
				panic(err)
			}
			replaceDetector(s, make(pagemap))
		}
	}
	return map[string]func(source){
		"scanner":  asks(func(f *os.File) detector { return newScanner(f) }),
		"reader":   asks(func(f *os.File) detector { return newReader(f) }),
		"comparer": func(s source) { replaceDetector(s, comparer{}) },
		"blind":    func(s source) { replaceDetector(s, blind{}) },
	}
}

func replaceDetector(s source, d detector) {
	m := s.(*mapped)
	if m.file == nil {
		d.close()
		return
	}
	if m.dirty != nil {
		m.dirty.close()
	}
	m.dirty = d
}

// blind is a detector that fails: of what it does not see nothing is kept.
type blind struct{}

func (blind) detect(*restoring) error { return errors.ErrUnsupported }
func (blind) close()                  {}

// TestDetectorsAreProved holds that a detector that sees too little or too much is not
// used.
func TestDetectorsAreProved(t *testing.T) {
	file, err := newSealed(make([]byte, PageBytes))
	if err != nil {
		t.Skipf("no memfds here: %v", err)
	}
	defer file.Close()
	if osPage == PageBytes {
		t.Skip("the file is one page")
	}
	for name, d := range map[string]lying{
		"nothing":    {},
		"everything": {{0, PageBytes}},
		"another":    {{0, osPage}},
	} {
		if proves(d, file) {
			t.Errorf("a detector that sees %s was believed", name)
		}
	}
}

type lying [][2]int

func (l lying) detect(r *restoring) error {
	for _, at := range l {
		r.own(at[0], at[1])
	}
	r.at = len(r.memory)
	return nil
}

func (l lying) close() {}

// own counts the bytes that a memory has for itself, as the kernel sees it.
func own(t *testing.T, m *Memory) int {
	t.Helper()
	pagemap, err := os.Open("/proc/self/pagemap")
	if err != nil {
		t.Skipf("the kernel does not tell: %v", err)
	}
	s := m.store.(*mappedStore)
	r := restoring{memory: s.base[:s.open], image: s.base[:s.open], room: len(s.base)}
	d := newReader(pagemap)
	defer d.close()
	if err := d.detect(&r); err != nil {
		t.Fatal(err)
	}
	return r.kept
}

// TestIdleMemoriesAreSmall holds what a memory keeps between Runs against what the
// kernel counts.
func TestIdleMemoriesAreSmall(t *testing.T) {
	const pages = 2 * keptBytes / PageBytes
	image, err := New(make([]byte, pages*PageBytes))
	if err != nil {
		t.Fatal(err)
	}
	m, err := image.NewMemory(3 * pages * PageBytes)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := m.store.(*mappedStore); !ok {
		t.Skip("no memfds here")
	}
	e := newEngine(m, 1)
	turn := func(writes func()) int {
		writes()
		if err := m.Reset(e); err != nil {
			t.Fatal(err)
		}
		got := own(t, m)
		if got != int(m.Kept()) {
			t.Errorf("Kept() = %d, the kernel counts %d", m.Kept(), got)
		}
		return got
	}
	writeAll := func() {
		for at := 0; at < len(e.buffer); at += osPage {
			e.buffer[at]++
		}
	}
	if got := turn(func() { e.buffer[5]++; e.Grow(1); e.buffer[len(e.buffer)-1]++ }); got != 2*osPage {
		t.Errorf("%d bytes are kept of two pages", got)
	}
	if got := turn(func() { e.Grow(pages); writeAll() }); got != keptBytes {
		t.Errorf("%d bytes are kept of all", got)
	}
	got := 0
	for range 2 * checkEvery {
		got = turn(func() { e.buffer[5]++ })
	}
	if got != osPage {
		t.Errorf("%d bytes are kept where one page was written for long", got)
	}
	turn(func() { e.buffer[5+osPage]++ })
	for range 2 * checkEvery {
		got = turn(func() { e.buffer[5]++ })
	}
	if got != 2*osPage {
		t.Errorf("%d bytes are kept: a page was given back that was worth no system call", got)
	}
	if err := m.Trim(); err != nil {
		t.Fatal(err)
	}
	if got := own(t, m); got != 0 || m.Kept() != 0 {
		t.Errorf("%d bytes are kept after trimming, Kept() = %d", got, m.Kept())
	}
	closeAll(t, m.Close, image.Close)
}

// TestMoreIsKeptThanThereIsRoomFor has a memory keep all that it may, then compare it
// while the guest writes other pages, above the image too.
func TestMoreIsKeptThanThereIsRoomFor(t *testing.T) {
	const pages = 2 * keptBytes / PageBytes
	image, err := New(make([]byte, pages*PageBytes))
	if err != nil {
		t.Fatal(err)
	}
	m, err := image.NewMemory(3 * pages * PageBytes)
	if err != nil {
		t.Fatal(err)
	}
	e := newEngine(m, 1)
	for turn := range 3 * checkEvery {
		e.Grow(pages)
		for at := turn % 8 * osPage; at < len(e.buffer); at += osPage {
			e.buffer[at] = 1
		}
		if err := m.Reset(e); err != nil {
			t.Fatal(err)
		}
		if !isZero(e.buffer) {
			t.Fatalf("turn %d: the memory differs from the image", turn)
		}
	}
	closeAll(t, m.Close, image.Close)
}
