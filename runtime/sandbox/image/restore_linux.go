//go:build linux && (amd64 || arm64)

package image

import "bytes"

const (
	// keptBytes bounds what a memory keeps of its own between Runs.
	keptBytes = 256 << 10
	// checkEvery is how often, in resets, a page that is kept has to prove that it is
	// still written.
	checkEvery = 16
)

// restore makes the part of the image the image's again. Pages that the guest wrote
// are copied over, up to keptBytes: the next Run most likely writes them again, and
// a copy costs a fraction of a page fault. The others are given back.
func (s *mappedStore) restore() error {
	size := len(s.image.view)
	if size == 0 {
		return nil
	}
	r := restoring{memory: s.base[:size], image: s.image.view, check: s.turns%checkEvery == 0}
	if s.image.dirty != nil {
		// An error leaves r.at where the detector got to.
		_ = s.image.dirty.detect(&r)
	}
	if r.at < size && r.err == nil {
		return drop(r.memory[r.at:])
	}
	return r.err
}

// restoring is one restore under way.
type restoring struct {
	memory, image []byte
	at            int  // what lies below is the image's again
	kept          int  // bytes that were kept below at
	last          int  // where the last of them begin
	check         bool // pages that were not written are given back
	err           error
}

// own is told of bytes [from, to) that are the memory's own, in rising order; all
// between at and from is the image's. It reports whether it wants to hear of more.
func (r *restoring) own(from, to int) bool {
	r.last = from
	wanted := to
	to = min(to, from+keptBytes-r.kept)
	memory, image := r.memory[from:to], r.image[from:to]
	if r.check {
		r.checked(memory, image)
	} else {
		copy(memory, image)
		r.kept += to - from
	}
	if r.err != nil {
		return false
	}
	r.at = to
	return to == wanted
}

// checked copies the pages that were written and gives the others back.
func (r *restoring) checked(memory, image []byte) {
	for at := 0; at < len(memory) && r.err == nil; at += osPage {
		page, original := memory[at:at+osPage], image[at:at+osPage]
		if bytes.Equal(page, original) {
			r.err = drop(page)
			continue
		}
		copy(page, original)
		r.kept += osPage
	}
}
