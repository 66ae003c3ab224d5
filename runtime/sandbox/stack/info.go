package stack

import (
	"bytes"
	"slices"
)

// Custom sections of debug information.
const (
	debugInfo       = ".debug_info"
	debugAbbrev     = ".debug_abbrev"
	debugLine       = ".debug_line"
	debugStr        = ".debug_str"
	debugLineStr    = ".debug_line_str"
	debugRanges     = ".debug_ranges"
	debugRngLists   = ".debug_rnglists"
	debugAddr       = ".debug_addr"
	debugStrOffsets = ".debug_str_offsets"
)

// Tags, attributes and forms that are read.
const (
	tagInlined    = 0x1d
	tagSubprogram = 0x2e

	attrName         = 0x03
	attrLines        = 0x10
	attrLow          = 0x11
	attrHigh         = 0x12
	attrFolder       = 0x1b
	attrOrigin       = 0x31
	attrSpecified    = 0x47
	attrRanges       = 0x55
	attrCallFile     = 0x58
	attrCallLine     = 0x59
	attrLinkage      = 0x6e
	attrStrOffsets   = 0x72
	attrAddrBase     = 0x73
	attrRngListsBase = 0x74
	attrLinkageMIPS  = 0x2007

	formAddr     = 0x01
	formIndirect = 0x16
	formRef1     = 0x11
	formRefUdata = 0x15
	formAddrx    = 0x1b
	formRnglistx = 0x23
	formAddrx1   = 0x29
	formAddrx4   = 0x2c
	formImplicit = 0x21
	formStrp     = 0x0e
	formStrx     = 0x1a
	formLineStrp = 0x1f
	formStrx1    = 0x25
	formStrx4    = 0x28
)

// debug is the debug information of a module.
type debug struct {
	sections map[string][]byte
	steps    *budget
	tables   map[uint64]map[uint64]*abbreviation
	all      []*unit
}

func (d *debug) cursor(section string) *cursor {
	return &cursor{b: d.sections[section], steps: d.steps}
}

// abbreviation is the form of entries.
type abbreviation struct {
	tag      uint64
	children bool
	fields   []field
}

type field struct {
	attribute, form uint64
	constant        uint64
}

// value is the value of an attribute: a number, which can stand for an address or a text
// that are elsewhere, or a text.
type value struct {
	form   uint64
	number uint64
	text   string
}

// unit is a compile unit.
type unit struct {
	begin, end uint64 // in the section
	version    uint64
	table      map[uint64]*abbreviation
	entries    uint64 // where they begin
	lines      uint64 // where its line program is
	folder     string // that it was compiled in
	low        uint64 // what ranges are relative to
	strOffsets uint64
	addresses  uint64
	rangeLists uint64
}

// entry is what is read of an entry.
type entry struct {
	*abbreviation
	values []value
}

func (e *entry) value(attribute uint64) (value, bool) {
	for i := range e.values {
		if e.fields[i].attribute == attribute {
			return e.values[i], true
		}
	}
	return value{}, false
}

// units reads the headers of all units.
func (d *debug) units() (all []*unit) {
	c := d.cursor(debugInfo)
	for c.more() {
		u := &unit{begin: uint64(c.at)}
		size := c.u32()
		u.end = uint64(c.at) + size
		u.version = c.u16()
		if c.bad || u.end > uint64(len(c.b)) || u.version < 2 || u.version > 5 {
			return all
		}
		var abbrev uint64
		kind := byte(1)
		if u.version == 5 {
			kind = c.byte()
			c.byte()
			abbrev = c.u32()
		} else {
			abbrev = c.u32()
			c.byte()
		}
		u.entries = uint64(c.at)
		if kind == 1 {
			if u.table = d.table(abbrev); u.table != nil {
				all = append(all, u)
			}
		}
		c.seek(u.end)
	}
	return all
}

// table reads abbreviations.
func (d *debug) table(at uint64) map[uint64]*abbreviation {
	if t, ok := d.tables[at]; ok {
		return t
	}
	t := map[uint64]*abbreviation{}
	c := d.cursor(debugAbbrev)
	c.seek(at)
	for c.more() {
		code := c.unsigned()
		if code == 0 {
			break
		}
		a := &abbreviation{tag: c.unsigned(), children: c.byte() != 0}
		for c.more() {
			f := field{attribute: c.unsigned(), form: c.unsigned()}
			if f.form == formImplicit {
				f.constant = uint64(c.signed())
			}
			if f.attribute == 0 && f.form == 0 {
				break
			}
			a.fields = append(a.fields, f)
		}
		t[code] = a
	}
	if c.bad {
		return nil
	}
	d.tables[at] = t
	return t
}

// entry reads the next entry of a unit; that of a nil abbreviation ends a list of children.
func (d *debug) entry(c *cursor, u *unit) (e entry) {
	code := c.unsigned()
	if code == 0 || c.bad {
		return e
	}
	if e.abbreviation = u.table[code]; e.abbreviation == nil {
		c.fail()
		return e
	}
	wanted := e.tag == tagSubprogram || e.tag == tagInlined || c.at <= int(u.entries)+8
	for _, f := range e.fields {
		if !c.steps.spend() { // a value may take no byte
			c.fail()
			return entry{}
		}
		v := d.value(c, u, f.form, f.constant)
		if wanted {
			e.values = append(e.values, v)
		}
	}
	return e
}

// value reads a value of the given form.
func (d *debug) value(c *cursor, u *unit, form, constant uint64) value {
	v := value{form: form}
	switch form {
	case formAddr, 0x06, formStrp, 0x10, 0x13, 0x17, 0x1c, 0x1d, formLineStrp, formStrx4, formAddrx4: // four bytes
		v.number = c.u32()
	case 0x05, 0x12, 0x26, 0x2a: // two
		v.number = c.u16()
	case 0x0b, 0x0c, formRef1, 0x25, formAddrx1: // one
		v.number = uint64(c.byte())
	case 0x27, 0x2b: // three
		v.number = c.fixed(3)
	case 0x07, 0x14, 0x20, 0x24: // eight
		v.number = c.fixed(8)
	case 0x1e: // sixteen
		c.take(16)
	case 0x0d: // signed
		v.number = uint64(c.signed())
	case 0x0f, formRefUdata, 0x1a, formAddrx, 0x22, formRnglistx: // unsigned
		v.number = c.unsigned()
	case 0x08:
		v.text = c.text()
	case 0x0a:
		c.take(uint64(c.byte()))
	case 0x03:
		c.take(c.u16())
	case 0x04:
		c.take(c.u32())
	case 0x09, 0x18:
		c.take(c.unsigned())
	case 0x19:
		v.number = 1
	case formImplicit:
		v.number = constant
	case formIndirect:
		if form := c.unsigned(); form != formIndirect {
			return d.value(c, u, form, 0)
		}
		c.fail()
	default:
		c.fail()
	}
	return v
}

// textOf returns the text of a value, which is looked up only where somebody asks.
func (d *debug) textOf(u *unit, v value) string {
	switch {
	case v.form == formStrp:
		return d.text(debugStr, v.number)
	case v.form == formLineStrp:
		return d.text(debugLineStr, v.number)
	case u != nil && (v.form == formStrx || v.form >= formStrx1 && v.form <= formStrx4):
		return d.text(debugStr, d.word(debugStrOffsets, u.strOffsets, v.number))
	}
	return v.text
}

// text reads a text in a section of texts, and no more of it than is told.
func (d *debug) text(section string, at uint64) string {
	c := d.cursor(section)
	if c.seek(at); !c.more() {
		return ""
	}
	within := c.take(uint64(min(len(c.b)-c.at, maxText)))
	if end := bytes.IndexByte(within, 0); end >= 0 {
		within = within[:end]
	}
	d.steps.left -= len(within) / bytesPerStep
	return string(within)
}

// word reads the number with an index in a section of numbers.
func (d *debug) word(section string, base, index uint64) uint64 {
	c := d.cursor(section)
	if index > uint64(len(c.b)) {
		return 0
	}
	c.seek(base + 4*index)
	return c.u32()
}

// address resolves an address.
func (d *debug) address(u *unit, v value) uint64 {
	if v.form == formAddrx || v.form >= formAddrx1 && v.form <= formAddrx4 {
		return d.word(debugAddr, u.addresses, v.number)
	}
	return v.number
}

// root reads the first entry of a unit, and keeps what all others refer to.
func (d *debug) root(u *unit) (root entry) {
	c := d.cursor(debugInfo)
	c.b = c.b[:u.end]
	for range 2 { // bases can come behind what refers to them
		c.seek(u.entries)
		if root = d.entry(c, u); root.abbreviation == nil {
			return root
		}
		for attribute, into := range map[uint64]*uint64{attrStrOffsets: &u.strOffsets, attrAddrBase: &u.addresses, attrRngListsBase: &u.rangeLists, attrLines: &u.lines} {
			if v, ok := root.value(attribute); ok {
				*into = v.number
			}
		}
	}
	if v, ok := root.value(attrFolder); ok {
		u.folder = d.textOf(u, v)
	}
	if v, ok := root.value(attrLow); ok {
		u.low = d.address(u, v)
	}
	return root
}

// inside returns those of the addresses that are in an entry's code. known is false where it
// does not say what code it has.
func (d *debug) inside(u *unit, e *entry, wanted []uint32) (in []uint32, known bool) {
	if v, ok := e.value(attrRanges); ok {
		return d.inRanges(u, v, wanted), true
	}
	low, ok := e.value(attrLow)
	high, bounded := e.value(attrHigh)
	if !ok || !bounded {
		return nil, false
	}
	from, to := d.address(u, low), high.number
	if high.form == formAddr || high.form == formAddrx {
		to = d.address(u, high)
	} else {
		to += from
	}
	return between(wanted, from, to), true
}

// between returns the addresses of code that was not removed: the linker leaves 0, or all
// ones, in place of the address of what it has.
func between(wanted []uint32, from, to uint64) (in []uint32) {
	if from == 0 {
		return nil
	}
	for _, at := range wanted {
		if from <= uint64(at) && uint64(at) < to {
			in = append(in, at)
		}
	}
	return in
}

func (d *debug) inRanges(u *unit, v value, wanted []uint32) (in []uint32) {
	add := func(from, to uint64) {
		for _, at := range between(wanted, from, to) {
			if !slices.Contains(in, at) {
				in = append(in, at)
			}
		}
	}
	if u.version == 5 {
		d.rangeList(u, v, add)
		return in
	}
	c := d.cursor(debugRanges)
	c.seek(v.number)
	base := u.low
	for c.more() {
		from, to := c.u32(), c.u32()
		switch {
		case from == 0 && to == 0:
			return in
		case from == 1<<32-1:
			base = to
		default:
			add(base+from, base+to)
		}
	}
	return in
}

// rangeList reads a list of ranges of version 5.
func (d *debug) rangeList(u *unit, v value, add func(from, to uint64)) {
	at := v.number
	if v.form == formRnglistx {
		at = u.rangeLists + d.word(debugRngLists, u.rangeLists, v.number)
	}
	c := d.cursor(debugRngLists)
	c.seek(at)
	base := u.low
	indexed := func() uint64 { return d.word(debugAddr, u.addresses, c.unsigned()) }
	for c.more() {
		switch c.byte() {
		case 1:
			base = indexed()
		case 2:
			from := indexed()
			add(from, indexed())
		case 3:
			from := indexed()
			add(from, from+c.unsigned())
		case 4:
			from := c.unsigned()
			add(base+from, base+c.unsigned())
		case 5:
			base = c.u32()
		case 6:
			from := c.u32()
			add(from, c.u32())
		case 7:
			from := c.u32()
			add(from, from+c.unsigned())
		default:
			return
		}
	}
}
