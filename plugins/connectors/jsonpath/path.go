package jsonpath

import (
	"errors"
	"fmt"

	"github.com/wharf-dev/wharf/plugins/connectors/tape"
)

// Path is a compiled expression. It is not changed by use.
type Path struct {
	text     string
	relative bool // it begins with @
	segments []segment
	names    []string // of the segments, when each is a name; else nil
}

// segment is what stands behind a point or between brackets.
type segment struct {
	descend   bool
	selectors []selector
}

type selectorKind uint8

const (
	byName selectorKind = iota
	byIndex
	bySlice
	byWildcard
	byFilter
)

type selector struct {
	kind             selectorKind
	name             string
	index            int
	start, end, step int
	hasStart, hasEnd bool
	filter           condition
}

// ErrCost says that an expression visits too much of a document.
var ErrCost = errors.New("the JSONPath visits too many values")

// maxVisits is how many values an expression may visit in a document.
const maxVisits = 1 << 19

// String returns the expression.
func (p *Path) String() string { return p.text }

// First returns the first value that the expression finds, a missing value when there
// is none. What begins with @ is found in current, what begins with $ in root.
func (p *Path) First(root, current tape.Value) (found tape.Value, err error) {
	if p.names != nil {
		return p.named(root, current), nil
	}
	err = p.Select(root, current, func(v tape.Value) bool {
		found = v
		return false
	})
	return found, err
}

// named is First for names alone, as nearly all expressions have.
func (p *Path) named(root, current tape.Value) tape.Value {
	if p.relative {
		root = current
	}
	for _, name := range p.names {
		root = root.Get(name)
	}
	return root
}

// onlyNames returns the names of segments when they have nothing else, else nil.
func onlyNames(segments []segment) []string {
	names := make([]string, 0, len(segments))
	for _, s := range segments {
		if s.descend || len(s.selectors) != 1 || s.selectors[0].kind != byName {
			return nil
		}
		names = append(names, s.selectors[0].name)
	}
	return names
}

// Select calls f for each value that the expression finds, until f returns false.
func (p *Path) Select(root, current tape.Value, f func(tape.Value) bool) error {
	r := &run{root: root}
	r.path(p, current, f)
	if r.visits > maxVisits {
		return fmt.Errorf("%s: %w", p.text, ErrCost)
	}
	return nil
}

// run is one evaluation.
type run struct {
	root   tape.Value
	visits int
}

// visit counts a value. It returns false when there were too many.
func (r *run) visit() bool {
	r.visits++
	return r.visits <= maxVisits
}

func (r *run) path(p *Path, current tape.Value, f func(tape.Value) bool) bool {
	from := r.root
	if p.relative {
		from = current
	}
	if from.Kind() == tape.Missing {
		return true
	}
	return r.segments(p.segments, from, f)
}

// segments applies what is left of a path. It returns false when it is to stop.
func (r *run) segments(left []segment, v tape.Value, f func(tape.Value) bool) bool {
	if !r.visit() {
		return false
	}
	if len(left) == 0 {
		return f(v)
	}
	for i := range left[0].selectors {
		if !r.selector(&left[0].selectors[i], left[1:], v, f) {
			return false
		}
	}
	if !left[0].descend {
		return true
	}
	more := true
	v.Children(func(child tape.Value) bool {
		more = r.segments(left, child, f)
		return more
	})
	return more
}

func (r *run) selector(s *selector, left []segment, v tape.Value, f func(tape.Value) bool) bool {
	more := true
	step := func(child tape.Value) bool {
		more = r.segments(left, child, f)
		return more
	}
	switch s.kind {
	case byName:
		if child := v.Get(s.name); child.Kind() != tape.Missing {
			step(child)
		}
	case byIndex:
		r.index(v, s.index, step)
	case bySlice:
		r.slice(v, s, step)
	case byWildcard:
		v.Children(step)
	case byFilter:
		v.Children(func(child tape.Value) bool {
			if !r.visit() {
				more = false
				return false
			}
			return !s.filter.holds(r, child) || step(child)
		})
	}
	return more && r.visits <= maxVisits
}

func (r *run) index(v tape.Value, index int, step func(tape.Value) bool) {
	if v.Kind() != tape.Array {
		return
	}
	if index < 0 {
		index += v.Len()
	}
	n := 0
	v.Elements(func(e tape.Value) bool {
		if n == index {
			step(e)
		}
		n++
		return n <= index
	})
}

// slice calls step for the elements of a slice, in its order.
func (r *run) slice(v tape.Value, s *selector, step func(tape.Value) bool) {
	if v.Kind() != tape.Array || s.step == 0 {
		return
	}
	var all []tape.Value
	v.Elements(func(e tape.Value) bool {
		all = append(all, e)
		return r.visit()
	})
	lower, upper := s.bounds(len(all))
	if s.step > 0 {
		for i := lower; i < upper && step(all[i]); i += s.step {
		}
		return
	}
	for i := upper; i > lower && step(all[i]); i += s.step {
	}
}

// bounds are those of RFC 9535, section 2.3.4.2.2.
func (s *selector) bounds(length int) (lower, upper int) {
	start, end := 0, length
	if s.step < 0 {
		start, end = length-1, -length-1
	}
	if s.hasStart {
		start = s.start
	}
	if s.hasEnd {
		end = s.end
	}
	start, end = normal(start, length), normal(end, length)
	if s.step > 0 {
		return min(max(start, 0), length), min(max(end, 0), length)
	}
	return min(max(end, -1), length-1), min(max(start, -1), length-1)
}

func normal(i, length int) int {
	if i < 0 {
		return length + i
	}
	return i
}
