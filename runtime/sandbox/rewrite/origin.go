package rewrite

import "slices"

// maxTracedCode is the largest code section of which the engine is to know the offsets:
// it keeps 16 bytes for each instruction that can trap.
const maxTracedCode = 16 << 20

// debugLine is the custom section that maps code to lines of its source.
const debugLine = ".debug_line"

// OffsetMark stands between an offset in the code section and the line of a stack that
// the engine tells: "0x1f: wharf:1".
const OffsetMark = "wharf"

// traced says that the engine is to tell the offsets of a trap: somebody can tell lines of
// them.
func (m *module) traced() bool {
	code := m.sections[sectionCode]
	return m.options.Offsets && m.hasLines && code.end-code.at <= maxTracedCode
}

// appendTrace appends debug information that says of all code that it is one line. The
// engine keeps the offsets of code that has such information, and tells them with the line.
func appendTrace(out []byte) []byte {
	for _, s := range []struct{ name, content string }{
		// An abbreviation: a compile unit without children that has statements, a
		// first address and how many follow.
		{".debug_abbrev", "\x01\x11\x00" + "\x10\x17" + "\x11\x01" + "\x12\x06" + "\x00\x00" + "\x00"},
		// A unit of version 4 with addresses of 4 bytes, from 1 to 2^30, for the engine
		// takes 0 for none.
		{".debug_info", "\x14\x00\x00\x00" + "\x04\x00" + "\x00\x00\x00\x00" + "\x04" +
			"\x01" + "\x00\x00\x00\x00" + "\x01\x00\x00\x00" + "\xff\xff\xff\x3f"},
		{debugLine, lineProgram()},
	} {
		out = appendSection(out, sectionCustom, append(appendName(nil, s.name), s.content...))
	}
	return out
}

// lineProgram has one row, of the file OffsetMark, and ends at 2^30.
func lineProgram() string {
	header := "\x01\x01\x01\x00\x01\x0a" + "\x00\x01\x01\x01\x01\x00\x00\x00\x01" + "\x00" + OffsetMark + "\x00\x00\x00\x00" + "\x00"
	program := "\x00\x05\x02\x01\x00\x00\x00" + "\x01" + // the address 1, a row
		"\x00\x05\x02\x00\x00\x00\x40" + "\x00\x01\x01" // the address 2^30, the end
	length := len(header) + len(program) + 6
	return string([]byte{byte(length), 0, 0, 0, 4, 0, byte(len(header)), 0, 0, 0}) + header + program
}

// Origin says where code of a rewritten module was.
type Origin struct {
	Function uint32 // in the original's index space
	Offset   uint32 // of the instruction, in the content of the original's code section
}

// Origins says where the instructions were that are at the given offsets in the code section
// of the rewritten module; code that was added is where the instruction behind it was. It
// rewrites the module again, with the same options. What is nowhere is left out.
func Origins(wasm []byte, o Options, offsets []uint32) (map[uint32]Origin, error) {
	m, err := read(wasm, o)
	if err != nil {
		return nil, err
	}
	m.plan()
	m.wanted = slices.Clone(offsets)
	slices.Sort(m.wanted)
	m.origins = map[uint32]Origin{}
	if _, err := m.rewriteCode(); err != nil {
		return nil, err
	}
	return m.origins, nil
}

// mark is a place in a rewritten body, and the instruction that what follows it is of.
type mark struct{ at, origin int }

// locate finds what is wanted of a function, whose body begins at the given offset in the
// code section and has the given size.
func (m *module) locate(f *function, begin, size int) {
	for len(m.wanted) > 0 && int(m.wanted[0]) < begin {
		m.wanted = m.wanted[1:]
	}
	if len(m.wanted) == 0 || int(m.wanted[0]) >= begin+size {
		return
	}
	f.marks = make([]mark, 0, 2*len(f.code))
	f.appendTo(nil)
	code := m.sections[sectionCode].at
	for ; len(m.wanted) > 0 && int(m.wanted[0]) < begin+size; m.wanted = m.wanted[1:] {
		at := int(m.wanted[0]) - begin
		i, _ := slices.BinarySearchFunc(f.marks, at+1, func(k mark, at int) int { return k.at - at })
		if i > 0 {
			m.origins[m.wanted[0]] = Origin{f.index, uint32(f.marks[i-1].origin - code)}
		}
	}
	f.marks = nil
}

// mark notes that what follows in a body is of the given instruction.
func (f *function) mark(at int, in *instr) {
	if f.marks != nil {
		f.marks = append(f.marks, mark{at, in.at})
	}
}
