package stack

import (
	"encoding/binary"
	"slices"
)

// maxSteps bounds what is done for one stack: some tenths of a second.
const maxSteps = 1 << 24

// maxInlined is how many functions that the compiler put into another are told of one
// place.
const maxInlined = 16

// Place is where an instruction is from.
type Place struct {
	Function string // "" where it is not told
	File     string // relative to the folder that it was compiled in, where it is in it
	Line     int
}

// Places says where the instructions at the given offsets in the content of a module's code
// section are from, by its debug information. Where a compiler has put functions into others
// there are several, the innermost first. What has no place is left out.
func Places(wasm []byte, offsets []uint32) map[uint32][]Place {
	return placesWithin(wasm, offsets, maxSteps)
}

func placesWithin(wasm []byte, offsets []uint32, steps int) map[uint32][]Place {
	d := &debug{sections: customSections(wasm), steps: &budget{steps}, tables: map[uint64]map[uint64]*abbreviation{}}
	return d.places(offsets)
}

func (d *debug) places(offsets []uint32) map[uint32][]Place {
	found := map[uint32][]Place{}
	rest := slices.Clone(offsets)
	slices.Sort(rest)
	rest = slices.Compact(rest)
	d.all = d.units()
	for _, u := range d.all {
		if len(rest) == 0 || d.steps.left < 0 {
			break
		}
		d.placesIn(u, rest, found)
		rest = slices.DeleteFunc(rest, func(at uint32) bool { return found[at] != nil })
	}
	return found
}

// placesIn finds what is of a unit.
func (d *debug) placesIn(u *unit, wanted []uint32, found map[uint32][]Place) {
	root := d.root(u)
	if root.abbreviation == nil {
		return
	}
	in, known := d.inside(u, &root, wanted)
	if !known {
		in = wanted
	}
	if len(in) == 0 {
		return
	}
	table, rows := d.lines(u, in)
	if len(rows) == 0 {
		return
	}
	functions := d.functions(u, in)
	for at, r := range rows {
		found[at] = d.unfold(u, table, r, functions[at])
	}
}

// unfold makes places of a row and of the functions around it, the outermost first.
func (d *debug) unfold(u *unit, t *lineTable, r row, functions []entry) (places []Place) {
	now := Place{File: t.file(r.file, u.folder), Line: lineOf(uint64(r.line))}
	for i, f := range slices.Backward(functions) {
		now.Function = d.name(u, f, 0)
		places = append(places, now)
		if i == 0 || len(places) == maxInlined {
			return places
		}
		file, _ := f.value(attrCallFile)
		line, _ := f.value(attrCallLine)
		now = Place{File: t.file(file.number, u.folder), Line: lineOf(line.number)}
	}
	return append(places, now)
}

// lineOf is a line's number, 0 for what can be none.
func lineOf(n uint64) int {
	if n > 1<<31 {
		return 0
	}
	return int(n)
}

// functions finds the functions that each of the addresses is in, the outermost first.
func (d *debug) functions(u *unit, wanted []uint32) map[uint32][]entry {
	around := map[uint32][]entry{}
	c := d.cursor(debugInfo)
	c.b = c.b[:u.end]
	c.seek(u.entries)
	for c.more() {
		e := d.entry(c, u)
		if e.abbreviation == nil || e.tag != tagSubprogram && e.tag != tagInlined {
			continue
		}
		in, _ := d.inside(u, &e, wanted)
		for _, at := range in {
			around[at] = append(around[at], e)
		}
	}
	return around
}

// maxReferences is how many entries lead to a function's name.
const maxReferences = 4

// name returns the name of a function: the linker's, where it has one.
func (d *debug) name(u *unit, e entry, depth int) string {
	for _, attribute := range []uint64{attrLinkage, attrLinkageMIPS, attrName} {
		if v, ok := e.value(attribute); ok {
			return d.textOf(u, v)
		}
	}
	for _, attribute := range []uint64{attrOrigin, attrSpecified} {
		v, ok := e.value(attribute)
		if !ok || depth == maxReferences {
			continue
		}
		if at, of := d.referred(u, v); of != nil {
			c := d.cursor(debugInfo)
			c.b = c.b[:of.end]
			c.seek(at)
			if e := d.entry(c, of); e.abbreviation != nil {
				return d.name(of, e, depth+1)
			}
		}
	}
	return ""
}

// referred returns where an entry is that another refers to, and in which unit.
func (d *debug) referred(u *unit, v value) (at uint64, of *unit) {
	const anywhere = 0x10
	if v.form != anywhere {
		return u.begin + v.number, u
	}
	for _, of := range d.all {
		if of.begin <= v.number && v.number < of.end {
			d.root(of)
			return v.number, of
		}
	}
	return 0, nil
}

// customSections finds the sections of debug information of a module. Of several with the
// same name the first counts.
func customSections(wasm []byte) map[string][]byte {
	found := map[string][]byte{}
	const preamble = 8
	for rest := wasm[min(preamble, len(wasm)):]; len(rest) > 0; {
		id := rest[0]
		content, after, ok := counted(rest[1:])
		if !ok {
			return found
		}
		rest = after
		if id != 0 {
			continue
		}
		name, content, ok := counted(content)
		if ok && found[string(name)] == nil {
			found[string(name)] = content
		}
	}
	return found
}

// counted splits off what follows its own length.
func counted(b []byte) (part, rest []byte, ok bool) {
	n, size := binary.Uvarint(b)
	if size <= 0 || n > uint64(len(b)-size) {
		return nil, nil, false
	}
	b = b[size:]
	return b[:n], b[n:], true
}
