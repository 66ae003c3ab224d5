package rewrite

import (
	"bytes"
	"strings"
)

// Sections of the binary format.
const (
	sectionCustom    = 0
	sectionType      = 1
	sectionImport    = 2
	sectionFunction  = 3
	sectionTable     = 4
	sectionMemory    = 5
	sectionGlobal    = 6
	sectionExport    = 7
	sectionStart     = 8
	sectionElement   = 9
	sectionCode      = 10
	sectionData      = 11
	sectionDataCount = 12
	sectionTag       = 13
)

// order is the place of each section in a module.
var order = [...]int{
	sectionType: 1, sectionImport: 2, sectionFunction: 3, sectionTable: 4, sectionMemory: 5, sectionTag: 6, sectionGlobal: 7,
	sectionExport: 8, sectionStart: 9, sectionElement: 10, sectionDataCount: 11, sectionCode: 12, sectionData: 13,
}

// Kinds of imports and exports, and other bytes of the format.
const (
	externFunc   = 0
	externTable  = 1
	externMemory = 2
	externGlobal = 3

	limitsHaveMax  = 0x01
	limitsShared   = 0x02
	limits64       = 0x04
	formFunc       = 0x60
	subsectionFunc = 1
	preambleBytes  = 8
)

// module is a module that was read: a field for each section, and for what is counted of them.
type module struct {
	types  []signature
	funcs  []uint32 // the type of each function, the imported ones first
	tables []valType
	// globals holds the type of each global, the imported ones first, and mutable
	// whether it can be set.
	globals []valType
	mutable []bool

	wasm     []byte
	sections [14]reader // what is in them, from its first byte on
	imports  []Import
	// How many of each kind are imported.
	importedFuncs, importedGlobals uint32

	memory    *Memory
	memories  uint32
	exports   map[string]bool
	exported  []Export // the functions among them
	callable  []bool   // of each function, whether the host can call it
	start     *uint32
	data      uint32 // how many segments
	names     []byte // the subsection with the functions' names
	usesData  bool   // the code names data segments
	passive   bool   // there are passive data segments
	options   Options
	added     added
	constants []constant // the value of each global that is known
	hasLines  bool       // there is a custom section that maps code to lines
	wanted    []uint32   // see [Origins]
	origins   map[uint32]Origin
}

// added is where to find what a rewritten module has beyond the original.
type added struct {
	funcs               uint32 // how many were put before the module's own
	yield               uint32 // the function
	yieldType           uint32
	gas, depth, changed uint32 // the globals
	changes             bool   // changed is set somewhere
}

// constant is the value of a constant expression of type i32, where it is known.
type constant struct {
	value uint32
	known bool
}

// read reads the outline of a module: everything but the code.
func read(wasm []byte, options Options) (*module, error) {
	m := &module{wasm: wasm, options: options, exports: map[string]bool{}}
	if err := m.readSections(); err != nil {
		return nil, err
	}
	steps := []struct {
		id    int
		parse func(*reader)
	}{
		{sectionType, m.readTypes}, {sectionImport, m.readImports}, {sectionFunction, m.readFuncs},
		{sectionTable, m.readTables}, {sectionMemory, m.readMemories}, {sectionGlobal, m.readGlobals},
		{sectionExport, m.readExports}, {sectionStart, m.readStart}, {sectionElement, m.readElements},
		{sectionDataCount, m.readDataCount}, {sectionData, m.readData},
	}
	for _, step := range steps {
		r := m.sections[step.id]
		step.parse(&r)
		if r.more() {
			r.fail(r.at, "", reasonTrailing)
		}
		if r.err != nil {
			return nil, r.err
		}
	}
	return m, nil
}

func checkPreamble(wasm []byte) error {
	switch {
	case len(wasm) > maxModuleBytes:
		return &Error{0, "it is larger than 64 MiB", "leave out debug information and data"}
	case !bytes.HasPrefix(wasm, []byte("\x00asm")):
		return &Error{0, `it is no WebAssembly: the first four bytes are not "\0asm"`, ""}
	case len(wasm) < preambleBytes:
		return &Error{len(wasm), reasonTruncated, ""}
	case wasm[4] == 0x0d:
		return &Error{4, "it is a component", "build a core module instead"}
	case !bytes.HasPrefix(wasm[4:], []byte("\x01\x00\x00\x00")):
		return &Error{4, "it has an unknown version of the binary format", ""}
	}
	return nil
}

// readSections finds the sections, in their order and each but once.
func (m *module) readSections() error {
	if err := checkPreamble(m.wasm); err != nil {
		return err
	}
	r := &reader{b: m.wasm, at: preambleBytes, end: len(m.wasm)}
	last := 0
	for r.more() {
		at := r.at
		id := r.byte()
		part := r.part(r.u32())
		if part.err != nil {
			return part.err
		}
		switch {
		case id == sectionCustom:
			if err := m.readCustom(part); err != nil {
				return err
			}
			continue
		case id == sectionTag:
			return &Error{at, "it has exceptions, which are not supported", adviceExceptions}
		case int(id) >= len(order):
			return &Error{at, "it has a section of an unknown kind", ""}
		case order[id] <= last:
			return &Error{at, "its sections are out of order", ""}
		}
		last = order[id]
		m.sections[id] = part
	}
	return nil
}

// readCustom keeps the functions' names, which serve to explain a trap, unless
// they are malformed.
func (m *module) readCustom(r reader) error {
	name := r.name()
	if r.err != nil {
		return r.err
	}
	m.hasLines = m.hasLines || name == debugLine
	for name == "name" && r.more() {
		id := r.byte()
		part := r.part(r.u32())
		if id == subsectionFunc && part.err == nil && validNames(part) {
			m.names = part.b[part.at:part.end]
			return nil
		}
	}
	return nil
}

func validNames(r reader) bool {
	for n := r.count(); n > 0 && r.err == nil; n-- {
		r.u32()
		r.name()
	}
	return r.err == nil && !r.more()
}

// length reads how many elements a section holds, 0 when there is no section.
func length(r *reader) uint32 {
	if r.b == nil {
		return 0
	}
	return r.count()
}

func (m *module) readTypes(r *reader) {
	n := r.bounded("types", maxTypes)
	m.types = make([]signature, 0, n)
	for ; n > 0 && r.err == nil; n-- {
		at := r.at
		if form := r.byte(); r.err == nil && form != formFunc {
			r.fail(at, adviceGC, "a type of the form %#x is not supported", form)
			return
		}
		m.types = append(m.types, signature{r.valTypes(), r.valTypes()})
	}
}

// valTypes reads a vector of value types.
func (r *reader) valTypes() []valType {
	at := r.at
	n := r.count()
	switch {
	case n == 0:
		return nil
	case n > maxSignature:
		r.fail(at, "", "a type has %d parameters or results; %d are allowed", n, maxSignature)
		return nil
	}
	types := make([]valType, n)
	for i := range types {
		types[i] = r.valType()
	}
	return types
}

// valType reads a value type.
func (r *reader) valType() valType {
	at := r.at
	t := valType(r.byte())
	switch t {
	case i32, i64, f32, f64, v128, funcref, externref:
		return t
	case 0x69:
		r.fail(at, adviceExceptions, "it uses exceptions, which are not supported")
	default:
		r.fail(at, adviceGC, "the value type %#x is not supported", byte(t))
	}
	return 0
}

// refType reads a reference type.
func (r *reader) refType(what string) valType {
	at := r.at
	t := valType(r.byte())
	if t != funcref && t != externref {
		r.fail(at, adviceGC, "%s of the type %#x is not supported", what, byte(t))
	}
	return t
}

func (m *module) readImports(r *reader) {
	for n := r.bounded("imports", maxImports); n > 0 && r.err == nil; n-- {
		at := r.at
		i := Import{Module: r.name(), Name: r.name()}
		i.Kind = r.byte()
		switch i.Kind {
		case externFunc:
			m.importFunc(r, &i)
		case externTable:
			m.tables = append(m.tables, r.refType("a table"))
			r.limits()
		case externMemory:
			m.memories++
			r.memory()
		case externGlobal:
			m.readGlobalType(r)
			m.constants = append(m.constants, constant{})
			m.importedGlobals++
		case 4:
			r.fail(at, adviceExceptions, "it imports an exception, which is not supported")
		default:
			r.fail(at, "", "%q.%q is a thing of kind %d", i.Module, i.Name, i.Kind)
		}
		if strings.HasPrefix(i.Module, Prefix) || strings.HasPrefix(i.Name, Prefix) {
			r.fail(at, "choose another", "it imports %q.%q; names that begin with %q are reserved", i.Module, i.Name, Prefix)
		}
		m.imports = append(m.imports, i)
	}
}

func (m *module) importFunc(r *reader, i *Import) {
	at := r.at
	index := r.u32()
	if r.err == nil && uint64(index) >= uint64(len(m.types)) {
		r.fail(at, "", "the import %q.%q has an unknown type", i.Module, i.Name)
		return
	}
	if r.err == nil {
		i.Params, i.Results = letters(m.types[index].params), letters(m.types[index].results)
	}
	m.funcs = append(m.funcs, index)
	m.importedFuncs++
}

func letters(types []valType) string {
	b := make([]byte, len(types))
	for i, t := range types {
		b[i] = byte(t)
	}
	return string(b)
}

// limits reads the size of a table.
func (r *reader) limits() (flags byte, least, most uint32) {
	at := r.at
	flags, least = r.byte(), r.u32()
	switch {
	case flags&limits64 != 0:
		r.fail(at, adviceMemory64, "it has a table with 64-bit indexes, which is not supported")
	case flags > limitsHaveMax:
		r.fail(at, "", "it declares a table with the flags %#x", flags)
	case flags&limitsHaveMax != 0:
		most = r.u32()
	}
	return flags, least, most
}

// memory reads the size of a memory.
func (r *reader) memory() *Memory {
	at := r.at
	flags := r.byte()
	switch {
	case flags&limits64 != 0:
		r.fail(at, adviceMemory64, "it has a 64-bit memory, which is not supported")
	case flags&limitsShared != 0:
		r.fail(at, adviceThreads, "its memory is shared: threads are not supported")
	case flags > limitsHaveMax:
		r.fail(at, "", "it declares a memory with the flags %#x", flags)
	}
	size := &Memory{Min: r.u32(), HasMax: flags&limitsHaveMax != 0}
	if size.HasMax {
		size.Max = r.u32()
	}
	return size
}

func (m *module) readFuncs(r *reader) {
	n := r.bounded("functions", maxFunctions)
	m.funcs = append(make([]uint32, 0, uint32(len(m.funcs))+n), m.funcs...)
	for ; n > 0 && r.err == nil; n-- {
		at := r.at
		index := r.u32()
		if uint64(index) >= uint64(len(m.types)) {
			r.fail(at, "", "a function has an unknown type")
		}
		m.funcs = append(m.funcs, index)
	}
	for _, index := range m.funcs {
		if uint64(index) >= uint64(len(m.types)) {
			r.fail(r.at, "", "a function has an unknown type")
		}
	}
}

func (m *module) readTables(r *reader) {
	n := r.bounded("tables", maxTables)
	share := m.tableShare(n)
	for ; n > 0 && r.err == nil; n-- {
		at := r.at
		m.tables = append(m.tables, r.refType("a table"))
		_, least, _ := r.limits()
		if share > 0 && least > share {
			r.fail(at, "", "it declares a table of %d entries; %d are allowed", least, share)
		}
	}
}

// tableShare is what each of n tables may hold, 0 for no limit.
func (m *module) tableShare(n uint32) uint32 {
	if n == 0 || m.options.MaxTableEntries == 0 {
		return 0
	}
	return max(1, m.options.MaxTableEntries/n)
}

func (m *module) readMemories(r *reader) {
	at := r.at
	n := length(r)
	m.memories += n
	if m.memories > 1 {
		r.fail(at, "merge them into one", "it has %d memories; one is supported", m.memories)
		return
	}
	if n == 1 {
		m.memory = r.memory()
	}
}

func (m *module) readGlobalType(r *reader) {
	m.globals = append(m.globals, r.valType())
	at := r.at
	mutability := r.byte()
	if mutability > 1 {
		r.fail(at, "", "a global has the mutability %#x", mutability)
	}
	m.mutable = append(m.mutable, mutability == 1)
}

func (m *module) readGlobals(r *reader) {
	for n := r.bounded("globals", maxGlobals); n > 0 && r.err == nil; n-- {
		m.readGlobalType(r)
		value := m.readConst(r)
		if m.mutable[len(m.mutable)-1] {
			value.known = false
		}
		m.constants = append(m.constants, value)
	}
}

func (m *module) readExports(r *reader) {
	m.callable = make([]bool, len(m.funcs))
	for n := r.bounded("exports", maxExports); n > 0 && r.err == nil; n-- {
		at := r.at
		name := r.name()
		kind := r.byte()
		index := r.u32()
		switch {
		case kind > externGlobal:
			r.fail(at, "", "the export %q is a thing of kind %d", name, kind)
		case kind == externFunc && uint64(index) >= uint64(len(m.funcs)):
			r.fail(at, "", "the export %q is an unknown function", name)
		case strings.HasPrefix(name, Prefix):
			r.fail(at, "choose another", "it exports %q; names that begin with %q are reserved", name, Prefix)
		case m.exports[name]:
			r.fail(at, "", "it exports %q twice", name)
		}
		m.exports[name] = true
		if kind == externFunc && r.err == nil {
			m.callable[index] = true
			of := m.types[m.funcs[index]]
			m.exported = append(m.exported, Export{name, Signature{letters(of.params), letters(of.results)}})
		}
	}
}

func (m *module) readStart(r *reader) {
	if r.b == nil {
		return
	}
	at := r.at
	index := r.u32()
	if uint64(index) >= uint64(len(m.funcs)) {
		r.fail(at, "", "its start function does not exist")
		return
	}
	m.start, m.callable[index] = &index, true
}

func (m *module) readDataCount(r *reader) {
	if r.b != nil {
		r.u32()
	}
}

// readElements walks the element segments. A segment's flags say: bit 0, passive
// or declared; bit 1, an explicit table (active) or declared (not); bit 2, the
// elements are expressions instead of functions.
func (m *module) readElements(r *reader) {
	for n := r.bounded("element segments", maxElements); n > 0 && r.err == nil; n-- {
		m.element(r, nil)
	}
}

// element reads an element segment, and appends it to out with its functions
// renumbered.
func (m *module) element(r *reader, out []byte) []byte {
	at := r.at
	flags := r.u32()
	if flags > 7 {
		r.fail(at, "", "an element segment has the flags %#x", flags)
		return out
	}
	out = appendU32(out, flags)
	if flags&1 == 0 {
		if flags&2 != 0 {
			out = appendU32(out, r.u32())
		}
		out = m.constExpr(r, out)
	}
	if flags&3 != 0 {
		out = append(out, r.elementKind(flags))
	}
	n := r.count()
	out = appendU32(out, n)
	for ; n > 0 && r.err == nil; n-- {
		if flags&4 != 0 {
			out = m.constExpr(r, out)
		} else {
			out = appendU32(out, m.newIndex(r.funcIndex(m)))
		}
	}
	return out
}

// elementKind reads what an element segment holds: a type with expressions, and
// otherwise 0 for functions.
func (r *reader) elementKind(flags uint32) byte {
	if flags&4 != 0 {
		return byte(r.refType("an element segment"))
	}
	at := r.at
	kind := r.byte()
	if kind != 0 {
		r.fail(at, "", "an element segment is of the kind %#x", kind)
	}
	return kind
}

func (r *reader) funcIndex(m *module) uint32 {
	at := r.at
	index := r.u32()
	if r.err == nil && uint64(index) >= uint64(len(m.funcs)) {
		r.fail(at, "", "it names the function %d, which does not exist", index)
	}
	return index
}

// newIndex is the index of a function in the rewritten module.
func (m *module) newIndex(f uint32) uint32 {
	if f < m.importedFuncs {
		return f
	}
	return f + m.added.funcs
}

func (m *module) readData(r *reader) {
	m.data = r.bounded("data segments", maxData)
	for n := m.data; n > 0 && r.err == nil; n-- {
		_, active := m.segment(r)
		m.passive = m.passive || !active
	}
}

// segment reads a data segment, and its offset when it is active.
func (m *module) segment(r *reader) (s Segment, active bool) {
	at := r.at
	flags := r.u32()
	if flags > 2 {
		r.fail(at, "", "a data segment has the flags %#x", flags)
		return s, false
	}
	if flags == 2 {
		s.Memory = r.u32()
	}
	if flags != 1 {
		offset := m.readConst(r)
		if !offset.known && m.options.Transforms&Restore != 0 {
			r.fail(at, "give the segment a constant place", "a data segment is placed by an imported global, which is not supported")
		}
		s.Offset = offset.value
	}
	s.Bytes = r.bytes(r.u32())
	return s, flags != 1
}
