package compare

import (
	"crypto/sha256"
	"slices"

	"github.com/wharf-dev/wharf/runtime/journal"
)

// maxEdits is how many calls that one side alone made are looked past at once. It bounds what aligning costs: so many
// steps for each call, and what two Tasks share is the longest there is within so many.
const maxEdits = 256

// pair is a call of a and the call of b that it is compared with, -1 where there is none.
type pair struct{ a, b int }

// span is a part of the calls of both.
type span struct{ a, endA, b, endB int }

// align pairs the calls of two Tasks, in their order. Those that ask the same come first, as many as can be; of what lies
// between them those of one name; and of what is left the calls at one place.
func align(a, b []journal.Entry, strict bool) []pair {
	asked := keysOf(a, b, func(e *journal.Entry) key { return asks(e, strict) })
	named := keysOf(a, b, func(e *journal.Entry) key { return sha256.Sum256([]byte(e.Call)) })
	return pairUp(span{0, len(a), 0, len(b)}, asked, named)
}

// pairUp pairs a span by the first keys, and what that leaves by the others.
func pairUp(s span, by ...keys) (all []pair) {
	if len(by) == 0 {
		return byPlace(s)
	}
	for _, p := range append(by[0].shared(s), pair{s.endA, s.endB}) {
		if s.a < p.a || s.b < p.b {
			all = append(all, pairUp(span{s.a, p.a, s.b, p.b}, by[1:]...)...)
		}
		if p.a < s.endA && p.b < s.endB {
			all = append(all, p)
		}
		s.a, s.b = p.a+1, p.b+1
	}
	return all
}

func byPlace(s span) (all []pair) {
	for ; s.a < s.endA || s.b < s.endB; s.a, s.b = s.a+1, s.b+1 {
		p := pair{s.a, s.b}
		if s.a >= s.endA {
			p.a = -1
		}
		if s.b >= s.endB {
			p.b = -1
		}
		all = append(all, p)
	}
	return all
}

type key = [sha256.Size]byte

// asks is the same of calls that ask the same.
func asks(e *journal.Entry, strict bool) key {
	request := sha256.Sum256(e.Request)
	if !strict {
		request = journal.Meaning(e.Request)
	}
	return sha256.Sum256(append([]byte(e.Call+"\x00"), request[:]...))
}

// keys are the calls of both as numbers, one for those that count as the same.
type keys struct{ a, b []int }

func keysOf(a, b []journal.Entry, of func(*journal.Entry) key) keys {
	known := map[key]int{}
	number := func(entries []journal.Entry) []int {
		all := make([]int, len(entries))
		for i := range entries {
			k := of(&entries[i])
			n, has := known[k]
			if !has {
				n = len(known)
				known[k] = n
			}
			all[i] = n
		}
		return all
	}
	return keys{number(a), number(b)}
}

// shared returns the pairs of calls that count as the same, as many as there are in one order on both sides.
func (k keys) shared(s span) (all []pair) {
	for s.a < s.endA && s.b < s.endB && k.a[s.a] == k.b[s.b] {
		all, s.a, s.b = append(all, pair{s.a, s.b}), s.a+1, s.b+1
	}
	end := s
	for end.endA > s.a && end.endB > s.b && k.a[end.endA-1] == k.b[end.endB-1] {
		end.endA, end.endB = end.endA-1, end.endB-1
	}
	w := walker{keys: k}
	for at := end; at.a < at.endA && at.b < at.endB; {
		found, a, b := w.walk(at)
		all, at.a, at.b = append(all, found...), a, b
	}
	for end.endA < s.endA {
		all = append(all, pair{end.endA, end.endB})
		end.endA, end.endB = end.endA+1, end.endB+1
	}
	return all
}

// walker finds the shortest way through a span that leaves calls out, as Myers does ("An O(ND) difference algorithm"). A way that
// leaves out more than maxEdits is walked in parts, each as far as that many lead.
type walker struct {
	keys
	s     span
	far   []int   // by diagonal, from -maxEdits-1 on: how many calls of a the furthest way has come past
	trail [][]int // far, from -edits to edits, for each number of edits
}

// walk returns what the way shares, and where it ends.
func (w *walker) walk(s span) (found []pair, a, b int) {
	if w.far == nil {
		w.far, w.trail = make([]int, 2*maxEdits+3), make([][]int, maxEdits+1)
	}
	w.s = s
	clear(w.far)
	for edits := 0; ; edits++ {
		for diagonal := -edits; diagonal <= edits; diagonal += 2 {
			if w.step(edits, diagonal) {
				return w.back(edits, diagonal)
			}
		}
		w.trail[edits] = append(w.trail[edits][:0], w.far[maxEdits+1-edits:maxEdits+2+edits]...)
		if edits == maxEdits {
			return w.back(edits, w.furthest())
		}
	}
}

// at is the furthest that a diagonal has come to.
func (w *walker) at(diagonal int) *int { return &w.far[diagonal+maxEdits+1] }

// before is the diagonal that the way comes from: the one above leaves a call of b out, the one below one of a.
func before(edits, diagonal int, far func(int) int) int {
	if diagonal == -edits || diagonal != edits && far(diagonal-1) < far(diagonal+1) {
		return diagonal + 1
	}
	return diagonal - 1
}

// step goes on by one call that is left out and all that are shared after it, and reports whether that is the end.
func (w *walker) step(edits, diagonal int) bool {
	x := 0
	if edits > 0 {
		from := before(edits, diagonal, func(d int) int { return *w.at(d) })
		x = *w.at(from)
		if from < diagonal {
			x++
		}
	}
	n, m := w.s.endA-w.s.a, w.s.endB-w.s.b
	for x < n && x-diagonal < m && w.a[w.s.a+x] == w.b[w.s.b+x-diagonal] {
		x++
	}
	*w.at(diagonal) = x
	return x >= n && x-diagonal >= m
}

// furthest returns the diagonal on which most was come past without leaving the span.
func (w *walker) furthest() (best int) {
	most := -1
	for diagonal := -maxEdits; diagonal <= maxEdits; diagonal += 2 {
		x := *w.at(diagonal)
		if y := x - diagonal; x <= w.s.endA-w.s.a && y <= w.s.endB-w.s.b && x+y > most {
			best, most = diagonal, x+y
		}
	}
	return best
}

// back goes the way back to the beginning, and returns what it shares and where it ended.
func (w *walker) back(edits, diagonal int) (found []pair, a, b int) {
	x := *w.at(diagonal)
	a, b = w.s.a+x, w.s.b+x-diagonal
	for ; edits >= 0; edits-- {
		from, start := 0, 0
		if edits > 0 {
			far := w.trail[edits-1]
			from = before(edits, diagonal, func(d int) int { return far[d+edits-1] })
			start = far[from+edits-1]
		}
		first := start
		if edits > 0 && from < diagonal {
			first++
		}
		for ; x > first; x-- {
			found = append(found, pair{w.s.a + x - 1, w.s.b + x - 1 - diagonal})
		}
		x, diagonal = start, from
	}
	slices.Reverse(found)
	return found, a, b
}
