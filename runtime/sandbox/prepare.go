package sandbox

import (
	"bytes"
	"errors"
	"fmt"
)

// Sections of the binary format.
const (
	sectionCustom  = 0
	sectionType    = 1
	sectionImport  = 2
	sectionTable   = 4
	sectionMemory  = 5
	sectionExport  = 7
	sectionStart   = 8
	sectionElement = 9
	sectionCode    = 10
	sectionData    = 11
	sectionCount   = 12 // the data count, a bare integer
)

// What a module may declare. Declarations are small next to what they make the
// host allocate, so each that is multiplied into memory has a bound.
const (
	maxModuleBytes   = 64 << 20
	maxTableEntries  = 1 << 20 // of all tables together, 8 bytes each
	maxLocals        = 50_000  // of one function, as browsers have it
	pageBytes        = 64 << 10
	opEmptyLoop      = "\x03\x40\x0b" // loop end
	opCall           = 0x10
	opCallIndirect   = 0x11
	limitsHaveMax    = 0x01
	limitsShared     = 0x02
	externFunc       = 0x00
	externTable      = 0x01
	externMemory     = 0x02
	externGlobal     = 0x03
	subsectionFuncs  = 1
	typeFunc         = 0x60
	refFunc          = 0x70
	refExtern        = 0x6f
	preambleBytes    = 8
	componentVersion = 0x0d
)

// signature is a function type: the parameters' and the results' value types as
// they are encoded.
type signature struct{ params, results string }

// importedFunc is a function that a module imports.
type importedFunc struct {
	module, name string
	sig          signature
}

// prepared is a module that is safe to hand to the compiler.
type prepared struct {
	wasm        []byte
	imports     []importedFunc
	memoryBytes uint64 // the declared minimum
	hasMemory   bool
	types       []signature
}

// prepare checks the outline of a module and returns it with three changes that
// the guest cannot observe:
//
//   - Each function that calls another starts with an empty loop. The compiler
//     looks for a stop at loop headers alone; without this a guest that only
//     recurses could be neither stopped nor preempted, and would hold up the
//     garbage collector, and with it the process.
//   - Tables get a maximum, for growing one allocates outside linear memory.
//   - Custom sections are dropped but for the functions' names.
//
// It also refuses declarations that would make a decoder allocate far more than
// the module's own size.
func prepare(wasm []byte) (*prepared, error) {
	if err := checkPreamble(wasm); err != nil {
		return nil, err
	}
	p := &prepared{wasm: make([]byte, 0, len(wasm)+len(wasm)/16)}
	p.wasm = append(p.wasm, wasm[:preambleBytes]...)
	r := &reader{b: wasm[preambleBytes:]}
	for r.more() {
		id := r.byte()
		payload := r.bytes(r.u32())
		if r.err != nil {
			return nil, fmt.Errorf("section %d: %w", id, r.err)
		}
		if err := p.section(id, payload); err != nil {
			return nil, fmt.Errorf("section %d: %w", id, err)
		}
	}
	return p, nil
}

func checkPreamble(wasm []byte) error {
	switch {
	case len(wasm) > maxModuleBytes:
		return fmt.Errorf("it is %d bytes long, more than %d", len(wasm), maxModuleBytes)
	case !bytes.HasPrefix(wasm, []byte("\x00asm")):
		return errors.New(`it is no WebAssembly: the first four bytes are not "\0asm"`)
	case len(wasm) < preambleBytes:
		return errTruncated
	case wasm[4] == componentVersion:
		return errors.New("it is a component; build a core module instead")
	}
	return nil
}

func (p *prepared) section(id byte, payload []byte) error {
	r := &reader{b: payload}
	switch id {
	case sectionCustom:
		payload = functionNames(r)
		if payload == nil {
			return nil
		}
	case sectionType:
		p.readTypes(r)
	case sectionImport:
		p.readImports(r)
	case sectionTable:
		payload = capTables(r)
	case sectionMemory:
		p.readMemories(r)
	case sectionExport:
		checkExports(r)
	case sectionElement:
		checkElements(r)
	case sectionCode:
		payload = stoppable(r)
	case sectionData:
		checkData(r)
	case sectionStart, sectionCount:
		r.u32()
	default:
		r.bytes(max(r.count(), uint32(len(r.b))))
	}
	if r.err != nil {
		return r.err
	}
	if id != sectionCustom && r.more() {
		return errTrailing
	}
	p.wasm = appendSection(p.wasm, id, payload)
	return nil
}

func appendSection(b []byte, id byte, payload []byte) []byte {
	b = append(b, id)
	b = appendU32(b, uint32(len(payload)))
	return append(b, payload...)
}

func (p *prepared) readTypes(r *reader) {
	for n := r.count(); n > 0 && r.err == nil; n-- {
		if form := r.byte(); form != typeFunc {
			r.fail(fmt.Errorf("a type of the form %#x is not supported", form))
			return
		}
		sig := signature{params: string(r.bytes(r.count())), results: string(r.bytes(r.count()))}
		p.types = append(p.types, sig)
	}
}

func (p *prepared) readImports(r *reader) {
	for n := r.count(); n > 0 && r.err == nil; n-- {
		module, name := r.name(), r.name()
		if kind := r.byte(); r.err == nil && kind != externFunc {
			r.fail(fmt.Errorf("%q.%q is imported as a %s; only functions can be imported", module, name, externName(kind)))
			return
		}
		index := r.u32()
		if r.err == nil && uint64(index) >= uint64(len(p.types)) {
			r.fail(fmt.Errorf("the import %q.%q has an unknown type", module, name))
			return
		}
		if r.err == nil {
			p.imports = append(p.imports, importedFunc{module, name, p.types[index]})
		}
	}
}

func externName(kind byte) string {
	switch kind {
	case externTable:
		return "table"
	case externMemory:
		return "memory"
	case externGlobal:
		return "global"
	}
	return fmt.Sprintf("thing of kind %d", kind)
}

func (p *prepared) readMemories(r *reader) {
	n := r.count()
	if n > 1 {
		r.fail(fmt.Errorf("it declares %d memories; one is supported", n))
		return
	}
	for ; n > 0 && r.err == nil; n-- {
		flags := r.byte()
		if flags&limitsShared != 0 {
			r.fail(errors.New("its memory is shared: threads are not supported, build without them"))
			return
		}
		p.hasMemory = true
		p.memoryBytes = uint64(r.u32()) * pageBytes
		if flags&limitsHaveMax != 0 {
			r.u32()
		}
	}
}

// capTables returns the table section with a maximum for every table. Together
// they hold at most maxTableEntries.
func capTables(r *reader) []byte {
	n := r.count()
	out := appendU32(nil, n)
	if n == 0 {
		return out
	}
	share := maxTableEntries / n
	for range n {
		kind, flags, least := r.byte(), r.byte(), r.u32()
		most := share
		if flags&limitsHaveMax != 0 {
			most = min(most, r.u32())
		}
		if kind != refFunc && kind != refExtern {
			r.fail(fmt.Errorf("a table of the type %#x is not supported", kind))
		}
		if flags&^limitsHaveMax != 0 || least > share {
			r.fail(fmt.Errorf("it declares a table of %d entries (flags %#x); %d are allowed", least, flags, share))
		}
		if r.err != nil {
			return nil
		}
		out = append(out, kind, limitsHaveMax)
		out = appendU32(appendU32(out, least), most)
	}
	return out
}

func checkExports(r *reader) {
	for n := r.count(); n > 0 && r.err == nil; n-- {
		r.name()
		r.byte()
		r.u32()
	}
}

// checkElements walks the element section. A segment's flags say: bit 0, passive
// or declared; bit 1, an explicit table (active) or declared (not); bit 2, the
// elements are expressions instead of function indexes.
func checkElements(r *reader) {
	for n := r.count(); n > 0 && r.err == nil; n-- {
		flags := r.u32()
		if flags > 7 {
			r.fail(fmt.Errorf("an element segment has the flags %#x", flags))
			return
		}
		if flags&1 == 0 {
			if flags&2 != 0 {
				r.u32()
			}
			skipConstExpr(r)
		}
		if flags&3 != 0 {
			r.byte()
		}
		for m := r.count(); m > 0 && r.err == nil; m-- {
			if flags&4 != 0 {
				skipConstExpr(r)
			} else {
				r.u32()
			}
		}
	}
}

func checkData(r *reader) {
	for n := r.count(); n > 0 && r.err == nil; n-- {
		switch flags := r.u32(); flags {
		case 0:
			skipConstExpr(r)
		case 1:
		case 2:
			r.u32()
			skipConstExpr(r)
		default:
			r.fail(fmt.Errorf("a data segment has the flags %#x", flags))
		}
		r.bytes(r.u32())
	}
}

// skipConstExpr passes over a constant expression and its end.
func skipConstExpr(r *reader) {
	for r.err == nil {
		switch op := r.byte(); op {
		case 0x0b: // end
			return
		case 0x41, 0x42, 0x23, 0xd2: // i32.const, i64.const, global.get, ref.func
			r.skipLEB()
		case 0xd0: // ref.null
			r.byte()
		case 0x43: // f32.const
			r.bytes(4)
		case 0x44: // f64.const
			r.bytes(8)
		default:
			r.fail(fmt.Errorf("a constant expression holds the opcode %#x", op))
		}
	}
}

// stoppable returns the code section with an empty loop at the start of every
// function whose body could hold a call. A body without the bytes of a call
// opcode holds none, and ends by itself or in a loop of its own.
func stoppable(r *reader) []byte {
	n := r.count()
	out := make([]byte, 0, len(r.b)+len(r.b)/16)
	out = appendU32(out, n)
	for ; n > 0 && r.err == nil; n-- {
		body := r.bytes(r.u32())
		locals, err := localsLen(body)
		if err != nil {
			r.fail(err)
			return nil
		}
		stop := ""
		if bytes.IndexByte(body[locals:], opCall) >= 0 || bytes.IndexByte(body[locals:], opCallIndirect) >= 0 {
			stop = opEmptyLoop
		}
		out = appendU32(out, uint32(len(body)+len(stop)))
		out = append(out, body[:locals]...)
		out = append(out, stop...)
		out = append(out, body[locals:]...)
	}
	return out
}

// localsLen returns how many bytes the declaration of a body's locals takes.
func localsLen(body []byte) (int, error) {
	r := &reader{b: body}
	total := uint64(0)
	for n := r.count(); n > 0 && r.err == nil; n-- {
		total += uint64(r.u32())
		switch kind := r.byte(); {
		case total > maxLocals:
			return 0, fmt.Errorf("a function has %d locals or more; %d are allowed", total, maxLocals)
		case kind == 0x63 || kind == 0x64:
			return 0, errors.New("a local is a typed reference, which is not supported")
		}
	}
	if r.err != nil {
		return 0, r.err
	}
	return len(body) - len(r.b), nil
}

// functionNames returns a name section that holds the functions' names, or nil
// for any other custom section and for one that is malformed: names only serve
// to explain a trap.
func functionNames(r *reader) []byte {
	names := &reader{b: r.b}
	if names.name() != "name" {
		return nil
	}
	for names.more() {
		id := names.byte()
		payload := names.bytes(names.u32())
		if id == subsectionFuncs && validNames(payload) {
			out := append([]byte{4}, "name"...)
			return appendSection(out, subsectionFuncs, payload)
		}
	}
	return nil
}

func validNames(payload []byte) bool {
	r := &reader{b: payload}
	for n := r.count(); n > 0 && r.err == nil; n-- {
		r.u32()
		r.name()
	}
	return r.err == nil && !r.more()
}
