package stack

import (
	"path"
	"strings"
)

// lineTable is the header of a line program.
type lineTable struct {
	version   uint64
	minLength uint64
	lineBase  int8
	lineRange byte
	opcodes   []byte // how many operands each standard opcode has
	dirs      []string
	files     []fileEntry
}

type fileEntry struct {
	name string
	dir  uint64
}

// row is a place in the source, of the code from an address on.
type row struct {
	address, file uint64
	line          int64
	end           bool
}

// lines runs the line program of a unit, and gives the row of each of the addresses that has
// one.
func (d *debug) lines(u *unit, wanted []uint32) (*lineTable, map[uint32]row) {
	c := d.cursor(debugLine)
	c.seek(u.lines)
	size := c.u32()
	program := cursor{b: c.take(size), steps: c.steps, bad: c.bad}
	t := d.lineHeader(&program)
	if t == nil {
		return nil, nil
	}
	return t, t.run(&program, wanted)
}

// lineHeader reads the header up to the program, nil where that cannot be.
func (d *debug) lineHeader(c *cursor) *lineTable {
	t := &lineTable{version: c.u16()}
	if t.version < 2 || t.version > 5 {
		return nil
	}
	if t.version == 5 {
		c.take(2) // the sizes of an address and a segment selector
	}
	length := c.u32()
	program := uint64(c.at) + length
	t.minLength = uint64(c.byte())
	if t.version >= 4 {
		c.byte() // operations of an instruction
	}
	c.byte() // the default of is_stmt
	t.lineBase, t.lineRange = int8(c.byte()), c.byte()
	t.opcodes = c.take(uint64(max(c.byte(), 1) - 1))
	if t.version == 5 {
		t.dirs = d.directories(c)
		t.files = d.fileEntries(c)
	} else {
		t.earlierNames(c)
	}
	c.seek(program)
	if c.bad || t.lineRange == 0 {
		return nil
	}
	return t
}

// earlierNames reads the tables of files as they were before version 5. The directory 0 is
// the unit's own, and no file has the number 0.
func (t *lineTable) earlierNames(c *cursor) {
	t.dirs, t.files = []string{""}, []fileEntry{{}}
	for c.more() {
		dir := c.text()
		if dir == "" {
			break
		}
		t.dirs = append(t.dirs, dir)
	}
	for c.more() {
		f := fileEntry{name: c.text()}
		if f.name == "" {
			break
		}
		f.dir = c.unsigned()
		c.unsigned() // when it was changed
		c.unsigned() // its size
		t.files = append(t.files, f)
	}
}

// directories reads the table of directories of version 5.
func (d *debug) directories(c *cursor) (dirs []string) {
	for _, f := range d.fileEntries(c) {
		dirs = append(dirs, f.name)
	}
	return dirs
}

// fileEntries reads a table of version 5, which says itself what is in its entries.
func (d *debug) fileEntries(c *cursor) (entries []fileEntry) {
	const path, directory = 1, 2
	type column struct{ content, form uint64 }
	columns := make([]column, c.byte())
	for i := range columns {
		columns[i] = column{c.unsigned(), c.unsigned()}
	}
	n := c.unsigned()
	for ; n > 0 && len(columns) > 0 && c.more(); n-- {
		var f fileEntry
		for _, k := range columns {
			if !c.steps.spend() { // a value may take no byte
				c.fail()
				return entries
			}
			v := d.value(c, nil, k.form, 0)
			switch k.content {
			case path:
				f.name = d.textOf(nil, v)
			case directory:
				f.dir = v.number
			}
		}
		entries = append(entries, f)
	}
	return entries
}

// Opcodes of line programs.
const (
	lineExtended = iota
	lineCopy
	lineAdvancePC
	lineAdvanceLine
	lineSetFile
	lineSetColumn
	lineNegate
	lineSetBlock
	lineConstAddPC
	lineFixedAdvancePC
)

const (
	lineEndSequence = 1
	lineSetAddress  = 2
)

// run runs the program. Of the rows of a sequence each is for the addresses up to the next.
func (t *lineTable) run(c *cursor, wanted []uint32) map[uint32]row {
	found := map[uint32]row{}
	now, last := row{file: 1, line: 1}, row{end: true}
	emit := func() {
		for _, at := range wanted {
			if !last.end && last.address <= uint64(at) && uint64(at) < now.address {
				found[at] = last
			}
		}
		if last = now; now.end {
			now = row{file: 1, line: 1}
		}
	}
	for c.more() {
		op := c.byte()
		switch {
		case int(op) > len(t.opcodes):
			t.special(op-byte(len(t.opcodes))-1, &now)
			emit()
		case op == lineExtended:
			t.extended(c, &now, emit)
		case op == lineCopy:
			emit()
		default:
			t.standard(c, op, &now)
		}
	}
	return found
}

// special moves on by both, as the number of the opcode says.
func (t *lineTable) special(op byte, now *row) {
	now.address += uint64(op/t.lineRange) * t.minLength
	now.line += int64(t.lineBase) + int64(op%t.lineRange)
}

func (t *lineTable) extended(c *cursor, now *row, emit func()) {
	operand := cursor{steps: c.steps}
	if operand.b = c.take(c.unsigned()); len(operand.b) == 0 {
		return
	}
	switch operand.byte() {
	case lineEndSequence:
		now.end = true
		emit()
	case lineSetAddress:
		now.address = operand.fixed(uint64(len(operand.b) - 1))
	}
}

func (t *lineTable) standard(c *cursor, op byte, now *row) {
	switch op {
	case lineAdvancePC:
		now.address += c.unsigned() * t.minLength
	case lineAdvanceLine:
		now.line += c.signed()
	case lineSetFile:
		now.file = c.unsigned()
	case lineNegate, lineSetBlock:
	case lineConstAddPC:
		now.address += uint64((254-byte(len(t.opcodes)))/t.lineRange) * t.minLength
	case lineFixedAdvancePC:
		now.address += c.u16()
	default:
		for range t.opcodes[op-1] {
			c.unsigned()
		}
	}
}

// file returns the path of a file: that of a unit's own folder is relative to it.
func (t *lineTable) file(number uint64, folder string) string {
	if number >= uint64(len(t.files)) {
		return ""
	}
	f := &t.files[number]
	name := f.name
	if f.dir < uint64(len(t.dirs)) && !path.IsAbs(name) {
		name = path.Join(t.dirs[f.dir], name)
	}
	if rest, ok := strings.CutPrefix(name, folder+"/"); ok && folder != "" {
		return rest
	}
	return name
}
