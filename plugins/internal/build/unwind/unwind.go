package unwind

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
)

// Sections of a module.
const (
	sectionType     = 1
	sectionImport   = 2
	sectionFunction = 3
	sectionGlobal   = 6
	sectionExport   = 7
	sectionElement  = 9
	sectionCode     = 10
)

var errForm = errors.New("the module has not the form that clang gives it")

// What is exported for this package alone: the variable that says that something is thrown, and what throws.
const (
	threw  = "__THREW__"
	throws = "emscripten_longjmp"
)

type section struct {
	id   byte
	body []byte
}

type module struct {
	sections []section
	types    []signature
	imported []uint64 // types of what is imported
	invokes  []int    // which of it is to be made
	defined  []uint64 // types
	flag     uint64   // the address of __THREW__
	throws   []bool   // by function, as they are numbered before
}

type signature struct{ params, results []byte }

// Rewrite makes the functions "invoke" of a module, and has what is thrown leave functions.
func Rewrite(wasm []byte) ([]byte, error) {
	m, err := read(wasm)
	if err != nil {
		return nil, err
	}
	var out []byte
	out = append(out, wasm[:8]...)
	for _, s := range m.sections {
		body, err := m.rewritten(s)
		if err != nil {
			return nil, err
		}
		out = append(out, s.id)
		out = append(binary.AppendUvarint(out, uint64(len(body))), body...)
	}
	return out, nil
}

func read(wasm []byte) (*module, error) {
	if len(wasm) < 8 {
		return nil, errForm
	}
	m := &module{}
	r := &reader{rest: wasm[8:]}
	for len(r.rest) > 0 && !r.failed {
		id := r.byte()
		m.sections = append(m.sections, section{id, r.bytes()})
	}
	for _, s := range m.sections {
		each := &reader{rest: s.body}
		switch s.id {
		case sectionType:
			m.readTypes(each)
		case sectionImport:
			m.readImports(each)
		case sectionFunction:
			for range each.uint() {
				m.defined = append(m.defined, each.uint())
			}
		}
		r.failed = r.failed || each.failed
	}
	if err := m.findFlag(); err != nil {
		return nil, err
	}
	if r.failed {
		return nil, errForm
	}
	return m, m.findThrowers()
}

func (m *module) readTypes(r *reader) {
	for range r.uint() {
		r.byte()
		m.types = append(m.types, signature{params: r.bytes(), results: r.bytes()})
	}
}

func (m *module) readImports(r *reader) {
	for range r.uint() {
		from, name, kind := string(r.bytes()), string(r.bytes()), r.byte()
		if kind != 0 {
			r.failed = true
			return
		}
		if from == "env" && strings.HasPrefix(name, "invoke_") {
			m.invokes = append(m.invokes, len(m.imported))
		}
		m.imported = append(m.imported, r.uint())
	}
}

// findFlag finds the address of __THREW__, which is exported as a constant.
func (m *module) findFlag() error {
	global, ok := m.exportOf(threw)
	if !ok {
		return errors.New("the module does not export " + threw)
	}
	for _, s := range m.sections {
		if s.id != sectionGlobal {
			continue
		}
		r := &reader{rest: s.body}
		for i := range r.uint() {
			r.byte()
			r.byte()
			if r.byte() != opI32Const {
				return errForm
			}
			value := r.signed()
			r.byte() // end
			if i == global {
				m.flag = uint64(value)
			}
		}
		if r.failed {
			return errForm
		}
	}
	if m.flag == 0 {
		return errForm
	}
	return nil
}

func (m *module) exportOf(name string) (uint64, bool) {
	for _, s := range m.sections {
		if s.id != sectionExport {
			continue
		}
		r := &reader{rest: s.body}
		for range r.uint() {
			is := string(r.bytes())
			r.byte()
			if index := r.uint(); is == name {
				return index, true
			}
		}
	}
	return 0, false
}

// moved is the number of a function afterwards: functions "invoke" stand in front of what is defined.
func (m *module) moved(function uint64) uint64 {
	before := uint64(0)
	for i, invoke := range m.invokes {
		if uint64(invoke) == function {
			return uint64(len(m.imported) - len(m.invokes) + i)
		}
		if uint64(invoke) < function {
			before++
		}
	}
	if function < uint64(len(m.imported)) {
		return function - before
	}
	return function
}

func (m *module) rewritten(s section) ([]byte, error) {
	r := &reader{rest: s.body}
	var out []byte
	switch s.id {
	case sectionImport:
		out = m.imports(r)
	case sectionFunction:
		out = m.functions()
	case sectionExport:
		out = m.exports(r)
	case sectionElement:
		out = m.elements(r)
	case sectionCode:
		return m.code(r)
	default:
		return s.body, nil
	}
	if r.failed {
		return nil, errForm
	}
	return out, nil
}

func (m *module) imports(r *reader) []byte {
	var out []byte
	for i := range int(r.uint()) {
		from, name := r.bytes(), r.bytes()
		kind, t := r.byte(), r.uint()
		if slices.Contains(m.invokes, i) {
			continue
		}
		out = append(appendBytes(appendBytes(out, from), name), kind)
		out = binary.AppendUvarint(out, t)
	}
	return append(binary.AppendUvarint(nil, uint64(len(m.imported)-len(m.invokes))), out...)
}

func (m *module) functions() []byte {
	out := binary.AppendUvarint(nil, uint64(len(m.invokes)+len(m.defined)))
	for _, invoke := range m.invokes {
		out = binary.AppendUvarint(out, m.imported[invoke])
	}
	for _, t := range m.defined {
		out = binary.AppendUvarint(out, t)
	}
	return out
}

func (m *module) exports(r *reader) []byte {
	var out []byte
	kept := uint64(0)
	for range r.uint() {
		name, kind, index := r.bytes(), r.byte(), r.uint()
		if string(name) == threw || string(name) == throws {
			continue
		}
		if kind == 0 {
			index = m.moved(index)
		}
		kept++
		out = binary.AppendUvarint(append(appendBytes(out, name), kind), index)
	}
	return append(binary.AppendUvarint(nil, kept), out...)
}

// elements numbers the functions of the table anew. clang writes one segment, of the first form.
func (m *module) elements(r *reader) []byte {
	if r.uint() != 1 || r.uint() != 0 || r.byte() != opI32Const {
		r.failed = true
		return nil
	}
	out := append([]byte{1, 0, opI32Const}, appendSigned(nil, r.signed())...)
	out = append(out, r.byte())
	n := r.uint()
	out = binary.AppendUvarint(out, n)
	for range n {
		out = binary.AppendUvarint(out, m.moved(r.uint()))
	}
	return out
}

func appendBytes(to, b []byte) []byte {
	return append(binary.AppendUvarint(to, uint64(len(b))), b...)
}

func appendSigned(to []byte, v int64) []byte {
	for v < -0x40 || v >= 0x40 {
		to = append(to, byte(v)|0x80)
		v >>= 7
	}
	return append(to, byte(v)&0x7f)
}
