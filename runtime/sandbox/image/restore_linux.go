//go:build linux && (amd64 || arm64)

package image

import "bytes"

const (
	// keptBytes bounds what a memory keeps of its own between Runs.
	keptBytes = 1 << 20
	// checkEvery is how often, in resets, the pages that are kept are compared: those that
	// guests no longer write are given back.
	checkEvery = 16
	// spareBytes is how much may be kept that was not written: giving pages back
	// interrupts the other processors, and costs more than copying a few in vain.
	spareBytes = 64 << 10
)

// reset restores the image and the zeros above it. Pages that the guest wrote are
// written over, up to keptBytes: the next Run most likely writes them again, and a
// copy costs a fraction of a page fault. The others are given back.
func (s *mappedStore) reset(_, used uint64) error {
	s.turns++
	size := uint64(len(s.image.view))
	r := restoring{memory: s.base[:size], image: s.image.view, room: keptBytes, check: s.turns%checkEvery == 0}
	err := r.restore(s.image.detector())
	s.kept = r.kept
	if err != nil {
		return err
	}
	if used > size {
		err = s.resetAbove(used, r)
	}
	if err == nil && r.check && s.above > used {
		err = s.dropAbove(used)
	}
	return err
}

// resetAbove restores the zeros from the image's end to used. Together with what was
// kept below no more than keptBytes are kept.
func (s *mappedStore) resetAbove(used uint64, below restoring) error {
	r := restoring{memory: s.base[len(below.image):used], room: max(0, keptBytes-below.kept), check: below.check}
	err := r.restore(s.image.dirty)
	s.above, s.keptAbove = max(s.above, used), r.kept
	return err
}

// dropAbove gives back what was kept above used: guests have not grown so far lately.
func (s *mappedStore) dropAbove(used uint64) error {
	pages := s.base[used:s.above]
	s.above = used
	if used == uint64(len(s.image.view)) {
		s.keptAbove = 0
	}
	return drop(pages)
}

// detector returns what finds out how an image was changed.
func (m *mapped) detector() detector {
	// A single page is compared in less time than the kernel takes to answer.
	if m.dirty == nil || len(m.view) <= PageBytes {
		return comparer{}
	}
	return m.dirty
}

// restoring is one restore under way.
type restoring struct {
	memory []byte
	image  []byte // as long as memory; nil for zeros
	at     int    // what lies below is as it has to be
	room   int    // how many bytes may be kept
	kept   int    // how many were kept so far
	last   int    // where the last of them begin
	check  bool   // pages are compared
	spare  []span // that were not written, with check
	err    error
}

// span is a part of the memory.
type span struct{ from, to int }

// restore makes the memory as it has to be. Without a detector nothing is kept.
func (r *restoring) restore(d detector) error {
	if d != nil {
		_ = d.detect(r) // an error leaves r.at where the detector got to
	}
	if r.at < len(r.memory) {
		r.drop(span{r.at, len(r.memory)})
	}
	r.dropSpare()
	return r.err
}

// dropSpare gives back what was not written, when it is much.
func (r *restoring) dropSpare() {
	total := 0
	for _, s := range r.spare {
		total += s.to - s.from
	}
	if total <= spareBytes {
		r.kept += total
		return
	}
	for _, s := range r.spare {
		r.drop(s)
	}
}

func (r *restoring) drop(s span) {
	if r.err == nil {
		r.err = drop(r.memory[s.from:s.to])
	}
}

// own is told of bytes [from, to) that are the memory's own, in rising order; all
// between at and from is as it has to be. It reports whether it wants to hear of
// more.
func (r *restoring) own(from, to int) bool {
	r.last = from
	wanted := to
	to = min(to, from+r.room-r.kept)
	if r.check {
		r.compare(from, to)
	} else {
		r.copy(from, to)
	}
	r.at = to
	return to == wanted
}

func (r *restoring) copy(from, to int) {
	if r.image == nil {
		clear(r.memory[from:to])
	} else {
		copy(r.memory[from:to], r.image[from:to])
	}
	r.kept += to - from
}

// compare copies the pages that were written, and notes the others.
func (r *restoring) compare(from, to int) {
	for at := from; at < to; at += osPage {
		if !r.same(at) {
			r.copy(at, at+osPage)
			continue
		}
		if n := len(r.spare); n > 0 && r.spare[n-1].to == at {
			r.spare[n-1].to += osPage
			continue
		}
		r.spare = append(r.spare, span{at, at + osPage})
	}
}

// same reports whether the page at is as it has to be.
func (r *restoring) same(at int) bool {
	page := r.memory[at : at+osPage]
	if r.image == nil {
		return isZero(page)
	}
	return bytes.Equal(page, r.image[at:at+osPage])
}
