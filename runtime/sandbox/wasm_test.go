package sandbox

import (
	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/sandbox/rewrite"
	"github.com/wharf-dev/wharf/runtime/sandbox/wasi"
)

// Sections of the binary format.
const (
	sectionCustom = 0
	sectionType   = 1
	sectionImport = 2
	sectionTable  = 4
	sectionMemory = 5
	sectionGlobal = 6
	sectionExport = 7
	sectionStart  = 8
	sectionCode   = 10
	sectionData   = 11
)

// importedFunc is a function that a guest imports.
type importedFunc struct {
	module, name string
	sig          rewrite.Signature
}

func appendSection(b []byte, id byte, payload []byte) []byte {
	return append(appendU32(append(b, id), uint32(len(payload))), payload...)
}

// appendU32 appends v as LEB128.
func appendU32(b []byte, v uint32) []byte {
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

// Value types, and the opcodes that the tests' guests are made of.
const (
	i32 = "\x7f"
	i64 = "\x7e"

	opUnreachable = "\x00"
	opLoopForever = "\x03\x40\x0c\x00\x0b" // loop; br 0; end
	opReturn      = "\x0f"
	opDrop        = "\x1a"
	opDivS        = "\x6d"
	opGrow        = "\x40\x00"
)

func signature(params, results string) rewrite.Signature {
	return rewrite.Signature{Params: params, Results: results}
}

// handmade builds a module by hand, so that the tests need no other tool and can
// build what no tool would.
type handmade struct {
	types   []rewrite.Signature
	imports []importedFunc
	pages   int    // 0: no memory
	maximum int    // pages, 0: none
	table   string // raw table section
	globals string // raw global section
	funcs   []fn
	data    []datum
	start   int // index of the start function plus 1
	extra   string
}

type fn struct {
	export string
	sig    rewrite.Signature
	locals string // raw declaration, "" for none
	body   string // without the final end
}

type datum struct {
	offset int
	bytes  string
}

var runSig = signature("", i32)

// runner is a guest with one page of memory whose export "run" has the given
// body, after the given host calls.
func runner(body string, calls ...string) *handmade {
	g := &handmade{pages: 1}
	for _, name := range calls {
		g.importCall(name)
	}
	return g.add(fn{export: abi.DefaultExport, sig: runSig, body: body})
}

func (g *handmade) importCall(name string) {
	sig := signature(i32+i32, i64)
	if name == abi.ReadImport {
		sig.Results = i32
	}
	g.imports = append(g.imports, importedFunc{abi.HostModule, name, sig})
}

func (g *handmade) importWASI(name string, params, results string) *handmade {
	g.imports = append(g.imports, importedFunc{wasi.Module, name, signature(params, results)})
	return g
}

func (g *handmade) add(f fn) *handmade {
	g.funcs = append(g.funcs, f)
	return g
}

func (g *handmade) at(offset int, bytes string) *handmade {
	g.data = append(g.data, datum{offset, bytes})
	return g
}

func (g *handmade) typeIndex(s rewrite.Signature) uint32 {
	for i, t := range g.types {
		if t == s {
			return uint32(i)
		}
	}
	g.types = append(g.types, s)
	return uint32(len(g.types) - 1)
}

func vec(items []string) []byte {
	out := appendU32(nil, uint32(len(items)))
	for _, item := range items {
		out = append(out, item...)
	}
	return out
}

func str(s string) string { return string(appendU32(nil, uint32(len(s)))) + s }

func leb(v int) string { return string(appendU32(nil, uint32(v))) }

// konst is i32.const v.
func konst(v int64) string {
	out := []byte{0x41}
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if (v == 0 && c&0x40 == 0) || (v == -1 && c&0x40 != 0) {
			return string(append(out, c))
		}
		out = append(out, c|0x80)
	}
}

// call calls the function of the given index.
func call(index int) string { return "\x10" + leb(index) }

// hostCallOf calls the import of the given index with a request, and drops the
// result.
func hostCallOf(index int, ptr, size int64) string {
	return konst(ptr) + konst(size) + call(index) + opDrop
}

func (g *handmade) wasm() []byte {
	var imports, funcs, exports, codes, data []string
	for _, i := range g.imports {
		imports = append(imports, str(i.module)+str(i.name)+"\x00"+leb(int(g.typeIndex(i.sig))))
	}
	for i, f := range g.funcs {
		funcs = append(funcs, leb(int(g.typeIndex(f.sig))))
		if f.export != "" {
			exports = append(exports, str(f.export)+"\x00"+leb(len(g.imports)+i))
		}
		locals := f.locals
		if locals == "" {
			locals = "\x00"
		}
		codes = append(codes, str(locals+f.body+"\x0b"))
	}
	for _, d := range g.data {
		data = append(data, "\x00"+konst(int64(d.offset))+"\x0b"+str(d.bytes))
	}
	var types []string
	for _, t := range g.types {
		types = append(types, "\x60"+str(t.Params)+str(t.Results))
	}
	out := []byte("\x00asm\x01\x00\x00\x00")
	section := func(id byte, payload []byte, present bool) {
		if present {
			out = appendSection(out, id, payload)
		}
	}
	section(sectionType, vec(types), true)
	section(sectionImport, vec(imports), len(imports) > 0)
	section(3, vec(funcs), true)
	section(sectionTable, []byte(g.table), g.table != "")
	section(sectionMemory, []byte("\x01"+g.limits()), g.pages > 0)
	section(sectionGlobal, []byte(g.globals), g.globals != "")
	section(sectionExport, vec(exports), true)
	section(sectionStart, []byte(leb(g.start-1)), g.start > 0)
	section(sectionCode, vec(codes), true)
	section(sectionData, vec(data), len(data) > 0)
	return append(out, g.extra...)
}

func (g *handmade) limits() string {
	if g.maximum > 0 {
		return "\x01" + leb(g.pages) + leb(g.maximum)
	}
	return "\x00" + leb(g.pages)
}
