package js

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wharf-dev/wharf/abi"
)

// Sections of a module, and what is exported.
const (
	sectionImport    = 2
	sectionMemory    = 5
	sectionExport    = 7
	sectionData      = 11
	sectionDataCount = 12

	kindFunction = 0
)

// The names that the engine's slots have before they are given others.
const (
	slotPrefix   = "slot"
	exportPrefix = "export"
)

var errEngine = errors.New("the engine is no module of the form that is expected")

// program is what a plugin is made of besides the engine.
type program struct {
	calls   []string // the host calls, by slot
	exports []string // of the program, by slot
	source  string   // an ES module
	sources string   // the source map, "" without one
}

// Sizes of memory.
const (
	pageBytes = 64 << 10
	// stepPages is what a program takes whole steps of: the engine's code is compiled but once for
	// all programs of as many steps.
	stepPages = 16
	// slack is what the engine's allocator writes at the end of memory.
	slack = 64
)

// content writes the program as the engine reads it: see struct header in shim.c.
func (p *program) content() []byte {
	parts := []string{terminated(p.calls), terminated(p.exports), p.source, p.sources}
	size := headerBytes
	for _, part := range parts {
		size += len(part) + 1
	}
	out := binary.LittleEndian.AppendUint32(nil, uint32(size))
	for _, part := range parts {
		out = binary.LittleEndian.AppendUint32(out, uint32(len(part)))
	}
	for _, part := range parts {
		out = append(append(out, part...), 0)
	}
	return out
}

const headerBytes = 5 * 4

func terminated(names []string) string {
	var b strings.Builder
	for _, name := range names {
		b.WriteString(name)
		b.WriteByte(0)
	}
	return b.String()
}

// assemble makes a plugin of the engine and a program.
func assemble(engine []byte, p *program) ([]byte, error) {
	if len(engine) < 8 {
		return nil, errEngine
	}
	out := slices.Clone(engine[:8])
	a := &assembly{program: p, content: p.content()}
	for rest := engine[8:]; len(rest) > 0; {
		id := rest[0]
		r := reader{rest: rest[1:]}
		body := r.bytes()
		if r.failed {
			return nil, errEngine
		}
		rest = r.rest
		written, err := a.section(id, body)
		if err != nil {
			return nil, err
		}
		out = append(out, written...)
	}
	return out, nil
}

// assembly is a program on its way into the engine.
type assembly struct {
	*program
	content []byte
	at      uint64 // where the content is in memory
}

// section rewrites a section of the engine. No code names data segments, which so need no count
// before it.
func (a *assembly) section(id byte, body []byte) ([]byte, error) {
	r := reader{rest: body}
	switch id {
	case sectionImport:
		body = a.imports(&r)
	case sectionMemory:
		body = a.memory(&r)
	case sectionExport:
		body = a.exported(&r)
	case sectionData:
		body = a.data(&r)
	case sectionDataCount:
		return nil, nil
	}
	if r.failed {
		return nil, errEngine
	}
	if a.tooMany(id) {
		return nil, fmt.Errorf("the program uses %d host calls and has %d exports; the engine has room for %d and %d",
			len(a.calls), len(a.exports), maxCalls, maxExports)
	}
	return appendBytes([]byte{id}, body), nil
}

// memory makes room for the program, behind what the engine has.
func (a *assembly) memory(r *reader) []byte {
	if r.uint() != 1 || r.byte() != 0 {
		r.failed = true // the engine has one memory, without a maximum
		return nil
	}
	pages := r.uint()
	a.at = pages * pageBytes
	steps := (uint64(len(a.content)) + slack + stepPages*pageBytes - 1) / (stepPages * pageBytes)
	return binary.AppendUvarint([]byte{1, 0}, pages+steps*stepPages)
}

// data adds a segment with the program. The memory's section was before.
func (a *assembly) data(r *reader) []byte {
	const i32Const, end = 0x41, 0x0b
	body := binary.AppendUvarint(nil, r.uint()+1)
	body = append(body, r.rest...)
	body = append(body, 0, i32Const)
	body = append(appendSigned(body, int64(a.at)), end)
	return appendBytes(body, a.content)
}

// appendSigned appends v, which is not negative, as signed LEB128.
func appendSigned(to []byte, v int64) []byte {
	for v >= 0x40 {
		to = append(to, byte(v)|0x80)
		v >>= 7
	}
	return append(to, byte(v))
}

// The room that the engine has: see slots.h and exports.h.
const (
	maxCalls   = 80
	maxExports = 32
)

func (p *program) tooMany(id byte) bool {
	return id == sectionImport && len(p.calls) > maxCalls || id == sectionExport && len(p.exports) > maxExports
}

// imports names the slots.
func (p *program) imports(r *reader) []byte {
	n := r.uint()
	out := binary.AppendUvarint(nil, n)
	for range n {
		module, name := r.bytes(), string(r.bytes())
		if number, ok := slotNumber(name, slotPrefix); ok {
			name = abi.CallOutput
			if number < len(p.calls) {
				name = p.calls[number]
			}
		}
		out = appendBytes(out, module)
		out = appendBytes(out, []byte(name))
		kind := r.byte()
		if kind != kindFunction {
			r.failed = true
			return nil
		}
		out = binary.AppendUvarint(append(out, kind), r.uint())
	}
	return out
}

// exported names the exports that are used, and leaves out the others.
func (p *program) exported(r *reader) []byte {
	var out []byte
	var kept uint64
	for range r.uint() {
		name, kind, index := string(r.bytes()), r.byte(), r.uint()
		if number, ok := slotNumber(name, exportPrefix); ok {
			if number >= len(p.exports) {
				continue
			}
			name = wasmExport(p.exports[number])
		}
		kept++
		out = append(appendBytes(out, []byte(name)), kind)
		out = binary.AppendUvarint(out, index)
	}
	return append(binary.AppendUvarint(nil, kept), out...)
}

// wasmExport is the name that a node knows an export of the program by.
func wasmExport(name string) string {
	if name == "default" {
		return abi.DefaultExport
	}
	return name
}

// slotNumber reads the name of a slot: a prefix and two digits.
func slotNumber(name, prefix string) (int, bool) {
	digits, ok := strings.CutPrefix(name, prefix)
	if !ok || len(digits) != 2 {
		return 0, false
	}
	return int(digits[0]-'0')*10 + int(digits[1]-'0'), true
}

func appendBytes(to, b []byte) []byte {
	return append(binary.AppendUvarint(to, uint64(len(b))), b...)
}

// reader reads the parts of a module. After the first failure what it returns means nothing.
type reader struct {
	rest   []byte
	failed bool
}

func (r *reader) uint() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.failed, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

func (r *reader) byte() byte {
	if len(r.rest) == 0 {
		r.failed = true
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

func (r *reader) bytes() []byte {
	n := r.uint()
	if n > uint64(len(r.rest)) {
		r.failed, r.rest = true, nil
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}
