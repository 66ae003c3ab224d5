package building

import (
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// linesOf gives a module the lines that its compiler has put into a source map beside it: as debug information
// in the module, which is how stacks are told of any language.
func linesOf(file string, wasm []byte) ([]byte, error) {
	text, err := os.ReadFile(file + ".map")
	if err != nil {
		return nil, fmt.Errorf("reading the source map: %w", err)
	}
	var m struct {
		Sources  []string `json:"sources"`
		Mappings string   `json:"mappings"`
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("reading the source map: %w", err)
	}
	wasm, code := withoutMap(wasm)
	places, err := placesOf(m.Mappings, len(m.Sources))
	if err != nil {
		return nil, err
	}
	var functions []function
	for _, f := range bodies(wasm, code) {
		if f.places = ownPlaces(m.Sources, within(places, f.begin, f.end)); len(f.places) > 0 {
			functions = append(functions, f)
		}
	}
	if len(functions) == 0 {
		return wasm, nil
	}
	return append(wasm, debugSections(m.Sources, code, functions)...), nil
}

// place says that the code from an offset in the file on is of a line of a source.
type place struct{ at, source, line int }

// function is the body of a function, in the file.
type function struct {
	begin, end int
	places     []place
}

// span is a part of a file.
type span struct{ begin, end int }

// withoutMap takes out of a module the section that names its source map, and says where its code is.
func withoutMap(wasm []byte) (kept []byte, code span) {
	const preamble, sectionCode = 8, 10
	kept = slices.Clone(wasm[:preamble])
	for rest := wasm[preamble:]; len(rest) > 0; {
		id := rest[0]
		size, n := binary.Uvarint(rest[1:])
		whole := 1 + n + int(size)
		if n <= 0 || size > uint64(len(rest)) || whole > len(rest) {
			return append(kept, rest...), code
		}
		if id == sectionCode {
			code = span{len(kept) + 1 + n, len(kept) + whole}
		}
		const named = "\x10sourceMappingURL"
		if id != 0 || !strings.HasPrefix(string(rest[1+n:whole]), named) {
			kept = append(kept, rest[:whole]...)
		}
		rest = rest[whole:]
	}
	return kept, code
}

// bodies finds the functions of a section of code.
func bodies(wasm []byte, code span) (all []function) {
	at := code.begin
	_, n := binary.Uvarint(wasm[at:code.end])
	for at += max(n, 0); at < code.end; {
		size, n := binary.Uvarint(wasm[at:code.end])
		if n <= 0 || size > uint64(code.end-at-n) {
			return all
		}
		all = append(all, function{begin: at, end: at + n + int(size)})
		at += n + int(size)
	}
	return all
}

// placesOf reads the mappings of a source map. Code that is of nothing goes on with what came before it.
func placesOf(mappings string, sources int) (places []place, err error) {
	var now place
	for segment := range strings.SplitSeq(mappings, ",") {
		fields, ok := digits(segment)
		if !ok || len(fields) == 0 {
			return nil, fmt.Errorf("the source map cannot be read: it has the segment %q", segment)
		}
		now.at += fields[0]
		if len(fields) < 4 {
			continue
		}
		now.source, now.line = now.source+fields[1], now.line+fields[2]
		if now.source < 0 || now.source >= sources || now.line < 0 || now.at < 0 {
			return nil, fmt.Errorf("the source map cannot be read: it is at source %d, line %d", now.source, now.line)
		}
		places = append(places, place{now.at, now.source, now.line + 1})
	}
	return places, nil
}

// digits reads the numbers of a segment: base64 of five bits and one that says whether there are more.
func digits(segment string) (numbers []int, ok bool) {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	value, shift := 0, 0
	for _, c := range segment {
		digit := strings.IndexRune(alphabet, c)
		if digit < 0 || shift > 30 {
			return nil, false
		}
		value |= digit & 31 << shift
		if shift += 5; digit&32 != 0 {
			continue
		}
		number := value >> 1
		if value&1 != 0 {
			number = -number
		}
		numbers = append(numbers, number)
		value, shift = 0, 0
	}
	return numbers, shift == 0
}

// within are the places of a part of the file, in the order of a source map: by their offsets.
func within(places []place, begin, end int) []place {
	from, _ := slices.BinarySearchFunc(places, begin, func(p place, at int) int { return p.at - at })
	to, _ := slices.BinarySearchFunc(places, end, func(p place, at int) int { return p.at - at })
	return places[from:max(from, to)]
}

// ownPlaces are the lines of the author's in a function. What the compiler has put into it of the language's
// library, or of the SDK, is where the author's line is that came before it. A function without such lines has none.
func ownPlaces(sources []string, places []place) (own []place) {
	first := slices.IndexFunc(places, func(p place) bool { return isOwn(sources[p.source]) })
	if first < 0 {
		return nil
	}
	last := places[first]
	for _, p := range places {
		if isOwn(sources[p.source]) {
			last = p
		}
		if now := (place{p.at, last.source, last.line}); len(own) == 0 || own[len(own)-1].source != now.source || own[len(own)-1].line != now.line {
			own = append(own, now)
		}
	}
	return own
}

func isOwn(source string) bool {
	return !strings.HasPrefix(source, "~lib/") && !strings.HasPrefix(source, "wharf/")
}

// debugSections are the places as DWARF, version 4: one unit, and in its line program a sequence for each function.
func debugSections(sources []string, code span, functions []function) []byte {
	const abbreviations = "\x01\x11\x00" + "\x03\x08" + "\x10\x17" + "\x11\x01" + "\x12\x06" + "\x00\x00\x00"
	unit := []byte{4, 0, 0, 0, 0, 0, 4, 1} // version, abbreviations, size of addresses; the entry
	unit = append(unit, "assembly\x00"...)
	for _, number := range []int{0, 1, code.end - code.begin - 1} { // the line program, the lowest address (0 is of what is not there), the length
		unit = binary.LittleEndian.AppendUint32(unit, uint32(number))
	}
	var made []byte
	for _, section := range []struct {
		name    string
		content []byte
	}{{".debug_abbrev", []byte(abbreviations)}, {".debug_info", sized(unit)}, {".debug_line", sized(lineProgram(sources, code, functions))}} {
		content := append(binary.AppendUvarint(nil, uint64(len(section.name))), section.name...)
		content = append(content, section.content...)
		made = append(binary.AppendUvarint(append(made, 0), uint64(len(content))), content...)
	}
	return made
}

// sized puts the length in front.
func sized(content []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(content))), content...)
}

func lineProgram(sources []string, code span, functions []function) []byte {
	// The size of an instruction, how many there are in one, statements, what special opcodes do, and how many
	// operands the standard ones have; no folders.
	header := []byte("\x01\x01\x01\xff\x04\x0a\x00\x01\x01\x01\x01\x00\x00\x00\x01\x00")
	for _, source := range sources {
		header = append(append(header, source...), 0, 0, 0, 0)
	}
	header = append(header, 0)
	program := append([]byte{4, 0}, sized(header)...)
	const copyRow, advance, advanceLine, setFile = 1, 2, 3, 4
	for _, f := range functions {
		at, line := f.begin-code.begin, 1
		program = binary.LittleEndian.AppendUint32(append(program, 0, 5, 2), uint32(at))
		for i, p := range f.places {
			if i > 0 { // the first is also of what comes before it: locals
				program = binary.AppendUvarint(append(program, advance), uint64(p.at-code.begin-at))
				at = p.at - code.begin
			}
			program = binary.AppendUvarint(append(program, setFile), uint64(p.source+1))
			program = append(appendSigned(append(program, advanceLine), p.line-line), copyRow)
			line = p.line
		}
		program = append(binary.AppendUvarint(append(program, advance), uint64(f.end-code.begin-at)), 0, 1, 1)
	}
	return program
}

func appendSigned(b []byte, n int) []byte {
	for ; n < -64 || n > 63; n >>= 7 {
		b = append(b, byte(n&0x7f|0x80))
	}
	return append(b, byte(n&0x7f))
}
