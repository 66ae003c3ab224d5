package rewrite

import (
	"fmt"
	"slices"
)

// Rewrite changes a valid module. Its error is always an [*Error]. The module is
// not written to; what is returned may share its bytes.
func Rewrite(wasm []byte, o Options) (*Module, error) {
	m, err := read(wasm, o)
	if err != nil {
		return nil, err
	}
	m.plan()
	code, err := m.rewriteCode()
	if err != nil {
		return nil, err
	}
	out := &Module{Imports: m.imports, Exports: m.exported, Memory: m.memory, Changes: m.added.changes}
	if m.does(Globals) {
		out.Globals = m.mutableGlobals()
	}
	if m.does(Restore) {
		out.Data = m.activeData()
		out.Start = m.start != nil
	}
	out.Wasm = m.write(code)
	return out, nil
}

// does says that a transform is on.
func (m *module) does(t Transforms) bool { return m.options.Transforms&t != 0 }

// metered says that the module counts gas or depth, and so needs to yield.
func (m *module) metered() bool { return m.does(Gas | Depth) }

// plan gives what is added its indexes.
func (m *module) plan() {
	if m.metered() {
		m.added.funcs = 1
		m.added.yield = m.importedFuncs
		m.added.yieldType = uint32(len(m.types))
	}
	next := uint32(len(m.globals))
	for _, g := range m.addedGlobals() {
		*g.index = next
		next++
	}
}

// addedGlobal is a mutable global that starts at a small number.
type addedGlobal struct {
	index *uint32
	name  string
	t     valType
	value int64
}

// addedGlobals are the globals to add, in their order.
func (m *module) addedGlobals() []addedGlobal {
	var list []addedGlobal
	if m.does(Globals) {
		list = append(list, addedGlobal{&m.added.changed, ChangedExport, i32, 0})
	}
	if m.does(Gas) {
		list = append(list, addedGlobal{&m.added.gas, GasExport, i64, 0})
	}
	if m.does(Depth) {
		list = append(list, addedGlobal{&m.added.depth, DepthExport, i64, InitialDepth})
	}
	return list
}

// rewriteCode returns the content of the code section.
func (m *module) rewriteCode() ([]byte, error) {
	r := m.sections[sectionCode]
	n := length(&r)
	if r.err != nil {
		return nil, r.err
	}
	if int(n) != len(m.funcs)-int(m.importedFuncs) {
		return nil, &Error{r.at, "it does not have a body for each function", ""}
	}
	if r.b == nil {
		return nil, nil
	}
	d, meter, ledger := &decoder{m: m}, &meter{}, &ledger{}
	out := appendU32(make([]byte, 0, (r.end-r.at)+(r.end-r.at)/2), n)
	var body []byte
	for i := range n {
		part := r.part(r.u32())
		at := part.at
		f := d.function(m.importedFuncs+i, &part)
		if part.err != nil {
			return nil, part.err
		}
		if err := ledger.check(f, at); err != nil {
			return nil, err
		}
		m.transform(f, meter)
		body = f.appendTo(body[:0])
		if len(body) > maxFunctionBytes {
			return nil, &Error{at, fmt.Sprintf("function %d has %d bytes when it is rewritten; %d are allowed", f.index, len(body), maxFunctionBytes), adviceComplex}
		}
		out = appendU32(out, uint32(len(body)))
		m.locate(f, len(out), len(body))
		out = append(out, body...)
	}
	if r.more() {
		return nil, &Error{r.at, reasonTrailing, ""}
	}
	return out, nil
}

// transform applies the passes to a function. The order is that of what they
// insert at the same place.
func (m *module) transform(f *function, counter *meter) {
	if m.does(NaN) {
		canonicalize(f)
	}
	if m.does(Globals) {
		watchChanges(f)
	}
	if m.metered() {
		counter.count(f)
	}
	if m.does(Remainders) {
		divideInstead(f)
	}
}

// write puts the module together.
func (m *module) write(code []byte) []byte {
	out := make([]byte, 0, len(m.wasm)+len(code)/2+1024)
	out = append(out, m.wasm[:preambleBytes]...)
	dropData := m.does(Restore) && !m.usesData && !m.passive
	out = appendSection(out, sectionType, m.typeSection())
	out = appendSection(out, sectionImport, m.importSection())
	out = appendSection(out, sectionFunction, m.raw(sectionFunction))
	out = appendSection(out, sectionTable, m.tableSection())
	out = appendSection(out, sectionMemory, m.memorySection())
	out = appendSection(out, sectionGlobal, m.globalSection())
	out = appendSection(out, sectionExport, m.exportSection())
	out = appendSection(out, sectionStart, m.startSection())
	out = appendSection(out, sectionElement, m.elementSection())
	if !dropData {
		out = appendSection(out, sectionDataCount, m.raw(sectionDataCount))
	}
	out = appendSection(out, sectionCode, code)
	if !dropData {
		out = appendSection(out, sectionData, m.dataSection())
	}
	out = appendSection(out, sectionCustom, m.nameSection())
	if m.traced() {
		out = appendTrace(out)
	}
	return out
}

// appendSection appends a section, unless it is empty.
func appendSection(out []byte, id byte, content []byte) []byte {
	if len(content) == 0 {
		return out
	}
	return append(appendU32(append(out, id), uint32(len(content))), content...)
}

// raw is a section as it was.
func (m *module) raw(id int) []byte {
	s := m.sections[id]
	return s.b[s.at:s.end]
}

// extend returns a section with n elements more, to be appended.
func (m *module) extend(id int, n uint32) []byte {
	r := m.sections[id]
	count := length(&r)
	if count+n == 0 {
		return nil
	}
	return append(appendU32(make([]byte, 0, r.end-r.at+64), count+n), r.b[r.at:r.end]...)
}

func (m *module) typeSection() []byte {
	if !m.metered() {
		return m.raw(sectionType)
	}
	return append(m.extend(sectionType, 1), formFunc, 2, byte(i64), byte(i64), 1, byte(i64))
}

func (m *module) importSection() []byte {
	if !m.metered() {
		return m.raw(sectionImport)
	}
	out := appendName(appendName(m.extend(sectionImport, 1), YieldModule), YieldName)
	return appendU32(append(out, externFunc), m.added.yieldType)
}

// tableSection gives every table a maximum, when there is a limit.
func (m *module) tableSection() []byte {
	r := m.sections[sectionTable]
	n := length(&r)
	share := m.tableShare(n)
	if share == 0 {
		return m.raw(sectionTable)
	}
	out := appendU32(nil, n)
	for range n {
		kind := r.refType("a table")
		flags, least, most := r.limits()
		if flags&limitsHaveMax == 0 || most > share {
			most = share
		}
		out = append(out, byte(kind), limitsHaveMax)
		out = appendU32(appendU32(out, least), most)
	}
	return out
}

// memorySection raises the maximum of the memory, which the host enforces with
// Restore, so that the host can always grow it.
func (m *module) memorySection() []byte {
	if !m.does(Restore) || m.memory == nil || !m.memory.HasMax {
		return m.raw(sectionMemory)
	}
	return appendU32(appendU32([]byte{1, limitsHaveMax}, m.memory.Min), maxPages)
}

func (m *module) startSection() []byte {
	if m.start == nil || m.does(Restore) {
		return nil
	}
	return appendU32(nil, m.newIndex(*m.start))
}

// elementSection renumbers the functions in element segments.
func (m *module) elementSection() []byte {
	if m.added.funcs == 0 {
		return m.raw(sectionElement)
	}
	r := m.sections[sectionElement]
	n := length(&r)
	if r.b == nil {
		return nil
	}
	out := appendU32(make([]byte, 0, r.end-r.at+64), n)
	for range n {
		out = m.element(&r, out)
	}
	return out
}

// nameSection holds the functions' names.
func (m *module) nameSection() []byte {
	if m.names == nil {
		return nil
	}
	r := reader{b: m.names, end: len(m.names)}
	n := r.count()
	names := appendU32(make([]byte, 0, len(m.names)+64), n)
	for range n {
		names = appendU32(names, m.newIndex(r.u32()))
		size := r.u32()
		names = append(appendU32(names, size), r.bytes(size)...)
	}
	return appendSection(appendName(nil, "name"), subsectionFunc, names)
}

// exportSection renumbers the functions, and adds the exports.
func (m *module) exportSection() []byte {
	list := m.addedExports()
	if len(list) == 0 && m.added.funcs == 0 {
		return m.raw(sectionExport)
	}
	r := m.sections[sectionExport]
	n := length(&r)
	if int(n)+len(list) == 0 {
		return nil
	}
	out := appendU32(make([]byte, 0, r.end-r.at+32*len(list)+16), n+uint32(len(list)))
	for range n {
		size := r.u32()
		out = append(appendU32(out, size), r.bytes(size)...)
		kind, index := r.byte(), r.u32()
		if kind == externFunc {
			index = m.newIndex(index)
		}
		out = appendU32(append(out, kind), index)
	}
	return append(out, slices.Concat(list...)...)
}

// addedExports are the encoded exports to add.
func (m *module) addedExports() [][]byte {
	var list [][]byte
	export := func(name string, kind byte, index uint32) {
		list = append(list, appendU32(append(appendName(nil, name), kind), index))
	}
	if m.does(Globals) {
		next := 0
		for i := m.importedGlobals; i < uint32(len(m.globals)); i++ {
			if m.mutable[i] {
				export(GlobalExport(next), externGlobal, i)
				next++
			}
		}
	}
	for _, g := range m.addedGlobals() {
		export(g.name, externGlobal, *g.index)
	}
	if m.start != nil && m.does(Restore) {
		export(StartExport, externFunc, m.newIndex(*m.start))
	}
	return list
}
