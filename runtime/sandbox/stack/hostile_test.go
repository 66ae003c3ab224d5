package stack

import (
	"encoding/binary"
	"strings"
	"testing"
)

// le32 is a number of four bytes.
func le32(n int) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(n)) }

// unit4 is a compile unit of version 4 with the given entries.
func unit4(entries string) string {
	rest := "\x04\x00" + "\x00\x00\x00\x00" + "\x04" + entries
	return string(le32(len(rest))) + rest
}

// root is the first entry of a unit, of abbreviation 1: its line program, and code from 1 to 2^30.
const root = "\x01" + "\x00\x00\x00\x00" + "\x01\x00\x00\x00" + "\xff\xff\xff\x3f"

const rootAbbrev = "\x01\x11\x01" + "\x10\x17" + "\x11\x01" + "\x12\x06" + "\x00\x00"

// program4 is a line program of version 4 of the file f.c, that has one row of its line 1.
func program4() string {
	header := "\x01\x01\x01\x00\x01\x0a" + "\x00\x01\x01\x01\x01\x00\x00\x00\x01" + "\x00" + "f.c\x00\x00\x00\x00" + "\x00"
	body := "\x04\x00" + string(le32(len(header))) + header + "\x00\x05\x02\x01\x00\x00\x00\x01" + "\x00\x05\x02\x00\x00\x00\x40" + "\x00\x01\x01"
	return string(le32(len(body))) + body
}

// module has the given sections.
func module(sections map[string]string) []byte {
	wasm := []byte("\x00asm\x01\x00\x00\x00")
	for name, content := range sections {
		wasm = append(wasm, custom(name, []byte(content))...)
	}
	return wasm
}

// Debug information that loops, is without an end, or grows when it is read costs no more
// steps than there are, and no memory to speak of.
func TestHostileDebugInformation(t *testing.T) {
	function := "\x02\x2e\x00" + "\x11\x01" + "\x12\x06" + "\x31\x13" + "\x00\x00" // code, and a reference
	deep := strings.Repeat("\x02"+"\x01\x00\x00\x00"+"\xff\xff\xff\x3f"+"\x0b\x00\x00\x00", 1000)
	everywhere := strings.Repeat("\x00\x00\x00\x00\xff\xff\xff\x7f", 100_000)
	for name, sections := range map[string]map[string]string{
		"a function that is its own origin": {debugAbbrev: rootAbbrev + function + "\x00",
			debugInfo: unit4(root + "\x02" + "\x01\x00\x00\x00" + "\xff\xff\xff\x3f" + "\x18\x00\x00\x00" + "\x00")},
		"a thousand functions around one place": {debugAbbrev: rootAbbrev + function + "\x00", debugInfo: unit4(root + deep)},
		"an abbreviation of many fields, used often": {debugAbbrev: rootAbbrev + "\x02\x34\x00" + strings.Repeat("\x02\x19", 100_000) + "\x00\x00\x00",
			debugInfo: unit4(root + strings.Repeat("\x02", 100_000))},
		"tables of abbreviations within others": {debugAbbrev: strings.Repeat("\x01\x11\x00\x00\x00", 50_000), debugInfo: overlapping(50_000)},
		"units without an end":                  {debugAbbrev: rootAbbrev + "\x00", debugInfo: strings.Repeat(unit4(root), 50_000)},
		"ranges that all have it": {debugAbbrev: "\x01\x11\x00" + "\x10\x17" + "\x55\x17" + "\x00\x00\x00", debugRanges: everywhere,
			debugInfo: strings.Repeat(unit4("\x01"+"\x00\x00\x00\x00"+"\x00\x00\x00\x00"), 10_000)},
	} {
		sections[debugLine] = program4()
		wasm := module(sections)
		steps := 1 << 18
		d := &debug{sections: customSections(wasm), steps: &budget{steps}, tables: map[uint64]map[uint64]*abbreviation{}}
		found := d.places([]uint32{2, 3, 4})
		if spent := steps - d.steps.left; spent > steps+1000 {
			t.Errorf("%s: it took %d steps of %d", name, spent, steps)
		}
		for at, places := range found {
			if len(places) > maxInlined+1 {
				t.Errorf("%s: %d has %d places", name, at, len(places))
			}
		}
		if most := testing.AllocsPerRun(1, func() { placesWithin(wasm, []uint32{2, 3, 4}, steps) }); most > float64(steps) {
			t.Errorf("%s: it takes %v pieces of memory", name, most)
		}
	}
}

// overlapping are so many units that each begin their abbreviations five bytes after the one
// before.
func overlapping(n int) string {
	var b strings.Builder
	for i := range n {
		rest := "\x04\x00" + string(le32(5*i)) + "\x04" + "\x01"
		b.WriteString(string(le32(len(rest))) + rest)
	}
	return b.String()
}

// Tables of version 5 say themselves how much is in them: what takes no byte is not believed.
func TestTablesOfNothing(t *testing.T) {
	for name, tables := range map[string]string{
		"no columns, and 2^35 entries":   "\x00" + "\xff\xff\xff\xff\x7f",
		"columns of implied values":      "\x01\x01\x19" + "\xff\xff\xff\xff\x7f",
		"columns of constants":           "\x01\x01\x21" + "\xff\xff\xff\xff\x7f",
		"many names of one byte, 2^20":   "\x01\x01\x08" + "\x80\x80\x40" + strings.Repeat("\x00", 1<<20),
		"a column that leads to another": "\x01\x01\x16" + "\x01" + strings.Repeat("\x16", 100),
	} {
		header := "\x01\x01\x01\xfb\x0e\x0d\x00\x01\x01\x01\x01\x00\x00\x00\x01\x00\x00\x01" + tables
		body := "\x05\x00\x04\x00" + string(le32(len(header))) + header
		wasm := module(map[string]string{debugAbbrev: rootAbbrev + "\x00", debugInfo: unit4(root), debugLine: string(le32(len(body))) + body})
		const steps = 1 << 16
		if most := testing.AllocsPerRun(1, func() { placesWithin(wasm, []uint32{2}, steps) }); most > steps {
			t.Errorf("%s: it takes %v pieces of memory", name, most)
		}
	}
}
