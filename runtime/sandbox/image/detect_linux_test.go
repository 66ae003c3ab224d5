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
