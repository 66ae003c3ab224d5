//go:build linux && (amd64 || arm64)

package image

import (
	"os"
	"testing"
)

// detectors are the ways in which a kernel can tell what was written, and that of one
// which does not.
func detectors() map[string]func(source) {
	with := func(make func(*os.File) detector) func(source) {
		return func(s source) {
			m := s.(*mapped)
			if m.dirty == nil {
				return
			}
			m.dirty.close()
			pagemap, err := os.Open("/proc/self/pagemap")
			if err != nil {
				panic(err)
			}
			m.dirty = make(pagemap)
		}
	}
	return map[string]func(source){
		"scanner": with(func(f *os.File) detector { return newScanner(f) }),
		"reader":  with(func(f *os.File) detector { return newReader(f) }),
		"blind": func(s source) {
			if m := s.(*mapped); m.dirty != nil {
				m.dirty.close()
				m.dirty = nil
			}
		},
	}
}

// TestDetectorsAreProved holds that a detector that sees too little or too much is not
// used.
func TestDetectorsAreProved(t *testing.T) {
	file, err := newSealed(make([]byte, PageBytes))
	if err != nil {
		t.Skipf("no memfds here: %v", err)
	}
	defer file.Close()
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
