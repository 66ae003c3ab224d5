package engine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

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

// Program is what a plugin is made of besides the engine.
type Program struct {
	Calls   []string // the host calls, by slot
	Exports []string // of the plugin, by slot
	Parts   []string // what the engine reads behind the names of the host calls: see its struct header
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

// content writes the program as the engine reads it: the size of all, that of each part, and the
// parts, each with a 0 behind it.
func (p *Program) content() []byte {
	parts := append([]string{Terminated(p.Calls)}, p.Parts...)
	size := 4 + 4*len(parts)
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

// Terminated is a list of names as an engine reads it: a 0 behind each.
func Terminated(names []string) string {
	var b strings.Builder
	for _, name := range names {
		b.WriteString(name)
		b.WriteByte(0)
	}
	return b.String()
}

// Assemble makes a plugin of an engine, packed by zstd, and a program.
func Assemble(packed []byte, p *Program) ([]byte, error) {
	engine, err := unpacked(packed)
	if err != nil {
		return nil, err
	}
	if len(engine) < 8 {
		return nil, errEngine
	}
	out := slices.Clone(engine[:8])
	a := &assembly{Program: p, content: p.content()}
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
	*Program
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
			len(a.Calls), len(a.Exports), maxCalls, maxExports)
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

// The room that every engine has: see slots.h and exports.h.
const (
	maxCalls   = 80
	maxExports = 32
)

func (p *Program) tooMany(id byte) bool {
	return id == sectionImport && len(p.Calls) > maxCalls || id == sectionExport && len(p.Exports) > maxExports
}

// imports names the slots.
func (p *Program) imports(r *reader) []byte {
	n := r.uint()
	out := binary.AppendUvarint(nil, n)
	for range n {
		module, name := r.bytes(), string(r.bytes())
		if number, ok := slotNumber(name, slotPrefix); ok {
			name = abi.CallOutput
			if number < len(p.Calls) {
				name = p.Calls[number]
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
func (p *Program) exported(r *reader) []byte {
	var out []byte
	var kept uint64
	for range r.uint() {
		name, kind, index := string(r.bytes()), r.byte(), r.uint()
		if number, ok := slotNumber(name, exportPrefix); ok {
			if number >= len(p.Exports) {
				continue
			}
			name = p.Exports[number]
		}
		kept++
		out = append(appendBytes(out, []byte(name)), kind)
		out = binary.AppendUvarint(out, index)
	}
	return append(binary.AppendUvarint(nil, kept), out...)
}

// slotNumber reads the name of a slot: a prefix and two digits.
func slotNumber(name, prefix string) (int, bool) {
	digits, ok := strings.CutPrefix(name, prefix)
	if !ok || len(digits) != 2 {
		return 0, false
	}
	return int(digits[0]-'0')*10 + int(digits[1]-'0'), true
}

func unpacked(packed []byte) ([]byte, error) {
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, fmt.Errorf("preparing to unpack the engine: %w", err)
	}
	defer decoder.Close()
	engine, err := decoder.DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("unpacking the engine: %w", err)
	}
	return engine, nil
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
