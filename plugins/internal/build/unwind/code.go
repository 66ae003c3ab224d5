package unwind

import (
	"encoding/binary"
	"slices"
)

// Instructions that are looked at.
const (
	opIf           = 0x04
	opEnd          = 0x0b
	opReturn       = 0x0f
	opCall         = 0x10
	opCallIndirect = 0x11
	opLocalGet     = 0x20
	opLocalSet     = 0x21
	opGlobalGet    = 0x23
	opGlobalSet    = 0x24
	opI32Load      = 0x28
	opI32Const     = 0x41

	noResult  = 0x40
	typeI32   = 0x7f
	stacksTop = 0 // the global that is the stack pointer
)

// findThrowers finds the functions that something can be thrown through: they call by a pointer, or
// one that does so, or what throws itself.
func (m *module) findThrowers() error {
	first := uint64(len(m.imported))
	m.throws = make([]bool, int(first)+len(m.defined))
	calls := make([][]uint64, len(m.throws)) // who calls a function
	var found []uint64
	bodies := m.bodies()
	if len(bodies) != len(m.defined) {
		return errForm
	}
	for i, body := range bodies {
		self := first + uint64(i)
		r := &reader{rest: body}
		skipLocals(r)
		for len(r.rest) > 0 && !r.failed {
			switch op, at := r.instruction(); op {
			case opCall:
				calls[at] = append(calls[at], self)
			case opCallIndirect:
				found = append(found, self)
			}
		}
		if r.failed {
			return errForm
		}
	}
	thrower, ok := m.exportOf(throws)
	if !ok {
		return errForm
	}
	for found = append(found, thrower); len(found) > 0; {
		last := found[len(found)-1]
		found = found[:len(found)-1]
		if m.throws[last] {
			continue
		}
		m.throws[last] = true
		found = append(found, calls[last]...)
	}
	return nil
}

func (m *module) bodies() (all [][]byte) {
	for _, s := range m.sections {
		if s.id != sectionCode {
			continue
		}
		r := &reader{rest: s.body}
		for range r.uint() {
			all = append(all, r.bytes())
		}
	}
	return all
}

func skipLocals(r *reader) {
	for range r.uint() {
		r.uint()
		r.byte()
	}
}

func (m *module) code(r *reader) ([]byte, error) {
	out := binary.AppendUvarint(nil, r.uint()+uint64(len(m.invokes)))
	for _, invoke := range m.invokes {
		body, err := m.invoke(m.types[m.imported[invoke]])
		if err != nil {
			return nil, err
		}
		out = appendBytes(out, body)
	}
	for i, body := range m.bodies() {
		rewritten, err := m.body(body, m.types[m.defined[i]])
		if err != nil {
			return nil, err
		}
		out = appendBytes(out, rewritten)
	}
	return out, nil
}

// body puts a look at the flag after each call that can throw, and numbers functions anew.
func (m *module) body(body []byte, s signature) ([]byte, error) {
	r := &reader{rest: body}
	skipLocals(r)
	out := slices.Clone(body[:len(body)-len(r.rest)])
	for len(r.rest) > 0 {
		before := r.rest
		op, function := r.instruction()
		if r.failed {
			return nil, errForm
		}
		switch op {
		case opCall:
			out = binary.AppendUvarint(append(out, opCall), m.moved(function))
		default:
			out = append(out, before[:len(before)-len(r.rest)]...)
		}
		if op == opCallIndirect || op == opCall && m.throws[function] {
			out = m.look(out, opReturn, s)
		}
	}
	return out, nil
}

// look appends what a function does when something was thrown: it returns.
func (m *module) look(out []byte, then byte, s signature) []byte {
	out = m.loadFlag(out)
	out = append(out, opIf, noResult)
	for _, t := range s.results {
		out = append(out, zero(t)...)
	}
	return append(out, then, opEnd)
}

func (m *module) loadFlag(out []byte) []byte {
	out = appendSigned(append(out, opI32Const), int64(m.flag))
	return append(out, opI32Load, 2, 0)
}

// zero is a constant of a type.
func zero(t byte) []byte {
	switch t {
	case 0x7e:
		return []byte{0x42, 0}
	case 0x7d:
		return append([]byte{0x43}, make([]byte, 4)...)
	case 0x7c:
		return append([]byte{0x44}, make([]byte, 8)...)
	}
	return []byte{opI32Const, 0}
}

// invoke is a function that calls the one of the table that its first argument names, with the rest of them.
func (m *module) invoke(s signature) ([]byte, error) {
	called := slices.IndexFunc(m.types, func(t signature) bool {
		return slices.Equal(t.params, s.params[1:]) && slices.Equal(t.results, s.results)
	})
	if called < 0 {
		return nil, errForm
	}
	kept := uint64(len(s.params)) // a local with the stack pointer
	out := []byte{1, 1, typeI32, opGlobalGet, stacksTop, opLocalSet}
	out = binary.AppendUvarint(out, kept)
	for i := range s.params[1:] {
		out = binary.AppendUvarint(append(out, opLocalGet), uint64(i+1))
	}
	out = append(out, opLocalGet, 0, opCallIndirect)
	out = append(binary.AppendUvarint(out, uint64(called)), 0)
	out = append(m.loadFlag(out), opIf, noResult, opLocalGet)
	out = append(binary.AppendUvarint(out, kept), opGlobalSet, stacksTop, opEnd)
	return append(out, opEnd), nil
}
